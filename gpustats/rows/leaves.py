"""Leaves: the sources of a row function's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..frames.columns import Frame, column_of, is_column, is_frame
from ..frames.labelled import Labelled
from ..parallel.rows import as_rows, chunks, is_stored, read
from ..runtime import arrays
from ..runtime.cached import cached_property
from ..runtime.host_memory import contiguous
from ..runtime.transfers import to_host
from ..runtime.types import Array, Value, Values
from .sparse_matrix import SparseMatrix, is_sparse, sparse_matrix

MOST_COLUMNS = 64  # of a dot product, which a thread takes by itself


@dataclass(frozen=True, eq=False)
class Leaf:
    """Source of one argument's values, one for each row."""

    of: str | None  # name of the parameter that it is made of; None: that of the argument
    #: number of the element, for an element of a vector. 0 for a whole vector and for a number.
    element: int = field(default=0, kw_only=True)
    elements: int = field(default=0, kw_only=True)  # number of all elements, likewise
    kind: ClassVar[str]


@dataclass(frozen=True, eq=False)
class Column(Leaf):
    """Column of data, (N,), in the type in which it is stored; of vectors (N, d)."""

    numbers: Array
    kind = "data"


@dataclass(frozen=True, eq=False)
class Scalar(Leaf):
    """One number for all rows."""

    kind = "a number"


@dataclass(frozen=True, eq=False)
class Gather(Leaf):
    """Element of a table for each row: `indices` are its places, one array for each axis of the table."""

    indices: tuple[Array, ...]
    labels: tuple[Any, ...] = ()  # of the places along each axis, ndarrays; None where these are numbers
    kind = "a table"

    def __post_init__(self) -> None:
        if not self.labels:
            object.__setattr__(self, "labels", (None,) * len(self.indices))

    @property
    def of_steps(self) -> bool:
        """True if an index is a user's sequences: then `leaf_of` makes a `StepGather` of it."""
        return any(isinstance(index, Sequences) for index in self.indices)

    @cached_property
    def varying(self) -> tuple[Array, ...]:
        """Indices whose places differ between rows, by which rows are grouped; all indices where none does."""
        return tuple(index for index in self.indices if index.size and index.min() != index.max()) or self.indices

    @property
    def order(self) -> tuple[int, ...]:
        """Key of the order of the rows by these groups: the indices that vary, by identity."""
        return tuple(map(id, self.varying))


@dataclass(frozen=True, eq=False)
class StepGather(Leaf):
    """Element of a table for each step of each row's own sequence.

    `indices` are its places, one array for each axis of the table; row n has those from `offsets[n]` up to `offsets[n + 1]`.
    """

    indices: tuple[Array, ...]
    offsets: Array
    kind = "a table"

    @property
    def lengths(self) -> np.ndarray:
        found: np.ndarray = np.diff(self.offsets)
        return found


@dataclass(frozen=True, eq=False)
class Dot(Leaf):
    """Product of a row of `X`, (N, k), and k coefficients."""

    X: Array
    names: tuple[str, ...] = ()  # of the columns
    kind = "coefficients"


@dataclass(frozen=True, eq=False)
class SparseDot(Leaf):
    """Product of a row of a sparse matrix, (N, k), and k coefficients."""

    X: SparseMatrix
    kind = "coefficients"


@dataclass(frozen=True, eq=False)
class PerRow(Leaf):
    """Number of each row's own: row n has element n + `offset`."""

    offset: int
    kind = "numbers of the rows"


@dataclass(frozen=True, eq=False)
class Sequences(Leaf):
    """Numbers of each row's own sequence: row n has those from `offsets[n]` up to `offsets[n + 1]`."""

    numbers: Array
    offsets: Array
    #: for each row the key by which its numbers were found, if they were, and where each number stood among those of all keys
    keys: np.ndarray | None = None
    order: np.ndarray | None = None
    kind = "sequences"

    @property
    def lengths(self) -> np.ndarray:
        found: np.ndarray = np.diff(self.offsets)
        return found


