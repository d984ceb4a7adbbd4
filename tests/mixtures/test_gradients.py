"""Derivatives of mixtures, against central differences."""

import numpy as np
import pytest
from references_mixture import EXAMPLES, check_gradient, dirichlet, mvnormal, normal, weights
from scipy import special

import gpustats as gs


def test_gradients_of_scalar_densities(rng):
    for name, names in (("normal", ("mu", "sigma")), ("gamma", ("alpha", "beta")), ("student_t", ("nu", "mu", "sigma"))):
        for n, k in ((40, 3), (1, 1), (1, 4), (30, 1)):
            x, parameters, _ = EXAMPLES[name](rng, n, k, np.float64)
            gradient = check_gradient(gs.Mixture(gs.densities[name], x), weights(rng, k), dict(zip(names, parameters)))
            assert list(gradient) == ["log_weights", *names]
            np.testing.assert_allclose(gradient["log_weights"].sum(), n)


def test_gradients_of_shared_parameters(rng):
    x, (mu, _), _ = normal(rng, 40, 3, np.float64)
    for sigma in (1.5, np.array([1.5])):
        check_gradient(gs.Mixture(gs.normal, x), weights(rng, 3), dict(mu=mu, sigma=sigma))


def test_gradients_in_vectors(rng):
    x, (a,), _ = dirichlet(rng, 40, 3, np.float64)
    mixture = gs.Mixture(gs.dirichlet, x)
    check_gradient(mixture, weights(rng, 3), dict(a=a))
    check_gradient(mixture, weights(rng, 3), dict(a=a[0]))


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
def test_gradients_of_elliptical_densities(name, rng):
    """Matrices as Cholesky factors, of which no entry depends on another; `cov` against sums of moments."""
    for n, k in ((40, 3), (1, 1), (1, 3), (30, 1)):
        x, (*nu, mu, cov), _ = EXAMPLES[name](rng, n, k, np.float64, 3)
        parameters = dict(zip(("nu",), nu)) | dict(mu=mu, scale_tril=np.linalg.cholesky(cov))
        mixture, log_weights = gs.Mixture(gs.densities[name], x), weights(rng, k)
        value, gradient = mixture.value_and_grad(log_weights, **parameters)
        check_gradient(mixture, log_weights, parameters, wrt=[n for n in parameters if n != "scale_tril"])
        lower = np.tril(rng.normal(size=cov.shape))  # a derivative in one direction
        f = lambda t: mixture.loglik(log_weights, **{**parameters, "scale_tril": parameters["scale_tril"] + t * lower})  # noqa: B023, E731
        want = (8 * (f(1e-3) - f(-1e-3)) - (f(2e-3) - f(-2e-3))) / 12e-3
        np.testing.assert_allclose((gradient["scale_tril"] * lower).sum(), want, rtol=1e-6)
    shared = mixture.value_and_grad(log_weights, *nu, mu, cov[0])[1]["cov"]
    assert shared.shape == (3, 3)
    symmetric = lower[0] + lower[0].T
    f = lambda t: mixture.loglik(log_weights, *nu, mu, cov[0] + t * symmetric)  # noqa: E731
    np.testing.assert_allclose((shared * symmetric).sum(), (8 * (f(1e-3) - f(-1e-3)) - (f(2e-3) - f(-2e-3))) / 12e-3, rtol=1e-6)


def test_gradients_of_responsibilities_times_scores(rng):
    x, (mu, cov), table = mvnormal(rng, 2000, 5, np.float32)
    log_weights = weights(rng, 5, np.float32)
    terms = table + log_weights
    shares = np.exp(terms - special.logsumexp(terms, 1)[:, None])
    y, inverse = x[:, None] - mu.astype(float), np.linalg.inv(cov.astype(float))
    z = (inverse @ y[..., None])[..., 0]
    _, gradient = gs.Mixture(gs.mvnormal, x).value_and_grad(log_weights, mu, cov)
    for name, want in (
        ("log_weights", shares.sum(0)), ("mu", (shares[..., None] * z).sum(0)),
        ("cov", (np.einsum("nk,nki,nkj->kij", shares, z, z) - shares.sum(0)[:, None, None] * inverse) / 2),
    ):  # fmt: skip
        assert gradient[name].dtype == np.float64
        np.testing.assert_allclose(gradient[name], want, rtol=1e-3, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("name", ["normal", "dirichlet", "mvnormal"])
def test_gradients_in_the_observations(name, rng):
    x, parameters, _ = EXAMPLES[name](rng, 12, 3, np.float64)
    log_weights, density = weights(rng, 3), gs.densities[name]
    gradient = gs.Mixture(density, x).value_and_grad(log_weights, *parameters, wrt=density.log_density.arguments[0].name)[1]
    (got,) = gradient.values()
    assert got.shape == x.shape
    if name == "dirichlet":  # moves within the simplex
        step = rng.normal(size=x.shape)
        step -= step.mean(-1, keepdims=True)
    else:
        step = np.ones(x.shape)
    f = lambda t: gs.Mixture(density, x + t * step).logpdf(log_weights, *parameters)  # noqa: E731
    want = (8 * (f(1e-5) - f(-1e-5)) - (f(2e-5) - f(-2e-5))) / 12e-5
    np.testing.assert_allclose((got * step).reshape(12, -1).sum(1), want, rtol=1e-6, atol=1e-7)


def test_which_gradients(rng):
    x, parameters, _ = normal(rng, 12, 3, np.float64)
    mixture, log_weights = gs.Mixture(gs.normal, x), weights(rng, 3)
    everything = mixture.value_and_grad(log_weights, *parameters)[1]
    for wrt in ("mu", "log_weights", ["sigma", "log_weights"], ("sigma", "mu")):
        gradient = mixture.value_and_grad(log_weights, *parameters, wrt=wrt)[1]
        assert set(gradient) == {wrt} if isinstance(wrt, str) else set(wrt)
        for name, got in gradient.items():
            np.testing.assert_allclose(got, everything[name], rtol=1e-13)
    counts = gs.Mixture(gs.binomial, np.array([1.0, 2.0])).value_and_grad(log_weights, 5, np.array([0.25, 0.5, 0.75]))[1]
    assert list(counts) == ["log_weights", "p"]
