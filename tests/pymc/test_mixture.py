"""The PyMC distribution of mixtures: values, gradients, draws and posteriors, against PyMC's own."""

import warnings

import numpy as np
import pytest
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")

import arviz  # noqa: E402
import cloudpickle  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import AS_WRITTEN, QUICK, REWRITTEN  # noqa: E402
from pymc_models import counterpart  # noqa: E402
from pymc_parameters import COV  # noqa: E402
from pytensor.gradient import verify_grad  # noqa: E402
from scipy import stats  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.evaluation import forked  # noqa: E402
from gpustats.compiler.evaluation.density import DensityFormula  # noqa: E402
from gpustats.compiler.evaluation.mixture import MixtureEvaluator, MixtureFormula  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood  # noqa: E402
from gpustats.runtime import choose  # noqa: E402

W = np.array([0.2, 0.5, 0.3])
MEANS = np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5], [-1.0, -2.0, 1.5]])
COVS = np.stack([COV, np.eye(3), 2 * COV])

#: density -> parameters with an axis of three components; all but one have a value for each
COMPONENTS = {
    "normal": (np.array([-2.0, 0.5, 3.0]), np.array([0.5, 1.0, 2.0])),
    "gamma": (np.array([2.3, 1.5, 4.0]), np.full(3, 1.2)),
    "student_t": (np.array([4.0, 3.0, 8.0]), np.array([-2.0, 0.5, 3.0]), np.array([0.5, 1.0, 2.0])),
    "poisson": (np.array([1.0, 4.0, 20.0]),),
    "binomial": (np.array([5, 8, 12]), np.array([0.2, 0.5, 0.9])),
    "mvnormal": (MEANS, COVS),
    "mv_student_t": (np.array([4.0, 3.0, 8.0]), MEANS, COVS),
    "dirichlet": (np.array([[2.0, 1.5, 3.0], [1.2, 4.0, 2.0], [5.0, 1.1, 1.3]]),),
}


@pytest.fixture(autouse=True)
def quiet():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # chains as short as these
        warnings.simplefilter("ignore", FutureWarning)
        yield


def difference(got, want):
    return np.max(np.abs(got - want) / (1 + np.abs(want)), initial=0)


def of_pymc(name, weights, parameters, **kwargs):
    """PyMC's mixture: one distribution with an axis of components."""
    return pm.Mixture.dist(weights, counterpart(name, parameters), **kwargs)


def draws_of(name, n, seed=1):
    k = np.random.default_rng(seed).choice(3, n, p=W)
    return gs.densities[name].rvs(*(np.asarray(p)[k] for p in COMPONENTS[name]), rng=seed)


def both(name, x, weights, parameters):
    """What gpustats and PyMC say: values, and gradients of their sum and of a weighted sum."""
    inputs = [pt.tensor(f"p{i}", dtype="float64", shape=np.shape(v)) for i, v in enumerate([weights, *parameters])]
    observed = pt.tensor("x", dtype=x.dtype.name, shape=x.shape)
    formula = MixtureFormula(DensityFormula(gs.densities[name]))
    candidates = [observed, *inputs]
    wrt = [candidates[i] for i in formula.differentiable]
    if name == "dirichlet":  # PyMC's gradient does not know that x sums to one
        wrt = wrt[1:]
    w = inputs[0] / inputs[0].sum(axis=-1, keepdims=True)
    given = [(v + pt.swapaxes(v, -1, -2)) / 2 if v is inputs[-1] and "mv" in name else v for v in inputs[1:]]
    results = []
    for rv, mode in ((gpm.Mixture.dist(w, gs.densities[name], *given), QUICK), (of_pymc(name, w, given), AS_WRITTEN)):
        logp = pm.logp(rv, observed)
        outputs = [logp, *pt.grad(logp.sum(), wrt), *pt.grad((logp * np.linspace(-1, 2, 7)).sum(), wrt)]
        function = pytensor.function(candidates, outputs, mode=mode, on_unused_input="ignore")
        results.append(function(x, *(np.asarray(v, float) for v in [weights, *parameters])))
    return results


