"""Draws from densities of users, with a sampler and by inversion of a distribution function."""

import re

import numpy as np
import pytest
from references_draws import DISTRIBUTIONS, THRESHOLD, N, cases, chi_squared, edges_of, kolmogorov_smirnov
from scipy import stats
from thorough import some

import gpustats as gs

inf = np.inf
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

PARETO2 = """
// pareto2: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive
__device__ real pareto2_logpdf(real x, real alpha, real scale)
{
    return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
}
"""

PARETO2_CDF = """
__device__ real pareto2_logsf(real x, real alpha, real scale)
{
    return -alpha * log1p(x / scale);
}
"""

PARETO2_SAMPLE = """
__device__ real pareto2_sample(rng_t *rng, real alpha, real scale)
{
    return scale * expm1(exponential(rng) / alpha);
}
"""


@pytest.mark.parametrize("more", [PARETO2_SAMPLE, PARETO2_CDF, PARETO2_CDF + PARETO2_SAMPLE], ids=["sampler", "sf", "both"])
@pytest.mark.parametrize("alpha,scale", some([(2.0, 3.0), (0.1, 1.0), (100.0, 1e10)], 2))
@each_dtype
def test_a_users_density(more, alpha, scale, dtype):
    x = gs.register(PARETO2 + more).rvs(alpha, scale, size=N, rng=1, dtype=dtype)
    assert x.dtype == dtype and (x >= 0).all()
    assert kolmogorov_smirnov(x, stats.lomax(float(dtype(alpha)), scale=scale).cdf) > THRESHOLD


def without_sampler(name):
    """A copy of a built-in density that has its distribution function, but no sampler."""
    source = gs.densities[name].source
    return gs.register(re.sub(rf"\b{name}_", f"{name}_copy_", source[: source.index(f"__device__ real {name}_sample")]))


INVERTED = {
    "cauchy": [(0, 1), (-10, 0.01)], "wald": [(1, 1), (1, 1e-4)], "gumbel": [(-5, 3)], "kumaraswamy": [(0.5, 0.5)],
    "truncated_normal": [(0, 1, -1, 2), (0, 1, 40, inf), (-3, 2, 1000, 1001)], "normal": [(0, 1), (1e8, 300)],
    "geometric": [(0.3,), (1e-9,), (1,)], "discrete_uniform": [(-3, 7), (0, 0), (-(10**12), 5)], "bernoulli": [(0.3,)],
}  # fmt: skip


@cases(INVERTED)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_distribution_functions_are_inverted(name, parameters):
    density, distribution = without_sampler(name), DISTRIBUTIONS[name](*parameters)
    if density.discrete:
        x = density.rvs(*parameters, size=N, rng=1)
        assert chi_squared(x[2000:], distribution.cdf, edges_of(x[:2000])) > THRESHOLD
    else:
        for dtype in (np.float64, np.float32):
            x = density.rvs(*parameters, size=N // 5, rng=1, dtype=dtype)
            assert kolmogorov_smirnov(x, distribution.cdf) > THRESHOLD


@pytest.mark.parametrize(
    "body, distribution",
    [
        ("real k = 1; if (unlikely(uniform(rng) < p)) k = 5; while (uniform(rng) < 0.5) k += 10; return fmod(k, 10.0);", None),
        ("real k = 0; while (uniform(rng) < p) k += 1; return k - k + uniform(rng);", stats.uniform()),
    ],
)  # fmt: skip
def test_conditions_that_draw(body, distribution):
    """They are drawn once: the first attempts at many draws are made together, and those that are not done go on."""
    density = gs.register(f"real f_logpdf(real x, real p) {{ return x * p; }} real f_sample(rng_t *rng, real p) {{ {body} }}")
    draws = density.rvs(0.3, size=100_000, rng=1)
    if distribution is None:
        assert stats.binomtest(int((draws == 5).sum()), draws.size, 0.3).pvalue > 1e-6
    else:
        assert stats.kstest(draws, distribution.cdf).pvalue > 1e-6


def test_a_density_without_sampler_and_distribution_function():
    density = gs.register(PARETO2)
    with pytest.raises(NotImplementedError, match=r"pareto2_sample\(rng_t \*rng.*pareto2_logcdf"):
        density.rvs(1.0, 1.0)


def test_a_distribution_function_that_is_nan_is_suspected():
    wrong = "real nowhere_logcdf(real x, real k) { return log1mexp(pow(x, k)); }"  # log(1 - exp(x)) is nan for x > 0
    density = gs.register("// x: positive    k: positive\nreal nowhere_logpdf(real x, real k) { return -pow(x, k); }\n" + wrong)
    with pytest.raises(ValueError, match=r"k=2.0, which do not go together, or the distribution function, .*, is nan there$"):
        density.rvs(2.0, size=3, rng=1)


@pytest.mark.parametrize(
    "sampler,message",
    [
        ("real pareto2_sample(rng_t *rng, real scale) { return uniform(rng); }", "must take the parameters"),
        ("real pareto2_sample(real alpha, real scale) { return 1; }", "rng_t"),
        ("real pareto2_sample(rng_t *rng, real alpha, real scale) { return uniform(rng) + normal(rng); }", "several draws"),
        ("real pareto2_sample(rng_t *rng, real alpha, real scale) { return gaussian(rng); }", "unknown function gaussian"),
    ],
)
def test_samplers_that_are_refused(sampler, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        gs.register(f"{PARETO2}__device__ {sampler}\n")
