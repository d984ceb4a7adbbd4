"""`python -m bench.cholesky`: the Cholesky factorisation with and without its reverse mode, beside cuSOLVER, JAX and PyTorch.

The matrices are those of Češnovar et al. (section 3.3.3): n² on the diagonal, n - |i - j| off it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg

import gpustats as gs

from . import charts
from .peers import JAX, CuPy, GPUStats, Peer, PyTorch, SciPy
from .report import DIFFERENCE, GOAL, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, cell, names, options, size

NOTE = TIMES_NOTE + """\
rate: n³/3 operations for the factor, n³ with the reverse mode, which takes the derivative in the factor to that in the matrix.
difference: of factors from LAPACK's in float64, relative to its largest element; of reverse modes: of u'āu for four random u
from the derivative of the factor along uu', relative to the largest. by hand: a product and two triangular solves.
"""
COLUMNS = TIMES | {"rate / TFLOP/s": cell("rate", "{:.3g}", 1e-12)} | RATIO | GOAL | DIFFERENCE
PROBES = 4
GOALS = {4096: 6e3, 8192: 25e3, 16384: 150e3}  # of the factor with its reverse mode, in float64 on an NVIDIA H200, in µs


@dataclass(frozen=True)
class Case:
    """A matrix (n, n), and whether the derivative is carried back through its factorisation."""

    n: int
    dtype: str = "float64"
    reverse: bool = False

    @property
    def work(self) -> str:
        return "cholesky + reverse" if self.reverse else "cholesky"

    @property
    def title(self) -> str:
        return f"{self.work}, n={self.n} f{self.dtype[-2:]}"

    @property
    def flops(self) -> float:
        return self.n**3 / (1 if self.reverse else 3)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The matrix, and the derivative of a number in its factor, lower triangular."""
        column = self.n - np.arange(self.n, dtype=self.dtype)
        column[0] = self.n**2
        adjoint = np.random.default_rng(15).standard_normal((self.n, self.n), self.dtype)
        return linalg.toeplitz(column).astype(self.dtype), np.tril(adjoint)


class Reference:
    """Reference for results: LAPACK's factor in float64, and derivatives along uu'.

    The factor's derivative along a symmetric matrix S is l Φ(l⁻¹ S l'⁻¹), where Φ takes the lower triangle with half of the
    diagonal. For S = uu' and p = l⁻¹ u that is l Φ(pp'), of which cumulative sums give all columns: n² operations, where other
    ways take n³.
    """

    def __init__(self, a: np.ndarray, adjoint: np.ndarray):
        n = len(a)
        self.factor = linalg.cholesky(a.astype(float), lower=True)
        self.probes = np.random.default_rng(16).normal(size=(PROBES, n))
        p = linalg.solve_triangular(self.factor, self.probes.T, lower=True).T
        self.along = [float(np.sum(adjoint * self._derivative(q))) for q in p]

    def _derivative(self, p: np.ndarray) -> np.ndarray:
        """Derivative l Φ(pp')."""
        scaled = self.factor * p
        sums = np.cumsum(scaled[:, ::-1], axis=1)[:, ::-1]
        return (sums - 0.5 * scaled) * p

    def difference(self, case: Case, found: np.ndarray) -> float:
        found = found.astype(float)
        if case.reverse:
            along = np.einsum("pi,pi->p", self.probes @ found, self.probes)
            return float(np.abs(along - self.along).max() / np.abs(self.along).max())
        return float(np.abs(found - self.factor).max() / np.abs(self.factor).max())


# -- Each library as a good user of it does the work: (peer, case, a, adjoint) -> a function that starts it.

Bind = Callable[[Peer, Case, np.ndarray, np.ndarray], Callable[[], Any]]


def with_gpustats(peer: Peer, case: Case, a, adjoint):
    a, adjoint = peer.put(a), peer.put(adjoint)
    if not case.reverse:
        return lambda: gs.linalg.cholesky(a)
    return lambda: gs.linalg.cholesky_grad(gs.linalg.cholesky(a), adjoint)


def with_scipy(peer: Peer, case: Case, a, adjoint):
    a = np.asfortranarray(a)  # else LAPACK copies it
    options = {"lower": True, "check_finite": False}

    def solve_transposed(factor, b):
        return linalg.solve_triangular(factor, b, trans="T", **options)

    if not case.reverse:
        return lambda: linalg.cholesky(a, **options)
    return lambda: by_hand(np, linalg.cholesky(a, **options), adjoint, solve_transposed)


