"""Regressions among the models of `bench.rows`."""

from __future__ import annotations

import numpy as np
from scipy import special

import gpustats as gs

from .row_models import Model, bernoulli_logit_by_hand, design, near, softmax_by_hand, sum_log_factorial


class Logistic(Model):
    title = "logistic regression, k=10"
    function = gs.bernoulli_logit

    def simulate(self, rng, n):
        X, truth, beta = design(rng, n, 10)
        return dict(y=(rng.random(n) < special.expit(X @ truth)).astype(np.uint8), X=X), dict(beta=beta)

    def leaves(self, y, X):
        return dict(x=y, eta=gs.dot(X, of="beta"))

    def log_likelihood(self, xp, y, X, beta):
        return xp.bernoulli_logit(y, X @ beta)

    def value_and_grad(self, y, X, beta):
        value, slope = bernoulli_logit_by_hand(y, X @ beta)
        return value, dict(beta=slope @ X)


class NegativeBinomial(Model):
    title = "negative binomial regression, k=3"
    function = gs.negative_binomial_log

    def simulate(self, rng, n):
        X, truth, beta = design(rng, n, 3)
        y = rng.poisson(np.exp(X @ truth) * rng.gamma(2.0, 0.5, n)).astype(np.int32)
        return dict(y=y, X=X, log_factorials=sum_log_factorial(y)), dict(beta=beta, phi=2.2)

    def leaves(self, y, X, log_factorials):
        return dict(x=y, eta=gs.dot(X, of="beta"))

    def log_likelihood(self, xp, y, X, log_factorials, beta, phi):
        eta, log_phi = X @ beta, xp.log(phi)
        terms = xp.lgamma(y + phi) + y * eta - (y + phi) * xp.logaddexp(log_phi, eta)
        return terms.sum() + len(y) * (phi * log_phi - xp.lgamma(phi)) - log_factorials

    def value_and_grad(self, y, X, log_factorials, beta, phi):
        eta, total = X @ beta, y + phi
        mu = np.exp(eta)
        logs, ratio = np.log(mu + phi), total / (mu + phi)
        value = special.gammaln(total).sum() + y @ eta - total @ logs - log_factorials
        in_phi = (special.digamma(total) - logs - ratio).sum() + len(y) * (1 + np.log(phi) - special.digamma(phi))
        value += len(y) * (phi * np.log(phi) - special.gammaln(phi))
        return value, dict(beta=(y - mu * ratio) @ X, phi=in_phi)


class ZeroInflatedPoisson(Model):
    title = "zero-inflated Poisson regression"
    function = """
    real count(int y, real x, real a, real b, real psi) { return zero_inflated_poisson_logpmf(y, psi, exp(a + b * x)); }"""

    def simulate(self, rng, n):
        x = rng.normal(size=n)
        y = (rng.poisson(np.exp(0.5 + 0.4 * x)) * (rng.random(n) < 0.7)).astype(np.int32)
        return dict(y=y, x=x, log_factorials=sum_log_factorial(y)), dict(a=0.6, b=0.3, psi=0.75)

    def leaves(self, y, x, log_factorials):
        return dict(y=y, x=x)

    def log_likelihood(self, xp, y, x, log_factorials, a, b, psi):
        eta = a + b * x
        mu = xp.exp(eta)
        return xp.where(y == 0, xp.log1p(psi * xp.expm1(-mu)), xp.log(psi) + y * eta - mu).sum() - log_factorials

    def value_and_grad(self, y, x, log_factorials, a, b, psi):
        eta, zero = a + b * x, y == 0
        mu = np.exp(eta)
        none = np.expm1(-mu)  # 1 + psi none is the probability of 0
        value = np.where(zero, np.log1p(psi * none), np.log(psi) + y * eta - mu).sum() - log_factorials
        in_eta = np.where(zero, -psi * (1 + none) / (1 + psi * none) * mu, y - mu)
        return value, dict(a=in_eta.sum(), b=in_eta @ x, psi=np.where(zero, none / (1 + psi * none), 1 / psi).sum())


