"""Sources of terms: models whose log-densities of rows, for all draws, are computed in pieces of rows on a device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from ..display.bars import bar
from ..glm import GLM
from ..glm.family import COEFFICIENTS, INTERCEPT
from ..glm.varying import Varying
from ..likelihood import Likelihood
from ..mixtures.mixture import Mixture
from ..mixtures.on_rows import MOST_ON_ROWS, mixture_rows, on_rows
from ..mixtures.one_pass import WEIGHTS
from ..parallel.devices import Devices
from ..parallel.pieces import Options, in_memory
from ..parallel.ragged import Ragged
from ..parallel.rows import read
from ..rows.model import Rows
from ..rows.on_device import ResidentTerms
from ..runtime import arrays, choose
from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.host_memory import HostRows
from ..runtime.transfers import to_host
from ..runtime.types import Array, DType, Value
from .draws import Draws, Names
from .smoothing import Terms, turned

#: Models whose rows have terms.
Model: TypeAlias = "Rows | GLM | Likelihood | Mixture"
#: Bytes of a piece, and the part of what a device has free that it takes at most. On a CPU, pieces stay in its cache.
PIECE_ON_GPU, PIECE_ON_CPU, FREE_PART = 4 << 30, 64 << 20, 0.4


class Piece(NamedTuple):
    """Terms of some rows, by row."""

    rows: np.ndarray  # the row of each
    terms: Terms
    order: np.ndarray | None  # place among these rows of each of the terms; None: in their order


class Source(ABC):
    """Terms of a model's rows; a class for each kind of models.

    Parameters
    ----------
    model : Rows, GLM, Likelihood or Mixture
    """

    method: ClassVar[str] = ""  # of the model, to which the axes of a call belong

    def __init__(self, model: Any):
        self.model = model
        divided = getattr(model, "_pieces", None) is not None
        self.runtime: Runtime = choose.get() if divided else choose.get(model.device)
        self._whole = not divided

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @cached_property
    def _data(self) -> dict[str, Array]:
        """Data by their names, on the host or read by slices."""
        return {n: to_host(v) if arrays.is_device_array(v) else v for n, v in self.model._held().items()}

    def pieces(self, draws: Draws, sizes: Options, order: np.ndarray | None = None) -> Iterator[Piece]:
        """Terms of all rows for all draws, a piece of rows at a time; a piece is freed before the next is computed.

        `order` has the rows in the order in which they are gone through.
        """
        given = self.arguments(draws)
        axes = self.row_axes(given)
        size = rows_of_piece(self.runtime, sizes, draws.n)
        whole = self._whole and order is None and size >= self.n_rows
        data = {} if whole else self._data if order is None else in_memory(self._data)
        with bar(self.n_rows, what="rows") as advance:
            for first in range(0, self.n_rows, size):
                end = min(first + size, self.n_rows)
                rows: slice | np.ndarray = slice(first, end) if order is None else order[first:end]
                model = self.model if whole else self.piece({n: _part(v, rows, n) for n, v in data.items()})
                own = {n: v[(..., rows, *[slice(None)] * (-axes[n] - 1))] if n in axes else v for n, v in given.items()}
                found = self.terms(model, own, draws.n)
                terms = turned(self.runtime, found.handle, found.offset, draws.n, end - first, found.dtype)
                if found.alive is not None and self.runtime.host_visible:
                    self.runtime.synchronize()  # the kernel reads memory of the host's
                order_of_terms = found.order
                del found, model
                yield Piece(np.arange(first, end) if order is None else order[first:end], terms, order_of_terms)
                advance(end - first)
                del terms

    def each(self, draws: Draws, work: Callable[[Source, Draws, int], object]) -> None:
        """Call of a function with a source of the rows of each device that shares them, the draws for these, and the first row.

        It is called in a thread of each device. A model of one device has one source, itself.
        """
        spread = getattr(self.model, "_pieces", None)
        if not isinstance(spread, Devices):
            work(self, draws, 0)
            return
        axes = self.row_axes(self.arguments(draws))

        def of_device(model: Any, first: int, end: int) -> None:
            rows = slice(first, end)
            own = {n: v[(..., rows, *[slice(None)] * (-axes[n] - 1))] if n in axes else v for n, v in draws.values.items()}
            work(type(self)(model), replace(draws, values=own), first)

        spread.each(of_device)

    @property
    @abstractmethod
    def names(self) -> Names:
        """Names of the parameters."""

    def arguments(self, draws: Draws) -> dict[str, Value]:
        """Arguments of a call for all draws."""
        return dict(draws.values)

    def row_axes(self, given: Mapping[str, Value]) -> Mapping[str, int]:
        """Axis of the rows of the arguments that have one, counted from the end; errors of a call are found here."""
        axes: dict[str, int] = self.model._row_axes(self.method, (), given)[1]
        return axes

    def piece(self, data: Mapping[str, Array]) -> Any:
        """Model of other rows."""
        return self.model._piece(data, self.runtime)

    @abstractmethod
    def terms(self, model: Any, given: Mapping[str, Value], n_draws: int) -> ResidentTerms:
        """Terms of a model's rows for all draws, (n_draws, N)."""

    def of_array(self, array: Array) -> ResidentTerms:
        """Terms of an array, (n_draws, N), on the host or on the device."""
        if not arrays.is_device_array(array):
            array = np.ascontiguousarray(array) if self.runtime.host_visible else self.runtime.to_device(array)
        handle, offset = self.runtime.memory(array)
        return ResidentTerms(handle, offset, array.dtype, None, array)

    def placed(self, value: Value, dtype: DType) -> Value:
        """Array where results stay on the device."""
        array = np.ascontiguousarray(value, dtype)
        return array if self.runtime.host_visible else self.runtime.to_device(array)


