"""Derivatives of every density against those of its reference, and their sums over observations and sets."""

import functools

import numpy as np
import pytest
from gradients import REFERENCES, SMOOTH, differentiable, each_density, gradient
from references import derivative_errors
from stored import stored
from thorough import THOROUGH, double_first, some

import gpustats as gs

N = 30
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@functools.cache
def at_random_points(name, dtype):
    """Points of that type, the reference's logarithms and derivatives there."""
    reference = REFERENCES[name]
    args = reference.random(np.random.default_rng(2011), N, dtype)
    gradients = {}
    for i, argument in enumerate(gs.densities[name].domains):
        if argument in differentiable(gs.densities[name]):
            gradients[i] = stored(name, f"d/d{argument}", functools.partial(gradient_of_row, reference, i), args)
    return args, reference.logpdf(*args), gradients


def gradient_of_row(reference, i, *row):
    return reference.gradient([np.array([value]) for value in row], i)[0].tolist()


@each_density
@double_first
def test_random_points(name, dtype):
    """At points that both types have, unless their sum must be 1."""
    reference, density = REFERENCES[name], gs.densities[name]
    sums = any("simplex" in domain for domain in density.domains.values())
    args, logs, gradients = at_random_points(name, dtype if sums else np.float32)
    args = [a.astype(dtype) for a in args]
    value, got = density.loglik_and_grad(*args, wrt=differentiable(density))
    assert list(got) == list(differentiable(density))
    assert value == logs.sum() or abs(value - logs.sum()) <= reference.rtol(dtype) * np.maximum(1, np.abs(logs)).sum()
    outside = np.isneginf(logs)
    rtol, floor = (max(1e-11, reference.rtol64), 1e-3) if dtype == np.float64 else (max(3e-5, reference.rtol32), 0.1)
    for i, argument in enumerate(density.domains):
        if argument not in got:
            continue
        assert got[argument].shape == args[i].shape
        inside = ~outside.reshape(-1, *[1] * (args[i].ndim - 1))
        want = np.where(inside, gradients[i], 0)
        error = derivative_errors(got[argument], want, floor)
        worst = np.unravel_index(np.argmax(error), error.shape)
        assert error[worst] <= rtol, (
            f"d/d{argument}: {got[argument][worst]} for {want[worst]} at {[a[worst[0]].tolist() for a in args]}"
        )


#: Densities whose sums were wrong when a compiler optimised.
WERE_WRONG = ["chi", "chi_squared"]


@pytest.mark.optimised
@pytest.mark.parametrize("name", [*WERE_WRONG, *(pytest.param(n, marks=THOROUGH) for n in REFERENCES if n not in WERE_WRONG)])
def test_sums_by_optimised_kernels(name):
    """The vectors of a CPU's registers hold rows on both sides of all branches."""
    density, args = gs.densities[name], REFERENCES[name].random(np.random.default_rng(2011), N, np.float64)
    for n in (N, 7, 1):
        of_first = [a[:n] for a in args]
        value, _ = density.loglik_and_grad(*of_first, wrt=differentiable(density))
        logs = REFERENCES[name].logpdf(*of_first)
        for found in (value, density.loglik(*of_first)):
            within = REFERENCES[name].rtol(np.float64) * np.maximum(1, np.abs(logs)).sum()
            assert found == logs.sum() or abs(found - logs.sum()) <= within


@pytest.mark.parametrize("name", some(SMOOTH, 12))
def test_sums_have_the_terms_of_the_elementwise_gradient(name, rng):
    """Three sets of parameters; the gradient in x sums over the sets, those in the parameters over observations."""
    density = gs.densities[name]
    x, *parameters = REFERENCES[name].random(rng, N)
    sets = [p[:3, None] for p in parameters]
    value, got = density.loglik_and_grad(x, *sets, wrt=differentiable(density))
    rows = [[np.broadcast_to(p[k], (N, *p.shape[2:])) for p in sets] for k in range(3)]
    values, terms = zip(*(density.loglik_and_grad(x, *own, wrt=differentiable(density)) for own in rows))
    np.testing.assert_allclose(value, values, rtol=1e-13)
    for argument in got:
        each = np.stack([t[argument] for t in terms])  # (K, N) or (K, N, d)
        axis = 0 if argument == "x" else 1
        want, size = each.sum(axis), np.abs(each).sum(axis)
        if argument != "x":
            want, size = want[:, None], size[:, None]
        assert got[argument].shape == want.shape
        assert (np.abs(got[argument] - want) <= 1e-12 * size).all()


