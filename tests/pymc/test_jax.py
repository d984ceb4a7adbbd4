"""Models on PyTensor's JAX backend: values and gradients are those of PyMC's own distributions there."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from thorough import some

import gpustats as gs
import gpustats.pymc as gpm

jax = pytest.importorskip("jax")
from pymc.sampling.jax import get_jaxified_logp  # noqa: E402

RNG = np.random.default_rng(7)
N = 400
X = RNG.normal(size=(N, 3))
GROUP = RNG.integers(0, 5, N)
Y = 0.5 * RNG.normal(size=N) + X @ [0.3, -0.2, 0.1] + 0.2 * GROUP
COUNTS = RNG.poisson(3.0, N)
CLICKS = (RNG.random(N) < 0.4).astype(int)


def hierarchical(d):
    with pm.Model() as model:
        level = pm.Normal("level", pm.Normal("centre", 0, 2), pm.HalfNormal("between"), shape=5)
        slopes = pm.Normal("slopes", 0, 1, shape=3)
        d.Normal("y", level[GROUP] + pt.dot(X, slopes), pm.HalfNormal("within"), observed=Y)
    return model


def numbers_alone(d):
    with pm.Model() as model:
        d.StudentT("y", pm.Gamma("nu", 2, 0.1), pm.Normal("mu"), sigma=pm.HalfNormal("sigma"), observed=Y)
        d.NegativeBinomial("k", mu=pm.Exponential("rate", 1.0), alpha=pm.Exponential("alpha", 1.0), observed=COUNTS)
    return model


def vectors(d):
    with pm.Model() as model:
        d.MvNormal("x", pm.Normal("mu", shape=3), chol=np.eye(3) + 0.1 * np.tri(3, k=-1), observed=X)
    return model


def clicks(d):
    with pm.Model() as model:
        slopes, alpha = pm.Normal("slopes", shape=3), pm.Normal("alpha")
        if d is gpm:
            gpm.GLM("y", gs.bernoulli_logit, X=X, beta=slopes, alpha=alpha, observed=CLICKS)
        else:
            pm.Bernoulli("y", logit_p=alpha + pt.dot(X, slopes), observed=CLICKS)
    return model


def mixture(d):
    with pm.Model() as model:
        w, mu = pm.Dirichlet("w", np.ones(2)), pm.Normal("mu", shape=2)
        d.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma"), observed=Y)
    return model


def points(model, n):
    rng = np.random.default_rng(3)
    start = model.initial_point()
    return [[start[v.name] + 0.3 * rng.normal(size=np.shape(start[v.name])) for v in model.value_vars] for _ in range(n)]


def logp_of(model):
    return get_jaxified_logp(model, negative_logp=False)


def same(ours, theirs, model, n=3):
    with jax.enable_x64(True):
        values, alone = [jax.jit(jax.value_and_grad(f)) for f in (ours, theirs)], jax.jit(ours)
        for point in points(model, n):
            (a, da), (b, db) = (f(point) for f in values)
            np.testing.assert_allclose(a, b, rtol=1e-10)
            jax.tree.map(lambda u, v: np.testing.assert_allclose(u, v, rtol=1e-8, atol=1e-8), da, db)
            np.testing.assert_allclose(alone(point), b, rtol=1e-10)  # without derivatives
        several = points(model, 4)
        a, da = jax.vmap(values[0])([np.stack(parts) for parts in zip(*several, strict=True)])
        b, db = jax.tree.map(lambda *its: np.stack(its), *map(values[1], several))
        np.testing.assert_allclose(a, b, rtol=1e-10)
        jax.tree.map(lambda u, v: np.testing.assert_allclose(u, v, rtol=1e-8, atol=1e-8), da, db)


def calls_of(logp, model):
    """Names of what a gradient calls, in the program of the device on which JAX computes."""
    with jax.enable_x64(True):
        text = jax.jit(jax.grad(logp)).lower(points(model, 1)[0]).as_text()
    return {name for name in ("gpustats_sum", "callback") if name in text}


@pytest.mark.parametrize("make", some([hierarchical, numbers_alone, clicks, mixture], 4))
def test_unmodified_models(make):
    """Inside `fused`, their sums over rows are calls of XLA's, and nothing goes through Python."""
    model = make(pm)
    with gpm.fused(min_rows=1):
        ours = logp_of(model)
    theirs = logp_of(model)
    same(ours, theirs, model)
    assert calls_of(ours, model) == {"gpustats_sum"} and calls_of(theirs, model) == set()