@pytest.mark.parametrize("name", some(COMPONENTS, 12))
def test_equals_pymc(name):
    x = draws_of(name, 7)
    got, want = both(name, x, W, COMPONENTS[name])
    assert got[0].shape == (7,) and np.isfinite(got[0]).all()
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape and difference(a, b) < 1e-10


@pytest.mark.parametrize("name", some(["normal", "poisson", "mvnormal"]))
@pytest.mark.parametrize("varying", some(["both", "weights", "parameters"]))
def test_mixtures_that_vary_between_observations(name, varying, rng):
    x = draws_of(name, 7)
    weights = rng.dirichlet(np.ones(3), 7) if varying != "parameters" else W
    parameters = list(COMPONENTS[name])
    if varying != "weights":
        parameters[0] = parameters[0] * rng.uniform(0.8, 1.2, (7, *np.ones(parameters[0].ndim, int)))
    got, want = both(name, x, weights, parameters)
    for a, b in zip(got, want, strict=True):
        assert a.shape == b.shape and difference(a, b) < 1e-10


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,)])
def test_shapes_of_observations(shape, rng):
    x = rng.normal(size=shape)
    got = pm.logp(gpm.Mixture.dist(W, gs.normal, *COMPONENTS["normal"], shape=shape), x).eval(mode=QUICK)
    want = np.log((stats.norm.pdf(x[..., None], *COMPONENTS["normal"]) * W).sum(-1))
    assert got.shape == shape and difference(got, want) < 1e-12


@pytest.mark.parametrize("shape", some([(v,) for v in [(9,), (3, 3), ()]]))
def test_verify_grad(shape, rng):
    """Against finite differences; a parameter that all components share among them."""

    def total(x, logits, mu, sigma):
        return pm.logp(gpm.Mixture.dist(pt.special.softmax(logits), gs.normal, mu, sigma), x).sum()

    values = [rng.normal(size=shape), rng.normal(size=3), rng.normal(size=3), np.array(1.3)]
    verify_grad(total, values, rng=rng, mode=AS_WRITTEN)


@pytest.mark.parametrize("kind", some(["cov", "scale_tril", "precision"]))
def test_ways_to_give_the_covariance(kind, rng):
    """One for each component, and one for all."""
    x = rng.normal(size=(5, 3))
    of = {"cov": lambda c: c, "scale_tril": np.linalg.cholesky, "precision": np.linalg.inv}[kind]
    for covs in (COVS, COV):
        want = [stats.multivariate_normal.pdf(x, m, c) for m, c in zip(MEANS, np.broadcast_to(covs, (3, 3, 3)))]
        rv = gpm.Mixture.dist(W, gs.mvnormal, MEANS, **{kind: of(covs)})
        assert difference(pm.logp(rv, x).eval(mode=QUICK), np.log(W @ want)) < 1e-10


def test_weights_of_zero_and_weights_that_are_none():
    rv = gpm.Mixture.dist([0.0, 1.0], gs.normal, mu=[np.nan, 1.0], sigma=1.0)
    assert pm.logp(rv, 0.5).eval(mode=QUICK) == pytest.approx(stats.norm.logpdf(0.5, 1, 1))
    for weights in ([0.5, 0.6], [-0.5, 1.5]):
        with pytest.raises(pm.logprob.utils.ParameterValueError, match=r"sum\(w\) == 1"):
            pm.logp(gpm.Mixture.dist(weights, gs.normal, mu=[0.0, 1.0], sigma=1.0), 0.5).eval(mode=QUICK)


# ---- in a model


Y = np.concatenate([np.random.default_rng(1).normal(m, s, n) for m, s, n in ((-3, 0.5, 100), (0, 1, 150), (4, 1, 200))])


