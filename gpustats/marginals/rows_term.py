"""Model of rows as a term of what is integrated: its values and derivatives in effects and parameters."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..fits.problem import Expanded
from ..fits.symmetric import Symmetric
from ..rows.leaves import Gather, Leaf, PerRow
from ..rows.matrix_layout import MatrixLayout
from ..rows.model import Rows
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
    n_rows : int
        Rows, in which effects of several groupings may stand.
    """

    domains: Mapping[str, Collection[str]]
    n_rows: int

    def expanded(self, values: Values, layout: MatrixLayout[Symmetric]) -> Expanded:
        """Value, and its derivatives in all effects."""

    def with_trace(self, values: Values, matrix: Symmetric, wrt: Collection[str]) -> dict[str, Any]:
        """Derivatives of the term plus half the trace of a symmetric matrix, a constant one, times its second derivatives."""

    def product(self, values: Values, direction: Values, wrt: Collection[str]) -> dict[str, Any]:
        """Second derivatives in parameters and effects times a vector, whose components are given by name; others are 0."""

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
        self._constants, self._flat, self.n_rows = dict(constants or {}), flat, rows.n_rows or 0
        self._starts = {n: effects.starts[n] for n in rows.parameters if n in effects.shapes}

    def expanded(self, values: Values, layout: MatrixLayout[Symmetric]) -> Expanded:
        taken = self._taken(values)
        if not self._starts:
            return Expanded(float(self.rows(**taken)), np.zeros(layout.size), layout.empty())
        found: Expanded = self.rows._expanded(*taken.values(), starts=self._starts, layout=layout)
        return found

    def with_trace(self, values: Values, matrix: Symmetric, wrt: Collection[str]) -> dict[str, Any]:
        taken, own = self._taken(values), [n for n in wrt if n in self.domains]
        if self._starts:
            found = self.rows._with_trace(*taken.values(), starts=self._starts, matrix=matrix, wrt=own)
        else:
            found = self.rows.value_and_grad(**taken, wrt=tuple(own))[1]
        return self._given(found, own)

    def product(self, values: Values, direction: Values, wrt: Collection[str]) -> dict[str, Any]:
        along = {n: self._shaped(n, direction[n]) for n in self.rows.parameters if n in direction}
        if not along or not self._starts:
            return {}
        return self._given(self.rows.hessp(along, **self._taken(values)), [n for n in wrt if n in self.domains])

    def groupings(self) -> dict[str, set[Grouping]]:
        found: dict[str, set[Grouping]] = {}
        for name in self._starts:
            parameter, shape = self.rows._bound.parameters[name], self._effects.shapes[name]
            n = math.prod(shape[:-1] if parameter.of_vectors else shape)
            for leaf in parameter.leaves.values():
                key = _key(leaf)
                found.setdefault(name, set()).add((key, 1 if key is None else n))
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


def _key(leaf: Leaf) -> Hashable:
    """What is the same for tables of one grouping; None for numbers and coefficients, of which each row has all."""
    match leaf:
        case Gather():
            return tuple(map(id, leaf.indices))
        case PerRow():
            return leaf.offset
    return None
