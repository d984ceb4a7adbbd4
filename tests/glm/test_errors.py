"""What a generalised linear model refuses, and with which words."""

import numpy as np
import pytest

import gpustats as gs

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups


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
    refused("name one of them by eta=, or take gpustats.poisson_log$", lambda: gs.GLM(gs.poisson, y, X))
    wanted = "eta=, or take gpustats.bernoulli_cloglog or gpustats.bernoulli_logit or gpustats.bernoulli_probit$"
    refused(wanted, lambda: gs.GLM.from_formula("y ~ x", {"y": y, "x": y}, gs.bernoulli))
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
