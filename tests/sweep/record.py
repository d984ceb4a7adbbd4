"""What has been searched: a file with a line for each density, and the part of docs/accuracy.md that is made of it.

Of a density it has the ranges of the parameters and of the probabilities, how many values were looked at in which types and on
which devices, and which calls were found wrong the last time that it was searched. `make test` searches those without any.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("searched.json")
PAGE = ROOT / "docs" / "accuracy.md"
TITLE = "## Where they were searched"

HEAD = f"""\

{TITLE}

`python -m tests.sweep` looks at values of all functions at random parameters in these ranges, at the corners of the domains,
and at quantiles of both tails down to these probabilities: whether they fit one another, and, where they do not, whether mpmath
says so, too. Open: functions that were found wrong somewhere, or nan, the last time.

| density | parameters | probabilities from | values | open |
| --- | --- | --- | ---: | --- |
"""


def read() -> dict[str, dict[str, Any]]:
    """The entry of each density."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def write(entries: dict[str, dict[str, Any]]) -> None:
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(entries.items()))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def added(before: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """An entry with what a new search has seen: ranges and counts grow, what is open of a type is what the new one found."""
    if not before:
        return new
    parameters = {n: _wider(before["parameters"].get(n, r), r) for n, r in new["parameters"].items()}
    devices = list(dict.fromkeys([*before["devices"], *new["devices"]]))
    kept = [call for call in before["open"] if call.split()[0] not in new["types"]]
    return {
        "parameters": parameters,
        "least": {**before["least"], **new["least"]},
        "types": sorted({*before["types"], *new["types"]}),
        "values": before["values"] + new["values"],
        "devices": devices,
        "open": sorted({*kept, *new["open"]}),
    }


def _wider(a: list[float], b: list[float]) -> list[float]:
    return [min(a[0], b[0]), max(a[1], b[1])]


def note(new: dict[str, dict[str, Any]], page: Path = PAGE) -> None:
    """Add entries to the file, and write the page's part anew."""
    before = read()
    built_in = {name: entry for name, entry in new.items() if "(" not in name}  # not what is made of them
    write(before | {name: added(before.get(name, {}), entry) for name, entry in built_in.items()})
    text = page.read_text(encoding="utf-8").partition(f"\n{TITLE}")[0]
    page.write_text(text + section(), encoding="utf-8")


def section() -> str:
    """The part of the page."""
    entries = read()
    return HEAD + "".join(f"{line}\n" for name in sorted(entries) for line in _row(name, entries[name])) if entries else ""


def _row(name: str, entry: dict[str, Any]) -> Iterator[str]:
    ranges = ", ".join(f"{n} {low:.3g} … {high:.3g}" for n, (low, high) in entry["parameters"].items())
    least = ", ".join(f"{value:.0e} ({dtype})" for dtype, value in sorted(entry["least"].items(), reverse=True))
    functions = sorted({f"{call.split()[1]} ({call.split()[0]})" for call in entry["open"]})
    yield f"| {name} | {ranges} | {least} | {entry['values']} | {', '.join(functions)} |"
