"""Charts of times over sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

COLORS = {  # of a library, and of its name with more behind a comma
    "gpustats": "#e4572e",
    "SciPy": "#8d99ae",
    "PyMC": "#8d99ae",
    "scikit-learn": "#d9a441",
    "jax.scipy": "#9dc3f2",
    "JAX": "#3b7dd8",
    "NumPyro": "#3b7dd8",
    "PyTorch": "#7b4fb5",
    "CuPy": "#3a9d5d",
}
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}
GRID = "#e3e6ea"


@dataclass
class Panel:
    """Lines over a size: their points by label. `ratio`: the points are times over those of gpustats."""

    title: str = ""
    x: str = ""
    y: str = ""
    ratio: bool = False
    log: bool = True
    lines: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, label: str, x: float, y: float) -> None:
        self.lines.setdefault(label, []).append((x, y))


def lines(path: Path, title: str, grid: Sequence[Sequence[Panel]], sharey: str = "none") -> None:
    """Draw rows of panels, with one legend for all; the lines of several chains are dashed."""
    import matplotlib
    from matplotlib.figure import Figure

    height, width = len(grid), len(grid[0])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.4 * width, 3.3 * height + 0.5), layout="constrained")
        places = figure.subplots(height, width, sharex=True, sharey=sharey, squeeze=False)
        panels = [panel for row in grid for panel in row]
        for axes, panel in zip(places.flat, panels, strict=True):
            for label, points in panel.lines.items():
                style = "o--" if label.endswith("chains") else "o-"
                axes.plot(*zip(*sorted(points), strict=True), style, color=COLORS[label.partition(",")[0]], label=label, ms=4)
            if panel.ratio:
                axes.axhline(1, color=COLORS["gpustats"], lw=1)
            axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale="log", yscale="log" if panel.log else "linear")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")
            axes.grid(axis="y", color=GRID)
        sizes = sorted({x for panel in panels for points in panel.lines.values() for x, _ in points})
        for axes, panel in zip(places.flat, panels, strict=True):  # once what shared axes have in common is complete
            axes.set_xticks(sizes, [f"{x:,}" for x in sizes])
            axes.tick_params(axis="x", which="minor", length=0, labelbottom=False)
            if not panel.log:
                axes.set_ylim(bottom=0)
        handles = {handle.get_label(): handle for axes in places.flat for handle in axes.get_legend_handles_labels()[0]}
        figure.legend(handles=handles.values(), loc="outside lower center", ncols=2 * width, frameon=False)
        figure.suptitle(title, x=0.01, ha="left", weight="bold")
        figure.savefig(path, dpi=130)
