"""Arrays of a function's own: values and derivatives are those of NumPy, and mistakes are told with their place."""

import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs

RNG = np.random.default_rng(3)
X = RNG.normal(size=9)
H = 1e-6


def value_and_slopes(source, function, *at):
    """Both of a sum over rows, and those of a function of the column and the parameters by differences."""
    rows = gs.Rows(source, x=X)
    value, gradient = rows.value_and_grad(*at)
    np.testing.assert_allclose(rows.terms(*at), function(X, *at), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(value, function(X, *at).sum(), rtol=1e-12)
    for i, slope in enumerate(gradient.values()):
        up, down = ([a + sign * H * (i == k) for k, a in enumerate(at)] for sign in (1, -1))
        np.testing.assert_allclose(slope, (function(X, *up) - function(X, *down)).sum() / (2 * H), rtol=2e-7, atol=1e-6)


def test_loops_over_elements():
    source = """
    __device__ real powers(real x, real a, real b)
    {
        real term[5] = {1, x}, total = 0;
        for (int i = 2; i < 5; i++)
            term[i] = a * term[i - 1] + b * term[i - 2];
        for (int i = 4; i >= 0; i--)
            total += term[i] * term[4 - i];
        return total;
    }"""

    def powers(x, a, b):
        term = [np.ones_like(x), x]
        for _ in range(3):
            term.append(a * term[-1] + b * term[-2])
        return sum(term[i] * term[4 - i] for i in range(5))

    value_and_slopes(source, powers, 0.7, -0.4)


def test_matrices():
    source = """
    __device__ real power(real x, real a, real b)
    {
        real m[2][2] = {{a, b}, {0.5, x}}, p[2][2] = {{1, 0}, {0, 1}}, q[2][2];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    q[i][j] = 0;
                    for (int l = 0; l < 2; l++)
                        q[i][j] += p[i][l] * m[l][j];
                }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    p[i][j] = q[i][j];
        }
        return p[0][1] + p[1][0];
    }"""

    def power(x, a, b):
        found = [np.linalg.matrix_power(np.array([[a, b], [0.5, v]]), 3) for v in x]
        return np.array([m[0, 1] + m[1, 0] for m in found])

    value_and_slopes(source, power, 0.7, -0.4)


@pytest.mark.parametrize("index, place", [
    ("(int)(3 * fabs(x))", lambda x: np.minimum(np.trunc(3 * abs(x)), 3)),
    ("(int)x - 1", lambda x: np.clip(np.trunc(x) - 1, 0, 3)), ("2", lambda x: np.full(x.size, 2)),
])  # fmt: skip
def test_places_that_data_tell(index, place):
    """A place beyond the ends is the end, for what is read and what is written."""
    source = f"""
    __device__ real chosen(real x, real a, real b)
    {{
        real v[4] = {{a, b, a * b, a * a * b}};
        real before = v[{index}];
        v[{index}] *= 3;
        v[{index}] += b;
        return before + v[0] + 2 * v[1] + 3 * v[2] + 4 * v[3];
    }}"""

    def chosen(x, a, b):
        v, rows = np.tile([a, b, a * b, a * a * b], (x.size, 1)), np.arange(x.size)
        at = place(x).astype(int)
        before = v[rows, at].copy()
        v[rows, at] = 3 * v[rows, at] + b
        return before + v @ [1, 2, 3, 4]

    value_and_slopes(source, chosen, 0.7, -0.4)


@pytest.mark.parametrize("places", [("k", "1"), ("1", "k"), ("k", "k - 1")])
def test_places_beyond_one_of_two_axes(places):
    """A place is that of the nearest row and the nearest column."""
    i, j = places
    source = f"""
    __device__ real chosen(real x, real a, real b)
    {{
        real v[2][3] = {{{{a, b, x}}, {{a * a, b * b, a * b}}}};
        int k = (int)(4 * x);
        real before = v[{i}][{j}];
        v[{i}][{j}] += 2 * b;
        return before + v[0][0] + 2 * v[0][1] + 3 * v[0][2] + 4 * v[1][0] + 5 * v[1][1] + 6 * v[1][2];
    }}"""

    def chosen(x, a, b):
        v = np.array([[[a, b, c], [a * a, b * b, a * b]] for c in x])
        rows, k = np.arange(x.size), np.trunc(4 * x).astype(int)
        at = rows, np.clip(eval(i) + 0 * k, 0, 1), np.clip(eval(j) + 0 * k, 0, 2)
        before = v[at].copy()
        v[at] += 2 * b
        return before + v.reshape(-1, 6) @ np.arange(1, 7)

    value_and_slopes(source, chosen, 0.7, -0.4)


def test_loops_that_change_their_variable():
    source = """
    __device__ real odd(real x, real a)
    {
        real v[6] = {1, x, 3, a, 5, 6}, total = 0;
        for (int i = 0; i < 6; i++) {
            i++;
            total += v[i] * i;
        }
        v[1]++;
        --v[3];
        return total + v[1] * v[3];
    }"""
    value_and_slopes(source, lambda x, a: x + 3 * a + 30 + (x + 1) * (a - 1), 0.7)


def test_branches_and_inner_arrays():
    source = """
    __device__ real branches(real x, real a, real b)
    {
        real total = 0, v[2] = {a, b};
        for (int k = 0; k < 3; k++) {
            real w[2];
            w[0] = v[0] * x;
            if (x > 0) { w[1] = v[1] + a; } else { w[1] = b; }
            v[k % 2] = w[1] - w[0];
            total += v[0] * v[1];
        }
        return total;
    }"""

    def branches(x, a, b):
        total, v = 0, [np.full(x.size, a), np.full(x.size, b)]
        for k in range(3):
            w = v[0] * x, np.where(x > 0, v[1] + a, b)
            v[k % 2] = w[1] - w[0]
            total = total + v[0] * v[1]
        return total

    value_and_slopes(source, branches, 0.7, -0.4)


def test_functions_of_vectors_take_arrays():
    source = """
    __device__ real norm_of(const real *v, int n) { real s = 0; for (int i = 0; i < n; i++) s += v[i] * v[i]; return sqrt(s); }
    __device__ real scaled(const real *v, real c, int n) { return c * norm_of(v, n) + v[n - 1]; }
    __device__ real both(real x, real a, real b)
    {
        real v[3] = {x, a, b};
        return scaled(v, a, 3) + norm_of(v, 2);
    }"""

    def both(x, a, b):
        return a * np.sqrt(x**2 + a**2 + b**2) + b + np.hypot(x, a)

    value_and_slopes(source, both, 0.7, -0.4)


def test_names_beside_those_of_elements():
    source = "__device__ real f(real x, real a) { real v[2] = {x, a}; real v_0 = 3, v_1 = v[1]; return v_0 * v[0] + v_1; }"
    value_and_slopes(source, lambda x, a: 3 * x + a, 0.7)


def test_densities_may_have_arrays():
    source = """
    __device__ real pair_logpdf(real x, real mu, real sigma)
    {
        real part[2];
        for (int i = 0; i < 2; i++)
            part[i] = normal_logpdf(x, (1 - 2 * i) * mu, sigma);
        return log(0.5) + fmax(part[0], part[1]) + log1p(exp(-fabs(part[0] - part[1])));
    }"""
    pair = gs.register(source, replace=True)
    wanted = np.log((stats.norm.pdf(X, 0.7, 1.2) + stats.norm.pdf(X, -0.7, 1.2)) / 2)
    np.testing.assert_allclose(pair.logpdf(X, 0.7, 1.2), wanted, rtol=1e-12)


@pytest.mark.parametrize("body, message", [
    ("real a[3]; return x * a[3];", "no element 3 along an axis of 3"), ("real a[3]; return x * a[-1];", "no element -1"),
    ("real a[3]; return x * a[0];", r"a\[0\] may have no value here"),
    ("real a[2][2]; return a[1][0];", r"a\[1\]\[0\] may have no value"),
    ("real a[x]; return x;", "size of a must be written out"), ("real a[]; return x;", "size of a must be written out"),
    ("real a[300]; return x;", "256 are the most"), ("int a[3]; return x;", "must be an array of `real`"),
    ("real a[2][2][2]; return x;", "one axis or two"), ("real *a; return x;", "pointers of your own"),
    ("real a[2][2] = {{1, 2}, {3}}; return a[1];", "takes one index and one index, and has 1"),
    ("real a[2] = {1, 2, 3}; return x;", "more values than a has elements"), ("real a[2] = x; return x;", "values in braces"),
    ("real a[2]; a = x; return x;", "assign to its elements"), ("real a[2] = {1}; return a;", "array stands where a number"),
    ("real a[2] = {1, 2}; for (int i = 0; i < 3; i++) a[i] = x; return x;", "a has 2 elements, and here .* place 2"),
    ("const real a[2] = {1, 2}; return a[0];", "leave that out"),
    ("real a[2][2] = {{1}}; for (int i = 0; i < 3; i++) a[0][i] = x; return x;", "2 elements along an axis, and .* place 2"),
    ("real a[2][2] = {{1}}; real s = 0; for (int i = -1; i < 2; i++) s += a[i][0]; return s;", "along an axis, .* place -1"),
    ("real a[2] = {1}; for (int i = 0; i < 5000; i++) a[i % 2] += x; return a[0];", "more than 4096 turns: write this one"),
    ("real a[2] = {1}; { real a[2] = {a[0], x}; return a[1]; }", "the new variable without a value, not the outer a"),
    ("real a[2] = {1}; int i = 0; return a[i++];", r"operator \+\+ is not supported"),
])  # fmt: skip
def test_mistakes(body, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        gs.Rows(f"__device__ real f(real x, real mu) {{ {body} }}", x=X)


def test_arrays_together_with_sequences_are_refused():
    source = """
    __device__ real dot_of(const real *a, const real *b, int n)
    {
        real s = 0;
        for (int i = 0; i < n; i++)
            s += a[i] * b[i];
        return s;
    }
    __device__ real f(const real *y, int n, real mu) { real a[2] = {1, mu}; return dot_of(a, y, 2); }"""
    with pytest.raises(gs.DeviceFunctionError, match="together with a vector that is given"):
        gs.Rows(source, y=gs.sequences([[1.0, 2.0]]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_elements_without_a_value_are_0(dtype):
    source = "real f(real y, real a) { real v[3] = {y}, m[2][2] = {{a}}; return v[0] + a * v[1] + v[2] + m[0][0] + m[1][1]; }"
    value, gradient = gs.Rows(source, y=np.array([1.0, 2.0], dtype)).value_and_grad(3.0)
    assert (value, gradient["a"]) == (9.0, 2.0)


RATES = """
__device__ real hill(real x, real k) { return x * x / (k + x * x); }
__device__ void scale(real *v, real by) { v[0] *= by; }
__device__ void rates(real t, const real *y, int n, real *rate, real a)
{
    real s[1] = {sin(t) * a}, size = 0;
    for (int i = 0; i < n; i++)
        size += y[i] * y[i];
    scale(s, 2);
    rate[0] = hill(y[0], a) * y[1] + s[0];
    if (y[1] > 0) {
        rate[1] = a * y[1] * y[1];
    } else {
        rate[1] = lgamma(y[0]);
    }
    rate[2] = t * a + sqrt(size);
}"""


@pytest.mark.parametrize("middle", [2.0, -0.5])
def test_derivatives_that_a_text_asks_for(middle):
    """Derivatives of a helper's array in the elements of another one and in a number, and derivatives of these again."""
    source = RATES + f"""
    __device__ real total(real x, real a)
    {{
        real y[3] = {{1.5 + x * x, {middle}, 3 * a}}, jacobian[3][3], slopes[3], t = a * x, total = 0;
        derivative(rates(t, y, 3, jacobian, a), y);
        derivative(rates(t, y, 3, slopes, a), t);
        for (int i = 0; i < 3; i++) {{
            total += slopes[i] * (i + 1);
            for (int j = 0; j < 3; j++)
                total += jacobian[i][j] * (1 + 3 * i + j);
        }}
        return total;
    }}"""

    def total(x, a):
        y, t, size = (1.5 + x * x, middle, 3 * a), a * x, np.sqrt((1.5 + x * x) ** 2 + middle**2 + 9 * a * a)
        found = 2 * a * np.cos(t) + 3 * a  # of the slopes
        found += 2 * a * y[0] / (a + y[0] ** 2) ** 2 * y[1] + 2 * y[0] ** 2 / (a + y[0] ** 2)
        found += 5 * 2 * a * y[1] if middle > 0 else 4 * special.digamma(y[0])
        return found + (7 * y[0] + 8 * y[1] + 9 * y[2]) / size

    value_and_slopes(source, total, 0.7)


def test_derivatives_within_helpers():
    """A helper asks for those of another one that it is given arrays for, in a loop that stays."""
    source = """
    __device__ void square(const real *y, real *z, real a) { z[0] = a * y[0] * y[0]; z[1] = y[0] * y[1]; }
    __device__ void step(real *y, real a)
    {
        real m[4];
        derivative(square(y, m, a), y);
        y[0] += 0.1 * (m[0] + m[1]);
        y[1] += 0.1 * (m[2] - m[3]);
    }
    __device__ real f(real x, real a)
    {
        real y[2] = {x, 1}, n = 0;
        while (n < 3) {
            step(y, a);
            n += 1;
        }
        return y[0] * y[1];
    }"""

    def f(x, a):
        y = [x, np.ones_like(x)]
        for _ in range(3):
            y = [y[0] + 0.2 * a * y[0], y[1]], y[0]
            y = [y[0][0], y[0][1] + 0.1 * (y[0][1] - y[1])]
        return y[0] * y[1]

    value_and_slopes(source, f, 0.3)


@pytest.mark.parametrize("body, message", [
    ("derivative(hill(x, 1), x); return x;", "of a function that writes to an array"),
    ("real y[3], m[9]; derivative(rates(0, y, 3, m, mu), 2 * mu); return x;", "with respect to a variable"),
    ("real y[3] = {1}, m[3]; derivative(rates(0, y, 3, m, 2 * mu), mu); return x;", "mu must be an argument of the function"),
    ("real y[3] = {1}, m[3]; derivative(rates(mu, y, 3, m, 2 * mu), mu); return x;", "mu must be an argument of the function"),
    ("real y[3] = {1}, m[8]; derivative(rates(0, y, 3, m, mu), y); return x;", "has 8 elements, which is no multiple"),
    ("real y[3] = {1}; derivative(rates(0, y, 3, y, mu), mu); return x;", "reads the array that is to get its derivatives"),
    ("real y[3] = {1}, m[9]; derivative(rates(0, y, 3, m), y); return x;", "rates takes 5 arguments, not 4"),
    ("real m[4], n[4]; derivative(two(mu, m, n), mu); return x;", "writes to 2 arrays"),
    ("derivative(x, mu); return x;", "unknown function derivative"),
])  # fmt: skip
def test_mistakes_in_derivatives(body, message):
    with pytest.raises(gs.DeviceFunctionError, match=message):
        gs.Rows(f"{RATES} __device__ void two(real a, real *v, real *w) {{ v[0] = a; w[0] = a; }}"
                f"__device__ real f(real x, real mu) {{ {body} }}", x=X)  # fmt: skip
