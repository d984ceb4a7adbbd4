"""The notebooks that are made of the pages with code."""

import re
from pathlib import Path

import pytest
from site_pages import Page

nbformat = pytest.importorskip("nbformat")
DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = ("start", "guides", "coming-from")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
BLOCKS = {  # page -> its code, and what that prints or ""
    page.relative_to(DOCS).with_suffix("").as_posix(): blocks
    for page in [*DOCS.glob("*.md"), *(page for folder in FOLDERS for page in DOCS.glob(f"{folder}/*.md"))]
    if page.stem != "index" and (blocks := BLOCK.findall(page.read_text(encoding="utf-8")))
}
QUICK = ("guides/own-density", "guides/precision")


def notebook(site, name):
    return nbformat.read(site / f"{name}.ipynb", as_version=4)


def code_of(made):
    """Its code, but for the cells that show pictures."""
    return [cell for cell in made.cells if cell.cell_type == "code" and "IPython.display" not in cell.source]


@pytest.mark.parametrize("name", BLOCKS)
def test_a_page_as_a_notebook(site, name):
    made = notebook(site, name)
    nbformat.validate(made)
    assert [cell.source for cell in code_of(made)] == [code.strip() for code, _ in BLOCKS[name]]
    assert not any(cell.outputs for cell in made.cells if cell.cell_type == "code")
    words = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert words.startswith("# ") and "pip install" in words.splitlines()[2]
    assert re.findall(r"\]\((?!https?://)[^)]*\)", words) == []  # a link that leads to another page, or a picture's file
    assert f"{name.rpartition('/')[2]}.ipynb" in Page(site / f"{name}.html").links


def test_what_only_sphinx_shows_becomes_words(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from notebooks import notebook

    page = """# Title

(here)=
See [using](using.md#sums) and {doc}`the guides <index>`, {func}`gpustats.use`; [R](https://r-project.org) is kept.

::::{tab-set}
:::{tab-item} CPU
:sync: cpu
Words of a tab.
:::
::::

```{note} Mind
:class: wide
Words of a note.
```

```{toctree}
one
```

```python
x = 1
```
"""
    words, code = notebook(page).cells
    assert [line for line in words.source.splitlines() if line] == [
        "# Title", "The code below needs `pip install 'gpustats[cpu]'`.",
        "See using and `the guides`, `gpustats.use`; [R](https://r-project.org) is kept.",
        "**CPU**", "Words of a tab.", "**Mind**", "Words of a note.",
    ]  # fmt: skip
    assert code.source == "x = 1"
    stated = "# Title\n\nNeeds `pip install 'gpustats[cpu]'`; more.\n\n```python\nimport pymc as pm\n```\n"
    words, code = notebook(stated).cells
    assert words.source == "# Title\n\nNeeds `pip install 'gpustats[cpu,pymc]' ipywidgets`; more."


def run(made, folder, lacking):
    try:
        from nbclient import NotebookClient
    except ImportError:
        lacking("nbclient is not installed: pip install '.[docs-test]'")
    NotebookClient(made, timeout=600, resources={"metadata": {"path": folder}}).execute()


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in BLOCKS])
def test_a_notebook_runs(site, lacking, name, tmp_path):
    """It prints what the page says, and shows the pictures that it draws."""
    made = notebook(site, name)
    for module in re.findall(r"^(?:import|from) (\w+)", "\n".join(cell.source for cell in code_of(made)), re.MULTILINE):
        pytest.importorskip(module)
    run(made, tmp_path, lacking)
    for cell, (_, printed) in zip(code_of(made), BLOCKS[name]):
        said = "".join(out.text for out in cell.outputs if out.output_type == "stream" and out.name == "stdout")
        assert not printed or said == printed
    shown = [cell for cell in made.cells if cell.cell_type == "code" and "IPython.display" in cell.source]
    assert all("image/png" in cell.outputs[0].data for cell in shown)
    assert 'install "ipywidgets"' not in str(made.cells)  # a bar of PyMC would ask for them


BAR = """
import numpy as np
from gpustats.parallel import DeviceMap

def numbers(data, first, end, runtime):
    return {"n": np.arange(first, end)}

_ = DeviceMap()(numbers, None, 300, chunk=2, progress=True)
"""


def test_a_bar_in_a_notebook_is_one_output(lacking, tmp_path):
    """It changes in its place: a notebook that is kept has its last state alone."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BAR)])
    run(made, tmp_path, lacking)
    (output,) = made.cells[0].outputs
    assert "300 of 300" in output.data["text/html"]
