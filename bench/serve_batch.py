"""Whole data sets over HTTP: a batch beside the same work on the command line, and the upload of a large file."""

import json
import pathlib
import statistics
import time

import harness
import server
import work
from harness import Bench, Failed, Measurement, Timed
from server import Server

UNITS = 100_000
SHARE_TARGET = 0.80
LIMIT_SECONDS = 600.0
UPLOAD_BYTES = 1_000_000_000
ROW_TEXT = "All happy families are alike; each unhappy family is unhappy in its own way. " * 12
GROWTH_TARGET_MB = 200


def batch(bench: Bench) -> list[Measurement]:
    """Units per second of a batch, from its request to its numbers, over those of `fullbench run`."""
    units = bench.size(UNITS, 20_000)
    ours, theirs, uploads = [], [], []
    # In turns, so that a slow minute of the machine is one of both.
    for _ in range(bench.repetitions):
        with harness.temporary_folder() as folder:
            work.write_recorded_evaluation(folder, units)
            theirs.append(command_line(bench, folder))
            seconds, upload_seconds, means = over_http(bench, folder, units)
        if means != means_of(theirs[-1]):
            raise Failed(f"the batch says {means}, the command line {means_of(theirs[-1])}")
        ours.append(seconds)
        uploads.append(upload_seconds)
    seconds, theirs_seconds = statistics.median(ours), harness.median_seconds(theirs)
    share = theirs_seconds / seconds
    with_upload = theirs_seconds / (seconds + statistics.median(uploads))
    return [
        Measurement(
            name="serve-batch",
            what=f"{units:,} recorded cases, exact_match and regex, as a batch over the API from its request to its numbers, "
            "beside `fullbench run` (whole process)",
            target=f"≥ {SHARE_TARGET:.0%} of the command line",
            measured=f"{units / seconds:,.0f} and {units / theirs_seconds:,.0f} units/s: {share:.0%}",
            ratio=share / SHARE_TARGET,
            met=share >= SHARE_TARGET,
            detail=f"batches: {', '.join(f'{units / value:,.0f}' for value in ours)} units/s; "
            f"upload and validation before it took {statistics.median(uploads):.1f} s, with which the share is {with_upload:.0%} "
            f"(`run` reads the file too); command line {harness.describe(theirs, units)}; "
            f"both say {', '.join(f'{name} {mean:.4f}' for name, mean in sorted(means.items()))}",
        )
    ]


def command_line(bench: Bench, folder: pathlib.Path) -> Timed:
    """The evaluation in a folder as a process of its own."""
    home = {"FULLBENCH_HOME": str(folder / "home")}
    run = harness.timed([bench.fullbench(), "run", "--quiet", "--output", "json"], folder, home)
    harness.check(run.code == 0, "fullbench run failed", run)
    return run


def means_of(run: Timed) -> dict[str, float]:
    """The mean of each scorer, as the command line says it."""
    return {score["scorer"]: score["mean"] for score in json.loads(run.stdout)["models"][0]["scores"]}


def over_http(bench: Bench, folder: pathlib.Path, units: int) -> tuple[float, float, dict[str, float]]:
    """The same on a server: seconds of the batch, of the upload with its validation, and the means."""
    scorers = json.loads((folder / "fullbench.yaml").read_text())["scorers"]
    with server.serving(bench) as served:
        version, uploading, validating = served.upload(folder / "recorded.jsonl")
        number = f"/v1/datasets/{version['dataset_id']}/versions/{version['version_number']}"
        served.call("POST", f"{number}/publish", {})
        started = time.perf_counter()
        job = served.call("POST", "/v1/evaluations/batch", {"dataset_version_id": version["version_id"], "metrics": scorers})
        wait_for_end(served, job["job_id"])
        status = served.call("GET", f"/v1/evaluations/batch/{job['job_id']}")
        seconds = time.perf_counter() - started
        if status["status"] != "completed" or status["progress"] != {"total": units, "completed": units, "failed": 0}:
            raise Failed(f"the batch is not whole: {status}")
        if (stored := served.rows("generations", "scores")) != [units, len(scorers) * units]:
            raise Failed(f"{units} units have {stored[0]} answers and {stored[1]} scores")
        means = {name: score["mean"] for name, score in status["summary_scores"].items()}
        return seconds, uploading + validating, means


def wait_for_end(served: Server, job: str) -> None:
    """Waits for the run to end. The list of runs is asked: the batch itself would be summed up anew each time."""

    def ended(listed: dict) -> bool:
        (run,) = listed["runs"]
        if run["run_id"] != job:
            raise Failed(f"the list of runs begins with {run}")
        return run["status"] not in ("pending", "running")

    served.wait("/v1/evaluations?type=batch&limit=1", ended, LIMIT_SECONDS)


def upload(bench: Bench) -> list[Measurement]:
    """What a large file does to the memory of the server, until its rows are checked."""
    size = bench.size(UPLOAD_BYTES, 100_000_000)
    with harness.temporary_folder() as folder, server.serving(bench) as served:
        rows = write_rows(folder / "large.jsonl", size)
        before = served.memory_mb("VmHWM")
        version, uploading, validating = served.upload(folder / "large.jsonl")
        growth = served.memory_mb("VmHWM") - before
        if version["row_count"] != rows:
            raise Failed(f"{version['row_count']} of {rows} rows are there")
    return [
        Measurement(
            name="serve-upload",
            what=f"upload of {size / 1e9:.1f} GB of JSON Lines, until it is valid: growth of the server's peak memory",
            target=f"< {GROWTH_TARGET_MB} MB",
            measured=f"{growth:.0f} MB",
            ratio=GROWTH_TARGET_MB / max(growth, 1.0),
            met=growth < GROWTH_TARGET_MB,
            detail=f"{before:.0f} MB before; {rows:,} rows; received in {uploading:.1f} s, {size / 1e6 / uploading:,.0f} MB/s; "
            f"checked and stored in {validating:.1f} s, {size / 1e6 / validating:,.0f} MB/s",
        )
    ]


def write_rows(file: pathlib.Path, size: int) -> int:
    """Different cases, until the file has its size; gives their number."""
    rows = written = 0
    with file.open("w") as lines:
        while written < size:
            question, reference = work.question(rows)
            case = {"id": f"q{rows}", "input": f"{question} {ROW_TEXT}", "reference": reference, "output": reference}
            written += lines.write(json.dumps(case) + "\n")
            rows += 1
    return rows
