"""Fits of mixtures, beside scikit-learn's and SciPy's searches."""

import numpy as np
import pytest
from scipy import optimize, stats

import gpustats as gs
from gpustats.mixtures import fitting


def test_normal_numbers():
    """As expectation maximisation finds them in many steps; errors by scores are near those of the information."""
    sklearn = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(0, 1, 1500), rng.normal(4, 0.7, 1000), rng.normal(9, 2, 500)]
    mixture = gs.Mixture(gs.normal, x)
    fit = mixture.fit(3)
    theirs = sklearn.GaussianMixture(3, tol=1e-14, max_iter=20_000, random_state=0, reg_covar=0).fit(x[:, None])
    i, j = np.argsort(theirs.means_[:, 0]), np.argsort(fit["mu"])
    np.testing.assert_allclose(fit["mu"][j], theirs.means_[i, 0], rtol=1e-5)
    np.testing.assert_allclose(fit["sigma"][j] ** 2, theirs.covariances_[i, 0, 0], rtol=1e-5)
    np.testing.assert_allclose(np.exp(fit["log_weights"])[j], theirs.weights_[i], rtol=1e-5)
    assert fit.log_likelihood >= theirs.score(x[:, None]) * len(x) - 1e-6
    np.testing.assert_allclose(fit.bic, theirs.bic(x[:, None]), rtol=1e-9)
    np.testing.assert_allclose(fit.log_likelihood, mixture.loglik(**fit.parameters), rtol=1e-12)
    _, slopes = mixture.value_and_grad(**fit.parameters)
    np.testing.assert_allclose(slopes["mu"], 0, atol=1e-4)
    assert fit.n_parameters == 8 and fit.converged
    np.testing.assert_allclose(fit.robust().errors, fit.errors, rtol=0.2)
    scores = [(mixture.logpdf(**{**fit.parameters, "mu": fit["mu"] + s * np.eye(3)[0] * 1e-6})) for s in (-1, 1)]
    by_rows = fit.fitted.objective.problem.score_sums(fit.parameters, ("mu",), None, 0)
    np.testing.assert_allclose(by_rows[0, 0], (((scores[1] - scores[0]) / 2e-6) ** 2).sum(), rtol=1e-6)


def test_exact_second_derivatives(monkeypatch):
    """Errors of many observations are those of statsmodels' complex steps; a shared parameter; as differences find them."""
    numdiff = pytest.importorskip("statsmodels.tools.numdiff")
    rng = np.random.default_rng(3)
    x = np.r_[rng.normal(0, 1, 600), rng.normal(3, 1, 400)]
    mixture, start = gs.Mixture(gs.normal, x), {"mu": [0.0, 3.0], "sigma": 1.0}
    by_differences = mixture.fit(start=start)
    monkeypatch.setattr(fitting, "LEAST_EXACT_ROWS", 1000)
    fit = mixture.fit(start=start)
    assert fit.fitted.objective.exact and not by_differences.fitted.objective.exact

    def loglik(theta):
        weights = np.exp(np.array([theta[0], 0.0 * theta[0]]))
        z = (x[:, None] - theta[1:3]) / theta[3]
        return np.log((weights / weights.sum() * np.exp(-z * z / 2) / theta[3]).sum(1)).sum()

    own = np.array([fit["log_weights"][0] - fit["log_weights"][1], *fit["mu"], fit["sigma"]])
    errors = np.sqrt(np.diag(np.linalg.inv(-numdiff.approx_hess_cs(own, loglik))))
    np.testing.assert_allclose(fit.standard_errors["mu"], errors[1:3], rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors["sigma"], errors[3], rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors["log_weights"], errors[0] * np.exp(fit["log_weights"][::-1]), rtol=1e-6)
    np.testing.assert_allclose(by_differences.errors, fit.errors, rtol=1e-5)


def test_normal_vectors():
    sklearn = pytest.importorskip("sklearn.mixture")
    rng = np.random.default_rng(1)
    x = np.r_[rng.multivariate_normal([0, 0], np.eye(2), 500), rng.multivariate_normal([4, 1], [[1, 0.6], [0.6, 1]], 400)]
    fit = gs.Mixture(gs.mvnormal, x).fit(2)
    theirs = sklearn.GaussianMixture(2, tol=1e-14, max_iter=20_000, random_state=0, reg_covar=0).fit(x)
    i, j = np.argsort(theirs.means_[:, 0]), np.argsort(fit["mu"][:, 0])
    np.testing.assert_allclose(fit["mu"][j], theirs.means_[i], atol=1e-5)
    np.testing.assert_allclose(fit["cov"][j], theirs.covariances_[i], atol=1e-5)
    np.testing.assert_allclose(fit.bic, theirs.bic(x), rtol=1e-9)
    assert fit.n_parameters == 11 and fit.standard_errors["cov"].shape == (2, 2, 2)


def test_counts_shared_parameters_and_known_ones():
    rng = np.random.default_rng(2)
    counts = np.r_[rng.poisson(2, 600), rng.poisson(9, 300)].astype(float)
    fit = gs.Mixture(gs.poisson, counts).fit(2)

    def lost(theta):
        w, mu = 1 / (1 + np.exp(-theta[0])), np.exp(theta[1:])
        return -np.log(w * stats.poisson.pmf(counts, mu[0]) + (1 - w) * stats.poisson.pmf(counts, mu[1])).sum()

    best = optimize.minimize(lost, [0.5, 0.5, 2.0], tol=1e-12)
    np.testing.assert_allclose(np.sort(fit["mu"]), np.sort(np.exp(best.x[1:])), rtol=1e-4)
    np.testing.assert_allclose(fit.log_likelihood, -best.fun, rtol=1e-9)
    x = np.r_[rng.normal(0, 1, 300), rng.normal(3, 1, 200)]
    shared = gs.Mixture(gs.normal, x).fit(start={"mu": [0.0, 3.0], "sigma": 1.0})
    assert np.ndim(shared["sigma"]) == 0 and shared.n_parameters == 4
    known = gs.Mixture(gs.normal, x).fit(2, fixed={"sigma": 1.0})
    assert known["sigma"] == 1.0 and known.log_likelihood <= shared.log_likelihood
    one = gs.Mixture(gs.normal, x).fit(1)
    np.testing.assert_allclose([one["mu"][0], one["sigma"][0]], [x.mean(), x.std()], rtol=1e-8)
    np.testing.assert_allclose(one.errors[1:], [x.std() / np.sqrt(500), x.std() / np.sqrt(1000)], rtol=1e-6)


def test_bad_arguments():
    mixture = gs.Mixture(gs.normal, np.arange(3.0))
    for given, words in [
        ({}, "nothing tells how many there are"),
        ({"components": 0}, "a positive whole number"),
        ({"components": 3, "start": {"mu": [1.0, 2.0]}}, r"they tell of \[2, 3\]"),
        ({"components": 5}, "too few for 5 components"),
        ({"components": 2, "fixed": {"nu": 1.0}}, "no parameter 'nu'"),
        ({"components": 2, "start": {"log_weights": [0.0, 0.0, 0.0]}}, r"they tell of \[2, 3\]"),
    ]:
        with pytest.raises(ValueError, match=words):
            mixture.fit(**given)
