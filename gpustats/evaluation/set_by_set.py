"""Sets of parameters that are evaluated one by one, so that each gets the bits that it gets alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from ..runtime.types import Shape, Value
from .pointwise import Pointwise


class SetBySet:
    """Sets of parameters of a call with observations (N,).

    Attributes
    ----------
    lead : tuple of int
        Shape of the sets; () where there is one.
    """

    def __init__(self, function: Pointwise, n_rows: int, args: Sequence[Value], kwargs: Mapping[str, Value]):
        arguments = function.arguments[1:]
        given = function.bind(args, kwargs, missing=1)
        self._values = {
            a.name: to_host(v) if is_device_array(v) else np.asarray(v) for a, v in zip(arguments, given, strict=True)
        }
        self._cores = {a.name: self._values[a.name].ndim - a.rank for a in arguments}
        batches = [self._values[a.name].shape[: self._cores[a.name]] for a in arguments]
        self.lead: Shape = np.broadcast_shapes((n_rows,), *batches)[:-1]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Parameters of each set, by name."""
        for place in np.ndindex(self.lead):
            yield {n: _number(v[self._index(n, place)], self._cores[n]) for n, v in self._values.items()}

    def values(self, found: Sequence[Any]) -> np.ndarray:
        """Results of all sets, each a number or an array."""
        return np.reshape(np.array(found, float), self.lead + np.shape(found[0]) if found else self.lead)

    def gradient(self, found: Sequence[Mapping[str, Any]], names: Collection[str]) -> dict[str, np.ndarray]:
        """Derivatives of the sum of all values, each shaped like its parameter."""
        total = {n: np.zeros(self._values[n].shape) for n in names}
        for place, slopes in zip(np.ndindex(self.lead), found, strict=True):
            for name, whole in total.items():
                own = whole[self._index(name, place)]
                whole[self._index(name, place)] = own + np.reshape(slopes[name], own.shape)
        return total

    def _index(self, name: str, place: Sequence[int]) -> tuple[int, ...]:
        """Place of a set in an array of a parameter."""
        own = self._values[name].shape[: self._cores[name]][:-1]
        return tuple(0 if n == 1 else p for n, p in zip(own, place[len(place) - len(own) :], strict=True))


def _number(value: np.ndarray, batch_axes: int) -> Any:
    """Parameter of one set: without an axis for rows, where all share it."""
    return value.reshape(value.shape[1:])[()] if batch_axes and value.shape[0] == 1 else value[()]

