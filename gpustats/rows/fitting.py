"""Fits of models of rows: second derivatives in all parameters, scores of single rows, and starting values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.arguments import check_wrt_among
from ..fits.bordered import Bordered
from ..fits.bound_density import start_in
from ..fits.coordinates import labels_of
from ..fits.fittable import Fittable
from ..fits.problem import Expanded, Named, Problem, number_of
from ..fits.symmetric import Symmetric
from ..parallel.pieces import in_pieces
from ..parallel.rows import added, added_gradients, is_stored
from ..runtime.arrays import is_device_array
from ..runtime.cached import cached_property
from ..runtime.transfers import to_host
from ..runtime.types import Doubles, Shape, Value
from .curvature import Curvature
from .labels import axes_of
from .leaves import Column, Dot, Gather, PerRow, Scalar
from .matrix_layout import MatrixLayout
from .parameters import shape_of
from .second_derivatives import SecondDerivatives, blocks_of, reason_against

if TYPE_CHECKING:
    import scipy.sparse

    from ..parallel.pieces import Pieces
    from .binding import Binding
    from .on_device import OnDevice


class Fitting(Fittable):
    """Model of rows that can be fitted."""

    _bound: Binding
    _own: OnDevice
    _pieces: Pieces | None
    n_rows: int | None

    if TYPE_CHECKING:
        @property
        def parameters(self) -> tuple[str, ...]: ...
        def _values(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> tuple[list[Value], Sequence[str]]: ...

    def hessian(
        self, *args: ArrayLike, wrt: str | Collection[str] | None = None, **kwargs: ArrayLike
    ) -> np.ndarray | scipy.sparse.csc_array:
        """The matrix of second derivatives.

        Parameters
        ----------
        *parameters : array_like
            In their order, or by name: see the class. Leading axes are sets for parameters that are numbers alone.
        wrt : str or collection of str, optional
            Names of parameters, in the order of the rows of the matrix, each with its elements in C order; by default all that
            are numbers. Of tables and coefficients, rows are no sequences.

        Returns
        -------
        (P, P) ndarray, or (*sets, P, P); where a table is in `wrt`, a scipy.sparse.csc_array of float64
            Blocks of groups are never written out.

        Raises
        ------
        NotImplementedError
            For tables and coefficients beside sequences, and where there are more than 5,000 parameters beside one grouping.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> rows = gs.Rows(gs.normal, x=np.array([-1.0, 0.0, 2.0]), mu=gs.gather(np.array([0, 0, 1])))
        >>> rows.hessian(mu=np.zeros(2), sigma=1.0, wrt=("mu", "sigma")).toarray()
        array([[ -2.,   0.,   2.],
               [  0.,  -1.,  -4.],
               [  2.,  -4., -12.]])
        """
        parameters = self._bound.parameters
        numbers = [n for n, p in parameters.items() if isinstance(p.leaf, Scalar) and not p.of_vectors]
        names = tuple(numbers) if wrt is None else check_wrt_among(wrt, self.parameters)
        values = self._values(args, kwargs)[0]
        if set(names) <= set(numbers):
            found: np.ndarray = self._second(*values, wrt=names)
            return found
        values = [to_host(v) if is_device_array(v) else v for v in values]
        self._refuse_own_rows(names)
        shapes = {n: shape_of(v) for n, v in zip(parameters, values, strict=True) if n in names}
        made: Bordered = self._bordered(*values, wrt=names, blocks=blocks_of(self._bound, shapes))
        tables = any(isinstance(parameters[n].leaf, Gather | PerRow) for n in names)
        return made.tosparse() if tables else made.toarray()

    def _refuse_own_rows(self, names: Collection[str]) -> None:
        """NotImplementedError for numbers of the rows' own among parameters, where the rows lie in pieces."""
        own = [n for n in names if isinstance(self._bound.parameters[n].leaf, PerRow)]
        if own and self._pieces is not None:
            raise NotImplementedError(
                f"{own[0]} has a number for each row, and the rows lie in pieces ({self._pieces.where}): there are second "
                "derivatives in it on one device alone, without memory=, devices= and client="
            )

    @in_pieces(added)
    def _second(self, *values: Value, wrt: Sequence[str]) -> np.ndarray:
        """Second derivatives in parameters that are numbers, (*sets, P, P)."""
        found, packing = self._own.found("second", wrt, list(values))
        matrices: np.ndarray = found.reshape(*packing.lead, len(wrt), len(wrt))
        return matrices

    @in_pieces(added)
    def _bordered(self, *values: Value, wrt: Sequence[str], blocks: Sequence[str]) -> Bordered:
        """Second derivatives in the elements of parameters."""
        return self._derivatives.hessian(values, wrt, blocks)

    @in_pieces(added)
    def _score_sums(
        self, *values: Value, wrt: Sequence[str], n_clusters: int, clusters: np.ndarray | None = None
    ) -> Doubles:
        """Sums of the rows' scores: see `Problem.score_sums`."""
        return self._derivatives.score_sums(values, wrt, clusters, n_clusters)

    @in_pieces(added)
    def _expanded(self, *values: Value, starts: Mapping[str, int], layout: MatrixLayout[Symmetric]) -> Expanded:
        """Sum, and its derivatives in the elements of a layout, in which parameters have the places from their `starts` on."""
        return self._curvature(values, starts).expanded(values, layout)

    @in_pieces(added_gradients)
    def _with_trace(
        self, *values: Value, starts: Mapping[str, int], matrix: Symmetric, wrt: Sequence[str]
    ) -> dict[str, Value]:
        """Derivatives of the sum and half a trace: see `Curvature.with_trace`."""
        found: dict[str, Value] = dict(self._curvature(values, starts).with_trace(values, matrix, wrt))
        return found

    def _curvature(self, values: Sequence[Value], starts: Mapping[str, int]) -> Curvature:
        shapes = {n: shape_of(v) for n, v in zip(self._bound.parameters, values, strict=True)}
        packing, n_rows = self._bound.packing(values)
        key = tuple(starts.items()), tuple(shapes.values())
        if packing.lead:
            raise ValueError(f"one set of parameters at a time: those given have the leading axes {packing.lead}")
        if key not in self._curvatures:
            length = self._bound.length(shapes)
            self._curvatures[key] = Curvature(self._bound, self._own.runtime, length, starts, shapes, n_rows)
        return self._curvatures[key]

    @cached_property
    def _curvatures(self) -> dict[Any, Curvature]:
        return {}

    @cached_property
    def _derivatives(self) -> SecondDerivatives:
        return SecondDerivatives(self._bound, self._own)

    def _problem(self) -> Problem:
        return RowsProblem(self)


