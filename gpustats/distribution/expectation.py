"""Mean of a Python function of a random variable: by quadrature on the host, over quantiles from the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from ..evaluation.pointwise import Pointwise

Function = Callable[[NDArray[np.float64]], ArrayLike]

LARGEST_LOGIT = 700.0  # exp(-700) is the smallest tail's probability
TOLERANCE, LARGEST_ERROR = 1e-13, 1e-8  # of a step, and of the whole, relative to the integral of the absolute value
FLAT_RATE = 1e-10  # the rate of what does not fall off
_EDGES = np.array([*range(48), 48, 56, 64, 96, 128, 256, 512, LARGEST_LOGIT])
_LEGENDRE = np.polynomial.Legendre.basis(15)  # Gauss-Lobatto quadrature: with points at the ends, beside which jumps are seen
_NODES = np.r_[-1, np.sort(_LEGENDRE.deriv().roots().real), 1]
_WEIGHTS = 2 / (15 * 16 * _LEGENDRE(_NODES) ** 2)
_MOST_INTERVALS, _MOST_NUMBERS, _CHUNK = 2000, 10**8, 10**6


def values_of(function: Function, x: np.ndarray) -> np.ndarray:
    """Values of the function at an array; ValueError where it does not give a number for each element."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.asarray(function(x), dtype=float)
    if values.shape not in ((), x.shape):
        raise ValueError(f"the function gives shape {values.shape} for an array of shape {x.shape}: it must be elementwise")
    return np.broadcast_to(values, x.shape)


def mean_over_quantiles(
    function: Function, ppf: Pointwise, isf: Pointwise, parameters: Sequence[ArrayLike], first: float, last: float
) -> float:
    """Integral of function(x(u)) over probabilities u = 1 / (1 + exp(-s)), s from `first` to `last`.

    Steps of s are halved where Gauss-Lobatto quadrature does not agree with that of the two halves. What these differ by
    tells the error; the integral is nan where that exceeds 1e-8 of the integral of the absolute value.
    """

    def integrand(s: np.ndarray) -> np.ndarray:
        p, x = 1 / (1 + np.exp(np.abs(s))), np.empty(s.shape)
        for part, quantile in ((s < 0, ppf), (s >= 0, isf)):
            if part.any():
                x[part] = quantile(p[part], *parameters)
        found: np.ndarray = values_of(function, x) * (p * (1 - p))
        return found

    def integrals(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = 0.5 * (high - low)[:, None]
        found = integrand((0.5 * (low + high))[:, None] + half * _NODES) * half
        return found @ _WEIGHTS, np.abs(found) @ _WEIGHTS

    edges = np.unique(np.clip([*-_EDGES, *_EDGES], first, last))
    low, high, total, error = edges[:-1], edges[1:], 0.0, 0.0
    whole, sizes = integrals(low, high)
    size = float(sizes.sum())
    while low.size:
        middle = 0.5 * (low + high)
        left, right = integrals(low, middle)[0], integrals(middle, high)[0]
        with np.errstate(invalid="ignore"):
            differ = np.abs(left + right - whole)
        done = ~(differ > TOLERANCE * size) | (high - low < 1e-9) | (low.size > _MOST_INTERVALS)
        total += float((left + right)[done].sum())
        error += float(differ[done].sum())
        go_on = ~done
        low, high = np.r_[low[go_on], middle[go_on]], np.r_[middle[go_on], high[go_on]]
        whole = np.r_[left[go_on], right[go_on]]
    for end in {first, last} & {-LARGEST_LOGIT, LARGEST_LOGIT}:
        rest, doubt = _beyond(integrand(end * np.array([0.25, 0.5, 1])), float(np.finfo(float).eps) * size)
        total, error = total + rest, error + doubt
    return math.nan if math.isfinite(total) and not error <= LARGEST_ERROR * size else total


def _beyond(values: np.ndarray, least: float) -> tuple[float, float]:
    """Integral beyond `LARGEST_LOGIT` of an integrand that falls off as before, infinite if it does not, and its error.

    `values` are the integrand's at a quarter and a half of the way, and there.
    """
    at_last = float(values[-1])
    if abs(at_last) <= least:
        return 0.0, 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        before, rate = (np.log(values[:-1] / values[1:]) / (np.array([0.25, 0.5]) * LARGEST_LOGIT)).tolist()
    if rate < FLAT_RATE:
        return (math.copysign(math.inf, at_last), 0.0) if rate <= before + 1e-6 else (0.0, math.inf)
    return at_last / rate, abs(at_last) * (abs(rate - before) + 0.1 * FLAT_RATE) / rate**2


def mean_over_numbers(function: Function, mass: Pointwise, parameters: Sequence[ArrayLike], first: float, last: float) -> float:
    """Sum of function(k) P(X = k) over whole numbers k from `first` to `last`."""
    if last - first >= _MOST_NUMBERS:
        raise ValueError(f"there are {last - first + 1:.3g} numbers to sum over: give lb= and ub=")
    total = 0.0
    for start in np.arange(first, last + 1, _CHUNK):
        k = np.arange(start, min(start + _CHUNK, last + 1))
        p = np.exp(mass(k, *parameters))
        total += float(np.sum(np.where(p > 0, values_of(function, k), 0) * p))
    return total
