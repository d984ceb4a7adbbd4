"""Whole numbers in device functions where C leaves open what happens: the same on every device."""

import numpy as np
import pytest

import gpustats as gs

ENDS = -(2**31), 2**31 - 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_beyond_an_int(layout, dtype):
    density = gs.register("real whole_logpdf(real x, real a) { int k = (int)(x / a); return k == 0 ? 0.25 : k; }")
    x = np.array([1, -1, 3e9, -3e9, 2.7, -2.7, 0, 1e30, -1e30, 2147483000], dtype)
    least, most = (dtype(end) for end in ENDS)
    want = np.array([1, -1, most, least, 2, -2, 0.25, most, least, dtype(2147483000)], dtype)
    np.testing.assert_array_equal(density.logpdf(x, 1.0), want)
    divided = density.logpdf(x, 0.0)  # by 0: infinities, and nan for 0 / 0
    np.testing.assert_array_equal(divided, np.where(x > 0, most, np.where(x < 0, least, dtype(0.25))))


def test_numbers_that_wrap_around(layout):
    density = gs.register("""
    real wrap_logpdf(real x, real a) { int k = (int)x, n = (int)a; return k + n - 0.25 * (k * n) - 0.5 * (n - k); }
    """)
    x, a = np.array([2147483647.0, -2147483648.0, 5.0]), np.array([1.0, -1.0, 2147483647.0])
    k, n = x.astype(np.int32)[:, None], a.astype(np.int32)
    with np.errstate(over="ignore"):
        want = (k + n) - 0.25 * (k * n) - 0.5 * (n - k)
    np.testing.assert_array_equal(density.logpdf(x[:, None], a), want)


def test_literals_beyond_an_int(layout):
    """Compilers work them out, and take what C leaves open for anything."""
    density = gs.register("""
    real beyond_logpdf(real x, const real *p, int dim) { return p[(int)1e10] + 10 * p[(int)-1e10] + (int)1e10 + 0 * x; }
    """)
    np.testing.assert_array_equal(density.logpdf(np.zeros(2), np.array([1.0, 2.0, 3.0])), np.full(2, 13.0 + 2**31 - 1))


def test_nan_is_zero(layout):
    density = gs.register("""
    real nothing(real a) { return a - a; }
    real whole_logpdf(real x, real a) { return 3 + (int)nothing(1 / a) + 0 * x; }
    """)
    assert density.logpdf(np.zeros(4), 0.0).tolist() == [3] * 4
    assert density.loglik(np.zeros(4), 0.0) == 12


def test_divisions_by_zero(layout, rng):
    """Processors stop at them, or do not; numbers of GPUs are arbitrary."""
    density = gs.register("""
    real divide_logpdf(real x, real a)
    {
        int n = (int)x, k = (int)a, m = n;
        m /= k;
        return m + 1e-6 * (n % k) + 1e6 * (n / 3) + 1e4 * (n % 3);
    }
    """)
    x, a = rng.integers(-50, 50, 30).astype(float), np.arange(-4.0, 5.0)
    n, k = x.astype(int), np.where(a == 0, 1, a).astype(int)[:, None]
    quotient = np.where(a[:, None] == 0, 0, np.trunc(n / k))
    rest = n - quotient * a[:, None]
    want = quotient + 1e-6 * rest + 1e6 * np.trunc(n / 3) + 1e4 * np.fmod(n, 3)
    np.testing.assert_allclose(density.logpdf(x, a[:, None]), want, rtol=1e-14)


def test_the_least_int_divided_by_minus_one(layout):
    density = gs.register("real least_logpdf(real x, real a) { int k = (int)a; return (int)x / k + (int)x % k; }")
    np.testing.assert_array_equal(density.logpdf([-3e9, 6.0], -1.0), [ENDS[0], -6])


def test_divisions_by_literals_stay():
    density = gs.register("real third_logpdf(real x, real a) { int k = (int)(x * a); return k / 3 + k % 2; }")
    text = density.kernel_source("table")
    assert "k / 3" in text and "k % 2" in text and "int_quotient" not in text.partition("third")[2]


def test_names_of_the_functions_are_free():
    density = gs.register("""
    real to_int(real x) { return x + 1; }
    real free_logpdf(real int_quotient, real int_remainder) { return to_int(int_quotient) / (4 / (int)int_remainder); }
    """)
    assert density.logpdf(np.array([1.0]), 2.0) == 1.0


def test_absolute_values_have_signs(layout):
    """OpenCL's abs gives unsigned numbers, which wrap around below 0 and fit no other function of whole numbers."""
    density = gs.register("""
    real signed_logpdf(real x, const real *v, int dim) { int k = (int)x; return abs(k) - 5 + 0.25 * v[abs(x > 1)] - abs(k); }
    """)
    np.testing.assert_array_equal(density.logpdf(np.array([-3.0, 0.0, 3.0]), np.array([1.0, 2.0])), [-4.75, -4.75, -4.5])


def test_whole_numbers_as_arguments():
    """Users pass them as they pass all others; their domain is looked at before they are cut off."""
    density = gs.register("""
    // whole: the first parameter is counted from 0
    // x: real    m: nonnegative integer    n: real
    real whole_logpdf(real x, int m, const int n) { m += 1; return x * m + n; }
    real whole_sample(rng_t *rng, int m, const int n) { real z = uniform(rng); return m + n + z; }
    """)
    m, n = np.array([1.0, 2.5, np.nan, 3e9, 2.0, 2.0]), np.array([0, 0, 0, 0, 1.9, np.nan])
    np.testing.assert_array_equal(density.logpdf(2.0, m, n), [4, np.nan, np.nan, 2.0 * ENDS[0], 7, np.nan])
    assert np.floor(density.rvs(2, 3.7, size=5, rng=1)).tolist() == [5] * 5
    assert gs.transforms.LocScale(density).logpdf(4.0, 1, 0, 0, 2) == pytest.approx(4 - np.log(2))
    value, gradient = density.loglik_and_grad(np.array([1.0, 2.0]), 3, 0, wrt=("x", "n"))
    assert value == 12 and gradient["x"].tolist() == [4, 4] and gradient["n"] == 0
    assert gs.register("real cut_logpmf(int x, real m) { return x / 2 * m; }").logpmf(5.9, 1.5) == 3


def test_whole_numbers_as_arguments_of_ones_own_derivatives():
    density = gs.register("""
    real steep_logpdf_grad_x(real x, int m) { return 7 * m; }
    real steep_logpdf(real x, int m) { return x * m; }
    """)
    np.testing.assert_array_equal(density.loglik_and_grad(np.array([1.0, 2.0]), 3.9, wrt=("x",))[1]["x"], [21, 21])
