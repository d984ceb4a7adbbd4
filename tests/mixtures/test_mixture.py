"""Mixtures of densities bound to data, against SciPy."""

import math

import numpy as np
import pytest
from references_mixture import EXAMPLES, check_gradient, columns, mvnormal, normal, weights
from scipy import special, stats
from thorough import double_first, some

import gpustats as gs

TOLERANCE = {np.float64: 1e-12, np.float32: 3e-5}


def check_values(mixture, log_weights, parameters, table, dtype, **named):
    """All that is computed of a mixture, against a table of log-densities."""
    terms = table + log_weights.astype(float)
    want = special.logsumexp(terms, 1)
    tol = TOLERANCE[dtype]
    n, k = terms.shape
    total = mixture.loglik(log_weights, *parameters, **named)
    assert type(total) is float and mixture(log_weights, *parameters, **named) == total
    np.testing.assert_allclose(total, want.sum(), rtol=tol, atol=tol * max(1, np.abs(want).sum()))
    each = mixture.logpdf(log_weights, *parameters, **named)
    assert each.dtype == dtype and each.shape == (n,)
    np.testing.assert_allclose(each, want, rtol=tol, atol=10 * tol)
    shares = mixture.responsibilities(log_weights, *parameters, **named)
    assert shares.dtype == dtype and shares.shape == (n, k)
    np.testing.assert_allclose(shares, np.exp(terms - want[:, None]), rtol=100 * tol, atol=10 * tol)


@double_first
@pytest.mark.parametrize("name", some(EXAMPLES, 2))
def test_against_scipy(name, dtype, rng):
    for n, k in ((1000, 7), (5, 5), (1, 7)):  # one kernel; further numbers of components have others, below
        x, parameters, table = EXAMPLES[name](rng, n, k, dtype)
        mixture = gs.Mixture(gs.densities[name], x)
        check_values(mixture, weights(rng, k, dtype), parameters, table, dtype)


@pytest.mark.parametrize("name, k, dtype", some([
    *((name, k, np.float64) for name in ("normal", "mvnormal") for k in (1, 2, 64, 300)),
    *((name, 64, np.float32) for name in ("normal", "mvnormal")),
    *((name, 64, np.float64) for name in ("dirichlet", "mv_student_t")),
]))  # fmt: skip
@pytest.mark.parametrize("n", [1, 5, 1000])
def test_numbers_of_components(name, n, k, dtype, rng):
    x, parameters, table = EXAMPLES[name](rng, n, k, dtype)
    check_values(gs.Mixture(gs.densities[name], x), weights(rng, k, dtype), parameters, table, dtype)


def test_more_components_than_one_kernel_is_made_for(rng):
    x, parameters, table = normal(rng, 20, 3000, np.float64)
    check_values(gs.Mixture(gs.normal, x), weights(rng, 3000), parameters, table, np.float64)


@pytest.mark.parametrize("dim", [1, 2, 17, 40])
def test_dimensions(dim, rng):
    x, parameters, table = mvnormal(rng, 70, 20, np.float64, dim)
    check_values(gs.Mixture(gs.mvnormal, x), weights(rng, 20), parameters, table, np.float64)


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
def test_ways_to_give_a_covariance(name, rng):
    x, (*others, mu, cov), table = EXAMPLES[name](rng, 50, 3, np.float64)
    mixture, log_weights = gs.Mixture(gs.densities[name], x), weights(rng, 3)
    for scale, matrices in (("scale_tril", np.linalg.cholesky(cov)), ("precision", np.linalg.inv(cov)), ("cov", cov)):
        check_values(mixture, log_weights, (*others, mu), table, np.float64, **{scale: matrices})


def test_parameters_that_components_share(rng):
    x, (mu, _), table = normal(rng, 100, 5, np.float64)
    mixture, log_weights = gs.Mixture(gs.normal, x), weights(rng, 5)
    table = stats.norm.logpdf(x[:, None], mu, 1.5)
    for sigma in (1.5, np.array([1.5]), np.full(5, 1.5), [1.5] * 5):
        check_values(mixture, log_weights, (mu,), table, np.float64, sigma=sigma)
    check_values(mixture, log_weights, (0, 1), np.tile(stats.norm.logpdf(x)[:, None], 5), np.float64)
    x, (mu, cov), _ = mvnormal(rng, 100, 3, np.float64)
    table = columns(lambda m: stats.multivariate_normal.logpdf(x, m, cov[0]), mu)
    for shared in (cov[0], cov[:1]):
        check_values(gs.Mixture(gs.mvnormal, x), weights(rng, 3), (mu, shared), table, np.float64)


