"""Reference values for comparisons of two samples, intervals and power, from scipy and statsmodels.

Prints JSON. `--seed` changes the random inputs: `compare.py --seed 2 > DIR/compare.json`, then run the tests of
`fullbench-stats` with FULLBENCH_STATS_REFERENCE=DIR.
"""

import argparse
import json
import math

import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import optimize, stats
from statsmodels.stats import power as smpower
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import (
    power_proportions_2indep,
    proportion_confint,
    proportions_ztest,
)
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW


def numbers(values):
    return [float(value) for value in values]


def sample(random, size, kind):
    if kind == "normal":
        return random.normal(0.3, 1.7, size)
    if kind == "skewed":
        return random.exponential(2.0, size)
    if kind == "graded":
        return random.integers(1, 6, size).astype(float)
    return random.integers(0, 2, size).astype(float)


def cliff(a, b):
    return float(np.sign(np.subtract.outer(b, a)).mean())


def independent(random):
    cases = []
    for kind, n, m in [
        ("normal", 5, 9), ("normal", 8, 40), ("normal", 30, 25), ("skewed", 3, 4), ("skewed", 60, 80),
        ("graded", 12, 7), ("graded", 70, 90), ("yes", 40, 50), ("normal", 1500, 900),
    ]:
        a, b = sample(random, n, kind), sample(random, m, kind) + (0.2 if kind in ("normal", "skewed") else 0.0)
        if n > 200:
            a, b = np.round(a, 3), np.round(b, 3)
        welch = stats.ttest_ind(b, a, equal_var=False)
        interval = welch.confidence_interval(0.95)
        low, high = -0.9, 1.1
        means = CompareMeans(DescrStatsW(b), DescrStatsW(a))
        tost = means.ttost_ind(low, high, usevar="unequal")
        whitney = stats.mannwhitneyu(b, a, alternative="two-sided", method="auto")
        spread = math.sqrt(((n - 1) * a.var(ddof=1) + (m - 1) * b.var(ddof=1)) / (n + m - 2))
        df = n + m - 2
        correction = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
        case = {
            "a": numbers(a), "b": numbers(b), "t": welch.statistic, "df": welch.df, "p": welch.pvalue,
            "low": interval.low, "high": interval.high, "bounds": [low, high],
            "tost": tost[0], "tost_low": tost[1][0][1], "tost_high": tost[1][1][1],
            "u": whitney.statistic, "u_p": whitney.pvalue, "cliff": cliff(a, b),
            "d": (b.mean() - a.mean()) / spread, "g": correction * (b.mean() - a.mean()) / spread,
        }
        if math.comb(n + m, n) <= 20_000:
            case["permutation_p"] = stats.permutation_test(
                (b, a), lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis), vectorized=True, n_resamples=20_000
            ).pvalue
        cases.append(case)
    return cases


