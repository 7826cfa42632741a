"""Takes the measurements one after another and writes them down. Started by `bench/run`."""

import argparse
import os
import pathlib
import sys

import audit
import embed
import harness
import local
import machine
import peers
import recorded
import results
import savings
import script
import serve
import serve_batch
import serve_events
import serve_peers
import speed
import stats
import text
from harness import Bench, Failed, Measurement, Skipped

MEASUREMENTS = {
    "simulator": speed.simulator,
    "latency": speed.latency,
    "throughput": speed.throughput,
    "recorded": recorded.recorded,
    "resume": recorded.resume,
    "version": speed.version,
    "audit": audit.verify,
    "inspect": peers.inspect,
    "promptfoo": peers.promptfoo,
    "text": text.text,
    "local": local.local,
    "embed": embed.embed,
    "index": embed.index,
    "script": script.script,
    "savings": savings.savings,
    "stats": stats.stats,
    "stats-live": stats.live,
    "serve": serve.serve,
    "serve-half": serve.half,
    "serve-events": serve_events.events,
    "serve-batch": serve_batch.batch,
    "serve-upload": serve_batch.upload,
    "serve-mlflow": serve_peers.mlflow,
    "serve-phoenix": serve_peers.phoenix,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run", description="Measure Fullbench against its targets and its peers.")
    parser.add_argument("--binaries", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="small sizes, one repetition; prints only")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help="of: " + ", ".join(MEASUREMENTS))
    parser.add_argument("--add", action="store_true", help="add the measurements of --only to bench/RESULTS.md, as measured apart")
    return parser.parse_args()


def measure(bench: Bench, name: str) -> list[Measurement]:
    """One measurement; what cannot be measured is said, not left out."""
    load = machine.load()
    harness.say(f"{name} (load {load})")
    try:
        measured = MEASUREMENTS[name](bench)
    except Skipped as reason:
        measured = [Measurement(name, f"{name}: SKIPPED", "", f"SKIPPED: {reason}")]
    except Failed as reason:
        measured = [Measurement(name, f"{name}: FAILED", "", "FAILED", met=False, detail=str(reason))]
    for measurement in measured:
        measurement.detail = "; ".join(part for part in (measurement.detail, f"load before: {load}") if part)
        harness.say(f"  {measurement.what}: {measurement.measured}")
    return measured


def main() -> int:
    chosen = arguments()
    for binary in ("fullbench", "simllm"):
        if not (chosen.binaries / binary).exists():
            harness.say(f"error: {binary} is not built\nhint: make build")
            return 2
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fullbench-bench"
    cache.mkdir(parents=True, exist_ok=True)
    bench = Bench(chosen.binaries, cache, chosen.quick, repetitions=1 if chosen.quick else 3)

    conditions = machine.conditions(bench)
    names = chosen.only or list(MEASUREMENTS)
    measured = [measurement for name in names for measurement in measure(bench, name)]
    page = results.page(measured, conditions)
    if chosen.add and chosen.only and not chosen.quick:
        with pathlib.Path("bench/RESULTS.md").open("a") as file:
            file.write(results.apart(measured, conditions))
        harness.say("added to bench/RESULTS.md")
    elif chosen.quick or chosen.only:
        print(page)
    else:
        pathlib.Path("bench/RESULTS.md").write_text(page)
        harness.say("wrote bench/RESULTS.md")
    return 1 if any(measurement.met is False for measurement in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
