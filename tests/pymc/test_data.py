"""Data of models, as PyMC takes them: that change, that are missing, of no length, with names of their axes."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
import arviz  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from thorough import THOROUGH  # noqa: E402

import gpustats.pymc as gpm  # noqa: E402


def both(value):
    """What a function of `gpm` or `pm` gives for each."""
    got, want = value(gpm), value(pm)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-7)


@THOROUGH
def test_data_that_change():
    """Their length, and numbers of trials and bounds."""

    def values(d):
        with pm.Model() as model:
            x, y, n = pm.Data("x", np.arange(4.0)), pm.Data("y", np.arange(4.0) + 0.5), pm.Data("n", np.array([5, 6, 7]))
            b, end = pm.Normal("b"), pm.Data("end", np.array([1.0, 2.0]))
            d.Gamma("g", 2.0, pt.exp(b * x / 10), observed=y, shape=x.shape)
            d.Truncated("t", d.Normal.dist(b * x, 1.0), lower=0.0, observed=y + 0.0, shape=x.shape)
            d.Binomial("k", n, pm.math.sigmoid(b), observed=[1, 2, 3])
            d.Censored("c", d.Poisson.dist(pt.exp(b)), lower=None, upper=end, observed=[1, 2])
        logp, found = model.compile_logp(mode=QUICK), []
        for length, trials in ((4, [5, 6, 7]), (6, [3, 3, 8]), (0, [1, 3, 3]), (1, [5, 6, 7])):
            with model:
                pm.set_data({"x": np.arange(float(length)), "y": np.arange(length) + 0.5, "n": np.array(trials)})
                pm.set_data({"end": np.array([1.0, np.inf if length == 4 else 2.0])})
            found.append(logp({"b": 0.3}))
        return found

    both(values)


def test_missing_data():
    counts = np.ma.masked_values([1, -1, 4], -1)

    def value(d):
        with pm.Model() as model:
            a, s = pm.Normal("a"), pm.HalfNormal("s")
            d.Normal("y", a, s, observed=np.ma.masked_invalid([1.0, np.nan, 2.0, np.nan]))
            d.Gamma("g", 2.0, s, observed=np.array([1.0, np.nan]))
            with pytest.warns(pm.ImputationWarning):
                d.Poisson("n", s, observed=counts)
        start = model.initial_point()
        point = {k: v + (0.1 if v.dtype.kind == "f" else 0) for k, v in start.items()}
        return model.compile_logp(mode=QUICK)(point)

    with pytest.warns(pm.ImputationWarning):
        both(value)


def test_no_data():
    def value(d):
        with pm.Model(coords={"i": [], "j": range(2)}) as model:
            d.Normal("a", dims=("j", "i"))
            d.Normal("y", 0.0, 1.0, observed=np.zeros(0))
            d.Gamma("c", 2.0, 1.0, shape=(2, 0))
        start = model.initial_point()
        assert [np.shape(v) for v in start.values()] == [(2, 0), (2, 0)]
        return model.compile_logp(mode=QUICK)(start)

    both(value)
    assert pm.draw(gpm.MvNormal.dist(np.zeros(2), np.eye(2), shape=(0, 2)), mode=QUICK).shape == (0, 2)


def test_bounds_of_each_observation():
    """Some of them infinite."""
    lower, upper = np.array([0, 1, 2]), np.array([2, np.inf, 3])

    def values(d):
        found = []
        for made in (d.Truncated, d.Censored):
            for base in (d.Gamma.dist(2.3, 1.7), d.Poisson.dist(np.float64(3.0))):
                found.append(pm.logp(made.dist(base, lower=lower, upper=upper), np.array([1, 1, 3])))
        return pt.stack(found).eval(mode=QUICK)

    both(values)


@pytest.mark.parametrize("size", [(), 3, (3,), (5, 4, 3)])
def test_sizes_of_mixtures_with_weights_of_their_own(size):
    weights = np.full((4, 3, 2), 0.5)
    sizes = [d.Mixture.dist(weights, d.Normal.dist(size=2), size=size).type.shape for d in (gpm, pm)]
    assert sizes[0] == sizes[1]


def test_predictions_have_the_names_of_axes():
    with pm.Model(coords={"i": list("abc")}) as model:
        a = gpm.Normal("a", dims="i")
        gpm.Normal("y", a, 1.0, observed=np.zeros(3), dims="i")
        gpm.Mixture("z", [0.3, 0.7], gpm.Normal.dist(a[:2], 1.0), observed=np.ones(2))
        prior = pm.sample_prior_predictive(4, random_seed=1, compile_kwargs={"mode": QUICK})
        predicted = pm.sample_posterior_predictive(prior.prior, progressbar=False, compile_kwargs={"mode": QUICK})
        groups = {"posterior": {"a": prior.prior["a"].values}}
        drawn = arviz.from_dict(**groups) if arviz.__version__.startswith("0.") else arviz.from_dict(groups)
        terms = pm.compute_log_likelihood(drawn, extend_inferencedata=False, progressbar=False)
    assert prior.prior_predictive["y"].dims == predicted.posterior_predictive["y"].dims == ("chain", "draw", "i")
    at = prior.prior.isel(chain=0, draw=2)
    want = model.compile_logp(model["y"], sum=False, mode=QUICK)({"a": at["a"].values})[0]
    np.testing.assert_allclose(terms["y"].isel(chain=0, draw=2), want, rtol=1e-12)
