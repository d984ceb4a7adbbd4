"""Choice between the device and PyTensor for a sum over rows, by the time that each takes.

How long either takes follows from the operations of a row, of which there are cheap ones, calls of functions and elements of
tables, from how many rows there are and how large the tables are, and from the numbers that go to the device and come back. How
long one of each takes is measured once on a machine, of three sums, and kept on disk.
"""

from __future__ import annotations

import functools
import itertools
import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import get_default_mode
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.link.numba.linker import NumbaLinker

from ...rows.model import Rows
from ...runtime import choose, thresholds
from ...runtime.base import Runtime
from ...runtime.speeds import Line, Speeds, copying, kept, seconds, through, transfer
from ..graph.gradients import gradients
from ..graph.machine import is_possible
from ..graph.types import TensorVariable
from .program import Program, program_of
from .step_times import step_speeds

FEWEST_ROWS = thresholds.COMPILER_FEWEST_ROWS.value  # rows below which no device pays, and nothing is measured
FEWEST_STEPS = thresholds.COMPILER_FEWEST_STEPS.value  # steps of loops, likewise
#: Rows of a sum whose operations are not known yet: PyTensor is done with fewer before a device has begun.
FEWEST_UNREAD_ROWS = thresholds.COMPILER_FEWEST_UNREAD_ROWS.value
#: The part of PyTensor's time that the device stays below, as neither is predicted exactly.
LARGEST_TIME_RATIO = thresholds.COMPILER_LARGEST_TIME_RATIO.value
CHAINS_AT_ONCE = 4  # chains that samplers run at once, each on a core of its own if there are as many
#: Seconds that a call of compiled code spends around a call of `gpustats.Rows`.
CALL_SECONDS = thresholds.COMPILER_CALL_SECONDS.value
#: Seconds around what compiled code has the device do by itself.
MACHINE_CALL_SECONDS = thresholds.COMPILER_MACHINE_CALL_SECONDS.value
RUNS_OF_LONGEST = 5  # runs of the longest sums that are measured, of which the fastest counts
#: Rows of the sums that are measured, each in so many runs: few, as many as caches hold, and many.
RUNS_BY_ROWS = {100: 50, 100_000: 20, 2_000_000: RUNS_OF_LONGEST}
SIDES = "device", "PyTensor"


class Estimate(NamedTuple):
    """Seconds that a sum and its gradients are expected to take."""

    on_device: float
    by_pytensor: float
    shared_by: int = 1  #: chains that wait for one another on the device, where PyTensor would compute for all at once: on CPUs

    @property
    def pays(self) -> bool:
        """True if the device is faster, with a margin, and also for several chains."""
        return self.on_device * max(self.shared_by, 1 / LARGEST_TIME_RATIO) < self.by_pytensor

    @property
    def reason(self) -> str:
        """Reason why PyTensor computes the sum; empty where the device does."""
        if self.pays:
            return ""
        shared = f", which {self.shared_by} chains share" if self.shared_by > 1 else ""
        return f"{self.by_pytensor * 1e6:.0f} µs are expected of it, {self.on_device * 1e6:.0f} µs of the device{shared}"


def estimate(program: Program, measured: Speeds | None = None, steps: Speeds | None = None) -> Estimate:
    """Time that a program takes on the device, and the time of the same sum by PyTensor.

    By default the speeds, and those of the steps of loops, are those of this machine and the default device.
    """
    runtime, shared_by = choose.get(), 1
    if measured is None:
        measured = speeds(runtime, pytensor.config.mode, pytensor.config.linker)
    if runtime.device.type == "cpu":
        shared_by = min(CHAINS_AT_ONCE, os.cpu_count() or 1)
    moved, cached = program.work.moved, sorted(RUNS_BY_ROWS)[1]

    def of(side: str) -> float:
        first, rest = min(program.size, cached), max(program.size - cached, 0)
        numbers = {kind: number for kind in _TERMS if (number := getattr(program.work, kind))}
        seconds = max((measured[f"{side} {kind}"].start for kind in numbers), default=0.0)
        for kind, number in numbers.items():
            seconds += number * (first * measured[f"{side} {kind}"].each + rest * measured[f"{side} {kind}, many rows"].each)
        return seconds + program.work.elements * measured[f"{side} elements"].each

    between = MACHINE_CALL_SECONDS if by_machine() else CALL_SECONDS
    on_device = of("device") + between + (measured["transfer"].seconds(moved) if moved else 0.0)
    by_pytensor = of("PyTensor")
    if program.is_loop:
        if steps is None:
            steps = step_speeds(runtime, pytensor.config.mode, pytensor.config.linker, program.n_rows > 1)
        on_device, by_pytensor = _with_steps(program, on_device, by_pytensor, measured, steps)
    return Estimate(on_device, by_pytensor, shared_by)


