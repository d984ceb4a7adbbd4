"""Posterior predictive checks: test quantities of data sets that are drawn in pieces."""

import numpy as np
import pytest
from scipy import stats

import gpustats as gs


def test_quantities_are_those_of_draws_of_the_model():
    """Means and variances of data sets have the moments that follow from the parameters; the pieces change no draw."""
    rng = np.random.default_rng()
    y, mu = rng.normal(size=400), rng.normal(size=3000) / 10
    model, quantities = gs.Likelihood(gs.normal, y), {"mean": lambda y: y.mean(-1), "max": lambda y: y.max(-1)}
    check = gs.predictive_check(model, {"mu": mu, "sigma": 2.0}, quantities, rng=5)
    assert check.observed == {"mean": y.mean(), "max": y.max()}
    z = (check.replicated["mean"] - mu) * 20 / 2.0
    assert stats.kstest(z, "norm").pvalue > 1e-4
    z = stats.norm.cdf((check.replicated["max"] - mu) / 2.0) ** 400
    assert stats.kstest(z, "uniform").pvalue > 1e-4
    assert check.p_values["max"] == np.mean(check.replicated["max"] >= y.max())
    again = gs.predictive_check(model, {"mu": mu, "sigma": 2.0}, quantities, rng=5, memory=400 * 8 * 700)
    of_device = {n: lambda y, f=f: f(gs.to_host(y)) for n, f in quantities.items()}
    there = gs.predictive_check(model, {"mu": mu, "sigma": 2.0}, of_device, rng=5, on_device=True)
    for name, found in check.replicated.items():
        np.testing.assert_array_equal(again.replicated[name], found)
        np.testing.assert_array_equal(there.replicated[name], found)
    assert there.observed == check.observed


def test_regressions_and_vectors():
    rng = np.random.default_rng()
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    beta, alpha = rng.normal(size=(2, 400, 2)), rng.normal(size=(2, 400))
    check = gs.predictive_check(
        gs.GLM(gs.bernoulli_logit, y, X), {"beta": beta, "alpha": alpha}, {"ones": lambda y: y.sum(-1)}, rng=1, memory=100_000
    )
    p = 1 / (1 + np.exp(-(beta.reshape(-1, 2) @ X.T + alpha.reshape(-1, 1))))
    z = (check.replicated["ones"] - p.sum(-1)) / np.sqrt((p * (1 - p)).sum(-1))
    assert check.observed["ones"] == y.sum() and abs(z.mean()) < 0.2 and abs(z.std() - 1) < 0.15
    y, mu = rng.normal(size=(50, 2)), rng.normal(size=(200, 2))
    given = {"mu": mu, "cov": np.broadcast_to(np.eye(2), (200, 2, 2))}
    check = gs.predictive_check(gs.Likelihood(gs.mvnormal, y), given, {"second": lambda y: y[..., 1].mean(-1)}, rng=1)
    assert stats.kstest((check.replicated["second"] - mu[:, 1]) * np.sqrt(50), "norm").pvalue > 1e-4


def test_rows(tmp_path):
    """Data sets of a function of rows are the density's own at the row's parameters; a user's sampler; files; a device."""
    rng = np.random.default_rng(2)
    n, X, g = 60, rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    y, i, w = rng.normal(size=n), rng.integers(0, 2, n), rng.uniform(size=n)
    beta, s, own = rng.normal(size=(200, 2)), rng.uniform(1, 2, (200, 4, 2)), rng.normal(size=(200, n))
    quantities = {"mean": lambda y: y.mean(-1)}
    rows = gs.Rows(gs.student_t, x=y, nu=3.0 + i, mu=gs.dot(X, of="beta"), sigma=gs.gather(g, i), weights=w)
    draws = {"beta": beta, "sigma": s}
    wanted = gs.student_t.rvs(3.0 + i, beta @ X.T, s[:, g, i], size=(200, n), rng=7)
    for more in ({}, {"memory": 50_000}, {"on_device": True}):
        given = {m: lambda y: gs.to_host(y).mean(-1) for m in quantities} if "on_device" in more else quantities
        check = gs.predictive_check(rows, draws, given, rng=7, **more)
        np.testing.assert_allclose(check.replicated["mean"], wanted.mean(1), rtol=1e-12)
    assert check.observed["mean"] == y.mean()
    np.save(tmp_path / "y.npy", y)
    rows = gs.Rows(gs.normal, x=np.load(tmp_path / "y.npy", mmap_mode="r"), mu=gs.per_row(), memory=10_000)
    check = gs.predictive_check(rows, {"mu": own, "sigma": 2.0}, quantities, rng=7)
    np.testing.assert_allclose(check.replicated["mean"], gs.normal.rvs(own, 2.0, size=(200, n), rng=7).mean(1), rtol=1e-12)
    vectors = gs.Rows(gs.dirichlet, x=rng.dirichlet(np.ones(2), n), a=gs.gather(g))
    check = gs.predictive_check(vectors, {"a": s}, {"second": lambda y: y[..., 1].mean(-1)}, rng=7)
    wanted = gs.dirichlet.rvs(s[:, g], size=(200, n), rng=7)[..., 1].mean(1)
    np.testing.assert_allclose(check.replicated["second"], wanted, rtol=1e-12)
    rows = gs.Rows("real f(real y, real a) { return normal_logpdf(y, a, 1); }", y=y)
    sampler = lambda given, rng: gs.normal.rvs(given["a"][:, None], 1.0, size=(len(given["a"]), n), rng=rng)  # noqa: E731
    check = gs.predictive_check(rows, {"a": own[:, 0]}, quantities, rng=7, sampler=sampler)
    np.testing.assert_allclose(check.replicated["mean"], sampler({"a": own[:, 0]}, 7).mean(1), rtol=1e-12)
    with pytest.raises(TypeError, match="f is a function of rows.*give sampler="):
        gs.predictive_check(rows, {"a": own[:, 0]}, quantities)
    with pytest.raises(ValueError, match=r"sampler gives shape \(3,\) for 200 draws, and must give \(200, 60\)"):
        gs.predictive_check(rows, {"a": own[:, 0]}, quantities, sampler=lambda given, rng: np.zeros(3))
    with pytest.raises(ValueError, match="x is the function's first argument, and must be a column"):
        gs.predictive_check(gs.Rows(gs.normal, x=gs.per_row(), mu=y), {"x": own, "sigma": 1.0}, quantities)


def test_bad_input():
    model, draws = gs.Likelihood(gs.normal, np.zeros(5)), {"mu": np.zeros(9), "sigma": 1.0}
    with pytest.raises(ValueError, match=r"quantities: t gives shape \(1, 5\) .*, and must give one number for each data set"):
        gs.predictive_check(model, draws, {"t": lambda y: y[:1]})
    with pytest.raises(TypeError, match="quantities must be a dict of functions by their names, not builtin_function"):
        gs.predictive_check(model, draws, len)
    with pytest.raises(ValueError, match="quantities is empty"):
        gs.predictive_check(model, draws, {})
    with pytest.raises(TypeError, match="drawn of a Likelihood, a GLM or a Rows, not of a Mixture"):
        gs.predictive_check(gs.Mixture(gs.normal, np.zeros(5)), draws, {"t": len})
    with pytest.raises(TypeError, match="sampler is for a Rows"):
        gs.predictive_check(model, draws, {"t": len}, sampler=len)
    with pytest.raises(ValueError, match="draws has no 'sigma'"):
        gs.predictive_check(model, {"mu": np.zeros(9)}, {"t": len})
