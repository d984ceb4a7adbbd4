"""Random effects of densities that are not normal: what their routes share with linear models, whose likelihood is exact."""

import numpy as np
import pytest
from mixed_data import data
from scipy import special
from thorough import THOROUGH

import gpustats as gs
from gpustats.glm.generalised import generalised_fit


def laplace_of_normal(glm, random, **more):
    """A linear model by Laplace's method, which is exact for it."""
    given = {"start": {}, "fixed": {}, "bounds": {}, "priors": {}} | more
    return generalised_fit(glm, glm._problem(), random, *given.values(), 200, False)


@pytest.mark.parametrize("case", [pytest.param((("g", "h"), {}), marks=THOROUGH), (("g",), {"alpha": 0.0})], ids=["two", "one"])
def test_same_as_a_linear_model(case):
    """Two groupings, or one beside a table that is fixed; slopes, weights, an offset."""
    rng, (random, fixed) = np.random.default_rng(1), case
    X, y, groups = data(rng, 120)
    y, weights, offset = y - 1e3, rng.integers(1, 3, 120), rng.normal(size=120)
    glm = gs.GLM(gs.normal, y, X, eta="mu", groups=groups, weights=weights, offset=offset)
    linear, other = glm.fit(random=random, reml=False, fixed=fixed), laplace_of_normal(glm, random, fixed=fixed)
    assert other.log_likelihood == pytest.approx(linear.log_likelihood, rel=1e-9)
    for name in linear.parameters:
        np.testing.assert_allclose(other[name], linear[name], rtol=2e-4, atol=1e-5)
    for name in random:
        np.testing.assert_allclose(other.random_effects[name], linear.random_effects[name], rtol=1e-3, atol=1e-3)
        errors = other.random_effects_errors[name]
        np.testing.assert_allclose(errors, linear.random_effects_errors[name], rtol=1e-3)
    new = {n: (g[0][:9], g[1][:9]) if isinstance(g, tuple) else g[:9] for n, g in groups.items()}
    wanted, found = (fit.predict(X[:9], groups=new) for fit in (linear, other))
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-3)
    # the errors of the other one have those of the variances in them, too
    assert (found.mean_errors > 0.999 * wanted.mean_errors).all()
    np.testing.assert_allclose(found.mean_errors, wanted.mean_errors, rtol=0.1)


@pytest.mark.parametrize("linear", [True, False], ids=["linear", "counts"])
def test_a_start_on_the_wrong_side(linear):
    """A correlation has the sign of the data, also where the search begins at a variance of 0 with the other sign below it."""
    rng = np.random.default_rng(6)
    g, x, b = rng.integers(0, 12, 240), rng.normal(size=240), rng.multivariate_normal([0, 0], [[0.5, 0.35], [0.35, 0.3]], 12)
    eta = b[g, 0] + b[g, 1] * x
    y = rng.normal(eta) if linear else rng.poisson(np.exp(eta))
    groups = {"g": (g, np.column_stack([np.ones(240), x]))}
    density, predictor = (gs.normal, "mu") if linear else (gs.poisson_log, "eta")
    glm = gs.GLM(density, y, x[:, None], eta=predictor, groups=groups)
    wanted, found = (glm.fit(random="g", start=s) for s in ({}, {"chol_g": [[0.0, 0.0], [-1.0, 0.0]]}))
    assert wanted["chol_g"][1, 0] > 0.1 and found.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-6)
    np.testing.assert_allclose(found.estimates, wanted.estimates, rtol=1e-3, atol=1e-4)


def test_predictions_of_probabilities():
    rng = np.random.default_rng(2)
    X, _, groups = data(rng, 300)
    y = rng.uniform(size=300) < special.expit(X[:, 0] - 3 + rng.normal(size=4)[groups["h"]])
    fit = gs.GLM(gs.bernoulli_logit, y, X, groups={"h": groups["h"]}).fit(random="h")
    known, alone = fit.predict(X[:5], groups={"h": groups["h"][:5]}), fit.predict(X[:5])
    eta = X[:5] @ fit["beta"] + fit["alpha"]
    np.testing.assert_allclose(alone.mean, special.expit(eta))
    np.testing.assert_allclose(known.linear_predictor, eta + fit.random_effects["h"][groups["h"][:5]])
    F = np.column_stack([X[:5], np.ones(5)])
    own = [fit.labels.index(n) for n in ("beta[0]", "beta[1]", "alpha")]
    spread = np.einsum("ni,ij,nj->n", F, fit.covariance[np.ix_(own, own)], F)
    np.testing.assert_allclose(alone.linear_predictor_errors, np.sqrt(spread), rtol=1e-6)
    new = fit.predict(X[:5], groups={"h": np.full(5, 9)}, new_groups=True)
    np.testing.assert_allclose(new.linear_predictor_errors**2, spread + fit["chol_h"] ** 2, rtol=1e-6)
    slopes = alone.mean * (1 - alone.mean)
    np.testing.assert_allclose(alone.mean_errors, slopes * alone.linear_predictor_errors, rtol=1e-6)


