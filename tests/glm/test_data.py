"""Generalised linear models of data of every size, layout and kind of array."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from references_glm import predictor
from scipy import special, stats
from thorough import some

import gpustats as gs
from gpustats.runtime import choose

N, K, S, C, G = 43, 5, 4, 3, 6  # rows, columns, sets of coefficients, outcomes, groups


@pytest.mark.parametrize(
    "k, dtype",
    some([*((k, np.float64) for k in (1, 2, 7, 8, 50, 257, 10_000)), *((k, np.float32) for k in (7, 8, 10_000))]),
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

    def work(beta, value, terms):
        return all(glm(beta) == value and (glm.logpdf(beta) == terms).all() for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, betas, *zip(*want)))


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
