"""`python -m bench.pymc_models`: PyMC models with their likelihood on a device, beside plain PyMC and NumPyro, if installed.

Time per gradient of the log-posterior, and end to end: effective samples per second of NUTS, compilation left out and counted
on its own.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr
from rich.console import Console
from rich.table import Table

import gpustats as gs
import gpustats.pymc as gpm


@dataclass(frozen=True)
class Model:
    """A model in three languages.

    Attributes
    ----------
    data : callable
        (rng, n) -> what the builders take.
    build : callable
        (data, ours) -> a PyMC model: with our likelihood, or with PyMC's.
    numpyro : callable
        data -> a NumPyro model, a function without arguments.
    """

    data: Callable
    build: Callable
    numpyro: Callable


def student_t(data, ours):
    with pm.Model() as model:
        nu, mu, sigma = pm.Gamma("nu", 2, 0.1), pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
        (gpm if ours else pm).StudentT("y", nu=nu, mu=mu, sigma=sigma, observed=data)
    return model


def student_t_numpyro(data):
    import numpyro
    from numpyro import distributions as d

    def model():
        nu, mu = numpyro.sample("nu", d.Gamma(2.0, 0.1)), numpyro.sample("mu", d.Normal(0, 10))
        sigma = numpyro.sample("sigma", d.HalfNormal(5))
        numpyro.sample("y", d.StudentT(nu, mu, sigma), obs=data)

    return model


def counts(data, ours):
    with pm.Model() as model:
        mu, alpha = pm.HalfNormal("mu", 10), pm.HalfNormal("alpha", 10)
        (gpm if ours else pm).NegativeBinomial("y", mu=mu, alpha=alpha, observed=data)
    return model


def counts_numpyro(data):
    import numpyro
    from numpyro import distributions as d

    def model():
        mu, alpha = numpyro.sample("mu", d.HalfNormal(10)), numpyro.sample("alpha", d.HalfNormal(10))
        numpyro.sample("y", d.NegativeBinomial2(mu, alpha), obs=data)

    return model


def regression(data, ours):
    x, y = data
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10)
        nu, sigma = pm.Gamma("nu", 2, 0.1), pm.HalfNormal("sigma", 5)
        if ours:
            gpm.GLM("y", gs.student_t, X=x[:, None], beta=b[None], alpha=a, eta="mu", nu=nu, sigma=sigma, observed=y)
        else:
            pm.StudentT("y", nu=nu, mu=a + b * x, sigma=sigma, observed=y)
    return model


def regression_numpyro(data):
    import numpyro
    from numpyro import distributions as d

    x, y = data

    def model():
        a, b = numpyro.sample("a", d.Normal(0, 10)), numpyro.sample("b", d.Normal(0, 10))
        nu, sigma = numpyro.sample("nu", d.Gamma(2.0, 0.1)), numpyro.sample("sigma", d.HalfNormal(5))
        numpyro.sample("y", d.StudentT(nu, a + b * x, sigma), obs=y)

    return model


def _line(rng, n):
    x = rng.normal(size=n)
    return x, 1 + 2 * x + rng.standard_t(4, n)


MODELS = {
    "Student t": Model(lambda rng, n: 1 + 2 * rng.standard_t(4, n), student_t, student_t_numpyro),
    "negative binomial": Model(lambda rng, n: rng.negative_binomial(2, 0.4, n), counts, counts_numpyro),
    "Student t regression": Model(_line, regression, regression_numpyro),
}


@dataclass
class Row:
    work: str
    peer: str
    gradient_us: float | None = None
    compile_s: float | None = None
    sampling_s: float | None = None
    ess_per_s: float | None = None
    means: dict[str, float] = field(default_factory=dict)


def seconds(call: Callable[[], object], budget: float = 1.0) -> float:
    """Of one call: the median of as many as fit into `budget` seconds."""
    call()
    times: list[float] = []
    while sum(times) < budget and len(times) < 1000:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def judged(row: Row, posterior, sampling: float) -> Row:
    """With the smallest effective sample size of the bulk among the parameters."""
    if hasattr(posterior, "to_dataset"):  # a group of a DataTree, as ArviZ 1 has it
        posterior = posterior.to_dataset()
    names = [n for n in posterior.data_vars if not n.endswith("__")]
    ess = az.ess(posterior[names])
    row.sampling_s = sampling
    row.ess_per_s = float(min(ess[n] for n in names)) / sampling
    row.means = {n: float(posterior[n].mean()) for n in names}
    return row


def with_pymc(title: str, model: pm.Model, peer: str, draws: int, chains: int) -> Row:
    """Sampled by nutpie, PyMC's default."""
    import nutpie

    function = model.logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(model.initial_point())
    row = Row(title, peer, 1e6 * seconds(lambda: function(point)))
    if draws:
        start = time.perf_counter()
        compiled = nutpie.compile_pymc_model(model)
        row.compile_s = time.perf_counter() - start
        start = time.perf_counter()
        fit = nutpie.sample(compiled, draws=draws, tune=draws, chains=chains, cores=chains, seed=1, progress_bar=False)
        judged(row, fit.posterior, time.perf_counter() - start)
    return row


