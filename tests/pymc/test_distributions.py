"""PyMC distributions of densities: their classes, draws and transforms, against PyMC's own."""

import numpy as np
import pytest
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pymc_models import CONTINUOUS, NAMES, PARETO2, Y, counterpart, difference, ours  # noqa: E402
from pymc_parameters import PARAMETERS  # noqa: E402
from scipy import special, stats  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.names.pymc import class_name  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


def assert_same_distribution(got, want, axis=0):
    """Of draws along an axis, each component by itself."""
    assert got.shape == want.shape and got.dtype == want.dtype
    for a, b in zip(*(np.moveaxis(v, axis, -1).reshape(-1, v.shape[axis]) for v in (got, want))):
        assert stats.ks_2samp(a, b, method="asymp").pvalue > 1e-5


@pytest.mark.parametrize("name", some(NAMES, 20))
def test_draws_are_pymcs(name):
    values = [v if np.shape(v) != (5,) else v[1] for v in PARAMETERS[name]]
    op = ours(name).rv_op
    got = op.rng_fn(np.random.default_rng(2011), *map(np.asarray, values), (4000,))
    want = pm.draw(counterpart(name, values), draws=4000, random_seed=2011, mode=QUICK)
    assert_same_distribution(got, want)


@pytest.mark.slow
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
    want = prior_of(model_of(lambda name, parameters: counterpart(name, parameters)))
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


@pytest.mark.parametrize("name", some(NAMES, 20))
def test_draws_broadcast(name):
    """A parameter for each observation, and several leading axes: independent draws."""
    values = PARAMETERS[name]
    rv = ours(name).dist(*values)
    shape = tuple(rv.shape.eval(mode=QUICK))
    op = rv.owner.op
    draws = op.rng_fn(np.random.default_rng(0), *map(np.asarray, values), None)
    assert draws.shape == shape
    core = shape[len(shape) - op.ndim_supp :]
    batch = (3, 5) if len(shape) > op.ndim_supp else (3,)
    draws = op.rng_fn(np.random.default_rng(0), *map(np.asarray, values), batch)
    assert draws.shape == (*batch, *core)
    if name in CONTINUOUS:
        assert len(np.unique(draws)) == draws.size


@THOROUGH
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
    assert model["t"].eval(mode=QUICK).shape == (2, 3)
    assert model.initial_point()["v"].shape == (3,)
    assert "StudentT" in model["t"]._repr_latex_()


def test_every_density_has_a_class():
    assert {class_name(n) for n in NAMES} <= set(dir(gpm))
    assert gpm.BernoulliProbit is ours("bernoulli_probit")
    assert "sigma : tensor_like" in gpm.NormalIdentity.__doc__
    with pytest.raises(AttributeError, match="no density"):
        gpm.Nonesuch  # noqa: B018


def test_density_of_ones_own():
    pareto2 = gs.register(PARETO2)
    assert pm.logp(gpm.Pareto2.dist(2.0, 3.0), 1.0).eval(mode=QUICK) == pytest.approx(stats.lomax.logpdf(1, 2, scale=3))
    with pm.Model() as model:
        gpm.Pareto2("v", 2.0, 3.0)
    assert list(model.initial_point()) == ["v_log__"]
    with pytest.raises(NotImplementedError, match=r"no random draws of pareto2.*lambda rng, alpha, scale, size"):
        pm.draw(gpm.Pareto2.dist(2.0, 3.0), mode=QUICK)
    made = gpm.distribution(pareto2, random=lambda rng, alpha, scale, size: scale * rng.pareto(alpha, size))
    assert stats.kstest(pm.draw(made.dist(2.0, scale=3.0), 1000, mode=QUICK), "lomax", (2.0, 0, 3.0)).pvalue > 1e-4
    sampler = "real pareto2_sample(rng_t *rng, real alpha, real scale) { return scale * expm1(exponential(rng) / alpha); }"
    gs.register(PARETO2 + sampler, replace=True)
    assert stats.kstest(pm.draw(gpm.Pareto2.dist(2.0, 3.0), 1000, mode=QUICK), "lomax", (2.0, 0, 3.0)).pvalue > 1e-4
    gs.register(PARETO2.replace("log1p(x / scale)", "log1p(2 * x / scale)"), replace=True)
    assert gpm.Pareto2.formula != made.formula


