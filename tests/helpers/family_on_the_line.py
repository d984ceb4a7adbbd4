"""Distributions on the whole line, with a location and a scale."""

import mpmath as mp
import numpy as np
import references_continuous as known
from families import family
from references import log_uniform
from references_continuous import INVALID_LOCATION_SCALE, around, inf, location_scale, parameters, positive, real
from scipy import stats
from tails import beta, from_log_cdf, from_log_sf, gamma, ndtr

INVALID_SHAPE = [(0, 0, 1), (-1, 0, 1), (1, 0, 0), (1, 0, -1), (np.nan, 0, 1), (1, np.nan, 1), (1, 0, np.nan)]


def last_two(reach=2.5):
    """Observations around a location, the last parameter but one, at up to many scales from there."""
    return lambda rng, p: around(rng, p[-2], p[-1], reach)


def log_ndtr(z):
    return mp.log(ndtr(z)) if z < 0 else mp.log1p(-ndtr(-z))


def hyperbolic_secant(x, mu, sigma):
    return -mp.inf if mp.isinf(x) else -mp.log(mp.pi * sigma * mp.cosh((x - mu) / sigma))


def hyperbolic_secant_tails(x, mu, sigma):
    z = (x - mu) / sigma
    return 2 / mp.pi * mp.atan(mp.exp(z)), 2 / mp.pi * mp.atan(mp.exp(-z))


def generalized_logistic(x, alpha, mu, sigma):
    z = (x - mu) / sigma
    return -mp.inf if mp.isinf(x) else mp.log(alpha / sigma) - z - (alpha + 1) * mp.log1p(mp.exp(-z))


def double_weibull(x, alpha, mu, sigma):
    return known.weibull(abs(x - mu), alpha, sigma) - mp.log(2) if x != mu or alpha == 1 else mp.inf if alpha < 1 else -mp.inf


def double_weibull_tails(x, alpha, mu, sigma):
    tail = mp.exp(-((abs(x - mu) / sigma) ** alpha)) / 2
    return (tail, 1 - tail) if x < mu else (1 - tail, tail)


def skew_cauchy(x, a, mu, sigma):
    return known.cauchy(x, mu, sigma * (1 + a if x >= mu else 1 - a)) + mp.log(1 + a if x >= mu else 1 - a)


def skew_cauchy_tails(x, a, mu, sigma):
    if x > mu:
        return skew_cauchy_tails(-x, -a, -mu, sigma)[::-1]
    p = (1 - a) * mp.atan2(1 - a, (mu - x) / sigma) / mp.pi
    return p, 1 - p


