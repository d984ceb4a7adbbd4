"""PyMC distributions of densities: values, gradients, graphs and draws, against PyMC's own."""

import copy
import ctypes
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import cloudpickle  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc_counterparts import COV, FIVE, PARAMETERS, counterpart  # noqa: E402
from pytensor.gradient import verify_grad  # noqa: E402
from scipy import stats  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.language.library import library  # noqa: E402
from gpustats.pymc.evaluation import forked  # noqa: E402
from gpustats.pymc.evaluation.density import Evaluator, Formula  # noqa: E402
from gpustats.pymc.graph.ops import LogDensity, LogLikelihood, Weighted  # noqa: E402
from gpustats.pymc.random_variable import DensityRV, class_name  # noqa: E402
from gpustats.runtime import choose  # noqa: E402

NAMES = sorted(library.built_in)
CONTINUOUS = [n for n in NAMES if not gs.densities[n].discrete]
DISCRETE = [n for n in NAMES if gs.densities[n].discrete]
QUICK = "FAST_COMPILE"
AS_WRITTEN = pytensor.compile.Mode("py", None)  # without rewriting, which takes longer than a small evaluation


@pytest.fixture(autouse=True)
def double_precision():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


def ours(name):
    return getattr(gpm, class_name(name))


def sample(name, size, seed=0):
    """Draws by gpustats, without compiling anything."""
    op = ours(name).rv_op
    return op.rng_fn(np.random.default_rng(seed), *map(np.asarray, PARAMETERS[name]), size)


def difference(got, want):
    return np.max(np.abs(got - want) / (1 + np.abs(want)), initial=0)


# ---- values and gradients


@pytest.mark.parametrize("name", NAMES)
def test_equals_pymc(name, rng):
    """Elementwise values; gradients of their sum and of a weighted sum, for parameters and observations."""
    density, values = gs.densities[name], PARAMETERS[name]
    formula = ours(name).formula
    x = sample(name, (5,)).astype(float if name in CONTINUOUS else int)
    inputs = [pt.tensor(f"p{i}", dtype="float64", shape=np.shape(v)) for i, v in enumerate(values)]
    observed = pt.tensor("x", dtype=x.dtype.name, shape=x.shape)
    wrt = [v for i, v in enumerate([observed, *inputs]) if i in formula.differentiable]
    if name in ("dirichlet", "multinomial", "categorical"):  # PyMC's gradient does not know that p sums to one
        wrt = [v for v in wrt if v is not observed]
    results = []
    parameters = [(v + v.T) / 2 if v.ndim == 2 else v for v in inputs]  # PyMC reads the lower half of a covariance
    theirs = QUICK if name == "zero_inflated_binomial" else AS_WRITTEN  # which would draw, and refuse n as a real number
    for rv, mode in ((ours(name).dist(*parameters), QUICK), (counterpart(density, class_name(name), parameters), theirs)):
        logp = pm.logp(rv, observed)
        outputs = [logp, *pt.grad(logp.sum(), wrt), *pt.grad((logp * (FIVE - 1)).sum(), wrt)]
        function = pytensor.function([observed, *inputs], outputs, mode=mode, on_unused_input="ignore")
        results.append(function(x, *(np.asarray(v, float) for v in values)))
    assert np.isfinite(results[0][0]).all()
    for got, want in zip(*results, strict=True):
        assert got.shape == want.shape
        assert difference(got, want) < 1e-10


@pytest.mark.parametrize("name", CONTINUOUS)
def test_free_variable_equals_pymc(name, rng):
    """As a prior: its transform, its starting point, and the log-density of what is sampled."""
    density, values = gs.densities[name], PARAMETERS[name]
    values = [v if np.shape(v) != (5,) else v[1] for v in values]
    core = np.shape(sample(name, (5,)))[1:]
    results = []
    for make in (ours(name).dist, lambda *p, **k: counterpart(density, class_name(name), p, **k)):
        with pm.Model() as model:
            model.register_rv(make(*values, shape=(2, *core)), "v")
        (value,) = model.value_vars
        start = model.initial_point()[value.name]
        results.append((model, value.name, start))
    model, value_name, start = results[0]
    if name != "logit_normal":  # PyMC gives it no transform
        assert value_name == results[1][1]
        assert start.shape == results[1][2].shape
        point = rng.normal(size=start.shape)
        modes = QUICK, AS_WRITTEN
        got, want = (m.compile_fn([m.logp(), m.dlogp()], mode=mode)({n: point}) for (m, n, _), mode in zip(results, modes))
        assert difference(got[0], want[0]) < 1e-10
        assert difference(got[1], want[1]) < 1e-10
    assert np.isfinite(model.compile_logp(mode=QUICK)({value_name: start}))


