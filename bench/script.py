"""Functions of users in the sandbox: calls of a small TypeScript function, one after the other on one thread."""

import json
import statistics
import subprocess

from harness import Bench, Failed, Measurement, Skipped

TARGET_P95_MS = 2.0
TARGET_RATE = 1_000


def script(bench: Bench) -> list[Measurement]:
    """The time of a call at the 95th percentile, and calls per second."""
    program = bench.binaries / "examples" / "script_throughput"
    if not program.exists():
        raise Skipped("script_throughput is not built: cargo build --release -p fullbench-script --example script_throughput")
    calls = bench.size(5_000, 500)
    runs = [timed([str(program), str(calls)]) for _ in range(bench.repetitions)]
    slowest = statistics.median(run["p95_ms"] for run in runs)
    rate = statistics.median(run["calls_per_second"] for run in runs)
    what = f"a small TypeScript scorer in the sandbox, {calls:,} calls on one thread"
    told = ", ".join(f"{run['calls_per_second']:,.0f}/s with p95 {run['p95_ms']} ms" for run in runs)
    return [
        Measurement("script", f"{what}: 95th percentile of a call", f"< {TARGET_P95_MS:.0f} ms", f"{slowest:.2f} ms",
                    TARGET_P95_MS / slowest, slowest < TARGET_P95_MS, f"runs: {told}"),
        Measurement("script-rate", f"{what}: calls per second", f"≥ {TARGET_RATE:,} calls/s", f"{rate:,.0f} calls/s",
                    rate / TARGET_RATE, rate >= TARGET_RATE, f"runs: {told}"),
    ]


def timed(command: list[str]) -> dict:
    """What the program printed."""
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if run.returncode != 0:
        raise Failed(f"{command[0]} ended with {run.returncode}: {run.stderr[-800:]}")
    return json.loads(run.stdout)