def sum_to(terms, shape):
    """The sum over the axes along which an array of `shape` was broadcast."""
    terms = terms.sum(tuple(range(terms.ndim - len(shape))))
    return terms.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


@pytest.mark.parametrize(
    "shapes",
    [
        ((), (), ()),
        ((1,), (), ()),
        ((7,), (), ()),
        ((7,), (1,), ()),
        ((7,), (7,), ()),
        ((7,), (), (7,)),
        ((7,), (7,), (7,)),
        ((), (7,), ()),
        ((7,), (3, 1), ()),
        ((7,), (3, 1), (3, 1)),
        ((7,), (1, 1), (3, 1)),
        ((7,), (3, 1), (7,)),
        ((7,), (7,), (3, 1)),
        ((7,), (3, 7), (3, 1)),
        ((7,), (3, 7), ()),
        ((7,), (2, 3, 1), (3, 1)),
        ((3, 7), (), ()),
        ((3, 7), (3, 1), ()),
        ((3, 7), (7,), (3, 1)),
        ((1003,), (), ()),
        ((1003,), (17, 1), ()),
        ((100_003,), (), ()),
    ],
    ids=str,
)
@double_first
def test_shapes(shapes, dtype, rng):
    """Everything that broadcasts: each gradient has the shape of its argument."""
    x, mu, sigma = (np.asarray(rng.uniform(1, 2, shape), dtype) for shape in shapes)
    mu = -mu
    value, got = gs.normal.loglik_and_grad(x, mu, sigma, wrt=("x", "mu", "sigma"))
    np.testing.assert_allclose(value, gs.normal.loglik(x, mu, sigma), rtol=1e-13)
    z = np.asarray((x.astype(float) - mu) / sigma)
    terms = {"x": -z / sigma, "mu": z / sigma, "sigma": (z * z - 1) / sigma}
    for (argument, each), shape in zip(terms.items(), shapes):
        assert np.shape(got[argument]) == shape
        if shape == ():
            assert type(got[argument]) is float
        np.testing.assert_allclose(got[argument], sum_to(each, shape), rtol=1e-12 if dtype == np.float64 else 1e-5)


def test_shapes_of_vectors(rng):
    x, a = rng.dirichlet(np.ones(4), 7), rng.uniform(1, 3, (3, 1, 4))
    each = np.stack([gradient("dirichlet", x, np.broadcast_to(row, x.shape))["a"] for row in a])
    for shape, want in [((4,), each[0].sum(0)), ((1, 4), each[0].sum(0)[None]), ((3, 1, 4), each.sum(1)[:, None])]:
        value, got = gs.dirichlet.loglik_and_grad(x, a[: len(want) if len(shape) == 3 else 1].reshape(shape))
        assert got["a"].shape == shape
        np.testing.assert_allclose(got["a"], want, rtol=1e-12)
    value, got = gs.dirichlet.loglik_and_grad(x[0], a[0, 0], wrt=("x", "a"))  # one observation
    assert np.shape(value) == () and got["x"].shape == got["a"].shape == (4,)
    np.testing.assert_allclose(got["a"], each[0, 0], rtol=1e-12)


def test_vectors_beside_numbers(rng):
    """A number for each observation and one vector for all of them, and the other way round."""
    x, eta, cutpoints = rng.integers(0, 4, 7), rng.normal(size=7), np.array([-1.0, 0.5, 2.0])
    each = gradient("ordered_logit", x, eta, np.broadcast_to(cutpoints, (7, 3)))
    _, got = gs.ordered_logit.loglik_and_grad(x, eta, cutpoints)
    np.testing.assert_allclose(got["eta"], each["eta"], rtol=1e-12)
    np.testing.assert_allclose(got["cutpoints"], each["cutpoints"].sum(0), rtol=1e-12)
    many = cutpoints + rng.uniform(0, 0.1, (7, 1))
    each = gradient("ordered_logit", x, np.full(7, 0.3), many)
    _, got = gs.ordered_logit.loglik_and_grad(x, 0.3, many)
    np.testing.assert_allclose(got["eta"], each["eta"].sum(), rtol=1e-12)
    np.testing.assert_allclose(got["cutpoints"], each["cutpoints"], rtol=1e-12)


