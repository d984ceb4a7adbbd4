"""`python -m bench.samplers`: several samplers on the same posteriors, and the worth of a second of each.

nutpie runs four chains of NUTS, as threads; PyMC's sequential Monte Carlo moves 2,000 particles at once. They take PyMC's
models as they are, and gpustats evaluates these. NumPyro runs four chains of NUTS. `bench.chains` has samplers of many chains.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.transforms import ordered
from scipy import special

import gpustats.pymc as gpm
from gpustats.runtime import choose

from . import in_jax, nuts
from .jax_groups import taken
from .logistic_regression import apart
from .peers import GPUStats
from .report import Columns, Report, Row, Table, attempt, cell, measure, options, timed

NOTE = """\
compile: up to the first draws; SMC compiles as it goes, in sampling. ESS: of the bulk, the fewest among the parameters; of SMC,
how many different particles there are. apart: the largest distance of a posterior mean from that of the first sampler, in
posterior standard deviations.
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
    a = pm.Normal("a", mean, spread, shape=int(group.max()) + 1)
    pm.Normal("y", a[group] + pm.Normal("slope") * x, pm.HalfNormal("sigma"), observed=y)


def hierarchical_in_numpyro(y, x, group, n_groups):
    import numpyro
    from numpyro import distributions as d

    mean, spread = numpyro.sample("mean", d.Normal(0, 2)), numpyro.sample("spread", d.HalfNormal(1))
    a = numpyro.sample("a", d.Normal(mean, spread).expand([n_groups]))
    slope, sigma = numpyro.sample("slope", d.Normal(0, 1)), numpyro.sample("sigma", d.HalfNormal(1))
    numpyro.sample("y", d.Normal(taken(a, group) + slope * x, sigma), obs=y)


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


def item_response(y, person, item):
    ability = pm.Normal("ability", shape=int(person.max()) + 1)
    difficulty = pm.Normal("difficulty", 0, 2, shape=int(item.max()) + 1)
    pm.Bernoulli("y", logit_p=ability[person] - difficulty[item], observed=y)


def item_response_in_numpyro(y, person, item, n_people, n_items):
    import numpyro
    from numpyro import distributions as d

    ability = numpyro.sample("ability", d.Normal(0, 1).expand([n_people]))
    difficulty = numpyro.sample("difficulty", d.Normal(0, 2).expand([n_items]))
    numpyro.sample("y", d.BernoulliLogits(taken(ability, person) - taken(difficulty, item)), obs=y)


def student_t(y):
    pm.StudentT("y", pm.Gamma("nu", 2, 0.1), pm.Normal("mu", 0, 10), sigma=pm.HalfNormal("sigma", 5), observed=y)


def student_t_in_numpyro(y):
    import numpyro
    from numpyro import distributions as d

    nu, mu = numpyro.sample("nu", d.Gamma(2, 0.1)), numpyro.sample("mu", d.Normal(0, 10))
    numpyro.sample("y", d.StudentT(nu, mu, numpyro.sample("sigma", d.HalfNormal(5))), obs=y)


def data_of(name: str, n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(23)
    if name == "logistic":
        X = rng.normal(size=(n, 50))
        return (rng.random(n) < special.expit(X @ rng.normal(0, 0.3, 50) - 0.5)).astype(int), X
    if name.startswith("hierarchical"):
        n_groups = n // 10 if name.endswith("many groups") else 40
        x, group = rng.normal(size=n), rng.integers(0, n_groups, n)
        group[0] = n_groups - 1
        return 1 + 0.7 * rng.normal(size=n_groups)[group] + 0.5 * x + rng.normal(size=n), x, group
    if name == "item response":
        person, item = np.divmod(np.arange(n), 100)
        eta = rng.normal(size=person[-1] + 1)[person] - rng.normal(size=100)[item]
        return (rng.random(n) < special.expit(eta)).astype(int), person, item
    if name == "Student t":
        return (1 + 2 * rng.standard_t(4, n),)
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return (rng.normal(np.array([-2.0, 0.5, 3.0])[which], np.array([0.5, 1.0, 0.7])[which]),)


@dataclass(frozen=True)
class Case:
    """Model, as PyMC has it, as NumPyro does and as a log-posterior of JAX's, and its number of observations.

    NumPyro's takes the data and, for each of those that are indices, at `indices`, how many groups there are.
    """

    name: str
    n: int
    pymc: Callable[..., None]
    numpyro: Callable[..., None]
    jax: Callable[..., Callable[[Any], Any]]
    indices: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name} N={self.n:,}"

    def built(self, *data: np.ndarray) -> pm.Model:
        with pm.Model() as model:
            self.pymc(*data)
        return model