def mixture_model(distributions, observed=Y):
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.full(3, 2.0))
        mu = pm.Normal("mu", 0, 5, shape=3, transform=pm.distributions.transforms.ordered, initval=[-1.0, 0.0, 1.0])
        sigma = pm.Gamma("sigma", 3, 2, shape=3)
        if distributions is gpm:
            gpm.Mixture("y", w=w, comp_dists=gs.normal, mu=mu, sigma=sigma, observed=observed)
        else:
            pm.NormalMixture("y", w, mu, sigma=sigma, observed=observed)
    return model


def value_and_gradient(model, mode):
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    return function


@THOROUGH
@pytest.mark.parametrize("mode", [REWRITTEN, QUICK])
def test_one_evaluation_gives_value_and_gradient(mode, rng):
    function = value_and_gradient(mixture_model(gpm), mode)
    nodes = function._pytensor_function.maker.fgraph.apply_nodes
    assert not [n for n in nodes if isinstance(n.op, LogDensity)]
    (node,) = [n for n in nodes if isinstance(n.op, LogLikelihood)]
    assert node.op.wrt == (1, 2, 3) and len(node.inputs) == 3  # the data are the Op's own
    point = rng.normal(size=8)
    got, want = function(point), value_and_gradient(mixture_model(pm), QUICK)(point)
    assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-10


@THOROUGH
def test_numba_evaluates():
    """Sums with gradients, tables and weighted gradients."""
    w, mu = pt.dvector("w"), pt.dvector("mu")
    terms = pm.logp(gpm.Mixture.dist(w, gs.normal, mu, 1.5), Y[:7])
    outputs = [terms.sum(), *pt.grad(terms.sum(), [w, mu]), terms, *pt.grad((terms * np.arange(7)).sum(), [w, mu])]
    for got, want in zip(*(pytensor.function([w, mu], outputs, mode=m)(W, COMPONENTS["normal"][0]) for m in ("NUMBA", QUICK))):
        assert np.array_equal(got, want)


def test_data_that_change():
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            data, mu = pm.Data("data", Y[:50]), pm.Normal("mu", shape=2)
            if distributions is gpm:
                gpm.Mixture("y", [0.25, 0.75], gs.normal, mu, 1.5, observed=data)
            else:
                pm.NormalMixture("y", [0.25, 0.75], mu, sigma=1.5, observed=data)
            function = value_and_gradient(model, QUICK)
            results.append([function(np.array([0.1, 2.0]))])
            pm.set_data({"data": Y[50:180]})
            results[-1].append(function(np.array([0.1, 2.0])))
    for got, want in zip(*results):
        assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-10


@pytest.mark.slow
def test_posterior_is_pymcs():
    pytest.importorskip("nutpie")
    found = []
    for distributions in (gpm, pm):
        with mixture_model(distributions):
            trace = pm.sample(
                200, tune=200, chains=2, cores=2, random_seed=1, progressbar=False, nuts_sampler="nutpie", target_accept=0.9
            )
        posterior = trace.posterior.to_dataset() if hasattr(trace.posterior, "to_dataset") else trace.posterior
        found.append((posterior, arviz.ess(posterior)))
    (got, ess), (want, ess_of_want) = found
    for name in ("w", "mu", "sigma"):
        a, b = (p[name].std(("chain", "draw")) / n[name] ** 0.5 for p, n in ((got, ess), (want, ess_of_want)))
        difference = got[name].mean(("chain", "draw")) - want[name].mean(("chain", "draw"))
        assert (abs(difference) <= 4 * np.hypot(a, b)).all()
        np.testing.assert_allclose(got[name].std(("chain", "draw")), want[name].std(("chain", "draw")), rtol=0.25)


@pytest.mark.parametrize("name", some(["normal", "gamma", "mvnormal", "dirichlet", "student_t"], 5))
def test_as_a_prior(name):
    """Its transform, its starting point, and the log-density of what is sampled."""
    weights, parameters, results = W, COMPONENTS[name], []
    for make in (lambda **k: gpm.Mixture.dist(weights, gs.densities[name], *parameters, **k),
                 lambda **k: of_pymc(name, weights, parameters, **k)):  # fmt: skip
        with pm.Model() as model:
            model.register_rv(make(shape=(2, 3)), "v")
        (value,) = model.value_vars
        start = model.initial_point()[value.name]
        logp = model.compile_fn([model.logp(), model.dlogp()], mode=AS_WRITTEN if results else QUICK)
        results.append((value.name, start.shape, logp))
        assert np.isfinite(logp({value.name: start})[0])
    assert results[0][:2] == results[1][:2]
    point = {value.name: np.random.default_rng(1).normal(size=start.shape)}
    for got, want in zip(*(logp(point) for *_, logp in results)):
        assert difference(got, want) < 1e-10


