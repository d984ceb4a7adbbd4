"""Common parts of all benches: options, libraries, the clock, tables, and the files of results.

A bench is a module with a `main` that makes a `Report`, fills its rows and writes it:

    report = Report(options("glm", __doc__).parse_args(argv))
    for case in report.wanted(cases(report)):
        report.rows += rows(report, case)
    return report.write(Table(report.rows, COLUMNS, NOTE))

A row is a dictionary: "work", what was done; "peer", the library; "time", the key of the time that counts; that time, and
whatever else the bench has measured. Where a library failed, the row has "error" instead of what was measured. Where rows take
minutes, each is measured in a process of its own, `report.alone(…)`, and kept at once, `report.keep(row, COLUMNS, NOTE)`.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import gc
import importlib.metadata
import io
import json
import multiprocessing
import platform
import re
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import rich.table
from rich.console import Console
from rich.progress import track

import gpustats as gs
from gpustats.runtime import choose

from .peers import GPUStats, Peer

Row = dict[str, Any]
Columns = dict[str, Callable[[Row], str]]  # the head of each column -> what the column says of a row

#: The modules whose versions a report tells.
LIBRARIES = (
    "numpy scipy pyopencl cuda pycuda jax diffrax torch gpytorch cupy sklearn hmmlearn arviz pymc pytensor nutpie numpyro"
    " distributed"
).split()


def options(bench: str, description: str) -> argparse.ArgumentParser:
    """Options of every bench. `bench` names its module and its files."""
    parser = argparse.ArgumentParser(prog=f"gpustats bench {bench}", description=description)
    parser.set_defaults(bench=bench)
    parser.add_argument("--device", help='such as "cuda:0", "opencl:0", "gpu", "cpu"; default: the first GPU, else CPU')
    parser.add_argument("--only", metavar="PATTERN", default="*", help='work to measure, such as "gamma*f64"')
    parser.add_argument("--peer", action="append", help="library to measure, repeatable; default: all that suit the device")
    parser.add_argument("--quick", action="store_true", help="little work, to see that everything runs")
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="default: bench/results")
    return parser


def size(text: str) -> int:
    """Number that is whole, as an option has it: 1e6 is one."""
    return int(float(text))


def attempt(row: Row, work: Callable[..., Row], *args: Any) -> Row:
    """Row with the results of `work(*args)`, or with its error: that a library fails is a result, too.

    A row that took long is told at once.
    """
    start = time.perf_counter()
    try:
        row |= work(*args)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    if "error" in row or time.perf_counter() - start > 5:
        told = {k: v for k, v in row.items() if isinstance(v, (int, float, str))}
        print(told, file=sys.stderr, flush=True)
    gc.collect()
    return row


NOT_DONE = "not done after"  # begins the error of what has exceeded its limit


def in_process(limit: float | None, work: Callable[..., Any], *args: Any) -> Any:
    """Result of `work(*args)` in a process of its own; a row's "error" if it died or was ended after `limit` seconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_send, args=(theirs, work, args))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(limit) else {"error": f"{NOT_DONE} {limit:g} s"}
    except EOFError:
        return {"error": "the process died"}
    finally:
        process.kill()
        process.join()


def _send(pipe: Any, work: Callable[..., Any], args: Sequence[Any]) -> None:
    pipe.send(work(*args))


def _on_device(device: str, work: Callable[..., Row], args: Sequence[Any]) -> tuple[Row, dict[str, str]]:
    gs.use(device)
    return work(*args), versions()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result of a call, and its seconds."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def measure(call: Callable[[], object], peer: Peer, budget: float = 0.4) -> tuple[float, float]:
    """Seconds of one call waited for (median), and of one of many enqueued back to back (median of 3 batches).

    `call` has run before, so that whatever has to be compiled is. Each measurement takes about `budget` seconds, or a few
    calls, or one that takes longer than a second.
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


def time_of(row: Row) -> float | None:
    """Time of a row that counts; None where its library failed."""
    return row.get(row.get("time", ""))


def with_ratios(rows: list[Row]) -> list[Row]:
    """Rows, each with its time over that of gpustats for the same work."""
    ours = {row["work"]: time_of(row) for row in rows if row["peer"] == GPUStats.name}
    for row in rows:
        time, own = time_of(row), ours.get(row["work"])
        if time and own:
            row["ratio"] = time / own
    return rows


# -- Tables


def number(value: float) -> str:
    """Text of a number: three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cell(key: str, form: str | Callable[[float], str] = number, scale: float = 1) -> Callable[[Row], str]:
    """Formatter of a cell: `scale` times the row's value of `key`, in a format; empty where the row has no value."""
    say = form.format if isinstance(form, str) else form
    return lambda row: "" if row.get(key) is None else say(scale * row[key])


