"""Common parts of the models of `bench.rows`, and the models with curves, groups or latent variables.

Each model is there three times: for gpustats; for JAX and PyTorch, which add the same terms, written with functions that both
have, and differentiate them by themselves; and for NumPy, with the derivatives written out. To the last three a sum of
log-factorials, which depends on data alone, is a number that they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal, special

import gpustats as gs

from .peers import HALF_LOG_2PI

Arrays = dict[str, Any]  # by name


class Model:
    """Model of N rows.

    Attributes
    ----------
    title : str
    function : str or Density
        The function of a row, for `gpustats.Rows`.
    indices : tuple of str
        The data that are indices, of which `xp.take` takes elements of tables.
    leaves : callable
        ``leaves(**data)`` gives the arguments of this function that are not numbers; by default the data themselves.
    simulate : callable
        ``simulate(rng, n)`` gives data of n rows, and parameters near those that they were drawn with. Indices and categories
        are int64, other whole numbers int32 or uint8.
    log_likelihood : callable
        ``log_likelihood(xp, **data, **parameters)`` with JAX or PyTorch, whose functions `xp` has by the same names.
    value_and_grad : callable
        ``value_and_grad(**data, **parameters)`` gives the log-likelihood, and its derivative in each parameter, with NumPy.
    """

    title: str
    function: str | gs.Density
    indices: tuple[str, ...] = ()
    leaves: Callable[..., Arrays] = dict
    simulate: Callable[[np.random.Generator, int], tuple[Arrays, Arrays]]
    log_likelihood: Callable[..., Any]
    value_and_grad: Callable[..., tuple[float, Arrays]]


# -- What models share


def normal(xp, y, mu, sigma):
    """Sum of normal log-densities."""
    z = (y - mu) / sigma
    return -0.5 * (z * z).sum() - len(z) * (xp.log(sigma) + HALF_LOG_2PI)


def normal_by_hand(y, mu, sigma):
    """Sum of normal log-densities, its derivatives in the means, (N,), and the one in sigma."""
    z = (y - mu) / sigma
    squares = z @ z
    return -0.5 * squares - len(z) * (np.log(sigma) + HALF_LOG_2PI), z / sigma, (squares - len(z)) / sigma


def bernoulli_logit_by_hand(y, eta):
    """Sum of the log-probabilities of successes and failures, and its derivatives in the log odds, (N,)."""
    return special.log_expit(np.where(y, eta, -eta)).sum(), y - special.expit(eta)


def softmax_by_hand(eta):
    """Logarithms of the sums of exponentials along the first axis, (N,), and the share of each term, (K, N)."""
    largest = eta.max(0)
    shares = np.exp(eta - largest)
    total = shares.sum(0)
    return largest + np.log(total), shares / total


def design(rng, n, k):
    """Matrix (n, k), coefficients, and others near them."""
    beta = rng.normal(size=k) / k**0.5
    return rng.standard_normal((n, k)), beta, near(rng, beta)


def near(rng, truth):
    """Parameters at some distance from the data's true ones."""
    return truth + 0.05 * rng.normal(size=np.shape(truth))


def sum_log_factorial(y):
    """Sum of the logarithms of the factorials of y."""
    return np.bincount(y) @ special.gammaln(np.arange(y.max() + 1) + 1.0)


# -- Curves


class MichaelisMenten(Model):
    title = "Michaelis-Menten, normal"
    function = "real rate(real y, real x, real v, real k, real sigma) { return normal_logpdf(y, v * x / (k + x), sigma); }"

    def simulate(self, rng, n):
        x = rng.gamma(2.0, size=n)
        return dict(y=1.2 * x / (0.7 + x) + 0.3 * rng.normal(size=n), x=x), dict(v=1.3, k=0.8, sigma=0.35)

    def log_likelihood(self, xp, y, x, v, k, sigma):
        return normal(xp, y, v * x / (k + x), sigma)

    def value_and_grad(self, y, x, v, k, sigma):
        saturation = x / (k + x)
        value, slope, in_sigma = normal_by_hand(y, v * saturation, sigma)
        return value, dict(v=slope @ saturation, k=-v * (slope @ (saturation / (k + x))), sigma=in_sigma)


