"""References of the discrete densities: their definitions, evaluated by mpmath at 60 digits."""

from types import SimpleNamespace

import mpmath as mp
import numpy as np
from references import Reference, exactly, log_uniform
from scipy import stats

INF = mp.inf
inf = np.inf
nan = np.nan


# ---- log-densities ---------------------------------------------------------------------------------------------------


def times_log(x, y):
    """x log(y), and 0 where x = 0"""
    return mp.mpf(0) if x == 0 else -x * INF if y == 0 else x * mp.log(y)


def log(x):
    return times_log(1, x)


def log_factorial(x):
    return mp.loggamma(x + 1)


def log_choose(n, x):
    return log_factorial(n) - log_factorial(x) - log_factorial(n - x)


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def expit(x):
    return 1 / (1 + mp.exp(-x))


def bernoulli(x, p):
    return binomial(x, 1, p)


def bernoulli_logit(x, eta):
    return binomial_logit(x, 1, eta)


def bernoulli_probit(x, eta):
    return -INF if x > 1 else mp.log(mp.erfc((eta if x == 0 else -eta) / mp.sqrt(2)) / 2)


def bernoulli_cloglog(x, eta):
    return -INF if x > 1 else -mp.exp(eta) if x == 0 else mp.log(-mp.expm1(-mp.exp(eta)))


def binomial(x, n, p):
    return -INF if x > n else log_choose(n, x) + times_log(x, p) + times_log(n - x, 1 - p)


def binomial_logit(x, n, eta):
    return -INF if x > n else log_choose(n, x) + x * mp.log(expit(eta)) + (n - x) * mp.log(expit(-eta))


def beta_binomial(x, alpha, beta, n):
    return -INF if x > n else log_choose(n, x) + log_beta(x + alpha, n - x + beta) - log_beta(alpha, beta)


def poisson(x, mu):
    return times_log(x, mu) - mu - log_factorial(x)


def poisson_log(x, eta):
    return poisson(x, mp.exp(eta))


def negative_binomial(x, mu, alpha):
    log_binomial = mp.loggamma(x + alpha) - mp.loggamma(alpha) - log_factorial(x)
    return log_binomial + alpha * mp.log(alpha / (mu + alpha)) + times_log(x, mu / (mu + alpha))


def negative_binomial_log(x, eta, alpha):
    return negative_binomial(x, mp.exp(eta), alpha)


def geometric(x, p):
    return -INF if x < 1 else mp.log(p) + times_log(x - 1, 1 - p)


def discrete_uniform(x, lower, upper):
    return -mp.log(upper - lower + 1) if lower <= x <= upper else -INF


def zero_inflated(density):
    def log_density(x, psi, *parameters):
        base = density(x, *parameters)
        return log(1 - psi + psi * mp.exp(base)) if x == 0 else log(psi) + base

    return log_density


# ---- random arguments ------------------------------------------------------------------------------------------------


def positive(low=0.1, high=100):
    return lambda rng, n: log_uniform(rng, low, high, n)


def real(scale=3):
    return lambda rng, n: rng.normal(0, scale, n)


def unit(rng, n):
    return rng.uniform(0.001, 0.999, n)


def whole(low, high):
    return lambda rng, n: np.round(log_uniform(rng, low, high, n))


def parameters(*kinds):
    return lambda rng, n: tuple(kind(rng, n) for kind in kinds)


def draws(distribution):
    """Observations drawn from a frozen scipy distribution, every other one pushed outwards"""

    def observations(rng, p):
        x = distribution(*p).rvs(random_state=rng)
        return np.where(rng.uniform(size=x.shape) < 0.5, x, np.floor(x * log_uniform(rng, 0.2, 5, x.shape)))

    return observations


def up_to(index):
    """Observations from 0 to parameter `index`"""
    return lambda rng, p: np.floor(rng.uniform(size=p[index].shape) * (p[index] + 1))


def often_zero(observations):
    return lambda rng, p: np.where(rng.uniform(size=p[0].shape) < 0.3, 0, observations(rng, p))


def poisson_draws(index):
    """Observations that go with the mean in parameter `index`"""
    return lambda rng, p: np.floor(rng.poisson(p[index]) * log_uniform(rng, 0.2, 5, p[index].shape))