def with_cupy(peer: Peer, case: Case, a, adjoint):
    from cupyx.scipy.linalg import solve_triangular

    cupy, a, adjoint = peer.cupy, peer.put(a), peer.put(adjoint)

    def solve_transposed(factor, b):
        return solve_triangular(factor, b, trans="T", lower=True)

    if not case.reverse:
        return lambda: cupy.linalg.cholesky(a)
    return lambda: by_hand(cupy, cupy.linalg.cholesky(a), adjoint, solve_transposed)


def by_hand(xp, factor, adjoint, solve_transposed):
    """Derivative ½ l'⁻¹ M l⁻¹, M being the lower triangle of l' l̄ mirrored above the diagonal."""
    lower = xp.tril(factor.T @ adjoint)
    half = solve_transposed(factor, lower + xp.tril(lower, -1).T)
    return solve_transposed(factor, half.T) * 0.5


def with_jax(peer: Peer, case: Case, a, adjoint):
    jax, a, adjoint = peer.jax, peer.put(a), peer.put(adjoint)
    cholesky = jax.numpy.linalg.cholesky
    if not case.reverse:
        work = jax.jit(cholesky)
        return lambda: work(a)
    reverse = jax.jit(lambda a, adjoint: jax.vjp(cholesky, a)[1](adjoint)[0])
    return lambda: reverse(a, adjoint)


def with_torch(peer: Peer, case: Case, a, adjoint):
    torch, a, adjoint = peer.torch, peer.put(a), peer.put(adjoint)
    if not case.reverse:
        return lambda: torch.linalg.cholesky(a)
    a.requires_grad_()
    return lambda: torch.autograd.grad(torch.linalg.cholesky(a), a, adjoint)[0]


PEERS: dict[type[Peer], Bind] = {
    GPUStats: with_gpustats,
    SciPy: with_scipy,
    JAX: with_jax,
    PyTorch: with_torch,
    CuPy: with_cupy,
}


@lru_cache(maxsize=1)
def problem(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray, Reference]:
    """Matrix, derivative in its factor, and the reference for results."""
    a, adjoint = Case(n, dtype).data()
    return a, adjoint, Reference(a, adjoint)


def measured(report: Report, case: Case, peer: Peer) -> Row:
    """The times of one library, its rate, and its difference from LAPACK."""
    a, adjoint, reference = problem(case.n, case.dtype)
    call = PEERS[type(peer)](peer, case, a, adjoint)
    difference = reference.difference(case, peer.host(call()))
    times = report.measure(call, peer)
    return times | {"difference": difference, "rate": case.flops / times["waited_us"] * 1e6}


def row(case: Case, peer: Peer, goals: dict[int, float]) -> Row:
    """Row of one library before it is measured."""
    by_hand = ", by hand" if case.reverse and isinstance(peer, (SciPy, CuPy)) else ""
    goal = goals.get(case.n) if isinstance(peer, GPUStats) and case.reverse and case.dtype == "float64" else None
    made = {"work": case.title, "case": case.work, "n": case.n, "dtype": case.dtype}
    return made | {"peer": peer.name + by_hand, "time": "waited_us", "goal_us": goal}


def chart(report: dict[str, Any], path: Path) -> None:
    """Chart of the others' times over those of gpustats, over n, as figure 5 of the paper has it."""
    works, types = (list(dict.fromkeys(row[key] for row in report["rows"])) for key in ("case", "dtype"))
    panels = {
        (dtype, work): charts.Panel(f"{work}, {dtype}", "n", "time / gpustats' time", log=False, ratio=True)
        for dtype in types
        for work in works
    }
    for row in report["rows"]:
        if "ratio" in row and row["peer"] != GPUStats.name:
            panels[row["dtype"], row["case"]].add(row["peer"].partition(",")[0], row["n"], row["ratio"])
    grid = [[panels[dtype, work] for work in works] for dtype in types]
    charts.lines(path, names(report["devices"]), grid, "col")


def main(argv: list[str] | None = None) -> int:
    parser = options("cholesky", __doc__)
    parser.add_argument("--n", type=size, action="append", help="size, repeatable; default: 512 to 16384 (CPU: 4096)")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[512 << i for i in range(6)], cpu=[512 << i for i in range(4)], quick=[64, 128])
    peers = report.peers(PEERS, cpu_only=[SciPy])
    cases = [Case(n, dtype, reverse) for dtype in ("float64", "float32") for n in sizes for reverse in (False, True)]
    for case in report.wanted(cases):
        for peer in peers:
            made = row(case, peer, GOALS if report.gpu else {})
            report.rows.append(attempt(made, measured, report, case, peer))
    return report.write(Table(report.rows, COLUMNS, NOTE), chart=chart)


if __name__ == "__main__":
    raise SystemExit(main())
