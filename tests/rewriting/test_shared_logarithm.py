"""Sums of logarithms as the logarithm of a product: of which functions, and that no sum is less accurate for it."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy import special, stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.evaluation.gradient import gradient_of
from gpustats.evaluation.sums import LOGLIK
from gpustats.kernels.code import PER_ROW, VALUE, Operand
from gpustats.kernels.layout import REFERENCE_DEVICES, Problem
from gpustats.language.device_function import parse
from gpustats.language.library import library
from gpustats.rewriting.shared_logarithm import shared_logarithm


def shared(body, by_row=("x",), parameters="real x, real a, real b", more=""):
    functions = parse(f"{more}real f_logpdf({parameters}) {{ {body} }}", library.resolve).functions
    return shared_logarithm(functions["f_logpdf"], by_row, functions.get)


@pytest.mark.parametrize(
    "body",
    [
        "return a * log(x) - b * x;",
        "real t = log(x - b); return a < 0 ? 2 * t : -(a + 1) * t + x;",
        "if (a > 1) return log(x); return x - b * log(x);",
        "real value; if (a > 1) { value = log(x); } else { value = -x; } return value + b;",
        "return x > 0 ? log(x) : -INFINITY;",
        "return -a * log1p_square((x - b) / a);",
        "real s = 0; for (int i = 0; i < 3; i++) s += x; return s + log(x);",
    ],
)
def test_what_is_a_multiple_of_a_logarithm(body):
    assert shared(body).weights == {"value": "weight_value"}


@pytest.mark.parametrize(
    "body",
    [
        "return x * log(x);",
        "real t = log(x); return t * t;",
        "return exp(log(x));",
        "return x > 0 ? a * log(x) : b * log(x);",
        "return log(a);",
        "return fabs(log(x));",
        "real s = 0; for (int i = 0; i < 3; i++) s += log(x); return s;",
        "return log(x) > 0 ? 1 : 0;",
    ],
)
def test_what_is_not(body):
    assert shared(body) is None


def test_what_a_logarithm_is_multiplied_by_is_the_same_for_all_rows():
    assert shared("return a * log(x);", ("x", "b")) and shared("return a * log(x);", ("x", "a")) is None


def test_helpers():
    more = "real g(real y, real c) { real t = log(y); if (c > 0) return c * t; return t - c; }\n"
    assert shared("return b - g(x, a);", more=more).weights
    assert shared("return g(x, a) * x;", more=more) is None
    doubling = "real h0(real y) { return log(y); }\n" + "".join(
        f"real h{i + 1}(real y) {{ return h{i}(y) + h{i}(y); }}\n" for i in range(30)
    )
    assert shared("return h30(x);", more=doubling) is None


def test_results_that_are_wanted_for_each_row():
    gamma = gradient_of(gs.gamma.log_density).summed
    assert shared_logarithm(gamma.function, {"x"}, gamma.functions.get).weights.keys() == {"value", "d_alpha"}
    assert shared_logarithm(gamma.function, {"x"}, gamma.functions.get, ["d_beta"])
    assert shared_logarithm(gamma.function, {"x"}, gamma.functions.get, ["d_alpha"]) is None


def relative(got, terms):
    """The error of a sum, relative to that of the absolute values of its terms."""
    return abs(got - math.fsum(terms)) / math.fsum(np.abs(terms))


def student_t(x, nu):
    """The terms of the sum, without overflow and without cancellation of two logarithms of the gamma function."""
    y = np.abs(x) / math.sqrt(nu)
    log1p_square = np.where(y > 1e10, 2 * np.log(np.fmax(y, 1)), np.log1p(np.fmin(y, 1e10) ** 2))
    return -special.betaln(0.5, nu / 2) - 0.5 * math.log(nu) - (nu + 1) / 2 * log1p_square


@pytest.mark.parametrize("n", some([1, 7, 512, 100_003], 2))
@pytest.mark.parametrize("nu", [0.5, 5.0, 1e8])
@pytest.mark.parametrize("scale", some([1e-8, 1.0, 1e200], 2))
def test_student_t(layout, rng, n, nu, scale):
    x = scale * rng.standard_cauchy(n)
    value, gradient = gs.student_t.loglik_and_grad(x, nu, 0.0, 1.0)
    assert relative(value, student_t(x, nu)) < 1e-13
    assert gs.student_t.loglik(x, nu, 0.0, 1.0) == pytest.approx(value, rel=1e-13)
    slope = np.sum((nu + 1) / (1 + nu / np.fmin(np.abs(x), 1e100) ** 2) - 1)
    assert gradient["sigma"] == pytest.approx(slope, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("alpha", some([0.3, 1.0, 2.5, 400.0], 2))
def test_gamma(layout, rng, dtype, alpha):
    tolerance = 1e-13 if dtype == "float64" else 1e-6
    scales = (1.0, 1e300, 1e-300) if dtype == "float64" else (1.0, 1e30, 1e-30)
    for scale in scales:
        x = np.fmax(rng.gamma(alpha, size=20_011) * scale, np.finfo(dtype).tiny).astype(dtype)
        beta = np.dtype(dtype).type(1 / scale)
        terms = stats.gamma.logpdf(x.astype(float), float(np.dtype(dtype).type(alpha)), scale=1 / float(beta))
        value, gradient = gs.gamma.loglik_and_grad(x, alpha, beta)
        assert relative(value, terms) < tolerance
        logs = np.log(x.astype(float))
        d_alpha = math.fsum(logs) + len(x) * (math.log(beta) - special.digamma(float(np.dtype(dtype).type(alpha))))
        assert abs(gradient["alpha"] - d_alpha) < tolerance * np.sum(1 + np.abs(logs))


def test_observations_at_the_ends_of_the_support(layout, rng):
    x = rng.gamma(2.0, size=5000)
    for place, value, expected in [(4000, 0.0, -np.inf), (17, np.inf, -np.inf), (2, -1.0, -np.inf), (3000, np.nan, np.nan)]:
        spoiled = x.copy()
        spoiled[place] = value
        total, gradient = gs.gamma.loglik_and_grad(spoiled, 2.0, 1.0)
        np.testing.assert_equal(total, expected)
        np.testing.assert_equal(gs.gamma.loglik(spoiled, 2.0, 1.0), expected)
        without = gs.gamma.loglik_and_grad(np.delete(spoiled, place), 2.0, 1.0)[1]
        if value == np.inf or value == -1:
            assert gradient["alpha"] == pytest.approx(without["alpha"], rel=1e-12)
    with_zero = np.append(x, 0.0)
    expected = stats.expon.logpdf(with_zero, scale=0.5).sum()
    assert gs.gamma.loglik(with_zero, 1.0, 2.0) == pytest.approx(expected, rel=1e-13)
    assert np.isnan(gs.student_t.loglik(np.append(x, np.nan), 3.0, 0.0, 1.0))
    assert gs.student_t.loglik(np.append(x, np.inf), 3.0, 0.0, 1.0) == -np.inf
    assert np.isnan(gs.student_t.loglik(x, -3.0, 0.0, 1.0))
    assert gs.student_t.loglik(x, np.inf, 0.0, 1.0) == pytest.approx(stats.norm.logpdf(x).sum(), rel=1e-13)


@THOROUGH
@pytest.mark.parametrize("dtype, first", itertools.product(["float32", "float64"], range(6)))
def test_bounds_are_numbers_of_the_type(dtype, first):
    """NVIDIA's compiler refuses others. Every sixth density, from one of the first on."""
    limits, shared_by = np.finfo(dtype), 0
    for density in list(gs.densities.values())[first::6]:
        function = density.log_density
        if any(a.rank for a in function.arguments):
            continue
        for made, role in itertools.product((function, gradient_of(function).summed), (VALUE, PER_ROW)):
            operands = [Operand(c, role if i else PER_ROW) for i, c in enumerate(made.c_names)]
            problem = Problem(np.dtype(dtype).itemsize, 1, 1, aligned=True, dim=0)
            source = made.source_for(LOGLIK, REFERENCE_DEVICES["cuda"], dtype, "cuda", problem, operands).text
            numbers = np.abs([float(n) for n in re.findall(r"REAL\(([-+.\de]+)\)", source)])
            numbers = numbers[numbers > 0]
            assert limits.tiny <= numbers.min() and numbers.max() <= limits.max, density.name
            shared_by += "result.argument" in source
    assert shared_by > 10
