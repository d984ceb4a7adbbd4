"""Data of a GLM, as the user gives them and on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..evaluation.placement import as_read
from ..evaluation.results import as_host
from ..parallel.rows import as_rows, largest
from ..rows.sparse_matrix import is_sparse, sparse_matrix
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.transfers import to_host
from ..runtime.types import Array, DType, Handle, Shape, Value
from .design_matrix import DesignMatrix
from .family import DESIGN, GROUPS, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS
from .groups import Groups


class Named(NamedTuple):
    """Named term of a linear predictor: the intercepts or slopes of groups."""

    name: str  # of the parameter; that of the intercept for groups without a name
    columns: int | None  # number of columns that its groups have coefficients of; None: they have intercepts
    largest: int  # the largest number of a group, -1 where there are no rows

    @property
    def index_name(self) -> str:
        """Name of the group numbers among the data."""
        return GROUPS if self.name == INTERCEPT else f"groups[{self.name!r}]"

    @property
    def columns_name(self) -> str:
        return f"columns of groups[{self.name!r}]"


def table_shape(term: Named) -> Shape:
    """Shape of the table of a term, with a row for each group."""
    return (term.largest + 1,) if term.columns is None else (term.largest + 1, term.columns)


class Sizes(NamedTuple):
    """The sizes of a GLM's data: rows and columns of X, and groups."""

    n_rows: int
    columns: int
    n_groups: int | None  # None where there are no groups
    terms: tuple[Named, ...] = ()  # those of named groups
    on_rows: bool = False  # whether a sum over rows evaluates it: with named groups, and with a sparse X


def read(given: Mapping[str, Value]) -> dict[str, Array]:
    """Data by their names, as arrays: files are not read yet; groups come to the host."""
    data = {n: sparse_matrix(v, n) if is_sparse(v) else as_rows(v, n) for n, v in given.items() if v is not None}
    if arrays.is_device_array(data.get(GROUPS)):
        data[GROUPS] = to_host(data[GROUPS])  # type: ignore[arg-type]  # no sparse matrix
    return data


def as_numpy(value: Value) -> np.ndarray:
    """Array on the host, which may have come from a device."""
    return np.asarray(to_host(value) if arrays.is_device_array(value) else value)


def sizes_of(data: Mapping[str, Array], n_groups: int | None) -> Sizes:
    """Sizes of the data, from `read`; ValueError where they do not go together.

    By default the largest group's number tells the number of groups.
    """
    shape: Shape = getattr(data[DESIGN], "shape", ())
    if len(shape) != 2:
        raise ValueError(f"X must be a matrix, (N, k); it has shape {shape}")
    n, columns = shape
    if not columns:
        raise ValueError(f"X has shape {(n, 0)}: a GLM needs a column")
    for name, value in data.items():
        if name not in (DESIGN, GROUPS) and getattr(value, "shape", ()) != (n,):
            raise ValueError(f"{name} has shape {getattr(value, 'shape', ())}, and X has {n} rows: it must be ({n},)")
    return Sizes(n, columns, _count_groups(data[GROUPS], n, n_groups) if GROUPS in data else None)


def _count_groups(groups: Array, n_rows: int, n_groups: int | None) -> int:
    shape, dtype = tuple(getattr(groups, "shape", ())), np.dtype(getattr(groups, "dtype", float))
    if shape != (n_rows,) or dtype.kind not in "iu":
        raise ValueError(f"groups has shape {shape} and dtype {dtype}: it must be ({n_rows},) whole numbers, one for each row")
    return int(largest(groups, -1, GROUPS)) + 1 if n_groups is None else n_groups


def _group_numbers(groups: Array, n_groups: int) -> np.ndarray:
    numbers = np.asarray(groups)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= 2**31 - 1):
        raise ValueError("groups must be numbered from 0; numpy.unique(…, return_inverse=True) numbers them")
    if numbers.max(initial=-1) >= n_groups:
        raise ValueError(f"groups has the number {numbers.max()}, and n_groups={n_groups} must be larger than all of them")
    return numbers


class Column(NamedTuple):
    """Column of numbers, one for each row, on a device."""

    array: Array  # (N,) or (sets, N)
    values: tuple[Handle, int]  # kernel's values for the column

    @property
    def by_set(self) -> bool:
        """True if the sets have columns of their own."""
        return len(self.array.shape) > 1


class GLMData:
    """The data of a GLM, arrays in memory or on the device, on one device; `dtype` is the type of all computations."""

    def __init__(self, data: Mapping[str, Array], sizes: Sizes, dtype: DType, runtime: Runtime):
        if dtype.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: pass X in float32")
        self.sizes, self.dtype, self.runtime = sizes, dtype, runtime
        self.design = DesignMatrix(data[DESIGN], runtime, dtype)
        self.y = self.column(data[OBSERVATIONS])
        self.offset, self.weights = (self.column(data[n]) if n in data else None for n in (OFFSET, WEIGHTS))
        self.groups: Groups | None = None
        if sizes.n_groups is not None:
            self.groups = Groups(_group_numbers(data[GROUPS], sizes.n_groups), sizes.n_groups, runtime)

    def on_host(self) -> dict[str, np.ndarray]:
        """Data on the host, in the type of the computation."""
        columns = {OBSERVATIONS: self.y, OFFSET: self.offset, WEIGHTS: self.weights}
        data = {n: as_host(self.runtime, c.array) for n, c in columns.items() if c is not None}
        data[DESIGN] = self.design.on_host()
        if self.groups is not None:
            data[GROUPS] = self.groups.on_host()
        return data

    def places(self) -> dict[str, Array] | None:
        """Device arrays that hold the data as the user gave them, by name; None where the data are copies."""
        design = self.design.as_it_came
        if self.runtime.host_visible or self.groups is not None or design is None:
            return None
        columns = {OBSERVATIONS: self.y, OFFSET: self.offset, WEIGHTS: self.weights}
        return {DESIGN: design} | {n: c.array for n, c in columns.items() if c is not None}

    def weighted(self, factors: Value, lead: Shape) -> Column:
        """The weights of the observations, if there are any, times `factors`, (N,) or (*lead, N)."""
        weights = self.weights
        factors = np.asarray(factors if weights is None else factors * as_host(self.runtime, weights.array), self.dtype)
        if factors.ndim > 1:
            factors = np.broadcast_to(factors, (*lead, self.sizes.n_rows)).reshape(math.prod(lead), -1)
        return self.column(factors)

    def column(self, value: Array) -> Column:
        """Column that kernels read; a later change of the user's NumPy array does not change it."""
        if not arrays.is_device_array(value):
            host_visible = self.runtime.host_visible
            value = np.array(value, self.dtype, order="C") if host_visible else self.runtime.to_device(value, self.dtype)
        array = as_read(self.runtime, value, self.dtype)
        return Column(array, self.runtime.memory(array))
