"""Models at many points at once: values and gradients are those of one point at a time, in one evaluation for each term."""

import cloudpickle
import models_of_rows
import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from modes import QUICK
from scipy import stats
from thorough import THOROUGH, some

import gpustats as gs
import gpustats.pymc as gpm
from gpustats.compiler.evaluation.formula import Evaluator
from gpustats.compiler.fusion.evaluator import RowsEvaluator
from gpustats.rows.model import Rows

N = 150
rng = np.random.default_rng(31)
X, Z, GROUP, BINARY = rng.normal(size=(N, 4)), rng.normal(size=N), rng.integers(0, 5, N), rng.integers(0, 2, N)
pytestmark = pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")


def glm():
    beta, a = pm.Normal("beta", shape=4), pm.Normal("a")
    gpm.GLM("y", gs.bernoulli_logit, X=X, beta=beta, alpha=a, observed=BINARY)


def glm_of_groups():
    beta, a, s = pm.Normal("beta", shape=4), pm.Normal("a", shape=5), pm.HalfNormal("s")
    gpm.GLM("y", gs.normal_identity, X=X, beta=beta, alpha=a, sigma=s, groups=GROUP, observed=Z)


def glm_of_random_covariates():
    x, b = pm.Normal("x", shape=(6, 2)), pm.Normal("b", shape=2)
    gpm.GLM("y", gs.normal_identity, X=x, beta=b, alpha=0.0, sigma=1.0, observed=Z[:6])


def mixture_of_gpustats():
    w, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", [-1, 0, 1], 1, shape=3)
    gpm.Mixture("y", w, gs.normal, mu=mu, sigma=pm.HalfNormal("s", shape=3), observed=Z)


def gaussian_process():
    amplitude, lengthscale = pm.HalfNormal("amplitude"), pm.HalfNormal("lengthscale", shape=4)
    gpm.GPMarginal("y", gs.matern52, X[:40], pm.HalfNormal("s"), amplitude=amplitude, lengthscale=lengthscale, observed=Z[:40])


def correlated_vectors():
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=3))
    gpm.MvNormal("y", mu=pm.Normal("m", shape=3), scale_tril=chol, observed=X[:, :3])


def few_rows():
    theta = pm.Normal("theta", pm.Normal("mu"), pm.HalfNormal("tau"), shape=8)
    pm.Normal("y", theta, Z[:8] ** 2 + 1, observed=Z[8:16])


def loop():
    """PyTensor runs it for one point after another."""
    a, start = pm.Normal("a"), pt.constant(np.float64(0.5))
    steps, _ = pytensor.scan(lambda p, a: a * p + 1, outputs_info=[start], non_sequences=[a], n_steps=8)
    pm.Normal("y", steps, 1, observed=Z[:8])


FUSED = [
    models_of_rows.varying_slopes, models_of_rows.mixture, models_of_rows.ordinal, models_of_rows.random_walk,
    models_of_rows.multivariate, models_of_rows.missing, models_of_rows.lengths_by_name, models_of_rows.latent_process,
]  # fmt: skip
OTHERS = [
    glm, glm_of_groups, glm_of_random_covariates, mixture_of_gpustats, gaussian_process, correlated_vectors, few_rows, loop,
]  # fmt: skip


@pytest.fixture
def quick():
    """PyTensor compiles soon what it would compile well: the numbers are the same."""
    with pytensor.config.change_flags(mode=QUICK):
        yield


quickly = pytest.mark.usefixtures("quick")


def some_points(many, number=4, scale=0.3):
    return many.points.start + scale * np.random.default_rng(2).normal(size=(number, many.points.size))


def function_of(many, mode=QUICK):
    return many.compiled(many.model.logp(), gradient=True, mode=mode)


def normal():
    with pm.Model() as model:
        a = pm.Normal("a", 0, 3, shape=5)
        pm.Normal("y", a[GROUP], pm.HalfNormal("s", 5), observed=Z)
    return model


@pytest.mark.parametrize("build", some([*FUSED, *OTHERS], 16), ids=lambda b: b.__name__)
def test_values_and_gradients(build):
    model = models_of_rows.made(build)
    many = gpm.batched(model)
    array = some_points(many)
    values, gradients = function_of(many)(array)
    one = models_of_rows.log_posterior(model)  # behind: evaluating many leaves the model as it was
    assert values.shape == (4,) and gradients.shape == array.shape
    for x, value, gradient in zip(array, values, gradients, strict=True):
        want, slope = one(x)
        np.testing.assert_allclose(value, want, rtol=1e-10)
        np.testing.assert_allclose(gradient, slope, rtol=1e-8, atol=1e-9 * np.abs(slope).max())


