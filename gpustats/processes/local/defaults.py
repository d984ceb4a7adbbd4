"""Starting values, bounds and priors of lengthscales and nuggets: as given, else from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .points import Points, parts_of

#: Points of which all distances are taken.
SAMPLE_POINTS = 1000
#: Standard deviations of columns in one unit, such as those of points in a cube, are within this factor.
SAME_UNIT_RATIO = 1.5
_SMALLEST = math.sqrt(np.finfo(np.float64).eps)
_KEYS = ("start", "mle", "min", "max", "ab")

#: What users know of a lengthscale or the nugget: its start, any of `_KEYS`, or all of it.
Known: TypeAlias = "float | Sequence[float] | np.ndarray | Mapping[str, object] | Parameter | None"


@dataclass(frozen=True)
class Parameter:
    """Start, bounds and prior of a lengthscale, or of the nugget.

    Attributes
    ----------
    start : float or ndarray
        Where the search begins, or the value if it is not estimated.
    mle : bool
        Whether it is estimated.
    min, max : float or (p,) ndarray
        Between which the estimate lies; of lengthscales each column may have its own.
    ab : tuple
        Shape and rate of the gamma prior; (0, 0) for none. The rate may be a (p,) ndarray.
    """

    start: float | np.ndarray
    mle: bool
    min: float | np.ndarray
    max: float | np.ndarray
    ab: tuple[float, float | np.ndarray]

    def bounds_and_prior(self, count: int) -> np.ndarray:
        """Logarithms of the bounds, u and v of the prior's log-density u log(t) - v t, of `count` parameters: (4, count)."""
        a, b = self.ab
        rows = np.log(self.min), np.log(self.max), a - 1 if a > 0 else 0.0, b
        return np.stack([np.broadcast_to(row, count) for row in rows])


def darg(
    d: Known, X: np.ndarray | Points, sample: int = SAMPLE_POINTS, separable: bool = False, lengths: np.ndarray | None = None
) -> Parameter:
    """Start, bounds and prior of a lengthscale.

    Parameters
    ----------
    d : None, float, array_like, mapping or Parameter
        The start, or any of ``start``, ``mle``, ``min``, ``max`` and ``ab``; what is given stays as it is, and so does all
        of what `darg` returned.
    X : (N, p) or (N,) array_like
    sample : int
        The most points of which all distances are taken; always the same ones.
    separable : bool
        Whether each column has a lengthscale of its own. Then distances are those of columns over what `units_of_columns`
        gives, and each column has what follows in its own units.
    lengths : (p,) ndarray, optional
        Result of `units_of_columns`, where it is known.

    Returns
    -------
    Parameter
        By default the start is the 10 % quantile of the positive squared distances between points, the bounds are half of the
        least of them and the largest, and the prior is a gamma of shape 3/2 with 95 % of its mass below the latter.

    Examples
    --------
    >>> import numpy as np
    >>> found = darg(None, np.array([[0.0], [1.0], [3.0]]))
    >>> round(found.start, 3), found.min, found.max, round(found.ab[1], 3)
    (1.6, 0.5, 9.0, 0.434)
    """
    if isinstance(d, Parameter):
        return d
    values = _given("d", d)
    mle = values.setdefault("mle", True)
    missing = {"start", *(("min", "max", "ab") if mle else ())} - values.keys()
    if missing:
        X = X if isinstance(X, Points) else _matrix(X)
        lengths = units_of_columns(X, separable) if lengths is None else lengths
        squares = _squared_distances(X, lengths, sample, sorted(missing))
        unit = lengths**2 if separable else float(lengths[0] ** 2)
        values.setdefault("start", float(np.quantile(squares, 0.1)) * unit)
        if mle:
            values.setdefault("min", max(float(squares.min()) / 2, _SMALLEST) * unit)
            values.setdefault("max", float(squares.max()) * unit)
    if "ab" in missing:
        shape, rate = _prior(float(squares.max()))
        return replace(_checked("d", values | {"ab": (shape, 0.0)}), ab=(shape, rate / unit))
    return _checked("d", values)


def garg(g: Known, y: np.ndarray) -> Parameter:
    """Start, bounds and prior of the nugget.

    Parameters
    ----------
    g : None, float, array_like, mapping or Parameter
        As for `darg`; None is ``{"start": 1e-4}``.
    y : (N,) array_like

    Returns
    -------
    Parameter
        Not estimated by default. If it is to be, the start is the 2.5 % quantile of the squared deviations of y from its mean,
        relative to their mean, the bounds are about 1.5e-8 and the largest of them, and the prior is a gamma of shape 3/2 with
        95 % of its mass below 1.

    Examples
    --------
    >>> found = garg({"mle": True}, np.array([0.0, 1.0, 2.0]))
    >>> round(found.start, 3), round(found.max, 3), round(found.ab[1], 3)
    (0.075, 1.5, 3.907)
    """
    if isinstance(g, Parameter):
        return g
    values = _given("g", 1e-4 if g is None else g)
    mle = values.setdefault("mle", False)
    if "start" not in values or (mle and not {"max", "ab"} <= values.keys()):
        y = np.asarray(y, float)
        deviations = y - y.mean() if y.size else np.ones(1)
        squares = (deviations / (spreads(deviations[:, None])[0] or 1.0)) ** 2
        values.setdefault("start", max(float(np.quantile(squares, 0.025)), _SMALLEST))
        if mle:
            values.setdefault("max", max(float(squares.max()), float(np.max(values["start"]))))
            values.setdefault("ab", _prior(1.0))
    if mle:
        values.setdefault("min", _SMALLEST)
    return _checked("g", values)


