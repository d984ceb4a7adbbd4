"""`python -m bench.sparse`: logistic regressions with a sparse design, value and gradient, beside SciPy, JAX and CuPy.

SciPy and CuPy have both products, X beta and X' r, from the matrix by rows; CuPy also from a second one, by columns. JAX has
its BCOO matrix, differentiated by itself, and sums of the entries of rows and of columns in order, as one writes them by hand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse, special

import gpustats as gs

from .peers import JAX, CuPy, GPUStats, Peer
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, difference, options

NOTE = TIMES_NOTE + """\
gpustats takes coefficients from the host and returns value and gradient there. An entry of a row lies in each of as many equal
parts of the columns. difference: of the value, relative to it, and of the derivatives, relative to the largest, from SciPy's,
for the first set of coefficients.
"""
COLUMNS = TIMES | RATIO | DIFFERENCE
#: rows, columns and entries of a row on a GPU, and whether all are one; CPUs have a hundredth of the rows
SIZES = [(100_000, 5_000, 10, False), (10_000_000, 100_000, 20, False), (10_000_000, 100_000, 20, True)]
SETS = 1, 16
Evaluated = tuple[Any, Any]  # values and gradients, of one set or (S,) and (S, k)
Call = Callable[[], Evaluated]


class SciPy(Peer):
    name = "SciPy"
    asynchronous = False


class Design:
    """Design and outcomes; what a library makes of them is made once."""

    def __init__(self, n: int, k: int, entries: int, ones: bool):
        self.title = f"{n:,} × {k:,}, {entries} {'ones' if ones else 'entries'} a row"
        self.shape, self.entries, self.ones = (n, k), entries, ones
        #: peer and way -> function of coefficients on the device that returns values and gradients
        self.made: dict[tuple[str, str], Callable[[np.ndarray], Call]] = {}

    @functools.cached_property
    def X(self) -> Any:
        (n, k), entries, rng = self.shape, self.entries, np.random.default_rng(5)
        part = k // entries
        columns = rng.integers(0, part, (n, entries), dtype=np.int32) + part * np.arange(entries, dtype=np.int32)
        values = np.ones(n * entries) if self.ones else rng.standard_normal(n * entries)
        X = sparse.csr_array((values, columns.ravel(), np.arange(0, n * entries + 1, entries, dtype=np.int32)), self.shape)
        X.has_sorted_indices = X.has_canonical_format = True
        return X

    @functools.cached_property
    def y(self) -> np.ndarray:
        return np.random.default_rng(6).integers(0, 2, self.shape[0]).astype(float)

    def coefficients(self, n_sets: int) -> np.ndarray:
        """(k,), or (S, k), of which the first set is the same for all S."""
        beta = np.random.default_rng(7).normal(size=(n_sets, self.shape[1])) / 10
        return beta[0] if n_sets == 1 else beta

    @functools.cached_property
    def expected(self) -> np.ndarray:
        """Value and gradient by SciPy, of the first set."""
        value, gradient = by_products(np, special, self.X, self.X.T, self.y)(self.coefficients(1))()
        return np.append(value, gradient)


def with_gpustats(design: Design, peer: Peer) -> Callable[[np.ndarray], Call]:
    glm = gs.GLM(gs.bernoulli_logit, design.y, design.X)

    def of(beta: np.ndarray) -> Call:
        def call() -> Evaluated:
            value, gradient = glm.value_and_grad(beta, 0.0)
            return value, gradient["beta"]

        return call

    return of


def by_products(xp: Any, functions: Any, X: Any, turned: Any, y: Any) -> Callable[[Any], Call]:
    """Values and gradients by two products of a library like SciPy: `turned` is X'."""

    def of(beta: Any) -> Call:
        transposed, observed = beta.T.copy(), y if beta.ndim == 1 else y[:, None]

        def call() -> Evaluated:
            eta = X @ transposed
            value = (observed * eta - xp.logaddexp(0, eta)).sum(0)
            return value, (turned @ (observed - functions.expit(eta))).T

        return call

    return of


def with_scipy(design: Design, peer: Peer) -> Callable[[np.ndarray], Call]:
    return by_products(np, special, design.X, design.X.T, design.y)


def with_cupy(design: Design, peer: Any, by_columns: bool = False) -> Callable[[np.ndarray], Call]:
    import cupyx.scipy.sparse
    import cupyx.scipy.special

    X = cupyx.scipy.sparse.csr_matrix(sparse.csr_matrix(design.X))
    turned = X.T.tocsr() if by_columns else X.T
    of = by_products(peer.cupy, cupyx.scipy.special, X, turned, peer.put(design.y))
    return lambda beta: of(peer.put(beta))