@pytest.mark.parametrize("build, held, tolerance", [(models_of_rows.varying_slopes, Rows, 0), (glm_of_groups, gs.GLM, 1e-12)])
@pytest.mark.parametrize("mode", [QUICK, pytest.param("NUMBA", marks=THOROUGH)])
def test_one_evaluation_for_all_points(monkeypatch, build, held, tolerance, mode):
    """What a point has does not depend on the others."""
    calls, original = [], held.value_and_grad

    def counted(self, *args, **kwargs):
        calls.append(1)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(held, "value_and_grad", counted)
    many = gpm.batched(models_of_rows.made(build))
    array, function = some_points(many, 9), function_of(many, mode)
    values, gradients = function(array)
    assert len(calls) == 1
    for k in range(9):
        value, gradient = function(array[k : k + 1])
        np.testing.assert_allclose(value, values[k : k + 1], rtol=tolerance)
        np.testing.assert_allclose(gradient, gradients[k : k + 1], rtol=tolerance, atol=10 * tolerance)
    assert len(calls) == 10


def regression():
    beta, a, s = pm.Normal("beta", shape=4), pm.Normal("a", shape=5), pm.HalfNormal("s")
    pm.Normal("y", pt.dot(X, beta) + a[GROUP], s, observed=Z)


@pytest.mark.parametrize("build", some([glm, glm_of_groups, regression], 2), ids=lambda b: b.__name__)
def test_a_point_has_the_same_bits_among_any_others(multiplying, build):
    """Where a device multiplies matrices for all points at once: one point is as many."""
    many = gpm.batched(models_of_rows.made(build))
    array, function = some_points(many, 9), function_of(many)
    values, gradients = function(array)
    for k in range(9):
        value, gradient = function(array[k : k + 1])
        np.testing.assert_array_equal(value, values[k : k + 1])
        np.testing.assert_array_equal(gradient, gradients[k : k + 1])


def dirichlet():
    gpm.Dirichlet("y", pm.HalfNormal("a", shape=3) + 1, observed=np.abs(X[:, :3]) / np.abs(X[:, :3]).sum(1, keepdims=True))


ALONE_NOWHERE = [mixture_of_gpustats, correlated_vectors, dirichlet, gaussian_process]


@pytest.mark.parametrize("build", some(ALONE_NOWHERE, 4), ids=lambda b: b.__name__)
def test_no_evaluation_of_a_point_alone(monkeypatch, build):
    many = gpm.batched(models_of_rows.made(build))
    array, function = some_points(many, 9), function_of(many)
    alone, original = [], Evaluator.checked_sums
    monkeypatch.setattr(Evaluator, "checked_sums", lambda self, *args: alone.append(1) or original(self, *args))
    values, gradients = function(array)
    assert not alone
    for k in range(0, 9, 4):
        value, gradient = function(array[k : k + 1])
        np.testing.assert_array_equal(value, values[k : k + 1])
        np.testing.assert_allclose(gradient, gradients[k : k + 1], rtol=1e-13)  # PyTensor's own share


def test_no_points_and_one():
    many = gpm.batched(normal())
    values, gradients = many.logp_dlogp(np.empty((0, 6)))
    assert values.shape == (0,) and gradients.shape == (0, 6)
    value, gradient = many.logp_dlogp(many.points.start[None])
    assert value.shape == (1,) and gradient.shape == (1, 6) and np.isfinite(value).all()


@quickly
@pytest.mark.parametrize("build", some([models_of_rows.michaelis_menten, glm_of_groups], 2), ids=lambda b: b.__name__)
def test_an_invalid_point_is_alone(build):
    """Where a parameter is invalid, or nan, the others are what they were."""
    model = models_of_rows.made(build)
    value = model.value_vars[-1]
    with model:
        pm.Potential("valid", pm.logp(pm.Normal.dist(0, value + 1), Z).sum())  # invalid where it is below -1
    many = gpm.batched(model)
    array = np.clip(some_points(many, 5), -0.5, 0.5)
    clean = many.logp(array)
    array[1, -1], array[3, 0] = -2.0, np.nan
    values, gradients = many.logp_dlogp(array)
    assert values[1] == -np.inf and np.isnan(values[3])
    np.testing.assert_allclose(values[[0, 2, 4]], clean[[0, 2, 4]], rtol=1e-12)
    assert np.isfinite(gradients[[0, 2, 4]]).all()


