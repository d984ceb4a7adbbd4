"""Random draws and starting points of the built-in densities.

`random(rng, *parameters, size)` draws with NumPy; `point(*parameters)` is a PyTensor expression of a point well inside the
support. Parameters come in the density's order; that of an elliptical density is the covariance matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytensor.tensor as pt
from scipy import special, stats


class BuiltIn(NamedTuple):
    random: Callable[..., Any]
    point: Callable[..., Any]


def _scipy(distribution: Any, arguments: Callable[..., dict]) -> Callable:
    """Draws of a scipy.stats distribution, whose arguments are a function of our parameters."""
    return lambda rng, *p, size: distribution.rvs(**arguments(*p), size=size, random_state=rng)


def _inflated(random: Callable) -> Callable:
    return lambda rng, psi, *p, size: np.where(rng.random(size) < psi, random(rng, *p, size=size), 0)


def _count(value: Any) -> Any:
    return pt.floor(value + 0.5)


# ---- draws that are more than a line


def _kumaraswamy(rng: np.random.Generator, a: Any, b: Any, size: tuple) -> Any:
    return (-np.expm1(-rng.standard_exponential(size) / b)) ** (1 / a)  # 1 - x^a is a power of a uniform variable


def _skew_normal(rng: np.random.Generator, mu: Any, sigma: Any, alpha: Any, size: tuple) -> Any:
    u, v = rng.normal(size=(2, *size))
    return mu + sigma * (alpha * np.abs(u) + v) / np.hypot(1, alpha)


def _negative_binomial(rng: np.random.Generator, mu: Any, alpha: Any, size: tuple) -> Any:
    return rng.poisson(rng.gamma(alpha, size=size) * mu / alpha)


def _truncated_normal(rng: np.random.Generator, mu: Any, sigma: Any, lower: Any, upper: Any, size: tuple) -> Any:
    a, b = (lower - mu) / sigma, (upper - mu) / sigma
    return stats.truncnorm.rvs(a, b, mu, sigma, size=size, random_state=rng)


def _choice(rng: np.random.Generator, p: Any, size: tuple) -> Any:
    cumulative = np.cumsum(p, -1)
    return (rng.random(size)[..., None] * cumulative[..., -1:] >= cumulative[..., :-1]).sum(-1)


def _ordered_logit(rng: np.random.Generator, eta: Any, cutpoints: Any, size: tuple) -> Any:
    return (rng.logistic(eta, size=size)[..., None] > cutpoints).sum(-1)


def _mvnormal(rng: np.random.Generator, mu: Any, cov: Any, size: tuple) -> Any:
    z = rng.normal(size=(*size, mu.shape[-1], 1))
    return mu + (np.linalg.cholesky(cov) @ z)[..., 0]


def _mv_student_t(rng: np.random.Generator, nu: Any, mu: Any, cov: Any, size: tuple) -> Any:
    scale = np.sqrt(nu / rng.chisquare(nu, size))[..., None]
    return mu + scale * _mvnormal(rng, np.zeros_like(mu), cov, size)


def _dirichlet(rng: np.random.Generator, a: Any, size: tuple) -> Any:
    # log Gamma(a) variables: small concentrations underflow otherwise
    shape = (*size, a.shape[-1])
    logs = np.log(rng.gamma(a + 1, size=shape)) - rng.standard_exponential(shape) / a
    return special.softmax(logs, -1)


def _multinomial(rng: np.random.Generator, n: Any, p: Any, size: tuple) -> Any:
    return rng.multinomial(n.astype(np.int64), p, size)


# ---- points that are more than a line


def between(point: Any, lower: Any, upper: Any) -> Any:
    """The point where it is well inside the interval, else the interval's middle, or a little inside its only bound."""
    finite_lower, finite_upper = pt.invert(pt.isinf(lower)), pt.invert(pt.isinf(upper))
    one_sided = pt.switch(finite_lower, lower + 1, upper - 1)
    inside = pt.switch(finite_lower & finite_upper, (lower + upper) / 2, one_sided)
    return pt.switch((point > lower) & (point < upper), point, inside)


