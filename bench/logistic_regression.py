"""`python -m bench.logistic_regression`: NUTS for a logistic regression, end to end, beside NumPyro and plain PyMC.

Data and model are those of Češnovar et al. (section 4.1): of k standard normal variables the first two matter, and priors are
flat. 500 draws after 500 to tune, of one chain and of four.
"""

from __future__ import annotations

import argparse
import gc
import io
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr
from rich.console import Console
from rich.table import Table
from scipy import special

import gpustats as gs
import gpustats.pymc as gpm

from .draws import write
from .peers import JAX, GPUStats
from .run import COLORS, versions

NOTE = """\
sampling: from calling the sampler to the draws, mean of the repetitions. with compilation: and what comes before once: building
the model, moving the data, compiling. gpustats and PyMC are sampled by nutpie. steps: gradients for each draw. ESS / s: of the
bulk, the smallest among the coefficients, for each second of sampling. apart: the largest distance of a posterior mean from
gpustats', in posterior standard deviations; noise of the draws makes that about the root of 2 / ESS.
"""
PEER_COLORS = {"gpustats": COLORS["gpustats"], "NumPyro": COLORS["JAX"], "PyMC": COLORS["SciPy"]}


@dataclass(frozen=True)
class Case:
    """Section 4.1: N observations of k variables, and how it is sampled."""

    n: int
    k: int
    chains: int
    draws: int

    @property
    def title(self) -> str:
        chains = f"{self.chains} chain" + "s" * (self.chains > 1)
        return f"N={self.n:,} k={self.k}, {chains}"

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """X (N, k), y (N,)."""
        rng = np.random.default_rng(17)
        X = rng.normal(size=(self.n, self.k))
        y = rng.random(self.n) < special.expit(3 * X[:, 0] - 2 * X[:, 1] + 1)
        return X, y.astype(int)


@dataclass
class Row:
    work: str
    n: int
    k: int
    chains: int
    peer: str
    compile_s: float | None = None
    sampling_s: float | None = None
    steps: float | None = None
    ess: float | None = None
    means: dict[str, list[float]] = field(default_factory=dict)
    sds: dict[str, list[float]] = field(default_factory=dict)
    apart: float | None = None
    error: str | None = None

    @property
    def total_s(self) -> float | None:
        return None if self.sampling_s is None else self.compile_s + self.sampling_s


@dataclass
class Fit:
    """What a peer returns: seconds, gradients for each draw, the draws as (chain, draw, …)."""

    compile_s: float
    sampling_s: float
    steps: float
    posterior: xr.Dataset


def build(X: np.ndarray, y: np.ndarray, ours: bool) -> pm.Model:
    with pm.Model() as model:
        beta, alpha = pm.Flat("beta", shape=X.shape[1]), pm.Flat("alpha")
        if ours:
            gpm.GLM("y", gs.bernoulli_logit, X=X, beta=beta, alpha=alpha, observed=y)
        else:
            pm.Bernoulli("y", logit_p=alpha + X @ beta, observed=y)
    return model


def with_gpustats(case: Case, X, y, repeats: int) -> Fit:
    return with_nutpie(case, lambda: build(X, y, True), repeats)


def with_pymc(case: Case, X, y, repeats: int) -> Fit:
    return with_nutpie(case, lambda: build(X, y, False), repeats)


def with_nutpie(case: Case, built: Callable[[], pm.Model], repeats: int) -> Fit:
    import nutpie

    options = {"chains": case.chains, "cores": case.chains, "progress_bar": False}

    def compile_model():
        """What the first gradient still compiles and moves counts, too."""
        compiled = nutpie.compile_pymc_model(built())
        nutpie.sample(compiled, draws=case.chains, tune=case.chains, seed=1, **options)
        return compiled

    compiled, compile_s = timed(compile_model)
    fits = [timed(lambda seed=seed: nutpie.sample(compiled, draws=case.draws, tune=case.draws, seed=seed, **options))
            for seed in range(1, repeats + 1)]  # fmt: skip
    fit = fits[0][0]
    posterior = fit.posterior.to_dataset() if hasattr(fit.posterior, "to_dataset") else fit.posterior  # as ArviZ 1 has it
    return Fit(compile_s, float(np.mean([s for _, s in fits])), float(fit.sample_stats["n_steps"].mean()), posterior)


