"""`python -m bench.models`: PyMC models as their users write them, fused and not, beside JAX by hand and NumPyro.

Without further options, the gradients of log-posteriors; with ``--sample``, hierarchical models sampled by NUTS.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import ordered
from scipy import special

import gpustats.pymc as gpm

from . import nuts, row_models, row_regressions, rows
from .jax_groups import taken
from .peers import JAX, GPUStats, Peer
from .report import DIFFERENCE, RATIO, TIMES, TIMES_NOTE, Report, Row, Table, attempt, options, size

NOTE = TIMES_NOTE + """\
The value and the gradient of the log-posterior, by the function that PyMC compiles for its samplers; gpustats: the same model
in `gpustats.pymc.fused()`, where each sum is computed where less time is expected. By hand: of the log-likelihood alone; JAX by
the fastest of its ways for sums by group, and plainly, by `table[index]` (see bench/jax_groups.py).
difference: of the value and the gradient from PyMC's, relative to the value and the largest derivative.
"""


# -- Models for the data of `bench.rows`


def michaelis_menten(y, x):
    v, k = pm.HalfNormal("v", 5), pm.HalfNormal("k", 5)
    pm.Normal("y", v * x / (k + x), pm.HalfNormal("sigma"), observed=y)


def robust_michaelis_menten(y, x):
    v, k, nu = pm.HalfNormal("v", 5), pm.HalfNormal("k", 5), pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu=nu, mu=v * x / (k + x), sigma=pm.HalfNormal("sigma"), observed=y)


def radon(y, x, county):
    a = pm.Normal("a", pm.Normal("mu", 0, 5), pm.HalfNormal("tau"), shape=85)
    pm.Normal("y", a[county] + pm.Normal("b") * x, pm.HalfNormal("sigma"), observed=y)


def varying_slopes(y, x, group, groups):
    mu, tau = pm.Normal("mu", 0, 2, shape=2), pm.HalfNormal("tau", 2, shape=2)
    a, b = (pm.Normal(name, mu[i], tau[i], shape=groups) for i, name in enumerate("ab"))
    pm.Normal("y", a[group] + b[group] * x, pm.HalfNormal("sigma"), observed=y)


def item_response(y, person, item):
    theta, d, b = pm.Normal("theta", shape=10_000), pm.LogNormal("d", 0, 0.5, shape=100), pm.Normal("b", shape=100)
    pm.Bernoulli("y", logit_p=d[item] * (theta[person] - b[item]), observed=y)


def poisson(y, X, group, log_factorials):
    a, beta = pm.Normal("a", 0, pm.HalfNormal("tau"), shape=85), pm.Normal("beta", shape=X.shape[1])
    pm.Poisson("y", pm.math.exp(a[group] + X @ beta), observed=y)


def factors(y, i, j):
    theta, phi = pm.Normal("theta", shape=(20_000, 4)), pm.Normal("phi", shape=(500, 4))
    pm.Normal("y", (theta[i] * phi[j]).sum(-1), pm.HalfNormal("sigma"), observed=y)


def mixture(y):
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", 0, 5, shape=3, transform=ordered, initval=[-1.0, 0.5, 3.0])
    pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", 5, shape=3), observed=y)


def logistic(y, X):
    pm.Bernoulli("y", logit_p=X @ pm.Normal("beta", shape=X.shape[1]), observed=y)


def negative_binomial(y, X, log_factorials):
    beta, alpha = pm.Normal("beta", shape=X.shape[1]), pm.HalfNormal("alpha", 5)
    pm.NegativeBinomial("y", mu=pt.exp(X @ beta), alpha=alpha, observed=y)


def zero_inflated_poisson(y, x, log_factorials):
    mu = pm.math.exp(pm.Normal("a") + pm.Normal("b") * x)
    pm.ZeroInflatedPoisson("y", pm.Beta("psi", 2, 2), mu, observed=y)


def censored_weibull(t, seen, x):
    shape = pm.HalfNormal("shape", 3, initval=1.5)
    lifetime = pm.Weibull.dist(shape, pm.math.exp(pm.Normal("a") + pm.Normal("b") * x))
    pm.Censored("t", lifetime, lower=None, upper=np.where(seen, np.inf, t), observed=t)


def ordinal(y, X):
    cutpoints = pm.Normal("cutpoints", 0, 3, shape=4, transform=ordered, initval=[-1.5, -0.4, 0.5, 1.6])
    pm.OrderedLogistic("y", eta=X @ pm.Normal("beta", shape=X.shape[1]), cutpoints=cutpoints, observed=y)


MODELS: list[tuple[row_models.Model, Callable[..., None]]] = [
    (row_regressions.Logistic(), logistic),
    (row_models.Radon(), radon),
    (row_models.MichaelisMenten(), michaelis_menten),
    (row_models.RobustMichaelisMenten(), robust_michaelis_menten),
    (row_models.VaryingSlopes(1000), functools.partial(varying_slopes, groups=1000)),
    (row_models.VaryingSlopes(100_000), functools.partial(varying_slopes, groups=100_000)),
    (row_models.HierarchicalPoisson(), poisson),
    (row_regressions.ZeroInflatedPoisson(), zero_inflated_poisson),
    (row_regressions.CensoredWeibull(), censored_weibull),
    (row_models.ItemResponse(), item_response),
    (row_regressions.NegativeBinomial(), negative_binomial),
    (row_models.Mixture(), mixture),
    (row_regressions.Ordinal(), ordinal),
    (row_models.Factors(), factors),
]


class Case:
    """Model of n rows."""

    def __init__(self, model: row_models.Model, build: Callable[..., None], n: int):
        self.model, self.build, self.n = model, build, n
        self.title = f"{model.title}, N={n:.0e}".replace("e+0", "e")

    def data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        data, parameters = self.model.simulate(np.random.default_rng(15), self.n)
        return data, {name: np.asarray(value, float) for name, value in parameters.items()}

    def gradient(self, fused: bool) -> Callable[[], tuple[Any, Any]]:
        """Log-posterior with its gradient, somewhat away from the point where sampling starts."""
        with pm.Model() as model:
            self.build(**self.data()[0])
        with gpm.fused(fused):
            function = model.logp_dlogp_function(ravel_inputs=True)
        function.set_extra_values({})
        start = pm.blocking.DictToArrayBijection.map(model.initial_point())
        point = start._replace(data=start.data + 0.1 * np.random.default_rng(1).normal(size=start.data.size))
        return lambda: function(point)


def gradients(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    """Rows of a case: one for each way of each library."""
    value, slope = case.gradient(False)()
    host = nuts.PyMC(report.gpu)  # PyTensor's functions return when they are done, whoever computes

    def posterior(peer: Peer) -> Row:
        call = case.gradient(isinstance(peer, GPUStats))
        got, found = call()
        differences = abs(got - value) / abs(value), np.abs(found - slope).max() / np.abs(slope).max()
        return {"difference": float(max(differences))} | report.measure(call, host)

    def by_hand(peer: Peer, **how: str) -> Row:
        bind: Any = rows.with_jax if isinstance(peer, JAX) else rows.with_gpustats
        call = bind(peer, case.model, *case.data(), **how)
        call()
        return report.measure(call, peer)

    work: Row = {"work": case.title, "time": "waited_us"}
    found = [attempt(work | {"peer": p.name}, posterior, p) for p in peers if not isinstance(p, JAX)]
    for peer in peers:
        name = f"{peer.name} by hand"
        if isinstance(peer, JAX):
            found += rows.in_jax(name, work, case.model, case.data()[0], lambda way, peer=peer: by_hand(peer, way=way))
        elif not isinstance(peer, nuts.PyMC):
            found.append(attempt(work | {"peer": name}, by_hand, peer))
    return found


# -- Models that are sampled, in both languages


def bernoulli(y, group, groups, ours=False):
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 1.5), pm.HalfNormal("tau")
        z = pm.Normal("z", shape=groups)
        pm.Bernoulli("y", logit_p=mu + tau * z[group], observed=y)
    return model


def bernoulli_numpyro(y, group, groups):
    import numpyro
    from numpyro import distributions as d

    mu, tau = numpyro.sample("mu", d.Normal(0.0, 1.5)), numpyro.sample("tau", d.HalfNormal(1.0))
    z = numpyro.sample("z", d.Normal(0.0, 1.0).expand([groups]).to_event(1))
    numpyro.sample("y", d.Bernoulli(logits=mu + tau * taken(z, group)), obs=y)


def intercepts_and_slopes(y, x, group, groups, ours=False):
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 2, shape=2), pm.HalfNormal("tau", 2, shape=2)
        a, b = (pm.Normal(name, mu[i], tau[i], shape=groups) for i, name in enumerate("ab"))
        pm.Normal("y", a[group] + b[group] * x, pm.HalfNormal("sigma"), observed=y)
    return model


def intercepts_and_slopes_numpyro(y, x, group, groups):
    import numpyro
    from numpyro import distributions as d

    mu = numpyro.sample("mu", d.Normal(0.0, 2.0).expand([2]).to_event(1))
    tau = numpyro.sample("tau", d.HalfNormal(2.0).expand([2]).to_event(1))
    a, b = (numpyro.sample(n, d.Normal(mu[i], tau[i]).expand([groups]).to_event(1)) for i, n in enumerate("ab"))
    numpyro.sample("y", d.Normal(taken(a, group) + taken(b, group) * x, numpyro.sample("sigma", d.HalfNormal(1.0))), obs=y)


def items(y, person, item, persons, n_items, ours=False):
    with pm.Model() as model:
        theta, b = pm.Normal("theta", shape=persons), pm.Normal("b", 0, 2, shape=n_items)
        d = pm.LogNormal("d", 0, 0.5, shape=n_items)
        pm.Bernoulli("y", logit_p=d[item] * (theta[person] - b[item]), observed=y)
    return model


def items_numpyro(y, person, item, persons, n_items):
    import numpyro
    from numpyro import distributions as d

    theta = numpyro.sample("theta", d.Normal(0.0, 1.0).expand([persons]).to_event(1))
    b = numpyro.sample("b", d.Normal(0.0, 2.0).expand([n_items]).to_event(1))
    slope = numpyro.sample("d", d.LogNormal(0.0, 0.5).expand([n_items]).to_event(1))
    numpyro.sample("y", d.Bernoulli(logits=taken(slope, item) * (taken(theta, person) - taken(b, item))), obs=y)


class Sampling:
    """Hierarchical model of n rows."""

    def __init__(self, title: str, make: Callable[[int], nuts.Model], n: int):
        self.title, self.make, self.n = f"{title}, N={n:.0e}".replace("e+0", "e"), make, n

    def model(self) -> nuts.Model:
        return self.make(self.n)


def unmodified(data: tuple, indices: tuple[int, ...], pymc: Any, numpyro: Any, **sizes: int) -> nuts.Model:
    return nuts.Model(data, functools.partial(pymc, **sizes), functools.partial(numpyro, **sizes), True, indices)


def bernoulli_of(groups: int, n: int) -> nuts.Model:
    """Model of NumPyro's issue 2225."""
    rng = np.random.default_rng(16)
    group, level = rng.integers(0, groups, n), 0.5 + rng.normal(size=groups)
    y = (rng.random(n) < special.expit(level[group])).astype(np.int32)
    return unmodified((y, group), (1,), bernoulli, bernoulli_numpyro, groups=groups)


