"""References of the continuous univariate densities: their definitions, evaluated by mpmath at 60 digits."""

import mpmath as mp
import numpy as np
from references import Reference, exactly, log_uniform
from references_discrete import ROUNDED_MEAN, expit
from scipy import stats

INF = mp.inf
inf = np.inf


# ---- log-densities ---------------------------------------------------------------------------------------------------


def normal(x, mu, sigma):
    return -mp.log(sigma * mp.sqrt(2 * mp.pi)) - ((x - mu) / sigma) ** 2 / 2


def half_normal(x, sigma):
    return mp.log(2) + normal(x, 0, sigma)


def normal_probability(a, b):
    """Probability that a standard normal variable lies between a and b"""
    if b < 0:
        a, b = -b, -a
    return (mp.erfc(a / mp.sqrt(2)) - mp.erfc(b / mp.sqrt(2))) / 2


def truncated_normal(x, mu, sigma, lower, upper):
    if not lower <= x <= upper or mp.isinf(x):
        return -INF
    return normal(x, mu, sigma) - mp.log(normal_probability((lower - mu) / sigma, (upper - mu) / sigma))


def skew_normal(x, alpha, mu, sigma):
    if mp.isinf(x):
        return -INF
    z = (x - mu) / sigma
    return normal(x, mu, sigma) + mp.log(mp.erfc(-alpha * z / mp.sqrt(2)))


def ex_gaussian(x, mu, sigma, nu):
    if mp.isinf(x):
        return -INF
    z, ratio = (x - mu) / sigma, sigma / nu
    return -mp.log(2 * nu) + ratio * (ratio / 2 - z) + mp.log(mp.erfc((ratio - z) / mp.sqrt(2)))


def student_t(x, nu, mu, sigma):
    if mp.isinf(nu):
        return normal(x, mu, sigma)
    constant = mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2) - mp.log(nu * mp.pi) / 2 - mp.log(sigma)
    return constant - (nu + 1) / 2 * mp.log1p(((x - mu) / sigma) ** 2 / nu)


def half_student_t(x, nu, sigma):
    return mp.log(2) + student_t(x, nu, 0, sigma)


def cauchy(x, alpha, beta):
    return -mp.log(mp.pi * beta) - mp.log1p(((x - alpha) / beta) ** 2)


def half_cauchy(x, beta):
    return mp.log(2) + cauchy(x, 0, beta)


def laplace(x, mu, b):
    return -mp.log(2 * b) - abs(x - mu) / b


def asymmetric_laplace(x, kappa, mu, b):
    return mp.log(b / (kappa + 1 / kappa)) - abs(x - mu) * b * (kappa if x >= mu else 1 / kappa)


def logistic(x, mu, s):
    z = abs(x - mu) / s
    return -z - 2 * mp.log1p(mp.exp(-z)) - mp.log(s)


def log_normal(x, mu, sigma):
    return -INF if x == 0 or mp.isinf(x) else normal(mp.log(x), mu, sigma) - mp.log(x)


def logit_normal(x, mu, sigma):
    return -INF if x in (0, 1) else normal(mp.log(x / (1 - x)), mu, sigma) - mp.log(x * (1 - x))


def gumbel(x, mu, beta):
    z = (x - mu) / beta
    return -INF if mp.isinf(x) else -z - mp.exp(-z) - mp.log(beta)


def moyal(x, mu, sigma):
    z = (x - mu) / sigma
    return -INF if mp.isinf(x) else -(z + mp.exp(-z)) / 2 - mp.log(sigma) - mp.log(2 * mp.pi) / 2


def exponential(x, lam):
    return mp.log(lam) - lam * x


def gamma(x, alpha, beta):
    if mp.isinf(x):
        return -INF
    power = 0 if alpha == 1 else (alpha - 1) * mp.log(x)
    return alpha * mp.log(beta) - mp.loggamma(alpha) + power - beta * x