def test_density_that_replaces_a_built_in_one():
    """It does not get the other's sampler."""
    gs.register("real moyal_logpdf(real x, real mu, real sigma) { return -fabs(x - mu) / sigma; }", replace=True)
    assert pm.logp(gpm.Moyal.dist(0.0, 2.0), 3.0).eval(mode=QUICK) == -1.5
    with pytest.raises(NotImplementedError, match="no random draws of moyal"):
        pm.draw(gpm.Moyal.dist(0.0, 2.0), mode=QUICK)


def test_density_of_a_transform():
    zero_inflated = gs.transforms.ZeroInflate(gs.poisson)
    rv, x = gpm.distribution(zero_inflated).dist(0.7, 3.0), np.arange(4)
    assert difference(pm.logp(rv, x).eval(mode=QUICK), gs.zero_inflated_poisson.logpmf(x, 0.7, 3.0)) < 1e-12
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
    assert difference(pm.logp(rv, x).eval(mode=QUICK), stats.norm.logpdf(x, 0, 2).sum(-1)) < 1e-12
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
        (lambda: ours("normal").dist(0.0), r"normal needs sigma; its parameters are mu, sigma"),
        (lambda: ours("normal").dist(0.0, 1.0, 2.0), r"normal takes 2 parameters \(mu, sigma\), not 3"),
        (lambda: ours("normal").dist(0.0, 1.0, mu=2.0), r"normal: mu is given twice"),
        (lambda: ours("normal").dist(0.0, tau=2.0), r"normal has no parameter 'tau'; its parameters are mu, sigma"),
        (lambda: pm.logp(gpm.Normal.dist(np.zeros(3), 1.0), np.zeros(4)), r"normal: shapes do not broadcast.*mu \(3,\)"),
        (lambda: gpm.log_density(gs.dirichlet, [0.5, 0.5], 1.0), r"a must be a vector"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_parameters_that_methods_take_by_name():
    """Compiled code calls Python each time, and not only at first."""
    x = np.random.default_rng(5).normal(size=(40, 3))
    with pm.Model() as model:
        gpm.MvNormal("x", pm.Normal("mu", shape=3), chol=np.eye(3), observed=x)
    function = model.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")
    function.set_extra_values({})
    for k in range(5):
        mu = np.full(3, 0.1 * k)
        value, slopes = function(mu)
        want = stats.multivariate_normal.logpdf(x, mu).sum() + stats.norm.logpdf(mu).sum()
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(slopes, (x - mu).sum(0) - mu, rtol=1e-10)


def test_parameters_whose_names_are_pymcs():
    weibull = gs.register("""
    // weibull_by_mean: Weibull distribution by its mean
    // x: nonnegative    mean: positive    shape: positive
    __device__ real weibull_by_mean_logpdf(real x, real mean, real shape)
    {
        real scale = mean / exp(lgamma(1 + 1 / shape));
        return log(shape / scale) + (shape - 1) * log(x / scale) - pow(x / scale, shape);
    }
    """, replace=True)  # fmt: skip
    Weibull = gpm.distribution(weibull)
    assert "shape_ : tensor_like" in Weibull.__doc__
    x, scale = np.array([0.5, 1.0, 3.0]), 2.0 / special.gamma(1 + 1 / 1.5)
    for given in (Weibull.dist(2.0, 1.5, shape=3), Weibull.dist(shape_=1.5, mean=2.0, shape=3)):
        np.testing.assert_allclose(pm.logp(given, x).eval(), stats.weibull_min.logpdf(x, 1.5, scale=scale), rtol=1e-12)
    with pm.Model() as model:
        Weibull("x", mean=pm.HalfNormal("mean"), shape_=pm.HalfNormal("shape_parameter"), observed=x)
    want = stats.weibull_min.logpdf(x, 1.5, scale=scale).sum()
    point = {"mean_log__": np.log(2.0), "shape_parameter_log__": np.log(1.5)}
    assert model.compile_logp([model["x"]], jacobian=False)(point) == pytest.approx(want, rel=1e-12)
