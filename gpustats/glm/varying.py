"""Named groups of a GLM: intercepts and slopes that vary between the groups of several terms, evaluated as sums over rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ..density import Density
from ..evaluation.arguments import check_wrt_among, match
from ..evaluation.results import like
from ..parallel.rows import is_stored, largest
from ..rows.leaves import MOST_COLUMNS, Leaf, dot, gather
from ..rows.model import Rows, rows_on
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.transfers import to_host
from ..runtime.types import Array, DType, Shape, Value
from .arguments import Arguments, Route
from .data import Sizes, read
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family
from .on_rows import PRODUCT, Term, parameter, row_function

M = TypeVar("M")


class Named(NamedTuple):
    """Named term of a linear predictor: the intercepts or slopes of groups."""

    name: str  # of the parameter
    columns: int | None  # number of columns that its groups have coefficients of; None: they have intercepts
    largest: int  # the largest number of a group, -1 where there are no rows

    @property
    def index_name(self) -> str:
        """Name of the group numbers among the data."""
        return f"groups[{self.name!r}]"

    @property
    def columns_name(self) -> str:
        return f"columns of groups[{self.name!r}]"

    def term(self, i: int) -> Term:
        """Term in the function of a row, as number `i` of the terms."""
        if self.columns is None:
            return Term((f"table{i}",))
        each = range(self.columns)
        return Term(tuple(f"table{i}_{c}" for c in each), tuple(f"column{i}_{c}" for c in each))

    def check(self, shape: Shape) -> Shape:
        """Axes for sets of a table; ValueError where the table does not fit."""
        rank = 1 if self.columns is None else 2
        core = shape[len(shape) - rank :]
        if len(shape) < rank or (rank > 1 and core[1] != self.columns):
            raise ValueError(f"{self.name} has shape {shape}: it must be {f'(G, {self.columns})' if rank > 1 else '(G,)'}, "
                             f"with {'coefficients' if rank > 1 else 'an intercept'} for each group")  # fmt: skip
        if core[0] <= self.largest:
            raise ValueError(f"{self.name} has shape {shape}, and its groups go up to {self.largest}: "
                             f"it must have {self.largest + 1} of them at least")  # fmt: skip
        return shape[: len(shape) - rank]


def read_terms(
    groups: Mapping[str, Value], family: Family, n_rows: int, columns_of_X: int, n_groups: int | None
) -> tuple[tuple[Named, ...], dict[str, Array]]:
    """Terms of named groups, and their data by name; ValueError where they do not fit the model."""
    if n_groups is not None:
        raise ValueError("n_groups is of groups without names: the tables of named ones tell how many there are")
    if columns_of_X > MOST_COLUMNS:
        raise ValueError(f"X has {columns_of_X} columns, and beside groups with names it may have {MOST_COLUMNS}")
    if family.vector:
        raise ValueError(f"{family.eta} of {family.density.name} is a vector, for which groups cannot have names")
    taken = {COEFFICIENTS, INTERCEPT, OBSERVATIONS, DESIGN, OFFSET, WEIGHTS, "wrt", "rng", "factors", family.eta}
    terms: list[Named] = []
    data: dict[str, Array] = {}
    for name, given in groups.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"groups has the name {name!r}: it becomes a parameter, whose name must be an identifier")
        if name in taken or name in family.parameters:
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


class VaryingArguments:
    """Arguments of a call, checked.

    `given` has the coefficients, the intercept (None: there is none), the density's other parameters unless only the linear
    predictor is wanted, and the tables.
    """

    def __init__(self, family: Family, sizes: Sizes, terms: Sequence[Named], given: Mapping[str, Value]):
        tables = {t.name: arrays.as_array(given[t.name], t.name) for t in terms}
        own = Arguments(family, sizes, {n: v for n, v in given.items() if n not in tables})
        self._family, self._own, self._terms = family, own, terms
        self._matrices = {t.name for t in terms if t.columns is not None}
        for name, argument in own.by_name.items():
            if argument.kind is Route.ROW:
                raise ValueError(f"{name} has a value for each row, which it cannot have beside groups with names")
        self.originals: dict[str, Value] = {n: a.value for n, a in own.by_name.items()} | tables  # as they came
        shapes = {t.name: tuple(getattr(tables[t.name], "shape", ())) for t in terms}
        leads = [own.lead, *(t.check(shapes[t.name]) for t in terms)]
        try:
            self.lead = np.broadcast_shapes(*leads)
        except ValueError:
            listed = ", ".join(f"{n} {s}" for n, s in ({n: a.batch + a.core for n, a in own.by_name.items()} | shapes).items())
            raise ValueError(f"the sets of coefficients and parameters do not go together: {listed}") from None

    def in_rows(self) -> dict[str, Value]:
        """Values of the parameters of `Rows`, by name."""
        found: dict[str, Value] = {}
        for name, columns in names_in_rows(self._family, self._terms).items():
            if name not in self.originals:
                continue
            value = self.originals[name]
            value = to_host(value) if arrays.is_device_array(value) else value
            if name in self._own.by_name and name != COEFFICIENTS and not isinstance(value, float):
                value = value.reshape(self._own[name].lead + self._own[name].core)
            found |= {n: value[..., c] for c, n in enumerate(columns)} if name in self._matrices else {columns[0]: value}
        return found

    @property
    def native(self) -> bool:
        """True if results with a value for each row are device arrays: if the coefficients are a device array."""
        return arrays.is_device_array(self.originals[COEFFICIENTS])


class Varying:
    """The rows of a GLM with named groups on a device."""

    def __init__(self, family: Family, terms: Sequence[Named], data: Mapping[str, Array], dtype: DType, runtime: Runtime):
        self._family, self._terms, self.runtime = family, terms, runtime
        whole = {t.index_name for t in terms}
        self._data = {n: _copied(v, None if n in whole else dtype) for n, v in data.items()}
        self._offset = OFFSET in data
        self._rows: dict[bool, Rows] = {}

    def held(self) -> dict[str, np.ndarray]:
        """Data of the rows, on the host."""
        return self._data

    def rows(self, density: bool) -> Rows:
        """Sum over rows of the log-density, or else of the linear predictor."""
        if density not in self._rows:
            data = self._data
            leaves: dict[str, Array | Leaf] = {PRODUCT: dot(data[DESIGN])}
            leaves |= {n: data[n] for n in (OBSERVATIONS, OFFSET) if n in data and (density or n == OFFSET)}
            made = [named.term(i) for i, named in enumerate(self._terms)]
            for named, term in zip(self._terms, made, strict=True):
                leaves |= {t: gather(data[named.index_name]) for t in term.tables}
                leaves |= {c: data[named.columns_name][:, i] for i, c in enumerate(term.columns)}
            weights = data.get(WEIGHTS) if density else None
            function = row_function(self._family, self._offset, made, density)
            self._rows[density] = rows_on(self.runtime, function, weights, leaves)
        return self._rows[density]

    def value_and_grad(self, arguments: VaryingArguments, wrt: Sequence[str]) -> tuple[Value, dict[str, Value]]:
        """The summed log-density and its derivatives."""
        names = names_in_rows(self._family, self._terms)
        matrices = {t.name for t in self._terms if t.columns is not None}
        value, found = self.rows(True).value_and_grad(**arguments.in_rows(), wrt=[r for n in wrt for r in names[n]])
        gradients: dict[str, Value] = {}
        for name in wrt:
            original, parts = arguments.originals[name], [found[r] for r in names[name]]
            result = np.stack(parts, -1) if name in matrices else np.asarray(parts[0])
            shape = () if isinstance(original, float) else tuple(original.shape)
            gradients[name] = like(self.runtime, result.reshape(shape), original)
        return value, gradients

    def by_row(self, arguments: VaryingArguments, density: bool) -> Array:
        """Log-density of each row, or else the linear predictor."""
        found = self.rows(density).terms(**arguments.in_rows())
        return self.runtime.to_device(found) if arguments.native else found


def named_arguments(
    family: Family, sizes: Sizes, terms: Sequence[Named], beta: Value, alpha: Value, args: Sequence[Value],
    kwargs: Mapping[str, Value], density: bool = True,
) -> VaryingArguments:  # fmt: skip
    """Arguments of a call, by place or by name, for the density or else for the linear predictor alone."""
    names = [*(family.parameters if density else ()), *(t.name for t in terms)]
    defaults = {n: v for n, v in family.density.defaults.items() if n in names}
    values = match("the GLM", names, args, kwargs, defaults, "parameters", first=(COEFFICIENTS, INTERCEPT))
    return VaryingArguments(
        family, sizes, terms, {COEFFICIENTS: beta, INTERCEPT: alpha, **dict(zip(names, values, strict=True))}
    )


def checked_wrt(family: Family, terms: Sequence[Named], wrt: str | Collection[str] | None, intercept: bool) -> tuple[str, ...]:
    """Names of the arguments in which derivatives are wanted."""
    can = [COEFFICIENTS, INTERCEPT, *(n for n in family.parameters if n not in family.whole), *(t.name for t in terms)]
    return tuple(n for n in can if n != INTERCEPT or intercept) if wrt is None else check_wrt_among(wrt, can)


def names_in_rows(family: Family, terms: Sequence[Named]) -> dict[str, tuple[str, ...]]:
    """Names of the parameters of `Rows` for each parameter of a GLM: one, or one for each column of a table."""
    names = {COEFFICIENTS: (PRODUCT,), INTERCEPT: (INTERCEPT,)} | {n: (parameter(n),) for n in family.parameters}
    return names | {named.name: named.term(i).tables for i, named in enumerate(terms)}


def _copied(value: Value, dtype: DType | None) -> np.ndarray:
    """Copy of an array on the host, in a type of floating point; None: in its own type."""
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
