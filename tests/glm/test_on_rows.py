"""Calls of a GLM that a CPU evaluates as sums over rows: their results are those of the kernels, in every form."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from thorough import double_first, some

import gpustats as gs
from gpustats.glm import on_rows
from gpustats.runtime import choose

N, K, G = 311, 3, 9  # rows, columns, groups of which the last has no rows

pytestmark = pytest.mark.skipif("choose.get().device.type != 'cpu'", reason="a GPU reads designs with the kernels of GLMs")


@pytest.fixture
def sides(monkeypatch):
    """Makes a GLM twice: one evaluated by the kernels of GLMs, one on rows, whatever its size."""

    def make(call, *args, **kwargs):
        results = []
        for fewest, used in ((1 << 40, False), (0, True)):
            monkeypatch.setattr(on_rows, "FEWEST_ROWS", fewest)
            glm = gs.GLM(*args, **kwargs)
            results.append(call(glm))
            assert bool(glm._delegate._rows) is used
        return results

    return make


def close(found, wanted, exact=1e-11):
    assert type(found[0]) is type(wanted[0]) and np.shape(found[0]) == np.shape(wanted[0])
    np.testing.assert_allclose(found[0], wanted[0], rtol=exact)
    assert list(found[1]) == list(wanted[1])
    for name, derivative in wanted[1].items():
        assert type(found[1][name]) is type(derivative) and np.shape(found[1][name]) == np.shape(derivative)
        assert getattr(found[1][name], "dtype", None) == getattr(derivative, "dtype", None)
        np.testing.assert_allclose(found[1][name], derivative, rtol=exact, atol=exact * N, err_msg=name)


def data(rng, n=N, dtype=np.float64):
    return rng.normal(size=(n, K)).astype(dtype), rng.integers(0, 2, n), rng.integers(0, G - 1, n)


@pytest.mark.parametrize("name, own", some([
    ("bernoulli_logit", {}), ("poisson_log", {}), ("binomial_logit", {"n": 3}), ("normal_identity", {"sigma": 1.5}),
    ("student_t_identity", {"nu": 4.0, "sigma": 2.0}),
]))  # fmt: skip
@double_first
@pytest.mark.parametrize("n", [0, 1, N])
def test_families(name, own, dtype, n, sides, rng):
    X, y, groups = data(rng, n, dtype)
    extras = dict(offset=rng.normal(size=n), weights=rng.uniform(size=n), groups=groups, n_groups=G)
    density, beta = gs.densities[name], rng.normal(size=K)
    names = [p for p in density.parameters if p != "eta"]
    own = [own.get(p, v) for p, v in zip(names, own.values(), strict=True)]
    for alpha in (0.25, np.full(1, 0.25), rng.normal(size=G)):
        close(*sides(lambda glm, alpha=alpha: glm.value_and_grad(beta, alpha, *own), density, y, X, **extras),
              1e-11 if dtype == np.float64 else 1e-4)  # fmt: skip


@pytest.mark.parametrize("beta, alpha, sigma", some([
    *(((K,), alpha, sigma) for alpha in ((), (1,), (G,)) for sigma in ((), (1,))),
    *(((S, K), alpha, sigma) for S in (1, 2) for alpha in ((), (1,), (S, 1), (G,), (S, G)) for sigma in ((), (S, 1))),
]))  # fmt: skip
def test_sets(beta, alpha, sigma, sides, rng):
    X, y, groups = data(rng)
    values = [rng.normal(size=s) if s else 0.5 for s in (beta, alpha)] + [rng.uniform(1, 2, sigma) if sigma else 1.5]
    options = dict(groups=groups, n_groups=G, weights=rng.uniform(size=N))
    close(*sides(lambda glm: glm.value_and_grad(*values), gs.normal_identity, y, X, **options))
    values_only = sides(lambda glm: glm(*values), gs.normal_identity, y, X, **options)
    np.testing.assert_allclose(*values_only, rtol=1e-12)


def test_what_is_asked_for(sides, rng):
    X, y, groups = data(rng)
    beta, alpha = rng.normal(size=K), rng.normal(size=G)
    for wrt in ("beta", "alpha", ("alpha", "sigma"), ("sigma", "beta")):
        close(*sides(lambda glm, wrt=wrt: glm.value_and_grad(beta, alpha, sigma=2.0, wrt=wrt), gs.normal_identity, y, X,
                     groups=groups, n_groups=G))  # fmt: skip
    close(*sides(lambda glm: glm.value_and_grad(beta, sigma=2), gs.normal_identity, y, X))


def test_registered_and_transformed_densities(sides, rng):
    X, y, _ = data(rng)
    own = gs.register("real own_logpdf(real x, real eta, real memory) { return log(memory) - memory * fabs(x - eta); }")
    close(*sides(lambda glm: glm.value_and_grad(np.ones(K), 0.5, 2.0), own, y, X))
    cut = gs.transforms.Truncate(gs.normal, -3.0, 3.0)
    close(*sides(lambda glm: glm.value_and_grad(np.ones(K), 0.5, sigma=2.0), cut, y, X, eta="mu"))


def test_outside_of_the_domain(sides, rng):
    X, y, _ = data(rng)
    low, negative = sides(lambda glm: glm(np.ones(K), 0.5, -1.0), gs.normal_identity, y, X)
    assert np.isnan(low) and np.isnan(negative)
    low, negative = sides(lambda glm: glm(np.ones(K)), gs.bernoulli_logit, y * 2, X)
    assert low == negative == -np.inf


def test_the_same_bits_in_threads_and_copies(monkeypatch, rng):
    monkeypatch.setattr(on_rows, "FEWEST_ROWS", 0)
    X, y, groups = data(rng, 20_000)
    betas, alpha = rng.normal(size=(4, K)), rng.normal(size=G)
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups=groups, n_groups=G)
    wanted = [glm.value_and_grad(beta, alpha) for beta in betas]
    again = pickle.loads(pickle.dumps(glm))
    assert [again(beta, alpha) for beta in betas] == [value for value, _ in wanted]

    def work(beta, expected):
        for _ in range(10):
            value, gradient = glm.value_and_grad(beta, alpha)
            assert value == expected[0]
            for name in gradient:
                np.testing.assert_array_equal(gradient[name], expected[1][name])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, betas, wanted))


def test_by_group_a_set_has_the_bits_of_a_call_of_its_own(monkeypatch, rng):
    monkeypatch.setattr(on_rows, "FEWEST_ROWS", 0)
    X, y, groups = data(rng, 5000)
    beta, alpha = rng.normal(size=(3, K)), rng.normal(size=(3, G))
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups=groups, n_groups=G)
    value, gradient = glm.value_and_grad(beta, alpha)
    for s in range(3):
        own, its = glm.value_and_grad(beta[s], alpha[s])
        assert own == value[s] and (its["alpha"] == gradient["alpha"][s]).all() and (its["beta"] == gradient["beta"][s]).all()


def test_which_calls(monkeypatch, rng):
    n = on_rows.FEWEST_ROWS
    most = on_rows.MOST_COLUMNS
    for columns, rows, wanted in ((1, n, True), (most, n, True), (most + 1, n, False), (1, n - 1, False)):
        glm = gs.GLM(gs.bernoulli_logit, np.zeros(rows), np.ones((rows, columns)))
        glm(np.zeros(columns))
        assert bool(glm._delegate._rows) is wanted
        several = gs.GLM(gs.bernoulli_logit, np.zeros(rows), np.ones((rows, columns)))
        several(np.zeros((2, columns)))  # each set has the bits that it has alone
        assert bool(several._delegate._rows) is wanted
    assert choose.get().device.type == "cpu"
    y, X, beta = np.zeros(n), np.ones((n, 2)), np.zeros(2)
    for glm, call in [
        (gs.GLM(gs.bernoulli_logit, y, X), lambda glm: glm.value_and_grad(beta, wrt="X")),
        (gs.GLM(gs.bernoulli_logit, y, X), lambda glm: glm(beta, np.zeros(n))),
        (gs.GLM(gs.categorical_logit, y, X), lambda glm: glm(np.zeros((2, 3)))),
        (gs.GLM(gs.ordered_logit, y, X), lambda glm: glm(beta, cutpoints=np.zeros(1))),
    ]:
        call(glm)
        assert not glm._delegate._rows