@pytest.mark.parametrize("shapes", [((100_003,), ()), ((1003,), (20, 1)), ((50, 3), (3,))], ids=str)
def test_the_same_call_gives_the_same_bits(shapes, rng):
    name = "gamma" if shapes[1] != (3,) else "dirichlet"
    density = gs.densities[name]
    x = rng.dirichlet(np.ones(3), 50) if name == "dirichlet" else rng.gamma(2, size=shapes[0])
    parameters = [rng.uniform(1, 3, shapes[1]) for _ in density.parameters]
    wrt = differentiable(density)
    value, first = density.loglik_and_grad(x, *parameters, wrt=wrt)
    for _ in range(5):
        again, got = density.loglik_and_grad(x, *parameters, wrt=wrt)
        assert np.array_equal(again, value) and all(np.array_equal(got[n], first[n]) for n in wrt)


def test_float32_sums_are_accurate(rng):
    """The sums run in float64, so that they lose nothing over many observations."""
    x = rng.normal(size=1_000_000).astype(np.float32)
    _, got = gs.normal.loglik_and_grad(x, 0.0, 1.0)
    np.testing.assert_allclose(got["mu"], x.sum(dtype=float), rtol=1e-6)
    np.testing.assert_allclose(got["sigma"], (x.astype(float) ** 2 - 1).sum(), atol=0.05)


def test_what_is_asked_for(rng):
    x = rng.gamma(2, size=11)
    value, everything = gs.gamma.loglik_and_grad(x, 2.0, 3.0, wrt=("x", "alpha", "beta"))
    assert value == pytest.approx(gs.gamma.loglik(x, 2.0, 3.0), rel=1e-13)
    for args, kwargs, names in [
        ((2.0, 3.0), {}, ["alpha", "beta"]),
        ((2.0,), {"beta": 3.0}, ["alpha", "beta"]),
        ((2.0, 3.0), {"wrt": "beta"}, ["beta"]),
        ((2.0, 3.0), {"wrt": ("beta", "x")}, ["beta", "x"]),
        ((2.0, 3.0), {"wrt": ["alpha"]}, ["alpha"]),
    ]:
        value, some = gs.gamma.loglik_and_grad(x, *args, **kwargs)
        assert value == pytest.approx(gs.gamma.loglik(x, 2.0, 3.0), rel=1e-13)
        assert list(some) == names
        for name in names:
            np.testing.assert_allclose(some[name], everything[name], rtol=1e-13)
    assert list(gs.binomial.loglik_and_grad([1, 2], 5, 0.3)[1]) == ["p"]
    assert gs.discrete_uniform.loglik_and_grad([1, 2], 0, 5) == (gs.discrete_uniform.loglik([1, 2], 0, 5), {})


@pytest.mark.parametrize(
    "name, args, wrt, message",
    [
        ("poisson", (3,), "x", "x"),
        ("binomial", (5, 0.3), ("n", "p"), "n"),
        ("multinomial", (3, [0.5, 0.5]), "n", "n"),
        ("normal", (0, 1), "scale", "scale"),
        ("normal", (0, 1), ("mu", "tau"), "tau"),
        ("normal", (0, 1), ("mu", "mu"), "mu"),
    ],
)
def test_wrong_names(name, args, wrt, message):
    x = [1, 2] if name != "multinomial" else [[1, 2]]
    with pytest.raises(ValueError, match=rf"\b{message}\b"):
        gs.densities[name].loglik_and_grad(x, *args, wrt=wrt)
    if "x" not in wrt:
        with pytest.raises(ValueError, match=rf"\b{message}\b"):
            gs.Likelihood(gs.densities[name], x).value_and_grad(*args, wrt=wrt)


