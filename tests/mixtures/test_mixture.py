"""Mixtures of densities bound to data."""

import math

import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs

TOLERANCE = {np.float64: 1e-12, np.float32: 3e-5}


def weights(rng, k, dtype=np.float64):
    return np.log(rng.dirichlet(np.ones(k))).astype(dtype)


def covariances(rng, k, dim, dtype=np.float64):
    root = rng.normal(size=(k, dim, dim))
    return (root @ root.swapaxes(1, 2) / dim + np.eye(dim)).astype(dtype)


def columns(logpdf, *parameters):
    """SciPy's log-densities, one column for each component."""
    return np.stack([logpdf(*(p.astype(float) for p in sets)) for sets in zip(*parameters, strict=True)], 1)


def normal(rng, n, k, dtype):
    x, mu, sigma = rng.normal(0, 3, n), rng.normal(0, 3, k), rng.uniform(0.5, 2, k)
    x, mu, sigma = x.astype(dtype), mu.astype(dtype), sigma.astype(dtype)
    return x, (mu, sigma), stats.norm.logpdf(x[:, None].astype(float), mu.astype(float), sigma.astype(float))


def gamma(rng, n, k, dtype):
    x, alpha, beta = (a.astype(dtype) for a in (rng.gamma(2, 1, n), rng.uniform(0.5, 3, k), rng.uniform(0.5, 2, k)))
    return x, (alpha, beta), stats.gamma.logpdf(x[:, None].astype(float), alpha.astype(float), scale=1 / beta.astype(float))


def poisson(rng, n, k, dtype):
    x, mu = rng.poisson(4, n).astype(dtype), rng.uniform(0.5, 9, k).astype(dtype)
    return x, (mu,), stats.poisson.logpmf(x[:, None], mu.astype(float))


def student_t(rng, n, k, dtype):
    x, nu, mu, sigma = rng.standard_t(3, n), rng.uniform(1, 9, k), rng.normal(size=k), rng.uniform(0.5, 2, k)
    x, nu, mu, sigma = (a.astype(dtype) for a in (x, nu, mu, sigma))
    return x, (nu, mu, sigma), stats.t.logpdf(x[:, None].astype(float), *(a.astype(float) for a in (nu, mu, sigma)))


def dirichlet(rng, n, k, dtype):
    x, a = rng.dirichlet([2, 3, 4], n).astype(dtype), rng.uniform(1, 4, (k, 3)).astype(dtype)
    log_x = np.log(x.astype(float))
    return x, (a,), columns(lambda p: log_x @ (p - 1) + special.gammaln(p.sum()) - special.gammaln(p).sum(), a)


def mvnormal(rng, n, k, dtype, dim=4):
    x, mu = rng.normal(size=(n, dim)).astype(dtype), rng.normal(size=(k, dim)).astype(dtype)
    cov = covariances(rng, k, dim, dtype)
    logpdf = lambda m, c: stats.multivariate_normal.logpdf(x, m, c).reshape(n)  # noqa: E731
    return x, (mu, cov), columns(logpdf, mu, cov)


def mv_student_t(rng, n, k, dtype, dim=4):
    x, (mu, cov), _ = mvnormal(rng, n, k, dtype, dim)
    nu = rng.uniform(2, 9, k).astype(dtype)
    logpdf = lambda df, m, c: stats.multivariate_t.logpdf(x, m, c, df).reshape(n)  # noqa: E731
    return x, (nu, mu, cov), columns(logpdf, nu, mu, cov)


EXAMPLES = {f.__name__: f for f in (normal, gamma, poisson, student_t, dirichlet, mvnormal, mv_student_t)}


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", EXAMPLES)
def test_against_scipy(name, dtype, rng):
    for n, k in ((1000, 7), (5, 5), (1, 7)):  # one kernel; further numbers of components have others, below
        x, parameters, table = EXAMPLES[name](rng, n, k, dtype)
        mixture = gs.Mixture(gs.densities[name], x)
        check_values(mixture, weights(rng, k, dtype), parameters, table, dtype)