class RobustMichaelisMenten(Model):
    title = "Michaelis-Menten, Student t"
    function = """
    real rate(real y, real x, real v, real k, real nu, real sigma)
    { return student_t_logpdf(y, nu, v * x / (k + x), sigma); }"""

    def simulate(self, rng, n):
        x = rng.gamma(2.0, size=n)
        return dict(y=1.2 * x / (0.7 + x) + 0.3 * rng.standard_t(4.0, n), x=x), dict(v=1.3, k=0.8, nu=5.0, sigma=0.35)

    def log_likelihood(self, xp, y, x, v, k, nu, sigma):
        z = (y - v * x / (k + x)) / sigma
        constant = xp.lgamma((nu + 1) / 2) - xp.lgamma(nu / 2) - 0.5 * xp.log(np.pi * nu) - xp.log(sigma)
        return len(z) * constant - (nu + 1) / 2 * xp.log1p(z * z / nu).sum()

    def value_and_grad(self, y, x, v, k, nu, sigma):
        n, saturation = len(y), x / (k + x)
        z = (y - v * saturation) / sigma
        squares = z * z
        logs = np.log1p(squares / nu).sum()
        constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(np.pi * nu) - np.log(sigma)
        weight = (nu + 1) / (nu + squares)  # that of an observation in a fit by iteratively reweighted least squares
        weighted, slope = weight @ squares, weight * z / sigma
        in_constant = (special.digamma((nu + 1) / 2) - special.digamma(nu / 2) - 1 / nu) / 2
        return n * constant - (nu + 1) / 2 * logs, dict(
            v=slope @ saturation, k=-v * (slope @ (saturation / (k + x))),
            nu=n * in_constant - logs / 2 + weighted / (2 * nu), sigma=(weighted - n) / sigma,
        )  # fmt: skip


# -- Groups


class VaryingSlopes(Model):
    """Intercepts and slopes of groups."""

    indices = ("group",)
    function = "real line(real y, real x, real a, real b, real sigma) { return normal_logpdf(y, a + b * x, sigma); }"

    def __init__(self, groups: int):
        self.title, self.groups = f"intercepts and slopes, {groups:,} groups", groups

    def simulate(self, rng, n):
        x, group, (a, b) = rng.normal(size=n), rng.integers(0, self.groups, n), rng.normal(size=(2, self.groups))
        y = a[group] + b[group] * x + 0.5 * rng.normal(size=n)
        return dict(y=y, x=x, group=group), dict(a=near(rng, a), b=near(rng, b), sigma=0.6)

    def leaves(self, y, x, group):
        return dict(y=y, x=x, a=gs.gather(group), b=gs.gather(group))

    def log_likelihood(self, xp, y, x, group, a, b, sigma):
        return normal(xp, y, xp.take(a, group) + xp.take(b, group) * x, sigma)

    def value_and_grad(self, y, x, group, a, b, sigma):
        value, slope, in_sigma = normal_by_hand(y, a[group] + b[group] * x, sigma)
        return value, dict(a=np.bincount(group, slope, len(a)), b=np.bincount(group, slope * x, len(b)), sigma=in_sigma)


class Radon(Model):
    title = "radon, 85 counties"
    function = VaryingSlopes.function
    indices = ("county",)

    def simulate(self, rng, n):
        floor, county, a = rng.integers(0, 2, n).astype(np.uint8), rng.integers(0, 85, n), 1.5 + 0.3 * rng.normal(size=85)
        y = a[county] - 0.7 * floor + 0.75 * rng.normal(size=n)
        return dict(y=y, x=floor, county=county), dict(a=near(rng, a), b=-0.6, sigma=0.8)

    def leaves(self, y, x, county):
        return dict(y=y, x=x, a=gs.gather(county))

    def log_likelihood(self, xp, y, x, county, a, b, sigma):
        return normal(xp, y, xp.take(a, county) + b * x, sigma)

    def value_and_grad(self, y, x, county, a, b, sigma):
        value, slope, in_sigma = normal_by_hand(y, a[county] + b * x, sigma)
        return value, dict(a=np.bincount(county, slope, len(a)), b=slope @ x, sigma=in_sigma)


