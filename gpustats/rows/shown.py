"""Kernel that is shown of a sequence model: the sum over rows, and its derivatives in all parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..kernels.layout import REFERENCE_DEVICES
from ..parallel.devices import example
from ..runtime.base import Kernel
from ..runtime.types import Grid
from .binding import Binding
from .evaluator import Evaluator
from .number_arguments import NumberArguments
from .passes import Sets
from .sequences import sequences

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from .series import SequenceModel

KIND = "sequence model"


class _Described:
    """Runtime of a device that is only described: it holds no memory, and compiles nothing."""

    host_visible = True

    def __init__(self, dialect: str):
        self.dialect, self.device = dialect, REFERENCE_DEVICES[dialect]

    def memory(self, array: np.ndarray) -> tuple[None, int]:
        return None, 0

    def kernel(self, source: str, name: str, threads: int, shared: int = 0) -> Kernel:
        return _Shown(source)


class _Shown(Kernel):
    """Kernel that is there to be read."""

    def __call__(self, grid: Grid, *args: object) -> None:
        raise NotImplementedError("a kernel for a device that is only described does not run")


def _rows(model: SequenceModel, dtype: str, dialect: str) -> str:
    its = [a for a in model.definition.arguments if a.rank]
    leaves: dict[str, Any] = {a.name: sequences([np.asarray(example(a, 1), dtype)]) for a in its}
    bound = Binding(model, None, leaves)
    runtime = cast("Runtime", _Described(dialect))
    evaluator = Evaluator(NumberArguments.of(bound, 0), np.dtype(dtype), runtime)
    return evaluator.source(tuple(bound.parameters), Sets.BY_VALUE)


SHOWN = {"rows": _rows}