def with_numpyro(case: Case, X, y, repeats: int) -> Fit:
    """Traced and compiled as a whole: `MCMC.run` on its own compiles again each time."""
    import jax
    import numpyro
    from numpyro import distributions as d
    from numpyro.infer import MCMC, NUTS

    def model(X, y):
        beta = numpyro.sample("beta", d.ImproperUniform(d.constraints.real, (), (case.k,)))
        alpha = numpyro.sample("alpha", d.ImproperUniform(d.constraints.real, (), ()))
        numpyro.sample("y", d.BernoulliLogits(X @ beta + alpha), obs=y)

    def run(key, X, y):
        options = {"num_chains": case.chains, "chain_method": "vectorized", "progress_bar": False}
        mcmc = MCMC(NUTS(model), num_warmup=case.draws, num_samples=case.draws, **options)
        mcmc.run(key, X, y, extra_fields=("num_steps",))
        return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["num_steps"]

    def compile_model():
        arguments = [jax.numpy.asarray(a) for a in (X, y)]
        return jax.jit(run).lower(jax.random.PRNGKey(0), *arguments).compile(), arguments

    def sample(seed: int):
        return jax.tree.map(np.asarray, compiled(jax.random.PRNGKey(seed), *arguments))

    (compiled, arguments), compile_s = timed(compile_model)
    fits = [timed(lambda seed=seed: sample(seed)) for seed in range(1, repeats + 1)]
    draws, steps = fits[0][0]
    axes = {"beta": ("chain", "draw", "variable"), "alpha": ("chain", "draw")}
    posterior = xr.Dataset({name: (axes[name], a) for name, a in draws.items()})
    return Fit(compile_s, float(np.mean([s for _, s in fits])), float(steps.mean()), posterior)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


PEERS: dict[str, Callable[..., Fit]] = {"gpustats": with_gpustats, "NumPyro": with_numpyro, "PyMC": with_pymc}


def rows(case: Case, names: list[str], repeats: int) -> list[Row]:
    """One row for each peer; a peer that fails says so in its row."""
    found: list[Row] = []
    X, y = case.data()
    for name in names:
        row = Row(case.title, case.n, case.k, case.chains, name)
        try:
            judge(row, PEERS[name](case, X, y, repeats))
        except Exception as error:  # a peer's failure is a result, too
            row.error = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            print(f"{case.title}, {name}: {row.error}")
        found.append(row)
        if found[0].means and row.means:
            row.apart = max(
                float(np.max(np.abs(np.subtract(row.means[v], found[0].means[v])) / found[0].sds[v])) for v in row.means
            )
        gc.collect()
    return found


def judge(row: Row, fit: Fit) -> None:
    draws = fit.posterior[["beta", "alpha"]]
    row.compile_s, row.sampling_s, row.steps = fit.compile_s, fit.sampling_s, fit.steps
    ess = az.ess(draws)
    row.ess = float(min(ess[name].min() for name in ("beta", "alpha")))
    mean, sd = draws.mean(("chain", "draw")), draws.std(("chain", "draw"))
    row.means, row.sds = ({name: np.atleast_1d(a[name]).tolist() for name in ("beta", "alpha")} for a in (mean, sd))


COLUMNS: dict[str, Callable[[Row], str]] = {
    "compile / s": lambda row: f"{row.compile_s:.3g}",
    "sampling / s": lambda row: f"{row.sampling_s:.3g}",
    "with compilation / s": lambda row: f"{row.total_s:.3g}",
    "steps": lambda row: f"{row.steps:.1f}",
    "ESS / s": lambda row: f"{row.ess / row.sampling_s:,.3g}",
    "β₁, β₂, α": lambda row: ", ".join(f"{m:.3f}" for m in (*row.means["beta"][:2], *row.means["alpha"])),
    "apart": lambda row: "" if row.apart is None or row.peer == GPUStats.name else f"{row.apart:.2f}",
}


def render(found: list[Row], report: dict) -> str:
    """The table as text."""
    table = Table(box=None, pad_edge=False, header_style="")
    for i, column in enumerate(("work", "", *COLUMNS)):
        table.add_column(column, justify="right" if i > 1 else "left", no_wrap=True)
    last = None
    for row in found:
        work = row.work if row.work != last else ""
        if work and last:
            table.add_row()
        last = row.work
        table.add_row(work, row.peer, *(["failed"] if row.error else [say(row) for say in COLUMNS.values()]))
    console = Console(width=150, file=io.StringIO())
    console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    packages = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return "\n".join([f"{report['device']} ({report['backend']})", packages, "", *lines, "", NOTE])