@quickly
def test_models_without_checks():
    """Where parameters are not checked, an invalid one has the value that PyMC computes then."""
    with pm.Model(check_bounds=False) as model:
        pm.Poisson("y", pm.Normal("a") + GROUP, observed=BINARY)
    many, one = gpm.batched(model), model.compile_logp(mode=QUICK)
    points = np.array([[1.0], [-0.5], [-7.0]])
    wanted = [one({"a": a}) for a in points[:, 0]]
    np.testing.assert_allclose(many.logp(points), wanted, rtol=1e-12)


@quickly
def test_invalid_rows(monkeypatch):
    """-inf costs nothing, unless derivatives are wanted, which are PyTensor's there."""
    with pm.Model() as model:
        pm.Poisson("y", pm.Normal("a") + GROUP, observed=BINARY)
    alone, original = [], RowsEvaluator.sums
    monkeypatch.setattr(RowsEvaluator, "sums", lambda self, *args: alone.append(1) or original(self, *args))
    many, points = gpm.batched(model), np.array([[5.0], [-0.5], [6.0]])
    values = many.logp(points)
    assert values[1] == -np.inf and np.isfinite(values[[0, 2]]).all() and not alone
    again, gradients = many.logp_dlogp(points)
    np.testing.assert_array_equal(again, values)
    assert len(alone) == 1 and np.isfinite(gradients[[0, 2]]).all()


def test_points_by_name():
    many = gpm.batched(normal())
    array = some_points(many)
    values, gradients = many.logp_dlogp(array)
    by_name = many.points.as_dict(array)
    assert {name: v.shape for name, v in by_name.items()} == {"a": (4, 5), "s_log__": (4,)}
    np.testing.assert_array_equal(many.logp(by_name), values)
    its_values, its_gradients = many.logp_dlogp(dict(reversed(by_name.items())))
    np.testing.assert_array_equal(its_values, values)
    np.testing.assert_array_equal(its_gradients["a"], gradients[:, :5])
    np.testing.assert_array_equal(its_gradients["s_log__"], gradients[:, 5])
    np.testing.assert_array_equal(many.logp(np.asfortranarray(array)[::1]), values)
    np.testing.assert_allclose(many.logp(array.astype(np.float32)), values, rtol=1e-5)


@pytest.mark.parametrize("points, says", [
    (np.zeros(6), r"points have shape \(6,\): they must have \(C, 6\)"),
    (np.zeros((2, 5)), r"shape \(2, 5\): they must have \(C, 6\)"),
    ({"a": np.zeros((2, 5))}, "points have the variables a: they must have a, s_log__"),
    ({"a": np.zeros((2, 5)), "s": np.zeros(2)}, "they must have a, s_log__"),
    ({"a": np.zeros((2, 4)), "s_log__": np.zeros(2)}, r"a has shape \(2, 4\): it must have \(C, 5\)"),
    ({"a": np.zeros((2, 5)), "s_log__": 0.0}, r"s_log__ has shape \(\): it must have \(C,\)"),
    ({"a": np.zeros((2, 5)), "s_log__": np.zeros(3)}, "as many points; they have: a 2, s_log__ 3"),
])  # fmt: skip
def test_points_of_other_shapes(points, says):
    with pytest.raises(ValueError, match=says):
        gpm.batched(normal()).logp(points)


@quickly
def test_discrete_variables():
    with pm.Model() as model:
        changed, level = pm.DiscreteUniform("changed", 0, N), pm.Normal("level", shape=2)
        pm.Normal("y", level[pt.ge(np.arange(N), changed).astype(int)], 1.0, observed=Z)
    many, one = gpm.batched(model), model.compile_logp(mode=QUICK)
    points = {"changed": np.array([3, 70, 200]), "level": rng.normal(size=(3, 2))}
    wanted = [one({name: v[k] for name, v in points.items()}) for k in range(3)]
    np.testing.assert_allclose(many.logp(points), wanted, rtol=1e-11)
    assert wanted[2] == -np.inf
    for call in (lambda: many.logp_dlogp(points), many.as_jax):
        with pytest.raises(TypeError, match="changed are discrete"):
            call()


