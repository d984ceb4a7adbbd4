"""References of the distribution functions: both tails, by formulas in which neither cancels, in mpmath numbers."""

import mpmath as mp
import references_continuous
import references_vector
from references_families import FAMILIES
from tails import beta, expit, from_log_cdf, from_log_sf, gamma, integrated, ndtr

import gpustats as gs

# ---- (P(X <= x), P(X > x)) for x inside the support


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


def triangular(x, lower, upper, c):
    if x < c:
        p = (x - lower) ** 2 / ((upper - lower) * (c - lower))
        return p, 1 - p
    p = (upper - x) ** 2 / ((upper - lower) * (upper - c))
    return 1 - p, p


def discrete_uniform(x, lower, upper):
    n = upper - lower + 1
    return (x - lower + 1) / n, (upper - x) / n


def student_t(x, nu, mu, sigma):
    if mp.isinf(nu):
        return normal(x, mu, sigma)
    s = ((x - mu) / sigma) ** 2 / nu
    tail = beta(nu / 2, mp.mpf(1) / 2, 1 / (1 + s), s / (1 + s))[0] / 2
    return (tail, 1 - tail) if x < mu else (1 - tail, tail)


def half_student_t(x, nu, sigma):
    if mp.isinf(nu):
        return half_normal(x, sigma)
    s = (x / sigma) ** 2 / nu
    return beta(mp.mpf(1) / 2, nu / 2, s / (1 + s), 1 / (1 + s))


def binomial(x, n, p):
    return beta(n - x, x + 1, 1 - p, p)


def negative_binomial(x, mu, alpha):
    return beta(alpha, x + 1, alpha / (mu + alpha), mu / (mu + alpha))


def beta_binomial(x, alpha, beta, n):
    """Sums, by the ratios of neighbouring probabilities."""
    masses = [mp.beta(alpha, n + beta) / mp.beta(alpha, beta)]
    for k in range(int(n)):
        masses.append(masses[-1] * (n - k) * (k + alpha) / ((k + 1) * (n - k - 1 + beta)))
    return mp.fsum(masses[: int(x) + 1]), mp.fsum(masses[int(x) + 1 :])


def von_mises(x, mu, kappa):
    def log_density(y):
        return references_continuous.von_mises(y, mu, kappa)

    slope = kappa * abs(mp.sin(x - mu)) + mp.sqrt(1 + kappa)
    return integrated(log_density, x, mu, mu + mp.pi if x > mu else mu - mp.pi, slope)


def rice(x, nu, sigma):
    def log_density(y):
        return references_continuous.rice(y, nu / sigma, 1)

    z, center = x / sigma, nu / sigma + 1 / (1 + nu / sigma)
    return integrated(log_density, z, center, mp.inf if z > center else mp.mpf(0), 1 + abs(z - nu / sigma))


def skew_normal(x, alpha, mu, sigma):
    def log_density(y):
        return references_continuous.skew_normal(y, alpha, 0, 1)

    z, center = (x - mu) / sigma, alpha / (1 + abs(alpha))
    return integrated(log_density, z, center, mp.inf if z > center else -mp.inf, 1 + abs(z) * (1 + alpha**2))


def categorical(x, p):
    return mp.fsum(p[: int(x) + 1]), mp.fsum(p[int(x) + 1 :])


def categorical_logit(x, eta):
    weights = [mp.exp(e) for e in eta]
    return categorical(x, [w / mp.fsum(weights) for w in weights])


def ordered_logit(x, eta, cutpoints):
    z = cutpoints[int(x)] - eta
    return expit(z), expit(-z)


def poisson_binomial(x, p):
    masses = references_vector.successes(p)
    return mp.fsum(masses[: int(x) + 1]), mp.fsum(masses[int(x) + 1 :])


def interpolated(x, x_points, pdf_points):
    def area(low, high):
        share = [(y - x_points[i]) / (x_points[i + 1] - x_points[i]) for y in (low, high)]
        heights = [pdf_points[i] * (1 - s) + pdf_points[i + 1] * s for s in share]
        return (high - low) * mp.fsum(heights) / 2

    below = above = mp.mpf(0)
    for i in range(len(x_points) - 1):
        below += area(x_points[i], min(x, x_points[i + 1])) if x > x_points[i] else 0
        above += area(max(x, x_points[i]), x_points[i + 1]) if x < x_points[i + 1] else 0
    return below / (below + above), above / (below + above)


