"""Special distribution functions that are computed by quadrature, against series of mpmath's and scipy's functions."""

import functools

import mpmath as mp
import numpy as np
import pytest
from references import derivative, exactly, log_uniform
from scipy import special
from stored import stored
from thorough import some

import gpustats as gs
from gpustats.testing import evaluate_device

RNG = np.random.default_rng(22)
EACH_DTYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def log_von_mises(x, mu, kappa):
    """Its Fourier series"""
    x -= mu
    sum, j, term = mp.pi + x, 1, mp.mpf(1)
    while term > mp.eps * 1e-5:
        term = mp.besseli(j, kappa) / mp.besseli(0, kappa)
        sum, j = sum + 2 * term * mp.sin(j * x) / j, j + 1
    return mp.log(sum / (2 * mp.pi))


def rice_series(x, nu, first):
    """exp(-(x^2 + nu^2) / 2) times the sum of (x / nu)^k I_k(nu x) from k = first on, or of its inverse powers"""
    ratio, sum, k = (x / nu if first else nu / x), mp.mpf(0), first
    while True:
        term = ratio**k * mp.besseli(k, nu * x)
        sum, k = sum + term, k + 1
        if term < mp.eps * 1e-5 * sum and k > 5:
            return sum * mp.exp(-(x * x + nu * nu) / 2)


def log_rice_p(x, nu):
    return mp.log(rice_series(x, nu, 1))


def log_rice_q(x, nu):
    return mp.log(rice_series(x, nu, 0))


def log_skew_ndtr(x, alpha):
    """Phi(x) - 2 T(x, alpha)"""
    size, turn = abs(alpha), 1 / (abs(x) + 1)
    points = [0, *(p * turn for p in (1, 2, 4, 8, 16) if p * turn < size), size]
    with mp.workdps(mp.mp.dps + 30):
        twice_t = mp.quad(lambda t: mp.exp(-x * x * (1 + t * t) / 2) / (1 + t * t), points) / mp.pi
        return mp.log(mp.ncdf(x) - mp.sign(alpha) * twice_t)


kappa = np.r_[log_uniform(RNG, 1e-2, 60, 8), 1, 100, 3, 20]
angles = np.r_[RNG.uniform(-3.1, 3.1, 6), RNG.normal(0, 1, 4) / np.sqrt(1 + kappa[6:10]), -0.5, 0.5]
nu, above = np.r_[log_uniform(RNG, 1e-2, 12, 8), 0.01, 9, 9], np.r_[RNG.normal(0, 2, 8), 3, -8, 6]
amplitude = np.abs(nu + above)
alpha = np.r_[RNG.normal(0, 2, 2), -40, 30, 60, 2, 0.5]
skewed = np.r_[RNG.normal(0, 2, 2), 0.3, -0.1, 0.01, 0, -3]

#: name: (reference, arguments)
FUNCTIONS = {
    "log_von_mises": (log_von_mises, (angles, np.zeros(12), kappa)),
    "log_von_mises around": (log_von_mises, (np.r_[-0.3112457728697642, 2.6598, 1], np.r_[2.830346878, -0.48, 1.5], kappa[:3])),
    "log_rice_p": (log_rice_p, (amplitude, nu)),
    "log_rice_q": (log_rice_q, (amplitude, nu)),
    "log_skew_ndtr": (log_skew_ndtr, (skewed, alpha)),
}


def worst(got, want, dtype):
    """The largest relative error in EPSILON, per unit of the logarithm of what may be small."""
    size = np.abs(want)
    with np.errstate(divide="ignore"):
        digits = np.maximum(1, np.abs(np.log(size)))
    errors = np.abs(got.astype(float) - want) / (size * digits) / np.finfo(dtype).eps
    return np.where(size < np.finfo(dtype).tiny, 0, np.where(np.isnan(errors), np.inf, errors)).max()


def slope(reference, i, *row):
    return derivative(reference, row, [i], digits=30)