@pytest.mark.parametrize("make", some([clicks, hierarchical], 2))
def test_second_derivatives(make):
    model = make(pm)
    with gpm.fused(min_rows=1):
        ours = logp_of(model)
    (point,) = points(model, 1)
    with jax.enable_x64(True):
        found, want = (jax.jit(jax.hessian(f))(point) for f in (ours, logp_of(model)))
        assert "callback" not in jax.jit(jax.hessian(ours)).lower(point).as_text()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9), found, want)


@pytest.mark.parametrize("make", some([numbers_alone, clicks, vectors, mixture, hierarchical], 5))
def test_distributions_of_gpustats(make):
    same(logp_of(make(gpm)), logp_of(make(pm)), make(pm))


@pytest.mark.parametrize("make", [numbers_alone, clicks])
def test_sums_of_gpustats_are_calls_of_xla(make):
    assert calls_of(logp_of(make(gpm)), make(gpm)) == {"gpustats_sum"}


def test_single_precision_is_left_to_jax():
    """A sum on the device would be of float64."""
    model = hierarchical(pm)
    point = [np.float32(0.1) + np.zeros(v.type.shape, np.float32) for v in model.value_vars]
    with jax.enable_x64(False):
        with gpm.fused(min_rows=1):
            ours = logp_of(model)
        np.testing.assert_allclose(ours(point), logp_of(model)(point), rtol=1e-5)


def test_invalid_parameters():
    with pm.Model() as model:
        gpm.Exponential("y", pm.Normal("rate"), observed=np.abs(Y))
    with jax.enable_x64(True):
        value, slopes = jax.value_and_grad(logp_of(model))([np.array(-1.0)])
    assert value == np.inf and slopes[0] == -1.0  # of the negative log-posterior, as PyMC names it: the prior's alone


def test_data_of_a_function_that_may_change():
    """PyTensor's own functions on the JAX backend see new data."""
    import pytensor

    with pm.Model() as model:
        data = pm.Data("data", Y)
        pm.Normal("y", pm.Normal("mu"), 1.0, observed=data)
    with jax.enable_x64(True):
        with gpm.fused(min_rows=1):
            ours = pytensor.function(model.value_vars, model.logp(), mode="JAX")
        theirs = pytensor.function(model.value_vars, model.logp())
        for new in (Y, Y[:50] + 1, np.zeros(3)):
            data.set_value(new)
            np.testing.assert_allclose(ours(0.3), theirs(0.3), rtol=1e-12)


@pytest.mark.slow
def test_posterior_by_a_sampler_of_jax():
    pytest.importorskip("numpyro")
    model = hierarchical(pm)
    options = {"tune": 500, "draws": 500, "progressbar": False}
    with jax.enable_x64(True), model, gpm.fused(min_rows=1):
        ours = pm.sample(
            **options, chains=4, nuts_sampler="numpyro", random_seed=1, nuts_sampler_kwargs={"chain_method": "vectorized"}
        )
    with model:
        theirs = pm.sample(**options, chains=4, nuts_sampler="nutpie", random_seed=2)
    for name in ("slopes", "within"):
        a, b = (fit.posterior[name] for fit in (ours, theirs))
        error = 6 * float(b.std(("chain", "draw")).max()) / np.sqrt(500)
        np.testing.assert_allclose(a.mean(("chain", "draw")), b.mean(("chain", "draw")), atol=error)
