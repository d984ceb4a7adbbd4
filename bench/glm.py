"""`python -m bench.glm`: the log-likelihood of a logistic regression with its gradient, beside NumPy, JAX, PyTorch and CuPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

import gpustats as gs

from .peers import JAX, CuPy, GPUStats, NumPy, Peer, PyTorch
from .report import (
    DIFFERENCE,
    GOAL,
    RATIO,
    TIMES,
    TIMES_NOTE,
    Report,
    Row,
    Table,
    attempt,
    cell,
    difference,
    options,
    size,
)

NOTE = TIMES_NOTE + """\
floor: reading X once, at the bandwidth of a copy measured in this run. gpustats takes coefficients from the host and returns
there; for the others they lie on the device, with the results. by hand: two products, with the derivative written out.
difference: of the values, relative to them, and of the gradients, relative to their largest element, from NumPy's in float64.
"""
COLUMNS = TIMES | {"floor / µs": cell("floor_us")} | RATIO | GOAL | DIFFERENCE


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
    time : {"enqueued_us", "waited_us"}
        The time that counts.
    """

    n: int
    k: int
    dtype: str = "float64"
    chains: int = 1
    goal: float | None = None
    time: str = "enqueued_us"

    @property
    def title(self) -> str:
        chains = f" {self.chains} chains" if self.chains > 1 else ""
        return f"Σ+∇, N={self.n:.0e} k={self.k} f{self.dtype[-2:]}{chains}".replace("e+0", "e")

    @property
    def bytes(self) -> int:
        return self.n * self.k * np.dtype(self.dtype).itemsize

    def data(self) -> tuple[np.ndarray, ...]:
        """Data y (N,), X (N, k), the coefficients (chains, k) or (k,), the intercepts (chains,) or ()."""
        rng = np.random.default_rng(14)
        X = rng.standard_normal((self.n, self.k), self.dtype)
        truth = rng.normal(size=self.k) / self.k**0.5
        y = rng.random(self.n) < special.expit(X @ truth.astype(self.dtype) + 0.5)
        lead = (self.chains,) if self.chains > 1 else ()
        beta, alpha = truth + 0.1 * rng.normal(size=(*lead, self.k)), 0.5 + 0.1 * rng.normal(size=lead)
        return tuple(np.asarray(a, self.dtype) for a in (y, X, beta, alpha))


def cases(gpu: bool, quick: bool = False) -> list[Case]:
    """Work for a GPU; for a CPU a tenth of the rows, where there are many; `quick`: a hundredth of them."""
    found = [
        Case(10**6, 200, "float64", goal=470),
        Case(10**6, 200, "float32", goal=240),
        Case(10**6, 50, "float64", goal=135),
        Case(10**6, 50, "float32", goal=75),
        Case(10**7, 20, "float64", goal=540),
        Case(10**7, 20, "float32", goal=290),
        Case(10**4, 100, "float64", goal=45, time="waited_us"),
        Case(10**4, 100, "float32", time="waited_us"),
        Case(10**6, 200, "float64", chains=4, goal=600),
        Case(10**6, 200, "float32", chains=4),
        Case(10**6, 50, "float64", chains=16, goal=300, time="waited_us"),
        Case(10**5, 50, "float64", chains=64, goal=160, time="waited_us"),
        Case(10**4, 50, "float64", chains=256, goal=110, time="waited_us"),
    ]
    if gpu and not quick:
        return found
    return [replace(c, n=c.n // 100 if quick else min(c.n, max(c.n // 10, 10**4)), goal=None) for c in found]


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
    """Value and gradient by two products with X, and a few passes over vectors between them."""
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


def rows(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    """Rows of a case: one for each way of each library."""
    data = case.data()
    expected = by_hand(np, *(a.astype(float, copy=False) for a in data))

    def measured(peer: Peer, bind: Bind) -> Row:
        call = bind(peer, *data)
        found = [np.asarray(peer.host(result), float) for result in call()]
        return {"difference": difference(found, expected)} | report.measure(call, peer)

    made = []
    for peer in peers:
        for name, bind in PEERS[type(peer)].items():
            row = {"work": case.title, "peer": name, "time": case.time, "bytes": case.bytes}
            row |= {"floor_us": 1e6 * case.bytes / report.bandwidth, "goal_us": case.goal if name == GPUStats.name else None}
            made.append(attempt(row, measured, peer, bind))
    return made


def main(argv: list[str] | None = None) -> int:
    parser = options("glm", __doc__)
    parser.add_argument("--n", type=size, help="observations, of all work")
    parser.add_argument("--k", type=int, help="variables, of all work")
    args = parser.parse_args(argv)
    report = Report(args)
    found = cases(report.gpu, report.quick)
    if args.n or args.k:
        resized = (replace(case, n=args.n or case.n, k=args.k or case.k, goal=None) for case in found)
        found = list({case.title: case for case in resized}.values())
    peers = report.peers(PEERS, cpu_only=[NumPy])
    for case in report.wanted(found):
        report.rows += rows(report, case, peers)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
