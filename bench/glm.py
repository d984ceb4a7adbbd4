"""`python -m bench.glm`: the log-likelihood of a logistic regression with its gradient, beside NumPy, JAX, PyTorch and CuPy."""

from __future__ import annotations

import argparse
import gc
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy import special

import gpustats as gs

from .draws import NumPy, installed, write
from .peers import JAX, CuPy, GPUStats, Peer, PyTorch
from .run import measure, number, versions

NOTE = """\
enqueued: calls back to back, divided by their number; waited: one call until its result is there (median).
floor: reading X once, at the bandwidth of a copy measured in this run. gpustats takes coefficients from the host and returns
there; for the others they lie on the device, with the results. by hand: two products, with the derivative written out.
difference: of the values, relative to them, and of the gradients, relative to their largest element, from NumPy's in float64.
"""


@dataclass(frozen=True)
class Case:
    """A logistic regression of N observations on k variables, with an intercept.

    Attributes
    ----------
    n, k : int
    dtype : {"float64", "float32"}
    chains : int
        Sets of coefficients in one call.
    goal : float, optional
        Time to reach on an NVIDIA H200, in µs.
    waited : bool
        Whether the time that counts is that of a call with its result.
    """

    n: int
    k: int
    dtype: str = "float64"
    chains: int = 1
    goal: float | None = None
    waited: bool = False

    @property
    def title(self) -> str:
        chains = f" {self.chains} chains" if self.chains > 1 else ""
        return f"Σ+∇, N={self.n:.0e} k={self.k} f{self.dtype[-2:]}{chains}".replace("e+0", "e")

    @property
    def bytes(self) -> int:
        return self.n * self.k * np.dtype(self.dtype).itemsize

    def data(self) -> tuple[np.ndarray, ...]:
        """y (N,), X (N, k), the coefficients (chains, k) or (k,), the intercepts (chains,) or ()."""
        rng = np.random.default_rng(14)
        X = rng.standard_normal((self.n, self.k), self.dtype)
        truth = rng.normal(size=self.k) / self.k**0.5
        y = rng.random(self.n) < special.expit(X @ truth.astype(self.dtype) + 0.5)
        lead = (self.chains,) if self.chains > 1 else ()
        beta, alpha = truth + 0.1 * rng.normal(size=(*lead, self.k)), 0.5 + 0.1 * rng.normal(size=lead)
        return tuple(np.asarray(a, self.dtype) for a in (y, X, beta, alpha))


