"""The code of the site's pages runs as a reader would type it, and prints and draws what the pages say."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from thorough import some

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOMS = ("start", "guides", "coming-from")
PAGES = sorted([DOCS / "index.md", *(page for room in ROOMS for page in DOCS.glob(f"{room}/*.md"))])
EVERY = sorted({*PAGES, *DOCS.glob("*.md")})
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
FEW = {  # of what takes long on a page, less
    "first": {"sample(500, tune=500, chains=4": "sample(15, tune=15, chains=1"},
    "index": {"pm.sample(random_seed=1)": "pm.sample(3, tune=3, chains=1, nuts={'max_treedepth': 2}, random_seed=1)"},
    "fast": {"repeat=20": "repeat=1"},
    "mixtures": {"for sweep in range(100)": "for sweep in range(80)"},
    "laplace": {"sample(300, tune=200": "sample(15, tune=15"},
}
NEED = ("pymc", "statsmodels", "sklearn", "jax", "dask", "distributed")  # what not everyone has
LARGEST = 60_000  # bytes of a picture
LONGEST = 96  # characters of a line of code, as many as the site shows on a desk without scrolling


@pytest.fixture
def without_compiler(page, monkeypatch):
    """PyTensor's graphs run without C++, whose compiler would take longer than all else, as in tests/pymc."""
    if not re.search(r"^import pymc\b", page.read_text(encoding="utf-8"), re.MULTILINE):
        yield
        return
    pytensor = pytest.importorskip("pytensor")
    from pymc_models import measured

    from gpustats.compiler.fusion import where

    monkeypatch.setattr(where, "speeds", lambda *asked: measured(1e-10, 1e-9, 100))  # of Python they would be far slower
    with pytensor.config.change_flags(cxx=""):
        yield


def of_using(names):
    a, L = names["a"], names["L"]
    np.testing.assert_allclose(L @ L.T, a, atol=1e-12)
    np.testing.assert_allclose(np.cov(names["white"]), np.eye(len(a)), atol=1e-9)
    assert names["grad"].keys() == {"x", "mu"}
    fit, many = names["fits"]["log_normal"], names["many"]
    np.testing.assert_allclose([*fit], [names["x"].mean(), names["x"].std()], rtol=1e-8)
    np.testing.assert_allclose([many["mu"].std(), many["sigma"].std()], [*fit.standard_errors.values()], rtol=0.2)


def of_glm(names):
    residuals = names["y"] - 1 / (1 + np.exp(-0.1))
    np.testing.assert_allclose(names["gradient"]["beta"], names["X"].T @ residuals, rtol=1e-9)
    middle = dict(zip(names["wide"]["Country Name"], names["found"]["middle"]))
    assert middle["Italy"] < middle["Bangladesh"] and abs(middle["Bangladesh"] - 1990) < 3


def of_gaussian_processes(names):
    best, process = names["best"], names["process"]
    np.testing.assert_allclose(best.loglik, process(**best.values), rtol=1e-9)
    assert best.loglik > names["value"]
    got = names["wiggle"]([0.0, 0.5], amplitude=2.0, lengthscale=1.0, period=1.0)
    np.testing.assert_allclose(got[0], [4.0, -4 * np.exp(-0.5)], rtol=1e-12)


def of_laplace(names):
    assert names["draws"]["u"].shape == (1, 15, 301)
    assert names["modes"]["middle"].argmin() == np.flatnonzero(names["names"] == "Finland")[0]


def of_mixtures(names):
    assert names["agreement"] > 0.85 and np.trace(names["table"]) > 150  # of 178 wines


def of_index(names):
    assert names["draws"].posterior["beta"].shape == (1, 3, 8)
    np.testing.assert_allclose([*names["fit"]], [names["y"].mean(), 0.68], rtol=1e-4)  # the mean is its own estimate


def of_first(names):
    assert names["posterior"]["mu"].shape == (1, 15)


MORE = {
    "using": of_using, "glm": of_glm, "gaussian-processes": of_gaussian_processes, "first": of_first, "laplace": of_laplace,
    "mixtures": of_mixtures, "index": of_index,
}  # fmt: skip


