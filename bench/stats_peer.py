"""Data for the statistics, and the peers timed on them, in an environment that has krippendorff, choix, scipy and crowd-kit.

    stats_peer.py write FOLDER SCALE    ratings, battles and labels, the same in every run
    stats_peer.py alpha|battles|labels FOLDER REPETITIONS
"""

import json
import pathlib
import sys
import time
import warnings

import choix
import krippendorff
import numpy
import pandas
import scipy.optimize
from crowdkit.aggregation import DawidSkene

LEVELS = ["nominal", "ordinal", "interval", "ratio"]
MODELS = 100
ITERATIONS = 20


def write(folder: pathlib.Path, scale: float) -> None:
    """Five ratings of each item, duels of a hundred models, and labels of annotators who differ in skill."""
    generator = numpy.random.default_rng(200_000)
    items, annotators = int(200_000 * scale), 5
    truth = generator.integers(1, 6, items)
    noise = generator.choice([-1, 0, 0, 0, 1], (items, annotators))
    ratings = pandas.DataFrame({
        "item": numpy.repeat([f"q{index:06}" for index in range(items)], annotators),
        "annotator": numpy.tile([f"rater-{index}" for index in range(annotators)], items),
        "value": numpy.clip(truth[:, None] + noise, 1, 5).ravel(),
    })
    ratings.to_csv(folder / "ratings.csv", index=False)
    ratings.sample(frac=1, random_state=1).to_csv(folder / "shuffled.csv", index=False)

    battles = int(1_000_000 * scale)
    strengths = generator.normal(0, 0.7, MODELS)
    first = generator.integers(0, MODELS, battles)
    second = (first + generator.integers(1, MODELS, battles)) % MODELS
    won = generator.random(battles) < 1 / (1 + numpy.exp(strengths[second] - strengths[first]))
    names = numpy.array([f"model-{index:02}" for index in range(MODELS)])
    pandas.DataFrame({"a": names[first], "b": names[second], "winner": numpy.where(won, names[first], names[second])}).to_csv(
        folder / "battles.csv", index=False
    )

    items, people, classes = int(200_000 * scale), 200, 4
    truth = generator.integers(0, classes, items)
    skill = generator.uniform(0.5, 0.95, people)
    # Distinct annotators of one item: five steps around the circle of people from a random start.
    who = (generator.integers(0, people, items)[:, None] + numpy.arange(5) * 37) % people
    right = generator.random(who.shape) < skill[who]
    label = numpy.where(right, truth[:, None], (truth[:, None] + generator.integers(1, classes, who.shape)) % classes)
    pandas.DataFrame({
        "item": numpy.repeat([f"t{index:06}" for index in range(items)], 5),
        "annotator": [f"w{index:03}" for index in who.ravel()],
        "value": [f"class-{index}" for index in label.ravel()],
    }).to_csv(folder / "labels.csv", index=False)


def timed(work, repetitions: int):
    """The times of each repetition, and what came out of the last."""
    seconds, result = [], None
    for _ in range(repetitions):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return seconds, result


def alpha(folder: pathlib.Path, repetitions: int) -> dict:
    """Krippendorff's alpha of a matrix in memory, and from the file on."""
    said = {}
    table = matrix(folder / "ratings.csv")
    for level in LEVELS:
        seconds, value = timed(lambda: krippendorff.alpha(table, level_of_measurement=level), repetitions)
        said[level] = {"seconds": seconds, "alpha": value}
        for name in ("ratings", "shuffled"):
            work = lambda: krippendorff.alpha(matrix(folder / f"{name}.csv"), level_of_measurement=level)
            seconds, value = timed(work, repetitions)
            said[f"{name}-{level}"] = {"seconds": seconds, "alpha": value}
    return said


def matrix(path: pathlib.Path) -> numpy.ndarray:
    """A row for each annotator, a column for each item."""
    return pandas.read_csv(path).pivot(index="annotator", columns="item", values="value").to_numpy(dtype=float)


def battles(folder: pathlib.Path, repetitions: int) -> dict:
    """One fit to resampled battles by choix, and one to pair counts by scipy's L-BFGS."""
    table = pandas.read_csv(folder / "battles.csv")
    names = sorted(set(table["a"]) | set(table["b"]))
    index = {name: place for place, name in enumerate(names)}
    winner = table["winner"].map(index).to_numpy()
    loser = numpy.where(table["winner"] == table["a"], table["b"].map(index), table["a"].map(index))
    generator = numpy.random.default_rng(1)
    with_choix, with_scipy = [], []
    for _ in range(repetitions):
        rows = generator.integers(0, len(winner), len(winner))
        pairs = list(zip(winner[rows].tolist(), loser[rows].tolist(), strict=True))
        seconds, _ = timed(lambda: choix.ilsr_pairwise(MODELS, pairs), 1)
        with_choix += seconds
        started = time.perf_counter()
        counts = numpy.zeros((MODELS, MODELS))
        numpy.add.at(counts, (winner[rows], loser[rows]), 1)
        counted = time.perf_counter() - started
        seconds, _ = timed(lambda: fitted(counts), 1)
        with_scipy.append({"fit": seconds[0], "counting": counted})
    counts = numpy.zeros((MODELS, MODELS))
    numpy.add.at(counts, (winner, loser), 1)
    return {"choix": with_choix, "scipy": with_scipy, "names": names, "ratings": fitted(counts).tolist()}


def fitted(counts: numpy.ndarray) -> numpy.ndarray:
    """Bradley–Terry by maximum likelihood, with its gradient."""
    won, lost = numpy.nonzero(counts)
    times = counts[won, lost]

    def loss(strengths):
        margin = strengths[won] - strengths[lost]
        missing = 1 / (1 + numpy.exp(margin))
        gradient = numpy.bincount(lost, times * missing, MODELS) - numpy.bincount(won, times * missing, MODELS)
        return (times * numpy.logaddexp(0, -margin)).sum(), gradient

    strengths = scipy.optimize.minimize(loss, numpy.zeros(MODELS), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-6}).x
    return strengths - strengths.mean()


def labels(folder: pathlib.Path, repetitions: int) -> dict:
    """Dawid–Skene with a fixed number of iterations."""
    table = pandas.read_csv(folder / "labels.csv").rename(columns={"item": "task", "annotator": "worker", "value": "label"})
    model = DawidSkene(n_iter=ITERATIONS, tol=-1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, result = timed(lambda: model.fit_predict(table), repetitions)
    result.sort_index().to_csv(folder / "theirs.csv", header=False)
    return {"seconds": seconds, "iterations": ITERATIONS}


def main() -> None:
    verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if verb == "write":
        write(folder, float(sys.argv[3]))
        return
    work = {"alpha": alpha, "battles": battles, "labels": labels}[verb]
    print(json.dumps(work(folder, int(sys.argv[3]))))


if __name__ == "__main__":
    main()
