"""Special functions, against mpmath, in both precisions."""

import math

import mpmath as mp
import numpy as np
import pytest
from references import exactly, log_uniform
from thorough import double_first, some

from gpustats.testing import evaluate_device

N = 150
LOG_2 = np.log(2)
RNG = np.random.default_rng(20)


def near(centre, *scales):
    return np.concatenate([centre + scale * RNG.uniform(-1, 1, N // 2) for scale in scales])


def bd0(x, m):
    return (x * mp.log(x / m) if x else 0) + m - x


def stirling_error(x):
    return mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


def log_ndtr(x):
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)


def scaled_erfc(x):
    return mp.exp(x * x) * mp.erfc(x)


def scaled_erfc_slope(x):
    return 2 / mp.sqrt(mp.pi) - 2 * x * scaled_erfc(x)


def log_cdf_difference(cdf_a, sf_a, cdf_b, sf_b):
    return mp.log(mp.exp(cdf_b) - mp.exp(cdf_a) if cdf_b < mp.log(0.5) else mp.exp(sf_a) - mp.exp(sf_b))


def normal_mass(a, b):
    """Phi(b) - Phi(a)"""
    if b < 0:
        a, b = -b, -a
    return (mp.erfc(a / mp.sqrt(2)) - mp.erfc(b / mp.sqrt(2))) / 2


def normal_integral(a, b, width):
    mode = min(max(a, 0), b)
    return normal_mass(a, b) * mp.exp(mode * mode / 2) * mp.sqrt(2 * mp.pi)


def ndtri(p):
    if p > 0.5:
        return -ndtri(1 - p)
    start = -mp.sqrt(-2 * mp.log(p)) + 0.5
    return mp.findroot(lambda x: log_ndtr(x) - mp.log(p), start) if p < 0.5 else mp.mpf(0)


def ndtri_exp(log_p):
    if log_p > -LOG_2:
        return -ndtri(-mp.expm1(log_p))
    return mp.findroot(lambda x: log_ndtr(x) - log_p, -mp.sqrt(-2 * log_p) + 0.5)


def xlogy(x, y):
    return x * mp.log(y) if x else mp.mpf(0)


positive = np.concatenate([log_uniform(RNG, 1e-20, 1e20, N), log_uniform(RNG, 0.1, 20, N)])
positive = np.concatenate([positive, near(1, 1e-2), near(2, 1e-2), near(3, 0.1)])
signed = np.concatenate([RNG.normal(0, 20, N), log_uniform(RNG, 1e-8, 1e8, N), -log_uniform(RNG, 1e-8, 1e8, N), [0]])
pairs = log_uniform(RNG, 1e-3, 1e5, N), log_uniform(RNG, 1e-3, 1e5, N)
left = np.concatenate([RNG.normal(0, 3, N), RNG.uniform(-40, 40, N)])
right = left + log_uniform(RNG, 1e-4, 50, 2 * N)
left, right = (a.astype(np.float32).astype(float) for a in (left, right))
below = RNG.normal(0, 9, N)

# name: (reference, arguments, largest error in units of EPSILON, whether it is relative to the value itself;
# otherwise it is relative to max(1, |value|))
FUNCTIONS = {
    "log1mexp": (lambda x: mp.log(-mp.expm1(x)), (-log_uniform(RNG, 1e-15, 80, 2 * N),), 4, True),
    "log1pexp": (lambda x: mp.log1p(mp.exp(x)), (RNG.uniform(-80, 80, N),), 4, True),
    "log_log1pexp": (lambda x: mp.log(mp.log1p(mp.exp(x))), (RNG.uniform(-80, 80, N),), 4, False),
    "log_minus_log1mexp": (
        lambda x: mp.log(-mp.log1p(-mp.exp(x)) if x < -1 else -mp.log(-mp.expm1(x))),
        (-log_uniform(RNG, 1e-3, 80, 2 * N),), 4, False,
    ),
    "log_expm1": (lambda x: mp.log(mp.expm1(x)), (log_uniform(RNG, 1e-15, 80, 2 * N),), 4, False),
    "log1p_over": (
        lambda d, scale, xi: mp.log1p(xi * d / scale) / xi if xi else d / scale,
        (np.r_[pairs[0], pairs[0], 3.0], np.r_[pairs[1], pairs[1], 2.0], np.r_[pairs[0], -0.999 * pairs[1] / pairs[0], 0.0]),
        8, True,
    ),
    "expm1_excess": (lambda x: x + mp.expm1(-x), (log_uniform(RNG, 1e-15, 1e3, 2 * N),), 8, True),
    "logaddexp": (lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), (RNG.normal(0, 20, N), RNG.normal(0, 20, N)), 4, False),
    "logsubexp": (lambda a, b: a + mp.log(-mp.expm1(b - a)), (below + log_uniform(RNG, 1e-2, 50, N), below), 4, False),
    "log_cdf_difference": (
        log_cdf_difference,
        tuple(-np.logaddexp(0, sign * z) for z in (below, below + log_uniform(RNG, 0.5, 50, N)) for sign in (-1, 1)),
        8,
        False,
    ),
    "weighted": (lambda weight, value: weight * value, (np.r_[0, 2, pairs[0]], np.r_[3, -5, -pairs[1]]), 2, True),
    "xlogy": (xlogy, (np.r_[0, 0, 2, pairs[0]], np.r_[0, 1, 0.5, pairs[1]]), 4, True),
    "xlog1py": (lambda x, y: xlogy(x, 1 + y), (np.r_[0, 2, pairs[0]], np.r_[-1, -0.5, pairs[1]]), 4, True),
    "within_range": (lambda y: y, (log_uniform(RNG, 1e-20, 1e20, N),), 1, True),
    "log_quotient": (
        lambda x, s: mp.log(x / s), (np.r_[pairs[0], 1e30, 1e-30, 3], np.r_[pairs[1], 1e-30, 1e30, 3]), 4, False,
    ),
    "log_arc": (lambda x, s: mp.log(mp.atan2(s, x)), (np.r_[pairs[0], 1e30, 0], np.r_[pairs[1], 1e-30, 3]), 4, False),
    "log_slope": (lambda y: 1 / y, (log_uniform(RNG, 1e-30, 1e30, N),), 2, True),
    "log1p_square": (lambda y: mp.log1p(y * y), (np.concatenate([signed, [1e30, -1e37]]),), 4, True),
    "log_product_excess": (
        lambda x, y, u: mp.log(x * y) - u, (tiny := log_uniform(RNG, 1e-37, 1e-3, N), np.full(N, 0.5), 0.5 * tiny - 1), 4, True,
    ),
    "log1pmx": (
        lambda u: mp.log1p(u) - u,
        (np.concatenate([log_uniform(RNG, 1e-8, 1e8, N), -log_uniform(RNG, 1e-8, 0.999, N), near(0, 1)]),),
        12,
        True,
    ),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (RNG.uniform(-80, 80, N),), 4, True),
    "expit_difference": (
        lambda a, b: mp.expm1(a - b) / (1 + mp.exp(a)) / (1 + mp.exp(-b)),
        (np.r_[left, right, 30, -60], np.r_[right, left, 30 - 1e-3, 70]), 6, True,
    ),
    "log1p_unit": (lambda e: mp.log1p(e), (RNG.uniform(0, 1, N),), 4, True),
    "log_2cosh": (lambda x: mp.log(2 * mp.cosh(x)), (RNG.uniform(-80, 80, N),), 4, True),
    "log_2cosh_slope": (mp.tanh, (np.r_[signed, RNG.uniform(-2, 2, N)],), 20, False),
    "log_gumbel_density_slope": (lambda z: mp.expm1(-z), (np.r_[signed, RNG.uniform(-30, 80, N)],), 40, False),
    "log_gumbel_density": (lambda z: -z - mp.exp(-z), (RNG.uniform(-30, 80, N),), 4, False),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (RNG.uniform(-80, 80, N),), 4, True),
    "logit": (lambda p: mp.log(p / (1 - p)), (np.r_[RNG.uniform(1e-3, 0.999, N), near(0.5, 1e-6)],), 5, True),
    "log_gamma": (mp.loggamma, (positive,), 6, True),
    "stirling_error": (stirling_error, (positive,), 6, False),
    "bd0": (bd0, (np.r_[0, positive], np.r_[2, positive * log_uniform(RNG, 1e-4, 1e4, positive.size)]), 12, True),
    "lbeta": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), pairs, 8, False),
    "digamma": (mp.digamma, (positive,), 8, False),
    "trigamma": (lambda x: mp.psi(1, x), (log_uniform(RNG, 1e-3, 1e8, N),), 8, True),
    "scaled_erfc": (scaled_erfc, (log_uniform(RNG, 1e-4, 1e3, N),), 6, True),
    "scaled_erfc_any": (scaled_erfc, (RNG.uniform(-5, 5, N),), 60, True),
    "scaled_erfc_slope": (scaled_erfc_slope, (np.r_[log_uniform(RNG, 1e-4, 1e4, 2 * N), RNG.uniform(-1, 0, 20)],), 200, True),
    "scaled_erfc_mean_slope": (
        lambda a, width: (scaled_erfc(a) - scaled_erfc(a + width)) / width,
        (np.r_[log_uniform(RNG, 1e-4, 1e4, N), RNG.uniform(-1, 1, N)], log_uniform(RNG, 1e-8, 1e4, 2 * N)),
        200,
        True,
    ),
    "log_ndtr": (log_ndtr, (np.concatenate([RNG.uniform(-40, 8, N), -log_uniform(RNG, 1e-3, 1e4, N)]),), 8, False),
    "ndtri": (
        ndtri,
        (np.r_[log_uniform(RNG, 1e-37, 0.5, N), RNG.uniform(0, 1, N), 1 - log_uniform(RNG, 1e-7, 0.5, N), 1e-300],),
        6,
        True,
    ),
    "log_gamma_bend": (
        lambda x, h: mp.loggamma(x + 2 * h) - 2 * mp.loggamma(x + h) + mp.loggamma(x),
        (bent := log_uniform(RNG, 1e-3, 1e6, 2 * N),
         bent * np.r_[log_uniform(RNG, 1e-8, 10, N), -log_uniform(RNG, 1e-8, 0.4, N)]), 200, True,
    ),
    "ndtri_exp": (
        ndtri_exp, (-np.r_[log_uniform(RNG, 1e-7, 1e3, 2 * N), log_uniform(RNG, 60, 1e6, N), near(LOG_2, 1e-2)],), 8, False,
    ),
    "log1p_quotient": (
        lambda a, x: mp.log1p(a * x) / a if a else x,
        (slopes := np.r_[0, log_uniform(RNG, 1e-9, 1e3, N), -log_uniform(RNG, 1e-9, 0.9, N)],
         np.r_[2, log_uniform(RNG, 1e-3, 1e3, N), -0.98 / slopes[-N:] * RNG.uniform(-1, 1, N)]), 8, True,
    ),
    "expm1_quotient": (
        lambda a, x: mp.expm1(a * x) / a if a else x,
        (slopes, np.r_[2, 30 / slopes[1:] * log_uniform(RNG, 1e-6, 1, 2 * N)]), 40, True,
    ),
    "above_cut": (
        lambda x, mu: x - mu + mp.pi, ((mu := RNG.normal(0, 2, N)) - np.pi + log_uniform(RNG, 1e-7, 3, N), mu), 4, True,
    ),
    "minus_sine": (lambda x: x - mp.sin(x), (log_uniform(RNG, 1e-9, 7, 2 * N),), 8, True),
    "normal_integral": (normal_integral, (left, right, right - left), 16, True),
    "log_ndtr_difference": (lambda a, b: mp.log(normal_mass(a, b)), (left, right), 16, False),
    "log_i0e": (lambda x: mp.log(mp.besseli(0, x)) - x, (log_uniform(RNG, 1e-4, 1e4, 2 * N),), 6, False),
    "bessel_ratio": (lambda x: mp.besseli(1, x) / mp.besseli(0, x), (log_uniform(RNG, 1e-4, 1e4, 2 * N),), 8, True),
    "log_i0": (lambda x: mp.log(mp.besseli(0, x)), (log_uniform(RNG, 1e-4, 1e4, 2 * N),), 6, False),
}


