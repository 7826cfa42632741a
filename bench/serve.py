"""Evaluations of single answers over HTTP: how many a second, and how soon each is answered at half of that load."""

import json
import random
import statistics
from collections.abc import Callable

import load
import pace
import server
import work
from harness import Bench, Failed, Measurement
from load import Load
from pace import Paced
from server import Server

METRICS = ["exact_match", "token_f1", "contains"]
# Of the answer below: not equal, one of three words (articles do not count), and the reference is in it.
SCORES = {"exact_match": 0.0, "token_f1": 0.5, "contains": 1.0}
RATE_TARGET = 3_000
HALF_RATE = RATE_TARGET // 2
P99_TARGET_MS = 50.0


def answer(number: str) -> dict:
    """An answer to be evaluated, like no other."""
    return {
        "input": f"Which number follows {number}?",
        "output": f"The number is {number}1.",
        "expected_output": f"{number}1",
        "metrics": METRICS,
    }


def evaluate(bench: Bench, seconds: int) -> tuple[Load, str]:
    """As many evaluations as go on a fresh server, all found in its store; and what they cost."""
    with server.serving(bench) as served:
        seen = load.post(f"{served.url}/v1/evaluations", answer(load.NUMBER), seconds, served.headers())
        cost = f"server: {served.cpu_seconds() / seconds:.2f} cores, {served.memory_mb('VmHWM'):.0f} MB peak"
        check_stored(served, seen.requests)
        return seen, cost


def check_stored(served: Server, requests: int) -> None:
    """Every evaluation that was answered is there, with its answer and its scores; one of them is looked at."""
    total = served.call("GET", "/v1/evaluations?limit=1")["total"]
    # Those that were under way when the load ended are there too, though nobody saw their answer.
    if not 0 < requests <= total <= requests + load.CONNECTIONS:
        raise Failed(f"{requests} evaluations were answered, {total} are there")
    runs, answers, scores = served.rows("runs", "generations", "scores")
    if runs < total or answers != runs or scores != len(METRICS) * runs:
        raise Failed(f"{total} evaluations have {runs} runs, {answers} answers and {scores} scores")
    drawn = random.randrange(total)
    listed = served.call("GET", f"/v1/evaluations?limit=1&offset={drawn}")["runs"][0]["run_id"]
    evaluation = served.call("GET", f"/v1/evaluations/{listed}")
    if evaluation["status"] != "completed" or evaluation["scores"] != SCORES:
        raise Failed(f"an evaluation has other scores: {evaluation}")


def serve(bench: Bench) -> list[Measurement]:
    """Requests per second, each scored and stored before it is answered."""
    seconds = bench.size(10, 3)
    measured = [evaluate(bench, seconds) for _ in range(bench.repetitions)]
    loads = [seen for seen, _ in measured]
    rate = load.median_rate(loads)
    return [
        Measurement(
            name="serve",
            what=f"`POST /v1/evaluations`, {', '.join(METRICS)}, authenticated, each stored (SQLite) before its answer, "
            f"{load.CONNECTIONS} keep-alive connections, cores shared with wrk",
            target=f"≥ {RATE_TARGET:,} requests/s",
            measured=f"{rate:,.0f} requests/s",
            ratio=rate / RATE_TARGET,
            met=rate >= RATE_TARGET,
            detail=f"{load.describe(loads)}; {measured[-1][1]}",
        )
    ]


def half(bench: Bench) -> list[Measurement]:
    """The delay of the slowest in a hundred at half of the load."""
    seconds = bench.size(10, 3)
    with bench.simulator(0) as url:
        alone = paced(f"{url}/v1/chat/completions", work.call, seconds, {})
    runs, costs = [], []
    for _ in range(bench.repetitions):
        with server.serving(bench) as served:
            runs.append(paced(f"{served.url}/v1/evaluations", answer, seconds, served.headers()))
            costs.append(served.cpu_seconds() / seconds)
            check_stored(served, HALF_RATE * seconds)
    slow = statistics.median(run.quantile(0.99) for run in runs)
    delays = ", ".join(f"{run.quantile(0.5):.1f}/{run.quantile(0.99):.1f}/{max(run.delays_ms):.0f}" for run in runs)
    return [
        Measurement(
            name="serve-half",
            what=f"the same at {HALF_RATE:,} requests/s, sent by a timetable: p99 from when a request was due to its answer",
            target=f"< {P99_TARGET_MS:.0f} ms",
            measured=f"{slow:.1f} ms",
            ratio=P99_TARGET_MS / slow,
            met=slow < P99_TARGET_MS,
            detail=f"runs: p50/p99/slowest {delays} ms; requests that found no free connection: {sum(run.waited for run in runs)}; "
            f"server: {statistics.median(costs):.2f} cores; the client itself, against simllm: "
            f"{alone.quantile(0.5):.1f}/{alone.quantile(0.99):.1f}/{max(alone.delays_ms):.0f} ms",
        )
    ]


def paced(url: str, body: Callable[[str], dict], seconds: int, headers: dict[str, str]) -> Paced:
    """Bodies by their number at half of the load."""
    return pace.post(url, lambda index: json.dumps(body(str(index))).encode(), HALF_RATE, seconds, load.CONNECTIONS, headers)
