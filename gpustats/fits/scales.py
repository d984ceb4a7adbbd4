"""Scales on which parameters are sought: any number on a scale is a value in the parameter's domain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from ..runtime.types import Doubles


class Scale(NamedTuple):
    """Scale of a parameter: from a value to a number on it, and back to the value and its two derivatives."""

    to: Callable[[Doubles], Doubles]
    back: Callable[[Doubles], tuple[Doubles, Doubles, Doubles]]
    longest: float = np.inf  # the step beyond which a quadratic model says nothing


def _from_logarithm(u: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    value = np.exp(u)
    return value, value, value


def _from_log_odds(u: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    small = np.exp(-np.abs(u))  # exact in both tails
    value, rest = np.where(u < 0, small, 1.0) / (1 + small), np.where(u < 0, 1.0, small) / (1 + small)
    slope = value * rest
    return value, slope, slope * (rest - value)


IDENTITY = Scale(lambda v: v, lambda u: (u, np.ones_like(u), np.zeros_like(u)))
_LOGARITHM = Scale(np.log, _from_logarithm, 3.0)
_LOG_ODDS = Scale(lambda v: np.log(v) - np.log1p(-v), _from_log_odds, 3.0)


def scale_of(words: Collection[str]) -> Scale:
    """The scale for a domain: logarithms for positive numbers, log odds for those in [0, 1], else the number itself."""
    if "unit" in words:
        return _LOG_ODDS
    return _LOGARITHM if {"positive", "nonnegative"} & set(words) else IDENTITY


class Scales:
    """The scales of P parameters."""

    def __init__(self, domains: Sequence[Collection[str]]):
        self._scales = [scale_of(words) for words in domains]
        self.longest = np.array([s.longest for s in self._scales])

    def only(self, i: int) -> Scale:
        """Scale of one parameter, alone."""
        return self._scales[i]

    def to(self, values: np.ndarray) -> np.ndarray:
        """Doubles (…, P) on their scales."""
        points = np.empty_like(values)
        for i, scale in enumerate(self._scales):
            points[..., i] = scale.to(values[..., i])
        return points

    def back(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Doubles at points (…, P), and their first and second derivatives in the points."""
        values, slopes, bends = np.empty((3, *points.shape))
        with np.errstate(over="ignore", under="ignore"):
            for i, scale in enumerate(self._scales):
                values[..., i], slopes[..., i], bends[..., i] = scale.back(points[..., i])
        return values, slopes, bends
