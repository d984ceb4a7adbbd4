"""Distribution functions in both tails, their values and their derivatives, against mpmath and against scipy.stats."""

import functools

import mpmath as mp
import numpy as np
import pytest
from references import derivative_errors, errors, rows_of
from references_all import REFERENCES
from references_cdf import CDFS, logarithms, slopes
from references_scipy import SCIPY
from scipy import stats
from stored import stored
from thorough import double_first, some
from together import together

import gpustats as gs
from gpustats.language.kinds import DENSITY, DISTRIBUTION_FUNCTIONS, QUANTILES
from gpustats.language.library import library

N = 32

each_cdf = pytest.mark.parametrize("name", some(CDFS, 20))

#: Points that are left out, and why.
SKIPPED = {
    "beta_binomial": lambda x, alpha, beta, n: n > 1e5,  # the reference is a sum over all numbers
    "rice": lambda x, nu, sigma: nu > 1e5 * sigma,  # the rounding error of x / sigma counts
}  # fmt: skip


#: In float32 the rounding of large shapes, such as x + 1, counts.
BY_SHAPES = {
    "gamma", "inverse_gamma", "chi_squared", "beta", "poisson", "poisson_log", "binomial", "binomial_logit",
    "negative_binomial", "negative_binomial_log", "beta_binomial", "zero_inflated_poisson", "zero_inflated_binomial",
    "zero_inflated_negative_binomial", "chi", "nakagami", "generalized_gamma", "half_generalized_normal", "beta_prime",
    "fisher_snedecor", "generalized_inverse_gaussian", "scaled_inverse_chi_squared", "beta_proportion",
    "beta_negative_binomial", "generalized_poisson",
}  # fmt: skip


def assert_accurate(name, args, dtype):
    """Both logarithms, at points that the type can represent."""
    reference = REFERENCES[name]
    if name in SKIPPED:
        left = ~SKIPPED[name](*args)
        args = tuple(a[left] for a in args)
    want = stored(name, "logarithms", functools.partial(logarithms, name), args).T
    large = np.max([np.where(np.isfinite(a), np.abs(a), 0) for a in args], 0) > 1e5 if name in BY_SHAPES else False
    rtol = 1e-12 if dtype == np.float64 else reference.rtol32  # its `reason` holds here, too
    for ending, wanted in zip(("logcdf", "logsf"), want):
        got = together(name)(ending, *(a.astype(dtype) for a in args))
        assert got.dtype == dtype and got.shape == wanted.shape
        error = np.where(large & (dtype == np.float32), 0, errors(got, wanted))
        worst = np.argmax(error)
        message = f"{ending}: {got[worst]} for {wanted[worst]} at {[a[worst].tolist() for a in args]}"
        assert error[worst] <= rtol, message


def test_every_distribution_function_has_a_reference():
    with_cdf = {name for name in library.built_in(DENSITY) if library.get(name).role("logcdf", "logsf", "cdf", "sf")}
    assert with_cdf == CDFS.keys()


@each_cdf
@double_first
def test_random_points(name, dtype, rng):
    """At points that both types have; the tails too: numbers multiplied by these lie far out, or outside of the support."""
    points = np.float64 if name == "categorical" else np.float32  # probabilities whose sum is 1
    x, *parameters = REFERENCES[name].random(rng, N, points)
    factor = np.ones(N, points)
    factor[:10] = np.repeat(np.array([-30, -1, 1e-3, 30, 1000], points), 2)
    assert_accurate(name, (x * factor, *parameters), dtype)


@each_cdf
@double_first
def test_extreme_points(name, dtype):
    """At most about 40 of them, so that references take no longer than they must."""
    args = REFERENCES[name].extremes(dtype)
    step = len(args[0]) // 40 + 1
    assert_accurate(name, tuple(a[::step] for a in args), dtype)


def slopes_in(name, i, components, *row):
    return [slopes(name, row, (i, k)) for k in components]


