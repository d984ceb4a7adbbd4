"""The derivative rule of each function, against mpmath."""

import re

import mpmath as mp
import numpy as np
import pytest
from references import derivative, derivative_errors
from references_functions import MATH, REFERENCES, ROOT, reference_of, truncated
from scipy import special
from thorough import THOROUGH

import gpustats as gs
from gpustats.language import nodes as lang
from gpustats.language.library import library

N = 15


# Functions of math.h that want a whole number, or at other places, and operators.
# name: (C with arguments a and b, meaning, where a and b lie)
MORE = {
    "ldexp": ("ldexp(sin(a), 3)", lambda x: 8 * mp.sin(x), (-3, 3.5)),
    "abs": ("a * abs(-2)", lambda x: 2 * x, (-3, 3.5)),
    "lgamma below 0": ("lgamma(a)", lambda x: mp.log(abs(mp.gamma(x))), (-2.9, -2.1)),
    "tgamma below 0": ("tgamma(a)", mp.gamma, (-2.9, -2.1)),
    "cbrt above 0": ("cbrt(a)", mp.cbrt, (0.2, 3)),
    "pow of whole numbers": ("pow(a, 3)", lambda x: x**3, (-3, 3.5)),
    "a whole number to a power": ("pow(3, a)", lambda x: mp.mpf(3) ** x, (-3, 2.5)),
    "digamma of large numbers": ("digamma(a)", mp.digamma, (50, 1e4)),
    "a cast": ("(real)(int)(3 * a) * a", lambda x: truncated(3 * x) * x, (-3, 3.5)),
    "int arithmetic": ("a * ((a < 1) + 2 % 5) / 3", lambda x: x * ((x < 1) + 2) / 3, (-3, 3.5)),
    "stop_gradient": ("stop_gradient(floor(a)) * a", lambda x: mp.floor(x) * x, (-3, 3.5)),
    "isinf": ("isinf(1 / a) || isnan(a) || !isfinite(a) ? 0 : exp(a)", mp.exp, (-3, 2.5)),
    "signs": ("-(-a) - -a + +a - -(a * a)", lambda x: 3 * x + x * x, (-3, 3.5)),
    "quotients": ("1 / a / a - a / (1 / a)", lambda x: 1 / x**2 - x**2, (0.3, 3)),
}


def test_every_function_is_tested():
    more = {f for source, *_ in MORE.values() for f in re.findall(r"\w+(?=\()", source)}
    assert lang.MATH.keys() == MATH.keys() | more & lang.MATH.keys()


@pytest.mark.parametrize("entry", [*library.special.values()], ids=[*library.special])
def test_every_special_function_has_a_reference(entry):
    call, intervals = f"{entry.name}({', '.join(entry.arguments)})", ", ".join(f"{a} in (…, …)" for a in entry.arguments)
    where = f"{entry.path.relative_to(ROOT)}, line {entry.line}"
    missing = f"{where}: write above {entry.name}: // reference: {call} = …, {intervals}; or the path of a test"
    assert entry.references, missing
    assert all(reference_of(text) or (ROOT / text).is_file() for text in entry.references), missing


def in_letters(reference):
    """The call with a, b and c for its variables."""
    letters = dict(zip(reference.ranges, "abc"))
    return re.sub(r"[A-Za-z_]\w*", lambda match: letters.get(match[0], match[0]), reference.call)


CASES = [  # (name, C with arguments a, b and c, meaning, where each of them lies)
    *((name, f"{name}({', '.join('abc'[: len(r)])})", f, r) for name, (f, *r) in MATH.items()),
    *((name, in_letters(r), r.meaning, [*r.ranges.values()]) for name, of_name in REFERENCES.items() for r in of_name),
    *((name, source, f, r) for name, (source, f, *r) in MORE.items()),
]


