"""Reference values for rankings, computed with choix, statsmodels and scipy.

Prints JSON: random duels and what the libraries make of them. `--seed N` draws others.
"""

import argparse
import json
import math
from importlib.metadata import version

import choix
import numpy as np
import statsmodels.api as sm
from scipy.optimize import minimize, root
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.stats.proportion import proportion_confint

FIRST, SECOND, TIE = 0, 1, 2


def duels(rng, players, count, tie_share, order=0.0, length=0.0, groups=12):
    """Duels in which everybody won, lost and met enough others for a maximum to exist."""
    strengths = rng.normal(0, 0.7, players)
    while True:
        first = rng.integers(0, players, count)
        second = (first + rng.integers(1, players, count)) % players
        longer = np.round(rng.normal(0, 50, count))
        group = rng.integers(0, groups, count)
        mood = rng.normal(0, 0.5, (groups, players))[group, first]
        log_odds = strengths[first] - strengths[second] + order + length * longer + mood
        outcome = np.where(rng.random(count) < 1 / (1 + np.exp(-log_odds)), FIRST, SECOND)
        outcome[rng.random(count) < tie_share] = TIE
        points = np.zeros((players, players))
        for a, b, o in zip(first, second, outcome):
            points[a, b] += o != SECOND
            points[b, a] += o != FIRST
        reach = np.linalg.matrix_power((points > 0).astype(float) + np.eye(players), players)
        if (reach > 0).all():
            return first, second, outcome, longer, group


def contrasts(players, extra):
    """Turns estimates with the last player at zero into those with mean zero."""
    centre = np.eye(players) - 1 / players
    matrix = np.zeros((players + extra, players - 1 + extra))
    matrix[:players, : players - 1] = centre[:, : players - 1]
    matrix[players:, players - 1 :] = np.eye(extra)
    return matrix


def design(first, second, players, columns):
    rows = np.zeros((len(first), players))
    rows[np.arange(len(first)), first] += 1
    rows[np.arange(len(first)), second] -= 1
    return np.column_stack([rows[:, :-1], *columns]) if columns else rows[:, :-1]


def listed(array):
    return np.asarray(array, dtype=float).ravel().tolist()


def logistic(rng, players, count, tie_share, weighted, with_columns):
    """Half-win ties by a binomial GLM, a row for each duel."""
    effect = (0.3, 0.004) if with_columns else (0.0, 0.0)
    first, second, outcome, longer, group = duels(rng, players, count, tie_share, *effect)
    weights = np.round(rng.gamma(2, 0.5, count), 2) + 0.01 if weighted else np.ones(count)
    columns = [np.ones(count), longer] if with_columns else []
    x = design(first, second, players, columns)
    y = np.select([outcome == FIRST, outcome == TIE], [1.0, 0.5], 0.0)
    model = sm.GLM(y, x, family=sm.families.Binomial(), freq_weights=weights if weighted else None)
    fit = model.fit(tol=1e-14, maxiter=200)
    turn = contrasts(players, len(columns))
    scores = x * (weights * (y - fit.fittedvalues))[:, None]
    bread = np.linalg.inv((x * (weights * fit.fittedvalues * (1 - fit.fittedvalues))[:, None]).T @ x)
    sums = np.array([scores[group == g].sum(axis=0) for g in np.unique(group)])
    robust = bread @ scores.T @ scores @ bread
    clustered = bread @ sums.T @ sums @ bread * len(sums) / (len(sums) - 1)
    if not weighted:
        # statsmodels' own, where its convention for weights plays no role.
        robust = model.fit(tol=1e-14, maxiter=200, cov_type="HC0").cov_params()
        by_group = {"groups": group, "use_correction": False}
        clustered = model.fit(tol=1e-14, maxiter=200, cov_type="cluster", cov_kwds=by_group).cov_params()
        clustered = clustered * len(sums) / (len(sums) - 1)
    covariances = {"hessian": fit.cov_params(), "sandwich": robust, "cluster": clustered}
    rates = []
    for player in range(players):
        mine = (first == player) | (second == player)
        won = np.where(first == player, y, 1 - y)[mine]
        effective = weights[mine].sum() ** 2 / (weights[mine] ** 2).sum()
        rate = np.average(won, weights=weights[mine])
        rates.append([rate, *proportion_confint(rate * effective, effective, 0.05, "wilson")])
    return {
        "players": players,
        "first": first.tolist(),
        "second": second.tolist(),
        "outcome": outcome.tolist(),
        "weights": listed(weights) if weighted else None,
        "groups": group.tolist(),
        "length": listed(longer) if with_columns else None,
        "parameters": listed(turn @ fit.params),
        "covariances": {name: listed(turn @ v @ turn.T) for name, v in covariances.items()},
        "win_rates": rates,
    }


