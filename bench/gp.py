"""`python -m bench.gp`: marginal likelihoods of Gaussian processes, and the model of section 4.2 of Češnovar et al. by NUTS.

Data: x uniform on (-10, 10), y = β (x + x² - x³ + 100 sin 2x - α) with mean 0 and variance 1, and noise of 0.1. The covariance
function is RBF.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm

import gpustats as gs
import gpustats.pymc as gpm

from . import charts, nuts
from .peers import JAX, GPUStats, Peer, PyTorch, SciPy
from .report import DIFFERENCE, GOAL, RATIO, Columns, Report, Row, Table, attempt, cell, names, options, size

NOTE = """\
One evaluation of the log marginal likelihood and its derivatives in amplitude, lengthscale and noise, x and y in place; median.
rate: of n³ operations, as with an inverse; by automatic differentiation there are more. difference: of value and derivatives
from SciPy's in float64, relative. JAX and PyTorch: a Cholesky factor and triangular solves, differentiated by the library.
"""
POINT = {"amplitude": 1.1, "lengthscale": 2.0, "sigma": 0.3}
GOALS = {2048: 2.2e3, 4096: 6e3, 8192: 22e3}  # in float64 on an NVIDIA H200, in µs
LOG_2PI = math.log(2 * math.pi)


def toy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Toy data, x and y."""
    rng = np.random.default_rng(42)
    x = rng.uniform(-10, 10, n)
    f = x + x**2 - x**3 + 100 * np.sin(2 * x)
    return x, (f - f.mean()) / f.std() + 0.1 * rng.normal(size=n)


# -- Each library as a good user of it does the work: (peer, x, y) -> a function that returns the value, and the derivatives.

Bind = Callable[[Peer, np.ndarray, np.ndarray], Callable[[], Any]]


def with_gpustats(peer: Peer, x, y):
    ml = gs.gp.MarginalLikelihood(gs.rbf, peer.put(x), peer.put(y))

    def work():
        value, gradient = ml.value_and_grad(**POINT)
        ml._local.last = None, None  # a sampler never comes back to the same point
        return value, tuple(gradient[n] for n in POINT)

    return work


def with_scipy(peer: Peer | None, x, y):
    """Call by hand: LAPACK's inverse, and one matrix for each derivative."""
    from scipy import linalg

    def work():
        amplitude, lengthscale, sigma = POINT.values()
        square = (x[:, None] - x) ** 2
        K = amplitude**2 * np.exp(square * (-0.5 / lengthscale**2))
        R = K.copy()
        R.flat[:: len(x) + 1] += sigma**2
        factor = linalg.cholesky(R, lower=True, overwrite_a=True, check_finite=False)
        alpha = linalg.cho_solve((factor, True), y, check_finite=False)
        value = -0.5 * y @ alpha - np.log(np.diag(factor)).sum() - len(x) / 2 * LOG_2PI
        inverse, _ = linalg.lapack.get_lapack_funcs(("potri",), (factor,))[0](factor, lower=True)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        W = 0.5 * (np.outer(alpha, alpha) - inverse)
        WK = W * K
        return value, (2 * WK.sum() / amplitude, (WK * square).sum() / lengthscale**3, 2 * sigma * np.trace(W))

    return work


def with_jax(peer: Peer, x, y):
    jax, x, y = peer.jax, peer.put(x), peer.put(y)
    jnp = jax.numpy

    def loglik(point):
        amplitude, lengthscale, sigma = point
        K = amplitude**2 * jnp.exp((x[:, None] - x) ** 2 * (-0.5 / lengthscale**2)) + sigma**2 * jnp.eye(len(x), dtype=x.dtype)
        factor = jnp.linalg.cholesky(K)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - jnp.log(jnp.diagonal(factor)).sum() - len(x) / 2 * LOG_2PI

    work, point = jax.jit(jax.value_and_grad(loglik)), tuple(POINT.values())
    return lambda: work(point)


