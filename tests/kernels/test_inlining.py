"""Functions that would be too large where they are called."""

import re

import numpy as np
from scipy.special import comb, gammaln

import gpustats as gs
from gpustats.evaluation.sums import LOGLIK
from gpustats.kernels.code import PER_ROW, KernelCode, Operand
from gpustats.kernels.layout import REFERENCE_DEVICES, Problem
from gpustats.language.device_function import parse
from gpustats.language.library import library

N = 20


def test_helpers_that_call_the_last_one_twice():
    helpers = "".join(f"real h{i + 1}(real x, real m) {{ return h{i}(x, m) + h{i}(x + 1, m); }}\n" for i in range(N))
    density = gs.register(
        f"real h0(real x, real m) {{ return sin(x - m); }}\n{helpers}real f_logpdf(real x, real m) {{ return h{N}(x, m); }}",
        replace=True,
    )
    for dialect, word in (("opencl", "noinline"), ("cuda", "__noinline__")):
        text = density.kernel_source("loglik", "float64", dialect)
        assert word in text and 1 <= text.count("LARGE real") <= 8
        assert len(re.findall(r"^(DEVICE|LARGE) ", text, re.M)) < 8 * N
    x, k = np.array([0.5, 1.5]), np.arange(N + 1)[:, None]
    np.testing.assert_allclose(density.loglik(x, 0.5), (comb(N, k) * np.sin(x + k - 0.5)).sum(), rtol=1e-12)


def test_long_functions_still_compute_ahead_what_depends_on_the_parameters():
    body = "".join(f"s += exp(-m * {i}.5) * x;" for i in range(1200))
    density = gs.register(f"real f_logpdf(real x, real m) {{ real s = 0; {body} return s; }}", replace=True)
    text = density.kernel_source("loglik", "float64", "opencl")
    assert text.count("exp(") == text[: text.index("f_logpdf_evaluate(")].count("exp(")


def test_what_is_computed_ahead_for_many_sets_fits_the_shared_memory(layout):
    body = "".join(f"s += exp(-m * {i}.5) * x;" for i in range(250))
    density = gs.register(f"real f_logpdf(real x, real m) {{ real s = 0; {body} return s; }}", replace=True)
    x, m = np.linspace(1, 2, 30), np.linspace(0.01, 0.02, 40)
    want = x[:, None] * np.exp(-m * (np.arange(250)[:, None] + 0.5)).sum(0)
    np.testing.assert_allclose(density.logpdf(x[:, None], m), want, rtol=1e-12)
    np.testing.assert_allclose(density.logpdf(x, m[:, None]), want.T, rtol=1e-12)
    np.testing.assert_allclose(density.loglik(x, m[:, None]), want.sum(0), rtol=1e-12)


def test_what_many_calls_compute_ahead_fits_the_shared_memory(layout):
    terms = " + ".join(f"inner(x + {i}, a)" for i in range(60))
    density = gs.register(f"""
    real inner(real x, real a) {{ return log(x) * exp(x * 1e-3) * a + lgamma(x) / a; }}
    real f_logpdf(real x, real a) {{ return {terms}; }}
    """, replace=True)  # fmt: skip
    x, a = np.linspace(1, 2, 30)[:, None], np.linspace(1, 2, 40)
    y = x + np.arange(60)[:, None, None]
    want = (np.log(y) * np.exp(y * 1e-3) * a + gammaln(y) / a).sum(0)
    np.testing.assert_allclose(density.logpdf(x, a), want, rtol=1e-12)


def test_built_in_densities_are_inlined():
    for name in ("beta", "truncated_normal", "student_t"):
        assert "LARGE" not in gs.densities[name].kernel_source("gradient", "float64", "opencl")


def test_a_gpu_loads_many_rows_ahead_of_short_functions_only():
    """Compilers took half a minute for long ones, which were written out eighteen times."""
    values = "real a = x; for (int i = 0; i < 9; i++) { a = a * x + y; }"
    for terms, copies in ((1, 8), (100, 4), (800, 1)):
        sines = "".join(f" + sin(x * y + {i})" for i in range(terms))
        text = f"real f_logpdf(real x, real y) {{ {values} return a{sines}; }}"
        functions = parse(text, library.resolve).functions
        code = KernelCode(functions["f_logpdf"], [Operand("x", PER_ROW), Operand("y", PER_ROW)], functions.get)
        assert LOGLIK.layout(REFERENCE_DEVICES["cuda"], code, Problem(8, 1)).unroll == copies
