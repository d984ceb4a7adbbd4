"""`python -m bench.sparse`: logistic regressions with a sparse design, value and gradient, beside JAX's BCOO and SciPy.

SciPy has both products, X beta and X' r, from the matrix by rows, in one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse, special

import gpustats as gs

from .peers import JAX, GPUStats, Peer
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, difference, options

NOTE = TIMES_NOTE + """\
gpustats takes coefficients from the host and returns value and gradient there. difference: of the value, relative to it, and of
the derivatives, relative to the largest, from SciPy's.
"""
COLUMNS = TIMES | RATIO | DIFFERENCE
#: rows, columns and entries of a row on a GPU; CPUs have a hundredth of the rows
SIZES = [(100_000, 5_000, 10), (10_000_000, 100_000, 20)]
Evaluated = tuple[Any, Any]  # value and gradient


class SciPy(Peer):
    name = "SciPy"
    asynchronous = False


class Problem:
    """Design, outcomes and coefficients."""

    def __init__(self, n: int, k: int, entries: int):
        rng = np.random.default_rng(5)
        self.title = f"{n:,} × {k:,}, {entries} entries a row"
        columns = np.sort(rng.integers(0, k, (n, entries), dtype=np.int32), axis=1)
        starts = np.arange(0, n * entries + 1, entries)
        self.X = sparse.csr_array((rng.normal(size=n * entries), columns.ravel(), starts), (n, k))
        self.X.sum_duplicates()
        self.y, self.beta = rng.integers(0, 2, n).astype(float), rng.normal(size=k) / 10

    def with_gpustats(self, peer: Peer) -> Callable[[], Evaluated]:
        glm = gs.GLM(gs.bernoulli_logit, self.y, self.X)

        def call() -> Evaluated:
            value, gradient = glm.value_and_grad(self.beta, 0.0)
            return value, gradient["beta"]

        return call

    def with_scipy(self, peer: Peer) -> Callable[[], Evaluated]:
        def call() -> Evaluated:
            eta = self.X @ self.beta
            return np.sum(self.y * eta - np.logaddexp(0, eta)), self.X.T @ (self.y - special.expit(eta))

        return call

    def with_jax(self, peer: Any) -> Callable[[], Evaluated]:
        from jax.experimental.sparse import BCOO

        jnp, X, y, beta = peer.jax.numpy, BCOO.from_scipy_sparse(self.X), peer.put(self.y), peer.put(self.beta)

        def value(beta: Any) -> Any:
            eta = X @ beta
            return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))

        call = peer.jax.jit(peer.jax.value_and_grad(value))
        return lambda: call(beta)


BINDS = {GPUStats: Problem.with_gpustats, JAX: Problem.with_jax, SciPy: Problem.with_scipy}


def main(argv: list[str] | None = None) -> int:
    report = Report(options("sparse", __doc__).parse_args(argv))
    peers = report.peers([GPUStats, JAX] if report.gpu else [GPUStats, JAX, SciPy])
    part = report.default(None, gpu=1, cpu=100, quick=1000)
    for problem in report.wanted([Problem(n // part, k, entries) for n, k, entries in SIZES]):
        value, gradient = problem.with_scipy(SciPy(False))()

        def measured(peer: Peer, problem: Problem = problem, value: Any = value, gradient: Any = gradient) -> Row:
            call = BINDS[type(peer)](problem, peer)
            found = [np.append(v, g) for v, g in (call(), (value, gradient))]
            return {"difference": difference(*found)} | report.measure(call, peer)

        work: Row = {"work": problem.title, "time": "waited_us"}
        report.rows += [attempt(work | {"peer": peer.name}, measured, peer) for peer in peers]
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
