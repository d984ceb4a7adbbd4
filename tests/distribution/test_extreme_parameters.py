"""Distributions at parameters where they are nearly another one, or where powers of their arguments are no numbers."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from thorough import some

import gpustats as gs
from gpustats import scipy_stats as st

PHI = 1 / math.sqrt(2 * math.pi)


def cumulants(h, z):
    """Mean, variance, skewness and excess kurtosis of a Pólya-gamma variable, by derivatives of its cumulant function."""

    def log_mgf(t):
        return h * (mp.log(mp.cosh(z / mp.mpf(2))) - mp.log(mp.cosh(mp.sqrt(z * z / mp.mpf(4) - t / 2))))

    with mp.workdps(60):
        k = [mp.diff(log_mgf, 0, n) for n in range(1, 5)]
        return [float(v) for v in (k[0], k[1], k[2] / k[1] ** mp.mpf(1.5), k[3] / k[1] ** 2)]


def test_polya_gamma_of_many_terms():
    """Near the mean it is normal but for the first terms of Edgeworth's series."""
    for h, z in [(3e4, 10.0), (1e5, 3.0), (1e8, 1.0), (3e6, 100.0)]:
        mean, var, skewness, kurtosis = cumulants(h, z)
        density = PHI * (1 + kurtosis / 8 - 5 * skewness**2 / 24)
        assert gs.polya_gamma.pdf(mean, h, z) * math.sqrt(var) == pytest.approx(density, rel=1e-7)
        assert gs.polya_gamma.cdf(mean, h, z) == pytest.approx(0.5 + PHI * skewness / 6, rel=1e-7)
        assert gs.polya_gamma.median(h, z) == pytest.approx(mean - skewness * math.sqrt(var) / 6, rel=1e-10)
        single = np.float32([mean, h, z])
        assert gs.polya_gamma.pdf(*single) * math.sqrt(var) == pytest.approx(density, rel=1e-2)  # of a mean that is rounded


def test_noncentral_ones_of_large_noncentrality():
    """X = (Z + root of lam)^2 has probabilities of the normal distribution."""
    lam, z = np.array([3e7, 1e9, 1e12])[:, None], np.array([-8.0, -1.0, 0.5, 8.0])
    x = (np.sqrt(lam) + z) ** 2
    near = (x - lam) / (np.sqrt(x) + np.sqrt(lam))  # z, of the rounded x
    for got, want in [(gs.noncentral_chi_squared.cdf, stats.norm.cdf), (gs.noncentral_chi_squared.sf, stats.norm.sf)]:
        np.testing.assert_allclose(got(x, 1.0, lam), want(near), rtol=1e-7)
    density = stats.norm.pdf(near) / (2 * np.sqrt(x))
    np.testing.assert_allclose(gs.noncentral_chi_squared.pdf(x, 1.0, lam), density, rtol=1e-7)
    np.testing.assert_allclose(st.ncf.cdf([1e8 / 3, 1e9], 3, 10, [1e8, 3e9]), stats.chi2.sf(10, 10), rtol=1e-5)


def test_powers_that_underflow():
    beta, z = np.array([300.0, 50.0, 300.0]), np.array([-0.05, -0.1, 0.999])
    want = 0.5 + z / 2 / np.array([math.gamma(1 + 1 / b) for b in beta]) * (1 - np.abs(z) ** beta / (beta + 1))
    np.testing.assert_allclose(gs.generalized_normal.cdf(z, beta, 0.0, 1.0)[:2], want[:2], rtol=1e-14)
    np.testing.assert_allclose(gs.generalized_normal.cdf(*np.float32([-0.1, 50.0, 0.0, 1.0])), want[1], rtol=1e-6)


