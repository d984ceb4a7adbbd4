"""Comparisons of PyMC's models, against ArviZ with the log-likelihoods that PyMC computes."""

import elpd
import numpy as np
import pymc as pm
import pytensor
import pytest
import xarray
from thorough import some

import gpustats.pymc as gpm
from gpustats.comparison.sources import TableSource
from gpustats.pymc.comparison import _of_observed

N, C, D, G = 60, 2, 60, 5
RNG = np.random.default_rng(5)
GROUP, X = RNG.integers(0, G, N), RNG.normal(size=N)
Y = 0.3 * GROUP + X / 2 + RNG.normal(size=N)
PLAINLY = {"compile_kwargs": {"mode": "FAST_COMPILE"}, "progressbar": False}

pytestmark = pytest.mark.filterwarnings("ignore:the Pareto k|the variance of")


@pytest.fixture(autouse=True)
def in_python():
    """Functions of numbers that follow from the parameters are compiled neither by Numba nor by g++."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


def hierarchical():
    a, b, sigma = pm.Normal("a", 0, 1, shape=G), pm.Normal("b"), pm.HalfNormal("sigma")
    pm.Normal("y", a[GROUP] * sigma + b * X, sigma, observed=Y, dims="person")


def of_ours():
    a, b, sigma = pm.Normal("a", 0, 1, shape=G), pm.Normal("b"), pm.HalfNormal("sigma")
    gpm.Normal("y", a[GROUP] + b * X, sigma, observed=pm.Data("data", Y))


def two_axes():
    pm.Bernoulli("y", logit_p=(pm.Normal("b") + pm.Normal("a", shape=G))[GROUP].reshape((12, 5)), observed=Y.reshape(12, 5) > 0)
    pm.Poisson("z", pm.math.exp(pm.HalfNormal("sigma")), observed=np.arange(4))


def choices():
    pm.Categorical("y", logit_p=X[:, None] * pm.Normal("beta", shape=12), observed=np.arange(N) % 12)


def vectors():
    cov = np.array([[1.0, 0.3], [0.3, 2.0]])
    pm.MvNormal("y", pm.Normal("mu", shape=2), cov, observed=np.stack([X, Y], 1))


def none_by_row():
    """Model of terms that depend on each other, which no function of a row gives."""
    pm.CustomDist("y", pm.Normal("mu"), logp=lambda y, mu: -0.5 * (y - mu).sort() ** 2, observed=Y)


SHAPES = {"a": (G,), "b": (), "sigma": (), "mu": (2,), "beta": (12,)}


def of(make):
    """Model, draws of its parameters, and a data set of these."""
    with pm.Model(coords={"person": np.arange(N) * 2}) as model:
        make()
    draws = {}
    for v in model.free_RVs:
        shape = v.type.shape if None not in v.type.shape else SHAPES[v.name]
        draws[v.name] = RNG.normal(size=(C, D, *shape)) / 5 + (v.name == "sigma")
    return model, draws


@pytest.mark.parametrize("make", some([hierarchical, of_ours, two_axes, choices, vectors, none_by_row], 2))
def test_models_are_compared_as_by_arviz(make):
    model, draws = of(make)
    tree = elpd.tree(draws)
    with model:
        table = pm.compute_log_likelihood(tree, extend_inferencedata=False, **PLAINLY)
        table = getattr(table, "log_likelihood", table)["y"]
    assert isinstance(_of_observed(tree, model, "y")[0], TableSource) == (make is none_by_row)
    found = gpm.loo(tree, model, var_name="y", chunk=25)
    elpd.close(elpd.numbers(found), elpd.loo(draws, table.values))
    labelled = getattr(found, "elpd_i" if not elpd.OLD else "loo_i")
    xarray.testing.assert_equal(xarray.zeros_like(labelled), xarray.zeros_like(table[0, 0].drop_vars(["chain", "draw"])))
    with model:
        mine = gpm.compute_log_likelihood(tree, var_names=["y"])["y"]
    xarray.testing.assert_allclose(mine, table, rtol=1e-11)


def test_groups_and_waic():
    model, draws = of(hierarchical)
    table = gpm.compute_log_likelihood(elpd.tree(draws), model)["y"].values
    found = elpd.numbers(gpm.loo(elpd.tree(draws), model, groups=GROUP))
    elpd.close(found, elpd.loo(draws, np.stack([table[..., g == GROUP].sum(-1) for g in range(G)], -1)))
    found = elpd.numbers(gpm.waic(elpd.tree(draws), model))
    np.testing.assert_allclose(found.p, table.var((0, 1)).sum(), rtol=1e-11)


def test_a_table_on_disk(tmp_path):
    model, draws = of(hierarchical)
    tree = elpd.tree(draws)
    want = gpm.compute_log_likelihood(tree, model, dtype="float32")
    found = gpm.compute_log_likelihood(tree, model, dtype="float32", store=str(tmp_path / "table.zarr"))
    assert found["y"].dtype == np.float32
    xarray.testing.assert_equal(found, want)


def test_bad_input():
    model, draws = of(two_axes)
    with pytest.raises(ValueError, match="the model has several observed variables: give one of y, z as var_name"):
        gpm.loo(elpd.tree(draws), model)
    with pytest.raises(ValueError, match="var_name is 'b': give one of y, z"):
        gpm.loo(elpd.tree(draws), model, var_name="b")
    with pytest.raises(ValueError, match="the posterior has no 'sigma'; the model has sigma, a, b"):
        gpm.loo(elpd.tree({n: draws[n] for n in "ab"}), model, var_name="y")
    with pytest.raises(ValueError, match=r"the posterior has a of shape \(4,\), and the model \(5,\)"):
        gpm.loo(elpd.tree({**draws, "a": draws["a"][..., :4]}), model, var_name="y")
    with pytest.raises(TypeError, match="idata must be an ArviZ tree with a posterior, not dict"):
        gpm.loo(draws, model, var_name="y")
    draws["sigma"][1, 7] = 800.0
    with pytest.raises(ValueError, match=r"the log-likelihood of row 0 is nan or infinite at draw 7 of chain 1"):
        gpm.loo(elpd.tree(draws), model, var_name="z")
