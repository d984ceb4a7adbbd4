"""Sines of sines: a compiler that fails where it joins them must not see them."""

import numpy as np
import pytest
from runtimes import CPU, needs_cpu, run
from thorough import THOROUGH

import gpustats as gs

HELPER = "real twice(real a, real b) { real t = sin(a); return cos(t) + sin(t) * cos(a) + b; }\n"
#: Name -> the function's body in C, and its value in Python.
NESTED = {
    "directly": ("return cos(cos(o)) * x;", "cos(cos(o)) * x"),
    "of the observation": ("return sin(x) + cos(x) + sin(cos(x)) + cos(cos(x)) + o;",) * 2,
    "through a variable": (
        "real t = cos(o); real u = t; return sin(u) + cos(u) + sin(o) + x;",
        "sin(cos(o)) + cos(cos(o)) + sin(o) + x",
    ),
    "through a helper": ("return twice(o, x) + twice(x, o) + sin(o);",) * 2,
    "in a loop": (
        "real t = x * o; for (int i = 0; i < 4; i++) t = cos(t); return t + sin(x * o);",
        "cos(cos(cos(cos(x * o)))) + sin(x * o)",
    ),
    "behind what a compiler removes": ("return sin(1.0 * cos(o)) + cos(cos(o) - 0) + sin(o) * x;",) * 2,
    "in branches": (
        "real t = cos(x); real u = sin(x); if (x > o) u += sin(t) * cos(t); return u;",
        "sin(x) + where(x > o, sin(cos(x)) * cos(cos(x)), 0)",
    ),
    "three times": ("return sin(cos(sin(cos(o * x)))) + cos(cos(cos(cos(o * x))));",) * 2,
}
BODIES = [pytest.param(*pair, id=name, marks=[THOROUGH] * (i % 8 > 0)) for i, (name, pair) in enumerate(NESTED.items())]


@needs_cpu
@pytest.mark.parametrize("body, value", BODIES)
def test_compiles_and_computes(body, value):
    """In a process of its own, which ends if the compiler fails."""
    value = value.removeprefix("return ").removesuffix(";")
    run(f"""
    import numpy as np, gpustats as gs
    from numpy import cos, sin, where

    def twice(a, b):
        return cos(sin(a)) + sin(sin(a)) * cos(a) + b

    def value(x, o):
        return {value}

    gs.use({CPU!r})
    density = gs.register({HELPER!r} + "real nested_logpdf(real x, real o) {{ {body} }}")
    x, o, h = np.linspace(-2, 3, 99), 0.7, 1e-6
    for dtype, close in ((np.float64, 1e-13), (np.float32, 3e-5)):
        np.testing.assert_allclose(density.logpdf(x.astype(dtype), o), value(x, o), rtol=close, atol=close)
        total, gradient = density.loglik_and_grad(x.astype(dtype), dtype(o))
        np.testing.assert_allclose(total, value(x, o).sum(), rtol=close, atol=100 * close)
        slope = (value(x, o + h) - value(x, o - h)).sum() / (2 * h)
        np.testing.assert_allclose(gradient["o"], slope, rtol=100 * close, atol=max(1e-6, 1000 * close))
    """)


@pytest.mark.parametrize("body, value", BODIES)
def test_nested_sines_are_kept_apart(body, value):
    density = gs.register(HELPER + f"real nested_logpdf(real x, real o) {{ {body} }}")
    assert "apart(" in density.kernel_source("loglik", dialect="opencl")


@pytest.mark.parametrize("body", [
    "return sin(x - o) + cos(x - o);",
    "real t = x - o; real u = sin(t); return u * cos(t) + exp(u);",
    "return sin(exp(x)) * exp(sin(o)) + tan(sin(o));",
])  # fmt: skip
def test_other_sines_stay(body):
    density = gs.register(f"real plain_logpdf(real x, real o) {{ {body} }}")
    assert "apart(" not in density.kernel_source("loglik", dialect="opencl")
    assert "apart(" not in gs.von_mises.kernel_source("loglik", dialect="opencl")


def test_the_sign_of_zero_and_what_is_not_finite(layout):
    density = gs.register("real nested_logpdf(real x, real o) { return o / sin(sin(sin(x))) + 0 * cos(cos(x)); }")
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(density.logpdf([0.0, -0.0, np.nan], 1.0), [np.inf, -np.inf, np.nan])


def test_the_name_is_free(layout):
    density = gs.register("""
    real nested_logpdf(real x, real sin_apart)
    {
        return sin(cos(sin_apart)) + cos(cos(sin_apart)) * sin(sin_apart) + 0 * x;
    }
    """)
    np.testing.assert_allclose(density.logpdf(0.0, 0.5), np.sin(np.cos(0.5)) + np.cos(np.cos(0.5)) * np.sin(0.5))


def test_in_covariances_of_local_processes(rng):
    gs.register("""
    real wavy_cov(real sqdist, real amplitude, real lengthscale)
    {
        real r2 = sqdist / (lengthscale * lengthscale), t = cos(r2);
        return amplitude * amplitude * exp(-r2) * (1 + 1e-6 * (cos(t) + sin(t) - cos(1.0) - sin(1.0)));
    }
    """)
    X = rng.normal(size=(200, 2))
    model = gs.LocalGP(X, np.sin(X[:, 0]), cov=gs.wavy)
    assert np.isfinite(model.predict(X[:5]).mean).all()
    assert "apart(" in gs.wavy.kernel_source("local_fit", dialect="opencl")