def with_bcoo(design: Design, peer: Any) -> Callable[[np.ndarray], Call]:
    from jax.experimental.sparse import BCOO

    jnp, X, y = peer.jax.numpy, BCOO.from_scipy_sparse(design.X), peer.put(design.y)

    def value(beta: Any) -> Any:
        eta = X @ beta
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta))

    return _jitted(peer, peer.jax.value_and_grad(value))


def with_segments(design: Design, peer: Any) -> Callable[[np.ndarray], Call]:
    """Entries by rows and by columns, each gathered and added up in order."""
    jax, jnp, (n, k) = peer.jax, peer.jax.numpy, design.shape
    by_column = design.X.tocsc()
    values, turned = (None, None) if design.ones else map(peer.put, (design.X.data, by_column.data))
    columns, rows, y = map(peer.put, (design.X.indices, by_column.indices, design.y))
    own, groups = (jnp.repeat(jnp.arange(s), peer.put(np.diff(m.indptr)), total_repeat_length=m.nnz)
                   for s, m in ((n, design.X), (k, by_column)))  # fmt: skip

    def sums(numbers: Any, values: Any, groups: Any, size: int) -> Any:
        products = numbers if values is None else numbers * values
        return jax.ops.segment_sum(products, groups, size, indices_are_sorted=True)

    def value_and_grad(beta: Any) -> Any:
        eta = sums(beta[columns], values, own, n)
        left = y - jax.nn.sigmoid(eta)
        return jnp.sum(y * eta - jnp.logaddexp(0.0, eta)), sums(left[rows], turned, groups, k)

    return _jitted(peer, value_and_grad)


def _jitted(peer: Any, value_and_grad: Callable[[Any], Evaluated]) -> Callable[[np.ndarray], Call]:
    one, several = peer.jax.jit(value_and_grad), peer.jax.jit(peer.jax.vmap(value_and_grad))

    def of(beta: np.ndarray) -> Call:
        given = peer.put(beta)
        return lambda: (one if beta.ndim == 1 else several)(given)

    return of


WAYS: dict[type[Peer], dict[str, Callable[..., Callable[[np.ndarray], Call]]]] = {
    GPUStats: {"gpustats": with_gpustats},
    JAX: {"JAX, BCOO": with_bcoo, "JAX, sums in order": with_segments},
    CuPy: {"CuPy": with_cupy, "CuPy, also by columns": functools.partial(with_cupy, by_columns=True)},
    SciPy: {"SciPy": with_scipy},
}


@dataclass
class Case:
    """Sets of coefficients of a design, of which all may be those of the case before."""

    design: Design
    n_sets: int

    @property
    def title(self) -> str:
        return f"{self.design.title}, {self.n_sets} set{'s' if self.n_sets > 1 else ''}"


def rows(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    """Rows of a case: one for each way of each library."""
    design, beta = case.design, case.design.coefficients(case.n_sets)

    def measured(peer: Peer, way: str) -> Row:
        key = type(peer).__name__, way
        if key not in design.made:
            design.made[key] = WAYS[type(peer)][way](design, peer)
        call = design.made[key](beta)
        value, gradient = (np.asarray(peer.host(part)) for part in call())
        first = np.append(np.ravel(value)[0], gradient if case.n_sets == 1 else gradient[0])
        found, expected = ((its[:1], its[1:]) for its in (first, design.expected))
        return {"difference": difference(found, expected)} | report.measure(call, peer)

    work: Row = {"work": case.title, "time": "waited_us"}
    return [attempt(work | {"peer": way}, measured, peer, way) for peer in peers for way in WAYS[type(peer)]]


def main(argv: list[str] | None = None) -> int:
    report = Report(options("sparse", __doc__).parse_args(argv))
    peers = report.peers(WAYS, cpu_only=[SciPy])
    part, before = report.default(None, gpu=1, cpu=100, quick=1000), None
    for case in report.wanted([Case(Design(n // part, *rest), s) for n, *rest in SIZES for s in SETS]):
        if before is not None and before.title == case.design.title:
            case.design = before
        elif before is not None:
            before.made.clear()  # the device's memory is for the next one
        before = case.design
        report.rows += rows(report, case, peers)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
