"""Reference values for correlation, bias, confusion tables and prediction-powered inference.

    python validity.py [--seed N] > validity.json

scipy, statsmodels, scikit-learn and ppi-python on random data. What no library computes is computed here from its definition,
by brute force: the error of Kendall's tau-b from the table of counts, and the error of clustered correlations by
differentiating weighted coefficients numerically.
"""

import argparse
import json
import sys
import types
import warnings
from importlib.metadata import version

import numpy as np
import statsmodels.api as sm
from scipy import stats
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from statsmodels.stats.weightstats import DescrStatsW

try:
    import numba  # noqa: F401
except ImportError:
    # ppi-python compiles some of its functions with it; none that are used here need to be.
    stub = types.ModuleType("numba")
    stub.njit = lambda function=None, **_: function if function else (lambda inner: inner)
    sys.modules["numba"] = stub
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # noqa: E402

warnings.filterwarnings("ignore")


def scores(random, n, kind):
    truth = random.normal(size=n)
    strength = random.uniform(-1, 1.5)
    x, y = truth + random.normal(size=n), strength * truth + random.normal(size=n)
    if kind == "ties":
        x, y = np.clip(np.round(x + 3), 1, 5), np.clip(np.round(y + 3), 1, 5)
    if kind == "mixed":
        y = np.clip(np.round(2 * y) / 2, -1, 1)
    return np.round(x, 4), np.round(y, 4)


def fisher(value, error, quantile):
    center = np.arctanh(value)
    return [float(np.tanh(center - quantile * error)), float(np.tanh(center + quantile * error))]


def tau_b_error(x, y):
    """The asymptotic error of tau-b from the table of counts: Brown and Benedetti (1977), as in SAS PROC FREQ, with n/(n-1)."""
    rows, columns = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    n = table.sum()
    distance = np.zeros_like(table)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            concordant = table[:i, :j].sum() + table[i + 1 :, j + 1 :].sum()
            discordant = table[:i, j + 1 :].sum() + table[i + 1 :, :j].sum()
            distance[i, j] = concordant - discordant
    row_sums, column_sums = table.sum(1), table.sum(0)
    wr, wc = n**2 - (row_sums**2).sum(), n**2 - (column_sums**2).sum()
    w = np.sqrt(wr * wc)
    tau = (table * distance).sum() / w
    v = row_sums[:, None] * wc + column_sums[None, :] * wr
    total = (table * (2 * w * distance + tau * v) ** 2).sum() - n**3 * tau**2 * (wr + wc) ** 2
    return float(np.sqrt(total / w**4 * n / (n - 1)))


def weighted(coefficient, x, y, w):
    w = w / w.sum()
    if coefficient == "kendall_tau_b":
        a, b = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        pairs = w[:, None] * w
        return (pairs * a * b).sum() / np.sqrt((pairs * a * a).sum() * (pairs * b * b).sum())
    if coefficient == "spearman":
        share = lambda v: ((v[None, :] < v[:, None]) * w + (v[None, :] == v[:, None]) * w / 2).sum(1)
        x, y = share(x), share(y)
    dx, dy = x - (w * x).sum(), y - (w * y).sum()
    return (w * dx * dy).sum() / np.sqrt((w * dx * dx).sum() * (w * dy * dy).sum())


def clustered(coefficient, x, y, clusters):
    """The clustered interval, with the influence of each pair by differentiating in its weight."""
    n, step = len(x), 1e-4
    influence = np.zeros(n)
    for i in range(n):
        up, down = np.ones(n), np.ones(n)
        up[i] += step
        down[i] -= step
        influence[i] = n * (weighted(coefficient, x, y, up) - weighted(coefficient, x, y, down)) / (2 * step)
    sums = np.array([influence[clusters == c].sum() for c in np.unique(clusters)])
    count = len(sums)
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / n
    value = weighted(coefficient, x, y, np.ones(n))
    return fisher(value, error / (1 - value**2), stats.t.ppf(0.975, count - 1))


def correlations(random):
    cases = []
    for n in [4, 5, 8, 12, 20, 33, 34, 60]:
        for kind in ["continuous", "ties", "mixed"]:
            x, y = scores(random, n, kind)
            pearson, spearman, kendall = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
            if not all(abs(result.statistic) < 0.999 for result in (pearson, spearman, kendall)):
                continue
            interval = pearson.confidence_interval(0.95)
            z, rho, tau = stats.norm.ppf(0.975), spearman.statistic, kendall.statistic
            error = tau_b_error(x, y) / (1 - tau**2)
            cases.append({
                "x": x.tolist(), "y": y.tolist(),
                "pearson": [pearson.statistic, pearson.pvalue, interval.low, interval.high],
                "spearman": [rho, spearman.pvalue, *fisher(rho, np.sqrt((1 + rho**2 / 2) / (n - 3)), z)],
                "kendall_tau_b": [tau, kendall.pvalue, *fisher(tau, error, stats.t.ppf(0.975, n - 1))],
            })
    return cases