def success_below(latent):
    """Trials that succeed where a latent variable, one of scipy's, is at most eta"""
    return lambda eta: SimpleNamespace(logpmf=lambda x: np.where(x == 0, latent.logsf(eta), latent.logcdf(eta)))


def nbinom(mu, alpha):
    return stats.nbinom(alpha, alpha / (mu + alpha))


def reference(logpmf, parameters, observations, extreme, invalid, scipy=None, **options):
    def on_whole_numbers(x, *p):
        return logpmf(x, *p) if mp.isint(x) and (x >= 0 or logpmf is discrete_uniform) else -INF

    scipys = scipy and (lambda x, *p: scipy(*p).logpmf(x))
    return Reference(exactly(on_whole_numbers), parameters, observations, extreme, invalid, scipy=scipys, **options)


OUTSIDE = (-1, 0.5, inf, -inf)  # no counts
INVALID_UNIT = [(-0.1,), (1.1,), (nan,)]
ROUNDED_MEAN = "near the mode of a large mean, the rounding error of exp(eta) counts sqrt(mean) times"

REFERENCES = {
    "bernoulli": reference(
        bernoulli, parameters(unit), lambda rng, p: np.round(rng.uniform(size=p[0].shape)),
        [(x, 0.3) for x in (2, *OUTSIDE)] + [(x, p) for x in (0, 1) for p in (0, 1, 1e-30, 1e-300, 1 - 2**-20)],
        INVALID_UNIT, stats.bernoulli,
    ),
    "bernoulli_logit": reference(
        bernoulli_logit, parameters(real()), lambda rng, p: np.round(rng.uniform(size=p[0].shape)),
        [(x, 1) for x in (2, *OUTSIDE)]
        + [(x, eta) for x in (0, 1) for eta in (0, 1e-10, 30, -30, 700, -700, 1e5, -1e30)],
        [(nan,)],
    ),
    "bernoulli_probit": reference(
        bernoulli_probit, parameters(real()), lambda rng, p: np.round(rng.uniform(size=p[0].shape)),
        [(x, 1) for x in (2, *OUTSIDE)]
        + [(x, sign * eta) for x in (0, 1) for sign in (1, -1) for eta in (0, 1e-10, 5, 13, 30, 38, 700, 1e10, 1e150)],
        [(nan,)], success_below(stats.norm),
    ),
    "bernoulli_cloglog": reference(
        bernoulli_cloglog, parameters(real(2)), lambda rng, p: np.round(rng.uniform(size=p[0].shape)),
        [(x, 1) for x in (2, *OUTSIDE)]
        + [(x, sign * eta) for x in (0, 1) for sign in (1, -1) for eta in (0, 1e-10, 4, 16, 36.5, 80, 700, 1000)]
        + [(0, -1e30), (1, -1e30)],
        [(nan,)], success_below(stats.gumbel_l),
    ),
    "binomial": reference(
        binomial, parameters(whole(1, 1000), unit), up_to(0),
        [(x, 5, 0.3) for x in (6, *OUTSIDE)]
        + [(x, n, p) for n in (0, 4, 100, 101, 1000) for x in (0, n) for p in (0, 0.3, 1)]
        + [(1, 3, 0), (1, 3, 1), (50, 200, 0), (50, 200, 1), (3e8, 1e9, 0.3), (3e8 + 12345, 1e9, 0.3), (0, 1e9, 0.3),
           (1e9, 1e9, 0.3), (1e9 - 1, 1e9, 0.3), (1e8, 1e9, 0.3), (3, 1e9, 1e-9), (40, 1e9, 1e-9), (0, 1e9, 1e-9),
           (2**20, 2**21, 0.5), (2**20 + 999, 2**21, 0.5), (2**20, 2**24, 2**-4), (5e12 + 3e6, 1e13, 0.5),
           (700, 1000, 0.7), (1000, 5000, 1 - 2**-20), (3, 10, 1e-30), (30, 1000, 1e-30), (30, 1000, 1e-300),
           (12, 40, 0.3), (100, 100, 0.999), (5, 100, 0.05), (6, 101, 0.05)],
        [(-1, 0.5), (2.5, 0.5), (5, -0.1), (5, 1.1), (nan, 0.5), (5, nan), (inf, 0.5)], stats.binom,
    ),
    "binomial_logit": reference(
        binomial_logit, parameters(whole(1, 1000), real()), up_to(0),
        [(x, 5, 0.3) for x in (6, *OUTSIDE)]
        + [(x, n, eta) for n in (0, 4, 1000) for x in {0, 1, n // 3, n} if x <= n for eta in (0, 50, -50, 700, -700)]
        + [(3e8, 1e9, -0.8), (3e8 + 12345, 1e9, -0.8), (1e8, 1e9, 0.3), (3, 1e9, -20), (2**20, 2**21, 0),
           (2**20 + 999, 2**21, 0), (10, 10, 30), (1000, 5000, 5), (10443140 + 4000, 2**24, 0.5)],
        [(-1, 0), (2.5, 0), (nan, 0), (5, nan), (inf, 0)], rtol32=3e-5,
        reason="near the mode of many trials, the rounding error of expit(eta) counts sqrt(n) times",
    ),
    "beta_binomial": reference(
        beta_binomial, parameters(positive(0.05), positive(0.05), whole(1, 1000)), up_to(2),
        [(x, 2, 3, 5) for x in (6, *OUTSIDE)]
        + [(0, 2, 3, 0), (0, 200, 300, 0), (0, 1, 1, 7), (3e8, 1, 1, 1e9), (0, 1, 1, 1e9), (1e9, 1, 1, 1e9),
           (3e8, 3e3, 7e3, 1e9), (3e8 + 123456, 3e9, 7e9, 1e9), (300, 3e12, 7e12, 1000), (3, 3e12, 7e12, 10),
           (0, 3e12, 7e12, 10), (10, 3e12, 7e12, 10), (3, 1e-8, 1e-8, 10), (0, 1e-8, 1e-8, 10), (10, 1e-8, 1e-8, 10),
           (300, 1e-8, 1e-8, 1000), (0, 1e-8, 1e-8, 1000), (1000, 1e-8, 1e-8, 1000), (0, 1e-30, 1e-10, 1000),
           (2**19 + 300, 2**30, 2**30, 2**20), (5, 1, 1e6, 1000), (0, 1, 1e6, 1000), (50, 5, 5, 90), (50, 5.5, 5.5, 90),
           (5, 1e-300, 1, 10)],
        [(1, 1, -1), (1, 1, 2.5), (0, 1, 5), (1, 0, 5), (-1, 1, 5), (1, 1, nan), (nan, 1, 5), (1, nan, 5)],
        lambda alpha, beta, n: stats.betabinom(n, alpha, beta),
    ),
    "poisson": reference(
        poisson, parameters(positive(0.05, 1000)), poisson_draws(0),
        [(x, 5) for x in OUTSIDE]
        + [(x, mu) for mu in (0, 1e-300, 1e-30, 0.5, 10, 11, 100, 101, 1e15)
           for x in (0, 1, 2, 10, 100, 1e5, 1e9, 1e15)]
        + [(1e9 + 31623, 1e9), (1e6, 1e6 + 0.5), (2**24, 2**24 + 8192), (1e15 + 2**25, 1e15), (5e14, 1e15), (271, 100),
           (272, 100.5)],
        [(-1,), (nan,)], stats.poisson,
    ),
    "poisson_log": reference(
        poisson_log, parameters(real(2)), lambda rng, p: poisson_draws(0)(rng, (np.exp(p[0]),)),
        [(x, 1) for x in OUTSIDE]
        + [(x, eta) for eta in (-700, -50, -1e-10, 0, 2.25, 4.5, 4.625, 10, 50, 88, 700)
           for x in (0, 1, 10, 100, 22026, 1e9, 1e15)]
        + [(485165195, 20), (485165195 + 50000, 20)],
        [(nan,)], rtol32=2e-4, reason=ROUNDED_MEAN,
    ),
    "negative_binomial": reference(
        negative_binomial, parameters(positive(0.05, 1000), positive(0.05, 1000)), draws(nbinom),
        [(x, 5, 2) for x in OUTSIDE]
        + [(x, mu, alpha) for mu in (0, 1e-30, 3, 1e4, 1e15) for alpha in (1e-8, 0.5, 10, 11, 100, 101, 1e6, 1e12)
           for x in (0, 1, 2, 3, 12, 100, 101, 1e4, 1e9, 1e15)]
        + [(1e9 + 12345, 1e9, 1e9), (2**24, 2**24 + 8192, 2**20), (2**24, 2**24 + 8192, 2.0**40), (3, 1e-300, 1e-300),
           (5, 2.5, 1e17)],
        [(-1, 1), (1, 0), (1, -1), (nan, 1), (1, nan)], nbinom,
    ),
    "negative_binomial_log": reference(
        negative_binomial_log, parameters(real(2), positive(0.05, 1000)),
        lambda rng, p: draws(nbinom)(rng, (np.exp(p[0]), p[1])),
        [(x, 1, 2) for x in OUTSIDE]
        + [(x, eta, alpha) for eta in (-700, -50, 1, 10, 50, 700) for alpha in (1e-8, 0.5, 10, 11, 100, 101, 1e6, 1e12)
           for x in (0, 1, 2, 3, 12, 101, 1e4, 1e9)]
        + [(485165195, 20, 1e9), (485165195 + 50000, 20, 1e9)],
        [(nan, 1), (1, 0), (1, -1), (1, nan)], rtol32=2e-4, reason=ROUNDED_MEAN,
    ),
    "geometric": reference(
        geometric, parameters(unit), draws(stats.geom),
        [(x, 0.3) for x in (0, *OUTSIDE)]
        + [(x, p) for x in (1, 2, 1e9) for p in (1, 0.5, 1e-10, 1e-30, 1e-300, 1 - 2**-20)],
        [(0,), (-0.1,), (1.1,), (nan,)], stats.geom,
    ),
    "discrete_uniform": reference(
        discrete_uniform,
        parameters(lambda rng, n: np.round(rng.uniform(-9, 9, n)), lambda rng, n: np.round(9 + rng.exponential(50, n))),
        lambda rng, p: np.floor(rng.uniform(p[0], p[1] + 1)),
        [(x, -3, 5) for x in (-3, 5, -4, 6, 0.5, inf, -inf)] + [(0, 0, 0), (7, 0, 2**40), (0, -1e15, 1e15)],
        [(1, 0), (0.5, 3), (0, 3.5), (nan, 1), (0, nan), (0, inf)],
        lambda lower, upper: stats.randint(lower, upper + 1),
    ),
    "zero_inflated_poisson": reference(
        zero_inflated(poisson), parameters(unit, positive(0.05, 1000)), often_zero(poisson_draws(1)),
        [(x, 0.5, 5) for x in OUTSIDE]
        + [(x, psi, mu) for psi in (0, 1e-20, 0.5, 1) for mu in (0, 1e-30, 1, 50, 1000, 1e9) for x in (0, 1, 1000)],
        [(-0.1, 1), (1.1, 1), (0.5, -1), (nan, 1), (0.5, nan)],
    ),
    "zero_inflated_binomial": reference(
        zero_inflated(binomial), parameters(unit, whole(1, 1000), unit), often_zero(up_to(1)),
        [(x, 0.5, 5, 0.5) for x in (6, *OUTSIDE)]
        + [(x, psi, n, p) for psi in (0, 1e-20, 0.5, 1) for n in (0, 4, 1000, 1e9) for p in (0, 1e-9, 0.5, 1)
           for x in (0, 1, 900)],
        [(-0.1, 5, 0.5), (1.1, 5, 0.5), (0.5, -1, 0.5), (0.5, 2.5, 0.5), (0.5, 5, 1.1), (nan, 5, 0.5), (0.5, nan, 0.5),
         (0.5, 5, nan)],
    ),
    "zero_inflated_negative_binomial": reference(
        zero_inflated(negative_binomial), parameters(unit, positive(0.05, 1000), positive(0.05, 1000)),
        often_zero(lambda rng, p: draws(nbinom)(rng, p[1:])),
        [(x, 0.5, 5, 2) for x in OUTSIDE]
        + [(x, psi, mu, alpha) for psi in (0, 1e-20, 0.5, 1) for mu in (0, 3, 1e9) for alpha in (1e-8, 1, 1e12)
           for x in (0, 1, 5, 1000)],
        [(-0.1, 1, 1), (1.1, 1, 1), (0.5, -1, 1), (0.5, 1, 0), (nan, 1, 1), (0.5, nan, 1), (0.5, 1, nan)],
    ),
}  # fmt: skip
