"""The version stands in gpustats/__init__.py; what else names it says the same."""

import datetime
import re
import tomllib
from pathlib import Path

import gpustats as gs

ROOT = Path(__file__).parents[1]


def test_the_project_takes_it_from_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "gpustats.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+|\.dev\d+)?", gs.__version__)


def test_citation_and_changelog_name_it():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", citation, re.M))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", changes, re.M)
    assert headings[0] == "[Unreleased]"
    assert headings[1] == f"[{cited['version']}] - {cited['date-released']}"
    assert cited["version"] == gs.__version__
    datetime.date.fromisoformat(cited["date-released"])


def test_changes_are_in_the_form_of_keep_a_changelog():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in changes.split("\n## ")[1:]:
        parts = re.findall(r"^### (.*)$", version, re.M)
        assert set(parts) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
        assert len(parts) == len(set(parts)), f"{version.splitlines()[0]}: a heading stands twice"
