"""Generalised linear models of every family, against statsmodels on its data."""

import warnings

import numpy as np
import pytest

import gpustats as gs

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups


@pytest.fixture(scope="module")
def sm():
    return pytest.importorskip("statsmodels.api")


def data(sm, name, step=1):
    """The observations, and the standardised columns that vary."""
    loaded = getattr(sm.datasets, name).load_pandas()
    X = np.asarray(loaded.exog, float)[::step]
    X = X[:, X.std(0) > 0]
    return np.asarray(loaded.endog, float)[::step], (X - X.mean(0)) / X.std(0)


def agrees(glm, model, arguments, back, rng, fit=None, **scale):
    """Value and score of `model` at its fit and around it; `arguments`: what the GLM takes for its parameters, `back`: the
    model's score from the GLM's gradient.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if fit is None:
            options = {} if hasattr(model, "family") else dict(disp=0, maxiter=500)
            fit = np.asarray(getattr(model.fit(**options), "params", None), float)
    fit = fit.ravel(order="F")
    scores = []
    for shift in (0, 0.1, 0.3, 0.5):
        at = fit + shift * rng.normal(size=fit.shape)
        value, gradient = glm.value_and_grad(**arguments(at))
        score = back(at, gradient)
        np.testing.assert_allclose(value, model.loglike(at, **scale), rtol=1e-10)
        want = np.asarray(model.score(at, **scale)).ravel()
        assert score.shape == want.shape
        np.testing.assert_allclose(score, want, rtol=1e-5, atol=1e-5 * np.abs(want).max() + 2e-3 * (shift == 0))
        scores.append(np.abs(score).max())
    assert scores[0] < 1e-3 * min(scores[1:])


def intercept_first(at):
    return {"alpha": at[0], "beta": at[1:]}


def joined(at, gradient):
    return np.r_[gradient["alpha"], gradient["beta"]]


@pytest.mark.parametrize(
    "density, link", [("bernoulli_logit", "Logit"), ("bernoulli_probit", "Probit"), ("bernoulli_cloglog", "CLogLog")]
)
@pytest.mark.parametrize("weights", [False, True])
def test_bernoulli(sm, density, link, weights, rng):
    y, X = data(sm, "spector")
    offset, counts = rng.normal(size=len(y)) / 5, rng.integers(0, 4, len(y))
    family = sm.families.Binomial(link=getattr(sm.families.links, link)())
    if weights:
        model = sm.GLM(y, sm.add_constant(X), family, freq_weights=counts, offset=offset)
        glm = gs.GLM(gs.densities[density], y, X, weights=counts, offset=offset)
    else:
        model = sm.Logit(y, sm.add_constant(X)) if link == "Logit" else sm.GLM(y, sm.add_constant(X), family)
        glm = gs.GLM(gs.densities[density], y, X)
    agrees(glm, model, intercept_first, joined, rng)


@pytest.mark.parametrize("weights", [False, True])
def test_binomial(sm, weights, rng):
    y, X = data(sm, "star98")
    n = y.sum(1)
    given = {"var_weights": rng.uniform(0.5, 2, len(n))} if weights else {}
    model = sm.GLM(y, sm.add_constant(X), sm.families.Binomial(), **given)
    glm = gs.GLM(gs.binomial_logit, y[:, 0], X, weights=given.get("var_weights"))
    agrees(glm, model, lambda at: {**intercept_first(at), "n": n}, joined, rng)


@pytest.mark.parametrize("exposed", [False, True])
def test_poisson(sm, exposed, rng):
    y, X = data(sm, "randhie", 10)
    exposure = rng.uniform(1, 3, len(y)) if exposed else None
    offset = rng.normal(size=len(y)) / 5 if exposed else None
    model = sm.Poisson(y, sm.add_constant(X), exposure=exposure, offset=offset)
    glm = gs.GLM(gs.poisson_log, y, X, offset=np.log(exposure) + offset if exposed else None)
    agrees(glm, model, intercept_first, joined, rng)


def test_negative_binomial(sm, rng):
    y, X = data(sm, "randhie", 10)
    model = sm.NegativeBinomial(y, sm.add_constant(X))  # its dispersion is 1 / phi

    def back(at, gradient):
        return np.r_[joined(at, gradient), -gradient["phi"] / at[-1] ** 2]

    glm = gs.GLM(gs.negative_binomial_log, y, X)
    agrees(glm, model, lambda at: {**intercept_first(at[:-1]), "phi": 1 / abs(at[-1])}, back, rng)


def test_gamma(sm, rng):
    y, X = data(sm, "scotland")
    model = sm.GLM(y, sm.add_constant(X), sm.families.Gamma(link=sm.families.links.Log()))
    glm = gs.GLM(gs.gamma_log, y, X)
    agrees(glm, model, lambda at: {**intercept_first(at), "nu": 1 / 0.02}, joined, rng, scale=0.02)
    fitted = model.fit()
    nu = 1 / fitted.scale
    below, above = (model.loglike(fitted.params, scale=1 / (nu * (1 + step))) for step in (-1e-5, 1e-5))
    numerical = (above - below) / (2e-5 * nu)
    got = glm.value_and_grad(fitted.params[1:], fitted.params[0], nu)[1]["nu"]
    np.testing.assert_allclose(got, numerical, rtol=1e-6)


def test_normal(sm, rng):
    y, X = data(sm, "copper")
    y = y / y.std()
    model = sm.OLS(y, sm.add_constant(X))
    fitted = model.fit()
    sigma = np.sqrt(fitted.ssr / len(y))
    glm = gs.GLM(gs.normal_identity, y, X)
    agrees(glm, model, lambda at: {**intercept_first(at), "sigma": sigma}, joined, rng, fit=fitted.params, scale=sigma**2)
    value, gradient = glm.value_and_grad(fitted.params[1:], fitted.params[0], sigma)
    assert value == pytest.approx(fitted.llf, rel=1e-12)
    assert abs(gradient["sigma"]) < 1e-8 * len(y) / sigma


def test_beta(sm, rng):
    y, X = data(sm, "star98")
    share, X = y[:, 0] / y.sum(1), X[:, :5]
    from statsmodels.othermod.betareg import BetaModel

    model = BetaModel(share, sm.add_constant(X))  # its last parameter is the logarithm of phi

    def back(at, gradient):
        return np.r_[joined(at, gradient), gradient["phi"] * np.exp(at[-1])]

    glm = gs.GLM(gs.beta_logit, share, X)
    agrees(glm, model, lambda at: {**intercept_first(at[:-1]), "phi": np.exp(at[-1])}, back, rng)


def test_ordered(sm, rng):
    y, X = data(sm, "anes96")
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    model = OrderedModel(y.astype(int), X, distr="logit")  # the first cutpoint and the logarithms of the steps to the others
    k = X.shape[1]

    def arguments(at):
        return {"beta": at[:k], "cutpoints": np.cumsum(np.r_[at[k], np.exp(at[k + 1 :])])}

    def back(at, gradient):
        behind = np.cumsum(gradient["cutpoints"][::-1])[::-1]
        return np.r_[gradient["beta"], behind[0], behind[1:] * np.exp(at[k + 1 :])]

    fit = model.fit(method="bfgs", disp=0, gtol=1e-8, maxiter=500).params
    agrees(gs.GLM(gs.ordered_logit, y, X), model, arguments, back, rng, fit=fit)


def test_categorical(sm, rng):
    y, X = data(sm, "anes96")
    k, categories = X.shape[1] + 1, 7

    def arguments(at):  # the first category has no coefficients of its own
        every = np.c_[np.zeros(k), at.reshape(k, -1, order="F")]
        return {"alpha": every[0], "beta": every[1:]}

    def back(at, gradient):
        return np.concatenate([gradient["alpha"][None], gradient["beta"]])[:, 1:].ravel(order="F")

    assert y.max() == categories - 1
    model = sm.MNLogit(y.astype(int), sm.add_constant(X))
    agrees(gs.GLM(gs.categorical_logit, y, X), model, arguments, back, rng)


def test_student_t(rng):
    """Against PyMC, which has the gradient from PyTensor."""
    pm = pytest.importorskip("pymc")
    import pytensor
    import pytensor.tensor as pt

    X, y = rng.normal(size=(N, K)), rng.standard_t(3, size=N)
    beta, alpha, nu, sigma = pt.vector("beta"), pt.scalar("alpha"), pt.scalar("nu"), pt.scalar("sigma")
    total = pm.logp(pm.StudentT.dist(nu=nu, mu=X @ beta + alpha, sigma=sigma), y).sum()
    given = [beta, alpha, nu, sigma]
    theirs = pytensor.function(given, [total, *pytensor.grad(total, given)], mode="FAST_COMPILE")
    glm = gs.GLM(gs.student_t_identity, y, X)
    for _ in range(3):
        at = dict(beta=rng.normal(size=K), alpha=rng.normal(), nu=rng.uniform(1, 9), sigma=rng.uniform(0.5, 2))
        value, gradient = glm.value_and_grad(**at)
        want, *derivatives = theirs(*at.values())
        np.testing.assert_allclose(value, want, rtol=1e-12)
        for name, derivative in zip(at, derivatives, strict=True):
            np.testing.assert_allclose(gradient[name], derivative, rtol=1e-10)
