"""Formulas in comments: what is kept of them, and what is refused."""

import pytest

import gpustats as gs
from gpustats.language import formula
from gpustats.language.device_function import parse

SOURCE = """\
// rising: a density that rises
// x: unit    alpha: positive    mass: positive, in kg
{}
// source: nobody
__device__ real rising_logpdf(real x, real alpha, real mass) {{ return log(alpha) + (alpha - 1) * log(x); }}
"""


def kept(lines):
    return parse(SOURCE.format(lines)).formula


def test_lines_of_a_formula():
    assert kept("// density: alpha * x**(alpha - 1)") == "alpha * x**(alpha - 1)"
    assert kept("// density: z / x    z = alpha * x**alpha") == "z / x\nz = alpha * x**alpha"
    assert kept("// density: z / x\n// z = alpha * x**alpha\n// z is a letter") == "z / x\nz = alpha * x**alpha"
    assert kept("// density: (alpha *\n// x**(alpha - 1))") == "(alpha *\nx**(alpha - 1))"
    assert kept("// density: (alpha\n//     * x**(alpha - 1) /\n// mass)") == "(alpha\n* x**(alpha - 1) /\nmass)"
    assert kept("/* density: a[2] * (x +\n * alpha)\n * a[i] = alpha\n */") == "a[2] * (x +\nalpha)\na[i] = alpha"


def test_a_formula_is_optional():
    assert parse(SOURCE.format("//")).formula == ""


@pytest.mark.parametrize(
    "text, message, line",
    [
        ("density: alpha * y", "'y' in the formula is neither an argument nor defined there; it knows alpha,", 3),
        ("density: alpha * z    z = y", "'y' in the formula", 3),
        ("density: alpha * (\n// x +\n// y)", "'y' in the formula", 5),
        ("density: alpha +", "this is no formula: invalid syntax", 3),
        ("density: x) * (alpha", "this is no formula: unmatched ')'", 3),
        ("density: (alpha + x", "this is no formula: '(' was never closed", 3),
        ("density: z\n// z = alpha + + / 2", "this is no formula", 4),
        ("density: lgamma(x)", "a formula has no function lgamma; it has B,", 3),
        ("density: Gamma()", "Gamma takes 1 or 2 arguments, not 0", 3),
        ("density: Sum(x, 1, 2, 3)", "the second argument of Sum is the name of its variable, not 1", 3),
        ("density: x // 2", "a formula has no operator FloorDiv", 3),
        ("density: alpha.x", "a formula has no 'alpha.x'", 3),
        ("density: 'x'", "a formula has no \"'x'\"", 3),
        ("density: x    x = 2", "the formula defines x, which has a meaning already", 3),
        ("density: z    z = w    w = x", "'w' in the formula", 3),
        ("density:", "the formula is empty", 3),
        ("density: " + "(" * 300 + "x" + ")" * 300, "this is no formula", 3),
    ],
)
def test_what_is_refused(text, message, line):
    with pytest.raises(gs.DeviceFunctionError) as caught:
        kept(f"// {text}")
    assert caught.value.line == line
    assert message in caught.value.message


def test_a_density_of_that_name():
    """What stands behind its name is its description."""
    source = "// mass: how heavy something is\n// x: real\n__device__ real mass_logpdf(real x) { return -x; }"
    assert parse(source).description == "how heavy something is"


def test_the_text_itself():
    parsed = formula.parse("F[x] / 2\nF[k] = F[k - 1] + alpha\nG = F[1]", ["x", "alpha"])
    assert [(d.name, d.index) for d in parsed.definitions] == [("F", "k"), ("G", "")]
    with pytest.raises(formula.FormulaError, match="behind its first expression"):
        formula.parse("x\nx", ["x"])


def test_what_users_hold():
    assert gs.gamma.formula == "beta**alpha * x**(alpha - 1) * exp(-beta * x) / Gamma(alpha)"
    assert gs.rbf.formula == "amplitude**2 * exp(-sqdist / (2 * lengthscale**2))"
    assert gs.rbf.rename(lengthscale="length").formula == gs.transforms.Truncate(gs.normal, 0, 1).formula == ""