@EACH_DTYPE
@pytest.mark.parametrize("name", some(FUNCTIONS, 6))
def test_values_and_derivatives(name, dtype):
    reference, arguments = FUNCTIONS[name]
    arguments = [a.astype(dtype) for a in arguments]
    letters = "abc"[: len(arguments)]
    declared = ", ".join(f"real {letter}" for letter in letters)
    call = f"{name.split()[0]}({', '.join(letters)})"
    density = gs.register(f"real rule_logpdf(real x, {declared}) {{ return {call}; }}", replace=True)
    value, gradient = density.loglik_and_grad(np.zeros((1, 1), dtype), *(a[:, None] for a in arguments))
    assert worst(value.ravel(), exactly(reference, 40)(*arguments), dtype) <= 40
    for i, letter in enumerate(letters):
        want = stored("integrals", f"{name} d/d{letter}", functools.partial(slope, reference, i), arguments)
        assert worst(gradient[letter].ravel() / np.maximum(1, np.abs(value)), want / np.maximum(1, np.abs(value)), dtype) <= 200


@EACH_DTYPE
def test_owens_t(dtype):
    h = np.r_[RNG.normal(0, 3, 100), log_uniform(RNG, 1e-3, 12, 100), 0, 2, np.inf].astype(dtype)
    a = np.r_[RNG.normal(0, 2, 100), log_uniform(RNG, 1e-4, 1e4, 100), 3, 0, 1].astype(dtype)
    got, want = evaluate_device("owens_t", h, a, dtype=dtype), special.owens_t(h.astype(float), a.astype(float))
    np.testing.assert_allclose(got, want, rtol=400 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)
    density = gs.register("real rule_logpdf(real x, real a, real b) { return owens_t(a, b); }", replace=True)
    _, gradient = density.loglik_and_grad(np.zeros((1, 1), dtype), h[:-1, None], a[:-1, None])
    h, a = h[:-1].astype(float), a[:-1].astype(float)
    slope = -np.exp(-h * h / 2) / np.sqrt(8 * np.pi) * special.erf(a * h / np.sqrt(2))
    np.testing.assert_allclose(gradient["a"].ravel(), slope, rtol=1e4 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)
    slope = np.exp(-h * h * (1 + a * a) / 2) / (2 * np.pi * (1 + a * a))
    np.testing.assert_allclose(gradient["b"].ravel(), slope, rtol=1e4 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)


@EACH_DTYPE
@pytest.mark.parametrize(
    "name, args, want",
    [
        ("log_von_mises", (-np.pi, 0, 2), -np.inf),
        ("log_von_mises", (np.pi, 0, 2), 0),
        ("log_von_mises", (0, 0, 2), -np.log(2)),
        ("log_von_mises", (1, 0, 0), np.log(0.5 + 0.5 / np.pi)),
        ("log_von_mises", (0, 0, 1e8), -np.log(2)),
        ("log_von_mises", (1, 0, np.inf), 0),
        ("log_von_mises", (1, 0, -1), np.nan),
        ("log_von_mises", (np.nan, 0, 1), np.nan),
        ("log_rice_p", (0, 2), -np.inf),
        ("log_rice_p", (np.inf, 2), 0),
        ("log_rice_p", (1, 0), np.log(-np.expm1(-0.5))),
        ("log_rice_p", (2, np.inf), -np.inf),
        ("log_rice_p", (-1, 2), np.nan),
        ("log_rice_p", (1, np.nan), np.nan),
        ("log_rice_q", (0, 2), 0),
        ("log_rice_q", (np.inf, 2), -np.inf),
        ("log_rice_q", (10, 0), -50),
        ("log_rice_q", (1, -2), np.nan),
        ("log_skew_ndtr", (-np.inf, 2), -np.inf),
        ("log_skew_ndtr", (np.inf, 2), 0),
        ("log_skew_ndtr", (0, 1), np.log(0.25)),
        ("log_skew_ndtr", (0, -1), np.log(0.75)),
        ("log_skew_ndtr", (1, 0), float(mp.log(mp.ncdf(1)))),
        ("log_skew_ndtr", (1, np.inf), float(mp.log(mp.erf(mp.sqrt(0.5))))),
        ("log_skew_ndtr", (-1, -np.inf), float(mp.log(mp.erfc(mp.sqrt(0.5))))),
        ("log_skew_ndtr", (np.nan, 1), np.nan),
        ("log_skew_ndtr", (1, np.nan), np.nan),
        ("owens_t", (0, np.inf), 0.25),
        ("owens_t", (1, -np.inf), -0.5 * float(mp.ncdf(-1))),
        ("owens_t", (np.nan, 1), np.nan),
    ],
)
def test_limits(name, args, want, dtype):
    got = evaluate_device(name, *(np.array([a], dtype) for a in args), dtype=dtype)[0]
    np.testing.assert_allclose(got, want, rtol=50 * np.finfo(dtype).eps)
