"""Both tails, (P(X <= x), P(X > x)), by functions in which neither cancels, of mpmath numbers."""

import mpmath as mp


def ndtr(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def expit(eta):
    return 1 / (1 + mp.exp(-eta))


def from_log_sf(log_sf):
    return -mp.expm1(log_sf), mp.exp(log_sf)


def from_log_cdf(log_cdf):
    return mp.exp(log_cdf), -mp.expm1(log_cdf)


def integrated(log_density, x, center, end, slope, edges=()):
    """Both tails of a density: the one behind x, seen from its center, by quadrature in steps that grow.

    end: that of the tail    slope: roughly the rate at which the density falls off from x
    edges: where it may begin to fall off within a distance of 1; steps are short there
    """
    total, away, at, step, scale = mp.mpf(0), 1 if x > center else -1, x, 1 / slope, log_density(x)
    while at != end:
        step = min([step, *(max(1, abs(edge - at) / 2) for edge in edges if away * (edge - at) > -4)])
        at, before, step = (at + away * step if step < abs(end - at) else end), at, 2 * step
        part = abs(mp.quad(lambda y: mp.exp(log_density(y) - scale), [before, at], method="gauss-legendre"))
        total += part
        if part < total * mp.eps:
            break
    total *= mp.exp(scale)
    return (1 - total, total) if x > center else (total, 1 - total)


# mpmath's series for the incomplete functions take long where the shapes are large, and know x near 1 by no more than 1 - x.
LARGE_GAMMA, LARGE_BETA = 20_000, 1_000


def gamma(a, x):
    """Both regularised incomplete gamma functions."""
    if a < LARGE_GAMMA or mp.isinf(a) or x == 0:
        return mp.gammainc(a, 0, x, regularized=True), mp.gammainc(a, x, mp.inf, regularized=True)

    def of_logarithm(u):
        return a * u - mp.exp(u) - mp.loggamma(a)

    u, center = mp.log(x), mp.log(a)
    return integrated(of_logarithm, u, center, mp.inf if u > center else -mp.inf, abs(a - x) + mp.sqrt(a), [0])


def beta(a, b, x, y):
    """Both regularised incomplete beta functions, y = 1 - x."""
    if (max(a, b) < LARGE_BETA and min(x, y) > mp.sqrt(mp.eps)) or not x or not y or mp.isinf(a + b):
        return mp.betainc(a, b, 0, x, regularized=True), mp.betainc(b, a, 0, y, regularized=True)
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)

    def of_logit(v):
        return -a * mp.log1p(mp.exp(-v)) - b * mp.log1p(mp.exp(v)) - log_beta

    v, center = mp.log(x / y), mp.log(a / b)
    slope = abs(a * y - b * x) + mp.sqrt(a * b / (a + b))
    return integrated(of_logit, v, center, mp.inf if v > center else -mp.inf, slope, [mp.log(a), -mp.log(b)])
