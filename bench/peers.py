"""The same work with Inspect AI and promptfoo, from their registries, against the same simulator.

Whole processes are timed, as for Fullbench. Because the peers take seconds to start, the rate without the start
(a run of one unit) is given as well: both numbers are fair to somebody.
"""

import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable

import harness
import speed
import work
from harness import Bench, Failed, Measurement, Skipped, Timed

INSPECT_VERSION = "0.3.285"
INSPECT_CLIENT_VERSION = "3.49.0"
PROMPTFOO_VERSION = "0.121.20"
UNITS = 5_000
# More made this version of promptfoo end with an error of its own.
PROMPTFOO_UNITS = 1_000

NO_CALLS_HOME = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}


@dataclasses.dataclass
class Peer:
    """Another evaluation program: how it is called on the questions in a folder, and how it says what passed."""

    title: str
    command: list[str]
    environment: dict[str, str]
    prepare: Callable[[pathlib.Path, str], dict[str, str]]
    passed: str


def inspect(bench: Bench) -> list[Measurement]:
    """Inspect AI."""
    return side_by_side(bench, "inspect", inspect_peer(install_inspect(bench)), UNITS)


def promptfoo(bench: Bench) -> list[Measurement]:
    """promptfoo."""
    return side_by_side(bench, "promptfoo", promptfoo_peer(install_promptfoo(bench)), PROMPTFOO_UNITS)


def inspect_peer(program: pathlib.Path) -> Peer:
    def prepare(folder: pathlib.Path, url: str) -> dict[str, str]:
        shutil.copy(pathlib.Path(__file__).with_name("inspect_task.py"), folder)
        return {"SIM_BASE_URL": f"{url}/v1", "SIM_API_KEY": "none"}

    command = [str(program), "eval", "inspect_task.py", "--model", f"openai-api/sim/{work.MODEL}"]
    command += ["--max-connections", str(work.CONCURRENCY), "--max-samples", str(work.CONCURRENCY)]
    command += ["--temperature", "0", "--display", "plain", "--log-dir", "logs"]
    return Peer(f"Inspect AI {INSPECT_VERSION}", command, {}, prepare, r"^accuracy +([\d.]+)")


def promptfoo_peer(program: pathlib.Path) -> Peer:
    def prepare(folder: pathlib.Path, url: str) -> dict[str, str]:
        questions = [json.loads(line) for line in (folder / "questions.jsonl").open()]
        settings = {"apiBaseUrl": f"{url}/v1", "apiKey": "none", "temperature": 0}
        evaluation = {
            "prompts": ["{{input}}"],
            "providers": [{"id": f"openai:chat:{work.MODEL}", "config": settings}],
            "defaultTest": {"assert": [{"type": "contains", "value": "{{reference}}"}]},
            "tests": [{"vars": {"input": case["input"], "reference": case["reference"]}} for case in questions],
        }
        (folder / "promptfooconfig.json").write_text(json.dumps(evaluation))
        return {**NO_CALLS_HOME, "PROMPTFOO_CONFIG_DIR": str(folder / "state")}

    command = [str(program), "eval", "--config", "promptfooconfig.json", "--no-cache", "--no-table"]
    command += ["--no-progress-bar", "--max-concurrency", str(work.CONCURRENCY)]
    return Peer(f"promptfoo {PROMPTFOO_VERSION}", command, {"PROMPTFOO_PASS_RATE_THRESHOLD": "0"}, prepare, r"passed \(([\d.]+)%\)")


def install_inspect(bench: Bench) -> pathlib.Path:
    """A virtual environment in the cache folder."""
    folder = bench.cache / f"inspect-{INSPECT_VERSION}"
    program = folder / "bin" / "inspect"
    if not program.exists():
        harness.say(f"installing Inspect AI {INSPECT_VERSION}")
        install([sys.executable, "-m", "venv", str(folder)])
        packages = [f"inspect-ai=={INSPECT_VERSION}", f"openai=={INSPECT_CLIENT_VERSION}"]
        install([str(folder / "bin" / "pip"), "install", "--quiet", *packages])
    return program


