"""Derivatives of device functions: each rule on its own, and whole functions of random shape, against mpmath."""

import random
import re

import mpmath as mp
import numpy as np
import pytest
from references import derivative, derivative_errors

import gpustats as gs
from gpustats.language import nodes as lang
from gpustats.language.device_function import parse
from gpustats.language.library import SPECIAL, library

# ---- what the functions mean -----------------------------------------------------------------------------------------


def normal_mass(a, b):
    """Phi(b) - Phi(a)"""
    return (mp.erf(b / mp.sqrt(2)) - mp.erf(a / mp.sqrt(2))) / 2


def normal_integral(a, b):
    mode = min(max(a, 0), b)
    return normal_mass(a, b) * mp.exp(mode * mode / 2) * mp.sqrt(2 * mp.pi)


def stirling_error(x):
    return mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)


def truncated(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


# name: (meaning, where each argument lies)
MATH = {
    "acos": (mp.acos, (-0.9, 0.9)),
    "acosh": (mp.acosh, (1.1, 5)),
    "asin": (mp.asin, (-0.9, 0.9)),
    "asinh": (mp.asinh, (-3, 3.5)),
    "atan": (mp.atan, (-3, 3.5)),
    "atan2": (mp.atan2, (-3, 3.5), (-3, 3.5)),
    "atanh": (mp.atanh, (-0.9, 0.8)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), (-3, -0.2)),
    "ceil": (mp.ceil, (-2.4, 2.9)),
    "copysign": (lambda a, b: abs(a) * mp.sign(b), (-3, 3.5), (-3, 3.5)),
    "cos": (mp.cos, (-3, 3.5)),
    "cosh": (mp.cosh, (-2, 2.5)),
    "erf": (mp.erf, (-2, 2.5)),
    "erfc": (mp.erfc, (-2, 2.5)),
    "exp": (mp.exp, (-3, 2.5)),
    "exp2": (lambda x: mp.mpf(2) ** x, (-3, 2.5)),
    "expm1": (mp.expm1, (-3, 2.5)),
    "fabs": (abs, (-3, 3.5)),
    "fdim": (lambda a, b: max(a - b, mp.mpf(0)), (-3, 3.5), (-3, 3.5)),
    "floor": (mp.floor, (-2.4, 2.9)),
    "fma": (lambda a, b, c: a * b + c, (-3, 3.5), (-3, 3.5), (-3, 3.5)),
    "fmax": (max, (-3, 3.5), (-3, 3.5)),
    "fmin": (min, (-3, 3.5), (-3, 3.5)),
    "fmod": (lambda a, b: a - b * truncated(a / b), (-9, 9.5), (0.7, 2.1)),
    "hypot": (mp.hypot, (-3, 3.5), (-3, 3.5)),
    "lgamma": (mp.loggamma, (0.2, 6)),
    "log": (mp.log, (0.2, 6)),
    "log10": (mp.log10, (0.2, 6)),
    "log1p": (mp.log1p, (-0.9, 4)),
    "log2": (lambda x: mp.log(x, 2), (0.2, 6)),
    "nextafter": (lambda a, b: a, (-3, 3.5), (-3, 3.5)),
    "pow": (mp.power, (0.2, 3), (-2, 2.5)),
    "remainder": (lambda a, b: a - b * mp.nint(a / b), (-9, 9.5), (0.7, 2.1)),
    "rint": (mp.nint, (-2.4, 2.9)),
    "round": (mp.nint, (-2.4, 2.9)),
    "sin": (mp.sin, (-3, 3.5)),
    "sinh": (mp.sinh, (-2, 2.5)),
    "sqrt": (mp.sqrt, (0.2, 6)),
    "tan": (mp.tan, (-1.2, 1.3)),
    "tanh": (mp.tanh, (-2, 2.5)),
    "tgamma": (mp.gamma, (0.3, 4)),
    "trunc": (truncated, (-2.4, 2.9)),
}
SPECIAL_FUNCTIONS = {
    "bd0": (lambda x, m: x * mp.log(x / m) + m - x, (0.3, 5), (0.4, 5.5)),
    "digamma": (mp.digamma, (0.2, 15)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), (-5, 5.5)),
    "lbeta": (lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b), (0.2, 6), (0.3, 7)),
    "log1mexp": (lambda x: mp.log(-mp.expm1(x)), (-5, -0.05)),
    "log1p_square": (lambda x: mp.log1p(x * x), (-3, 3.5)),
    "log1pexp": (lambda x: mp.log1p(mp.exp(x)), (-5, 5.5)),
    "log1pmx": (lambda x: mp.log1p(x) - x, (-0.8, 5)),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), (-5, 5.5)),
    "log_gamma": (mp.loggamma, (0.2, 9)),
    "log_gamma_near_two": (lambda z: mp.loggamma(2 + z), (-0.9, 0.95)),
    "log_i0": (lambda x: mp.log(mp.besseli(0, x)), (0.1, 25)),
    "log_i0e": (lambda x: mp.log(mp.besseli(0, x)) - x, (0.1, 25)),
    "log_ndtr": (lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), (-9, 5)),
    "log_ndtr_difference": (lambda a, b: mp.log(normal_mass(a, b)), (-4, 1), (1.1, 4)),
    "scaled_erfc_any": (lambda x: mp.exp(x * x) * mp.erfc(x), (-2, 6)),
    "logaddexp": (lambda a, b: mp.log(mp.exp(a) + mp.exp(b)), (-5, 5.5), (-5, 5.5)),
    "logit": (lambda p: mp.log(p / (1 - p)), (0.05, 0.95)),
    "logsubexp": (lambda a, b: mp.log(mp.exp(a) - mp.exp(b)), (1, 4), (-2, 0.8)),
    "scaled_erfc": (lambda x: mp.exp(x * x) * mp.erfc(x), (0.05, 6)),
    "stirling_error": (stirling_error, (0.3, 9)),
    "stirling_series": (stirling_error, (3, 30)),
    "trigamma": (lambda x: mp.psi(1, x), (0.3, 15)),
    "weighted": (lambda weight, log_density: weight * log_density, (0.1, 3), (-3, 3.5)),
    "xlog1py": (lambda x, y: x * mp.log1p(y), (-3, 3.5), (-0.9, 4)),
    "xlogy": (lambda x, y: x * mp.log(y), (-3, 3.5), (0.2, 6)),
}
FUNCTIONS = MATH | SPECIAL_FUNCTIONS