class ItemResponse(Model):
    title = "item response, 10,000 × 100"
    function = "real item(int y, real theta, real d, real b) { return bernoulli_logit_logpmf(y, d * (theta - b)); }"
    indices = "person", "item"

    def simulate(self, rng, n):
        person, item = rng.integers(0, 10_000, n), rng.integers(0, 100, n)
        theta, d, b = rng.normal(size=10_000), rng.gamma(4.0, 0.25, 100), rng.normal(size=100)
        y = rng.random(n) < special.expit(d[item] * (theta[person] - b[item]))
        data = dict(y=y.astype(np.uint8), person=person, item=item)
        return data, dict(theta=near(rng, theta), d=near(rng, d), b=near(rng, b))

    def leaves(self, y, person, item):
        return dict(y=y, theta=gs.gather(person), d=gs.gather(item), b=gs.gather(item))

    def log_likelihood(self, xp, y, person, item, theta, d, b):
        return xp.bernoulli_logit(y, xp.take(d, item) * (xp.take(theta, person) - xp.take(b, item)))

    def value_and_grad(self, y, person, item, theta, d, b):
        own, distance = d[item], theta[person] - b[item]
        value, slope = bernoulli_logit_by_hand(y, own * distance)
        in_theta = slope * own
        return value, dict(
            theta=np.bincount(person, in_theta, len(theta)),
            d=np.bincount(item, slope * distance, len(d)),
            b=-np.bincount(item, in_theta, len(b)),
        )


class HierarchicalPoisson(Model):
    title = "Poisson, 85 groups, k=10"
    function = "real count(int y, real a, real eta) { return poisson_log_logpmf(y, a + eta); }"
    indices = ("group",)

    def simulate(self, rng, n):
        (X, truth, beta), group, a = design(rng, n, 10), rng.integers(0, 85, n), 0.5 * rng.normal(size=85)
        y = rng.poisson(np.exp(a[group] + X @ truth)).astype(np.int32)
        return dict(y=y, X=X, group=group, log_factorials=sum_log_factorial(y)), dict(a=near(rng, a), beta=beta)

    def leaves(self, y, X, group, log_factorials):
        return dict(y=y, a=gs.gather(group), eta=gs.dot(X, of="beta"))

    def log_likelihood(self, xp, y, X, group, log_factorials, a, beta):
        eta = xp.take(a, group) + X @ beta
        return (y * eta - xp.exp(eta)).sum() - log_factorials

    def value_and_grad(self, y, X, group, log_factorials, a, beta):
        eta = a[group] + X @ beta
        mu = np.exp(eta)
        slope = y - mu
        return y @ eta - mu.sum() - log_factorials, dict(a=np.bincount(group, slope, len(a)), beta=slope @ X)


class Factors(Model):
    title = "4 factors, 20,000 × 500"
    function = """
    real rating(real y, const real *theta, const real *phi, real sigma, int dim)
    {
        real mu = 0;
        for (int k = 0; k < dim; k++) mu += theta[k] * phi[k];
        return normal_logpdf(y, mu, sigma);
    }"""
    indices = "i", "j"

    def simulate(self, rng, n):
        i, j = rng.integers(0, 20_000, n), rng.integers(0, 500, n)
        theta, phi = rng.normal(size=(20_000, 4)), rng.normal(size=(500, 4))
        y = np.einsum("nk,nk->n", theta[i], phi[j]) + 0.5 * rng.normal(size=n)
        return dict(y=y, i=i, j=j), dict(theta=near(rng, theta), phi=near(rng, phi), sigma=0.6)

    def leaves(self, y, i, j):
        return dict(y=y, theta=gs.gather(i), phi=gs.gather(j))

    def log_likelihood(self, xp, y, i, j, theta, phi, sigma):
        return normal(xp, y, (xp.take(theta, i) * xp.take(phi, j)).sum(1), sigma)

    def value_and_grad(self, y, i, j, theta, phi, sigma):
        own, other = theta[i], phi[j]
        value, slope, in_sigma = normal_by_hand(y, np.einsum("nk,nk->n", own, other), sigma)

        def added(index, numbers, size):
            return np.stack([np.bincount(index, slope * column, size) for column in numbers.T], 1)

        return value, dict(theta=added(i, other, len(theta)), phi=added(j, own, len(phi)), sigma=in_sigma)


