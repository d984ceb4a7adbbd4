"""`python -m bench.densities`: log-densities, their sums and their gradients, beside SciPy, JAX, PyTorch and CuPy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import charts
from .cases import Case, cases
from .peers import JAX, CuPy, GPUStats, JAXStats, Peer, PyTorch, SciPy
from .report import (
    DIFFERENCE,
    GOAL,
    RATIO,
    TIMES,
    TIMES_NOTE,
    Columns,
    Report,
    Row,
    Table,
    attempt,
    cell,
    names,
    options,
    time_of,
)

NOTE = TIMES_NOTE + """\
rate: bytes that must move (observations in, table out) over the time enqueued; share: of the bandwidth of a copy, which
data that fits a cache can exceed. difference: the largest from SciPy in float64, relative to max(1, |value|).
"""
RATE: Columns = {"rate / GB/s": cell("rate", "{:.3g}", 1e-9), "share": cell("share", "{:.0%}")}


def rows(report: Report, case: Case, peers: list[Peer]) -> list[Row]:
    """Rows of a case: one for each library that can do the work."""
    expected = reference(case)

    def measured(peer: Peer) -> Row:
        call = peer.bind(case)
        got = peer.host(call())[: len(expected)].astype(float)
        difference = float(np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected))))
        times = report.measure(call, peer)
        rate = case.bytes / times["enqueued_us"] * 1e6
        return times | {"difference": difference, "rate": rate, "share": rate / report.bandwidth}

    return [
        attempt(row(case, peer), measured, peer)
        for peer in peers
        if case.density in peer.functions and case.kind in peer.kinds
    ]


def row(case: Case, peer: Peer) -> Row:
    """Row of one library before it is measured."""
    goal = case.goal if isinstance(peer, GPUStats) else None
    return {"work": case.title, "peer": peer.name, "time": case.time, "bytes": case.bytes, "goal_us": goal}


def reference(case: Case) -> np.ndarray:
    """Answer of SciPy in float64, of a table its first 1000 rows, on the data as rounded to the case's dtype."""
    x, parameters = case.data()
    given = (x[:1000] if case.kind == "table" else x).astype(float), [p.astype(float) for p in parameters]
    rounded = SimpleNamespace(density=case.density, kind=case.kind, dim=case.dim, data=lambda: given)
    return SciPy(False).host(SciPy(False).bind(rounded)())


def chart(report: dict[str, Any], path: Path) -> None:
    """Chart of the times as dots on a logarithmic axis, one line for each piece of work."""
    import matplotlib
    from matplotlib.figure import Figure

    works = list(dict.fromkeys(row["work"] for row in report["rows"]))
    with matplotlib.rc_context(charts.STYLE):
        figure = Figure(figsize=(9, 1.2 + 0.36 * len(works)), layout="constrained")
        axes = figure.subplots()
        for peer, color in charts.COLORS.items():
            own = [row for row in report["rows"] if row["peer"] == peer and time_of(row)]
            if own:
                points = [time_of(row) / 1e6 for row in own], [works.index(row["work"]) for row in own]
                size = 80 if peer == GPUStats.name else 40
                axes.scatter(*points, s=size, color=color, label=peer, zorder=3 + (size > 40))
        for row in report["rows"]:
            if row["peer"] == GPUStats.name and row["bytes"] > 1e6:
                seconds, y = row["bytes"] / report["bandwidth"], works.index(row["work"])
                axes.plot([seconds, seconds], [y - 0.3, y + 0.3], color="#333", lw=1.5)
        axes.plot([], [], color="#333", lw=1.5, label="a copy of the same bytes")
        axes.set_xscale("log")
        axes.set_yticks(range(len(works)), works)
        axes.set_ylim(len(works) - 0.4, -0.6)
        axes.grid(axis="x", color=charts.GRID, zorder=0)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("seconds (Σ: waited for; tables: enqueued)")
        axes.set_title(names(report["devices"]), weight="bold")
        figure.legend(loc="outside lower center", ncols=7, frameon=False)
        figure.savefig(path, dpi=130)


def main(argv: list[str] | None = None) -> int:
    report = Report(options("densities", __doc__).parse_args(argv))
    peers = report.peers([GPUStats, SciPy, JAX, JAXStats, PyTorch, CuPy])
    for case in report.wanted(cases(report.gpu, report.quick)):
        report.rows += rows(report, case, peers)
    return report.write(Table(report.rows, TIMES | RATE | RATIO | GOAL | DIFFERENCE, NOTE), chart=chart)


if __name__ == "__main__":
    raise SystemExit(main())
