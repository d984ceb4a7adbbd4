"""Data, parameters and SciPy's log-densities of mixtures."""

import numpy as np
from scipy import special, stats


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


def check_gradient(mixture, log_weights, parameters, tolerance=1e-6, **options):
    """Against central differences of the log-likelihood, which the other tests compare with SciPy."""
    arguments = {"log_weights": log_weights, **parameters}
    value, gradient = mixture.value_and_grad(log_weights, **parameters, **options)
    np.testing.assert_allclose(value, mixture.loglik(log_weights, **parameters), rtol=1e-13)
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
