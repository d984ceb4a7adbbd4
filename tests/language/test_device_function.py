"""The language of device functions: what is understood, and what is refused with the user's own line and column."""
# ruff: noqa: E501  a mistake a line reads best

import threading

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.language import nodes as lang
from gpustats.language.library import library
from gpustats.names.functions import IN_C
from gpustats.testing import evaluate_device

# What is wrong stands after an @.
MISTAKES = {
    "syntax error": ("real f_logpdf(real x)\n{\n    return x +@;\n}", "syntax error"),
    "missing semicolon": ("real f_logpdf(real x)\n{\n    real y = 2 * x@  // half\n    return y;\n}", "syntax error before 'return': is a ; missing"),
    "missing semicolon at the end": ("real f_logpdf(real x)\n{\n    return x@\n}", "is a ; missing"),
    "missing semicolon of a branch": (
        "real f_logpdf(real x)\n{\n    real y = 1;\n    if (x > 0)\n        y = x@\n    else y = 2;\n    return y;\n}", "is a ; missing",
    ),
    "missing brace": ("real f_logpdf(real x)\n{\n    return x@;\n", "syntax error"),
    "not C": ("@def f_logpdf(x):\n    return x", ""),
    "no function": ("@// nothing but a comment", "no function"),
    "directive": ("@#include <math.h>\nreal f_logpdf(real x)\n{\n    return x;\n}", "preprocessor"),
    "global variable": ("real @c;\nreal f_logpdf(real x)\n{\n    return x;\n}", "only functions"),
    "unknown function": ("real f_logpdf(real x)\n{\n    return 1 + @psi(x);\n}", "unknown function psi: did you mean digamma?"),
    "misspelt function": ("real f_logpdf(real x)\n{\n    return @sqtr(x);\n}", "unknown function sqtr: did you mean sqrt?"),
    "function of no name": ("real f_logpdf(real x)\n{\n    return @zeal(x);\n}", "unknown function zeal: it is neither a math function of"),
    "likely function": ("real f_logpdf(real x)\n{\n    return @ln(x);\n}", "did you mean log?"),
    "function below": ("real f_logpdf(real x)\n{\n    return @g(x);\n}\nreal g(real x)\n{\n    return x;\n}", "unknown function g"),
    "number of arguments": ("real f_logpdf(real x)\n{\n    return @pow(x);\n}", "pow takes 2 arguments, not 1"),
    "undefined name": ("real f_logpdf(real x)\n{\n    return x * @y;\n}", "y is not defined here"),
    "loop over an undefined name": (
        "real f_logpdf(real x)\n{\n    real s = 0;\n    for (int i = 0; i < @n; i++)\n        s += x;\n    return s;\n}",
        "n is not defined here",
    ),
    "name of an inner block": ("real f_logpdf(real x)\n{\n    if (x > 0) { real y = x; }\n    return @y;\n}", "y is not defined"),
    "used in its own declaration": ("real f_logpdf(real x)\n{\n    real y = @y + x;\n    return y;\n}", "y is not defined"),
    "outer name in the declaration of an inner one": (
        "real f_logpdf(real x)\n{\n    real y = x;\n    if (x > 0) {\n        real y = x * (@y + y);\n        x = y;\n    }\n"
        "    return x + y;\n}", "not the outer y: give the new one another name",
    ),
    "argument in the declaration of its namesake": (
        "real f_logpdf(real x)\n{\n    real x = fabs(@x);\n    return x;\n}", "not the outer x: give the new one another name",
    ),
    "outer name in the start of a loop": (
        "real f_logpdf(real x)\n{\n    int i = 2;\n    for (int i = @i; i < 5; i++) x += i;\n    return x + i;\n}",
        "not the outer i",
    ),
    "declared twice, from itself": (
        "real f_logpdf(real x)\n{\n    real y = x;\n    real @y = y + 1;\n    return y;\n}", "declared twice",
    ),
    "declared twice": ("real f_logpdf(real x)\n{\n    real y = x;\n    real @y = 2;\n    return y;\n}", "declared twice"),
    "defined twice": (
        "real f_logpdf(real x)\n{\n    return x;\n}\nreal @f_logpdf(real x)\n{\n    return x;\n}", "defined twice",
    ),
    "constant": ("real f_logpdf(real x)\n{\n    real @PI = 3;\n    return x;\n}", "PI is a constant"),
    "type": ("real f_logpdf(real x)\n{\n    double @y = x;\n    return y;\n}", "'double' is not supported: write `real`"),
    "complex": ("real f_logpdf(real x)\n{\n    double _Complex @y = x;\n    return x;\n}", "is not supported"),
    "unknown type": ("real f_logpdf(real x)\n{\n    quad @y = x;\n    return y;\n}", "syntax error before 'y'"),
    "pointer": ("real f_logpdf(real x)\n{\n    real @*y;\n    return x;\n}", "pointers of your own"),
    "pointer that is no constant": ("real f_logpdf(real @*x, int dim)\n{\n    return x[0];\n}", "const real *x"),
    "no dim": ("real @f_logpdf(const real *x)\n{\n    return x[0];\n}", "int dim"),
    "missing return": ("real @f_logpdf(real x)\n{\n    real y = x;\n}", "without a `return`"),
    "return in one branch": ("real @f_logpdf(real x)\n{\n    if (x > 0)\n        return x;\n}", "without a `return`"),
    "return of nothing": ("real f_logpdf(real x)\n{\n    @return;\n}", "return needs a value"),
    "division of whole numbers in front": ("real f_logpdf(real x)\n{\n    return @1 / 2 * x;\n}", "write 0.5, or 1.0 / 2"),
    "division of a negative number": ("real f_logpdf(real x)\n{\n    return -@1 / 2 * x * x;\n}", "write -0.5, or -1.0 / 2"),
    "division of a sum": ("real f_logpdf(real x)\n{\n    return x * ((@2 + 3) / (2));\n}", "write 2.5, or 5.0 / 2"),
    "division of a quotient": ("real f_logpdf(real x)\n{\n    return x * (@4 / 2 / 3);\n}", "write 2.0 / 3"),
    "division of a choice": ("real f_logpdf(real x)\n{\n    return (@x > 0 ? 1 : -1) / 2;\n}", "write 0.5, or 1.0 / 2"),
    "division for a whole number": ("real f_logpdf(real x)\n{\n    int m = @7 / 2;\n    return m * x;\n}", "or 3, if a whole number is meant"),
    "power": ("real f_logpdf(real x)\n{\n    return x * *@2;\n}", "write pow(a, b)"),
    "power in an assignment": ("real f_logpdf(real x)\n{\n    x *@*= 2;\n    return x;\n}", "write pow(a, b)"),
    "caret": ("real f_logpdf(real x)\n{\n    return @x ^ 2;\n}", "write pow(a, b)"),
    "division of whole numbers": ("real f_logpdf(real x)\n{\n    return x * (@1 / 2);\n}", "1.0 / 2"),
    "suffix": ("real f_logpdf(real x)\n{\n    return x * @0.5f;\n}", "write 0.5"),
    "hexadecimal": ("real f_logpdf(real x)\n{\n    return x * @0x10;\n}", "0x10 is not supported"),
    "string": ('real f_logpdf(real x)\n{\n    return @"x";\n}', "is not supported"),
    "real to int": ("real f_logpdf(real x)\n{\n    int @k = x;\n    return k;\n}", "write `(int)`"),
    "index": ("real f_logpdf(const real *x, real a, int dim)\n{\n    return @x[a];\n}", "an index must be an `int`"),
    "element before the first": ("real f_logpdf(const real *x, int dim)\n{\n    return @x[2 - 3];\n}", "no element -1"),
    "literal beyond int": ("real f_logpdf(real x)\n{\n    int n = @3000000000;\n    return n * x;\n}", "write 3000000000.0"),
    "product beyond int": ("real f_logpdf(real x)\n{\n    return @100000 * 100000 * x;\n}", "this comes to 10000000000"),
    "sum beyond int": ("real f_logpdf(real x)\n{\n    return x - (@2147483647 + 1);\n}", "this comes to 2147483648"),
    "index of a number": ("real f_logpdf(real x)\n{\n    return @x[0];\n}", "can be indexed"),
    "vector as a number": ("real f_logpdf(const real *x, int dim)\n{\n    return 2 * @x;\n}", "a vector stands where"),
    "number as a vector": (
        "real g(const real *v, int dim)\n{\n    return v[0];\n}\nreal f_logpdf(real x)\n{\n    return @g(x, 1);\n}",
        "g wants a vector",
    ),
    "remainder": ("real f_logpdf(real x)\n{\n    return @x % 2;\n}", "use fmod"),
    "bits": ("real f_logpdf(real x)\n{\n    int i = @1 << 2;\n    return x * i;\n}", "<< is not supported"),
    "abs": ("real f_logpdf(real x)\n{\n    return @abs(x);\n}", ""),
    "do": ("real f_logpdf(real x)\n{\n    @do x /= 2; while (x > 1);\n    return x;\n}", "do … while is not supported"),
    "switch": ("real f_logpdf(real x)\n{\n    @switch (1) { default: return x; }\n    return x;\n}", "switch is not"),
    "break": ("real f_logpdf(real x)\n{\n    for (int i = 0; i < 3; i++) { @break; }\n    return x;\n}", "break is not"),
    "side effect": ("real f_logpdf(real x)\n{\n    return @x++;\n}", "not supported inside an expression"),
    "assignment inside": ("real f_logpdf(real x)\n{\n    real y;\n    return 1 + (@y = x);\n}", "not supported in an expression"),
    "call alone": ("real f_logpdf(real x)\n{\n    @log(x);\n    return x;\n}", "has no effect"),
    "address": ("real f_logpdf(real x)\n{\n    return *&@x;\n}", "not supported"),
    "endless loop": ("real f_logpdf(real x)\n{\n    @for (;;) x += 1;\n    return x;\n}", "a loop needs a condition"),
    "two draws": ("real f_sample(rng_t *rng)\n{\n    return @normal(rng) + normal(rng);\n}", "several draws in one expression"),
    "stream by value": ("real f_sample(rng_t @rng)\n{\n    return 1;\n}", "a sampler takes its stream as `rng_t *`"),
    "draw from a number": ("real f_sample(rng_t *rng, real a)\n{\n    return @normal(a);\n}", "normal wants a stream"),
    "vector without void": ("real @f_sample(rng_t *rng, real *x, int dim)\n{\n    return 1;\n}", "then returns `void`"),
    "return of a vector": ("void f_sample(rng_t *rng, real *x, int dim)\n{\n    @return;\n}", "has no `return`"),
    "writing an argument": (
        "void f_sample(rng_t *rng, const real *a, real *x, int dim)\n{\n    @a[0] = 1;\n}", "a is not to be written"
    ),
    "other parameters": (
        "real f_logpdf(real x, real a) { return x - a; }\nreal @f_sample(rng_t *rng, real b) { return b; }", "parameters (a)"
    ),
    "no stream": ("real f_logpdf(real x) { return x; }\nreal @f_sample(real x) { return x; }", "its stream first"),
    "unclosed comment": ("real f_logpdf(real x)\n{\n    return x; @/* a comment\n}\n", "never closed"),
    "value of a constant": ("real f_logpdf(real x)\n{\n    const real y = x;\n    @y = 2;\n    return y;\n}", "y is `const`"),
    "constant argument": ("real f_logpdf(real x, const real m)\n{\n    @m += x;\n    return m;\n}", "m is `const`"),
    "constant of C": ("real f_logpdf(real x)\n{\n    @M_PI = 3;\n    return x;\n}", "M_PI is a constant"),
    "no value": ("real f_logpdf(real x)\n{\n    real y;\n    return x + @y;\n}", "y may have no value here"),
    "no value of its own": ("real f_logpdf(real x)\n{\n    real NULL;\n    @NULL += x;\n    return x;\n}", "NULL may have no value"),
    "a value on one side": (
        "real f_logpdf(real x)\n{\n    real y;\n    if (x > 0) y = 1;\n    return x + @y;\n}", "y may have no value here"
    ),
    "no value in the first turn": (
        "real f_logpdf(real x)\n{\n    real y;\n    for (int i = 0; i < 3; i++) { x += @y; y = x; }\n    return x;\n}", "no value"
    ),
    "kept from call to call": ("real f_logpdf(real x)\n{\n    static real @n = 0;\n    return x + n;\n}", "cannot be `static`"),
    "density that is an int": ("int @f_logpdf(real x)\n{\n    return 1;\n}", "f_logpdf must return a `real`"),
    "distribution function that is an int": (
        "real f_logpdf(real x) { return x; }\nint @f_cdf(real x) { return 1; }", "f_cdf must return a `real`"
    ),
    "draw that is an int": (
        "real f_logpmf(real x) { return 0; }\nint @f_sample(rng_t *rng) { return 1; }", "f_sample must return a `real`"
    ),
    "other ends of lines in a comment": ("// a \u2028 b \x85\nreal f_logpdf(real x)\n{\n    return @y;\n}", "not defined"),
    "least int": ("real f_logpdf(real x)\n{\n    return x * -(-@2147483647 - 1);\n}", "this comes to 2147483648"),
    "less than an int": ("real f_logpdf(real x)\n{\n    return x * (-@2147483647 - 2);\n}", "this comes to -2147483649"),
    "very long literal": ("real f_logpdf(real x)\n{\n    return x * @1" + 5000 * "0" + ";\n}", "does not fit an `int`"),
    "name of another epsilon": ("real f_logpdf(real x)\n{\n    return x + @DBL_EPSILON;\n}", "write EPSILON"),
    "name of OpenCL's pi": ("real f_logpdf(real x)\n{\n    return x + @M_PI_F;\n}", "write M_PI"),
    "blocks in blocks": (
        "real f_logpdf(real x)\n{\n" + 50 * "if (x > 0) {" + "@if (x > 0)" + " return 1; " + 50 * "}" + "return 0;\n}",
        "more than 50 blocks",
    ),
    "deep condition of a loop": (
        "real f_logpdf(real x)\n{\n    while (" + 5 * "(x + " + "(@x + " + 63 * "(x + " + "1" + 69 * ")" + " < 0) x = 0; return x; }",
        "more than 64 levels",
    ),
    "brackets without end": ("real f_logpdf(real x)\n{\n    return " + 49997 * "(" + "@(x" + 49998 * ")" + ";\n}", "too deeply"),
    "domain of an unknown argument": ("@// y: positive\nreal f_logpdf(real x)\n{\n    return x;\n}", "'y', which is not an argument"),
    "domain of a vector": ("// f: a test\n@// x: simplex\nreal f_logpdf(real x)\n{\n    return x;\n}", "signature has it as real"),
}  # fmt: skip


