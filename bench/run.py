"""`python -m bench`: measures, prints a table, writes it with a chart and the figures as JSON."""

from __future__ import annotations

import argparse
import fnmatch
import gc
import io
import json
import platform
import re
import statistics
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import gpustats as gs

from .cases import Case, cases
from .peers import JAX, CuPy, GPUStats, JAXStats, Peer, PyTorch, SciPy

NOTE = """\
enqueued: calls back to back, divided by their number; waited: one call until its result is there (median).
rate: bytes that must move (observations in, table out) over the time enqueued; share: of the bandwidth of a copy, which
data that fits a cache can exceed. difference: the largest from SciPy in float64, relative to max(1, |value|).
"""
COLUMNS = "work", "", "enqueued / µs", "waited / µs", "rate / GB/s", "share", "× ours", "goal / µs", "difference"
COLORS = {
    "gpustats": "#e4572e",
    "SciPy": "#8d99ae",
    "JAX": "#3b7dd8",
    "jax.scipy": "#9dc3f2",
    "PyTorch": "#7b4fb5",
    "CuPy": "#3a9d5d",
}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gpustats bench", description=__doc__)
    parser.add_argument("--device", help='such as "cuda:0", "opencl:0", "gpu", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--only", metavar="PATTERN", default="*", help='work to measure, such as "gamma*f64"')
    parser.add_argument("--quick", action="store_true", help="a hundredth of the data, to see that everything runs")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    args = parser.parse_args(argv)
    if args.device:
        gs.use(args.device)
    ours = GPUStats()
    gpu = ours.device.type == "gpu"
    all_cases = cases(gpu, args.quick)
    wanted = [c for c in all_cases if fnmatch.fnmatch(c.title, f"*{args.only}*")]
    if not wanted:
        parser.error("\n  ".join([f"no work matches {args.only!r}; there is", *(c.title for c in all_cases)]))

    bandwidth = ours.runtime.bandwidth()
    peers = [ours, *installed(gpu)]
    report = {
        "device": ours.device.name,
        "backend": ours.device.backend,
        "host": platform.processor() or platform.machine(),
        "bandwidth": bandwidth,
        "versions": versions(),
        "rows": [],
    }
    for case in track(wanted, "measuring", console=Console(stderr=True)):
        report["rows"] += rows(case, peers, bandwidth)

    args.out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", f"{ours.device.name} {ours.device.backend}".lower()).strip("-")
    stem = args.out / (name + ("-quick" if args.quick else ""))
    text = render(report)
    print(text)
    stem.with_suffix(".txt").write_text(text)
    stem.with_suffix(".json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    chart(report, stem.with_suffix(".png"))
    print(f"written: {stem}.txt, .json, .png")
    return 0


def installed(gpu: bool) -> list[Peer]:
    found: list[Peer] = []
    for peer in (SciPy, JAX, JAXStats, PyTorch, CuPy):
        try:
            found.append(peer(gpu))
        except ImportError:
            continue
    return found


def versions() -> dict[str, str]:
    """Of the packages that were measured and of Python."""
    found = {"python": platform.python_version()}
    for package in ("gpustats", "numpy", "scipy", "pyopencl", "pycuda", "jax", "torch", "cupy-cuda12x", "cupy-cuda13x"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def rows(case: Case, peers: list[Peer], bandwidth: float) -> list[dict]:
    """One row for each peer that can do the work; a peer that fails says so in its row."""
    expected, found = reference(case), []
    for peer in peers:
        if case.density not in peer.functions or case.kind not in peer.kinds:
            continue
        row = {"work": case.title, "peer": peer.name, "goal_us": case.goal if isinstance(peer, GPUStats) else None}
        try:
            call = peer.bind(case)
            got = peer.host(call())[: len(expected)].astype(float)
            row["difference"] = float(np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected))))
            row["waited_us"], row["enqueued_us"] = (1e6 * t for t in measure(call, peer))
            row["bytes"], row["waited"] = case.bytes, case.waited
            row["rate"] = case.bytes / row["enqueued_us"] * 1e6
            row["share"] = row["rate"] / bandwidth
        except Exception as error:  # a peer's failure is a result, too
            row["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            print(f"{case.title}, {peer.name}: {row['error']}")
        found.append(row)
        call = got = None
        gc.collect()
    return found


def reference(case: Case) -> np.ndarray:
    """SciPy's answer in float64, of a table its first 1000 rows, on the data as rounded to the case's dtype."""
    x, parameters = case.data()
    small = x[:1000] if case.kind == "table" else x
    bound = SciPy(False).bind(_Given(case, small.astype(float), [p.astype(float) for p in parameters]))
    return SciPy(False).host(bound())


class _Given:
    """A case with its data given."""

    def __init__(self, case: Case, x: np.ndarray, parameters: list[np.ndarray]):
        self.density, self.kind, self.dim = case.density, case.kind, case.dim
        self.data = lambda: (x, parameters)


def measure(call: Callable[[], object], peer: Peer, budget: float = 0.4) -> tuple[float, float]:
    """Seconds of one call waited for (median), and of one of many enqueued back to back (median of 3 batches).

    `call` has run before, so that whatever has to be compiled is. Each measurement takes about `budget` seconds, or
    a few calls, or one that takes longer than a second.
    """

    def clock(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            result = call()
        peer.wait(result)
        return (time.perf_counter() - start) / n

    first = clock(1)
    count = int(min(200, max(3 if first < 1 else 1, budget / first)))
    waited = statistics.median([first] if count == 1 else [clock(1) for _ in range(count)])
    if not peer.asynchronous or count == 1:
        return waited, waited
    return waited, statistics.median(clock(max(2, count // 3)) for _ in range(3))


def render(report: dict) -> str:
    """The table as text."""
    table = Table(box=None, pad_edge=False, header_style="")
    for i, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if i > 1 else "left", no_wrap=True)
    ours: dict[str, float] = {}
    last = None
    for row in report["rows"]:
        key = "waited_us" if row.get("waited") else "enqueued_us"
        if row["peer"] == GPUStats.name and key in row:
            ours[row["work"]] = row[key]
        work = row["work"] if row["work"] != last else ""
        if work and last:
            table.add_row()
        last = row["work"]
        if "error" in row:
            table.add_row(work, row["peer"], "failed")
            continue
        table.add_row(
            work,
            row["peer"],
            number(row["enqueued_us"]),
            number(row["waited_us"]),
            f"{row['rate'] / 1e9:.3g}",
            f"{row['share']:.0%}",
            f"{row[key] / ours[row['work']]:.1f}" if row["work"] in ours else "",
            "" if row["goal_us"] is None else f"≤ {row['goal_us']:g}",
            f"{row['difference']:.0e}",
        )
    console = Console(width=150, file=io.StringIO())
    console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    head = f"{report['device']} ({report['backend']}), {report['bandwidth'] / 1e9:.1f} GB/s read and written by a copy"
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return "\n".join([head, versions, "", *lines, "", NOTE])


def number(microseconds: float) -> str:
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.3g}"


def chart(report: dict, path: Path) -> None:
    """The times as dots on a logarithmic axis, one line for each piece of work."""
    import matplotlib
    from matplotlib.figure import Figure

    works = list(dict.fromkeys(row["work"] for row in report["rows"]))
    with matplotlib.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9, 1.2 + 0.36 * len(works)), layout="constrained")
        axes = figure.subplots()
        for peer, color in COLORS.items():
            points = [
                (row["waited_us" if row["waited"] else "enqueued_us"] / 1e6, works.index(row["work"]))
                for row in report["rows"]
                if row["peer"] == peer and "error" not in row
            ]
            if points:
                size = 80 if peer == GPUStats.name else 40
                axes.scatter(*zip(*points, strict=True), s=size, color=color, label=peer, zorder=3 + (size > 40))
        for row in report["rows"]:
            if row["peer"] == GPUStats.name and row.get("bytes", 0) > 1e6:
                seconds, y = row["bytes"] / report["bandwidth"], works.index(row["work"])
                axes.plot([seconds, seconds], [y - 0.3, y + 0.3], color="#333", lw=1.5)
        axes.plot([], [], color="#333", lw=1.5, label="a copy of the same bytes")
        axes.set_xscale("log")
        axes.set_yticks(range(len(works)), works)
        axes.set_ylim(len(works) - 0.4, -0.6)
        axes.grid(axis="x", color="#e3e6ea", zorder=0)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("seconds (Σ: waited for; tables: enqueued)")
        axes.set_title(report["device"], loc="left", weight="bold")
        figure.legend(loc="outside lower center", ncols=7, frameon=False)
        figure.savefig(path, dpi=130)
