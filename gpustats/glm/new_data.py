"""Data of new rows, for which a fit with random effects predicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..parallel.rows import as_rows
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from ..runtime.types import Doubles
from .family import DESIGN, INTERCEPT, OFFSET


class NewData(NamedTuple):
    """Columns, offset and groups of M new rows."""

    X: Doubles  # (M, k)
    offset: Doubles  # (M,)
    groups: Mapping[str, Any]  # by the names of terms
    with_effects: bool  # whether random effects are among them


def new_data(
    X: ArrayLike, offset: ArrayLike | None, groups: ArrayLike | Mapping[str, ArrayLike] | None, columns: int,
    tables: Collection[str], random: Collection[str],
) -> NewData:  # fmt: skip
    """Data of new rows, checked; ValueError where they do not fit a fit with so many columns, fixed tables, random terms."""
    rows = as_rows(X, DESIGN)
    X = np.asarray(to_host(rows) if is_device_array(rows) else rows[:], float)
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
