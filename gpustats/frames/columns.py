"""Columns of data frames of pandas, polars and Arrow, and of mappings, as NumPy arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..names.near import did_you_mean
from ..runtime.types import DType
from .labelled import Labelled, labelled, numbered

LIBRARIES = "pandas", "polars", "pyarrow"
R_MISSING = -(1 << 31)  # what reticulate makes of an integer that is NA
ROWS_AT_ONCE = 1 << 13  # of columns that may lie side by side already, and stay in the cache


@dataclass(frozen=True, eq=False)
class Matrix:
    """Matrix, (N, k), whose columns have names."""

    values: Any  # an ndarray or a sparse matrix
    names: tuple[str, ...]


class Frame:
    """Data frame of pandas or polars, Arrow table, or mapping of columns.

    Parameters
    ----------
    data : frame
    what : str
        Its name in a call, for errors.
    """

    def __init__(self, data: Any, what: str):
        self._data, self.what = data, what
        if type(data).__name__ == "LazyFrame":
            raise TypeError(f"{what} is a lazy frame: {what}.collect() makes a data frame of it")
        if not is_frame(data) and not isinstance(data, Mapping):
            raise TypeError(
                f"{what} must be a data frame of pandas or polars, an Arrow table or a dict of columns; it is a "
                f"{type(data).__name__}"
            )
        names = list(data) if isinstance(data, Mapping) else _names(data)
        if bad := [n for n in names if not isinstance(n, str)]:
            raise TypeError(f"{what} has a column named {bad[0]!r}: names must be strings, as {what}.rename(columns=str) has")
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise ValueError(f"{what} has several columns named {twice!r}: rename them")
        self.names: tuple[str, ...] = tuple(names)

    def check(self, name: str) -> None:
        """ValueError where there is no such column."""
        if name not in self.names:
            raise unknown(name, self.names, self.what)

    def __getitem__(self, name: str) -> np.ndarray | Labelled:
        """Column as numbers, nan where they are missing, or as labels."""
        self.check(name)
        return column_of(self._data[name], name)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if isinstance(self._data, Mapping):
            lengths = {n: np.shape(self._data[n])[0] if np.ndim(self._data[n]) else 1 for n in self.names}
        else:
            lengths = {"": len(self._data)}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{n} {length}" for n, length in lengths.items())
            raise ValueError(f"the columns of {self.what} have different lengths: {told}")
        return next(iter(lengths.values()), 0)

    def matrix(self, names: tuple[str, ...] | None = None) -> Matrix:
        """Matrix of the columns of these names, all by default; TypeError where one has no numbers."""
        names = self.names if names is None else names
        columns = list[np.ndarray]()
        for name in names:
            if isinstance(column := self[name], Labelled):
                raise TypeError(f"{self.what} has labels in column {name!r}: GLM.from_formula makes columns of categories")
            columns.append(column)
        dtype = np.float32 if columns and all(c.dtype == np.float32 for c in columns) else np.float64
        return Matrix(side_by_side(columns, self.n_rows, np.dtype(dtype)), names)


def is_frame(value: object) -> bool:
    """True for a data frame of pandas or polars and an Arrow table."""
    return _library(value) in LIBRARIES and (hasattr(value, "columns") or hasattr(value, "column_names"))


def names_of_columns(value: object) -> tuple[str, ...]:
    """Names of the columns of a data frame; none of all else, and where some are no strings."""
    names = _names(value) if is_frame(value) else []
    return tuple(names) if all(isinstance(name, str) for name in names) else ()


def index_of(value: Any) -> Any:
    """Labels of the rows of a data frame of pandas; None of all else."""
    return value.index if is_frame(value) and _library(value) == "pandas" else None


def _names(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", None) or frame.columns)


def is_column(value: object) -> bool:
    """True for a column of pandas, polars or Arrow, for labels, and for an array or a list of strings."""
    if isinstance(value, Labelled):
        return True
    if isinstance(value, list | tuple):
        return _has_labels(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OUST"
    return _library(value) in LIBRARIES and not is_frame(value)


def column_of(values: Any, name: str) -> np.ndarray | Labelled:
    """Column as numbers, nan where they are missing, or as labels; TypeError for dates and the like."""
    if isinstance(values, Labelled):
        return values
    library = _library(values)
    found = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}.get(library, _of_numpy)(values)
    if isinstance(found, np.ndarray):
        if found.dtype.kind not in "fiub":
            raise TypeError(
                f"column {name!r} has dtype {found.dtype}, neither numbers nor labels: make numbers of it, such as "
                "days since a first one, or strings"
            )
        if found.ndim != 1:
            raise ValueError(f"column {name!r} has shape {found.shape}: it must have one axis, with a value for each row")
        if found.dtype == np.int32 and found.size and found.min() == R_MISSING:
            raise ValueError(
                f"column {name!r} has {R_MISSING} in row {found.argmin()}, as which the NA of R's whole numbers comes: make "
                "numbers of it, as.numeric in R or astype(float), whose missing values are nan"
            )
    return found


def labels_of_rows(given: Any, name: str, n_rows: int | None) -> Labelled:
    """Label of each of so many rows, strings, numbers or NumPy's dates; ValueError where a row has none."""
    column = column_of(given, name) if is_column(given) else np.asarray(given)
    shape = (len(column),) if isinstance(column, Labelled) else column.shape
    if len(shape) != 1 or shape != (shape[0] if n_rows is None else n_rows,):
        rows = "each row" if n_rows is None else f"each of the {n_rows} rows"
        raise ValueError(f"{name} has shape {shape}, and must have one for {rows}")
    if not isinstance(column, Labelled) and column.dtype.kind in "mM":
        missing, column = np.isnat(column), column.astype(str).astype(object)
        column[missing] = None
    found = column if isinstance(column, Labelled) else labelled(column)
    found.numbers(name)
    return found


