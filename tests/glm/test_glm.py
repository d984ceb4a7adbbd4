"""Generalised linear models, against statsmodels, PyMC, mpmath and NumPy."""

import threading
import warnings

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs
from gpustats.runtime import choose

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups


# ---- statsmodels, on its data


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


# ---- derivatives, by complex steps


def expit(z):
    return 1 / (1 + np.exp(-z))


def ordered(y, eta, cutpoints):
    ends = np.full(np.broadcast_shapes(cutpoints.shape[:-1], y.shape) + (1,), np.inf)
    cutpoints = np.broadcast_to(cutpoints, ends.shape[:-1] + cutpoints.shape[-1:])
    edges = np.concatenate([-ends, cutpoints, ends], -1)
    below, above = (np.take_along_axis(edges, np.broadcast_to(y + i, ends.shape[:-1])[..., None], -1)[..., 0] for i in (0, 1))
    with np.errstate(invalid="ignore"):
        share = np.where(y == cutpoints.shape[-1], 1, expit(above - eta)) - np.where(y == 0, 0, expit(below - eta))
    return np.log(share)


#: log-densities that take complex numbers
TERMS = {
    "bernoulli_logit": lambda y, eta: y * eta - np.log(1 + np.exp(eta)),
    "poisson_log": lambda y, eta: y * eta - np.exp(eta) - special.gammaln(y.real + 1),
    "normal_identity": lambda y, eta, sigma: -0.5 * ((y - eta) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi)),
    "ordered_logit": ordered,
    "categorical_logit": lambda y, eta: (
        np.take_along_axis(eta, np.broadcast_to(y, eta.shape[:-1])[..., None], -1)[..., 0] - np.log(np.exp(eta).sum(-1))
    ),
}


def predictor(X, beta, alpha, offset, groups, vector):
    """(…, N), or (…, N, C)."""
    alpha = np.asarray(alpha)
    if groups is not None and alpha.ndim > vector and alpha.shape[-1 - vector] == groups.max() + 1:
        alpha = np.take(alpha, groups, -1 - vector)
    if vector:
        return np.einsum("nk,...kc->...nc", X, beta) + alpha + offset[:, None]
    return np.einsum("nk,...k->...n", X, beta) + alpha + offset


def complex_steps(f, at):
    """The derivatives of the number that `f` returns."""
    at = np.asarray(at, float)
    result = np.empty(at.shape)
    for i in np.ndindex(at.shape):
        stepped = at.astype(complex)
        stepped[i] += 1e-30j
        result[i] = f(stepped).imag / 1e-30
    return result


#: Shapes of beta, alpha and the density's other parameters.
CASES = [
    *[("bernoulli_logit", (K,), alpha, ()) for alpha in [(N,), (G,)]],
    *[("bernoulli_logit", (S, K), alpha, ()) for alpha in [(S, 1), (N,), (S, N), (S, G), (1, G)]],
    ("poisson_log", (K,), (S, G), ()),  # the sets come from the intercept alone
    ("poisson_log", (11, K), (11, 1), ()),  # more than a block takes
    *[("normal_identity", (K,), (), (sigma,)) for sigma in [(N,), (S, N)]],
    *[("normal_identity", (S, K), (G,), (sigma,)) for sigma in [(), (S, 1), (1, N)]],
    ("ordered_logit", (K,), (), ((S, 1, 3),)),
    ("ordered_logit", (S, K), (S, 1), ((S, N, 3),)),
    *[("categorical_logit", (K, C), alpha, ()) for alpha in [(N, C), (S, 1, C)]],
    *[("categorical_logit", (S, K, C), alpha, ()) for alpha in [(S, N, C), (S, G, C)]],
    ("categorical_logit", (2, S, K, C), (2, 1, 1, C), ()),
]
#: Some of them for kernels that are laid out for a GPU, which take long to compile for a CPU.
ON_A_GPU = [
    ("bernoulli_logit", (S, K), (S, G), ()), ("poisson_log", (11, K), (11, 1), ()),
    ("normal_identity", (S, K), (G,), ((S, N),)), ("ordered_logit", (S, K), (S, 1), ((S, N, 3),)),
    ("categorical_logit", (K, C), (C,), ()), ("categorical_logit", (S, K, C), (S, G, C), ()),
]  # fmt: skip


