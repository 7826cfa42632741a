"""Reference values of experiments, computed with scipy and statsmodels on random inputs.

    python experiment.py --seed 1 > experiment.json
"""

import argparse
import json

import numpy as np
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import integrate, optimize, stats


def posterior(kind, parameters):
    if kind == "normal":
        return stats.norm(parameters[0], parameters[1])
    if kind == "student_t":
        return stats.t(parameters[2], parameters[0], parameters[1])
    return stats.beta(parameters[0], parameters[1])


NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
BELOW = [1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]
ABOVE = [1e-5, 1e-6, 1e-7, 1e-9, 1e-12, 1e-15]


def quad(function, distribution, others):
    """Integrates against a distribution: Gauss-Legendre in pieces between its own quantiles and those of the others."""
    low, high = distribution.ppf(1e-18), distribution.isf(1e-18)
    edges = np.concatenate([[low, high], *[np.concatenate([each.ppf(BELOW), each.isf(ABOVE)]) for each in [distribution, *others]]])
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    # Long pieces of a tail are cut by doubling.
    center = distribution.ppf(0.5)
    width = distribution.ppf(0.7) - center
    steps = width * 2.0 ** np.arange(0, 70)
    more = np.concatenate([center - steps, center + steps])
    edges = np.unique(np.concatenate([edges, more[(more >= low) & (more <= high)]]))
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half) + half * NODES[None, :]
    return float(np.sum(half * WEIGHTS[None, :] * distribution.pdf(points) * function(points)))


def shifted(distribution, shift):
    class Shifted:
        def ppf(self, p):
            return np.asarray(distribution.ppf(p)) - shift

        def isf(self, p):
            return np.asarray(distribution.isf(p)) - shift

    return Shifted()


def compared(control, treatment, alpha):
    narrow = control.std() <= treatment.std() if np.isfinite(control.std() + treatment.std()) else True

    def above(shift):
        if narrow:
            return quad(lambda u: treatment.sf(u + shift), control, [shifted(treatment, shift)])
        return quad(lambda u: control.cdf(u - shift), treatment, [shifted(control, -shift)])

    difference = treatment.mean() - control.mean()
    spread = float(np.hypot(control.std(), treatment.std()))
    reach = 12 * spread if np.isfinite(spread) else 1e4 * float(control.ppf(0.9) - control.ppf(0.1))
    bounds = [
        optimize.brentq(lambda x: above(x) - p, difference - reach, difference + reach, xtol=1e-14 * reach, rtol=1e-14)
        for p in (1 - alpha / 2, alpha / 2)
    ]
    result = {"probability": above(0.0), "interval": bounds}
    if np.isfinite(spread):
        result["risk_control"] = expected_excess(control, treatment)
        result["risk_treatment"] = expected_excess(treatment, control)
    return result


def expected_excess(one, other):
    """E[max(0, other − one)]."""
    return quad(lambda u: partial_expectation(other, u), one, [other])


def partial_expectation(distribution, u):
    """E[max(0, X − u)] in closed form."""
    kind = distribution.dist.name
    if kind == "norm":
        mean, deviation = distribution.args
        z = (u - mean) / deviation
        return deviation * (stats.norm.pdf(z) - z * stats.norm.sf(z))
    if kind == "t":
        freedom, location, scale = distribution.args
        z = (u - location) / scale
        return scale * ((freedom + z * z) / (freedom - 1) * stats.t.pdf(z, freedom) - z * stats.t.sf(z, freedom))
    a, b = distribution.args
    return a / (a + b) * stats.beta.sf(u, a + 1, b) - u * stats.beta.sf(u, a, b)


def nig_posterior(values, m0, k0, a0, b0):
    n, mean = len(values), np.mean(values)
    kn = k0 + n
    mn = (k0 * m0 + n * mean) / kn
    an = a0 + n / 2
    bn = b0 + 0.5 * np.sum((values - mean) ** 2) + k0 * n * (mean - m0) ** 2 / (2 * kn)
    return [mn, float(np.sqrt(bn / (an * kn))), 2 * an]


def means(random):
    cases = []
    for size in [3, 4, 8, 20, 40]:
        control = np.round(random.normal(random.uniform(-2, 2), random.uniform(0.1, 3), size), 6)
        treatment = np.round(control.mean() + random.normal(random.uniform(-1, 1), random.uniform(0.1, 3), size + 2), 6)
        for name, prior in [("weak", (0, 1e-6, 1e-3, 1e-3)), ("thousandth", (0, 1e-3, 1e-3, 1e-3)), ("reference", (0, 0, -0.5, 0))]:
            one, other = nig_posterior(control, *prior), nig_posterior(treatment, *prior)
            alpha = float(random.choice([0.01, 0.05, 0.2]))
            cases.append({
                "control": control.tolist(), "treatment": treatment.tolist(), "prior": name, "alpha": alpha,
                "posteriors": [one, other],
                **compared(posterior("student_t", one), posterior("student_t", other), alpha),
            })
    return cases


