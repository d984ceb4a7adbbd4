"""`python -m bench.chains`: samplers of many chains that move in step, and of four, wholly in programs of JAX.

ChEES, MEADS and MCLMC of blackjax and NUTS of NumPyro sample each model with the log-posterior of `gpustats.pymc.batched(...)`,
whose sums are calls of XLA's to kernels of gpustats, and with one that is written in JAX alone (`bench.in_jax`). nutpie's NUTS
with four threads, on the model in `gpm.fused()`, stands beside them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import arviz as az
import numpy as np
import xarray as xr

import gpustats.pymc as gpm

from . import nuts
from .logistic_regression import apart
from .peers import GPUStats
from .report import Columns, Report, Row, Table, attempt, cell, options, timed
from .samplers import CASES, Case, data_of, in_both

NOTE = """\
Chains begin at draws of the independent normal variables that are nearest to the posterior; the samplers' scales are theirs.
compile: with JAX's compilers; adapt: the sampler's own tuning, with its compilation (nutpie: a part of sampling). step:
microseconds of a gradient at all chains with all that the sampler does around it. ESS: of the bulk, the fewest among the
parameters, of which at most 100 of each variable are read; ESS / s: of the sampling alone. settled: draws of a chain from which
on R-hat is below 1.01 for all of them, of 20, 50, 100, 200, 500 and 1,000. apart: the largest distance of a posterior mean from
that of the first sampler, in posterior standard deviations.
"""
COLUMNS: Columns = {
    "chains": cell("chains", "{:d}"), "draws": cell("draws", "{:d}"), "compile / s": cell("compile_s"),
    "adapt / s": cell("adapt_s"), "sampling / s": cell("sampling_s"), "step / µs": cell("step_us"),
    "ESS": cell("ess", "{:,.0f}"), "ESS / s": cell("ess_per_s", "{:,.0f}"), "settled": cell("settled", "{:.0f}"),
    "apart": cell("apart", "{:.2f}"),
}  # fmt: skip
MOST_READ = 100  # numbers of a variable


class Sampled(NamedTuple):
    """Draws of some chains, and the seconds that they took."""

    draws: np.ndarray  # of the numbers of a point that are read, (chains, draws, numbers)
    steps: float  # gradients, each at all chains
    compile_s: float
    adapt_s: float
    sampling_s: float


Run = Callable[[Callable[[Any], Any], np.ndarray, np.ndarray, int], Sampled]


def timed_program(program: Callable[..., Any], *args: Any) -> tuple[Any, float, float]:
    """Result of a program of JAX's, the seconds of its compilation, and those of its second run."""
    import jax

    compiled, compile_s = timed(lambda: jax.jit(program).lower(*args).compile())
    jax.block_until_ready(compiled(*args))
    found, seconds = timed(lambda: jax.block_until_ready(compiled(*args)))
    return found, compile_s, seconds


def scanned(step: Callable[..., Any], chains: int, read: np.ndarray, steps_of: Callable[[Any], Any]) -> Callable[..., Any]:
    """Program of some draws: the numbers that are read, and how many gradients the draws took."""
    import jax

    def program(states: Any, keys: Any) -> Any:
        def one(states: Any, key: Any) -> Any:
            states, info = step(jax.random.split(key, chains), states)
            return states, (states.position[:, read], steps_of(info))

        return jax.lax.scan(one, states, keys)[1]

    return program


def _nothing(*given: Any) -> None:
    return None


def with_chees(log_posterior: Callable[[Any], Any], points: np.ndarray, read: np.ndarray, draws: int) -> Sampled:
    import blackjax
    import jax
    import optax

    warmup = blackjax.chees_adaptation(log_posterior, len(points), adaptation_info_fn=_nothing)  # else it keeps all states
    ((states, tuned), _), adapt_s = timed(
        lambda: jax.block_until_ready(warmup.run(jax.random.key(1), points, 0.1, optax.adam(0.05), 300))
    )
    step = jax.vmap(blackjax.dynamic_hmc(log_posterior, **tuned).step)
    program = scanned(step, len(points), read, lambda info: info.num_integration_steps.max())
    (z, steps), compile_s, seconds = timed_program(program, states, jax.random.split(jax.random.key(2), draws))
    return Sampled(np.asarray(z).swapaxes(0, 1), float(steps.sum()), compile_s, adapt_s, seconds)


def with_meads(log_posterior: Callable[[Any], Any], points: np.ndarray, read: np.ndarray, draws: int) -> Sampled:
    import blackjax
    import jax

    warmup = blackjax.meads_adaptation(log_posterior, len(points), adaptation_info_fn=_nothing)
    ((states, tuned), _), adapt_s = timed(lambda: jax.block_until_ready(warmup.run(jax.random.key(1), points, 400)))
    step = jax.vmap(blackjax.ghmc(log_posterior, **tuned).step)
    program = scanned(step, len(points), read, lambda info: 1)
    (z, steps), compile_s, seconds = timed_program(program, states, jax.random.split(jax.random.key(2), draws))
    return Sampled(np.asarray(z).swapaxes(0, 1), float(steps.sum()), compile_s, adapt_s, seconds)


