"""Tables and charts of what the benches keep in bench/results, with the date, the device and the versions.

````
```{measured} glm-nvidia-h200-cuda
:only: Σ+∇
```
```{measured} field-heaton-nvidia-h200-cuda
:columns: seconds, rmse, mae
```
{ratio}`glm-nvidia-h200-cuda | Σ+∇, N=1e6 k=50 f64 | JAX`  {time}`glm-nvidia-h200-cuda | Σ+∇, N=1e6 k=50 f64 | gpustats`
````
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from pictures import STYLE
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

DOCS = Path(__file__).resolve().parents[1]
RESULTS = DOCS.parent / "bench" / "results"
PICTURES = DOCS / "performance"  # not kept in the repository
COLORS = {
    "SciPy": "#8d99ae", "NumPy": "#8d99ae", "PyMC": "#8d99ae", "scikit-learn": "#d9a441", "jax.scipy": "#9dc3f2",
    "JAX": "#3b7dd8", "NumPyro": "#3b7dd8", "PyTorch": "#7b4fb5", "CuPy": "#3a9d5d",
}  # fmt: skip
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "seconds": 1.0}


def results(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def seconds(row: dict[str, Any]) -> float:
    return row[row["time"]] * UNITS[row["time"].rpartition("_")[2]]


#: Codes in names of works, and the words for them.
WORDS = (
    (r"(regression.*)\bK=(\d+)", r"\1\2 categories"), (r"^((?:chol|solve|logdet|tri|inv).*)\bn=(\d+)", r"\1size \2"),
    (r"N×K", "table"), (r"Σ\+∇", "sum and gradient"), (r"Σ", "sum"), (r"\bN=(\S+\d)", r"\1 rows"),
    (r"\bK=(\d\S*)", r"\1 sets"),
    (r"\bd=(\d+)", r"\1 dimensions"), (r"\bk=(\d+)", r"\1 columns"), (r"\bn=(\S+\d)", r"\1 points"),
    (r"\bf(32|64)\b", r"float\1"),
    (r"\bi64\b", "int64"), (r"\bN'=(\S+\d)", r"\1 candidates"), (r"\b1 sets", "1 set"),
    (r"(?<=\w) (?=[\d,e]+ (?:rows|sets|points|columns|dimensions|candidates|chains)\b|float\d|int64|size)", ", "),
)  # fmt: skip
NUMBER = re.compile(r"\b(\d+)e(\d+)\b|(?<![\w.,])(\d{4,})(?![\w.])")


def words(work: str) -> str:
    """The name of a work without codes: ``gamma Σ+∇, N=1e6 f64`` is ``gamma sum and gradient, 1,000,000 rows, float64``."""
    for code, said in WORDS:
        work = re.sub(code, said, work)
    return NUMBER.sub(lambda n: f"{int(n[1]) * 10 ** int(n[2]):,}" if n[1] else f"{int(n[3]):,}", work)


def digits(number: float) -> str:
    """A positive number with three digits, or all of those before its point."""
    return f"{number:,.0f}" if number >= 99.5 else f"{number:.3g}"


def said(t: float) -> str:
    """A time, in a unit that suits it."""
    unit, factor = next(((u, f) for u, f in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if t >= f), ("µs", 1e-6))
    return f"{digits(t / factor)} {unit}"


def cost(row: dict[str, Any]) -> float:
    """The seconds by which libraries are compared: those of an effective draw where the work is sampling."""
    return 1 / row["ess_per_s"] if "ess_per_s" in row else seconds(row)


def pivoted(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Work -> library -> row; of works with several rows of a library, work -> number of chains -> row."""
    several = len({(row["work"], row["peer"]) for row in rows}) < len(rows)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        column = f"{row['chains']} chain{'s' * (row['chains'] > 1)}" if several else row["peer"]
        found.setdefault(row["work"], {})[column] = row
    return found


def chart(name: str, works: dict[str, dict[str, dict[str, Any]]]) -> str | None:
    """Times of the others over those of gpustats, a line for each piece of work; None where there is nothing to compare."""
    peers = sorted({p for of_work in works.values() for p in of_work if not p.startswith("gpustats")})
    if not peers or not all("gpustats" in of_work for of_work in works.values()):
        return None
    sampling = any("ess_per_s" in row for of_work in works.values() for row in of_work.values())
    with matplotlib.rc_context(STYLE | {"text.parse_math": False}):
        figure = Figure(figsize=(7.5, 0.24 * len(works) + 1.1), layout="constrained")
        axes = figure.subplots()
        for peer in peers:
            at = [(cost(w[peer]) / cost(w["gpustats"]), i) for i, w in enumerate(works.values()) if peer in w and fair(w)]
            library, _, variant = peer.partition(", ")
            variants = [p for p in peers if p.startswith(f"{library}, ")]
            marker = "osD"[variants.index(peer)] if variant else "o"
            style = {"marker": marker, "mfc": "white" if variant else None, "color": COLORS.get(library, "#444")}
            axes.plot(*zip(*at, strict=True), linestyle="", label=peer, markersize=5.5, **style)
        axes.axvline(1, color="#d1495b", linewidth=1.4)
        axes.set(xscale="log", yticks=range(len(works)), yticklabels=[*map(words, works)], ylim=(len(works) - 0.5, -0.5))
        low, high = axes.get_xlim()
        subs = (1, 2, 5) if high < 30 * low else (1,)  # powers of 10 alone would be too few
        axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=4))
        axes.xaxis.set_major_formatter("{x:g}×")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="x", color="#e3e6ea")
        axes.set_title(f"time {'for an effective draw ' * sampling}over that of gpustats (line: 1×)", loc="left", fontsize=9)
        figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
        PICTURES.mkdir(exist_ok=True)
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, transparent=True)
    return f"/performance/{name}.svg"


