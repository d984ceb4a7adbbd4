"""Loops of users that end at different turns for threads side by side: Intel's compiler once mixed up the branches in them."""

import cmath
import math

import numpy as np
import pytest

import gpustats as gs

pytestmark = pytest.mark.optimised
STEP = 1e-30
RNG = np.random.default_rng(8)
LENGTHS = [1, 2, 3, 40, 17, *RNG.integers(1, 30, 30).tolist()]
Y = [RNG.normal(size=n) for n in LENGTHS]
W = [RNG.uniform(0.5, 1.5, n) for n in LENGTHS]

SINES = """
__device__ real sines(const real *y, int n, real a, real b, real c)
{
    real g = b, total = 0;
    for (int t = n - 1; t >= 0; t--) {
        for (int i = 0; i < 5 - t; i++)
            g = sin(c - total);
        total += a * g;
    }
    return total;
}"""
BRANCHES = """
__device__ real branches(const real *y, const real *w, int n, real a, real b)
{
    real h = a, total = 0;
    int k = 1;
    for (int t = 1; t < n; t++) {
        if (0.5 > y[t]) {
            total = tanh(a - (w[t] + k));
        } else {
            k = (k + 3) % 1000;
            h = (y[t - 1] + fmax(0.5, total * 0.01)) * h;
        }
        total += h * b;
    }
    return total;
}"""
SEARCH = """
__device__ real search(real y, real w, real a, real b)
{
    real x = a, step = 1, total = 0;
    for (int t = (int)(25 * w); t >= 0; t--) {
        int i = 0;
        while (i < 6 && fabs(step) > 0.01 * w) {
            step = x > y ? -0.3 * sin(b * x) : 0.2 * tanh(x - y);
            x += step;
            i++;
        }
        if (x > 0.5 || y > 1) { total += x * b; step = 1; } else { total += tanh(x * y); x = x + a; step = 0.5 * b; }
    }
    return total;
}"""


def sines(y, w, a, b, c):
    g, total = b, 0
    for t in range(len(y) - 1, -1, -1):
        if t < 5:
            g = cmath.sin(c - total)
        total += a * g
    return total


def branches(y, w, a, b):
    h, k, total = a, 1, 0
    for t in range(1, len(y)):
        if y[t] < 0.5:
            total = cmath.tanh(a - (w[t] + k))
        else:
            k = (k + 3) % 1000
            h = (y[t - 1] + (total * 0.01 if (total * 0.01).real > 0.5 else 0.5)) * h
        total += h * b
    return total


def search(y, w, a, b):
    x, step, total = a, 1, 0
    for _ in range(int(25 * w) + 1):
        i = 0
        while i < 6 and abs(step.real) > 0.01 * w:
            step = -0.3 * cmath.sin(b * x) if x.real > y else 0.2 * cmath.tanh(x - y)
            x, i = x + step, i + 1
        if x.real > 0.5 or y > 1:
            total, step = total + x * b, 1
        else:
            total, x, step = total + cmath.tanh(x * y), x + a, 0.5 * b
    return total


@pytest.mark.parametrize(
    ("source", "reference", "y", "w"),
    [
        (SINES, sines, Y, W), (BRANCHES, branches, Y, W),
        (SEARCH, search, RNG.normal(size=100), RNG.uniform(size=100)),
    ],
    ids=["sines", "branches", "search"],
)  # fmt: skip
def test_each_thread_has_its_own_turns(source, reference, y, w):
    """Derivatives are those of complex steps."""
    columns = {"y": y, "w": w} if "real w," in source or "*w" in source else {"y": y}
    model = gs.Rows(source, **({n: gs.sequences(v) for n, v in columns.items()} if y is Y else columns))
    parameters = dict(a=0.7, b=-0.4, c=1.2) if source is SINES else dict(a=0.7, b=-0.4)
    value, gradient = model.value_and_grad(**parameters)
    assert value == pytest.approx(math.fsum(reference(*row, **parameters).real for row in zip(y, w, strict=True)), rel=1e-12)
    for name in parameters:
        moved = parameters | {name: parameters[name] + 1j * STEP}
        slope = math.fsum((reference(*row, **moved)).imag / STEP for row in zip(y, w, strict=True))
        assert gradient[name] == pytest.approx(slope, rel=1e-10), name
