"""A million recorded answers: speed and memory of a whole run, and how soon a killed one goes on."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import harness
import work
from harness import Bench, Failed, Measurement

UNITS = 1_000_000
RATE_TARGET = 30_000
PEAK_TARGET_MB = 200
RESUME_TARGET_SECONDS = 1.0
POLL_SECONDS = 0.002
LIST_EVERY_SECONDS = 0.5


def run_command(bench: Bench) -> list[str]:
    return [bench.fullbench(), "run", "--quiet", "--output", "json"]


def recorded(bench: Bench) -> list[Measurement]:
    """Import, scoring, records and summary of the whole process."""
    units = bench.size(UNITS, 100_000)

    def run():
        with harness.temporary_folder() as folder:
            work.write_recorded_evaluation(folder, units)
            home = folder / "home"
            result = harness.timed(run_command(bench), folder, {"FULLBENCH_HOME": str(home)})
            harness.check(result.code == 0, "fullbench run failed", result)
            check_complete(home, units)
            return result

    runs = harness.repeated(bench, run)
    rate = units / harness.median_seconds(runs)
    peak = max(run.peak_bytes for run in runs) / 1e6
    what = f"{units:,} recorded cases, exact_match and regex, whole process"
    return [
        Measurement(
            name="recorded",
            what=what,
            target=f"≥ {RATE_TARGET:,} units/s",
            measured=f"{rate:,.0f} units/s",
            ratio=rate / RATE_TARGET,
            met=rate >= RATE_TARGET,
            detail=harness.describe(runs, units),
        ),
        Measurement(
            name="recorded-memory",
            what=f"{what}: peak memory",
            target=f"< {PEAK_TARGET_MB} MB",
            measured=f"{peak:.0f} MB",
            ratio=PEAK_TARGET_MB / peak,
            met=peak < PEAK_TARGET_MB,
        ),
    ]


def resume(bench: Bench) -> list[Measurement]:
    """From the start of `fullbench resume` to the first unit it records, after a kill at half of the run."""
    units = bench.size(UNITS, 100_000)
    with harness.temporary_folder() as folder:
        work.write_recorded_evaluation(folder, units)
        home = folder / "home"
        environment = {"FULLBENCH_HOME": str(home)}
        first = harness.start(run_command(bench), folder, environment)
        wait_until_half(bench, first, home, units)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        before = answered_in_copy(home, folder / "copy")
        if not 0 < before < units:
            raise Failed(f"the kill came at {before} of {units} units")

        started = time.perf_counter()
        process = harness.start([bench.fullbench(), "resume", "--quiet", "--output", "json"], folder, environment)
        seconds = wait_for_more(home, before, process, started)
        result = harness.finish(process, folder, started)
        harness.check(result.code == 0, "fullbench resume failed", result)
        check_complete(home, units)
    return [
        Measurement(
            name="resume",
            what=f"that run killed (SIGKILL) at {before / units:.0%}: from the start of `resume` to its first record",
            target=f"< {RESUME_TARGET_SECONDS:.0f} s",
            measured=f"{seconds:.2f} s",
            ratio=RESUME_TARGET_SECONDS / seconds,
            met=seconds < RESUME_TARGET_SECONDS,
            detail=f"the other {units - before:,} units and the summary took {result.seconds:.1f} s in all; "
            f"{result.peak_bytes / 1e6:.0f} MB peak",
        )
    ]


def wait_until_half(bench: Bench, process: subprocess.Popen, home: pathlib.Path, units: int) -> None:
    """Returns when half of the units are recorded, as a user would see it."""
    command = [bench.fullbench(), "list", "--output", "json"]
    environment = {**os.environ, "FULLBENCH_HOME": str(home)}
    while process.poll() is None:
        time.sleep(LIST_EVERY_SECONDS)
        listed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        runs = json.loads(listed.stdout) if listed.returncode == 0 else []
        if runs and runs[0]["done"] >= units // 2:
            return
    raise Failed("the run ended before it could be killed at half")


def answered(database: pathlib.Path) -> int:
    """Units the database says are answered."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
        return connection.execute("SELECT coalesce(sum(answered), 0) FROM run_progress").fetchone()[0]


def answered_in_copy(home: pathlib.Path, copy: pathlib.Path) -> int:
    """The same, read from a copy: the database itself stays as the kill left it."""
    copy.mkdir()
    for path in home.glob("fullbench.db*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy)
    with contextlib.closing(sqlite3.connect(copy / "fullbench.db")) as connection:
        done = connection.execute("SELECT coalesce(sum(answered), 0) FROM run_progress").fetchone()[0]
    shutil.rmtree(copy)
    return done


def wait_for_more(home: pathlib.Path, before: int, process: subprocess.Popen, started: float) -> float:
    """Seconds until more units are answered than before."""
    while True:
        with contextlib.suppress(sqlite3.OperationalError):
            if answered(home / "fullbench.db") > before:
                return time.perf_counter() - started
        if process.poll() is not None:
            raise Failed("resume ended and recorded nothing")
        time.sleep(POLL_SECONDS)


def check_complete(home: pathlib.Path, units: int) -> None:
    """Every unit has exactly one answer and two scores."""
    with contextlib.closing(sqlite3.connect(f"file:{home / 'fullbench.db'}?mode=ro", uri=True)) as connection:
        for table, expected in (("generations", units), ("scores", 2 * units)):
            found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            if found != expected:
                raise Failed(f"{found} rows in {table}, not {expected}")
