"""Marginal likelihoods of few observations at many sets of hyperparameters: one kernel, a block of threads for each set."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..evaluation.compiled import RepeatedSum
from ..evaluation.kinds import Plans
from ..evaluation.parcel import Parcel
from ..evaluation.placement import moved
from ..evaluation.repeated import MOST_RECORDED_NUMBERS, KeptPlaces, RepeatedCall, Result, Results, Work
from ..evaluation.slots import Packed, Scratch, Slots
from ..kernels.layout import Layout
from ..kernels.template import Template
from ..rewriting.checks import inside
from ..runtime import thresholds
from ..runtime.cached import cached_property
from . import batch
from .expression import Expression
from .factor import LOG_2PI, NO_SCALE
from .hyperparameters import require_scaled
from .observations import Observations
from .pairs import PairsCode
from .parameters import MEAN, SIGMA, Parameters, ParameterSets, X, Y, on_host

if TYPE_CHECKING:
    from ..runtime.base import Device
    from ..runtime.types import Handle

MOST_OBSERVATIONS = 512  # that a block of threads can take
#: Observations up to which a block is faster for one set than kernels that share its matrix, by the type of device.
MOST_FOR_ONE_SET = {"cpu": MOST_OBSERVATIONS, "gpu": thresholds.PROCESSES_MOST_FOR_ONE_SET.value}
#: Observations up to which blocks are faster for a call with several sets; larger matrices may be a `batch`.
MOST_FOR_SEVERAL_SETS = {"cpu": MOST_OBSERVATIONS, "gpu": thresholds.PROCESSES_MOST_FOR_SEVERAL_SETS.value}

TILE = 32  # rows and columns of a part of the matrix
#: Blocks of a multiprocessor or core: each takes one set after another, in the same memory.
RESIDENT_BLOCKS = thresholds.PROCESSES_RESIDENT_BLOCKS.value

_SETS = Template.beside(__file__, "sets")


def pays(device: Device, n: int, several: bool) -> bool:
    """True if one block of threads factorises the whole of a matrix of n rows.

    The number of sets does not count, so that the bits of a set do not depend on the other sets.
    """
    most = MOST_FOR_SEVERAL_SETS if several else MOST_FOR_ONE_SET
    return 0 < n <= most["cpu" if device.type == "cpu" else "gpu"]


@dataclass(frozen=True)
class SetsLayout(Layout):
    """Constants of the kernel; `tile` is the rows and the columns of a tile of the matrix.

    Attributes
    ----------
    lanes : int
        Threads side by side in a row of a tile.
    high : int
        Rows of a tile in which a thread has sums in registers at once.
    stage : int
        Rows of factors that are in shared memory at once; 0: they are read where they lie.
    columns : int
        Columns of the points for which a thread has sums at once.
    most : int
        Rows of the largest matrix.
    gap : int
        Numbers between the rows of the matrix: rows whose distance is a power of two would share a CPU's places in its cache.
    """

    lanes: int = 1
    high: int = 1
    stage: int = 0
    columns: int = 1
    most: int = MOST_OBSERVATIONS
    gap: int = 8

    @property
    def beside(self) -> int:
        """Rows of a tile that the threads take side by side."""
        return self.threads // self.lanes


def layout_for(device: Device, itemsize: int, columns: int) -> SetsLayout:
    """Layout for points of so many columns."""
    tile, columns = TILE, min(columns, 8)
    if device.type == "cpu" or device.max_threads < 256:  # a vector register has a number of each thread
        threads = min(64 // itemsize, device.max_threads)
        return SetsLayout(threads, tile=tile, lanes=threads, high=max(16 * threads // tile, 1), columns=columns)
    stage = 16 if device.shared_memory >= 40 << 10 else 8
    return SetsLayout(256, tile=tile, lanes=16, high=2, stage=stage, columns=columns)


class SetsCode:
    """Source of the kernel for a covariance function.

    Parameters
    ----------
    covariance : Expression
    columns : int
        Number of columns of the points.
    vectors : collection of str
        The arguments that are vectors in each set: lengthscales, sigma, mean. y always is.
    wrt : sequence of str
        Names of the arguments in which there are derivatives.

    Attributes
    ----------
    arguments : tuple of str
        In the order in which the kernel takes them.
    numbers : dict
        Place behind the value of the derivative in each argument that has one, or in lengthscales one for each column.
    n_numbers : int
        Number of results of each set, without the derivatives by row.
    by_row : list of str
        Arguments with a derivative for each observation: these follow, in this order.
    """

    def __init__(self, covariance: Expression, columns: int, vectors: Sequence[str], wrt: Sequence[str]):
        self.covariance, self.columns, self.vectors, self.wrt = covariance, columns, tuple(vectors), tuple(wrt)
        self.arguments = Y, SIGMA, MEAN, *covariance.parameters
        self.pairs = PairsCode(covariance, columns, [n for n in vectors if n in covariance.parameters])
        self.by_row = [n for n in wrt if n == Y or n in (SIGMA, MEAN) and n in vectors]
        self.numbers, self.n_numbers = dict[str, int](), 1
        for name in wrt:
            if name not in self.by_row:
                self.numbers[name] = self.n_numbers
                self.n_numbers += columns if name in vectors else 1

    def source(self, layout: SetsLayout, dtype: str, dialect: str, student_t: bool = False) -> str:
        """Source of the kernel `marginal_sets`."""
        covariance = self.covariance
        value, _ = covariance.code()
        found = self.pairs.derivatives([n for n in covariance.parameters if n in self.wrt])
        words = {SIGMA: ["nonnegative"]} | {a.name: a.words for a in covariance.arguments}
        conditions = {n: f"({inside(words.get(n, ()), '{0}')} && fabs({{0}}) < INFINITY)" for n in self.arguments}
        c_names = dict(zip(covariance.parameters, (o.name for o in value.operands), strict=True))
        return _SETS.source_of(
            value, "marginal_sets", layout, dtype, dialect, others=[found.code], columns=self.columns, inside=conditions,
            hyperparameters=c_names, vectors=self.vectors, wrt=self.wrt, numbers=self.numbers, n_numbers=self.n_numbers,
            by_row=self.by_row, measures=self.pairs.measures, inputs=self.pairs.of_inputs, wanted=found.wanted,
            sums=found.sums, slopes=found.slopes, student_t=student_t,
        )  # fmt: skip


#: Repeated call of the log marginal likelihoods of sets, (sets,), and their derivatives, (sets, numbers of a set).
_OfSets: TypeAlias = "RepeatedCall[tuple[np.ndarray, dict[str, np.ndarray]]]"


class Sets:
    """Marginal likelihoods of one Gaussian process at sets of parameters, by a block of threads for each set.

    Parameters
    ----------
    covariance : Expression
    data : Observations
    student_t : bool
    lift : float
        Factor of the diagonal.
    never : bool
        Whether each set takes a call of its own, however few observations there are.
    """

    def __init__(self, covariance: Expression, data: Observations, student_t: bool, lift: float, never: bool = False):
        self._never = never
        self.covariance, self.data, self.student_t, self.lift = covariance, data, student_t, lift
        self.arguments = Y, SIGMA, MEAN, *covariance.parameters
        self._calls: Plans[_OfSets] = Plans()

    def __call__(
        self, values: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log marginal likelihoods, and their derivatives.

        Parameters
        ----------
        values : mapping
            Argument -> array of float64, a row for each set or one for all: with a number, or a number for each column of the
            points (lengthscales) or for each observation (sigma, mean, y). y may be left out: it is that of the data.
        n_sets : int
        wrt : sequence of str

        Returns
        -------
        values : (n_sets,) ndarray
            nan where a parameter is outside its domain or the matrix is not positive definite; inf where there is no scale to
            integrate out.
        derivatives : dict
            Argument -> (n_sets, numbers of a set) ndarray.
        """
        arguments = self._in_order(values)
        return self._repeated(arguments, n_sets, wrt)(arguments)

    def of_one(self, parameters: Parameters, wrt: Collection[str]) -> tuple[float, dict[str, Any]] | None:
        """Log-likelihood and its derivatives; None where other kernels are faster, or have to explain a failure."""
        if self._never or not pays(self.data.runtime.device, self.data.n, several=False):
            return None
        given = parameters.by_name
        values, slopes = self(parameters.rows, 1, tuple(wrt))
        if not math.isfinite(values[0]):
            return None
        found = {n: slope.item() if np.ndim(given.get(n, slope)) == 0 else slope[0] for n, slope in slopes.items()}
        return values.item(), self.data.gradient(found, wrt)

    def together(self) -> Callable[..., tuple[np.ndarray, dict[str, np.ndarray]]] | None:
        """Evaluator of several sets at once, called as `Sets`; None where each set takes a call of its own."""
        device, n = self.data.runtime.device, self.data.n
        if self._never:
            return None
        return self if pays(device, n, several=True) else self._batch if batch.pays(device, n) else None

    @cached_property
    def _batch(self) -> batch.Batch:
        return batch.Batch(self.covariance, self.data, self.student_t, self.lift)

    def of_several(
        self, parameters: ParameterSets, wrt: Collection[str], one: Callable[..., tuple[float, dict[str, Any]]]
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Log-likelihoods of sets and the derivatives of their sum; nan where there is no likelihood.

        Parameters
        ----------
        parameters : ParameterSets
        wrt : collection of str
        one : callable
            Evaluation of one set, where each takes a call of its own.
        """
        n_sets, together = parameters.n_sets, self.together()
        if X not in wrt and n_sets and together is not None:
            values, slopes = together(parameters.rows, n_sets, tuple(wrt))
            if np.isposinf(values).any():
                raise ValueError(NO_SCALE)
        else:
            values, slopes = self._one_by_one(parameters, wrt, one)
        found = {n: slope.sum(0) if n in (X, Y) else parameters.as_given(n, slope) for n, slope in slopes.items()}
        return values.reshape(parameters.lead), self.data.gradient(found, wrt)

    def _one_by_one(
        self, parameters: ParameterSets, wrt: Collection[str], one: Callable[..., tuple[float, dict[str, Any]]]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log-likelihoods and derivatives, by a call of `one` for each set."""
        sizes = {n: a.shape[1] for n, a in parameters.rows.items()} | {X: self.data.host_x.size, Y: self.data.n}
        values = np.full(parameters.n_sets, np.nan)
        slopes = {n: np.full((len(values), sizes[n]), np.nan) for n in wrt}
        for k in range(len(values)):
            with contextlib.suppress(np.linalg.LinAlgError):
                values[k], found = one(**parameters.one(k), wrt=wrt)
                for name in wrt:
                    slopes[name][k] = np.ravel(on_host(found[name]))
        return values, slopes

    def compiled(self, values: Mapping[str, np.ndarray], wrt: Sequence[str], n_sets: int) -> RepeatedSum | None:
        """Sets of parameters like these for compiled code; None where only Python can evaluate them."""
        arguments = self._in_order(values)
        return self._repeated(arguments, n_sets, wrt).compiled(arguments)

    def _in_order(self, values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        given = {Y: self.data.y.astype(np.float64).reshape(1, -1), **values}
        return [given[n] for n in self.arguments]

    @cached_property
    def points(self) -> Any:
        """Points by columns, filled up with zeros to whole tiles, as the kernel reads them."""
        data = self.data
        columns = np.zeros((data.columns, data.n + -data.n % TILE), data.dtype)
        columns[:, : data.n] = data.host_x.T
        return moved(data.runtime, columns)

    def _repeated(self, arguments: Sequence[np.ndarray], n_sets: int, wrt: Sequence[str]) -> _OfSets:
        kind = n_sets, tuple(wrt), tuple([a.shape for a in arguments])
        return self._calls.plan(kind, self._new_repeated, arguments, n_sets, wrt)

    def _new_repeated(self, arguments: Sequence[np.ndarray], n_sets: int, wrt: Sequence[str]) -> _OfSets:
        data, covariance = self.data, self.covariance
        runtime, device, n = data.runtime, data.runtime.device, data.n
        sizes = {name: a.shape[1] for name, a in zip(self.arguments, arguments, strict=True)}
        vectors = [name for name, size in sizes.items() if size > 1 and name != Y]
        for name in vectors:
            if name in covariance.parameters:
                require_scaled(covariance, name)
        code = SetsCode(covariance, data.columns, vectors, wrt)
        layout = layout_for(device, data.dtype.itemsize, data.columns)
        source = code.source(layout, data.dtype.name, runtime.dialect, self.student_t)
        kernel = runtime.kernel(source, "marginal_sets", layout.threads)
        grid = min(n_sets, device.compute_units * RESIDENT_BLOCKS), 1
        rows = n + -n % TILE
        scratch = rows * (rows + layout.gap) + len(code.pairs.measures) * data.columns
        addend = -0.5 * n * LOG_2PI + (math.lgamma(0.5 * n) if self.student_t else 0.0)
        taken = [n_sets, n, Scratch(grid[0] * scratch * data.dtype.itemsize), *runtime.memory(self.points), self.lift]
        taken += [addend, Packed()]
        parcel = Parcel(np.dtype(np.float64))
        for i, (a, size) in enumerate(zip(arguments, sizes.values(), strict=True)):
            taken += [parcel.add(i, a.size), size if len(a) > 1 else 0]
        firsts = code.numbers | {name: code.n_numbers + k * n for k, name in enumerate(code.by_row)}
        places = np.arange(n_sets * (code.n_numbers + n * len(code.by_row))).reshape(n_sets, -1)
        of_name = {name: places[:, first : first + sizes[name]] for name, first in firsts.items()}
        results = Results([Result(name, own, own.shape) for name, own in of_name.items()], places[:, 0], (n_sets,))

        def read(numbers: np.ndarray, kept: Sequence[object]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            values, slopes = results(numbers)
            for found in (values, *slopes.values()):
                found[~(np.isfinite(values) | np.isposinf(values))] = np.nan
            return values, slopes

        def launch(found: Handle, values: list[Any], kept: KeptPlaces) -> None:
            kernel(grid, found, 0, *values)

        by_set = [i for i, a in enumerate(arguments) if len(a) > 1]
        slots, most_recorded = Slots(runtime, parcel.dtype, taken, parcel, by_set), MOST_RECORDED_NUMBERS if n_sets == 1 else -1
        return RepeatedCall(
            slots, Work(places.size, launch), read, self.arguments, results=results, alive=self.points,
            most_recorded=most_recorded,
        )  # fmt: skip
