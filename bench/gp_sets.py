"""`python -m bench.gp_sets`: marginal likelihoods of a Gaussian process at K sets of hyperparameters in one call, as of chains.

Points: uniform on the unit cube. The covariance function is Matérn's with ν = 5/2, a lengthscale for each column, and noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg

import gpustats as gs

from .peers import JAX, GPUStats, Peer, PyTorch
from .report import RATIO, Columns, Report, Row, Table, attempt, cell, options, size

NOTE = """\
One call for the K log marginal likelihoods and their derivatives in the K amplitudes, lengthscales and noises, x and y in
place, float64; median. differences: from LAPACK's of each set, relative, of derivatives to the largest in that argument.
JAX: jit(vmap(value_and_grad)) of a Cholesky factor and a triangular solve; one by one: lax.map instead of vmap. PyTorch: the
same in a batch. GPyTorch: an ExactGP with a batch of K; as it comes it takes a Cholesky factor up to n = 800, and beyond that
conjugate gradients and random probes, which find both numbers but nearly; Cholesky: max_cholesky_size set beyond n.
"""
COLUMNS_OF_X = 3
SQRT_5, LOG_2PI = math.sqrt(5), math.log(2 * math.pi)
GPYTORCH_CHOLESKY = 800  # n up to which GPyTorch takes a Cholesky factor by itself


@dataclass(frozen=True)
class Case:
    """Work of one row: K sets of hyperparameters for n points."""

    n: int
    k: int

    @property
    def title(self) -> str:
        return f"value + gradient, n={self.n}, K={self.k}"


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and observations of a smooth function."""
    rng = np.random.default_rng(21)
    x = rng.uniform(size=(n, COLUMNS_OF_X))
    return x, np.sin(9 * x[:, 0]) * np.cos(4 * x[:, 1]) + x[:, 2] + 0.1 * rng.normal(size=n)


def sets(k: int) -> dict[str, np.ndarray]:
    """First k of many sets of hyperparameters."""
    rng = np.random.default_rng(22)
    unit = rng.uniform(size=(k, COLUMNS_OF_X + 2))
    return {"amplitude": 0.8 + 0.8 * unit[:, 0], "lengthscale": 0.3 + 0.7 * unit[:, 1:-1], "sigma": 0.1 + 0.2 * unit[:, -1]}


# -- Each library as a good user of it does the work: (peer, x, y, sets) -> a function that returns values and derivatives.

Bind = Callable[[Peer, np.ndarray, np.ndarray, dict[str, np.ndarray]], Callable[[], Any]]


def with_gpustats(peer: Peer, x, y, point):
    ml = gs.gp.MarginalLikelihood(gs.matern52, peer.put(x), peer.put(y))
    given = {name: a if a.ndim > 1 else a[:, None] for name, a in point.items()}

    def work():
        values, gradient = ml.value_and_grad(**given)
        ml._local.last = None, None  # a sampler never comes back to the same point
        return values, tuple(gradient[name].reshape(a.shape) for name, a in point.items())

    return work


def by_hand(x, y, amplitude, lengthscale, sigma):
    """Value and gradient of one set: LAPACK's inverse, and one matrix for each derivative."""
    squares = ((x[:, None] - x) / lengthscale) ** 2
    r = SQRT_5 * np.sqrt(squares.sum(-1))
    decay = amplitude**2 * np.exp(-r)
    K = (1 + r + r**2 / 3) * decay
    factor = linalg.cholesky(K + sigma**2 * np.eye(len(x)), lower=True)
    alpha = linalg.cho_solve((factor, True), y)
    value = -0.5 * y @ alpha - np.log(np.diag(factor)).sum() - len(x) / 2 * LOG_2PI
    inverse, _ = linalg.lapack.dpotri(factor, lower=True)
    W = 0.5 * (np.outer(alpha, alpha) - np.tril(inverse) - np.tril(inverse, -1).T)
    in_lengthscales = np.einsum("ij,ijd->d", W * (5 / 3) * (1 + r) * decay, squares) / lengthscale
    return value, (2 * (W * K).sum() / amplitude, in_lengthscales, 2 * sigma * np.trace(W))


def _of_one(jax, x, y):
    jnp = jax.numpy

    def loglik(point):
        amplitude, lengthscale, sigma = point
        square = (((x[:, None] - x) / lengthscale) ** 2).sum(-1)
        apart = square > 0  # the root has no derivative at 0
        r = SQRT_5 * jnp.where(apart, jnp.sqrt(jnp.where(apart, square, 1)), 0)
        K = amplitude**2 * (1 + r + r**2 / 3) * jnp.exp(-r) + sigma**2 * jnp.eye(len(x), dtype=x.dtype)
        factor = jnp.linalg.cholesky(K)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - jnp.log(jnp.diagonal(factor)).sum() - len(x) / 2 * LOG_2PI

    return jax.value_and_grad(loglik)


def with_jax(peer: Peer, x, y, point):
    work, given = peer.jax.jit(peer.jax.vmap(_of_one(peer.jax, peer.put(x), peer.put(y)))), tuple(map(peer.put, point.values()))
    return lambda: work(given)


def with_jax_one_by_one(peer: Peer, x, y, point):
    one, given = _of_one(peer.jax, peer.put(x), peer.put(y)), tuple(map(peer.put, point.values()))
    work = peer.jax.jit(lambda given: peer.jax.lax.map(one, given))
    return lambda: work(given)


