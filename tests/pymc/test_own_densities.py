"""Densities that PyMC does not have: all that it asks a random variable for comes from the density's own functions."""

import pickle

import numpy as np
import pytest
from scipy import stats

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pymc.distributions.distribution import support_point  # noqa: E402
from pymc.distributions.moments import mean  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402

LOMAX = """
// lomax: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive
__device__ real lomax_logpdf(real x, real alpha, real scale) { return log(alpha / scale) - (alpha + 1) * log1p(x / scale); }
__device__ real lomax_logsf(real x, real alpha, real scale) { return -alpha * log1p(x / scale); }
"""
MEAN_OF_LOMAX = """
__device__ real lomax_mean(real alpha, real scale) { return alpha > 1 ? scale / (alpha - 1) : INFINITY; }
"""


@pytest.mark.optimised  # when a compiler optimised, derivatives of neighbours on both sides of the median had the wrong sign
def test_maxwell(rng):
    sigma, x = pt.dvector(), np.array([0.1, 1.0, 7.0])
    rv = gpm.Maxwell.dist(sigma)
    expected, quantiles = mean(rv), pm.icdf(rv, np.array([0.01, 0.5, 0.99]))
    weight = np.array([1.0, 2.0, 3.0])
    outputs = [
        pm.logp(rv, x), pm.logcdf(rv, x), quantiles, expected, support_point(rv),
        pt.grad((weight * expected).sum(), sigma), pt.grad((weight * quantiles).sum(), sigma),
    ]  # fmt: skip
    function = pytensor.function([sigma], outputs, mode=QUICK)
    s = np.array([0.5, 1.0, 2.0])
    theirs = stats.maxwell(scale=s)
    q = theirs.ppf([0.01, 0.5, 0.99])
    want = [theirs.logpdf(x), theirs.logcdf(x), q, theirs.mean(), theirs.mean(), weight * theirs.mean() / s, weight * q / s]
    for got, wanted in zip(function(s), want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9)
    draws = pm.draw(gpm.Maxwell.dist(2.0, shape=2000), mode=QUICK, random_seed=1)
    assert stats.kstest(draws, stats.maxwell(scale=2).cdf).pvalue > 1e-3
    with pm.Model() as model:
        gpm.Maxwell("v", [0.5, 2.0])
    start = model.initial_point()
    np.testing.assert_allclose(np.exp(start["v_log__"]), stats.maxwell.mean(scale=[0.5, 2.0]), rtol=1e-9)


def test_what_a_registered_density_writes():
    """The mean where it is written, else by quadrature; it is the starting point, but for the median where it is infinite."""
    alpha, scale = pt.dvector(), pt.dscalar()
    values = np.array([0.5, 3.0]), 2.0
    median, expected = stats.lomax.ppf(0.5, values[0], scale=2), [np.inf, 1.0]
    for source, start in ((LOMAX, median), (LOMAX + MEAN_OF_LOMAX, [median[0], 1.0])):
        gs.register(source, replace=True)
        rv = gpm.Lomax.dist(alpha, scale, shape=(3, 2))
        slope = pt.grad(mean(gpm.Lomax.dist(alpha[1], scale)), alpha)
        found = pytensor.function([alpha, scale], [mean(rv), support_point(rv), slope], mode=QUICK)(*values)
        np.testing.assert_allclose(found[0], np.tile(expected, (3, 1)), rtol=1e-6)
        np.testing.assert_allclose(found[1], np.tile(start, (3, 1)), rtol=1e-6)
        np.testing.assert_allclose(found[2], [0.0, -0.5], rtol=1e-4)
        with pm.Model() as model:
            gpm.Lomax("v", values[0], 2.0)
        np.testing.assert_allclose(np.exp(model.initial_point()["v_log__"]), start, rtol=1e-6)
    op = mean(rv).owner.inputs[0].owner.op
    assert type(op).__name__ == "Mean" and pickle.loads(pickle.dumps(op)) == op


def test_without_parameters():
    gs.register("""
    // triangle: the density 2 (1 - x) on the unit interval
    // x: unit
    __device__ real triangle_logpdf(real x) { return log(2 * (1 - x)); }
    __device__ real triangle_cdf(real x) { return x * (2 - x); }
    """)
    rv = gpm.Triangle.dist(shape=3)
    found = pytensor.function([], [mean(rv), support_point(rv), pm.logp(rv, 0.5)], mode=QUICK)()
    np.testing.assert_allclose(found[0], np.full(3, 1 / 3), rtol=1e-8)
    np.testing.assert_allclose(found[1], np.full(3, 1 - np.sqrt(0.5)), rtol=1e-8)
    np.testing.assert_allclose(found[2], 0, atol=1e-15)