@pytest.mark.parametrize("name", DISCRETE)
def test_starting_point_of_discrete(name):
    values = PARAMETERS[name]
    rv = ours(name).dist(*values)
    assert rv.dtype == "int64"
    point = pm.distributions.distribution.support_point(rv)
    start, logp = pytensor.function([], [point, pm.logp(rv, point)], mode=QUICK)()
    assert np.isfinite(logp).all() and start.shape == tuple(rv.shape.eval())


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
def test_ways_to_give_the_covariance(name):
    values = PARAMETERS[name][:-1]
    x = sample(name, (4,))
    tril, precision = np.linalg.cholesky(COV), np.linalg.inv(COV)
    want = gs.densities[name].logpdf(x, *values, cov=COV)
    for kind, matrix in (("cov", COV), ("scale_tril", tril), ("precision", precision)):
        rv = ours(name).dist(*values, **{kind: matrix})
        assert difference(pm.logp(rv, x).eval(mode=QUICK), want) < 1e-12
        draws = rv.owner.op.rng_fn(np.random.default_rng(1), *values, matrix, (20000,))
        assert np.allclose(np.cov(draws.T), np.cov(sample(name, (20000,), 2).T), atol=0.25)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("normal", [(6,), (), ()]),
        ("normal", [(2, 3), (3,), (2, 1)]),
        ("normal", [(), (4,), (1,)]),
        ("gamma", [(3, 1), (), (4,)]),
        ("normal", [(2, 1, 3), (2, 1), (3,)]),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_verify_grad(name, shapes, weighted, rng):
    """Against finite differences, for shapes that broadcast in all ways."""
    density = gs.densities[name]
    values = [rng.uniform(0.5, 2, shape) for shape in shapes]
    weight = rng.normal(size=np.broadcast_shapes(*shapes)) if weighted else 1.0
    verify_grad(lambda *v: (gpm.log_density(density, *v) * weight).sum(), values, rng=rng, mode=QUICK)


def test_verify_grad_of_vectors(rng):
    x, mu = rng.normal(size=(2, 4, 3)), rng.normal(size=(4, 3))
    weight = rng.normal(size=(2, 4))

    def log_density(x, mu, tril):
        cov = tril @ tril.T
        return gpm.log_density(gs.mvnormal, x, mu, cov) * weight

    verify_grad(lambda *v: log_density(*v).sum(), [x, mu, np.linalg.cholesky(COV)], rng=rng, mode=QUICK)


def test_whole_numbers_have_no_gradient():
    n, p = pt.dscalar("n"), pt.dscalar("p")
    logp = gpm.log_density(gs.binomial, np.arange(5), n, p).sum()
    with pytest.raises(TypeError, match="n of binomial is a whole number"):
        pytensor.grad(logp, n)
    assert pytensor.grad(logp, p).eval({n: 7.0, p: 0.5}, mode=QUICK) == pytest.approx(2 * (10 - 25))


def test_second_derivatives_are_refused():
    mu = pt.dscalar("mu")
    gradient = pt.grad(gpm.log_density(gs.normal, np.arange(5.0), mu, 1.0).sum(), mu)
    with pytest.raises(NotImplementedError, match="second derivatives of normal.*hessian"):
        pt.grad(gradient, mu)


# ---- one evaluation


def nodes(function, kind):
    return [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, kind)]