def test_slowly_falling_mixtures():
    """Nearly and wholly one-sided ones, against mixtures of normal tails that mpmath has integrated."""
    got = gs.normal_inverse_gaussian.logcdf(-458.0, 1e6, -1e6 * (1 - 4e-9), 0.3, 0.01)
    assert got == pytest.approx(-3.801634825281346, rel=1e-12)
    assert gs.generalized_hyperbolic.logsf(-2.0, -0.001, 1.5, -1.5, 0.0, 1.0) == pytest.approx(-7.148366172806018, rel=1e-12)


def test_smallest_numbers():
    """All that counts is the first term, in which x may underflow."""
    x, a, m = 5e-324, 0.0005, 0.0005
    first = a * (math.log(x) - math.log(2)) - math.lgamma(1 + a) - m
    np.testing.assert_allclose(gs.noncentral_chi_squared.logcdf(x, 2 * a, 2 * m), first, rtol=1e-12)
    np.testing.assert_allclose(gs.noncentral_chi_squared.sf(x, 2 * a, 2 * m), -math.expm1(first), rtol=1e-12)
    first = a * (math.log(x) + math.log(2 * a / 3)) - math.log(a) - float(mp.log(mp.beta(a, 1.5))) - m
    np.testing.assert_allclose(gs.noncentral_f.logcdf(x, 2 * a, 3.0, 2 * m), first, rtol=1e-12)


