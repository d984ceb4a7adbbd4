"""`python -m bench.draws`: random draws, beside NumPy and, if installed, JAX, PyTorch and CuPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

import gpustats as gs

from .peers import JAX, CuPy, GPUStats, NumPy, Peer, PyTorch
from .report import RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, cell, options, size

NOTE = TIMES_NOTE + """\
rate: numbers drawn in the time enqueued. |z|: distance of the draws' mean from its expectation, in standard errors.
NumPy draws in float64 where it has no float32. Whole numbers (i64) come in the type that a library prefers.
"""
COLUMNS = TIMES | {"rate / 1e9/s": cell("rate", "{:.3g}", 1e-9)} | RATIO | {"|z|": cell("z", "{:.1f}")}

DISTRIBUTIONS = {  # of the scalar densities: ours as SciPy has it
    "normal": stats.norm,
    "exponential": lambda lam: stats.expon(scale=1 / lam),
    "gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "beta": stats.beta,
    "student_t": stats.t,
    "von_mises": lambda mu, kappa: stats.vonmises(kappa, mu),
    "poisson": stats.poisson,
    "binomial": stats.binom,
}
WORK: list[tuple[str, tuple[float, ...]]] = [
    ("normal", (0.0, 1.0)),
    ("exponential", (1.0,)),
    ("gamma", (2.5, 1.0)),
    ("beta", (2.0, 3.0)),
    ("student_t", (5.0, 0.0, 1.0)),
    ("von_mises", (0.0, 2.0)),
    ("poisson", (4.0,)),
    ("poisson", (100.0,)),
    ("binomial", (1000.0, 0.3)),
]


@dataclass(frozen=True)
class Case:
    """N draws of a scalar density, of categories with a row of weights for each draw, or of vectors.

    Attributes
    ----------
    density : str
        The name of a density of ours, or "categorical".
    n : int
    dtype : {"float32", "float64", "int64"}
    parameters : tuple of float
        Parameters of a scalar density.
    width : int
        Number of categories, or length of a vector; 0 for a number.
    """

    density: str
    n: int
    dtype: str
    parameters: tuple[float, ...] = ()
    width: int = 0

    @property
    def title(self) -> str:
        inside = f"({', '.join(f'{p:g}' for p in self.parameters)})" if self.parameters else f" of {self.width}"
        return f"{self.density}{inside}, N={self.n:.0e} {self.dtype[0]}{self.dtype[-2:]}".replace("e+0", "e")

    def arrays(self) -> list[np.ndarray]:
        """Log-weights (N, width), or the mean (width,) and the lower factor of the covariance (width, width)."""
        rng = np.random.default_rng(12)
        if self.density == "categorical":
            return [rng.normal(size=(self.n, self.width)).astype(self.dtype)]
        factor = np.tril(rng.normal(size=(self.width, self.width)) / self.width, -1) + np.eye(self.width)
        return [rng.normal(size=self.width).astype(self.dtype), factor.astype(self.dtype)]

    def z(self, draws: np.ndarray) -> float:
        """Distance of the mean of all numbers drawn from its expectation, in standard errors."""
        if self.density == "categorical":
            weights, labels = special.softmax(self.arrays()[0].astype(float), axis=1), np.arange(self.width)
            first, second = weights @ labels, weights @ labels**2
            mean, variance = first.mean(), (second - first**2).mean()
        elif self.width:
            center, factor = (a.astype(float) for a in self.arrays())
            mean, variance = center.mean(), (factor.sum(0) ** 2).sum() / self.width**2
        else:
            mean, variance = DISTRIBUTIONS[self.density](*self.parameters).stats("mv")
        return abs(float(np.mean(draws, dtype=float) - mean)) * math.sqrt(self.n / variance)


def cases(n: int) -> list[Case]:
    found: list[Case] = []
    for density, parameters in WORK:
        types = ["int64"] if gs.densities[density].discrete else ["float32", "float64"]
        found += [Case(density, n, dtype, parameters) for dtype in types]
    for density, width in (("categorical", 16), ("mvnormal", 15)):
        found += [Case(density, max(1, n // 10), dtype, width=width) for dtype in ("float32", "float64")]
    return found


# -- Each library as a good user of it draws: (peer, case) -> a function that starts the work.

Bind = Callable[[Peer, Case], Callable[[], object]]


def with_gpustats(peer: Peer, case: Case):
    rng, device = gs.Generator(1), peer.asynchronous
    if case.density == "categorical":
        (log_weights,) = map(peer.put, case.arrays())
        return lambda: gs.sample_discrete(log_weights=log_weights, rng=rng)
    arguments = {"size": case.n, "rng": rng, "dtype": case.dtype, "device": device}
    if case.width:
        mean, factor = case.arrays()
        return lambda: gs.mvnormal.rvs(mean, scale_tril=factor, **arguments)
    return lambda: gs.densities[case.density].rvs(*case.parameters, **arguments)


def with_numpy(peer: Peer, case: Case):
    rng, n, p, dtype = np.random.default_rng(1), case.n, case.parameters, case.dtype
    if case.density == "categorical":
        (log_weights,) = case.arrays()

        def categories():
            sums = np.exp(log_weights - log_weights.max(1, keepdims=True)).cumsum(1)
            return (sums < sums[:, -1:] * rng.random((n, 1), dtype)).sum(1)

        return categories
    if case.width:
        mean, factor = case.arrays()
        return lambda: mean + rng.standard_normal((n, case.width), dtype) @ factor.T
    return {
        "normal": lambda: rng.standard_normal(n, dtype),
        "exponential": lambda: rng.standard_exponential(n, dtype),
        "gamma": lambda: rng.standard_gamma(p[0], n, dtype),
        "beta": lambda: rng.beta(*p, n),
        "student_t": lambda: rng.standard_t(p[0], n),
        "von_mises": lambda: rng.vonmises(*p, n),
        "poisson": lambda: rng.poisson(*p, n),
        "binomial": lambda: rng.binomial(int(p[0]), p[1], n),
    }[case.density]


def with_jax(peer: Peer, case: Case):
    jax, p, dtype = peer.jax, case.parameters, case.dtype
    r, shape = jax.random, (case.n,)
    arrays = [peer.put(a) for a in case.arrays()] if case.width else []
    draw = {
        "normal": lambda key: r.normal(key, shape, dtype),
        "exponential": lambda key: r.exponential(key, shape, dtype),
        "gamma": lambda key: r.gamma(key, p[0], shape, dtype),
        "beta": lambda key: r.beta(key, *p, shape, dtype),
        "student_t": lambda key: r.t(key, p[0], shape, dtype),
        "poisson": lambda key: r.poisson(key, p[0], shape),
        "binomial": lambda key: r.binomial(key, *p, shape, "float32"),
        "categorical": lambda key, log_weights: r.categorical(key, log_weights),
        "mvnormal": lambda key, mean, factor: mean + r.normal(key, (case.n, case.width), dtype) @ factor.T,
    }[case.density]
    start, numbers = r.key(1), iter(range(2**31))
    work = jax.jit(lambda number, *arrays: draw(r.fold_in(start, number), *arrays))
    return lambda: work(next(numbers), *arrays)


def with_torch(peer: Peer, case: Case):
    torch, p, n = peer.torch, case.parameters, case.n
    place = {"dtype": torch.float64 if case.dtype == "float64" else torch.float32, "device": "cuda" if peer.gpu else "cpu"}
    torch.manual_seed(1)
    if case.density == "categorical":
        (log_weights,) = map(peer.put, case.arrays())
        return lambda: torch.multinomial(torch.softmax(log_weights, 1), 1)
    if case.width:
        mean, factor = map(peer.put, case.arrays())
        return lambda: torch.addmm(mean, torch.randn(n, case.width, **place), factor.T)
    d, q = torch.distributions, [torch.tensor(v, **place) for v in p]
    return {
        "normal": lambda: torch.randn(n, **place),
        "exponential": lambda: torch.empty(n, **place).exponential_(),
        "gamma": lambda: d.Gamma(*q, validate_args=False).sample((n,)),
        "beta": lambda: d.Beta(*q, validate_args=False).sample((n,)),
        "student_t": lambda: d.StudentT(*q, validate_args=False).sample((n,)),
        "von_mises": lambda: d.VonMises(*q, validate_args=False).sample((n,)),
        "poisson": lambda: torch.poisson(q[0].expand(n)),
        "binomial": lambda: torch.binomial(q[0].expand(n), q[1].expand(n)),
    }[case.density]


def with_cupy(peer: Peer, case: Case):
    """Call of cuRAND's generator where it has one (`cupy.random`), else of CuPy's (`cupy.random.Generator`)."""
    cupy, p, n, dtype = peer.cupy, case.parameters, case.n, case.dtype
    curand, rng = cupy.random, cupy.random.default_rng(1)
    curand.seed(1)
    if case.density == "categorical":
        (log_weights,) = map(peer.put, case.arrays())
        return lambda: (log_weights + curand.gumbel(size=log_weights.shape, dtype=dtype)).argmax(1)
    if case.width:
        mean, factor = map(peer.put, case.arrays())
        return lambda: mean + curand.standard_normal((n, case.width), dtype) @ factor.T
    return {
        "normal": lambda: curand.standard_normal(n, dtype),
        "exponential": lambda: curand.standard_exponential(n, dtype),
        "gamma": lambda: rng.standard_gamma(p[0], n, dtype),
        "beta": lambda: rng.beta(*p, size=n, dtype=dtype),
        "student_t": lambda: curand.standard_t(p[0], n, dtype),
        "von_mises": lambda: curand.vonmises(*p, n, dtype),
        "poisson": lambda: rng.poisson(p[0], n),
        "binomial": lambda: rng.binomial(int(p[0]), p[1], n),
    }[case.density]


PEERS: dict[type[Peer], Bind] = {
    GPUStats: with_gpustats,
    NumPy: with_numpy,
    JAX: with_jax,
    PyTorch: with_torch,
    CuPy: with_cupy,
}
MISSING = {(JAX, "von_mises")}  # what a library does not draw


def measured(report: Report, case: Case, peer: Peer) -> Row:
    """Times of one library, its rate, and the distance of the mean of its draws from the expectation."""
    call = PEERS[type(peer)](peer, case)
    z = case.z(np.asarray(peer.host(call())))
    times = report.measure(call, peer)
    numbers = case.n * (case.width if case.density == "mvnormal" else 1)
    return times | {"z": z, "rate": numbers / times["enqueued_us"] * 1e6}


def main(argv: list[str] | None = None) -> int:
    parser = options("draws", __doc__)
    parser.add_argument("--n", type=size, help="draws, a tenth of it of categories and vectors; default: 1e7, on a CPU 1e6")
    args = parser.parse_args(argv)
    report = Report(args)
    peers = report.peers(PEERS)
    for case in report.wanted(cases(report.default(args.n, gpu=10**7, cpu=10**6, quick=10**4))):
        for peer in peers:
            if (type(peer), case.density) not in MISSING:
                row = {"work": case.title, "peer": peer.name, "time": "enqueued_us"}
                report.rows.append(attempt(row, measured, report, case, peer))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