class CensoredWeibull(Model):
    title = "censored Weibull regression"
    function = """
    real lifetime(real t, int seen, real x, real a, real b, real shape)
    {
        real log_t = log(t), z = shape * (log_t - (a + b * x));
        return (seen ? log(shape) - log_t + z : 0) - exp(z);
    }"""

    def simulate(self, rng, n):
        x, end = rng.normal(size=n), rng.exponential(2.0, n)
        t = np.exp(0.2 + 0.4 * x) * rng.weibull(1.5, n)
        return dict(t=np.minimum(t, end), seen=(t < end).astype(np.uint8), x=x), dict(a=0.3, b=0.3, shape=1.4)

    def log_likelihood(self, xp, t, seen, x, a, b, shape):
        log_t = xp.log(t)
        z = shape * (log_t - (a + b * x))
        return (seen * (xp.log(shape) - log_t + z) - xp.exp(z)).sum()

    def value_and_grad(self, t, seen, x, a, b, shape):
        log_t = np.log(t)
        centred = log_t - (a + b * x)
        z = shape * centred
        hazard = np.exp(z)  # cumulative
        slope = seen - hazard
        value = seen @ (np.log(shape) - log_t + z) - hazard.sum()
        in_shape = np.count_nonzero(seen) / shape + slope @ centred
        return value, dict(a=-shape * slope.sum(), b=-shape * (slope @ x), shape=in_shape)


class Ordinal(Model):
    title = "ordinal regression, K=5 k=3"
    function = gs.ordered_logit
    indices = ("y",)

    def simulate(self, rng, n):
        (X, truth, beta), cutpoints = design(rng, n, 3), np.array([-1.5, -0.4, 0.5, 1.6])
        y = np.searchsorted(cutpoints, X @ truth + rng.logistic(size=n))
        return dict(y=y, X=X), dict(beta=beta, cutpoints=near(rng, cutpoints))

    def leaves(self, y, X):
        return dict(x=y, eta=gs.dot(X, of="beta"))

    def log_likelihood(self, xp, y, X, beta, cutpoints):
        eta, lower, upper = X @ beta, xp.concatenate((-xp.infinity, cutpoints)), xp.concatenate((cutpoints, xp.infinity))
        return xp.log(xp.sigmoid(xp.take(upper, y) - eta) - xp.sigmoid(xp.take(lower, y) - eta)).sum()

    def value_and_grad(self, y, X, beta, cutpoints):
        eta, bounds = X @ beta, np.concatenate(([-np.inf], cutpoints, [np.inf]))
        above, below = special.expit(bounds[y + 1] - eta), special.expit(bounds[y] - eta)
        p = above - below
        in_above, in_below = above * (1 - above) / p, below * (1 - below) / p
        in_cutpoints = np.bincount(y, in_above, 5)[:-1] - np.bincount(y, in_below, 5)[1:]
        return np.log(p).sum(), dict(beta=(in_below - in_above) @ X, cutpoints=in_cutpoints)


class Softmax(Model):
    title = "softmax regression, K=3 k=4"
    function = gs.categorical_logit

    def simulate(self, rng, n):
        X, W = rng.normal(size=(n, 4)), rng.normal(size=(4, 3)) / 2
        return dict(y=(X @ W + rng.gumbel(size=(n, 3))).argmax(1), X=X), dict(W=near(rng, W))

    def leaves(self, y, X):
        return dict(x=y, eta=gs.dot(X, of="W"))

    def log_likelihood(self, xp, y, X, W):
        return xp.categorical_logit(y, X @ W)

    def value_and_grad(self, y, X, W):
        eta = W.T @ X.T
        log_sums, p = softmax_by_hand(eta)
        return (eta[y, np.arange(len(y))] - log_sums).sum(), dict(W=(((y == np.arange(3)[:, None]) - p) @ X).T)