def test_intervals_of_observations():
    """Of a group that is known, and of a new one, whose effects are drawn as the fit has them, and counts around these."""
    rng = np.random.default_rng(6)
    X, _, groups = data(rng, 300)
    y = rng.poisson(np.exp(1 + X[:, 0] / 3 + rng.normal(size=4)[groups["h"]])).astype(float)
    fit = gs.GLM(gs.poisson_log, y, X, groups={"h": groups["h"]}).fit(random="h")
    alone, draws = fit.predict(X[:2]), 400_000
    new = alone.linear_predictor + rng.normal(size=(draws, 2)) * np.hypot(alone.linear_predictor_errors, fit["chol_h"])
    known = fit.predict(X[:2], groups={"h": [0, 3]}, noise=True)
    old = known.linear_predictor + rng.normal(size=(draws, 2)) * known.linear_predictor_errors
    for found, eta in ((known, old), (fit.predict(X[:2], groups={"h": [9, 9]}, new_groups=True, noise=True), new)):
        counts, (low, high) = rng.poisson(np.exp(eta)), found.interval(0.8).T
        assert ((counts < low).mean(0) < 0.103).all() and ((counts <= low).mean(0) > 0.097).all()
        assert ((counts > high).mean(0) < 0.103).all() and ((counts >= high).mean(0) > 0.097).all()


def test_no_variance_and_dispersion():
    """A variance of 0 is told; the dispersion of counts is a parameter beside the variances."""
    rng = np.random.default_rng(3)
    X, _, groups = data(rng, 300)
    y = gs.negative_binomial_log.rvs(eta=0.3 * X[:, 0], phi=2.0, rng=4)
    glm = gs.GLM(gs.negative_binomial_log, y, X, groups={"h": np.arange(300) % 10})
    fit, plain = glm.fit(random="h"), gs.GLM(gs.negative_binomial_log, y, X).fit()
    assert fit.singular == (fit["chol_h"] == 0)
    assert fit.log_likelihood >= plain.log_likelihood - 1e-8
    if fit.singular:
        np.testing.assert_allclose(fit["beta"], plain["beta"], rtol=1e-5)
        assert np.isnan(fit.standard_errors["chol_h"]) and fit.log_likelihood == pytest.approx(plain.log_likelihood)


def test_bad_input():
    rng = np.random.default_rng(5)
    X, _, groups = data(rng)
    y = rng.integers(0, 2, 90)
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups={"h": groups["h"]})
    with pytest.raises(ValueError, match="reml=True is of linear models"):
        glm.fit(random="h", reml=True)
    with pytest.raises(NotImplementedError, match="for rows that lie on one device"):
        gs.GLM(gs.bernoulli_logit, y, X, groups={"h": groups["h"]}, chunk=30).fit(random="h")
    with pytest.raises(ValueError, match="chol_h has shape"):
        glm.fit(random="h", start={"chol_h": [1.0, 2.0]})
    separated = gs.GLM(gs.bernoulli_logit, X[:, 0] > np.median(X[:, 0]), X, groups={"h": groups["h"]})
    with pytest.raises(ValueError, match=r"no maximum: it grows for ever in the direction of beta\[0\]"):
        separated.fit(random="h")
    assert separated.fit(random="h", priors={"beta": gs.normal(0.0, 2.0)}).converged
    with pytest.raises(ValueError, match=r"nothing tells the effects g\[1\] of g apart"):
        gs.GLM(gs.bernoulli_logit, y, X, groups={"g": (groups["h"], np.eye(2)[np.zeros(90, int)])}).fit(random="g")
    weights = (groups["h"] == 1).astype(float)
    with pytest.raises(ValueError, match="h has rows of one group alone"):
        gs.GLM(gs.bernoulli_logit, y, X, groups={"h": groups["h"]}, weights=weights).fit(random="h")
    with pytest.raises(ValueError, match=r"give them by name, groups=\{'h': …\}"):
        gs.GLM(gs.bernoulli_logit, y, X, groups={"h": list(map(str, y))}).fit(random="h").predict(X[:1], groups=["0"])
    fit = glm.fit(random="h")
    with pytest.raises(ValueError, match="which the fit has not seen"):
        fit.predict(X, groups={"h": groups["h"] + 1})