@pytest.mark.parametrize("name", some(sorted(CDFS.keys() - {"categorical"}), 96))  # whose elements have a fixed sum
def test_derivatives(name, rng):
    """In every real argument; one kernel computes both logarithms and all their derivatives."""
    density = gs.densities[name]
    names, words = density.parameters, density.domains
    vectors = [p for p in names if {"vector", "ordered"} & set(words[p].split())]
    declared = ", ".join(f"{'const real *' if p in vectors else 'real '}{p}" for p in names) + ", int dim" * bool(vectors)
    passed = ", ".join(names) + ", dim" * bool(vectors)
    tail = gs.register(
        f"// tail: either logarithm\n// above: unit    y: {words['x']}    {'    '.join(f'{p}: {words[p]}' for p in names)}\n"
        f"real tail_logpdf(real above, real y, {declared})\n"
        f"{{ return above == 0 ? {name}_logcdf(y, {passed}) : {name}_logsf(y, {passed}); }}",
        replace=True,
    )
    args = REFERENCES[name].random(rng, 4)
    twice = [np.concatenate([a, a])[:, None] for a in args]
    _, gradient = tail.loglik_and_grad(np.repeat([[0.0], [1.0]], 4, 0), *twice)
    for i, argument in enumerate(["y", *names]):
        if argument in gradient and not (argument == "y" and density.discrete):
            got = gradient[argument].reshape(2, 4, -1)
            each = functools.partial(slopes_in, name, i, range(got.shape[2]))
            want = stored(name, f"slopes in {argument}", each, args)
            error = derivative_errors(got, np.moveaxis(want, 2, 0), 1e-3)
            assert error.max() < 1e-9, f"{argument}: {got.tolist()} for {want.tolist()} at {rows_of(args)}"


@pytest.mark.parametrize("name", some(SCIPY, 10))
def test_scipy_agrees(name, rng):
    x, *parameters = REFERENCES[name].random(rng, N)
    theirs = SCIPY[name](*parameters)
    ours = together(name)
    # scipy loses the smaller of the two where it computes it from the other, and digits of these two.
    atol = 1e-6 if name in ("skew_normal", "von_mises") else 1e-9
    np.testing.assert_allclose(ours("cdf", x, *parameters), theirs.cdf(x), rtol=1e-8, atol=atol)
    np.testing.assert_allclose(np.exp(ours("logsf", x, *parameters)), theirs.sf(x), rtol=1e-8, atol=atol)
    outside = np.array([-np.inf, np.inf, np.nan])[:, None]
    np.testing.assert_array_equal(ours("logcdf", outside, *parameters), theirs.logcdf(outside))
    np.testing.assert_array_equal(ours("logsf", outside, *parameters), theirs.logsf(outside))


@each_cdf
def test_invalid_parameters_give_nan(name):
    invalid = [np.array(column, float) for column in zip(*REFERENCES[name].invalid)]
    x = np.array([-3.0, 0.5, 1.0, 3.0, np.inf])[:, None]
    assert np.isnan(together(name)("logcdf", x, *invalid)).all()
    assert np.isnan(together(name)("logsf", x, *invalid)).all()


@pytest.mark.parametrize("name", some(["normal", "poisson", "categorical"], 2))
def test_methods(name, rng):
    """They give what the tests above find in one kernel, also where observations and sets of parameters make a table."""
    density = gs.densities[name]
    x, *parameters = REFERENCES[name].random(rng, 8)
    for endings, first in ((DISTRIBUTION_FUNCTIONS, x[:, None]), (QUANTILES, rng.random((8, 1)))):
        for ending in endings:
            got, want = getattr(density, ending)(first, *parameters), together(name)(ending, first, *parameters)
            np.testing.assert_allclose(got, want, rtol=1e-14, err_msg=ending)