def by_level(random):
    cases = []
    for kind in ["continuous", "ties", "mixed"]:
        groups = np.sort(random.integers(0, 12, size=48))
        x, y = scores(random, 48, kind)
        x[groups == groups[5]] = x[5]
        systems = random.integers(0, 6, size=48)
        case = {"x": x.tolist(), "y": y.tolist(), "groups": groups.tolist(), "systems": systems.tolist()}
        means = lambda v: np.array([v[systems == s].mean() for s in np.unique(systems)])
        for name, function in [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall_tau_b", stats.kendalltau)]:
            values, single, constant = [], 0, 0
            for group in np.unique(groups):
                a, b = x[groups == group], y[groups == group]
                if len(a) < 2:
                    single += 1
                elif len(set(a)) == 1 or len(set(b)) == 1:
                    constant += 1
                else:
                    values.append(function(a, b).statistic)
            system = function(means(x), means(y))
            case[name] = {
                "mean": float(np.mean(values)), "groups": len(values), "single": single, "constant": constant,
                "p": float(stats.ttest_1samp(values, 0).pvalue),
                "system": float(system.statistic), "system_p": float(system.pvalue),
                "clustered": clustered(name, x, y, groups),
            }
        cases.append(case)
    return cases


def biases(random):
    cases = []
    for kind in ["continuous", "ties", "mixed"]:
        n = 40
        human, judge = scores(random, n, kind)
        clusters = random.integers(0, 9, size=n)
        difference = judge - human
        summary = DescrStatsW(difference)
        case = {
            "judge": judge.tolist(), "human": human.tolist(), "clusters": clusters.tolist(),
            "mean": float(difference.mean()), "interval": [float(end) for end in summary.tconfint_mean()],
            "sd": float(difference.std(ddof=1)),
        }
        for name, score in [("mean", (judge + human) / 2), ("human", human)]:
            model = sm.OLS(difference, sm.add_constant(score))
            for robust, options in [
                ("HC3", {"cov_type": "HC3", "use_t": True}),
                ("cluster", {"cov_type": "cluster", "use_t": True, "cov_kwds": {"groups": clusters}}),
            ]:
                fit = model.fit(**options)
                low, high = fit.conf_int()[1]
                case[f"{name}_{robust}"] = [float(v) for v in (fit.params[0], fit.params[1], fit.bse[1], low, high, fit.pvalues[1])]
        by_cluster = sm.OLS(difference, np.ones(n)).fit(
            cov_type="cluster", use_t=True, cov_kwds={"groups": clusters, "use_correction": True})
        case["clustered_interval"] = [float(end) for end in by_cluster.conf_int()[0]]
        cases.append(case)
    return cases


def confusions(random):
    cases = []
    for labels in [2, 3, 5]:
        human = random.integers(0, labels, size=80)
        judge = np.where(random.uniform(size=80) < 0.6, human, random.integers(0, labels, size=80))
        precision, recall, _, _ = precision_recall_fscore_support(human, judge, labels=range(labels))
        cases.append({
            "judge": judge.tolist(), "human": human.tolist(), "labels": labels,
            "table": confusion_matrix(human, judge, labels=range(labels)).tolist(),
            "accuracy": float((judge == human).mean()),
            "precision": precision.tolist(), "recall": recall.tolist(),
        })
    return cases


def prediction_powered(random):
    cases = []
    for labelled, unlabelled, quality in [(5, 8, 1), (20, 60, 0.8), (30, 200, 0.2), (30, 100, 0), (40, 30, 1), (25, 100, -0.6), (30, 80, 3)]:
        sides = []
        for shift in (0.0, 0.3):
            truth = random.normal(shift, 1, size=labelled + unlabelled)
            human = truth[:labelled] + 0.3 * random.normal(size=labelled)
            judge = (truth + random.normal(size=len(truth))) / (quality if quality > 1 else 1)
            judge = judge if quality > 0.5 else quality * truth + random.normal(size=len(truth)) + 1
            sides.append((np.round(human, 4), np.round(judge[:labelled], 4), np.round(judge[labelled:], 4)))
        results = []
        for human, judge, rest in sides:
            estimate = float(np.squeeze(ppi_mean_pointestimate(human, judge, rest)))
            ends = [[float(np.squeeze(end)) for end in ppi_mean_ci(human, judge, rest, alpha=alpha)] for alpha in (0.05, 0.1)]
            results.append({"human": human.tolist(), "judge": judge.tolist(), "unlabelled": rest.tolist(),
                            "estimate": estimate, "interval95": ends[0], "interval90": ends[1]})
        z = stats.norm.ppf(0.975)
        errors = [(result["interval95"][1] - result["interval95"][0]) / 2 / z for result in results]
        (h0, j0, r0), (h1, j1, r1) = sides
        paired = (h0 - h1, j0 - j1, r0 - r1)
        cases.append({
            "sides": results,
            "difference": results[0]["estimate"] - results[1]["estimate"], "difference_error": float(np.hypot(*errors)),
            "paired": [float(np.squeeze(ppi_mean_pointestimate(*paired))),
                       *(float(np.squeeze(end)) for end in ppi_mean_ci(*paired, alpha=0.05))],
        })
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    random = np.random.default_rng(seed)
    names = ["scipy", "statsmodels", "scikit-learn", "ppi-python"]
    print(json.dumps({
        "seed": seed,
        "versions": {name: version(name) for name in names},
        "correlations": correlations(random),
        "levels": by_level(random),
        "bias": biases(random),
        "confusion": confusions(random),
        "ppi": prediction_powered(random),
    }))


if __name__ == "__main__":
    main()