def davidson(rng, players, count):
    """Davidson's ties as a conditional logit of three outcomes."""
    first, second, outcome, _, _ = duels(rng, players, count, 0.25)
    rows, chosen, battle = [], [], []
    for index, (a, b, o) in enumerate(zip(first, second, outcome)):
        half = np.zeros(players)
        half[a], half[b] = 0.5, -0.5
        for alternative, lead in ((FIRST, half), (SECOND, -half), (TIE, 0 * half)):
            rows.append([*lead[:-1], float(alternative == TIE)])
            chosen.append(int(alternative == o))
            battle.append(index)
    model = ConditionalLogit(np.array(chosen), np.array(rows), groups=np.array(battle))
    fit = model.fit(method="newton", maxiter=100, disp=False, tol=1e-13)
    turn = contrasts(players, 1)
    return {
        "players": players,
        "first": first.tolist(),
        "second": second.tolist(),
        "outcome": outcome.tolist(),
        "parameters": listed(turn @ fit.params),
        "covariance": listed(turn @ fit.cov_params() @ turn.T),
        "log_likelihood": float(model.loglike(fit.params)),
    }


def pairwise(rng, players, count):
    """Duels without ties by choix, and penalised by scipy to more digits."""
    first, second, outcome, _, _ = duels(rng, players, count, 0.0)
    data = [(a, b) if o == FIRST else (b, a) for a, b, o in zip(first.tolist(), second.tolist(), outcome)]
    won, lost = np.array(data).T

    def penalised(alpha):
        def loss(s):
            lead = s[won] - s[lost]
            chance = 1 / (1 + np.exp(lead))
            gradient = 2 * alpha * s - np.bincount(won, chance, players) + np.bincount(lost, chance, players)
            return alpha * s @ s + np.logaddexp(0, -lead).sum(), gradient

        found = minimize(loss, np.zeros(players), jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11})
        # The last digits, which L-BFGS does not reach.
        found = root(lambda s: loss(s)[1], found.x, tol=1e-14)
        return found.x - found.x.mean()

    ratings = np.full(players, 1000.0)
    for winner, loser in data:
        points = 4 * (1 - 1 / (1 + math.pow(10, (ratings[loser] - ratings[winner]) / 400)))
        ratings[winner] += points
        ratings[loser] -= points
    alphas = [0.01, 0.1, 1.0]
    return {
        "players": players,
        "first": first.tolist(),
        "second": second.tolist(),
        "outcome": outcome.tolist(),
        "ilsr": listed(choix.ilsr_pairwise(players, data, tol=1e-12, max_iter=1000)),
        "alphas": alphas,
        "opt_pairwise": [listed(choix.opt_pairwise(players, data, alpha=a, tol=1e-12)) for a in alphas],
        "scipy": [listed(penalised(alpha)) for alpha in alphas],
        "elo": listed(ratings),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    rng = np.random.default_rng(parser.parse_args().seed)
    libraries = ["choix", "statsmodels", "scipy", "numpy"]
    cases = {
        "versions": {name: version(name) for name in libraries},
        "pairwise": [pairwise(rng, 4, 40), pairwise(rng, 9, 400)],
        "logistic": [
            logistic(rng, 5, 120, 0.0, False, False),
            logistic(rng, 8, 400, 0.2, False, False),
            logistic(rng, 6, 300, 0.15, True, False),
            logistic(rng, 6, 400, 0.1, False, True),
            logistic(rng, 5, 300, 0.2, True, True),
        ],
        "davidson": [davidson(rng, 4, 120), davidson(rng, 7, 300)],
    }
    print(json.dumps(cases))


if __name__ == "__main__":
    main()