def _with_steps(
    program: Program, on_device: float, by_pytensor: float, measured: Speeds, steps: Speeds
) -> tuple[float, float]:
    """Seconds of rows that are loops: steps wait for one another, be they a few rows' on the device, or those of a scan."""
    longest = program.size / program.n_rows
    cheap = max(measured["device cheap"].each, 1e-15)
    operations = program.work.cheap + program.work.calls * max(measured["device calls"].each / cheap, 1.0)
    alone = steps["on device"].start + longest * operations * steps["on device"].each
    by_pytensor += longest * (steps["by PyTensor"].each + program.n_rows * program.work.cheap * steps["elements"].each)
    return max(on_device, alone), by_pytensor


class Decision(NamedTuple):
    """Decision where a sum is computed."""

    reason: str  #: why it is left to PyTensor, in words for a user; empty where it is computed on the device
    expected: Estimate | None = None  #: times that decided, if times did


def decision(program: Program, min_rows: int | None) -> Decision:
    """Decision for the sum of a program: by the number of its rows, or where no limit is set, by the time it takes."""
    if (few := too_few(program.size, min_rows, FEWEST_STEPS if program.is_loop else FEWEST_ROWS)) or min_rows is not None:
        return Decision(few)
    try:
        expected = estimate(program)
    except Exception as error:  # of a compiler, or of a device that is full: the model runs all the same
        warnings.warn(f"how long sums take could not be measured: {type(error).__name__}: {error}", stacklevel=2)
        return Decision(too_few(program.size, None, FEWEST_UNREAD_ROWS))
    return Decision(expected.reason, expected)


def too_few(n_rows: int, min_rows: int | None, otherwise: int = FEWEST_ROWS) -> str:
    """Reason why a sum over so few rows is left to PyTensor, else ""; the limit is `otherwise` where nothing is set."""
    least = otherwise if min_rows is None else min_rows
    return f"fewer than {least} rows" if n_rows < least else ""


def by_machine() -> bool:
    """True if compiled code evaluates sums by itself, without Python, where PyTensor compiles as it does by default."""
    return is_possible() and isinstance(get_default_mode().linker, NumbaLinker)


@functools.cache
def speeds(runtime: Runtime, mode: str, linker: str) -> Speeds:
    """Speeds measured on this machine, or measured now, in some seconds, of which PyTensor's compilers take most."""
    sizes = str(RUNS_BY_ROWS), str(TABLE_SIZES)
    others = "copies, random indices", pytensor.__version__, mode, linker, str(by_machine()), *sizes, *_TERMS
    return kept("sums over rows", runtime.device, others, lambda: measure(runtime))


def measure(runtime: Runtime) -> Speeds:
    """Seconds of a call and of one operation of each kind, on the "device" and by "PyTensor", and a byte's "transfer"."""
    found = {"transfer": copying() if runtime.host_visible else transfer(runtime)}
    measured = {kind: _Measured(term) for kind, term in _TERMS.items()}
    for side in SIDES:
        lines = {kind: one.lines(side) for kind, one in measured.items()}
        for place, rows in enumerate(("", ", many rows")):
            for kind, one in measured.items():
                line, work = lines[kind][place], one.work
                known = 0.0 if kind == "cheap" else work.cheap * found[f"{side} cheap{rows}"].each
                found[f"{side} {kind}{rows}"] = Line(line.start, max(line.each - known, 0.0) / getattr(work, kind))
        found[f"{side} elements"] = _elements(side)
    return found