def sampled(n: int | None) -> list[Sampling]:
    rng = np.random.default_rng(16)

    def slopes(n: int) -> nuts.Model:
        groups = 1000
        x, group, (a, b) = rng.normal(size=n), rng.integers(0, groups, n), rng.normal(size=(2, groups))
        y = a[group] + b[group] * x + 0.5 * rng.normal(size=n)
        return unmodified((y, x, group), (2,), intercepts_and_slopes, intercepts_and_slopes_numpyro, groups=groups)

    def responses(n: int) -> nuts.Model:
        persons, n_items = 10_000, 100
        person, item, theta = rng.integers(0, persons, n), rng.integers(0, n_items, n), rng.normal(size=persons)
        d, b = rng.gamma(4.0, 0.25, n_items), rng.normal(size=n_items)
        y = (rng.random(n) < special.expit(d[item] * (theta[person] - b[item]))).astype(np.int32)
        return unmodified((y, person, item), (1, 2), items, items_numpyro, persons=persons, n_items=n_items)

    found = [Sampling(f"Bernoulli, {k:,} groups", functools.partial(bernoulli_of, k), n or 10**5) for k in (8, 48, 900, 15_000)]
    found += [Sampling("intercepts and slopes, 1,000 groups", slopes, n or 10**6)]
    return [*found, Sampling("item response, 10,000 × 100", responses, n or 10**6)]


