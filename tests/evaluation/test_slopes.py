"""Derivatives where terms cancel, near a mode and near 0, and where a factor would over- or underflow."""

import numpy as np
import pytest
from gradients import REFERENCES, gradient
from references import derivative
from scipy import special
from thorough import some

import gpustats as gs

# (density, (x, *parameters), arguments): all have their digits, though they are small beside what they would be sums of
NEAR_A_CENTER = [
    ("logistic", (1e-7, 0, 0.3), ("x", "mu")),
    ("half_logistic", (1e-6, 1), ("x",)),
    ("hyperbolic_secant", (-1e-8, 0, 0.9), ("x", "mu")),
    ("generalized_logistic", (1e-7, 1, 0, 0.4), ("x", "mu")),
    ("sinh_arcsinh", (-1e-8, 0, 2.25, 0, 1.25), ("x", "mu")),
    ("gumbel", (1e-9, 0, 6.25), ("x", "mu")),
    ("gumbel_min", (-1e-9, 0, 6.25), ("x", "mu")),
    ("moyal", (2e-9, 0, 0.125), ("x", "mu")),
    ("generalized_extreme_value", (1e-9, 0, 0.125, 0), ("x", "mu")),
    ("semicircular", (1e-6, 1e-6 - 1e-12, 1.5), ("x", "mu")),
    ("semicircular", (1e-12, 0, 1.5), ("x", "mu")),
    ("arcsine", (1e-9, -1, 1), ("x",)),
    ("relativistic_breit_wigner", (1e-9, 1, 2), ("x",)),
    ("folded_normal", (1e-9, 0.5, 0.75), ("x", "mu")),
    ("folded_normal", (0.5, 1e-9, 0.75), ("x", "mu")),
    ("folded_cauchy", (1e-9, -4, 0.125), ("x", "mu")),
    ("folded_cauchy", (0.5, 1e-9, 0.75), ("x", "mu")),
    ("wrapped_normal", (-1e-9, 0, 2), ("x", "mu")),
    ("wald", (3e-10, 0.125, 1.5), ("mu",)),
    ("reciprocal_inverse_gaussian", (1e6, 1, 1e-6), ("mu",)),
    ("birnbaum_saunders", (5.75, 1.5, 5.750002), ("beta",)),
    ("inverse_gamma", (3e-16, 496, 0.375), ("alpha",)),
    ("inverse_chi_squared", (6e-15, 166), ("nu",)),
    ("exp_gamma", (0.125, 1.75, -6, 0.125), ("alpha",)),
    ("logit_normal", (0.5 - 2**-22, 0, 1.5), ("x",)),
]


@pytest.mark.parametrize("name, row, arguments", some(NEAR_A_CENTER, 3), ids=str)
def test_nothing_cancels(name, row, arguments):
    names = list(gs.densities[name].domains)
    for dtype, rtol in ((np.float64, 2e-12), (np.float32, 2e-5)):
        args = [np.full(1, a, np.float32).astype(dtype) for a in row]
        got = gradient(name, *args)
        for argument in arguments:
            want = derivative(REFERENCES[name].logpdf.__wrapped__, [float(a[0]) for a in args], [names.index(argument)])
            np.testing.assert_allclose(got[argument], want, rtol=rtol, err_msg=f"d/d{argument}")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_stable_densities_near_their_center(dtype):
    """Of symmetric ones by the first terms of their power series; at alpha = 1.5, beta = 1 by differences in beta."""
    x, alpha = np.array([1e-9, -1e-4, 1e-9], dtype), np.array([1.5, 1.25, 0.5], dtype)
    got = gs.stable.loglik_and_grad(x, alpha, dtype(0), dtype(0), dtype(2), wrt="x")[1]["x"]
    np.testing.assert_allclose(got, -x / 4 * special.gamma(3 / alpha) / special.gamma(1 / alpha), rtol=1e-5)
    near = np.array([1 - 1e-6, 1])
    values = gs.stable.logpdf(0.9, 1.5, near, 0.0, 1.0)
    slope = gs.stable.loglik_and_grad(dtype(0.9), dtype(1.5), dtype(1), dtype(0), dtype(1), wrt="beta")[1]["beta"]
    assert float(slope) == pytest.approx((values[1] - values[0]) / 1e-6, rel=1e-4)


# (density, (x, *parameters) of float32, argument, the derivative), by algebra where x is that far away or that small
FAR_AWAY = [
    ("half_cauchy", (1e32, 2e-4), "beta", 5e3),
    ("skew_cauchy", (-1e32, 0, 1, 2e-4), "sigma", 5e3),
    ("skew_student_t", (1e32, 2, 1, 0, 2e-4), "sigma", 1e4),
    ("slash", (1e32, 0, 2e-4), "sigma", 5e3),
    ("folded_cauchy", (1e32, 0, 2e-4), "sigma", 5e3),
    ("generalized_extreme_value", (1e32, 0, 2e-4, 1), "sigma", 5e3),
    ("generalized_pareto", (1e32, 0, 2e-4, 1), "sigma", 5e3),
    ("scaled_inverse_chi_squared", (3e-24, 1, 6e-8), "x", 2e32),
    ("inverse_gamma", (1e-25, 1, 1e-20), "x", 1e30),
    ("wald", (1e-25, 1, 1e-20), "x", 5e29),
    ("reciprocal_inverse_gaussian", (1e-25, 1, 1e-20), "x", 5e29),
    ("weibull_max", (-1e-30, 1, 2), "x", 0.5),
    ("johnson_sb", (2e-44, 1, 0.04), "x", -np.inf),  # it is -4e43
    ("tukey_lambda", (1e38, -0.9375, 0, 3), "x", -(1 + 1 / 0.9375) * 1e-38),  # a power's tail, of index 1 - 1 / lam
    ("skew_student_t", (-1e15, 1, 1, 1, 1), "x", 3e-15),
    ("variance_gamma", (3e-12, 0, 1, 0, 1.25), "x", -np.sqrt(2) / 1.25),  # Laplace's distribution
    ("generalized_inverse_gaussian", (7.8e-12, -6.6, 25.4, 5.5), "p", -27.02934),
    ("generalized_gamma", (2.5e-10, 2.5, -3.75, 0.25), "sigma", -3.75 / 0.25 * (1e-9**-3.75 - 2.5)),
]


@pytest.mark.parametrize("name, row, argument, want", some(FAR_AWAY, 4), ids=str)
def test_no_factor_overflows(name, row, argument, want):
    args = [np.full(1, a, np.float32) for a in row]
    np.testing.assert_allclose(gradient(name, *args)[argument], want, rtol=1e-4)


@pytest.mark.parametrize("name, want", [("burr", -2), ("burr12", -1), ("mielke", -0.5625)])
def test_second_derivatives_in_x_where_x_is_the_scale(name, want):
    rows = gs.Rows(f"real slope_at(real y, real x) {{ return {name}_logpdf(x + y, 2, 1.5, 1); }}", y=np.zeros(1))
    np.testing.assert_allclose(np.squeeze(rows.hessian(x=1.0)), want, rtol=1e-13)


def test_a_density_has_the_own_derivatives_of_those_that_it_calls():
    gs.register("""
    real called_logpdf(real x, real a) { return a * x; }
    real called_logpdf_grad_x(real x, real a) { return 5; }
    """, replace=True)
    caller = gs.register("real caller_logpdf(real x, real a) { return 2 * called_logpdf(3 * x, a); }", replace=True)
    got = caller.loglik_and_grad(2.0, 7.0, wrt=("x", "a"))[1]
    assert (got["x"], got["a"]) == (30, 12)
