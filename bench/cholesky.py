"""`python -m bench.cholesky`: the Cholesky factorisation with and without its reverse mode, beside cuSOLVER, JAX and PyTorch.

The matrices are those of Češnovar et al. (section 3.3.3): n² on the diagonal, n - |i - j| off it.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy import linalg

import gpustats as gs

from .draws import installed, write
from .glm import Columns, render, with_ratios
from .peers import JAX, CuPy, GPUStats, Peer, PyTorch, SciPy
from .run import COLORS, measure, number, versions

NOTE = """\
enqueued: calls back to back, divided by their number; waited: one call until its result is there (median).
rate: n³/3 operations for the factor, n³ with the reverse mode, which takes the derivative in the factor to that in the matrix.
difference: of factors from LAPACK's in float64, relative to its largest element; of reverse modes: of u'āu for four random u
from the derivative of the factor along uu', relative to the largest. by hand: a product and two triangular solves.
"""
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
    """What results are compared with: LAPACK's factor in float64, and derivatives along uu'.

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
        """l Φ(pp')."""
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
    """½ l'⁻¹ M l⁻¹, M being the lower triangle of l' l̄ mirrored above the diagonal."""
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


PEERS: dict[type[Peer], tuple[str, Bind]] = {
    GPUStats: ("gpustats", with_gpustats),
    SciPy: ("SciPy", with_scipy),
    JAX: ("JAX", with_jax),
    PyTorch: ("PyTorch", with_torch),
    CuPy: ("CuPy", with_cupy),
}


def rows(n: int, dtype: str, peers: list[Peer], goals: dict[int, float]) -> list[dict]:
    """Of one matrix: one row for each work and peer; a peer that fails says so in its row."""
    found = []
    a, adjoint = Case(n, dtype).data()
    reference = Reference(a, adjoint)
    for case in (Case(n, dtype), Case(n, dtype, reverse=True)):
        for peer in peers:
            kind, bind = PEERS[type(peer)]
            name = f"{kind}, by hand" if case.reverse and type(peer) in (SciPy, CuPy) else kind
            row = {"work": case.title, "case": case.work, "n": n, "dtype": dtype, "peer": name, "waited": True}
            row["goal_us"] = goals.get(n) if kind == GPUStats.name and case.reverse and dtype == "float64" else None
            try:
                call = bind(peer, case, a, adjoint)
                row["difference"] = reference.difference(case, peer.host(call()))
                row["waited_us"], row["enqueued_us"] = (1e6 * t for t in measure(call, peer))
                row["rate"] = case.flops / row["waited_us"] * 1e6
            except Exception as error:  # a peer's failure is a result, too
                row["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
                print(f"{case.title}, {name}: {row['error']}")
            found.append(row)
            call = None
            gc.collect()
    return found


COLUMNS: Columns = {
    "enqueued / µs": lambda row: number(row["enqueued_us"]),
    "waited / µs": lambda row: number(row["waited_us"]),
    "rate / TFLOP/s": lambda row: f"{row['rate'] / 1e12:.3g}",
    "× ours": lambda row: f"{row['ratio']:.2f}" if "ratio" in row else "",
    "goal / µs": lambda row: f"≤ {row['goal_us']:,.0f}" if row["goal_us"] else "",
    "difference": lambda row: f"{row['difference']:.0e}",
}


def chart(report: dict, path: Path) -> None:
    """How many times as long others take as gpustats, over n, as figure 5 of the paper has it."""
    import matplotlib
    from matplotlib.figure import Figure

    fair = [row for row in report["rows"] if "ratio" in row and row["peer"] != GPUStats.name]
    works, types = (list(dict.fromkeys(row[key] for row in report["rows"])) for key in ("case", "dtype"))
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(4.5 * len(works), 3.4 * len(types) + 0.6), layout="constrained")
        grid = figure.subplots(len(types), len(works), sharex=True, sharey="col", squeeze=False)
        for i, j in np.ndindex(grid.shape):
            axes, dtype, work = grid[i, j], types[i], works[j]
            own = [row for row in fair if (row["dtype"], row["case"]) == (dtype, work)]
            for peer in dict.fromkeys(row["peer"] for row in own):
                points = [(row["n"], row["ratio"]) for row in own if row["peer"] == peer]
                name = peer.removesuffix(", by hand")
                axes.plot(*zip(*points, strict=True), "o-", color=COLORS[name], label=name, markersize=4)
            axes.axhline(1, color=COLORS[GPUStats.name], lw=1)
            axes.set_xscale("log", base=2)
            axes.set_xticks(sorted({row["n"] for row in report["rows"]}))
            axes.xaxis.set_major_formatter("{x:.0f}")
            axes.tick_params(axis="x", which="minor", length=0)
            axes.grid(axis="y", color="#e3e6ea")
            axes.set_title(f"{work}, {dtype}")
            if i == len(types) - 1:
                axes.set_xlabel("n")
            if not j:
                axes.set_ylabel("time / gpustats' time")
        for axes in grid[0]:  # shared by a column, and so set when all lines are there
            axes.set_ylim(bottom=0)
        labels = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(labels.values(), labels, loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(report["device"], x=0.01, ha="left", weight="bold")
        figure.savefig(path, dpi=130)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cholesky", description=__doc__.splitlines()[0])
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--n", type=int, action="append", help="several times if you like; default: 512 to 16384 (CPU: 4096)")
    parser.add_argument("--dtype", action="append", choices=("float32", "float64"), help="default: both")
    parser.add_argument("--peer", action="append", help="several times if you like; default: all installed, SciPy on CPUs only")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    if args.device:
        gs.use(args.device)
    ours = GPUStats()
    gpu = ours.device.type == "gpu"
    sizes = args.n or [512 << i for i in range(6 if gpu else 4)]
    peers = installed([kind for kind in PEERS if args.peer or not (gpu and kind is SciPy)], gpu, args.peer)
    report: dict = {"device": ours.device.name, "backend": ours.device.backend, "bandwidth": ours.runtime.bandwidth()}
    report |= {"versions": versions(), "rows": []}
    work = [(n, dtype) for dtype in args.dtype or ("float64", "float32") for n in sizes]
    for n, dtype in track(work, "measuring", console=Console(stderr=True)):
        report["rows"] += rows(n, dtype, peers, GOALS if gpu else {})
    with_ratios(report["rows"])
    stem = args.out / f"cholesky-{ours.device.backend}-{ours.device.type}"
    write(stem, render(report, COLUMNS, NOTE), report)
    chart(report, stem.with_suffix(".png"))
    print(f"written: {stem}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