def _matrix(X: ArrayLike) -> np.ndarray:
    X = np.asarray(X, float)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or not X.shape[1] or np.isnan(X).any():
        raise ValueError(f"X must be (N, p) or (N,), with a column at least and without nan, not of shape {X.shape}")
    return X


def _given(name: str, value: Known) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {"start": value}
    if unknown := [k for k in value if k not in _KEYS]:
        raise ValueError(f"{name} has {unknown[0]!r}: as a dictionary it may have {', '.join(_KEYS)}")
    return {k: v for k, v in value.items() if v is not None}


def _prior(high: float) -> tuple[float, float]:
    """Gamma prior of shape 3/2 with 95 % of its mass below `high`."""
    from scipy import special

    return 1.5, float(special.gammaincinv(1.5, 0.95)) / high


def spreads(X: np.ndarray | Points) -> np.ndarray:
    """Standard deviations of columns."""
    if not len(X):
        return np.zeros(X.shape[1])
    first = next(parts_of(X))[:1].copy()
    with np.errstate(under="ignore"):
        size = np.max([np.abs(part - first).max(0) for part in parts_of(X)], axis=0)
        size[size == 0] = 1
        mean = sum(((part - first) / size).sum(0) for part in parts_of(X)) / len(X)
        squares = sum((((part - first) / size - mean) ** 2).sum(0) for part in parts_of(X))
        return np.sqrt(squares / len(X)) * size


def units_of_columns(X: np.ndarray | Points, separable: bool) -> np.ndarray:
    """Lengths that columns are divided by, (p,): one power of 2, which changes no digit, or their standard deviations.

    Standard deviations are for columns with lengthscales of their own that are not in one unit: if one is more than
    `SAME_UNIT_RATIO` times that of another.
    """
    columns = spreads(X)
    differing = columns[columns > 0]
    if not len(differing):
        return np.ones(len(columns))
    if separable and differing.max() > SAME_UNIT_RATIO * differing.min():
        return np.where(columns > 0, columns, 1.0)
    return np.full(len(columns), 2.0 ** round(math.log2(differing.max())))


def _squared_distances(X: np.ndarray | Points, lengths: np.ndarray, sample: int, missing: list[str]) -> np.ndarray:
    """Squared distances, positive ones, between points in units `lengths`, of a sample if points are many.

    `missing` names the values that the distances are for, as the error lists them.
    """
    from scipy.spatial.distance import pdist

    rows = np.sort(np.random.default_rng(0).choice(len(X), sample, replace=False)) if len(X) > sample else slice(None)
    some = np.asarray(X[rows], np.float64) / lengths
    some = some[np.isfinite(some).all(1)]
    squares = pdist(some, "sqeuclidean")
    squares = squares[squares > 0]
    if not squares.size:
        raise ValueError(
            f"X has shape {X.shape} and no two different points, whose distances would tell {', '.join(missing)} of d: give d "
            "as a dictionary with these, or with start and mle=False"
        )
    return squares


def _checked(name: str, given: Mapping[str, Any]) -> Parameter:
    start, mle = given["start"], given["mle"]
    start = np.asarray(start, np.float64) if np.ndim(start) else float(start)
    if not isinstance(mle, bool | np.bool_):
        raise ValueError(f"{name}['mle'] is {mle!r}: it must be True or False")
    low, high = float(np.min(start, initial=np.inf)), float(np.max(start, initial=-np.inf))
    least = 0.0 if name == "d" or mle else -np.inf
    if np.size(start) and not (least < low and high < np.inf and low >= 0):
        kind = "positive" if np.isfinite(least) else "nonnegative"
        raise ValueError(f"{name} must be {kind} and finite; its start goes from {low} to {high}")
    if not mle:
        return Parameter(start, False, low, high, (0.0, 0.0))
    bottom, top = (np.asarray(given[end], np.float64) if np.ndim(given[end]) else float(given[end]) for end in ("min", "max"))
    if not np.all((bottom > 0) & (bottom <= top) & (top < np.inf)):
        raise ValueError(f"{name} has the bounds min = {bottom} and max = {top}: they must be positive, and min <= max")
    columns = np.size(bottom + top)
    alike = columns == 1 or not np.ndim(start) or np.shape(start)[-1] in (1, columns)  # else something else is wrong
    if np.size(start) and alike and not np.all((bottom <= start) & (start <= top)):
        raise ValueError(
            f"{name} starts between {low} and {high}, outside of its bounds, {bottom} to {top}: give other ones, as in "
            f"{name} = dict(start=…, min=…, max=…)"
        )
    if np.shape(given["ab"]) != (2,) or not all(0 <= v < np.inf for v in given["ab"]):
        raise ValueError(f"{name}['ab'] is {given['ab']!r}: it must be two nonnegative numbers, a gamma's shape and rate")
    a, b = given["ab"]
    return Parameter(start, True, bottom, top, (float(a), float(b)))
