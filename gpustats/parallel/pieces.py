"""A model whose rows are evaluated in pieces: what it has to offer, and what the pieces are."""

from __future__ import annotations

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ..runtime import arrays
from .declared import as_declared
from .files import InFile
from .rows import Arguments, Range, cut, is_stored

if TYPE_CHECKING:
    from ..runtime.base import Runtime

Method = TypeVar("Method", bound=Callable[..., Any])


class Options(NamedTuple):
    """How a user wants rows to be divided; None: not at all, unless the device cannot hold them."""

    devices: Any = None
    client: Any = None
    memory: int | None = None
    chunk: int | None = None


class Divisible(Protocol):
    """What a model of rows has to know so that it can be evaluated in pieces."""

    _pieces: Pieces | None

    def _row_axes(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[str], dict[str, int]]:
        """Names of `args`, and the axis of the rows of each argument and result that has one, counted from the end.

        Errors of a call are found here, in the shapes that the user knows.
        """

    def _recipe(self) -> Callable[..., Any]:
        """A function that makes the model anew of other rows, which it takes by the names of the data; it can be pickled."""

    def _piece(self, data: Mapping[str, np.ndarray], runtime: Runtime) -> Any:
        """The model of other rows on a device, which shares what is planned for as many; nobody changes the data."""

    def _held(self) -> dict[str, Any]:
        """The data by their names."""

    def _trial(self) -> tuple[Any, ...]:
        """The arguments with which `value_and_grad` is timed."""


class Data(NamedTuple):
    """The data that a model is bound to.

    Attributes
    ----------
    arrays : dict
        Name -> array with the rows first, in memory or read by slices.
    n_rows, row_bytes : int
        How many rows there are, and how many bytes each takes on a device.
    """

    arrays: dict[str, Any]
    n_rows: int
    row_bytes: int


class Pieces(ABC):
    """The pieces of a model.

    Attributes
    ----------
    ranges : list of (int, int)
        The rows of each piece.
    where : str
        Where the pieces lie, for users to read.
    """

    ranges: list[Range]
    where: str

    @abstractmethod
    def held(self) -> dict[str, Any]:
        """The data of all pieces by their names, in memory or read by slices."""

    @abstractmethod
    def map(self, method: str, calls: Iterable[Arguments]) -> Generator[Any, None, None]:
        """The results of a method for each piece, in the order of the pieces; `calls` are the arguments for each."""


def in_pieces(together: Callable[[Iterable[Any], Mapping[str, int]], Any]) -> Callable[[Method], Method]:
    """Let a method of a model be evaluated by pieces where the model has any.

    Parameters
    ----------
    together : callable
        Makes one result of the pieces' results: see `rows`.
    """

    def decorate(method: Any) -> Any:
        name = method.__name__

        @functools.wraps(method)
        def evaluate(self: Any, *args: Any, **kwargs: Any) -> Any:
            if (pieces := self._pieces) is None:
                return method(self, *args, **kwargs)
            for value in (*args, *kwargs.values()):
                if arrays.is_device_array(value):
                    raise TypeError(f"the data lie in pieces ({pieces.where}): pass NumPy arrays, see gs.to_host")
            names, axes = self._row_axes(name, args, kwargs)
            with contextlib.closing(pieces.map(name, cut(args, kwargs, names, axes, pieces.ranges))) as results:
                return together(results, axes)

        return evaluate

    return decorate


def in_memory(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data for one device, which takes all rows at once: arrays that are read by slices are read."""

    def whole(name: str, value: Any) -> Any:
        if not is_stored(value) or isinstance(value, InFile):  # files are read where they are to be copied
            return value
        return as_declared(value[: value.shape[0]], tuple(value.shape), value.dtype, name)

    return {n: whole(n, v) for n, v in data.items()}