def _body(statement):
    return f"real f_logpdf(real x, real s)\n{{\n    {statement}\n}}"


# What other languages write.
MISTAKES |= {
    name: (_body(statement), message)
    for name, statement, message in (
        ("function of a module", "return @np.log(x);", "np.log is not C, which has no modules and no methods: write log(…)"),
        ("function of a module's module", "return -@scipy.special.gammaln(x);", "write log_gamma(…)"),
        ("function of a module within another", "return exp(@torch.abs(x));", "torch.abs is not C, which has no modules and no methods: write fabs(…)"),
        ("function of a module that is C's by another name", "return @np.arctan2(x, s);", "write atan2(…)"),
        ("choice of a module", "return @np.where(x > 0, x, s);", "write condition ? a : b"),
        ("constant of a module", "return x * @math.pi;", "math.pi is not C, which has no modules and no methods: write PI"),
        ("infinity of a module", "return -@np.inf;", "write INFINITY"),
        ("method", "return @x.sum();", "x.sum is not C, which has no modules and no methods: write a loop"),
        ("method of a distribution", "return @norm.logpdf(x);", "a density is called as normal_logpdf(x, mu, sigma) is"),
        ("namespace", "return std@::log(x);", "without a namespace"),
        ("power", "return x**@2;", "for a power write pow(a, b), for a square a * a"),
        ("power by a caret", "return @x ^ 2;", "for a power write pow(a, b), for a square a * a"),
        ("and", "if (x > 0 @and s > 0) return 1;\n    return 0;", "syntax error before 'and': write && for and"),
        ("or", "return x > 0 @or s > 0;", "write || for or"),
        ("not", "if (not @x > 0) return 1;\n    return 0;", "write ! for not"),
        ("true", "return @True;", "True is not defined here: write 1"),
        ("false", "if (x > 0 || @FALSE) return 1;\n    return 0;", "FALSE is not defined here: write 0"),
        ("choice", "return x @if x > 0 else s;", "write condition ? a : b for if"),
        ("condition without brackets", "if @x > 0 { return 1; }\n    return 0;", "conditions stand in brackets, if (…)"),
        ("elif", "if (x > 0) return 1;\n    elif (x < 0) @return 2;\n    return 0;", "write else if for elif"),
        ("loop", "for @i in range(3) x += i;\n    return x;", "write for (int i = 0; i < n; i++)"),
        ("sum", "return @sum(x);", "unknown function sum: write a loop"),
        ("type", "bool @b = x > 0;\n    return b;", "a declaration begins with `real` or `int`"),
        ("cast", "return @float('inf');", "write (real) before the number"),
        ("absolute value", "return @abs(x);", "abs is for `int`: use fabs"),
        ("statement behind a missing semicolon", "real y = x@\n    if (y > 0) return 1;\n    return 0;", "is a ; missing"),
    )
}


