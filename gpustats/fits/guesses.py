"""Guesses for the parameters of any density.

Nothing is known of a parameter but its domain. So the guesses for a positive one are all positive numbers that have to do with
the location, the scale and the moments of the observations; and so on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

MOST_COMBINATIONS = 2000  # of guesses, at most


@np.errstate(all="ignore")
def guesses(domains: Mapping[str, Collection[str]], x: np.ndarray, start: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Guesses for each parameter, by data set, from the words of its domain and observations x (G, n).

    `start` has user's values of some of the parameters, (G,), for which there is no other guess.
    """
    numbers = _Summary(x)
    by_parameter = {}
    for name, words in domains.items():
        if name in start:
            by_parameter[name] = np.broadcast_to(start[name], (1, len(x)))
        elif "integer" in words:
            by_parameter[name] = np.stack([numbers.low - 1, numbers.high + 1, numbers.high, 2 * numbers.high + 2, numbers.low])
        elif "unit" in words:
            by_parameter[name] = numbers.within_unit()
        else:
            by_parameter[name] = numbers.positive() if {"positive", "nonnegative"} & set(words) else numbers.real()
    while np.prod([float(len(g)) for g in by_parameter.values()]) > MOST_COMBINATIONS:  # the likeliest come first
        longest = max(by_parameter, key=lambda name: len(by_parameter[name]))
        by_parameter[longest] = by_parameter[longest][:-1]
    return by_parameter


class _Summary:
    """Location, scale and moments of each of G data sets, and guesses made of them."""

    def __init__(self, x: np.ndarray):
        ordered = np.sort(x, axis=-1)
        n = x.shape[-1]
        self.low, self.high, self.median = ordered[:, 0], ordered[:, -1], ordered[:, n // 2]
        quartiles = ordered[:, n // 4], ordered[:, -1 - n // 4]
        self.mean, self.variance = x.mean(-1), x.var(-1)
        size = np.maximum(np.abs(self.median), np.abs(self.mean))
        deviation = np.sqrt(self.variance)
        tiny = np.where(deviation > 1e-8 * size, deviation, np.where(size > 0, 1e-3 * size, 1.0))
        self.deviation, self.variance = tiny, tiny * tiny
        spread = 0.741 * (quartiles[1] - quartiles[0])
        self.spread = np.where(spread > 0, spread, tiny)
        logarithms = np.log(np.where(x > 0, x, np.nan))
        self.log_mean, self.log_deviation = logarithms.mean(-1), logarithms.std(-1)

    def real(self) -> np.ndarray:
        """Guesses for any number: a location, an end, the mean of a transform, a slope."""
        width, one = self.high - self.low, np.ones_like(self.mean)
        edge = 0.05 * width + 1e-3 * self.deviation
        odds = np.log(self.mean) - np.log1p(-self.mean)
        known = [self.median, self.mean, self.low - edge, self.high + edge, self.log_mean, np.log(self.mean), odds]
        peak = self.median - 0.5 * self.spread
        shapes = [one, -one, 0.3 * one, 1.5 * one, 4 * one, -4 * one]  # some lie between -1 and 1, some between 1 and 2
        return np.stack([*known, peak, *shapes, self.low - 0.5 * width, self.high + 0.5 * width])

    def positive(self) -> np.ndarray:
        """Guesses for a positive number: a scale, a rate, a mean, a shape."""
        one, mean, variance = np.ones_like(self.mean), self.mean, self.variance
        precision = mean * (1 - mean) / variance - 1  # of a beta distribution
        known = [
            self.deviation, one, mean, self.spread, mean**2 / variance, mean / variance, 1 / self.deviation, 1 / mean,
            self.log_deviation, 1 / self.log_deviation, 5 * one, variance, 0.2 * one, precision * mean,
            precision * (1 - mean), 1 / variance, mean**2 / np.maximum(variance - mean, 0.1 * mean), self.low,
            30 * one, precision,
        ]  # fmt: skip
        return np.stack([np.where((v > 0) & (v < np.inf), v, np.nan) for v in known])

    def within_unit(self) -> np.ndarray:
        """Guesses for a number between 0 and 1: a probability, a proportion."""
        one = np.ones_like(self.mean)
        known = [0.5 * one, self.mean, 1 / self.mean, 0.1 * one, 0.9 * one, 1 / (1 + self.mean), self.median]
        return np.stack([np.where((v > 0) & (v < 1), v, np.nan) for v in known])
