"""Distributions of new observations: that of the density, around a linear predictor that is known but for an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..density import Density
from ..fits.estimates import Estimates
from ..fits.predictions import Prediction
from ..frames.columns import index_of
from ..runtime.types import Doubles
from .family import Family

WIDEST = 7.0  # errors of a linear predictor, on both sides, over which its distribution is integrated
#: Number of equal parts of these at first, and at most; they are halved until the probability below a quantile stays the same.
FEWEST_PARTS, MOST_PARTS = 28, 1792
NEAR = 1e-6  # relative difference of such probabilities
AT_ONCE = 1 << 20  # numbers for which a function of the density is called
MOST_STEPS, NEAREST = 60, 1e-10  # of a search, and the relative error of a probability at which it ends


def told(found: Prediction, X: Any, family: Family, estimates: Estimates, noise: bool) -> Prediction:
    """Predictions with the labels of the rows of X; with `noise`, their intervals are of observations."""
    found = replace(found, index=index_of(X))
    return _with_noise(found, family, estimates) if noise else found


def _with_noise(found: Prediction, family: Family, estimates: Estimates) -> Prediction:
    """Predictions whose intervals are of observations; NotImplementedError where these have no quantiles."""
    density = family.density
    if family.vector:
        raise NotImplementedError(
            f"noise=True: {family.eta} of {density.name} is a vector, and intervals of observations are of densities whose "
            "linear predictor is a number"
        )
    for name in family.parameters:
        if np.ndim(estimates.parameters.get(name, ())) != family.ranks[name]:
            raise NotImplementedError(
                f"noise=True: {name} has a value for each observation of the fit, and nothing tells that of new ones"
            )
    if not hasattr(density, "ppf"):
        raise NotImplementedError(
            f"noise=True: {density.name} has no quantiles; with a distribution function, {density.name}_cdf, beside its "
            "log-density it has"
        )
    eta, errors = found.linear_predictor, found.linear_predictor_errors
    if family.normal:
        return replace(found, quantile=Normal(eta, np.hypot(errors, float(estimates["sigma"]))))
    values = {n: estimates[n] for n in family.parameters}
    return replace(found, quantile=Mixed(density, family.eta, values, "integer" in _words(density), eta, errors))


def _words(density: Density) -> frozenset[str]:
    """Words of the domain of observations."""
    return density.log_density.arguments[0].words


@dataclass(frozen=True)
class Normal:
    """Quantiles of normal distributions."""

    mean: Doubles
    scale: Doubles

    def __call__(self, p: float) -> Doubles:
        from scipy.special import ndtri

        found: Doubles = self.mean + ndtri(p) * self.scale
        return found


@dataclass(frozen=True)
class Mixed:
    """Quantiles of a density whose linear predictor is normal: of the mean, by its distribution, of distribution functions.

    The mean is a sum at equal distances. This is exact to many digits where a distance is no wider than what the noise of an
    observation lets tell of the linear predictor, so that the distances are halved until it is.
    """

    density: Density
    eta: str
    parameters: Mapping[str, Any]
    discrete: bool
    predictor: Doubles  # (M,)
    errors: Doubles

    def __call__(self, p: float) -> Doubles:
        found, left, parts = np.empty(len(self.predictor)), np.arange(len(self.predictor)), FEWEST_PARTS
        while len(left):
            again, n = list[np.ndarray](), max(AT_ONCE // parts, 1)
            for rows in (left[first : first + n] for first in range(0, len(left), n)):
                found[rows] = self._quantile(p, rows, parts)
                coarse, fine = (self._below(found[rows], rows, of) for of in (parts, 2 * parts))
                again.append(rows[np.abs(coarse - fine) > NEAR * min(p, 1 - p)])
            left, parts = np.concatenate(again) if parts < MOST_PARTS else left[:0], 2 * parts
        return found

    def _predictors(self, rows: np.ndarray, parts: int) -> tuple[Doubles, Doubles]:
        """Linear predictors of rows, (m, parts + 1), and the probability of each."""
        z = np.linspace(-WIDEST, WIDEST, parts + 1)
        weights = np.exp(-z * z / 2)
        return self.predictor[rows, None] + self.errors[rows, None] * z, weights / weights.sum()

    def _below(self, y: Doubles, rows: np.ndarray, parts: int) -> Doubles:
        """Probability that an observation is y or less."""
        eta, weights = self._predictors(rows, parts)
        each = self.density.cdf(np.repeat(y, parts + 1), **{self.eta: eta.ravel()}, **self.parameters)
        found: Doubles = np.asarray(each, float).reshape(eta.shape) @ weights
        return found

    def _quantile(self, p: float, rows: np.ndarray, parts: int) -> Doubles:
        """Smallest numbers that observations exceed with the probability 1 - p or less."""
        eta, _ = self._predictors(rows, parts)
        # one of the quantiles at these linear predictors is next to that of their mixture
        each = np.asarray(self.density.ppf(p, **{self.eta: eta.ravel()}, **self.parameters), float).reshape(eta.shape)
        each = np.sort(np.where(np.isnan(each), np.inf, each), 1)
        own, low, high = np.arange(len(rows)), np.zeros(len(rows), int), np.full(len(rows), parts)
        while (high - low > 1).any():
            middle = (low + high) // 2
            enough = self._below(each[own, middle], rows, parts) >= p
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        below, above = each[own, low], each[own, high]
        if self.discrete:
            return _whole_number(below, above, lambda y: self._below(y, rows, parts) - p)
        return _root(below, above, lambda y: self._below(y, rows, parts) - p, NEAREST * min(p, 1 - p))


def _whole_number(below: Doubles, above: Doubles, excess: Callable[[Doubles], Doubles]) -> Doubles:
    """Smallest whole numbers, of those from `below` to `above`, at which an excess is not negative, by bisection."""
    below = below - 1
    while ((middle := np.floor((below + above) / 2)) > below).any():
        enough = (excess(middle) >= 0) & (middle > below)
        below, above = np.where(enough, below, middle), np.where(enough, middle, above)
    return above


def _root(below: Doubles, above: Doubles, excess: Callable[[Doubles], Doubles], near: float) -> Doubles:
    """Numbers, between `below` and `above`, at which an excess is `near` to 0, by the Illinois method."""
    at_below, at_above = excess(below), excess(above)
    found, side = np.where(at_below >= 0, below, above), np.zeros(len(below))
    left = (at_below < 0) & (at_above > near) & (below < above)
    for _ in range(MOST_STEPS):
        if not left.any():
            break
        with np.errstate(all="ignore"):
            between = (below * at_above - above * at_below) / (at_above - at_below)
        found = np.where(left, np.where((below < between) & (between < above), between, (below + above) / 2), found)
        own = excess(found)
        left &= np.abs(own) > near
        high = own >= 0
        at_below = np.where(high, np.where(side > 0, at_below / 2, at_below), own)
        at_above = np.where(high, own, np.where(side < 0, at_above / 2, at_above))
        below, above = np.where(high, below, found), np.where(high, found, above)
        side = np.where(high, 1, -1)
    return found