def test_ends_that_the_source_writes():
    """A support between sums and products of parameters is mapped to all numbers; one that starts at a parameter, too."""
    gs.register("""
    // raised_cosine: a cosine about mu that ends at a distance of sigma
    // x: real    mu: real    sigma: positive
    __device__ real raised_cosine_logpdf(real x, real mu, real sigma)
    { return fabs(x - mu) > sigma ? -INFINITY : log1p(cos(PI * (x - mu) / sigma)) - log(2 * sigma); }
    __device__ real raised_cosine_lower(real mu, real sigma) { return mu - sigma; }
    __device__ real raised_cosine_upper(real mu, real sigma) { return mu + sigma; }
    """)
    gs.register("""
    // begun: an exponential variable that begins at a minimum
    // x: real    m: real
    __device__ real begun_logpdf(real x, real m) { return x < m ? -INFINITY : m - x; }
    __device__ real begun_lower(real m) { return m; }
    """)
    gs.register("""
    // odd: its end is no sum and no product
    // x: real    m: real
    __device__ real odd_logpdf(real x, real m) { return -x * x; }
    __device__ real odd_upper(real m) { return m > 0 ? INFINITY : 10; }
    """)
    with pm.Model() as model:
        mu = pm.Normal("mu")
        gpm.RaisedCosine("c", mu, 3.0)
        gpm.Begun("b", mu)
        gpm.Odd("o", mu)
    start = model.initial_point()
    assert set(start) == {"mu", "c_interval__", "b_interval__", "o"}
    point = {"mu": 0.7, "c_interval__": 0.4, "b_interval__": -0.3, "o": 0.0}
    got = model.compile_logp(mode=QUICK, sum=False)(point)
    share = 1 / (1 + np.exp(-0.4))
    c = 0.7 - 3 + 6 * share
    jacobian = np.log(6 * share * (1 - share))
    want = [stats.norm.logpdf(0.7), np.log1p(np.cos(np.pi * (c - 0.7) / 3)) - np.log(6) + jacobian, -np.exp(-0.3) - 0.3, 0.0]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_starting_point_of_counts():
    """The median: a whole number."""
    gs.register("""
    // counted: a geometric number that begins at 0
    // x: nonnegative integer    p: unit
    __device__ real counted_logpmf(real x, real p) { return x * log1p(-p) + log(p); }
    __device__ real counted_logsf(real x, real p) { return (x + 1) * log1p(-p); }
    __device__ real counted_mean(real p) { return (1 - p) / p; }
    """)
    rv = gpm.Counted.dist([0.1, 0.9])
    found = pytensor.function([], [support_point(rv), mean(rv)], mode=QUICK)()
    assert found[0].tolist() == [6, 0] and found[0].dtype == np.int64
    np.testing.assert_allclose(found[1], [9.0, 1 / 9])


def test_quantiles_and_means_of_models():
    """A GLM's outcomes have those of their density; the quantiles of a mixture are not computed."""
    X, beta = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.5, 1.5])
    glm = gpm.GLM.dist(gs.poisson_log, X=X, beta=beta, alpha=0.5)
    mixture = gpm.Mixture.dist([0.5, 0.5], gpm.Maxwell.dist([1.0, 3.0]))
    outputs = [pm.icdf(glm, 0.3), mean(glm), mean(mixture), support_point(mixture)]
    found = pytensor.function([], outputs, mode=QUICK)()
    mu = np.exp(X @ beta + 0.5)
    assert found[0].tolist() == stats.poisson.ppf(0.3, mu).tolist()
    np.testing.assert_allclose(found[1], mu, rtol=1e-12)
    np.testing.assert_allclose(found[2:], stats.maxwell.mean(scale=2.0), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="quantiles of a mixture of maxwell"):
        pm.icdf(mixture, 0.5)


def test_polya_gamma():
    """Without the package that PyMC needs for it: its numbers by formulas, and derivatives, of which PyMC has none."""
    h, z, x = pt.dscalar(), pt.dvector(), np.array([0.1, 0.6])
    rv = gpm.PolyaGamma.dist(h, z)
    logp = pm.logp(rv, x)
    outputs = [mean(rv), support_point(rv), *pt.grad((logp * np.array([1.0, 2.0])).sum(), [h, z])]
    function = pytensor.function([h, z], [logp, *outputs], mode=QUICK)
    tilt = np.array([0.0, -3.0])
    found = function(2.0, tilt)
    np.testing.assert_allclose(found[0], gs.polya_gamma.logpdf(x, 2.0, tilt), rtol=1e-14)
    np.testing.assert_allclose(found[1:3], np.tile([0.5, np.tanh(1.5) / 3], (2, 1)), rtol=1e-14)
    step = 1e-5
    above, below = (function(2.0 + s, tilt)[0] @ [1.0, 2.0] for s in (step, -step))
    assert found[3] == pytest.approx((above - below) / (2 * step), rel=1e-8)
    np.testing.assert_allclose(found[4], [0.0, 2 * (np.tanh(-1.5) + 3 * 0.6)], rtol=1e-12, atol=1e-14)
    with pm.Model() as model:
        gpm.PolyaGamma("omega", 1.0, tilt)
    np.testing.assert_allclose(np.exp(model.initial_point()["omega_log__"]), [0.25, np.tanh(1.5) / 6], rtol=1e-12)
    draws = pm.draw(gpm.PolyaGamma.dist(3.0, 2.0, shape=4000), mode=QUICK, random_seed=1)
    assert draws.mean() == pytest.approx(3 * np.tanh(1.0) / 4, rel=0.03)