def _most_probable(n: Any, p: Any) -> Any:
    """Counts near n p that add up to n."""
    counts = pt.floor(n[..., None] * p)
    largest = pt.eq(pt.arange(p.shape[-1]), pt.argmax(p, axis=-1)[..., None])
    return counts + largest * (n - counts.sum(axis=-1))[..., None]


_TABLE: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    # the real line
    ("normal", lambda rng, mu, sigma, size: rng.normal(mu, sigma, size), lambda mu, sigma: mu),
    ("student_t", lambda rng, nu, mu, sigma, size: mu + sigma * rng.standard_t(nu, size), lambda nu, mu, sigma: mu),
    ("cauchy", lambda rng, alpha, beta, size: alpha + beta * rng.standard_cauchy(size), lambda alpha, beta: alpha),
    ("laplace", lambda rng, mu, b, size: rng.laplace(mu, b, size), lambda mu, b: mu),
    (
        "asymmetric_laplace", _scipy(stats.laplace_asymmetric, lambda k, mu, b: {"kappa": k, "loc": mu, "scale": 1 / b}),
        lambda kappa, mu, b: mu - (kappa - 1 / kappa) / b,
    ),
    ("logistic", lambda rng, mu, s, size: rng.logistic(mu, s, size), lambda mu, s: mu),
    ("gumbel", lambda rng, mu, beta, size: rng.gumbel(mu, beta, size), lambda mu, beta: mu + beta * np.euler_gamma),
    (
        "moyal", _scipy(stats.moyal, lambda mu, sigma: {"loc": mu, "scale": sigma}),
        lambda mu, sigma: mu + sigma * (np.euler_gamma + np.log(2)),
    ),
    (
        "skew_normal", _skew_normal,
        lambda mu, sigma, alpha: mu + sigma * np.sqrt(2 / np.pi) * alpha / pt.sqrt(1 + alpha**2),
    ),
    (
        "ex_gaussian", lambda rng, mu, sigma, nu, size: rng.normal(mu, sigma, size) + rng.exponential(nu, size),
        lambda mu, sigma, nu: mu + nu,
    ),
    # positive
    ("half_normal", lambda rng, sigma, size: np.abs(rng.normal(0, sigma, size)), lambda sigma: sigma),
    (
        "half_student_t", lambda rng, nu, sigma, size: sigma * np.abs(rng.standard_t(nu, size)),
        lambda nu, sigma: sigma,
    ),
    ("half_cauchy", lambda rng, beta, size: beta * np.abs(rng.standard_cauchy(size)), lambda beta: beta),
    ("log_normal", lambda rng, mu, sigma, size: rng.lognormal(mu, sigma, size), lambda mu, sigma: pt.exp(mu)),
    ("exponential", lambda rng, lam, size: rng.exponential(1 / lam, size), lambda lam: 1 / lam),
    ("gamma", lambda rng, alpha, beta, size: rng.gamma(alpha, 1 / beta, size), lambda alpha, beta: alpha / beta),
    (
        "inverse_gamma", lambda rng, alpha, beta, size: beta / rng.gamma(alpha, size=size),
        lambda alpha, beta: beta / (alpha + 1),
    ),
    ("chi_squared", lambda rng, nu, size: rng.chisquare(nu, size), lambda nu: nu),
    (
        "weibull", lambda rng, alpha, beta, size: beta * rng.weibull(alpha, size),
        lambda alpha, beta: beta * np.log(2) ** (1 / alpha),
    ),
    (
        "pareto", lambda rng, alpha, m, size: m * (1 + rng.pareto(alpha, size)),
        lambda alpha, m: m * 2 ** (1 / alpha),
    ),
    ("wald", lambda rng, mu, lam, size: rng.wald(mu, lam, size), lambda mu, lam: mu),
    (
        "rice", lambda rng, nu, sigma, size: np.hypot(rng.normal(nu, sigma, size), rng.normal(0, sigma, size)),
        lambda nu, sigma: pt.sqrt(nu**2 + 2 * sigma**2),
    ),
    # bounded, circular
    ("uniform", lambda rng, lower, upper, size: rng.uniform(lower, upper, size), lambda lower, upper: (lower + upper) / 2),
    (
        "triangular", lambda rng, lower, c, upper, size: rng.triangular(lower, c, upper, size),
        lambda lower, c, upper: (lower + c + upper) / 3,
    ),
    ("beta", lambda rng, alpha, beta, size: rng.beta(alpha, beta, size), lambda alpha, beta: alpha / (alpha + beta)),
    ("kumaraswamy", _kumaraswamy, lambda a, b: (1 - 2 ** (-1 / b)) ** (1 / a)),
    (
        "logit_normal", lambda rng, mu, sigma, size: special.expit(rng.normal(mu, sigma, size)),
        lambda mu, sigma: pt.sigmoid(mu),
    ),
    ("truncated_normal", _truncated_normal, lambda mu, sigma, lower, upper: between(mu, lower, upper)),
    ("von_mises", lambda rng, mu, kappa, size: rng.vonmises(mu, kappa, size), lambda mu, kappa: mu),
    # binary, binomial
    ("bernoulli", lambda rng, p, size: rng.binomial(1, p, size), lambda p: p > 0.5),
    ("bernoulli_logit", lambda rng, eta, size: rng.binomial(1, special.expit(eta), size), lambda eta: eta > 0),
    ("binomial", lambda rng, n, p, size: rng.binomial(n.astype(int), p, size), lambda n, p: _count(n * p)),
    (
        "binomial_logit", lambda rng, n, eta, size: rng.binomial(n.astype(int), special.expit(eta), size),
        lambda n, eta: _count(n * pt.sigmoid(eta)),
    ),
    (
        "beta_binomial",
        lambda rng, n, alpha, beta, size: rng.binomial(n.astype(int), rng.beta(alpha, beta, size), size),
        lambda n, alpha, beta: _count(n * alpha / (alpha + beta)),
    ),
    (
        "zero_inflated_binomial", _inflated(lambda rng, n, p, size: rng.binomial(n.astype(int), p, size)),
        lambda psi, n, p: _count(psi * n * p),
    ),
    # counts
    ("poisson", lambda rng, mu, size: rng.poisson(mu, size), lambda mu: pt.floor(mu)),
    ("poisson_log", lambda rng, eta, size: rng.poisson(np.exp(eta), size), lambda eta: pt.floor(pt.exp(eta))),
    ("negative_binomial", _negative_binomial, lambda mu, alpha: pt.floor(mu)),
    (
        "negative_binomial_log", lambda rng, eta, alpha, size: _negative_binomial(rng, np.exp(eta), alpha, size),
        lambda eta, alpha: pt.floor(pt.exp(eta)),
    ),
    ("geometric", lambda rng, p, size: rng.geometric(p, size), lambda p: _count(1 / p)),
    (
        "discrete_uniform", lambda rng, lower, upper, size: rng.integers(lower, upper, size, endpoint=True),
        lambda lower, upper: pt.floor((lower + upper) / 2),
    ),
    (
        "zero_inflated_poisson", _inflated(lambda rng, mu, size: rng.poisson(mu, size)),
        lambda psi, mu: pt.floor(psi * mu),
    ),
    ("zero_inflated_negative_binomial", _inflated(_negative_binomial), lambda psi, mu, alpha: pt.floor(psi * mu)),
    # categories
    ("categorical", _choice, lambda p: pt.argmax(p, axis=-1)),
    (
        "categorical_logit", lambda rng, eta, size: _choice(rng, special.softmax(eta, -1), size),
        lambda eta: pt.argmax(eta, axis=-1),
    ),
    ("ordered_logit", _ordered_logit, lambda eta, cutpoints: (eta[..., None] > cutpoints).sum(axis=-1)),
    # vectors
    ("mvnormal", _mvnormal, lambda mu, cov: mu),
    ("mv_student_t", _mv_student_t, lambda nu, mu, cov: mu),
    ("dirichlet", _dirichlet, lambda a: a / a.sum(axis=-1, keepdims=True)),
    ("multinomial", _multinomial, _most_probable),
]  # fmt: skip

BUILT_IN = {name: BuiltIn(random, point) for name, random, point in _TABLE}