def test_an_interval_that_covers_all_components():
    with pm.Model() as model:
        gpm.Mixture("v", [0.5, 0.5], gs.uniform, lower=[0.0, 2.0], upper=[1.0, 6.0])
    assert list(model.initial_point()) == ["v_interval__"]
    transform = model.rvs_to_transforms[model["v"]]
    ends = transform.backward(pt.constant([-40.0, 40.0]), *model["v"].owner.inputs).eval(mode=QUICK)
    assert ends == pytest.approx([0.0, 6.0])


@THOROUGH
def test_censored_data():
    """By the distribution function of the mixture."""
    results, y = [], np.clip(Y, -2.5, 4.0)
    for distributions in (gpm, pm):
        with pm.Model() as model:
            mu = pm.Normal("mu", shape=3)
            base = (
                gpm.Mixture.dist(W, gs.normal, mu, 1.5) if distributions is gpm else pm.NormalMixture.dist(W, mu, sigma=1.5)
            )
            pm.Censored("y", base, lower=-2.5, upper=4.0, observed=y)
        results.append(model.compile_fn([model.logp(), model.dlogp()], mode=QUICK)({"mu": np.array([-1.0, 0.0, 2.0])}))
    for got, want in zip(*results):
        assert difference(got, want) < 1e-9


# ---- draws


def assert_same_distribution(got, want):
    """Each component of a vector by itself."""
    assert got.shape == want.shape and got.dtype == want.dtype
    for a, b in zip(*(v.reshape(len(v), -1).T for v in (got, want))):
        assert stats.ks_2samp(a, b, method="asymp").pvalue > 1e-5


@THOROUGH
@pytest.mark.parametrize("name", some(COMPONENTS))
def test_draws_are_pymcs(name):
    got = pm.draw(gpm.Mixture.dist(W, gs.densities[name], *COMPONENTS[name]), 1000, mode=QUICK, random_seed=1)
    want = pm.draw(of_pymc(name, W, COMPONENTS[name]), 1000, mode=QUICK, random_seed=2)
    assert_same_distribution(got, want)


@THOROUGH
@pytest.mark.parametrize("name", ["normal", "poisson", "mvnormal"])
def test_draws_of_mixtures_that_vary(name, rng):
    """Weights and parameters for each of four mixtures, several draws at a time."""
    weights = rng.dirichlet(np.ones(3), 4)
    parameters = [p * rng.uniform(0.8, 1.2, (4, *np.ones(p.ndim, int))) for p in COMPONENTS[name]]
    rv = gpm.Mixture.dist(weights, gs.densities[name], *parameters)
    core = rv.owner.op.ndim_supp
    draws = pm.draw(rv, 500, mode=QUICK, random_seed=1)
    assert draws.shape == (500, 4) + (3,) * core
    for i in range(4):
        one = gpm.Mixture.dist(weights[i], gs.densities[name], *(p[i] for p in parameters), shape=(500,) + (3,) * core)
        assert_same_distribution(draws[:, i], pm.draw(one, mode=QUICK, random_seed=3))


def test_draws_of_no_and_of_many():
    for shape in ((0,), (2, 0), (1,)):
        assert pm.draw(gpm.Mixture.dist(W, gs.poisson, [1.0, 2.0, 3.0], shape=shape), mode=QUICK).shape == shape
    rv = gpm.Mixture.dist(W, gs.normal, *COMPONENTS["normal"], shape=1_000_000)
    draws = pm.draw(rv, mode=QUICK, random_seed=1)
    mean = W @ COMPONENTS["normal"][0]
    assert draws.mean() == pytest.approx(mean, abs=5 * draws.std() / 1000)


