"""Sampling of a model with NUTS by gpustats, plain PyMC and NumPyro: timed, and judged by effective sample sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr

import gpustats.pymc as gpm

from .peers import JAX, GPUStats, Peer
from .report import Columns, Report, Row, attempt, cell, number, timed

NOTE = """\
gradient: of the log-posterior. compile: building the model, moving the data, compiling, up to the first draws; sampling: what
comes after. gpustats and PyMC are sampled by nutpie. ESS / s: effective samples of the bulk, the fewest among the parameters,
for each second of sampling.
"""
COLUMNS: Columns = {
    "gradient / µs": cell("gradient_us"),
    "compile / s": cell("compile_s"),
    "sampling / s": cell("sampling_s"),
    "with compilation / s": lambda row: number(row["compile_s"] + row["sampling_s"]) if "sampling_s" in row else "",
    "steps": cell("steps", "{:.1f}"),
    "ESS / s": cell("ess_per_s"),
}
MEANS: Columns = {
    "posterior means": lambda row: ", ".join(f"{name} {mean:.4g}" for name, (mean, *_) in sorted(row.get("means", {}).items()))
}

logging.getLogger("pymc").setLevel(logging.ERROR)


class PyMC(Peer):
    """Peer for plain PyMC, on the CPU."""

    name = "PyMC"
    asynchronous = False


class NumPyro(JAX):
    name = "NumPyro"

    def __init__(self, gpu: bool):
        super().__init__(gpu)
        import numpyro  # noqa: F401


PEERS: list[type[Peer]] = [GPUStats, PyMC, NumPyro]


@dataclass(frozen=True)
class Model:
    """Model in two languages.

    Attributes
    ----------
    data : tuple of ndarray
    pymc : callable
        (*data, ours) -> a PyMC model: with our likelihood, or with PyMC's.
    numpyro : callable
        The NumPyro model, a function of the data.
    unmodified : bool
        Whether gpustats takes PyMC's model as it is, and fuses its sums.
    """

    data: tuple[np.ndarray, ...]
    pymc: Callable[..., pm.Model]
    numpyro: Callable[..., None]
    unmodified: bool = False

    def built(self, peer: Peer) -> pm.Model:
        return self.pymc(*self.data, ours=isinstance(peer, GPUStats))


def sampled(report: Report, work: Row, model: Model, peer: Peer, draws: int, chains: int, repeats: int = 1) -> Row:
    """Row of the table: `work` with the gradient's time, and `draws` draws after as many to tune; 0: the gradient alone."""

    def measured() -> Row:
        row: Row = {}
        if draws:
            sample = with_numpyro if isinstance(peer, NumPyro) else with_nutpie
            row |= judged(*sample(model, peer, draws, chains, repeats))
        call = gradient(model, peer)
        call()
        return row | {"gradient_us": report.measure(call, peer)["waited_us"]}

    time = "sampling_s" if draws else "gradient_us"
    with gpm.fused(model.unmodified and isinstance(peer, GPUStats)):
        return attempt(work | {"peer": peer.name, "chains": chains, "time": time}, measured)


def gradient(model: Model, peer: Peer) -> Callable[[], Any]:
    """Function that computes the log-posterior with its gradient at the point where sampling starts."""
    if isinstance(peer, NumPyro):
        from numpyro.infer.util import initialize_model

        jax, data = peer.jax, tuple(map(peer.put, model.data))
        info = initialize_model(jax.random.PRNGKey(0), model.numpyro, model_args=data, dynamic_args=True)
        work = jax.jit(lambda point, *data: jax.value_and_grad(info.potential_fn(*data))(point))
        return lambda: work(info.param_info.z, *data)
    built = model.built(peer)
    function = built.logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(built.initial_point())
    return lambda: function(point)


Sampled = tuple[float, float, float, xr.Dataset]  # seconds to compile, seconds to sample, gradients for each draw, the draws


def with_nutpie(model: Model, peer: Peer, draws: int, chains: int, repeats: int) -> Sampled:
    import nutpie

    options = {"chains": chains, "cores": chains, "progress_bar": False}

    def compile_model():
        """Compiled model, after a few draws, so that all compilations and copies of the first gradient count, too."""
        compiled = nutpie.compile_pymc_model(model.built(peer))
        nutpie.sample(compiled, draws=chains, tune=chains, seed=1, **options)
        return compiled

    compiled, compile_s = timed(compile_model)
    fits = [timed(lambda seed=seed: nutpie.sample(compiled, draws=draws, tune=draws, seed=seed, **options))
            for seed in range(1, repeats + 1)]  # fmt: skip
    fit = fits[0][0]
    posterior = fit.posterior.to_dataset() if hasattr(fit.posterior, "to_dataset") else fit.posterior  # as ArviZ 1 has it
    return compile_s, float(np.mean([s for _, s in fits])), float(fit.sample_stats["n_steps"].mean()), posterior


def with_numpyro(model: Model, peer: NumPyro, draws: int, chains: int, repeats: int) -> Sampled:
    """Samples by NumPyro, traced and compiled as a whole: `MCMC.run` on its own compiles again each time."""
    from numpyro.infer import MCMC, NUTS

    jax = peer.jax

    def run(key, *data):
        options = {"num_chains": chains, "chain_method": "vectorized", "progress_bar": False}
        mcmc = MCMC(NUTS(model.numpyro), num_warmup=draws, num_samples=draws, **options)
        mcmc.run(key, *data, extra_fields=("num_steps",))
        return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["num_steps"]

    def compile_model():
        data = tuple(map(peer.put, model.data))
        return jax.jit(run).lower(jax.random.PRNGKey(0), *data).compile(), data

    def sample(seed: int):
        return jax.tree.map(np.asarray, compiled(jax.random.PRNGKey(seed), *data))

    (compiled, data), compile_s = timed(compile_model)
    fits = [timed(lambda seed=seed: sample(seed)) for seed in range(1, repeats + 1)]
    found, steps = fits[0][0]
    posterior = xr.Dataset(
        {name: (("chain", "draw", *(f"{name}_{i}" for i in range(a.ndim - 2))), a) for name, a in found.items()}
    )
    return compile_s, float(np.mean([s for _, s in fits])), float(steps.mean()), posterior


def judged(compile_s: float, sampling_s: float, steps: float, posterior: xr.Dataset) -> Row:
    """Times, effective samples, and the posterior's means and standard deviations by parameter."""
    posterior = posterior[[name for name in posterior.data_vars if not name.endswith("__")]]
    ess = float(min(values.min() for values in az.ess(posterior).data_vars.values()))
    means, sds = (
        {name: np.atleast_1d(values).tolist() for name, values in moment.data_vars.items()}
        for moment in (posterior.mean(("chain", "draw")), posterior.std(("chain", "draw")))
    )
    row = {"compile_s": compile_s, "sampling_s": sampling_s, "steps": steps, "ess_per_s": ess / sampling_s}
    return row | {"means": means, "sds": sds}
