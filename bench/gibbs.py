"""`python -m bench.gibbs`: a sweep of the Gibbs sampler of a Gaussian mixture, beside the same in NumPy, JAX and PyTorch.

The sweep: the label of each observation from its responsibilities, count, mean and scatter of the observations of each label,
and from those, on the host, new weights, means and covariances. Data and labels stay on the device.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

import gpustats as gs

from .peers import JAX, GPUStats, NumPy, Peer, PyTorch, SciPy
from .report import DIFFERENCE, RATIO, Columns, Report, Row, Table, attempt, cell, options, size

NOTE = """\
Medians, each with its result there: the labels on the device, the statistics on the host. Host draws are the same for all.
|z|: of the counts of labels drawn, the largest distance from the sum of responsibilities (SciPy, float64), in standard errors.
difference: of means and scatter matrices from NumPy's in float64, given the labels, relative to the largest.
"""
PARTS = "labels", "statistics", "host draws", "sweep"
COLUMNS: Columns = {f"{part} / ms": cell(f"{part}_ms", "{:,.3g}") for part in PARTS}
COLUMNS |= RATIO | {"|z|": cell("z", "{:.1f}")} | DIFFERENCE
CHECKED_OBSERVATIONS = 10_000  # observations whose labels are compared with responsibilities


class Components(NamedTuple):
    """Start of a sweep: (K,) log-weights, (K, d) means, (K, d, d) lower factors of the covariances."""

    log_weights: np.ndarray
    means: np.ndarray
    factors: np.ndarray

    def astype(self, dtype: Any) -> Components:
        return Components(*(a.astype(dtype) for a in self))


class Statistics(NamedTuple):
    """The number of observations of each label (K,), their means (K, d), and their sums of squares about them (K, d, d)."""

    count: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray


def host_draws(rng: np.random.Generator, statistics: Statistics) -> Components:
    """Components from their posterior: Dirichlet(1) weights, and a normal-inverse-Wishart prior with one observation's weight.

    Bartlett's decomposition, turned about so that it gives the lower factors of the covariances.
    """
    count, mean, scatter = statistics
    k, d = mean.shape
    nu, kappa = d + 2 + count, 1 + count
    center = (count / kappa)[:, None] * mean
    scale = np.eye(d) + scatter + (count / kappa)[:, None, None] * mean[:, :, None] * mean[:, None, :]
    bartlett = np.triu(rng.normal(size=(k, d, d)), 1)
    diagonal = np.arange(d)
    bartlett[:, diagonal, diagonal] = np.sqrt(rng.chisquare(nu[:, None] - diagonal[::-1]))
    factors = np.linalg.solve(bartlett, np.linalg.cholesky(scale).swapaxes(1, 2)).swapaxes(1, 2)
    means = center + np.einsum("kij,kj->ki", factors, rng.normal(size=(k, d))) / np.sqrt(kappa)[:, None]
    return Components(np.log(rng.dirichlet(1.0 + count)), means, factors)


class Sweep:
    """Sweep of a library, for observations (N, d)."""

    def __init__(self, peer: Peer, x: np.ndarray, k: int):
        self.peer, self.x, self.k = peer, peer.put(x), k

    def labels(self, components: Components) -> Any:
        """Labels (N,), where the library keeps them."""
        raise NotImplementedError

    def statistics(self, labels: Any) -> Statistics:
        """The statistics of the observations of each label, on the host."""
        raise NotImplementedError


class GPUStatsSweep(Sweep):
    def __init__(self, peer, x, k):
        super().__init__(peer, x, k)
        self.mixture, self.rng = gs.Mixture(gs.mvnormal, self.x), gs.Generator(1)

    def labels(self, components):
        log_weights, means, factors = components
        return self.mixture.assign(log_weights, means, scale_tril=factors, rng=self.rng)

    def statistics(self, labels):
        return Statistics(*gs.label_statistics(self.x, labels, self.k))


class NumPySweep(Sweep):
    """Sweep by one matrix product for all components, for as many observations at a time as fit a cache."""

    CHUNK = 4096

    def __init__(self, peer, x, k):
        super().__init__(peer, x, k)
        self.rng = np.random.default_rng(1)

    def labels(self, components):
        log_weights, means, factors = components
        k, d = means.shape
        inverse = np.linalg.inv(factors)
        center = np.einsum("kij,kj->ki", inverse, means).ravel()
        whiten = np.ascontiguousarray(inverse.reshape(k * d, d).T)
        constant = log_weights - np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(1)
        labels = np.empty(len(self.x), np.int64)
        for first in range(0, len(self.x), self.CHUNK):
            x = self.x[first : first + self.CHUNK]
            z = x @ whiten - center
            log_density = constant - 0.5 * np.square(z, out=z).reshape(-1, k, d).sum(-1)
            log_density -= log_density.max(1, keepdims=True)
            sums = np.exp(log_density, out=log_density).cumsum(1)
            labels[first : first + self.CHUNK] = (sums < sums[:, -1:] * self.rng.random((len(x), 1), x.dtype)).sum(1)
        return labels

    def statistics(self, labels):
        d = self.x.shape[1]
        count = np.bincount(labels, minlength=self.k)
        mean, scatter = np.zeros((self.k, d)), np.zeros((self.k, d, d))
        for i in np.flatnonzero(count):
            own = self.x[labels == i]
            mean[i] = own.mean(0, dtype=float)
            own = own - mean[i]
            scatter[i] = own.T @ own
        return Statistics(count, mean, scatter)


class JAXSweep(Sweep):
    """Sweep in which products by label are one matrix product with the labels one-hot."""

    def __init__(self, peer, x, k):
        super().__init__(peer, x, k)
        jax, jnp = peer.jax, peer.jax.numpy
        whiten = peer.functions["mvnormal"]

        def draw(key, x, log_weights, means, factors):
            key, subkey = jax.random.split(key)
            return key, jax.random.categorical(subkey, log_weights + whiten(x, means, factors))

        self.key = jax.random.key(1)
        self.draw, self.reduce = jax.jit(draw), jax.jit(lambda x, labels: self.by_label(jax, jnp, x, labels))

    def labels(self, components):
        self.key, labels = self.draw(self.key, self.x, *components)
        return labels

    def statistics(self, labels):
        return Statistics(*map(np.asarray, self.reduce(self.x, labels)))

    def by_label(self, jax, jnp, x, labels):
        member = jax.nn.one_hot(labels, self.k, dtype=x.dtype)
        count = member.sum(0)
        mean = (member.T @ x) / jnp.maximum(count, 1)[:, None]
        centered = x - mean[labels]
        pairs = (centered[:, :, None] * centered[:, None, :]).reshape(len(x), -1)
        return count, mean, (member.T @ pairs).reshape(self.k, x.shape[1], x.shape[1])


class JAXSegments(JAXSweep):
    """Sweep in which products by label are added by `jax.ops.segment_sum`."""

    def by_label(self, jax, jnp, x, labels):
        def total(a):
            return jax.ops.segment_sum(a, labels, num_segments=self.k)

        count = total(jnp.ones(len(x), x.dtype))
        mean = total(x) / jnp.maximum(count, 1)[:, None]
        centered = x - mean[labels]
        return count, mean, total(centered[:, :, None] * centered[:, None, :])


class PyTorchSweep(Sweep):
    def labels(self, components):
        log_weights, means, factors = map(self.peer.put, components)
        table = log_weights + self.peer.functions["mvnormal"](self.x, means, factors)
        return self.peer.torch.multinomial(table.softmax(1), 1)[:, 0]

    def statistics(self, labels):
        n, d = self.x.shape
        member = self.peer.torch.nn.functional.one_hot(labels, self.k).to(self.x.dtype)
        count = member.sum(0)
        mean = (member.T @ self.x) / count.clamp(min=1)[:, None]
        centered = self.x - mean[labels]
        pairs = (centered[:, :, None] * centered[:, None, :]).reshape(n, d * d)
        scatter = (member.T @ pairs).reshape(self.k, d, d)
        return Statistics(*(a.cpu().numpy() for a in (count, mean, scatter)))


SWEEPS: dict[type[Peer], dict[str, type[Sweep]]] = {
    GPUStats: {"gpustats": GPUStatsSweep},
    NumPy: {"NumPy": NumPySweep},
    JAX: {"JAX, one-hot": JAXSweep, "JAX, segments": JAXSegments},
    PyTorch: {"PyTorch": PyTorchSweep},
}


@dataclass(frozen=True)
class Case:
    """A mixture of k normals of dimension d, and n observations."""

    n: int
    d: int
    k: int
    dtype: str

    @property
    def title(self) -> str:
        return f"N={self.n:.0e} d={self.d} K={self.k} f{self.dtype[-2:]}".replace("e+0", "e")


def problem(case: Case) -> tuple[np.ndarray, Components]:
    """Observations of K overlapping clusters of unequal sizes, and components near them."""
    n, d, k = case.n, case.d, case.k
    rng = np.random.default_rng(13)
    labels = rng.choice(k, n, p=rng.dirichlet(np.ones(k)))
    centers, roots = rng.normal(0, 1.5, (k, d)), np.eye(d) + rng.normal(size=(k, d, d)) / d
    x = rng.normal(size=(n, d))
    for i in range(k):
        own = labels == i
        x[own] = centers[i] + x[own] @ roots[i].T
    x = x.astype(case.dtype)
    return x, host_draws(rng, NumPySweep(NumPy(False), x, k).statistics(labels)).astype(case.dtype)


def z_of_labels(x: np.ndarray, components: Components, labels: np.ndarray) -> float:
    """The largest distance of a label's count from its expectation, in standard errors, where at least one is expected."""
    log_weights, means, factors = components.astype(float)
    responsibilities = special.softmax(log_weights + SciPy.mvnormal(x, means, factors @ factors.swapaxes(1, 2)), axis=1)
    expected, variance = responsibilities.sum(0), (responsibilities * (1 - responsibilities)).sum(0)
    deviations = np.bincount(labels, minlength=len(means)) - expected
    return float(np.max((np.abs(deviations) / np.sqrt(np.maximum(variance, 1e-9)))[variance > 1]))


