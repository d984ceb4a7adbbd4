"""Expressions that are written shorter have the same value."""

import math

import numpy as np
import pytest
from scipy import special

from gpustats.compiler.fusion.expression import body
from gpustats.compiler.fusion.simplify import Expressions

POINTS = [-800.0, -40.0, -1.5, -0.0, 0.3, 2.0, 40.0, 800.0, math.inf, -math.inf, math.nan]


@pytest.fixture
def made():
    return Expressions()


def text(expression):
    return body(expression).strip().removeprefix("return ").removesuffix(";")


def test_there_and_back(made):
    x = made.make("x")
    assert made.make("-{}", made.make("{} * {}", made.number(-1.0), x)) is x
    assert made.make("{} - {}", made.make("{} + {}", made.number(0.0), x), made.number(0.0)) is x
    inverse = made.make("log1mexp({})", made.make("log1mexp({})", x))
    assert text(inverse) == "(x <= 0.0) ? x : NAN"
    of_choice = made.choice(made.make("ok", whole=True), made.make("log1mexp({})", x), made.number(-math.inf))
    assert text(made.make("log1mexp({})", of_choice)) == "ok ? ((x <= 0.0) ? x : NAN) : 0.0"


def test_logistic_functions(made):
    x, y = made.make("x"), made.make("y", whole=True)
    p = made.make("expit({})", x)
    no = made.make("log1p({})", made.make("{} * {}", made.number(-1.0), p))
    yes = made.make("-{}", made.make("log1pexp({})", made.make("-{}", x)))
    assert text(made.choice(y, yes, no)) == "-log1pexp(y ? (-x) : x)"
    for v in POINTS:
        with np.errstate(all="ignore"):
            want, got = np.log1p(-special.expit(v)), -np.logaddexp(0, v)
        if v < 30:  # beyond, the difference from 1 is lost, and the short form is right
            np.testing.assert_allclose(got, want, rtol=1e-4 if v > 15 else 1e-9, atol=1e-300)


def test_a_difference_of_logistic_functions(made):
    a, b = made.make("a"), made.make("b")
    difference = made.make("{} - {}", made.make("expit({})", a), made.make("expit({})", b))
    assert text(difference) == "expit_difference(a, b)"
    c, p, q = made.make("c", whole=True), made.make("expit({})", a), made.make("expit({})", b)
    from_the_first = made.make("{} - {}", made.choice(c, p, made.number(1.0)), q)
    assert text(from_the_first) == "expit_difference(c ? a : INFINITY, b)"
    assert text(made.make("{} - {}", p, made.choice(c, made.number(0.0), q))) == "expit_difference(a, c ? (-INFINITY) : b)"
    assert text(made.make("{} - {}", made.number(1.0), p)) == "expit(-a)"
    assert text(made.make("{} - {}", made.choice(c, p, b), q)) == "(c ? expit(a) : b) - expit(b)"


def test_checks(made):
    x = made.make("x")
    p = made.make("expit({})", x)
    both = [made.make("{} >= {}", p, made.number(0.0), whole=True), made.make("{} <= {}", p, made.number(1.0), whole=True)]
    assert text(made.folded("{} && {}", both, whole=True)) == "(real)(x == x)"
    for v in [v for v in POINTS if v != 800.0 and v != math.inf]:
        assert (0 <= special.expit(v) <= 1) == (v == v) and (np.exp(v) >= 0) == (v == v)
    product = made.make("{} * {}", *(made.real(made.make(name, whole=True)) for name in "ab"))
    assert text(made.truth(product)) == "(real)(a && b)"


def test_the_same_function_of_either(made):
    c, a, b = made.make("c", whole=True), made.make("a"), made.make("b")
    assert text(made.choice(c, made.make("exp({})", a), made.make("exp({})", b))) == "exp(c ? a : b)"
    assert text(made.choice(c, made.make("exp({})", a), made.make("log({})", b))) == "c ? exp(a) : log(b)"
    assert text(made.choice(c, made.make("pow({}, {})", a, b), made.make("pow({}, {})", b, a))) == "c ? pow(a, b) : pow(b, a)"