def gamma_log(x, eta, alpha):
    return gamma(x, alpha, alpha / mp.exp(eta))


def inverse_gamma(x, alpha, beta):
    if x == 0 or mp.isinf(x):
        return -INF
    return gamma(1 / x, alpha, beta) - 2 * mp.log(x)


def chi_squared(x, nu):
    return gamma(x, nu / 2, mp.mpf(0.5))


def weibull(x, alpha, beta):
    if mp.isinf(x):
        return -INF
    power = 0 if alpha == 1 else (alpha - 1) * mp.log(x / beta)
    return mp.log(alpha / beta) + power - (x / beta) ** alpha


def pareto(x, alpha, m):
    return -INF if x < m else mp.log(alpha) + alpha * mp.log(m) - (alpha + 1) * mp.log(x)


def beta(x, alpha, beta):
    left = 0 if alpha == 1 else (alpha - 1) * mp.log(x)
    right = 0 if beta == 1 else (beta - 1) * mp.log(1 - x)
    return left + right - mp.loggamma(alpha) - mp.loggamma(beta) + mp.loggamma(alpha + beta)


def beta_logit(x, eta, phi):
    return beta(x, phi * expit(eta), phi * expit(-eta))


def kumaraswamy(x, a, b):
    left = 0 if a == 1 else (a - 1) * mp.log(x)
    right = 0 if b == 1 else (b - 1) * mp.log(1 - x**a)
    return mp.log(a * b) + left + right


def uniform(x, lower, upper):
    return -mp.log(upper - lower) if lower <= x <= upper else -INF


def triangular(x, lower, upper, c):
    if not lower <= x <= upper:
        return -INF
    height = 1 if x == c else (x - lower) / (c - lower) if x < c else (upper - x) / (upper - c)
    return mp.log(2 / (upper - lower)) + mp.log(height)


def von_mises(x, mu, kappa):
    if mp.isinf(x):
        return -INF
    if kappa > 1e4:  # mpmath's besseli is slow here; eight terms of the asymptotic series suffice
        term = total = mp.mpf(1)
        for k in range(1, 9):
            term *= (2 * k - 1) ** 2 / (8 * kappa * k)
            total += term
        log_i0 = kappa - mp.log(2 * mp.pi * kappa) / 2 + mp.log(total)
    else:
        log_i0 = mp.log(mp.besseli(0, kappa))
    return kappa * mp.cos(x - mu) - mp.log(2 * mp.pi) - log_i0


def wald(x, mu, lam):
    if x == 0 or mp.isinf(x):
        return -INF
    return mp.log(lam / (2 * mp.pi * x**3)) / 2 - lam * (x - mu) ** 2 / (2 * mu**2 * x)


def rice(x, nu, sigma):
    if mp.isinf(x):
        return -INF
    s = x * nu / sigma**2
    log_i0 = mp.log(mp.besseli(0, s)) if s < 1e4 else von_mises(0, 0, s) * -1 + s - mp.log(2 * mp.pi)
    return mp.log(x / sigma**2) - (x**2 + nu**2) / (2 * sigma**2) + log_i0


# ---- random arguments ------------------------------------------------------------------------------------------------


def positive(low=0.1, high=10):
    return lambda rng, n: log_uniform(rng, low, high, n)


def real(scale=5):
    return lambda rng, n: rng.normal(0, scale, n)


def parameters(*kinds):
    return lambda rng, n: tuple(kind(rng, n) for kind in kinds)


def around(rng, location, scale, reach=2.5):
    """Observations at up to many scales from their location"""
    return location + scale * rng.normal(size=np.shape(scale)) * np.exp(rng.uniform(-1, reach, np.shape(scale)))


def location_scale(rng, p):
    return around(rng, p[0], p[1])


def absolute(index):
    """Nonnegative observations whose scale is parameter `index`"""
    return lambda rng, p: np.abs(around(rng, 0, p[index]))


