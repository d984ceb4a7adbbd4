"""Sampling of a model with NUTS by gpustats, plain PyMC and NumPyro: timed, and judged by effective sample sizes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import pymc as pm
import xarray as xr

import gpustats.pymc as gpm

from . import jax_groups
from .peers import JAX, GPUStats, Peer
from .report import Columns, Report, Row, attempt, cell, number, timed

NOTE = """\
gradient: of the log-posterior. compile: building the model, moving the data, compiling, up to the first draws; adapt: tuning,
of nutpie a run with hardly a draw; sampling: adaptation and draws; steps: gradients for a draw that is kept. gpustats and
PyMC are sampled by nutpie. NumPyro: in float64, by the fastest way for sums by group, which the last column names
(bench/jax_groups.py tells them); "plain": by `table[index]`, as its users write it; "float32": its default. gpustats in
NumPyro: NumPyro's NUTS on the log-posterior of `gpm.batched`. ESS / s: effective samples of the bulk, the fewest among the
parameters, for each second of sampling.
"""
COLUMNS: Columns = {
    "gradient / µs": cell("gradient_us"),
    "steps": cell("steps", "{:.1f}"),
    "compile / s": cell("compile_s"),
    "adapt / s": cell("adapt_s"),
    "sampling / s": cell("sampling_s"),
    "with compilation / s": lambda row: number(row["compile_s"] + row["sampling_s"]) if "sampling_s" in row else "",
    "ESS / s": cell("ess_per_s"),
}
WAY: Columns = {"way": lambda row: row.get("way") or ""}
MEANS: Columns = {
    "posterior means": lambda row: ", ".join(f"{name} {mean:.4g}" for name, (mean, *_) in sorted(row.get("means", {}).items()))
}

logging.getLogger("pymc").setLevel(logging.ERROR)


class PyMC(Peer):
    """Peer for plain PyMC, on the CPU."""

    name = "PyMC"
    asynchronous = False


class NumPyro(JAX):
    """Peer for NumPyro in float64, with groups in the fastest way."""

    name = "NumPyro"

    def __init__(self, gpu: bool):
        super().__init__(gpu)
        import numpyro  # noqa: F401

    def ways(self, model: Model) -> tuple[str, ...]:
        """Ways of sums by group, of which the fastest is taken; none where they make no difference."""
        indices = [model.data[i] for i in model.indices]
        return (*jax_groups.ways(indices), jax_groups.PLAIN) if indices else ("",)

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def data(self, model: Model, way: str) -> tuple[Any, ...]:
        """Data on the device, with indices for a way of sums by group."""
        named = {str(i): a for i, a in enumerate(model.data)}
        arranged = jax_groups.arranged(named, [str(i) for i in model.indices], way)
        return tuple(self.jax.tree.map(self.put, value) for value in arranged.values())


class PlainNumPyro(NumPyro):
    """Peer for NumPyro as its users write groups."""

    name = "NumPyro, plain"

    def ways(self, model: Model) -> tuple[str, ...]:
        return (jax_groups.PLAIN,) if model.indices else ()


class SingleNumPyro(NumPyro):
    """Peer for NumPyro in float32, its default."""

    name = "NumPyro, float32"

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        context: contextlib.AbstractContextManager[Any] = self.jax.enable_x64(False)
        return context


class InNumPyro(NumPyro):
    """Peer for the log-posterior of gpustats under NumPyro's sampler."""

    name = "gpustats in NumPyro"

    def ways(self, model: Model) -> tuple[str, ...]:
        return ("",)


PEERS: list[type[Peer]] = [GPUStats, PyMC, NumPyro]
#: Peers that tell what comes of the sampler, of the precision, and of how groups are written.
ALL_PEERS = [*PEERS, SingleNumPyro, PlainNumPyro, InNumPyro]


