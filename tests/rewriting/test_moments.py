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


def test_far_locations():
    """A location and a scale that the source declares are taken out; else what rounding leaves is told apart."""
    far = np.array([1e4, 1e6, -1e9, 1e13])
    np.testing.assert_allclose(gs.power_normal.mean(2.0, far, 1.0), far - 1 / np.sqrt(np.pi), rtol=1e-15)
    np.testing.assert_allclose(gs.power_normal.var(2.0, far, 3.0), 9 * (1 - 1 / np.pi), rtol=1e-12)
    np.testing.assert_allclose(gs.skew_normal.entropy(2.0, far, 1.0), gs.skew_normal.entropy(2.0, 0.0, 1.0), rtol=1e-12)
    second = 4 * (1 - 1 / np.pi) + (0.5 - 2 / np.sqrt(np.pi)) ** 2
    np.testing.assert_allclose(gs.power_normal.moment(2, 2.0, 0.5, 2.0), second, rtol=1e-12)
    entropy = 0.5 * np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(gs.folded_normal.entropy(40.0, 1e-6), entropy + np.log(1e-6), rtol=1e-8)
    with pytest.warns(gs.AccuracyWarning, match=r"truncated_normal.var\(mu=1e\+10, sigma=1, lower=-inf, upper=inf\)"):
        np.testing.assert_allclose(gs.truncated_normal.var([2.0, 1e10], 1.0, -inf, inf), [1, nan], rtol=1e-12)


def test_names_alone_do_not_make_a_location():
    """What a comment calls so, wrongly, is left where it is."""
    kinked = LAPLACE.replace("mu: real    b: positive", "mu: real, location    b: positive, scale").replace("kinked", "clipped")
    clipped = gs.transforms.Truncate(gs.register(kinked), lower=-1.0, upper=2.0)
    share = 1 - 0.5 * np.exp([-1.0, -2.0])
    mean = (np.exp(-1) - 1.5 * np.exp(-2)) / (share.sum() - 1)  # of x exp(-|x|) / 2 from -1 to 2
    assert clipped.mean(0.0, 1.0) == pytest.approx(mean, rel=1e-9)
    assert not clipped.var(5.0, 1.0) == pytest.approx(clipped.var(0.0, 1.0))


def test_wide_supports_and_mass_far_out():
    """Bounds that are far away, and probability that is near an end of the support, or all of it."""
    for bound in (1e6, 1e155):
        clipped = gs.transforms.Truncate(gs.normal, lower=-bound, upper=bound)
        got = [clipped.mean(0.37, 1.0), clipped.var(0.37, 1.0), clipped.entropy(0.37, 1.0)]
        np.testing.assert_allclose(got, [0.37, 1, 0.5 * np.log(2 * np.pi * np.e)], rtol=1e-10)
    np.testing.assert_allclose(gs.johnson_sb.var(0.0, 1e4) * 16e8, 1 - 5e-9, rtol=1e-10)
    power = gs.register("""
    // risen: a power of a uniform variable
    // x: unit    b: positive
    real risen_logpdf(real x, real b) { return log(b) + (b - 1) * log(x); }
    real risen_logcdf(real x, real b) { return b * log(x); }
    """)
    b = np.array([1e-6, 1e-3, 1.0, 1e6])
    np.testing.assert_allclose(power.mean(b), b / (1 + b), rtol=1e-8)
    with pytest.warns(gs.AccuracyWarning, match="risen.entropy"):  # where half of it lies below the smallest number
        np.testing.assert_allclose(power.entropy(b), [nan, nan, *(1 - 1 / b - np.log(b))[2:]], rtol=1e-8, atol=1e-8)


def test_kinks_beside_the_edges_of_steps():
    kappa, b = 1.0021810539162002, 2.298051326316793
    source = gs.asymmetric_laplace.source.replace("asymmetric_laplace_entropy", "asymmetric_laplace_unused")
    kinked = gs.register(source.replace("asymmetric_laplace", "lopsided"))
    want = 1 + np.log((kappa + 1 / kappa) / b)
    np.testing.assert_allclose(kinked.entropy(kappa, 0.07, b), want, rtol=1e-9)