TIMES: Columns = {"enqueued / µs": cell("enqueued_us"), "waited / µs": cell("waited_us")}
TIMES_NOTE = "enqueued: calls back to back, divided by their number; waited: one call until its result is there (median).\n"
RATIO: Columns = {"× ours": cell("ratio", "{:,.2f}")}
GOAL: Columns = {"goal / µs": cell("goal_us", "≤ {:,g}")}
DIFFERENCE: Columns = {"difference": cell("difference", "{:.0e}")}


def difference(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Largest difference of a value, relative to it, and of derivatives, relative to the largest; values come first."""
    value, *gradient = (np.reshape(f, np.shape(e)) - e for f, e in zip(found, expected, strict=True))
    largest = max((np.abs(e).max() for e in expected[1:]), default=1.0)
    return float(max([np.max(np.abs(value / expected[0])), *(np.abs(g).max() / largest for g in gradient)]))


@dataclass(frozen=True)
class Table:
    """Rows with the formatters of columns, and a note below; `key` is where the JSON file has the rows."""

    rows: list[Row]
    columns: Columns
    note: str
    key: str = "rows"

    def __str__(self) -> str:
        table = rich.table.Table(box=None, pad_edge=False, header_style="")
        for i, head in enumerate(("work", "", *self.columns)):
            table.add_column(head, justify="right" if i > 1 else "left", no_wrap=True)
        works = [row["work"] for row in self.rows]
        apart = len(set(works)) < len(works)  # else each row is work of its own
        for i, row in enumerate(self.rows):
            new = not i or works[i - 1] != row["work"]
            if new and i and apart:
                table.add_row()
            cells = [failure(row)] if "error" in row else [say(row) for say in self.columns.values()]
            table.add_row(row["work"] if new else "", row["peer"], *cells)
        text = io.StringIO()
        Console(width=250, file=text).print(table, markup=False)
        lines = [line.rstrip() for line in text.getvalue().splitlines()]
        return "\n".join([*lines, "", self.note])


def failure(row: Row) -> str:
    """Text for a row with an error, in tables."""
    return row["error"] if row["error"].startswith(NOT_DONE) else "failed"


# -- Files


def names(devices: Iterable[dict[str, Any]]) -> str:
    """Names of the devices, such as "NVIDIA H200" or "2 x NVIDIA H200"."""
    counts = Counter(device["name"] for device in devices)
    return ", ".join(f"{n} x {name}" if n > 1 else name for name, n in counts.items())


def file_name(bench: str, devices: Sequence[dict[str, Any]], *others: str) -> str:
    """Name of a bench's files without its ending: the bench, the devices, their backend, and other features of the run.

    >>> file_name("local_gp", 2 * [{"name": "NVIDIA H200", "backend": "cuda"}], "quick")
    'local-gp-2-x-nvidia-h200-cuda-quick'
    """
    backends = dict.fromkeys(device["backend"] for device in devices)
    text = " ".join([bench, names(devices), *backends, *others])
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def versions() -> dict[str, str]:
    """Versions of Python, gpustats, and the libraries that are in use."""
    packages = importlib.metadata.packages_distributions()
    used = [package for module in LIBRARIES if module in sys.modules for package in packages.get(module, [])]
    found = {"python": platform.python_version(), "gpustats": gs.__version__}
    return found | {package: importlib.metadata.version(package) for package in used}


def heading(head: dict[str, Any]) -> str:
    """Heading of a report in two lines: the devices and the versions."""
    first, packages = head["devices"][0], ", ".join(f"{k} {v}" for k, v in head["versions"].items())
    place = f"{names(head['devices'])} ({first['backend']}, {first['driver']}), {head['date']}"
    return f"{place}, {head['bandwidth'] / 1e9:.1f} GB/s read and written by a copy\n{packages}\n"


class Report:
    """Measurements of a bench on a device, and the files that they are written to.

    Parameters
    ----------
    args : argparse.Namespace
        The options: see `options`.
    devices : str or sequence of str, optional
        Several devices to measure together: see `gpustats.runtime.choose.several`.
    apart : sequence of str, optional
        Features that set this run apart from others of the same bench, such as "2 workers".

    Attributes
    ----------
    gpu, quick : bool
        Whether the device is a GPU, and whether little work will do.
    devices : list of dict
        Devices that are measured: the attributes of `gpustats.runtime.base.Device`.
    path : Path
        Where the files go, without their endings.
    rows : list of dict
        Measured rows.
    """

    def __init__(self, args: argparse.Namespace, devices: str | Sequence[str] | None = None, apart: Sequence[str] = ()):
        if args.device:
            gs.use(args.device)
        runtime = choose.get()
        used = [runtime] if devices is None else choose.several(devices)
        self.args, self.quick, self.gpu = args, args.quick, runtime.device.type == "gpu"
        self.devices = list({r.device.id: asdict(r.device) for r in used}.values())
        self.path = args.out / file_name(args.bench, self.devices, *apart, *["quick"] * self.quick)
        self.rows: list[Row] = []
        self._versions: dict[str, str] = {}  # of what other processes have used
        print(f"measuring {args.bench} on {names(self.devices)}; results go to {self.path}.*", file=sys.stderr)

    @cached_property
    def bandwidth(self) -> float:
        """Bandwidth of a copy within the device's memory, in bytes a second, read and written."""
        return choose.get().bandwidth()

    def default(self, given: Any, gpu: Any, cpu: Any, quick: Any) -> Any:
        """Value of an option, or the default of the device."""
        if given is not None:
            return given
        return quick if self.quick else gpu if self.gpu else cpu

    def peers(self, kinds: Iterable[type[Peer]], cpu_only: Collection[type[Peer]] = ()) -> list[Peer]:
        """Libraries that are installed and asked for, and gpustats; those of `cpu_only` on a GPU only by their names.

        It says on standard error which are missing.
        """
        asked = [name.lower() for name in self.args.peer or ()]
        found = []
        for kind in kinds:
            wanted = kind.name.lower() in asked if asked else not (self.gpu and kind in cpu_only)
            if wanted or kind is GPUStats:
                try:
                    found.append(kind(self.gpu))
                except ImportError as error:
                    print(f"without {kind.name}: {error}", file=sys.stderr)
        return found

    def wanted(self, cases: Iterable[Any]) -> Iterable[Any]:
        """Cases whose titles match --only, while a bar shows how many are done."""
        cases = list(cases)
        found = [case for case in cases if fnmatch.fnmatch(case.title, f"*{self.args.only}*")]
        if not found:
            sys.exit("\n  ".join([f"no work matches {self.args.only!r}; there is", *(case.title for case in cases)]))
        return self._until_interrupted(track(found, "measuring", console=Console(stderr=True)))

    def _until_interrupted(self, cases: Iterable[Any]) -> Iterable[Any]:
        """Cases up to Ctrl-C, after which the work under way is finished and what it measured is kept; a second one ends it."""
        stopping = False

        def stop(*_: object) -> None:
            nonlocal stopping
            stopping = True
            signal.signal(signal.SIGINT, before)
            print("stopping after this work; Ctrl-C again: at once", file=sys.stderr)

        before = signal.signal(signal.SIGINT, stop)
        try:
            for case in cases:
                yield case
                if stopping:
                    break
        finally:
            signal.signal(signal.SIGINT, before)

    def measure(self, call: Callable[[], object], peer: Peer) -> Row:
        """Times of a call that has run before, in µs."""
        waited, enqueued = measure(call, peer, 0.02 if self.quick else 0.4)
        return {"waited_us": 1e6 * waited, "enqueued_us": 1e6 * enqueued}

    def alone(self, limit: float | None, work: Callable[..., Row], *args: Any) -> Row:
        """Row from `work(*args)` on the device in a process of its own: see `in_process`."""
        found = in_process(limit, _on_device, choose.get().device.id, work, args)
        if isinstance(found, dict):
            return found
        row, used = found
        self._versions |= used
        return row

    def keep(self, row: Row, columns: Columns, note: str) -> None:
        """Keep a row: print it, and write all rows so far, so that a run that somebody ends has not been for nothing."""
        self.rows.append(row)
        said = [f"{head} {said}" for head, say in columns.items() if (said := "error" not in row and say(row))]
        print(f"{row['work']}, {row['peer']}: {', '.join(said) or row['error']}", flush=True)
        self._save([Table(self.rows, columns, note)])

    def write(self, *tables: Table, chart: Callable[[dict[str, Any], Path], None] | None = None) -> int:
        """Print the tables; write them as text, all measurements as JSON, and a chart, which takes the JSON file's content."""
        report, text = self._save(tables)
        print(text)
        if chart:
            try:
                chart(report, self.path.with_suffix(".png"))
            except ImportError as error:
                print(f"no chart: {error}", file=sys.stderr)
        print(f"written: {self.path}.*")
        return 0

    def _save(self, tables: Sequence[Table]) -> tuple[dict[str, Any], str]:
        """Write the measurements as JSON and as text, and return both."""
        head = {
            "bench": self.args.bench,
            "date": datetime.date.today().isoformat(),
            "devices": self.devices,
            "host": platform.processor() or platform.machine(),
            "bandwidth": self.bandwidth,
            "versions": versions() | self._versions,
            "options": {k: v for k, v in vars(self.args).items() if k not in ("bench", "device", "out")},
        }
        report = head | {table.key: with_ratios(table.rows) for table in tables}
        text = "\n".join([heading(head), *map(str, tables)])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.with_suffix(".txt").write_text(text)
        self.path.with_suffix(".json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
        return report, text