def with_torch(peer: Peer, x, y):
    torch, x, y = peer.torch, peer.put(x), peer.put(y)
    noise = torch.eye(len(x), dtype=x.dtype, device=x.device)

    def work():
        point = [torch.tensor(v, dtype=x.dtype, device=x.device, requires_grad=True) for v in POINT.values()]
        amplitude, lengthscale, sigma = point
        K = amplitude**2 * torch.exp((x[:, None] - x) ** 2 * (-0.5 / lengthscale**2)) + sigma**2 * noise
        factor = torch.linalg.cholesky(K)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        value = -0.5 * (z * z).sum() - torch.log(torch.diagonal(factor)).sum() - len(x) / 2 * LOG_2PI
        return value.detach(), torch.autograd.grad(value, point)

    return work


class ScikitLearn(Peer):
    name = "scikit-learn"
    asynchronous = False

    def __init__(self, gpu):
        import sklearn.gaussian_process  # noqa: F401


def with_sklearn(peer: Peer, x, y):
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    amplitude, lengthscale, sigma = POINT.values()
    kernel = kernels.ConstantKernel(amplitude**2) * kernels.RBF(lengthscale) + kernels.WhiteKernel(sigma**2)
    process = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x[:, None], y)

    def work():
        value, (a, b, c) = process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True, clone_kernel=False)
        return value, (2 * a / amplitude, b / lengthscale, 2 * c / sigma)  # in the logarithms of squares

    return work


PEERS: dict[type[Peer], Bind] = {
    GPUStats: with_gpustats, SciPy: with_scipy, JAX: with_jax, PyTorch: with_torch, ScikitLearn: with_sklearn
}  # fmt: skip
COLUMNS: Columns = {"waited / µs": cell("waited_us"), "rate / TFLOP/s": cell("rate", "{:.3g}", 1e-12)}
COLUMNS |= RATIO | GOAL | DIFFERENCE


@dataclass(frozen=True)
class Evaluation:
    """Value and gradient of one marginal likelihood."""

    n: int
    dtype: str

    @property
    def title(self) -> str:
        return f"value + gradient, n={self.n} f{self.dtype[-2:]}"


def flat(result: Any, host: Callable = np.asarray) -> np.ndarray:
    """Vector of a value and its derivatives."""
    value, derivatives = result
    return np.array([np.asarray(v if isinstance(v, float) else host(v)).item() for v in (value, *derivatives)])


@lru_cache(maxsize=1)
def reference(n: int) -> np.ndarray | None:
    """Value and derivatives by SciPy, where they do not take too long."""
    return flat(with_scipy(None, *toy(n))()) if n <= 4096 else None


def measured(report: Report, case: Evaluation, peer: Peer) -> Row:
    """The times of one library, its rate, and its difference from SciPy."""
    call = PEERS[type(peer)](peer, *(a.astype(case.dtype) for a in toy(case.n)))
    result, expected = flat(call(), peer.host), reference(case.n)
    times = report.measure(call, peer)
    made = times | {"rate": case.n**3 / times["waited_us"] * 1e6}
    return made if expected is None else made | {"difference": float(np.abs(result / expected - 1).max())}


def row(case: Evaluation, peer: Peer, goals: dict[int, float]) -> Row:
    """Row of one library before it is measured."""
    goal = goals.get(case.n) if isinstance(peer, GPUStats) and case.dtype == "float64" else None
    made = {"work": case.title, "n": case.n, "dtype": case.dtype}
    return made | {"peer": peer.name, "time": "waited_us", "goal_us": goal}


# -- Section 4.2


@dataclass(frozen=True)
class Sampling:
    """The model of section 4.2 by NUTS."""

    n: int

    @property
    def title(self) -> str:
        return f"GP regression, n={self.n:,}"