def paired(random):
    cases = []
    for kind, n in [
        ("normal", 6), ("normal", 12), ("normal", 50), ("normal", 51), ("skewed", 33), ("graded", 11),
        ("graded", 13), ("graded", 80), ("yes", 120), ("yes", 12),
    ]:
        before = sample(random, n, kind)
        after = sample(random, n, kind) if kind in ("graded", "yes") else before + random.normal(0.3, 1, n)
        if not np.any(before != after) or np.ptp(after - before) == 0:
            after = before.copy()
            after[0] += 1
        test = stats.ttest_rel(after, before)
        interval = test.confidence_interval(0.9)
        clusters = np.sort(random.integers(0, max(3, n // 4), n))
        clusters[0], clusters[-1] = 0, 10_000
        fit = sm.OLS(after - before, np.ones(n)).fit(
            cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True}
        )
        count = len(set(clusters))
        # statsmodels multiplies by (n − 1)/(n − k) as well, which is 1 for a mean.
        differing = int(np.count_nonzero(after - before))
        ties = len(set(np.abs(after - before))) < n or differing < n
        case = {
            "before": numbers(before), "after": numbers(after), "clusters": [int(c) for c in clusters],
            "t": test.statistic, "p": test.pvalue, "low": interval.low, "high": interval.high,
            "clustered_error": float(fit.bse[0]),
            "clustered_p": float(2 * stats.t.sf(abs(fit.params[0] / fit.bse[0]), count - 1)),
        }
        if not ties or differing > 50 or n <= 13:
            # Beyond 13 pairs with ties scipy approximates where Fullbench is exact.
            wilcoxon = stats.wilcoxon(after, before)
            case["w"], case["w_p"] = wilcoxon.statistic, wilcoxon.pvalue
        if n <= 13:
            case["flip_p"] = stats.permutation_test(
                (after - before,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
                vectorized=True, n_resamples=20_000,
            ).pvalue
        cases.append(case)
    return cases


def counts(random):
    cases = []
    for size in [3, 12, 60, 400, 5000]:
        for _ in range(4):
            n, m = int(random.integers(2, size + 2)), int(random.integers(2, size + 2))
            x, y = int(random.integers(0, n + 1)), int(random.integers(0, m + 1))
            case = {"x": x, "n": n, "y": y, "m": m}
            for method, name in [("wilson", "wilson"), ("beta", "clopper_pearson")]:
                low, high = proportion_confint(x, n, 0.1, method)
                case[name] = [float(low), float(high)]
            if 0 < x + y < n + m:
                z, p = proportions_ztest([y, x], [m, n])
                case["z"], case["z_p"] = float(z), float(p)
                case["fisher"] = float(stats.fisher_exact([[x, n - x], [y, m - y]]).pvalue)
            if x + y > 0:
                case["mcnemar"] = float(mcnemar([[0, x], [y, 0]], exact=True).pvalue)
            cases.append(case)
    return cases


def adjustments(random):
    cases = []
    for size in [1, 2, 3, 7, 20, 45]:
        p = np.minimum(1, random.beta(0.6, 2, size))
        if size > 5:
            p[1] = p[2]
        case = {"p": numbers(p)}
        for method in ["bonferroni", "holm", "holm-sidak", "hommel", "fdr_bh", "fdr_by"]:
            case[method] = numbers(multipletests(p, method=method)[1])
        cases.append(case)
    return cases


def powers(random):
    cases = []
    ind, paired_power = smpower.TTestIndPower(), smpower.TTestPower()
    for _ in range(12):
        n = float(random.integers(3, 400))
        ratio, alpha = float(random.uniform(0.5, 2)), float(random.choice([0.01, 0.05, 0.1]))
        effect = float(random.uniform(0.5, 3.2) / math.sqrt(n / 2))
        target = float(random.uniform(0.5, 0.95))
        first = float(random.uniform(0.1, 0.8))
        diff = float(random.uniform(0.02, 0.15))
        case = {"n": n, "ratio": ratio, "alpha": alpha, "effect": effect, "target": target, "first": first, "diff": diff}
        case["independent"] = float(ind.power(effect, n, alpha, ratio=ratio))
        case["paired"] = float(paired_power.power(effect, n, alpha))
        case["proportion"] = float(
            power_proportions_2indep(diff, first, n, ratio=1, alpha=alpha, return_results=False)
        )
        # The solvers of statsmodels stop at eight digits; these go on. Where nearly nothing is missed, scipy gives NaN.
        case["independent_n"] = optimize.brentq(
            lambda k: np.nan_to_num(ind.power(0.4, k, alpha, ratio=ratio), nan=1) - target, 4, 500, xtol=1e-12
        )
        case["paired_n"] = optimize.brentq(
            lambda k: np.nan_to_num(paired_power.power(0.4, k, alpha), nan=1) - target, 3, 500, xtol=1e-12
        )
        cases.append(case)
    return cases


def change_power(pairs, changed, difference, alpha):
    """Every outcome: how many pairs change, how many of them one way, and whether scipy's test rejects that."""
    one_way = (changed + difference) / (2 * changed)
    total = 0.0
    for number in range(1, pairs + 1):
        fixed = np.arange(number + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(fixed, number - fixed), number, 0.5))
        rejected = stats.binom.pmf(fixed, number, one_way)[p <= alpha].sum()
        total += stats.binom.pmf(number, pairs, changed) * rejected
    return float(total)


def change_powers(random):
    cases = []
    fixed = [(20, 0.1, 0.1, 0.05), (20, 0.1, 0.02, 0.05), (5, 1.0, 1.0, 0.05), (100, 0.14, 0.1, 0.05)]
    drawn = []
    for _ in range(14):
        changed = float(random.uniform(0.02, 0.9))
        share = float(random.uniform(-1, 1))
        drawn.append((int(random.integers(2, 600)), changed, share * changed, float(random.choice([0.01, 0.05, 0.1]))))
    for pairs, changed, difference, alpha in fixed + drawn:
        case = {"pairs": pairs, "changed": changed, "difference": difference, "alpha": alpha}
        case["power"] = change_power(pairs, changed, difference, alpha)
        target = 0.8
        case["most"] = change_power(pairs, changed, changed, alpha)
        if case["most"] > target:
            case["detectable"] = optimize.brentq(
                lambda d: change_power(pairs, changed, d, alpha) - target, 0, changed, xtol=1e-12
            )
        cases.append(case)
    return cases


def components(random):
    cases = []
    for clusters, size in [(8, 3), (20, 5), (40, 2)]:
        ids = np.repeat(np.arange(clusters), random.integers(1, size + 1, clusters))
        values = random.normal(0, 1, clusters)[ids] + random.normal(0, 0.7, len(ids))
        frame = pd.DataFrame({"id": ids, "value": values})
        groups = frame.groupby("id")["value"]
        sizes = groups.size().to_numpy()
        between = float((sizes * (groups.mean() - values.mean()) ** 2).sum() / (clusters - 1))
        within = float(((frame["value"] - groups.transform("mean")) ** 2).sum() / (len(ids) - clusters))
        # The F statistic is the same mean squares by scipy's own hand.
        f = stats.f_oneway(*[group.to_numpy() for _, group in groups])
        typical = (len(ids) - (sizes**2).sum() / len(ids)) / (clusters - 1)
        cases.append({
            "values": numbers(values), "clusters": [int(i) for i in ids], "f": float(f.statistic),
            "typical_size": float(typical), "within": within, "between": (between - within) / float(typical),
        })
    return cases


def bootstraps(random):
    cases = []
    for kind, n, name in [("skewed", 40, "mean"), ("skewed", 60, "variance"), ("normal", 25, "mean")]:
        values = sample(random, n, kind)
        statistic = np.mean if name == "mean" else lambda x, axis: np.var(x, axis=axis, ddof=1)
        case = {"values": numbers(values), "statistic": name}
        for method, label in [("percentile", "percentile"), ("BCa", "bca")]:
            found = stats.bootstrap(
                (values,), statistic, n_resamples=200_000, method=method, batch=2_000, rng=np.random.default_rng(7)
            )
            case[label] = numbers(found.confidence_interval)
            case["error"] = float(found.standard_error)
        cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    random = np.random.default_rng(seed)
    quantiles = sample(random, 31, "normal")
    levels = [0, 0.01, 0.25, 0.5, 0.9, 1]
    print(json.dumps({
        "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "numpy": np.__version__},
        "seed": seed,
        "independent": independent(random),
        "paired": paired(random),
        "counts": counts(random),
        "adjustments": adjustments(random),
        "power": powers(random),
        "components": components(random),
        "bootstrap": bootstraps(random),
        "change_power": change_powers(np.random.default_rng(seed)),
        "quantiles": {"values": numbers(quantiles), "levels": levels, "expected": numbers(np.quantile(quantiles, levels))},
    }))


if __name__ == "__main__":
    main()