def test_data_with_gaps(rng):
    x, (mu, sigma), table = normal(rng, 200, 3, np.float64)
    log_weights = weights(rng, 6)[::2]
    check_values(gs.Mixture(gs.normal, x[::-2]), log_weights, (np.repeat(mu, 2)[::2], sigma), table[::-2], np.float64)
    x, (mu, cov), table = mvnormal(rng, 50, 3, np.float64)
    mixture = gs.Mixture(gs.mvnormal, np.asfortranarray(x))
    check_values(mixture, log_weights, (np.asfortranarray(mu), cov.swapaxes(1, 2)), table, np.float64)


def test_what_users_register(rng):
    density = gs.register(
        """// hidden: parameters with the names of the mixture's own
        // x: real    log_weight: real    total: positive    value: real
        __device__ real hidden_logpdf(real x, real log_weight, real total, real value)
        {
            return -log(total) - fabs(x - log_weight - value) / total - LOG_2;
        }"""
    )
    x, at, scale = rng.normal(size=50), rng.normal(size=3), rng.uniform(1, 2, 3)
    table = stats.laplace.logpdf(x[:, None], at + 0.5, scale)
    mixture, log_weights = gs.Mixture(density, x), weights(rng, 3)
    check_values(mixture, log_weights, (at, scale, 0.5), table, np.float64)
    check_gradient(mixture, log_weights, dict(log_weight=at, total=scale, value=0.5))


def test_transforms(rng):
    x, mu = rng.uniform(0, 2, 50), rng.normal(size=3)
    cut = gs.transforms.Truncate(gs.normal, lower=0.0)
    table = stats.truncnorm.logpdf(x[:, None], -mu, np.inf, mu)
    check_values(gs.Mixture(cut, x), weights(rng, 3), (mu, 1.0), table, np.float64)


def test_nothing():
    log_weights, mu = np.log([0.5, 0.5]), np.array([0.0, 1.0])
    mixture = gs.Mixture(gs.normal, [])
    assert mixture.loglik(log_weights, mu, 1.0) == 0
    assert mixture.logpdf(log_weights, mu, 1.0).shape == (0,)
    assert mixture.assign(log_weights, mu, 1.0).dtype == np.int32
    assert mixture.responsibilities(log_weights, mu, 1.0).shape == (0, 2)
    value, gradient = mixture.value_and_grad(log_weights, mu, 1.0)
    assert value == 0 and gradient["sigma"] == 0
    assert np.array_equal(gradient["mu"], [0, 0]) and np.array_equal(gradient["log_weights"], [0, 0])
    empty = gs.Mixture(gs.mvnormal, np.zeros((0, 2)))
    assert empty.loglik(log_weights, np.zeros((2, 2)), np.eye(2)) == 0
    assert empty.responsibilities(log_weights, np.zeros((2, 2)), np.eye(2)).shape == (0, 2)


@double_first
def test_components_without_weight(dtype):
    x = np.array([-1, 0, 3], dtype)
    mixture, mu = gs.Mixture(gs.normal, x), np.array([5, 0, 5], dtype)
    log_weights, sigma = np.array([-np.inf, 0, -np.inf], dtype), np.array([-1, 1, np.nan], dtype)  # invalid: no matter
    np.testing.assert_allclose(mixture.logpdf(log_weights, mu, sigma), stats.norm.logpdf(x), rtol=1e-6)
    assert np.array_equal(mixture.assign(log_weights, mu, sigma), [1, 1, 1])
    assert np.array_equal(mixture.responsibilities(log_weights, mu, sigma), [[0, 1, 0]] * 3)
    _, gradient = mixture.value_and_grad(log_weights, mu, sigma)
    np.testing.assert_allclose(gradient["mu"], [0, 2, 0])
    np.testing.assert_allclose(gradient["log_weights"], [0, 3, 0])
    assert mixture.loglik(np.full(3, -np.inf, dtype), mu, dtype(1)) == -np.inf


