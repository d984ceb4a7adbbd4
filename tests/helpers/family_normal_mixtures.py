"""Normal variables whose mean and variance a generalised inverse Gaussian one multiplies, by Bessel functions."""

import mpmath as mp
import numpy as np
from families import Slow, family
from references_continuous import inf, parameters, positive, real
from scipy import stats

nan = np.nan


def generalized_hyperbolic(x, p, alpha, beta, mu, delta):
    if mp.isinf(x):
        return -mp.inf
    gamma, q = mp.sqrt((alpha - beta) * (alpha + beta)), mp.hypot(x - mu, delta)
    if gamma:
        constant = p * mp.log(gamma / delta) - mp.log(2 * mp.besselk(p, delta * gamma))
    else:
        constant = -p * mp.log(delta * delta / 2) - mp.loggamma(-p)
    order = p - mp.mpf(1) / 2
    if alpha:
        bessel = mp.log(2 * mp.besselk(order, alpha * q)) + order * mp.log(q / alpha)
    else:
        bessel = mp.loggamma(-order) + order * mp.log(q * q / 2)
    return constant - mp.log(2 * mp.pi) / 2 + bessel + beta * (x - mu)


def mixture_tails(d, p, beta, gamma, delta):
    """The mean of Phi((d - beta W) / sqrt(W)) by the trapezoidal rule in log(w), in steps half as long as 25 digits need"""
    b = delta * gamma
    middle = beta * ((p + mp.hypot(p, b)) / gamma**2 if gamma else -(delta**2) / (2 * p))
    if d > middle:
        return mixture_tails(-d, p, -beta, gamma, delta)[::-1]
    if b:
        constant = mp.log(2 * mp.besselk(p, b)) + p * mp.log(delta / gamma)
    else:
        constant = mp.loggamma(abs(p)) + p * mp.log(2 / gamma**2 if gamma else delta**2 / 2)
    a, rate = mp.hypot(d, delta), mp.hypot(mp.hypot(beta, gamma), mp.mpf("1e-3") / mp.hypot(d, delta))
    step, center = mp.mpf("0.25") / mp.sqrt(mp.hypot(p, a * rate) + 7), mp.log((p + mp.hypot(p, a * rate)) / rate**2)
    total = mp.mpf(0)
    for side in (-1, 1):
        i = 0 if side < 0 else 1
        while True:
            u = center + side * i * step
            w, i = mp.exp(u), i + 1
            z, power = (beta * w - d) / mp.sqrt(2 * w), p * u - (delta**2 / w + gamma**2 * w) / 2 - constant
            part = mp.exp(power) * mp.erfc(z)
            total += part
            if i > 5 and part <= mp.mpf("1e-22") * total:
                break
    return total * step / 2, 1 - total * step / 2


def generalized_hyperbolic_tails(x, p, alpha, beta, mu, delta):
    return mixture_tails(x - mu, p, beta, mp.sqrt((alpha - beta) * (alpha + beta)), delta)


