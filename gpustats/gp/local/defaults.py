"""Starting values, bounds and priors of lengthscales and nuggets: as given, else from the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Points of which all distances are taken.
SAMPLE = 1000
_SMALLEST = math.sqrt(np.finfo(np.float64).eps)
_KEYS = ("start", "mle", "min", "max", "ab")


@dataclass(frozen=True)
class Parameter:
    """What is known of a lengthscale, or of the nugget.

    Attributes
    ----------
    start : float or ndarray
        Where the search begins, or the value if it is not estimated.
    mle : bool
        Whether it is estimated.
    min, max : float
        Between which the estimate lies.
    ab : tuple of float
        Shape and rate of the gamma prior; (0, 0) for none.
    """

    start: Any
    mle: bool
    min: float
    max: float
    ab: tuple[float, float]

    @property
    def bounds_and_prior(self) -> tuple[float, float, float, float]:
        """Logarithms of the bounds, then u and v of the prior's log-density u log(t) - v t."""
        if not self.mle:
            return 0.0, 0.0, 0.0, 0.0
        a, b = self.ab
        return math.log(self.min), math.log(self.max), a - 1 if a > 0 else 0.0, b


def darg(d: Any, X: np.ndarray, sample: int = SAMPLE) -> Parameter:
    """A lengthscale's start, bounds and prior.

    Parameters
    ----------
    d : None, float, array_like or mapping
        The start, or any of ``start``, ``mle``, ``min``, ``max`` and ``ab``; what is given stays as it is.
    X : (N, p) ndarray
    sample : int
        The most points of which all distances are taken; always the same ones.

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
    given = _given("d", d)
    mle = given.setdefault("mle", True)
    if not {"start"} <= given.keys() or (mle and not {"min", "max", "ab"} <= given.keys()):
        squares = _squared_distances(X, sample)
        given.setdefault("start", float(np.quantile(squares, 0.1)))
        if mle:
            given.setdefault("min", max(float(squares.min()) / 2, _SMALLEST))
            given.setdefault("max", float(squares.max()))
            given.setdefault("ab", _prior(float(squares.max())))
    return _checked("d", given)


def garg(g: Any, y: np.ndarray) -> Parameter:
    """The nugget's start, bounds and prior.

    Parameters
    ----------
    g : None, float, array_like or mapping
        As for `darg`; None is ``{"start": 1e-4}``.
    y : (N,) ndarray

    Returns
    -------
    Parameter
        Not estimated by default. If it is to be, the start is the 2.5 % quantile of the squared deviations of y from its mean,
        the bounds are about 1.5e-8 and the largest of them, and the prior is a gamma of shape 3/2 with 95 % of its mass below
        their mean.

    Examples
    --------
    >>> found = garg({"mle": True}, np.array([0.0, 1.0, 2.0]))
    >>> round(found.start, 3), found.max, round(found.ab[1], 3)
    (0.05, 1.0, 5.861)
    """
    given = _given("g", 1e-4 if g is None else g)
    mle = given.setdefault("mle", False)
    if "start" not in given or (mle and not {"max", "ab"} <= given.keys()):
        squares = (y - y.mean()) ** 2 if y.size else np.ones(1)
        given.setdefault("start", max(float(np.quantile(squares, 0.025)), _SMALLEST))
        if mle:
            given.setdefault("max", max(float(squares.max()), float(np.max(given["start"]))))
            given.setdefault("ab", _prior(max(float(squares.mean()), _SMALLEST)))
    if mle:
        given.setdefault("min", _SMALLEST)
    return _checked("g", given)


def _given(name: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {"start": value}
    if unknown := [k for k in value if k not in _KEYS]:
        raise ValueError(f"{name} has {unknown[0]!r}: as a dictionary it may have {', '.join(_KEYS)}")
    return {k: v for k, v in value.items() if v is not None}


def _prior(high: float) -> tuple[float, float]:
    """A gamma distribution of shape 3/2 with 95 % of its mass below `high`."""
    from scipy import special

    return 1.5, float(special.gammaincinv(1.5, 0.95)) / high


def _squared_distances(X: np.ndarray, sample: int) -> np.ndarray:
    """The positive squared distances between points, of some of them if they are many."""
    from scipy.spatial.distance import pdist

    if len(X) > sample:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), sample, replace=False))]
    X = np.asarray(X, np.float64)
    X = X[np.isfinite(X).all(1)]
    squares = pdist(X, "sqeuclidean")
    squares = squares[squares > 0]
    if not squares.size:
        raise ValueError(f"X has shape {X.shape} and no two different points: give d as a number")
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
    least, most = float(given["min"]), float(given["max"])
    if not 0 < least <= most < np.inf:
        raise ValueError(f"{name} has the bounds min = {least} and max = {most}: they must be positive, and min <= max")
    if np.size(start) and not (least <= low and high <= most):
        raise ValueError(
            f"{name} starts between {low} and {high}, outside of its bounds, {least} to {most}: give other ones, as in "
            f"{name} = dict(start=…, min=…, max=…)"
        )
    if np.shape(given["ab"]) != (2,) or not all(0 <= v < np.inf for v in given["ab"]):
        raise ValueError(f"{name}['ab'] is {given['ab']!r}: it must be two nonnegative numbers, a gamma's shape and rate")
    a, b = given["ab"]
    return Parameter(start, True, least, most, (float(a), float(b)))
