"""The table of thresholds: all of them are used, and each tells where and when it was measured, and by which command again."""

import ast
import datetime
import re
from pathlib import Path

import pytest

from gpustats.runtime import thresholds
from gpustats.runtime.thresholds import Threshold

ROOT = Path(__file__).parents[2]
TABLE = Path(thresholds.__file__)
ENTRIES = {name: entry for name, entry in vars(thresholds).items() if isinstance(entry, Threshold)}


def taken():
    """Names of entries whose values other modules take."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "gpustats").rglob("*.py") if path != TABLE)
    return {name for source in sources for name in re.findall(r"\bthresholds\.([A-Z][A-Z0-9_]*)\.value\b", source)}


def test_every_entry_is_used():
    assert taken() == ENTRIES.keys()


def test_the_table_stands_below_all_that_takes_from_it():
    imports = [node for node in ast.walk(ast.parse(TABLE.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    assert not any(node.level or node.module.startswith("gpustats") for node in imports)


@pytest.mark.parametrize("entry", [pytest.param(entry, id=name) for name, entry in ENTRIES.items()])
def test_an_entry_tells_where_and_when_it_was_measured_and_what_measures_it_again(entry):
    assert entry.decides and entry.device
    datetime.date.fromisoformat(entry.date)
    if entry.command != "by hand":
        module = re.fullmatch(r"python -m bench\.(\w+)", entry.command)[1]
        assert "def main(" in (ROOT / "bench" / f"{module}.py").read_text(encoding="utf-8")
