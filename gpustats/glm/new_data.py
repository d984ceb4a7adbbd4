"""Names in a fit with random effects, and data of new rows, for which it predicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..fits.coordinates import labels_of
from ..mixed.terms import Term
from ..parallel.rows import as_rows
from ..runtime.types import Doubles, Shape
from .data import as_numpy
from .family import DESIGN, INTERCEPT, OFFSET
from .names import Names


class NewData(NamedTuple):
    """Columns, offset and groups of M new rows."""

    X: Doubles  # (M, k)
    offset: Doubles  # (M,)
    groups: Mapping[str, Any]  # by the names of terms
    with_effects: bool  # whether random effects are among them


def labels_in(glm: Any, terms: Sequence[Term], name: str, shape: Shape, parameters: Collection[str]) -> Sequence[str]:
    """Names of the elements of a parameter of a GLM with random effects."""
    for term in terms:
        if term.parameter == name:
            return labels_of(name, shape, (term.names, term.names) if term.names else ())
    found: Sequence[str] = glm._names.labels(name, shape, parameters)
    return found


def new_data(
    names: Names, X: ArrayLike, offset: ArrayLike | None, groups: ArrayLike | Mapping[str, ArrayLike] | None, new_groups: bool,
    columns: int, tables: Collection[str], random: Collection[str],
) -> NewData:  # fmt: skip
    """Data of new rows, checked; ValueError where they do not fit a fit with so many columns, fixed tables, random terms."""
    X, offset, groups = names.new_rows(X, offset, groups, new_groups)
    X = np.asarray(as_numpy(as_rows(X, DESIGN)), float)
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"X has shape {X.shape}, and must have the {columns} columns of the fit")
    shift = np.zeros(len(X)) if offset is None else np.asarray(offset, float)
    if shift.shape != (len(X),):
        raise ValueError(f"{OFFSET} has shape {shift.shape}, and X has {len(X)} rows: it must be ({len(X)},)")
    given = {} if groups is None else dict(groups) if isinstance(groups, Mapping) else {INTERCEPT: groups}
    if given.keys() not in (set(tables), {*tables, *random}):
        listed = ", ".join((*tables, *random))
        raise ValueError(f"groups has {', '.join(given) or 'none'}, and the fit has groups for {listed}")
    return NewData(X, shift, given, given.keys() >= set(random))