def test_more_numbers_than_are_summed():
    """Between two ends: no power law goes on behind the last number."""
    n = np.array([65000, 66000, 1e5, 1e7])
    first, total = (np.array([np.sum(np.arange(1, k + 1) ** -a) for k in n]) for a in (0.5, 1.5))
    np.testing.assert_allclose(gs.zipfian.mean(1.5, n), first / total, rtol=1e-11)
    q = np.exp(-1e-6)
    share = -1e6 * q**1e6 / np.expm1(-1.0)
    np.testing.assert_allclose(gs.boltzmann.mean(1e-6, 1e6), q / (1 - q) - share, rtol=1e-9)


def test_variances_that_nearly_vanish():
    np.testing.assert_allclose(gs.log_uniform.var(1e6, 1e6 + 1), 1 / 12, rtol=1e-9)
    large, square = 1e8, np.pi**2 / 6 * 1e-16  # the variance of the logarithm, which is nearly that of what is near 1
    got = [gs.weibull.var(large, 1.0), gs.frechet.var(large, 1.0), gs.weibull_max.var(large, 1.0)]
    np.testing.assert_allclose(got, square, rtol=1e-7)
    np.testing.assert_allclose([gs.burr12.var(large, 1.0, 1.0), gs.burr.var(large, 1.0, 1.0)], 2 * square, rtol=1e-7)
    np.testing.assert_allclose(gs.generalized_gamma.var(1e6, 1e7, 1.0), 1.0000033e-20, rtol=1e-7)
    np.testing.assert_allclose(gs.wrapped_normal.var(-1e6, 1e8), np.pi**2 / 3, rtol=1e-8)


SCALED = """
// stretched: Weibull's distribution of a scale that is called otherwise
// x: nonnegative    a: positive    b: positive{declared}
real stretched_logpdf(real x, real a, real b) {{ real z = x / b; return log(a / b) + xlogy(a - 1, z) - pow(z, a); }}
real stretched_logsf(real x, real a, real b) {{ return -pow(x / b, a); }}
real stretched_ppf(real q, real a, real b) {{ return b * pow(-log1p(-q), 1 / a); }}
real stretched_isf(real q, real a, real b) {{ return b * pow(-log(q), 1 / a); }}
real stretched_var(real a, real b) {{ return b * b * (a == 1 ? 1 : 0.25); }}
"""


def test_units_do_not_matter():
    """Even where powers of the standard deviation are no numbers; whether the comment tells the scale or not."""
    for declared, scales, rtol in [
        ("", np.float32([1e-30, 1e-12, 1e12, 1e30]), 3e-4), (", scale", np.array([1e-250, 1e-150, 1e150, 1e250]), 1e-8)
    ]:  # fmt: skip
        density, one = gs.register(SCALED.format(declared=declared), replace=True), scales.dtype.type(1)
        np.testing.assert_allclose(density.mean(one, scales), scales, rtol=rtol)
        np.testing.assert_allclose(density.kurtosis(one, scales), 6, rtol=rtol)


def test_single_precision_of_small_scales():
    """Skewness and kurtosis of Weibull's and Burr's distributions by mpmath, others by scaling; an infinite mean."""
    hyperbolic, scale = gs.generalized_hyperbolic.skewness, np.float32([1, 2.0**-100])
    np.testing.assert_allclose(gs.weibull_max.skewness(*np.float32([100, 1e-12])), 1.08107376, rtol=3e-4)
    np.testing.assert_allclose(gs.burr12.kurtosis(*np.float32([1, 1e6, 2e-5])), 6.000048, rtol=3e-4)
    np.testing.assert_allclose(gs.reciprocal_inverse_gaussian.kurtosis(1 / scale, 2 / scale), 4.875, rtol=3e-4)
    alpha, beta, delta = np.float32(1.3) / scale, np.float32(-0.16) / scale, np.float32(1.8) * scale
    two = hyperbolic(np.float32(-2.5), alpha, beta, np.float32(0), delta)
    np.testing.assert_allclose(two, hyperbolic(-2.5, 1.3, -0.16, 0.0, 1.8), rtol=1e-4)
    assert gs.log_logistic.var(*np.float32([0.8, 8e-30])) == inf
    assert gs.crystal_ball.mean(*np.float32([2.4, 1.125, 8, 0.125])) == -inf
