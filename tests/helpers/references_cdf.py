"""References of the distribution functions: both tails, by formulas in which neither cancels, in mpmath numbers."""

import mpmath as mp
import references_continuous

import gpustats as gs

# ---- (P(X <= x), P(X > x)) for x inside the support


def ndtr(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def normal(x, mu, sigma):
    z = (x - mu) / sigma
    return ndtr(z), ndtr(-z)


def half_normal(x, sigma):
    z = x / sigma / mp.sqrt(2)
    return mp.erf(z), mp.erfc(z)


def truncated_normal(x, mu, sigma, lower, upper):
    def mass(a, b):
        return references_continuous.normal_probability((a - mu) / sigma, (b - mu) / sigma)

    return mass(lower, x) / mass(lower, upper), mass(x, upper) / mass(lower, upper)


def ex_gaussian(x, mu, sigma, nu):
    z, ratio = (x - mu) / sigma, sigma / nu
    second = mp.exp(ratio * (ratio / 2 - z)) * ndtr(z - ratio)
    return ndtr(z) - second, ndtr(-z) + second


def wald(x, mu, lam):
    root = mp.sqrt(lam / x)
    second = mp.exp(2 * lam / mu) * ndtr(-root * (x / mu + 1))
    return ndtr(root * (x / mu - 1)) + second, ndtr(root * (1 - x / mu)) - second


def from_log_sf(log_sf):
    return -mp.expm1(log_sf), mp.exp(log_sf)


def from_log_cdf(log_cdf):
    return mp.exp(log_cdf), -mp.expm1(log_cdf)


def laplace(x, mu, b):
    z = (x - mu) / b
    return (mp.exp(z) / 2, 1 - mp.exp(z) / 2) if z < 0 else (1 - mp.exp(-z) / 2, mp.exp(-z) / 2)


def asymmetric_laplace(x, kappa, mu, b):
    below = kappa**2 / (1 + kappa**2)
    if x < mu:
        p = below * mp.exp((x - mu) * b / kappa)
        return p, 1 - p
    p = mp.exp((mu - x) * b * kappa) / (1 + kappa**2)
    return 1 - p, p


def logistic(x, mu, s):
    z = (x - mu) / s
    return 1 / (1 + mp.exp(-z)), 1 / (1 + mp.exp(z))


def moyal(x, mu, sigma):
    w = mp.exp((mu - x) / (2 * sigma)) / mp.sqrt(2)
    if w > 1e8:  # the first term of the asymptotic series
        return mp.exp(-w * w) / (w * mp.sqrt(mp.pi)), mp.mpf(1)
    return mp.erfc(w), mp.erf(w)


def cauchy(x, alpha, beta):
    z = (x - alpha) / beta
    return mp.atan2(1, -z) / mp.pi, mp.atan2(1, z) / mp.pi


def triangular(x, lower, c, upper):
    if x < c:
        p = (x - lower) ** 2 / ((upper - lower) * (c - lower))
        return p, 1 - p
    p = (upper - x) ** 2 / ((upper - lower) * (upper - c))
    return 1 - p, p


def discrete_uniform(x, lower, upper):
    n = upper - lower + 1
    return (x - lower + 1) / n, (upper - x) / n


# name: (tails, lower end of the support, its upper end), the ends as functions of the parameters
CDFS = {
    "normal": (normal, -mp.inf, mp.inf),
    "normal_identity": (normal, -mp.inf, mp.inf),
    "half_normal": (half_normal, 0, mp.inf),
    "log_normal": (lambda x, mu, sigma: normal(mp.log(x), mu, sigma), 0, mp.inf),
    "logit_normal": (lambda x, mu, sigma: normal(mp.log(x / (1 - x)), mu, sigma), 0, 1),
    "truncated_normal": (truncated_normal, lambda mu, sigma, lower, upper: lower, lambda mu, sigma, lower, upper: upper),
    "ex_gaussian": (ex_gaussian, -mp.inf, mp.inf),
    "wald": (wald, 0, mp.inf),
    "laplace": (laplace, -mp.inf, mp.inf),
    "asymmetric_laplace": (asymmetric_laplace, -mp.inf, mp.inf),
    "logistic": (logistic, -mp.inf, mp.inf),
    "gumbel": (lambda x, mu, beta: from_log_cdf(-mp.exp((mu - x) / beta)), -mp.inf, mp.inf),
    "moyal": (moyal, -mp.inf, mp.inf),
    "cauchy": (cauchy, -mp.inf, mp.inf),
    "half_cauchy": (lambda x, b: (2 * mp.atan2(x, b) / mp.pi, 2 * mp.atan2(b, x) / mp.pi), 0, mp.inf),
    "exponential": (lambda x, lam: from_log_sf(-lam * x), 0, mp.inf),
    "weibull": (lambda x, alpha, beta: from_log_sf(-((x / beta) ** alpha)), 0, mp.inf),
    "pareto": (lambda x, alpha, m: from_log_sf(alpha * mp.log(m / x)), lambda alpha, m: m, mp.inf),
    "kumaraswamy": (lambda x, a, b: from_log_sf(b * mp.log1p(-(x**a))), 0, 1),
    "uniform": (
        lambda x, lower, upper: ((x - lower) / (upper - lower), (upper - x) / (upper - lower)),
        lambda lower, upper: lower,
        lambda lower, upper: upper,
    ),
    "triangular": (triangular, lambda lower, c, upper: lower, lambda lower, c, upper: upper),
    "geometric": (lambda x, p: from_log_sf(x * (mp.log1p(-p) if p < 1 else -mp.inf)), 0, mp.inf),
    "discrete_uniform": (discrete_uniform, lambda lower, upper: lower - 1, lambda lower, upper: upper),
    "bernoulli": (lambda x, p: (1 - p, p), -1, 1),
    "bernoulli_logit": (lambda x, eta: (1 / (1 + mp.exp(eta)), 1 / (1 + mp.exp(-eta))), -1, 1),
    "bernoulli_probit": (lambda x, eta: (ndtr(-eta), ndtr(eta)), -1, 1),
    "bernoulli_cloglog": (lambda x, eta: from_log_cdf(-mp.exp(eta)), -1, 1),
}


def tails(name, x, *parameters):
    """(P(X <= x), P(X > x)) for any x, as mpmath numbers."""
    inside, low, high = CDFS[name]
    x = mp.floor(x) if gs.densities[name].discrete and mp.isfinite(x) else x
    if x <= (low(*parameters) if callable(low) else low):
        return mp.mpf(0), mp.mpf(1)
    if x >= (high(*parameters) if callable(high) else high):
        return mp.mpf(1), mp.mpf(0)
    return inside(x, *parameters)


def log(p):
    return mp.log(p) if p else -mp.inf


def log_mass(name, a, b, *parameters):
    """log P(a < X <= b), as a difference in the tail where it is the larger part."""
    below, above = zip(tails(name, a, *parameters), tails(name, b, *parameters))
    return log(below[1] - below[0] if below[1] < above[0] else above[0] - above[1])