def main(argv: list[str] | None = None) -> int:
    parser = options("models", __doc__.split("\n\n")[0])
    parser.add_argument("--n", type=size, action="append", help="rows, repeatable; default: 1e3, 1e6; with --sample 1e5, 1e6")
    parser.add_argument("--sample", action="store_true", help="sample hierarchical models by NUTS")
    parser.add_argument("--draws", type=int, help="and as many to tune (default: 500)")
    parser.add_argument("--chains", type=int, default=1, help="default: 1")
    args = parser.parse_args(argv)
    args.bench = "models-sampled" if args.sample else "models"
    report = Report(args)
    if args.sample:
        draws = report.default(args.draws, gpu=500, cpu=500, quick=20)
        peers = report.peers(nuts.ALL_PEERS)
        for case in report.wanted([case for n in args.n or [10**3 if report.quick else None] for case in sampled(n)]):
            model = case.model()
            for peer in nuts.suiting(peers, model):
                report.rows.append(nuts.sampled(report, {"work": case.title}, model, peer, draws, args.chains))
        return report.write(Table(report.rows, nuts.COLUMNS | RATIO | nuts.WAY | nuts.MEANS, nuts.NOTE))
    sizes = report.default(args.n, gpu=[10**3, 10**6], cpu=[10**3, 10**6], quick=[10**3])
    peers = report.peers([GPUStats, nuts.PyMC, JAX])
    for case in report.wanted([Case(model, build, n) for n in sizes for model, build in MODELS]):
        report.rows += gradients(report, case, peers)
    return report.write(Table(report.rows, TIMES | RATIO | DIFFERENCE, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
