"""Reference values of agreement, by the libraries that are asked: krippendorff, scikit-learn, statsmodels, irrCAC.

Prints JSON; `--seed` chooses other random data. The test `crates/stats/tests/agreement.rs` reads what is printed.
"""

import argparse
import importlib.metadata
import json
import warnings

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

LEVELS = ["nominal", "ordinal", "interval", "ratio"]


def matrix(rng, annotators, items, values, reliability, missing):
    """Rows are annotators, columns items, NaN is missing; each value of the scale occurs."""
    truth = rng.choice(values, size=items)
    guess = rng.choice(values, size=(annotators, items))
    data = np.where(rng.random((annotators, items)) < reliability, truth, guess).astype(float)
    data[:, : len(values)] = np.array(values, dtype=float)
    data[rng.random((annotators, items)) < missing] = np.nan
    return data


def as_rows(data):
    return [[None if np.isnan(value) else value for value in row] for row in data.tolist()]


def alphas(rng):
    cases = []
    scales = [[0, 1], [1, 2, 3, 4, 5], [0, 1, 2.5, 10, 11, 40], list(range(1, 101))]
    for annotators, items, scale, reliability, missing in [
        (2, 12, 0, 0.7, 0.0), (3, 40, 0, 0.3, 0.2), (5, 60, 1, 0.6, 0.3), (12, 30, 1, 0.8, 0.5),
        (4, 50, 2, 0.5, 0.1), (20, 40, 1, 0.2, 0.0), (3, 120, 3, 0.6, 0.1),
    ]:
        data = matrix(rng, annotators, items, scales[scale], reliability, missing)
        case = {"data": as_rows(data), "alpha": {}}
        for level in LEVELS:
            case["alpha"][level] = float(krippendorff.alpha(data, level_of_measurement=level))
        cases.append(case)
    # Values that never repeat: more than are compared pair by pair.
    truth = rng.lognormal(2.0, 1.5, 150)
    data = truth * rng.lognormal(0.0, 0.3, (3, 150))
    data[rng.random(data.shape) < 0.15] = np.nan
    case = {"data": as_rows(data), "alpha": {}}
    for level in LEVELS:
        case["alpha"][level] = float(krippendorff.alpha(data, level_of_measurement=level))
    cases.append(case)
    return cases


def kappas(rng):
    cases = []
    for categories, items, reliability in [(2, 40, 0.6), (3, 100, 0.4), (5, 200, 0.7), (7, 90, 0.1)]:
        data = matrix(rng, 2, items, list(range(categories)), reliability, 0.0).astype(int)
        table = np.zeros((categories, categories), dtype=int)
        np.add.at(table, (data[0], data[1]), 1)
        case = {"table": table.tolist()}
        for name, weights, wt in [("plain", None, None), ("linear", "linear", "linear"), ("quadratic", "quadratic", "quadratic")]:
            result = inter_rater.cohens_kappa(table, wt=wt)
            case[name] = {
                "kappa": float(cohen_kappa_score(data[0], data[1], weights=weights)),
                "statsmodels": float(result.kappa),
                "standard_error": float(result.std_kappa),
                "interval": [float(result.kappa_low), float(result.kappa_upp)],
            }
        ratings = pd.DataFrame(data.T.astype(float))
        case["scott"] = float(CAC(ratings, digits=15).fleiss()["est"]["coefficient_value"])
        cases.append(case)
    return cases


def tables(rng):
    """Fleiss' kappa and Randolph's of tables with as many ratings for each item."""
    cases = []
    for categories, items, annotators in [(2, 30, 5), (4, 25, 8), (5, 60, 3)]:
        table = np.array([rng.multinomial(annotators, rng.dirichlet(np.full(categories, 0.5))) for _ in range(items)])
        table[:categories] = np.eye(categories, dtype=int) * annotators
        cases.append({
            "table": table.tolist(),
            "fleiss": float(inter_rater.fleiss_kappa(table, method="fleiss")),
            "randolph": float(inter_rater.fleiss_kappa(table, method="randolph")),
        })
    return cases


def many_annotators(rng):
    cases = []
    for annotators, items, values, reliability, missing in [
        (4, 40, [1, 2, 3, 4, 5], 0.6, 0.0), (5, 50, [1, 2, 3, 4, 5], 0.5, 0.3), (3, 30, [0, 1], 0.8, 0.2), (3, 60, [1, 2, 5, 9], 0.4, 0.4),
    ]:
        data = matrix(rng, annotators, items, values, reliability, missing)
        data = data[:, ~np.isnan(data).all(axis=0)]
        case = {"data": as_rows(data)}
        for weights in ["identity", "linear", "quadratic", "ordinal"]:
            # Named, since irrCAC takes NaN for a category with some versions of pandas.
            categories = sorted(set(data[~np.isnan(data)].tolist()))
            cac = CAC(pd.DataFrame(data.T), weights=weights, categories=categories, digits=15)
            case[weights] = {}
            for name, method in [("fleiss", cac.fleiss), ("gwet", cac.gwet), ("brennan_prediger", cac.bp)]:
                estimate = method()["est"]
                case[weights][name] = {
                    "coefficient": float(estimate["coefficient_value"]),
                    "observed": float(estimate["pa"]),
                    "expected": float(estimate["pe"]),
                    "standard_error": float(estimate["se"]),
                    "interval": [float(end) for end in estimate["confidence_interval"]],
                }
        cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    rng = np.random.default_rng(parser.parse_args().seed)
    warnings.simplefilter("ignore")
    packages = ["krippendorff", "scikit-learn", "statsmodels", "irrCAC", "numpy"]
    print(json.dumps({
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "alpha": alphas(rng),
        "kappa": kappas(rng),
        "tables": tables(rng),
        "many_annotators": many_annotators(rng),
    }))


if __name__ == "__main__":
    main()
