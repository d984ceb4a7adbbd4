"""Derivatives of every density against those of its reference, and their sums over observations and sets."""

import mpmath as mp
import numpy as np
import pytest
import references_continuous
import references_discrete
import references_vector
from references import derivative, derivative_errors

import gpustats as gs

REFERENCES = references_continuous.REFERENCES | references_discrete.REFERENCES | references_vector.REFERENCES
N = 30
inf, nan = np.inf, np.nan


def differentiable(density):
    """Names of all arguments that have derivatives, the observation included."""
    return tuple(name for name, domain in density.domains.items() if "integer" not in domain.split())


SMOOTH = [name for name in REFERENCES if differentiable(gs.densities[name])]
each_density = pytest.mark.parametrize("name", SMOOTH)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def gradient(name, *args):
    """The gradient in everything that can be differentiated; elementwise where all arguments have as many rows."""
    density = gs.densities[name]
    return density.loglik_and_grad(*args, wrt=differentiable(density))[1]


def columns(tuples):
    """The columns of a table of tuples, as arrays."""
    return [np.array(column, float) for column in zip(*tuples)]


# ---- elementwise


@each_density
@each_dtype
def test_random_points(name, dtype, rng):
    reference, density = REFERENCES[name], gs.densities[name]
    args = reference.random(rng, N, dtype)
    got = gradient(name, *args)
    assert list(got) == list(differentiable(density))
    outside = np.isneginf(reference.logpdf(*args))
    rtol, floor = (1e-11, 1e-3) if dtype == np.float64 else (3e-5, 0.1)
    for i, argument in enumerate(density.domains):
        if argument not in got:
            continue
        assert got[argument].shape == args[i].shape
        inside = ~outside.reshape(-1, *[1] * (args[i].ndim - 1))
        want = np.where(inside, reference.gradient(args, i), 0)
        error = derivative_errors(got[argument], want, floor)
        worst = np.unravel_index(np.argmax(error), error.shape)
        assert error[worst] <= rtol, (
            f"d/d{argument}: {got[argument][worst]} for {want[worst]} at {[a[worst[0]].tolist() for a in args]}"
        )


# ---- sums


@each_density
def test_sums_have_the_terms_of_the_elementwise_gradient(name, rng):
    """Three sets of parameters; the gradient in x sums over the sets, those in the parameters over observations."""
    density = gs.densities[name]
    x, *parameters = REFERENCES[name].random(rng, N)
    sets = [p[:3, None] for p in parameters]
    value, got = density.loglik_and_grad(x, *sets, wrt=differentiable(density))
    np.testing.assert_allclose(value, density.loglik(x, *sets), rtol=1e-13)
    terms = [gradient(name, x, *[np.broadcast_to(p[k], (N, *p.shape[2:])) for p in sets]) for k in range(3)]
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
@each_dtype
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


@pytest.mark.parametrize("name, shape", [("mu", (3, 1)), ("sigma", (3, 1)), ("mu", (50,)), ("x", (50,))])
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


# ---- conventions


@each_density
def test_nan_observations_give_nan(name, rng):
    """In each argument at that observation, and nowhere else."""
    x, *parameters = REFERENCES[name].random(rng, N)
    index = (slice(None, None, 2),) + (0,) * (x.ndim - 1)
    before = gradient(name, x, *parameters)
    x[index] = nan
    for argument, got in gradient(name, x, *parameters).items():
        assert np.isnan(got[::2]).all(), argument
        np.testing.assert_array_equal(got[1::2], before[argument][1::2])


OUTSIDE = {"positive": -1.5, "nonnegative": -1.5, "unit": 1.5, "integer": 0.5, "simplex": -0.5}


@each_density
def test_observations_outside_of_the_domain_contribute_nothing(name, rng):
    domain = gs.densities[name].domains["x"].split()
    x, *parameters = REFERENCES[name].random(rng, N)
    before = gradient(name, x, *parameters)
    for value in [OUTSIDE[word] for word in domain if word in OUTSIDE]:
        outside = x.copy()
        outside[(slice(None, None, 2),) + (0,) * (x.ndim - 1)] = value
        for argument, got in gradient(name, outside, *parameters).items():
            assert (got[::2] == 0).all(), argument
            np.testing.assert_array_equal(got[1::2], before[argument][1::2])


