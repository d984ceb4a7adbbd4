"""Log-likelihoods of generalised linear models in NumPy and in mpmath, and derivatives by complex steps."""

import mpmath
import numpy as np
from scipy import special


def expit(z):
    return 1 / (1 + np.exp(-z))


def ordered(y, eta, cutpoints):
    ends = np.full(np.broadcast_shapes(cutpoints.shape[:-1], y.shape) + (1,), np.inf)
    cutpoints = np.broadcast_to(cutpoints, ends.shape[:-1] + cutpoints.shape[-1:])
    edges = np.concatenate([-ends, cutpoints, ends], -1)
    below, above = (np.take_along_axis(edges, np.broadcast_to(y + i, ends.shape[:-1])[..., None], -1)[..., 0] for i in (0, 1))
    with np.errstate(invalid="ignore"):
        share = np.where(y == cutpoints.shape[-1], 1, expit(above - eta)) - np.where(y == 0, 0, expit(below - eta))
    return np.log(share)


#: log-densities that take complex numbers
TERMS = {
    "bernoulli_logit": lambda y, eta: y * eta - np.log(1 + np.exp(eta)),
    "poisson_log": lambda y, eta: y * eta - np.exp(eta) - special.gammaln(y.real + 1),
    "normal_identity": lambda y, eta, sigma: -0.5 * ((y - eta) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi)),
    "ordered_logit": ordered,
    "categorical_logit": lambda y, eta: (
        np.take_along_axis(eta, np.broadcast_to(y, eta.shape[:-1])[..., None], -1)[..., 0] - np.log(np.exp(eta).sum(-1))
    ),
}


def predictor(X, beta, alpha, offset, groups, vector):
    """(…, N), or (…, N, C)."""
    alpha = np.asarray(alpha)
    if groups is not None and alpha.ndim > vector and alpha.shape[-1 - vector] == groups.max() + 1:
        alpha = np.take(alpha, groups, -1 - vector)
    if vector:
        return np.einsum("nk,...kc->...nc", X, beta) + alpha + offset[:, None]
    return np.einsum("nk,...k->...n", X, beta) + alpha + offset


def complex_steps(f, at):
    """The derivatives of the number that `f` returns."""
    at = np.asarray(at, float)
    result = np.empty(at.shape)
    for i in np.ndindex(at.shape):
        stepped = at.astype(complex)
        stepped[i] += 1e-30j
        result[i] = f(stepped).imag / 1e-30
    return result


def exact(name):
    """The log-density in multiple precision."""
    m = mpmath
    logistic = lambda z: 1 / (1 + m.exp(-z))  # noqa: E731
    return {
        "bernoulli_logit": lambda y, eta: m.log(logistic(eta if y else -eta)),
        "bernoulli_probit": lambda y, eta: m.log(m.erfc((-eta if y else eta) / m.sqrt(2)) / 2),
        "bernoulli_cloglog": lambda y, eta: m.log(-m.expm1(-m.exp(eta))) if y else -m.exp(eta),
        "poisson_log": lambda y, eta: y * eta - m.exp(eta) - m.loggamma(y + 1),
        "binomial_logit": lambda y, eta, n: (
            m.log(m.binomial(n, y)) + y * m.log(logistic(eta)) + (n - y) * m.log(logistic(-eta))
        ),
        "negative_binomial_log": lambda y, eta, phi: (
            m.loggamma(y + phi) - m.loggamma(phi) - m.loggamma(y + 1)
            + y * m.log(logistic(eta - m.log(phi))) + phi * m.log(logistic(m.log(phi) - eta))
        ),
        "gamma_log": lambda y, eta, nu: (
            nu * m.log(nu) - m.loggamma(nu) + (nu - 1) * m.log(y) - nu * eta - nu * y * m.exp(-eta)
        ),
        "ordered_logit": lambda y, eta, cuts: m.log(
            (logistic(cuts[y] - eta) if y < len(cuts) else 1) - (logistic(cuts[y - 1] - eta) if y else 0)
        ),
    }[name]  # fmt: skip