def gather(*indices: ArrayLike | Sequences, of: str | None = None) -> Gather:
    """Argument of a row function that is an element of a table, a parameter: ``theta[index]``, ``theta[i, j]``.

    For a vector, a row of the table, ``theta[index, :]``: the table has one axis more. Where an index is `sequences`, the
    argument is a sequence, ``const real *``, with an element of the table for each step.

    Parameters
    ----------
    *indices : (N,) array_like of int or of labels, or Sequences
        For each axis of the table, the place of each row in it, or of each step of its sequence, from 0. Labels are numbered
        in their order, together with those of other arguments that are elements of the same table.
    of : str, optional
        The name of the table, where it is not that of the argument: several arguments may be elements of one table.

    Returns
    -------
    Gather
        For `gpustats.Rows`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> y, county = np.array([1.0, -0.5, 2.0]), np.array([0, 0, 1])
    >>> rows = gs.Rows(gs.normal, x=y, mu=gs.gather(county))
    >>> value, gradient = rows.value_and_grad(mu=np.array([0.0, 1.0]), sigma=1.0)
    >>> gradient["mu"]
    array([0.5, 1. ])

    Answers of two persons to some of three questions, which are more or less difficult:

    >>> exam = '''
    ... __device__ real exam(const real *right, const real *difficulty, int n, real ability)
    ... {
    ...     real loglik = 0;
    ...     for (int t = 0; t < n; t++)
    ...         loglik += bernoulli_logit_logpmf(right[t], ability - difficulty[t]);
    ...     return loglik;
    ... }'''
    >>> question = gs.sequences([[0, 1, 2], [2, 0]])
    >>> rows = gs.Rows(exam, right=gs.sequences([[1, 1, 0], [0, 1]]), difficulty=gs.gather(question), ability=gs.per_row())
    >>> value, gradient = rows.value_and_grad(difficulty=np.array([-1.0, 0.0, 1.0]), ability=np.array([0.5, 0.0]))
    >>> gradient["difficulty"].round(4)
    array([-0.4514, -0.3775,  0.6465])
    """
    if not indices:
        raise ValueError("gather takes the index of each row: gs.gather(index), or gs.gather(i, j) for a table of two axes")
    columns = [column_of(index, "an index of gather") if is_column(index) else index for index in indices]
    places = tuple(c.numbers("an index of gather") if isinstance(c, Labelled) else c for c in columns)
    return Gather(of, places, tuple(c.labels if isinstance(c, Labelled) else None for c in columns))


def dot(X: Values, of: str | None = None) -> Dot:
    """Argument of a row function that is ``X @ beta``, where beta is a parameter.

    For a vector of d elements, a row of ``X @ W``, where W, (k, d), is the parameter.

    Parameters
    ----------
    X : (N, k) array_like, data frame, dict of columns or sparse matrix
        The design matrix, of at most 64 columns; `gpustats.GLM` takes more. Or a sparse matrix or array of SciPy, of any number
        of columns: entries are put in order, and those of one place added up. Where all are one, no values are stored. A
        guide, "Sparse designs", has one-hot columns, memory and speed.
    of : str, optional
        The name of the coefficients, where it is not that of the argument.

    Returns
    -------
    Dot
        For `gpustats.Rows`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> X, y = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), np.array([1, 0, 1])
    >>> rows = gs.Rows(gs.bernoulli_logit, x=y, eta=gs.dot(X, of="beta"))
    >>> round(rows(beta=np.array([0.3, -0.2])), 6)
    -1.585231
    >>> import scipy.sparse
    >>> rows = gs.Rows(gs.bernoulli_logit, x=y, eta=gs.dot(scipy.sparse.csr_array(X), of="beta"))
    >>> round(rows(beta=np.array([0.3, -0.2])), 6)
    -1.585231
    """
    if is_frame(X) or isinstance(X, Mapping):
        matrix = Frame(X, "X").matrix()
        return Dot(of, matrix.values, matrix.names)
    return Dot(of, X)


