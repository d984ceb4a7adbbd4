"""Sampling PyMC models of densities: every sampler, threads and processes, predictions."""

import multiprocessing
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import arviz  # noqa: E402
from scipy import stats  # noqa: E402
from sklearn.datasets import load_breast_cancer  # noqa: E402

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


@pytest.mark.parametrize("sampler", ["nutpie", "pymc"])
def test_nuts(sampler):
    """nutpie's chains are threads that Python did not start, PyMC's are processes, forked where the platform forks."""
    if sampler == "nutpie":
        pytest.importorskip("nutpie")
    with gamma_model(gpm):
        trace = pm.sample(nuts_sampler=sampler, **SHORT)
    assert mean_of(trace, "alpha") / mean_of(trace, "beta") == pytest.approx(Y.mean(), rel=0.03)
    assert int(trace.sample_stats["diverging"].sum()) == 0


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_chains_as_processes(method):
    """After this process has used the device."""
    gs.normal.logpdf(0.0, 0.0, 1.0)
    with gamma_model(gpm):
        trace = pm.sample(nuts_sampler="pymc", mp_ctx=method, **{**SHORT, "draws": 100})
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


def test_posterior_of_real_data_is_pymcs():
    """A logistic regression of 569 tumours."""
    data = load_breast_cancer()
    columns = data.data[:, [1, 4, 8]]
    columns = (columns - columns.mean(0)) / columns.std(0)
    traces = []
    for make in (lambda eta: gpm.BernoulliLogit("y", eta, observed=data.target),
                 lambda eta: pm.Bernoulli("y", logit_p=eta, observed=data.target)):  # fmt: skip
        with pm.Model():
            slopes, intercept = pm.Normal("slopes", 0, 2, shape=3), pm.Normal("intercept", 0, 2)
            make(columns @ slopes + intercept)
            traces.append(pm.sample(**{**SHORT, "draws": 500}))
    for name in ("slopes", "intercept"):
        got, want = (np.moveaxis(t.posterior[name].values.reshape(1000, -1), -1, 0) for t in traces)
        for a, b in zip(got, want):
            assert abs(a.mean() - b.mean()) < 0.25 * b.std()
            assert a.std() == pytest.approx(b.std(), rel=0.2)


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


def test_other_inference():
    with gamma_model(gpm):
        mode = pm.find_MAP(progressbar=False)
        smc = pm.sample_smc(draws=200, chains=2, cores=1, random_seed=1, progressbar=False)
    with gamma_model(pm):
        want = pm.find_MAP(progressbar=False)
    assert mode["alpha"] == pytest.approx(want["alpha"], rel=1e-5)
    assert mean_of(smc, "alpha") == pytest.approx(float(want["alpha"]), rel=0.1)


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


