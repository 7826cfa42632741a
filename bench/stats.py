"""Statistics beside krippendorff, choix, scipy and crowd-kit: speed on the same data, that the numbers are equal, and the
reference tests on values computed anew."""

import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import harness
import peers
from harness import Bench, Failed, Measurement, Skipped

PACKAGES = {
    "numpy": "2.4.6",
    "pandas": "3.1.1",
    "scipy": "1.17.1",
    "statsmodels": "0.15.0",
    "scikit-learn": "1.9.1",
    "krippendorff": "0.9.0",
    "choix": "0.4.1",
    "crowd-kit": "1.4.2",
    "ppi-python": "0.2.3",
    "irrCAC": "0.4.4",
}
LEVELS = ["nominal", "ordinal", "interval", "ratio"]
ROUNDS = 1_000
TURN = 3
TOLERANCE = 1e-9


def stats(bench: Bench) -> list[Measurement]:
    """Alpha, Bradley–Terry and Dawid–Skene, each in turn with its peer."""
    interpreter = install(bench)
    program = example(bench)
    with harness.temporary_folder() as folder:
        peer = [str(interpreter), str(pathlib.Path(__file__).with_name("stats_peer.py").resolve())]
        said([*peer, "write", str(folder), str(bench.size(100, 5) / 100)], folder, parse=False)
        return [
            *alpha(bench, peer, program, folder),
            *battles(bench, peer, program, folder),
            *labels(bench, peer, program, folder),
        ]


def live(bench: Bench) -> list[Measurement]:
    """The conformance tests of the statistics against values that the libraries compute now, from a seed never used before."""
    interpreter = install(bench)
    seed = int(time.time())
    scripts = sorted(pathlib.Path("tests/reference/stats").glob("*.py"))
    with harness.temporary_folder() as folder:
        for script in scripts:
            values = said([str(interpreter), str(script.resolve()), "--seed", str(seed)], folder, parse=False)
            (folder / f"{script.stem}.json").write_text(values)
        names = [part for script in scripts for part in ("--test", script.stem)]
        command = ["cargo", "test", "--locked", "--release", "-p", "fullbench-stats", *names]
        environment = {**os.environ, "FULLBENCH_STATS_REFERENCE": str(folder)}
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if run.returncode != 0:
            raise Failed(f"seed {seed}: {run.stdout[-600:]} {run.stderr[-300:]}")
    families = ", ".join(script.stem for script in scripts)
    return [
        Measurement(
            name="stats-live",
            what=f"{families}: beside scipy, statsmodels, scikit-learn, krippendorff, irrCAC, choix, crowd-kit and ppi-python on fresh random inputs",
            target="equal",
            measured="equal",
            met=True,
            detail=f"seed {seed}; tolerances as in `crates/stats/tests`",
        )
    ]


def install(bench: Bench) -> pathlib.Path:
    """A virtual environment in the cache folder. Two packages ask for older versions than they need."""
    folder = bench.cache / "stats-peers"
    interpreter = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        harness.say("installing " + ", ".join(PACKAGES))
        peers.install([sys.executable, "-m", "venv", str(folder)])
        pinned = {name: f"{name}=={version}" for name, version in PACKAGES.items()}
        strict = [pinned.pop("ppi-python"), pinned.pop("irrCAC")]
        pip = [str(interpreter), "-m", "pip", "install", "--quiet"]
        peers.install([*pip, *pinned.values()])
        peers.install([*pip, "--no-deps", *strict])
        ready.touch()
    return interpreter


def example(bench: Bench) -> pathlib.Path:
    """The program that times the functions on data in memory."""
    program = bench.binaries / "examples" / "stats_speed"
    if not program.exists():
        raise Skipped("stats_speed is not built: cargo build --release --workspace --examples")
    return program


def said(command: list[str], folder: pathlib.Path, *, parse: bool = True):
    """What a program prints, as JSON where it is."""
    run = harness.timed(command, folder)
    harness.check(run.code == 0, f"{command[0]} failed", run)
    return json.loads(run.stdout) if parse else run.stdout