def test_limits():
    np.testing.assert_array_equal(st.nhypergeom.pmf([0, 1], 10, 5, 0), [1, 0])
    np.testing.assert_array_equal(st.nhypergeom.cdf([-1, 0], 10, 5, 0), [0, 1])
    x = np.array([1e-3, 0.5, 40.0])
    for name in ("pdf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(gs.wald, name)(x, np.inf, 1.0), getattr(stats.levy, name)(x), rtol=1e-13)
    assert (gs.wald.rvs(np.inf, 2.0, size=100, rng=1) > 0).all()


def test_small_differences_of_large_numbers():
    """Values and slopes in which nothing cancels, as mpmath has them."""
    np.testing.assert_allclose(gs.triangular.sf(-3e-8, -1.0, 0.0, 0.0), 5.99999991e-8, rtol=1e-13)
    np.testing.assert_allclose(gs.triangular.cdf(*np.float32([1.0, 0.0, 1e7, 1.0])), 1e-7, rtol=1e-5)
    np.testing.assert_allclose(gs.triangular.ppf(*np.float32([1e-12, 0.0, 1.0, 0.0])), 5e-13, rtol=1e-6)
    np.testing.assert_allclose(gs.trapezoidal.isf([1e-20, 1e-8], -1.0, 0.0, 0.0, 0.0), [-5e-21, -5.0000000125e-9], rtol=1e-13)
    np.testing.assert_allclose(gs.trapezoidal.sf(-2e-12, -1.0, 0.0, 0.0, 0.0), 3.999999999996e-12, rtol=1e-13)
    np.testing.assert_allclose(gs.conway_maxwell_poisson.logpmf([0.0, 1.0], 1.0, 1e8), -math.log(2), rtol=1e-13)
    slope = gs.power_normal.loglik_and_grad(1.0, 1e-8, 0.0, 9e-7, wrt="mu")[1]["mu"]
    assert slope == pytest.approx(12344.679012355682, rel=1e-12)
    assert gs.negative_hypergeometric.cdf(*np.float32([159.0, 276.0, 180.0, 1.0])) == 1


def test_edges():
    slopes = gs.log_logistic.loglik_and_grad(3.0, 1.0, 3.0)[1]  # at the median, where two formulas meet
    assert slopes["sigma"] == pytest.approx(0, abs=1e-15) and slopes["alpha"] == pytest.approx(1)
    assert gs.discrete_laplace.isf(*np.float32([0.99999905, 1.0])) == -13
    assert gs.kappa3.loglik_and_grad(0.0, 0.5, 1.0, wrt="sigma")[1]["sigma"] == pytest.approx(-1, rel=1e-14)
    end = (2.0363743485498963e-07, -2.0839288890089738e-07, 2.4959897785594626e-06, -6.057781756952059)
    assert gs.generalized_extreme_value.logpdf(*end) == -math.inf  # its own quantile, rounded to beyond the end


def test_quotients_that_overflow():
    """The largest numbers, divided by small scales: powers of x go on, and no probability leaves [0, 1]."""
    log = math.log
    assert gs.noncentral_chi_squared.cdf(1e304, 0.5, 1e7) == pytest.approx(1, rel=1e-12)
    assert gs.noncentral_chi_squared.sf(1e304, 0.5, 1e7) == 0
    np.testing.assert_array_equal(gs.logistic.logpdf([-1e301, 1e301], 0.0, 1e-8), -np.inf)
    for density in (gs.maxwell, gs.rayleigh):
        assert density.logpdf(1e301, 1e-8) == -np.inf
    assert gs.moyal.logpdf(-1e301, 0.0, 1e-8) == -np.inf and gs.lindley.cdf(1e301, 1e8) == 1
    assert gs.kolmogorov.logpdf(1e-160, 1.0) == -np.inf
    log_z = log(1e301) + log(1e8)
    assert gs.weibull.logpdf(1e301, 1e-8, 1e-8) == pytest.approx((1e-8 - 1) * log_z - math.exp(1e-8 * log_z), rel=1e-12)
    assert gs.fisher_snedecor.logcdf(1e299, 1e8, 1e-8) == pytest.approx(-12.5527855112673, rel=1e-12)
    single = np.float32([1e34, 0, 1e-8])
    want = 0.5 * log(1e-8) - 0.5 * log(2 * math.pi) - 1.5 * log(1e34)
    assert gs.levy.logpdf(*single) == pytest.approx(want, rel=1e-6)
    assert gs.levy_left.logpdf(*(np.float32([-1, 1, 1]) * single)) == pytest.approx(want, rel=1e-6)
    want = 0.5 * log(2 / math.pi) + 0.5 * log(1e-42)
    assert gs.levy.logsf(*single) == pytest.approx(want, rel=1e-6)


def test_smallest_x():
    """Where x / sigma or its reciprocal is no number any more, the powers of x are."""
    x, log_x = 5e-324, math.log(5e-324)
    assert gs.gamma.logcdf(x, 0.001, 0.3) == pytest.approx(0.001 * (log_x + math.log(0.3)) - math.lgamma(1.001), rel=1e-12)
    assert gs.gamma.sf(x, 0.001, 0.3) == pytest.approx(-math.expm1(gs.gamma.logcdf(x, 0.001, 0.3)), rel=1e-12)
    assert gs.weibull.logpdf(x, 2.0, 2.0) == pytest.approx(log_x - math.log(2), rel=1e-13)
    for density, shapes in [(gs.weibull, (1.0,)), (gs.kappa3, (1.0,)), (gs.mielke, (1.0, 1.0))]:
        value, slopes = density.loglik_and_grad(x, *shapes, 2.0)
        assert value == pytest.approx(-math.log(2), rel=1e-14)
        assert all(math.isfinite(s) for s in slopes.values())
        slope = density.loglik_and_grad(x, *shapes, 2.0, wrt="x")[1]["x"]
        assert slope == pytest.approx(-0.5 if density is gs.weibull else -1, rel=1e-12)


def test_beyond_rounded_ends():
    """Next to its ends a support is rounded: beyond them a distribution function has its limits, within them no others."""
    for density, parameters in [(gs.generalized_extreme_value, (0.3, 1.7, -0.7)), (gs.anglit, (0.3, 1.7))]:
        beyond = np.nextafter(density.support(*parameters)[1], np.inf)
        assert density.logcdf(beyond, *parameters) == 0 and density.logsf(beyond, *parameters) == -np.inf
    h, k, mu, sigma = 3017568.637491363, -0.025820692544453502, 0.20764089526059493, 0.5805666536972709
    np.testing.assert_allclose(gs.kappa4.sf(10.774763004061892, h, k, mu, sigma), 1.1371e-5, rtol=0.03)  # as far as it is known


def test_slopes_far_out():
    """Of scales, where a quotient by their squares overflows."""
    slopes = gs.cauchy.loglik_and_grad(*np.float32([1e30, 0, 1e-8]))[1]
    assert slopes["beta"] == pytest.approx(1e8, rel=1e-6)
    slopes = gs.johnson_su.loglik_and_grad(*np.float32([1e28, 0, 0.5, 0, 1e-8]))[1]
    y = 0.5 * math.log(2e36)
    assert slopes["sigma"] == pytest.approx(0.5 * y * 1e8, rel=1e-5)
    for density in (gs.pareto, gs.lomax):
        assert list(density.loglik_and_grad(1e301, 2.0, 1e-8)[1].values())[1] == pytest.approx(2e8, rel=1e-13)
    assert gs.folded_cauchy.logsf(1e301, 49180755.0, 1.25e-8) == pytest.approx(math.log(2.5e-8 / math.pi) - 301 * math.log(10))


def test_powers_beyond_the_numbers():
    """Of which a small scale or a large exponent makes numbers again."""
    assert gs.generalized_extreme_value.logcdf(-1.7e308, 1e8, 2.5, -1e8) == pytest.approx(-1.0000072723387123, rel=1e-14)
    quantile = gs.generalized_extreme_value.isf(*np.float32([1.6397763e-32, 0, 0.00488530099, 1.2227135896]))
    assert quantile == pytest.approx(0.00488530099 * 1.6397763e-32**-1.2227135896 / 1.2227135896, rel=1e-4)
    assert gs.generalized_pareto.logpdf(1e301, 0.0, 1e-8, 0.5) == pytest.approx(-2113.9962589198485, rel=1e-13)
    assert gs.exponential_power.cdf(5e-324, 1e-8, 1e8) == pytest.approx(0.8206222016284206, rel=1e-12)
    assert gs.gamma_log.sf(5e-324, 49180755.0, 1e-8) == pytest.approx(0.38848461995814026, rel=1e-9)
    assert gs.alpha.cdf(1.7e308, 2.5, 1.0) == 1
    assert gs.noncentral_f.logsf([1e150, 1e304], 3.0, 2.0, 5.0) == pytest.approx([-344.4069347, -699.00503902], rel=1e-9)
    assert gs.birnbaum_saunders.cdf(1e304, 2.5, 1e-8) == 1
    assert gs.chi_squared.logpdf(5e-324, 39223.92635941019) == pytest.approx(-14787007.41605493, rel=1e-13)
    assert gs.kumaraswamy.ppf(*np.float32([1e-37, 0.5, 1e3])) == 0
    got = gs.kumaraswamy.ppf(*np.float32([1e-37, 4, 1e8]))
    assert got == pytest.approx(10 ** (-45 / 4), rel=1e-5)


def test_noncentral_ones_at_both_ends():
    """Powers of x near 0, and of noncentral F far out; of noncentral chi-squared little more than exp(-x / 2) is left there."""
    x = np.array([1e301, 5e-324, 5e-324])
    want = [-5e300, -186.87818012462344, -38093036882.13178]  # mpmath's
    np.testing.assert_allclose(gs.noncentral_chi_squared.logpdf(x, [1, 2.5, 1e8], [41725806.5, 1e-8, 2.5]), want, rtol=1e-12)
    np.testing.assert_array_equal(gs.noncentral_chi_squared.cdf([1e304, 1.7e308], [3.8, 2.5], [38789.0, 2.5]), 1)
    d1, d2, lam = 1e-8, 6.8e-8, 6.8e-8
    below, above = gs.noncentral_f.cdf(1.7e308, d1, d2, lam), gs.noncentral_f.sf(1.7e308, d1, d2, lam)
    log_share = d2 / 2 * math.log(1.7e308 * d1 / d2)
    assert above == pytest.approx(d1 / (d1 + d2) * (1 - log_share), rel=1e-4) and below + above == pytest.approx(1, rel=1e-14)
    slopes = gs.noncentral_f.loglik_and_grad(1.7e308, 17.9, 13.9, 4.87)[1]
    assert slopes["d1"] == pytest.approx(-0.16017743774126714, rel=1e-8)  # as it is at 1e100


def test_pieces_meet():
    """Where the formulas of two sides meet, at ordinary parameters, derivatives are those of either side."""
    for density in (gs.burr, gs.burr12, gs.mielke):
        assert density.loglik_and_grad(2.0, 1.0, 1.0, 2.0)[1]["sigma"] == pytest.approx(0, abs=1e-15)
        assert density.loglik_and_grad(2.0, 1.0, 1.0, 2.0, wrt="x")[1]["x"] == pytest.approx(-0.5, rel=1e-14)


def test_truncated_pareto_that_rises():
    """Its median beside the upper end, where exp(-alpha log(upper / m)) overflows, and its limits."""
    median = 1e6 * 0.5 ** (1 / 1000)
    np.testing.assert_allclose(gs.truncated_pareto.ppf(0.5, -1000.0, 1.0, 1e6), median, rtol=1e-15)
    np.testing.assert_allclose(gs.truncated_pareto.isf(0.25, -100.0, 1e-8, 1.0), 0.75**0.01, rtol=1e-15)
    np.testing.assert_allclose(gs.truncated_pareto.cdf([-np.inf, median, np.inf], -1000.0, 1.0, 1e6), [0, 0.5, 1], rtol=1e-12)
    low, x = 0.7579134966192674, 0.7579150164080196
    np.testing.assert_allclose(gs.truncated_pareto.cdf(x, -1.0, low, 61649.8057525022), 2.4652266425086397e-11, rtol=1e-12)
    np.testing.assert_allclose(gs.truncated_pareto.logpdf(median, -1000.0, 1.0, 1e6), np.log(500 / median), rtol=1e-13)


def test_small_powers():
    """Of the logistic and of the normal tail: what nearly cancels is left out."""
    assert gs.generalized_logistic.logpdf(-1e8, 5e-7, 1.0, 1.0) == pytest.approx(math.log(5e-7) - 5e-7 * (1e8 + 1), rel=1e-14)
    got = gs.generalized_logistic.isf(*np.float32([1e-37, 1e8, 0, 1]))
    assert got == pytest.approx(math.log(1e8) + 37 * math.log(10), rel=1e-6)
    assert gs.power_log_normal.logpdf(*np.float32([2, 2e-7, 0, 3e-7])) == pytest.approx(-533823.0962503043, rel=1e-6)
    assert gs.power_log_normal.ppf(*np.float32([1e-37, 1e8, 1, 1])) == pytest.approx(1.9548804971950014e-06, rel=1e-5)
    assert gs.burr.isf(*np.float32([1e-37, 2, 1e7, 1])) == pytest.approx(1e22, rel=1e-5)
    assert gs.kappa4.ppf(1e-300, -1.1, 0.0, 0.0, 1.0) == pytest.approx(-300 * 1.1 * math.log(10) + math.log(1.1), rel=1e-13)


def test_whole_numbers_that_a_type_does_not_have():
    """N - k in single precision, and the step from 1^beta to 2^beta."""
    assert gs.hypergeometric.sf(*np.float32([1, 2e7, 3, 2])) == pytest.approx(1.500000075000004e-14, rel=1e-5)
    slopes = gs.discrete_weibull.loglik_and_grad(*np.float32([1, 0.5, 139]))[1]
    assert slopes == {"q": pytest.approx(2, rel=1e-6), "beta": 0}


def test_noncentral_t_of_few_degrees_of_freedom():
    """Half of a normal variable's tails is what is left at 0 of them, as T is infinite then."""
    t, nu, delta = np.array([[-5, 1e-8, -5], [3, 1e-4, 1], [0.5, 0.01, 2], [2, 1e-8, -3], [-30, 0.01, 30]]).T
    want = [0.9999996204513018, 0.15914283549951014, 0.033911479840155464, 0.99865010212720314, 4.4515284848888824e-198]
    above = [3.7954869824825112e-7, 0.84085716450048986, 0.96608852015984454, 0.0013498978727968632, 1]  # mpmath's
    np.testing.assert_allclose(gs.noncentral_t.cdf(t, nu, delta, 0.0, 1.0), want, rtol=1e-12)
    np.testing.assert_allclose(gs.noncentral_t.sf(t, nu, delta, 0.0, 1.0), above, rtol=1e-12)


def test_gamma_tail_at_the_largest_numbers():
    np.testing.assert_allclose(gs.gamma.logsf(5e305, 1e-8, 2.0), -1e306, rtol=1e-15)
    np.testing.assert_allclose(gs.chi_squared.logsf(7.8e302, 1e-8), -3.9e302, rtol=1e-15)


@pytest.mark.parametrize("dtype", some([np.float32, np.float64], 2))
def test_powers_that_a_scale_brings_back(dtype):
    """Quantiles that are a scale times a power of q, which by itself over- or underflows."""
    q, up, down, u = (1e-20, 1e30, 2e-4, 150.0) if dtype == np.float32 else (1e-200, 1e250, 1e-100, 1200.0)
    half, beta = mp.mpf(1) / 2, mp.beta(0.25, 0.5)
    cases = [
        (gs.pareto.isf, (0.5,), down, 1, -2), (gs.lomax.isf, (0.5,), down, 1, -2), (gs.frechet.isf, (0.5,), down, 1, -2),
        (gs.log_logistic.isf, (0.5,), down, 1, -2), (gs.log_laplace.isf, (0.5,), down, half**2, -2),
        (gs.burr.isf, (0.5, 1.0), down, 1, -2), (gs.mielke.isf, (0.5, 0.5), down, 1, -2),
        (gs.burr12.isf, (0.5, 1.0), down, 1, -2), (gs.burr12.ppf, (0.5, 1.0), up, 1, 2), (gs.kappa3.isf, (0.5,), down, 1, -2),
        (gs.weibull.ppf, (0.5,), up, 1, 2), (gs.exponential_power.ppf, (0.5,), up, 1, 2),
        (gs.beta_prime.isf, (1.0, 0.5), down, 1, -2),
        (gs.exponentiated_weibull.ppf, (0.5, 1.0), up, 1, 2), (gs.generalized_gamma.ppf, (1.0, 0.5), up, 1, 2),
        (gs.half_student_t.isf, (0.5,), down, mp.sqrt(half) * (beta / 4) ** -2, -2),
        (gs.student_t.isf, (0.5, 0.0), down, mp.sqrt(half) * (beta / 2) ** -2, -2),
        (gs.tukey_lambda.isf, (-2.0, 0.0), down, half, -2), (gs.crystal_ball.ppf, (3.0, 1.5, 0.0), down, None, -2),
    ]  # fmt: skip
    got, want = [], []
    for quantile, shapes, scale, factor, power in cases:
        if factor is None:  # the power law's share of both, and where it begins
            share = 1 / (1 + mp.sqrt(2 * mp.pi) * mp.ncdf(3) * mp.exp(4.5))
            factor = -half * share**2
        got.append(quantile(dtype(q), *map(dtype, shapes), dtype(scale)))
        want.append(mp.mpf(float(dtype(scale))) * factor * mp.mpf(float(dtype(q))) ** power)
    tiny = dtype(1) / dtype(up)
    got += [gs.johnson_su.isf(*map(dtype, (0.5, -u, 1, 0)), tiny), gs.sinh_arcsinh.ppf(*map(dtype, (0.5, u, 1, 0)), tiny)]
    want += 2 * [mp.mpf(float(tiny)) * mp.sinh(u)]
    np.testing.assert_allclose(np.array(got, float), np.array(want, float), rtol=1e-5 if dtype == np.float32 else 2e-12)
    for density in (gs.pareto, gs.lomax):  # and back
        x = density.isf(dtype(q), dtype(0.5), dtype(down))
        assert density.logsf(x, dtype(0.5), dtype(down)) == pytest.approx(math.log(q), rel=1e-6)


def test_tails_that_are_tiny_beside_a_shape():
    """The largest of very many variables."""
    got = gs.exponentiated_weibull.isf(*np.float32([1e-37, 1e8, 2e8, 3.0]))
    assert got == pytest.approx(3 * (37 * math.log(10) + math.log(2e8)) ** 1e-8, rel=1e-6)


def test_largest_x():
    """Squares that overflow, and angles of which nothing is left."""
    x = np.array([-1.7e308, 1.7e308])
    densities = [(gs.skew_normal, 2.0, 0.0, 1.0), (gs.pearson3, 1.0, 0.0, 1.0), (gs.relativistic_breit_wigner, 1.0, 1.0)]
    for density, *at in densities:
        np.testing.assert_array_equal(density.cdf(x, *at), [0, 1])
        assert (density.pdf(x, *at) == 0).all()
    assert gs.pearson3.logpdf(1e300, 1.0, 0.0, 1.0) == pytest.approx(-2e300)
    assert np.isnan(gs.wrapped_normal.pdf(1e308, 0.0, 1.0))


def test_quotients_below_the_smallest_number():
    """Of x and a scale: log P(X <= x) is nu log(nu z^2) - log(Gamma(1 + nu)) there."""
    log_square = 2 * (math.log(5e-324) - math.log(1e5)) + math.log(1.25)
    assert gs.nakagami.logcdf(5e-324, 1.25, 1e5) == pytest.approx(1.25 * log_square - math.lgamma(2.25), rel=1e-14)
    assert gs.nakagami.logpdf(5e-324, 1.25, 1e5) == pytest.approx(
        1.25 * log_square - math.lgamma(2.25) + math.log(2.5) - math.log(5e-324), rel=1e-14
    )


def test_one_rounding_from_an_end():
    """Where 1 - k z is far smaller than what k z is rounded by: here 1 - (1 - k z)^(1 / k)."""
    at = np.float32([6.4265191213053185e-06, 1.0, 648766.6875, 0.0, 4.1693115234375])
    x, _, k, _, sigma = map(float, at)
    assert gs.kappa4.cdf(*at) == pytest.approx(-math.expm1(math.log(1 - k * x / sigma) / k), rel=1e-5)


@pytest.mark.parametrize("dtype, scale", [(np.float32, 2.0**-100), (np.float64, 2.0**830)])
def test_lengths_whose_squares_are_no_numbers(dtype, scale):
    at = np.array([-1.0, 3.0, 0.0, 1.0], dtype)
    small = dtype(scale) * at
    q = np.array([0.01, 0.1, 0.9], dtype)
    np.testing.assert_allclose(gs.trapezoidal.ppf(q, *small), scale * gs.trapezoidal.ppf(q, *at).astype(float), rtol=1e-6)
    np.testing.assert_allclose(gs.trapezoidal.mean(*small), scale * 0.8, rtol=1e-6)
    np.testing.assert_allclose(gs.trapezoidal.kurtosis(*small), gs.trapezoidal.kurtosis(*map(float, at)), rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("eta", [-1e7, -1e3, 1e3, 1e7])
def test_ends_of_a_support_where_a_shape_underflows(dtype, eta):
    x, eta, phi = np.array([0.0, 1.0], dtype), dtype(eta), dtype(1)
    np.testing.assert_array_equal(gs.beta_logit.sf(x, eta, phi), [1, 0])
    np.testing.assert_array_equal(gs.beta_logit.logsf(x, eta, phi), [0, -np.inf])
    np.testing.assert_array_equal(gs.beta_logit.logcdf(x, eta, phi), [-np.inf, 0])