def with_mclmc(log_posterior: Callable[[Any], Any], points: np.ndarray, read: np.ndarray, draws: int) -> Sampled:
    """One chain tunes the step and the length for all; the sampler is not adjusted, so that its means are a little off."""
    import blackjax
    import jax

    @jax.jit
    def adapt(point: Any) -> Any:
        first = blackjax.mclmc.init(point, log_posterior, jax.random.key(1))
        kernel = blackjax.mclmc.build_kernel()
        return blackjax.mclmc_find_L_and_step_size(kernel, 1000, first, jax.random.key(3), log_posterior)[1]

    tuned, adapt_s = timed(lambda: jax.block_until_ready(adapt(points[0])))
    own = {"L": tuned.L, "step_size": tuned.step_size, "inverse_mass_matrix": tuned.inverse_mass_matrix}
    sampler = blackjax.mclmc(log_posterior, **own)
    states = jax.vmap(sampler.init)(points, jax.random.split(jax.random.key(4), len(points)))
    program = scanned(jax.vmap(sampler.step), len(points), read, lambda info: 2)  # its integrator takes two gradients a step
    keys = jax.random.split(jax.random.key(2), 100 + draws)
    (z, steps), compile_s, seconds = timed_program(program, states, keys)
    return Sampled(np.asarray(z)[100:].swapaxes(0, 1), float(steps.sum()), compile_s, adapt_s, seconds)


def with_nuts(log_posterior: Callable[[Any], Any], points: np.ndarray, read: np.ndarray, draws: int) -> Sampled:
    """NUTS of NumPyro, vectorised: a step of all chains takes as long as that of the chain with the longest tree."""
    import jax
    from numpyro.infer import MCMC, NUTS

    def sampler(warm: int, kept: int) -> MCMC:
        own = {"num_chains": len(points), "chain_method": "vectorized", "progress_bar": False}
        return MCMC(NUTS(potential_fn=lambda z: -log_posterior(z)), num_warmup=warm, num_samples=kept, **own)

    tuning = sampler(300, 1)
    _, adapt_s = timed(lambda: jax.block_until_ready(
        tuning.run(jax.random.PRNGKey(1), init_params=np.asarray(points)) or tuning.last_state.z
    ))  # fmt: skip

    def program(state: Any) -> Any:
        kept = sampler(0, draws)
        kept.post_warmup_state = state
        kept.run(state.rng_key, extra_fields=("num_steps",), init_params=state.z)
        return kept.get_samples(group_by_chain=True)[..., read], kept.get_extra_fields(group_by_chain=True)["num_steps"]

    (z, steps), compile_s, seconds = timed_program(program, tuning.last_state)
    return Sampled(np.asarray(z), float(np.asarray(steps).max(0).sum()), compile_s, adapt_s, seconds)


RUNS: dict[str, tuple[str, Run]] = {
    "chees": ("ChEES", with_chees), "meads": ("MEADS", with_meads), "mclmc": ("MCLMC", with_mclmc),
    "nuts": ("NumPyro's NUTS", with_nuts),
}  # fmt: skip


