"""The examples in the docstrings run, and the links of the pages lead somewhere."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from thorough import THOROUGH

import gpustats

NEED_CUDA = {
    "gpustats.linalg.cuda", "gpustats.runtime.cuda", "gpustats.runtime.cuda_devices", "gpustats.runtime.cuda_kernel",
    "gpustats.runtime.nvrtc", "gpustats.runtime.passing", "gpustats.runtime.staging", "gpustats.runtime.thread_state",
}  # fmt: skip
MODULES = [
    m.name
    for m in pkgutil.walk_packages(gpustats.__path__, "gpustats.")
    if m.name not in NEED_CUDA
]


#: Whose examples are models that take seconds to compile or to fit
LONG = {
    "gpustats.compiler.fusion.explain", "gpustats.compiler.fusion.settings", "gpustats.emulation.calibration",
    "gpustats.emulation.constrained", "gpustats.processes.local.scaling", "gpustats.processes.vecchia.model",
    "gpustats.pymc.comparison", "gpustats.pymc.gp", "gpustats.pymc.many_points.batched", "gpustats.pymc.smc",
    "gpustats.transforms.box",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[THOROUGH] * (name in LONG)) for name in ["gpustats", *MODULES]]
)
def test_examples_of_the_module(name):
    if name == "gpustats.runtime.opencl":
        pytest.importorskip("pyopencl")
    if name.startswith("gpustats.runtime.cuda_") and name != "gpustats.runtime.cuda_wheels":
        pytest.importorskip("cuda.bindings")
    if name.startswith("gpustats.pymc"):
        pymc = pytest.importorskip("pymc")
        if name == "gpustats.pymc.correlations" and pymc.__version__[0] != "5":
            pytest.skip("it is for PyMC 5: later ones have their own")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_public_functions_have_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for public in (gpustats.register, gpustats.Likelihood, gpustats.Mixture, gpustats.GLM, gpustats.Density):
        assert any(test.examples for test in finder.find(public))


ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_within_the_repository(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    made = [ROOT / "docs" / folder for folder in ("distributions", "performance")]  # by `make docs`, which checks these links
    assert [link for link in missing if (page.parent / link).resolve().parent not in made] == []


def executed(page, capsys):
    """Names that the code of a page leaves, which runs as it stands and prints what the page says."""
    names, text = {}, page.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, names)
    printed = capsys.readouterr().out
    assert [told for told in re.findall(r"```text\n(.*?)```", text, re.S) if told not in printed] == []
    return names


def test_the_page_on_sequences(tmp_path, monkeypatch, capsys):
    """Its code runs as it stands, finds what the data tell, and prints what the page says."""
    pytest.importorskip("statsmodels")
    monkeypatch.chdir(tmp_path)
    names = executed(ROOT / "docs" / "guides" / "sequences.md", capsys)
    assert names["np"].corrcoef(names["true_rate"], names["best"][:-1])[0, 1] > 0.7
    # As nlme finds them by the closed form: log of absorption 0.45, of elimination -2.43.
    assert abs(names["absorption"] - 1.57) < 0.1 and abs(names["elimination"] - 0.088) < 0.005
    assert names["found"][0] < 0 < names["found"][1] and (names["errors"] < 1).all()
    assert names["difficulty"][names["easiest"]] < -1
    assert (tmp_path / "sequences.png").exists()


@THOROUGH
@pytest.mark.filterwarnings("ignore:the Pareto k of 4 of 11 groups")
def test_the_page_on_comparison(tmp_path, monkeypatch, capsys):
    """Its code runs as it stands, and prints what the page says, under ArviZ 0."""
    for module in ("statsmodels", "pymc"):
        pytest.importorskip(module)
    if pytest.importorskip("arviz").__version__[0] != "0":
        pytest.skip("ArviZ 1 has other names for results")
    monkeypatch.chdir(tmp_path)
    names = executed(ROOT / "docs" / "guides" / "comparison.md", capsys)
    assert names["found"]["negative binomial"].elpd_loo > names["found"]["Poisson"].elpd_loo + 10_000
    assert names["checks"]["negative binomial"].p_values["zeros"] > 0.9
    assert (tmp_path / "comparison.png").exists()


@THOROUGH
@pytest.mark.optimised
def test_the_page_on_many_points(tmp_path, monkeypatch):
    """Its code runs as it stands, with few chains, particles and walkers, and draws its pictures."""
    for module in ("pymc", "statsmodels", "blackjax", "emcee"):
        pytest.importorskip(module)
    import jax

    text = (ROOT / "docs" / "many-points.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names, before = {}, jax.config.jax_enable_x64
    few = {"256": "6", ", 300)": ", 4)", "2), 60))": "2), 5))", "2000": "60", "discard=1000": "discard=40"}
    try:
        for block in re.findall(r"```python\n(.*?)```", text, re.S):
            for much, little in few.items():
                block = block.replace(much, little)
            exec(block, names)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert names["values"].shape == (6,) and names["chees"]["beta"].shape == (5, 6, 6)
    assert names["found"]["time"].shape == (20, 60)  # 60 - 40 steps of the walkers
    for name in re.findall(r"\]\((many-points-\w+\.png)\)", text):
        assert (tmp_path / name).stat().st_size > 5_000
        assert (ROOT / "docs" / name).exists()


@THOROUGH
@pytest.mark.optimised
def test_the_page_on_unmodified_models(tmp_path, monkeypatch, capsys):
    """Its code runs as it stands, with few draws, and what it says that is printed is printed, under PyMC 5."""
    pymc = pytest.importorskip("pymc")
    pytest.importorskip("statsmodels")
    text = (ROOT / "docs" / "unmodified-models.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    from pymc_models import measured

    from gpustats.compiler.fusion import where

    monkeypatch.setattr(where, "speeds", lambda *asked: measured(1e-10, 1e-9, 100))
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block.replace("300", "15").replace("chains=2", "chains=1"), names)
    printed = capsys.readouterr().out.partition("visits: ")
    first, rest = ("".join(printed[1:])).split("\n", 1)
    assert first.startswith(shown.partition(" on ")[0])
    assert rest.startswith(shown.partition("\n")[2].rstrip()) or pymc.__version__[0] != "5"
    assert (tmp_path / "unmodified-models.png").stat().st_size > 10_000