def fair(of_work: dict[str, dict[str, Any]]) -> bool:
    """Whether all libraries did the same number of data sets."""
    return len({row.get("sets") for row in of_work.values()}) == 1


def source(data: dict[str, Any], name: str) -> str:
    """Where the numbers come from."""
    devices = [d["name"] for d in data["devices"]]
    device = f"{len(devices)} × {devices[0]}" if len(devices) > 1 else devices[0]
    driver = data["devices"][0].get("driver")
    versions = ", ".join(f"{n} {v}" for n, v in (data["versions"] or {}).items())
    device += f" ({driver})" if driver else ""
    device += f", which copies its memory at {data['bandwidth'] / 1e9:,.0f} GB/s," if data["bandwidth"] else ""
    told = f"Measured {data['date']} on {device} by `python -m bench.{data['bench'].partition('-')[0]}`"
    file = f"{{download}}`{name}.json <../bench/results/{name}.json>`"
    return f"{told}; {versions or 'versions were not kept'}: {file}."


def text(name: str, only: str) -> str:
    """The table of a file, as Markdown."""
    data = results(name)
    rows = [r for r in data["rows"] if "error" not in r and re.search(only, r["work"])]
    works, libraries = pivoted(rows), {r["peer"] for r in rows}
    columns = list(dict.fromkeys(column for of_work in works.values() for column in of_work))
    lines = [f"| work | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for work, of_work in works.items():
        best = min(map(cost, of_work.values()))
        cells = [words(work)]
        for row in map(of_work.get, columns):
            cell = said(seconds(row)) if row else ""
            cell += f"; {digits(row['ess_per_s'])} / s" if row and "ess_per_s" in row else ""
            cell = f"**{cell}**" if row and len(libraries) > 1 < len(of_work) and fair(of_work) and cost(row) == best else cell
            if row and not fair(of_work):
                cell += f" for {row['sets']:,} data sets"
            cells.append(cell)
        lines.append(f"| {' | '.join(cells)} |")
    if any("ess_per_s" in row for row in rows):
        lines += ["", "Behind each time of sampling: effective draws per second, of the parameter that has the fewest."]
    slug = re.sub(r"\W+", "-", f"{name}-{only}").strip("-")
    picture = chart(slug, works) if any(map(fair, works.values())) else None
    if picture:
        about = "Times of other libraries over those of gpustats, for each piece of work of the table"
        lines = [f"![{about}]({picture})", "", "::::{dropdown} The times", "", *lines, "", "::::"]
    return "\n".join([*lines, "", source(data, name), ""])


def listed(name: str, only: str, columns: list[str]) -> str:
    """The table of a file as Markdown, with a row for each of its rows and some of its keys in columns."""
    data = results(name)
    rows = [r for r in data["rows"] if "error" not in r and re.search(only, r["work"])]
    lines = [f"| work | library | {' | '.join(map(heading, columns))} |", f"| --- | --- |{' ---: |' * len(columns)}"]
    for row in rows:
        cells = ["" if row.get(key) is None else shown(row, key) for key in columns]
        lines.append(f"| {words(row['work'])} | {row['peer']} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", source(data, name), ""])


def heading(key: str) -> str:
    """A key as the head of a column: with its unit, if it has one, behind a bar."""
    words, _, unit = key.rpartition("_")
    head = f"{words.removesuffix('_per')} / {unit.replace('us', 'µs')}" if unit in UNITS and words else key
    return re.sub(r"\b(?:crps|ess|mae|rmse)\b", lambda short: short[0].upper(), head.replace("_", " "))


def shown(row: dict[str, Any], key: str) -> str:
    value = row[key]
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 99.5 else f"{value:.3g}"


class Measured(SphinxDirective):
    required_arguments = 1
    option_spec = {"only": directives.unchanged, "columns": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        self.env.note_dependency(str(RESULTS / f"{name}.json"))
        only, columns = self.options.get("only", ""), self.options.get("columns", "")
        asked = [key.strip() for key in columns.split(",") if key.strip()]
        return self.parse_text_to_nodes(listed(name, only, asked) if asked else text(name, only))


class Number(SphinxRole):
    """A time, or how many times longer another library takes, with the file behind it as its title."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name, work, peer = (part.strip() for part in self.text.split("|"))
        self.env.note_dependency(str(RESULTS / f"{name}.json"))
        of_work = pivoted(results(name)["rows"])[work]
        time = seconds(of_work[peer])
        ratio = float(f"{time / seconds(of_work['gpustats']):.2g}")
        shown = said(time) if self.name == "time" else f"{ratio:,g} ×"
        return [nodes.inline("", shown.replace(" ", "\N{NO-BREAK SPACE}"), classes=["measured"])], []


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("measured", Measured)
    app.add_role("ratio", Number())
    app.add_role("time", Number())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
