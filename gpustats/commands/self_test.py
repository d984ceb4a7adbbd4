"""Checks on one device, of a few seconds, compared with SciPy: `gpustats doctor` runs them in a process of their own."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np

import gpustats as gs

CHECKS: dict[str, Callable[[str], None]] = {}  # name -> function that raises AssertionError where a result for a dtype is wrong
RELATIVE_ERROR = {"float64": 1e-10, "float32": 1e-4}


def check(name: str) -> Callable[[Callable[[str], None]], Callable[[str], None]]:
    def add(run: Callable[[str], None]) -> Callable[[str], None]:
        CHECKS[name] = run
        return run

    return add


def close(found: object, expected: object, dtype: str, scale: float = 1.0) -> None:
    """Assert that numbers agree up to the device's rounding; `scale` is the size of their terms."""
    found, expected = np.asarray(found, "float64"), np.asarray(expected, "float64")
    np.testing.assert_allclose(found, expected, rtol=RELATIVE_ERROR[dtype], atol=RELATIVE_ERROR[dtype] * scale)


@check("table of a density")
def table(dtype: str) -> None:
    from scipy import stats

    x = np.random.default_rng(1).gamma(3.0, 2.0, size=(1000, 1)).astype(dtype)
    shapes, rates = np.array([0.5, 2.0, 7.5], dtype), np.array([0.25, 1.0, 4.0], dtype)
    expected = stats.gamma.logpdf(x.astype("float64"), shapes.astype("float64"), scale=1 / rates.astype("float64"))
    close(gs.gamma.logpdf(x, shapes, rates), expected, dtype)


@check("sum with its gradient")
def gradient(dtype: str) -> None:
    from scipy import stats

    x, mu, sigma = np.random.default_rng(2).normal(size=100_000).astype(dtype), 0.25, 1.5
    value, grad = gs.normal.loglik_and_grad(x, mu, sigma)
    residuals = x.astype("float64") - mu
    close(value, stats.norm.logpdf(residuals, 0.0, sigma).sum(), dtype)
    close(grad["mu"], (residuals / sigma**2).sum(), dtype, x.size)
    close(grad["sigma"], (residuals**2 / sigma**3 - 1 / sigma).sum(), dtype, x.size)


@check("draws with a seed")
def draws(dtype: str) -> None:
    from scipy import stats

    drawn = gs.gamma.rvs(2.5, 0.5, size=20_000, rng=7, dtype=dtype)
    np.testing.assert_array_equal(drawn, gs.gamma.rvs(2.5, 0.5, size=20_000, rng=7, dtype=dtype))
    p_value = stats.kstest(drawn, stats.gamma(2.5, scale=2.0).cdf).pvalue
    assert p_value > 1e-4, f"Kolmogorov and Smirnov's test: p = {p_value:.2g}"


@check("generalised linear model")
def glm(dtype: str) -> None:
    from scipy import special, stats

    rng = np.random.default_rng(3)
    design, beta, alpha = rng.normal(size=(5000, 6)).astype(dtype), np.linspace(-0.5, 0.5, 6), 0.3
    means = special.expit(design.astype("float64") @ beta + alpha)
    y = (rng.random(5000) < means).astype(dtype)
    value, grad = gs.GLM(gs.bernoulli_logit, y, design).value_and_grad(beta, alpha)
    close(value, stats.bernoulli.logpmf(y, means).sum(), dtype)
    close(grad["beta"], design.T.astype("float64") @ (y - means), dtype, len(y))


@check("Cholesky factor")
def cholesky(dtype: str) -> None:
    from scipy import linalg

    factor = np.random.default_rng(4).normal(size=(300, 300))
    matrix = (factor @ factor.T + 300 * np.eye(300)).astype(dtype)
    found = gs.linalg.cholesky(matrix, where="device")
    close(found, linalg.cholesky(matrix.astype("float64"), lower=True), dtype, 10.0)


def main(device: str) -> None:
    """Run all checks; each writes a line of JSON as soon as it is done, so that a crash is known by the line it lacks."""
    gs.use(device)
    from ..runtime import choose

    dtype = "float64" if choose.get().device.double else "float32"
    for name, run in CHECKS.items():
        start, error = time.perf_counter(), ""
        try:
            run(dtype)
        except Exception as failure:  # whatever it is, the other checks tell more
            error = f"{type(failure).__name__}: {failure}"
        print(json.dumps({"check": name, "seconds": time.perf_counter() - start, "error": error}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
