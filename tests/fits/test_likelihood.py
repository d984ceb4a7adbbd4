"""Fits of likelihoods: as `Density.fit` and SciPy find them; matrices of second derivatives and coordinates on their own."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.fits.bordered import Bordered
from gpustats.fits.coordinates import chart_of


def test_numbers():
    """The estimates of `Density.fit`, with robust errors and profiles; in pieces; in float32; fixed and bounded."""
    rng = np.random.default_rng(0)
    x = rng.gamma(2.5, 1 / 1.5, 3000)
    fit, density = gs.Likelihood(gs.gamma, x).fit(), gs.gamma.fit(x)
    np.testing.assert_allclose(fit.estimates, density.estimates, rtol=1e-9)
    np.testing.assert_allclose(fit.covariance, density.covariance, rtol=1e-8)
    np.testing.assert_allclose([fit.log_likelihood, fit.bic], [density.log_likelihood, density.bic], rtol=1e-12)
    clusters = np.arange(3000) // 5
    pieces = gs.Likelihood(gs.gamma, x, chunk=500, memory=20_000).fit()
    np.testing.assert_allclose(pieces.covariance, fit.covariance, rtol=1e-9)
    np.testing.assert_allclose(pieces.clustered(clusters).errors, fit.clustered(clusters).errors, rtol=1e-9)
    alpha, beta = fit
    scores = np.stack([np.log(beta) - digamma(alpha) + np.log(x), alpha / beta - x], 1)
    np.testing.assert_allclose(fit.robust().covariance, fit.covariance @ scores.T @ scores @ fit.covariance, rtol=1e-7)
    single = gs.Likelihood(gs.gamma, x.astype(np.float32)).fit()
    np.testing.assert_allclose(single.estimates, fit.estimates, rtol=1e-4)
    limited = gs.Likelihood(gs.gamma, x).fit(bounds={"alpha": (0.0, 2.0)})
    np.testing.assert_allclose([*limited], [2.0, 2 / x.mean()], rtol=1e-9)
    low, high = fit.interval(method="profile", parameters="alpha")["alpha"]
    for end in (low, high):
        rest = gs.Likelihood(gs.gamma, x).fit(fixed={"alpha": end})
        np.testing.assert_allclose(fit.likelihood_ratio(rest).p, 0.05, rtol=1e-5)
    with pytest.raises(ValueError, match="does not bend in mu"):
        gs.Likelihood(gs.laplace, x).fit()
    with pytest.raises(ValueError, match="no observations"):
        gs.Likelihood(gs.gamma, x[:0]).fit()
    with pytest.raises(NotImplementedError, match="Likelihood"):
        density.robust()
    with pytest.raises(ValueError, match="of one data set"):
        gs.gamma.fit(x.reshape(3, 1000)).summary()
    assert gs.gamma.fit(x.reshape(3, 1000)).interval()["alpha"].shape == (3, 2)


def digamma(x):
    from scipy.special import digamma

    return digamma(x)


def test_normal_vectors():
    """The moments, and the errors that are known of them."""
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]], 1500)
    fit = gs.Likelihood(gs.mvnormal, x).fit()
    cov = np.cov(x.T, bias=True)
    np.testing.assert_allclose(fit["mu"], x.mean(0), rtol=1e-8)
    np.testing.assert_allclose(fit["cov"], cov, rtol=1e-7)
    np.testing.assert_allclose(fit.standard_errors["mu"], np.sqrt(np.diag(cov) / 1500), rtol=1e-6)
    wanted = np.sqrt((np.outer(np.diag(cov), np.diag(cov)) + cov**2) / 1500)
    np.testing.assert_allclose(fit.standard_errors["cov"], wanted, rtol=1e-5)
    assert fit.n_parameters == 5 and fit.labels[2] == "cov[0, 0]"


def test_bordered_matrices():
    """Solutions, inverses and products of a matrix with blocks are those of the matrix written out."""
    rng = np.random.default_rng(2)
    g, m, r = 5, 2, 3
    places = rng.permutation(g * m + r)
    B, C, D = rng.normal(size=(r, r)), rng.normal(size=(g, m, r)) / 5, rng.normal(size=(g, m, m))
    matrix = Bordered(B @ B.T + 3 * np.eye(r), places[:r], D @ D.swapaxes(1, 2) + np.eye(m), C, places[r:].reshape(g, m))
    dense, v = matrix.toarray(), rng.normal(size=g * m + r)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(matrix.tosparse().toarray(), dense)
    np.testing.assert_allclose(matrix.times(v), dense @ v, rtol=1e-12)
    np.testing.assert_allclose(matrix.scaled(v).toarray(), dense * np.outer(v, v), rtol=1e-12)
    np.testing.assert_array_equal(matrix.plus_diagonal(v).toarray(), dense + np.diag(v))
    factor = matrix.factor()
    np.testing.assert_allclose(factor.solve(v), np.linalg.solve(dense, v), rtol=1e-9)
    np.testing.assert_allclose(factor.inverse(), np.linalg.inv(dense), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(factor.inverse_diagonal(), np.diag(np.linalg.inv(dense)), rtol=1e-9)
    pinned = np.arange(g * m + r) % 4 == 0
    found = matrix.pinned(pinned).toarray()
    np.testing.assert_array_equal(found[pinned], np.eye(g * m + r)[pinned])
    assert (-matrix).factor() is None


@pytest.mark.parametrize("words", ["positive", "unit", "ordered", "simplex", "logarithms", "covariance"])
def test_coordinates(words):
    """There and back; first and second derivatives as those of differences."""
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(2, 3, 3))
    value = {
        "positive": rng.uniform(1, 2, 3), "unit": rng.uniform(0.1, 0.9, 3), "ordered": np.sort(rng.normal(size=3)),
        "simplex": np.array([0.2, 0.5, 0.3]), "logarithms": np.log([0.2, 0.5, 0.3]),
        "covariance": factor @ factor.swapaxes(1, 2),
    }[words]  # fmt: skip
    chart = chart_of({words}, value.shape)
    u, g = chart.to(value), rng.normal(size=value.shape)
    g = (g + np.moveaxis(g, -1, -2) if words == "covariance" else g).ravel()
    np.testing.assert_allclose(chart.back(u), value, rtol=1e-12)
    steps = 1e-6 * np.eye(len(u))
    slopes = np.array([(chart.back(u + e) - chart.back(u - e)).ravel() / 2e-6 for e in steps]).T
    wide = np.diag if chart.elementwise else np.asarray
    np.testing.assert_allclose(wide(chart.jacobian(u)), slopes, rtol=1e-7, atol=1e-8)

    def gradient(point):
        return g @ wide(chart.jacobian(point))

    bends = np.array([(gradient(u + e) - gradient(u - e)) / 2e-6 for e in steps])
    np.testing.assert_allclose(wide(chart.curvature(u, g)), bends, rtol=1e-6, atol=1e-7)
