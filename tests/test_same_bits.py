"""Sets of parameters, alone and together: each gets the same bits."""

import pickle

import numpy as np
import pytest
from thorough import double_first, some

import gpustats as gs
from gpustats.runtime import choose

SETS = (1, 2, 3, 8, 33, 70)


def same(found, alone):
    np.testing.assert_array_equal(np.asarray(found), np.asarray(alone))


@double_first
@pytest.mark.parametrize("n, k, outcomes", some([(20_100, 5, 0), (2_100, 30, 0), (70, 1, 0), (700, 4, 3), (0, 2, 0)], 4))
def test_glm(n, k, outcomes, dtype, rng):
    X, y = rng.normal(size=(n, k)).astype(dtype), rng.integers(0, 2, n)
    density = gs.categorical_logit if outcomes else gs.bernoulli_logit
    glm = gs.GLM(density, y, X, same_bits=True)
    beta = rng.normal(size=(max(SETS), k, *[outcomes] * bool(outcomes)))
    alpha = rng.normal(size=(max(SETS), 1, *[outcomes] * bool(outcomes)))
    alone = [glm.value_and_grad(beta[i], alpha[i, 0]) for i in (0, 1)]
    for model in (glm, pickle.loads(pickle.dumps(glm))):
        for sets in SETS:
            value, gradient = model.value_and_grad(beta[:sets], alpha[:sets])
            for i in range(min(sets, 2)):
                same(value[i], alone[i][0])
                same(gradient["beta"][i], alone[i][1]["beta"])
                same(np.ravel(gradient["alpha"][i]), np.ravel(alone[i][1]["alpha"]))


def test_sets_of_a_glm_on_a_cpu_without_the_option(rng):
    if choose.get().device.type != "cpu":
        pytest.skip("a GPU evaluates one set by another kernel")
    X, y, beta = rng.normal(size=(3_000, 20)), rng.integers(0, 2, 3_000), rng.normal(size=(256, 20))
    glm = gs.GLM(gs.bernoulli_logit, y, X)
    many = glm.value_and_grad(beta, np.full((256, 1), 0.5))  # whose sums a kernel adds up, and the host those of one set
    value, gradient = glm.value_and_grad(beta[7], 0.5)
    same(many[0][7], value)
    same(many[1]["beta"][7], gradient["beta"])


@double_first
@pytest.mark.parametrize("name", some(["student_t", "normal", "gamma"], 2))
@pytest.mark.parametrize("memory", [None, 20_000])
def test_likelihoods(name, memory, dtype, rng):
    x = rng.gamma(2.0, size=5_003).astype(dtype)
    likelihood = gs.Likelihood(gs.densities[name], x, same_bits=True, memory=memory)
    names = gs.densities[name].parameters
    parameters = {n: rng.uniform(0.5, 2.0, (max(SETS), 1)) for n in names}
    alone = [likelihood.value_and_grad(**{n: v[i, 0] for n, v in parameters.items()}) for i in (0, 1)]
    for sets in SETS:
        given = {n: v[:sets] for n, v in parameters.items()} | {names[0]: parameters[names[0]][0, 0]}  # one for all sets
        alone[1] = likelihood.value_and_grad(**{n: v[1, 0] if n != names[0] else v[0, 0] for n, v in parameters.items()})
        value, gradient = likelihood.value_and_grad(**given)
        np.testing.assert_array_equal(likelihood(**given), value)
        np.testing.assert_allclose(gradient[names[0]], sum(
            likelihood.value_and_grad(**{n: np.ravel(v)[i if np.ndim(v) else 0] for n, v in given.items()})[1][names[0]]
            for i in range(sets)
        ), rtol=1e-12)  # fmt: skip
        for i in range(min(sets, 2)):
            same(value[i], alone[i][0])
            for n in names[1:]:
                same(gradient[n][i, 0], alone[i][1][n])


def test_vectors_hessians_and_sets_along_several_axes(rng):
    x, mu = rng.normal(size=(400, 3)), rng.normal(size=(2, 5, 1, 3))
    likelihood = gs.Likelihood(gs.mvnormal, x, same_bits=True)
    value, gradient = likelihood.value_and_grad(mu=mu, cov=np.eye(3))
    assert value.shape == (2, 5) and gradient["mu"].shape == mu.shape and gradient["cov"].shape == (3, 3)
    own = likelihood.value_and_grad(mu=mu[1, 3, 0], cov=np.eye(3))
    same(value[1, 3], own[0])
    same(gradient["mu"][1, 3, 0], own[1]["mu"])
    likelihood = gs.Likelihood(gs.normal, x[:, 0], same_bits=True)
    hessian = likelihood.hessian(mu[..., 0], 1.5)
    assert hessian.shape == (2, 5, 2, 2)
    same(hessian[1, 2], likelihood.hessian(mu[1, 2, 0, 0], 1.5))
    assert likelihood(np.zeros((0, 1)), 1.0).shape == (0,)
    by_row = rng.normal(size=(4, 400))
    same(likelihood(by_row, np.full((4, 1), 2.0))[2], likelihood(by_row[2], 2.0))


def test_observations_along_several_axes_are_refused():
    with pytest.raises(ValueError, match="same_bits"):
        gs.Likelihood(gs.normal, np.zeros((2, 3)), same_bits=True)
