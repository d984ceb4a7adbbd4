"""`python -m bench.leapfrogs`: cost of a step of a trajectory: a gradient of the log-posterior and all that is done around it.

nutpie runs its chains side by side, as threads; a program of JAX moves all chains in step, by `Batched.as_jax`, without a
sampler's decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pymc as pm

import gpustats as gs
import gpustats.pymc as gpm

from .report import Columns, Report, Row, Table, attempt, cell, options, size, timed

NOTE = """\
step: seconds of sampling, by the steps of a chain. steps / s: of all chains. Python: evaluations through it, which take its
lock.
"""
COLUMNS: Columns = {
    "chains": cell("chains", "{:d}"), "step / µs": cell("step_us"), "steps / s": cell("steps_per_s", "{:,.0f}"),
    "steps": cell("steps", "{:,d}"), "Python": cell("through_python", "{:d}"),
}  # fmt: skip


def student_t(n: int) -> pm.Model:
    x = np.random.default_rng(1).standard_t(4, n) * 2 + 1
    with pm.Model() as model:
        gpm.StudentT("y", pm.Gamma("nu", 2, 0.1), pm.Normal("mu", 0, 10), sigma=pm.HalfNormal("sigma", 5), observed=x)
    return model


def glm(n: int) -> pm.Model:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 20))
    y = (rng.random(n) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1]))).astype(int)
    with pm.Model() as model:
        gpm.GLM("y", gs.bernoulli_logit, X=X, beta=pm.Normal("beta", shape=20), alpha=pm.Normal("alpha"), observed=y)
    return model


def priors(n: int) -> pm.Model:
    """Model of priors alone, for the cost of a step without a likelihood."""
    with pm.Model() as model:
        pm.Gamma("nu", 2, 0.1), pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
    return model


MOST_THREADS = 16  # of chains side by side
MODELS = {"Student t": student_t, "GLM, k=20": glm}
PRIORS_ALONE = {"priors alone": priors}


@dataclass(frozen=True)
class Case:
    """A model of N observations."""

    name: str
    n: int

    @property
    def title(self) -> str:
        return f"{self.name} N={self.n:,}" if self.n else self.name


class _Counted:
    """Number of calls from compiled code to Python, from now on."""

    def __init__(self) -> None:
        from gpustats.compiler.graph.numba_link import Bridge

        self.calls, evaluate = 0, Bridge._evaluate

        def counted(bridge: Any, layout: int, out: int) -> int:
            self.calls += 1
            return evaluate(bridge, layout, out)

        Bridge._evaluate = counted  # type: ignore[method-assign]


def measured(work: Row, case: Case, draws: int) -> Row:
    """Row of a model that some chains sample."""
    return attempt(work, WAYS[work["peer"]], case, work["chains"], draws)


def in_step(case: Case, chains: int, draws: int) -> Row:
    """Trajectories of all chains by a program of JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    many = gpm.batched((MODELS | PRIORS_ALONE)[case.name](case.n))
    gradient = jax.vmap(jax.grad(many.as_jax()))

    def step(state: Any, _: None) -> tuple[Any, None]:
        position, velocity = state
        velocity = velocity + 5e-5 * gradient(position)
        position = position + 1e-4 * velocity
        return (position, velocity + 5e-5 * gradient(position)), None

    program = jax.jit(lambda state: jax.lax.scan(step, state, length=draws)[0])
    points = many.points.start + 0.01 * np.random.default_rng(1).normal(size=(chains, many.points.size))
    state = jnp.asarray(points), jnp.zeros_like(points)
    jax.block_until_ready(program(state))
    counted = _Counted()
    steps, seconds = 2 * draws, min(timed(lambda: jax.block_until_ready(program(state)))[1] for _ in range(3))
    return {
        "step_us": seconds / steps * 1e6, "steps_per_s": chains * steps / seconds, "steps": chains * steps,
        "through_python": counted.calls,
    }  # fmt: skip


def sampled(case: Case, chains: int, draws: int) -> Row:
    import nutpie

    counted = _Counted()
    compiled = nutpie.compile_pymc_model((MODELS | PRIORS_ALONE)[case.name](case.n))

    def sample(n_chains: int, n_draws: int) -> Any:
        options = {"chains": n_chains, "cores": n_chains, "progress_bar": False, "save_warmup": True}
        return timed(lambda: nutpie.sample(compiled, draws=n_draws, tune=n_draws, seed=1, **options))

    sample(1, 20)  # what compiles
    before = counted.calls
    fit, seconds = sample(chains, draws)
    steps = sum(int(np.asarray(s["n_steps"]).sum()) for s in (fit.sample_stats, fit.warmup_sample_stats))
    return {
        "step_us": seconds / steps * chains * 1e6, "steps_per_s": steps / seconds, "steps": steps,
        "through_python": counted.calls - before,
    }  # fmt: skip


WAYS = {"nutpie, in threads": sampled, "JAX, in step": in_step}


def main(argv: list[str] | None = None) -> int:
    parser = options("leapfrogs", __doc__)
    parser.add_argument("--n", type=size, action="append", help="observations, repeatable; default: 1e3 to 1e6 (CPU: 1e3, 1e4)")
    parser.add_argument("--chains", type=int, action="append", help="repeatable; default: 1, 4, 16, in step also 256, 1,024")
    parser.add_argument("--way", action="append", choices=[*WAYS], help="repeatable; default: both")
    parser.add_argument("--draws", type=int, help="and as many to tune (default: 2000, CPU: 1000)")
    parser.add_argument("--limit", type=float, help="seconds, with the start of its process, that a row may take; default: any")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[10**3, 10**4, 10**5, 10**6], cpu=[10**3, 10**4], quick=[10**3])
    chains = report.default(args.chains, gpu=[1, 4, 16, 256, 1024], cpu=[1, 2, 64], quick=[1])
    draws = report.default(args.draws, gpu=2000, cpu=1000, quick=20)
    cases = [Case(name, 0) for name in PRIORS_ALONE] + [Case(name, n) for name, n in product(MODELS, sizes)]
    for case in report.wanted(cases):
        for number, way in product(chains, args.way or WAYS):
            if number > MOST_THREADS and WAYS[way] is sampled and not args.chains:
                continue
            row = {"work": case.title, "n": case.n, "peer": way, "time": "step_us", "chains": number}
            report.keep(row | report.alone(args.limit, measured, row, case, draws), COLUMNS, NOTE)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