def normal_model(distributions, observed, **kwargs):
    with pm.Model(**kwargs) as model:
        mu, sigma = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
        distributions.Normal("y", mu, sigma, observed=observed)
    return model


Y = np.random.default_rng(1).normal(3, 2, 100)
POINT = np.array([2.5, 0.5])


def value_and_gradient(model, mode=None):
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    return function


@pytest.mark.parametrize("mode", [None, QUICK, "NUMBA"])
def test_one_evaluation_gives_value_and_gradient(mode):
    function = value_and_gradient(normal_model(gpm, Y), mode)
    compiled = function._pytensor_function
    assert not nodes(compiled, LogDensity)
    (node,) = nodes(compiled, LogLikelihood)
    assert node.op.wrt == (1, 2) and len(node.inputs) == 2  # the data are the Op's own
    got, want = function(POINT), value_and_gradient(normal_model(pm, Y), QUICK)(POINT)
    assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-12


def test_one_evaluation_of_transformed_vectors():
    """A transform adds its Jacobian to every term before they are summed."""
    with pm.Model() as model:
        gpm.Gamma("g", 2.0, 1.0, shape=3)
    compiled = value_and_gradient(model)._pytensor_function
    assert not nodes(compiled, LogDensity)
    assert len(nodes(compiled, LogLikelihood)) == 1


def test_value_alone_has_no_gradients():
    (node,) = nodes(normal_model(gpm, Y).compile_logp().f, LogLikelihood)
    assert node.op.wrt == ()


def test_unused_gradients_are_not_computed():
    scale = pytensor.shared(np.array(2.0), name="scale")
    mu = pt.dscalar("mu")
    total = gpm.log_density(gs.normal, Y, mu, scale).sum()
    (node,) = nodes(pytensor.function([mu], [total, pt.grad(total, mu)], mode=QUICK), LogLikelihood)
    assert node.op.wrt == (1,)


def test_scaled_sum_stays_one_evaluation():
    """A minibatch counts for more data than it has."""
    mu = pt.dscalar("mu")
    total = (gpm.log_density(gs.normal, Y, mu, 2.0) * 7.0).sum()
    function = pytensor.function([mu], [total, pt.grad(total, mu)])
    assert not nodes(function, LogDensity) and not nodes(function, Weighted)
    assert len(nodes(function, LogLikelihood)) == 1
    assert function(3.0)[1] == pytest.approx(7 * (Y - 3).sum() / 4)


def test_numba_evaluates_tables_and_weights(rng):
    mu, sigma = pt.dvector("mu"), pt.dscalar("sigma")
    weight = rng.normal(size=(3, 4))
    terms = gpm.log_density(gs.normal, rng.normal(size=(3, 1)), mu, sigma)
    outputs = [terms, *pt.grad((terms * weight).sum(), [mu, sigma])]
    point = (rng.normal(size=4), 1.5)
    for got, want in zip(*(pytensor.function([mu, sigma], outputs, mode=m)(*point) for m in ("NUMBA", QUICK))):
        assert np.array_equal(got, want)


def test_partial_sums_and_mixtures():
    """What is no plain sum of terms still has its gradient."""
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 1, shape=2)
            weights = pm.Dirichlet("w", np.ones(2))
            pm.Mixture("y", weights, distributions.Normal.dist(mu, 1.0, shape=2), observed=Y[:20])
        point = {"mu": np.array([0.3, 2.0]), "w_simplex__": np.array([0.4])}
        results.append(model.compile_fn([model.logp(), model.dlogp()], mode=QUICK)(point))
    for got, want in zip(*results):
        assert difference(got, want) < 1e-12


# ---- distributions


def assert_same_distribution(got, want, axis=0):
    """Of draws along an axis, each component by itself."""
    assert got.shape == want.shape and got.dtype == want.dtype
    for a, b in zip(*(np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis]) for v in (got, want))):
        assert stats.ks_2samp(a, b, method="asymp").pvalue > 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_draws_are_pymcs(name):
    density = gs.densities[name]
    values = [v if np.shape(v) != (5,) else v[1] for v in PARAMETERS[name]]
    op = ours(name).rv_op
    got = op.rng_fn(np.random.default_rng(2011), *map(np.asarray, values), (4000,))
    want = pm.draw(counterpart(density, class_name(name), values), draws=4000, random_seed=2011, mode=QUICK)
    assert_same_distribution(got, want)


