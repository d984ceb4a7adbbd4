"""`python -m bench.gp`: marginal likelihoods of Gaussian processes, and the model of section 4.2 of Češnovar et al. by NUTS.

Data: x uniform on (-10, 10), y = β (x + x² - x³ + 100 sin 2x - α) with mean 0 and variance 1, and noise of 0.1. The covariance
function is RBF.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import gpustats as gs

from .draws import installed, write
from .glm import Columns, render, with_ratios
from .peers import JAX, GPUStats, Peer, PyTorch, SciPy
from .pymc_models import Row, with_numpyro, with_pymc
from .pymc_models import render as render_models
from .run import COLORS, measure, number, versions

NOTE = """\
One evaluation of the log marginal likelihood and its derivatives in amplitude, lengthscale and noise, x and y in place; median.
rate: of n³ operations, as with an inverse; by automatic differentiation there are more. difference: of value and derivatives
from SciPy's in float64, relative. JAX and PyTorch: a Cholesky factor and triangular solves, differentiated by the library.
"""
POINT = {"amplitude": 1.1, "lengthscale": 2.0, "sigma": 0.3}
GOALS = {2048: 2.2e3, 4096: 6e3, 8192: 22e3}  # in float64 on an NVIDIA H200, in µs
LOG_2PI = math.log(2 * math.pi)


def toy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The data."""
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
    """By hand: LAPACK's inverse, and one matrix for each derivative."""
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
COLUMNS: Columns = {
    "waited / µs": lambda row: number(row["waited_us"]),
    "rate / TFLOP/s": lambda row: f"{row['rate'] / 1e12:.3g}",
    "× ours": lambda row: f"{row['ratio']:.2f}" if "ratio" in row else "",
    "goal / µs": lambda row: f"≤ {row['goal_us']:,.0f}" if row["goal_us"] else "",
    "difference": lambda row: f"{row['difference']:.0e}" if "difference" in row else "",
}


def flat(result: Any, host: Callable = np.asarray) -> np.ndarray:
    """A value and its derivatives as one vector."""
    value, derivatives = result
    return np.array([np.asarray(v if isinstance(v, float) else host(v)).item() for v in (value, *derivatives)])


def rows(n: int, dtype: str, peers: list[Peer], goals: dict[int, float]) -> list[dict]:
    """Of one number of points: one row for each peer; a peer that fails says so in its row."""
    x, y = toy(n)
    reference = flat(with_scipy(None, x, y)()) if n <= 4096 else None
    found = []
    for peer in peers:
        title = f"value + gradient, n={n} f{dtype[-2:]}"
        row: dict = {"work": title, "n": n, "dtype": dtype, "peer": peer.name, "waited": True}
        row["goal_us"] = goals.get(n) if peer.name == GPUStats.name and dtype == "float64" else None
        try:
            call = PEERS[type(peer)](peer, x.astype(dtype), y.astype(dtype))
            result = flat(call(), peer.host)
            if reference is not None:
                row["difference"] = float(np.abs(result / reference - 1).max())
            row["waited_us"], row["enqueued_us"] = (1e6 * t for t in measure(call, peer))
            row["rate"] = n**3 / row["waited_us"] * 1e6
        except Exception as error:  # a peer's failure is a result, too
            row["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            print(f"{title}, {peer.name}: {row['error']}")
        found.append(row)
        call = None
        gc.collect()
    return found


# -- Section 4.2


def model(x: np.ndarray, y: np.ndarray, ours: bool) -> Any:
    """With the priors of Betancourt (2017): the lengthscale between 2 and 10 with a probability of 0.98."""
    import pymc as pm

    import gpustats.pymc as gpm

    with pm.Model() as made:
        rho = pm.InverseGamma("rho", 8.91924, 34.5805)
        alpha, sigma = pm.HalfNormal("alpha", 2), pm.HalfNormal("sigma", 1)
        if ours:
            gpm.GPMarginal("y", gs.rbf, x=x, amplitude=alpha, lengthscale=rho, sigma=sigma, observed=y)
        else:
            process = pm.gp.Marginal(cov_func=alpha**2 * pm.gp.cov.ExpQuad(1, ls=rho))
            process.marginal_likelihood("y", X=x[:, None], y=y, sigma=sigma, jitter=0.0)
    return made


def numpyro_model(x: Any, y: Any) -> Callable[[], None]:
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as d

    def made():
        rho = numpyro.sample("rho", d.InverseGamma(8.91924, 34.5805))
        alpha, sigma = numpyro.sample("alpha", d.HalfNormal(2.0)), numpyro.sample("sigma", d.HalfNormal(1.0))
        K = alpha**2 * jnp.exp((x[:, None] - x) ** 2 * (-0.5 / rho**2)) + sigma**2 * jnp.eye(len(x))
        numpyro.sample("y", d.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=K), obs=y)

    return made