@quickly
def test_constrained_variables():
    with pm.Model() as model:
        a, s = pm.Normal("a", shape=5), pm.HalfNormal("s", 5)
        pm.Deterministic("ratio", a / s)
        pm.Normal("y", a[GROUP], s, observed=Z)
    many = gpm.batched(model)
    array = some_points(many, 12).reshape(3, 4, 6)  # steps of chains
    found = many.constrained(array)
    assert {name: v.shape for name, v in found.items()} == {"a": (3, 4, 5), "s": (3, 4), "ratio": (3, 4, 5)}
    np.testing.assert_allclose(found["s"], np.exp(array[..., 5]))
    np.testing.assert_allclose(found["ratio"], array[..., :5] / np.exp(array[..., 5:]))


@quickly
def test_data_that_change():
    with pm.Model() as model:
        y, a = pm.Data("y_data", Z), pm.Normal("a")
        pm.Normal("y", a, 1.0, observed=y)
    many, one = gpm.batched(model), model.compile_logp(mode=QUICK)
    for data in (Z, 2 * Z, Z[:70]):
        with model:
            pm.set_data({"y_data": data})
        np.testing.assert_allclose(many.logp([[0.5], [1.5]]), [one({"a": 0.5}), one({"a": 1.5})], rtol=1e-11)


@quickly
def test_a_copy_through_pickle():
    many = gpm.batched(normal())
    array = some_points(many)
    values = many.logp(array)
    np.testing.assert_array_equal(cloudpickle.loads(cloudpickle.dumps(many)).logp(array), values)


def test_the_model_of_the_context():
    with normal() as model:
        assert gpm.batched().model is model
    with pytest.raises(TypeError, match="model"):
        gpm.batched()


# -- Sequential Monte Carlo


def smc(kernel, **kwargs):
    with normal():
        return pm.sample_smc(120, kernel=kernel, chains=2, random_seed=4, progressbar=False, **kwargs)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["IMH", "MH"])
def test_particles_are_those_of_pymc(name, monkeypatch):
    evaluated, original = [], RowsEvaluator.sums_of_sets

    def counted(self, arrays, wrt):
        evaluated.append(max(len(a) for a in arrays))
        return original(self, arrays, wrt)

    monkeypatch.setattr(RowsEvaluator, "sums_of_sets", counted)
    ours = smc(getattr(gpm.smc, name), cores=1)
    assert set(evaluated) == {120}
    theirs = smc(getattr(pm.smc, name), cores=1, compile_kwargs={"mode": QUICK})
    for variable in ("a", "s"):
        np.testing.assert_allclose(ours.posterior[variable], theirs.posterior[variable], rtol=1e-6)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_hamiltonian_particles_of_a_conjugate_model():
    rng = np.random.default_rng(8)
    X, k = rng.normal(size=(60, 20)), 20
    y = X @ rng.normal(size=k) + rng.normal(size=60)
    with pm.Model():
        pm.Normal("y", X @ pm.Normal("beta", shape=k), 1.0, observed=y)
        found = pm.sample_smc(600, kernel=gpm.smc.HMC, chains=1, random_seed=2, progressbar=False)
    covariance = np.linalg.inv(X.T @ X + np.eye(k))
    beta, sd = found.posterior["beta"][0].values, np.sqrt(np.diag(covariance))
    assert np.abs((beta.mean(0) - covariance @ X.T @ y) / sd).max() < 4 / np.sqrt(600)
    np.testing.assert_allclose(beta.std(0), sd, rtol=0.15)
    evidence = stats.multivariate_normal(np.zeros(60), X @ X.T + np.eye(60)).logpdf(y)
    stages = np.asarray(found.sample_stats["log_marginal_likelihood"]).ravel().tolist()  # nan but for the last
    stages = np.hstack(stages).astype(float)
    assert stages[~np.isnan(stages)] == pytest.approx(evidence, abs=1.0)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_hamiltonian_particles_that_all_begin_at_one_point():
    with pm.Model():
        mu = pm.Normal("mu", 0, 3, shape=2, initval=np.array([0.1, 0.7]))
        pm.Normal("y", mu, pm.HalfNormal("sigma"), observed=np.ones((20, 2)))
        with pytest.raises(ValueError, match="begin at the same mu, .* initval"):
            pm.sample_smc(50, kernel=gpm.smc.HMC, chains=1, random_seed=2, progressbar=False)