def batches(size):
    """The cases in parts, each of rules with as many arguments: a kernel for each rule would take long to compile."""
    for n in (1, 2, 3):
        alike = [case for case in CASES if len(case[-1]) == n]
        for first in range(0, len(alike), size):
            part = alike[first : first + size]
            yield pytest.param(part, id=f"{part[0][0]} to {part[-1][0]}", marks=[THOROUGH] * (first // size % 6 > 0))


def likelihood_of(sources, arguments):
    """Of one observation, which does not matter, so that nothing is summed. The first parameter is the number of the source."""
    declared = "".join(f", real {a}" for a in arguments)
    branches = "".join(f"    if (rule == {i}) return {source};\n" for i, source in enumerate(sources))
    density = gs.register(
        "// rule: one of several functions\n// rule: nonnegative integer\n"
        f"real rule_logpdf(real x, real rule{declared})\n{{\n{branches}    return NAN;\n}}\n",
        replace=True,
    )
    return gs.Likelihood(density, [0.0])


@pytest.mark.parametrize("cases", list(batches(12)))
def test_each_rule(cases, rng):
    """First and second derivatives at ordinary points."""
    arguments = "abc"[: len(cases[0][-1])]
    likelihood = likelihood_of([source for _, source, *_ in cases], arguments)
    points = np.array([[rng.uniform(*r, N) for r in ranges] for *_, ranges in cases])  # case, argument, point
    sets = [np.repeat(np.arange(len(cases)), N)[:, None], *points.swapaxes(0, 1).reshape(len(arguments), -1, 1)]
    values, firsts = likelihood.value_and_grad(*sets)
    seconds = likelihood.hessian(*sets)
    for k, (name, _, meaning, _) in enumerate(cases):
        here, rows = slice(N * k, N * (k + 1)), points[k].T.tolist()
        want = [float(meaning(*map(mp.mpf, row))) for row in rows]
        np.testing.assert_allclose(values[here], want, rtol=1e-11, atol=1e-12, err_msg=name)
        for i, a in enumerate(arguments):
            want = [derivative(meaning, row, [i]) for row in rows]
            assert derivative_errors(firsts[a][here].ravel(), want, 1e-3).max() <= 1e-11, f"{name}: d/d{a}"
            for j, b in enumerate(arguments[: i + 1]):
                want = [derivative(meaning, row, [i, j]) for row in rows]
                assert derivative_errors(seconds[here, i, j], want, 1e-3).max() <= 1e-9, f"{name}: d/d{a} d/d{b}"


#: (C, where, the derivatives)
SINGLE_POINTS = [
    # what is not differentiable has the derivative of one side, or 0 in the middle
    ("fabs(a)", (0,), (0,)),
    ("fabs(a - b)", (2, 2), (0, 0)),
    # powers of negative numbers and of zero
    ("pow(a, 2)", (-1.5,), (-3,)),
    ("pow(a, 2)", (0,), (0,)),
    ("pow(a, 1)", (0,), (1,)),
    ("pow(a, 0)", (0,), (0,)),
    ("pow(a, b)", (0, 2), (0, 0)),
    ("pow(a, b)", (3, 0), (0, np.log(3))),
    # where formulas meet, or a term drops out
    ("logaddexp(a, b)", (1, 1), (0.5, 0.5)),
    ("logaddexp(a, b)", (1, -np.inf), (1, 0)),
    ("logaddexp(a, b)", (-np.inf, 1), (0, 1)),
    ("logaddexp(a, b)", (800, -800), (1, 0)),
    ("logsubexp(a, b)", (1, -np.inf), (1, 0)),
    ("log1pexp(a)", (0,), (0.5,)),
    ("log1pexp(a)", (800,), (1,)),
    ("log1pexp(a)", (-800,), (0,)),
    ("expit(a)", (0,), (0.25,)),
    ("expit(a)", (800,), (0,)),
    ("expit(a)", (-700,), (np.exp(-700),)),
    ("log_expit(a)", (0,), (0.5,)),
    ("log_expit(a)", (-800,), (1,)),
    ("log_expit(a)", (800,), (0,)),
    ("logit(a)", (0.5,), (4,)),
    ("logit(a)", (0.25,), (16 / 3,)),
    ("log1mexp(a)", (-800,), (0,)),
    ("log1pmx(a)", (0,), (0,)),
    ("bd0(a, b)", (3, 3), (0, 0)),
    ("bd0(a, b)", (3, 5), (np.log(3 / 5), 1 - 3 / 5)),
    ("xlogy(a, b)", (0, 2), (np.log(2), 0)),
    ("xlogy(a, b)", (0, 0), (-np.inf, 0)),
    ("xlog1py(a, b)", (0, -1), (-np.inf, 0)),
    ("log1p_square(a)", (0,), (0,)),
    ("log1p_square(a)", (1e200,), (2e-200,)),
    ("log1p_square(a)", (-1e30,), (-2e-30,)),
    ("log_ndtr(a)", (0,), (2 / np.sqrt(2 * np.pi),)),
    ("log_ndtr(a)", (-1e8,), (1e8,)),
    ("log_ndtr(a)", (50,), (0,)),
    ("log_gamma(a)", (1,), (-np.euler_gamma,)),
    ("log_gamma(a)", (2,), (1 - np.euler_gamma,)),
    ("log_gamma(a)", (1.5,), (float(mp.digamma(1.5)),)),
    ("log_gamma(a)", (3,), (1.5 - np.euler_gamma,)),
    ("log_gamma(a)", (1e15,), (np.log(1e15),)),
    ("lbeta(a, b)", (1, 1), (-1, -1)),
    ("log_i0e(a)", (0,), (-1,)),
    ("log_i0(a)", (0,), (0,)),
    ("log_i0(a)", (1e6,), (1 - 0.5e-6,)),
    ("tanh(a)", (800,), (0,)),
    ("normal_integral(a, b, b - a)", (-np.inf, np.inf), (0, 0)),
    ("hypot(a, b)", (3, 4), (0.6, 0.8)),
    ("hypot(a, b)", (1e200, 0), (1, 0)),
    # constants that stand for what does not exist
    ("a > 0 ? a * a : -INFINITY", (-1,), (0,)),
    ("a > 0 ? a * a : NAN", (-1,), (np.nan,)),
    ("a > 0 ? a * a : NAN", (3,), (6,)),
    ("a == 0 ? 1 : a * log(a)", (0,), (0,)),
    # the side that is not taken, whatever it is
    ("a > 0 ? sqrt(a) : 0", (0,), (0,)),
    ("a < 1 ? a : 1 / (a - 1)", (1 - 2**-53,), (1,)),
]


@pytest.mark.parametrize("n_arguments", [1, 2])
def test_at_single_points(n_arguments):
    cases = [case for case in SINGLE_POINTS if len(case[1]) == n_arguments]
    sources = list(dict.fromkeys(source for source, *_ in cases))
    rules, args = [sources.index(source) for source, *_ in cases], np.array([args for _, args, _ in cases], float)
    _, found = likelihood_of(sources, "ab"[:n_arguments]).value_and_grad(*np.c_[rules, args].T[..., None])
    for got, (source, at, want) in zip(np.concatenate(list(found.values()), 1), cases, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15, err_msg=f"{source} at {at}")


def test_what_depends_on_nothing_has_derivative_zero():
    density = gs.register("real rule_logpdf(real x, real a, real b)\n{\n    int k = a > 0;\n    return k ? b : 2;\n}\n")
    _, got = density.loglik_and_grad([1.0, 2.0, 3.0], 1.5, 0.5, wrt=("x", "a", "b"))
    np.testing.assert_array_equal(got["x"], np.zeros(3))
    assert got["a"] == 0 and got["b"] == 3


def test_assigned_arguments(rng):
    """C lets a function assign to its arguments, to themselves as well."""
    density = gs.register("""
    real grown(real p, real q)
    {
        for (int i = 0; i < 3; i++) {
            p += p;
            q = p;
            p *= q;
        }
        q = q;
        return p + q;
    }
    real rule_logpdf(real x, real a)
    {
        a = a;
        x = x + 0;
        return grown(x, a) + a;
    }
    """)
    x, a = rng.uniform(-0.1, 0.1, (2, 5))
    _, got = density.loglik_and_grad(x, a, wrt=("x", "a"))

    def grown(p, a):
        for _ in range(3):
            q = 2 * p
            p = q * q
        return p + q + a

    np.testing.assert_allclose(got["x"], [derivative(grown, row, [0]) for row in zip(x.tolist(), a.tolist())], rtol=1e-12)
    np.testing.assert_array_equal(got["a"], np.ones(5))


VECTORS = """
// scores: x: nonnegative integer    w: vector    v: vector    scale: positive
real smallest(const real *w, int dim)
{
    real found = INFINITY;
    for (int i = 0; i < dim; i++)
        found = fmin(found, w[i]);
    return found;
}
real product(const real *w, const real *v, real scale, int dim)
{
    real sum = 0;
    for (int i = dim - 1; i >= 0; i--) {
        if (w[i] < 0) sum += w[i] * v[i] / scale;
        else sum += sin(w[i]) * v[dim - 1 - i];
    }
    return sum;
}
real scores_logpdf(real x, const real *w, const real *v, real scale, int dim)
{
    real s = product(w, v, scale, dim) + product(v, w, 2, dim);
    return s * w[(int)x] + exp(smallest(w, dim)) * log(scale);
}
"""


def scores(x, w, v, scale):
    def product(w, v, scale):
        return sum(a * b / scale if a < 0 else mp.sin(a) * c for a, b, c in zip(w, v, v[::-1]))

    return (product(w, v, scale) + product(v, w, 2)) * w[int(x)] + mp.exp(min(w)) * mp.log(scale)


def test_vectors(rng):
    """Elements in loops, by an index that is data, and in functions that take the vectors in another order."""
    density = gs.register(VECTORS)
    args = rng.integers(0, 3, 20), rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.uniform(1, 2, 20)
    rows = list(zip(*(a.tolist() for a in args)))
    _, got = density.loglik_and_grad(*args)
    np.testing.assert_allclose(got["scale"], [derivative(scores, row, [3]) for row in rows], rtol=1e-11, atol=1e-12)
    for i, name in [(1, "w"), (2, "v")]:
        want = [[derivative(scores, row, [(i, j)]) for j in range(3)] for row in rows]
        np.testing.assert_allclose(got[name], want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("form", ["a / (1 + exp(-b * t))", "a / (exp(-b * t) + 1.0)"])
def test_a_logistic_curve_whose_exponential_overflows(form):
    curve = gs.Rows(f"real curve(real t, real a, real b) {{ return {form}; }}", t=np.array([1.0, 2.0]))
    for b in (0.5, -2.0, -400.0, 800.0):
        value, gradient = curve.value_and_grad(a=3.0, b=b)
        t, p = np.array([1.0, 2.0]), special.expit(b * np.array([1.0, 2.0]))
        np.testing.assert_allclose(value, 3 * p.sum(), rtol=1e-12)
        slope = 3 * (p * special.expit(-b * t) * t).sum()
        np.testing.assert_allclose([gradient["a"], gradient["b"]], [p.sum(), slope], rtol=1e-12)


def test_zeros_with_derivatives():
    """A root that is known without its derivatives gets these by steps of Newton's method."""
    source = """
    __device__ real root(real x, real a)
    {
        real known = stop_gradient(sqrt(a)), slope = 0.5 / known;
        real once = known + zero_with_slope((a - known * known) * slope);
        return x * (once + zero_with_curvature((a - once * once) * slope));
    }"""
    rows = gs.Rows(source, x=np.array([1.0, 2.0]))
    value, gradient = rows.value_and_grad(2.5)
    np.testing.assert_allclose(value, 3 * np.sqrt(2.5), rtol=1e-15)
    np.testing.assert_allclose(gradient["a"], 1.5 / np.sqrt(2.5), rtol=1e-14)
    np.testing.assert_allclose(rows.hessian(2.5), [[-0.75 * 2.5**-1.5]], rtol=1e-13)
