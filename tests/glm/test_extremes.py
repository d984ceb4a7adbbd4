"""Linear predictors far out, weights of 0, nan and values outside of a domain, against mpmath."""

import mpmath
import numpy as np
import pytest
from references_glm import exact
from scipy import special
from thorough import some

import gpustats as gs

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups
FAR = [-700.0, -37.5, -8.0, 0.0, 8.0, 37.5, 700.0]


@pytest.mark.parametrize(
    "name, ys, others",
    some([
        ("bernoulli_logit", (0, 1), ()), ("bernoulli_probit", (0, 1), ()), ("bernoulli_cloglog", (0, 1), ()),
        ("poisson_log", (0, 3), ()), ("binomial_logit", (0, 3, 7), (7.0,)), ("negative_binomial_log", (0, 3, 50), (2.5,)),
        ("gamma_log", (0.5, 3.0), (2.5,)), ("ordered_logit", (0, 1, 2), ([-1.0, 0.5],)),
    ], 2),
)  # fmt: skip
def test_far_predictors(name, ys, others):
    y, eta = (a.ravel() for a in np.meshgrid(np.array(ys, float), FAR))
    glm = gs.GLM(gs.densities[name], y, eta[:, None])
    given = np.ones(1), np.zeros(len(y)), *map(np.asarray, others)
    values = glm.logpdf(*given)
    slopes = glm.value_and_grad(*given, wrt="alpha")[1]["alpha"]
    with mpmath.workdps(400):  # exp(-700) beside 1
        f = exact(name)
        kinds = [type(v) for v in ys[:1]]
        for i in range(len(y)):
            at, x = mpmath.mpf(eta[i]), kinds[0](y[i])
            want = f(x, at, *others)
            np.testing.assert_allclose(values[i], float(want), rtol=1e-12, atol=1e-12, err_msg=f"{x}, {eta[i]}")
            slope = mpmath.diff(lambda z, x=x: f(x, z, *others), at)
            np.testing.assert_allclose(slopes[i], float(slope), rtol=1e-11, atol=1e-12, err_msg=f"{x}, {eta[i]}")


def test_far_predictors_of_categories():
    eta = np.array([[700.0, 0, 3], [-700, 0, 3], [700, -700, 0], [700, 700, 700], [-700, -700, -700]])
    for outcome in range(3):
        glm = gs.GLM(gs.categorical_logit, np.full(5, outcome), np.ones((5, 1)))
        value, gradient = glm.value_and_grad(np.zeros((1, 3)), eta)
        np.testing.assert_allclose(value, special.log_softmax(eta, -1)[:, outcome].sum(), rtol=1e-14)
        np.testing.assert_allclose(gradient["alpha"], np.eye(3)[outcome] - special.softmax(eta, -1), rtol=1e-14)


@pytest.mark.parametrize("name, y", [("bernoulli_logit", 0), ("poisson_log", 2)])
def test_an_observation_of_weight_0_has_no_say(name, y, rng):
    X, offset, weights = rng.normal(size=(N, K)), np.zeros(N), np.ones(N)
    offset[3], weights[3] = np.inf, 0
    beta = rng.normal(size=K)
    kept = np.arange(N) != 3
    ys = np.where(kept, 1, y)
    got = gs.GLM(gs.densities[name], ys, X, offset=offset, weights=weights).value_and_grad(beta, 0.1)
    want = gs.GLM(gs.densities[name], ys[kept], X[kept], offset=offset[kept], weights=weights[kept]).value_and_grad(beta, 0.1)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-13)
    for argument in want[1]:
        np.testing.assert_allclose(got[1][argument], want[1][argument], rtol=1e-11)


def test_nan_and_what_is_outside_of_its_domain(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=(2, K))
    X[7, 2] = np.nan
    glm = gs.GLM(gs.normal_identity, y, X)
    value, gradient = glm.value_and_grad(beta, 0.1, 1.0)
    assert np.isnan(value).all() and np.isnan(gradient["beta"]).all() and np.isnan(gradient["sigma"])
    assert (np.isnan(glm.logpdf(beta, 0.1, 1.0)) == (np.arange(N) == 7)).all()
    glm = gs.GLM(gs.normal_identity, y, np.nan_to_num(X))
    assert np.isnan(glm(beta[0], 0.0, -1.0)) and np.isnan(glm(beta[0], np.nan, 1.0))
    np.testing.assert_array_equal(np.isnan(glm(beta, 0.0, [[1.0], [-1.0]])), [False, True])
    sigma = np.where(np.arange(N) == 5, 0.0, 1.0)
    assert (np.isnan(glm.logpdf(beta[0], 0.0, sigma)) == (sigma == 0)).all()
    glm = gs.GLM(gs.ordered_logit, np.arange(N) % 3, np.nan_to_num(X))
    assert np.isnan(glm(beta[0], 0.0, [1.0, 0.5])) and not np.isnan(glm(beta[0], 0.0, [0.5, 1.0]))
    glm = gs.GLM(gs.ordered_logit, np.arange(N) % 4, np.nan_to_num(X))
    assert glm(beta[0], 0.0, [0.5, 1.0]) == -np.inf