@pytest.mark.parametrize("name, k, dtype", [
    *((name, k, np.float64) for name in ("normal", "mvnormal") for k in (1, 2, 64, 300)),
    *((name, 64, np.float32) for name in ("normal", "mvnormal")),
    *((name, 64, np.float64) for name in ("dirichlet", "mv_student_t")),
])  # fmt: skip
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


# ---- edges


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
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


# ---- derivatives


def check_gradient(mixture, log_weights, parameters, tolerance=1e-6, **options):
    """Against central differences of the log-likelihood, which the other tests compare with SciPy."""
    arguments = {"log_weights": log_weights, **parameters}
    value, gradient = mixture.value_and_grad(log_weights, **parameters, **options)
    assert value == mixture.loglik(log_weights, **parameters)
    for name, got in gradient.items():
        at = np.asarray(arguments[name], float)
        assert np.shape(got) == at.shape and isinstance(got, float) == (not at.shape)
        want = np.zeros(at.shape)
        for index in np.ndindex(at.shape):
            step = np.zeros(at.shape)
            step[index] = h = 1e-3 * max(1, abs(at[index]))
            f = lambda t: mixture.loglik(**{**arguments, name: at + t * step})  # noqa: B023, E731
            want[index] = (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12 * h)
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale, err_msg=name)
    return gradient


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


# ---- labels


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 5, 70])
def test_frequencies_of_labels(k, dtype, rng):
    points, parameters, table = normal(rng, 4, k, dtype)
    log_weights, n = weights(rng, k, dtype), 30_000
    labels = gs.Mixture(gs.normal, np.repeat(points, n)).assign(log_weights, *parameters, rng=k)
    assert labels.dtype == np.int32 and labels.shape == (4 * n,)
    for own, terms in zip(labels.reshape(4, n), table + log_weights, strict=True):
        expected = n * special.softmax(terms)
        counts = np.bincount(own, minlength=k)
        often = expected > 10
        got = np.append(counts[often], counts[~often].sum())
        want = np.append(expected[often], expected[~often].sum())
        chi2 = ((got - want)[want > 0] ** 2 / want[want > 0]).sum()
        assert stats.chi2.sf(chi2, max(1, often.sum())) > 1e-5


def test_labels_of_vectors(rng):
    mu, n = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]), 30_000
    log_weights, cov = np.log([0.5, 0.25, 0.25]), covariances(rng, 3, 2)
    x = np.tile([0.5, 0.5], (n, 1))
    labels = gs.Mixture(gs.mvnormal, x).assign(log_weights, mu, cov, rng=2)
    shares = gs.Mixture(gs.mvnormal, x[:1]).responsibilities(log_weights, mu, cov)[0]
    assert stats.chisquare(np.bincount(labels, minlength=3), n * shares / shares.sum()).pvalue > 1e-5


@pytest.mark.parametrize("name", ["normal", "mvnormal"])
def test_draws_depend_on_the_seed_and_the_number_of_the_draw(name, rng):
    x, parameters, _ = EXAMPLES[name](rng, 1001, 6, np.float64)
    log_weights, density = weights(rng, 6), gs.densities[name]
    labels = gs.Mixture(density, x).assign(log_weights, *parameters, rng=7)
    assert np.array_equal(gs.Mixture(density, x).assign(log_weights, *parameters, rng=7), labels)
    assert not np.array_equal(gs.Mixture(density, x).assign(log_weights, *parameters, rng=8), labels)
    generator = gs.Generator(7)
    parts = [gs.Mixture(density, part).assign(log_weights, *parameters, rng=generator) for part in (x[:333], x[333:])]
    assert np.array_equal(np.concatenate(parts), labels)
    again = gs.Mixture(density, x)
    assert not np.array_equal(again.assign(log_weights, *parameters), again.assign(log_weights, *parameters))


def test_labels_are_independent(rng):
    """Neighbouring observations, and the draws of neighbouring components, share nothing."""
    n = 100_000
    labels = gs.Mixture(gs.normal, np.zeros(n)).assign(np.zeros(8), np.zeros(8), 1.0, rng=1)
    assert stats.chisquare(np.bincount(8 * labels[:-1] + labels[1:], minlength=64)).pvalue > 1e-5


# ---- wrong arguments


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