def suiting(peers: Sequence[Peer], model: Model) -> list[Peer]:
    """Peers that differ from others for a model."""
    return [peer for peer in peers if not isinstance(peer, NumPyro) or peer.ways(model)]


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
    indices : tuple of int
        Places among the data of those that are indices, which the NumPyro model gives to `jax_groups.taken`.
    """

    data: tuple[np.ndarray, ...]
    pymc: Callable[..., pm.Model]
    numpyro: Callable[..., None]
    unmodified: bool = False
    indices: tuple[int, ...] = ()

    def built(self, peer: Peer) -> pm.Model:
        return self.pymc(*self.data, ours=isinstance(peer, GPUStats))


class Sizes(NamedTuple):
    """Sizes of a sample: draws to tune, draws that are kept, chains, and repeats of the measurement."""

    tune: int
    draws: int
    chains: int
    repeats: int = 1


def sampled(
    report: Report, work: Row, model: Model, peer: Peer, draws: int, chains: int, repeats: int = 1, tune: int | None = None
) -> Row:
    """Row of the table: `work` with the gradient's time, and `draws` draws after `tune`, or as many; 0: the gradient alone."""
    sizes = Sizes(draws if tune is None else tune, draws, chains, repeats)

    def measured() -> Row:
        row: Row = {}
        if draws:
            row |= judged(with_nutpie(model, peer, sizes))
        call = gradient(model, peer)
        call()
        return row | {"gradient_us": report.measure(call, peer)["waited_us"]}

    def measured_in_jax(peer: NumPyro) -> Row:
        with peer.precision():
            way, time = fastest(model, peer, lambda call: report.measure(call, peer)["waited_us"])
            row: Row = {"way": way, "gradient_us": time}
            return row | (judged(with_numpyro(model, peer, sizes, way)) if draws else {})

    time = "sampling_s" if draws else "gradient_us"
    ours = isinstance(peer, (GPUStats, InNumPyro))
    with gpm.fused(model.unmodified and ours):
        row = work | {"peer": peer.name, "chains": chains, "time": time}
        return attempt(row, measured_in_jax, peer) if isinstance(peer, NumPyro) else attempt(row, measured)


def fastest(model: Model, peer: NumPyro, measured: Callable[[Callable[[], Any]], float]) -> tuple[str, float]:
    """Way of sums by group whose gradient takes the least time, and that time."""
    found: dict[str, float] = {}
    for way in peer.ways(model):
        call = gradient(model, peer, way)
        call()
        found[way] = measured(call)
    best = min(found, key=lambda way: found[way])
    return best, found[best]


def gradient(model: Model, peer: Peer, way: str = "") -> Callable[[], Any]:
    """Function that computes the log-posterior with its gradient at the point where sampling starts."""
    if isinstance(peer, InNumPyro):
        jax, posterior = peer.jax, gpm.batched(model.built(peer))
        one, start = jax.jit(jax.value_and_grad(posterior.as_jax())), peer.put(posterior.points.start)
        return lambda: one(start)
    if isinstance(peer, NumPyro):
        from numpyro.infer.util import initialize_model

        jax, data = peer.jax, peer.data(model, way)
        info = initialize_model(jax.random.PRNGKey(0), model.numpyro, model_args=data, dynamic_args=True)
        work = jax.jit(lambda point, *data: jax.value_and_grad(info.potential_fn(*data))(point))
        return lambda: work(info.param_info.z, *data)
    built = model.built(peer)
    function = built.logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    point = pm.blocking.DictToArrayBijection.map(built.initial_point())
    return lambda: function(point)


class Sampled(NamedTuple):
    """Draws of a sampler, and what they took."""

    compile_s: float
    adapt_s: float
    sampling_s: float  # with adaptation
    steps: float  # gradients for each draw that is kept
    posterior: xr.Dataset


def with_nutpie(model: Model, peer: Peer, sizes: Sizes) -> Sampled:
    import nutpie

    tune, draws, chains, repeats = sizes
    options = {"chains": chains, "cores": chains, "progress_bar": False}

    def compile_model():
        """Compiled model, after a few draws, so that all compilations and copies of the first gradient count, too."""
        compiled = nutpie.compile_pymc_model(model.built(peer))
        nutpie.sample(compiled, draws=chains, tune=chains, seed=1, **options)
        return compiled

    compiled, compile_s = timed(compile_model)
    _, adapt_s = timed(lambda: nutpie.sample(compiled, draws=chains, tune=tune, seed=1, **options))
    fits = [timed(lambda seed=seed: nutpie.sample(compiled, draws=draws, tune=tune, seed=seed, **options))
            for seed in range(1, repeats + 1)]  # fmt: skip
    fit = fits[0][0]
    posterior = fit.posterior.to_dataset() if hasattr(fit.posterior, "to_dataset") else fit.posterior  # as ArviZ 1 has it
    steps = float(fit.sample_stats["n_steps"].mean())
    return Sampled(compile_s, adapt_s, float(np.mean([s for _, s in fits])), steps, posterior)


