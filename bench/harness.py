"""Processes and their cost: start, time, limit and check them. What is measured lives in the other modules."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

REPEATED_BELOW_SECONDS = 30.0


class Skipped(Exception):
    """The measurement cannot be made here; the message says why."""


class Failed(Exception):
    """The measured program did not do the work it was given."""


@dataclasses.dataclass
class Timed:
    """What a process took, from its start to its end."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    code: int
    stdout: str
    stderr: str


@dataclasses.dataclass
class Measurement:
    """One line of the results. `ratio` is measured over target where more is better, target over measured otherwise."""

    name: str
    what: str
    target: str
    measured: str
    ratio: float | None = None
    met: bool | None = None
    detail: str = ""


@dataclasses.dataclass
class Bench:
    """What every measurement needs to know."""

    binaries: pathlib.Path
    cache: pathlib.Path
    quick: bool
    repetitions: int

    def fullbench(self) -> str:
        return str(self.binaries / "fullbench")

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @contextlib.contextmanager
    def simulator(self, latency_ms: float):
        """A simulated provider in a process of its own; gives its URL."""
        command = [str(self.binaries / "simllm"), "--latency-ms", str(latency_ms)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            if not line.startswith("listening on "):
                raise Failed(f"simllm did not start: {line!r}")
            yield line.removeprefix("listening on ").strip()
        finally:
            process.terminate()
            process.wait()


def say(text: str) -> None:
    """Progress, for the one who waits."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def temporary_folder():
    """A fresh folder, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="fullbench-bench-") as folder:
        yield pathlib.Path(folder)


def start(command: list[str], folder: pathlib.Path, environment: dict[str, str] | None = None) -> subprocess.Popen:
    """Starts a process of its own group in `folder`, its output in files beside the work."""
    stdout, stderr = (folder / "stdout.log").open("w"), (folder / "stderr.log").open("w")
    with stdout, stderr:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )


def finish(process: subprocess.Popen, folder: pathlib.Path, started: float, limit_seconds: float = 900.0) -> Timed:
    """Waits for a process started at `started`; it is killed at the limit."""
    timer = threading.Timer(limit_seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return Timed(
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_bytes=usage.ru_maxrss * 1024,
        code=process.returncode,
        stdout=(folder / "stdout.log").read_text(errors="replace"),
        stderr=(folder / "stderr.log").read_text(errors="replace"),
    )


def timed(command: list[str], folder: pathlib.Path, environment: dict[str, str] | None = None) -> Timed:
    """Runs a process to its end."""
    started = time.perf_counter()
    return finish(start(command, folder, environment), folder, started)


def check(condition: bool, message: str, run: Timed) -> None:
    """Refuses a measurement whose program did something else than the work."""
    if not condition:
        raise Failed(f"{message}; exit code {run.code}; the end of stderr:\n{run.stderr[-1500:]}\n{run.stdout[-500:]}")


def simulator_statistics(url: str) -> dict:
    """What the simulator saw."""
    with urllib.request.urlopen(f"{url}/stats", timeout=10) as reply:
        return json.load(reply)


def repeated(bench: Bench, measure) -> list[Timed]:
    """Measures once, and again where that was quick enough."""
    runs = [measure()]
    while len(runs) < bench.repetitions and runs[0].seconds < REPEATED_BELOW_SECONDS:
        runs.append(measure())
    return runs


def median_seconds(runs: list[Timed]) -> float:
    """The median wall time."""
    return statistics.median(run.seconds for run in runs)


def describe(runs: list[Timed], units: int) -> str:
    """Each repetition's rate, and what the process cost."""
    rates = ", ".join(f"{units / run.seconds:,.0f}" for run in runs)
    processor = statistics.median(run.cpu_seconds for run in runs)
    peak = max(run.peak_bytes for run in runs)
    return f"runs: {rates} units/s; process: {processor:.2f} s CPU, {peak / 1e6:.0f} MB peak"
