"""Unmodified PyMC models whose sums over rows can be fused, and their log-posteriors."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from modes import QUICK
from pymc.distributions.transforms import ordered
from pytensor.graph.traversal import toposort

import gpustats as gs
import gpustats.pymc as gpm

N = 400
rng = np.random.default_rng(20)
X, GROUP, ITEM = rng.normal(size=(N, 3)), rng.integers(0, 12, N), rng.integers(0, 5, N)
T, Y = rng.uniform(0.5, 5, N), rng.normal(size=N)
COUNT, BINARY, CATEGORY = rng.poisson(2.0, N), rng.integers(0, 2, N), rng.integers(0, 4, N)
MISSING = np.where(rng.random(N) < 0.1, np.nan, Y)


def michaelis_menten():
    v, k, sigma = pm.HalfNormal("v", 3), pm.HalfNormal("k"), pm.HalfNormal("sigma")
    pm.Normal("y", v * T / (k + T), sigma, observed=2 * T / (1 + T) + 0.1 * Y)


def student_t():
    a, nu = pm.Normal("a"), pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu, a * T, sigma=pm.HalfNormal("sigma"), observed=Y)


def varying_slopes():
    mu, tau = pm.Normal("mu", shape=2), pm.HalfNormal("tau", shape=2)
    a = pm.Normal("a", mu[0], tau[0], shape=12)
    z = pm.Normal("z", shape=12)
    pm.Normal("y", a[GROUP] + (mu[1] + tau[1] * z)[GROUP] * T, pm.HalfNormal("sigma"), observed=Y)


def named_dimensions():
    model = pm.modelcontext(None)
    model.add_coords({"group": range(12), "row": range(N)})
    t, group = pm.Data("t", T, dims="row"), pm.Data("group_of", GROUP, dims="row")
    a = pm.Normal("a", dims="group")
    mean = pm.Deterministic("mean", a[group] + pm.Normal("b") * t, dims="row")
    pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y, dims="row")


def item_response():
    ability, difficulty = pm.Normal("ability", shape=12), pm.Normal("difficulty", shape=5)
    slope = pm.LogNormal("slope", shape=5)
    pm.Bernoulli("y", logit_p=slope[ITEM] * (ability[GROUP] - difficulty[ITEM]), observed=BINARY)


def table():
    effects = pm.Normal("effects", shape=(12, 5))
    pm.Poisson("y", pt.exp(effects[GROUP, ITEM]), observed=COUNT)


def one_vector_in_several_ways():
    """Coefficients, a table, and one of its numbers."""
    b = pm.Normal("b", shape=5)
    pm.Normal("y", np.tile(X, 2)[:, :5] @ b + b[ITEM] + b[2], 1.0, observed=Y)


def rows_in_several_orders():
    z = pm.Normal("z", shape=N)
    pm.Normal("y", z + z[::-1] + z[np.roll(np.arange(N), 7)], 1.0, observed=Y)


def poisson_regression():
    beta, a = pm.Normal("beta", shape=3), pm.Normal("a", shape=12)
    pm.Poisson("y", pm.math.exp(a[GROUP] + X @ beta), observed=COUNT)


def negative_binomial():
    pm.NegativeBinomial("y", mu=pt.exp(X @ pm.Normal("beta", shape=3)), alpha=pm.Exponential("alpha", 1), observed=COUNT)


def zero_inflated():
    pm.ZeroInflatedPoisson("y", pm.Beta("psi", 2, 2), pt.exp(pm.Normal("a") + pm.Normal("b") * T / 5), observed=COUNT)


def hurdle():
    pm.HurdleGamma("y", pm.Beta("psi", 2, 2), alpha=pm.HalfNormal("alpha") + 1, beta=pt.exp(X @ pm.Normal("b", shape=3)),
                   observed=np.where(BINARY == 1, T, 0))  # fmt: skip


def mixture():
    w, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", 0, 3, shape=3, transform=ordered, initval=[-1, 0, 1])
    pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", shape=3), observed=Y)


def mixture_of_regressions():
    w, a = pm.Dirichlet("w", np.ones(2)), pm.Normal("a", shape=2)
    parts = [pm.Normal.dist(a[0] + a[1] * T, 1.0), pm.StudentT.dist(nu=4, mu=a[1], sigma=2.0)]
    pm.Mixture("y", w, parts, observed=Y)


def ordinal():
    cutpoints = pm.Normal("cutpoints", [-1, 0, 1], 1, shape=3, transform=ordered)
    pm.OrderedLogistic("y", pm.Normal("b") * T, cutpoints, observed=CATEGORY)


def softmax():
    pm.Categorical("y", logit_p=X @ pm.Normal("W", shape=(3, 4)), observed=CATEGORY)


def censored():
    alpha, beta = pm.HalfNormal("alpha") + 0.5, pt.exp(X @ pm.Normal("b", shape=3))
    pm.Censored("y", pm.Weibull.dist(alpha, beta), lower=None, upper=3.0, observed=np.minimum(T, 3.0))


def truncated():
    pm.Truncated("y", pm.Normal.dist(pm.Normal("a") * T, pm.HalfNormal("s")), lower=0, observed=T)


def missing():
    pm.Normal("y", pm.Normal("a") + X @ pm.Normal("b", shape=3), pm.HalfNormal("s"), observed=MISSING)


def imputed_covariate():
    x = pm.Normal("x", pm.Normal("m"), 1, observed=MISSING)
    pm.Normal("y", pm.Normal("a") * x, 1, observed=T)


def latent_rows():
    z = pm.Normal("z", shape=N)
    pm.Poisson("y", pt.exp(0.3 * z + pm.Normal("a")), observed=COUNT)


def random_walk():
    h = pm.GaussianRandomWalk("h", 0.1, init_dist=pm.Normal.dist(), steps=N - 1)
    pm.Normal("y", 0, pt.exp(h / 2), observed=Y)


def factors():
    u, v = pm.Normal("u", shape=(12, 3)), pm.Normal("v", shape=(5, 3))
    pm.Normal("y", (u[GROUP] * v[ITEM]).sum(-1), 1, observed=Y)


def panel():
    """A table of observations, with effects of its rows and of its columns."""
    a, b = pm.Normal("a", shape=80), pm.Normal("b", shape=5)
    pm.Normal("y", a[:, None] + b[None, :], pm.HalfNormal("s", shape=5), observed=Y.reshape(80, 5))


def multivariate():
    chol, *_ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.HalfNormal.dist(shape=2))
    pm.MvNormal("y", pm.Normal("mu", shape=2), chol=chol, observed=X[:, :2])


def potential():
    a = pm.Normal("a")
    pm.Potential("y", -((Y - a * T) ** 2).sum() / 2 - pt.log(pt.cosh(a * T)).sum())


def custom():
    def logp(value, mu, scale):
        return -pt.log(scale) - pt.log1p(((value - mu) / scale) ** 2)

    pm.CustomDist("y", pm.Normal("a") * T, pm.HalfNormal("s"), logp=logp, observed=Y)


def gpustats_distributions():
    gpm.Normal("y", pm.Normal("a") * T, pm.HalfNormal("s"), observed=Y)
    gpm.Poisson("n", pt.exp(pm.Normal("b", shape=12)[GROUP]), observed=COUNT)


def gpustats_density():
    mu = pm.Normal("b") * T
    pm.Potential("y", pt.switch(mu > 0, gpm.log_density(gs.normal, Y, mu, pm.HalfNormal("s", initval=0.5)), -1.0))
    pm.Potential("n", gpm.log_density(gs.beta, T / 10, 1.0, pm.Normal("beta", initval=1.5)))


def lengths_by_name():
    """The lengths of all parameters come from coordinates: only a call has them."""
    model = pm.modelcontext(None)
    model.add_coords({"part": range(3), "column": range(3), "level": range(4), "group": range(12)})
    w, mu = pm.Dirichlet("w", np.ones(3), dims="part"), pm.Normal("mu", [-1, 0, 1], 1, dims="part")
    pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", dims="part"), observed=Y)
    W, effects = pm.Normal("W", dims=("column", "level")), pm.Normal("effects", dims=("group", "level"))
    pm.Categorical("k", logit_p=X @ W + effects[GROUP], observed=CATEGORY)
    pm.Normal("z", X @ pm.Normal("beta", dims="column"), 1, observed=T)


def latent_process():
    """What rows have no C for, PyTensor computes."""
    gp = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, ls=pm.HalfNormal("scale", initval=1.0)))
    f = gp.prior("f", X=np.linspace(0, 5, 100)[:, None], jitter=1e-3)
    pm.Poisson("y", pt.exp(f)[np.arange(N) % 100], observed=COUNT)
    pm.StudentT("z", nu=4, mu=f, sigma=1.0, observed=Y[:100])


def by_name_and_latent():
    """Lengths that only a call has, below what rows have no C for."""
    pm.modelcontext(None).add_coords({"knot": range(80)})
    basis = rng.normal(size=(N, 80))
    pm.Normal("y", basis @ pm.Normal("beta", dims="knot"), 1, observed=Y)


#: model -> how many sums over rows of its are fused
MODELS = {
    michaelis_menten: 1, student_t: 1, varying_slopes: 1, named_dimensions: 1, item_response: 1, table: 1,
    one_vector_in_several_ways: 1, rows_in_several_orders: 1,
    poisson_regression: 1, negative_binomial: 1, zero_inflated: 1, hurdle: 1, mixture: 1, mixture_of_regressions: 1,
    ordinal: 1, softmax: 1, censored: 1, truncated: 1, missing: 2, imputed_covariate: 2, latent_rows: 1, random_walk: 2,
    factors: 1, panel: 1, potential: 2, custom: 1, multivariate: 1,
    gpustats_distributions: 2, gpustats_density: 2, lengths_by_name: 3, latent_process: 2, by_name_and_latent: 1,
}  # fmt: skip
#: Models with numbers of the rows' own, or for whose rows PyTensor computes some
OF_ROWS = [rows_in_several_orders, imputed_covariate, latent_rows, random_walk, latent_process, by_name_and_latent]
SMOOTH = [varying_slopes, mixture, softmax, latent_rows, lengths_by_name, by_name_and_latent]


def made(build):
    with pm.Model() as model:
        build()
    return model


def fused_nodes(function):
    return [n for n in toposort(function.maker.fgraph.outputs) if type(n.op).__name__ == "Fused"]


def log_posterior(model, mode=QUICK):
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    return function


def points(model, number=3, scale=0.3):
    start = model.initial_point(random_seed=1)
    centre = pm.blocking.DictToArrayBijection.map({v.name: start[v.name] for v in model.continuous_value_vars}).data
    random = np.random.default_rng(5)
    return [centre + scale * random.normal(size=centre.size) for _ in range(number)]