def anywhere_in_unit(rng, p):
    """Observations in the unit interval, half of them close to its ends"""
    u = rng.uniform(size=p[0].shape)
    return np.where(u < 0.2, u**5, np.where(u > 0.8, 1 - (1 - u) ** 3, u))


def draws(distribution):
    """Observations drawn from a frozen scipy distribution, every other one pushed outwards"""

    def observations(rng, p):
        x = distribution(*p).rvs(random_state=rng)
        return np.where(rng.uniform(size=x.shape) < 0.5, x, x * log_uniform(rng, 0.2, 5, x.shape))

    return observations


def bounds(rng, n):
    """(mu, sigma, lower, upper): both bounds, or one, or none; some of them far in a tail"""
    mu, sigma = rng.normal(0, 5, n), log_uniform(rng, 0.1, 10, n)
    a = rng.normal(0, 3, n) * np.exp(rng.uniform(0, 2, n))
    b = a + log_uniform(rng, 0.01, 20, n)
    lower = np.where(rng.uniform(size=n) < 0.2, -np.inf, mu + a * sigma)
    upper = np.where(rng.uniform(size=n) < 0.2, np.inf, mu + b * sigma)
    return mu, sigma, lower, upper


def between_bounds(rng, p):
    mu, sigma, lower, upper = p
    lower = np.where(np.isinf(lower), np.minimum(upper, mu) - 5 * sigma, lower)
    upper = np.where(np.isinf(upper), np.maximum(lower, mu) + 5 * sigma, upper)
    return lower + (upper - lower) * rng.uniform(0.001, 0.999, mu.shape)


def interval(rng, n):
    lower = rng.normal(0, 5, n)
    return lower, lower + log_uniform(rng, 0.1, 10, n)


def triangle(rng, n):
    lower, upper = interval(rng, n)
    return lower, upper, lower + (upper - lower) * rng.uniform(0.01, 0.99, n)


def within(rng, p):
    return p[0] + (p[1] - p[0]) * rng.uniform(0.001, 0.999, p[0].shape)


def angles(rng, p):
    """Half of them anywhere, half close to the mean direction"""
    mu, kappa = p
    x = np.where(rng.uniform(size=mu.shape) < 0.5, rng.uniform(-np.pi, np.pi, mu.shape), mu)
    return np.where(x == mu, mu + rng.normal(size=mu.shape) / np.sqrt(kappa), x)


def distances(rng, p):
    nu, sigma = p
    return np.hypot(around(rng, nu, sigma, 1), around(rng, 0, sigma, 1))


def scipy_logpdf(function):
    """scipy.stats' logpdf of a distribution given as a function of our parameters"""
    return lambda x, *p: function(*p).logpdf(x)


def reference(logpdf, parameters, observations, extreme, invalid, scipy=None, **options):
    return Reference(
        exactly(logpdf), parameters, observations, extreme, invalid, scipy=scipy and scipy_logpdf(scipy), **options
    )


INVALID_LOCATION_SCALE = [(0, 0), (0, -1), (0, np.nan), (np.nan, 1)]
INVALID_SCALE = [(0,), (-1,), (np.nan,)]
INVALID_PAIR = [(0, 1), (1, 0), (-1, 1), (1, -1), (np.nan, 1), (1, np.nan)]

