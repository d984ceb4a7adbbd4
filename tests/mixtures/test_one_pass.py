"""Mixtures of numbers: value and derivatives in one reading, against formulas and against the two readings of others."""

import numpy as np
import pytest
from scipy import special, stats
from thorough import some

import gpustats as gs
from gpustats.mixtures.one_pass import layout_for
from gpustats.runtime import choose


def of_normals(x, log_weights, mu, sigma):
    """The value and the derivatives by formulas."""
    z = (x[:, None] - mu) / sigma
    terms = stats.norm.logpdf(z) - np.log(sigma) + log_weights
    value = special.logsumexp(terms, 1)
    shares = np.exp(terms - value[:, None])
    slopes = dict(log_weights=shares, mu=shares * z / sigma, sigma=shares * (z * z - 1) / sigma)
    return value.sum(), {n: s.sum(0) for n, s in slopes.items()}


@pytest.mark.parametrize("k", some([1, 3, 9, 40], 2))
@pytest.mark.parametrize("n", [1, 31, 5000])
def test_against_formulas(k, n, rng, layout):
    x, log_weights = rng.normal(0, 3, n), np.log(rng.dirichlet(np.ones(k)))
    mu, sigma = rng.normal(0, 3, k), rng.uniform(1, 2, k)
    mixture = gs.Mixture(gs.normal, x)
    value, gradient = mixture.value_and_grad(log_weights, mu, sigma)
    wanted, slopes = of_normals(x, log_weights, mu, sigma)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    assert list(gradient) == ["log_weights", "mu", "sigma"]
    for name, slope in slopes.items():
        np.testing.assert_allclose(gradient[name], slope, rtol=1e-10, atol=1e-11 * n)
    single = gs.Mixture(gs.normal, x.astype("f")).value_and_grad(*(a.astype("f") for a in (log_weights, mu, sigma)))
    np.testing.assert_allclose(single[0], wanted, rtol=1e-5)
    for name, slope in slopes.items():
        np.testing.assert_allclose(single[1][name], slope, rtol=2e-4, atol=2e-5 * n)


@pytest.mark.parametrize("k", [3, 30])
def test_calls_that_differ_in_their_numbers(k, rng):
    x, log_weights = rng.normal(size=400), np.log(rng.dirichlet(np.ones(k)))
    mixture = gs.Mixture(gs.normal, x)
    for sigma in (1.5, 2, np.float64(0.7), 1.5):  # which all components share
        mu = rng.normal(size=k)
        value, gradient = mixture.value_and_grad(log_weights, mu, sigma=sigma)
        wanted, slopes = of_normals(x, log_weights, mu, np.full(k, sigma))
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose(gradient["mu"], slopes["mu"], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(gradient["sigma"], slopes["sigma"].sum(), rtol=1e-10)
        for wrt in ("mu", ["log_weights"], ("sigma", "log_weights")):
            of_some = mixture.value_and_grad(log_weights, mu, sigma, wrt=wrt)[1]
            assert set(of_some) == ({wrt} if isinstance(wrt, str) else set(wrt))
            for name, got in of_some.items():
                np.testing.assert_allclose(got, gradient[name], rtol=1e-13)


@pytest.mark.parametrize("name", some(["gamma", "student_t", "poisson", "beta", "weibull", "exponential"], 2))
def test_as_in_two_readings(name, rng, layout):
    """Also where components have no weight, rows lie outside the support, and terms are infinite or nan."""
    density, k = gs.densities[name], 5
    x = np.abs(rng.normal(size=200))
    x = np.rint(5 * x) if name == "poisson" else x / (1 + x) if name == "beta" else x
    parameters = [rng.uniform(0.5, 3, k) for _ in density.parameters]
    log_weights = np.log(rng.dirichlet(np.ones(k)))
    without = np.where(np.arange(k) == 2, -np.inf, log_weights)
    invalid = [np.where(np.arange(k) == 2, -1.0, p) for p in parameters]
    for data in (x, np.append(x, -1.0), np.append(x, 0.0), np.append(x, np.nan)):
        one, two = gs.Mixture(density, data), gs.Mixture(density, data)
        two._scalar = False
        for arguments in ((log_weights, *parameters), (without, *parameters), (without, *invalid), (log_weights, *invalid)):
            value, gradient = one.value_and_grad(*arguments)
            wanted, slopes = two.value_and_grad(*arguments)
            np.testing.assert_allclose(value, wanted, rtol=1e-12)
            for n, slope in slopes.items():
                if np.isfinite(wanted) or wanted == -np.inf:
                    np.testing.assert_allclose(gradient[n], slope, rtol=1e-9, atol=1e-10)


def test_the_same_bits_each_time(rng):
    x, log_weights, mu = rng.normal(size=50_000), np.log(rng.dirichlet(np.ones(20))), rng.normal(size=20)
    mixture = gs.Mixture(gs.normal, x)
    first, *others = (mixture.value_and_grad(log_weights, mu, 1.5) for _ in range(4))
    for value, gradient in others:
        assert value == first[0] and all(np.array_equal(gradient[n], first[1][n]) for n in gradient)


def test_what_one_reading_is_for(rng):
    """More components than that take two, as do texts too long to compile; all with the same numbers."""
    device = choose.get().device
    assert layout_for(device, 8, 64, 3).per * layout_for(device, 8, 64, 3).lanes >= 64
    x, log_weights = rng.uniform(size=50), np.log(rng.dirichlet(np.ones(70)))
    a, b = rng.uniform(1, 3, (2, 70))
    mixture = gs.Mixture(gs.beta, x)
    terms = stats.beta.logpdf(x[:, None], a, b) + log_weights
    np.testing.assert_allclose(mixture.value_and_grad(log_weights, a, b)[0], special.logsumexp(terms, 1).sum(), rtol=1e-11)
    terms = terms[:, :60]
    value, gradient = mixture.value_and_grad(log_weights[:60], a[:60], b[:60])
    np.testing.assert_allclose(value, special.logsumexp(terms, 1).sum(), rtol=1e-11)
    np.testing.assert_allclose(gradient["log_weights"], special.softmax(terms, 1).sum(0), rtol=1e-9)
