"""Sampling PyMC models of densities: every sampler, threads and processes, predictions."""

import multiprocessing
import warnings

import numpy as np
import pytest
from thorough import THOROUGH

pm = pytest.importorskip("pymc")

import arviz  # noqa: E402
from modes import QUICK  # noqa: E402
from scipy import stats  # noqa: E402
from sklearn.datasets import load_breast_cancer  # noqa: E402
from statsmodels import datasets  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402

Y = np.random.default_rng(1).gamma(2.5, 1 / 1.5, 500)
SHORT = {"draws": 200, "tune": 200, "chains": 2, "cores": 2, "random_seed": 1, "progressbar": False}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # chains as short as these
        warnings.simplefilter("ignore", FutureWarning)
        yield


def gamma_model(distributions):
    with pm.Model() as model:
        alpha, beta = distributions.HalfNormal("alpha", 5.0), distributions.HalfNormal("beta", 5.0)
        distributions.Gamma("y", alpha=alpha, beta=beta, observed=Y)
    return model


def mean_of(trace, name):
    return float(trace.posterior[name].mean())


@THOROUGH
@pytest.mark.parametrize("sampler", ["pymc", "nutpie"])
def test_nuts(sampler):
    """nutpie's chains are threads that Python did not start, PyMC's are processes, forked where the platform forks."""
    if sampler == "nutpie":
        pytest.importorskip("nutpie")
    gs.normal.logpdf(0.0, 0.0, 1.0)  # this process has used the device before it forks
    with gamma_model(gpm):
        trace = pm.sample(nuts_sampler=sampler, **SHORT)
    assert mean_of(trace, "alpha") / mean_of(trace, "beta") == pytest.approx(Y.mean(), rel=0.03)
    assert int(trace.sample_stats["diverging"].sum()) == 0


METHODS = multiprocessing.get_all_start_methods()


@THOROUGH
@pytest.mark.parametrize("method", [pytest.param(m, marks=[pytest.mark.slow] * (m != "spawn")) for m in METHODS])
def test_chains_as_processes(method):
    """After this process has used the device. A process that is not forked compiles the model again."""
    gs.normal.logpdf(0.0, 0.0, 1.0)
    with gamma_model(gpm):
        trace = pm.sample(nuts_sampler="pymc", mp_ctx=method, compile_kwargs={"mode": QUICK}, **{**SHORT, "draws": 100})
    assert mean_of(trace, "alpha") / mean_of(trace, "beta") == pytest.approx(Y.mean(), rel=0.04)


def test_from_a_string_to_the_posterior():
    gs.register("""
    // reciprocal: density proportional to 1 / x between 1 and a bound
    // x: real    bound: positive
    __device__ real reciprocal_logpdf(real x, real bound)
    {
        return x < 1 || x > bound ? -INFINITY : -log(x) - log(log(bound));
    }
    """)
    x = np.exp(np.random.default_rng(1).uniform(0, np.log(20.0), 200))
    with pm.Model():
        bound = pm.Uniform("bound", x.max(), 40.0)
        gpm.Reciprocal("x", bound, observed=x)
        trace = pm.sample(**SHORT)
    grid = np.linspace(x.max(), 40, 10001)[1:]
    weights = np.log(grid) ** -len(x)
    assert mean_of(trace, "bound") == pytest.approx(np.average(grid, weights=weights), rel=0.01)


def tumours(distributions):
    """A logistic regression of 569 tumours (scikit-learn)."""
    data = load_breast_cancer()
    x = data.data[:, [1, 4, 8]]
    with pm.Model() as model:
        slopes, intercept = pm.Normal("slopes", 0, 2, shape=3), pm.Normal("intercept", 0, 2)
        eta = (x - x.mean(0)) / x.std(0) @ slopes + intercept
        if distributions is gpm:
            gpm.BernoulliLogit("y", eta, observed=data.target)
        else:
            pm.Bernoulli("y", logit_p=eta, observed=data.target)
    return model


def households(distributions):
    """A robust regression of what 235 households spent on food (Engel, 1857)."""
    data = datasets.engel.load_pandas().data / 1000
    with pm.Model() as model:
        intercept, slope = pm.Normal("intercept", 0, 1), pm.Normal("slope", 0, 1)
        nu, sigma = pm.Gamma("nu", 2, 0.1), pm.HalfNormal("sigma", 0.5)
        mu = intercept + slope * data["income"].to_numpy()
        distributions.StudentT("y", nu=nu, mu=mu, sigma=sigma, observed=data["foodexp"].to_numpy())
    return model


