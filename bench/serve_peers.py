"""Servers that others keep scores in, under the same load: MLflow and Phoenix from PyPI, each on SQLite.

They get scores that are computed already and store them; Fullbench gets answers, computes three scores of each, and stores
answer and scores. What a peer answers with success must be in its database too.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable

import harness
import load
import peers
import serve
import server
from harness import Bench, Failed, Measurement
from load import Load

MLFLOW_VERSION = "3.17.2"
PHOENIX_VERSION = "20.26.1"
START_SECONDS = 180.0
POLL_SECONDS = 0.2
# A peer may refuse some requests under this load, when its database is busy; only those it carries out count.
MOST_REFUSED = 0.5
# More connections make a peer slower where its database is held by one at a time: its best counts.
CONNECTIONS = (4, 16, 64)
WARM_UP_SECONDS = 5
WARM_UP_CONNECTIONS = 8
QUIET_SECONDS = 2.0


@dataclasses.dataclass
class Request:
    """What is posted to a peer over and over, and how much each of it stores."""

    what: str
    path: str
    # By the number of the trial, so that nothing is stored twice under the same name.
    body: Callable[[int], dict]
    stored: int


@dataclasses.dataclass
class Peer:
    """Another server: how it is started in a folder on a port, and made ready for its requests."""

    name: str
    title: str
    command: Callable[[int], list[str]]
    environment: Callable[[pathlib.Path, int], dict[str, str]]
    health: str
    prepare: Callable[[str], list[Request]]
    database: str
    table: str


def mlflow(bench: Bench) -> list[Measurement]:
    """MLflow: metrics of a run."""
    folder = install(bench, "mlflow", MLFLOW_VERSION)

    def command(port: int) -> list[str]:
        address = ["--host", "127.0.0.1", "--port", str(port)]
        return [str(folder / "bin" / "mlflow"), "server", "--backend-store-uri", "sqlite:///mlflow.db", *address]

    def prepare(url: str) -> list[Request]:
        run = call(f"{url}/api/2.0/mlflow/runs/create", {"experiment_id": "0"})["run"]["info"]["run_id"]

        def metric(name: str, trial: int) -> dict:
            return {"key": name, "value": 0.5, "timestamp": trial, "step": load.NUMBER}

        def log_batch(trial: int) -> dict:
            return {"run_id": run, "metrics": [metric(name, trial) for name in serve.METRICS]}

        def log_metric(trial: int) -> dict:
            return {"run_id": run, **metric("score", trial)}

        runs = "/api/2.0/mlflow/runs"
        return [
            Request("log-batch, three scores", f"{runs}/log-batch", log_batch, len(serve.METRICS)),
            Request("log-metric, one score", f"{runs}/log-metric", log_metric, 1),
        ]

    peer = Peer(
        name="mlflow",
        title=f"MLflow {MLFLOW_VERSION}",
        command=command,
        # Its tools are found where it is installed.
        environment=lambda _, __: {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "MLFLOW_DISABLE_TELEMETRY": "true"},
        health="/health",
        prepare=prepare,
        database="mlflow.db",
        table="metrics",
    )
    return side_by_side(bench, peer)


def phoenix(bench: Bench) -> list[Measurement]:
    """Phoenix: annotations of a span."""
    folder = install(bench, "arize-phoenix", PHOENIX_VERSION)

    def prepare(url: str) -> list[Request]:
        span = "00f067aa0ba902b7"
        time_of_span = "2026-01-01T00:00:00+00:00"
        context = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": span}
        times = {"start_time": time_of_span, "end_time": time_of_span}
        answer = {"name": "answer", "context": context, "span_kind": "LLM", "status_code": "OK", "attributes": {}, **times}
        call(f"{url}/v1/projects/default/spans", {"data": [answer]})

        def annotations(trial: int) -> dict:
            score = {"span_id": span, "annotator_kind": "CODE", "identifier": f"{trial}-{load.NUMBER}", "result": {"score": 0.5}}
            return {"data": [{**score, "name": name} for name in serve.METRICS]}

        # Without `sync` it would answer before it stores.
        path = "/v1/span_annotations?sync=true"
        wait_until(lambda: accepts(url + path, annotations(-1)), "Phoenix did not store its span")
        return [Request("span_annotations, three scores", path, annotations, len(serve.METRICS))]

    peer = Peer(
        name="phoenix",
        title=f"Phoenix {PHOENIX_VERSION}",
        command=lambda _: [str(folder / "bin" / "phoenix"), "serve"],
        environment=lambda work, port: {
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_WORKING_DIR": str(work),
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        health="/healthz",
        prepare=prepare,
        database="phoenix.db",
        table="span_annotations",
    )
    return side_by_side(bench, peer)


def install(bench: Bench, package: str, version: str) -> pathlib.Path:
    """A virtual environment in the cache folder."""
    folder = bench.cache / f"{package}-{version}"
    ready = folder / "ready"
    if not ready.exists():
        harness.say(f"installing {package} {version}")
        peers.install([sys.executable, "-m", "venv", str(folder)])
        peers.install([str(folder / "bin" / "pip"), "install", "--quiet", f"{package}=={version}"])
        ready.touch()
    return folder


def side_by_side(bench: Bench, peer: Peer) -> list[Measurement]:
    """Requests per second of both, in turns, so that a slow minute of the machine is one of both."""
    seconds = bench.size(10, 3)
    ours: list[Load] = []
    theirs: dict[str, list[Load]] = {}
    for _ in range(bench.repetitions):
        ours.append(serve.evaluate(bench, seconds)[0])
        with running(peer) as (url, database):
            for request in peer.prepare(url):
                theirs.setdefault(request.what, []).append(best(peer, request, url, database, seconds))
    return [compare(peer, what, ours, loads) for what, loads in theirs.items()]


@contextlib.contextmanager
def running(peer: Peer):
    """The peer on a fresh folder; gives its URL and its database."""
    with harness.temporary_folder() as folder:
        port = free_port()
        process = harness.start(peer.command(port), folder, peer.environment(folder, port))
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: process.poll() is not None or answers(url + peer.health), f"{peer.title} did not start")
            if process.poll() is not None:
                raise Failed(f"{peer.title} ended: {(folder / 'stderr.log').read_text()[-1500:]}")
            yield url, folder / peer.database
        finally:
            # Its workers are processes of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def best(peer: Peer, request: Request, url: str, database: pathlib.Path, seconds: int) -> Load:
    """The load at the number of connections that the peer is fastest with, its rows counted."""
    load.post(url + request.path, request.body(0), WARM_UP_SECONDS, connections=WARM_UP_CONNECTIONS, most_refused=1.0)
    loads = []
    for trial, connections in enumerate(CONNECTIONS, start=1):
        before = rows_when_quiet(peer, database)
        seen = load.post(url + request.path, request.body(trial), seconds, connections=connections, most_refused=MOST_REFUSED)
        stored, expected = rows_when_quiet(peer, database) - before, request.stored * (seen.requests - seen.refused)
        if stored < expected:
            raise Failed(f"{peer.title} stored {stored} of {expected} scores")
        harness.say(f"  {peer.title}, {request.what}, connections: {connections}: {seen.accepted_per_second():,.1f} requests/s")
        loads.append(seen)
    fastest = max(loads, key=Load.accepted_per_second)
    if fastest.requests == 0:
        raise Failed(f"{peer.title} answered nothing in {seconds} s")
    return fastest


def rows_when_quiet(peer: Peer, database: pathlib.Path) -> int:
    """The rows that the peer has stored, once the requests that nobody waits for any more have ended."""
    counts = server.rows(database, peer.table)
    while True:
        time.sleep(QUIET_SECONDS)
        before, counts = counts, server.rows(database, peer.table)
        if counts == before:
            return counts[0]


def compare(peer: Peer, what: str, ours: list[Load], theirs: list[Load]) -> Measurement:
    """One line: requests per second of both, and their ratio."""
    rate, their_rate = load.median_rate(ours), load.median_rate(theirs)
    return Measurement(
        name=f"serve-{peer.name}-{what.split(',')[0]}",
        what=f"evaluations/s, three scores computed and stored with the answer, beside {peer.title} ({what} given and stored), "
        f"both on SQLite over keep-alive connections: {load.CONNECTIONS}, the peer as many as it is fastest with",
        target="side by side",
        measured=f"{rate:,.0f} and {their_rate:,.1f} requests/s",
        ratio=rate / their_rate,
        detail=f"Fullbench {load.describe(ours)}; {peer.title} {load.describe(theirs)}; "
        f"its connections: {', '.join(str(seen.connections) for seen in theirs)}",
    )


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def call(url: str, body: dict) -> dict:
    """A request outside the measured time."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read() or "{}")
    except urllib.error.HTTPError as error:
        raise Failed(f"{url}: {error.code} {error.read()[:500]!r}") from error


def answers(url: str) -> bool:
    """Whether there is a server yet."""
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.status == 200
    except OSError:
        return False


def accepts(url: str, body: dict) -> bool:
    """Whether a request succeeds yet."""
    try:
        call(url, body)
    except Failed:
        return False
    return True


def wait_until(done: Callable[[], bool], otherwise: str) -> None:
    """Waits as long as a peer may take to start."""
    deadline = time.monotonic() + START_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise Failed(f"{otherwise} in {START_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)