def test_predictive_draws_are_pymcs():
    """Of all built-in densities: from the prior, and at parameters that vary from one draw of the posterior to the next."""

    def model_of(make):
        with pm.Model() as model:
            factor = pm.Uniform("factor", 0.9, 1.1)
            for name in NAMES:
                parameters = [np.asarray(v) for v in PARAMETERS[name]]
                if name not in ("categorical", "multinomial", "discrete_uniform"):
                    parameters[-1] = parameters[-1] * factor
                model.register_rv(make(name, parameters), name)
        return model

    def prior_of(model):
        prior = pm.sample_prior_predictive(300, model=model, random_seed=1, compile_kwargs={"mode": QUICK}).prior
        return prior.to_dataset() if hasattr(prior, "to_dataset") else prior  # a tree in newer versions

    model = model_of(lambda name, parameters: ours(name).dist(*parameters))
    prior = prior_of(model)
    want = prior_of(model_of(lambda name, parameters: counterpart(gs.densities[name], class_name(name), parameters)))
    predicted = pm.sample_posterior_predictive(
        prior[["factor"]], model=model, var_names=NAMES, random_seed=2, progressbar=False, compile_kwargs={"mode": QUICK}
    ).posterior_predictive
    for name in NAMES:
        for drawn in (prior[name], predicted[name]):
            assert_same_distribution(drawn.values[0], want[name].values[0])


def test_a_million_draws():
    draws = pm.draw(gpm.Normal.dist(np.linspace(-1, 1, 1_000_000), 0.5), mode=QUICK, random_seed=1)
    assert stats.kstest((draws - np.linspace(-1, 1, 1_000_000)) / 0.5, "norm").pvalue > 1e-4