def test_a_likelihood_has_no_gradient_in_its_data():
    with pytest.raises(ValueError, match=r"\bx\b"):
        gs.Likelihood(gs.normal, [1.0, 2.0]).value_and_grad(0, 1, wrt=("x", "mu"))


@pytest.mark.parametrize("shape", [(), (5, 1), (103,)], ids=str)
def test_likelihoods(shape, rng):
    x, alpha, beta = rng.gamma(2, size=103), rng.uniform(1, 3, shape), rng.uniform(1, 3, shape)
    likelihood = gs.Likelihood(gs.gamma, x)
    want = gs.gamma.loglik_and_grad(x, alpha, beta)
    for value, got in [likelihood.value_and_grad(alpha, beta), likelihood.value_and_grad(beta=beta, alpha=alpha)]:
        np.testing.assert_allclose(value, likelihood(alpha, beta), rtol=1e-13)
        assert list(got) == ["alpha", "beta"]
        for name in got:
            assert np.shape(got[name]) == shape and type(got[name]) is type(want[1][name])
            np.testing.assert_allclose(got[name], want[1][name], rtol=1e-13)
    value, got = likelihood.value_and_grad(alpha, beta, wrt="beta")
    assert list(got) == ["beta"]
    np.testing.assert_allclose(got["beta"], want[1]["beta"], rtol=1e-13)


def test_a_likelihood_follows_its_parameters(rng):
    """Call after call, with numbers: what a sampler does."""
    x = rng.normal(size=50)
    likelihood = gs.Likelihood(gs.normal, x)
    for mu, sigma in rng.uniform(1, 2, (5, 2)).tolist():
        value, got = likelihood.value_and_grad(mu, sigma)
        assert value == likelihood(mu, sigma) and type(got["mu"]) is float
        np.testing.assert_allclose(got["mu"], ((x - mu) / sigma**2).sum(), rtol=1e-12)
        np.testing.assert_allclose(got["sigma"], (((x - mu) / sigma) ** 2 - 1).sum() / sigma, rtol=1e-12)


@pytest.mark.parametrize("name, shape", some([("mu", (3, 1)), ("sigma", (3, 1)), ("mu", (50,)), ("x", (50,))], 2))
def test_device_arrays(name, shape, rng):
    args = {"x": rng.normal(size=50), "mu": rng.normal(size=(3, 1)), "sigma": rng.uniform(1, 2, (3, 1))}
    args[name] = rng.uniform(1, 2, shape)
    _, want = gs.normal.loglik_and_grad(**args, wrt=tuple(args))
    there = gs.to_device(args[name])
    _, got = gs.normal.loglik_and_grad(**args | {name: there}, wrt=tuple(args))
    assert type(got[name]) is type(there) and tuple(got[name].shape) == shape
    for argument in args:
        value = got[argument]
        value = gs.to_host(value) if argument == name else value
        np.testing.assert_allclose(value, want[argument], rtol=1e-12)


def test_strides_and_types(rng):
    x, mu = rng.integers(0, 9, 40), rng.uniform(1, 9, (20, 3))
    want = gs.poisson.loglik_and_grad(x[::-2].copy(), mu[:, 1].copy())
    got = gs.poisson.loglik_and_grad(x[::-2], mu[:, 1])
    assert got[0] == want[0] and np.array_equal(got[1]["mu"], want[1]["mu"])
    a = rng.uniform(1, 3, (4, 7)).T[::-1]
    p = rng.dirichlet(np.ones(4), 14)[::2]
    want = gs.dirichlet.loglik_and_grad(p.copy(), a.copy())
    got = gs.dirichlet.loglik_and_grad(p, a)
    assert got[0] == want[0] and np.array_equal(got[1]["a"], want[1]["a"])


@pytest.mark.parametrize("shape", [(), (3, 1), (0,)], ids=str)
def test_empty(shape):
    args = np.full(shape, 1.5), np.full(shape, 2.5)
    for value, got in [gs.gamma.loglik_and_grad([], *args), gs.Likelihood(gs.gamma, []).value_and_grad(*args)]:
        assert np.array_equal(value, np.zeros(shape[:-1]))
        assert all(np.array_equal(got[name], np.zeros(shape)) for name in ("alpha", "beta"))
