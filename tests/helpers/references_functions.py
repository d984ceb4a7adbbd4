"""What the functions that device functions may call mean, in mpmath."""

import mpmath as mp


def normal_mass(a, b):
    """Phi(b) - Phi(a)"""
    return (mp.erf(b / mp.sqrt(2)) - mp.erf(a / mp.sqrt(2))) / 2


def stirling_error(x):
    return mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


def log_gamma_p(a, x):
    """log P(a, x), from the smaller one of P and Q"""
    if x < a or x < 1:
        return mp.log(mp.gammainc(a, 0, x, regularized=True))
    return mp.log1p(-mp.gammainc(a, x, regularized=True))


def log_gamma_q(a, x):
    if x < a and x > 1:
        return mp.log1p(-mp.gammainc(a, 0, x, regularized=True))
    return mp.log(mp.gammainc(a, x, regularized=True))


def log_beta_p(a, b, x):
    """log I_x(a, b), from the smaller one of I and 1 - I"""
    if x * (a + b) < a:
        return mp.log(mp.betainc(a, b, 0, x, regularized=True))
    return mp.log1p(-mp.betainc(b, a, 0, 1 - x, regularized=True))


def log_student(a, t, within):
    """log P(|T| <= t sqrt(2 a)) if `within`, else log P(|T| > t sqrt(2 a)), T having 2 a degrees of freedom"""
    s, half = t * t, mp.mpf(1) / 2
    return log_beta_p(half, a, s / (1 + s)) if within else log_beta_p(a, half, 1 / (1 + s))


def truncated(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


# name: (meaning, where each argument lies)
MATH = {
    "acos": (mp.acos, (-0.9, 0.9)),
    "acosh": (mp.acosh, (1.1, 5)),
    "asin": (mp.asin, (-0.9, 0.9)),
    "asinh": (mp.asinh, (-3, 3.5)),
    "atan": (mp.atan, (-3, 3.5)),
    "atan2": (mp.atan2, (-3, 3.5), (-3, 3.5)),
    "atanh": (mp.atanh, (-0.9, 0.8)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), (-3, -0.2)),
    "ceil": (mp.ceil, (-2.4, 2.9)),
    "copysign": (lambda a, b: abs(a) * mp.sign(b), (-3, 3.5), (-3, 3.5)),
    "cos": (mp.cos, (-3, 3.5)),
    "cosh": (mp.cosh, (-2, 2.5)),
    "erf": (mp.erf, (-2, 2.5)),
    "erfc": (mp.erfc, (-2, 2.5)),
    "exp": (mp.exp, (-3, 2.5)),
    "exp2": (lambda x: mp.mpf(2) ** x, (-3, 2.5)),
    "expm1": (mp.expm1, (-3, 2.5)),
    "fabs": (abs, (-3, 3.5)),
    "fdim": (lambda a, b: max(a - b, mp.mpf(0)), (-3, 3.5), (-3, 3.5)),
    "floor": (mp.floor, (-2.4, 2.9)),
    "fma": (lambda a, b, c: a * b + c, (-3, 3.5), (-3, 3.5), (-3, 3.5)),
    "fmax": (max, (-3, 3.5), (-3, 3.5)),
    "fmin": (min, (-3, 3.5), (-3, 3.5)),
    "fmod": (lambda a, b: a - b * truncated(a / b), (-9, 9.5), (0.7, 2.1)),
    "hypot": (mp.hypot, (-3, 3.5), (-3, 3.5)),
    "lgamma": (mp.loggamma, (0.2, 6)),
    "log": (mp.log, (0.2, 6)),
    "log10": (mp.log10, (0.2, 6)),
    "log1p": (mp.log1p, (-0.9, 4)),
    "log2": (lambda x: mp.log(x, 2), (0.2, 6)),
    "nextafter": (lambda a, b: a, (-3, 3.5), (-3, 3.5)),
    "pow": (mp.power, (0.2, 3), (-2, 2.5)),
    "quotient": (lambda a, b: a / b, (-9, 9.5), (0.7, 2.1)),
    "remainder": (lambda a, b: a - b * mp.nint(a / b), (-9, 9.5), (0.7, 2.1)),
    "rint": (mp.nint, (-2.4, 2.9)),
    "round": (mp.nint, (-2.4, 2.9)),
    "sin": (mp.sin, (-3, 3.5)),
    "sinh": (mp.sinh, (-2, 2.5)),
    "sqrt": (mp.sqrt, (0.2, 6)),
    "tan": (mp.tan, (-1.2, 1.3)),
    "tanh": (mp.tanh, (-2, 2.5)),
    "tgamma": (mp.gamma, (0.3, 4)),
    "trunc": (truncated, (-2.4, 2.9)),
}