def worst_error(name, dtype):
    """The largest error of a function, in units of EPSILON, and the arguments it occurs at."""
    function, args, _, relative = FUNCTIONS[name]
    args = [np.asarray(a, float).astype(dtype) for a in args]
    ordered = args[0] < args[1] if name in ("normal_integral", "log_ndtr_difference") else np.full(len(args[0]), True)
    args = [a[ordered] for a in args]
    want = exactly(function)(*args)
    got = evaluate_device(name, *args, dtype=dtype).astype(float)
    info = np.finfo(dtype)
    in_range = (np.abs(want) < info.max) & ((np.abs(want) > info.tiny) | (want == 0))
    error = np.abs(got - want) / (np.maximum(np.abs(want), info.tiny) if relative else np.maximum(1, np.abs(want)))
    error = np.where(in_range, np.where(np.isnan(error), np.inf, error), 0) / info.eps
    worst = np.argmax(error)
    return error[worst], [float(a[worst]) for a in args]


@double_first
@pytest.mark.parametrize("name", some(FUNCTIONS, 5))
def test_accuracy(name, dtype):
    error, args = worst_error(name, dtype)
    assert error <= FUNCTIONS[name][2], f"{name}{tuple(args)} is off by {error:.1f} EPSILON"


@double_first
@pytest.mark.parametrize(
    "name, args, want",
    [
        ("log1mexp", (0,), -np.inf),
        ("log1mexp", (-np.inf,), 0),
        ("log1pexp", (-np.inf,), 0),
        ("logaddexp", (-np.inf, -np.inf), -np.inf),
        ("logaddexp", (-np.inf, 3), 3),
        ("logsubexp", (3, -np.inf), 3),
        ("log_cdf_difference", (-np.inf, 0, 0, -np.inf), 0),
        ("log_cdf_difference", (-1e4, 0, -9e3, 0), -9e3),
        ("log_cdf_difference", (0, -9e3, 0, -1e4), -9e3),
        ("weighted", (0, -np.inf), 0),
        ("weighted", (2, -np.inf), -np.inf),
        ("log1p_square", (-np.inf,), np.inf),
        ("log1pmx", (-1,), -np.inf),
        ("log1pmx", (0,), 0),
        ("log1pmx", (np.inf,), -np.inf),
        ("expit", (-np.inf,), 0),
        ("expit_difference", (np.inf, -np.inf), 1),
        ("expit_difference", (-np.inf, np.inf), -1),
        ("expit_difference", (np.inf, np.inf), 0),
        ("expit_difference", (-800, 0), -0.5),
        ("expit_difference", (np.nan, 0), np.nan),
        ("expit_difference", (0, np.nan), np.nan),
        ("log_expit", (-np.inf,), -np.inf),
        ("log_expit", (np.inf,), 0),
        ("logit", (0,), -np.inf),
        ("logit", (0.5,), 0),
        ("logit", (1,), np.inf),
        ("log_gamma", (0,), np.inf),
        ("log_gamma", (1,), 0),
        ("log_gamma", (2,), 0),
        ("log_gamma", (np.inf,), np.inf),
        ("stirling_error", (0,), np.inf),
        ("stirling_error", (np.inf,), 0),
        ("bd0", (3, 3), 0),
        ("lbeta", (0, 1), np.inf),
        ("scaled_erfc", (0,), 1),
        ("scaled_erfc", (np.inf,), 0),
        ("scaled_erfc_any", (-1,), np.e * (1 + math.erf(1))),
        ("log_ndtr", (-np.inf,), -np.inf),
        ("log_ndtr", (np.inf,), 0),
        ("ndtri", (0,), -np.inf),
        ("ndtri", (1,), np.inf),
        ("ndtri", (0.5,), 0),
        ("ndtri", (-0.1,), np.nan),
        ("ndtri", (1.1,), np.nan),
        ("ndtri", (np.nan,), np.nan),
        ("normal_integral", (-np.inf, np.inf, np.inf), np.sqrt(2 * np.pi)),
        ("log_ndtr_difference", (-np.inf, np.inf), 0),
        ("log_ndtr_difference", (0, np.inf), -np.log(2)),
        ("log_i0e", (0,), 0),
        ("log_i0e", (np.inf,), -np.inf),
    ],
)
def test_limits(name, args, want, dtype):
    got = evaluate_device(name, *(np.array([a], dtype) for a in args), dtype=dtype)[0]
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype).eps, atol=8 * np.finfo(dtype).eps)
