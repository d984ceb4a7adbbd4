"""Likelihoods bound to data, and the sums below them."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH, double_first, some

import gpustats as gs
from gpustats.runtime import choose


@pytest.fixture
def x(rng):
    return rng.normal(1, 2, 1003)


def test_scalars_sets_and_observations(x, rng):
    likelihood = gs.Likelihood(gs.normal, x)
    total = likelihood(0.5, 2)
    assert type(total) is float
    np.testing.assert_allclose(total, stats.norm.logpdf(x, 0.5, 2).sum(), rtol=1e-13)
    assert (
        likelihood(np.float64(0.5), np.float32(2)) == likelihood(sigma=2, mu=0.5) == likelihood(0.5, sigma=2) == total
    )
    mu, sigma = rng.normal(size=(5, 1)), rng.uniform(1, 2, (5, 1))
    np.testing.assert_allclose(likelihood(mu, sigma), stats.norm.logpdf(x, mu, sigma).sum(-1), rtol=1e-13)
    np.testing.assert_allclose(likelihood(mu, 2), stats.norm.logpdf(x, mu, 2).sum(-1), rtol=1e-13)
    np.testing.assert_allclose(likelihood(x / 2, sigma), stats.norm.logpdf(x, x / 2, sigma).sum(-1), rtol=1e-13)
    np.testing.assert_allclose(likelihood(x / 2, 2), stats.norm.logpdf(x, x / 2, 2).sum(), rtol=1e-13)
    assert np.isnan(likelihood(0, -1)) and np.isnan(likelihood(np.nan, 1))


def test_it_is_the_sum_of_the_density(x):
    assert gs.Likelihood(gs.normal, x)(0.5, 2.0) == gs.normal.loglik(x, 0.5, 2.0)


def test_vector_observations(rng):
    x, a = rng.dirichlet(np.ones(3), 50), rng.uniform(1, 3, (4, 1, 3))
    likelihood = gs.Likelihood(gs.dirichlet, x)
    want = [sum(stats.dirichlet.logpdf(row, p[0]) for row in x) for p in a]
    np.testing.assert_allclose(likelihood(a), want, rtol=1e-12)
    np.testing.assert_allclose(likelihood(a[0, 0]), want[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_other_types(dtype):
    x = np.array([0, 1, 1, 0, 1], dtype)
    want = stats.bernoulli.logpmf(x.astype(int), 0.25).sum()
    np.testing.assert_allclose(gs.Likelihood(gs.bernoulli, x)(0.25), want, rtol=1e-6 if dtype == np.float32 else 1e-13)


def test_the_data_are_its_own(x):
    likelihood = gs.Likelihood(gs.normal, x)
    before = likelihood(0, 1)
    x[:] = 0
    assert likelihood(0, 1) == before
    assert gs.Likelihood(gs.normal, x[::-2])(0, 1) == gs.Likelihood(gs.normal, np.zeros(502))(0, 1)


def test_it_stays_on_its_device(x):
    likelihood = gs.Likelihood(gs.normal, x)
    before = likelihood(0, 1)
    assert likelihood.device is choose.get().device
    assert likelihood.device.id in repr(likelihood) and "(1003,)" in repr(likelihood) and "normal" in repr(likelihood)
    others = [device for device in gs.devices() if device != likelihood.device]
    for other in others:
        with gs.use(other):
            assert likelihood(0, 1) == before
            assert likelihood.device != other
    held = gs.to_device(x)
    on_device = gs.Likelihood(gs.normal, held)
    assert on_device.x is held and on_device(0, 1) == before


def test_nothing_and_one_number():
    assert gs.Likelihood(gs.normal, [])(0, 1) == 0
    assert (gs.Likelihood(gs.normal, [])(np.zeros((3, 1)), 1) == np.zeros(3)).all()
    assert gs.Likelihood(gs.normal, 0.5)(0, 1) == gs.normal.logpdf(0.5, 0, 1)


def test_wrong_arguments(x):
    likelihood = gs.Likelihood(gs.normal, x)
    assert likelihood.parameters == ("mu", "sigma")
    for args, kwargs, message in [
        ((1,), {}, "needs sigma"),
        ((1, 2, 3), {}, "takes 2 arguments"),
        ((1,), {"scale": 3}, "no parameter 'scale'"),
        ((np.zeros(7), 1), {}, r"do not broadcast: x .*, mu \(7,\), sigma \(\); for the sums of K parameter sets .* \(K, 1\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            likelihood(*args, **kwargs)
    with pytest.raises(ValueError, match=r"vectors as an array of shape \(N, d\)"):
        gs.Likelihood(gs.dirichlet, np.ones(3))
    with pytest.raises(TypeError, match="x has dtype complex128"):
        gs.Likelihood(gs.normal, x + 1j)


# ---- sums


@pytest.mark.parametrize("n", [1, 7, 512, 100_003])
@pytest.mark.parametrize("sets", [1, 3, 8, 20])
def test_the_same_call_gives_the_same_bits(n, sets, rng):
    x, mu = rng.normal(size=n), rng.normal(size=(sets, 1))
    first = gs.normal.loglik(x, mu, 1.0)
    for _ in range(10):
        assert np.array_equal(gs.normal.loglik(x, mu, 1.0), first)
    np.testing.assert_allclose(first, stats.norm.logpdf(x, mu, 1).sum(-1), rtol=1e-12)


def test_threads_get_the_same_bits(x):
    likelihood = gs.Likelihood(gs.normal, x)
    want = [likelihood(i / 10, 1.5) for i in range(8)]

    def work(i):
        return all(likelihood(i / 10, 1.5) == gs.normal.loglik(x, i / 10, 1.5) == want[i] for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


IDENTITY = "real identity_logpdf(real x, real a) { return x * a; }"


def test_infinities_and_nans_are_summed_like_numpys(x):
    density = gs.register(IDENTITY)
    for values in ([np.inf, 1], [np.inf, -np.inf], [np.nan, 1], [-np.inf, -np.inf]):
        with np.errstate(invalid="ignore"):
            want = np.sum([*x, *values])
        np.testing.assert_equal(density.loglik(np.r_[x, values], 1.0), want)


@THOROUGH
@pytest.mark.parametrize("n", [10**7, pytest.param(10**8, marks=pytest.mark.slow)])
def test_float32_sums_are_accurate(n):
    density = gs.register(IDENTITY)
    x = np.random.default_rng(0).uniform(0, 1, n).astype(np.float32)
    x[::1000] *= 1e6
    exact = math.fsum(x) if n <= 10**7 else float(x.sum(dtype=np.longdouble))
    got = density.loglik(x, 1.0)
    assert abs(got - exact) <= 1e-12 * exact
    assert density.loglik(x, 1.0) == got


def free_memory():
    return choose.get().free_memory() or 0


@pytest.mark.slow
def test_more_than_2_to_the_31_elements():
    """Tables and sums whose indices do not fit in 32 bits."""
    n = 2**31 + 1000
    if free_memory() < 9 * n:
        pytest.skip("too little memory")
    x = np.zeros(n, np.int8)
    x[[0, 2**31 - 1, 2**31, n - 1]] = 1, 2, 3, 4
    x = x.astype(np.float32)
    density = gs.register(IDENTITY)
    assert density.loglik(x, 2.0) == 20
    table = density.logpdf(x[: 2**29 + 1000, None], np.arange(1, 5, dtype=np.float32))
    assert table.shape == (2**29 + 1000, 4) and (table[0] == [1, 2, 3, 4]).all() and table[1:].max() == 0
    del table
    out = density.logpdf(x, 2.0)
    assert out[2**31 - 1] == 4 and out[2**31] == 6 and out[-1] == 8 and np.count_nonzero(out) == 4


@pytest.mark.parametrize("n", some([1, 2, 500], 2))
@double_first
def test_gradients_of_plain_and_other_arguments_agree(n, dtype, rng):
    """Numbers and one value for each observation go a shorter way than everything else."""
    x, rows = rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)
    lik = gs.Likelihood(gs.student_t, x)
    strided = np.repeat(rows, 2)[::2]
    for mu in (0.3, np.array(0.3), np.float32(0.25), rows, strided, rows.astype(float)):
        for wrt in (None, "mu", ("sigma", "mu")):
            value, gradient = lik.value_and_grad(4.0, mu, sigma=1.5, wrt=wrt)
            expected, derivatives = gs.student_t.loglik_and_grad(x, 4.0, np.atleast_1d(mu), 1.5, wrt=wrt)
            assert list(gradient) == list(derivatives) == (["nu", "mu", "sigma"] if wrt is None else list(np.atleast_1d(wrt)))
            np.testing.assert_allclose(value, expected, rtol=1e-6)
            assert value == pytest.approx(lik(4.0, mu, 1.5), rel=1e-12)
            for name in gradient:
                assert np.shape(gradient[name]) == np.shape(mu if name == "mu" else 1.5)
                np.testing.assert_allclose(gradient[name], np.reshape(derivatives[name], np.shape(gradient[name])), rtol=2e-5)


def test_the_data_have_no_gradient():
    with pytest.raises(ValueError, match="x is the data"):
        gs.Likelihood(gs.normal, [1.0, 2.0]).value_and_grad(0.0, 1.0, wrt="x")


def test_a_vector_as_long_as_the_data_is_one_parameter():
    p = np.array([0.2, 0.3, 0.5])
    lik = gs.Likelihood(gs.categorical, [0.0, 2.0, 2.0])
    np.testing.assert_allclose(lik(p), np.log(p[[0, 2, 2]]).sum(), rtol=1e-14)
    np.testing.assert_allclose(lik.value_and_grad(p)[1]["p"], [1 / 0.2, 0, 2 / 0.5], rtol=1e-14)


# ---- what must not be


@pytest.mark.parametrize("kind", [gs.Likelihood, gs.Mixture])
def test_the_data_cannot_be_exchanged(x, kind):
    """What is planned for calls was planned for them."""
    model = kind(gs.normal, x)
    with pytest.raises(AttributeError, match=rf"make a new one, gpustats\.{kind.__name__}\(density, x\)"):
        model.x = x[:10]
    with pytest.raises(AttributeError, match="density"):
        model.density = gs.student_t
    assert model.x.shape == x.shape and model.density is gs.normal


@pytest.mark.parametrize("made", ["every other", "backwards", "integers"])
def test_a_device_array_is_used_where_it_lies(x, made):
    """Later changes of it are seen, whatever its strides and its type are."""
    if made == "integers":
        whole = choose.get().to_device(np.arange(10))
        view = whole
    else:
        whole = gs.to_device(x)
        view = whole[::2] if made == "every other" else whole[::-1]
    likelihood = gs.Likelihood(gs.normal, view)
    for value in (1, 2, 3):
        whole.set(np.full(whole.shape, value, whole.dtype))
        expected = gs.normal.loglik(np.full(view.shape, float(value)), 0.5, 2.0)
        assert likelihood(0.5, 2.0) == pytest.approx(expected, rel=1e-12)
        assert likelihood.value_and_grad(0.5, 2.0)[0] == pytest.approx(expected, rel=1e-12)


def test_derivatives_in_nothing(x):
    """Are none: no gradient, and a matrix without elements."""
    sets = np.array([[0.5], [0.6], [0.7]])
    for likelihood in (gs.Likelihood(gs.normal, x), gs.Likelihood(gs.normal, x, chunk=100)):
        value, gradient = likelihood.value_and_grad(0.5, 2.0, wrt=())
        assert value == likelihood(0.5, 2.0) and gradient == {}
        assert likelihood.hessian(0.5, 2.0, wrt=()).shape == (0, 0)
        assert likelihood.hessian(sets, 2.0, wrt=[]).shape == (3, 0, 0)
    assert gs.Likelihood(gs.normal, x[:0]).hessian(0.5, 2.0, wrt=()).shape == (0, 0)
    assert gs.Likelihood(gs.poisson, np.arange(3)).hessian(2.0, wrt=()).shape == (0, 0)


@pytest.mark.parametrize("dtype", ["complex128", "U1", "O"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_parameters_of_types_that_the_density_refuses(x, dtype, shape):
    likelihood, sigma = gs.Likelihood(gs.normal, x), np.ones(shape).astype(dtype)
    calls = [
        lambda: gs.normal.loglik(x, 0.5, sigma),
        lambda: likelihood(0.5, sigma),
        lambda: likelihood.value_and_grad(0.5, sigma),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="sigma has dtype"):
            call()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u4", "i8", "?", "f2", "longdouble", ">f8", ">f4", ">i4"])
def test_parameters_of_types_that_it_takes(x, dtype):
    likelihood = gs.Likelihood(gs.normal, x)
    sigma = np.ones((), dtype)
    for _ in range(2):
        assert likelihood(0.5, sigma) == likelihood(0.5, sigma[()]) == likelihood(0.5, 1.0)
        assert likelihood.value_and_grad(0.5, sigma)[0] == likelihood(0.5, 1.0)


def test_how_parameters_may_lie_is_told(x):
    """The shape tells whether an array has a number for each observation or is K sets, also where K is N."""
    likelihood, mus = gs.Likelihood(gs.normal, x[:3]), np.array([0.0, 1.0, 2.0])
    assert "parameters: numbers, (3,) by observation, or (K, 1) for K sets" in repr(likelihood)
    np.testing.assert_allclose(likelihood(mus, 1.0), stats.norm.logpdf(x[:3], mus).sum(), rtol=1e-13)
    wanted = stats.norm.logpdf(x[:3], mus[:, None]).sum(1)
    np.testing.assert_allclose(likelihood(mus[:, None], 1.0), wanted, rtol=1e-13)
    table = gs.Likelihood(gs.normal, x[:4].reshape(2, 2))
    assert "(2, 2) by observation, or (K, 1, 1) for K sets" in repr(table)
    assert table(mus[:, None, None], 1.0).shape == (3, 2)


def test_parameters_in_one_dict(x):
    for density, given in ((gs.normal, {"mu": 0.0, "sigma": 1.0}), (gs.exponential, {"lam": 1.0})):
        likelihood = gs.Likelihood(density, np.abs(x))
        for call in (likelihood, likelihood.value_and_grad, likelihood.hessian):
            with pytest.raises(TypeError, match=r"is a dict: parameters by name are given as \*\*parameters, not as one dict"):
                call(given)


def test_labels_are_no_observations():
    with pytest.raises(TypeError, match=r"x has dtype <U1: .* numbered by numpy.unique\(x, return_inverse=True\)\[1\]"):
        gs.Likelihood(gs.poisson, ["a", "b", "a"])
