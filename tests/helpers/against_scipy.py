"""All functions of all densities that scipy.stats has, too, beside scipy.stats': a table of how often they agree.

    python tests/helpers/against_scipy.py [density ...] [--sets 6] [--seed 1] [--judged 20]

Parameters are those of SciPy's own tests and random ones. Two values agree where they differ by a relative 1e-10 at most. Of
others mpmath judges; each at which ours is not within 1e-10 of the exact value is listed, with its arguments.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # where it is run as a script

import mpmath as mp
import numpy as np
import references_continuous
import references_discrete
from references_cdf import CDFS, DIGITS, log, tails
from references_scipy import SCIPY
from scipy.stats._distr_params import distcont, distdiscrete

import gpustats as gs

REFERENCES = references_continuous.REFERENCES | references_discrete.REFERENCES
CLOSE = 1e-10

#: name in scipy.stats -> the density and its parameters, of SciPy's shapes
SHAPES = {
    "norm": lambda: ("normal", 0, 1), "halfnorm": lambda: ("half_normal", 1), "lognorm": lambda s: ("log_normal", 0, s),
    "truncnorm": lambda a, b: ("truncated_normal", 0, 1, a, b), "exponnorm": lambda k: ("ex_gaussian", 0, 1, k),
    "invgauss": lambda mu: ("wald", mu, 1), "laplace": lambda: ("laplace", 0, 1),
    "laplace_asymmetric": lambda k: ("asymmetric_laplace", k, 0, 1), "logistic": lambda: ("logistic", 0, 1),
    "gumbel_r": lambda: ("gumbel", 0, 1), "moyal": lambda: ("moyal", 0, 1), "cauchy": lambda: ("cauchy", 0, 1),
    "halfcauchy": lambda: ("half_cauchy", 1), "expon": lambda: ("exponential", 1), "weibull_min": lambda c: ("weibull", c, 1),
    "pareto": lambda b: ("pareto", b, 1), "uniform": lambda: ("uniform", 0, 1), "triang": lambda c: ("triangular", 0, 1, c),
    "gamma": lambda a: ("gamma", a, 1), "chi2": lambda df: ("chi_squared", df), "invgamma": lambda a: ("inverse_gamma", a, 1),
    "beta": lambda a, b: ("beta", a, b), "t": lambda df: ("student_t", df, 0, 1),
    "skewnorm": lambda a: ("skew_normal", a, 0, 1), "rice": lambda b: ("rice", b, 1),
    "vonmises_line": lambda kappa: ("von_mises", 0, kappa), "geom": lambda p: ("geometric", p),
    "randint": lambda low, high: ("discrete_uniform", low, high - 1), "bernoulli": lambda p: ("bernoulli", p),
    "binom": lambda n, p: ("binomial", n, p), "betabinom": lambda n, a, b: ("beta_binomial", a, b, n),
    "poisson": lambda mu: ("poisson", mu), "nbinom": lambda n, p: ("negative_binomial", n * (1 - p) / p, n),
}  # fmt: skip

OF_X = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
OF_Q = ("ppf", "isf")
NUMBERS = ("mean", "var", "skewness", "kurtosis", "entropy")
COLUMNS = ("compared", "agree", "ours", "scipy's", "neither", "not judged")


def parameter_sets(name, n, rng):
    """Those of SciPy's tests, and n random ones, as rows."""
    theirs = [SHAPES[other](*shapes) for other, shapes in (*distcont, *distdiscrete) if other in SHAPES]
    random = np.array([np.broadcast_to(p, n) for p in REFERENCES[name].parameters(rng, n)]).T
    return [*([float(v) for v in p] for other, *p in theirs if other == name), *random.tolist()]


def theirs(distribution, discrete, function, x):
    """SciPy's values of a function."""
    if function in NUMBERS:
        order = {"mean": "m", "var": "v", "skewness": "s", "kurtosis": "k"}.get(function)
        return np.asarray(distribution.entropy() if order is None else distribution.stats(order), float)
    return np.asarray(getattr(distribution, function.replace("pdf", "pmf") if discrete else function)(x), float)


