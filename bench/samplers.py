"""`python -m bench.samplers`: several samplers on the same posteriors, and the worth of a second of each.

nutpie runs four chains of NUTS, as threads; ChEES of blackjax 256 chains that move in step; PyMC's sequential Monte Carlo moves
2,000 particles at once. They take PyMC's models as they are, and gpustats evaluates these. NumPyro runs four chains of NUTS.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pymc as pm
import xarray as xr
from pymc.distributions.transforms import ordered
from scipy import special

import gpustats.pymc as gpm
from gpustats.runtime import choose

from . import nuts
from .logistic_regression import apart
from .peers import GPUStats
from .report import Columns, Report, Row, Table, attempt, cell, options, timed

NOTE = """\
compile: up to the first draws. JAX's compilation of ChEES, and all of SMC's, which compile as they go, is in sampling. ESS: of
the bulk, the fewest among the parameters; of SMC, how many different particles there are. apart: the largest distance of a
posterior mean from that of the first sampler, in posterior standard deviations.
"""
COLUMNS: Columns = {
    "compile / s": cell("compile_s"), "sampling / s": cell("sampling_s"), "ESS": cell("ess", "{:,.0f}"),
    "ESS / s": cell("ess_per_s", "{:,.1f}"), "apart": cell("apart", "{:.2f}"),
}  # fmt: skip


def logistic(y, X):
    pm.Bernoulli("y", logit_p=pm.Normal("alpha") + X @ pm.Normal("beta", shape=X.shape[1]), observed=y)


def logistic_in_numpyro(y, X):
    import numpyro
    from numpyro import distributions as d

    beta, alpha = numpyro.sample("beta", d.Normal(0, 1).expand(X.shape[1:])), numpyro.sample("alpha", d.Normal(0, 1))
    numpyro.sample("y", d.BernoulliLogits(alpha + X @ beta), obs=y)


def hierarchical(y, x, group):
    mean, spread = pm.Normal("mean", 0, 2), pm.HalfNormal("spread")
    a = pm.Normal("a", mean, spread, shape=GROUPS)
    pm.Normal("y", a[group] + pm.Normal("slope") * x, pm.HalfNormal("sigma"), observed=y)


def hierarchical_in_numpyro(y, x, group):
    import numpyro
    from numpyro import distributions as d

    mean, spread = numpyro.sample("mean", d.Normal(0, 2)), numpyro.sample("spread", d.HalfNormal(1))
    a, slope = numpyro.sample("a", d.Normal(mean, spread).expand([GROUPS])), numpyro.sample("slope", d.Normal(0, 1))
    sigma = numpyro.sample("sigma", d.HalfNormal(1))
    numpyro.sample("y", d.Normal(a[group] + slope * x, sigma), obs=y)


def mixture(y):
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", 0, 5, shape=3, transform=ordered, initval=[-2.0, 0.5, 3.0])
    pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", 2, shape=3), observed=y)


def mixture_in_numpyro(y):
    import jax.numpy as jnp
    import numpyro
    from jax.scipy.special import logsumexp
    from numpyro import distributions as d

    w = numpyro.sample("w", d.Dirichlet(jnp.ones(3)))
    in_order = d.TransformedDistribution(d.Normal(0, 5).expand([3]), d.transforms.OrderedTransform())
    mu, sigma = numpyro.sample("mu", in_order), numpyro.sample("sigma", d.HalfNormal(2).expand([3]))
    numpyro.factor("y", logsumexp(jnp.log(w) + d.Normal(mu, sigma).log_prob(y[:, None]), axis=-1).sum())


GROUPS = 40


def data_of(name: str, n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(23)
    if name == "logistic":
        X = rng.normal(size=(n, 50))
        return (rng.random(n) < special.expit(X @ rng.normal(0, 0.3, 50) - 0.5)).astype(int), X
    if name == "hierarchical":
        x, group = rng.normal(size=n), rng.integers(0, GROUPS, n)
        return 1 + 0.7 * rng.normal(size=GROUPS)[group] + 0.5 * x + rng.normal(size=n), x, group
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return (rng.normal(np.array([-2.0, 0.5, 3.0])[which], np.array([0.5, 1.0, 0.7])[which]),)


@dataclass(frozen=True)
class Case:
    """Model, as PyMC has it and as NumPyro does, and its number of observations."""

    name: str
    n: int
    pymc: Callable[..., None]
    numpyro: Callable[..., None]

    @property
    def title(self) -> str:
        return f"{self.name} N={self.n:,}"

    def built(self, *data: np.ndarray) -> pm.Model:
        with pm.Model() as model:
            self.pymc(*data)
        return model


CASES = [
    Case("logistic", 10**4, logistic, logistic_in_numpyro),
    Case("hierarchical", 10**5, hierarchical, hierarchical_in_numpyro),
    Case("mixture", 10**5, mixture, mixture_in_numpyro),
]


def near_the_mode(many: gpm.Batched, number: int) -> np.ndarray:
    """Points around the largest log-posterior, at the scales of its curvature's diagonal."""
    from scipy.optimize import minimize

    def negative(x):
        value, slope = many.logp_dlogp(x[None])
        return -value[0], -slope[0]

    best = minimize(negative, many.points.start, jac=True, method="L-BFGS-B").x
    step = 1e-4 * np.eye(len(best))
    curvature = -np.diag(many.logp_dlogp(best + step)[1] - many.logp_dlogp(best - step)[1]) / 2e-4
    scale = 1 / np.sqrt(np.maximum(curvature, 1e-6))
    return best + scale * np.random.default_rng(1).normal(size=(number, len(best)))


