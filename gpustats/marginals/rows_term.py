"""Model of rows as a term of what is integrated: its values and derivatives in effects and parameters."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..fits.bordered import Bordered
from ..rows.assembly import Layout
from ..rows.curvature import Curvature
from ..rows.leaves import Gather, Leaf, PerRow
from ..rows.model import Rows
from ..rows.parameters import shape_of
from .effects import Effects

#: Values of effects and parameters by name: floats and arrays.
Values = Mapping[str, Any]
#: Grouping of rows by an element of a table, or by several in a row: what is the same for tables of one grouping, and how many
#: groups the table has.
Grouping: TypeAlias = tuple[Hashable, int]


class Term(Protocol):
    """Term of the logarithm of what is integrated, a function of effects and parameters.

    Attributes
    ----------
    domains : mapping
        Name of each effect and parameter -> words of its domain.
    """

    domains: Mapping[str, Collection[str]]

    def expanded(self, values: Values, layout: Layout) -> tuple[float, dict[str, Any], Bordered]:
        """Value, its derivatives in effects, and the matrix of second ones."""

    def with_trace(self, values: Values, matrix: Bordered, wrt: Collection[str]) -> dict[str, Any]:
        """Derivatives of the term plus half the trace of a symmetric matrix, a constant one, times its second derivatives."""

    def product(self, values: Values, direction: Values, wrt: Collection[str]) -> dict[str, Any]:
        """Second derivatives in parameters and effects times a vector, whose components in effects are given by name."""

    def groupings(self) -> dict[str, set[Grouping]]:
        """Effect that is a table -> groupings of the rows by which its elements are found."""


class RowsTerm:
    """Model of rows as a term.

    Parameters
    ----------
    rows : Rows
    effects : Effects
    domains : mapping
        Name of each effect and parameter of the rows -> words of its domain.
    constants : mapping
        Values of the rows' parameters that are none of the model's.
    flat : bool
        Whether the rows take effects in one vector, whatever their shapes.
    """

    def __init__(
        self, rows: Rows, effects: Effects, domains: Mapping[str, Collection[str]], constants: Values | None = None,
        flat: bool = False,
    ):  # fmt: skip
        self.rows, self._effects, self.domains = rows, effects, domains
        self._constants, self._flat = dict(constants or {}), flat
        self._own = [n for n in rows.parameters if n in effects.shapes]
        self._curvatures: dict[int, Curvature] = {}

    def expanded(self, values: Values, layout: Layout) -> tuple[float, dict[str, Any], Bordered]:
        taken = self._taken(values)
        if not self._own:
            return float(self.rows(**taken)), {}, layout.empty()
        given = list(taken.values())
        value, slopes, hessian = self._curvature(given).expanded(given, layout)
        return value, self._given(slopes, self._own), hessian

    def with_trace(self, values: Values, matrix: Bordered, wrt: Collection[str]) -> dict[str, Any]:
        taken, own = self._taken(values), [n for n in wrt if n in self.domains]
        if not self._own:
            return self._given(self.rows.value_and_grad(**taken, wrt=tuple(own))[1], own)
        given = list(taken.values())
        return self._given(self._curvature(given).with_trace(given, matrix, own), own)

    def product(self, values: Values, direction: Values, wrt: Collection[str]) -> dict[str, Any]:
        if not self._own:
            return {}
        along = {n: self._shaped(n, direction[n]) for n in self._own}
        return self._given(self.rows.hessp(along, **self._taken(values)), [n for n in wrt if n in self.domains])

    def groupings(self) -> dict[str, set[Grouping]]:
        found: dict[str, set[Grouping]] = {}
        for name in self._own:
            parameter, shape = self.rows._bound.parameters[name], self._effects.shapes[name]
            n = math.prod(shape[:-1] if parameter.of_vectors else shape)
            for leaf in parameter.leaves.values():
                found.setdefault(name, set()).add((_key(leaf), n))
        return found

    def _taken(self, values: Values) -> dict[str, Any]:
        """Values as the rows take them."""
        return {n: self._constants[n] if n in self._constants else self._shaped(n, values[n]) for n in self.rows.parameters}

    def _shaped(self, name: str, value: Any) -> Any:
        if self._flat and name in self._effects.shapes:
            return np.ravel(value)
        return value

    def _given(self, found: Values, names: Sequence[str]) -> dict[str, Any]:
        """Derivatives in the shapes in which the model has the effects."""
        shapes = self._effects.shapes
        return {n: np.reshape(found[n], shapes[n]) if n in shapes else found[n] for n in names}

    def _curvature(self, taken: Sequence[Any]) -> Curvature:
        rows, bound = self.rows, self.rows._bound
        shapes = {n: shape_of(v) for n, v in zip(rows.parameters, taken, strict=True)}
        if (length := bound.length(shapes)) not in self._curvatures:
            own = {n: shapes[n] for n in self._own}
            _, n_rows = bound.packing(taken)
            starts = {n: self._effects.starts[n] for n in self._own}
            self._curvatures[length] = Curvature(bound, rows._own.runtime, length, starts, own, n_rows)
        return self._curvatures[length]


def _key(leaf: Leaf) -> Hashable:
    """What is the same for tables of one grouping."""
    match leaf:
        case Gather():
            return tuple(map(id, leaf.indices))
        case PerRow():
            return leaf.offset
    return None