def per_row(of: str | None = None, offset: int = 0) -> PerRow:
    """Argument of a row function that is a number of the row's own: row n has element n + `offset` of a parameter.

    Parameters
    ----------
    of : str, optional
        The name of the parameter, where it is not that of the argument.
    offset : int
        Distance in elements. A parameter has as many elements as its leaves reach over: with offsets 0 and 1 there are
        N + 1, with -1 and 0 as well, of which row 0 has the first two.

    Returns
    -------
    PerRow
        For `gpustats.Rows`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> walk = gs.Rows(gs.normal, x=gs.per_row(of="h", offset=1), mu=gs.per_row(of="h"))
    >>> value, gradient = walk.value_and_grad(h=np.array([0.0, 1.0, 0.0]), sigma=1.0)
    >>> gradient["h"]
    array([ 1., -2.,  1.])
    """
    return PerRow(of, int(offset))


def leaf_of(name: str, value: Value, whole: bool = False, vector: bool = False) -> Leaf:
    """Leaf for the user's value of the argument `name`; `whole`: the function takes it as an `int`."""
    if isinstance(value, Gather) and value.of_steps:
        if not vector:
            raise ValueError(f"{name} is a number of the function, and each step gathers it: declare it `const real *{name}`")
        return _of_steps(name, value)
    if isinstance(value, Gather):
        return replace(value, indices=tuple(_index(name, index) for index in value.indices))
    if isinstance(value, Dot) and is_sparse(value.X):
        return SparseDot(value.of, sparse_matrix(value.X, f"{name}: X"))
    if isinstance(value, Dot):
        X = _rows_of(value.X, name)
        if len(X.shape) != 2 or not 0 < X.shape[1] <= MOST_COLUMNS:
            raise ValueError(
                f"{name}: X of a dot product must have the shape (N, k) with k of 1 to {MOST_COLUMNS}, not {tuple(X.shape)}"
                + ("; gs.GLM takes more columns" if len(X.shape) == 2 and X.shape[1] else "")
            )
        return replace(value, X=X)
    if isinstance(value, Sequences) and not vector:
        raise ValueError(f"{name} is a number of the function, and has sequences: declare it `const real *{name}`")
    if isinstance(value, PerRow) and vector:
        raise ValueError(f"{name} is a vector, and per_row gives each row a number")
    if isinstance(value, Leaf):
        return value
    numbers = _rows_of(value, name)
    shape = tuple(numbers.shape)
    if vector and (len(shape) != 2 or not 0 < shape[1] <= MOST_COLUMNS):
        raise ValueError(f"{name} has shape {shape}: data of a vector have the shape (N, d), with d of 1 to {MOST_COLUMNS}")
    if len(shape) != 1 and not vector:
        raise ValueError(
            f"{name} has shape {shape}: data are columns of shape (N,)"
            + ("; a number is given in the call, by its name" if not shape else "")
        )
    return Column(None, numbers if is_stored(numbers) else stored(name, numbers, whole))


def _rows_of(value: Value, name: str) -> Array:
    """Copy of an array in C order, which nobody else changes; a stored array, read by slices, as it is."""
    try:
        found = as_rows(value, name)
    except ValueError:
        if not isinstance(value, list | tuple):
            raise
        raise ValueError(f"{name} has parts of several lengths: give sequences as gs.sequences({name})") from None
    if is_stored(found):
        return found
    if arrays.is_device_array(found):
        return to_host(found)
    found = np.asarray(found)
    return contiguous(found, found.dtype, copy=True)


