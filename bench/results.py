"""The page of results, written from the measurements alone."""

import pathlib

from harness import Measurement

LONGEST_DETAIL = 600
MARKS = {True: "met", False: "**MISSED**", None: "–"}


def page(measurements: list[Measurement], conditions: list[tuple[str, str]]) -> str:
    """Markdown: table, details, conditions, how to repeat."""
    lines = [
        "# Results",
        "",
        "Written by `bench/run`; every number is measured, none is typed. Rates are units over the wall time of the",
        "whole process, from its start to its end, or requests that a running server answers in a second; of several runs",
        "the median counts.",
        "",
        "| what | target | measured | ratio | |",
        "|---|---|---|---:|---|",
    ]
    lines += [
        *map(row, measurements),
        "",
        "A ratio above 1 is better than the target; beside a peer it is Fullbench's rate over the peer's.",
        "",
        "## Details",
        *(f"- **{measurement.name}**: {one_line(measurement.detail)}" for measurement in measurements),
        "",
        "## Conditions",
        *(f"- {name}: {value}" for name, value in conditions),
        "",
        "`simllm`, the simulated provider, runs in a process of its own on the same machine. Fullbench keeps every",
        "record and its response cache on disk in a fresh folder; the peers keep their own logs and have their caches",
        "off. Each unit has a prompt of its own, and the simulator's counters must agree that each was asked once.",
        "",
        "A server, its database and the program that loads it share the cores. Each starts on a fresh folder, each request has",
        "a content of its own, and what was answered with success must be in the database afterwards, else there is no number.",
        "",
        "## How to repeat",
        "```sh",
        "make bench                       # builds, measures everything, writes this page",
        "bench/run --quick                # small sizes, prints only",
        "bench/run --only latency resume  # some measurements, prints only",
        "bench/run --only latency --add   # and adds them to this page, as measured apart",
        "```",
        "The peers are installed once into `${XDG_CACHE_HOME:-~/.cache}/fullbench-bench`.",
        "",
    ]
    return "\n".join(lines)


def apart(measurements: list[Measurement], conditions: list[tuple[str, str]]) -> str:
    """A section of measurements that were taken again by themselves."""
    known = dict(conditions)
    lines = [
        "",
        f"## Measured apart, {known['date']}, commit {known['commit']}",
        "These count instead of lines above on the same.",
        "",
        "| what | target | measured | ratio | |",
        "|---|---|---|---:|---|",
        *map(row, measurements),
        "",
        *(f"- **{measurement.name}**: {one_line(measurement.detail)}" for measurement in measurements),
        "",
    ]
    return "\n".join(lines)


def row(measurement: Measurement) -> str:
    """A line of the table."""
    ratio = "–" if measurement.ratio is None else f"{measurement.ratio:.2f}×"
    cells = [measurement.what, measurement.target, measurement.measured, ratio, MARKS[measurement.met]]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def one_line(text: str) -> str:
    """Newlines would end the list item; the traces of a failed program and the paths of a machine are for the terminal."""
    line = " ".join(text.split()).replace(str(pathlib.Path.home()), "~")
    return line if len(line) <= LONGEST_DETAIL else line[:LONGEST_DETAIL] + " …"