def power_normal(x, p, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    return mp.log(p) + known.normal(x, mu, sigma) + (p - 1) * log_ndtr((mu - x) / sigma)


def kappa4_level(x, h, k, mu, sigma):
    """(1 - k z)^(1 / k)"""
    z = (x - mu) / sigma
    return mp.exp(-z) if k == 0 else (1 - k * z) ** (1 / k)


def kappa4(x, h, k, mu, sigma):
    z = (x - mu) / sigma
    if mp.isinf(z) or k * z >= 1:
        return -mp.inf
    t = kappa4_level(x, h, k, mu, sigma)
    if h * t >= 1:
        return -mp.inf
    log_cdf = -t if h == 0 else mp.log1p(-h * t) / h
    return (1 - k) * mp.log(t) + (1 - h) * log_cdf - mp.log(sigma)


def kappa4_tails(x, h, k, mu, sigma):
    t = kappa4_level(x, h, k, mu, sigma)
    return from_log_cdf(-t if h == 0 else mp.log1p(-h * t) / h)


def kappa4_lower(h, k, mu, sigma):
    if h > 0:
        return mu + sigma * ((1 - h**-k) / k if k else mp.log(h))
    return mu + sigma / k if k < 0 else -inf


def kappa4_upper(h, k, mu, sigma):
    return mu + sigma / k if k > 0 else inf


def kappa4_inside(rng, p):
    """Quantiles, at probabilities not too close to 0 and 1"""
    h, k, mu, sigma = p
    t = -np.expm1(h * np.log(rng.uniform(0.02, 0.98, h.shape))) / h
    return mu - sigma * np.expm1(k * np.log(t)) / k


def tukey_quantile(p, lam):
    q = 1 - p
    return mp.log(p / q) if lam == 0 else (p**lam - q**lam) / lam


def tukey_probability(z, lam):
    """P(Z <= z), z <= 0, by halving of its logarithm, and Newton's method"""
    low, high = mp.mpf(-2), mp.log(0.5)
    while tukey_quantile(mp.exp(low), lam) > z:
        low *= 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if tukey_quantile(mp.exp(middle), lam) < z else (low, middle)
    for _ in range(60):
        p = mp.exp(high)
        step = (tukey_quantile(p, lam) - z) / (p**lam + p * (1 - p) ** (lam - 1))
        high -= step
        if abs(step) < mp.eps * 100:
            break
    return mp.exp(high)


def tukey_lambda(x, lam, mu, sigma):
    z = -abs(x - mu) / sigma
    if mp.isinf(z) or lam * z < -1:
        return -mp.inf
    if lam * z == -1:
        return -mp.log(sigma) - (mp.inf if lam < 1 else mp.log(2) if lam == 1 else 0)
    p = tukey_probability(z, lam)
    return -mp.log(sigma * (p ** (lam - 1) + (1 - p) ** (lam - 1)))


def tukey_lambda_tails(x, lam, mu, sigma):
    p = tukey_probability(-abs(x - mu) / sigma, lam)
    return (p, 1 - p) if x < mu else (1 - p, p)


def tukey_inside(rng, p):
    lam, mu, sigma = p
    q = rng.uniform(0.02, 0.98, lam.shape)
    return mu + sigma * (q**lam - (1 - q) ** lam) / lam


def generalized_normal(x, beta, mu, sigma):
    return mp.log(beta / (2 * sigma)) - mp.loggamma(1 / beta) - (abs(x - mu) / sigma) ** beta


def halved(tails):
    """Both tails of a symmetric distribution, from those of the absolute value"""
    def both(x, shape, mu, sigma):
        tail = tails(abs(x - mu) / sigma, shape)[1] / 2
        return (tail, 1 - tail) if x < mu else (1 - tail, tail)

    return both


def double_gamma(x, alpha, mu, sigma):
    if x == mu:
        return mp.inf if alpha < 1 else -mp.inf if alpha > 1 else -mp.log(2 * sigma)
    return known.gamma(abs(x - mu), alpha, 1 / sigma) - mp.log(2)


def exp_gamma(x, alpha, mu, sigma):
    z = (x - mu) / sigma
    return -mp.inf if mp.isinf(x) else alpha * z - mp.exp(z) - mp.loggamma(alpha) - mp.log(sigma)


def exp_gamma_tails(x, alpha, mu, sigma):
    return gamma(alpha, mp.exp((x - mu) / sigma))


def crystal_ball_parts(beta, m):
    below = m / (beta * (m - 1)) * mp.exp(-beta**2 / 2)
    return below, below + mp.sqrt(2 * mp.pi) * ndtr(beta)


def crystal_ball(x, beta, m, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z = (x - mu) / sigma
    value = -z * z / 2 if z > -beta else -beta * beta / 2 - m * mp.log(1 - (z + beta) * beta / m)
    return value - mp.log(sigma * crystal_ball_parts(beta, m)[1])


def crystal_ball_tails(x, beta, m, mu, sigma):
    z, (below, whole) = (x - mu) / sigma, crystal_ball_parts(beta, m)
    if z <= -beta:
        p = below / whole * (1 - (z + beta) * beta / m) ** (1 - m)
        return p, 1 - p
    p = mp.sqrt(2 * mp.pi) * ndtr(-z) / whole
    return (below + mp.sqrt(2 * mp.pi) * (ndtr(z) - ndtr(-beta))) / whole, p


def pearson3(x, skew, mu, sigma):
    if abs(skew) < 1e-20:
        return known.normal(x, mu, sigma)
    z, alpha = (x - mu) / sigma, 4 / skew**2
    if mp.isinf(z) or skew * z < -2 or (skew * z == -2 and alpha > 1):
        return -mp.inf
    if skew * z == -2:
        return mp.inf if alpha < 1 else -mp.log(sigma)
    return known.gamma(alpha + 2 * z / skew, alpha, 1) + mp.log(abs(2 / skew) / sigma)


def pearson3_tails(x, skew, mu, sigma):
    if abs(skew) < 1e-20:
        return ndtr((x - mu) / sigma), ndtr((mu - x) / sigma)
    alpha = 4 / skew**2
    both = gamma(alpha, alpha + 2 * (x - mu) / sigma / skew)
    return both if skew > 0 else both[::-1]


def pearson3_inside(rng, p):
    x = stats.pearson3(*p).rvs(random_state=rng)
    end = p[1] - 2 * p[2] / p[0]
    return end + (x - end) * np.where(rng.uniform(size=x.shape) < 0.5, 1, rng.uniform(0.5, 2, x.shape))


def skew_student_t(x, a, b, mu, sigma):
    if mp.isinf(x):
        return -mp.inf
    z, n = (x - mu) / sigma, a + b
    w = (mp.asinh(z / mp.sqrt(n))) * 2
    constant = mp.log(2) - mp.log(mp.beta(a, b)) - mp.log(sigma) - mp.log(z * z + n) / 2
    return constant - a * mp.log1p(mp.exp(-w)) - b * mp.log1p(mp.exp(w))


def skew_student_t_tails(x, a, b, mu, sigma):
    v = 2 * mp.asinh((x - mu) / sigma / mp.sqrt(a + b))
    return beta(a, b, 1 / (1 + mp.exp(-v)), 1 / (1 + mp.exp(v)))


INVALID_FOUR = [(np.nan, 0, 0, 1), (0, np.nan, 0, 1), (0, 0, 0, 0), (0, 0, 0, -1), (0, 0, np.nan, 1), (0, 0, 0, np.nan)]
NEAR_THE_ENDS = "near an end of the support the rounding error of x - mu counts"

REFERENCES = {
    "hyperbolic_secant": family(
        hyperbolic_secant, hyperbolic_secant_tails, parameters(real(), positive()), (-inf, inf),
        [(inf, 0, 1), (-inf, 0, 1), (0, 0, 1), (1e5, 0, 1), (-1e5, 0, 1), (1e-10, 0, 1), (1, 1, 1e-20), (1, 0, 1e20),
         (-18, 0, 1), (-9, 0, 1)],
        INVALID_LOCATION_SCALE, stats.hypsecant, location_scale, [(0, 1), (-5, 1e-3), (0, 1e20)],
    ),
    "generalized_logistic": family(
        generalized_logistic, lambda x, alpha, mu, sigma: from_log_cdf(-alpha * mp.log1p(mp.exp((mu - x) / sigma))),
        parameters(positive(), real(), positive()), (-inf, inf),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 1, 0, 1), (1e5, 2, 0, 1), (-1e5, 2, 0, 1), (1, 1e-10, 0, 1), (30, 1e10, 0, 1),
         (-1e3, 1e-3, 0, 1), (40, 0.5, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20)],
        INVALID_SHAPE, stats.genlogistic, last_two(), [(1, 0, 1), (0.05, 0, 1), (1e6, 2, 0.1), (3, -1, 2)],
    ),
    "double_weibull": family(
        double_weibull, double_weibull_tails, parameters(positive(0.2, 10), real(), positive()), (-inf, inf),
        [(0, 1, 0, 1), (0, 0.5, 0, 1), (3, 2, 3, 1), (inf, 2, 0, 1), (-inf, 0.5, 0, 1), (1e-30, 2, 0, 1), (-1e30, 0.1, 0, 1),
         (-1, 20, 0, 1), (1e-10, 1e-3, 0, 1), (-1e3, 5, 0, 500)],
        INVALID_SHAPE, stats.dweibull,
        lambda rng, p: p[1] + p[2] * rng.choice([-1, 1], p[0].shape) * rng.exponential(3, p[0].shape) ** (1 / p[0]),
        [(1, 0, 1), (0.3, 1, 2), (30, 0, 3)],
        rtol32=1e-4, reason="the rounding error of x - mu counts alpha times",
    ),
    "skew_cauchy": family(
        skew_cauchy, skew_cauchy_tails, parameters(lambda rng, n: rng.uniform(-0.95, 0.95, n), real(), positive()), (-inf, inf),
        [(inf, 0.5, 0, 1), (-inf, 0.5, 0, 1), (0, 0.5, 0, 1), (1e30, 0, 0, 1), (-1e300, 0.9, 0, 1), (1e-10, 0.3, 0, 1),
         (1, 0.5, 0, 1e-30), (1, -0.5, 0, 1e30), (-1, 1 - 2**-20, 0, 1), (1, 1 - 2**-20, 0, 1), (1e20, 0.5, 1e10, 1e5)],
        [(1, 0, 1), (-1, 0, 1), (2, 0, 1), (0, 0, 0), (0, 0, -1), (np.nan, 0, 1), (0, np.nan, 1), (0, 0, np.nan)],
        stats.skewcauchy, last_two(8), [(0, 0, 1), (0.9, -10, 0.01), (-0.999, 0, 1e20)],
    ),
    "power_normal": family(
        power_normal, lambda x, p, mu, sigma: from_log_sf(p * log_ndtr((mu - x) / sigma)),
        parameters(positive(), real(), positive()), (-inf, inf),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 1, 0, 1), (1e4, 2, 0, 1), (-1e4, 2, 0, 1), (-9, 0.5, 0, 1), (3, 1e-10, 0, 1),
         (-7, 1e10, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20), (40, 1e-3, 0, 1)],
        INVALID_SHAPE, stats.powernorm, last_two(), [(1, 0, 1), (1e-3, 0, 1), (1e6, 2, 0.1), (3, -1, 2)],
    ),
    "kappa4": family(
        kappa4, kappa4_tails, parameters(real(0.4), real(0.4), real(), positive()), (kappa4_lower, kappa4_upper),
        [(inf, 0.5, 0, 0, 1), (-inf, -0.5, 0, 0, 1), (0.5, 0, 0, 0, 1), (0.5, 0, 0.25, 0, 1), (0.5, 0.25, 0, 0, 1),
         (0.5, 1e-30, -1e-30, 0, 1), (3, 0.25, 0.25, 0, 1), (5, 0.25, 0.25, 0, 1), (-50, 0.25, -0.25, 0, 1), (0.5, 1, 1, 0, 1),
         (-30, -0.5, 0, 0, 1), (-2000, -0.5, 0, 0, 1), (-2000, -0.5, 0.5, 0, 1), (2000, 0.5, 0, 0, 1), (1e30, -0.5, -0.5, 0, 1),
         (0.25, 2, 3, 0, 1), (1e-30, 0.1, 0.1, 0, 1e-30), (-1, -1, -0.5, 0, 1)],
        INVALID_FOUR, stats.kappa4, kappa4_inside,
        [(0.5, 0.25, 0, 1), (-0.5, 0.25, 1, 2), (0.5, -0.25, 0, 1), (-0.25, -0.25, 0, 1), (0, 0, 0, 1)],
        scipy=False, rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "tukey_lambda": family(
        tukey_lambda, tukey_lambda_tails, parameters(real(1), real(), positive()),
        (lambda lam, mu, sigma: mu - sigma / lam if lam > 0 else -inf, lambda lam, mu,
         sigma: mu + sigma / lam if lam > 0 else inf),
        [(0, 0, 0, 1), (0, 0.5, 0, 1), (3, 3, 3, 1), (inf, 0, 0, 1), (-inf, -1, 0, 1), (50, 0, 0, 1), (-3, 1e-20, 0, 1),
         (700, 1e-30, 0, 1), (1e10, -0.5, 0, 1), (-1e30, -2, 0, 1), (0.5, 1, 0, 1), (0.5, 2, 0, 1), (1, 1, 0, 1),
         (-0.5, 2, 0, 1),
         (4, 0.25, 0, 1), (5, 0.25, 0, 1), (0.03, 30, 0, 1), (1, -30, 0, 1), (1e9, -20, 0, 1), (1e-30, 0.1, 0, 1e-30)],
        [(np.nan, 0, 1), (0, np.nan, 1), (0, 0, 0), (0, 0, -1), (0, 0, np.nan)], stats.tukeylambda, tukey_inside,
        [(0, 0, 1), (0.14, 5, 2), (-1.5, 0, 1), (1.5, 0, 1), (5, 0, 1)], rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "generalized_normal": family(
        generalized_normal, halved(lambda z, beta: gamma(1 / beta, z**beta)), parameters(positive(0.3, 10), real(), positive()),
        (-inf, inf),
        [(0, 2, 0, 1), (inf, 2, 0, 1), (-inf, 0.5, 0, 1), (1e4, 2, 0, 1), (-1e10, 0.3, 0, 1), (0.99, 1e3, 0, 1),
         (3, 1e-3, 0, 1),
         (1e-30, 0.5, 0, 1), (0.5, 8, 0.25, 1e-20), (1, 2, 0, 1e20), (1.25, 20, 0, 1)],
        INVALID_SHAPE, stats.gennorm,
        lambda rng, p: p[1] + p[2] * rng.choice([-1, 1], p[0].shape) * rng.gamma(1 / p[0] + 0.3) ** (1 / p[0]),
        [(2, 0, 1), (0.3, 1, 2), (1, 0, 1e-10), (30, -3, 2), (0.1, 0, 1)],
        rtol32=1e-4, reason="the rounding error of x - mu counts beta times",
    ),
    "double_gamma": family(
        double_gamma, halved(lambda z, alpha: gamma(alpha, z)), parameters(positive(0.2, 20), real(), positive()), (-inf, inf),
        [(0, 1, 0, 1), (0, 0.5, 0, 1), (3, 2, 3, 1), (inf, 2, 0, 1), (-inf, 0.5, 0, 1), (1e-30, 0.01, 0, 1), (-1e5, 0.1, 0, 1),
         (-200, 200, 0, 1), (1e6 + 1000, 1e6, 0, 1), (5, 1e-30, 0, 1), (1e-3, 50, 0, 1e-5)],
        INVALID_SHAPE, stats.dgamma,
        lambda rng, p: p[1] + p[2] * rng.choice([-1, 1], p[0].shape) * rng.gamma(p[0] + 0.3),
        [(1, 0, 1), (0.1, 1, 2), (3, 0, 1e-10), (1e5, 0, 1)],
    ),
    "exp_gamma": family(
        exp_gamma, exp_gamma_tails, parameters(positive(0.05, 500), real(), positive()), (-inf, inf),
        [(inf, 2, 0, 1), (-inf, 2, 0, 1), (0, 1, 0, 1), (-1e5, 2, 0, 1), (10, 2, 0, 1), (700, 2, 0, 1), (-1e4, 1e-3, 0, 1),
         (9.25, 1e4, 0, 1), (-50, 0.5, 0, 1), (2, 1e-10, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20)],
        INVALID_SHAPE, stats.loggamma,
        lambda rng, p: p[1] + p[2] * (np.log(rng.gamma(p[0] + 0.1)) + rng.normal(0, 0.5, p[0].shape) / np.sqrt(p[0])),
        [(1, 0, 1), (0.01, 0, 1), (1e6, 2, 0.1), (3, -1, 2)],
        rtol32=1e-4, reason="the rounding error of x - mu counts sqrt(alpha) times, squared",
    ),
    "crystal_ball": family(
        crystal_ball, crystal_ball_tails, parameters(positive(0.3, 4), lambda rng, n: 1 + log_uniform(rng, 0.1, 20, n),
         real(), positive()),
        (-inf, inf),
        [(inf, 1, 2, 0, 1), (-inf, 1, 2, 0, 1), (0, 1, 2, 0, 1), (-1, 1, 2, 0, 1), (-1e30, 1, 2, 0, 1), (1e4, 1, 2, 0, 1),
         (-30, 30, 2, 0, 1), (-40, 30, 2, 0, 1), (-5, 1, 1e6, 0, 1), (-5, 1e-3, 2, 0, 1), (1, 1, 1 + 2**-20, 0, 1),
         (1, 2, 3, 1, 1e-20), (1, 2, 3, 0, 1e20)],
        [(0, 2, 0, 1), (-1, 2, 0, 1), (1, 1, 0, 1), (1, 0, 0, 1), (1, 2, 0, 0), (1, 2, 0, -1), (np.nan, 2, 0, 1),
         (1, np.nan, 0, 1),
         (1, 2, np.nan, 1), (1, 2, 0, np.nan)],
        stats.crystalball, last_two(), [(1, 2, 0, 1), (0.1, 1.2, 5, 2), (4, 10, 0, 1e-10)],
    ),
    "pearson3": family(
        pearson3, pearson3_tails, parameters(real(1), real(), positive()),
        (lambda skew, mu, sigma: mu - 2 * sigma / skew if skew > 0 else -inf,
         lambda skew, mu, sigma: mu - 2 * sigma / skew if skew < 0 else inf),
        [(inf, 1, 0, 1), (-inf, 1, 0, 1), (0, 0, 0, 1), (3, 0, 0, 1), (3, 1e-30, 0, 1), (-3, 1e-9, 0, 1), (2, -1e-4, 0, 1),
         (5, 0.125, 0, 1), (-2, 1, 0, 1), (-3, 1, 0, 1), (-1, 2, 0, 1), (-0.5, 4, 0, 1), (0.5, -4, 0, 1), (3, -1, 0, 1),
         (100, 0.5, 0, 1), (-40, 1e-3, 0, 1), (1, 2, 1, 1e-20), (1, 2, 0, 1e20)],
        [(np.nan, 0, 1), (0, np.nan, 1), (0, 0, 0), (0, 0, -1), (0, 0, np.nan)], stats.pearson3, pearson3_inside,
        [(0, 0, 1), (1, 5, 2), (-3, 0, 1), (0.1, 0, 1), (1e-6, 0, 1), (-10, 0, 1)], rtol32=1e-4, reason=NEAR_THE_ENDS,
    ),
    "skew_student_t": family(
        skew_student_t, skew_student_t_tails, parameters(positive(0.3, 50), positive(0.3, 50), real(), positive()), (-inf, inf),
        [(inf, 1, 2, 0, 1), (-inf, 1, 2, 0, 1), (0, 1, 1, 0, 1), (1e30, 2, 1, 0, 1), (-1e200, 1, 0.5, 0, 1),
         (3, 1e5, 1e5, 0, 1),
         (-3, 100, 1e4, 0, 1), (1, 1e-5, 1, 0, 1), (1e-10, 2, 3, 0, 1), (-2, 0.5, 1e-3, 0, 1), (30, 300, 200, 0, 1),
         (1, 2, 3, 1, 1e-20), (1, 2, 3, 0, 1e20)],
        [(0, 1, 0, 1), (1, 0, 0, 1), (-1, 1, 0, 1), (1, -1, 0, 1), (1, 1, 0, 0), (1, 1, 0, -1), (np.nan, 1, 0, 1),
         (1, np.nan, 0, 1),
         (1, 1, np.nan, 1), (1, 1, 0, np.nan)],
        stats.jf_skew_t, last_two(), [(1, 1, 0, 1), (3, 0.5, 1, 2), (30, 50, -3, 0.1), (0.2, 0.3, 0, 1), (1e3, 2, 0, 1)],
        rtol32=1e-4, reason="the rounding error of z / sqrt(a + b) counts a and b times, squared",
    ),
}  # fmt: skip