def difference(found: Statistics, expected: Statistics) -> float:
    if not np.array_equal(found.count, expected.count):
        return float("inf")
    pairs = zip(found[1:], expected[1:], strict=True)
    return max(float(np.abs(f - e).max() / np.abs(e).max()) for f, e in pairs)


def measured(kind: type[Sweep], peer: Peer, x: np.ndarray, start: Components, budget: float) -> Row:
    """Medians of as many sweeps as fit into `budget` seconds, three at least, and their errors."""
    sweep, rng, components, wait = kind(peer, x, len(start.means)), np.random.default_rng(2), start, peer.wait
    labels = sweep.labels(start)
    found, host = sweep.statistics(labels), np.asarray(peer.host(labels)).astype(np.int64)
    row = {
        "z": z_of_labels(x[:CHECKED_OBSERVATIONS], start, host[:CHECKED_OBSERVATIONS]),
        "difference": difference(found, NumPySweep(NumPy(False), x.astype(float), sweep.k).statistics(host)),
    }
    parts: dict[str, list[float]] = {part: [] for part in PARTS}
    while sum(parts["sweep"]) < budget and len(parts["sweep"]) < 200 or len(parts["sweep"]) < 3:
        times = [time.perf_counter()]
        wait(labels := sweep.labels(components))
        times.append(time.perf_counter())
        found = sweep.statistics(labels)
        times.append(time.perf_counter())
        components = host_draws(rng, found).astype(x.dtype)
        times.append(time.perf_counter())
        for part, seconds in zip(parts, (*np.diff(times), times[-1] - times[0]), strict=True):
            parts[part].append(float(seconds))
    return row | {f"{part}_ms": float(1e3 * np.median(seconds)) for part, seconds in parts.items()}


def main(argv: list[str] | None = None) -> int:
    parser = options("gibbs", __doc__)
    parser.add_argument("--n", type=size, help="observations; default: 1e6, on a CPU 1e5")
    parser.add_argument("--dim", type=int, default=15, help="length of an observation (default: 15)")
    parser.add_argument("--components", type=int, default=64, help="default: 64")
    parser.add_argument("--seconds", type=float, help="for each row of the table (default: 2)")
    args = parser.parse_args(argv)
    report = Report(args)
    n = report.default(args.n, gpu=10**6, cpu=10**5, quick=10**4)
    budget = report.default(args.seconds, gpu=2.0, cpu=2.0, quick=0.1)
    peers = report.peers(SWEEPS, cpu_only=[NumPy])
    for case in report.wanted([Case(n, args.dim, args.components, dtype) for dtype in ("float32", "float64")]):
        x, start = problem(case)
        for peer in peers:
            for name, kind in SWEEPS[type(peer)].items():
                row = {"work": case.title, "peer": name, "time": "sweep_ms"}
                report.rows.append(attempt(row, measured, kind, peer, x, start, budget))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
