"""What PyMC does with a model besides its log-posterior gives the same with sums fused and without."""

import numpy as np
import pymc as pm
import pytensor
import pytest
from thorough import THOROUGH

import gpustats.pymc as gpm

N = 600
QUIET = {"progressbar": False, "random_seed": 3}


@pytest.fixture(autouse=True)
def little_is_compiled():
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture
def model(rng):
    group, t = rng.integers(0, 6, N), rng.uniform(0, 2, N)
    y = rng.poisson(np.exp(rng.normal(0.5, 0.5, 6)[group] + 0.3 * t))
    with pm.Model(coords={"group": range(6)}) as made:
        t, y = pm.Data("t", t), pm.Data("counts", y)
        a = pm.Normal("a", pm.Normal("mu"), pm.HalfNormal("tau"), dims="group")
        pm.Poisson("y", pm.Deterministic("rate", pm.math.exp(a[group] + pm.Normal("b") * t)), observed=y)
    return made


def both(model, work):
    """What some work gives without fused sums and with them."""
    found = []
    for on in (False, True):
        with model, gpm.fused(on, min_rows=10):
            found.append(work())
    return found


def posterior(trace, names=("a", "mu", "tau", "b")):
    return {name: trace.posterior[name].to_numpy() for name in names}


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_variational_inference(model):
    plain, ours = both(model, lambda: pm.fit(100, method="advi", **QUIET))
    np.testing.assert_allclose(ours.hist, plain.hist, rtol=1e-6)
    for got, want in zip(ours.mean.eval(), plain.mean.eval(), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_sequential_monte_carlo(model):
    options = dict(draws=40, chains=1, cores=1, compute_convergence_checks=False, **QUIET)
    plain, ours = (posterior(t) for t in both(model, lambda: pm.sample_smc(**options)))
    for name, want in plain.items():
        assert abs(ours[name].mean() - want.mean()) < 5 * want.std() / np.sqrt(12)


@THOROUGH
@pytest.mark.filterwarnings("ignore")
def test_draws_of_a_posterior(model):
    """Log-likelihoods, predictive draws, and those for other data, given the same posterior."""
    with model, gpm.fused(min_rows=10):
        trace = pm.sample(25, tune=25, chains=1, cores=1, nuts_sampler="pymc", compute_convergence_checks=False, **QUIET)

    def work():
        trace_ = trace.copy()
        likelihoods = pm.compute_log_likelihood(trace_, progressbar=False)
        of_rows = getattr(likelihoods, "log_likelihood", likelihoods)["y"].to_numpy()
        predicted = pm.sample_posterior_predictive(trace, var_names=["y", "rate"], **QUIET).posterior_predictive
        prior = pm.sample_prior_predictive(10, random_seed=3).prior_predictive["y"].to_numpy()
        with model:
            pm.set_data({"t": np.full(N, 0.5)})
        elsewhere = pm.sample_posterior_predictive(trace, var_names=["rate"], predictions=True, **QUIET).predictions
        return of_rows, predicted["y"].to_numpy(), predicted["rate"].to_numpy(), prior, elsewhere["rate"].to_numpy()

    with model:
        t = model["t"].get_value()
    found = []
    for on in (False, True):
        with model, gpm.fused(on, min_rows=10):
            pm.set_data({"t": t})
            found.append(work())
    for got, want in zip(*found, strict=True):
        assert got.size >= N
        np.testing.assert_allclose(got, want, rtol=1e-12)
