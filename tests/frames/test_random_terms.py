"""Terms of groups in formulas: taken out of the text, and what is not understood."""

import pytest

from gpustats.frames.random_terms import split


@pytest.mark.parametrize(
    "formula, rest, terms",
    [
        ("y ~ x", "x", []),
        ("y ~ x + (1|g)", "x", [("1", ("g",), True)]),
        ("y ~ (1 + x | g) + z - 1", "z - 1", [("1 + x", ("g",), True)]),
        ("y~(x||g/h)", "1", [("x", ("g",), False), ("x", ("g", "h"), False)]),
        ("log(y) ~ 0 + (0 + x | `my g`:h)", "0", [("0 + x", ("my g", "h"), True)]),
        ("y ~ f(a | b) + (a + b):c + (1 | g)", "f(a | b) + (a + b):c", [("1", ("g",), True)]),
        ("y ~ `(1 | a)` + C(x, levels=['(1|b)'])", "`(1 | a)` + C(x, levels=['(1|b)'])", []),
        ("y ~ (1 | g) + (1 | h)", "1", [("1", ("g",), True), ("1", ("h",), True)]),
        ("y ~ (poly(x, 2) | g/h/k)", "1", [("poly(x, 2)", tuple("ghk"[:i]), True) for i in (1, 2, 3)]),
    ],
)
def test_split(formula, rest, terms):
    found = split(formula)
    assert (found.columns, list(found.terms)) == (rest, terms)


@pytest.mark.parametrize(
    "formula, message",
    [
        ("x", "has no ~"), ("~ x", "nothing before its ~"), ("y ~ x ~ z", "several ~"), ("y ~ x * (1 | g)", r"\+ \(1 \| g\)"),
        ("y ~ x - (1 | g)", "product or a difference"), ("y ~ (1 | g):x", "product"), ("y ~ (| g)", "nothing before its bar"),
        ("y ~ (1 | f(g))", r"groups 'f\(g\)'"), ("y ~ (1 | g + h)", "groups 'g \\+ h'"), ("y ~ (1 | a | b)", "several bars"),
    ],
)  # fmt: skip
def test_what_is_not_understood(formula, message):
    with pytest.raises(ValueError, match=message):
        split(formula)


@pytest.mark.parametrize(
    "formula, message",
    [
        ("y ~ x + (1 | site", r"'y ~ x \+ \(1 \| site' opens \( and does not close it: '\(1 \| site'$"),
        ("y ~ log(x + (1 | g)", r"does not close it: '\(x \+ \(1 \| g\)'$"),
        ("y ~ x + (1 | site))", r"has a \) behind 'y ~ x \+ \(1 \| site\)', where nothing is open$"),
        ("y ~ x + (1 | site]", r"has a \] behind 'y ~ x \+ \(1 \| site', where nothing but \) closes$"),
        ("y ~ C(x, levels=[a, b)", r"has a \) behind .*, where nothing but \] closes$"),
        ("y ~ `my col", "opens ` and does not close it: '`my col'$"),
        ("log(y ~ x", r"opens \( and does not close it: '\(y ~ x'$"),
    ],
)  # fmt: skip
def test_what_is_not_closed(formula, message):
    with pytest.raises(ValueError, match=message):
        split(formula)


def test_brackets_and_quotes_within_quotes():
    for columns in (r"""C(x, levels=['it\'s', "("])""", r"`a ) b` + C(x, levels=[')]']) + `c\`", "f({'a': [1, (2)]})"):
        assert split(f"y ~ {columns}").columns == columns


def test_a_formula_is_a_string():
    with pytest.raises(TypeError, match="formula must be a string"):
        split(3)