def side_by_side(columns: list[np.ndarray], n_rows: int, dtype: DType) -> np.ndarray:
    """Matrix of columns, in column-major order."""
    found = np.empty((len(columns), n_rows), dtype)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        end = first + ROWS_AT_ONCE
        for row, column in zip(found, columns, strict=True):
            row[first:end] = column[first:end]
    return found.T


def unknown(name: str, names: Collection[str], what: str) -> ValueError:
    """Error about a column that is not there, with names near to it."""
    near = did_you_mean(name, names)
    columns = f"{'The' if near else 'the'} columns are {listed(names)}"
    return ValueError(f"{what} needs a column {name!r}, and there is none: {f'{near} {columns}'.lstrip()}")


def listed(names: Any, most: int = 12) -> str:
    """Names in a row, the first of many."""
    names = list(map(str, names))
    return ", ".join(names[:most]) + (f", … ({len(names)} in all)" if len(names) > most else "")


def _library(value: object) -> str:
    kind: Any = type(value)
    return _library_of(kind)


@functools.cache
def _library_of(kind: Any) -> str:
    """Name of the library of a type, also of one that is derived from it elsewhere."""
    roots = (c.__module__.partition(".")[0] for c in kind.__mro__)
    return next((root for root in roots if root in LIBRARIES), "")


def _has_labels(values: Sequence[Any]) -> bool:
    """True for a list that is of labels: of strings, some of which may be missing."""
    return any(v is None or isinstance(v, str) for v in values)


def _of_numpy(values: Any) -> np.ndarray | Labelled:
    array = np.asarray(values, object if isinstance(values, list | tuple) and _has_labels(values) else None)
    return _of_objects(array.astype(object)) if array.dtype.kind in "OUST" else array


def _of_objects(values: Any) -> np.ndarray | Labelled:
    """Objects as labels, or as numbers if they are some."""
    found = labelled(values)
    if found.labels.dtype.kind in "iufb" or all(isinstance(label, int | float) for label in found.labels.tolist()):
        return np.append(found.labels, np.nan).astype(float)[found.codes]
    return found


def _of_pandas(values: Any) -> np.ndarray | Labelled:
    pandas: Any = sys.modules["pandas"]
    values = pandas.Series(values, copy=False)
    dtype = values.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = values.cat.categories
        if isinstance(categories, pandas.IntervalIndex | pandas.DatetimeIndex | pandas.PeriodIndex):
            categories = categories.astype(str)
        return numbered(np.asarray(values.cat.codes), np.asarray(categories))
    if dtype.kind in "OU":
        return _of_objects(values)
    if dtype.kind in "fiub" and not isinstance(dtype, np.dtype):  # pandas' own types, which tell what is missing
        if values.isna().any():
            return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
        return np.asarray(values.to_numpy(dtype=dtype.numpy_dtype))
    return np.asarray(values)


def _of_polars(values: Any) -> np.ndarray | Labelled:
    polars: Any = sys.modules["polars"]
    dtype = values.dtype
    if dtype in (polars.String, polars.Categorical, polars.Enum):
        if dtype == polars.Enum:
            categories = dtype.categories
        else:
            categories = values.drop_nulls().unique().cast(polars.String).sort()
            values = values.cast(polars.Enum(categories))
        return numbered(values.to_physical().cast(polars.Int64).fill_null(-1).to_numpy(), categories.to_numpy())
    if dtype.is_decimal() or (dtype == polars.Boolean and values.null_count()):
        values = values.cast(polars.Float64)
    return np.asarray(values.to_numpy())


def _of_arrow(values: Any) -> np.ndarray | Labelled:
    types: Any = sys.modules["pyarrow"].types
    whole = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    of_strings = types.is_string(whole.type) or types.is_large_string(whole.type) or types.is_string_view(whole.type)
    if of_strings or types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
        codes, labels = (np.asarray(v.to_numpy(zero_copy_only=False)) for v in (whole.indices.fill_null(-1), whole.dictionary))
        return numbered(codes, labels, ordered=not of_strings)
    if types.is_boolean(whole.type) or types.is_decimal(whole.type):
        whole = whole.cast("uint8" if types.is_boolean(whole.type) else "float64")
    return np.asarray(whole.to_numpy(zero_copy_only=False))