@dataclass(frozen=True)
class Sizes:
    """Sizes of the samples: draws of NUTS, chains of ChEES, particles of SMC."""

    draws: int
    chains: int
    particles: int


def with_chees(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    model = case.built(*data)

    def compile_model() -> gpm.Batched:
        many = gpm.batched(model)
        many.logp_dlogp(np.tile(many.points.start, (sizes.chains, 1)))
        return many

    many, compile_s = timed(compile_model)
    posterior, sampling_s = timed(lambda: chees(many, sizes.chains, sizes.draws // 5))
    return compile_s, sampling_s, float("nan"), posterior


def chees(many: gpm.Batched, chains: int, draws: int) -> xr.Dataset:
    import blackjax
    import jax
    import optax

    jax.config.update("jax_enable_x64", True)
    points = near_the_mode(many, chains)
    log_posterior = many.as_jax()
    scale = points.std(0)  # the chains move in its units

    def scaled(z):
        return log_posterior(points[0] + scale * z)

    warmup = blackjax.chees_adaptation(scaled, chains)
    start = (points - points[0]) / scale
    (states, tuned), _ = warmup.run(jax.random.key(1), start, 0.1, optax.adam(0.05), draws)
    step = jax.vmap(blackjax.dynamic_hmc(scaled, **tuned).step)

    def of_all_chains(states, key):
        states, _ = step(jax.random.split(key, chains), states)
        return states, states.position

    _, z = jax.lax.scan(of_all_chains, states, jax.random.split(jax.random.key(2), draws))
    return as_dataset(many.constrained(points[0] + scale * np.asarray(z).swapaxes(0, 1)))


def as_dataset(found: dict[str, np.ndarray]) -> xr.Dataset:
    """Arrays of chains and draws."""
    return xr.Dataset({n: (("chain", "draw", *(f"{n}_{i}" for i in range(a.ndim - 2))), a) for n, a in found.items()})


def with_smc(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    options = {"kernel": gpm.smc.HMC, "chains": 1, "random_seed": 1, "progressbar": False, "compute_convergence_checks": False}
    with case.built(*data) as model:
        start = from_the_prior(model, sizes.particles)
        fit, seconds = timed(lambda: pm.sample_smc(sizes.particles, start=start, **options))
    return 0.0, seconds, float("nan"), fit.posterior.to_dataset() if hasattr(fit.posterior, "to_dataset") else fit.posterior


def from_the_prior(model: pm.Model, number: int) -> dict[str, np.ndarray]:
    """Particles drawn from the prior, in order where variables are; PyMC would begin with an `initval` for all of them."""
    start = {}
    for rv, draws in zip(model.free_RVs, pm.draw(model.free_RVs, number, random_seed=1), strict=True):
        transform = model.rvs_to_transforms[rv]
        if transform is not None:
            draws = transform.forward(np.sort(draws) if transform is ordered else draws, *rv.owner.inputs).eval()
        start[model.rvs_to_values[rv].name] = draws
    return start


def with_nutpie(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    return nuts.with_nutpie(in_both(case, data), GPUStats(False), sizes.draws, 4, 1)


def with_numpyro(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    return nuts.with_numpyro(in_both(case, data), nuts.NumPyro(choose.get().device.type == "gpu"), sizes.draws, 4, 1)


def in_both(case: Case, data: tuple[np.ndarray, ...]) -> nuts.Model:
    return nuts.Model(data, lambda *its, ours: case.built(*its), case.numpyro, unmodified=True)


@dataclass(frozen=True)
class Sampler:
    """Sampler: its title, the libraries that it takes, and a function of a case, its data and `Sizes`.

    Attributes
    ----------
    library : str
        The name of the peer by which --peer chooses it.
    modules : tuple of str
    """

    title: str
    library: str
    modules: tuple[str, ...]
    sample: Callable[[Case, tuple[np.ndarray, ...], Sizes], nuts.Sampled]

    @property
    def is_installed(self) -> bool:
        return all(importlib.util.find_spec(module) for module in self.modules)


SAMPLERS = {
    "nutpie": Sampler("nutpie, 4 chains", GPUStats.name, ("nutpie",), with_nutpie),
    "chees": Sampler("ChEES, {s.chains} chains", GPUStats.name, ("blackjax", "jax", "optax"), with_chees),
    "smc": Sampler("SMC, {s.particles:,} particles", GPUStats.name, (), with_smc),
    "numpyro": Sampler("NumPyro, 4 chains", nuts.NumPyro.name, ("jax", "numpyro"), with_numpyro),
}


def wanted(samplers: Sequence[str] | None, libraries: Sequence[str] | None) -> list[str]:
    """Names of the samplers that were asked for; all that are installed where none was."""
    if samplers:
        return [name for name in SAMPLERS if name in samplers]
    asked = {name.lower() for name in libraries or ()}
    return [name for name, s in SAMPLERS.items() if s.is_installed and (not asked or s.library.lower() in asked)]


def row_of(case: Case, n: int, name: str, sizes: Sizes) -> Row:
    """Row before it is measured."""
    peer = SAMPLERS[name].title.format(s=sizes)
    return {"work": f"{case.name} N={n:,}", "n": n, "peer": peer, "time": "sampling_s"}


def measured(case: Case, n: int, name: str, sizes: Sizes) -> Row:
    data = data_of(case.name, n)
    return attempt(row_of(case, n, name, sizes), judged, lambda: SAMPLERS[name].sample(case, data, sizes))


def judged(sample: Callable[[], nuts.Sampled]) -> Row:
    with gpm.fused():
        compile_s, sampling_s, steps, posterior = sample()
    row = nuts.judged(compile_s, sampling_s, steps, posterior)
    ess = row["ess_per_s"] * sampling_s
    if posterior.sizes["chain"] == 1:  # particles
        first = next(iter(posterior.data_vars.values()))
        ess = len(np.unique(np.asarray(first).reshape(first.shape[1], -1), axis=0))
    return row | {"ess": ess, "ess_per_s": ess / sampling_s}


def main(argv: list[str] | None = None) -> int:
    parser = options("samplers", __doc__)
    parser.add_argument("--sampler", action="append", choices=[*SAMPLERS], help="repeatable; default: all that are installed")
    parser.add_argument("--draws", type=int, help="of NUTS, and as many to tune; ChEES takes a fifth (default: 500)")
    parser.add_argument("--limit", type=float, help="seconds, with the start of its process, that a row may take; default: any")
    args = parser.parse_args(argv)
    report = Report(args)
    draws = report.default(args.draws, gpu=500, cpu=500, quick=50)
    chains, particles = report.default(None, gpu=(256, 2000), cpu=(64, 1000), quick=(16, 200))
    sizes = Sizes(draws, chains, particles)
    for case in report.wanted(CASES):
        n = report.default(None, gpu=case.n, cpu=case.n // 10, quick=1000)
        first: Row = {}  # from which the others are apart; it has means
        for name in wanted(args.sampler, args.peer):
            row = row_of(case, n, name, sizes) | report.alone(args.limit, measured, case, n, name, sizes)
            first = first if "means" in first else row
            report.keep(apart(row, first), COLUMNS, NOTE)
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