@dataclass
class Posterior:
    """Posterior of a case, with points of its region and the numbers of a point that are read."""

    case: Case
    data: tuple[np.ndarray, ...]

    def __post_init__(self) -> None:
        self.model = self.case.built(*self.data)
        with gpm.fused():
            self.many = gpm.batched(self.model)
        self.read = np.concatenate([np.arange(its.start, its.stop)[:MOST_READ] for its, _ in self.many.points.places.values()])

    def of(self, likelihood: str) -> Callable[[Any], Any]:
        """Log-posterior of a point, by the likelihood of gpustats or of JAX."""
        return self.many.as_jax() if likelihood == "gpustats" else self.case.jax(*self.data)

    @functools.cached_property
    def nearby(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations of independent normal variables that are nearest to the posterior.

        A mode would not do: that of a model with groups lies where these do not differ, far from its draws.
        Source: Kucukelbir et al. (2017), Automatic differentiation variational inference.
        """
        import jax
        import jax.numpy as jnp
        import optax

        own, size, steps = jax.vmap(self.of("gpustats")), self.many.points.size, 1500
        rule = optax.chain(optax.zero_nans(), optax.adam(optax.cosine_decay_schedule(0.05, steps)))

        def negative(normal: Any, key: Any) -> Any:
            mean, log_sd = normal
            return -(own(mean + jnp.exp(log_sd) * jax.random.normal(key, (16, size))).mean() + log_sd.sum())

        def moved(carried: Any, key: Any) -> Any:
            normal, state = carried
            change, state = rule.update(jax.grad(negative)(normal, key), state)
            return (optax.apply_updates(normal, change), state), None

        first = jnp.asarray(self.many.points.start), jnp.full(size, -2.0)
        keys = jax.random.split(jax.random.key(0), steps)
        (mean, log_sd), _ = jax.jit(lambda: jax.lax.scan(moved, (first, rule.init(first)), keys)[0])()
        return np.asarray(mean), np.exp(np.asarray(log_sd))

    def sampled(self, likelihood: str, name: str, chains: int, draws: int) -> Row:
        import jax.numpy as jnp

        centre, scale = (jnp.asarray(a) for a in self.nearby)
        own = self.of(likelihood)
        start = np.random.default_rng(2).normal(size=(chains, self.many.points.size))
        found = RUNS[name][1](lambda z: own(centre + scale * z), start, self.read, draws)
        draws_of = np.asarray(self.nearby[0])[self.read] + np.asarray(self.nearby[1])[self.read] * found.draws
        return judged(draws_of, found)

    def by_nutpie(self, draws: int) -> Row:
        """Draws of nutpie, as the same numbers of a point."""
        with gpm.fused():
            sampled = nuts.with_nutpie(in_both(self.case, self.data), GPUStats(False), nuts.Sizes(draws, draws, 4))
        parts = []
        for rv in self.model.free_RVs:
            values, transform = sampled.posterior[str(rv.name)].to_numpy(), self.model.rvs_to_transforms[rv]
            if transform is not None:
                values = transform.forward(values, *rv.owner.inputs).eval()
            parts.append(values.reshape(*values.shape[:2], -1)[..., :MOST_READ])
        drawn = np.concatenate(parts, axis=2)
        return judged(drawn, Sampled(drawn, 2 * draws * sampled.steps, sampled.compile_s, sampled.adapt_s, sampled.sampling_s))


def judged(drawn: np.ndarray, found: Sampled) -> Row:
    dataset = xr.Dataset({"point": (("chain", "draw", "number"), drawn)})
    row = nuts.judged(nuts.Sampled(found.compile_s, found.adapt_s, found.sampling_s, found.steps, dataset))
    times = {"step_us": found.sampling_s / found.steps * 1e6, "draws": drawn.shape[1]}
    settled = (n for n in (20, 50, 100, 200, 500, 1000) if n <= drawn.shape[1] and _rhat(drawn[:, :n]) < 1.01)
    return row | times | {"ess": row["ess_per_s"] * found.sampling_s, "settled": next(settled, float("nan"))}


def _rhat(drawn: np.ndarray) -> float:
    """The largest R-hat, (chains, draws, numbers)."""
    return float(az.rhat(xr.Dataset({"point": (("chain", "draw", "number"), drawn)}))["point"].max())


def main(argv: list[str] | None = None) -> int:
    parser = options("chains", __doc__)
    parser.add_argument("--sampler", action="append", choices=["nutpie", *RUNS], help="repeatable; default: all")
    parser.add_argument("--likelihood", action="append", choices=["gpustats", "JAX"], help="repeatable; default: both")
    parser.add_argument("--chains", action="append", type=int, help="repeatable; default: 4, 64, 256, 1,024, on a CPU 4, 64")
    parser.add_argument("--draws", type=int, help="of each chain (default: 50,000 by the chains, from 100 to 1,000)")
    args = parser.parse_args(argv)
    import jax

    jax.config.update("jax_enable_x64", True)
    report = Report(args)
    numbers = args.chains or report.default(None, gpu=(4, 64, 256, 1024), cpu=(4, 64), quick=(4,))
    samplers: Sequence[str] = args.sampler or ["nutpie", *RUNS]
    for case in report.wanted(CASES):
        n = report.default(None, gpu=case.n, cpu=case.n // 10, quick=1000)
        posterior = Posterior(case, data_of(case.name, n))
        first: Row = {}
        work = {"work": f"{case.name} N={n:,}", "n": n, "time": "step_us"}
        if "nutpie" in samplers:
            row = work | {"peer": "nutpie, gpustats", "chains": 4}
            first = attempt(row, posterior.by_nutpie, args.draws or report.default(None, gpu=500, cpu=500, quick=50))
            report.keep(apart(first, first), COLUMNS, NOTE)
        for chains in numbers:
            draws = args.draws or report.default(None, gpu=min(max(50000 // chains, 100), 1000), cpu=200, quick=20)
            for name in (s for s in RUNS if s in samplers):
                for likelihood in args.likelihood or ["gpustats", "JAX"]:
                    row = work | {"peer": f"{RUNS[name][0]}, {likelihood}", "chains": chains}
                    row = attempt(row, posterior.sampled, likelihood, name, chains, draws)
                    first = first if "means" in first else row
                    report.keep(apart(row, first), COLUMNS, NOTE)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