def points(density, distribution, rng):
    """Where functions of x are compared: quantiles in both tails, draws, and beyond the support."""
    u = np.array([1e-10, 1e-4, 0.01, 0.1, 0.3])
    x = np.concatenate([distribution.ppf(u), distribution.isf(u), distribution.ppf(rng.uniform(size=4))])
    if density.discrete:
        return np.concatenate([x, x[:1] + 0.5, [-np.inf, np.inf]])
    return np.concatenate([x, [-np.inf, np.inf]])


# ---- what is exact


def exact(name, function, at, parameters):
    """The exact value of a function, as a float; ArithmeticError where it is not found."""
    with mp.workdps(DIGITS.get(name, 50)):
        p, discrete = [mp.mpf(v) for v in parameters], gs.densities[name].discrete
        if function in NUMBERS:
            return float(number(name, function, p, parameters))
        at = mp.mpf(at)
        if function in OF_Q:
            return float((whole_quantile if discrete else quantile)(name, function, at, p, parameters))
        if function in ("pdf", "logpdf"):
            logpdf = log_density(name, at, p)
            return float(mp.exp(logpdf) if function == "pdf" else logpdf)
        below, above = tails(name, at, *p)
        return float({"cdf": below, "sf": above, "logcdf": log(below), "logsf": log(above)}[function])


def log_density(name, x, p):
    _, low, high = CDFS[name]
    low, high = (end(*p) if callable(end) else end for end in (low, high))
    if not low <= x <= high or mp.isinf(x) or (gs.densities[name].discrete and x != mp.floor(x)):
        return -mp.inf
    return mp.mpf(REFERENCES[name].logpdf.__wrapped__(x, *p))


def quantile(name, function, q, p, parameters):
    """Newton's method on the logarithm of the tail, from ours."""
    side = 0 if function == "ppf" else 1
    x = mp.mpf(float(getattr(gs.densities[name], function)(float(q), *parameters)))
    for _ in range(60):
        if q in (0, 1) or mp.isinf(x):
            return x
        tail = tails(name, x, *p)[side]
        step = tail * mp.log(tail / q) / mp.exp(log_density(name, x, p))
        x -= step if side == 0 else -step
        if abs(step) <= abs(x) * mp.mpf(10) ** -20:
            return x
    raise ArithmeticError("no convergence")


def whole_quantile(name, function, q, p, parameters):
    """The first whole number from three before ours on that is one; ours where q is a tail's value but for its rounding."""

    def reached(k):
        below, above = tails(name, k, *p)
        if k == ours:
            return below >= q * (1 - mp.mpf(1e-15)) if function == "ppf" else above <= q * (1 + mp.mpf(1e-15))
        return below > q * (1 + mp.mpf(1e-15)) if function == "ppf" else above < q * (1 - mp.mpf(1e-15))

    ours = float(getattr(gs.densities[name], function)(float(q), *parameters))
    if q in (0, 1) or np.isinf(ours):
        return ours
    return next(k for k in range(int(ours) - 3, int(ours) + 100) if reached(mp.mpf(k)) and not reached(mp.mpf(k - 1)))


def number(name, function, p, parameters):
    """A moment or the entropy: by sums and integrals between quantiles."""
    density = gs.densities[name]

    def expect(g):
        def term(x):
            logpdf = log_density(name, x, p)
            return mp.exp(logpdf) * g(x, logpdf) if mp.isfinite(logpdf) else mp.mpf(0)

        if density.discrete:
            first, last = (int(float(v)) for v in (density.ppf(1e-25, *parameters), density.isf(1e-25, *parameters)))
            if last - first > 50_000:
                raise ArithmeticError("too many terms")
            return mp.fsum(term(mp.mpf(k)) for k in range(first, last + 1))
        edges = [*density.ppf([0, 1e-12, 1e-4, 0.1, 0.5], *parameters), *density.isf([0.1, 1e-4, 1e-12, 0], *parameters)]
        value, error = mp.quad(term, list(dict.fromkeys(map(mp.mpf, edges))), error=True)
        if error > 1e-12 * max(abs(value), 1e-3):
            raise ArithmeticError("the integral is not exact")
        return value

    with mp.workdps(25):
        if function == "entropy":
            return expect(lambda x, logpdf: -logpdf)
        mean = expect(lambda x, logpdf: x)
        if function == "mean":
            return mean
        var = expect(lambda x, logpdf: (x - mean) ** 2)
        order = {"var": 2, "skewness": 3, "kurtosis": 4}[function]
        if order == 2:
            return var
        return expect(lambda x, logpdf: (x - mean) ** order) / var ** (mp.mpf(order) / 2) - (3 if order == 4 else 0)