def pairs(random):
    """Posteriors themselves: any size, far apart and close together."""
    cases = []
    for one, other in [(3.5, 7e3), (25.0, 25.0), (1e7, 1e7), (2.5e6, 2.2), (9.0, 4e5), (800.0, 1200.0)]:
        scale = 10 ** random.uniform(-4, 2)
        ratio = 10 ** random.uniform(-2, 2)
        distance = random.normal() * 2 * np.hypot(scale, scale * ratio)
        first = [float(random.normal()), float(scale), one]
        second = [float(first[0] + distance), float(scale * ratio), other]
        cases.append({
            "family": "student_t", "control": first, "treatment": second, "alpha": 0.05,
            **compared(posterior("student_t", first), posterior("student_t", second), 0.05),
        })
    for size in [5, 40, 3000, 200_000, 10_000_000]:
        rate = random.uniform(0.01, 0.6)
        other = min(0.99, rate + random.normal() * 2 * np.sqrt(rate * (1 - rate) / size))
        counts = [int(random.binomial(size, rate)), size, int(random.binomial(size * 2, abs(other))), size * 2]
        first, second = [1.0 + counts[0], 1.0 + counts[1] - counts[0]], [1.0 + counts[2], 1.0 + counts[3] - counts[2]]
        cases.append({
            "family": "beta", "control": first, "treatment": second, "counts": counts, "alpha": 0.05,
            **compared(posterior("beta", first), posterior("beta", second), 0.05),
        })
    return cases


def arms(random):
    cases = []
    for size in [2, 3, 6]:
        for family in ["normal", "student_t", "beta"]:
            parameters = []
            for _ in range(size):
                if family == "normal":
                    parameters.append([float(random.normal(20, 0.5)), float(random.uniform(0.05, 1))])
                elif family == "student_t":
                    parameters.append([float(random.normal(20, 0.5)), float(random.uniform(0.05, 1)), float(random.uniform(3, 200))])
                else:
                    parameters.append([float(random.integers(20, 60)), float(random.integers(150, 300))])
            beliefs = [posterior(family, each) for each in parameters]

            def holding(index, level):
                others = [belief for other, belief in enumerate(beliefs) if other != index]
                return quad(lambda u: np.prod([other.cdf(level(u)) for other in others], axis=0), beliefs[index], others)

            best = [holding(index, lambda u: u) for index in range(size)]
            leader = int(np.argmax(best))
            case = {"family": family, "arms": parameters, "best": best, "quantile": 0.95}
            for name, level in [("absolute", lambda gain: lambda u: u + gain), ("relative", lambda gain: lambda u: u * (1 + gain))]:
                if family == "student_t" and name == "relative":
                    continue
                if holding(leader, level(0.0)) >= 0.95:
                    case[name] = 0.0
                else:
                    case[name] = optimize.brentq(lambda gain: holding(leader, level(gain)) - 0.95, 0, 50, xtol=1e-13, rtol=1e-13)
            cases.append(case)
    return cases


def crossing_grid(fractions, bounds, points=1201):
    """How much is spent by each look: the recursion of Armitage, McPherson and Rowe with Simpson's rule."""
    grid, mass, last, spent, total = None, None, 0.0, [], 0.0
    for fraction, bound in zip(fractions, bounds):
        deviation, limit = np.sqrt(fraction - last), bound * np.sqrt(fraction)
        if grid is None:
            total += 2 * stats.norm.sf(limit / deviation)
        else:
            total += float(np.sum(mass * (stats.norm.sf((limit - grid) / deviation) + stats.norm.cdf((-limit - grid) / deviation))))
        spent.append(total)
        limit = min(limit, 8.5 * np.sqrt(fraction))
        new = np.linspace(-limit, limit, points)
        weights = np.full(points, 2.0)
        weights[1::2] = 4.0
        weights[0] = weights[-1] = 1.0
        weights *= (new[1] - new[0]) / 3
        if grid is None:
            density = stats.norm.pdf(new / deviation) / deviation
        else:
            density = (stats.norm.pdf((new[:, None] - grid[None, :]) / deviation) / deviation) @ mass
        grid, mass, last = new, density * weights, fraction
    return spent


def boundaries(random):
    cases = []
    for looks in [2, 4]:
        for name, shape in [("o_brien_fleming", -0.5), ("pocock", 0.0)]:
            fractions = np.arange(1, looks + 1) / looks
            alpha = float(random.choice([0.01, 0.05, 0.1]))
            solve = lambda c: crossing_grid(fractions, c * fractions**shape, 1201)[-1] - alpha
            constant = optimize.brentq(solve, stats.norm.isf(alpha / 2) - 0.01, 5, xtol=1e-12)
            cases.append({"design": name, "alpha": alpha, "fractions": fractions.tolist(), "critical": (constant * fractions**shape).tolist()})
    for name in ["spending_o_brien_fleming", "spending_pocock"]:
        for looks in [3, 6]:
            alpha = float(random.choice([0.01, 0.05, 0.1]))
            fractions = np.sort(random.uniform(0.15, 0.95, looks - 1))
            fractions = [float(round(f, 3) + 0.0005 * i) for i, f in enumerate(fractions)] + [1.0]
            spend = (lambda t: 4 * stats.norm.sf(stats.norm.isf(alpha / 4) / np.sqrt(t))) if "fleming" in name else (
                lambda t: alpha * np.log(1 + (np.e - 1) * t))
            bounds = []
            for look, fraction in enumerate(fractions):
                solve = lambda c: crossing_grid(fractions[: look + 1], [*bounds, c], 1201)[-1] - spend(fraction)
                bounds.append(optimize.brentq(solve, 0.5, 12, xtol=1e-12))
            cases.append({"design": name, "alpha": alpha, "fractions": fractions, "critical": bounds, "spent": [float(spend(t)) for t in fractions]})
    return cases