@double_first
def test_far_tails(dtype):
    x = np.array([1e6, -1e6, 0], dtype)
    log_weights, mu = np.log([0.25, 0.75]).astype(dtype), np.array([-100, 100], dtype)
    terms = stats.norm.logpdf(x[:, None], mu, 1.0) + log_weights
    mixture = gs.Mixture(gs.normal, x)
    np.testing.assert_allclose(mixture.logpdf(log_weights, mu, 1.0), special.logsumexp(terms, 1), rtol=TOLERANCE[dtype])
    assert np.array_equal(mixture.assign(log_weights, mu, 1.0)[:2], [1, 0])
    _, gradient = mixture.value_and_grad(log_weights, mu, 1.0)
    # The log-densities are near -5000 at 0, so that exp of their differences has four digits in float32.
    np.testing.assert_allclose(gradient["log_weights"], [1.25, 1.75], rtol=1e-11 if dtype == np.float64 else 1e-4)
    np.testing.assert_allclose(gradient["mu"], [-999900 + 25, 999900 - 75], rtol=1e-11 if dtype == np.float64 else 1e-4)


def test_outside_the_support():
    log_weights, lam = np.log([0.5, 0.5]), np.array([1.0, 2.0])
    mixture = gs.Mixture(gs.exponential, np.array([1.0, -1.0]))
    assert mixture.loglik(log_weights, lam) == mixture.logpdf(log_weights, lam)[1] == -np.inf
    assert mixture.assign(log_weights, lam)[1] == -1
    assert np.isnan(mixture.responsibilities(log_weights, lam)[1]).all()
    inside = gs.Mixture(gs.exponential, np.array([1.0])).value_and_grad(log_weights, lam)[1]
    value, gradient = mixture.value_and_grad(log_weights, lam)
    assert value == -np.inf  # and that observation adds nothing to the derivatives
    np.testing.assert_allclose(gradient["lam"], inside["lam"])
    np.testing.assert_allclose(gradient["log_weights"], inside["log_weights"])
    one_of_two = gs.Mixture(gs.uniform, np.array([0.5, 2.5]))  # each inside of one component only
    lower, upper = np.array([0.0, 2.0]), np.array([1.0, 3.0])
    assert np.array_equal(one_of_two.assign(log_weights, lower, upper), [0, 1])
    np.testing.assert_allclose(one_of_two.loglik(log_weights, lower, upper), 2 * np.log(0.5))


def test_infinite_density():
    x, alpha = np.array([0.0]), np.array([0.5, 0.25, 2.0])  # of which two are infinite at 0
    mixture, log_weights = gs.Mixture(gs.gamma, x), np.log([0.25, 0.25, 0.5])
    assert mixture.loglik(log_weights, alpha, 1.0) == np.inf
    np.testing.assert_allclose(mixture.responsibilities(log_weights, alpha, 1.0), [[0.5, 0.5, 0]])
    assert mixture.assign(log_weights, alpha, 1.0)[0] in (0, 1)


@double_first
def test_nan(dtype):
    log_weights, mu = np.log([0.5, 0.5]).astype(dtype), np.array([0, 1], dtype)
    x = np.array([0, np.nan, 1], dtype)
    mixture = gs.Mixture(gs.normal, x)
    assert np.isnan(mixture.loglik(log_weights, mu, 1.0))
    assert np.array_equal(np.isnan(mixture.logpdf(log_weights, mu, 1.0)), np.isnan(x))
    assert np.array_equal(np.isnan(mixture.responsibilities(log_weights, mu, 1.0)).all(1), np.isnan(x))
    assert np.array_equal(mixture.assign(log_weights, mu, 1.0) < 0, np.isnan(x))
    sound = gs.Mixture(gs.normal, x[::2])
    for invalid in (np.array([1, -1], dtype), -1.0, np.array([np.nan, 1], dtype)):
        assert np.isnan(sound.loglik(log_weights, mu, invalid))
        assert (sound.assign(log_weights, mu, invalid) == -1).all()
    assert np.isnan(sound.loglik(np.array([0, np.nan], dtype), mu, 1.0))
    vectors = gs.Mixture(gs.mvnormal, np.array([[0, 0], [0, np.nan]], dtype))
    cov = np.stack([np.eye(2), np.eye(2)]).astype(dtype)
    assert np.array_equal(np.isnan(vectors.logpdf(log_weights, np.zeros(2, dtype), cov)), [False, True])
    cov[1] *= -1  # not positive definite
    assert np.isnan(vectors.logpdf(log_weights, np.zeros(2, dtype), cov)).all()