def alpha(bench: Bench, peer: list[str], program: pathlib.Path, folder: pathlib.Path) -> list[Measurement]:
    """In memory at each level, and from the file on, each in a process that has started; beside it the whole command."""
    theirs, ours = {}, {}
    # In turns, so that a slow minute of the machine is one of both.
    for _ in range(bench.repetitions):
        collect(theirs, said([*peer, "alpha", str(folder), str(TURN)], folder))
        collect(ours, said([str(program), "alpha", str(folder), str(TURN)], folder))
    measured = []
    for level in LEVELS:
        equal("alpha", ours[level]["alpha"], theirs[level]["alpha"])
        what = f"Krippendorff's alpha, {level}, 200,000 items × 5 annotators in memory, beside krippendorff {PACKAGES['krippendorff']}"
        measured.append(compared(f"alpha-{level}", what, 10, ours[level]["seconds"], theirs[level]["seconds"]))
    for name, order in (("ratings", "sorted by item"), ("shuffled", "in random order")):
        for level in LEVELS:
            key = f"{name}-{level}"
            equal("alpha", ours[key]["alpha"], theirs[key]["alpha"])
            what = f"the same from a CSV file of 1,000,000 lines {order}, {level}, beside pandas + krippendorff"
            line = compared(f"alpha-csv-{key}", what, 10, ours[key]["seconds"], theirs[key]["seconds"])
            line.detail += f"; the whole command `fullbench stats agreement --rounds 0`, with all it says: {command(bench, folder, name, level)} ms"
            measured.append(line)
    return measured


def collect(all_turns: dict, turn: dict) -> None:
    """Adds the times of one turn to those of the turns before."""
    for key, values in turn.items():
        before = all_turns.get(key, {"seconds": []})["seconds"]
        all_turns[key] = {**values, "seconds": before + values["seconds"]}


def command(bench: Bench, folder: pathlib.Path, name: str, level: str) -> str:
    """How long the command takes from its start to its end, each time."""
    runs = []
    for _ in range(bench.repetitions):
        options = ["--level", level, "--rounds", "0", "--output", "json"]
        run = harness.timed([bench.fullbench(), "stats", "agreement", f"{name}.csv", *options], folder)
        harness.check(run.code == 0, "fullbench stats agreement failed", run)
        runs.append(f"{1000 * run.seconds:.0f}")
    return ", ".join(runs)


def battles(bench: Bench, peer: list[str], program: pathlib.Path, folder: pathlib.Path) -> list[Measurement]:
    """A bootstrap round of Bradley–Terry: resampling and fitting here, fitting alone at the peers."""
    theirs = said([*peer, "battles", str(folder), "3"], folder)
    ours = said([str(program), "battles", str(folder), str(bench.size(ROUNDS, 50))], folder)
    ratings = dict(zip(theirs["names"], theirs["ratings"], strict=True))
    for name, rating in ours["ratings"].items():
        equal(f"rating of {name}", rating, ratings[name], tolerance=1e-5)
    what = "Bradley–Terry, 1,000,000 battles of 100 models, a bootstrap round (resampling and fit), beside "
    per_round = [ours["seconds"] / ours["rounds"]]
    scipy = [run["fit"] for run in theirs["scipy"]]
    return [
        compared("ranking-choix", f"{what}choix {PACKAGES['choix']} `ilsr_pairwise` (fit alone)", 100, per_round, theirs["choix"]),
        compared("ranking-scipy", f"{what}scipy {PACKAGES['scipy']} L-BFGS on the pair counts (fit alone)", 3, per_round, scipy),
    ]


def labels(bench: Bench, peer: list[str], program: pathlib.Path, folder: pathlib.Path) -> list[Measurement]:
    """Dawid–Skene at equal iterations."""
    theirs = said([*peer, "labels", str(folder), "1"], folder)
    ours = said([str(program), "labels", str(folder), str(theirs["iterations"])], folder)
    with (folder / "theirs.csv").open() as file:
        expected = dict(csv.reader(file))
    same = sum(ours["labels"][item] == label for item, label in expected.items())
    if same < 0.9999 * len(expected):
        raise Failed(f"Dawid–Skene: {same} of {len(expected)} labels are equal")
    what = f"Dawid–Skene, 1,000,000 labels of 200 annotators, {theirs['iterations']} iterations, beside crowd-kit {PACKAGES['crowd-kit']}"
    line = compared("dawid-skene", what, 20, ours["seconds"], theirs["seconds"])
    line.detail += f"; {same:,} of {len(expected):,} labels equal"
    return [line]


def equal(what: str, ours: float, theirs: float, tolerance: float = TOLERANCE) -> None:
    """Speed counts only when the numbers are the same."""
    if abs(ours - theirs) > tolerance:
        raise Failed(f"{what}: {ours} and {theirs}")


def compared(name: str, what: str, target: int, ours: list[float], theirs: list[float]) -> Measurement:
    """One line: the times of both, and their ratio over the target."""
    our_time, their_time = statistics.median(ours), statistics.median(theirs)
    times = their_time / our_time
    runs = [", ".join(f"{1000 * seconds:.1f}" for seconds in values) for values in (ours, theirs)]
    return Measurement(
        name=name,
        what=what,
        target=f"≥ {target} times",
        measured=f"{1000 * our_time:,.1f} and {1000 * their_time:,.1f} ms: {times:.0f} times",
        ratio=times / target,
        met=times >= target,
        detail=f"runs in ms: {runs[0]} and {runs[1]}",
    )