def with_numpyro(title: str, model: Callable, draws: int, chains: int) -> Row:
    import jax
    from numpyro.infer import MCMC, NUTS
    from numpyro.infer.util import initialize_model

    start = time.perf_counter()
    info = initialize_model(jax.random.PRNGKey(0), model)
    gradient = jax.jit(jax.value_and_grad(info.potential_fn))
    point = info.param_info.z
    row = Row(title, "NumPyro", 1e6 * seconds(lambda: jax.block_until_ready(gradient(point))))
    if draws:

        def run(key):
            options = {"num_chains": chains, "chain_method": "vectorized", "progress_bar": False}
            mcmc = MCMC(NUTS(model), num_warmup=draws, num_samples=draws, **options)
            mcmc.run(key)
            return mcmc.get_samples(group_by_chain=True)

        start = time.perf_counter()
        compiled = jax.jit(run).lower(jax.random.PRNGKey(0)).compile()  # `MCMC.run` on its own compiles again each time
        row.compile_s = time.perf_counter() - start
        start = time.perf_counter()
        drawn = jax.tree.map(np.asarray, compiled(jax.random.PRNGKey(1)))
        judged(row, xr.Dataset({k: (("chain", "draw"), v) for k, v in drawn.items()}), time.perf_counter() - start)
    return row


def measured(names: list[str], sizes: list[int], draws: int, chains: int, plain: bool) -> list[Row]:
    rows = []
    for name in names:
        for n in sizes:
            model, title = MODELS[name], f"{name}, N={n:,}"
            data = model.data(np.random.default_rng(1), n)
            rows.append(with_pymc(title, model.build(data, True), "gpustats", draws, chains))
            if plain:
                rows.append(with_pymc(title, model.build(data, False), "PyMC", draws, chains))
            try:
                import jax
                import numpyro  # noqa: F401

                jax.config.update("jax_enable_x64", True)
                rows.append(with_numpyro(title, model.numpyro(jax.tree.map(jax.numpy.asarray, data)), draws, chains))
            except ImportError:
                pass
    return rows


def render(rows: list[Row], device: str) -> Table:
    table = Table(title=device, title_justify="left", box=None, pad_edge=False)
    for column in ("model", "", "gradient / µs", "compile / s", "sampling / s", "ESS / s", "posterior means"):
        table.add_column(column, justify="left" if column in ("model", "", "posterior means") else "right", no_wrap=True)
    last = None
    for row in rows:
        numbers = (row.gradient_us, row.compile_s, row.sampling_s, row.ess_per_s)
        means = ", ".join(f"{n} {v:.4g}" for n, v in row.means.items())
        table.add_row(
            "" if row.work == last else row.work, row.peer, *("" if v is None else f"{v:,.4g}" for v in numbers), means
        )
        last = row.work
    return table


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.pymc_models", description=__doc__)
    parser.add_argument("--device", help='such as "cuda:0", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--model", action="append", choices=MODELS, help="may be given several times; default: all")
    parser.add_argument("--n", type=int, action="append", help="observations, several times if you like; default: 1e4, 1e6")
    parser.add_argument("--draws", type=int, default=500, help="and as many to tune; 0: gradients only (default: 500)")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--no-plain", action="store_true", help="leave plain PyMC out, which takes long")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    logging.getLogger("pymc").setLevel(logging.ERROR)
    if args.device:
        gs.use(args.device)
    device = gs.Likelihood(gs.normal, np.zeros(1)).device
    rows = measured(args.model or list(MODELS), args.n or [10**4, 10**6], args.draws, args.chains, not args.no_plain)
    console = Console(width=170, record=True)
    console.print(render(rows, str(device)))
    args.out.mkdir(parents=True, exist_ok=True)
    stem = args.out / f"pymc-models-{device.backend}-{device.type}"
    stem.with_suffix(".txt").write_text(console.export_text())
    stem.with_suffix(".json").write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n")
    print(f"written: {stem}.txt, .json")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