@pytest.mark.parametrize(
    "page", some((p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))), 7), ids=lambda page: page.stem
)
def test_the_code_of_a_page(page, without_compiler, tmp_path, monkeypatch, capsys):
    text = page.read_text(encoding="utf-8")
    for module in NEED:
        if re.search(rf"^(?:import|from) {module}\b", text, re.MULTILINE):
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names = {}
    assert all(much in text for much in FEW.get(page.stem, ()))
    for code, printed in BLOCK.findall(text):
        less = code
        for much, little in FEW.get(page.stem, {}).items():
            less = less.replace(much, little)
        exec(compile(less, str(page), "exec"), names)
        out = capsys.readouterr().out
        assert not printed or less != code or out == printed
    for picture in re.findall(r"savefig\(\"([\w.-]+)\"", text):
        assert (tmp_path / picture).stat().st_size > 5_000
    if page.stem in MORE:
        MORE[page.stem](names)


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_of_a_page_needs_no_scrolling(page):
    code = [line for block, _ in BLOCK.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    assert [line for line in code if len(line) > LONGEST] == []


@pytest.mark.parametrize("page", [p for p in EVERY if BLOCK.search(p.read_text(encoding="utf-8"))], ids=lambda page: page.stem)
def test_a_page_says_at_its_head_what_its_code_needs(page, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from extras import command

    text = page.read_text(encoding="utf-8")
    head = "\n".join(text.splitlines()[:12])
    wanted = command("\n".join(code for code, _ in BLOCK.findall(text)))
    assert page == DOCS / "index.md" or re.findall(r"`(pip install '?gpustats[^`]*)`", head)[:1] == [wanted]


def test_what_code_needs(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from extras import EXTRAS, command

    code = "import os\nimport numpy as np\nimport gpustats.pymc as gpm\nfrom sklearn.datasets import load_wine\nimport emcee\n"
    assert command(code) == "pip install 'gpustats[cpu,pymc,demo]' emcee"
    assert command("gs.GLM.from_formula('y ~ x', data, gs.normal)", ("rich",)) == "pip install 'gpustats[cpu,formula]' rich"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    packages = {"sklearn": "scikit-learn"}
    through = {"pytensor": "pymc", "arviz": "pymc"}  # what brings it along
    for extra, modules in EXTRAS.items():
        named = {re.match(r"[\w-]+", line)[0] for line in extras[extra]}
        assert {through.get(m, packages.get(m, m)) for m in modules} <= named


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_pictures_of_a_page(page):
    """They lie beside it, are small, and are described; what a page draws it shows."""
    text = page.read_text(encoding="utf-8")
    shown = dict(re.findall(r"!\[([^\]]*)\]\(([\w.-]+\.png)\)", text))
    assert all(len(about) > 20 for about in shown)
    assert {*re.findall(r"savefig\(\"([\w.-]+)\"", text)} <= {*shown.values()}
    for picture in shown.values():
        assert (page.parent / picture).stat().st_size < LARGEST


def test_every_page_of_guides_is_listed():
    for room in (*ROOMS, "api"):
        listed = (DOCS / room / "index.md").read_text(encoding="utf-8").split()
        assert {page.stem for page in (DOCS / room).glob("*.md")} - {"index"} <= {*listed}


def test_every_result_of_a_bench_is_shown():
    pages = ((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("performance", "field"))
    shown = {name for page in pages for name in re.findall(r"\{measured\} ([\w-]+)", page)}
    assert shown == {path.stem for path in (ROOT / "bench" / "results").glob("*.json")}


def test_the_page_of_the_field_has_each_of_its_benches_and_what_was_published():
    page = (DOCS / "field.md").read_text(encoding="utf-8")
    for path in (ROOT / "bench" / "field").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "def main(" in source or "import main" in source:
            assert f"python -m bench.field.{path.stem}" in page and "Source: " in source
        for numbers in re.findall(r"^PUBLISHED = \{(.*?)\n?\}", source, re.S | re.M):
            for number in re.findall(r"(?<![\w.])\d+\.\d+", numbers):
                assert f"{float(number):,.1f}" in page or f"{float(number):,.0f}" in page or number in page, (path.stem, number)


def test_measurements_that_pages_quote_are_in_their_files():
    for page in (*PAGES, *DOCS.glob("*.md")):
        for line in page.read_text(encoding="utf-8").splitlines():
            for quoted in re.findall(r"\{(?:time|ratio)\}`([^`]+)`", line):
                bar = " \\| " if line.startswith("|") else " | "  # in a table a plain one would end the cell
                name, work, peer = quoted.split(bar)
                rows = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))["rows"]
                assert [row for row in rows if (row["work"], row["peer"]) == (work, peer)], quoted


def test_every_command_is_described():
    text = (DOCS / "api" / "command-line.md").read_text(encoding="utf-8")
    commands = json.loads((ROOT / "tests" / "public.json").read_text(encoding="utf-8"))["commands"]
    assert {name for name in commands if f"\n## {name}\n" not in text} == set()