@pytest.mark.parametrize(
    "name, outside, parameters",
    [
        ("uniform", 3, (0, 2)),
        ("triangular", -1, (0, 1, 2)),
        ("truncated_normal", 3, (0, 1, -1, 2)),
        ("pareto", 0.5, (2, 1)),
        ("gamma", -1, (2, 3)),
        ("bernoulli", 2, (0.3,)),
        ("binomial", 6, (5, 0.3)),
        ("categorical", 3, ([0.2, 0.3, 0.5],)),
        ("ordered_logit", 4, (0.5, [-1, 0, 2])),
    ],
)
def test_outside_of_the_support_only_the_value_is_lost(name, outside, parameters):
    density = gs.densities[name]
    inside = [1.0, 1.0] if name != "ordered_logit" else [1.0, 2.0]
    parameters = [np.array(p, float) for p in parameters]
    _, want = density.loglik_and_grad(inside, *parameters)
    value, got = density.loglik_and_grad([*inside, outside], *parameters)
    assert value == -inf
    for argument in want:
        np.testing.assert_allclose(got[argument], want[argument], rtol=1e-13)


@each_density
def test_invalid_parameters_give_nan(name):
    reference, density = REFERENCES[name], gs.densities[name]
    x = np.array(next(x for x, *_ in reference.extreme if np.all(np.isfinite(x))), float)
    parameters = columns(reference.invalid)
    if not any(argument in differentiable(density) for argument in density.parameters):
        return
    x = np.broadcast_to(x, (len(reference.invalid), *x.shape)).copy()
    for argument, got in gradient(name, x, *parameters).items():
        wrong = [row for row, each in zip(reference.invalid, got) if not np.isnan(each).all()]
        assert not wrong, argument


def test_one_bad_set_spoils_no_other(rng):
    x, mu, sigma = rng.normal(size=50), np.zeros((3, 1)), np.array([[1.0], [-1.0], [2.0]])
    value, got = gs.normal.loglik_and_grad(x, mu, sigma)
    assert np.isnan([value[1], *got["mu"][1], *got["sigma"][1]]).all()
    for k in (0, 2):
        one, each = gs.normal.loglik_and_grad(x, 0.0, sigma[k, 0])
        np.testing.assert_allclose([value[k], *got["mu"][k], *got["sigma"][k]], [one, *each.values()], rtol=1e-12)


# ---- finite at the edges

