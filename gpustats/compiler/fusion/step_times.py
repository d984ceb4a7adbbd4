"""Time of a step: of a row that is a loop, which has a processor to itself, and of PyTensor's scan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from ...rows.model import Rows
from ...runtime.base import Runtime
from ...runtime.speeds import Line, Speeds, kept, seconds, through
from ..graph.gradients import gradients
from ..graph.types import TensorVariable
from .program import program_of

STEPS = 1000, 20_000  # of the loops that are measured
ELEMENTS = 1000  # of the vectors that are measured
RUNS = 5


@functools.cache
def step_speeds(runtime: Runtime, mode: str, linker: str, of_vectors: bool) -> Speeds:
    """Speeds of scans of numbers or of vectors, measured once on this machine, in the seconds that compiling a scan takes."""
    others = pytensor.__version__, mode, linker, str(of_vectors), str((*STEPS, ELEMENTS))
    return kept("steps of scans", runtime.device, others, lambda: measure(of_vectors))


def measure(of_vectors: bool) -> Speeds:
    """Seconds of a step, with gradients.

    "on device" has those of each cheap operation of a step, "by PyTensor" those of a scan's step, and "elements" those of
    each cheap operation on a further element of its vectors.
    """
    term, parameters, data = _term(of_vectors)
    run = _compiled(term, parameters, data)
    cheap = program_of(term, {data: _numbers(STEPS[0], of_vectors)}).work.cheap
    device, scan = (
        through(*((n, run(_numbers(n, of_vectors))) for n in STEPS))
        for run in (functools.partial(_on_device, term, data), run)
    )
    found = {"on device": Line(device.start, device.each / cheap), "by PyTensor": scan, "elements": Line(0.0, 0.0)}
    if of_vectors:
        more = max(run(_numbers(STEPS[0], True, ELEMENTS)) - scan.seconds(STEPS[0]), 0.0)
        found["elements"] = Line(0.0, more / (STEPS[0] * (ELEMENTS - 1) * cheap))
    return found


def _numbers(n_steps: int, of_vectors: bool, elements: int = 1) -> np.ndarray:
    numbers = np.linspace(-1, 1, n_steps)
    return np.repeat(numbers[:, None], elements, axis=1) if of_vectors else numbers


def _term(of_vectors: bool) -> tuple[TensorVariable, Sequence[Variable], Variable]:
    """Term of a sum over the steps of a scan, its parameters, and its data."""
    parameters, y = [pt.dscalar("a"), pt.dscalar("b")], pt.dmatrix("y") if of_vectors else pt.dvector("y")
    state = pytensor.scan(
        lambda y, x, a, b: a * x + b * y, sequences=[y], outputs_info=[pt.zeros_like(y[0])], non_sequences=parameters,
        return_updates=False,
    )  # fmt: skip
    return -0.5 * pt.sqr(y - state), parameters, y


def _on_device(term: Variable, data: Variable, y: np.ndarray) -> float:
    program = program_of(term, {data: y})
    rows = Rows(program.source, **program.leaves)
    at = [0.5] * len(rows.parameters)
    return seconds(lambda: rows.value_and_grad(*at), RUNS)


def _compiled(term: TensorVariable, parameters: Sequence[Variable], data: Variable) -> Callable[[np.ndarray], float]:
    total = term.sum()
    function = pytensor.function([*parameters, data], [total, *gradients(total, parameters)])
    return lambda y: seconds(lambda: function(0.5, 0.5, y), RUNS)