class Case:
    """A GLM with offset and groups, what it is given, and what NumPy makes of that."""

    def __init__(self, rng, name, beta, alpha, others):
        self.name, self.density, self.vector = name, gs.densities[name], name == "categorical_logit"
        self.names = ["beta", "alpha", *(p for p in self.density.parameters if p != "eta")]
        self.X, self.offset, self.groups = rng.normal(size=(N, K)), rng.normal(size=N) / 4, rng.integers(0, G - 1, N)
        self.groups[[3, 4]] = G - 1
        self.y = rng.normal(size=N) if name == "normal_identity" else rng.integers(0, 2 + (name != "bernoulli_logit"), N)
        self.weights = rng.uniform(0, 2, N) if len(beta) % 2 == 0 or alpha == (G,) else None
        self.given = [rng.normal(size=shape) / 2 if shape else float(rng.normal()) for shape in (beta, alpha)]
        for shape in others:
            drawn = rng.uniform(0.5, 1.5, shape)
            self.given.append(np.cumsum(drawn, -1) - 2 if name == "ordered_logit" else drawn if shape else float(drawn))
        self.glm = gs.GLM(self.density, self.y, self.X, offset=self.offset, groups=self.groups, weights=self.weights)

    def predictor(self, X, beta, alpha):
        return predictor(X, beta, alpha, self.offset, self.groups, self.vector)

    def terms(self, X, beta, alpha, *others, y=None):
        terms = TERMS[self.name](self.y if y is None else y, self.predictor(X, beta, alpha), *others)
        return terms if self.weights is None else terms * self.weights


@pytest.mark.parametrize(
    "layout, name, beta, alpha, others", [("device", *c) for c in CASES] + [("gpu", *c) for c in ON_A_GPU], indirect=["layout"]
)
def test_all_derivatives(name, beta, alpha, others, layout, rng):
    case = Case(rng, name, beta, alpha, others)
    assert case.glm.parameters == tuple(case.names)
    wrt = [*case.names, "X", *["y"] * (name == "normal_identity")]
    value, gradient = case.glm.value_and_grad(*case.given, wrt=wrt)
    np.testing.assert_allclose(value, case.terms(case.X, *case.given).sum(-1), rtol=1e-12)
    assert type(value) is float if np.ndim(value) == 0 else value.dtype == np.float64
    assert list(gradient) == wrt
    given = dict(zip(["X", *case.names, "y"], [case.X, *case.given, case.y], strict=True))

    def total(changed):
        *others, y = (given | changed).values()
        return case.terms(*others, y=y).sum()

    for name in wrt:
        want = complex_steps(lambda a, name=name: total({name: a}), given[name])
        assert np.shape(gradient[name]) == want.shape
        np.testing.assert_allclose(gradient[name], want, rtol=1e-10, atol=1e-10 * max(np.abs(want).max(), 0.01))