@pytest.mark.slow
def test_predictive_draws():
    with mixture_model(gpm):
        prior = pm.sample_prior_predictive(20, random_seed=1, compile_kwargs={"mode": QUICK})
        trace = pm.sample(100, tune=200, chains=1, random_seed=1, progressbar=False)
        predicted = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1).posterior_predictive["y"]
    assert prior.prior_predictive["y"].shape == (1, 20, len(Y))
    assert stats.ks_2samp(predicted.values[0, ::5].ravel(), Y).pvalue > 1e-3


def test_vectors_without_a_vector_parameter():
    density = gs.register("""
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
    rv = gpm.Mixture.dist([0.4, 0.6], density, sigma=[1.0, 5.0], shape=(4000, 2))
    draws = pm.draw(rv, mode=QUICK, random_seed=1)
    want = np.logaddexp(*(np.log(w) + stats.norm.logpdf(draws, 0, s).sum(-1) for w, s in ((0.4, 1), (0.6, 5))))
    assert difference(pm.logp(rv, draws).eval(mode=QUICK), want) < 1e-12
    squared = (draws**2).sum(-1)  # 0.4 and 0.6 of an exponential variable with the means 2 and 50
    assert stats.kstest(squared, lambda q: 1 - 0.4 * np.exp(-q / 2) - 0.6 * np.exp(-q / 50)).pvalue > 1e-4


def test_density_without_a_sampler():
    density = gs.register("""
    // tent: a density of one's own
    // x: real    b: positive
    __device__ real tent_logpdf(real x, real b) { return -fabs(x) / b; }
    """)
    with pytest.raises(NotImplementedError, match=r"no random draws of tent: write tent_sample\(rng_t \*rng, …\)"):
        pm.draw(gpm.Mixture.dist(W, density, [1.0, 2.0, 3.0]), mode=QUICK)


# ---- processes and errors


def test_evaluation_for_a_forked_process(monkeypatch):
    evaluator = MixtureEvaluator(MixtureFormula(DensityFormula(gs.normal)), {0: Y})
    values = [np.log(W), *COMPONENTS["normal"]]
    rv = gpm.Mixture.dist(W, gs.normal, *COMPONENTS["normal"], shape=10)
    want, drawn = evaluator.sums(values, (1, 2)), pm.draw(rv, mode=QUICK, random_seed=1)
    monkeypatch.setattr(forked, "_device", choose.get().device.id)
    try:
        for got, expected in zip(evaluator.sums(values, (1, 2)), want):
            assert np.array_equal(got, expected)
        assert np.array_equal(pm.draw(rv, mode=QUICK, random_seed=1), drawn)
    finally:
        forked._worker._process.stdin.close()
        assert forked._worker._process.wait(10) == 0
        forked._worker = None


@THOROUGH
def test_models_are_pickled(rng):
    model, point = mixture_model(gpm), rng.normal(size=8)
    again = cloudpickle.loads(cloudpickle.dumps(model))
    got, want = (value_and_gradient(m, QUICK)(point) for m in (again, model))
    assert got[0] == want[0] and np.array_equal(got[1], want[1])
    assert MixtureFormula(DensityFormula(gs.normal)) == MixtureFormula(DensityFormula(gs.normal)) != DensityFormula(gs.normal)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gpm.Mixture.dist(0.5, gs.normal, 0.0, 1.0), "w must have a last axis of components"),
        (lambda: gpm.Mixture.dist(W, gs.normal, 0.0), "normal needs sigma; its parameters are mu, sigma"),
        (lambda: gpm.Mixture.dist(W, gs.normal, 0.0, tau=1.0), "normal has no parameter 'tau'"),
        (lambda: gpm.Mixture.dist(W, gs.normal, [0.0, 1.0], 1.0), "mu has 2 components, and w has 3"),
        (lambda: gpm.Mixture.dist(W, gs.mvnormal, 0.0, COVS), "mu must be a vector, or one for each component"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