# Functions of special.cu some of whose arguments belong together, and those of math.h that want a whole number.
# name: (C with arguments a and b, meaning, where a and b lie)
TOGETHER = {
    "log_excess": ("log_excess(log1p(a), a)", lambda x: mp.log1p(x) - x, (-0.8, 5)),
    "log_ratio_excess": ("log_ratio_excess(1 + a, a)", lambda x: mp.log1p(x) - x, (-0.8, 5)),
    "normal_integral": ("normal_integral(a, b, b - a)", normal_integral, (-4, 1), (1.1, 4)),
    "normal_integral of a tail": ("normal_integral(a, b, b - a)", normal_integral, (1, 4), (4.1, 9)),
    "normal_integral of a thin slice": ("normal_integral(a, b, b - a)", normal_integral, (1, 1.1), (1.12, 1.2)),
    "log_ndtr_difference of a tail": (
        "log_ndtr_difference(a, b)", lambda a, b: mp.log(normal_mass(a, b)), (-5, -3), (-2.9, -1),
    ),
    "log_cdf_difference": (
        "log_cdf_difference(log_ndtr(a), log_ndtr(-a), log_ndtr(b), log_ndtr(-b))",
        lambda a, b: mp.log(normal_mass(a, b)), (-4, 1), (1.1, 4),
    ),
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
    "isinf": ("isinf(1 / a) || isnan(a) || !isfinite(a) ? 0 : exp(a)", mp.exp, (-3, 2.5)),
    "signs": ("-(-a) - -a + +a - -(a * a)", lambda x: 3 * x + x * x, (-3, 3.5)),
    "quotients": ("1 / a / a - a / (1 / a)", lambda x: 1 / x**2 - x**2, (0.3, 3)),
}


#: Whole numbers only, as arguments or as values; or what derivatives of others are made of, and tested with them.
UNTESTED = {
    "large_shape", "log_factorial", "factorial_remainder", "legendre_node",
    "legendre_weight", "inverse_mills", "lbeta_derivative", "stirling_error_derivative", "stirling_series_derivative",
    "scaled_erfc_slope", "scaled_erfc_mean_slope",
}  # fmt: skip


def test_every_function_is_tested():
    tested = FUNCTIONS.keys() | {f for source, *_ in TOGETHER.values() for f in re.findall(r"\w+(?=\()", source)}
    functions = {name.removeprefix(SPECIAL + "_") for name in library.get(SPECIAL).functions}
    assert lang.MATH.keys() | functions == tested | UNTESTED


CASES = [  # (name, C with arguments a, b and c, meaning, where each of them lies)
    *((name, f"{name}({', '.join('abc'[: len(r)])})", f, r) for name, (f, *r) in FUNCTIONS.items()),
    *((name, source, f, r) for name, (source, f, *r) in TOGETHER.items()),
]