@pytest.mark.filterwarnings("ignore")
def test_hamiltonian_particles_want_gradients():
    with pm.Model():
        pm.Normal("y", pm.Poisson("n", 3.0), observed=np.ones(3))
        with pytest.raises(TypeError, match="n are discrete"):
            gpm.smc.HMC(draws=10)
    with normal(), pytest.raises(ValueError, match="target_accept is 2"):
        gpm.smc.HMC(draws=10, target_accept=2)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_chains_as_processes():
    alone, together = smc(gpm.smc.HMC, cores=1), smc(gpm.smc.HMC, cores=2)
    np.testing.assert_allclose(together.posterior["a"], alone.posterior["a"], rtol=1e-9)


def test_a_kernel_that_asks_in_another_order():
    """Rows in any order, copies of rows, and rows of an array that has changed."""
    with normal() as model:
        kernel = gpm.smc.MH(draws=10, model=model)
    function, particles = kernel.likelihood_logp_func, some_points(gpm.batched(model), 10)
    wanted = [float(function(particle.copy())) for particle in particles]
    assert [float(function(particles[k])) for k in (3, 0, 1, 9, 2)] == [wanted[k] for k in (3, 0, 1, 9, 2)]
    assert [float(function(particle)) for particle in particles] == wanted
    changed = particles.copy()
    assert float(function(changed[0])) == wanted[0]
    changed[1] = particles[5]
    assert [float(function(changed[k])) for k in (1, 2)] == [wanted[k] for k in (5, 2)]


# -- Samplers of other libraries


def test_a_function_of_jax(monkeypatch):
    jax = pytest.importorskip("jax")
    many = gpm.batched(normal())
    array, calls, original = some_points(many), [], many.logp_dlogp
    values, gradients = many.logp_dlogp(array)
    monkeypatch.setattr(many, "logp_dlogp", lambda points: calls.append(len(points)) or original(points))
    function = many.as_jax()
    with jax.enable_x64(True):
        got, slopes = jax.jit(jax.vmap(jax.value_and_grad(function)))(array)
        assert not calls
        np.testing.assert_allclose(got, values, rtol=1e-12)
        np.testing.assert_allclose(slopes, gradients, rtol=1e-11, atol=1e-11)
        _, along = jax.jvp(function, (array[0],), (array[1],))
        np.testing.assert_allclose(along, gradients[0] @ array[1], rtol=1e-12)
        assert jax.vmap(jax.vmap(function))(array.reshape(2, 2, 6)).shape == (2, 2)
        with pytest.raises(ValueError, match=r"shape \(4, 6\): it must have \(6,\)"):
            function(array)
    with jax.enable_x64(False):
        got = jax.jit(jax.vmap(function))(array)[0]
        assert calls == [4] and got.dtype == np.float32
        np.testing.assert_allclose(got, values[0], rtol=1e-5)


@THOROUGH
def test_an_ensemble():
    emcee = pytest.importorskip("emcee")
    many = gpm.batched(normal())
    sampler = emcee.EnsembleSampler(20, many.points.size, many.logp, vectorize=True)
    sampler.random_state = np.random.RandomState(1).get_state()
    sampler.run_mcmc(some_points(many, 20, 0.1), 400)
    draws = many.constrained(sampler.get_chain(discard=150))
    for g in range(5):
        rows = Z[GROUP == g]
        assert abs(draws["a"][..., g].mean() - rows.mean()) < 0.6 / np.sqrt(len(rows))
    assert abs(draws["s"].mean() - Z.std()) < 0.15


def test_graphs_that_are_differentiated_behind_the_sets():
    """Vectorised first and differentiated then: by the graph that was fused."""
    a, y = pt.dvector("a"), rng.normal(size=N)
    with gpm.fused(min_rows=10):
        total = pm.pytensorf.rewrite_pregrad(pt.sqr(a[GROUP] - y).sum())
    sets = pt.dmatrix("sets")
    values = pytensor.graph.replace.vectorize_graph(total, {a: sets})
    function = pytensor.function([sets], [values, pt.grad((values * np.array([1.0, 3.0])).sum(), sets)], mode=QUICK)
    points = rng.normal(size=(2, 5))
    got, slopes = function(points)
    residuals = points[:, GROUP] - y
    np.testing.assert_allclose(got, (residuals**2).sum(1), rtol=1e-12)
    wanted = [k * np.bincount(GROUP, 2 * r, 5) for k, r in zip((1.0, 3.0), residuals, strict=True)]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-11)