def zero_inflated(inner):
    def both(x, psi, *parameters):
        below, above = inner(x, *parameters)
        return 1 - psi + psi * below, psi * above

    return both


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
    "triangular": (triangular, lambda lower, upper, c: lower, lambda lower, upper, c: upper),
    "geometric": (lambda x, p: from_log_sf(x * (mp.log1p(-p) if p < 1 else -mp.inf)), 0, mp.inf),
    "discrete_uniform": (discrete_uniform, lambda lower, upper: lower - 1, lambda lower, upper: upper),
    "gamma": (lambda x, alpha, beta: gamma(alpha, beta * x), 0, mp.inf),
    "gamma_log": (lambda x, eta, nu: gamma(nu, nu * x * mp.exp(-eta)), 0, mp.inf),
    "chi_squared": (lambda x, nu: gamma(nu / 2, x / 2), 0, mp.inf),
    "inverse_gamma": (lambda x, alpha, beta: gamma(alpha, beta / x)[::-1], 0, mp.inf),
    "beta": (lambda x, a, b: beta(a, b, x, 1 - x), 0, 1),
    "beta_logit": (lambda x, eta, phi: beta(phi * expit(eta), phi * expit(-eta), x, 1 - x), 0, 1),
    "student_t": (student_t, -mp.inf, mp.inf),
    "student_t_identity": (student_t, -mp.inf, mp.inf),
    "half_student_t": (half_student_t, 0, mp.inf),
    "poisson": (lambda x, mu: gamma(x + 1, mu)[::-1], -1, mp.inf),
    "poisson_log": (lambda x, eta: gamma(x + 1, mp.exp(eta))[::-1], -1, mp.inf),
    "binomial": (binomial, -1, lambda n, p: n),
    "binomial_logit": (lambda x, n, eta: beta(n - x, x + 1, expit(-eta), expit(eta)), -1, lambda n, eta: n),
    "negative_binomial": (negative_binomial, -1, mp.inf),
    "negative_binomial_log": (lambda x, eta, phi: negative_binomial(x, mp.exp(eta), phi), -1, mp.inf),
    "beta_binomial": (beta_binomial, -1, lambda alpha, beta, n: n),
    "zero_inflated_poisson": (zero_inflated(lambda x, mu: gamma(x + 1, mu)[::-1]), -1, mp.inf),
    "zero_inflated_binomial": (zero_inflated(binomial), -1, lambda psi, n, p: n),
    "zero_inflated_negative_binomial": (zero_inflated(negative_binomial), -1, mp.inf),
    "von_mises": (von_mises, lambda mu, kappa: mu - mp.pi, lambda mu, kappa: mu + mp.pi),
    "rice": (rice, 0, mp.inf),
    "skew_normal": (skew_normal, -mp.inf, mp.inf),
    "categorical": (categorical, -1, lambda p: len(p) - 1),
    "categorical_logit": (categorical_logit, -1, lambda eta: len(eta) - 1),
    "poisson_binomial": (
        poisson_binomial, lambda p: sum(q == 1 for q in p) - 1, lambda p: sum(q > 0 for q in p)
    ),
    "ordered_logit": (ordered_logit, -1, lambda eta, cutpoints: len(cutpoints)),
    "ordered_probit": (
        lambda x, eta, cutpoints, sigma: normal(cutpoints[int(x)], eta, sigma), -1,
        lambda eta, cutpoints, sigma: len(cutpoints),
    ),
    "interpolated": (interpolated, lambda x_points, pdf_points: x_points[0], lambda x_points, pdf_points: x_points[-1]),
    "bernoulli": (lambda x, p: (1 - p, p), -1, 1),
    "bernoulli_logit": (lambda x, eta: (1 / (1 + mp.exp(eta)), 1 / (1 + mp.exp(-eta))), -1, 1),
    "bernoulli_probit": (lambda x, eta: (ndtr(-eta), ndtr(eta)), -1, 1),
    "bernoulli_cloglog": (lambda x, eta: from_log_cdf(-mp.exp(eta)), -1, 1),
}  # fmt: skip
CDFS |= {name: (reference.tails, *reference.ends) for name, reference in FAMILIES.items()}


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


#: Digits of those that are integrated; the others have formulas in which something cancels.
DIGITS = {"von_mises": 25, "rice": 25, "skew_normal": 25} | {name: r.digits for name, r in FAMILIES.items() if r.digits < 60}


def logarithms(name, x, *parameters):
    """(log P(X <= x), log P(X > x)) for numbers, and lists of numbers, in double precision."""
    with mp.workdps(DIGITS.get(name, 60)):
        exact = [[mp.mpf(v) for v in p] if isinstance(p, list) else mp.mpf(p) for p in parameters]
        return tuple(float(log(p)) for p in tails(name, mp.mpf(x), *exact))


def slopes(name, row, wrt):
    """The derivatives of both logarithms in element wrt[1] of argument wrt[0], by differences."""
    digits = DIGITS.get(name, 40)
    with mp.workdps(digits):
        i, k = wrt
        value = mp.mpf(row[i][k] if isinstance(row[i], list) else row[i])
        step = mp.mpf(10) ** (-digits // 3) * (abs(value) or 1)

        def at(moved):
            changed = [[mp.mpf(v) for v in a] if isinstance(a, list) else mp.mpf(a) for a in row]
            if isinstance(row[i], list):
                changed[i][k] = moved
            else:
                changed[i] = moved
            return [log(p) for p in tails(name, *changed)]

        if mp.isinf(value):
            return [0.0, 0.0]
        return [float((b - a) / (2 * step)) if a != b else 0.0 for a, b in zip(at(value - step), at(value + step))]


def log_mass(name, a, b, *parameters):
    """log P(a < X <= b), as a difference in the tail where it is the larger part."""
    below, above = zip(tails(name, a, *parameters), tails(name, b, *parameters))
    return log(below[1] - below[0] if below[1] < above[0] else above[0] - above[1])