def batches(size):
    """The cases in parts, each of rules with as many arguments: a kernel for each rule would take long to compile."""
    for n in (1, 2, 3):
        alike = [case for case in CASES if len(case[-1]) == n]
        for first in range(0, len(alike), size):
            part = alike[first : first + size]
            yield pytest.param(part, id=f"{part[0][0]} to {part[-1][0]}")


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
    points = np.array([[rng.uniform(*r, 40) for r in ranges] for *_, ranges in cases])  # case, argument, point
    sets = [np.repeat(np.arange(len(cases)), 40)[:, None], *points.swapaxes(0, 1).reshape(len(arguments), -1, 1)]
    values, firsts = likelihood.value_and_grad(*sets)
    seconds = likelihood.hessian(*sets)
    for k, (name, _, meaning, _) in enumerate(cases):
        here, rows = slice(40 * k, 40 * (k + 1)), points[k].T.tolist()
        np.testing.assert_allclose(
            values[here], [float(meaning(*map(mp.mpf, row))) for row in rows], rtol=1e-11, atol=1e-12, err_msg=name
        )
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


# ---- whole functions -------------------------------------------------------------------------------------------------


class Interpreter:
    """Evaluates parsed functions in mpmath numbers: what C means, told a second time.

    largest: the largest number that came up
    """

    OPERATORS = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / mp.mpf(b),
        "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    }  # fmt: skip

    def __init__(self, functions):
        self.functions, self.largest = functions, 0

    def call(self, name, args):
        if name in self.functions:
            function = self.functions[name]
            return self.run(function.body, dict(zip([p.name for p in function.parameters], args)))
        name = name.removeprefix(SPECIAL + "_")
        return not mp.isinf(args[0]) if name == "isfinite" else FUNCTIONS[name][0](*map(mp.mpf, args))

    def run(self, body, values):
        """What the statements return; None where they come to their end."""
        for s in body:
            returned = None
            match s:
                case lang.Declare() | lang.Assign():
                    values[s.name] = self.value(s.value, values)
                case lang.If():
                    returned = self.run(s.then if self.value(s.condition, values) else s.otherwise, values)
                case lang.For():
                    self.run([s.start], values)
                    while returned is None and self.value(s.condition, values):
                        returned = self.run(s.body, values)
                        self.run([s.step], values)
                case lang.Return():
                    returned = self.value(s.value, values)
            if returned is not None:
                return returned

    def value(self, e, values):
        result = self.result(e, values)
        self.largest = max(self.largest, abs(result))
        return result

    def result(self, e, values):
        match e:
            case lang.Number():
                return int(e.text) if e.type == lang.INT else mp.mpf(float(e.text))
            case lang.Name():
                return mp.pi + 0 if e.name == "PI" else values[e.name]
            case lang.Call():
                return self.call(e.function, [self.value(a, values) for a in e.arguments])
            case lang.Unary():
                operand = self.value(e.operand, values)
                return not operand if e.operator == "!" else -operand
            case lang.Binary("&&"):
                return self.value(e.left, values) and self.value(e.right, values)
            case lang.Binary("||"):
                return self.value(e.left, values) or self.value(e.right, values)
            case lang.Binary():
                return self.OPERATORS[e.operator](self.value(e.left, values), self.value(e.right, values))
            case lang.Conditional():
                return self.value(e.then if self.value(e.condition, values) else e.otherwise, values)
            case lang.Cast():
                operand = self.value(e.operand, values)
                return int(operand) if e.type == lang.INT else mp.mpf(operand)
        raise AssertionError(e)


