"""Work for `bench.versions`, in a process of its own that imports one version of gpustats, from the first folder of PYTHONPATH.

It reads titles from standard input, a line each, and answers each with a line of JSON: seconds, or an error.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpustats as gs
from gpustats.runtime import choose

Call = Callable[[], object]
SETS = np.linspace(0, 1, 8)
DENSITIES = {
    "normal": (SETS - 0.5, 0.5 + SETS),
    "gamma": (1.5 + 2 * SETS, 0.5 + SETS),
    "student_t": (3 + 4 * SETS, SETS - 0.5, 0.5 + SETS),
}
POINT = {"amplitude": 1.1, "lengthscale": 2.0, "sigma": 0.3}  # of a process


def works(n: int) -> dict[str, Callable[[], Call]]:
    """Title -> a function that moves the data, of sizes that go with n numbers, and returns the call."""
    found: dict[str, Callable[[], Call]] = {}
    for dtype in ("float64", "float32"):
        kind = f"f{dtype[-2:]}"
        for density in DENSITIES:
            found[f"{density}, table of 8 sets {kind}"] = lambda d=density, t=dtype: table(d, n, t)
            found[f"{density}, sum with derivatives {kind}"] = lambda d=density, t=dtype: summed(d, n, t)
        for dim, of in ((15, 10), (64, 100)):
            found[f"mvnormal of {dim}, table of 8 sets {kind}"] = lambda d=dim, m=n // of, t=dtype: vectors(d, m, t)
        found[f"mixture of 3 normals, data {kind}"] = lambda t=dtype: mixture(n // 10, t)
        for density, parameters in (("normal", (0.0, 1.0)), ("gamma", (2.5, 1.0))):
            found[f"{density}, draws {kind}"] = lambda d=density, p=parameters, t=dtype: draws(d, p, n, t)
    for of, k, chains in ((10, 200, 1), (10, 50, 1), (1, 20, 1), (1000, 100, 1), (10, 200, 4), (10, 50, 16), (100, 50, 64),
                          (1000, 50, 256)):  # fmt: skip
        title = f"logistic regression, {n // of:,} × {k}" + f", {chains} chains" * (chains > 1)
        found[title] = lambda m=n // of, k=k, c=chains: regression(m, k, c)
    for title, function in (("curve of Michaelis and Menten", curve), ("1,000 groups", groups), ("item response", items)):
        found[f"rows: {title}, {n:,}"] = lambda f=function: f(n)
    for size in sorted({min(size, max(n // 1000, 32)) for size in (4096, 8192)}):
        found[f"Cholesky factor and its reverse mode, {size:,}"] = lambda s=size: cholesky(s)
    size = min(4096, max(n // 1000, 32))
    found[f"Gaussian process, value with derivatives, {size:,}"] = lambda: process(size)
    return found


def data(density: str, n: int, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(11)
    if density == "gamma":
        return rng.gamma(2.5, 1.0, n).astype(dtype)
    return (rng.standard_normal(n) if density == "normal" else rng.standard_t(5, n)).astype(dtype)


def table(density: str, n: int, dtype: str) -> Call:
    x = gs.to_device(data(density, n, dtype)).reshape(-1, 1)
    parameters = [gs.to_device(p.astype(dtype)) for p in DENSITIES[density]]
    return lambda: gs.densities[density].logpdf(x, *parameters)


def summed(density: str, n: int, dtype: str) -> Call:
    likelihood = gs.Likelihood(gs.densities[density], data(density, n, dtype))
    parameters = [float(p.mean()) for p in DENSITIES[density]]
    return lambda: likelihood.value_and_grad(*parameters)


def vectors(dim: int, n: int, dtype: str) -> Call:
    rng = np.random.default_rng(11)
    lower = np.tril(rng.normal(size=(8, dim, dim)) / dim, -1) + np.eye(dim)
    arrays = rng.normal(size=(n, 1, dim)), rng.normal(size=(8, dim)), lower
    x, means, factors = (gs.to_device(a.astype(dtype)) for a in arrays)
    return lambda: gs.mvnormal.logpdf(x, means, scale_tril=factors)


def mixture(n: int, dtype: str) -> Call:
    model = gs.Mixture(gs.normal, data("normal", n, dtype))
    arguments = np.log([0.2, 0.3, 0.5]), np.array([-1.0, 0.0, 1.0]), np.array([1.0, 2.0, 0.5])
    return lambda: model.value_and_grad(*arguments)


def draws(density: str, parameters: tuple[float, ...], n: int, dtype: str) -> Call:
    rng, device = gs.Generator(1), not choose.get().host_visible
    return lambda: gs.densities[density].rvs(*parameters, size=n, rng=rng, dtype=dtype, device=device)


def regression(n: int, k: int, chains: int) -> Call:
    rng = np.random.default_rng(11)
    X = np.resize(rng.standard_normal((min(n, 1 << 17), k)), (n, k))
    glm = gs.GLM(gs.bernoulli_logit, (rng.random(n) < 0.5).astype(float), X)
    beta = np.full((chains, k) if chains > 1 else k, 0.01)
    return lambda: glm.value_and_grad(beta, 0.1)


def curve(n: int) -> Call:
    x = np.random.default_rng(11).gamma(2.0, size=n)
    function = "real rate(real y, real x, real v, real k, real sigma) { return normal_logpdf(y, v * x / (k + x), sigma); }"
    rows = gs.Rows(function, y=data("normal", n, "float64"), x=x)
    return lambda: rows.value_and_grad(v=1.3, k=0.8, sigma=0.35)


def groups(n: int) -> Call:
    rng = np.random.default_rng(11)
    group, a, b = rng.integers(0, 1000, n), *rng.normal(size=(2, 1000))
    function = "real line(real y, real x, real a, real b, real sigma) { return normal_logpdf(y, a + b * x, sigma); }"
    rows = gs.Rows(function, y=data("normal", n, "float64"), x=rng.normal(size=n), a=gs.gather(group), b=gs.gather(group))
    return lambda: rows.value_and_grad(a=a, b=b, sigma=0.6)


def items(n: int) -> Call:
    rng = np.random.default_rng(11)
    person, item = rng.integers(0, 10_000, n), rng.integers(0, 100, n)
    function = "real item(int y, real theta, real d, real b) { return bernoulli_logit_logpmf(y, d * (theta - b)); }"
    y = rng.integers(0, 2, n).astype(np.uint8)
    rows = gs.Rows(function, y=y, theta=gs.gather(person), d=gs.gather(item), b=gs.gather(item))
    theta, d, b = rng.normal(size=10_000), rng.gamma(4.0, 0.25, 100), rng.normal(size=100)
    return lambda: rows.value_and_grad(theta=theta, d=d, b=b)


def cholesky(n: int) -> Call:
    rng = np.random.default_rng(11)
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    a, adjoint = gs.to_device(np.exp(-distance / 50.0) + np.eye(n)), gs.to_device(np.tril(rng.standard_normal((n, n))))
    return lambda: gs.linalg.cholesky_grad(gs.linalg.cholesky(a), adjoint)


def process(n: int) -> Call:
    x = np.random.default_rng(11).uniform(-10, 10, n)
    likelihood, lengthscale = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(x)), POINT["lengthscale"]

    def call() -> object:
        nonlocal lengthscale
        lengthscale *= 1 + 1e-9  # a sampler never comes back to the same point
        return likelihood.value_and_grad(**{**POINT, "lengthscale": lengthscale})

    return call


def measured(call: Call, budget: float) -> dict[str, float]:
    """Seconds of a call waited for (median), and of calls back to back (the fastest of three batches)."""
    wait = choose.get().synchronize

    def clock(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        return (time.perf_counter() - start) / count

    for _ in range(4):
        first = clock(1)
    count = int(min(150, max(4, budget / first)))
    return {
        "waited": statistics.median(clock(1) for _ in range(count)),
        "enqueued": min(clock(max(2, count // 2)) for _ in range(3)),
    }


def serve(n: int, budget: float) -> None:
    """Answer titles until there are no more. The data of the last one stay."""
    found, title, call = works(n), "", None
    for line in map(str.strip, sys.stdin):
        try:
            if line != title:
                call = None  # the memory of the one before
                title, call = line, found[line]()
            assert call is not None
            answer: dict[str, Any] = measured(call, budget)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(answer | {"from": gs.__file__}), flush=True)


if __name__ == "__main__":
    if sys.argv[3:]:
        gs.use(sys.argv[3])
    serve(int(sys.argv[1]), float(sys.argv[2]))