def test_draws_follow_pymcs_seed():
    """The same seed gives the same draws, another gives others, and so does the next call of the same function."""
    first, again, other = (pm.draw(gpm.Gamma.dist(2.0, 1.0, shape=3), 4, mode=QUICK, random_seed=s) for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert len(np.unique([first, other])) == 24


@pytest.mark.parametrize("name", NAMES)
def test_draws_broadcast(name):
    """A parameter for each observation, and several leading axes: independent draws."""
    values = PARAMETERS[name]
    rv = ours(name).dist(*values)
    shape = tuple(rv.shape.eval())
    op = rv.owner.op
    draws = op.rng_fn(np.random.default_rng(0), *map(np.asarray, values), None)
    assert draws.shape == shape
    core = shape[len(shape) - op.ndim_supp :]
    batch = (3, 5) if len(shape) > op.ndim_supp else (3,)
    draws = op.rng_fn(np.random.default_rng(0), *map(np.asarray, values), batch)
    assert draws.shape == (*batch, *core)
    if name in CONTINUOUS:
        assert len(np.unique(draws)) == draws.size


def test_a_cholesky_factor_is_sampled(rng):
    x, results = rng.normal(size=(10, 3)), []
    for mvnormal in (lambda *a, factor, **k: gpm.MvNormal(*a, scale_tril=factor, **k),
                     lambda *a, factor, **k: pm.MvNormal(*a, chol=factor, **k)):  # fmt: skip
        with pm.Model() as model:
            factor, _, _ = pm.LKJCholeskyCov("factor", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
            mvnormal("y", pm.Normal("mu", shape=3), factor=factor, observed=x)
        start = model.initial_point()
        point = {k: start[k] + 0.1 * np.arange(start[k].size) for k in sorted(start)}
        results.append(model.compile_fn([model.logp(), model.dlogp()], mode=QUICK)(point))
    for got, want in zip(*results):
        assert difference(got, want) < 1e-10


def test_dims_shape_and_names():
    with pm.Model(coords={"group": ["a", "b", "c"]}) as model:
        mu = gpm.Normal("mu", 0.0, sigma=1.0, dims="group")
        gpm.StudentT("t", nu=4, mu=mu, sigma=[1.0, 2.0, 3.0], shape=(2, 3))
        gpm.MvNormal("v", np.zeros(3), scale_tril=np.eye(3), dims="group")
    assert model.named_vars_to_dims["mu"] == ("group",)
    assert model["t"].eval().shape == (2, 3)
    assert model.initial_point()["v"].shape == (3,)
    assert "StudentT" in model["t"]._repr_latex_()


def test_every_density_has_a_class():
    assert {class_name(n) for n in NAMES} <= set(dir(gpm))
    assert gpm.OrderedLogistic is ours("ordered_logit")
    assert "sigma : tensor_like" in gpm.Normal.__doc__
    with pytest.raises(AttributeError, match="no density"):
        gpm.Nonesuch  # noqa: B018


LOMAX = """
// lomax: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive
__device__ real lomax_logpdf(real x, real alpha, real scale)
{
    return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
}
"""


def test_density_of_ones_own():
    lomax = gs.register(LOMAX)
    assert pm.logp(gpm.Lomax.dist(2.0, 3.0), 1.0).eval() == pytest.approx(stats.lomax.logpdf(1, 2, scale=3))
    with pm.Model() as model:
        gpm.Lomax("v", 2.0, 3.0)
    assert list(model.initial_point()) == ["v_log__"]
    with pytest.raises(NotImplementedError, match=r"no random draws of lomax.*lambda rng, alpha, scale, size"):
        pm.draw(gpm.Lomax.dist(2.0, 3.0), mode=QUICK)
    made = gpm.distribution(lomax, random=lambda rng, alpha, scale, size: scale * rng.pareto(alpha, size))
    assert stats.kstest(pm.draw(made.dist(2.0, scale=3.0), 1000, mode=QUICK), "lomax", (2.0, 0, 3.0)).pvalue > 1e-4
    sampler = "real lomax_sample(rng_t *rng, real alpha, real scale) { return scale * expm1(exponential(rng) / alpha); }"
    gs.register(LOMAX + sampler, replace=True)
    assert stats.kstest(pm.draw(gpm.Lomax.dist(2.0, 3.0), 1000, mode=QUICK), "lomax", (2.0, 0, 3.0)).pvalue > 1e-4
    gs.register(LOMAX.replace("log1p(x / scale)", "log1p(2 * x / scale)"), replace=True)
    assert gpm.Lomax.formula != made.formula


def test_density_that_replaces_a_built_in_one():
    """It does not get the other's sampler."""
    gs.register("real moyal_logpdf(real x, real mu, real sigma) { return -fabs(x - mu) / sigma; }", replace=True)
    assert pm.logp(gpm.Moyal.dist(0.0, 2.0), 3.0).eval(mode=QUICK) == -1.5
    with pytest.raises(NotImplementedError, match="no random draws of moyal"):
        pm.draw(gpm.Moyal.dist(0.0, 2.0), mode=QUICK)


def test_density_of_a_transform():
    zero_inflated = gs.transforms.ZeroInflate(gs.poisson)
    rv, x = gpm.distribution(zero_inflated).dist(0.7, 3.0), np.arange(4)
    assert difference(pm.logp(rv, x).eval(), gs.zero_inflated_poisson.logpmf(x, 0.7, 3.0)) < 1e-12
    want = gs.zero_inflated_poisson.rvs(0.7, 3.0, size=2000, rng=1)
    assert_same_distribution(pm.draw(rv, 2000, mode=QUICK, random_seed=2), want)
    truncated = gs.transforms.Truncate(gs.normal, lower=0.5)
    with pm.Model() as model:
        gpm.distribution(truncated)("v", 0.0, 1.0)
    assert list(model.initial_point()) == ["v_interval__"]
    assert np.isfinite(model.compile_dlogp(mode=QUICK)(model.initial_point())).all()


@pytest.mark.parametrize(
    ("domain", "transform", "x"),
    [("positive vector", "log", [0.5, 2.0]), ("unit vector", "logodds", [0.5, 0.2]), ("vector", None, [0.5, -2.0]),
     ("ordered", "ordered", [-0.5, 2.0]), ("simplex", "simplex", [0.3, 0.7])],
)  # fmt: skip
def test_transforms_of_vectors(domain, transform, x):
    """Each starts inside its domain, and its Jacobian is PyMC's."""
    density = gs.register(f"""
    // blob: a density of vectors
    // x: {domain}    a: vector
    __device__ real blob_logpdf(const real *x, const real *a, int dim) {{ return -x[0] * x[0] * a[0] - x[1] * a[1]; }}
    """)
    with pm.Model() as model:
        gpm.distribution(density)("v", np.array([1.0, 2.0]))
    start = model.initial_point()
    assert list(start) == [f"v_{transform}__" if transform else "v"]
    assert np.isfinite(model.compile_logp(mode=QUICK)(start))
    if transform:
        made = model.rvs_to_transforms[model["v"]]
        forward = made.forward(pt.constant(np.array(x))).eval(mode=QUICK)
        jacobian = made.log_jac_det(pt.constant(forward)).eval(mode=QUICK)
        got = model.compile_logp(mode=QUICK)({f"v_{transform}__": forward})
        assert got == pytest.approx(-x[0] ** 2 - 2 * x[1] + jacobian.sum(), rel=1e-10)


def test_vectors_without_a_vector_parameter():
    gs.register("""
    // ball: independent normal variables of the same variance
    // x: vector    sigma: positive
    __device__ real ball_logpdf(const real *x, real sigma, int dim)
    {
        real total = 0;
        for (int i = 0; i < dim; i++) total += -log(sigma) - HALF_LOG_2PI - 0.5 * (x[i] / sigma) * (x[i] / sigma);
        return total;
    }
    __device__ void ball_sample(rng_t *rng, real *x, real sigma, int dim)
    {
        for (int i = 0; i < dim; i++) x[i] = sigma * normal(rng);
    }
    """)
    rv = gpm.Ball.dist(2.0, shape=(5, 3))
    assert rv.type.shape == (5, 3)
    x = Y[:15].reshape(5, 3)
    assert difference(pm.logp(rv, x).eval(), stats.norm.logpdf(x, 0, 2).sum(-1)) < 1e-12
    draws = pm.draw(rv, 500, mode=QUICK)
    assert draws.shape == (500, 5, 3) and stats.kstest(draws.ravel() / 2, "norm").pvalue > 1e-4
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma")
        gpm.Ball("y", sigma, observed=x)
    assert np.isfinite(model.compile_dlogp(mode=QUICK)(model.initial_point())).all()
    with pytest.raises(ValueError, match="no parameter of ball tells the length"):
        gpm.Ball.dist(2.0)


def test_truncated_and_censored():
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 1)
            base = distributions.Normal.dist(mu, np.float64(2.0))
            pm.Truncated("y", base, lower=0.0, upper=6.0, observed=np.clip(Y, 0.1, 5.9))
            pm.Censored("z", base, lower=0.0, upper=6.0, observed=np.clip(Y, 0, 6))
        results.append(model.compile_fn([model.logp(), model.dlogp()], mode=QUICK)({"mu": 0.7}))
    for got, want in zip(*results):
        assert difference(got, want) < 1e-10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gpm.Normal.dist(0.0), r"normal needs sigma; its parameters are mu, sigma"),
        (lambda: gpm.Normal.dist(0.0, 1.0, 2.0), r"normal takes 2 parameters \(mu, sigma\), not 3"),
        (lambda: gpm.Normal.dist(0.0, 1.0, mu=2.0), r"normal: mu is given twice"),
        (lambda: gpm.Normal.dist(0.0, tau=2.0), r"normal has no parameter 'tau'; its parameters are mu, sigma"),
        (lambda: pm.logp(gpm.Normal.dist(np.zeros(3), 1.0), np.zeros(4)), r"normal: shapes do not broadcast.*mu \(3,\)"),
        (lambda: gpm.log_density(gs.dirichlet, [0.5, 0.5], 1.0), r"a must be a vector"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_reserved_parameter_names():
    density = gs.register("""
    // blob: a density
    // x: real    shape: positive
    __device__ real blob_logpdf(real x, real shape) { return -x * x * shape; }
    """)
    with pytest.raises(ValueError, match="blob has a parameter called 'shape'.*rename it"):
        gpm.distribution(density)


# ---- data


def test_data_that_change():
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            data, covariate = pm.Data("data", Y[:50]), pm.Data("covariate", np.arange(50.0))
            slope = pm.Normal("slope")
            distributions.Normal("y", slope * covariate, np.float64(1.7), observed=data)
        function = value_and_gradient(model, QUICK)
        results.append([function(np.array([0.1]))])
        for new in (Y[50:], Y[20:80]):  # of the same length, and of another
            with model:
                pm.set_data({"data": new, "covariate": np.sqrt(np.arange(len(new)))})
            results[-1].append(function(np.array([0.1])))
    for got, want in zip(*results):
        assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-12


def test_evaluator_keeps_what_is_known_on_the_device(monkeypatch):
    """On a device with memory of its own, constants are copied there once."""
    from gpustats.pymc.evaluation import density as evaluate
    from gpustats.runtime import choose

    copies = []
    monkeypatch.setattr(choose.get(), "host_visible", False)
    monkeypatch.setattr(evaluate, "to_device", lambda array: copies.append(array) or gs.to_device(array))
    evaluator = Evaluator(Formula(gs.normal), {0: Y, 1: np.linspace(0, 1, 100)})
    for sigma in (1.0, 2.0):
        total, gradient = evaluator.sums([np.array(sigma)], (2,))
        value, want = gs.normal.loglik_and_grad(Y, np.linspace(0, 1, 100), sigma)
        assert total == pytest.approx(value, rel=1e-12)
        assert gradient == pytest.approx(want["sigma"], rel=1e-12) and gradient.shape == ()
    assert len(copies) == 1
    evaluator = Evaluator(Formula(gs.mvnormal), {1: Y[:90].reshape(30, 3), 2: COV})
    x = np.zeros((30, 3))
    (_, gradient) = evaluator.sums([x], (0,))
    assert isinstance(gradient, np.ndarray)
    assert difference(gradient, gs.mvnormal.loglik_and_grad(x, Y[:90].reshape(30, 3), COV, wrt="x")[1]["x"]) < 1e-12


def test_evaluator_serves_several_threads():
    evaluator = Evaluator(Formula(gs.normal), {0: Y})
    want = [evaluator.sums([np.array(m), np.array(1.0)], (1,))[0] for m in range(4)]
    got = [[] for _ in range(4)]

    def work(m):
        got[m] += [evaluator.sums([np.array(m), np.array(1.0)], (1,))[0] for _ in range(50)]

    threads = [threading.Thread(target=work, args=(m,)) for m in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(value == w for values, w in zip(got, want) for value in values)
    assert [len(g) for g in got] == [50] * 4


# ---- Ops in other processes


def test_ops_are_equal_by_what_they_compute():
    assert LogDensity(Formula(gs.normal)) == LogDensity(Formula(gs.normal))
    assert LogDensity(Formula(gs.normal)) != LogDensity(Formula(gs.laplace))
    assert LogLikelihood(Formula(gs.normal), (1,)) != LogLikelihood(Formula(gs.normal), (2,))
    assert DensityRV(Formula(gs.normal)) == gpm.Normal.rv_op
    for copied in (copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))):
        op = LogLikelihood(Formula(gs.normal), (1,))
        assert op.evaluator and copied(op) == op and hash(copied(op)) == hash(op)


