"""Densities of points given their neighbours: the kernels, and their launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...evaluation.kinds import Plans
from ...evaluation.parcel import Parcel
from ...evaluation.placement import moved
from ...evaluation.repeated import MOST_RECORDED_NUMBERS, Kept, KeptPlaces, RepeatedCall, Work
from ...evaluation.slots import Packed, Scratch, Slots
from ...kernels.layout import MOST_BLOCKS_Y
from ...kernels.template import Template
from ...rewriting.checks import inside
from ...runtime.cached import cached_property
from ..expression import Expression
from ..factor import LOG_2PI
from ..hyperparameters import require_scaled
from ..pairs import PairsCode, over_cubes
from ..parameters import MEAN, SIGMA, Y
from .layout import VecchiaLayout, layout_for

if TYPE_CHECKING:
    from ...runtime.base import Kernel, Runtime
    from ...runtime.types import Handle

_CONDITIONALS = Template.beside(__file__, "conditionals")
_BY_ROW = Template.beside(__file__, "by_row")

LIKELIHOOD, PREDICTIONS = "likelihood", "predictions"
#: Bytes of the sums of blocks that are fetched at a time.
MOST_FETCHED_BYTES = 1 << 26
#: Bytes of scratch memory of a call that a thread keeps with its recording.
MOST_KEPT_BYTES = 1 << 20

_DOUBLE = np.dtype(np.float64)


class VecchiaCode:
    """Source of a kernel for a covariance function.

    Parameters
    ----------
    covariance : Expression
    columns, neighbours : int
        Numbers of columns of the points, and of neighbours of each.
    vectors : sequence of str
        The arguments that are vectors in each set: lengthscales, sigma, mean.
    wrt : sequence of str
        Names of the arguments in which there are derivatives.

    Attributes
    ----------
    numbers : dict
        Arguments that have one derivative, or, in lengthscales, one for each column.
    by_row : list of str
        Arguments that have a derivative for each observation.
    """

    def __init__(
        self, covariance: Expression, columns: int, neighbours: int, vectors: Sequence[str] = (), wrt: Sequence[str] = ()
    ) -> None:
        self.covariance, self.columns, self.neighbours = covariance, columns, neighbours
        self.vectors, self.wrt = tuple(vectors), tuple(wrt)
        self.pairs = PairsCode(covariance, columns, [n for n in vectors if n in covariance.parameters])
        self.by_row = [n for n in wrt if n == Y or n in (SIGMA, MEAN) and n in vectors]
        self.numbers = [n for n in wrt if n not in self.by_row]
        self._found = self.pairs.derivatives([n for n in covariance.parameters if n in wrt])

    def source(self, which: str, layout: VecchiaLayout, dtype: str, dialect: str) -> str:
        """Source of the kernel ``vecchia_likelihood`` or ``vecchia_predictions``."""
        covariance, found = self.covariance, self._found
        value, _ = covariance.code()
        words = {SIGMA: ["nonnegative"]} | {a.name: a.words for a in covariance.arguments}
        names = SIGMA, MEAN, *covariance.parameters
        conditions = {n: f"({inside(words.get(n, ()), '{0}')} && fabs({{0}}) < INFINITY)" for n in names}
        c_names = dict(zip(covariance.parameters, (o.name for o in value.operands), strict=True))
        return _CONDITIONALS.source_of(
            value, f"vecchia_{which}", layout, dtype, dialect, others=[] if which == PREDICTIONS else [found.code], which=which,
            columns=self.columns, neighbours=self.neighbours, inside=conditions, hyperparameters=c_names, vectors=self.vectors,
            wrt=self.wrt, numbers=self.numbers, by_row=self.by_row, measures=self.pairs.measures, inputs=self.pairs.of_inputs,
            wanted=found.wanted, sums=found.sums, slopes=found.slopes, chunks=self.chunks(layout),
        )  # fmt: skip

    def chunks(self, layout: VecchiaLayout) -> int:
        """Number of passes over the points, each for sums of as many columns as fit a thread."""
        return -(-self.columns // layout.columns) if self._found.wanted else 1

    def slots(self, layout: VecchiaLayout) -> tuple[list[str], list[str]]:
        """Names of a block's numbers: names of sums, then the lengthscale of each measure that is scaled, by chunks."""
        sums = ["loglik", *self._found.sums, *(n for n in (SIGMA, MEAN) if n in self.numbers)]
        return sums, [self.pairs.measures[k].scaled for k in self._found.wanted]