@pytest.mark.parametrize("name", ["normal", "gamma", "triangular", "poisson", "beta_binomial"])
def test_the_steps_and_slopes_are_the_density(name, rng):
    """P(X <= x) grows by the mass at x, or at the rate of the density."""
    density, reference = gs.densities[name], REFERENCES[name]
    x, *parameters = reference.random(rng, N)
    if density.discrete:
        step = density.cdf(x, *parameters) - density.cdf(x - 0.5, *parameters)
        np.testing.assert_allclose(step, density.pmf(x, *parameters), rtol=1e-9, atol=1e-13)
        return
    slope = gs.transforms.Grad(density.log_cdf, "x")(x, *parameters)
    fall = gs.transforms.Grad(density.log_sf, "x")(x, *parameters)
    pdf = density.pdf(x, *parameters)
    np.testing.assert_allclose(slope * density.cdf(x, *parameters), pdf, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(-fall * np.exp(density.logsf(x, *parameters)), pdf, rtol=1e-9, atol=1e-300)


PARETO2 = """
// pareto2: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive    scale: positive
real pareto2_logpdf(real x, real alpha, real scale) {{ return log(alpha / scale) - (alpha + 1) * log1p(x / scale); }}
real pareto2_{}(real x, real alpha, real scale) {{ return {}; }}
"""


@pytest.mark.parametrize("ending, formula", [("logsf", "-alpha * log1p(x / scale)"),
                                             ("logcdf", "log(-expm1(-alpha * log1p(x / scale)))")])  # fmt: skip
def test_either_tail_makes_the_other(ending, formula, rng):
    density = gs.register(PARETO2.format(ending, formula))
    x, alpha, scale = np.r_[-1.0, 0.0, rng.exponential(5, N)], 2.5, 3.0
    np.testing.assert_allclose(density.logcdf(x, alpha, scale), stats.lomax.logcdf(x, alpha, scale=scale), rtol=1e-12)
    np.testing.assert_allclose(density.logsf(x, alpha, scale), stats.lomax.logsf(x, alpha, scale=scale), rtol=1e-12)


def test_a_distribution_function_that_is_no_logarithm(rng):
    density = gs.register(PARETO2.format("cdf", "1 - pow(1 + x / scale, -alpha)"))
    distribution = stats.lomax(2.5, scale=3.0)
    x = np.r_[-1.0, 0.0, rng.exponential(5, N)]
    np.testing.assert_allclose(density.cdf(x, 2.5, 3.0), distribution.cdf(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(density.logsf(x, 2.5, 3.0), distribution.logsf(x), rtol=1e-9)
    assert stats.kstest(density.rvs(2.5, 3.0, size=10_000, rng=1), distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name, method, args, want", [
    ("half_normal", "logsf", (1e-20, 1), "-1e-20 * sqrt(2 / pi)"), ("half_normal", "logsf", (0, 1), "0"),
    ("moyal", "logcdf", (50, 0, 1), "log(erfc(exp(-25) / sqrt(2)))"), ("uniform", "logsf", (1e-12, 0, 1), "log1p(-mpf(1e-12))"),
    ("ex_gaussian", "logcdf", (100, 0, 1, 2), "log(1 - exp(mpf(1) / 8 - 50) * ncdf(99.5) - ncdf(-100))"),
    ("truncated_normal", "logcdf", (9, 0, 1, -1, 10), "log1p(-(ncdf(-9) - ncdf(-10)) / (ncdf(1) - ncdf(-10)))"),
])  # fmt: skip
def test_logarithms_near_zero(name, method, args, want):
    """They are made of the other tail."""
    with mp.workdps(60):
        want = float(eval(want, vars(mp)))
    got = getattr(gs.densities[name], method)(*map(float, args))
    np.testing.assert_allclose(got, want, rtol=2e-14)


def test_a_truncated_density_near_its_bounds():
    truncated = gs.transforms.Truncate(gs.normal, lower=0.0, upper=50.0)
    np.testing.assert_allclose(truncated.logcdf(12.0, 0.0, 1.0), -2 * stats.norm.sf(12), rtol=1e-12)


def test_mistakes():
    density = gs.register(PARETO2.format("mean", "0").replace("mean(real x, ", "mean("))
    assert not hasattr(density, "logcdf")
    with pytest.raises(AttributeError, match="pareto2 has no pareto2_logcdf"):
        density.logcdf(1, 2.0, 3.0)
    with pytest.raises(NotImplementedError, match="pareto2 has no pareto2_logcdf"):
        density.function("logcdf")
    with pytest.raises(gs.DeviceFunctionError, match=r"pareto2_logsf must take the arguments of pareto2_logpdf, \(x, alpha"):
        gs.register(PARETO2.format("logsf", "0").replace("logsf(real x, real alpha, real", "logsf(real x, real beta, real"))
