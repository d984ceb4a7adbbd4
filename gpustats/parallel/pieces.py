"""Pieces of a model whose rows are evaluated apart, and the interface that such a model has."""

from __future__ import annotations

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from ..evaluation.kinds import Plans, kind_of
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.host_memory import HostRows
from ..runtime.types import Array
from .declared import as_declared
from .rows import Arguments, Range, cut, is_stored

Method = TypeVar("Method", bound=Callable[..., Any])
Axes = tuple[Sequence[str], dict[str, int]]  # see `Divisible._row_axes`


class Options(NamedTuple):
    """Options of a user for the division of rows; None: no division, unless the device cannot hold them."""

    devices: Any = None  # as `choose.several` takes them
    client: Any = None  # a distributed.Client, or what stands for one
    memory: int | None = None
    chunk: int | None = None


class Divisible(Protocol):
    """Interface of a model whose rows can be evaluated in pieces."""

    _pieces: Pieces | None

    def _start(self, method: str, args: Sequence[Array], kwargs: Mapping[str, Array]) -> Callable[[], Any] | None:
        """Start a method's kernels on the model's one device; the function returned waits for the result.

        None, and nothing is started, where a method cannot be cut so.
        """

    def _row_axes(self, method: str, args: Sequence[Array], kwargs: Mapping[str, Array]) -> Axes:
        """Names of `args`, and the axis of the rows of each argument and result that has one, counted from the end.

        Errors of a call are found here, in the shapes that the user knows.
        """

    def _recipe(self) -> Callable[..., Divisible]:
        """Function that makes the model anew of other rows, which it takes by the names of the data; it can be pickled."""

    def _piece(self, data: Mapping[str, np.ndarray | HostRows], runtime: Runtime) -> Divisible:
        """Model of other rows on a device, which shares the plans for as many rows; nobody changes the data."""

    def _places(self) -> Mapping[str, Array] | None:
        """Device arrays of a piece into which other rows can be copied, by the names of the data; None where none can."""

    def _held(self) -> dict[str, Array]:
        """Data by their names."""

    def _trial(self) -> tuple[Array, ...]:
        """Arguments with which `value_and_grad` is timed."""


@dataclass(frozen=True)
class Data:
    """Data that a model is bound to."""

    arrays: dict[str, Array]  #: by name, with the rows first, in memory or read by slices
    n_rows: int
    row_bytes: int | np.ndarray  #: bytes of a row on a device; of each row, where they differ

    @cached_property
    def bytes_before(self) -> np.ndarray | None:
        """Bytes of the rows before each row, and of all; None where all rows have as many."""
        return None if isinstance(self.row_bytes, int) else np.concatenate([[0], np.cumsum(self.row_bytes)])

    def nbytes(self, first: int, end: int) -> int:
        """Bytes of a range of rows."""
        if isinstance(self.row_bytes, int):
            return (end - first) * self.row_bytes
        assert self.bytes_before is not None
        return int(self.bytes_before[end] - self.bytes_before[first])


class Pieces(ABC):
    """Pieces of a model."""

    ranges: list[Range]  #: rows of each piece
    where: str  #: place of the pieces, for users to read

    @cached_property
    def _known_axes(self) -> Plans[Axes]:
        return Plans()

    def row_axes(self, model: Divisible, method: str, args: Sequence[Array], kwargs: Mapping[str, Array]) -> Axes:
        """Names and axes of the model's rows for a call; asked once for calls that differ in their numbers only."""
        given = {n: v for n, v in kwargs.items() if n != "wrt"}
        values, wrt = (*args, *given.values()), kwargs.get("wrt")
        if (kind := kind_of(values)) is None:
            if any(map(arrays.is_device_array, values)):
                raise TypeError(f"the data lie in pieces ({self.where}): pass NumPy arrays, see gs.to_host")
            return model._row_axes(method, args, kwargs)
        key = method, kind, tuple(given), wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        return self._known_axes.plan(key, model._row_axes, method, args, kwargs)

    @abstractmethod
    def held(self) -> dict[str, Array]:
        """Data of all pieces by their names, in memory or read by slices."""

    @abstractmethod
    def map(self, method: str, calls: Iterable[Arguments]) -> Generator[Any, None, None]:
        """Results of a method for each piece, in the order of the pieces; `calls` are the arguments for each."""


def in_pieces(together: Callable[[Iterable[Any], Mapping[str, int]], Any]) -> Callable[[Method], Method]:
    """Decorator: let a method of a model be evaluated by pieces where the model has any.

    `together` makes one result of the pieces' results: see `rows`.
    """

    def decorate(method: Method) -> Method:
        name = method.__name__

        @functools.wraps(method)
        def evaluate(self: Any, *args: Array, **kwargs: Array) -> Any:
            if (pieces := self._pieces) is None:
                return method(self, *args, **kwargs)
            names, axes = pieces.row_axes(self, name, args, kwargs)
            with contextlib.closing(pieces.map(name, cut(args, kwargs, names, axes, pieces.ranges))) as results:
                return together(results, axes)

        return cast(Method, evaluate)

    return decorate


def in_memory(data: Mapping[str, Array]) -> dict[str, Array]:
    """Data for one device, which takes all rows at once: arrays that are read by slices are read."""

    def whole(name: str, value: Array) -> Array:
        if not is_stored(value) or isinstance(value, HostRows):  # files are read where they are to be copied
            return value
        return as_declared(value[: value.shape[0]], tuple(value.shape), value.dtype, name)

    return {n: whole(n, v) for n, v in data.items()}