def with_torch(peer: Peer, x, y, point):
    torch, x, y = peer.torch, peer.put(x), peer.put(y)
    noise = torch.eye(len(x), dtype=x.dtype, device=x.device)
    given = [peer.put(a).requires_grad_() for a in point.values()]

    def work():
        amplitude, lengthscale, sigma = (a[:, None, None] if a.ndim == 1 else a[:, None] for a in given)
        scaled = x / lengthscale
        r = SQRT_5 * torch.cdist(scaled, scaled, compute_mode="donot_use_mm_for_euclid_dist")
        K = amplitude**2 * (1 + r + r**2 / 3) * torch.exp(-r) + sigma**2 * noise
        factor = torch.linalg.cholesky(K)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)[..., 0]
        log_det = torch.log(torch.diagonal(factor, dim1=1, dim2=2)).sum(-1)
        values = -0.5 * (z * z).sum(-1) - log_det - len(x) / 2 * LOG_2PI
        return values.detach(), torch.autograd.grad(values.sum(), given)

    return work


class GPyTorch(PyTorch):
    name = "GPyTorch"

    def __init__(self, gpu):
        import gpytorch

        super().__init__(gpu)
        self.gpytorch = gpytorch


def with_gpytorch(peer: Peer, x, y, point, cholesky: bool = False):
    torch, gpytorch, k, x, y = peer.torch, peer.gpytorch, len(point["sigma"]), peer.put(x), peer.put(y)
    batch = torch.Size([k])
    own = gpytorch.constraints.Positive(transform=None)  # parameters are the numbers themselves

    class Process(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            kernels = gpytorch.kernels
            matern = kernels.MaternKernel(2.5, ard_num_dims=COLUMNS_OF_X, batch_shape=batch, lengthscale_constraint=own)
            self.covariance = kernels.ScaleKernel(matern, batch_shape=batch, outputscale_constraint=own)
            self.mean = gpytorch.means.ZeroMean(batch_shape=batch)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood(batch_shape=batch, noise_constraint=own)
    x, y = x.expand(k, *x.shape), y.expand(k, len(y))
    process = Process(x, y, likelihood).to(x)
    amplitude, lengthscale, sigma = map(peer.put, point.values())
    process.covariance.outputscale, process.covariance.base_kernel.lengthscale = amplitude**2, lengthscale[:, None]
    likelihood.noise = sigma[:, None] ** 2
    given = process.covariance.raw_outputscale, process.covariance.base_kernel.raw_lengthscale, likelihood.raw_noise
    process.train()
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process)

    def work():
        with gpytorch.settings.max_cholesky_size(1_000_000 if cholesky else GPYTORCH_CHOLESKY):
            values = y.shape[1] * marginal(process(x), y)
            a, b, c = torch.autograd.grad(values.sum(), given)
        return values.detach(), (2 * amplitude * a, b[:, 0], 2 * sigma * c[:, 0])

    return work


def with_gpytorch_cholesky(peer: Peer, x, y, point):
    return with_gpytorch(peer, x, y, point, cholesky=True)


PEERS: dict[type[Peer], dict[str, Bind]] = {
    GPUStats: {GPUStats.name: with_gpustats},
    JAX: {JAX.name: with_jax, "JAX, one by one": with_jax_one_by_one},
    PyTorch: {PyTorch.name: with_torch},
    GPyTorch: {GPyTorch.name: with_gpytorch, "GPyTorch, Cholesky": with_gpytorch_cholesky},
}
COLUMNS: Columns = {"waited / µs": cell("waited_us"), "of a set / µs": cell("set_us")} | RATIO
COLUMNS |= {"values differ": cell("value_difference", "{:.0e}"), "derivatives": cell("gradient_difference", "{:.0e}")}


@lru_cache(maxsize=1)
def reference(n: int, k: int) -> tuple[np.ndarray, ...]:
    """Values, and derivatives in each argument, by LAPACK."""
    x, y = data(n)
    found = [by_hand(x, y, *its) for its in zip(*sets(k).values(), strict=True)]
    return np.array([value for value, _ in found]), *(np.array(g) for g in zip(*(g for _, g in found), strict=True))


def measured(report: Report, case: Case, peer: Peer, bind: Bind) -> Row:
    """The times of one library, and its differences from LAPACK."""
    call = bind(peer, *data(case.n), sets(case.k))
    values, gradient = call()
    found, expected = [peer.host(a) for a in (values, *gradient)], reference(case.n, case.k)
    times = report.measure(call, peer)
    differences = [float(np.abs(f - e).max() / np.abs(e).max()) for f, e in zip(found, expected, strict=True)]
    made = times | {"set_us": times["waited_us"] / case.k}
    return made | {"value_difference": differences[0], "gradient_difference": max(differences[1:])}


def main(argv: list[str] | None = None) -> int:
    parser = options("gp_sets", __doc__)
    parser.add_argument("--n", type=size, action="append", help="points, repeatable; default: 512, 1024, 4096 (CPU: to 1024)")
    parser.add_argument("--k", type=int, action="append", help="sets of hyperparameters, repeatable; default: 1, 4, 16")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[512, 1024, 4096], cpu=[512, 1024], quick=[64])
    peers = report.peers(PEERS)
    for case in report.wanted([Case(n, k) for n in sizes for k in args.k or [1, 4, 16]]):
        for peer in peers:
            for name, bind in PEERS[type(peer)].items():
                if bind is with_gpytorch_cholesky and case.n <= GPYTORCH_CHOLESKY:
                    continue  # what it does by itself
                row = {"work": case.title, "n": case.n, "k": case.k, "peer": name, "time": "waited_us"}
                report.rows.append(attempt(row, measured, report, case, peer, bind))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
