"""The page of accuracy: it has each function of a density, errors that are small, and finds one that is not."""

import numpy as np
import pytest
from thorough import THOROUGH

from gpustats.density import Density
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from tests import accuracy

#: Densities without rows on the page, and why.
WITHOUT_ROWS = {
    "mvnormal": "matrices, which are tested against SciPy in tests/elliptical",
    "mv_student_t": "as mvnormal",
}


def errors_of(text):
    """(density, function) -> the errors in float64 and float32."""
    found, name = {}, ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[1].startswith("`"):
            name = cells[0] or name
            found[name, cells[1].strip("`")] = float(cells[2]), float(cells[4])
    return found


@THOROUGH
def test_a_page(tmp_path):
    out = tmp_path / "accuracy.md"
    assert accuracy.main(["exponential", "geometric", "--points", "4", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    found = errors_of(text)
    functions = ["logpdf", "logcdf", "logsf", "ppf", "isf", "gradient"]
    assert list(found) == [(name, function) for name in ("exponential", "geometric") for function in functions]
    assert all(double < 1e-12 and single < 1e-5 for double, single in found.values())
    assert "takes 4 random points" in text and "lam = " in text
    accuracy.main(["exponential", "geometric", "--points", "4", "--out", str(out)])
    assert out.read_text(encoding="utf-8") == text  # the same points each time


def test_an_error_is_found(monkeypatch):
    """Where a density gave other numbers, the page would say so, and where."""
    right = Density.logpdf
    monkeypatch.setattr(Density, "logpdf", lambda self, x, lam: np.where(lam > 1, 1.001, 1) * right(self, x, lam))
    found = accuracy.log_density("exponential", np.float64, 8)
    assert 1e-4 < found.error < 2e-3 and "lam = " in found.at


def test_an_unknown_density(capsys):
    with pytest.raises(SystemExit):
        accuracy.main(["nothing"])
    assert "no reference of nothing" in capsys.readouterr().err


def test_the_page_has_all_densities():
    """And each function of theirs."""
    page, devices = accuracy.read(accuracy.ROOT / "docs" / "accuracy.md")
    assert page.keys() == library.built_in(DENSITY) - WITHOUT_ROWS.keys() and all(devices)
    for name, lines in page.items():
        assert [line.split("`")[1] for line in lines] == [function for function, _ in accuracy.functions(name)]


def test_rows_are_added(tmp_path):
    """Those of other densities stay, and those of the same one are written anew, among the others by their names."""
    out, more = tmp_path / "accuracy.md", ["--points", "4", "--out", str(tmp_path / "accuracy.md")]
    accuracy.main(["geometric", *more])
    before, _ = accuracy.read(out)
    accuracy.main(["exponential", "--add", *more])
    accuracy.main(["exponential", "--add", *more])
    page, devices = accuracy.read(out)
    assert list(page) == ["exponential", "geometric"] and page["geometric"] == before["geometric"] and len(devices) == 1