def sequences(random):
    cases = []
    for _ in range(6):
        n0, n1 = int(random.integers(30, 200)), int(random.integers(30, 200))
        control = np.round(random.exponential(2.0, n0), 4)
        treatment = np.round(random.exponential(2.0, n1) + random.normal() * 0.3, 4)
        alpha, tuned, tau = float(random.choice([0.01, 0.05])), float(random.integers(50, 5000)), float(random.uniform(0.05, 0.5))
        level = -2 * np.log(alpha)
        rho = np.sqrt((level + np.log(level + 1)) / tuned)
        total = n0 + n1
        variance = total * (control.var(ddof=1) / n0 + treatment.var(ddof=1) / n1)
        half = np.sqrt(variance * 2 * (total * rho**2 + 1) / (total**2 * rho**2) * np.log(np.sqrt(total * rho**2 + 1) / alpha))
        difference, error = treatment.mean() - control.mean(), np.sqrt(variance / total)
        pooled = np.sqrt(((n0 - 1) * control.var(ddof=1) + (n1 - 1) * treatment.var(ddof=1)) / (total - 2))
        spread = tau * pooled
        mixture = integrate.quad(
            lambda theta: stats.norm.pdf(difference, theta, error) * stats.norm.pdf(theta, 0, spread),
            -12 * spread, 12 * spread, points=[0, difference], epsabs=0, epsrel=1e-12, limit=400)[0]
        cases.append({
            "control": control.tolist(), "treatment": treatment.tolist(), "alpha": alpha, "tuned_for": tuned, "rho": float(rho),
            "interval": [float(difference - half), float(difference + half)], "tau": tau,
            "mixture_p_value": float(min(1.0, stats.norm.pdf(difference, 0, error) / mixture)),
        })
    return cases


def adjusted(random):
    cases = []
    for _ in range(3):
        n = int(random.integers(20, 80))
        arm = random.integers(0, 2, n)
        arm[:4] = [0, 1, 0, 1]
        covariate = np.round(random.normal(10, 2, n), 4)
        value = np.round(0.7 * covariate + 0.3 * arm + random.normal(0, 1, n), 4)
        fit = sm.OLS(value, sm.add_constant(covariate)).fit()
        theta = fit.params[1]
        clean = value - theta * (covariate - covariate.mean())
        test = stats.ttest_ind(clean[arm == 1], clean[arm == 0], equal_var=False)
        interval = test.confidence_interval(0.95)
        cases.append({
            "arm": arm.tolist(), "covariate": covariate.tolist(), "value": value.tolist(), "theta": float(theta),
            "variance_reduction": float(fit.rsquared), "difference": float(clean[arm == 1].mean() - clean[arm == 0].mean()),
            "p_value": float(test.pvalue), "interval": [float(interval.low), float(interval.high)],
        })
    return cases


def ratios(random):
    cases = []
    for size in [2, 3, 5]:
        shares = random.dirichlet(np.full(size, 5.0))
        counts = random.multinomial(int(random.integers(500, 100_000)), 0.97 * shares + 0.03 / size)
        test = stats.chisquare(counts, counts.sum() * shares)
        cases.append({"counts": counts.tolist(), "shares": shares.tolist(), "chi_square": float(test.statistic), "p_value": float(test.pvalue)})
    return cases


def tests(random):
    cases = []
    for _ in range(5):
        control = np.round(random.normal(0, 1, int(random.integers(3, 30))), 4)
        treatment = np.round(random.normal(0.7, 2, int(random.integers(3, 30))), 4)
        alpha = float(random.choice([0.01, 0.05, 0.2]))
        test = stats.ttest_ind(treatment, control, equal_var=False)
        interval = test.confidence_interval(1 - alpha)
        cases.append({"control": control.tolist(), "treatment": treatment.tolist(), "alpha": alpha, "p_value": float(test.pvalue),
                      "statistic": float(test.statistic), "interval": [float(interval.low), float(interval.high)]})
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    random = np.random.default_rng(parser.parse_args().seed)
    print(json.dumps({
        "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__, "numpy": np.__version__},
        "tests": tests(random), "means": means(random), "pairs": pairs(random), "arms": arms(random),
        "boundaries": boundaries(random), "sequences": sequences(random), "cuped": adjusted(random), "ratios": ratios(random),
    }))


if __name__ == "__main__":
    main()
