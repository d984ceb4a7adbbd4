"""Observations of one data set or of many, in any form, as rectangles of data sets of about the same size."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.placement import as_read, device_of
from ..evaluation.results import as_host
from ..kernels.layout import power_of_two
from ..runtime.arrays import as_array, is_device_array
from ..runtime.host_memory import contiguous
from ..runtime.types import Array, Doubles, Shape, Values
from .problem import number_of

#: Numbers beside observations: one, or an array with two axes.
Column = float | np.ndarray

#: Columns of observations beside the values, by names that no parameter has: the upper end of an interval in which
#: an observation lies, with the value as the lower end; and the number of times that an observation counts.
UPPER, WEIGHT = "upper end", "its weight"

MANY_OBSERVATIONS = 4096  # of a data set: of more, a sample stands for all

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class Rectangle:
    """Data sets of one length, each with a row: (G, N).

    Attributes
    ----------
    which : (G,) ndarray
        The numbers of the data sets.
    x : array
        (G, N), of float64, on the host or on a device.
    columns : dict
        Columns beside x: known parameters by their names, `UPPER`, `WEIGHT`. Numbers, and arrays with two
        axes that broadcast to x. Data sets that are shorter than N are filled up with observations of weight 0.
    """

    which: np.ndarray
    x: Array
    columns: dict[str, Column]

    def __getitem__(self, sets: np.ndarray) -> Rectangle:
        """Rectangle of some of the data sets."""
        own = {n: v[sets] if isinstance(v, np.ndarray) and len(v) == len(self.which) else v for n, v in self.columns.items()}
        return Rectangle(self.which[sets], self.x[sets], own)

    def beside(self, known: Mapping[str, Column]) -> Rectangle:
        """Rectangle with further columns."""
        return Rectangle(self.which, self.x, {**self.columns, **known})

    def on_host(self) -> Rectangle:
        """Rectangle with x on the host."""
        return Rectangle(self.which, as_host(device_of([self.x], ["x"]), self.x), self.columns)

    def weights(self) -> Doubles:
        """Number of times that each observation counts."""
        return np.broadcast_to(self.columns.get(WEIGHT, 1.0), self.x.shape)

    def numbers(self) -> Doubles:
        """The number of observations of each data set: the sum of their weights."""
        numbers: Doubles = self.weights().sum(-1)
        return numbers

    def outermost(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest observation of each data set; x lies on the host."""
        counted = self.weights() > 0
        return self.x.min(-1, where=counted, initial=np.inf), self.x.max(-1, where=counted, initial=-np.inf)

    def between(self, near: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of neighbouring observations of each data set, the smaller ones (G, n) and the larger ones (G, n).

        Half of them are next to `near` (G,), the others are spread over all observations. Of observations on a device, or of
        very many, some stand for all.
        """
        whole = self.x.shape[1] <= MANY_OBSERVATIONS and not is_device_array(self.x)
        few = self if whole else self.sample(MANY_OBSERVATIONS, False)
        counted = few.weights() > 0
        x = np.sort(np.where(counted, few.x, np.nan), axis=-1)  # nan comes last
        size = counted.sum(-1)
        at = np.array([np.searchsorted(row[:n], v) for row, n, v in zip(x, size, near, strict=True)])
        beside, apart = np.arange(number // 2) - number // 4, (np.arange(number - number // 2) + 0.5) / (number - number // 2)
        first = np.maximum(np.minimum(at[:, None] + beside, size[:, None] - 2), 0)
        first = np.concatenate([first, ((size[:, None] - 1) * apart).astype(int)], axis=1)
        low, high = (np.take_along_axis(x, np.minimum(first + i, size[:, None] - 1), axis=1) for i in (0, 1))
        return low, high

    def sample(self, size: int, whole: bool) -> Rectangle:
        """About `size` observations of each data set, spread over it as its weights are; a value within each interval.

        Parameters
        ----------
        whole : bool
            Whether values are whole numbers.
        """
        if is_device_array(self.x) and self.columns.keys() & {WEIGHT, UPPER}:
            return self.on_host().sample(size, whole)
        n, columns = self.x.shape[1], dict(self.columns)
        size = min(n, size)
        places = ((np.arange(size) + 0.5) * n / size).astype(int)[None]
        if WEIGHT in columns:
            places = _spread(np.broadcast_to(columns.pop(WEIGHT), self.x.shape), size)
        if is_device_array(self.x):
            places = np.arange(0, n, max(1, n // size))[None]
            some = self.x[:, :: max(1, n // size)]
            runtime = device_of([some], ["x"])
            x = as_host(runtime, as_read(runtime, some, _DOUBLE))
        else:
            x = _at(self.x, places)
        columns = _taken(columns, places)
        if UPPER in columns:
            x = _within(x, np.broadcast_to(columns.pop(UPPER), x.shape), whole)
        return Rectangle(self.which, x, columns)


class Arranged(NamedTuple):
    """Rectangles of data sets, the shape in which the data sets came, and their labels, if any."""

    rectangles: Sequence[Rectangle]
    shape: tuple[int, ...]
    labels: np.ndarray | None


def arranged(
    x: Values | None, lower: Values | None, upper: Values | None, weights: Values | None, known: Mapping[str, Values],
    groups: ArrayLike | None,
) -> Arranged:
    """The observations of a call of `Density.fit`, beside which lie `known` parameters."""
    low, high = _ends(x, lower, upper)
    if high is not None and np.array_equal(low, high):  # intervals of no width are observations
        high = None
    beside = {UPPER: high, WEIGHT: weights}
    found = _arranged(low, {**known, **{name: v for name, v in beside.items() if v is not None}}, groups)
    for rectangle in found.rectangles:
        _check_weights(rectangle)
    return found._replace(rectangles=[_without_uncounted(rectangle) for rectangle in found.rectangles])


def _without_uncounted(rectangle: Rectangle) -> Rectangle:
    """Rectangle with counted observations in the place of those of weight 0, which may be nan or lie anywhere."""
    weights = rectangle.columns.get(WEIGHT, 1.0)
    if np.all(np.greater(weights, 0)):
        return rectangle
    held, counted = rectangle.on_host(), rectangle.weights() > 0
    places = np.where(counted, np.arange(counted.shape[1]), counted.argmax(-1)[:, None])
    columns = {**_taken(held.columns, places), WEIGHT: weights}
    return Rectangle(held.which, _at(np.asarray(held.x), places), columns)


def _arranged(x: Values, columns: Mapping[str, Values], groups: ArrayLike | None) -> Arranged:
    """Observations and their columns, as rectangles."""
    if groups is not None:
        return _of_groups(x, columns, groups)
    if _is_ragged(x):
        return _of_lists(x, columns)
    x = _numbers(x, "x")
    if isinstance(x, float):
        raise ValueError("x is one number: fit takes an array of shape (N,), or (G, N) for G data sets")
    *lead, n = x.shape
    if not n or 0 in lead:
        raise ValueError(f"x has shape {tuple(x.shape)}: there are no observations to fit to")
    shape = int(np.prod(lead)), n
    own = {name: _beside(v, name, tuple(lead), n) for name, v in columns.items()}
    return Arranged([Rectangle(np.arange(shape[0]), x.reshape(shape), own)], tuple(lead), None)


def _ends(x: Any, lower: Values | None, upper: Values | None) -> tuple[Values, np.ndarray | None]:
    """Observations x and None; or, for intervals, their lower and upper ends."""
    if all(hasattr(x, name) for name in ("_uncensored", "_left", "_right", "_interval")):  # scipy.stats.CensoredData
        if lower is not None or upper is not None:
            raise ValueError("lower, upper: x is censored data already")
        exact, left, right, between = x._uncensored, x._left, x._right, np.reshape(x._interval, (-1, 2))
        lowers = [exact, np.full(len(left), -np.inf), right, between[:, 0]]
        uppers = [exact, left, np.full(len(right), np.inf), between[:, 1]]
        return np.concatenate(lowers).astype(float), np.concatenate(uppers).astype(float)
    if lower is None and upper is None:
        if x is None:
            raise TypeError("fit takes observations x, or the ends lower and upper of intervals in which they lie")
        return x, None
    if x is not None:
        raise ValueError("fit takes x, or lower and upper: where an observation is known, both of its ends are its value")
    lower, upper = -np.inf if lower is None else lower, np.inf if upper is None else upper
    if _is_ragged(lower) or _is_ragged(upper):
        raise ValueError("lower and upper are arrays: for data sets of different lengths use groups=")
    low, high = (np.asarray(_hosted(_numbers(v, n))) for n, v in (("lower", lower), ("upper", upper)))
    try:
        shape = np.broadcast_shapes(low.shape, high.shape)
        low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    except ValueError:
        raise ValueError(f"lower {low.shape} and upper {high.shape} have shapes that do not broadcast") from None
    if not (low <= high).all():
        raise ValueError("lower must not lie above upper, and neither may be nan")
    if (np.isinf(low) & (low == high)).any():
        raise ValueError("lower and upper are both infinite in the same direction: no observation lies there")
    return low, high


def _is_ragged(x: Values) -> TypeGuard[Sequence[np.ndarray]]:
    """True if x is a list of arrays of several lengths."""
    return isinstance(x, (list, tuple)) and all(np.ndim(v) == 1 for v in x) and len({len(v) for v in x}) > 1


def _of_groups(x: Values, columns: Mapping[str, Values], groups: ArrayLike) -> Arranged:
    """Data sets whose observations are mixed: `groups` has the data set of each."""
    x, groups = _hosted(_numbers(x, "x")), np.asarray(groups)
    if groups.shape == (0,) == np.shape(x):
        raise ValueError("x is empty: there are no observations to fit to")
    if isinstance(x, float) or x.ndim != 1 or groups.shape != x.shape:
        raise ValueError(f"groups has shape {groups.shape}, x has {np.shape(x)}: they take (N,) labels and (N,) observations")
    labels, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(group.reshape(-1), kind="stable")
    own = {name: _beside(v, name, (), len(x)) for name, v in columns.items()}
    return Arranged(_rectangles(x[order], _taken(own, order[None]), counts), (len(labels),), labels)


def _of_lists(x: Sequence[np.ndarray], columns: Mapping[str, Values]) -> Arranged:
    """Data sets of several lengths."""
    counts = np.array([len(v) for v in x])
    if not counts.all():
        raise ValueError(f"x[{int(np.argmin(counts))}] is empty: there are no observations to fit to")
    own = {}
    for name, v in columns.items():
        if isinstance(v, (list, tuple)):
            if [np.size(part) for part in v] != counts.tolist():
                raise ValueError(f"{_told(name)}: a list of arrays as long as those of x is needed, or one number")
            v = np.concatenate([np.ravel(part) for part in v])
        own[name] = _beside(v, name, (), int(counts.sum()))
    flat = np.concatenate([_hosted(_numbers(v, "x")) for v in x])
    return Arranged(_rectangles(flat, own, counts), (len(counts),), None)


def _rectangles(x: np.ndarray, columns: Mapping[str, Column], counts: np.ndarray) -> list[Rectangle]:
    """Rectangles of data sets that lie one after another, of about the same length: at most half of a row is filled up."""
    starts, found = np.cumsum(counts) - counts, []
    sizes = np.array([power_of_two(n) for n in counts.tolist()])
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        own, n = counts[which, None], int(counts[which].max())
        place = starts[which, None] + np.minimum(np.arange(n), own - 1)
        held = _taken(columns, place)
        if own.min() < n:
            held[WEIGHT] = (np.arange(n) < own) * np.broadcast_to(held.get(WEIGHT, 1.0), place.shape)
        found.append(Rectangle(which, x[place], held))
    return found


def _numbers(value: Values, name: str) -> float | Array:
    """Number, or array of float64, on the device of the value."""
    array = as_array(value, name)
    if isinstance(array, float):
        return array
    if is_device_array(array):
        return as_read(device_of([array], [name]), array, _DOUBLE)
    return contiguous(np.asarray(array), _DOUBLE)


def _hosted(array: float | Array) -> Column:
    """Array on the host."""
    return as_host(device_of([array], ["x"]), array) if is_device_array(array) else array


def _beside(value: Values, name: str, lead: Shape, n: int) -> Column:
    """Values beside observations (*lead, n), as a number or with two axes, (1 or G, 1 or N)."""
    array = _hosted(_numbers(value, _told(name)))
    if isinstance(array, float):
        return array
    try:
        if np.broadcast_shapes(array.shape, (*lead, n)) != (*lead, n):
            raise ValueError
    except ValueError:
        told = f"{_told(name)} has shape {array.shape}, which does not broadcast to that of x, {(*lead, n)}"
        raise ValueError(told) from None
    if array.ndim == 1 or array.size == array.shape[-1]:
        return array.reshape(1, -1)
    return np.ascontiguousarray(np.broadcast_to(array, (*lead, array.shape[-1]))).reshape(-1, array.shape[-1])


def _told(name: str) -> str:
    """Name of a column in errors."""
    return {UPPER: "upper", WEIGHT: "weights"}.get(name, name)


def _check_weights(rectangle: Rectangle) -> None:
    """Check of weights: ValueError where they are no numbers of observations, or all of a data set are 0."""
    weights = rectangle.columns.get(WEIGHT, 1.0)
    number_of(weights)
    if (empty := np.flatnonzero(rectangle.numbers() == 0)).size:
        raise ValueError(f"weights of data set {int(rectangle.which[empty[0]])} are all 0: there is nothing to fit to")


def _taken(columns: Mapping[str, Column], places: np.ndarray) -> dict[str, Column]:
    """Columns at places (1 or G, n) of each row, those with one number for all observations of a row as they are."""
    return {n: _at(v, places) if isinstance(v, np.ndarray) and v.shape[1] > 1 else v for n, v in columns.items()}


def _at(array: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Numbers of (1 or G, N) at places (1 or G, n) of each row."""
    if len(places) == 1:
        return array[:, places[0]]
    return np.take_along_axis(np.broadcast_to(array, (len(places), array.shape[1])), places, axis=1)


def _spread(weights: np.ndarray, size: int) -> np.ndarray:
    """Places (G, size) in rows of weights (G, N), as often as the weights there say, and never where the weight is 0."""
    shares = np.cumsum(weights, axis=-1)
    total = shares[:, -1:]
    wanted = (np.arange(size) + 0.5) / size
    # One sorted vector for all rows: row g has the numbers from 2 g on.
    rows = 2.0 * np.arange(len(weights))[:, None]
    flat = np.searchsorted((shares / np.where(total > 0, total, 1) + rows).ravel(), (wanted + rows).ravel(), side="left")
    places: np.ndarray = flat.reshape(-1, size) - weights.shape[1] * np.arange(len(weights))[:, None]
    return places.clip(0, weights.shape[1] - 1)


def _within(lower: np.ndarray, upper: np.ndarray, whole: bool) -> np.ndarray:
    """Finite value within each interval; nan in an infinite interval, where all of the data set's are such."""
    low, high = np.where(np.isinf(lower), upper, lower), np.where(np.isinf(upper), lower, upper)
    says_nothing = np.isinf(low)
    low[says_nothing] = high[says_nothing] = np.nan
    middle = low + 0.5 * (high - low)
    if says_nothing.any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows of nan
            middle = np.where(says_nothing, np.nanmedian(middle, axis=-1, keepdims=True), middle)
    return np.floor(middle) if whole else middle