@pytest.mark.parametrize("layout, case", [("device", ON_A_GPU[0]), ("gpu", ON_A_GPU[-1])], indirect=["layout"], ids=str)
def test_sums_and_rows(case, layout, rng):
    case = Case(rng, *case)
    terms = case.terms(case.X, *case.given)
    np.testing.assert_allclose(case.glm(*case.given), terms.sum(-1), rtol=1e-12)
    np.testing.assert_allclose(case.glm.logpdf(*case.given), terms, rtol=1e-11, atol=1e-13)
    eta = case.predictor(case.X, *case.given[:2])
    np.testing.assert_allclose(case.glm.linear_predictor(*case.given[:2]), eta, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape, weighted", [((N,), False), ((S, N), True)])
def test_weighted_gradients(shape, weighted, rng):
    X, y, sigma = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(1, 2, (S, 1))
    weights, factors = rng.uniform(0, 2, N), rng.normal(size=shape)
    beta, alpha = rng.normal(size=(S, K)), rng.normal(size=N)
    glm = gs.GLM(gs.normal_identity, y, X, weights=weights if weighted else None)
    got = glm.weighted_gradients(factors, beta, alpha, sigma, wrt=("sigma", "beta", "alpha", "X"))

    def total(X, beta, alpha, sigma):
        terms = TERMS["normal_identity"](y, predictor(X, beta, alpha, np.zeros(N), None, False), sigma)
        return (terms * factors * (weights if weighted else 1)).sum()

    everything = {"X": X, "beta": beta, "alpha": alpha, "sigma": sigma}
    for name in everything:
        want = complex_steps(lambda a, name=name: total(**{**everything, name: a}), everything[name])
        np.testing.assert_allclose(got[name], want, rtol=1e-11, atol=1e-11)


def test_only_what_is_asked_for(rng):
    glm = gs.GLM(gs.normal_identity, rng.normal(size=N), rng.normal(size=(N, K)))
    beta = rng.normal(size=K)
    assert list(glm.value_and_grad(beta, sigma=1.0)[1]) == ["beta", "sigma"]
    assert list(glm.value_and_grad(beta, 0.0, 1.0)[1]) == ["beta", "alpha", "sigma"]
    everything = glm.value_and_grad(beta, 0.5, 2.0)[1]
    for wrt in ("alpha", ("sigma",), ["sigma", "beta"], ()):
        value, gradient = glm.value_and_grad(beta, 0.5, 2.0, wrt=wrt)
        assert list(gradient) == ([wrt] if isinstance(wrt, str) else list(wrt))
        np.testing.assert_allclose(value, glm(beta, 0.5, 2.0), rtol=1e-14)
        for name in gradient:
            np.testing.assert_allclose(gradient[name], everything[name], rtol=1e-13)


# ---- far out


def exact(name):
    """The log-density in multiple precision."""
    m = mpmath
    logistic = lambda z: 1 / (1 + m.exp(-z))  # noqa: E731
    return {
        "bernoulli_logit": lambda y, eta: m.log(logistic(eta if y else -eta)),
        "bernoulli_probit": lambda y, eta: m.log(m.erfc((-eta if y else eta) / m.sqrt(2)) / 2),
        "bernoulli_cloglog": lambda y, eta: m.log(-m.expm1(-m.exp(eta))) if y else -m.exp(eta),
        "poisson_log": lambda y, eta: y * eta - m.exp(eta) - m.loggamma(y + 1),
        "binomial_logit": lambda y, eta, n: (
            m.log(m.binomial(n, y)) + y * m.log(logistic(eta)) + (n - y) * m.log(logistic(-eta))
        ),
        "negative_binomial_log": lambda y, eta, phi: (
            m.loggamma(y + phi) - m.loggamma(phi) - m.loggamma(y + 1)
            + y * m.log(logistic(eta - m.log(phi))) + phi * m.log(logistic(m.log(phi) - eta))
        ),
        "gamma_log": lambda y, eta, nu: (
            nu * m.log(nu) - m.loggamma(nu) + (nu - 1) * m.log(y) - nu * eta - nu * y * m.exp(-eta)
        ),
        "ordered_logit": lambda y, eta, cuts: m.log(
            (logistic(cuts[y] - eta) if y < len(cuts) else 1) - (logistic(cuts[y - 1] - eta) if y else 0)
        ),
    }[name]  # fmt: skip


FAR = [-700.0, -37.5, -8.0, 0.0, 8.0, 37.5, 700.0]


@pytest.mark.parametrize(
    "name, ys, others",
    [
        ("bernoulli_logit", (0, 1), ()), ("bernoulli_probit", (0, 1), ()), ("bernoulli_cloglog", (0, 1), ()),
        ("poisson_log", (0, 3), ()), ("binomial_logit", (0, 3, 7), (7.0,)), ("negative_binomial_log", (0, 3, 50), (2.5,)),
        ("gamma_log", (0.5, 3.0), (2.5,)), ("ordered_logit", (0, 1, 2), ([-1.0, 0.5],)),
    ],
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


# ---- sizes, layouts of X, kinds of arrays


@pytest.mark.parametrize(
    "k, dtype",
    [*((k, np.float64) for k in (1, 2, 7, 8, 50, 257, 10_000)), *((k, np.float32) for k in (7, 8, 10_000))],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_sizes(k, dtype, layout, rng):
    exact = 1e-12 if dtype == np.float64 else 2e-5
    for sets in (0, 3) if k == 257 else (0,):
        for n in (0, 1, 2, 63, 64, 65, 1000) if k < 10_000 else (0, 1, 100):
            X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
            beta = (rng.normal(size=(sets, k) if sets else k) / np.sqrt(k)).astype(dtype)
            value, gradient = gs.GLM(gs.bernoulli_logit, y, X).value_and_grad(beta, 0.25)
            eta = predictor(X.astype(float), beta.astype(float), 0.25, 0 * y, None, False)
            slope = y - special.expit(eta)
            tolerance = dict(rtol=exact, atol=exact * n)
            np.testing.assert_allclose(value, special.log_expit(np.where(y, eta, -eta)).sum(-1), **tolerance)
            np.testing.assert_allclose(gradient["beta"], slope @ X.astype(float), **tolerance)
            np.testing.assert_allclose(gradient["alpha"], slope.sum(), **tolerance)
            assert gradient["beta"].dtype == np.float64 and gradient["beta"].shape == beta.shape


def test_nothing(layout, rng):
    X, y = rng.normal(size=(N, K)), rng.integers(0, 2, N)
    empty = gs.GLM(gs.bernoulli_logit, y[:0], X[:0], groups=y[:0])
    for alpha in (0.5, np.zeros(0), np.zeros(1)):
        value, gradient = empty.value_and_grad(np.ones(K), alpha, wrt=("beta", "alpha", "X"))
        assert value == 0 and not gradient["beta"].any() and gradient["X"].shape == (0, K)
        assert np.shape(gradient["alpha"]) == np.shape(alpha) and not np.any(gradient["alpha"])
        assert empty.logpdf(np.ones(K), alpha).shape == empty.rvs(np.ones(K), alpha).shape == (0,)
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups=y)
    for alpha in (0.5, np.zeros((0, 1)), np.zeros(2), np.zeros((1, N))):
        value, gradient = glm.value_and_grad(np.ones((0, K)), alpha, wrt=("beta", "alpha", "X"))
        assert value.shape == (0,) and gradient["beta"].shape == (0, K)
        assert gradient["X"].shape == (N, K) and not gradient["X"].any()
        assert np.shape(gradient["alpha"]) == np.shape(alpha) and not np.any(gradient["alpha"])
        assert glm.logpdf(np.ones((0, K)), alpha).shape == (0, N)


def test_how_X_lies_does_not_matter(layout, rng):
    X, y, beta = rng.integers(-3, 4, size=(N, K)), rng.integers(0, 2, N), rng.normal(size=K)
    wide = np.zeros((2 * N, 3 * K))
    wide[::2, 1::3] = X
    on_device = gs.to_device(wide)
    forms = [
        X, X.tolist(), X.astype(np.int8), X.astype(float), np.asfortranarray(X, float), wide[::2, 1::3], X.astype(np.float32),
        gs.to_device(X.astype(float)), gs.to_device(np.ascontiguousarray(X.T, float)).T, on_device[::2, 1::3], gs.to_device(X),
    ]  # fmt: skip
    results = [gs.GLM(gs.bernoulli_logit, y, form).value_and_grad(beta, 0.1) for form in forms]
    for form, (value, gradient) in zip(forms, results, strict=True):
        if getattr(form, "dtype", None) == np.float32:
            np.testing.assert_allclose(value, results[0][0], rtol=1e-5)
        else:
            assert value == results[0][0] and (gradient["beta"] == results[0][1]["beta"]).all()


@pytest.mark.parametrize("k", [6, 6000])
def test_X_anywhere_in_a_device_array(k, layout, rng):
    """Kernels load several numbers at once where X is aligned."""
    X, y, beta = rng.normal(size=(9, k)), rng.integers(0, 2, 9), rng.normal(size=k)
    want = gs.GLM(gs.bernoulli_logit, y, X).value_and_grad(beta)
    for start in (0, 1, 2):
        flat = gs.to_device(np.r_[np.full(start, np.nan), X.ravel()])
        value, gradient = gs.GLM(gs.bernoulli_logit, y, flat[start:].reshape(9, k)).value_and_grad(beta)
        np.testing.assert_allclose(value, want[0], rtol=1e-12)
        np.testing.assert_allclose(gradient["beta"], want[1]["beta"], rtol=1e-11, atol=1e-11)


def is_native(array):
    return choose.get().is_native(array)


@pytest.mark.parametrize(
    "layout, name, lead",
    [("device", "normal_identity", (3,)), ("device", "ordered_logit", ()), ("gpu", "categorical_logit", (3,))],
    indirect=["layout"],
)
def test_device_arrays_in_and_out(name, lead, layout, rng):
    X, y = rng.normal(size=(N, K)), rng.integers(0, 3, N)
    vector = name == "categorical_logit"
    core = (C,) if vector else ()
    given = {"beta": rng.normal(size=(*lead, K, *core)), "alpha": rng.normal(size=(*lead, N, *core))}
    if name == "normal_identity":
        given["sigma"] = rng.uniform(1, 2, (*lead, 1))
    if name == "ordered_logit":
        given["cutpoints"] = np.array([-0.5, 0.5])
    held = {n: gs.to_device(v) for n, v in given.items()}
    density = gs.densities[name]
    on_host = gs.GLM(density, y, X)
    on_device = gs.GLM(density, gs.to_device(y), gs.to_device(X), groups=layout.to_device(y))
    wrt = [*given, "X"]
    value, want = on_host.value_and_grad(**given, wrt=wrt)
    assert not any(map(is_native, want.values()))
    got_value, got = on_device.value_and_grad(**held, wrt=wrt)
    np.testing.assert_array_equal(got_value, value)
    for n in wrt:
        assert is_native(got[n])
        np.testing.assert_allclose(gs.to_host(got[n]), want[n], rtol=1e-12, atol=1e-13)
    mixed = on_host.value_and_grad(**given | {"beta": held["beta"]}, wrt=wrt)[1]
    assert is_native(mixed["beta"]) and not is_native(mixed["alpha"])
    for method in ("logpdf", "linear_predictor", "rvs"):
        seed = {"rng": 5} if method == "rvs" else {}
        arguments = ("beta", "alpha") if method == "linear_predictor" else tuple(given)
        expected = getattr(on_host, method)(**{n: given[n] for n in arguments}, **seed)
        found = getattr(on_device, method)(**{n: held[n] for n in arguments}, **seed)
        assert is_native(found) and not is_native(expected)
        np.testing.assert_allclose(gs.to_host(found), expected, rtol=1e-13, atol=1e-13)


def test_an_intercept_of_one_number_on_a_device(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.integers(0, 2, N), rng.normal(size=K)
    glm = gs.GLM(gs.bernoulli_logit, y, X)
    for alpha in (0.0, 0.7):
        value, gradient = glm.value_and_grad(beta, gs.to_device(np.array([alpha])))
        assert value == pytest.approx(glm(beta, alpha), rel=1e-14) and is_native(gradient["alpha"])


def test_the_data_are_its_own(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=K)
    offset, weights, groups = rng.normal(size=N), rng.uniform(size=N), rng.integers(0, 3, N)
    glm = gs.GLM(gs.normal_identity, y, X, offset=offset, weights=weights, groups=groups)
    before = glm(beta, np.zeros(groups.max() + 1), 1.0)
    for array in (X, y, offset, weights, groups):
        array[:] = 0
    assert glm(beta, np.zeros(3), 1.0) == before


def test_it_stays_on_its_device(rng):
    glm = gs.GLM(gs.bernoulli_logit, rng.integers(0, 2, N), rng.normal(size=(N, K)))
    assert glm.device is choose.get().device and glm.n_rows == N and glm.parameters == ("beta", "alpha")
    assert repr(glm) == f"<GLM of bernoulli_logit for X ({N}, {K}) float64 on {glm.device.id}>"
    beta = rng.normal(size=K)
    before = glm(beta)
    for other in gs.devices():
        with gs.use(other):
            assert glm(beta) == before
        if other != glm.device:
            with gs.use(other):
                elsewhere = gs.to_device(beta)
            with pytest.raises(ValueError, match="the data lie on .* another device"):
                glm(elsewhere)


@pytest.mark.parametrize("name", ["bernoulli_logit", "categorical_logit"])
def test_the_same_bits(name, layout, rng):
    n, vector = 20_001, name == "categorical_logit"
    X, y, groups = rng.normal(size=(n, K)), rng.integers(0, 2, n), rng.integers(0, 5, n)
    core = (C,) if vector else ()
    beta, alpha = rng.normal(size=(S, K, *core)), rng.normal(size=(S, 5, *core))
    glm = gs.GLM(gs.densities[name], y, X, groups=groups)
    value, gradient = glm.value_and_grad(beta, alpha)
    for again in (glm, glm, gs.GLM(gs.densities[name], y, X, groups=groups)):
        same, derivatives = again.value_and_grad(beta, alpha)
        np.testing.assert_array_equal(same, value)
        for argument in gradient:
            np.testing.assert_array_equal(derivatives[argument], gradient[argument])


def test_threads(rng):
    glm = gs.GLM(gs.bernoulli_logit, rng.integers(0, 2, 500), rng.normal(size=(500, K)))
    betas = rng.normal(size=(4, K))
    want = [(glm(beta), glm.logpdf(beta)) for beta in betas]
    wrong = []

    def work(i):
        for _ in range(20):
            if glm(betas[i]) != want[i][0] or (glm.logpdf(betas[i]) != want[i][1]).any():
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_draws(rng):
    X, y, beta = rng.normal(size=(N, K)), np.zeros(N), rng.normal(size=(2, K)) / 4
    glm = gs.GLM(gs.poisson_log, y, X, offset=np.full(N, 0.5))
    draws = glm.rvs(beta, 1.0, rng=3)
    assert draws.shape == (2, N)
    np.testing.assert_array_equal(draws, gs.poisson_log.rvs(glm.linear_predictor(beta, 1.0), rng=3))
    glm = gs.GLM(gs.normal_identity, y, X)
    assert glm.rvs(beta[0], 0.0, 2.0, rng=3).shape == (N,)
    many = gs.GLM(gs.categorical_logit, np.zeros(20_000), np.ones((20_000, 1))).rvs(np.array([[0.0, 1.0, -1.0]]), rng=3)
    expected = special.softmax([0.0, 1.0, -1.0])
    assert stats.chisquare(np.bincount(many.astype(int), minlength=3), 20_000 * expected).pvalue > 1e-4


# ---- other families

BENT = """
real horner(real z, const real *c, int dim)
{
    real sum = 0;
    for (int i = dim - 1; i >= 0; i--)
        sum = sum * z + c[i];
    return sum;
}

// bent: normal around a polynomial of the linear predictor
// x: real    eta: real    c: vector, coefficients    total: positive, precision
real bent_logpdf(real x, real eta, const real *c, real total, int dim)
{
    real z = x - horner(eta, c, dim);
    return 0.5 * log(total) - HALF_LOG_2PI - 0.5 * total * z * z;
}
"""

SOFTMAX = """
real largest(const real *v, int dim)
{
    real found = -INFINITY;
    for (int i = 0; i < dim; i++)
        found = fmax(found, v[i]);
    return found;
}

// choice: a category, whose scores are divided by a temperature
// x: nonnegative integer    eta: vector    temperature: positive
real choice_logpmf(real x, const real *eta, real temperature, int dim)
{
    if (x >= dim) return -INFINITY;
    real top = largest(eta, dim), sum = 0;
    for (int i = 0; i < dim; i++)
        sum += exp((eta[i] - top) / temperature);
    return (eta[(int)x] - top) / temperature - log(sum);
}
"""


def test_a_users_family(rng):
    bent = gs.register(BENT)
    X, y, weights, groups = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(0, 2, N), rng.integers(0, 3, N)
    groups[0] = 2
    glm = gs.GLM(bent, y, X, weights=weights, groups=groups)
    given = {"beta": rng.normal(size=(S, K)) / 3, "alpha": rng.normal(size=3), "c": rng.normal(size=4)}
    given["total"] = rng.uniform(1, 2, N)

    def total(beta, alpha, c, total):
        eta = predictor(X, beta, alpha, np.zeros(N), groups, False)
        z = y - sum(c[i] * eta**i for i in range(4))
        return ((0.5 * np.log(total / (2 * np.pi)) - 0.5 * total * z * z) * weights).sum(-1)

    value, gradient = glm.value_and_grad(**given)
    np.testing.assert_allclose(value, total(**given), rtol=1e-12)
    for name in given:
        want = complex_steps(lambda a, name=name: total(**{**given, name: a}).sum(), given[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-10, atol=1e-10 * np.abs(want).max())


def test_a_users_family_of_vectors(layout, rng):
    choice = gs.register(SOFTMAX)
    X, y = rng.normal(size=(N, K)), rng.integers(0, C, N)
    beta, alpha, temperature = rng.normal(size=(S, K, C)), rng.normal(size=(S, 1, C)), rng.uniform(1, 2, (S, 1))
    value, gradient = gs.GLM(choice, y, X).value_and_grad(beta, alpha, temperature)

    def total(beta, alpha, temperature):
        eta = predictor(X, beta, alpha, np.zeros(N), None, True) / temperature[..., None]
        return TERMS["categorical_logit"](y, eta).sum(-1)

    everything = {"beta": beta, "alpha": alpha, "temperature": temperature}
    np.testing.assert_allclose(value, total(**everything), rtol=1e-12)
    for name in everything:
        want = complex_steps(lambda a, name=name: total(**{**everything, name: a}).sum(), everything[name])
        np.testing.assert_allclose(gradient[name], want, rtol=1e-10, atol=1e-10)


def test_the_predictor_by_another_name(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=K)
    got = gs.GLM(gs.normal, y, X, eta="mu").value_and_grad(beta, 0.5, sigma=2.0)
    want = gs.GLM(gs.normal_identity, y, X).value_and_grad(beta, 0.5, sigma=2.0)
    assert got[0] == want[0]
    for name in want[1]:
        np.testing.assert_array_equal(got[1][name], want[1][name])
    np.testing.assert_allclose(got[0], stats.norm.logpdf(y, X @ beta + 0.5, 2).sum(), rtol=1e-13)


def test_a_transformed_density(rng):
    X, beta = rng.normal(size=(N, K)), rng.normal(size=K)
    y = np.abs(rng.normal(size=N))
    halves = gs.transforms.Truncate(gs.normal, 0, None)
    value, gradient = gs.GLM(halves, y, X, eta="mu").value_and_grad(beta, 0.5, sigma=2.0)
    eta = X @ beta + 0.5
    np.testing.assert_allclose(value, stats.truncnorm.logpdf(y, -eta / 2, np.inf, eta, 2).sum(), rtol=1e-12)
    slope = (y - eta) / 4 - stats.norm.pdf(eta / 2) / stats.norm.cdf(eta / 2) / 2
    np.testing.assert_allclose(gradient["alpha"], slope.sum(), rtol=1e-10)
    np.testing.assert_allclose(gradient["beta"], slope @ X, rtol=1e-10)


def test_weights_of_both_kinds(rng):
    """Of the density, where the weight is a parameter, and of the GLM."""
    X, y, beta, own, weight = rng.normal(size=(N, K)), rng.integers(0, 2, N), rng.normal(size=K), *rng.uniform(0, 2, (2, N))
    glm = gs.GLM(gs.transforms.Weighted(gs.bernoulli_logit), y, X, weights=own)
    value, gradient = glm.value_and_grad(beta, 0.5, weight=weight)
    terms = TERMS["bernoulli_logit"](y, X @ beta + 0.5)
    np.testing.assert_allclose(value, (terms * own * weight).sum(), rtol=1e-13)
    np.testing.assert_allclose(gradient["beta"], ((y - expit(X @ beta + 0.5)) * own * weight) @ X, rtol=1e-11)
    np.testing.assert_allclose(gradient["weight"], terms * own, rtol=1e-12)


def test_names_of_the_kernels_own_variables(rng):
    """A user's parameter may be called as anything in the kernel."""
    X, y, beta, groups = rng.normal(size=(N, K)), rng.normal(size=N), rng.normal(size=K), rng.integers(0, 2, N)
    alpha = rng.normal(size=2)
    eta = X @ beta + alpha[groups] + 1
    names = ["partial", "n", "offset", "groups", "rows", "s", "eta_out"]
    declared = ", ".join(f"real {name}" for name in ["x", "eta", *names, "weight", "component"])
    body = f"return {' + '.join(names)} - weight * component * (x - eta);"
    density = gs.register(f"real odd_logpdf({declared}) {{ {body} }}")
    glm = gs.GLM(density, y, X, offset=np.ones(N), groups=groups, weights=np.full(N, 2.0))
    given = dict.fromkeys(glm.parameters[2:], 0.5) | {"weight": np.full(N, 3.0), "s": np.arange(N) / N}
    value, gradient = glm.value_and_grad(beta, alpha, **given)
    want = 2 * (6 * 0.5 + given["s"] - 1.5 * (y - eta)).sum()
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(gradient["weight"], -(y - eta), rtol=1e-12)
    np.testing.assert_allclose(gradient["component"], -6 * (y - eta).sum(), rtol=1e-12)
    np.testing.assert_allclose(gradient["beta"], 3 * X.sum(0), rtol=1e-11)
    assert gradient["partial"] == 2 * N


# ---- what is refused


def refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_data(rng):
    X, y = rng.normal(size=(N, K)), rng.integers(0, 2, N)
    glm = lambda *args, **kwargs: lambda: gs.GLM(gs.bernoulli_logit, *args, **kwargs)  # noqa: E731
    refused(rf"y has shape \(3,\), and X has {N} rows: it must be \({N},\)", glm(y[:3], X))
    refused(rf"y has shape \({N}, {K}\)", glm(X, X))
    refused(r"y has shape \(\)", glm(1.0, X))
    refused(r"X must be a matrix, \(N, k\); it has shape \(5,\)", glm(y, X[0]))
    refused(r"X must be a matrix, \(N, k\); it has shape \(\)", glm(y, 1.0))
    refused(rf"X has shape \({N}, 0\): a GLM needs a column", glm(y, X[:, :0]))
    refused(r"offset has shape \(\)", glm(y, X, offset=1.0))
    refused(r"weights has shape \(2,\)", glm(y, X, weights=[1.0, 2.0]))
    refused(rf"groups has shape \(3,\) and dtype int64: it must be \({N},\) whole numbers", glm(y, X, groups=y[:3]))
    refused(rf"groups has shape \({N},\) and dtype float64", glm(y, X, groups=y * 0.5))
    refused(r"groups must be numbered from 0", glm(y, X, groups=y - 1))
    with pytest.raises(TypeError, match="X has dtype complex128"):
        gs.GLM(gs.bernoulli_logit, y, X * 1j)
    refused("normal has no parameter 'eta'.*; its parameters are mu, sigma", lambda: gs.GLM(gs.normal, y, X))
    refused("dirichlet has vectors for observations", lambda: gs.GLM(gs.dirichlet, X, X, eta="a"))
    refused("mvnormal has vectors for observations", lambda: gs.GLM(gs.mvnormal, X, X, eta="mu"))


@pytest.mark.parametrize("name", ["beta", "alpha", "y", "X", "weights", "wrt", "rng"])
def test_names_that_are_the_glms_own(name):
    density = gs.register(f"real own_logpdf(real x, real eta, real {name}) {{ return {name} * (x - eta); }}")
    refused(f"own has a parameter called '{name}'", lambda: gs.GLM(density, np.ones(3), np.ones((3, 1))))


def test_vectors_beside_a_vector_of_predictors():
    density = gs.register("real two_logpdf(real x, const real *eta, const real *b, int dim) { return eta[0] * b[0] * x; }")
    refused("two has vectors beside eta", lambda: gs.GLM(density, np.ones(3), np.ones((3, 1))))


def test_wrong_arguments(rng):
    X, y, beta = rng.normal(size=(N, K)), rng.integers(0, 3, N), np.zeros(K)
    one = gs.GLM(gs.ordered_logit, y, X, groups=y)
    many = gs.GLM(gs.categorical_logit, y, X)
    cuts = [0.0, 1.0]
    for message, call in [
        (r"beta has shape \(4,\), and X has k = 5 columns: it must be \(k,\) or \(S, k\)", lambda: one(np.zeros(4), 0.0, cuts)),
        (r"beta has shape \(\)", lambda: one(1.0, 0.0, cuts)),
        (r"beta has shape \(5,\), and X has k = 5 columns: it must be \(k, C\) or \(S, k, C\)", lambda: many(beta)),
        (r"beta has shape \(5, 0\): there is no outcome", lambda: many(np.zeros((K, 0)))),
        (
            r"alpha has shape \(4,\): its axis of length 4 must have 43, one for each row of X, 3, one for each group",
            lambda: one(beta, np.zeros(4), cuts),
        ),
        (r"alpha has shape \(2,\): its last axis must be beta's 3 outcomes", lambda: many(np.zeros((K, 3)), np.zeros(2))),
        (r"alpha has shape \(7, 3\): its axis of length 7", lambda: many(np.zeros((K, 3)), np.zeros((7, 3)))),
        (r"cutpoints must be a vector; it has shape \(\)", lambda: one(beta, 0.0, 1.5)),
        (r"cutpoints has shape \(4, 2\): its axis of length 4", lambda: one(beta, 0.0, np.zeros((4, 2)))),
        (r"do not go together: beta \(3, 5\), alpha \(2, 1\)", lambda: one(np.zeros((3, K)), np.zeros((2, 1)), cuts)),
        (r"beyond beta and alpha, the GLM takes 1 parameters \(cutpoints\), not 2", lambda: one(beta, 0.0, cuts, 1.0)),
        (r"no parameter 'sigma'; its parameters are beta, alpha, cutpoints", lambda: one(beta, sigma=1.0)),
        (r"cutpoints is given twice", lambda: one(beta, 0.0, cuts, cutpoints=cuts)),
        (r"the GLM needs cutpoints", lambda: one(beta)),
        (r"wrt: 'gamma' is none of beta, alpha, cutpoints, X", lambda: one.value_and_grad(beta, 0.0, cuts, wrt="gamma")),
        (r"wrt names beta twice", lambda: one.value_and_grad(beta, 0.0, cuts, wrt=("beta", "beta"))),
    ]:
        refused(message, call)
    trials = gs.GLM(gs.binomial_logit, y, X)
    refused("wrt: 'n' is none of beta, alpha, X", lambda: trials.value_and_grad(beta, 0.0, 3, wrt="n"))
    with pytest.raises(TypeError, match="beta has dtype complex128"):
        one(beta * 1j, 0.0, cuts)
