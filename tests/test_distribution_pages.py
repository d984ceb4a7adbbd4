"""The site's pages of densities: the code on them runs, and what is printed of formulas is what they say."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import gpustats as gs
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.processes.kind import COVARIANCE
from gpustats.rows.kind import SEQUENCE_MODEL

DENSITIES = sorted(library.built_in(DENSITY))
FEW = ("normal", "poisson", "mvnormal", "zero_sum_normal")


@pytest.fixture
def pages(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "docs" / "_ext")
    import distributions

    return distributions


def run(pages, name):
    """Run the code of a page; the names that it defines."""
    first, *lines, last, _ = pages.snippet(gs.densities[name])
    assert (first, last) == ("```python", "```")
    names = {}
    exec("\n".join(lines), names)
    x = names["x"]
    assert len(x) == 1000 and np.isfinite(names["d"].logpdf(x)).all()


@pytest.mark.parametrize("name", FEW)
def test_the_code_of_a_page(pages, name):
    run(pages, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DENSITIES if name not in FEW])
def test_the_code_of_each_page(pages, name):
    run(pages, name)


EVERY = [*DENSITIES, *sorted(library.built_in(COVARIANCE)), *sorted(library.built_in(SEQUENCE_MODEL))]


@pytest.mark.parametrize("name", EVERY)
def test_a_page_begins_with_what_its_subject_is_for(pages, name):
    thing = gs.densities.get(name) or gs.covariances.get(name) or gs.series[name]
    first, empty = pages.lead("", thing, name)
    use = first.partition(". Used for ")[2]
    assert len(use.split()) > 1 and use.endswith(".") and empty == ""
    assert f"\n// used for: {use.removesuffix('.')}\n" in thing.source


CASES = r"\begin{cases} a & \text{if } x < b \\ c & \text{otherwise} \end{cases}"


@pytest.mark.parametrize(
    "text, printed",
    [
        ("a - (b + c) * x", r"a - \left(b + c\right) \, x"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("a + (-b)", r"a + \left(-b\right)"),
        ("-(a + b) * c / 2", r"-\frac{\left(a + b\right) \, c}{2}"),
        ("(-a)**2 * 3", r"\left(-a\right)^{2} \cdot 3"),
        ("a / b / c", r"\frac{a}{b \, c}"),
        ("a / b * x / c", r"\frac{a \, x}{b \, c}"),
        ("a / b * x", r"\frac{a}{b} \, x"),
        ("a / (b / c)", r"\frac{a}{\frac{b}{c}}"),
        ("(a / b)**(-c / 2)", r"\left(\frac{a}{b}\right)^{-c / 2}"),
        ("x**(a / (b * c))", r"x^{a / \left(b \, c\right)}"),
        ("(a**b)**c", r"\left(a^{b}\right)^{c}"),
        ("exp(-x)**2 * exp(a + b + c + x + 1)", r"\left(e^{-x}\right)^{2} \, \exp\left(a + b + c + x + 1\right)"),
        ("log(x)**2 + factorial(a - 1)", r"\log^{2}\left(x\right) + \left(a - 1\right)!"),
        ("Sum(v[i] + a, i) * b", r"\left(\sum_{i} \left(v_{i} + a\right)\right) \, b"),
        ("b * Sum(v[i], i) + a", r"\left(b \, \sum_{i} v_{i}\right) + a"),
        ("Integral(x**t, t, 0, inf) * a", r"\int_{0}^{\infty} x^{t} \, \mathrm{d}t \, a"),
        ("a if x < b or x >= c else c", CASES.replace("x < b", r"x < b\text{ or }x \ge c")),
        ("(a if x < b else c) * c", rf"\left({CASES}\right) \, c"),
        ("(v - mu2) @ inv(a) @ (v - mu2)", r"\left(v - \mu_{2}\right)^{\top} \, a^{-1} \, \left(v - \mu_{2}\right)"),
        ("2j * pi * lam / K(a, b)", r"\frac{2\mathrm{i} \, \pi \, \lambda}{K_{a}\left(b\right)}"),
        ("abs(x) * floor(a) * binomial(a, b)", r"\left|x\right| \, \left\lfloor a \right\rfloor \, \binom{a}{b}"),
        ("max(a, x_points)", r"\max\left(a, x_{\mathrm{points}}\right)"),
    ],
)  # fmt: skip
def test_an_expression_in_tex(pages, text, printed):
    known = ["a", "b", "c", "x", "v", "mu2", "lam", "x_points"]
    assert pages.tex.Printer({"v"}).of(pages.tex.parse(text, known).value) == printed


def test_a_formula_on_a_page(pages):
    page = "\n".join(pages.formula("skew_cauchy", gs.skew_cauchy))
    assert page.startswith("```{math}\nf(x \\mid a, \\mu, \\sigma) = \\frac{1}{\\pi \\, \\sigma")
    where = "for {math}`x \\in \\mathbb{R}`, where\n\n```{math}\nz = \\frac{x - \\mu}{\\sigma}, \\qquad s = \\begin{cases} 1"
    assert where in page
    page = "\n".join(pages.formula("binomial", gs.binomial))
    assert "P}(X = x \\mid n, p) = \\binom{n}{x}" in page and "for {math}`x = 0, \\dots, n`." in page
    assert "Components are numbered from 0." in "\n".join(pages.formula("categorical", gs.categorical))
    assert "k(\\mathrm{dot}, \\mathrm{lengthscale}) = \\frac{\\mathrm{dot}}{" in "\n".join(pages.formula("linear", gs.linear))
    assert pages.formula("gamma", gs.transforms.Truncate(gs.gamma, 0, 1)) == []


@pytest.mark.parametrize("name", [*DENSITIES, *sorted(library.built_in(COVARIANCE))])
def test_what_is_printed_is_tex(pages, name):
    """Its brackets match, each parameter is in it, and nothing of the notation of the file is left."""
    thing = gs.densities[name] if name in DENSITIES else gs.covariances[name]
    text = " ".join(pages.formula(name, thing))
    for opening, closing in (("{", "}"), (r"\left", r"\right"), (r"\begin", r"\end")):
        assert text.count(opening) == text.count(closing)
    assert all(pages.tex.symbol(p) in text.partition("=")[2] + text.partition("=")[0] for p in thing.parameters)
    assert not re.search(r"\*|@|\belse\b|\bif x", re.sub(r"\\text\{[^}]*\}", "", text))


@pytest.mark.parametrize("name", sorted(library.built_in(SEQUENCE_MODEL)))
def test_the_equations_of_a_sequence_model(pages, name):
    """They name all sequences and parameters, and nothing else but what they define."""
    model, lines = gs.series[name], pages.tex.equations(gs.series[name].source)
    trees = [ast.parse(line.replace(" ~ ", " = ").partition(" = ")[i]) for line in lines for i in (0, 2)]
    named = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)}
    called = {n.func.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call)}
    defined = {n.id for tree in trees[::2] for n in ast.walk(tree) if isinstance(n, ast.Name)}
    bound = {n.args[1].id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call) and n.func.id == "Sum"}
    assert named - called - defined - bound <= {*model.sequences, *model.parameters, "pi", "t", "i", "s"}
    assert {*model.parameters} - named <= ({"mean", "sd"} if "F" in called else set())
    page = pages.sequence_page(name)
    assert page.count("{math}\n") == len(lines) and page.count(r"\left") == page.count(r"\right")
    assert not re.search(r"\*|\belse\b", " ".join(map(pages.tex.equation, lines)).replace(r"\else", ""))
