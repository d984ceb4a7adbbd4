"""Distributions of certain parameters."""

import pickle

import numpy as np
import pytest
from scipy import stats

import gpustats as gs

X = np.linspace(-1, 3, 7)


def test_methods_are_those_of_the_density():
    for frozen in (gs.normal(0.5, 2.0), gs.normal(sigma=2.0, mu=0.5), pickle.loads(pickle.dumps(gs.normal(0.5, sigma=2)))):
        assert repr(frozen) == "<gpustats.normal(mu=0.5, sigma=2.0)>"
        for method in ("logpdf", "pdf", "logpmf", "pmf", "logcdf", "cdf", "logsf", "sf"):
            np.testing.assert_array_equal(getattr(frozen, method)(X), getattr(gs.normal, method)(X, 0.5, 2.0))
        assert frozen.loglik(X) == gs.normal.loglik(X, 0.5, 2.0)
        assert frozen.loglik_and_grad(X, wrt="mu") == gs.normal.loglik_and_grad(X, 0.5, 2.0, wrt="mu")
        np.testing.assert_array_equal(frozen.rvs(size=5, rng=1), gs.normal.rvs(0.5, 2.0, size=5, rng=1))
    waiting = gs.exponential(np.array([1.0, 4.0]))
    assert repr(waiting) == "<gpustats.exponential(lam=array of shape (2,))>"
    np.testing.assert_array_equal(waiting.stats(moments="m"), [1, 0.25])
    np.testing.assert_array_equal(waiting.ppf(X[:, None]), gs.exponential.ppf(X[:, None], [1.0, 4.0]))
    np.testing.assert_array_equal(waiting.interval(0.5), gs.exponential.interval(0.5, [1.0, 4.0]))


def test_of_vectors_and_of_transforms():
    frozen = gs.mvnormal(np.zeros(2), scale_tril=np.eye(2))
    assert frozen.logpdf(np.zeros(2)) == pytest.approx(-np.log(2 * np.pi))
    assert not hasattr(frozen, "cdf") and not hasattr(frozen, "nothing") and "cdf" not in dir(frozen)
    truncated = gs.transforms.Truncate(gs.normal, lower=0.0)(0.0, 1.0)
    assert truncated.cdf(0.0) == 0 and "cdf" in dir(truncated)
    with pytest.raises(ValueError, match="normal needs sigma"):
        gs.normal(1.0)
    with pytest.raises(ValueError, match="normal has no parameter 'tau'"):
        gs.normal(1.0, tau=2.0)


def test_calls_by_position_as_in_scipy():
    frozen = gs.gamma(2.0, 1.0)
    np.testing.assert_array_equal(frozen.rvs(3, 1), gs.gamma.rvs(2.0, 1.0, size=3, rng=1))
    np.testing.assert_array_equal(frozen.rvs(3, random_state=1), gs.gamma.rvs(2.0, 1.0, size=3, random_state=1))
    np.testing.assert_allclose(frozen.stats("mvsk"), stats.gamma(2.0).stats("mvsk"), rtol=1e-9)
    np.testing.assert_allclose(frozen.expect(np.square, 0.0, 1.0), stats.gamma(2.0).expect(np.square, lb=0, ub=1), rtol=1e-7)
    with pytest.raises(ValueError, match="rng and random_state mean the same"):
        frozen.rvs(3, rng=1, random_state=1)