def stored(name: str, numbers: np.ndarray, whole: bool = False) -> np.ndarray:
    """A column in a type that kernels read: float64, float32, int32 or uint8."""
    if numbers.dtype == bool:
        return numbers.astype(np.uint8)
    if numbers.dtype.kind in "iu":
        if numbers.dtype == np.uint8:
            return numbers
        if numbers.dtype.itemsize < 4 or not numbers.size or abs(int(numbers.min())) < 2**31 > int(numbers.max()):
            return numbers.astype(np.int32)
        if whole:
            raise ValueError(f"{name} has numbers of {numbers.dtype} beyond those of int")
        return numbers.astype(np.float64)
    if whole:
        if not np.all(np.rint(numbers) == numbers) or (np.abs(numbers) >= 2**31).any():
            place = int(np.flatnonzero(~((np.rint(numbers) == numbers) & (np.abs(numbers) < 2**31)))[0])
            raise ValueError(f"{name} is an int of the function, and {numbers[place]} at row {place}")
        return numbers.astype(np.int32)
    return numbers if numbers.dtype == np.float32 else numbers.astype(np.float64, copy=False)


def _index(name: str, index: Value) -> Array:
    """Places in a table as whole numbers."""
    rows = as_rows(index, name) if is_stored(index) or isinstance(index, np.memmap) else index
    if is_stored(rows) and len(rows.shape) == 1:
        for first, end in chunks(rows.shape[0], 1 << 20):
            _index(f"{name}, from row {first} on", read(rows, first, end, name))
        return rows
    found = np.asarray(to_host(index) if arrays.is_device_array(index) else index)
    if found.ndim != 1:
        raise ValueError(f"{name}: an index has shape {found.shape}, and must have the shape (N,)")
    if found.dtype.kind not in "iu":
        nans = np.isnan(found) if found.dtype.kind == "f" else np.zeros(1, bool)
        what = f"nan at row {int(nans.argmax())}" if nans.any() else f"of dtype {found.dtype}"
        raise ValueError(f"{name}: an index is {what}; it must be whole numbers, as numpy.unique(…, return_inverse=True) gives")
    if found.size and (found.min() < 0 or found.max() >= 2**31 - 1):
        place = int(np.flatnonzero((found < 0) | (found >= 2**31 - 1))[0])
        raise ValueError(f"{name}: an index is {found[place]} at row {place}; places count from 0")
    return found.astype(np.int32)


def _of_steps(name: str, gather: Gather) -> StepGather:
    """Leaf that gathers an element for each step; indices of rows have the same place at all steps of a row."""
    of_steps = [index for index in gather.indices if isinstance(index, Sequences)]
    offsets, lengths = of_steps[0].offsets, of_steps[0].lengths
    if any(not np.array_equal(index.offsets, offsets) for index in of_steps):
        raise ValueError(f"{name}: the sequences of its indices must have the same lengths")
    indices = list[np.ndarray]()
    for index in gather.indices:
        if not isinstance(index, Sequences):
            rows = _index(name, index)
            if rows.shape[0] != lengths.size:
                raise ValueError(f"{name}: an index has {rows.shape[0]} rows, and there are {lengths.size} sequences")
            indices.append(np.repeat(read(rows, 0, rows.shape[0], name), lengths))
            continue
        places = index.numbers
        if places.dtype.kind not in "iu" and places.size:
            raise ValueError(f"{name}: an index is of dtype {places.dtype}; it must be sequences of whole numbers")
        if places.size and places.min() < 0:
            place = int((places < 0).argmax())
            row, step = place_of_step(offsets, place)
            raise ValueError(f"{name}: an index is {places[place]} in sequence {row} at place {step}; places count from 0")
        indices.append(places.astype(np.int32))
    return StepGather(gather.of, tuple(indices), offsets)


def place_of_step(offsets: np.ndarray, place: int) -> tuple[int, int]:
    """Number of the sequence, and place in it, of a number among all."""
    row = int(np.searchsorted(offsets, place, "right")) - 1
    return row, place - int(offsets[row])
