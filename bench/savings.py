"""Judging less: what a cascade costs beside judging everything, and a second run that asks nothing."""

import json
import pathlib

import harness
import work
from harness import Bench, Measurement

CASES = 10_000
TARGET_SHARE = 0.05
TARGET_SECONDS = 2.0
FAST = {"input": 0.15, "output": 0.60}
STRONG = {"input": 2.50, "output": 10.00}


def judge(url: str, model: str, price: dict) -> dict:
    """A simulated model as a judge asks it."""
    return {"provider": "openai", "model": model, "base_url": f"{url}/v1", "price": price}


def write_cascade(folder: pathlib.Path, cases: int, url: str) -> None:
    """Answers of about 1,000 tokens with their prompt, one in forty of them empty, and three tiers over them."""
    filler = "The tower was built for a fair and stayed. " * 60
    with (folder / "answers.jsonl").open("w") as lines:
        for index in range(cases):
            output = "" if index % 40 == 7 else f"Answer {index}. {filler}"
            lines.write(json.dumps({"id": f"q{index}", "input": f"Question {index}?", "output": output}) + "\n")
    fast = {"type": "binary", "name": "acceptable", "criterion": "helpfulness", "model": judge(url, "sim-95", FAST)}
    full = {"type": "g_eval", "name": "judge", "criterion": "helpfulness", "steps": ["Read it."], "threshold": 0.5,
            "model": judge(url, "strong", STRONG)}
    tiers = [
        {"name": "checks", "scorers": [{"type": "length", "name": "not_empty", "min": 1}], "hard_fail": "checks.failed"},
        {"name": "fast", "sample": 0.1, "scorers": [fast]},
        {"name": "full", "sample": 0.1, "scorers": [full]},
    ]
    cascade = {"type": "cascade", "name": "quality", "tiers": tiers}
    work.write_evaluation(folder, {"name": "cascade", "dataset": "answers.jsonl", "models": ["recorded"], "scorers": [cascade]})


def write_judged(folder: pathlib.Path, cases: int, url: str) -> None:
    """A model that answers every case, and a judge of every answer."""
    work.write_live_evaluation(folder, cases, url)
    evaluation = json.loads((folder / "fullbench.yaml").read_text())
    evaluation["scorers"].append({"type": "binary", "criterion": "helpfulness", "model": judge(url, "sim-95", FAST)})
    work.write_evaluation(folder, evaluation)


def twice(bench: Bench, url: str, write) -> tuple[dict, list]:
    """The report of the first run, and the times of further ones, which must ask nothing."""
    with harness.temporary_folder() as folder:
        write(folder, bench.size(CASES, 1_000), url)
        home = {"FULLBENCH_HOME": str(folder / "home")}
        command = [bench.fullbench(), "run", "--quiet", "--output", "json"]
        first = harness.timed(command, folder, home)
        harness.check(first.code == 0, "the first run failed", first)
        calls = harness.simulator_statistics(url)["calls"]
        again = []
        for _ in range(max(bench.repetitions, 3)):
            run = harness.timed(command, folder, home)
            harness.check(run.code == 0, "a second run failed", run)
            harness.check(harness.simulator_statistics(url)["calls"] == calls, "a second run asked a model", run)
            again.append(run)
        return json.loads(first.stdout), again


def savings(bench: Bench) -> list[Measurement]:
    """The share of the cost, and the seconds of a second run."""
    cases = bench.size(CASES, 1_000)
    with bench.simulator(0) as url:
        report, again = twice(bench, url, write_cascade)
    cascade = report["models"][0]["scores"][0]["cascade"]
    cost, everything = cascade["cost_usd"], cascade["cost_of_all_usd"]["estimate"]
    share = cost / everything
    now, of_all = cascade["half_width"]
    counts = ", ".join(f"{tier['tier']} {tier['scored']:,}" for tier in cascade["tiers"])
    measured = [
        Measurement("cascade", f"{cases:,} cases through three tiers (all, 10%, 10% of these and every failure or doubt), cost beside the strong judge on everything",
                    f"≤ {TARGET_SHARE:.0%}", f"${cost:.3f} of ${everything:.2f}: {share:.2%}", TARGET_SHARE / share, share <= TARGET_SHARE,
                    f"scored by tier: {counts}; interval of the mean ±{now:.4f} instead of about ±{of_all:.4f}"),
        second("cascade-again", f"the same evaluation again, {cases:,} cases", again),
    ]
    with bench.simulator(0) as url:
        _, again = twice(bench, url, write_judged)
    measured.append(second("judged-again", f"{cases:,} cases answered and judged, again: {2 * cases:,} replies from the cache", again))
    return measured


def second(name: str, what: str, runs: list) -> Measurement:
    """The time of a second run."""
    seconds = harness.median_seconds(runs)
    told = ", ".join(f"{run.seconds:.2f}" for run in runs)
    return Measurement(name, what, f"< {TARGET_SECONDS:.0f} s", f"{seconds:.2f} s", TARGET_SECONDS / seconds,
                       seconds < TARGET_SECONDS, f"runs in seconds: {told}")
