"""Moments and entropies by quadrature, of densities whose sources do not write them, against formulas."""

import numpy as np
import pytest
from scipy import special, stats
from thorough import THOROUGH, some

import gpustats as gs

inf, nan = np.inf, np.nan
NUMBERS = ("mean", "var", "skewness", "kurtosis", "entropy")

WEIBULL = """
// weibull_min: without the scale
// x: nonnegative    a: positive
real weibull_min_logpdf(real x, real a) { return log(a) + xlogy(a - 1, x) - pow(x, a); }
real weibull_min_logsf(real x, real a) { return -pow(x, a); }
"""
LAPLACE = """
// kinked: Laplace's distribution
// x: real    mu: real    b: positive
real kinked_logpdf(real x, real mu, real b) { return -fabs(x - mu) / b - log(2 * b); }
real kinked_logcdf(real x, real mu, real b) { return x < mu ? (x - mu) / b - LOG_2 : log1p(-0.5 * exp((mu - x) / b)); }
real kinked_logsf(real x, real mu, real b) { return kinked_logcdf(-x, -mu, b); }
"""
PARETO = """
// heavy: Pareto's distribution
// x: positive    a: positive
real heavy_logpdf(real x, real a) { return x < 1 ? -INFINITY : log(a) - (a + 1) * log(x); }
real heavy_logsf(real x, real a) { return -a * log(x); }
real heavy_lower(real a) { return 1; }
real heavy_ppf(real q, real a) { return exp(-log1p(-q) / a); }
real heavy_isf(real q, real a) { return exp(-log(q) / a); }
"""
GEOMETRIC = """
// trials: the geometric distribution
// x: positive integer    p: unit
real trials_logpmf(real x, real p) { return log(p) + xlog1py(x - 1, -p); }
real trials_logsf(real x, real p) { return xlog1py(x, -p); }
"""


@pytest.mark.parametrize("number", some(NUMBERS, 2))
def test_of_densities(number):
    shapes, letter = np.array([0.3, 1.0, 4.0, -1.0]), number[0]
    want = [float(stats.weibull_min(a).entropy() if letter == "e" else stats.weibull_min(a).stats(letter)) for a in shapes[:3]]
    if letter in "sk":  # scipy's lose digits
        g1, g2, g3, g4 = (special.gamma(1 + k / shapes[:3]) for k in range(1, 5))
        var = g2 - g1**2
        third, fourth = g3 - 3 * g1 * g2 + 2 * g1**3, g4 - 4 * g1 * g3 + 6 * g1**2 * g2 - 3 * g1**4
        want = third / var**1.5 if letter == "s" else fourth / var**2 - 3
    got = getattr(gs.register(WEIBULL), number)(shapes)
    np.testing.assert_allclose(got, [*want, nan], rtol=1e-11)


@THOROUGH
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_kinks_and_far_locations(dtype, rtol):
    density, mu, b = gs.register(LAPLACE), np.array([0, 1000], dtype), dtype(2)
    for number, want in [("mean", mu), ("var", 8), ("entropy", np.log(4 * np.e))]:
        got = getattr(density, number)(mu, b)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, np.broadcast_to(want, 2), rtol=rtol, atol=rtol)


@THOROUGH
def test_infinite_ones():
    """Heavy tails are integrated to their ends, and beyond by how they fall off."""
    density, a = gs.register(PARETO), np.array([0.9, 1.0, 1.02, 2.02, 4.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(density.mean(a), np.where(a > 1, a / (a - 1), inf), rtol=1e-11)
        np.testing.assert_allclose(density.var(a), np.where(a > 2, a / ((a - 1) ** 2 * (a - 2)), inf), rtol=1e-11)
    np.testing.assert_allclose(density.moment([0, 1, 2, 3, 4], 3.5), [1, 1.4, 7 / 3, 7, inf], rtol=1e-12)
    cauchy = gs.register("""
    real cauchy_itself_logpdf(real x) { return -LOG_PI - log1p(x * x); }
    real cauchy_itself_logsf(real x) { return log(atan2((real)1, x)) - LOG_PI; }
    real cauchy_itself_logcdf(real x) { return log(atan2((real)1, -x)) - LOG_PI; }
    """)
    assert np.isnan([cauchy.mean(), cauchy.var(), cauchy.skewness()]).all()
    assert cauchy.entropy() == pytest.approx(np.log(4 * np.pi), rel=1e-12)


@pytest.mark.parametrize("number", NUMBERS)
def test_of_mass_functions(number):
    """Summed, and where there are very many numbers integrated."""
    density, p = gs.register(GEOMETRIC), np.array([1, 0.3, 1e-3, 1e-5, 1e-9])
    q = 1 - p
    with np.errstate(all="ignore"):
        entropy = np.where(p == 1, 0, -(q * np.log1p(-p) + p * np.log(p)) / p)
        want = {"mean": 1 / p, "var": q / p**2, "skewness": (2 - p) / np.sqrt(q), "kurtosis": 6 + p**2 / q, "entropy": entropy}
    known = slice(1 if number in ("skewness", "kurtosis") else 0, None)
    np.testing.assert_allclose(getattr(density, number)(p)[known], want[number][known], rtol=1e-12)


def test_numbers_far_apart_from_the_lower_end():
    """The first of the very many numbers hardly count, the middle does."""
    mu = np.array([1e8, 1e12])
    np.testing.assert_allclose(gs.poisson.entropy(mu), 0.5 * np.log(2 * np.pi * np.e * mu) - 1 / (12 * mu), rtol=1e-12)
    np.testing.assert_allclose(gs.poisson.moment(3.0, mu), mu**3 + 3 * mu**2 + mu, rtol=1e-12)


def test_numbers_with_heavy_tails():
    """Powers whose sums are finite, some of them barely, and powers whose sums are not."""
    a, zeta = np.array([2.5, 3.0, 4.0, 4.5]), special.zeta
    with np.errstate(invalid="ignore"):
        want = [np.where(a > 1 + k, zeta(np.maximum(a - k, 1.1)) / zeta(a), inf) for k in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose([gs.zipf.moment(k, a) for k in (1.0, 2.0, 3.0)], want, rtol=1e-12)
