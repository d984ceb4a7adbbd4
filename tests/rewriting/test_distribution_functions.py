"""Distribution functions in both tails, against mpmath at 60 digits and against scipy.stats."""

import numpy as np
import pytest
import references_continuous
import references_discrete
from references import errors, exactly
from references_cdf import CDFS, log, tails
from references_scipy import SCIPY
from scipy import stats

import gpustats as gs
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library

REFERENCES = references_continuous.REFERENCES | references_discrete.REFERENCES
N = 60

each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

each_cdf = pytest.mark.parametrize("name", CDFS)


def reference(name, tail):
    """The logarithm of P(X <= x) (tail 0) or of P(X > x) (tail 1)."""
    return exactly(lambda x, *parameters: log(tails(name, x, *parameters)[tail]))


def assert_accurate(name, args, dtype):
    density = gs.densities[name]
    for tail, method in enumerate((density.logcdf, density.logsf)):
        got, want = method(*args), reference(name, tail)(*args)
        assert got.dtype == dtype and got.shape == want.shape
        error = errors(got, want)
        worst = np.argmax(error)
        message = f"{method.__name__}: {got[worst]} for {want[worst]} at {[a[worst].tolist() for a in args]}"
        assert error[worst] <= (1e-12 if dtype == np.float64 else 1e-5), message


def test_every_distribution_function_has_a_reference():
    with_cdf = {name for name in library.built_in(DENSITY) if library.get(name).role("logcdf", "logsf")}
    assert with_cdf == CDFS.keys()


@each_cdf
@each_dtype
def test_random_points(name, dtype, rng):
    assert_accurate(name, REFERENCES[name].random(rng, N, dtype), dtype)


@each_cdf
@each_dtype
def test_extreme_points(name, dtype):
    assert_accurate(name, REFERENCES[name].extremes(dtype), dtype)


@each_cdf
@each_dtype
@pytest.mark.parametrize("factor", [-30, -1, 1e-3, 30, 1000])
def test_far_tails(name, dtype, factor, rng):
    x, *parameters = REFERENCES[name].random(rng, 20, dtype)
    assert_accurate(name, (x * dtype(factor), *parameters), dtype)


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_agrees(name, rng):
    x, *parameters = REFERENCES[name].random(rng, N)
    theirs = SCIPY[name](*parameters)
    density = gs.densities[name]
    # scipy loses the smaller of the two where it computes it from the other.
    np.testing.assert_allclose(density.cdf(x, *parameters), theirs.cdf(x), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(np.exp(density.logsf(x, *parameters)), theirs.sf(x), rtol=1e-8, atol=1e-9)
    outside = np.array([-np.inf, np.inf, np.nan])[:, None]
    np.testing.assert_array_equal(density.logcdf(outside, *parameters), theirs.logcdf(outside))
    np.testing.assert_array_equal(density.logsf(outside, *parameters), theirs.logsf(outside))


@each_cdf
def test_invalid_parameters_give_nan(name):
    invalid = [np.array(column, float) for column in zip(*REFERENCES[name].invalid)]
    for x in (-3.0, 0.5, 1.0, 3.0, np.inf):
        assert np.isnan(gs.densities[name].logcdf(x, *invalid)).all()
        assert np.isnan(gs.densities[name].logsf(x, *invalid)).all()


@each_cdf
def test_the_steps_and_slopes_are_the_density(name, rng):
    """P(X <= x) grows by the mass at x, or at the rate of the density."""
    density, reference = gs.densities[name], REFERENCES[name]
    x, *parameters = reference.random(rng, N)
    if density.discrete:
        step = density.cdf(x, *parameters) - density.cdf(x - 0.5, *parameters)
        np.testing.assert_allclose(step, density.pmf(x, *parameters), rtol=1e-9, atol=1e-14)
        return
    slope = gs.transforms.Grad(density.log_cdf, "x")(x, *parameters)
    fall = gs.transforms.Grad(density.log_sf, "x")(x, *parameters)
    pdf = density.pdf(x, *parameters)
    np.testing.assert_allclose(slope * density.cdf(x, *parameters), pdf, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(-fall * np.exp(density.logsf(x, *parameters)), pdf, rtol=1e-9, atol=1e-300)


LOMAX = """
// lomax: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive    scale: positive
real lomax_logpdf(real x, real alpha, real scale) {{ return log(alpha / scale) - (alpha + 1) * log1p(x / scale); }}
real lomax_{}(real x, real alpha, real scale) {{ return {}; }}
"""


@pytest.mark.parametrize("ending, formula", [("logsf", "-alpha * log1p(x / scale)"),
                                             ("logcdf", "log(-expm1(-alpha * log1p(x / scale)))")])  # fmt: skip
def test_either_tail_makes_the_other(ending, formula, rng):
    density = gs.register(LOMAX.format(ending, formula))
    x, alpha, scale = np.r_[-1.0, 0.0, rng.exponential(5, N)], 2.5, 3.0
    np.testing.assert_allclose(density.logcdf(x, alpha, scale), stats.lomax.logcdf(x, alpha, scale=scale), rtol=1e-12)
    np.testing.assert_allclose(density.logsf(x, alpha, scale), stats.lomax.logsf(x, alpha, scale=scale), rtol=1e-12)


def test_a_distribution_function_that_is_no_logarithm(rng):
    density = gs.register(LOMAX.format("cdf", "1 - pow(1 + x / scale, -alpha)"))
    distribution = stats.lomax(2.5, scale=3.0)
    x = np.r_[-1.0, 0.0, rng.exponential(5, N)]
    np.testing.assert_allclose(density.cdf(x, 2.5, 3.0), distribution.cdf(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(density.logsf(x, 2.5, 3.0), distribution.logsf(x), rtol=1e-9)
    assert stats.kstest(density.rvs(2.5, 3.0, size=10_000, rng=1), distribution.cdf).pvalue > 1e-3


def test_mistakes():
    with pytest.raises(NotImplementedError, match="poisson has no poisson_logcdf"):
        gs.poisson.logcdf(1, 2.0)
    with pytest.raises(gs.DeviceFunctionError, match=r"lomax_logsf must take the arguments of lomax_logpdf, \(x, alpha"):
        gs.register(LOMAX.format("logsf", "0").replace("logsf(real x, real alpha, real", "logsf(real x, real beta, real"))