def test_the_same_call_gives_the_same_bits(rng):
    x, parameters, _ = normal(rng, 100_003, 7, np.float32)
    mixture, log_weights = gs.Mixture(gs.normal, x), weights(rng, 7, np.float32)
    assert len({mixture.loglik(log_weights, *parameters) for _ in range(10)}) == 1


@pytest.mark.parametrize("name", ["normal", "mvnormal"])
def test_device_arrays(name, rng):
    x, parameters, table = EXAMPLES[name](rng, 50, 3, np.float64)
    log_weights = weights(rng, 3)
    host, density = gs.Mixture(gs.densities[name], x), gs.densities[name]
    held = gs.Mixture(density, gs.to_device(x))
    given = [gs.to_device(p) for p in parameters]
    for mixture, arguments in ((held, parameters), (host, given), (held, given)):
        assert mixture.loglik(log_weights, *arguments) == host.loglik(log_weights, *parameters)
        for method, options in (("logpdf", {}), ("responsibilities", {}), ("assign", {"rng": 5})):
            got = getattr(mixture, method)(log_weights, *arguments, **options)
            assert not isinstance(got, np.ndarray)
            assert np.array_equal(gs.to_host(got), getattr(host, method)(log_weights, *parameters, **options))
        gradient = mixture.value_and_grad(log_weights, *arguments)[1]
        for n, want in host.value_and_grad(log_weights, *parameters)[1].items():
            native = arguments is given and n != "log_weights"
            assert isinstance(gradient[n], np.ndarray) != native
            np.testing.assert_allclose(gs.to_host(gradient[n]) if native else gradient[n], want, rtol=1e-12)
    on_device = held.value_and_grad(gs.to_device(log_weights), *parameters)[1]["log_weights"]
    assert not isinstance(on_device, np.ndarray)


def test_wrong_arguments(rng):
    x, (mu, sigma), _ = normal(rng, 10, 3, np.float64)
    mixture, log_weights = gs.Mixture(gs.normal, x), weights(rng, 3)
    assert mixture.parameters == ("mu", "sigma")
    assert "mixture of normal" in repr(mixture) and "(10,)" in repr(mixture)
    for args, kwargs, message in [
        ((0.5, mu, sigma), {}, r"log_weights has shape \(\): .* array of shape \(K,\)"),
        ((log_weights[:, None], mu, sigma), {}, r"log_weights has shape \(3, 1\)"),
        ((np.zeros(0), mu, sigma), {}, r"log_weights has shape \(0,\)"),
        ((log_weights, mu[:2], sigma), {}, r"mu has shape \(2,\): a mixture of 3 components.* one number, or 3"),
        ((log_weights, mu, sigma[:, None]), {}, r"sigma has shape \(3, 1\)"),
        ((log_weights, mu), {}, "needs sigma"),
        ((log_weights, mu, sigma, 3), {}, "takes 2 arguments"),
        ((log_weights, mu), {"scale": 3}, "no parameter 'scale'"),
        ((log_weights, mu, sigma), {"wrt": "scale"}, "wrt: normal has no argument 'scale'"),
    ]:
        with pytest.raises(ValueError, match=message):
            mixture.value_and_grad(*args, **kwargs)
    vectors = gs.Mixture(gs.mvnormal, np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"cov has shape \(4, 2, 2\): a mixture of 3 components.* one matrix"):
        vectors.loglik(log_weights, np.zeros(2), np.stack([np.eye(2)] * 4))
    with pytest.raises(ValueError, match="as long as x's, 2"):
        vectors.loglik(log_weights, np.zeros((3, 4)), np.eye(2))
    with pytest.raises(ValueError, match=r"a mixture takes vectors as an array of shape \(N, d\)"):
        gs.Mixture(gs.mvnormal, np.ones(3))
    with pytest.raises(ValueError, match=r"x has shape \(3, 1\): a mixture takes observations of shape \(N,\)"):
        gs.Mixture(gs.normal, np.ones((3, 1)))
    with pytest.raises(TypeError, match="log_weights has dtype complex128"):
        mixture.loglik(log_weights + 1j, mu, sigma)
    with pytest.raises(TypeError, match="rng must be"):
        mixture.assign(log_weights, mu, sigma, rng="seed")
    assert math.isfinite(mixture.loglik(log_weights, mu, sigma))