REFERENCES = {
    "normal": reference(
        normal, parameters(real(), positive()), location_scale,
        [(inf, 0, 1), (-inf, 0, 1), (1e10, 0, 1), (3, 3, 1e-30), (1e8 + 8, 1e8, 3), (1e-30, 0, 1e-30), (5, 1, 1e30),
         (1e150, 0, 1)],
        INVALID_LOCATION_SCALE, stats.norm,
    ),
    "normal_identity": reference(
        normal, parameters(real(), positive()), location_scale,
        [(inf, 0, 1), (-inf, 0, 1), (1e10, 0, 1), (3, 3, 1e-30), (1e8 + 8, 1e8, 3), (1e150, 0, 1), (-700, 700, 0.1)],
        INVALID_LOCATION_SCALE, stats.norm,
    ),
    "half_normal": reference(
        half_normal, parameters(positive()), absolute(0),
        [(0, 1), (inf, 1), (1e10, 1), (1e-30, 1e-30), (1, 1e30), (1e-40, 1)],
        INVALID_SCALE, lambda sigma: stats.halfnorm(scale=sigma),
    ),
    "truncated_normal": reference(
        truncated_normal, bounds, between_bounds,
        [(0, 0, 1, 0, inf), (inf, 0, 1, 0, inf), (-inf, 0, 1, -inf, 2), (1, 0, 1, -inf, inf), (-0.1, 0, 1, 0, 1),
         (1.1, 0, 1, 0, 1),
         (0, 0, 1, 0, 1), (1, 0, 1, 0, 1), (10001, 0, 1, 10000, inf), (-1000.5, 0, 1, -1001, -1000),
         (1e6, 0, 1, 1e6, 1e6 + 1),
         (30.25, 0, 1, 30, 30.5), (30, 0, 1, 30, inf), (-30, 0, 1, -inf, -30), (0.5, 0, 1e10, 0, 1),
         (0.5, 0, 1e-3, -1, 1),
         (5.5, -100, 3, 5, 6), (-60, 3, 2, -70, -50), (1e-5, 0, 1, 0, 2e-5), (2, 1, 1e6, 1, 3), (40, 0, 1, -inf, 50)],
        [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 1, 1), (0, 1, 2, 1), (0, 1, inf, inf), (np.nan, 1, 0, 1),
         (0, np.nan, 0, 1),
         (0, 1, np.nan, 1), (0, 1, 0, np.nan)],
        lambda mu, sigma, lower, upper: stats.truncnorm((lower - mu) / sigma, (upper - mu) / sigma, mu, sigma),
    ),
    "skew_normal": reference(
        skew_normal, parameters(real(), real(), positive()), lambda rng, p: around(rng, p[1], p[2]),
        [(inf, 1, 0, 1), (-inf, 1, 0, 1), (inf, 0, 0, 1), (0, 5, 0, 1), (30, 3, 0, 1), (-30, 3, 0, 1), (-3, 1e3, 0, 1),
         (3, 1e6, 0, 1), (1e5, -2, 0, 1), (1e-8, 1e8, 0, 1), (-1e-8, 1e8, 0, 1)],
        [(1, 0, 0), (1, 0, -1), (1, np.nan, 1), (1, 0, np.nan), (np.nan, 0, 1)],
        lambda alpha, mu, sigma: stats.skewnorm(alpha, mu, sigma),
    ),
    "ex_gaussian": reference(
        ex_gaussian, parameters(real(), positive(), positive()), location_scale,
        [(inf, 0, 1, 1), (-inf, 0, 1, 1), (1, 0, 1, 1), (1e5, 0, 1, 1), (-100, 0, 1, 1), (-1e5, 0, 1, 1),
         (1, 0, 1, 1e-6), (1, 0, 1e-6, 1),
         (-1e-4, 0, 1e-6, 1), (1, 0, 1, 1e6), (1e4, 0, 10, 0.01), (1000, 0, 1, 1e-3), (1001, 0, 1, 1e-3),
         (5, 5, 1e-20, 1)],
        [(0, 0, 1), (0, 1, 0), (0, -1, 1), (0, 1, -1), (np.nan, 1, 1), (0, np.nan, 1), (0, 1, np.nan)],
        lambda mu, sigma, nu: stats.exponnorm(nu / sigma, mu, sigma),
    ),
    "student_t": reference(
        student_t, parameters(positive(0.3, 100), real(), positive()), lambda rng, p: around(rng, p[1], p[2], 5),
        [(inf, 3, 0, 1), (-inf, 3, 0, 1), (0, 1, 0, 1), (1e30, 2, 0, 1), (1e300, 2, 0, 1), (3, 1e8, 0, 1),
         (3, 1e15, 0, 1), (3, inf, 0, 1),
         (100, 1e6, 0, 1), (1, 1e-5, 0, 1), (1e5, 1e-3, 0, 1), (1e-10, 5, 0, 1), (2, 1e30, 0, 1), (1e3, 1e4, 0, 1)],
        [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)],
        stats.t,
    ),
    "student_t_identity": reference(
        student_t, parameters(positive(0.3, 100), real(), positive()), lambda rng, p: around(rng, p[1], p[2], 5),
        [(inf, 3, 0, 1), (1e300, 2, 0, 1), (3, 1e15, 0, 1), (3, inf, 0, 1), (1, 1e-5, 0, 1), (-700, 4, 700, 0.1)],
        [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)], stats.t,
    ),
    "half_student_t": reference(
        half_student_t, parameters(positive(0.3, 100), positive()), lambda rng, p: np.abs(around(rng, 0, p[1], 5)),
        [(0, 3, 1), (inf, 3, 1), (1e30, 2, 1), (3, 1e8, 1), (3, inf, 1), (1e300, 0.5, 1), (1e-10, 5, 2)],
        INVALID_PAIR,
    ),
    "cauchy": reference(
        cauchy, parameters(real(), positive()), lambda rng, p: around(rng, p[0], p[1], 8),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e30, 0, 1), (-1e300, 0, 1), (1e-10, 0, 1), (1, 0, 1e-30),
         (1, 0, 1e30), (1e20, 1e10, 1e5)],
        INVALID_LOCATION_SCALE, stats.cauchy,
    ),
    "half_cauchy": reference(
        half_cauchy, parameters(positive()), lambda rng, p: np.abs(around(rng, 0, p[0], 8)),
        [(0, 1), (inf, 1), (1e30, 1), (1e300, 1), (1e-10, 1), (1, 1e-30), (1, 1e30)],
        INVALID_SCALE, lambda beta: stats.halfcauchy(scale=beta),
    ),
    "laplace": reference(
        laplace, parameters(real(), positive()), location_scale,
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e30, 0, 1), (1e8 + 8, 1e8, 1), (3, 3, 1e-30), (1, 0, 1e30)],
        INVALID_LOCATION_SCALE, stats.laplace,
    ),
    "asymmetric_laplace": reference(
        asymmetric_laplace, parameters(positive(), real(), positive()), lambda rng, p: around(rng, p[1], 1 / p[2]),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 2, 0, 1), (1, 1e6, 0, 1), (-1, 1e6, 0, 1), (1, 1e-6, 0, 1),
         (-1, 1e-6, 0, 1), (1e20, 1, 0, 1e-10)],
        [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)],
        lambda kappa, mu, b: stats.laplace_asymmetric(kappa, mu, 1 / b),
    ),
    "logistic": reference(
        logistic, parameters(real(), positive()), location_scale,
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e5, 0, 1), (-1e5, 0, 1), (1e-10, 0, 1), (1, 1, 1e-20), (1, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.logistic,
    ),
    "log_normal": reference(
        log_normal, parameters(real(2), positive(0.3, 5)), lambda rng, p: np.exp(around(rng, p[0], p[1], 0.7)),
        [(0, 0, 1), (inf, 0, 1), (1, 0, 1), (1e-30, 0, 1), (1e30, 0, 1), (1e-300, -600, 10), (1, 0, 1e10),
         (1.25, 0, 1e-3)],
        INVALID_LOCATION_SCALE, lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
    ),
    "logit_normal": reference(
        logit_normal, parameters(real(2), positive(0.3, 5)), anywhere_in_unit,
        [(0, 0, 1), (1, 0, 1), (0.5, 0, 1), (1e-30, 0, 1), (1e-300, 0, 3), (1 - 2**-20, 0, 1),
         (0.5 + 2**-20, 0, 1e-3), (0.3, 0, 1e10)],
        INVALID_LOCATION_SCALE,
    ),
    "gumbel": reference(
        gumbel, parameters(real(), positive()), lambda rng, p: around(rng, p[0], p[1], 1.5),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e5, 0, 1), (-20, 0, 1), (-300, 0, 1), (-1000, 0, 1), (1, 1, 1e-20),
         (1, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.gumbel_r,
    ),
    "moyal": reference(
        moyal, parameters(real(), positive()), lambda rng, p: around(rng, p[0], p[1], 1.5),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e5, 0, 1), (-20, 0, 1), (-300, 0, 1), (-1000, 0, 1), (1, 1, 1e-20),
         (1, 0, 1e20)],
        INVALID_LOCATION_SCALE, stats.moyal,
    ),
    "exponential": reference(
        exponential, parameters(positive()), lambda rng, p: np.abs(around(rng, 0, 1 / p[0])),
        [(0, 1), (inf, 1), (1e5, 1), (1e-10, 1), (1, 1e30), (1, 1e-30), (1e20, 1e-20)],
        INVALID_SCALE, lambda lam: stats.expon(scale=1 / lam),
    ),
    "gamma": reference(
        gamma, parameters(positive(0.05, 500), positive()), draws(lambda alpha, beta: stats.gamma(alpha,
        scale=1 / beta)),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (0, 200, 1), (inf, 2, 1), (inf, 0.5, 1), (inf, 200, 1),
         (1e-30, 0.01, 1), (1e30, 2, 1e-30),
         (1e6 + 1000, 1e6, 1), (333.5, 1e6, 3e3), (1e-3, 1e6, 1), (1e9, 1e6, 1), (1e12, 1e12, 1),
         (1e12 + 3e6, 1e12, 1), (1e-20, 1e3, 1),
         (10, 10, 1), (10.5, 10.5, 1), (100.5, 100.25, 1), (1e-5, 1e-5, 1), (5, 1e-30, 1), (1e-3, 50, 1e5)],
        INVALID_PAIR, lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    ),
    "gamma_log": reference(
        gamma_log, parameters(real(3), positive(0.05, 500)),
        draws(lambda eta, alpha: stats.gamma(alpha, scale=np.exp(eta) / alpha)),
        [(0, 0.5, 1), (0, 0.5, 0.5), (0, 0.5, 2), (0, 0.5, 200), (inf, 0.5, 2), (inf, 0.5, 0.5), (inf, 0.5, 200),
         (1e-30, 0, 0.01), (1e30, 70, 2), (1e-30, -70, 200), (1e30, -10, 3), (1e-30, 80, 5), (2, 80, 0.3), (2, -80, 0.3)]
        + [(x, eta, alpha) for x in (1e-300, 1, 1e300) for eta in (-700, 700) for alpha in (0.5, 1, 300)]
        + [(20, 3, 1e6), (20.0625, 3, 1e6), (20, 3, 1), (5, 0, 1e-30), (5, 0, 10), (1, 0, 1e6), (0.5, 0, 1e12)],
        INVALID_LOCATION_SCALE, lambda eta, alpha: stats.gamma(alpha, scale=np.exp(eta) / alpha),
        rtol32=2e-4, reason=ROUNDED_MEAN,
    ),
    "inverse_gamma": reference(
        inverse_gamma, parameters(positive(0.05, 500), positive()),
        lambda rng, p: np.clip(draws(lambda alpha, beta: stats.invgamma(alpha, scale=beta))(rng, p), 1e-30, 1e30),
        [(0, 1, 2), (0, 200, 1), (inf, 2, 1), (inf, 200, 1), (1e-30, 0.01, 1e-30), (1e30, 2, 1), (1e-6, 1e6, 1),
         (1.001e-6, 1e6, 1),
         (1, 1e6, 1e6), (1e3, 1e6, 1e6), (1e-3, 1e6, 1e6), (1, 1e12, 1e12), (1e-20, 1e3, 1), (1e20, 1e3, 1),
         (1e37, 1e3, 1), (0.1, 10, 1)],
        INVALID_PAIR, lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    ),
    "chi_squared": reference(
        chi_squared, parameters(positive(0.1, 1000)), draws(stats.chi2),
        [(0, 1), (0, 2), (0, 3), (0, 500), (inf, 1), (inf, 500), (1e-30, 0.01), (1e6 + 1000, 1e6), (1e-3, 1e6),
         (1e12 + 3e6, 1e12), (1e30, 5),
         (20, 20), (21, 21), (200, 200), (201, 201), (1e9, 3)],
        INVALID_SCALE, stats.chi2,
    ),
    "weibull": reference(
        weibull, parameters(positive(0.2, 20), positive()),
        lambda rng, p: p[1] * rng.exponential(3, p[0].shape) ** (1 / p[0]),
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (inf, 2, 1), (inf, 0.5, 1), (inf, 1, 1), (1e-30, 2, 1), (1e30, 0.1, 1),
         (1, 20, 1), (1e-10, 1e-3, 1),
         (1e3, 5, 500)],
        INVALID_PAIR, lambda alpha, beta: stats.weibull_min(alpha, scale=beta),
    ),
    "pareto": reference(
        pareto, parameters(positive(0.2, 100), positive()),
        lambda rng, p: p[1] * np.minimum(1 + 2**-20 + rng.exponential(3, p[0].shape) / p[0], 1e30),
        [(1, 2, 1), (0.99, 2, 1), (inf, 2, 1), (1e30, 2, 1), (1, 2, 1e-30), (1000, 1e5, 1000), (1001, 1e5, 1000),
         (1, 1e-10, 1), (-inf, 2, 1)],
        INVALID_PAIR, lambda alpha, m: stats.pareto(alpha, scale=m),
    ),
    "beta": reference(
        beta, parameters(positive(0.05, 200), positive(0.05, 200)), anywhere_in_unit,
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (0, 1, 1e3), (0, 500, 1), (1, 2, 1), (1, 1, 0.5), (1, 1, 2),
         (1, 1e3, 1), (0.5, 1, 1), (1e-30, 0.5, 0.5),
         (0.5, 1e6, 1e6), (0.5005, 1e6, 1e6), (0.25, 1e6, 3e6), (0.9, 1e6, 1e6), (1e-6, 1, 1e6), (1e-6, 0.5, 1e6),
         (1e-3, 1e-3, 1e3),
         (2.5e-9, 2.5, 1e9), (0.5, 1e12, 1e12), (0.75, 3e10, 1e10), (1e-10, 1e3, 1e3), (1 - 2**-20, 3e6, 3),
         (0.5, 1e-10, 1e-10), (1e-20, 5, 200)],
        INVALID_PAIR, stats.beta,
    ),
    "beta_logit": reference(
        beta_logit, parameters(real(2), positive(0.1, 200)), anywhere_in_unit,
        [(x, 0, phi) for x in (0, 1) for phi in (1, 2, 3, 400)]
        + [(x, eta, phi) for x in (1e-30, 0.25, 1 - 2**-20) for eta in (-1000, -700, -80, 80, 700, 1000)
           for phi in (1e-4, 3, 300)]
        + [(0.5, 0, 1e6), (0.5005, 0, 1e6), (0.25, -1, 1e6), (0.9, 1, 1e4), (0.5, 0, 1e-10), (0.5, 3, 1e-30),
           (1e-20, -45, 1e3), (1e-300, -600, 5), (0.75, 1.25, 1e5)],
        INVALID_LOCATION_SCALE, lambda eta, phi: stats.beta(phi / (1 + np.exp(-eta)), phi / (1 + np.exp(eta))),
        rtol32=1e-4, reason="near the mode of a large precision, the rounding error of expit(eta) counts sqrt(phi) times",
    ),
    "kumaraswamy": reference(
        kumaraswamy, parameters(positive(0.1, 20), positive(0.1, 20)), anywhere_in_unit,
        [(0, 1, 2), (0, 0.5, 1), (0, 2, 1), (1, 2, 1), (1, 1, 0.5), (1, 1, 2), (1, 5, 3), (0.5, 1, 1),
         (1e-30, 0.5, 0.5), (1e-4, 2, 1e8),
         (0.99, 1e3, 1e4), (1 - 2**-20, 3, 5), (0.5, 1e-6, 2)],
        INVALID_PAIR,
    ),
    "uniform": reference(
        uniform, interval, within,
        [(0, 0, 1), (1, 0, 1), (-0.1, 0, 1), (1.1, 0, 1), (inf, 0, 1), (-inf, 0, 1), (0, -1e30, 1e30),
         (1e-30, 0, 2e-30)],
        [(0, 0), (1, 0), (np.nan, 1), (0, np.nan)], lambda lower, upper: stats.uniform(lower, upper - lower),
    ),
    "triangular": reference(
        triangular, triangle, within,
        [(0, 0, 3, 1), (3, 0, 3, 1), (1, 0, 3, 1), (0, 0, 3, 0), (3, 0, 3, 3), (3, 0, 3, 0), (0, 0, 3, 3),
         (1, 0, 3, 0), (1, 0, 3, 3), (-1, 0, 3, 1),
         (4, 0, 3, 1), (inf, 0, 3, 1), (-inf, 0, 3, 1), (1e-30, 0, 3, 1), (1e20, -1e25, 1e25, 0)],
        [(0, 0, 0), (0, 1, -1), (0, 1, 2), (1, 0, 0.5), (np.nan, 1, 0), (0, 1, np.nan), (0, np.nan, 0.5)],
        lambda lower, upper, c: stats.triang((c - lower) / (upper - lower), lower, upper - lower),
    ),
    "von_mises": reference(
        von_mises, parameters(lambda rng, n: rng.uniform(-np.pi, np.pi, n), positive(0.01, 1000)),
        angles,
        [(1, 0, 0), (0, 0, 1), (3, 0, 1e6), (1e-3, 0, 1e6), (1.001, 1, 1e6), (1.001, 1, 999), (100, 0, 1),
         (inf, 0, 1), (-inf, 0, 1), (1, 1, 1e10), (1, 1 + 2**-20, 1e10)],
        [(0, -1), (np.nan, 1), (0, np.nan)], lambda mu, kappa: stats.vonmises(kappa, mu),
        rtol32=2e-5, reason="where x and mu are almost 2 pi apart, float32 rounds x - mu too coarsely for a sharp peak",
    ),
    "wald": reference(
        wald, parameters(positive(), positive()), draws(lambda mu, lam: stats.invgauss(mu / lam, scale=lam)),
        [(0, 1, 1), (inf, 1, 1), (1e-10, 1, 1), (1e30, 1, 1), (1, 1e-10, 1), (1, 1e20, 1), (1.001, 1, 1e6),
         (1, 1, 1e-10), (5, 5, 1e20)],
        INVALID_PAIR, lambda mu, lam: stats.invgauss(mu / lam, scale=lam),
    ),
    "rice": reference(
        rice, parameters(positive(), positive()), distances,
        [(0, 1, 1), (0, 0, 1), (inf, 1, 1), (inf, 0, 1), (1, 0, 1), (1e-30, 1, 1), (50, 1, 1), (1e4, 1e4, 1),
         (1e4 + 3, 1e4, 1), (1e3, 1, 1), (1, 1e3, 1),
         (1e6 + 10, 1e6, 3), (1, 1e-10, 1), (1, 1, 1e5)],
        [(-1, 1), (1, 0), (1, -1), (np.nan, 1), (1, np.nan)], lambda nu, sigma: stats.rice(nu / sigma, scale=sigma),
    ),
}  # fmt: skip
