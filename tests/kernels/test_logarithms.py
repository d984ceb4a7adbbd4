"""Logarithms and exponentials of all numbers there are, in kernels: those for NVIDIA's GPUs are gpustats' own."""

import numpy as np
import pytest

import gpustats as gs


def values(function, x):
    """Those of a function of C, in a kernel."""
    source = f"__device__ real {function}_of_logpdf(real x, real a) {{ return {function}(a * x); }}"
    return gs.register(source, replace=True).logpdf(x, x.dtype.type(1))


@pytest.fixture(scope="module")
def numbers():
    ends = [0.0, 5e-324, 2.3e-308, 1e-300, 1.0, 1.27e308, 1.28e308, 1.7e308, np.inf, -1.0, -1e-300, np.nan]
    return np.r_[ends, 2.0 ** np.random.default_rng(0).uniform(-1074, 1024, 2000)]


@pytest.mark.parametrize("function", ["log", "log1p"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logarithms(function, dtype, numbers):
    with np.errstate(all="ignore"):
        x = numbers.astype(dtype)
        want = getattr(np, function)(x.astype(float))
    np.testing.assert_allclose(values(function, x), want, rtol=3 * np.finfo(dtype).eps, atol=3 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials(dtype):
    top = np.log(np.finfo(dtype).max)
    x = np.r_[np.random.default_rng(1).uniform(-top, top, 2000), 0, -np.inf, np.inf, np.nan, 2 * top, -2 * top].astype(dtype)
    with np.errstate(over="ignore"):
        want = np.exp(x.astype(float)).astype(dtype)
    np.testing.assert_allclose(values("exp", x), want, rtol=4 * np.finfo(dtype).eps)
