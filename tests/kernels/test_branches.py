"""Branches of users' functions that leave what all rows share, in kernels that a compiler has optimised."""

import numpy as np
import pytest
from scipy import special

import gpustats as gs

pytestmark = pytest.mark.optimised

X = np.array([11.68, 2.73, 6.19, 0.172, 6.84, 2.44, 6.54, 17.11])
NU = np.array([97.7, 1.02, 53.8, 0.889, 41.5, 3.5, 59.8, 399.5])  # the last row alone takes the first side
LARGE, SMALL = "a * log_ratio_excess(x * (x / nu), fma(x, x, -nu) / nu)", "-log_gamma(a)"
FORMS = {
    "assigned": f"if (large_shape(a)) {{ v = {LARGE}; w = 0.5; }} else {{ v = {SMALL}; w = 0.25; }}",
    "assigned once": f"w = 0.25; if (large_shape(a)) {{ v = {LARGE}; w = 0.5; }} else v = {SMALL};",
    "a later choice": f"if (large_shape(a)) v = {LARGE}; else v = {SMALL}; w = large_shape(a) ? 0.5 : 0.25;",
    "a later branch": f"if (large_shape(a)) v = {LARGE}; else v = {SMALL}; if (large_shape(a)) w = 0.5; else w = 0.25;",
    "a negative": f"if (large_shape(a)) v = {LARGE}; else v = {SMALL}; w = 0.375 + (large_shape(a) ? 0.125 : -0.125);",
    "a whole number": f"int n = 1; if (large_shape(a)) {{ v = {LARGE}; n++; }} else v = {SMALL}; w = 0.25 * n;",
    "returned": f"w = large_shape(a) ? 0.5 : 0.25; if (large_shape(a)) return {LARGE} + w; return {SMALL} + w;",
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_what_all_rows_share(form, dtype):
    name = form.replace(" ", "_")
    source = f"real {name}_logpdf(real x, real nu) {{ real a = 0.5 * nu, v, w; {FORMS[form]} return v + w; }}"
    density = gs.register(source, replace=True)
    x, nu = X.astype(dtype), NU.astype(dtype)
    large, ratio = 0.5 * NU > (100 if dtype == np.float64 else 10), X**2 / NU
    terms = np.where(large, 0.5 * NU * (np.log(ratio) - (ratio - 1)) + 0.5, 0.25 - special.gammaln(0.5 * NU))
    rtol = 1e-13 if dtype == np.float64 else 1e-5
    for n in range(1, 9):
        within = rtol * np.abs(terms[:n]).sum()
        assert abs(density.loglik(x[:n], nu[:n]) - terms[:n].sum()) <= within
        value, _ = density.loglik_and_grad(x[:n], nu[:n])
        assert abs(value - terms[:n].sum()) <= within
        assert np.allclose(density.logpdf(x[:n], nu[:n]), terms[:n], rtol=rtol)


def test_draws_of_a_branch():
    """A branch takes as many draws as it says."""
    bodies = {
        "assigned": "if (u < p) u = uniform(rng); v = uniform(rng); return u + 2 * v;",
        "returned": "if (u >= p) { v = uniform(rng); return u + 2 * v; } u = uniform(rng); v = uniform(rng); return u + 2 * v;",
        "chosen": "v = uniform(rng); real w = uniform(rng); return u < p ? v + 2 * w : u + 2 * v;",
    }
    source = """
    real {0}_logpdf(real x, real p) {{ return -x * p; }}
    real {0}_sample(rng_t *rng, real p) {{ real u = uniform(rng), v; {1} }}"""
    found = [gs.register(source.format(*named), replace=True).rvs(0.5, size=500, rng=1) for named in bodies.items()]
    assert len(set(found[2])) == 500
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[2])