class Writer:
    """Writes functions at random, in all that the language has.

    random: where the choices come from
    helpers: names of the functions written so far, and how many numbers they take
    reals, ints, own: the names in scope; `own` can be assigned to
    """

    def __init__(self, random):
        self.random, self.helpers = random, []
        self.reals, self.ints, self.own = [], [], []

    def source(self):
        """A density of x, a and b, and the functions that it calls."""
        text = ""
        for name in ["first", "second"][: self.random.randrange(3)]:
            parameters = ["p", "q"][: self.random.randint(1, 2)]
            text += self.function(name, parameters, own=parameters[:1])  # arguments can be assigned to in C
            self.helpers.append((name, len(parameters)))
        return text + self.function("random_logpdf", ["x", "a", "b"], own=[])

    def function(self, name, parameters, own):
        self.reals, self.ints, self.own = parameters, [], own
        lines = self.block(2, self.random.randint(2, 3))
        result = " + ".join([self.expression(3), *self.own])
        declared = ", ".join(f"real {p}" for p in parameters)
        return "\n".join([f"real {name}({declared})", "{", *lines, f"return {result};", "}", ""])

    def block(self, depth, count):
        """Lines of `count` statements."""
        return [line for _ in range(count) for line in self.statement(depth)]

    def inner_block(self, depth, loop=None):
        """A block with a scope of its own, in which a name may stand for another variable than outside."""
        before = self.reals, self.ints, self.own
        self.reals, self.ints, self.own = map(list, before)
        self.ints += [loop] if loop else []
        lines = []
        if self.own and self.random.random() < 0.3:
            name = self.own[0]
            self.reals.remove(name)  # C has it in scope as soon as it is declared
            lines = [f"real {name} = {self.expression(2)};"]
            self.reals.append(name)
        lines += self.block(depth - 1, self.random.randint(1, 2))
        self.reals, self.ints, self.own = before
        return lines

    def statement(self, depth):
        kind = self.random.choice(["real", "int", "assign", "assign", "return", "if", "if", "for"])
        if kind == "int":
            value, name = self.condition(2), f"k{len(self.ints)}"
            self.ints = [*self.ints, name]
            return [f"int {name} = {value};"]
        if kind == "assign" and self.own:
            name = self.random.choice(self.own)
            operator = self.random.choice(["=", "+=", "-=", "*="])
            return [f"{name} {operator} {'cos' * (operator == '*=')}({self.expression(3)});"]
        if kind == "if" and depth:
            lines = [f"if ({self.condition(1)}) {{", *self.inner_block(depth)]
            return [*lines, *(["} else {", *self.inner_block(depth)] if self.random.random() < 0.5 else []), "}"]
        if kind == "for" and depth:
            i = f"i{depth}"
            return [f"for (int {i} = 0; {i} < {self.random.randint(1, 3)}; {i}++) {{", *self.inner_block(depth, i), "}"]
        if kind == "return":
            return [f"if ({self.condition(0)} && {self.condition(0)}) return {self.expression(2)};"]
        value, name = self.expression(3), f"v{len(self.reals)}"
        self.reals, self.own = [*self.reals, name], [*self.own, name]
        return [f"real {name} = {value};"]

    def condition(self, depth):
        kind = self.random.choice(["compare", "compare", "compare", "&&", "||", "not", "int", "finite"])
        if kind in ("&&", "||") and depth:
            return f"({self.condition(depth - 1)} {kind} {self.condition(depth - 1)})"
        if kind == "not" and depth:
            return f"!({self.condition(depth - 1)})"
        if kind == "int" and self.ints:
            return self.random.choice(self.ints)
        if kind == "finite":
            return f"isfinite({self.expression(depth)})"
        return f"({self.expression(depth)} {self.random.choice(['<', '>', '<=', '>='])} {self.expression(depth)} + 0.1)"

    def expression(self, depth):
        def part():
            return self.expression(depth - 1)

        if not depth or self.random.random() < 0.15:
            others = [*self.ints, "0.75", "2", "-1.5", "PI"]
            return self.random.choice(self.reals if self.reals and self.random.random() < 0.8 else others)
        kind = self.random.choice(["sum", "product", "quotient", "minus", "choice", "cast", "helper", *["call"] * 6])
        if kind == "sum":
            return f"({part()} {self.random.choice('+-')} {part()})"
        if kind == "product":
            return f"{part()} * {part()}"
        if kind == "quotient":
            return f"({part()}) / (1.5 + fabs({part()}))"
        if kind == "minus":
            return f"-({part()})"
        if kind == "choice":
            return f"({self.condition(depth - 1)} ? {part()} : {part()})"
        if kind == "cast":
            return f"(real)(int)(2.3 * sin({part()}))"
        if kind == "helper" and self.helpers:
            name, count = self.random.choice(self.helpers)
            return f"{name}({', '.join(part() for _ in range(count))})"
        name = self.random.choice(list(FUNCTIONS))
        inside = (f"{(a + b) / 2:.3f} + {(b - a) / 2:.3f} * sin({part()})" for a, b in FUNCTIONS[name][1:])
        return f"{name}({', '.join(inside)})"


@pytest.mark.parametrize("seed", range(24))
def test_random_functions(seed):
    source = Writer(random.Random(seed)).source()
    interpreter = Interpreter(parse(source, library.resolve).functions)

    def meaning(*row):
        return interpreter.call("random_logpdf", row)

    args = np.random.default_rng(seed).normal(0, 1.5, (3, 5))
    rows = args.T.tolist()
    want = np.array([[derivative(meaning, row, [i], digits=40) for row in rows] for i in range(3)])
    values = [float(meaning(*map(mp.mpf, row))) for row in rows]
    assert interpreter.largest < 1000, "too large for a comparison: rounding errors grow as well"
    density = gs.register(source)
    np.testing.assert_allclose(density.logpdf(*args), values, rtol=1e-9, atol=1e-9)
    value, got = density.loglik_and_grad(*args, wrt=("x", "a", "b"))
    np.testing.assert_allclose(value, sum(values), rtol=1e-9, atol=1e-9)
    size = 1 + np.abs(want).max()
    np.testing.assert_allclose([got[name] for name in "xab"], want, rtol=1e-8, atol=1e-9 * size, err_msg=source)
