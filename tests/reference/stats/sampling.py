"""Reference values for estimates from outputs judged with known, unequal probabilities.

    python sampling.py [--seed N] > sampling.json

statsmodels and samplics compute weighted means, and samplics the linearized variance with and without clusters. What no library
computes (the variance of a Poisson draw, the difference of two sides) is computed here from its definition, output by output.
"""

import argparse
import json
import warnings
from importlib.metadata import version

import numpy as np
from statsmodels.stats.weightstats import DescrStatsW

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from samplics.estimation import TaylorEstimator
    from samplics.utils.types import PopParam


def ratio(values, probabilities):
    return DescrStatsW(values, weights=1 / probabilities).mean


def corrected(values, probabilities):
    """The ratio less its bias to first order, from the covariance of its two sums."""
    weights = 1 / probabilities
    mean = ratio(values, probabilities)
    covariance = sum(w * w * (1 - p) * (y - mean) for y, w, p in zip(values, weights, probabilities))
    return mean + covariance / weights.sum() ** 2


def design_error(values, probabilities):
    mean = ratio(values, probabilities)
    parts = [(1 - p) / p**2 * (y - mean) ** 2 for y, p in zip(values, probabilities)]
    return np.sqrt(sum(parts)) / (1 / probabilities).sum()


def taylor_error(values, probabilities, clusters):
    estimator = TaylorEstimator(PopParam.mean)
    estimator.estimate(y=values, samp_weight=1 / probabilities, psu=clusters)
    assert abs(estimator.point_est - ratio(values, probabilities)) < 1e-12
    return float(estimator.stderror)


def means(random):
    cases = []
    for n in [3, 8, 40, 200]:
        for kind in ["binary", "grades", "costs", "equal probabilities"]:
            values = {"binary": random.integers(0, 2, n), "grades": random.integers(0, 5, n) / 4}.get(kind, random.lognormal(size=n))
            values = np.round(values.astype(float), 6)
            values[0], values[1] = 0.0, 1.0
            probabilities = random.choice([1.0, 0.1, 0.05, 0.01, 0.005], size=n)
            if kind == "equal probabilities":
                probabilities[:] = 0.25
            clusters = random.integers(0, max(n // 4, 2), n)
            clusters[0], clusters[1] = 0, 1
            cases.append({
                "values": values.tolist(), "probabilities": probabilities.tolist(), "clusters": clusters.tolist(),
                "ratio": float(ratio(values, probabilities)), "mean": float(corrected(values, probabilities)),
                "design_error": float(design_error(values, probabilities)),
                "error": taylor_error(values, probabilities, np.arange(n)),
                "clustered_error": taylor_error(values, probabilities, clusters),
            })
    return cases


def differences(random):
    cases = []
    for n in [6, 30, 150]:
        for shared in [False, True]:
            first = np.round(random.uniform(size=n), 6)
            second = np.round(random.uniform(size=n), 6)
            one, other = random.choice([0.5, 0.1, 0.02], size=(2, n))
            judged = random.choice(["first", "second", "both"], size=n)
            judged[:2] = "both"
            clusters = random.integers(0, max(n // 3, 2), n)
            clusters[0], clusters[1] = 0, 1
            in_first, in_second = judged != "second", judged != "first"
            both = np.minimum(one, other) if shared else one * other
            one_mean, other_mean = ratio(first[in_first], one[in_first]), ratio(second[in_second], other[in_second])
            one_number, other_number = (1 / one[in_first]).sum(), (1 / other[in_second]).sum()
            parts = np.where(in_second, (second - other_mean) / other / other_number, 0)
            parts = parts - np.where(in_first, (first - one_mean) / one / one_number, 0)
            found = set(clusters.tolist())
            squares = sum(parts[clusters == cluster].sum() ** 2 for cluster in found)
            design = design_error(first[in_first], one[in_first]) ** 2 + design_error(second[in_second], other[in_second]) ** 2
            for i in np.flatnonzero(judged == "both"):
                covariance = (both[i] - one[i] * other[i]) / (one[i] * other[i])
                estimated = covariance / both[i] * (first[i] - one_mean) * (second[i] - other_mean)
                design -= 2 * estimated / (one_number * other_number)
            cases.append({
                "first": first.tolist(), "second": second.tolist(), "first_probabilities": one.tolist(),
                "second_probabilities": other.tolist(), "both": both.tolist(), "judged": judged.tolist(), "clusters": clusters.tolist(),
                "estimate": float(corrected(second[in_second], other[in_second]) - corrected(first[in_first], one[in_first])),
                "clustered_error": float(np.sqrt(squares * len(found) / (len(found) - 1))),
                "error": float(np.sqrt((parts**2).sum() * n / (n - 1))),
                # The estimate of a variance can be negative; there is no error then.
                "design_error": float(np.sqrt(max(design, 0))),
            })
    return cases


def quantiles(random):
    cases = []
    for n in [1, 5, 50]:
        values, probabilities = random.integers(0, 12, n).astype(float), random.choice([1.0, 0.5, 0.125], size=n)
        repeated = np.repeat(values, (1 / probabilities).astype(int))
        levels = [0.1, 0.33, 0.5, 0.77, 0.95]
        quantile = [float(np.quantile(repeated, level, method="inverted_cdf")) for level in levels]
        cases.append({"values": values.tolist(), "probabilities": probabilities.tolist(), "levels": levels, "quantiles": quantile})
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    random = np.random.default_rng(seed)
    print(json.dumps({
        "seed": seed,
        "versions": {name: version(name) for name in ["numpy", "samplics", "statsmodels"]},
        "means": means(random),
        "differences": differences(random),
        "quantiles": quantiles(random),
    }))


if __name__ == "__main__":
    main()