class RowsProblem(Problem):
    """Model of rows as a fit maximises it."""

    def __init__(self, rows: Any):
        self._rows, bound = rows, rows._bound
        self._parameters = bound.parameters
        self.name = bound.row.name
        words = {a.name: a.words for a in bound.arguments}
        self.domains = {
            n: set[str]() if isinstance(p.leaf, Dot) else words[next(iter(p.leaves))] for n, p in self._parameters.items()
        }
        weights = bound.leaves.get("weights")
        self.n_rows = rows.n_rows
        #: whether rows are observations, and no more than a prior of parameters
        self.has_data = any(isinstance(leaf, Column) for n, leaf in bound.leaves.items() if n != "weights")
        self.n_observations = float("nan") if rows.n_rows is None else rows.n_rows
        if isinstance(weights, Column) and not is_stored(weights.numbers):
            self.n_observations = number_of(weights.numbers)
        self.single = bound.dtype.itemsize == 4
        self._by_row = reason_against(bound)

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        return labels_of(name, shape, axes_of(self._parameters[name].leaf))

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        if not self.n_rows:
            raise ValueError(f"these rows have no {'data' if self.n_rows is None else 'observations'}: there is nothing to fit")
        given = {n: np.asarray(v, float) for n, v in self._rows.defaults.items()} | dict(given)
        found = {n: given[n] if n in given else self._start(n) for n in self._parameters}
        found = {n: _of_shape(self._parameters[n], v, self.n_rows) for n, v in found.items()}
        numbers = [n for n, v in found.items() if n not in given and v.ndim == 0]
        others = found | {n: np.ones(()) for n in numbers}  # as a scale of which no domain is known
        if numbers and not np.isfinite(self._rows(**found)) and np.isfinite(self._rows(**others)):
            return others
        return found

    def _start(self, name: str) -> np.ndarray:
        """Value at which a search may begin."""
        parameter, bound = self._parameters[name], self._rows._bound
        if parameter.of_vectors and not any(n in bound.vectors and isinstance(f, Column) for n, f in bound.leaves.items()):
            raise ValueError(f"{name} is made of vectors, whose length only a value tells: give start={{{name!r}: …}}")
        assert self.n_rows is not None
        start = np.full(parameter.example_shape(self.n_rows, bound.example_length), start_in(self.domains[name]))
        if {"ordered", "increasing"} & set(self.domains[name]) and start.ndim:
            start = start + np.arange(start.shape[-1])
        if "simplex" in self.domains[name] and start.ndim:
            start = np.full(start.shape, 1 / start.shape[-1])
        return start

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        value, slopes = self._rows.value_and_grad(**values, wrt=tuple(wrt))
        found = Expanded(float(value), np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt]))
        return replace(found, hessian=self._hessian(values, wrt)) if second and found.finite else found

    def _hessian(self, values: Named, wrt: Sequence[str]) -> Bordered:
        in_order = [values[n] for n in self._parameters]
        self._rows._refuse_own_rows(wrt)
        if self._by_row:
            return Bordered.dense(self._rows._second(*in_order, wrt=tuple(wrt)))
        shapes = {n: np.shape(values[n]) for n in wrt}
        made: Bordered = self._rows._bordered(*in_order, wrt=tuple(wrt), blocks=blocks_of(self._rows._bound, shapes))
        return made

    def exact_in(self, wrt: Sequence[str]) -> bool:
        return not self._by_row or all(
            isinstance(self._parameters[n].leaf, Scalar) and not self._parameters[n].of_vectors for n in wrt
        )

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        more = {} if clusters is None else {"clusters": clusters}
        in_order = [values[n] for n in self._parameters]
        found: Doubles = self._rows._score_sums(*in_order, wrt=tuple(wrt), n_clusters=n_clusters, **more)
        return found


def _of_shape(parameter: Any, value: np.ndarray, n_rows: int) -> np.ndarray:
    """Value in the shape of its parameter: a number stands for all elements of a table or of coefficients."""
    if value.ndim == 0 and parameter.rank and not parameter.of_vectors:
        value = np.full(parameter.example_shape(n_rows, 1), float(value))
    parameter.check(value.shape, n_rows)
    if value.ndim != parameter.rank:
        raise ValueError(f"start: {parameter.name} has shape {value.shape}, and a fit takes one set of parameters")
    return value
