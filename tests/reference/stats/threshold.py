"""Reference values for pass marks and for weights of a panel.

    python threshold.py [--seed N] > threshold.json

scikit-learn counts and scores the decisions of every mark, and scipy finds the weights, on random data. What no library computes is
computed here from its definition, by brute force: DeLong's standard error from every pair of a passing and a failing item.
"""

import argparse
import json
from importlib.metadata import version

import numpy as np
from scipy.optimize import minimize, nnls
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score, roc_curve

RATIOS = [0.2, 3.0]


def delong(values, passes):
    """The standard error of DeLong, DeLong and Clarke-Pearson (1988), from all pairs."""
    above, below = values[passes], values[~passes]
    kernel = (above[:, None] > below[None, :]) + 0.5 * (above[:, None] == below[None, :])
    return float(np.sqrt(kernel.mean(1).var(ddof=1) / len(above) + kernel.mean(0).var(ddof=1) / len(below)))


def goals(values, passes, marks):
    """The best value of each goal over all marks."""
    decisions = [values >= mark for mark in marks]
    best = {
        "youden": max(balanced_accuracy_score(passes, d, adjusted=True) for d in decisions),
        "accuracy": max(accuracy_score(passes, d) for d in decisions),
        "f1": max(f1_score(passes, d, zero_division=0) for d in decisions),
    }
    for ratio in RATIOS:
        weights = np.where(passes, 1.0, ratio)
        best[f"cost {ratio}"] = max(accuracy_score(passes, d, sample_weight=weights) for d in decisions)
    return {name: float(value) for name, value in best.items()}


def marks(random):
    cases = []
    for n in [4, 7, 12, 30, 80, 200]:
        for kind in ["continuous", "steps", "shares", "backwards"]:
            passes = random.uniform(size=n) < random.uniform(0.2, 0.8)
            passes[:2], passes[2:4] = True, False
            values = passes * random.uniform(0, 3) + random.normal(size=n)
            if kind == "steps":
                values = np.clip(np.round(values + 2), 1, 5)
            if kind == "shares":
                values = np.round(1 / (1 + np.exp(-values)), 2)
            if kind == "backwards":
                values = -values
            values = np.round(values, 4)
            if len(set(values)) < 2:
                continue
            false_rate, true_rate, thresholds = roc_curve(passes, values, drop_intermediate=False)
            cases.append({
                "values": values.tolist(), "passes": passes.tolist(),
                # Lowest first: the last passes nothing, where scikit-learn says infinity.
                "false_passes": np.rint(false_rate[::-1] * (~passes).sum()).astype(int).tolist(),
                "true_passes": np.rint(true_rate[::-1] * passes.sum()).astype(int).tolist(),
                "thresholds": thresholds[::-1][:-1].tolist(),
                "area": float(roc_auc_score(passes, values)), "area_error": delong(values, passes),
                "best": goals(values, passes, [*thresholds[1:], np.inf]),
            })
    return cases


def on_simplex(errors):
    """Weights on the simplex with the smallest squared error, by nnls: a heavy row asks for a sum of 1. Polished by SLSQP."""
    members = errors.shape[1]
    heavy = 1e4 * np.abs(errors).max()
    rough, _ = nnls(np.vstack([errors, np.full(members, heavy)]), np.append(np.zeros(len(errors)), heavy))
    form = errors.T @ errors / len(errors)
    scale = form.max()
    result = minimize(lambda w: w @ form @ w / scale, rough / rough.sum(), jac=lambda w: 2 * form @ w / scale, method="SLSQP",
                      bounds=[(0, 1)] * members, constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
                      options={"ftol": 1e-16, "maxiter": 1000})
    # The support is found; on it the weights solve a linear system.
    kept = result.x > 1e-7
    weights = np.zeros(members)
    solved = np.linalg.solve(form[np.ix_(kept, kept)], np.ones(kept.sum()))
    weights[kept] = solved / solved.sum()
    assert np.abs(weights - result.x).max() < 1e-4, (weights, result.x)
    return weights


def panels(random):
    cases = []
    for n in [8, 25, 60, 300]:
        for members in [2, 3, 5, 8]:
            if members >= n:
                continue
            human = random.normal(3, 1, size=n)
            common = random.normal(size=n)
            scores = [human + random.uniform(-0.3, 0.3) + random.uniform(0.2, 1.5) * random.normal(size=n) + 0.4 * common
                      for _ in range(members)]
            human, scores = np.round(human, 3), np.round(scores, 3)
            errors = (scores - human).T
            weights = on_simplex(errors)
            cases.append({
                "human": human.tolist(), "members": scores.tolist(), "weights": weights.tolist(),
                "error": float(((errors @ weights) ** 2).mean()),
                "member_errors": (errors**2).mean(0).tolist(),
                "equal_error": float((errors.mean(1) ** 2).mean()),
            })
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    random = np.random.default_rng(seed)
    print(json.dumps({
        "seed": seed,
        "versions": {name: version(name) for name in ["scipy", "scikit-learn"]},
        "marks": marks(random),
        "panels": panels(random),
    }))


if __name__ == "__main__":
    main()
