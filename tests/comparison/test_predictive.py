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


def test_bad_input():
    model, draws = gs.Likelihood(gs.normal, np.zeros(5)), {"mu": np.zeros(9), "sigma": 1.0}
    with pytest.raises(ValueError, match=r"quantities: t gives shape \(1, 5\) .*, and must give one number for each data set"):
        gs.predictive_check(model, draws, {"t": lambda y: y[:1]})
    with pytest.raises(ValueError, match="quantities is empty"):
        gs.predictive_check(model, draws, {})
    with pytest.raises(TypeError, match="drawn of a Likelihood or a GLM, not of a Rows"):
        gs.predictive_check(gs.Rows(gs.normal, x=np.zeros(5)), draws, {"t": len})
    with pytest.raises(ValueError, match="draws has no 'sigma'"):
        gs.predictive_check(model, {"mu": np.zeros(9)}, {"t": len})
