"""`python -m bench.rows`: log-likelihoods that are sums over rows, with their gradients, beside NumPy, JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

import gpustats as gs

from . import jax_groups, row_models, row_regressions
from .peers import JAX, GPUStats, NumPy, Peer, PyTorch
from .report import DIFFERENCE, GOAL, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, cell, options, size
from .row_models import Arrays, Model

NOTE = TIMES_NOTE + """\
floor: reading data (indices as int32) and parameters and writing the gradients, once, at the bandwidth of a copy measured in
this run. gpustats takes parameters from the host and returns gradients there; "tables on the device": all but single numbers
lie there, with their gradients, as everything does for JAX and PyTorch. JAX: the fastest of the ways that its experts
have for sums by group, which the last column names (bench/jax_groups.py tells them); "JAX, plain": `table[index]` as its users
write it. Nothing is donated, as parameters are read again. f32: data and parameters. difference: of the values, relative to
them, and of each gradient, relative to its largest element, from NumPy's, whose derivatives are written out by hand.
"""
COLUMNS = TIMES | {"floor / µs": cell("floor_us")} | RATIO | GOAL | DIFFERENCE | {"way": lambda row: row.get("way") or ""}


@dataclass(frozen=True)
class Case:
    """Model of N rows.

    Attributes
    ----------
    model : Model
    n : int
    goal : float, optional
        Time to reach on an NVIDIA H200 in float64, in µs.
    dtype : str
    """

    model: Model
    n: int = 10**6
    goal: float | None = None
    dtype: str = "float64"

    @property
    def title(self) -> str:
        single = " f32" if self.dtype == "float32" else ""
        return f"{self.model.title}, N={self.n:.0e}{single}".replace("e+0", "e")

    def data(self) -> tuple[Arrays, Arrays]:
        """Data and parameters, by name."""
        data, parameters = self.model.simulate(np.random.default_rng(15), self.n)
        data = {name: a.astype(self.dtype) if np.asarray(a).dtype.kind == "f" else a for name, a in data.items()}
        return data, {name: np.asarray(value, self.dtype) for name, value in parameters.items()}


def cases(gpu: bool, quick: bool = False) -> list[Case]:
    """Work for a GPU; on a CPU a million rows at most; `quick`: a hundredth of these."""
    found = [
        Case(row_models.MichaelisMenten(), 10**7, goal=60),
        Case(row_models.VaryingSlopes(1000), 10**7, goal=70),
        Case(row_models.VaryingSlopes(100_000), 10**7, goal=150),
        Case(row_models.ItemResponse(), 10**7, goal=180),
        Case(row_models.HierarchicalPoisson(), 10**7, goal=330),
        Case(row_models.Mixture(), 10**6, goal=40),
        Case(row_models.Mixture(), 10**7, goal=150),
        Case(row_regressions.ZeroInflatedPoisson()),
        Case(row_regressions.CensoredWeibull()),
        Case(row_regressions.Ordinal()),
        Case(row_regressions.Softmax()),
        Case(row_models.Factors()),
        Case(row_models.Volatility()),
        Case(row_regressions.Logistic()),
        Case(row_models.Radon()),
        Case(row_models.RobustMichaelisMenten()),
        Case(row_regressions.NegativeBinomial()),
    ]
    return found if gpu and not quick else resized(found, 10**4 if quick else 10**6)


def resized(found: list[Case], n: int) -> list[Case]:
    """Cases over n rows, each once."""
    return list({case.title: case for case in (replace(case, n=n, goal=None) for case in found)}.values())


# -- Each library as a good user of it writes the work: (peer, model, data, parameters) -> a function that starts it, which
# -- returns the value and the gradients in the order of the parameters.

Bind = Callable[[Any, Model, Arrays, Arrays], Callable[[], tuple[Any, ...]]]

#: Functions that JAX and PyTorch have by the same names.
SHARED = "concatenate", "exp", "expm1", "log", "log1p", "logaddexp", "where"


def arrays(data: Arrays) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in data.items()}


def with_gpustats(peer: GPUStats, model: Model, data: Arrays, parameters: Arrays):
    rows = gs.Rows(model.function, **model.leaves(**data))
    given = {name: value if value.ndim else float(value) for name, value in parameters.items()}

    def work():
        value, gradient = rows.value_and_grad(**given)
        return value, *(gradient[name] for name in parameters)

    return work


def with_tables_on_the_device(peer: GPUStats, model: Model, data: Arrays, parameters: Arrays):
    return with_gpustats(peer, model, data, {n: peer.put(value) if value.ndim else value for n, value in parameters.items()})


def with_numpy(peer: NumPy, model: Model, data: Arrays, parameters: Arrays):
    def work():
        value, gradient = model.value_and_grad(**data, **parameters)
        return value, *(gradient[name] for name in parameters)

    return work


def with_jax(peer: JAX, model: Model, data: Arrays, parameters: Arrays, way: str = jax_groups.PLAIN):
    """Call in JAX: XLA widens whole numbers where it reads them; its indices are int32 by default."""
    jax, jnp = peer.jax, peer.jax.numpy
    dtype = next(iter(parameters.values())).dtype
    xp = SimpleNamespace(
        **{name: getattr(jnp, name) for name in SHARED},
        infinity=jnp.array([jnp.finfo(dtype).max / 2], dtype),  # of which a product with 0 is 0
        lgamma=jax.scipy.special.gammaln,
        logsumexp=jax.scipy.special.logsumexp,
        sigmoid=jax.nn.sigmoid,
        take=jax_groups.taken,
        bernoulli_logit=lambda y, eta: (y * eta - jnp.logaddexp(0, eta)).sum(),
        categorical_logit=lambda y, eta: jnp.where(
            y[:, None] == jnp.arange(eta.shape[1]), jax.nn.log_softmax(eta), 0).sum(),
    )  # fmt: skip
    data = jax_groups.arranged(arrays(data), model.indices, way, dtype)
    data = jax.tree.map(lambda a: peer.put(a.astype(np.int32) if a.dtype == np.int64 else a), data)
    parameters = {n: peer.put(value) for n, value in parameters.items()}
    work = jax.jit(jax.value_and_grad(lambda parameters, data: model.log_likelihood(xp, **data, **parameters)))

    def call():
        value, gradient = work(parameters, data)
        return value, *(gradient[name] for name in parameters)

    return call


def with_torch(peer: PyTorch, model: Model, data: Arrays, parameters: Arrays):
    """Call in PyTorch; whole numbers that are no indices are floats from the start: each operation reads and writes them."""
    dtype = next(iter(parameters.values())).dtype
    torch, loss = peer.torch, peer.torch.nn.functional
    xp = SimpleNamespace(
        **{name: getattr(torch, name) for name in SHARED},
        infinity=peer.put(np.array([np.inf], dtype)),
        lgamma=torch.lgamma,
        logsumexp=torch.logsumexp,
        sigmoid=torch.sigmoid,
        take=lambda table, index: torch.index_select(table, 0, index),  # whose gradient is faster than that of table[index]
        bernoulli_logit=lambda y, eta: -loss.binary_cross_entropy_with_logits(eta, y, reduction="sum"),
        categorical_logit=lambda y, eta: -loss.cross_entropy(eta, y, reduction="sum"),
    )
    data = {n: peer.put(a if a.dtype == np.int64 else a.astype(dtype, copy=False)) for n, a in arrays(data).items()}
    parameters = {n: peer.put(value).requires_grad_() for n, value in parameters.items()}

    def work():
        value = model.log_likelihood(xp, **data, **parameters)
        return value.detach(), *torch.autograd.grad(value, list(parameters.values()))

    return work


PEERS: dict[type[Peer], dict[str, Bind]] = {
    GPUStats: {"gpustats": with_gpustats, "gpustats, tables on the device": with_tables_on_the_device},
    NumPy: {"NumPy, by hand": with_numpy},
    JAX: {"JAX": with_jax},
    PyTorch: {"PyTorch": with_torch},
}


def in_jax(name: str, row: Row, model: Model, data: Arrays, measured: Callable[[str], Row]) -> list[Row]:
    """Rows of JAX: that of the fastest way for sums by group, and that of the plain one where these are not the same."""
    indices = [data[index] for index in model.indices]
    if not indices:
        return [attempt(row | {"peer": name}, measured, "")]
    ways = (*jax_groups.ways(indices), jax_groups.PLAIN)
    found = [attempt(row | {"peer": name, "way": way}, measured, way) for way in ways]
    fastest = min(found, key=lambda row: row.get("waited_us", np.inf))
    return [fastest, found[-1] | {"peer": f"{name}, {jax_groups.PLAIN}"}]


def rows(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    """Rows of a case: one for each way of each library."""
    data, parameters = case.data()
    in_double = ({n: a.astype(float) if np.asarray(a).dtype == np.float32 else a for n, a in given.items()}
                 for given in (data, parameters))  # fmt: skip
    expected = with_numpy(NumPy(False), case.model, *in_double)()
    moved = sum(a.nbytes // (2 if a.dtype == np.int64 else 1) for a in arrays(data).values())
    moved += 2 * sum(value.nbytes for value in parameters.values())

    def measured(peer: Peer, bind: Bind, **how: str) -> Row:
        call = bind(peer, case.model, data, parameters, **how)
        found = [np.asarray(peer.host(result), float) for result in call()]
        return {"difference": difference(found, expected)} | report.measure(call, peer)

    made = []
    for peer in peers:
        for name, bind in PEERS[type(peer)].items():
            if bind is with_tables_on_the_device and not (report.gpu and any(value.ndim for value in parameters.values())):
                continue
            row = {"work": case.title, "peer": name, "time": "waited_us", "bytes": moved}
            row |= {"floor_us": 1e6 * moved / report.bandwidth, "goal_us": case.goal if name == GPUStats.name else None}
            if isinstance(peer, JAX):
                made += in_jax(name, row, case.model, data, lambda way, its=(peer, bind): measured(*its, way=way))
            else:
                made.append(attempt(row, measured, peer, bind))
    return made


def difference(found: list[np.ndarray], expected: tuple[Any, ...]) -> float:
    pairs = zip(found, map(np.asarray, expected), strict=True)
    return float(np.max([np.abs(f.reshape(e.shape) - e).max() / np.abs(e).max() for f, e in pairs]))


def main(argv: list[str] | None = None) -> int:
    parser = options("rows", __doc__)
    parser.add_argument("--n", type=size, help="rows, of all work")
    parser.add_argument("--dtype", action="append", choices=("float64", "float32"), help="repeatable; default: both")
    args = parser.parse_args(argv)
    report = Report(args)
    found = cases(report.gpu, report.quick)
    if args.n:
        found = resized(found, args.n)
    found = [replace(case, dtype=t, goal=None if t == "float32" else case.goal)
             for t in args.dtype or ("float64", "float32") for case in found]  # fmt: skip
    peers = report.peers(PEERS)
    for case in report.wanted(found):
        report.rows += rows(report, case, peers)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