def cases(gpu: bool) -> list[Case]:
    """The work for a GPU; for a CPU a tenth of the rows."""
    found = [
        Case(10**6, 200, "float64", goal=470),
        Case(10**6, 200, "float32", goal=240),
        Case(10**6, 50, "float64", goal=135),
        Case(10**6, 50, "float32", goal=75),
        Case(10**7, 20, "float64", goal=540),
        Case(10**7, 20, "float32", goal=290),
        Case(10**4, 100, "float64", goal=45, waited=True),
        Case(10**4, 100, "float32", waited=True),
        Case(10**6, 200, "float64", chains=4, goal=600),
        Case(10**6, 200, "float32", chains=4),
    ]
    return found if gpu else [replace(c, n=c.n if c.waited else c.n // 10, goal=None) for c in found]


# -- Each library as a good user of it writes the work: (peer, y, X, beta, alpha) -> a function that starts it, which returns
# -- (value, gradient in beta, gradient in alpha).

Bind = Callable[..., Callable[[], tuple[Any, Any, Any]]]


def with_gpustats(peer: Peer, y, X, beta, alpha):
    glm = gs.GLM(gs.bernoulli_logit, y, X)
    alpha = alpha[:, None] if alpha.ndim else float(alpha)

    def work():
        value, gradient = glm.value_and_grad(beta, alpha)
        return value, gradient["beta"], gradient["alpha"]

    return work


def with_numpy(peer: Peer, y, X, beta, alpha):
    return lambda: by_hand(np, y, X, beta, alpha)


def with_cupy(peer: Peer, *arrays):
    arrays = [peer.put(a) for a in arrays]
    return lambda: by_hand(peer.cupy, *arrays)


def by_hand(xp, y, X, beta, alpha):
    """Two products with X, and a few passes over vectors between them."""
    eta = X @ beta.T + alpha
    sign = 1 - 2 * y if eta.ndim == 1 else (1 - 2 * y)[:, None]
    value = -xp.logaddexp(0, sign * eta).sum(0)
    slope = -sign / (1 + xp.exp(-sign * eta))
    return value, (X.T @ slope).T, slope.sum(0)


def with_jax(peer: Peer, *arrays):
    jax, jnp = peer.jax, peer.jax.numpy
    y, X, beta, alpha = (peer.put(a) for a in arrays)

    def value(parameters, y, X):
        beta, alpha = parameters
        eta = X @ beta + alpha
        return (y * eta - jnp.logaddexp(0, eta)).sum()

    work = jax.value_and_grad(value)
    work = jax.jit(jax.vmap(work, (0, None, None)) if beta.ndim > 1 else work)

    def call():
        value, gradients = work((beta, alpha), y, X)
        return value, *gradients

    return call


def with_autograd(peer: Peer, *arrays):
    torch = peer.torch
    y, X, beta, alpha = (peer.put(a) for a in arrays)
    beta, alpha = beta.requires_grad_(), alpha.requires_grad_()
    observed = y[:, None].expand(-1, len(beta)) if beta.ndim > 1 else y
    loss = torch.nn.functional.binary_cross_entropy_with_logits

    def work():
        values = -loss(X @ beta.T + alpha if beta.ndim > 1 else X @ beta + alpha, observed, reduction="none").sum(0)
        return values.detach(), *torch.autograd.grad(values.sum(), (beta, alpha))

    return work


def with_torch(peer: Peer, *arrays):
    torch = peer.torch
    y, X, beta, alpha = (peer.put(a) for a in arrays)
    observed = y[:, None] if beta.ndim > 1 else y
    multiply = torch.addmm if beta.ndim > 1 else torch.addmv

    def work():
        eta = multiply(alpha, X, beta.T if beta.ndim > 1 else beta)
        value = (observed * eta - torch.nn.functional.softplus(eta)).sum(0)
        slope = observed - torch.sigmoid(eta)
        return value, (X.T @ slope).T if beta.ndim > 1 else X.T @ slope, slope.sum(0)

    return work


PEERS: dict[type[Peer], dict[str, Bind]] = {
    GPUStats: {"gpustats": with_gpustats},
    NumPy: {"NumPy, by hand": with_numpy},
    JAX: {"JAX": with_jax},
    PyTorch: {"PyTorch": with_autograd, "PyTorch, by hand": with_torch},
    CuPy: {"CuPy, by hand": with_cupy},
}


def rows(case: Case, peers: list[Peer], bandwidth: float) -> list[dict]:
    """One row for each way of each peer; one that fails says so in its row."""
    found = []
    data = case.data()
    expected = by_hand(np, *(a.astype(float, copy=False) for a in data))
    for peer in peers:
        for name, bind in PEERS[type(peer)].items():
            row = {"work": case.title, "peer": name, "waited": case.waited, "bytes": case.bytes}
            row |= {"floor_us": 1e6 * case.bytes / bandwidth, "goal_us": case.goal if name == GPUStats.name else None}
            try:
                call = bind(peer, *data)
                row["difference"] = difference([host(peer, a) for a in call()], expected)
                row["waited_us"], row["enqueued_us"] = (1e6 * t for t in measure(call, peer))
            except Exception as error:  # a peer's failure is a result, too
                row["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
                print(f"{case.title}, {name}: {row['error']}")
            found.append(row)
            call = None
            gc.collect()
    return found


def host(peer: Peer, result: Any) -> np.ndarray:
    return np.asarray(peer.host(result), float)


def difference(found: list[np.ndarray], expected: tuple[np.ndarray, ...]) -> float:
    value, *gradient = (f.reshape(np.shape(e)) - e for f, e in zip(found, expected, strict=True))
    largest = max(np.abs(e).max() for e in expected[1:])
    return float(max(np.max(np.abs(value / expected[0])), *(np.abs(g).max() / largest for g in gradient)))


Columns = dict[str, Callable[[dict], str]]
COLUMNS: Columns = {  # name -> what it says of a row
    "enqueued / µs": lambda row: number(row["enqueued_us"]),
    "waited / µs": lambda row: number(row["waited_us"]),
    "floor / µs": lambda row: number(row["floor_us"]),
    "× ours": lambda row: f"{row['ratio']:.1f}" if "ratio" in row else "",
    "goal / µs": lambda row: f"≤ {row['goal_us']:g}" if row["goal_us"] else "",
    "difference": lambda row: f"{row['difference']:.0e}",
}


def time_of(row: dict) -> float:
    """The time that counts, in µs."""
    return row["waited_us"] if row["waited"] else row["enqueued_us"]


def with_ratios(found: list[dict]) -> list[dict]:
    """The rows, with the time of each over ours."""
    ours = {row["work"]: time_of(row) for row in found if row["peer"] == GPUStats.name and "error" not in row}
    fair = [row for row in found if "error" not in row and row["work"] in ours]
    for row in fair:
        row["ratio"] = time_of(row) / ours[row["work"]]
    return found


def render(report: dict, columns: Columns, note: str) -> str:
    """The table as text."""
    table = Table(box=None, pad_edge=False, header_style="")
    for i, column in enumerate(("work", "", *columns)):
        table.add_column(column, justify="right" if i > 1 else "left", no_wrap=True)
    last = None
    for row in report["rows"]:
        work = row["work"] if row["work"] != last else ""
        if work and last:
            table.add_row()
        last = row["work"]
        cells = ["failed"] if "error" in row else [say(row) for say in columns.values()]
        table.add_row(work, row["peer"], *cells)
    console = Console(width=150, file=io.StringIO())
    console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    head = f"{report['device']} ({report['backend']}), {report['bandwidth'] / 1e9:.1f} GB/s read and written by a copy"
    packages = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return "\n".join([head, packages, "", *lines, "", note])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.glm", description=__doc__.splitlines()[0])
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--n", type=float, help="observations, of all work")
    parser.add_argument("--k", type=int, help="variables, of all work")
    parser.add_argument("--small", action="store_true", help="a hundredth of the rows, to see that everything runs")
    parser.add_argument("--dtype", choices=("float32", "float64"), help="default: both")
    parser.add_argument("--peer", action="append", help="several times if you like; default: all installed, NumPy on CPUs only")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    if args.device:
        gs.use(args.device)
    ours = GPUStats()
    gpu = ours.device.type == "gpu"
    wanted = [c for c in cases(gpu) if args.dtype in (None, c.dtype)]
    if args.n or args.k or args.small:
        shrunk = (replace(c, n=int(args.n or c.n) // (100 if args.small else 1), k=args.k or c.k, goal=None) for c in wanted)
        wanted = list({c.title: c for c in shrunk}.values())
    peers = installed([kind for kind in PEERS if args.peer or not (gpu and kind is NumPy)], gpu, args.peer)
    report: dict = {"device": ours.device.name, "backend": ours.device.backend, "bandwidth": ours.runtime.bandwidth()}
    report |= {"versions": versions(), "rows": []}
    for case in track(wanted, "measuring", console=Console(stderr=True)):
        report["rows"] += rows(case, peers, report["bandwidth"])
    with_ratios(report["rows"])
    write(args.out / f"glm-{ours.device.backend}-{ours.device.type}", render(report, COLUMNS, NOTE), report)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
