"""Data of new rows, for which a fit predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..fits.estimates import Estimates
from ..mixed.predictions import NewRows, rows_of
from ..mixed.terms import Term
from ..parallel.rows import as_rows
from ..rows.sparse_matrix import is_sparse, sparse_matrix
from ..runtime.types import Doubles, Value
from .data import Named, as_numpy
from .family import DESIGN, INTERCEPT, OFFSET


class NewData(NamedTuple):
    """Columns, offset and groups of M new rows."""

    X: Doubles  # (M, k)
    offset: Doubles  # (M,)
    tables: Mapping[str, NewRows]  # of groups whose effects are fixed, by the names of terms
    random: Mapping[str, Any] | None  # groups whose effects are random, by the names of terms; None: without these


def new_data(
    glm: Any, estimates: Estimates, tables: Sequence[Named], X: Value, offset: Value | None, groups: Value | None,
    random: Sequence[Term] = (), new_groups: bool = False,
) -> NewData:  # fmt: skip
    """Data of new rows, checked; ValueError where they do not fit the estimates of a GLM, some of whose terms are `random`."""
    of_random = [t.name for t in random]
    X, offset, groups = glm._names.new_rows(X, offset, groups, of_random, new_groups)
    X = sparse_matrix(X, DESIGN).as_scipy().toarray() if is_sparse(X) else as_numpy(as_rows(X, DESIGN))
    X = np.asarray(X, float)
    if X.ndim != 2 or X.shape[1] != glm._columns:
        raise ValueError(f"X has shape {X.shape}, and must have the {glm._columns} columns of the fit")
    n = len(X)
    shift = np.zeros(n) if offset is None else np.asarray(offset, float)
    if shift.shape != (n,):
        raise ValueError(f"{OFFSET} has shape {shift.shape}, and X has {n} rows: it must be ({n},)")
    given = {} if groups is None else dict(groups) if isinstance(groups, Mapping) else {INTERCEPT: groups}
    of_tables = {t.name: Term(t.name, t.columns, len(estimates[t.name]), 0, 0) for t in tables}
    if given.keys() not in (of_tables.keys(), {*of_tables, *of_random}):
        listed = ", ".join((*of_tables, *of_random)) or "none"
        raise ValueError(f"groups has {', '.join(given) or 'none'}, and the fit has groups for {listed}")
    made = {name: rows_of(term, given[name], n) for name, term in of_tables.items()}
    effects = {name: given[name] for name in of_random if name in given}
    return NewData(X, shift, made, effects if len(effects) == len(of_random) else None)
