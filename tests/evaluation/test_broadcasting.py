"""Shapes, strides and types: whatever NumPy broadcasts gives SciPy's numbers."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import special, stats
from thorough import double_first, some

import gpustats as gs

SIZES = (0, 1, 2, 3, 17)
FLOATS = (np.float64, np.float32)
few = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def lay_out(array, layout):
    """The same numbers, lying differently in memory."""
    if layout == "Fortran":
        return np.asfortranarray(array)
    if layout == "reversed":
        return np.flip(np.ascontiguousarray(np.flip(array)))
    if layout == "gaps" and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    return array


layouts = st.sampled_from(["C", "Fortran", "reversed", "gaps", "transposed"])


@st.composite
def shapes(draw, count, max_dims=4):
    """Shapes that broadcast with one another, for `count` arrays."""
    full = draw(st.lists(st.sampled_from(SIZES), max_size=max_dims))
    kept = st.lists(st.booleans(), min_size=len(full), max_size=len(full))
    own = [tuple(n if keep else 1 for n, keep in zip(full, draw(kept))) for _ in range(count)]
    ones = [next((i for i, n in enumerate(shape) if n != 1), len(shape)) for shape in own]
    return [shape[draw(st.integers(0, leading)) :] for shape, leading in zip(own, ones)]


@st.composite
def normal_arguments(draw, dtypes):
    """x, mu and sigma of the normal distribution."""
    seed = np.random.default_rng(draw(st.integers(0, 9)))
    return [
        lay_out((seed.normal(0, 3, shape) if i < 2 else seed.integers(1, 4, shape)).astype(draw(dtypes)), draw(layouts))
        for i, shape in enumerate(draw(shapes(3)))
    ]


def expected_dtype(args):
    kinds = {a.dtype for a in args if a.ndim} or {a.dtype for a in args}
    return np.float32 if kinds == {np.dtype(np.float32)} else np.float64


def assert_close(got, want, dtype, scale=1.0):
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    assert np.shape(got) == np.shape(want)
    assert np.all(np.abs(got - want) <= rtol * np.maximum(scale, np.abs(want)))


def check_normal(args):
    want = stats.norm.logpdf(*(a.astype(float) for a in args))
    dtype = expected_dtype(args)
    got = gs.normal.logpdf(*args)
    assert got.dtype == dtype
    assert_close(got, want, dtype)
    total = gs.normal.loglik(*args)
    assert np.asarray(total).dtype == np.float64
    assert_close(total, want.sum(-1), dtype, np.abs(want).sum(-1))


@few
@given(normal_arguments(st.just(np.float64)))
@example([np.empty((0, 3)), np.ones(3), np.ones((1, 1))])
@example([np.ones((3, 0)), np.ones(1), np.ones(())])
def test_every_broadcast(args):
    check_normal(args)


@few
@given(normal_arguments(st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_])))
def test_every_type(args):
    check_normal(args)


@double_first
@pytest.mark.parametrize("sets", [1, 2, 3, 8, 20, 65, 300])
def test_many_parameter_sets(sets, dtype, rng):
    """Tables whose rows are the observations or the sets, and sums for every set."""
    x = rng.normal(size=601).astype(dtype)
    mu, sigma = rng.normal(size=sets).astype(dtype), rng.uniform(1, 2, sets).astype(dtype)
    check_normal([x[:, None], mu, sigma])
    check_normal([x, mu[:, None], sigma[:, None]])
    check_normal([x, mu[:, None], sigma[:1]])
    check_normal([x, mu[:, None], rng.uniform(1, 2, x.size).astype(dtype)])


def test_observations_of_their_own_for_each_set(rng):
    x = rng.normal(size=(5, 37))
    check_normal([x, x[:, :1], np.ones(1)])
    check_normal([x, x[::-1], np.ones(37)])
    check_normal([np.broadcast_to(x[0], (5, 37)), np.zeros((4, 5, 1)), np.ones((5, 1))])


@pytest.mark.parametrize("scalar", [float, int, np.float64, np.float32, np.int16, np.array, lambda v: [v], bool])
def test_numbers(scalar):
    check_normal([np.asarray(scalar(1)), np.asarray(scalar(1)), np.asarray(scalar(1))])
    rtol = 1e-7 if scalar is np.float32 else 1e-15
    np.testing.assert_allclose(gs.normal.logpdf(scalar(1), scalar(1), scalar(1)), -0.9189385332046727, rtol=rtol)
    assert type(gs.normal.loglik(scalar(1), scalar(1), scalar(1))) is float


def test_numbers_have_no_say_in_the_type():
    x = np.ones(3, np.float32)
    assert gs.normal.logpdf(x, 0, 1.5).dtype == np.float32
    assert gs.normal.logpdf(x, np.float64(0), np.array(1.5)).dtype == np.float32
    assert gs.normal.logpdf(x, np.zeros(1), 1.5).dtype == np.float64


def test_names():
    x = np.arange(3.0)
    want = stats.norm.logpdf(x, 1, 2)
    np.testing.assert_allclose(gs.normal.logpdf(x, sigma=2, mu=1), want)
    np.testing.assert_allclose(gs.normal.logpdf(sigma=2, x=x, mu=1), want)
    np.testing.assert_allclose(gs.normal.loglik(x, 1, sigma=2), want.sum())


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        ((1, 2), {}, "normal needs sigma; its parameters are x, mu, sigma"),
        ((1, 2, 3, 4), {}, "normal takes 3 arguments"),
        ((1, 2), {"scale": 3}, "no parameter 'scale'"),
        ((1, 2, 3), {"mu": 3}, "mu is given twice"),
        ((np.ones(3), np.ones(2), 1), {}, r"do not broadcast: x \(3,\), mu \(2,\), sigma \(\)"),
    ],
)
def test_wrong_arguments(args, kwargs, message):
    for method in (gs.normal.logpdf, gs.normal.loglik, gs.normal.pdf):
        with pytest.raises(ValueError, match=message):
            method(*args, **kwargs)


@pytest.mark.parametrize(
    "method, advice", [("logpdf", r"x\[:, None\]"), ("pdf", r"x\[:, None\]"), ("loglik", r"shape \(K, 1\)")]
)
def test_shapes_of_several_sets_are_advised(method, advice):
    with pytest.raises(ValueError, match=advice):
        getattr(gs.normal, method)(np.ones((2, 3)), np.ones((3, 2)), 1)


# ---- vectors


def dirichlet(x, a):
    return special.gammaln(a.sum(-1)) + (special.xlogy(a - 1, x) - special.gammaln(a)).sum(-1)


def multinomial(x, n, p):
    return special.gammaln(n + 1) + (special.xlogy(x, p) - special.gammaln(x + 1)).sum(-1)


def categorical(x, p):
    shape = np.broadcast_shapes(x.shape, p.shape[:-1])
    p = np.broadcast_to(p, shape + p.shape[-1:])
    return np.log(np.take_along_axis(p, np.broadcast_to(x, shape)[..., None].astype(int), -1)[..., 0])


def simplex(rng, shape, dim):
    weights = rng.uniform(0.1, 1, (*shape, dim))
    return weights / weights.sum(-1, keepdims=True)


def vector_arguments(name, rng, batches, dim):
    """Arguments with the batch shapes `batches`; a multinomial's x sums to n however they broadcast."""
    if name == "dirichlet":
        return [simplex(rng, batches[0], dim), rng.uniform(0.5, 5, (*batches[1], dim))]
    if name == "categorical":
        return [rng.integers(0, dim, batches[0]).astype(float), simplex(rng, batches[1], dim)]
    x = rng.multinomial(40, np.full(dim, 1 / dim), batches[0]).astype(float)
    return [x, np.full(batches[1], 40.0), simplex(rng, batches[2], dim)]


