"""Reference values for the report card of a judge.

    python check.py [--seed N] > check.json

A small study of a judge, and what scikit-learn, krippendorff, scipy and statsmodels make of it.
"""

import argparse
import json
from importlib.metadata import version

import krippendorff
import numpy as np
import statsmodels.api as sm
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.proportion import proportion_confint

MARK = 0.6
SYSTEMS = ["gpt-4o", "claude-sonnet", "gemini-pro", "llama3"]


def study(random, n=48):
    """Answers with one to three ratings from 1 to 5, and the judge's scores: as they are, twice again, and padded."""
    examples = []
    for index in range(n):
        quality = random.uniform(1, 5)
        rate = lambda spread: float((np.clip(np.round(quality + random.normal(0, spread)), 1, 5) - 1) / 4)
        examples.append({
            "system": SYSTEMS[index % 4],
            "words": int(random.integers(3, 120)),
            "ratings": [rate(0.6) for _ in range(int(random.integers(1, 4)))],
            "judge": rate(0.8),
            "retests": [rate(0.8), rate(0.8)],
            "padded": rate(0.8),
        })
    return examples


def interval_of_mean(values):
    values = np.asarray(values)
    low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
    return [float(values.mean()), float(low), float(high)]


def line(x, y):
    found = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
    return [float(found.params[1]), *map(float, found.conf_int()[1])]


def share(count, n):
    return [count / n, *map(float, proportion_confint(count, n, 0.05, "wilson"))]


def card(examples):
    human = np.array([np.mean(one["ratings"]) for one in examples])
    judge = np.array([one["judge"] for one in examples])
    # Both sides to the nearest step; halves away from 0.
    steps = lambda values: np.floor(values * 4 + 0.5).astype(int)
    passes = lambda values: (values >= MARK).astype(int)
    people = np.full((3, len(examples)), np.nan)
    for index, one in enumerate(examples):
        people[: len(one["ratings"]), index] = one["ratings"]
    alpha = lambda rows: float(krippendorff.alpha(reliability_data=rows, level_of_measurement="interval"))
    scores = np.array([[one["judge"], *one["retests"]] for one in examples])
    changed = (passes(scores) != passes(scores)[:, :1]).any(axis=1)
    own = np.array([one["system"].startswith("gpt") for one in examples])
    difference = judge - human
    welch = stats.ttest_ind(difference[own], difference[~own], equal_var=False)
    welch_ends = welch.confidence_interval(0.95)
    words = np.log2([one["words"] for one in examples])
    means = lambda values: [np.mean([v for v, one in zip(values, examples) if one["system"] == s]) for s in SYSTEMS]
    coefficients = lambda x, y: [float(f(x, y).statistic) for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
    return {
        "kappa": float(cohen_kappa_score(steps(judge), steps(human), weights="quadratic", labels=range(5))),
        "verdict_kappa": float(cohen_kappa_score(passes(judge), passes(human))),
        "verdicts": confusion_matrix(passes(human), passes(judge)).tolist(),
        "alpha": alpha(np.vstack([judge, human])),
        "alpha_among_people": alpha(np.vstack([judge, people])),
        "alpha_of_people": alpha(people),
        "items": coefficients(judge, human),
        "systems": coefficients(means(judge), means(human)),
        "bias": interval_of_mean(difference),
        "bias_slope": line((judge + human) / 2, difference),
        "within_deviation": float(np.sqrt(scores.var(axis=1, ddof=1).mean())),
        "changed_verdicts": share(int(changed.sum()), len(examples)),
        "verbosity_slope": line(words, difference),
        "padded": interval_of_mean([one["padded"] - one["judge"] for one in examples]),
        "padded_size": interval_of_mean([abs(one["padded"] - one["judge"]) for one in examples]),
        "self_preference": [
            float(difference[own].mean() - difference[~own].mean()), float(welch_ends.low), float(welch_ends.high)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    examples = study(np.random.default_rng(seed))
    names = ["scikit-learn", "krippendorff", "scipy", "statsmodels"]
    print(json.dumps({
        "seed": seed,
        "versions": {name: version(name) for name in names},
        "mark": MARK,
        "examples": examples,
        "card": card(examples),
    }))


if __name__ == "__main__":
    main()
