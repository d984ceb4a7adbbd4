"""Derivative of a sum over rows in a direction, as a model: its own derivatives are the Hessian times the direction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..evaluation.compiled import RepeatedSum, Replayable
from .parameters import along_of

if TYPE_CHECKING:
    from ..runtime.types import Value


class OverRows(Protocol):
    """Sum over rows that lie on one device, with its derivatives and products of its Hessian: `Rows`."""

    def compiled_product(self, arguments: Mapping[str, Value], direction: Mapping[str, Value]) -> RepeatedSum | None: ...
    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Value) -> tuple[Value, dict[str, Value]]: ...
    def hessp(self, direction: Mapping[str, Value], **arguments: Value) -> dict[str, Value]: ...


class Along(Replayable):
    """Derivative of a sum over rows in a direction. Its parameters are those of the sum, and behind them the direction's.

    Parameters
    ----------
    rows : callable
        (arguments, n_sets) -> Rows: those for a call.
    names : collection of str
        Parameters, by the caller's names, in which the direction has components; the others are 0.
    in_rows : mapping
        Name of each parameter, as the caller knows it -> its name in the rows.
    """

    def __init__(
        self, rows: Callable[[Mapping[str, Value], int | None], OverRows], names: Collection[str], in_rows: Mapping[str, str]
    ):
        self._rows, self._in_rows = rows, in_rows
        self._names = [n for n in in_rows if n in names]
        self._directions = {along_of(n): along_of(in_rows[n]) for n in self._names}

    @property
    def parameters(self) -> Sequence[str]:
        return *self._in_rows, *self._directions

    @property
    def differentiable(self) -> Sequence[str]:
        return tuple(self._in_rows)

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        along = {own: arguments[n] for n, own in self._directions.items()}
        made = self._rows(arguments, n_sets).compiled_product(self._given(arguments), along)
        if made is None:
            return None
        own = {in_rows: n for n, in_rows in self._in_rows.items()}
        return made.renamed({**own, **{in_rows: n for n, in_rows in self._directions.items()}}, own)

    def __call__(self, **arguments: Value) -> float:
        """Derivative in the direction."""
        return self.value_and_grad(wrt=(), **arguments)[0]

    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Value) -> tuple[float, dict[str, Value]]:
        """Derivative in the direction, and the components of the product in some parameters."""
        rows, given = self._rows(arguments, None), self._given(arguments)
        direction = {self._in_rows[n]: arguments[along_of(n)] for n in self._names}
        _, slopes = rows.value_and_grad(wrt=list(direction), **given)
        products = rows.hessp(direction, **given) if wrt else {}
        value = sum(float(np.sum(np.asarray(slopes[n]) * d)) for n, d in direction.items())
        return value, {n: products[self._in_rows[n]] for n in wrt}

    def _given(self, arguments: Mapping[str, Value]) -> dict[str, Any]:
        return {in_rows: arguments[n] for n, in_rows in self._in_rows.items()}