def variance_gamma(x, theta, nu, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    p, order, d, beta = 1 / nu, 1 / nu - mp.mpf(1) / 2, (x - mu) / sigma, theta / sigma
    alpha = mp.sqrt(beta**2 + 2 / nu)
    if d:
        bessel = mp.log(2 * mp.besselk(order, alpha * abs(d))) + order * mp.log(abs(d) / alpha)
    else:
        bessel = mp.inf if order <= 0 else mp.loggamma(order) - order * mp.log(alpha * alpha / 2)
    return -p * mp.log(nu) - mp.loggamma(p) - mp.log(2 * mp.pi) / 2 + bessel + beta * d - mp.log(sigma)


def variance_gamma_tails(x, theta, nu, mu, sigma):
    if x == mu:
        below = mp.quad(lambda t: (1 + t * t) ** (-1 / nu - mp.mpf(1) / 2), [-mp.inf, -theta / sigma / mp.sqrt(2 / nu)])
        below /= mp.beta(1 / nu, mp.mpf(1) / 2)
        return below, 1 - below
    return mixture_tails((x - mu) / sigma, 1 / nu, theta / sigma, mp.sqrt(2 / nu), mp.mpf(0))


def normal_inverse_gaussian(x, alpha, beta, mu, delta):
    if mp.isinf(x):
        return -mp.inf
    gamma, q = mp.sqrt((alpha - beta) * (alpha + beta)), mp.hypot(x - mu, delta)
    return mp.log(alpha * delta / (mp.pi * q) * mp.besselk(1, alpha * q)) + delta * gamma + beta * (x - mu)


def normal_inverse_gaussian_tails(x, alpha, beta, mu, delta):
    return generalized_hyperbolic_tails(x, -mp.mpf(1) / 2, alpha, beta, mu, delta)


def asymmetric(rng, n):
    alpha = np.exp(rng.uniform(np.log(0.1), np.log(30), n))
    return alpha, alpha * rng.uniform(-0.95, 0.95, n)


def with_asymmetry(*before):
    """Random parameters: those before, alpha and beta, a location and a scale"""

    def random(rng, n):
        first, after = parameters(*before)(rng, n) if before else (), parameters(real(), positive(0.1, 10))
        return (*first, *asymmetric(rng, n), *after(rng, n))

    return random


def mixed(rng, p):
    """Draws, with larger variances"""
    alpha, beta, mu, delta = p[-4:]
    shape, gamma = p[0] if len(p) == 5 else -0.5, np.sqrt(alpha**2 - beta**2)
    w = stats.geninvgauss.rvs(shape, delta * gamma, scale=delta / gamma, size=alpha.shape, random_state=rng)
    return mu + beta * w + 2 * np.sqrt(w) * rng.normal(size=alpha.shape)


def mixed_in_time(rng, p):
    theta, nu, mu, sigma = p
    w = rng.gamma(1 / nu) * nu
    return mu + theta * w + 2 * sigma * np.sqrt(w + 0.01) * rng.normal(size=nu.shape)


class VarianceGamma:
    """What scipy.stats has no distribution for"""

    def __init__(self, theta, nu, mu, sigma):
        self.parameters, square = (theta, nu, mu, sigma), nu * (theta / sigma) ** 2
        self.moments = mu + theta, sigma**2 + nu * theta**2, nu * (3 + 12 * square + 6 * square**2) / (1 + square) ** 2

    def stats(self, moments):
        return self.moments

    def cdf(self, x):
        """The mean of normal probabilities over the logarithm of the time"""
        theta, nu, mu, sigma = self.parameters
        log_w = np.linspace(-60 * nu - 5, 5 + nu, 4000)
        w, time = np.exp(log_w), stats.gamma(1 / nu, scale=nu)
        below = stats.norm.cdf((x[:, None] - mu - theta * w) / (sigma * np.sqrt(w)))
        return np.sum(below * time.pdf(w) * w, 1) * (log_w[1] - log_w[0])


def theirs(p, alpha, beta, mu, delta):
    """Their distribution is not accurate where alpha is 0"""
    if np.any(alpha == 0):
        return stats.t(-2 * p, mu, delta / np.sqrt(-2 * p))
    return Slow(stats.genhyperbolic(p, alpha * delta, beta * delta, mu, delta))


INVALID = [(1, 1, 0, 1), (1, -2, 0, 1), (0, 0, 0, 1), (-1, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, -1), (nan, 0, 0, 1),
           (1, nan, 0, 1),
           (1, 0, nan, 1), (1, 0, 0, nan), (inf, 0, 0, 1)]  # fmt: skip

REFERENCES = {
    "normal_inverse_gaussian": family(
        normal_inverse_gaussian, normal_inverse_gaussian_tails, with_asymmetry(), (-inf, inf),
        [(inf, 1, 0, 0, 1), (-inf, 1, 0, 0, 1), (0, 1, 0, 0, 1), (1, 1, 0.5, 0, 1), (100, 1, 0.5, 0, 1), (-100, 1, 0.5, 0, 1),
         (1e3, 1, 0.999, 0, 1), (-3, 1, 0.999, 0, 1), (0.5, 1e-5, 0, 0, 1), (1e3, 1e-5, 0, 0, 1e-3), (1.0625, 1e6, 1e3, 1, 1),
         (1, 1e4, -1e3, 1.125, 1), (1e-20, 1, 0, 0, 1e-20), (5, 30, 29, 0, 1e-3), (3, 1, -0.5, 2, 100)],
        INVALID, lambda alpha, beta, mu, delta: Slow(stats.norminvgauss(alpha * delta, beta * delta, mu, delta)), mixed,
        [(1, 0, 0, 1), (1.25, 0.5, 2, 3), (0.01, -0.009, 0, 1), (30, 10, 0, 5)], digits=25,
    ),
    "generalized_hyperbolic": family(
        generalized_hyperbolic, generalized_hyperbolic_tails, with_asymmetry(real(3)), (-inf, inf),
        [(inf, 1, 1, 0, 0, 1), (-inf, 1, 1, 0, 0, 1), (0, 1, 1, 0, 0, 1), (0.5, 1.5, 1.25, -0.5, 0, 1), (60, 1, 1, 0.5, 0, 1),
         (-60, -3, 1, 0.5, 0, 1), (1e3, 2, 1, 0.999, 0, 1), (-3, 2, 1, 0.999, 0, 1), (3, -2, 0, 0, 0, 1), (3, -2, 1, 1, 0, 1),
         (-3, -2, 1, 1, 0, 1), (20, -1.5, 0, 0, 0, 2), (1.0625, 1, 1e6, 1e3, 1, 1), (10, 100, 10, 5, 0, 1),
         (1, 0.5, 1, 0, 0, 1),
         (0.5, 0, 1, 0.5, 0, 0.125), (1, 3, 2, -1, 0, 1e-5), (-2, -40, 2, -1, 0, 1)],
        [(1, *row) for row in INVALID] + [(nan, 1, 0, 0, 1), (inf, 1, 0, 0, 1), (-1, 1, -1.5, 0, 1), (-1, -1, 0, 0, 1)],
        theirs, mixed,
        [(1, 1, 0, 0, 1), (0.5, 1.5, -0.5, 0, 1), (-2, 0.3, 0.2, 1, 3), (5, 3, -2, 0, 0.5), (-3, 0, 0, 0, 2)], digits=25,
    ),
    "variance_gamma": family(
        variance_gamma, variance_gamma_tails, parameters(real(), positive(0.05, 8), real(), positive(1, 10)), (-inf, inf),
        [(inf, 0, 1, 0, 1), (-inf, 0, 1, 0, 1), (0, 0, 1, 0, 1), (0, 1, 1, 0, 1), (0, -3, 1, 0, 2), (0, 0, 2, 0, 1),
         (0, 0, 3, 0, 1),
         (1, 0.5, 1, 0, 1), (-20, 0.5, 0.5, 0, 1), (30, 0.5, 2, 0, 1), (1e-15, 0, 2, 0, 1), (1e-15, 0.5, 3, 0, 1),
         (3, 1e3, 1, 0, 1),
         (1.0625, 0.125, 1e-4, 1, 1), (-5, 3, 0.01, 0, 1), (1e-3, 0, 4, 0, 1), (-0.3, -0.7, 20, 0, 1), (0.5, 0.5, 100, 0, 1)],
        [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 0, 0), (0, 1, 0, -1), (nan, 1, 0, 1), (0, nan, 0, 1), (0, 1, nan, 1),
         (0, 1, 0, nan),
         (inf, 1, 0, 1), (0, inf, 0, 1)],
        lambda *parameters: Slow(VarianceGamma(*parameters)), mixed_in_time,
        [(0, 1, 0, 1), (0.5, 0.3, 2, 1), (-2, 0.5, 0, 0.3)], scipy=False, digits=25,
        rtol32=1e-4, reason="nu's derivative is a difference of terms that nearly cancel where nu is small",
    ),
}  # fmt: skip
