"""Names of the numbers in a GLM, where its data are data frames and labels, or come from a formula."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..fits.coordinates import labels_of, places_of
from ..frames.columns import Frame, Matrix, column_of, is_column, is_frame, labels_of_rows, listed
from ..frames.design import Design
from ..frames.labelled import ALLOWS_NEW, Labelled
from ..mixed.terms import Term
from ..rows.sparse_matrix import is_sparse
from ..runtime.types import Shape, Value
from .family import COEFFICIENTS, DESIGN, GROUPS, INTERCEPT, OBSERVATIONS, OFFSET, Family


@dataclass(frozen=True, eq=False)
class Names:
    """Names of columns, groups and outcomes; none where the data had none."""

    columns: tuple[str, ...] = ()  # of X
    #: labels of the groups of a term, by its name; of groups without names by that of the intercept
    levels: Mapping[str, np.ndarray] = field(default_factory=dict)
    slopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # columns of a term of groups
    outcomes: tuple[str, ...] = ()  # labels of observations, numbered from 0
    design: Design | None = None  # the formula of the data

    def labels(self, name: str, shape: Shape, parameters: Collection[str]) -> list[str]:
        """Names of the elements of a parameter, in C order, each another than those of the model's other `parameters`."""
        title = "Intercept" if name == INTERCEPT and self.design is not None else name
        axes = self._axes(name)
        if name != COEFFICIENTS or not self.columns:
            return labels_of(title, shape, axes)
        known = {*parameters, "Intercept"} if self.design is not None and self.design.intercept else {*parameters}
        return [
            f"{COEFFICIENTS}[{', '.join((column, *rest))}]" if column in known
            else f"{column}[{', '.join(rest)}]" if rest else column
            for column, *rest in places_of(shape, axes)
        ]  # fmt: skip

    def _axes(self, name: str) -> Sequence[Sequence[Any]]:
        """Names along the axes of a parameter; none where they are numbers."""
        if name == COEFFICIENTS:
            return self.columns, self.outcomes
        if name in self.levels:
            return self.levels[name].tolist(), self.slopes.get(name, self.outcomes)
        return self.outcomes if name == INTERCEPT else (), self.slopes.get(name, ())

    def mixed_labels(self, name: str, shape: Shape, parameters: Collection[str], terms: Sequence[Term]) -> list[str]:
        """Names of the elements of a parameter of a model with random terms, as those of `labels`; also of their factors."""
        if (own := next((t for t in terms if t.parameter == name), None)) is not None:
            return labels_of(name, shape, (own.names, own.names))
        return self.labels(name, shape, parameters)

    def new_rows(
        self, X: Any, offset: Any, groups: Any, random: Collection[str] = (), new_groups: bool = False
    ) -> tuple[Any, Any, Any]:
        """Columns, offset and groups of new rows as numbers, as in the fit.

        With `new_groups`, new labels of groups of the terms `random` have the number -1.
        """
        if self.design is not None and (is_frame(X) or isinstance(X, Mapping)):
            if groups is not None:
                raise ValueError("groups are columns of the data, as the formula says: leave them out")
            rows = self.design.rows(X, {} if offset is None else {OFFSET: offset}, random, new_groups)
            made = {n: (v[0].codes, v[1].values) if isinstance(v, tuple) else v.codes for n, v in rows.groups.items()}
            return rows.X.values, rows.columns.get(OFFSET), made or None
        X = _matrix(X, DESIGN, self.columns or None).values
        if isinstance(groups, Mapping):
            return X, offset, {n: self._new_group(n, v, random, new_groups) for n, v in groups.items()}
        return X, offset, groups if groups is None else self._new_group(INTERCEPT, groups, random, new_groups)

    def _new_group(self, name: str, value: Any, random: Collection[str], new: bool) -> Any:
        """Groups of a term as numbers, with their columns where it has some."""
        if isinstance(value, tuple) and len(value) == 2:
            columns = _matrix(value[1], _of_columns(name), self.slopes.get(name)).values
            return self._new_group(name, value[0], random, new), columns
        index = column_of(value, name) if is_column(value) else value
        what = f"groups of {name}"
        if name in self.levels:
            index = labels_of_rows(index, what, None)
        if not isinstance(index, Labelled):
            return index
        if name not in self.levels:
            named = sorted(self.levels.keys() - {INTERCEPT})
            hint = f"; give them by name, groups={{{named[0]!r}: …}}" if name == INTERCEPT and named else ""
            raise ValueError(f"{what} are labels, and the fit had none of these{hint}")
        is_random = name in random
        return index.among(self.levels[name], what, is_random and new, ALLOWS_NEW * is_random)


def named(family: Family, y: Value, X: Value, groups: Any) -> tuple[Names, Value, Value, Any]:
    """Names of a GLM's data, and the data as numbers."""
    outcomes: tuple[str, ...] = ()
    if is_column(y):
        y, outcomes = _outcomes(family, column_of(y, OBSERVATIONS))
    matrix, levels, slopes = _matrix(X, DESIGN), dict[str, np.ndarray](), dict[str, tuple[str, ...]]()
    if isinstance(groups, Mapping):
        groups = {n: _group(n, v, levels, slopes) for n, v in groups.items()}
    elif groups is not None:
        groups = _group(INTERCEPT, groups, levels, slopes)
    return Names(matrix.names, levels, slopes, outcomes), y, matrix.values, groups


def _group(name: str, value: Any, levels: dict[str, np.ndarray], slopes: dict[str, tuple[str, ...]]) -> Any:
    """Groups of a term as numbers, with their columns where it has some; their names go to `levels` and `slopes`."""
    if isinstance(value, tuple) and len(value) == 2:
        columns = _matrix(value[1], _of_columns(name))
        if columns.names:
            slopes[name] = columns.names
        return _group(name, value[0], levels, slopes), columns.values
    what = GROUPS if name == INTERCEPT else f"{GROUPS}[{name!r}]"
    column = column_of(value, what) if is_column(value) else value
    if not isinstance(column, Labelled):
        return column
    levels[name] = column.labels
    return column.numbers(what)


def _of_columns(name: str) -> str:
    return f"columns of groups[{name!r}]"


def _matrix(X: Any, what: str, names: tuple[str, ...] | None = None) -> Matrix:
    """Matrix with the names of its columns, if a data frame has some."""
    if isinstance(X, Matrix):
        return X
    if is_sparse(X):  # of which some kinds are mappings
        return Matrix(X, ())
    return Frame(X, what).matrix(names) if is_frame(X) or isinstance(X, Mapping) else Matrix(X, ())


def _outcomes(family: Family, y: np.ndarray | Labelled) -> tuple[np.ndarray, tuple[str, ...]]:
    """Observations as numbers, and the labels of these, if they had any."""
    if not isinstance(y, Labelled):
        return y, ()
    density, labels = family.density, tuple(map(str, y.labels.tolist()))
    if OBSERVATIONS not in family.whole:
        raise TypeError(f"y has labels, {listed(labels)}, and {density.name} is of numbers")
    several = family.vector or any("ordered" in a.words for a in density.log_density.arguments)
    if len(labels) < 2 or len(labels) > 2 and not several:
        wanted = "two at least" if several else "two"
        raise ValueError(f"y has the label{'s' * (len(labels) != 1)} {listed(labels)}, and {density.name} takes {wanted}")
    return y.numbers(OBSERVATIONS), labels
