"""Designs that formulas make of data frames: columns, groups and their names, remembered for new data."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..runtime.types import DType
from .columns import Frame, Matrix, column_of, listed, side_by_side
from .encoding import Encoded, Encoders, not_finite
from .labelled import ALLOWS_NEW, Labelled, crossed, labelled
from .random_terms import RandomTerm, split

#: Keys of the formulas of a design beside those of its terms.
OBSERVATIONS, COLUMNS, OFFSET, WEIGHTS = "y", "X", "offset", "weights"

Column = np.ndarray | Labelled


@dataclass(frozen=True)
class DesignRows:
    """Rows of a design."""

    X: Matrix
    groups: dict[str, Labelled | tuple[Labelled, Matrix]]
    columns: dict[str, Column] = field(default_factory=dict)  # observations, offset and weights, where there are any

    @property
    def data(self) -> dict[str, Any]:
        """Data of a GLM, by their names."""
        return {COLUMNS: self.X, "groups": self.groups or None, **self.columns}

    def __getitem__(self, rows: np.ndarray) -> DesignRows:
        """Some of the rows."""
        groups = {n: (v[0][rows], _rows_of(v[1], rows)) if isinstance(v, tuple) else v[rows] for n, v in self.groups.items()}
        return DesignRows(_rows_of(self.X, rows), groups, {n: v[rows] for n, v in self.columns.items()})


class Design:
    """Formula with the encoders that its first data have fixed.

    Parameters
    ----------
    formula : str
    expressions : dict
        Expressions of columns for an offset and weights, by these names.
    sparse : bool
        Whether the design matrix is sparse.
    dtype : numpy.dtype
        Type of the matrices.

    Attributes
    ----------
    formula : str
    intercept : bool
        Whether there is an intercept beside the columns of the design matrix.
    terms : tuple of str
        Names of the terms of groups.
    places : dict
        Name of a term of the design matrix -> the numbers of its columns there.
    """

    def __init__(self, formula: str, expressions: Mapping[str, str], sparse: bool, dtype: DType):
        self._parts, self._sparse, self._dtype = split(formula), sparse, dtype
        self.formula, self.intercept = " ".join(formula.split()), False
        self.places: dict[str, list[int]] = {}
        self._expressions = {OBSERVATIONS: self._parts.observations, **expressions}
        self._plain: dict[str, str] = {}  # those that are columns as they are
        self._encoders: Encoders
        self._categories: dict[str, np.ndarray] = {}  # labels of the columns that formulas read
        self._levels: dict[tuple[str, ...], np.ndarray] = {}  # labels of groups, by the columns that they are made of
        self._parts_of_levels: dict[tuple[str, ...], list[np.ndarray]] = {}  # labels of these columns
        self._names: dict[tuple[str, str], str] = {}  # of terms of groups, by their formulas' keys and the terms in these
        if len(set(self._parts.terms)) < len(self._parts.terms):
            raise ValueError(f"the formula {self.formula!r} has a term of groups twice")

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(self._names.values())

    def first_rows(
        self, data: Any, given: Mapping[str, Any], missing: str, context: Mapping[str, Any], taken: Collection[str]
    ) -> DesignRows:
        """Rows of the first data, which fix the encoders.

        `given` are numbers of an offset and weights, `context` further names of formulas, `taken` names that terms cannot have.
        """
        if missing not in ("raise", "drop"):
            raise ValueError(f"missing must be 'raise' or 'drop', not {missing!r}")
        frame, parts = Frame(data, "data"), self._parts
        self._plain = {k: name for k, v in self._expressions.items() if (name := v.strip().strip("`")) in frame.names}
        expressions = {k: v for k, v in self._expressions.items() if k not in self._plain}
        groups = dict.fromkeys(n for term in parts.terms for n in term.groups)
        for name in groups:
            frame.check(name)
        read = Encoders({}, expressions, frame.names, (), context).columns.get(OBSERVATIONS, ())
        hidden = {*read, *self._plain.values(), *groups}  # of what . stands for
        formulas = {COLUMNS: parts.columns} | {str(i): term.columns for i, term in enumerate(parts.terms)}
        self._encoders = Encoders(formulas, expressions, frame.names, hidden, context)
        return self._read(frame, given, missing, taken)

    def rows(
        self, data: Any, given: Mapping[str, Any], random: Collection[str] = (), new_groups: bool = False
    ) -> DesignRows:
        """Rows of new data without observations and weights, encoded as the first.

        New labels are a ValueError; with `new_groups`, those of groups of the terms `random` have the number -1. Data without
        the columns of all these groups are rows without these terms.
        """
        if twice := given.keys() & self._expressions.keys():
            raise ValueError(f"{twice.pop()} is made of columns of data, as in the fit: leave it out")
        return self._read(Frame(data, "data"), given, None, None, random, new_groups)

    def _read(
        self, frame: Frame, given: Mapping[str, Any], missing: str | None, taken: Collection[str] | None,
        random: Collection[str] = (), new_groups: bool = False,
    ) -> DesignRows:  # fmt: skip
        """Rows of data; of the first where names are `taken`."""
        first, n_rows = taken is not None, frame.n_rows
        later = () if first else (OBSERVATIONS, WEIGHTS)
        if not n_rows:
            raise ValueError(f"{frame.what} has no rows")
        terms = self._terms_in(frame, random)
        left = {str(i) for i in range(len(self._parts.terms))} - terms.keys()
        keys = [k for k in self._encoders.columns if k not in later and k not in left]
        plain = {k: n for k, n in self._plain.items() if k not in later}
        of_formulas = {n for k in keys for n in self._encoders.columns[k]}
        of_groups = {n for term in terms.values() for n in term.groups}
        columns = {n: frame[n] for n in sorted(of_formulas | of_groups | {*plain.values()})}
        numbers: dict[str, Column] = {n: _numbers(v, n, n_rows) for n, v in given.items()}
        if (kept := _without(_missing(columns | numbers), "values are missing", n_rows, missing)) is not None:
            columns, numbers = ({n: v[kept] for n, v in own.items()} for own in (columns, numbers))
            n_rows = len(kept)
        alike = {n: self._alike(n, columns[n], first) for n in of_formulas}
        encoded = {k: self._encoders(k, alike, n_rows, self._sparse and k == COLUMNS) for k in keys}
        groups: dict[str, Labelled | tuple[Labelled, Matrix]] = {}
        for key, term in terms.items():
            is_random = self._names_of(key) <= set(random) and not first
            index = self._grouped(term, columns, first, is_random and new_groups, ALLOWS_NEW * is_random)
            for name, own in self._columns_of_groups(key, term, encoded[key], n_rows, taken):
                groups[name] = index if own is None else (index, own)
        numbers |= {k: columns[n] for k, n in plain.items()}
        numbers |= {k: self._expression(k, encoded[k]) for k in keys if k in self._expressions}
        for name in (OFFSET, WEIGHTS):
            if isinstance(numbers.get(name), Labelled):
                raise TypeError(f"{name} has labels: it must be numbers")
        found = DesignRows(self._design_matrix(encoded[COLUMNS], n_rows, first), groups, numbers)
        wrong = not_finite(numbers)
        for own_columns in encoded.values():
            wrong |= own_columns.not_finite()
        infinite = {n: rows for n, c in wrong.items() if (rows := np.flatnonzero(np.isinf(c))).size}
        _without(infinite, "values are infinite", n_rows, None)
        kept = _without(_missing(wrong), "values are nan", n_rows, missing)
        return found if kept is None else found[kept]

    # -- parts of the rows

    def _names_of(self, key: str) -> set[str]:
        """Names of the terms that a term in parentheses stands for."""
        return {name for (own, _), name in self._names.items() if own == key}

    def _terms_in(self, frame: Frame, random: Collection[str]) -> dict[str, RandomTerm]:
        """Terms in parentheses by their keys, without `random` ones if the frame has none of the columns of their groups."""
        terms = {str(i): term for i, term in enumerate(self._parts.terms)}
        without = {k: t for k, t in terms.items() if not self._names_of(k) or not self._names_of(k) <= set(random)}
        formulas = [v for k, v in self._encoders.columns.items() if k not in terms and k not in (OBSERVATIONS, WEIGHTS)]
        elsewhere = {n for v in formulas for n in v} | {n for t in without.values() for n in t.groups}
        own = {n for k, t in terms.items() if k not in without for n in t.groups} - elsewhere
        return without if own and own.isdisjoint(frame.names) else terms

    def _alike(self, name: str, column: Column, first: bool) -> Column:
        """Column whose labels have the numbers that they had among the first rows."""
        if first:
            if isinstance(column, Labelled):
                self._categories[name] = column.labels
            return column
        if name not in self._categories:
            if isinstance(column, Labelled):
                raise TypeError(f"data has labels in column {name!r}, in which the data of the fit had numbers")
            return column
        column = column if isinstance(column, Labelled) else labelled(column)
        return Labelled(column.among(self._categories[name], name), self._categories[name])

    def _grouped(self, term: RandomTerm, columns: Mapping[str, Column], first: bool, new: bool, hint: str) -> Labelled:
        """Group of each row."""
        parts = [v if isinstance(v := columns[n], Labelled) else labelled(v) for n in term.groups]
        found = crossed(parts) if len(parts) > 1 else parts[0]
        if first:
            self._levels[term.groups] = found.labels
            self._parts_of_levels[term.groups] = [part.labels for part in parts]
            return found
        levels, known = self._levels[term.groups], self._parts_of_levels[term.groups]
        if len(parts) > 1 and not new:
            seen = [set(labels.tolist()) for labels in known]
            unseen = [f"{name} {label!r}" for name, part, own in zip(term.groups, parts, seen, strict=True)
                      for label in part.labels.tolist() if label not in own]  # fmt: skip
            which = f"{listed(unseen)} {'is' if len(unseen) == 1 else 'are'} new"
            which = which if unseen else "the parts are known, in other combinations"
            hint = f"; {which}{hint}"
        return Labelled(found.among(levels, ":".join(term.groups), new, hint), levels)

    def _columns_of_groups(
        self, key: str, term: RandomTerm, encoded: Encoded, n_rows: int, taken: Collection[str] | None
    ) -> list[tuple[str, Matrix | None]]:
        """Names of the terms that a term in parentheses stands for, and their columns; None for intercepts alone."""
        by_name = dict(zip(encoded.names, encoded.values, strict=True))
        if not by_name:
            raise ValueError(f"the term ({term.columns} | {':'.join(term.groups)}) has no columns")
        parts = [("", encoded.names)] if term.correlated else list(encoded.terms.items())
        found = []
        for part, names in parts:
            if taken is not None:
                self._names[key, part] = self._name(term, part, taken)
            own = Matrix(side_by_side([by_name[n] for n in names], n_rows, self._dtype), names)
            found.append((self._names[key, part], None if names == encoded.constant else own))
        return found

    def _name(self, term: RandomTerm, part: str, taken: Collection[str]) -> str:
        """Name of a term of groups: that of its groups, and behind it the columns where another has it."""
        name = _identifier("_".join(term.groups))
        if name in self._names.values():
            name = _identifier(f"{name}_{part or term.columns}")
        while name in taken or name in self._names.values():
            name += "_"
        return name

    def _expression(self, key: str, encoded: Encoded) -> Column:
        """Numbers or labels of an expression."""
        text = self._expressions[key]
        if len(encoded.terms) == 1 and (labels := self._encoders.labels(key, *encoded.terms)) is not None:
            return Labelled(np.argmax(np.stack(encoded.values), 0).astype(np.int32), labels)
        if len(encoded.names) != 1:
            raise ValueError(f"{key} must be one column, and {text!r} is {len(encoded.names)}: {listed(encoded.names)}")
        return np.asarray(encoded.values[0], float)

    def _design_matrix(self, encoded: Encoded, n_rows: int, first: bool) -> Matrix:
        """Columns of the design matrix, without the intercept unless it is the only one."""
        if not encoded.names:
            raise ValueError(f"the formula {self.formula!r} has neither columns nor an intercept: a GLM needs a column")
        kept = [i for i, n in enumerate(encoded.names) if n not in encoded.constant]
        if first:
            self.intercept = bool(encoded.constant and kept)
        kept = kept or [0]
        names = tuple(encoded.names[i] for i in kept)
        if first:
            own = {term: [names.index(n) for n in columns if n in names] for term, columns in encoded.terms.items()}
            self.places = {term: places for term, places in own.items() if places and term != "1"}
        if self._sparse:
            return Matrix(encoded.values[:, kept].astype(self._dtype), names)
        return Matrix(side_by_side([encoded.values[i] for i in kept], n_rows, self._dtype), names)


def _identifier(text: str) -> str:
    """Text as the name of a parameter."""
    found = re.sub(r"\W+", "_", text).strip("_")
    return found if found.isidentifier() else f"_{found}"


def _numbers(values: Any, name: str, n_rows: int) -> np.ndarray:
    column = column_of(values, name)
    if isinstance(column, Labelled):
        raise TypeError(f"{name} has labels: it must be numbers, or an expression of columns")
    if len(column) != n_rows:
        raise ValueError(f"{name} has {len(column)} numbers, and data has {n_rows} rows")
    return column


def _rows_of(matrix: Matrix, rows: np.ndarray) -> Matrix:
    return replace(matrix, values=matrix.values[rows])


def _missing(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Numbers of the rows in which a column has no value, by the columns' names."""
    masks = {n: c.codes < 0 if isinstance(c, Labelled) else np.isnan(c)
             for n, c in columns.items() if isinstance(c, Labelled) or c.dtype.kind == "f"}  # fmt: skip
    return {n: np.flatnonzero(mask) for n, mask in masks.items() if mask.any()}


def _without(bad: Mapping[str, np.ndarray], what: str, n_rows: int, missing: str | None) -> np.ndarray | None:
    """Numbers of the rows that are not `bad`; None for all of them. ValueError where some are, unless `missing` is "drop"."""
    if not bad:
        return None
    if missing != "drop":
        told = ", ".join(f"{n} in {len(rows)} row{'s' * (len(rows) != 1)}" for n, rows in bad.items())
        raise ValueError(f"{what}: {told}" + ". missing='drop' leaves these rows out" * (missing == "raise"))
    kept = np.ones(n_rows, bool)
    kept[np.concatenate(list(bad.values()))] = False
    if not kept.any():
        raise ValueError(f"{what} in each of the {n_rows} rows: {listed(bad)}")
    return np.flatnonzero(kept)
