"""The code of the site's pages runs as a reader would type it, and prints and draws what the pages say."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ROOMS = ("start", "guides", "coming-from")
PAGES = sorted([DOCS / "index.md", *(page for room in ROOMS for page in DOCS.glob(f"{room}/*.md"))])
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
FEW = {"300": "15", "chains=2": "chains=1"}  # draws of PyMC
NEED = ("pymc", "statsmodels", "jax")  # what not everyone has


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))], ids=lambda page: page.stem)
def test_the_code_of_a_page(page, tmp_path, monkeypatch, capsys):
    text = page.read_text(encoding="utf-8")
    for module in NEED:
        if re.search(rf"^(?:import|from) {module}\b", text, re.MULTILINE):
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names = {}
    for code, printed in BLOCK.findall(text):
        if "pm.sample" in code:
            for much, little in FEW.items():
                code = code.replace(much, little)
        exec(compile(code, str(page), "exec"), names)
        out = capsys.readouterr().out
        assert not printed or out == printed
    for picture in re.findall(r"savefig\(\"([\w.-]+)\"", text):
        assert (tmp_path / picture).stat().st_size > 5_000
        assert (page.parent / picture).exists() and f"({picture})" in text


def test_every_page_of_guides_is_listed():
    for room in (*ROOMS, "api"):
        listed = (DOCS / room / "index.md").read_text(encoding="utf-8").split()
        assert {page.stem for page in (DOCS / room).glob("*.md")} - {"index"} <= {*listed}