# Misspelt domains: of numbers, in a comment of C's first kind, of a hyperparameter, of what no signature has, of a row's argument.
_NORMAL = "real f_logpdf(real x, real s)\n{\n    return -x * x / s;\n}"
MISTAKES |= {
    "domain": (f"// f: a test\n// x: real  s: @postive\n{_NORMAL}", "'postive' is not a domain, for s: did you mean positive?"),
    "domain in a block": (f"/* f: a test\n * s: positive @intger, scale */\n{_NORMAL}", "did you mean integer?"),
    "description without a comma": (f"// f: a test\n// s: positive @bandwidth\n{_NORMAL}", "a description follows a comma"),
    "domain of a hyperparameter": (
        "// f: a test\n// l: @Positive\nreal f_cov(real sqdist, real l)\n{\n    return exp(-sqdist / l);\n}", "did you mean positive?",
    ),
    "domain of a matrix": (
        "// f: a test\n// x: vector  cov: @covarience\nreal f_logpdf(real sqdist, real logdet, int dim)\n{\n"
        "    return -0.5 * (sqdist + logdet);\n}", "did you mean covariance?",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_shown_where_they_are(mistake):
    marked, message = MISTAKES[mistake]
    before, source = marked.partition("@")[0], marked.replace("@", "")
    with pytest.raises(gs.DeviceFunctionError) as caught:
        gs.register(source)
    error = caught.value
    assert message in error.message
    assert (error.line, error.column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert f"> {error.line:4d} | {source.split(chr(10))[error.line - 1]}" in str(error)
    assert "f" not in gs.densities


def test_quotients_of_literals_that_are_whole():
    from gpustats.language.device_function import parse

    parse("real f_logpdf(real x)\n{\n    int m = -8 / 4;\n    return x * m / 3 + 7 % 3 + 1.0 / 3 + (int)7 / 2;\n}")


def test_notes_are_free_text():
    from gpustats.language.device_function import parse

    text = "// f: a test\n// note: an order\n// s: positive, scale\n// a: what is raised\nreal g(real a) { return a * a; }\n"
    assert parse(text + _NORMAL.replace("-x * x", "-g(x)")).arguments[1].domain == "positive"


@pytest.mark.parametrize("source", ["real f(real x) {\n return x; }", "real f_logpdf() {\n return 1; }"])
def test_what_is_no_density(source):
    with pytest.raises(gs.DeviceFunctionError):
        gs.register(source)
    with pytest.raises(TypeError):
        gs.register(b"real f_logpdf(real x) { return x; }")


def test_while():
    density = gs.register("real halved_logpdf(real x)\n{\n    while (x > 1)\n        x /= 2;\n    return x;\n}")
    np.testing.assert_array_equal(density.logpdf([0.5, 3.0, 8.0]), [0.5, 0.75, 1.0])


PARETO2 = """
// pareto2: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive, where it bends
// source: Lomax (1954)
__device__ real pareto2_logpdf(real x, real alpha, real scale)
{
    return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
}
"""


def test_a_registered_density(rng):
    density = gs.register(PARETO2)
    assert density is gs.densities["pareto2"] and repr(density) == "<gpustats.pareto2(x, alpha, scale)>"
    assert density.parameters == ("alpha", "scale") and not density.discrete
    assert density.domains == {"x": "nonnegative", "alpha": "positive", "scale": "positive"}
    assert density.description == "Pareto distribution that starts at zero" and density.reference == "Lomax (1954)"
    x, alpha, scale = rng.exponential(size=(50, 1)), rng.uniform(1, 3, 4), rng.uniform(1, 3, 4)
    want = stats.lomax.logpdf(x, alpha, scale=scale)
    np.testing.assert_allclose(density.logpdf(x, alpha, scale), want, rtol=1e-12)
    np.testing.assert_allclose(density.pdf(x, alpha, scale), np.exp(want), rtol=1e-12)
    np.testing.assert_allclose(density.loglik(x[:, 0], alpha[:, None], scale[:, None]), want.sum(0), rtol=1e-12)
    assert np.isnan(density.logpdf(1, -1, 1)) and density.logpdf(-1, 1, 1) == -np.inf


def test_what_a_density_is_for():
    density = gs.register(PARETO2.replace("// source", "// used for: losses: those of fires    of floods\n// source"))
    assert density.definition.use == "losses: those of fires    of floods" and density.reference == "Lomax (1954)"
    assert "\n\nUsed for losses: those of fires    of floods.\n\n" in density.__doc__
    assert gs.register(PARETO2, replace=True).definition.use == "" and "Used for" not in gs.densities["pareto2"].__doc__


def test_a_density_from_a_file(tmp_path):
    path = tmp_path / "pareto2.cu"
    path.write_text(PARETO2)
    for source in (path, str(path)):
        assert gs.register(source, replace=True).logpdf(0, 2, 1) == np.log(2)
    with pytest.raises(FileNotFoundError):
        gs.register(tmp_path / "none.cu")


def test_names_are_taken_once():
    first = gs.register(PARETO2)
    with pytest.raises(gs.DeviceFunctionError, match="pareto2 is taken.*replace=True"):
        gs.register(PARETO2)
    assert gs.densities["pareto2"] is first
    second = gs.register(PARETO2.replace("alpha + 1", "alpha + 2"), replace=True)
    assert gs.densities["pareto2"] is second and second.logpdf(1, 1, 1) == pytest.approx(-3 * np.log(2))
    with pytest.raises(gs.DeviceFunctionError, match="normal is taken"):
        gs.register(PARETO2.replace("pareto2", "normal"))
    with pytest.raises(gs.DeviceFunctionError, match="gpustats' own"):
        gs.register(PARETO2.replace("pareto2", "special"), replace=True)


def test_a_replaced_density_stays_what_it_was():
    first = gs.register(PARETO2)
    likelihood = gs.Likelihood(first, [1.0])
    gs.register(PARETO2.replace("alpha + 1", "alpha + 2"), replace=True)
    assert first.logpdf(1, 1, 1) == pytest.approx(-2 * np.log(2))
    assert likelihood(1, 1) == pytest.approx(-2 * np.log(2))


def test_a_refused_density_leaves_nothing_behind():
    before = set(gs.densities), dict(library._functions)
    with pytest.raises(gs.DeviceFunctionError):
        gs.register("real helper(real x)\n{\n    return x;\n}\nreal f_logpdf(real x)\n{\n    return nonsense;\n}")
    assert (set(gs.densities), library._functions) == before
    kept = gs.register(PARETO2)
    with pytest.raises(gs.DeviceFunctionError):
        gs.register("real pareto2_logpdf(real x) {\n return nonsense; }", replace=True)
    assert gs.densities["pareto2"] is kept


def test_registering_from_many_threads():
    def register(i):
        made[i] = gs.register(f"real own{i}_logpdf(real x) {{\n return x + {i}; }}")

    made = {}
    threads = [threading.Thread(target=register, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made[i].logpdf(1.0) for i in range(8)] == [1.0 + i for i in range(8)]


def test_helpers_and_other_densities():
    density = gs.register(
        """
        // the names of helpers clash with nothing, not even with a special function
        real square(real v) { return v * v; }
        real logit(real v) { return square(v) + 1; }
        int sign(real v) { return v > 0 ? 1 : -1; }
        real last(const real *v, int dim) { return v[dim - 1]; }
        real mix_logpdf(real x, real mu, const real *w, int dim)
        {
            return logaddexp(log(w[0]) + normal_logpdf(x, mu, 1), log(last(w, dim)) + normal_logpdf(x, -mu, 2))
                 + 0 * logit(x) * sign(x);
        }
        """
    )
    x, mu, w = np.linspace(-3, 3, 5)[:, None], np.array([0.5, 2.0]), np.array([0.25, 0.75])
    want = np.log(w[0] * stats.norm.pdf(x, mu, 1) + w[1] * stats.norm.pdf(x, -mu, 2))
    np.testing.assert_allclose(density.logpdf(x, mu, w), want, rtol=1e-12, atol=1e-14)
    assert evaluate_device("mix_logit", 3.0) == 10 and evaluate_device("logit", 0.5) == 0


NAMES = (
    "CLK_LOCAL_MEM_FENCE FLT_MAX M_PI INT_MAX NULL EOF HUGE_VAL image2d_t __func__ _Imaginary M_LN2_F complex I max min uint4 "
    "__global __constant true linux signbit BARRIER rng normal uniform fma exp2 t part otherwise own atomic_add get_global_id set_row special "
    "half kernel new class global local out set row n k m r e i u first dim_ value inside outside bad_x total sums result "
    "template typename this char_ uint float4 vector THREAD threadIdx get_local_id rng_normal special_digamma x_rows x_offset n_rows out_offset step mix log_ half_"
).split()


@pytest.mark.parametrize("start", some(range(0, len(NAMES), 4)))
def test_names_that_mean_something_elsewhere(start):
    """As arguments in every role, as variables, and as the observation."""
    a, b, c, d = (NAMES * 2)[start : start + 4]
    density = gs.register(
        f"""
        real {a}_{b}(real {c}, real {d}) {{ real {a} = {c}; real {b} = {d}; return {a} + {b}; }}
        real names_logpdf(real {a}, real {b}, real {c}, real {d})
        {{
            real x = {a} + 10 * {b};
            for (int j = 0; j < 1; j++) {{ real {c} = 0; x += {c}; }}
            return {a}_{b}(x, 100 * {c}) + 1000 * {d};
        }}
        """
    )
    assert density.parameters == (b, c, d)
    x, sets = np.arange(3.0), np.arange(2.0)
    want = x[:, None] + 10 * sets + 200 + 3000
    assert (density.logpdf(x[:, None], **{b: sets, c: 2, d: np.full(2, 3)}) == want).all()
    assert (density.logpdf(x[:, None], **{b: sets, c: np.full((3, 1), 2), d: 3}) == want).all()
    assert (density.loglik(x, **{b: sets[:, None], c: 2, d: np.full(3, 3)}) == want.sum(0)).all()
    assert density.loglik(x, **{b: 1, c: 2, d: 3}) == want[:, 1].sum()


@pytest.mark.parametrize(
    "body, want",
    [
        ("return x > 1 ? 1 : x < -1 ? -1 : 0;", lambda x: np.select([x > 1, x < -1], [1, -1])),
        ("if (x > 0) if (x > 1) return 2; else return 1; return 0;", lambda x: np.select([x > 1, x > 0], [2, 1])),
        ("real s = 0; for (int i = 0, n = 3; i < 3; i++) s += i * x; return s;", None),
        ("real s = 0; for (int i = 3; i > 0; i -= 2) s += i * x; return s;", lambda x: 4 * x),
        ("real s = 0; int i; for (i = 0; i < 4; i++) { if (i % 2 == 1) s += x; } return s * i;", lambda x: 8 * x),
        ("real s; { real s = 3; x += s; } s = x; return s;", lambda x: x + 3),
        ("x *= 2; x -= 1; x /= 4; return -(-x);", lambda x: (2 * x - 1) / 4),
        ("return - -x - -1 + +x;", lambda x: 2 * x + 1),
        ("return x - (1 - (2 - x)) / (2 / (4 / 2.0));", lambda x: x - (1 - (2 - x)) / 1),
        (
            "return !(x > 0) + 2 * (x > 0 && x < 1 || x == 1.5);",
            lambda x: 1.0 * ~(x > 0) + 2 * ((x > 0) & (x < 1) | (x == 1.5)),
        ),
        ("return ((x > 0) >= 1) + 2 * ((x < 1) == (x < 0));", lambda x: 1.0 * (x > 0) + 2 * ((x < 1) == (x < 0))),
        ("return (int)x + (real)7 / 2 + 7 % 4;", lambda x: np.trunc(x) + 6.5),
        ("return isnan(x - x) ? INFINITY : fmax(x, NAN);", lambda x: x),
        ("return exp(LOG_2) + PI - 1e0 + .5 + 2. * EPSILON * 0;", lambda x: 1.5 + np.pi + 0 * x),
    ],
)
def test_semantics_of_c(body, want):
    source = f"real f_logpdf(real x) {{ {body} }}"
    if want is None:
        with pytest.raises(gs.DeviceFunctionError, match="one loop variable"):
            gs.register(source)
        return
    x = np.array([-1.5, -0.5, 0.0, 0.5, 1.0, 1.5])
    np.testing.assert_allclose(gs.register(source).logpdf(x), want(x), rtol=1e-15)


def test_arguments_may_be_assigned_to(rng):
    """The observation and the parameters, in branches and loops, in tables, sums and derivatives."""
    plain = gs.register("""
    real plain_logpdf(real x, real m, real n)
    {
        real z = x > m ? x - m : 2 * (m - x), total = m;
        for (int i = 0; i < 3; i++) total += z * n / (i + 1);
        return -total * total;
    }
    """)
    assigning = gs.register("""
    real assigning_logpdf(real x, real m, real n)
    {
        real before = m;
        if (x > m) x -= m; else x = 2 * (m - x);
        for (int i = 0; i < 3; i++) { m += x * n / (i + 1); }
        n = m - before;
        before += n;
        return -before * before;
    }
    """)
    x, m, n = rng.normal(size=20), rng.normal(size=4), rng.uniform(1, 2, 4)
    np.testing.assert_allclose(assigning.logpdf(x[:, None], m, n), plain.logpdf(x[:, None], m, n), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(assigning.logpdf(x, 0.3, 1.5), plain.logpdf(x, 0.3, 1.5), rtol=1e-12, atol=1e-14)
    got, want = (d.loglik_and_grad(x, 0.3, 1.5, wrt=("x", "m", "n")) for d in (assigning, plain))
    assert got[0] == pytest.approx(want[0], rel=1e-12)
    for name in want[1]:
        np.testing.assert_allclose(got[1][name], want[1][name], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("names", [("c0", "c1", "c2"), ("c1", "t", "t_0"), ("names_0", "inner_0", "d_c0"), ("r0", "value", "i")])
def test_names_that_gpustats_uses_itself(names, rng):
    """As those of parameters, of a local variable, and beside calls of other functions."""
    a, b, local = names
    density = gs.register(f"""
    real inner(real x, real {a}) {{ return log({a}) * x + exp(-x * {a}); }}
    real names_logpdf(real x, real {a}, real {b})
    {{
        real {local} = inner(x, {b}) + inner({a}, x + {b}) * log({a});
        return {local} - sin(x) * log({b} + 1) + exp({a} + {b});
    }}
    """)

    def f(x, a, b):
        inner = np.log(b) * x + np.exp(-x * b) + (np.log(x + b) * a + np.exp(-a * (x + b))) * np.log(a)
        return inner - np.sin(x) * np.log(b + 1) + np.exp(a + b)

    x, p, q = rng.uniform(0, 1, 9), rng.uniform(0.5, 1, 3), rng.uniform(0.5, 1, 3)
    np.testing.assert_allclose(density.logpdf(x[:, None], p, q), f(x[:, None], p, q), rtol=1e-12)
    value, gradient = density.loglik_and_grad(x, p[0], q[0])
    assert value == pytest.approx(f(x, p[0], q[0]).sum(), rel=1e-12)
    for i, name in enumerate((a, b)):
        step = 1e-6 * np.eye(2)[i]
        slope = (f(x, p[0] + step[0], q[0] + step[1]) - f(x, p[0] - step[0], q[0] - step[1])).sum() / 2e-6
        assert gradient[name] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_text_from_any_editor(end, tmp_path):
    text = PARETO2.replace("\n", end)
    assert gs.register(text).logpdf(0, 2, 1) == np.log(2)
    (tmp_path / "pareto2.cu").write_bytes(b"\xef\xbb\xbf" + text.encode())
    density = gs.register(tmp_path / "pareto2.cu", replace=True)
    assert density.logpdf(0, 2, 1) == np.log(2) and density.domains["alpha"] == "positive"
    with pytest.raises(gs.DeviceFunctionError) as caught:
        gs.register("\ufeff" + text.replace("log1p(x", "log1q(x"), replace=True)
    assert (caught.value.line, caught.value.column) == (7, 47)


@pytest.mark.parametrize(
    "body, want",
    [
        ("return M_PI + M_E * x;", lambda x: np.pi + np.e * x),
        ("return M_LN2 * M_LOG2E + M_LN10 * M_LOG10E + M_PI_2 / M_PI_4 + 0 * x;", lambda x: 4 + 0 * x),
        ("return M_1_PI * M_PI + M_2_PI * M_PI_2 + M_2_SQRTPI * SQRT_PI + M_SQRT2 * M_SQRT1_2 + 0 * x;", lambda x: 5 + 0 * x),
        ("real M_PI = 3; return M_PI * x;", lambda x: 3 * x),
        ("return x < HUGE_VAL ? INT_MAX - true : false;", lambda x: 2147483646.0 + 0 * x),
        ("int low = INT_MIN, least = -2147483648; return x + low - least;", lambda x: x),
        ("return (-2147483647 - 1) + x;", lambda x: x - 2147483648),
        ("const real y = 2 * x; const int n = 3; return n * y;", lambda x: 6 * x),
        ("real y; if (x > 0) y = 1; else if (x < -1) return 5; else y = 2; return y;", lambda x: np.select([x > 0, x < -1], [1, 5], 2)),
        ("real y; for (int i = 0; i < 3; i++) y = i * x; return y;", lambda x: 2 * x),
        ("real y; int n; for (int i = 0; i < (int)x; i++) { y = x; n = 1; } return isnan(y) ? n - 1 : y;", lambda x: np.where(x < 1, -1, x)),
        ("real y, z; z = x; y = z; while (z > 1) { z -= 1; y = z; } return y;", lambda x: np.where(x > 1, x - 1, x)),
    ],
)
def test_names_and_values_of_variables(body, want):
    x = np.array([-1.5, -0.5, 0.0, 0.5, 1.0, 1.5])
    got = gs.register(f"real f_logpdf(real x) {{ {body} }}").logpdf(x)
    np.testing.assert_allclose(got, want(x), rtol=1e-14, atol=1e-14)


def chain(n, then, otherwise):
    return " else ".join(f"if (x < {i}) {then.format(i)}" for i in range(n)) + f" else {otherwise}"


DEEP = {
    "brackets": ("return " + 2000 * "(" + "x * m" + 2000 * ")" + ";", lambda x, m: x * m),
    "braces": (1000 * "{" + "return x * m;" + 1000 * "}", lambda x, m: x * m),
    "terms": ("return " + " + ".join(1500 * ["m"]) + " + x;", lambda x, m: 1500 * m + x),
    "nested terms": ("return " + 300 * "m + (" + "x" + 300 * ")" + ";", lambda x, m: 300 * m + x),
    "signs": ("return " + 700 * "- " + "x * m;", lambda x, m: x * m),
    "calls": ("return " + 300 * "fabs(" + "x * m" + 300 * ")" + ";", lambda x, m: abs(x * m)),
    "conditions": ("return (" + " && ".join(f"x > -{i}" for i in range(1, 500)) + ") * m * x;", lambda x, m: (x > -1) * m * x),
    "choices": ("return " + "".join(f"x < {i} ? {i} * m : " for i in range(100)) + "m;", lambda x, m: np.ceil(x + 1e-9) * m),
    "whole numbers": ("int k = (int)m; return x * (k + " + " + ".join(3000 * ["1"]) + ");", lambda x, m: x * (np.trunc(m) + 3000)),
    "returns": (chain(60, "return {} * m;", "return m;"), lambda x, m: np.ceil(x + 1e-9) * m),
    "assignments": ("real y; " + chain(60, "y = {} * m;", "y = m;") + " return y;", lambda x, m: np.ceil(x + 1e-9) * m),
    "some returns": ("real y = x; " + chain(60, "y = {} * m;", "return m;") + " return y;", lambda x, m: np.ceil(x + 1e-9) * m),
}


@pytest.mark.parametrize("name", some(DEEP))
def test_deep_code(name):
    body, want = DEEP[name]
    density = gs.register(f"real f_logpdf(real x, real m) {{ {body} }}")
    x, m = np.array([0.25, 1.5, 30.5, 50.5]), np.array([0.5, 1.75])
    np.testing.assert_allclose(density.logpdf(x[:, None], m), want(x[:, None], m), rtol=1e-12)


def test_chains_within_chains():
    body = "x += m;"
    for _ in range(12):
        body = chain(23, "x -= {};", body)
    density = gs.register(f"real f_logpdf(real x, real m) {{ {body} return x; }}")
    np.testing.assert_allclose(density.logpdf(np.array([0.5, 30.0]), 1.5), [-0.5, 31.5])


def test_loops_within_loops():
    body = "s += x * m;"
    for i in range(30):
        body = f"for (int i{i} = 0; i{i} < 1; i{i}++) {{ {body} }}"
    density = gs.register(f"real f_logpdf(real x, real m) {{ real s = 0; {body} return s; }}")
    assert density.logpdf(2.0, 3.0) == 6


def test_helpers_that_call_one_another():
    helpers = "real h0(real x) { return x; }" + "".join(f"real h{i + 1}(real x) {{ return h{i}(x + 1); }}" for i in range(60))
    source = "real f_logpdf(real x, real m) {{ return h{}(x) * m; }}"
    assert gs.register(helpers.partition("real h31")[0] + source.format(30)).loglik_and_grad(2.0, 3.0)[1]["m"] == 32
    with pytest.raises(gs.DeviceFunctionError, match="more than 40 functions call one another here"):
        gs.register(helpers + source.format(60), replace=True)


def test_literals_that_no_number_holds():
    with pytest.raises(gs.DeviceFunctionError, match="1e999999999 is too large: write INFINITY"):
        gs.register("real f_logpdf(real x, real m) { return x * 1e999999999 * m; }")
    value, gradient = gs.register("real f_logpdf(real x, real m) { return x * 1e-999999999 * m; }").loglik_and_grad(2.0, 3.0)
    assert value == 0 and gradient["m"] == 0
    value, gradient = gs.register("real g_logpdf(real x, real m) { return x * 1e300 * m * 1e300; }").loglik_and_grad(1e-305, 1e-296)
    assert value == pytest.approx(0.1) and gradient["m"] == pytest.approx(1e295)


@THOROUGH
def test_a_thousand_cases_and_ten_thousand_terms():
    for body in (chain(1000, "return {};", "return m;"), "return x * (" + " + ".join(10000 * ["m"]) + ");"):
        density = gs.register(f"real f_logpdf(real x, real m) {{ {body} }}", replace=True)
        assert "_logpdf_checked" in density.kernel_source("table")


@pytest.mark.parametrize("name", ["conditions", "some returns"])
def test_derivatives_of_deep_code(name):
    body, want = DEEP[name]
    x, m = np.array([0.25, 1.5, 30.5]), 1.75
    gradient = gs.register(f"real f_logpdf(real x, real m) {{ {body} }}").loglik_and_grad(x, m)[1]
    assert gradient["m"] == pytest.approx((want(x, m + 1) - want(x, m)).sum())


def test_parts_of_deep_code_are_evaluated_once_and_in_their_turn():
    """What a condition guards is not read beside its vector, nor is a draw taken twice."""
    density = gs.register(
        "real f_logpdf(const real *x, real m, int dim) { return "
        + " + ".join(f"(dim > {i} && x[{i} % dim] > 0 ? x[{i} % dim] * m : 0)" for i in range(100)) + "; }"
    )  # fmt: skip
    x = np.array([[1.0, -2.0, 3.0]])
    np.testing.assert_allclose(density.logpdf(x, 2.0), [8.0])
    sampler = gs.register("real s_sample(rng_t *rng, real m) { return " + " + ".join(100 * ["m"]) + " + uniform(rng); }")
    draws = sampler.rvs(1.0, size=1000, rng=1) - 100
    assert (draws > 0).all() and (draws < 1).all() and draws.std() == pytest.approx(12**-0.5, rel=0.1)


def test_a_derivative_of_ones_own_in_an_argument_with_another_name_in_kernels():
    density = gs.register("""
    real f_logpdf(real x, real kernel) { return x * kernel; }
    real f_logpdf_grad_kernel(real x, real kernel) { return 5; }
    """)
    assert density.loglik_and_grad([1.0], 2.0) == (2.0, {"kernel": 5.0})


def test_own_derivatives_are_found_by_the_names_that_their_author_gave():
    x = np.array([0.5, 1.0, 2.5])
    density = gs.register("""
    real h_logpdf_grad_kernel_(real x, real kernel, real kernel_) { return x * kernel; }
    real h_logpdf_grad_kernel(real x, real kernel, real kernel_) { return x * kernel_; }
    real h_logpdf(real x, real kernel, real kernel_) { return x * kernel * kernel_; }
    """)
    assert density.loglik_and_grad(x, 1.0, 3.0)[1] == {"kernel": 12, "kernel_": 4}
    density = gs.register("""
    real k_logpdf_grad_mu(real x, real mu_) { return x * x * mu_; }
    real k_logpdf(real x, real mu_) { return k_logpdf_grad_mu(x, mu_) * mu_ + x; }
    """)
    assert density.loglik_and_grad(x, 1.5)[1]["mu_"] == pytest.approx(3 * (x * x).sum())
    density = gs.register("real u_logpdf_grad__a(real x, real _a) { return 7.0; } real u_logpdf(real x, real _a) { return x * _a; }")
    assert density.loglik_and_grad(x, 1.0)[1]["_a"] == 21


def test_literals_take_the_type_of_real():
    density = gs.register("real f_logpdf(real x) { return x + 0.1 + 1e-3 - 1 / 3.0; }")
    assert "0.1f" in density.kernel_source("table", "float32", "cuda")
    assert "double" not in density.kernel_source("table", "float32", "cuda")
    own = density.kernel_source("table", "float64", "cuda").partition("f_logpdf")[2]
    assert "f" not in [word[-1] for word in own.split() if word[0].isdigit()]


def test_recursion_is_refused():
    with pytest.raises(gs.DeviceFunctionError, match="unknown function f_logpdf"):
        gs.register("real f_logpdf(real x) { return x > 0 ? f_logpdf(x - 1) : 0; }")


@pytest.mark.parametrize(
    "shape, dtype, dialect", [("pie", "float64", "cuda"), ("table", "int8", "cuda"), ("table", "float32", "C")]
)
def test_kernel_source_knows_its_choices(shape, dtype, dialect):
    with pytest.raises(ValueError, match="is none of"):
        gs.normal.kernel_source(shape, dtype, dialect)


@pytest.mark.parametrize(
    "call, meant",
    [("nomal_logpdf(x, 0, 1)", "normal_logpdf"), ("poisson_logpdf(x, 1)", "poisson_logpmf"), ("log_gama(x)", "log_gamma"),
     ("normal_lpdf(x, 0, 1)", "normal_logpdf"), ("ndtr(x)", r"exp\(log_ndtr\(x\)\)"), ("cossh(x)", "cosh")],
)  # fmt: skip
def test_unknown_functions_that_are_near_to_known_ones(call, meant):
    with pytest.raises(gs.DeviceFunctionError, match=rf"unknown function \w+: did you mean {meant}\?"):
        gs.register(f"real near_logpdf(real x) {{ return {call}; }}")
    with pytest.raises(gs.DeviceFunctionError, match="unknown function quux: it is neither a math function"):
        gs.register("real near_logpdf(real x) { return quux(x); }")


def test_functions_of_other_languages_have_names_here():
    for name, here in IN_C.items():
        called = here.partition("(")[0]
        assert name not in lang.MATH and library.resolve(name) is None, name
        assert called in {*lang.MATH, "PI", "x * x"} or library.resolve(called) is not None, here