def chart(found: list[Row], device: str, path: Path) -> None:
    """Times with compilation left out, and how often gpustats' others take, over N, as figure 6 of the paper has them."""
    import matplotlib
    from matplotlib.figure import Figure

    fair = [row for row in found if row.sampling_s is not None]
    ours = {row.work: row.sampling_s for row in fair if row.peer == GPUStats.name}
    widths = sorted({row.k for row in found})
    style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(max(2, len(widths)) * 3.6, 6.4), layout="constrained")
        grid = figure.subplots(2, len(widths), sharex=True, sharey="row", squeeze=False)
        for column, k in zip(grid.T, widths, strict=True):
            lines = dict.fromkeys((row.peer, row.chains) for row in fair if row.k == k)
            for peer, chains in lines:
                own = sorted((r for r in fair if (r.k, r.peer, r.chains) == (k, peer, chains)), key=lambda row: row.n)
                look = {"color": PEER_COLORS[peer], "marker": "o", "markersize": 4, "ls": "-" if chains == 1 else "--"}
                label = f"{peer}, {chains} chain" + "s" * (chains > 1)
                column[0].plot([row.n for row in own], [row.sampling_s for row in own], label=label, **look)
                beside = [row for row in own if row.work in ours and peer != GPUStats.name]
                column[1].plot([row.n for row in beside], [row.sampling_s / ours[row.work] for row in beside], **look)
            column[1].axhline(1, color=PEER_COLORS[GPUStats.name], lw=1)
            column[0].set_title(f"k = {k}")
            column[1].set_xlabel("N")
            for axes in column:
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.grid(axis="y", color="#e3e6ea")
        grid[0, 0].set_ylabel("seconds of sampling")
        grid[1, 0].set_ylabel("time / gpustats' time")
        labels = {label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(labels.values(), labels, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle(device, x=0.01, ha="left", weight="bold")
        figure.savefig(path, dpi=130)


def installed(gpu: bool) -> list[str]:
    """The peers that are there; JAX computes where gpustats does."""
    try:
        import numpyro  # noqa: F401

        JAX(gpu)
    except ImportError:
        return [name for name in PEERS if name != "NumPyro"]
    return list(PEERS)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.logistic_regression", description=__doc__.splitlines()[0])
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--n", type=float, action="append", help="several if you like; default: 1e4, 1e5, 1e6 (CPU: 1e3, 1e4)")
    parser.add_argument("--k", type=int, action="append", help="several if you like; default: 10, 50 (CPU: 5, 20)")
    parser.add_argument("--chains", type=int, action="append", help="several if you like; default: 1, 4")
    parser.add_argument("--draws", type=int, default=500, help="and as many to tune (default: 500)")
    parser.add_argument("--repeats", type=int, default=1, help="of each measurement; the paper has 3 (default: 1)")
    parser.add_argument("--plain-up-to", type=float, default=1e6, help="N × k to which plain PyMC is measured (default: 1e6)")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    logging.getLogger("pymc").setLevel(logging.ERROR)
    if args.device:
        gs.use(args.device)
    device = GPUStats().device
    gpu = device.type == "gpu"
    sizes = [int(n) for n in args.n or ([1e4, 1e5, 1e6] if gpu else [1e3, 1e4])]
    grid = product(args.k or ([10, 50] if gpu else [5, 20]), sizes, args.chains or [1, 4])
    names = installed(gpu)
    found: list[Row] = []
    for k, n, chains in grid:
        fast = [name for name in names if name != "PyMC" or n * k <= args.plain_up_to]
        found += rows(Case(n, k, chains, args.draws), fast, args.repeats)
        print(f"{found[-1].work}: " + ", ".join(f"{r.peer} {r.sampling_s or float('nan'):.3g} s" for r in found[-len(fast) :]))
    report = {"device": device.name, "backend": device.backend, "draws": args.draws, "repeats": args.repeats}
    report["versions"] = versions()
    report["rows"] = [vars(row) for row in found]
    stem = args.out / f"logistic-regression-{device.backend}-{device.type}"
    write(stem, render(found, report), report)
    chart(found, device.name, stem.with_suffix(".png"))
    print(f"written: {stem}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
