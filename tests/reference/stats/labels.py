"""Reference values of label aggregation by crowd-kit.

Prints JSON; `--seed` chooses other random data. The test `crates/stats/tests/labels.rs` reads what is printed.
"""

import argparse
import importlib.metadata
import json
import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import MACE, DawidSkene, MajorityVote


def ratings(rng, items, annotators, labels, each, accuracies):
    """Ratings in long format. Annotators and labels appear in ascending order: crowd-kit's MACE mixes up those that do not."""
    truth = rng.integers(0, labels, items)
    rows = [(0, annotator, min(annotator, labels - 1)) for annotator in range(annotators)]
    for item in range(1, items):
        for annotator in sorted(rng.choice(annotators, size=each, replace=False).tolist()):
            right = rng.random() < accuracies[annotator]
            others = [label for label in range(labels) if label != truth[item]]
            rows.append((item, annotator, int(truth[item]) if right else int(rng.choice(others))))
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def dawid_skene(data, iterations):
    model = DawidSkene(n_iter=iterations, tol=-np.inf).fit(data)
    labels = sorted(data.label.unique())
    errors = model.errors_
    return {
        "iterations": iterations,
        "probabilities": model.probas_.sort_index()[labels].to_numpy().tolist(),
        "priors": model.priors_[labels].tolist(),
        "errors": [[int(worker), int(label), *row] for (worker, label), row in zip(errors.index, errors[labels].to_numpy().tolist())],
    }


def case(rng, items, annotators, labels, each, accuracies, iterations):
    data = ratings(rng, items, annotators, labels, each, accuracies)
    votes = MajorityVote().fit_predict_proba(data)
    skills = pd.Series(rng.random(annotators) + 0.1, index=range(annotators))
    weighted = MajorityVote().fit_predict_proba(data, skills)
    names = sorted(data.label.unique())
    mace, later = (MACE(n_restarts=1, n_iter=count).fit(data) for count in (400, 800))
    moved = (mace.probas_.sort_index()[names] - later.probas_.sort_index()[names]).abs().to_numpy().max()
    return {
        "rows": data.to_numpy().tolist(),
        "majority": votes.sort_index()[names].to_numpy().tolist(),
        "weights": skills.tolist(),
        "weighted": weighted.sort_index()[names].to_numpy().tolist(),
        "dawid_skene": [dawid_skene(data, count) for count in iterations],
        "mace": {
            "probabilities": mace.probas_.sort_index()[names].to_numpy().tolist(),
            "knowing": mace.spamming_[:, 1].tolist(),
            "settled": bool(moved < 1e-8),
        },
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    rng = np.random.default_rng(parser.parse_args().seed)
    warnings.simplefilter("ignore")
    print(json.dumps({
        "versions": {name: importlib.metadata.version(name) for name in ["crowd-kit", "pandas", "numpy"]},
        "cases": [
            case(rng, 60, 4, 2, 3, [0.9, 0.8, 0.85, 0.6], [1, 7, 30]),
            case(rng, 80, 8, 4, 4, [0.9, 0.8, 0.5, 0.7, 0.95, 0.4, 0.8, 0.85], [1, 10]),
            case(rng, 40, 6, 3, 6, [0.9, 0.8, 0.9, 0.7, 0.75, 0.34], [3]),
        ],
    }))


if __name__ == "__main__":
    main()