def install_promptfoo(bench: Bench) -> pathlib.Path:
    """A folder of Node modules in the cache folder."""
    if shutil.which("npm") is None:
        raise Skipped("npm is not installed")
    folder = bench.cache / f"promptfoo-{PROMPTFOO_VERSION}"
    program = folder / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        harness.say(f"installing promptfoo {PROMPTFOO_VERSION}")
        folder.mkdir(parents=True, exist_ok=True)
        install(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", f"promptfoo@{PROMPTFOO_VERSION}"])
    return program


def install(command: list[str]) -> None:
    """One step of an installation; without it the peer is skipped."""
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Skipped(f"{command[0]} failed: {run.stderr.strip()[-400:]}")


def peer_run(bench: Bench, peer: Peer, units: int, latency_ms: float) -> Timed:
    """A whole run of the peer, checked by what the simulator saw."""
    with bench.simulator(latency_ms) as url, harness.temporary_folder() as folder:
        work.write_questions(folder / "questions.jsonl", units)
        environment = {**peer.environment, **peer.prepare(folder, url)}
        run = harness.timed(peer.command, folder, environment)
        calls = harness.simulator_statistics(url)
        whole = calls["successes"] == calls["distinct_prompts"] == units
        harness.check(whole, f"{peer.title} made {calls} of {units} units", run)
        return run


def shared_score(peer: Peer, theirs: Timed, ours: Timed) -> float:
    """Equal work gives equal scores: the share that passed, refused where the two differ."""
    found = re.findall(peer.passed, theirs.stdout, re.MULTILINE)
    harness.check(bool(found), f"{peer.title} said no score", theirs)
    share = float(found[-1]) / (100 if "%" in peer.passed else 1)
    our_share = json.loads(ours.stdout)["models"][0]["scores"][0]["mean"]
    harness.check(abs(share - our_share) < 0.001, f"{peer.title} scored {share}, Fullbench {our_share}", theirs)
    return our_share


def side_by_side(bench: Bench, name: str, peer: Peer, most_units: int) -> list[Measurement]:
    """Fullbench over the peer, with and without latency."""
    works = [
        (f"{speed.LATENCY_MS} ms latency", speed.LATENCY_MS, bench.size(most_units, 500)),
        ("zero latency", 0, bench.size(most_units, 500)),
    ]
    measurements = []
    for title, latency_ms, units in works:
        harness.say(f"  {peer.title}: {units:,} units, {title}")
        theirs = harness.repeated(bench, lambda: peer_run(bench, peer, units, latency_ms))
        their_start = peer_run(bench, peer, 1, latency_ms).seconds
        ours = harness.repeated(bench, lambda: speed.live_run(bench, units, latency_ms))
        our_start = speed.live_run(bench, 1, latency_ms).seconds
        passed = shared_score(peer, theirs[0], ours[0])
        measurement = compare(f"{name}-{latency_ms}ms", peer, title, units, theirs, their_start, ours, our_start)
        measurement.detail += f"; both say {passed:.1%} passed"
        measurements.append(measurement)
    return measurements


def compare(
    name: str, peer: Peer, title: str, units: int, theirs: list[Timed], their_start: float, ours: list[Timed], our_start: float
) -> Measurement:
    """One line: units per second of both, and their ratio."""
    their_seconds, our_seconds = harness.median_seconds(theirs), harness.median_seconds(ours)
    if min(their_seconds - their_start, our_seconds - our_start) <= 0:
        raise Failed(f"{units} units are too few to tell the start from the work")
    without_start = (their_seconds - their_start) / (our_seconds - our_start)
    return Measurement(
        name=name,
        what=f"{units:,} units, {title}, concurrency {work.CONCURRENCY}: Fullbench beside {peer.title}",
        target="side by side",
        measured=f"{units / our_seconds:,.0f} and {units / their_seconds:,.0f} units/s",
        ratio=their_seconds / our_seconds,
        detail=f"without the start (one unit: {our_start:.2f} s and {their_start:.2f} s) the ratio is {without_start:.1f}; "
        f"Fullbench {harness.describe(ours, units)}; {peer.title} {harness.describe(theirs, units)}",
    )