CASES = [
    Case("logistic", 10**4, logistic, logistic_in_numpyro, in_jax.logistic),
    Case("hierarchical", 10**5, hierarchical, hierarchical_in_numpyro, in_jax.hierarchical, (2,)),
    Case("hierarchical, many groups", 10**6, hierarchical, hierarchical_in_numpyro, in_jax.hierarchical, (2,)),
    Case("mixture", 10**5, mixture, mixture_in_numpyro, in_jax.mixture),
    Case("item response", 10**6, item_response, item_response_in_numpyro, in_jax.item_response, (1, 2)),
    Case("Student t", 10**3, student_t, student_t_in_numpyro, in_jax.student_t),
]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the samples: draws of NUTS, particles of SMC."""

    draws: int
    particles: int


def with_smc(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    options = {"kernel": gpm.smc.HMC, "chains": 1, "random_seed": 1, "progressbar": False, "compute_convergence_checks": False}
    with case.built(*data) as model:
        start = from_the_prior(model, sizes.particles)
        fit, seconds = timed(lambda: pm.sample_smc(sizes.particles, start=start, **options))
    posterior = fit.posterior.to_dataset() if hasattr(fit.posterior, "to_dataset") else fit.posterior
    return nuts.Sampled(0.0, float("nan"), seconds, float("nan"), posterior)


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
    return nuts.with_nutpie(in_both(case, data), GPUStats(False), nuts.Sizes(sizes.draws, sizes.draws, 4))


def with_numpyro(case: Case, data: tuple[np.ndarray, ...], sizes: Sizes) -> nuts.Sampled:
    peer = nuts.NumPyro(choose.get().device.type == "gpu")
    model = in_both(case, data)
    way, _ = nuts.fastest(model, peer, lambda call: measure(call, peer)[0])
    return nuts.with_numpyro(model, peer, nuts.Sizes(sizes.draws, sizes.draws, 4), way)


def in_both(case: Case, data: tuple[np.ndarray, ...]) -> nuts.Model:
    sizes = [int(data[i].max()) + 1 for i in case.indices]
    return nuts.Model(data, lambda *its, ours: case.built(*its), lambda *its: case.numpyro(*its, *sizes), True, case.indices)


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
        sampled = sample()
    row, sampling_s, posterior = nuts.judged(sampled), sampled.sampling_s, sampled.posterior
    ess = row["ess_per_s"] * sampling_s
    if posterior.sizes["chain"] == 1:  # particles
        first = next(iter(posterior.data_vars.values()))
        ess = len(np.unique(np.asarray(first).reshape(first.shape[1], -1), axis=0))
    return row | {"ess": ess, "ess_per_s": ess / sampling_s}


def main(argv: list[str] | None = None) -> int:
    parser = options("samplers", __doc__)
    parser.add_argument("--sampler", action="append", choices=[*SAMPLERS], help="repeatable; default: all that are installed")
    parser.add_argument("--draws", type=int, help="of NUTS, and as many to tune (default: 500)")
    parser.add_argument("--limit", type=float, help="seconds, with the start of its process, that a row may take; default: any")
    args = parser.parse_args(argv)
    report = Report(args)
    draws = report.default(args.draws, gpu=500, cpu=500, quick=50)
    sizes = Sizes(draws, report.default(None, gpu=2000, cpu=1000, quick=200))
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