@dataclass(frozen=True, eq=False)
class Points:
    """Points in their order, on a device, and a range of them that counts.

    Attributes
    ----------
    runtime : Runtime
    dtype : dtype
    x : (N, p) array
    y : (N,) array
    neighbours : (n, m) ndarray of int32
        For each of those that count, rows of x that come before, -1 where there are fewer.
    before : int
        The first that counts.
    """

    runtime: Runtime
    dtype: np.dtype
    x: Any
    y: Any
    neighbours: np.ndarray
    before: int = 0

    @classmethod
    def on(cls, runtime: Runtime, x: np.ndarray, y: np.ndarray, neighbours: np.ndarray, first: int, end: int) -> Points:
        """Points moved to a device; those from `first` to `end` count."""
        on_device = [moved(runtime, np.ascontiguousarray(a)) for a in (x, y)]
        return cls(runtime, x.dtype, on_device[0], on_device[1], np.ascontiguousarray(neighbours[first:end]), first)

    @cached_property
    def placed(self) -> Any:
        """Neighbours of the points, as kernels read them."""
        return moved(self.runtime, self.neighbours if self.neighbours.shape[1] else np.zeros((1, 1), np.int32))

    @cached_property
    def memberships(self) -> tuple[Any, Any]:
        """Places of each point's terms in the rows of neighbours and point, and the end of each point's places."""
        own = np.arange(self.before, self.before + len(self.neighbours), dtype=np.int32)
        rows = np.column_stack([self.neighbours, own]).ravel()
        places = np.argsort(rows, kind="stable")[np.count_nonzero(rows < 0) :]
        ends = np.cumsum(np.bincount(rows[rows >= 0], minlength=self.x.shape[0]))
        return moved(self.runtime, places.astype(np.int64)), moved(self.runtime, ends.astype(np.int64))