# (density, (x, *parameters), {argument: side}): the derivatives in these arguments are finite; side: 0 where the density
# goes on to both sides, 1 or -1 where the edge of the domain or of the support leaves the side above or the one below.
# "laplace" at its peak has no derivative; 0 is the mean of those to the left and to the right.
EDGES = [
    ("normal", (1e10, 0, 1), {"x": 0, "mu": 0, "sigma": 0}),
    ("normal", (3, 3, 1e-30), {"x": 0, "mu": 0, "sigma": 0}),
    ("half_normal", (0, 2), {"x": 1, "sigma": 0}),
    ("half_cauchy", (0, 2), {"x": 1, "beta": 0}),
    ("half_student_t", (0, 3, 2), {"x": 1, "nu": 0, "sigma": 0}),
    ("half_student_t", (1.5, inf, 2), {"x": 0, "nu": 0, "sigma": 0}),
    ("student_t", (1.5, inf, 0.5, 2), {"x": 0, "nu": 0, "mu": 0, "sigma": 0}),
    ("student_t", (0.5, 3, 0.5, 2), {"x": 0, "nu": 0, "mu": 0, "sigma": 0}),
    ("student_t", (1e200, 3, 0, 1), {"x": 0, "nu": 0, "mu": 0, "sigma": 0}),
    ("student_t", (1, 1e-5, 0, 1), {"x": 0, "nu": 0, "mu": 0, "sigma": 0}),
    ("cauchy", (0, 0, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("cauchy", (1e200, 0, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("cauchy", (-1e30, 0, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("half_cauchy", (1e200, 1), {"x": 0, "beta": 0}),
    ("laplace", (0.5, 0.5, 2), {"x": 0, "mu": 0, "b": 0}),
    ("asymmetric_laplace", (0.5, 2, 0.5, 3), {"kappa": 0, "b": 0}),
    ("logistic", (0.5, 0.5, 2), {"x": 0, "mu": 0, "s": 0}),
    ("logistic", (1e5, 0, 1), {"x": 0, "mu": 0, "s": 0}),
    ("logistic", (-1e5, 0, 1), {"x": 0, "mu": 0, "s": 0}),
    ("gumbel", (1e5, 0, 1), {"x": 0, "mu": 0, "beta": 0}),
    ("gumbel", (-300, 0, 1), {"x": 0, "mu": 0, "beta": 0}),
    ("moyal", (1e5, 0, 1), {"x": 0, "mu": 0, "sigma": 0}),
    ("skew_normal", (0.5, 0.5, 2, 3), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (1, 0, 2, 0), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (-30, 0, 1, 3), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (30, 0, 1, 3), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (-3, 0, 1, 1e3), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("ex_gaussian", (-100, 0, 1, 1), {"x": 0, "mu": 0, "sigma": 0, "nu": 0}),
    ("ex_gaussian", (1e5, 0, 1, 1), {"x": 0, "mu": 0, "sigma": 0, "nu": 0}),
    ("ex_gaussian", (1, 0, 1, 1), {"x": 0, "mu": 0, "sigma": 0, "nu": 0}),
    ("exponential", (0, 2), {"x": 1, "lam": 0}),
    ("gamma", (0, 1, 2), {"x": 1, "beta": 0}),
    ("gamma", (1.5, 1, 2), {"x": 0, "alpha": 0, "beta": 0}),
    ("gamma", (1e-30, 0.01, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("gamma", (1e-20, 1e3, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("gamma", (200, 200, 1), {"x": 0, "alpha": 0, "beta": 0}),
    *(("gamma_log", (2, eta, alpha), {"x": 0, "eta": 0}) for eta in (-690, 0, 700) for alpha in (1, 2, 300)),
    *(("gamma_log", (2, eta, alpha), {"nu": 0}) for eta in (0, 700) for alpha in (1e-8, 1, 300)),
    ("chi_squared", (0, 2), {"x": 1}),
    ("chi_squared", (300, 300), {"x": 0, "nu": 0}),
    ("inverse_gamma", (1e20, 1e3, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("inverse_gamma", (0.005, 200, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("weibull", (0, 1, 2), {"x": 1, "beta": 0}),
    ("weibull", (1.5, 1, 2), {"x": 0, "alpha": 0, "beta": 0}),
    ("weibull", (2, 3, 2), {"x": 0, "alpha": 0, "beta": 0}),
    ("pareto", (2, 3, 2), {"x": 1, "alpha": 0, "m": -1}),
    ("beta", (0, 1, 3), {"x": 1, "beta": 0}),
    ("beta", (1, 3, 1), {"x": -1, "alpha": 0}),
    ("beta", (0.25, 1, 1), {"x": 0, "alpha": 0, "beta": 0}),
    ("beta", (0.5, 200, 200), {"x": 0, "alpha": 0, "beta": 0}),
    ("beta", (0.75, 1e6, 1e6), {"x": 0, "alpha": 0, "beta": 0}),
    ("beta", (1e-20, 5, 200), {"x": 0, "alpha": 0, "beta": 0}),
    *(("beta_logit", (x, eta, 3), {"x": 0, "eta": 0, "phi": 0}) for x in (1e-30, 0.75) for eta in (-700, 1.5, 700)),
    ("beta_logit", (0.5, 0, 1e6), {"x": 0, "eta": 0, "phi": 0}),
    ("kumaraswamy", (0, 1, 3), {"x": 1, "b": 0}),
    ("kumaraswamy", (1, 3, 1), {"x": -1, "a": 0}),
    ("kumaraswamy", (0.25, 1, 3), {"x": 0, "a": 0, "b": 0}),
    ("kumaraswamy", (0.25, 3, 1), {"x": 0, "a": 0, "b": 0}),
    ("kumaraswamy", (0.25, 1, 1), {"x": 0, "a": 0, "b": 0}),
    ("log_normal", (1, 0, 1), {"x": 0, "mu": 0, "sigma": 0}),
    ("logit_normal", (0.5, 0, 2), {"x": 0, "mu": 0, "sigma": 0}),
    ("logit_normal", (0.25, 0, 2), {"x": 0, "mu": 0, "sigma": 0}),
    ("uniform", (1, 1, 3), {"lower": -1, "upper": 0}),
    ("uniform", (3, 1, 3), {"lower": 0, "upper": 1}),
    ("triangular", (2, 1, 1, 3), {"x": 0, "lower": -1, "c": 1, "upper": 0}),
    ("triangular", (2, 1, 3, 3), {"x": 0, "lower": 0, "c": -1, "upper": 1}),
    ("truncated_normal", (0, 0, 1, 0, 2), {"x": 1, "mu": 0, "sigma": 0, "lower": -1, "upper": 0}),
    ("truncated_normal", (0.5, 0, 1, -inf, inf), {"x": 0, "mu": 0, "sigma": 0, "lower": 0, "upper": 0}),
    ("truncated_normal", (30.25, 0, 1, 30, inf), {"x": 0, "mu": 0, "sigma": 0, "lower": 0, "upper": 0}),
    ("truncated_normal", (-30.25, 0, 1, -inf, -30), {"x": 0, "mu": 0, "sigma": 0, "lower": 0, "upper": 0}),
    ("truncated_normal", (10001, 0, 1, 10000, inf), {"x": 0, "mu": 0, "sigma": 0, "lower": 0, "upper": 0}),
    ("truncated_normal", (0.5, 0, 1e3, 0, 1), {"x": 0, "lower": 0, "upper": 0}),
    ("von_mises", (1, 0.5, 0), {"x": 0, "mu": 0, "kappa": 1}),
    ("von_mises", (0.5, 0.5, 2), {"x": 0, "mu": 0, "kappa": 0}),
    ("von_mises", (1.001, 1, 1e3), {"x": 0, "mu": 0, "kappa": 0}),
    ("rice", (1.5, 0, 2), {"x": 0, "nu": 1, "sigma": 0}),
    ("rice", (1e3, 1, 1), {"x": 0, "nu": 0, "sigma": 0}),
    ("wald", (5, 5, 1e20), {"x": 0, "mu": 0, "lam": 0}),
    ("bernoulli", (0, 0), {"p": 1}),
    ("bernoulli", (1, 1), {"p": -1}),
    ("bernoulli", (1, 1e-30), {"p": 0}),
    *(("bernoulli_logit", (x, eta), {"eta": 0}) for x in (0, 1) for eta in (0, 30, -30, 700, -700)),
    *(("bernoulli_probit", (x, eta), {"eta": 0}) for x in (0, 1) for eta in (0, 30, -30, 1e150, -1e150)),
    *(("bernoulli_cloglog", (x, eta), {"eta": 0}) for x in (0, 1) for eta in (0, -36, -36.5, -700, 4)),
    ("bernoulli_cloglog", (1, 700), {"eta": 0}),
    ("binomial", (0, 5, 0), {"p": 1}),
    ("binomial", (5, 5, 1), {"p": -1}),
    ("binomial", (0, 200, 0), {"p": 1}),
    ("binomial", (200, 200, 1), {"p": -1}),
    ("binomial", (0, 0, 0.3), {"p": 0}),
    ("binomial", (0, 0, 0), {"p": 1}),
    ("binomial", (60, 200, 0.3), {"p": 0}),
    *(("binomial_logit", (x, n, eta), {"eta": 0}) for n in (4, 200) for x in (0, 1, n) for eta in (0, 700, -700)),
    ("beta_binomial", (0, 0, 2, 3), {"alpha": 0, "beta": 0}),
    ("beta_binomial", (0, 7, 1, 1), {"alpha": 0, "beta": 0}),
    ("beta_binomial", (7, 7, 2, 2), {"alpha": 0, "beta": 0}),
    ("geometric", (1, 1), {"p": -1}),
    ("geometric", (1, 1e-30), {"p": 0}),
    ("poisson", (0, 0), {"mu": 1}),
    ("poisson", (0, 1e-300), {"mu": 0}),
    ("poisson", (3, 1e-300), {"mu": 0}),
    ("poisson", (0, 1e3), {"mu": 0}),
    ("poisson", (200, 200), {"mu": 0}),
    *(("poisson_log", (x, eta), {"eta": 0}) for x in (0, 3) for eta in (-700, 0, 700)),
    ("negative_binomial", (0, 0, 2), {"mu": 1, "alpha": 0}),
    ("negative_binomial", (0, 1e-300, 2), {"mu": 0, "alpha": 0}),
    ("negative_binomial", (3, 2, 2), {"mu": 0, "alpha": 0}),
    ("negative_binomial", (2, 5, 1e-8), {"mu": 0, "alpha": 0}),
    *(
        ("negative_binomial_log", (x, eta, 2), {"eta": 0, "phi": 0})
        for x in (0, 1, 5)
        for eta in (-700, float(np.log(2)), 700)
    ),
    ("zero_inflated_poisson", (0, 1, 5), {"psi": -1, "mu": 0}),
    ("zero_inflated_poisson", (3, 1, 5), {"psi": -1, "mu": 0}),
    ("zero_inflated_poisson", (0, 0, 5), {"psi": 1, "mu": 0}),
    ("zero_inflated_poisson", (0, 0.5, 0), {"psi": 0, "mu": 1}),
    ("zero_inflated_binomial", (0, 1, 5, 0.3), {"psi": -1, "p": 0}),
    ("zero_inflated_binomial", (0, 0, 5, 0.3), {"psi": 1, "p": 0}),
    ("zero_inflated_binomial", (0, 0.5, 5, 0), {"psi": 0, "p": 1}),
    ("zero_inflated_negative_binomial", (0, 1, 5, 2), {"psi": -1, "mu": 0, "alpha": 0}),
    ("zero_inflated_negative_binomial", (0, 0, 5, 2), {"psi": 1, "mu": 0, "alpha": 0}),
    ("zero_inflated_negative_binomial", (0, 0.5, 0, 2), {"psi": 0, "mu": 1, "alpha": 0}),
    ("negative_binomial_log", (3, 700, 1e-8), {"eta": 0}),
    ("categorical", (1, (0, 1, 0)), {"p": -1}),
    ("categorical_logit", (1, (1e5, 1e5, 1e5)), {"eta": 0}),
    ("categorical_logit", (2, (-700, 0, 700)), {"eta": 0}),
    ("categorical_logit", (0, (-700, 0, 700)), {"eta": 0}),
    ("categorical_logit", (1, (-inf, 0, 0)), {"eta": 0}),
    ("ordered_logit", (0, 700, (-1, 0, 2)), {"eta": 0, "cutpoints": 0}),
    ("ordered_logit", (1, -700, (-1, 0, 2)), {"eta": 0, "cutpoints": 0}),
    ("ordered_logit", (3, -700, (-1, 0, 2)), {"eta": 0, "cutpoints": 0}),
    ("ordered_logit", (1, -1, (-1, 0, 2)), {"eta": 0, "cutpoints": 0}),
    ("dirichlet", ((0, 0.25, 0.75), (1, 2, 3)), {"x": 1}),
    ("dirichlet", ((1e-30, 0.5, 0.5), (500, 2, 3)), {"x": 0, "a": 0}),
    ("dirichlet", ((0.25, 0.25, 0.5), (1, 1, 1)), {"x": 0, "a": 0}),
    ("dirichlet", ((0.25, 0.25, 0.5), (100, 100, 200)), {"x": 0, "a": 0}),
    ("multinomial", ((0, 2, 3), 5, (0, 0.5, 0.5)), {"p": 1}),
    ("multinomial", ((0, 0, 500), 500, (0, 0, 1)), {"p": 1}),
]


@pytest.mark.parametrize("name, row, sides", EDGES, ids=str)
def test_finite_at_the_edges(name, row, sides):
    names, args = list(gs.densities[name].domains), [np.array([a, a], float) for a in row]
    got = gradient(name, *args)
    for argument, side in sides.items():
        i = names.index(argument)
        slots = [i] if args[i].ndim == 1 else [(i, j) for j in range(args[i].shape[1])]
        want = [derivative(REFERENCES[name].logpdf.__wrapped__, row, [slot], side, digits=350) for slot in slots]
        assert np.isfinite(want).all()
        np.testing.assert_allclose(got[argument][0].ravel(), want, rtol=1e-9, atol=1e-12, err_msg=f"d/d{argument}")


def test_an_infinite_component_leaves_the_others_alone():
    row = (0, 0.5, 0.5), (1, 2, 3)
    got = gradient("dirichlet", *(np.array([a, a], float) for a in row))["a"][0]
    want = [derivative(references_vector.dirichlet, row, [(1, j)]) for j in (1, 2)]
    assert got[0] == -inf
    np.testing.assert_allclose(got[1:], want, rtol=1e-12)


# ---- second derivatives


TWICE = [
    "student_t", "gamma", "beta", "weibull", "von_mises", "skew_normal", "binomial", "poisson_log", "negative_binomial",
    "zero_inflated_poisson",
]  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives(name, rng):
    """Mixed and pure ones, each by differentiating twice."""
    density, reference = gs.densities[name], REFERENCES[name]
    args, names = reference.random(rng, 20), list(density.domains)
    wrt = [names.index(n) for n in differentiable(density)]
    for i in wrt:
        once = gs.transforms.Grad(density, names[i])
        error = derivative_errors(once(*args), reference.gradient(args, i), 1e-3)
        assert error.max() <= 1e-11, f"d/d{names[i]}"
        for j in wrt[wrt.index(i) :]:
            error = derivative_errors(gs.transforms.Grad(once, names[j])(*args), reference.derivative(args, [i, j]), 1e-3)
            worst = np.argmax(error)
            assert error[worst] <= 1e-9, f"d/d{names[i]} d/d{names[j]} at {[a[worst].tolist() for a in args]}"


@pytest.mark.parametrize("name", ["normal", "student_t", "gamma", "negative_binomial", "beta", "poisson_log", "skew_normal"])
def test_hessians(name, rng):
    density, reference = gs.densities[name], REFERENCES[name]
    x, *parameters = reference.random(rng, 8)
    sets = np.array([[p[k] for p in parameters] for k in range(2)])  # (K, P)
    want = np.zeros((2, len(parameters), len(parameters)))
    size = want.copy()
    for k, i, j in np.ndindex(want.shape):
        each = reference.derivative([x, *(np.full(8, v) for v in sets[k])], [i + 1, j + 1])
        want[k, i, j], size[k, i, j] = each.sum(), np.abs(each).sum()
    likelihood = gs.Likelihood(density, x)
    several = likelihood.hessian(*sets.T[:, :, None])
    one = likelihood.hessian(*sets[0].tolist())
    assert several.shape == want.shape and one.shape == want.shape[1:]
    assert (np.abs(several - want) <= 1e-10 * size).all()
    assert (np.abs(one - want[0]) <= 1e-10 * size[0]).all()
    np.testing.assert_array_equal(one, one.T)
    some = likelihood.hessian(*sets[0].tolist(), wrt=density.parameters[-1])
    np.testing.assert_allclose(some, one[-1:, -1:], rtol=1e-12)


@pytest.mark.parametrize(
    "name, row",
    [
        ("logistic", (0.5, 0.5, 2)),
        ("student_t", (0.5, 3, 0.5, 2)),
        ("cauchy", (0.5, 0.5, 2)),
        ("skew_normal", (0.5, 0.5, 2, 3)),
        ("ex_gaussian", (1, 0, 1, 1)),
        ("von_mises", (0.5, 0.5, 2)),
        ("bernoulli_logit", (1, 0)),
    ],
)
def test_hessians_where_two_formulas_meet(name, row):
    """At the peak of a symmetric density, or where a function changes from one side to the other."""
    got = gs.Likelihood(gs.densities[name], [float(row[0])]).hessian(*row[1:])
    indices = range(1, len(row))
    want = [[derivative(REFERENCES[name].logpdf.__wrapped__, row, [i, j]) for j in indices] for i in indices]
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-12)


SNIPPET = """
// dose_response: a count that rises and levels off with a dose, in a few steps
// x: real    dose: positive    slope: real    top: positive
real leveled(real dose, real slope, real top)
{
    real level = 0;
    for (int i = 1; i <= 4; i++) {
        if (slope * dose > i) level += top / i;
        else level += tanh(slope * dose / i);
    }
    return level;
}
real softened(real u, real top)
{
    if (u < 0) return exp(u) * top;
    return top + log1p(u);
}
real dose_response_logpdf(real x, real dose, real slope, real top)
{
    real mean = softened(leveled(dose, slope, top) - 1, top), u = x - mean;
    real width = top > 2 ? sqrt(top) : top;
    u = u / width;
    if (fabs(u) > 3) return -3 * fabs(u) - log(width);
    return -0.5 * u * u - log(width);
}
"""


def dose_response(x, dose, slope, top):
    level = 0
    for i in range(1, 5):
        level += top / i if slope * dose > i else mp.tanh(slope * dose / i)
    u = level - 1
    u = x - (mp.exp(u) * top if u < 0 else top + mp.log1p(u))
    width = mp.sqrt(top) if top > 2 else top
    u = u / width
    return -(3 * abs(u) if abs(u) > 3 else u * u / 2) - mp.log(width)


def test_a_users_snippet(rng):
    """With a loop, branches, helper functions, early returns and a variable that changes its value."""
    density = gs.register(SNIPPET)
    args = rng.normal(0, 5, 60), rng.uniform(0.1, 3, 60), rng.normal(0, 1.5, 60), rng.uniform(0.5, 4, 60)
    rows = list(zip(*(a.tolist() for a in args)))
    names = ("x", "dose", "slope", "top")
    _, got = density.loglik_and_grad(*args, wrt=names)
    for i, name in enumerate(names):
        want = [derivative(dose_response, row, [i]) for row in rows]
        np.testing.assert_allclose(got[name], want, rtol=1e-10, atol=1e-12)
    twice = gs.transforms.Grad(gs.transforms.Grad(density, "slope"), "top")(*args)
    np.testing.assert_allclose(twice, [derivative(dose_response, row, [2, 3]) for row in rows], rtol=1e-9, atol=1e-11)
    hessian = gs.Likelihood(density, args[0]).hessian(1.3, 0.8, 2.5)
    want = [[sum(derivative(dose_response, (v, 1.3, 0.8, 2.5), [i, j]) for v in args[0]) for j in (1, 2, 3)] for i in (1, 2, 3)]
    np.testing.assert_allclose(hessian, want, rtol=1e-9, atol=1e-9)


def test_grad_is_elementwise_and_broadcasts(rng):
    x, mu = rng.normal(size=(20, 1)), rng.normal(size=3)
    grad = gs.transforms.Grad(gs.normal, "mu")
    np.testing.assert_allclose(grad(x, mu, 2.0), (x - mu) / 4, rtol=1e-14)
    np.testing.assert_allclose(gs.transforms.Grad(gs.normal)(x, mu, 2.0), (mu - x) / 4, rtol=1e-14)
    pdf = gs.transforms.Grad(gs.transforms.Exp(gs.normal), "mu")
    np.testing.assert_allclose(pdf(x, mu, 2.0), gs.normal.pdf(x, mu, 2.0) * (x - mu) / 4, rtol=1e-13)
    for wrong in ("scale", "x_"):
        with pytest.raises(ValueError, match=wrong):
            gs.transforms.Grad(gs.normal, wrong)
    with pytest.raises(ValueError, match="x"):
        gs.transforms.Grad(gs.poisson, "x")