def test_models_and_functions_are_pickled():
    model = normal_model(gpm, Y)
    logp = model.compile_logp(mode=QUICK)
    want = logp({"mu": 2.5, "sigma_log__": 0.5})
    again = cloudpickle.loads(cloudpickle.dumps(model))
    assert again.compile_logp(mode=QUICK)({"mu": 2.5, "sigma_log__": 0.5}) == want
    for other in (cloudpickle.loads(cloudpickle.dumps(logp)), copy.deepcopy(logp)):
        assert other({"mu": 2.5, "sigma_log__": 0.5}) == want


def test_unpickled_elsewhere(tmp_path):
    """A fresh process opens the device itself, and needs no registration of the density."""
    density = gs.transforms.Weighted(gs.register(LOMAX))
    op = LogLikelihood(Formula(density), (1,), [(0, pt.constant(np.arange(1.0, 6.0)))])
    values = [np.array(2.0), np.array(3.0), np.array(0.5)]
    want = op.evaluator.sums(values, (1,))
    (tmp_path / "op").write_bytes(cloudpickle.dumps((op, values)))
    code = """
    import sys, cloudpickle
    op, values = cloudpickle.load(open(sys.argv[1], "rb"))
    print(*op.evaluator.sums(values, (1,)))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "op")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [float(v) for v in out.split()] == pytest.approx([float(v) for v in want], rel=1e-14)


def test_evaluation_for_a_forked_process(monkeypatch):
    """Its worker gives the same bits, and its errors."""
    evaluator = Evaluator(Formula(gs.normal), {0: Y})
    values = [np.array(2.0), np.array(1.5)]
    want, drawn = evaluator.sums(values, (1, 2)), sample("normal", (5,), seed=1)
    monkeypatch.setattr(forked, "_device", gs.devices()[0].id)
    try:
        for _ in range(2):
            assert evaluator.sums(values, (1, 2)) == want
        assert np.array_equal(evaluator.table(values), gs.normal.logpdf(Y, 2.0, 1.5))
        with pytest.raises(ValueError, match="shapes do not broadcast"):
            evaluator.table([np.zeros(3), np.array(1.5)])
        assert np.array_equal(sample("normal", (5,), seed=1), drawn)
    finally:
        forked._worker._process.stdin.close()
        assert forked._worker._process.wait(10) == 0
        forked._worker = None


def test_threads_that_python_did_not_start(monkeypatch):
    """What is thread-local lasts from one callback to the next, and the device is told that they may end."""
    from gpustats.pymc.graph.numba_link import Bridge

    left, seen, local = [], [], threading.local()
    runtime = choose.get()
    monkeypatch.setattr(runtime, "leave_thread", lambda: left.append(threading.get_ident()))

    def function(arrays):
        local.calls = getattr(local, "calls", 0) + 1
        seen.append((threading.get_ident(), local.calls))
        return [arrays[0] + 1]

    bridge, value, out = Bridge(function, [0], "bridge"), np.array(2.0), np.empty(1)
    layout = np.array([value.ctypes.data])
    libc = ctypes.CDLL(None)
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    twice = start(lambda _: [bridge.callback(layout.ctypes.data, out.ctypes.data) for _ in range(2)] and None)
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, twice, None) == 0
    assert libc.pthread_join(thread, None) == 0
    assert out[0] == 3
    (first, one), (second, two) = seen
    assert (one, two) == (1, 2) and left == [first, second] != [threading.get_ident()] * 2
    assert bridge.callback(layout.ctypes.data, out.ctypes.data) == 1
    assert len(left) == 2


def test_an_interrupt_under_numba_comes_through(monkeypatch):
    function, evaluate, calls = value_and_gradient(normal_model(gpm, Y), "NUMBA"), Evaluator.sums, []

    def interrupted(self, values, wrt):
        calls.append(wrt)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return evaluate(self, values, wrt)

    monkeypatch.setattr(Evaluator, "sums", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            function(POINT)
            time.sleep(5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(calls) == 2


def test_failures_under_numba_are_told(monkeypatch):
    function = value_and_gradient(normal_model(gpm, Y), "NUMBA")
    assert np.isfinite(function(POINT)[0])

    def fail(self, values, wrt):
        raise MemoryError("no room")

    monkeypatch.setattr(Evaluator, "sums", fail)
    with (
        pytest.warns(RuntimeWarning, match=r"LogLikelihood\{normal\}: MemoryError: no room"),
        pytest.raises(RuntimeError, match="evaluation of a gpustats density failed"),
    ):
        function(POINT)