# ---- counting


def difference(function, a, b, scale):
    """Of two values, relative to the larger, or to what is a usual size of the function where both are small."""
    usual = {"logpdf": 1.0, "ppf": scale, "isf": scale, "mean": scale, "skewness": 1.0, "kurtosis": 1.0, "entropy": 1.0}
    if a == b or (np.isnan(a) and np.isnan(b)):
        return 0.0
    if not (np.isfinite(a) and np.isfinite(b)):
        return np.inf
    return abs(a - b) / max(abs(a), abs(b), usual.get(function, 1e-290))


def compare(name, sets, seed, judged):
    """Counts by function, and lines about values of ours that are not exact."""
    rng, density = np.random.default_rng(seed), gs.densities[name]
    rows = parameter_sets(name, sets, rng)
    columns = [np.array(c)[:, None] for c in zip(*rows, strict=True)]
    distributions = [SCIPY[name](*row) for row in rows]
    x = np.array([points(density, d, rng) for d in distributions])
    q = np.concatenate([[0, 1e-12, 1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-5, 1], rng.uniform(size=3)])
    counts, lines = {}, []
    scales = np.nan_to_num([float(d.ppf(0.75) - d.ppf(0.25)) for d in distributions], nan=1.0)
    for function in (*OF_X, *OF_Q, *NUMBERS):
        at = x if function in OF_X else np.tile(q, (len(rows), 1)) if function in OF_Q else np.zeros((len(rows), 1))
        got = getattr(density, function)(*([] if function in NUMBERS else [at]), *columns)
        others = zip(distributions, at, strict=True)
        want = [np.broadcast_to(theirs(d, density.discrete, function, row), row.shape) for d, row in others]
        counts[function] = count = Counter(compared=at.size)
        for i, j in np.ndindex(at.shape):
            a, b, scale = float(got[i, j]), float(want[i][j]), 0.0 if density.discrete and function in OF_Q else scales[i]
            if difference(function, a, b, scale) <= CLOSE:
                count["agree"] += 1
                continue
            place = f"{name}.{function}({', '.join(map(repr, [float(at[i, j])][function in NUMBERS :] + rows[i]))})"
            if count["ours"] + count["scipy's"] + count["neither"] >= judged:
                count["not judged"] += 1
                continue
            try:
                true = exact(name, function, at[i, j], rows[i])
            except (ArithmeticError, ValueError, StopIteration, mp.libmp.NoConvergence) as error:
                count["not judged"] += 1
                lines.append(f"{place} = {a!r}, SciPy {b!r}, not judged: {error}")
                continue
            ours, scipys = (difference(function, v, true, scale) <= CLOSE for v in (a, b))
            count["ours" if ours else "scipy's" if scipys else "neither"] += 1
            if not ours:
                lines.append(f"{place} = {a!r}, exact {true!r}, SciPy {b!r}")
    return counts, lines


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("densities", nargs="*", default=sorted(SCIPY))
    parser.add_argument("--sets", type=int, default=6, help="random sets of parameters of each density")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judged", type=int, default=20, help="differences of a function of a density that mpmath judges")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    total, unknown = {f: Counter() for f in (*OF_X, *OF_Q, *NUMBERS)}, set(options.densities) - set(SCIPY)
    if unknown:
        parser.error(f"scipy.stats has no {', '.join(sorted(unknown))}")
    for name in options.densities:
        counts, lines = compare(name, options.sets, options.seed, options.judged)
        print(*lines, sep="\n", end="\n" * bool(lines), flush=True)
        for function, count in counts.items():
            total[function] += count
    print("\nwhich is exact where they differ:\n" + "".join(f"{c:>12}" for c in ("", *COLUMNS)))
    for function, count in total.items():
        print(f"{function:>12}" + "".join(f"{count[c]:12}" for c in COLUMNS))
    return sum(count["scipy's"] + count["neither"] for count in total.values()) > 0


if __name__ == "__main__":
    sys.exit(main())
