"""Every derivative of generalised linear models, against complex steps."""

import numpy as np
import pytest
from references_glm import TERMS, complex_steps, predictor
from thorough import some

import gpustats as gs

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups

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
    "layout, name, beta, alpha, others", some([("device", *c) for c in CASES] + [("gpu", *c) for c in ON_A_GPU], 2),
    indirect=["layout"],
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