def _elements(side: str) -> Line:
    """Seconds that a further element of a table takes, while the number of rows stays the same."""
    n_rows = min(10 * TABLE_SIZES[1], max(RUNS_BY_ROWS))
    small, large = (_Measured(_TERMS["gathers"], size).run(side)(n_rows, RUNS_OF_LONGEST) for size in TABLE_SIZES)
    return Line(0.0, max(large - small, 0.0) / (TABLE_SIZES[1] - TABLE_SIZES[0]))


#: Term of a sum for each kind of operation, of which it has some, beside cheap ones.
_TERMS: dict[str, Callable[..., TensorVariable]] = {
    "cheap": lambda a, b, s, table, x, y, i: -0.5 * pt.sqr((y - (a + b * x)) * s),
    "calls": lambda a, b, s, table, x, y, i: pt.log(s + pt.sqr(y - a)) - pt.exp(b * x) + pt.log1p(pt.sqr(s * x)),
    "gathers": lambda a, b, s, table, x, y, i: -0.5 * pt.sqr(y - table[i]),
}
TABLE_SIZES = 1000, 100_000  # elements of the table of gathers: two sizes, which show what a further element takes


class _Measured:
    """Sum over rows whose time is taken, with a table of so many elements."""

    def __init__(self, term: Callable[..., TensorVariable], size: int = TABLE_SIZES[0]):
        self.size = size
        parameters, data = [*map(pt.dscalar, "abs"), pt.dvector("table")], [pt.dvector("x"), pt.dvector("y"), pt.lvector("i")]
        self.term = term(*parameters, *data)
        used = set(ancestors([self.term]))
        self.parameters, self.data = ([v for v in some if v in used] for some in (parameters, data))
        self.work = self._program(3).work

    def _numbers(self, n_rows: int) -> dict[Variable, np.ndarray]:
        """Data of so many rows."""
        x = np.linspace(-1, 1, n_rows)
        columns = {"x": x, "y": x**2, "i": np.random.default_rng(1).integers(0, self.size, n_rows)}
        return {v: columns[v.name] for v in self.data}

    def _point(self) -> dict[str, np.ndarray]:
        return {v.name: np.full(self.size if v.type.ndim else (), 0.5) for v in self.parameters}

    def _program(self, n_rows: int) -> Program:
        shapes = {v: (self.size,) for v in self.parameters if v.type.ndim}
        return program_of(self.term, self._numbers(n_rows), shapes)

    def lines(self, side: str) -> list[Line]:
        """Seconds of so many rows, up to what caches hold and from there on."""
        run = self.run(side)
        points = [(n, run(n, repeats)) for n, repeats in RUNS_BY_ROWS.items()]
        return [through(*pair) for pair in itertools.pairwise(points)]

    def run(self, side: str) -> Callable[[int, int], float]:
        """Function that takes the seconds of so many rows, in so many runs of which the fastest counts."""
        return self._on_device if side == "device" else self._by_pytensor()

    def _on_device(self, n_rows: int, repeats: int) -> float:
        program, point = self._program(n_rows), self._point()
        rows = Rows(program.source, **program.leaves)
        values = {p.name: point[str(program.inputs[p.input].name)] for p in program.parameters}
        found = rows.compiled(values, rows.parameters) if by_machine() else None
        if found is not None and (replay := found.fix(values).replay) is not None:
            return seconds(replay.run, repeats)
        return seconds(lambda: rows.value_and_grad(**values), repeats)

    def _by_pytensor(self) -> Callable[[int, int], float]:
        total = self.term.sum()
        function = pytensor.function([*self.parameters, *self.data], [total, *gradients(total, self.parameters)])
        function.trust_input = True

        def run(n_rows: int, repeats: int) -> float:
            given = [*self._point().values(), *self._numbers(n_rows).values()]
            return seconds(lambda: function(*given), repeats)

        return run
