"""Arguments of one call of a GLM, checked against the data: the axes of each for rows and sets of coefficients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ..evaluation.arguments import match
from ..kernels import code
from ..runtime import arrays
from ..runtime.types import Array, Shape, Value
from .data import Named, Sizes
from .family import COEFFICIENTS, INTERCEPT, Family


class Route(Enum):
    """Route of an argument to the kernel."""

    ABSENT = "absent"
    """Not at all: the intercept, where a call has none."""
    VALUE = code.VALUE
    """As a number, the same for all rows and sets."""
    SET = code.PER_SET
    """As an array with a number or a vector for each set; or with one vector, the same for all."""
    ROW = code.PER_ROW
    """As an array with a number or a vector for each row, which the sets share or not."""
    GROUP = "group"
    """As an array with an intercept, or coefficients, for each group of rows, which the sets share or not."""


class GLMArgument(NamedTuple):
    """Argument of a call."""

    value: Value
    kind: Route
    lead: Shape  # its axes for sets
    core: Shape  # the axes of one value: none for a number

    @property
    def batch(self) -> Shape:
        """Axes of the argument for sets, rows and groups."""
        return () if isinstance(self.value, float) else tuple(self.value.shape[: len(self.value.shape) - len(self.core)])

    @property
    def n_sets(self) -> int:
        """Number of sets of the argument; if it is one, all sets of the call share the argument."""
        return math.prod(self.lead)


class Arguments:
    """Arguments of one call.

    `given` has the coefficients, the intercept (None: there is none), the density's other parameters, unless only the
    linear predictor is wanted, and a table for each named term. `lead` are the axes for sets of all arguments together.
    TypeError and ValueError for values that are no numbers, and where shapes do not go together.
    """

    def __init__(self, family: Family, sizes: Sizes, given: Mapping[str, Value]):
        self.family, self.sizes = family, sizes
        absent = given[INTERCEPT] is None
        values = {n: 0.0 if absent and n == INTERCEPT else arrays.as_array(v, n) for n, v in given.items()}
        self.outcomes = self._outcomes(values[COEFFICIENTS])  # the number of elements of the linear predictor
        terms = {t.name: t for t in sizes.terms}
        self.by_name = {n: _table(terms[n], v) if n in terms else self._argument(n, v) for n, v in values.items()}
        if absent:
            self.by_name[INTERCEPT] = GLMArgument(0.0, Route.ABSENT, (), ())
        self.kinds = {n: a.kind for n, a in self.by_name.items()}
        try:
            self.lead = np.broadcast_shapes(*(a.lead for a in self.by_name.values()))
        except ValueError:
            listed = ", ".join(f"{n} {a.batch + a.core}" for n, a in self.by_name.items())
            raise ValueError(f"the sets of coefficients and parameters do not go together: {listed}") from None
        self.n_sets = math.prod(self.lead)  # the number of sets

    def __getitem__(self, name: str) -> GLMArgument:
        return self.by_name[name]

    @property
    def native(self) -> bool:
        """True if results with a value for each row are device arrays: if the coefficients are a device array."""
        return arrays.is_device_array(self.by_name[COEFFICIENTS].value)

    @property
    def dim(self) -> int | None:
        """Length of the vectors that the density takes; None if it takes numbers only."""
        if any(self.family.ranks.values()):
            return next(self.by_name[n].core[0] for n, rank in self.family.ranks.items() if rank)
        return self.outcomes if self.family.vector else None

    def _outcomes(self, beta: Value) -> int:
        k, vector = self.sizes.columns, self.family.vector
        shape: Shape = tuple(getattr(beta, "shape", ()))
        rank = 1 + vector
        if len(shape) < rank or shape[len(shape) - rank] != k:
            wanted = "(k, C) or (S, k, C)" if vector else "(k,) or (S, k)"
            raise ValueError(f"beta has shape {shape}, and X has k = {k} columns: it must be {wanted}")
        if vector and not shape[-1]:
            raise ValueError(f"beta has shape {shape}: there is no outcome")
        return shape[-1] if vector else 1

    def _argument(self, name: str, value: Value) -> GLMArgument:
        if name == COEFFICIENTS:
            rank = 1 + self.family.vector
            return GLMArgument(value, Route.SET, tuple(value.shape[:-rank]), tuple(value.shape[-rank:]))
        if isinstance(value, float):
            if self.family.ranks.get(name):
                raise ValueError(f"{name} must be a vector; it has shape ()")
            return GLMArgument(value, Route.VALUE, (), ())
        core = self._core(name, value)
        batch = tuple(value.shape[: len(value.shape) - len(core)])
        kind = self._kind_by_row(name, value, batch)
        if kind is None:
            kind = Route.SET if core or batch[:-1] else Route.VALUE
        return GLMArgument(value, kind, batch[:-1], core)

    def _core(self, name: str, value: Array) -> Shape:
        """Axes of one value."""
        shape = tuple(value.shape)
        if name != INTERCEPT:
            rank = self.family.ranks[name]
            if len(shape) < rank:
                raise ValueError(f"{name} must be a vector; it has shape {shape}")
            return shape[len(shape) - rank :]
        core = shape[-1:] if self.family.vector else ()
        if core and core[0] != self.outcomes:
            raise ValueError(f"alpha has shape {shape}: its last axis must be beta's {self.outcomes} outcomes")
        return core

    def _kind_by_row(self, name: str, value: Array, batch: Shape) -> Route | None:
        """Kind ROW or GROUP, if the argument varies with the rows."""
        length, n_rows = batch[-1] if batch else 1, self.sizes.n_rows
        n_groups = self.sizes.n_groups if name == INTERCEPT else None
        if length == 1:
            return None
        if length == n_groups:
            return Route.GROUP
        if length == n_rows:
            if self.sizes.on_rows:
                beside = "groups with names or a sparse X"
                raise ValueError(f"{name} has a value for each row, which it cannot have beside {beside}; gs.Rows has per_row")
            return Route.ROW
        by_group = "" if n_groups is None else f"{n_groups}, one for each group, "
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}: its axis of length {length} must have {n_rows}, one for each row of X, "
            f"{by_group}or 1, as in (S, 1) for S sets"
        )


def _table(term: Named, value: Value) -> GLMArgument:
    """Argument that is the table of a named term."""
    shape, rank = tuple(getattr(value, "shape", ())), 1 if term.columns is None else 2
    core = shape[len(shape) - rank :]
    if len(shape) < rank or (rank > 1 and core[1] != term.columns):
        raise ValueError(f"{term.name} has shape {shape}: it must be {f'(G, {term.columns})' if rank > 1 else '(G,)'}, "
                         f"with {'coefficients' if rank > 1 else 'an intercept'} for each group")  # fmt: skip
    if core[0] <= term.largest:
        raise ValueError(f"{term.name} has shape {shape}, and its groups go up to {term.largest}: "
                         f"it must have {term.largest + 1} of them at least")  # fmt: skip
    return GLMArgument(value, Route.GROUP, shape[: len(shape) - rank], core)


def arguments_of(
    family: Family, sizes: Sizes, beta: Value, alpha: Value, args: Sequence[Value], kwargs: Mapping[str, Value],
    density: bool = True,
) -> Arguments:  # fmt: skip
    """Arguments of a call, by place or by name, for the density or else for the linear predictor alone."""
    names = [*(family.parameters if density else ()), *(t.name for t in sizes.terms)]
    defaults = family.density.defaults if density else {}
    values = match("the GLM", names, args, kwargs, defaults, "parameters", first=(COEFFICIENTS, INTERCEPT))
    return Arguments(family, sizes, {COEFFICIENTS: beta, INTERCEPT: alpha, **dict(zip(names, values, strict=True))})