class Conditionals:
    """Densities of points given their neighbours.

    Parameters
    ----------
    covariance : Expression
    points : Points
    lift : float
        Factor of the diagonals of matrices.
    """

    def __init__(self, covariance: Expression, points: Points, lift: float) -> None:
        self.covariance, self.points, self.lift = covariance, points, lift
        self.m = points.neighbours.shape[1]
        self.arguments = SIGMA, MEAN, *covariance.parameters
        self._kernels: Plans[_Kernel] = Plans()

    def __call__(
        self, values: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log-likelihoods, and their derivatives.

        Parameters
        ----------
        values : mapping
            Argument -> array of float64, a row for each set or one for all.
        n_sets : int
        wrt : sequence of str
            Names of arguments, and y.

        Returns
        -------
        values : (n_sets,) ndarray
            nan where a parameter is outside its domain or a matrix is not positive definite.
        derivatives : dict
            Argument -> (n_sets, numbers of a set) ndarray.
        """
        given = [np.ascontiguousarray(values[n], np.float64) for n in self.arguments]
        kernel = self._kernel(LIKELIHOOD, given, tuple(wrt))
        step = 1 if kernel.code.by_row else max(min(MOST_FETCHED_BYTES // (8 * kernel.per_set), MOST_BLOCKS_Y), 1)
        parts = []
        for first in range(0, n_sets, step):
            part = [a[first : first + step] if len(a) > 1 else a for a in given]
            parts.append(kernel.sums(part, min(step, n_sets - first)))
        return np.concatenate([v for v, _ in parts]), {n: np.concatenate([part[n] for _, part in parts]) for n in wrt}

    def predict(
        self, values: Mapping[str, np.ndarray], xs: Any, nearest: Any, mean: Any, scale: Any, noise: Any
    ) -> None:
        """Add what their neighbours tell to the `mean` at new points, and write the `scale`.

        Parameters
        ----------
        values : mapping
            Arguments of one set.
        xs, mean, scale, noise : array
            As kernels read and write them.
        nearest : (k, m) array of int32
        """
        given = [np.ascontiguousarray(values[n], np.float64) for n in self.arguments]
        self._kernel(PREDICTIONS, given, (), nearest.shape[1]).predict(given, xs, nearest, mean, scale, noise)

    def _kernel(self, which: str, given: Sequence[np.ndarray], wrt: tuple[str, ...], m: int | None = None) -> _Kernel:
        kind = which, wrt, m, tuple([a.shape[1] for a in given])
        return self._kernels.plan(
            kind, _Kernel, self.covariance, self.points, self.lift, which, given, wrt, self.m if m is None else m
        )  # fmt: skip


def _add_by_row(points: Points, terms: Handle, out: Handle, offset: int) -> None:
    """Start to sum up each point's terms, which kernels have written to the memory `terms`, into `out`."""
    runtime, count = points.runtime, points.x.shape[0]
    threads = min(256, runtime.device.max_threads)
    kernel = _BY_ROW.kernel(runtime, "vecchia_by_row", threads, dtype=points.dtype.name, threads=threads)
    places, ends = points.memberships
    kernel((-(-count // threads), 1), out, offset, terms, *runtime.memory(places), *runtime.memory(ends), count)


class _Kernel:
    """Kernel for arguments of so many numbers each. Threads may share it."""

    def __init__(
        self, covariance: Expression, points: Points, lift: float, which: str, given: Sequence[np.ndarray], wrt: Sequence[str],
        m: int,
    ) -> None:  # fmt: skip
        runtime, columns = points.runtime, points.x.shape[1]
        self._arguments = SIGMA, MEAN, *covariance.parameters
        sizes = {name: a.shape[1] for name, a in zip(self._arguments, given, strict=True)}
        vectors = [name for name, size in sizes.items() if size > 1]
        for name in vectors:
            if name in covariance.parameters:
                require_scaled(covariance, name)
        self._points, self._lift, self.code = points, lift, VecchiaCode(covariance, columns, m, vectors, wrt)
        self._layout = layout_for(runtime.device, points.dtype.itemsize, m, columns)
        source = self.code.source(which, self._layout, points.dtype.name, runtime.dialect)
        shared = points.dtype.itemsize * self._layout.numbers if self._layout.in_shared else 0
        self._kernel: Kernel = runtime.kernel(source, f"vecchia_{which}", self._layout.threads, shared)
        self._sums, self._scaled = self.code.slots(self._layout)
        self._chunks = self.code.chunks(self._layout)
        slots = len(self._sums) + len(self._scaled) * self._layout.columns * self._chunks
        self._blocks = max(min(-(-len(points.neighbours) // self._layout.abreast), self._layout.blocks), 1)
        self.per_set = self._blocks * slots
        self._calls: Plans[RepeatedCall[tuple[np.ndarray, list[np.ndarray]]]] = Plans()

    def _slots(self, given: Sequence[np.ndarray], blocks: int, *before: object) -> Slots:
        """Slots of the kernel for arguments like those given; `before`: those before the points."""
        points, scratch = self._points, Scratch(self._scratch_bytes(blocks))
        taken = [*points.runtime.memory(points.x), *points.runtime.memory(points.y), scratch, self._lift]
        parcel = Parcel(_DOUBLE)
        for i, a in enumerate(given):
            taken += [parcel.add(i, a.size), a.shape[1] if len(a) > 1 else 0]
        return Slots(points.runtime, _DOUBLE, [*before, *taken[:6], Packed(), *taken[6:]], parcel)

    def _scratch_bytes(self, blocks: int) -> int:
        return self._points.dtype.itemsize * (1 if self._layout.in_shared else self._layout.numbers * blocks)

    def _new_call(
        self, given: Sequence[np.ndarray], n_sets: int
    ) -> RepeatedCall[tuple[np.ndarray, list[np.ndarray]]]:
        """Repeated call of the sums of the sets, and of derivatives by row."""
        points, kernel, blocks, n_terms = self._points, self._kernel, self._blocks, len(self.code.by_row)
        n, m = points.neighbours.shape
        terms = [Scratch(points.dtype.itemsize * n * (m + 1))] * n_terms
        slots = self._slots(given, blocks * n_sets, *terms, n, points.before, *points.runtime.memory(points.placed))

        def launch(found: Handle, taken: list[Any], kept: KeptPlaces) -> None:
            kernel((blocks, n_sets), found, *taken)
            for memory, place in zip(taken[:n_terms], kept, strict=True):
                _add_by_row(points, memory, *place)

        def read(numbers: np.ndarray, kept: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
            return numbers.reshape(n_sets, blocks, -1).sum(1), [np.asarray(a, np.float64) for a in kept]

        kept = [Kept((points.x.shape[0],), points.dtype)] * n_terms
        small = self._scratch_bytes(self._blocks * n_sets) <= MOST_KEPT_BYTES
        most_recorded = MOST_RECORDED_NUMBERS if small else -1
        return RepeatedCall(slots, Work(n_sets * self.per_set, launch), read, kept=kept, most_recorded=most_recorded)

    def sums(self, given: Sequence[np.ndarray], n_sets: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log-likelihoods and derivatives of sets; of one set where there are derivatives by row."""
        kind = n_sets, tuple([len(a) for a in given])
        found, by_row = self._calls.plan(kind, self._new_call, given, n_sets)(given)
        slopes = {name: own[None] for name, own in zip(self.code.by_row, by_row, strict=True)}
        sums = dict(zip(self._sums, found.T, strict=False))
        values = sums["loglik"] - 0.5 * len(self._points.neighbours) * LOG_2PI
        by_name = dict(zip(self._arguments, given, strict=True))
        if SIGMA in sums or SIGMA in slopes:
            slopes[SIGMA] = 2 * by_name[SIGMA] * (sums[SIGMA][:, None] if SIGMA in sums else slopes[SIGMA])
        moments = found[:, len(self._sums) :].reshape(n_sets, self._chunks, len(self._scaled), self._layout.columns)
        for name in self.code.wrt:
            if name in self._scaled:
                slopes[name] = self._of_lengthscales(name, moments, by_name[name])
            elif name not in slopes:
                slopes[name] = sums[name][:, None]
        bad = ~np.isfinite(values)
        values[bad] = np.nan
        for slope in slopes.values():
            slope[bad] = np.nan
        return values, slopes

    def _of_lengthscales(self, name: str, moments: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Derivatives in a vector of lengthscales, from the sums over pairs by measure and column."""
        columns = self._points.x.shape[1]
        total = np.zeros((len(moments), columns))
        of_measures = [m for m in self.code.pairs.measures if m.scaled in self._scaled]
        for k, measure in enumerate(of_measures):
            if measure.scaled == name:
                by_column = moments[:, :, k].reshape(len(moments), -1)[:, :columns]
                if measure.columns is not None:
                    by_column = np.where(np.isin(np.arange(columns), measure.columns), by_column, 0)
                total += by_column
        return over_cubes(-2 * total, values)

    def predict(self, given: Sequence[np.ndarray], xs: Any, nearest: Any, mean: Any, scale: Any, noise: Any) -> None:
        """Predictions at new points, as `Conditionals.predict` makes them."""
        runtime, count = self._points.runtime, xs.shape[0]
        blocks = max(min(-(-count // self._layout.abreast), self._layout.blocks), 1)
        outs = [v for array in (mean, scale, noise, xs) for v in runtime.memory(array)]
        taken, alive = self._slots(given, blocks, *outs, count, *runtime.memory(nearest)).of(given)
        self._kernel((blocks, 1), *taken)
        runtime.synchronize()
        del alive