def visits(distributions):
    """Counts of 2,019 persons' visits to a doctor (RAND Health Insurance Experiment)."""
    y = datasets.randhie.load_pandas().data["mdvis"].to_numpy()[::10]
    with pm.Model() as model:
        mu, alpha = pm.HalfNormal("mu", 10), pm.HalfNormal("alpha", 10)
        distributions.NegativeBinomial("y", mu=mu, alpha=alpha, observed=y)
    return model


def posterior_of(model, **how):
    """Draws as a dataset, and their effective number."""
    with model:
        posterior = pm.sample(500, tune=500, chains=2, cores=2, random_seed=1, progressbar=False, **how).posterior
    posterior = posterior.to_dataset() if hasattr(posterior, "to_dataset") else posterior
    return posterior, arviz.ess(posterior)


@pytest.mark.slow
@pytest.mark.parametrize("make", [tumours, households, visits])
def test_posterior_of_real_data_is_pymcs(make):
    """With chains as threads, by nutpie, and as processes."""
    pytest.importorskip("nutpie")
    want, ess_of_want = posterior_of(make(pm), nuts_sampler="nutpie")
    for sampler in ("nutpie", "pymc"):
        got, ess = posterior_of(make(gpm), nuts_sampler=sampler)
        for name in [n for n in want.data_vars if not n.endswith("__")]:
            a, b = (p[name].std(("chain", "draw")) / n[name] ** 0.5 for p, n in ((got, ess), (want, ess_of_want)))
            difference = got[name].mean(("chain", "draw")) - want[name].mean(("chain", "draw"))
            assert (abs(difference) <= 3 * np.hypot(a, b)).all(), (sampler, name)
            np.testing.assert_allclose(got[name].std(("chain", "draw")), want[name].std(("chain", "draw")), rtol=0.2)


@THOROUGH
def test_predictions_and_loo():
    with gamma_model(gpm):
        prior = pm.sample_prior_predictive(50, random_seed=1)
        trace = pm.sample(nuts_sampler="pymc", **{**SHORT, "cores": 1})
        pm.compute_log_likelihood(trace, progressbar=False)
        predicted = pm.sample_posterior_predictive(trace, progressbar=False, random_seed=1)
    assert prior.prior_predictive["y"].shape == (1, 50, 500)
    draws = predicted.posterior_predictive["y"].values[:, ::20].ravel()
    assert stats.ks_2samp(draws, Y).pvalue > 1e-3
    got = trace.log_likelihood["y"].values
    assert got.shape == (2, 200, 500)
    with gamma_model(pm):
        want = pm.compute_log_likelihood(trace, progressbar=False, extend_inferencedata=False)["y"].values
    assert np.allclose(got, want, rtol=1e-10)
    loo = arviz.loo(trace)
    elpd = getattr(loo, "elpd", None) or loo.elpd_loo  # ArviZ 1, ArviZ 0
    assert elpd == pytest.approx(got.mean((0, 1)).sum(), abs=5)  # two parameters cost about two


@THOROUGH
def test_other_inference():
    with gamma_model(gpm):
        mode = pm.find_MAP(progressbar=False)
        smc = pm.sample_smc(draws=200, chains=2, cores=1, random_seed=1, progressbar=False)
    with gamma_model(pm):
        want = pm.find_MAP(progressbar=False)
    assert mode["alpha"] == pytest.approx(want["alpha"], rel=1e-5)
    assert mean_of(smc, "alpha") == pytest.approx(float(want["alpha"]), rel=0.1)


@THOROUGH
def test_minibatches():
    means = []
    for distributions in (gpm, pm):
        with pm.Model():
            mu = pm.Normal("mu", 0, 10)
            batch = pm.Minibatch(Y, batch_size=50)
            distributions.Normal("y", mu, np.float64(1.5), observed=batch, total_size=len(Y))
            means.append(pm.fit(300, progressbar=False, random_seed=1).mean.eval())
    assert means[0] == pytest.approx(means[1], rel=1e-6)
    assert means[0] != 0


@THOROUGH
def test_discrete_variables_are_sampled():
    """A count without a gradient gets its own sampler beside NUTS."""
    with pm.Model():
        n = gpm.Poisson("n", 20.0)
        p = gpm.Beta("p", 2.0, 2.0)
        gpm.Binomial("y", n, p, observed=[4, 6, 5])
        trace = pm.sample(**{**SHORT, "cores": 1})
    assert trace.posterior["n"].dtype == np.int64
    assert int(trace.posterior["n"].min()) >= 6
    assert float((trace.posterior["n"] * trace.posterior["p"]).mean()) == pytest.approx(5, abs=1.0)
