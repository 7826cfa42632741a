"""Runs against the simulator: its own throughput, Fullbench's with and without latency, and the start of the binary."""

import os
import pathlib
import statistics
import time

import harness
import load
import work
from harness import Bench, Measurement, Timed

SIMULATOR_TARGET = 15_000
LATENCY_MS = 50
LATENCY_UNITS = 5_000
LATENCY_TARGET_SHARE = 0.90
ZERO_LATENCY_UNITS = 20_000
ZERO_LATENCY_TARGET = 4_000
VERSION_TARGET_MS = 10.0


def simulator(bench: Bench) -> list[Measurement]:
    """Requests per second of simllm alone."""
    loads = []
    for _ in range(bench.repetitions):
        with bench.simulator(0) as url:
            loads.append(load.post(f"{url}/v1/chat/completions", work.call(load.NUMBER), seconds=bench.size(5, 2)))
            answered = harness.simulator_statistics(url)["successes"]
        if answered < loads[-1].requests:
            raise harness.Failed(f"simllm answered only {answered} of {loads[-1].requests} calls")
    rate = load.median_rate(loads)
    return [
        Measurement(
            name="simulator",
            what="simllm alone, zero latency, 64 keep-alive connections (wrk, 1 thread)",
            target=f"> {SIMULATOR_TARGET:,} requests/s",
            measured=f"{rate:,.0f} requests/s",
            ratio=rate / SIMULATOR_TARGET,
            met=rate > SIMULATOR_TARGET,
            detail=load.describe(loads),
        )
    ]


def live_run(bench: Bench, units: int, latency_ms: float) -> Timed:
    """A whole `fullbench run` on a fresh home: import, calls, cache, records, summary."""
    with bench.simulator(latency_ms) as url, harness.temporary_folder() as folder:
        work.write_live_evaluation(folder, units, url)
        home = {"FULLBENCH_HOME": str(folder / "home")}
        run = harness.timed([bench.fullbench(), "run", "--quiet", "--output", "json"], folder, home)
        harness.check(run.code == 0, "fullbench run failed", run)
        calls = harness.simulator_statistics(url)
        whole = calls["calls"] == calls["successes"] == calls["distinct_prompts"] == units
        harness.check(whole, f"{units} units made {calls}", run)
        return run


def latency(bench: Bench) -> list[Measurement]:
    """How near to the ideal a run with slow answers comes."""
    units = bench.size(LATENCY_UNITS, 1_000)
    runs = harness.repeated(bench, lambda: live_run(bench, units, LATENCY_MS))
    rate = units / harness.median_seconds(runs)
    ideal = work.CONCURRENCY * 1_000 / LATENCY_MS
    target = ideal * LATENCY_TARGET_SHARE
    return [
        Measurement(
            name="latency",
            what=f"{units:,} units, {LATENCY_MS} ms latency, concurrency {work.CONCURRENCY}, records and cache on disk",
            target=f"≥ {LATENCY_TARGET_SHARE:.0%} of the ideal {ideal:,.0f} units/s",
            measured=f"{rate:,.0f} units/s, {rate / ideal:.1%} of the ideal",
            ratio=rate / target,
            met=rate >= target,
            detail=harness.describe(runs, units),
        )
    ]


def throughput(bench: Bench) -> list[Measurement]:
    """What Fullbench itself costs for each unit: the simulator answers at once."""
    units = bench.size(ZERO_LATENCY_UNITS, 4_000)
    runs = harness.repeated(bench, lambda: live_run(bench, units, 0))
    rate = units / harness.median_seconds(runs)
    return [
        Measurement(
            name="throughput",
            what=f"{units:,} units, zero latency, concurrency {work.CONCURRENCY}, cores shared with the simulator",
            target=f"≥ {ZERO_LATENCY_TARGET:,} units/s",
            measured=f"{rate:,.0f} units/s",
            ratio=rate / ZERO_LATENCY_TARGET,
            met=rate >= ZERO_LATENCY_TARGET,
            detail=harness.describe(runs, units),
        )
    ]


def version(bench: Bench) -> list[Measurement]:
    """The start of the binary."""
    times = []
    command = [bench.fullbench(), "--version"]
    with pathlib.Path(os.devnull).open("w") as nothing:
        for _ in range(bench.size(50, 20)):
            started = time.perf_counter()
            process = os.posix_spawn(
                command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1)]
            )
            _, status = os.waitpid(process, 0)
            times.append((time.perf_counter() - started) * 1_000)
            if status != 0:
                raise harness.Failed("fullbench --version failed")
    median = statistics.median(times)
    return [
        Measurement(
            name="version",
            what=f"`fullbench --version`, wall time, median of {len(times)}",
            target=f"< {VERSION_TARGET_MS:.0f} ms",
            measured=f"{median:.1f} ms",
            ratio=VERSION_TARGET_MS / median,
            met=median < VERSION_TARGET_MS,
            detail=f"fastest {min(times):.1f} ms, slowest {max(times):.1f} ms",
        )
    ]