def source_of(model: Model) -> Source:
    """Source of a model's terms; TypeError for a model that has none."""
    kinds: dict[type, type[Source]] = {Rows: _OfRows, GLM: _OfGLM, Likelihood: _OfLikelihood, Mixture: _OfMixture}
    for kind, made in kinds.items():
        if isinstance(model, kind):
            return made(model)
    raise TypeError(f"the model must be a Rows, a GLM, a Likelihood or a Mixture, not {type(model).__name__}")


def rows_of_piece(runtime: Runtime, sizes: Options, n_draws: int) -> int:
    """Rows of a piece: its terms lie on the device twice, while they are turned."""
    if sizes.chunk is not None:
        return sizes.chunk
    if (memory := sizes.memory) is None:
        most, free = PIECE_ON_CPU if runtime.device.type == "cpu" else PIECE_ON_GPU, runtime.free_memory()
        memory = int(min(most, FREE_PART * (runtime.device.memory if free is None else free)))
    return max(int(memory) // (2 * 8 * n_draws), 1)


def _part(value: Array, rows: slice | np.ndarray, name: str) -> Array:
    """Rows of data."""
    if isinstance(rows, slice):
        return value.part(rows.start, rows.stop) if isinstance(value, HostRows) else read(value, rows.start, rows.stop, name)
    return value.taken(rows) if isinstance(value, Ragged) else np.ascontiguousarray(np.asarray(value)[rows])


class _OfRows(Source):
    method = "terms"

    @property
    def n_rows(self) -> int:
        if (n_rows := self.model.n_rows) is None:
            raise ValueError(f"{self.model!r} has no data, whose rows could be left out")
        found: int = n_rows
        return found

    @property
    def names(self) -> Names:
        ranks = {n: p.rank for n, p in self.model._bound.parameters.items()}
        return Names(ranks, list(ranks), list(self.model.defaults))

    def terms(self, model: Rows, given: Mapping[str, Value], n_draws: int) -> ResidentTerms:
        return model.resident_terms(given)


class _OfGLM(Source):
    method = "logpdf"

    @property
    def n_rows(self) -> int:
        found: int = self.model.n_rows
        return found

    @property
    def names(self) -> Names:
        family, terms = self.model._family, self.model._terms
        ranks = {COEFFICIENTS: 1 + family.vector, INTERCEPT: 0, **{n: family.ranks[n] for n in family.parameters}}
        ranks |= {t.name: 1 if t.columns is None else 2 for t in terms}
        return Names(ranks, [COEFFICIENTS, *(t.name for t in terms)], [INTERCEPT, *family.density.defaults])

    def arguments(self, draws: Draws) -> dict[str, Value]:
        """Arguments in which what all rows share has an axis for the rows, too."""
        found, vector = dict(draws.values), self.model._family.vector
        for name, value in found.items():
            rank = self.names.ranks[name] + (name == INTERCEPT and vector)
            if name in draws.shared or name in self.names.exact or value.ndim > 1 + rank:
                continue
            if name == INTERCEPT and vector and value.ndim == 1:  # a number of all outcomes
                value = np.repeat(value[:, None], found[COEFFICIENTS].shape[-1], 1)
            found[name] = value[:, None]
        return found

    def terms(self, model: GLM, given: Mapping[str, Value], n_draws: int) -> ResidentTerms:
        if model._terms:
            arguments = model._all_arguments(**given)
            assert isinstance(model._evaluator, Varying)
            return model._evaluator.resident_terms(arguments)
        beta = given[COEFFICIENTS]
        lead = beta.shape if beta.ndim > self.names.ranks[COEFFICIENTS] else (n_draws, *beta.shape)
        return self.of_array(model.logpdf(**{**given, COEFFICIENTS: self.placed(np.broadcast_to(beta, lead), model._dtype)}))


class _OfObservations(Source):
    @property
    def n_rows(self) -> int:
        found: int = self.model.x.shape[0]
        return found


class _OfLikelihood(_OfObservations):
    method = "__call__"

    def __init__(self, model: Likelihood):
        super().__init__(model)
        observation, x = model._function.arguments[0], model.x
        if len(x.shape) != 1 + observation.rank:
            raise ValueError(f"{observation.name} has shape {tuple(x.shape)}: only observations along one axis are rows")

    @property
    def names(self) -> Names:
        function = self.model._function
        ranks = {a.name: a.rank for a in function.arguments[1:]}
        return Names(ranks, (), list(self.model.density.defaults), self.n_rows)

    def arguments(self, draws: Draws) -> dict[str, Value]:
        """Arguments in which what all rows share has an axis for the rows, too."""
        ranks = self.names.ranks
        return {
            n: v[:, None] if n not in draws.shared and v.ndim == 1 + ranks[n] else v for n, v in draws.values.items()
        }

    def terms(self, model: Likelihood, given: Mapping[str, Value], n_draws: int) -> ResidentTerms:
        dtype = model._x.dtype if model._x.dtype.kind == "f" else np.dtype(float)
        function = model._function.for_arguments(given)
        values = {n: self.placed(v, dtype) if np.ndim(v) else v for n, v in given.items()}
        return self.of_array(function.table([model._x, *function.bind((), values, missing=1)]))


class _OfMixture(_OfObservations):
    @property
    def names(self) -> Names:
        return Names({n: int(n == WEIGHTS) for n in (WEIGHTS, *self.model.density.parameters)}, [WEIGHTS])

    def arguments(self, draws: Draws) -> dict[str, Value]:
        return {
            n: np.broadcast_to(v, (draws.n, *np.shape(v))) if n in draws.shared else v for n, v in draws.values.items()
        }

    def row_axes(self, given: Mapping[str, Value]) -> Mapping[str, int]:
        self.model._call(given[WEIGHTS][0], (), {n: v[0] for n, v in given.items() if n != WEIGHTS})
        return {}

    def piece(self, data: Mapping[str, Array]) -> Mixture:
        with choose.use(self.runtime.device):
            return Mixture(self.model.density, data["x"])

    def terms(self, model: Mixture, given: Mapping[str, Value], n_draws: int) -> ResidentTerms:
        shapes, density = {n: v.shape[1:] for n, v in given.items()}, model.density
        known, k = on_rows(density), shapes[WEIGHTS]
        if model._scalar and known and k[0] <= MOST_ON_ROWS and all(shape in ((), k) for shape in shapes.values()):
            return mixture_rows(density, model.x, self.runtime, shapes).resident_terms(given)
        table = [model.logpdf(**{n: v[s] for n, v in given.items()}) for s in range(n_draws)]
        return self.of_array(np.stack([to_host(row) if arrays.is_device_array(row) else row for row in table]))


class TableSource:
    """Terms that are a table on the host, (draws, N)."""

    def __init__(self, table: np.ndarray):
        self._table, self.runtime, self.n_rows = table, choose.get(), table.shape[1]

    def each(self, draws: Draws, work: Callable[[TableSource, Draws, int], object]) -> None:
        """See `Source.each`."""
        work(self, draws, 0)

    def pieces(self, draws: Draws, sizes: Options, order: np.ndarray | None = None) -> Iterator[Piece]:
        """See `Source.pieces`."""
        runtime, size = self.runtime, rows_of_piece(self.runtime, sizes, draws.n)
        for first in range(0, self.n_rows, size):
            rows = np.arange(first, min(first + size, self.n_rows))
            rows = rows if order is None else order[rows]
            part = np.ascontiguousarray(self._table[:, rows])
            array = part if runtime.host_visible else runtime.to_device(part)
            terms = turned(runtime, *runtime.memory(array), draws.n, rows.size, array.dtype)
            if runtime.host_visible:
                runtime.synchronize()
            yield Piece(rows, terms, None)
            del terms
