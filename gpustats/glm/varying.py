"""Named groups of a GLM, whose intercepts and slopes vary between groups of terms, and sparse designs: sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..density import Density
from ..evaluation.compiled import RepeatedSum
from ..evaluation.results import delivered, like
from ..fits.problem import Expanded
from ..parallel.pieces import Options
from ..parallel.rows import is_stored, largest
from ..rows.along import Along, Linear
from ..rows.leaves import MOST_COLUMNS
from ..rows.model import Rows
from ..rows.on_device import ResidentTerms
from ..rows.second_derivatives import LEAST_IN_BLOCKS, SecondDerivatives
from ..rows.sparse_matrix import is_sparse
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.cached import cached_property
from ..runtime.transfers import to_host
from ..runtime.types import Array, Doubles, DType, Value
from .arguments import Arguments
from .data import Named, read
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family
from .on_rows import PRODUCT, parameter, rows_of, term_of

M = TypeVar("M")

#: Names that no term of groups can have.
RESERVED = {COEFFICIENTS, INTERCEPT, OBSERVATIONS, DESIGN, OFFSET, WEIGHTS, "wrt", "rng", "factors"}


def read_terms(
    groups: Mapping[str, Value], family: Family, n_rows: int, columns_of_X: int | None, n_groups: int | None
) -> tuple[tuple[Named, ...], dict[str, Array]]:
    """Terms of named groups, and their data by name; ValueError where they do not fit the model.

    X has `columns_of_X`, None for any number: if it is sparse.
    """
    if n_groups is not None:
        raise ValueError("n_groups is of groups without names: the tables of named ones tell how many there are")
    if columns_of_X is not None and columns_of_X > MOST_COLUMNS:
        raise ValueError(f"X has {columns_of_X} columns, and beside groups with names it may have {MOST_COLUMNS}")
    if family.vector:
        raise ValueError(f"{family.eta} of {family.density.name} is a vector, for which groups cannot have names")
    terms: list[Named] = []
    data: dict[str, Array] = {}
    for name, given in groups.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"groups has the name {name!r}: it becomes a parameter, whose name must be an identifier")
        if name in RESERVED or name in family.density.parameters:
            raise ValueError(f"groups has the name {name!r}, which the GLM has already: call it otherwise")
        term = Named(name, None, -1)
        index, columns = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        width = None
        term_data = read({term.index_name: index, term.columns_name: columns})
        if arrays.is_device_array(term_data[term.index_name]):
            term_data[term.index_name] = to_host(term_data[term.index_name])
        index = term_data[term.index_name]
        dtype, shape = np.dtype(getattr(index, "dtype", float)), tuple(getattr(index, "shape", ()))
        if shape != (n_rows,) or dtype.kind not in "iu":
            raise ValueError(
                f"{term.index_name} has shape {shape} and dtype {dtype}: it must be ({n_rows},) whole numbers, one for each row"
            )
        last = int(largest(index, -1, term.index_name))
        if (isinstance(index, np.ndarray) and index.min(initial=0) < 0) or last >= 2**31 - 1:
            raise ValueError(f"{term.index_name} must be numbered from 0; numpy.unique(…, return_inverse=True) numbers them")
        if columns is not None:
            shape = tuple(getattr(term_data[term.columns_name], "shape", ()))
            if len(shape) != 2 or shape[0] != n_rows or not shape[-1]:
                raise ValueError(f"{term.columns_name} have shape {shape}: they must be ({n_rows}, m), a row for each row of X")
            width = shape[-1]
        terms.append(Named(name, width, last))
        data |= term_data
    if (count := sum(t.columns or 1 for t in terms)) > MOST_COLUMNS:
        raise ValueError(f"groups has {count} columns in all its terms together, and takes {MOST_COLUMNS}")
    return tuple(terms), data


def check_sparse(family: Family, grouped: bool, options: Options) -> None:
    """Check of what goes together with a sparse X; `grouped`: there are groups without names."""
    if family.vector:
        message = f"{family.eta} of {family.density.name} is a vector, and X is sparse: give X as an array, or take gs.Rows"
        raise ValueError(message)
    if grouped:
        raise ValueError("groups beside a sparse X must have names: groups={'county': groups}")
    if options != Options():
        raise ValueError("a sparse X lies on one device: leave out devices, client, memory, chunk; gs.Rows divides such rows")


class Varying:
    """The rows of a GLM with named groups, or with a sparse design, on a device."""

    def __init__(self, family: Family, terms: Sequence[Named], data: Mapping[str, Array], dtype: DType, runtime: Runtime):
        self._family, self._terms, self.runtime = family, terms, runtime
        self._matrices = {t.name for t in terms if t.columns is not None}
        whole = {t.index_name for t in terms}
        self._data = {n: _copied(v, None if n in whole else dtype) for n, v in data.items()}
        self._rows: dict[bool, Rows] = {}

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        """Names in `Rows` of each parameter: see `names_in_rows`."""
        return names_in_rows(self._family, self._terms)

    def on_host(self) -> dict[str, Array]:
        """Data of the rows, on the host."""
        return self._data

    def rows(self, density: bool) -> Rows:
        """Sum over rows of the log-density, or else of the linear predictor."""
        if density not in self._rows:
            terms = [(named, term_of(i, named)) for i, named in enumerate(self._terms)]
            self._rows[density] = rows_of(self._family, self.runtime, self._data, terms, density=density)
        return self._rows[density]

    def value_and_grad(self, arguments: Arguments, wrt: Sequence[str]) -> tuple[Value, dict[str, Value]]:
        """The summed log-density and its derivatives."""
        names = self._names
        value, found = self.rows(True).value_and_grad(**self._in_rows(arguments), wrt=[r for n in wrt for r in names[n]])
        gradients: dict[str, Value] = {}
        for name in wrt:
            original, parts = arguments[name].value, [found[r] for r in names[name]]
            result = np.stack(parts, -1) if name in self._matrices else np.asarray(parts[0])
            shape = () if isinstance(original, float) else tuple(original.shape)
            gradients[name] = like(self.runtime, result.reshape(shape), original)
        return value, gradients

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], rank: int) -> RepeatedSum | None:
        """Sums for compiled code, of arguments with so many axes of sets; None where a number is given as an array."""
        numbers = INTERCEPT, *self._family.parameters
        if any(np.ndim(arguments[n]) > rank for n in numbers if n in arguments):
            return None
        names = {n: its for n, its in self._names.items() if n in arguments or n == INTERCEPT}
        made = self.rows(True).compiled(self._columns({INTERCEPT: 0.0, **arguments}), [r for n in wrt for r in names[n]])
        if made is None:
            return None
        made = made.of_tables(names)
        return made if INTERCEPT in arguments else made.fix({INTERCEPT: 0.0})

    def along(self, names: Collection[str]) -> Along:
        """Derivative of the sum in a direction."""
        in_rows, numbers = self._names, (INTERCEPT, *self._family.parameters)
        if not self._matrices:
            return Along(lambda shapes: self.rows(True), names, {n: r for n, (r,) in in_rows.items()}, numbers)

        def backward(found: Mapping[str, Any]) -> dict[str, Value]:
            parts = {n: [found[r] for r in its] for n, its in in_rows.items() if its[0] in found}
            return {n: np.stack(its, -1) if n in self._matrices else its[0] for n, its in parts.items()}

        linear = Linear(self.rows(True), self._columns, backward)
        return Along(lambda shapes: linear, names, {n: n for n in in_rows}, numbers)

    def logpdf(self, arguments: Arguments) -> Array:
        """The log-density of each row."""
        return delivered(self.runtime, self.rows(True).terms(**self._in_rows(arguments)), arguments.native)

    def resident_terms(self, arguments: Arguments) -> ResidentTerms:
        """The log-density of each row, which stays on the device."""
        return self.rows(True).resident_terms(self._in_rows(arguments))

    def linear_predictor(self, arguments: Arguments) -> Array:
        """The linear predictor of each row."""
        return delivered(self.runtime, self.rows(False).terms(**self._in_rows(arguments)), arguments.native)

    def expanded(self, arguments: Arguments, wrt: Sequence[str]) -> Expanded:
        """Sum and its derivatives in the elements of parameters, one after another; those of the largest term by groups."""
        value, slopes = self.value_and_grad(arguments, wrt)
        found = Expanded(float(value), np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt]))
        if not found.finite:
            return found
        names = self._names
        sizes = {t.name: int(np.prod(arguments[t.name].value.shape)) for t in self._terms if t.name in wrt}
        largest = max(sizes, key=lambda n: sizes[n], default="")
        blocks = names[largest] if largest and sizes[largest] >= LEAST_IN_BLOCKS else ()
        made = self._second.hessian(*self._of_rows(arguments, wrt), blocks)
        order = self._places(arguments, wrt)
        made = replace(made, places=order[made.places], block_places=order[made.block_places])
        return replace(found, hessian=made)

    def score_sums(
        self, arguments: Arguments, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int
    ) -> Doubles:
        """Sums of the observations' scores: see `Problem.score_sums`."""
        order = np.argsort(self._places(arguments, wrt))
        found = self._second.score_sums(*self._of_rows(arguments, wrt), clusters, n_clusters)[:, order]
        return found[order] if clusters is None else found

    @cached_property
    def _second(self) -> SecondDerivatives:
        return SecondDerivatives(self.rows(True)._bound, self.rows(True)._own)

    def _of_rows(self, arguments: Arguments, wrt: Sequence[str]) -> tuple[list[Value], list[str]]:
        """Values of the parameters of the rows, in their order, and the names of those in `wrt`."""
        given, names = self._in_rows(arguments), self._names
        return [given[n] for n in self.rows(True).parameters], [r for n in wrt for r in names[n]]

    def _places(self, arguments: Arguments, wrt: Sequence[str]) -> np.ndarray:
        """Places of the rows' elements among those of the GLM's parameters: a table's columns stand side by side there."""
        found, start = list[np.ndarray](), 0
        for name in wrt:
            value = arguments[name].value
            places = start + np.arange(1 if isinstance(value, float) else value.size)
            start += places.size
            found.append(places.reshape(value.shape).T.ravel() if name in self._matrices else places)
        return np.concatenate(found)

    def _in_rows(self, arguments: Arguments) -> dict[str, Value]:
        """Values of the parameters of `Rows`, by name."""
        found: dict[str, Value] = {}
        for name, argument in arguments.by_name.items():
            value: Any = to_host(argument.value) if arrays.is_device_array(argument.value) else argument.value
            found[name] = value if isinstance(value, float) else value.reshape(argument.lead + argument.core)
        return self._columns(found)

    def _columns(self, given: Mapping[str, Any]) -> dict[str, Value]:
        """Values by the names in `Rows`: of a table, each column has one."""
        found: dict[str, Value] = {}
        for name, columns in self._names.items():
            if name in given:
                value = given[name]
                found |= {n: value[..., c] for c, n in enumerate(columns)} if name in self._matrices else {columns[0]: value}
        return found


def names_in_rows(family: Family, terms: Sequence[Named]) -> dict[str, tuple[str, ...]]:
    """Names of the parameters of `Rows` for each parameter of a GLM: one, or one for each column of a table."""
    names = {COEFFICIENTS: (PRODUCT,), INTERCEPT: (INTERCEPT,)} | {n: (parameter(n),) for n in family.parameters}
    return names | {named.name: term_of(i, named).tables for i, named in enumerate(terms)}


def _copied(value: Value, dtype: DType | None) -> Array:
    """Copy of an array on the host, in a type of floating point; None: in its own type. A sparse matrix is itself."""
    if is_sparse(value):
        return value
    if arrays.is_device_array(value):
        value = to_host(value)
    return np.array(value[:] if is_stored(value) else value, dtype, order="C")


def made_with(kind: Callable[..., M], density: Density, eta: str, terms: Sequence[Named], /, **data: Value) -> M:
    """Model with named groups of other rows or elsewhere: `data` by the names of the present ones, and options."""
    groups: dict[str, Value] = {}
    for named in terms:
        index = data.pop(named.index_name)
        groups[named.name] = index if named.columns is None else (index, data.pop(named.columns_name))
    return kind(density, eta=eta, groups=groups, **data)