# -- Latent variables


class Mixture(Model):
    title = "mixture of 3 normals"
    function = """
    real mixture(real y, const real *log_w, const real *mu, const real *sigma, int dim)
    {
        real largest = -INFINITY, sum = 0;
        for (int k = 0; k < dim; k++)
            largest = fmax(largest, log_w[k] + normal_logpdf(y, mu[k], sigma[k]));
        for (int k = 0; k < dim; k++)
            sum += exp(log_w[k] + normal_logpdf(y, mu[k], sigma[k]) - largest);
        return largest + log(sum);
    }"""

    def simulate(self, rng, n):
        w, mu, sigma = np.array([0.2, 0.5, 0.3]), np.array([-1.0, 0.5, 3.0]), np.array([0.5, 1.0, 2.0])
        label = rng.choice(3, n, p=w)
        y = mu[label] + sigma[label] * rng.normal(size=n)
        return dict(y=y), dict(log_w=np.log([0.25, 0.4, 0.35]), mu=near(rng, mu), sigma=near(rng, sigma))

    def log_likelihood(self, xp, y, log_w, mu, sigma):
        z = (y - mu[:, None]) / sigma[:, None]
        return xp.logsumexp((log_w - xp.log(sigma) - HALF_LOG_2PI)[:, None] - 0.5 * z * z, 0).sum()

    def value_and_grad(self, y, log_w, mu, sigma):
        z = (y - mu[:, None]) / sigma[:, None]
        terms, p = softmax_by_hand((log_w - np.log(sigma) - HALF_LOG_2PI)[:, None] - 0.5 * z * z)
        weighted = p * z
        count, second = p.sum(1), np.vecdot(weighted, z)
        return terms.sum(), dict(log_w=count, mu=weighted.sum(1) / sigma, sigma=(second - count) / sigma)


class Volatility(Model):
    title = "stochastic volatility"
    function = """
    real volatility(real y, real before, real now, real mu, real phi, real tau)
    { return normal_logpdf(y, 0.0, exp(now / 2)) + normal_logpdf(now, mu + phi * (before - mu), tau); }"""

    def simulate(self, rng, n):
        h = signal.lfilter([1.0], [1.0, -0.95], 0.3 * rng.normal(size=n + 1)) - 1
        return dict(y=np.exp(h[1:] / 2) * rng.normal(size=n)), dict(h=near(rng, h), mu=-0.9, phi=0.9, tau=0.35)

    def leaves(self, y):
        return dict(y=y, before=gs.per_row(of="h"), now=gs.per_row(of="h", offset=1))

    def log_likelihood(self, xp, y, h, mu, phi, tau):
        now = h[1:]
        observed = -0.5 * (y * y * xp.exp(-now) + now).sum() - len(y) * HALF_LOG_2PI
        return observed + normal(xp, now, mu + phi * (h[:-1] - mu), tau)

    def value_and_grad(self, y, h, mu, phi, tau):
        now, distance = h[1:], h[:-1] - mu
        value, slope, in_tau = normal_by_hand(now, mu + phi * distance, tau)
        squares = y * y * np.exp(-now)
        in_h = np.append(phi * slope, 0.0)
        in_h[1:] += 0.5 * (squares - 1) - slope
        value += -0.5 * (squares + now).sum() - len(y) * HALF_LOG_2PI
        return value, dict(h=in_h, mu=(1 - phi) * slope.sum(), phi=slope @ distance, tau=in_tau)
