"""Repeated calls of a model of rows that are more, or less, than launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import numpy as np

from ..evaluation.compiled import RepeatedSum
from ..evaluation.repeated import RepeatedCall

if TYPE_CHECKING:
    from ..runtime.types import Value

R = TypeVar("R")


class Unchanging(Generic[R]):
    """Repeated call whose result no number changes: there are no rows.

    Parameters
    ----------
    make : callable
        Makes the result.
    """

    def __init__(self, make: Callable[[], R]):
        self._make = make

    def start(self, arguments: Sequence[Value]) -> Callable[[], R]:
        """Result of a call, at once: see `RepeatedCall.start`."""
        return self._make

    def compiled(self, arguments: Sequence[Value]) -> RepeatedSum | None:
        return None


class Columns:
    """Second derivatives in numbers, a column at a time: those of derivatives in a direction.

    Parameters
    ----------
    product : RepeatedCall
        Derivative in a direction, whose components come behind the parameters, and its derivatives.
    names : sequence of str
        Of the numbers.
    """

    def __init__(self, product: RepeatedCall[Value], names: Sequence[str]):
        self._product, self._names = product, names

    def start(self, arguments: Sequence[Value]) -> Callable[[], np.ndarray]:
        """Start of a call: see `RepeatedCall.start`."""
        return lambda: self._found(arguments)

    def _found(self, arguments: Sequence[Value]) -> np.ndarray:
        columns = []
        for direction in np.eye(len(self._names)).tolist():
            _, slopes = self._product.start([*arguments, *direction])()
            columns.append([slopes[n].item() for n in self._names])
        lower = np.tril(columns)
        return (lower + np.tril(lower, -1).T)[None]

    def compiled(self, arguments: Sequence[Value]) -> RepeatedSum | None:
        return None


#: Repeated call of a model of rows.
Call: TypeAlias = "RepeatedCall[Value] | Unchanging[Value] | Columns"