def sampled(sizes: list[int], draws: int, chains: int, plain: int) -> list[Row]:
    """Of each library; PyMC's own process for at most `plain` observations."""
    found = []
    for n in sizes:
        x, y = toy(n)
        title = f"GP regression, n={n:,}"
        found.append(with_pymc(title, model(x, y, True), "gpustats", draws, chains))
        if n <= plain:
            found.append(with_pymc(title, model(x, y, False), "PyMC", draws, chains))
        try:
            import jax
            import numpyro  # noqa: F401
        except ImportError:
            continue
        jax.config.update("jax_enable_x64", True)
        found.append(with_numpyro(title, numpyro_model(jax.numpy.asarray(x), jax.numpy.asarray(y)), draws, chains))
    return found


def chart(found: list[Row], device: str, path: Path) -> None:
    """Seconds of sampling, and how many times as long others take, over n, as figure 7 of the paper has it."""
    import matplotlib
    from matplotlib.figure import Figure

    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
    times = {(row.peer, int(row.work.split("=")[1].replace(",", ""))): row.sampling_s for row in found}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(8.5, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for peer in dict.fromkeys(row.peer for row in found):
            points = sorted((n, t) for (p, n), t in times.items() if p == peer)
            color = COLORS.get("JAX" if peer == "NumPyro" else "SciPy" if peer == "PyMC" else peer)
            left.plot(*zip(*points, strict=True), "o-", label=peer, color=color, markersize=4)
            if peer != GPUStats.name:
                ratios = [(n, t / times[GPUStats.name, n]) for n, t in points]
                right.plot(*zip(*ratios, strict=True), "o-", label=peer, color=color, markersize=4)
        left.set_title("sampling / s")
        left.set_yscale("log")
        left.legend(frameon=False)
        right.set_title("time / gpustats' time")
        right.axhline(1, lw=1, color="#888888")
        right.set_ylim(bottom=0)
        for axes in (left, right):
            axes.set_xlabel("n")
            axes.grid(axis="y", color="#e3e6ea")
        figure.suptitle(device, x=0.01, ha="left", weight="bold")
        figure.savefig(path, dpi=130)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.gp", description=__doc__.splitlines()[0])
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--n", type=int, action="append", help="several times if you like; default: 1024 to 8192 (CPU: 2048)")
    parser.add_argument("--dtype", action="append", choices=("float32", "float64"), help="default: float64")
    parser.add_argument("--peer", action="append", help="several times if you like; default: all installed, some on CPUs only")
    parser.add_argument("--nuts", type=int, action="append", help="n to sample with; default: 256 to 4096 (CPU: 512); 0: none")
    parser.add_argument("--draws", type=int, default=200, help="and as many to tune (default: 200)")
    parser.add_argument("--chains", type=int, default=1)
    parser.add_argument("--plain", type=int, default=1024, help="the most n for PyMC's own process (default: 1024)")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    logging.getLogger("pymc").setLevel(logging.ERROR)
    if args.device:
        gs.use(args.device)
    ours = GPUStats()
    gpu = ours.device.type == "gpu"
    sizes = args.n or [1024 << i for i in range(4 if gpu else 2)]
    to_sample = [256 << i for i in range(5 if gpu else 2)] if args.nuts is None else [n for n in args.nuts if n]
    peers = installed([kind for kind in PEERS if args.peer or not (gpu and kind in (SciPy, ScikitLearn))], gpu, args.peer)
    report: dict = {"device": ours.device.name, "backend": ours.device.backend, "bandwidth": ours.runtime.bandwidth()}
    report |= {"versions": versions(), "rows": []}
    work = [(n, dtype) for dtype in args.dtype or ["float64"] for n in sizes]
    for n, dtype in track(work, "measuring", console=Console(stderr=True)):
        report["rows"] += rows(n, dtype, peers, GOALS if gpu else {})
    with_ratios(report["rows"])
    found = sampled(to_sample, args.draws, args.chains, args.plain)
    report["sampling"] = [vars(row) for row in found]
    text = render(report, COLUMNS, NOTE)
    if found:
        console = Console(width=170, file=io.StringIO())
        console.print(render_models(found, f"NUTS, {args.draws} draws and as many to tune, {args.chains} chains"))
        text += "\n" + "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"
    stem = args.out / f"gp-{ours.device.backend}-{ours.device.type}"
    write(stem, text, report)
    if found:
        chart(found, ours.device.name, stem.with_suffix(".png"))
        print(f"written: {stem}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