def check_vectors(name, args):
    want = {"dirichlet": dirichlet, "multinomial": multinomial, "categorical": categorical}[name](*args)
    density = gs.densities[name]
    assert_close(density.logpdf(*args), want, np.float64)
    assert_close(density.loglik(*args), want.sum(-1) if want.ndim else want, np.float64, np.abs(want).sum(-1))


@pytest.mark.parametrize("name", some(["dirichlet", "multinomial", "categorical"], 2))
@settings(few, max_examples=12)
@given(shapes(3, max_dims=3), st.sampled_from([1, 2, 5]), layouts)
def test_vectors_in_every_broadcast(name, batches, dim, layout):
    args = vector_arguments(name, np.random.default_rng(0), batches, dim)
    check_vectors(name, [lay_out(a, layout) for a in args])


@pytest.mark.parametrize("name", some(["dirichlet", "multinomial", "categorical"], 2))
@pytest.mark.parametrize(
    "batches", [[(50,), (), ()], [(50, 1), (1,), (7,)], [(50,), (7, 1), (7, 1)], [(50,), (50,), (50, 1)]]
)
def test_tables_and_sums_of_vectors(name, batches, rng):
    check_vectors(name, vector_arguments(name, rng, batches, 4))


def test_long_vectors(rng):
    for dim in (100, 1000):
        check_vectors("dirichlet", vector_arguments("dirichlet", rng, [(30, 1), (3,)], dim))


@pytest.mark.parametrize(
    "args, message",
    [
        ((0.5, np.ones(3)), "x must be a vector"),
        ((np.full(3, 1 / 3), 1.0), "a must be a vector"),
        ((np.full(3, 1 / 3), np.ones(4)), r"a has shape \(4,\), whose last axis must be as long as x's, 3"),
        ((np.ones((2, 0)), np.ones(0)), "length 0"),
        ((np.full((2, 3), 1 / 3), np.ones((5, 3))), "do not broadcast"),
    ],
)
def test_wrong_vectors(args, message):
    with pytest.raises(ValueError, match=message):
        gs.dirichlet.logpdf(*args)


@pytest.mark.parametrize(
    ("density", "parameters", "advice"),
    [
        ("normal", {"loc": 0.0, "scale": 1.0}, r"scipy.stats.norm(loc, scale) is mu=loc, sigma=scale"),
        ("normal", {"mean": 0.0, "sd": 1.0}, r"dnorm(mean, sd) is mu=mean, sigma=sd"),
        ("gamma", {"a": 2.0, "scale": 1.0}, r"scipy.stats.gamma(a, loc, scale) is alpha=a, beta=1 / scale at x - loc"),
        ("gamma", {"shape": 2.0}, r"dgamma(shape, rate) is alpha=shape, beta=rate"),
        ("weibull", {"scale": 2.0}, "beta=scale at x - loc, dweibull(shape, scale) is alpha=shape, beta=scale"),
    ],
)
def test_names_of_parameters_in_other_packages(density, parameters, advice):
    with pytest.raises(ValueError, match=rf"{density} has no parameter .*; its parameters are .*; .*{re.escape(advice)}$"):
        getattr(gs, density).logpdf(1.0, **parameters)
    with pytest.raises(ValueError, match=f"{density} has no parameter 'wrong'; its parameters are [^;]*$"):
        getattr(gs, density).logpdf(1.0, wrong=1.0)
