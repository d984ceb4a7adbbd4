"""Derivative of a sum over rows in a direction, as a model: its own derivatives are the Hessian times the direction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..evaluation.compiled import RepeatedSum, Replayable
from .parameters import along_of

if TYPE_CHECKING:
    from ..runtime.types import Shape, Value


class OverRows(Protocol):
    """Sum over rows that lie on one device, with its derivatives and products of its Hessian: `Rows`."""

    def compiled_product(self, arguments: Mapping[str, Value], direction: Mapping[str, Value]) -> RepeatedSum | None: ...
    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Value) -> tuple[Value, dict[str, Value]]: ...
    def hessp(self, direction: Mapping[str, Value], **arguments: Value) -> dict[str, Value]: ...


class Linear(NamedTuple):
    """Sum over rows, as a function of parameters on which those of the rows depend linearly. Only Python evaluates it.

    Attributes
    ----------
    rows : OverRows
    forward : callable
        Takes parameters, or components of a direction, by name, and returns those of the rows by theirs.
    backward : callable
        The transpose: takes derivatives in the parameters of the rows, and returns those in the parameters.
    """

    rows: OverRows
    forward: Callable[[Mapping[str, Any]], dict[str, Value]]
    backward: Callable[[Mapping[str, Any]], dict[str, Value]]

    def compiled_product(self, arguments: Mapping[str, Value], direction: Mapping[str, Value]) -> RepeatedSum | None:
        return None

    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Value) -> tuple[Value, dict[str, Value]]:
        given = self.forward(arguments)
        value, slopes = self.rows.value_and_grad(wrt=list(self.forward({n: arguments[n] for n in wrt})), **given)
        return value, self.backward(slopes)

    def hessp(self, direction: Mapping[str, Value], **arguments: Value) -> dict[str, Value]:
        return self.backward(self.rows.hessp(self.forward(direction), **self.forward(arguments)))


class Along(Replayable):
    """Derivative of a sum over rows in a direction. Its parameters are those of the sum, and behind them the direction's.

    Parameters
    ----------
    rows : callable
        Makes the sum for parameters of some shapes, by the caller's names.
    names : collection of str
        Parameters, by the caller's names, in which the direction has components; the others are 0.
    in_rows : mapping
        Name of each parameter, as the caller knows it -> its name in the rows.
    numbers : collection of str, optional
        Parameters that are numbers in the rows also where the caller gives an array of one.
    """

    def __init__(
        self, rows: Callable[[Mapping[str, Shape]], OverRows], names: Collection[str], in_rows: Mapping[str, str],
        numbers: Collection[str] = (),
    ):  # fmt: skip
        self._rows, self._in_rows, self._numbers = rows, in_rows, numbers
        self._directions = {along_of(n): n for n in in_rows if n in names}

    @property
    def parameters(self) -> Sequence[str]:
        return *self._in_rows, *self._directions

    @property
    def differentiable(self) -> Sequence[str]:
        return tuple(self._in_rows)

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        rows, given, direction = self._of(arguments, () if n_sets is None else (n_sets,))
        made = rows.compiled_product(given, {along_of(n): d for n, d in direction.items()})
        if made is None:
            return None
        own = {in_rows: n for n, in_rows in self._in_rows.items()}
        return made.renamed({**own, **{along_of(self._in_rows[of]): n for n, of in self._directions.items()}}, own)

    def __call__(self, **arguments: Value) -> float:
        """Derivative in the direction."""
        return self.value_and_grad(wrt=(), **arguments)[0]

    def value_and_grad(self, *, wrt: Sequence[str], **arguments: Value) -> tuple[float, dict[str, Value]]:
        """Derivative in the direction, and the components of the product in some parameters."""
        rows, given, direction = self._of(arguments, ())
        _, slopes = rows.value_and_grad(wrt=list(direction), **given)
        products = rows.hessp(direction, **given) if wrt else {}
        value = sum(float(np.sum(np.asarray(slopes[n]) * d)) for n, d in direction.items())
        return value, {n: np.reshape(products[self._in_rows[n]], np.shape(arguments[n])) for n in wrt}

    def _of(self, arguments: Mapping[str, Any], lead: Shape) -> tuple[OverRows, dict[str, Any], dict[str, Any]]:
        """Sum for the arguments of a call, its parameters, and the components of the direction, by their names in the rows."""
        shapes = {n: np.shape(arguments[n])[len(lead) :] for n in self._in_rows}
        numbers = [n for n in self._numbers if shapes[n] == (1,)]

        def own(name: str, value: Any) -> Any:
            return (np.reshape(value, lead) if lead else float(np.reshape(value, ()))) if name in numbers else value

        given = {in_rows: own(n, arguments[n]) for n, in_rows in self._in_rows.items()}
        direction = {self._in_rows[of]: own(of, arguments[n]) for n, of in self._directions.items()}
        return self._rows({n: () if n in numbers else shape for n, shape in shapes.items()}), given, direction
