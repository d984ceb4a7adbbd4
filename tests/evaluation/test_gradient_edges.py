"""Derivatives at nan, outside of domains, and at the edges of supports."""

import numpy as np
import pytest
import references_vector
from gradients import REFERENCES, SMOOTH, differentiable, gradient
from references import derivative
from thorough import some

import gpustats as gs

N = 30
inf, nan = np.inf, np.nan


def columns(tuples):
    """The columns of a table of tuples, as arrays."""
    return [np.array(column, float) for column in zip(*tuples)]


@pytest.mark.parametrize("name", some(SMOOTH, 6))
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


@pytest.mark.parametrize("name", some(SMOOTH, 6))
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
        ("triangular", -1, (0, 2, 1)),
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


@pytest.mark.parametrize("name", some(SMOOTH, 6))
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
    ("skew_normal", (0.5, 3, 0.5, 2), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (1, 0, 0, 2), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (-30, 3, 0, 1), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (30, 3, 0, 1), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
    ("skew_normal", (-3, 1e3, 0, 1), {"x": 0, "mu": 0, "sigma": 0, "alpha": 0}),
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
    ("triangular", (2, 1, 3, 1), {"x": 0, "lower": -1, "c": 1, "upper": 0}),
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
    ("beta_binomial", (0, 2, 3, 0), {"alpha": 0, "beta": 0}),
    ("beta_binomial", (0, 1, 1, 7), {"alpha": 0, "beta": 0}),
    ("beta_binomial", (7, 2, 2, 7), {"alpha": 0, "beta": 0}),
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


@pytest.mark.parametrize("name, row, sides", some(EDGES, 4), ids=str)
def test_finite_at_the_edges(name, row, sides):
    names, args = list(gs.densities[name].domains), [np.array([a, a], float) for a in row]
    got = gradient(name, *args)
    for argument, side in sides.items():
        i = names.index(argument)
        slots = [i] if args[i].ndim == 1 else [(i, j) for j in range(args[i].shape[1])]
        want = [derivative(REFERENCES[name].logpdf.__wrapped__, row, [slot], side, digits=350) for slot in slots]
        assert np.isfinite(want).all()
        np.testing.assert_allclose(got[argument][0].ravel(), want, rtol=1e-9, atol=1e-12, err_msg=f"d/d{argument}")


# (density, x at an end of the support, parameters, {argument: sign}): as the argument grows, the density jumps from infinity
# to 0 there, or from 0 to infinity.
JUMPS = [
    ("gamma", 0, (1, 2), {"alpha": -1}), ("chi_squared", 0, (2,), {"nu": -1}), ("weibull", 0, (1, 2), {"alpha": -1}),
    ("beta", 0, (1, 3), {"alpha": -1}), ("beta", 1, (3, 1), {"beta": -1}), ("kumaraswamy", 1, (3, 1), {"b": -1}),
    ("chi", 0, (1,), {"nu": -1}), ("nakagami", 0, (0.5, 2), {"nu": -1}), ("fisher_snedecor", 0, (2, 3), {"d1": -1}),
    ("generalized_gamma", 0, (0.5, 2, 1), {"a": -1, "c": -1}), ("burr", 0, (0.5, 2, 1), {"c": -1, "k": -1}),
    ("beta_proportion", 1, (0.75, 4), {"mu": 1, "kappa": -1}), ("pearson3", -1, (2, 0, 1), {"skew": 1}),
    ("rdist", 1, (2,), {"c": -1}),
    ("unit_gamma", 0, (1, 1), {"alpha": 1, "beta": -1}), ("double_weibull", 0.5, (1, 0.5, 2), {"alpha": -1}),
    ("exponential_power", 0, (1, 2), {"b": -1}), ("exponentiated_weibull", 0, (0.5, 2, 1), {"alpha": -1, "theta": -1}),
    ("log_logistic", 0, (1, 2), {"alpha": -1}), ("noncentral_chi_squared", 0, (2, 1.5), {"nu": -1}),
    ("mielke", 0, (1, 2, 1), {"k": -1}),
]  # fmt: skip


@pytest.mark.parametrize("name, x, parameters, signs", some(JUMPS, 4), ids=str)
def test_a_derivative_is_the_limit_of_difference_quotients(name, x, parameters, signs):
    got = gradient(name, *(np.array([a], float) for a in (x, *parameters)))
    assert {argument: got[argument][0] for argument in signs} == {argument: sign * inf for argument, sign in signs.items()}


def test_an_infinite_component_leaves_the_others_alone():
    row = (0, 0.5, 0.5), (1, 2, 3)
    got = gradient("dirichlet", *(np.array([a, a], float) for a in row))["a"][0]
    want = [derivative(references_vector.dirichlet, row, [(1, j)]) for j in (1, 2)]
    assert got[0] == -inf
    np.testing.assert_allclose(got[1:], want, rtol=1e-12)


def test_a_cast_literal_has_no_derivative():
    density = gs.register("real f_logpdf(real x, real p) { real m = (real)0 * p; return x + cbrt(m); }")
    assert density.loglik_and_grad(2.0, 3.0)[1]["p"] == 0


@pytest.mark.parametrize(
    "body, x, m, want",
    [
        ("fmod(x, m)", 1.0, 0.1, -9), ("fmod(x, m)", 3.0, 0.1, -29), ("fmod(x, m)", 7.5, -2.0, 3),
        ("remainder(x, m)", 0.75, 0.1, -7), ("remainder(x, m)", 1.55, 0.1, -15), ("remainder(x, m)", 7.5, 2.0, -4),
        ("atan2(x, m)", 1e200, 1e200, -5e-201), ("atan2(x, m)", 1e-140, 2e-140, -2e139), ("atan2(x, m)", 1.0, -2.0, -0.2),
        ("asinh(x * m)", 1.0, 1e200, 1e-200), ("acosh(x * m)", 1.0, 1e200, 1e-200), ("tanh(x * m)", 1.0, 400.0, 0),
        ("tanh(x * m)", 0.5, 3.0, 0.5 / np.cosh(1.5) ** 2), ("tanh(x * m)", 1.0, 20.0, 4 * np.exp(-40)),
    ],
)  # fmt: skip
def test_derivatives_of_functions_at_large_and_rounded_arguments(body, x, m, want):
    density = gs.register(f"real f_logpdf(real x, real m) {{ return {body}; }}", replace=True)
    assert density.loglik_and_grad(x, m)[1]["m"] == pytest.approx(want, rel=1e-13)
    assert np.isfinite(gs.Likelihood(density, [x]).hessian(m)).all()


def test_a_simplex_of_float32_is_one():
    p = np.random.default_rng(5).dirichlet(np.ones(5)).astype("float32")
    assert abs(p.astype(float).sum() - 1) > 1e-8
    np.testing.assert_allclose(gs.categorical.logpmf(np.arange(5), p), np.log(p.astype(float)), rtol=1e-6)
    assert np.isnan(gs.categorical.logpmf(1.0, np.array([0.5, 0.4999]))) and np.isfinite(gs.dirichlet.logpdf(p, np.ones(5)))


def test_distribution_functions_are_flat_at_infinity():
    """An infinite row adds nothing to derivatives, though z = (y - mu) / sigma has infinite ones there."""
    terms = [
        "normal_logcdf(y, mu, sigma) + normal_logsf(-y, mu, sigma)", "log_ndtr(z) + log_expit(z) - log1pexp(-z)",
        "expit(z) + erf(z) - erfc(z) + tanh(z) + atan(z)", "gumbel_logcdf(y, mu, sigma) + logistic_logcdf(y, mu, sigma)",
        "student_t_logcdf(y, sigma, mu, sigma) + gamma_logcdf(fabs(y), sigma, 2) + weibull_logcdf(fabs(y), sigma, sigma)",
    ]
    text = f"real c(real y, real mu, real sigma) {{ real z = (y - mu) / sigma; return {' + '.join(terms)}; }}"
    finite, infinite = (gs.Rows(text, y=np.array(y)).value_and_grad(mu=0.2, sigma=1.3) for y in ([0.3], [0.3, inf]))
    assert np.isfinite(finite[0])
    np.testing.assert_array_equal(list(infinite[1].values()), list(finite[1].values()))
