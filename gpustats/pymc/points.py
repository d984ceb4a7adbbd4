"""Starting points of free variables: PyTensor expressions of a point well inside the support."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor as pt

from ..language.domains import point_of


def between(point: Any, lower: Any, upper: Any) -> Any:
    """The point where it is well inside the interval, else the interval's middle, or a little inside its only bound."""
    finite_lower, finite_upper = pt.invert(pt.isinf(lower)), pt.invert(pt.isinf(upper))
    one_sided = pt.switch(finite_lower, lower + 1, upper - 1)
    inside = pt.switch(finite_lower & finite_upper, (lower + upper) / 2, one_sided)
    return pt.switch((point > lower) & (point < upper), point, inside)


def of_domain(words: frozenset[str], core: tuple) -> Any:
    """A point inside a domain; `core` is the shape of a vector."""
    return pt.as_tensor(point_of(words, pt, core[0] if core else None))


def _count(value: Any) -> Any:
    return pt.floor(value + 0.5)


def _most_probable(n: Any, p: Any) -> Any:
    """Counts near n p that add up to n."""
    counts = pt.floor(n[..., None] * p)
    largest = pt.eq(pt.arange(p.shape[-1]), pt.argmax(p, axis=-1)[..., None])
    return counts + largest * (n - counts.sum(axis=-1))[..., None]


#: built-in density -> function of its parameters, in its order
POINTS: dict[str, Callable[..., Any]] = {
    # the real line
    "normal": lambda mu, sigma: mu,
    "student_t": lambda nu, mu, sigma: mu,
    "normal_identity": lambda eta, sigma: eta,
    "student_t_identity": lambda nu, eta, sigma: eta,
    "cauchy": lambda alpha, beta: alpha,
    "laplace": lambda mu, b: mu,
    "asymmetric_laplace": lambda kappa, mu, b: mu - (kappa - 1 / kappa) / b,
    "logistic": lambda mu, s: mu,
    "gumbel": lambda mu, beta: mu + beta * np.euler_gamma,
    "moyal": lambda mu, sigma: mu + sigma * (np.euler_gamma + np.log(2)),
    "skew_normal": lambda mu, sigma, alpha: mu + sigma * np.sqrt(2 / np.pi) * alpha / pt.sqrt(1 + alpha**2),
    "ex_gaussian": lambda mu, sigma, nu: mu + nu,
    # positive
    "half_normal": lambda sigma: sigma,
    "half_student_t": lambda nu, sigma: sigma,
    "half_cauchy": lambda beta: beta,
    "log_normal": lambda mu, sigma: pt.exp(mu),
    "exponential": lambda lam: 1 / lam,
    "gamma": lambda alpha, beta: alpha / beta,
    "gamma_log": lambda eta, nu: pt.exp(eta),
    "inverse_gamma": lambda alpha, beta: beta / (alpha + 1),
    "chi_squared": lambda nu: nu,
    "weibull": lambda alpha, beta: beta * np.log(2) ** (1 / alpha),
    "pareto": lambda alpha, m: m * 2 ** (1 / alpha),
    "wald": lambda mu, lam: mu,
    "rice": lambda nu, sigma: pt.sqrt(nu**2 + 2 * sigma**2),
    # bounded, circular
    "uniform": lambda lower, upper: (lower + upper) / 2,
    "triangular": lambda lower, c, upper: (lower + c + upper) / 3,
    "beta": lambda alpha, beta: alpha / (alpha + beta),
    "beta_logit": lambda eta, phi: pt.sigmoid(eta),
    "kumaraswamy": lambda a, b: (1 - 2 ** (-1 / b)) ** (1 / a),
    "logit_normal": lambda mu, sigma: pt.sigmoid(mu),
    "truncated_normal": lambda mu, sigma, lower, upper: between(mu, lower, upper),
    "von_mises": lambda mu, kappa: mu,
    # binary, binomial
    "bernoulli": lambda p: p > 0.5,
    "bernoulli_logit": lambda eta: eta > 0,
    "bernoulli_probit": lambda eta: eta > 0,
    "bernoulli_cloglog": lambda eta: eta > np.log(np.log(2)),
    "binomial": lambda n, p: _count(n * p),
    "binomial_logit": lambda n, eta: _count(n * pt.sigmoid(eta)),
    "beta_binomial": lambda n, alpha, beta: _count(n * alpha / (alpha + beta)),
    "zero_inflated_binomial": lambda psi, n, p: _count(psi * n * p),
    # counts
    "poisson": lambda mu: pt.floor(mu),
    "poisson_log": lambda eta: pt.floor(pt.exp(eta)),
    "negative_binomial": lambda mu, alpha: pt.floor(mu),
    "negative_binomial_log": lambda eta, phi: pt.floor(pt.exp(eta)),
    "geometric": lambda p: _count(1 / p),
    "discrete_uniform": lambda lower, upper: pt.floor((lower + upper) / 2),
    "zero_inflated_poisson": lambda psi, mu: pt.floor(psi * mu),
    "zero_inflated_negative_binomial": lambda psi, mu, alpha: pt.floor(psi * mu),
    # categories
    "categorical": lambda p: pt.argmax(p, axis=-1),
    "categorical_logit": lambda eta: pt.argmax(eta, axis=-1),
    "ordered_logit": lambda eta, cutpoints: (eta[..., None] > cutpoints).sum(axis=-1),
    # vectors
    "mvnormal": lambda mu, cov: mu,
    "mv_student_t": lambda nu, mu, cov: mu,
    "dirichlet": lambda a: a / a.sum(axis=-1, keepdims=True),
    "multinomial": _most_probable,
}