def with_numpyro(model: Model, peer: NumPyro, sizes: Sizes, way: str = "") -> Sampled:
    """Samples by NumPyro, adaptation and draws compiled as two programs: `MCMC.run` on its own compiles again each time."""
    from numpyro.infer import MCMC, NUTS

    jax, (tune, draws, chains, repeats) = peer.jax, sizes
    ours = gpm.batched(model.built(peer)) if isinstance(peer, InNumPyro) else None
    log_posterior = None if ours is None else ours.as_jax()

    def sampler() -> MCMC:
        options = {"num_chains": chains, "chain_method": "vectorized", "progress_bar": False}
        kernel = NUTS(model.numpyro) if ours is None else NUTS(potential_fn=lambda z: -log_posterior(z))
        return MCMC(kernel, num_warmup=tune, num_samples=draws, **options)

    start = None if ours is None else np.resize(ours.points.start, (chains, ours.points.size)[chains == 1 :])

    def adapt(key: Any, *data: Any) -> Any:
        mcmc = sampler()
        mcmc.warmup(key, *data, init_params=start)
        return mcmc.post_warmup_state

    def keep(state: Any, *data: Any) -> Any:
        mcmc = sampler()
        mcmc.post_warmup_state = state
        mcmc.run(state.rng_key if chains == 1 else state.rng_key[0], *data, extra_fields=("num_steps",), init_params=start)
        return mcmc.get_samples(group_by_chain=True), mcmc.get_extra_fields()["num_steps"]

    def compile_model() -> Any:
        data = () if ours is not None else peer.data(model, way)
        first = jax.jit(adapt).lower(jax.random.PRNGKey(0), *data).compile()
        return first, jax.jit(keep).lower(jax.eval_shape(adapt, jax.random.PRNGKey(0), *data), *data).compile(), data

    def sample(seed: int) -> Any:
        state, adapt_s = timed(lambda: jax.block_until_ready(first(jax.random.PRNGKey(seed), *data)))
        found, draws_s = timed(lambda: jax.tree.map(np.asarray, second(state, *data)))
        return *found, adapt_s, adapt_s + draws_s

    (first, second, data), compile_s = timed(compile_model)
    fits = [sample(seed) for seed in range(1, repeats + 1)]
    found, steps, _, _ = fits[0]
    found = found if ours is None else _named(ours.model, ours.points.places, found)
    posterior = xr.Dataset(
        {name: (("chain", "draw", *(f"{name}_{i}" for i in range(a.ndim - 2))), a) for name, a in found.items()}
    )
    adapt_s, sampling_s = (float(np.mean([fit[i] for fit in fits])) for i in (2, 3))
    return Sampled(compile_s, adapt_s, sampling_s, float(steps.mean()), posterior)


def _named(model: pm.Model, places: Any, draws: np.ndarray) -> dict[str, np.ndarray]:
    """Draws of points, (chains, draws, size), as those of a model's variables."""
    found = {}
    for rv in model.free_RVs:
        its, shape = places[model.rvs_to_values[rv].name]
        values, transform = draws[..., its].reshape(*draws.shape[:2], *shape), model.rvs_to_transforms[rv]
        found[str(rv.name)] = values if transform is None else transform.backward(values, *rv.owner.inputs).eval()
    return found


def judged(sampled: Sampled) -> Row:
    """Times, effective samples, and the posterior's means and standard deviations by parameter."""
    posterior = sampled.posterior
    posterior = posterior[[name for name in posterior.data_vars if not name.endswith("__")]]
    ess = float(min(values.min() for values in az.ess(posterior).data_vars.values()))
    means, sds = (
        {name: np.atleast_1d(values).tolist() for name, values in moment.data_vars.items()}
        for moment in (posterior.mean(("chain", "draw")), posterior.std(("chain", "draw")))
    )
    row = {name: value for name, value in sampled._asdict().items() if name != "posterior"}
    return row | {"ess_per_s": ess / sampled.sampling_s, "means": means, "sds": sds}