def model(x: np.ndarray, y: np.ndarray, ours: bool) -> pm.Model:
    """Model with the priors of Betancourt (2017): the lengthscale between 2 and 10 with a probability of 0.98."""
    with pm.Model() as made:
        rho = pm.InverseGamma("rho", 8.91924, 34.5805)
        alpha, sigma = pm.HalfNormal("alpha", 2), pm.HalfNormal("sigma", 1)
        if ours:
            gpm.GPMarginal("y", gs.rbf, x=x, amplitude=alpha, lengthscale=rho, sigma=sigma, observed=y)
        else:
            process = pm.gp.Marginal(cov_func=alpha**2 * pm.gp.cov.ExpQuad(1, ls=rho))
            process.marginal_likelihood("y", X=x[:, None], y=y, sigma=sigma, jitter=0.0)
    return made


def numpyro_model(x: Any, y: Any) -> None:
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as d

    rho = numpyro.sample("rho", d.InverseGamma(8.91924, 34.5805))
    alpha, sigma = numpyro.sample("alpha", d.HalfNormal(2.0)), numpyro.sample("sigma", d.HalfNormal(1.0))
    K = alpha**2 * jnp.exp((x[:, None] - x) ** 2 * (-0.5 / rho**2)) + sigma**2 * jnp.eye(len(x))
    numpyro.sample("y", d.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=K), obs=y)


def chart(report: dict[str, Any], path: Path) -> None:
    """Chart of seconds of sampling, and of the others' times over ours, over n, as figure 7 of the paper has it."""
    seconds = charts.Panel("sampling / s", "n")
    ratios = charts.Panel("time / gpustats' time", "n", ratio=True, log=False)
    for row in report["sampling"]:
        if "sampling_s" in row:
            seconds.add(row["peer"], row["n"], row["sampling_s"])
        if "ratio" in row and row["peer"] != GPUStats.name:
            ratios.add(row["peer"], row["n"], row["ratio"])
    charts.lines(path, names(report["devices"]), [[seconds, ratios]])


def main(argv: list[str] | None = None) -> int:
    parser = options("gp", __doc__)
    parser.add_argument("--n", type=size, action="append", help="points, repeatable; default: 1024 to 8192 (CPU: 2048)")
    parser.add_argument("--dtype", action="append", choices=("float32", "float64"), help="repeatable; default: float64")
    sampling = "points of the model that is sampled, repeatable; default: 256 to 4096 (CPU: 512); 0: no sampling"
    parser.add_argument("--nuts", type=size, action="append", help=sampling)
    parser.add_argument("--draws", type=int, help="and as many to tune (default: 200)")
    parser.add_argument("--chains", type=int, default=1, help="default: 1")
    parser.add_argument("--plain-up-to", type=size, default=1024, help="the most n for PyMC's own process (default: 1024)")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[1024 << i for i in range(4)], cpu=[1024, 2048], quick=[128])
    to_sample = report.default(args.nuts, gpu=[256 << i for i in range(5)], cpu=[256, 512], quick=[64])
    draws = report.default(args.draws, gpu=200, cpu=200, quick=20)
    peers, samplers = report.peers(PEERS, cpu_only=[SciPy, ScikitLearn]), report.peers(nuts.PEERS)
    sampled: list[Row] = []
    evaluations = [Evaluation(n, dtype) for dtype in args.dtype or ["float64"] for n in sizes]
    for case in report.wanted([*evaluations, *(Sampling(n) for n in to_sample if n)]):
        if isinstance(case, Evaluation):
            goals = GOALS if report.gpu else {}
            report.rows += [attempt(row(case, peer, goals), measured, report, case, peer) for peer in peers]
            continue
        problem, work = nuts.Model(toy(case.n), model, numpyro_model), {"work": case.title, "n": case.n}
        fast = [peer for peer in samplers if peer.name != "PyMC" or case.n <= args.plain_up_to]
        sampled += [nuts.sampled(report, work, problem, peer, draws, args.chains) for peer in fast]
    tables = [Table(report.rows, COLUMNS, NOTE), Table(sampled, nuts.COLUMNS | RATIO | nuts.MEANS, nuts.NOTE, "sampling")]
    return report.write(*tables, chart=chart if sampled else None)


if __name__ == "__main__":
    raise SystemExit(main())