SPECIAL_FUNCTIONS = {
    "bessel_ratio": (lambda x: mp.besseli(1, x) / mp.besseli(0, x), (0.1, 30)),
    "bd0": (lambda x, m: x * mp.log(x / m) + m - x, (0.3, 5), (0.4, 5.5)),
    "digamma": (mp.digamma, (0.2, 15)),
    "expm1_excess": (lambda x: x + mp.expm1(-x), (0.01, 3)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (-5, 5.5)),
    "expm1_quotient": (lambda a, x: mp.expm1(a * x) / a, (-1, 1.2), (-2, 2.5)),
    "expit_difference": (lambda a, b: 1 / (1 + mp.exp(-a)) - 1 / (1 + mp.exp(-b)), (-5, 5.5), (-4, 6)),
    "above_cut": (lambda x, mu: x - mu + mp.pi, (-3, 3.5), (-2, 2.5)),
    "atanh_remainder": (lambda s: (mp.atanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, (0.001, 0.11)),
    "lbeta": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), (0.2, 6), (0.3, 7)),
    "log_beta_p_logit": (lambda a, b, v: log_beta_p(a, b, 1 / (1 + mp.exp(-v))), (0.3, 20), (0.3, 20), (-3, 3)),
    "log_minus_digamma": (lambda x: mp.log(x) - mp.digamma(x), (0.2, 15)),
    "log_student_p": (lambda a, t: log_student(a, t, True), (0.3, 20), (0.1, 3)),
    "log_student_q": (lambda a, t: log_student(a, t, False), (0.3, 20), (0.1, 3)),
    "log_student_above": (lambda a, t: log_student(a, t, False) - mp.log(2), (0.3, 20), (0.1, 3)),
    "student_q": (lambda a, t: mp.exp(log_student(a, t, False)), (0.3, 20), (0.1, 3)),
    "log1mexp": (lambda x: mp.log(-mp.expm1(x)), (-5, -0.05)),
    "log1p_quotient": (lambda a, x: mp.log1p(a * x) / a, (-0.4, 0.9), (0.1, 2.4)),
    "expm1_over": (lambda x, scale, a: scale * mp.expm1(a * x) / a, (0.1, 5), (0.2, 4), (-2, 2)),
    "scaled_exp": (lambda scale, u: scale * mp.exp(u), (0.2, 4), (-5, 5)),
    "scaled_expm1": (lambda scale, u: scale * mp.expm1(u), (0.2, 4), (-3, 3.5)),
    "scaled_sinh": (lambda scale, u: scale * mp.sinh(u), (0.2, 4), (-3, 3.5)),
    "log_expm1_quotient": (lambda a, x: mp.log(mp.expm1(a * x) / a), (0.1, 5), (0.2, 4)),
    "log_arc": (lambda x, s: mp.log(mp.atan2(s, x)), (0.1, 5), (0.2, 4)),
    "log_quotient": (lambda x, s: mp.log(x / s), (0.1, 5), (0.2, 4)),
    "lift": (lambda x, s: 1, (0.1, 5), (0.2, 4)),
    "log_lift": (lambda factor: 0, (1, 1)),
    "log_slope": (lambda x: 1 / x, (0.1, 5)),
    "log1p_square": (lambda x: mp.log1p(x * x), (-3, 3.5)),
    "power_of_quotient": (lambda x, s, p: (x / s) ** p, (0.1, 5), (0.2, 4), (-2, 2)),
    "within_range": (lambda x: x, (0.1, 5)),
    "log1p_over": (lambda d, scale, xi: mp.log1p(xi * d / scale) / xi, (0.1, 1.5), (1, 5), (-0.6, 6)),
    "log1p_unit": (mp.log1p, (0.05, 0.95)),
    "log_2cosh": (lambda x: mp.log(2 * mp.cosh(x)), (-4, 4.5)),
    "log_2cosh_slope": (mp.tanh, (-4, 4.5)),
    "log1pexp": (lambda x: mp.log1p(mp.exp(x)), (-5, 5.5)),
    "log1pmx": (lambda x: mp.log1p(x) - x, (-0.8, 5)),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (-5, 5.5)),
    "log_expm1": (lambda x: mp.log(mp.expm1(x)), (0.1, 5)),
    "log_gamma": (mp.loggamma, (0.2, 9)),
    "log_gamma_1p": (lambda x: mp.loggamma(1 + x), (0.1, 9)),
    "log_gamma_near_two": (lambda z: mp.loggamma(2 + z), (-0.9, 0.95)),
    "gamma_p": (lambda a, x: mp.exp(log_gamma_p(a, x)), (0.3, 40), (0.2, 50)),
    "gamma_q": (lambda a, x: mp.exp(log_gamma_q(a, x)), (0.3, 40), (0.2, 50)),
    "log_gamma_p": (log_gamma_p, (0.3, 40), (0.2, 50)),
    "log_gamma_q": (log_gamma_q, (0.3, 40), (0.2, 50)),
    "log_gumbel_density": (lambda z: -z - mp.exp(-z), (-3, 4.5)),
    "log_gumbel_density_slope": (lambda z: mp.expm1(-z), (-3, 4.5)),
    "log_i0": (lambda x: mp.log(mp.besseli(0, x)), (0.1, 25)),
    "log_i0e": (lambda x: mp.log(mp.besseli(0, x)) - x, (0.1, 25)),
    "log_rising": (lambda x, n: mp.loggamma(x + n) - mp.loggamma(x), (0.2, 9), (0.1, 9)),
    "log_log1pexp": (lambda x: mp.log(mp.log1p(mp.exp(x))), (-5, 5.5)),
    "log_minus_log1mexp": (lambda x: mp.log(-mp.log(-mp.expm1(x))), (-5, -0.05)),
    "log_ndtr": (lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), (-9, 5)),
    "minus_sine": (lambda x: x - mp.sin(x), (0.1, 6)),
    "ndtri_exp": (lambda log_p: mp.sqrt(2) * mp.erfinv(2 * mp.exp(log_p) - 1), (-4, -0.05)),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), (0.02, 0.98)),
    "log_ndtr_difference": (lambda a, b: mp.log(normal_mass(a, b)), (-4, 1), (1.1, 4)),
    "log_zeta": (lambda a: mp.log(mp.zeta(a)), (1.1, 20)),
    "relative_expm1": (lambda x: mp.expm1(x) / x, (-3, 3.5)),
    "relative_expm1_slope": (lambda x: ((x - 1) * mp.exp(x) + 1) / x**2, (-3, 3.5)),
    "scaled_erfc_any": (lambda x: mp.exp(x * x) * mp.erfc(x), (-2, 6)),
    "logaddexp": (lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), (-5, 5.5), (-5, 5.5)),
    "logit": (lambda p: mp.log(p / (1 - p)), (0.05, 0.95)),
    "logsubexp": (lambda a, b: mp.log(mp.exp(a) - mp.exp(b)), (1, 4), (-2, 0.8)),
    "scaled_erfc": (lambda x: mp.exp(x * x) * mp.erfc(x), (0.05, 6)),
    "stirling_error": (stirling_error, (0.3, 9)),
    "stirling_series": (stirling_error, (3, 30)),
    "trigamma": (lambda x: mp.psi(1, x), (0.3, 15)),
    "weighted": (lambda weight, log_density: weight * log_density, (0.1, 3), (-3, 3.5)),
    "xlog1py": (lambda x, y: x * mp.log1p(y), (-3, 3.5), (-0.9, 4)),
    "xlogy": (lambda x, y: x * mp.log(y), (-3, 3.5), (0.2, 6)),
}

FUNCTIONS = MATH | SPECIAL_FUNCTIONS
