"""Predictions of Gaussian processes: their distributions at new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..density import densities


class LocationScale:
    """Distributions at m points, each by itself: normal ones, or Student-t where there are degrees of freedom.

    A subclass is a dataclass with the fields `mean` and `scale`, their locations and scales, and `df`, None for normal ones.
    """

    mean: Any
    scale: Any
    df: int | None

    @property
    def variance(self) -> Any:
        """The variance of each distribution; infinite for two degrees of freedom or less."""
        square = self.scale * self.scale
        if self.df is None or self.df > 2:
            return square if self.df is None else square * variance_of_t(self.df)
        return square + np.inf

    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """The ends of the central intervals that have the probability `confidence`."""
        from scipy import stats

        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence = {confidence}: it must lie between 0 and 1")
        standard = stats.norm() if self.df is None else stats.t(self.df)
        half = self.scale * float(standard.ppf((1 + confidence) / 2))
        return self.mean - half, self.mean + half


def variance_of_t(df: int) -> float:
    """The variance of a Student-t distribution with scale 1."""
    return df / (df - 2) if df > 2 else np.inf


@dataclass(frozen=True)
class Prediction(LocationScale):
    """Normal distributions at m points, or Student-t distributions where the scale is integrated out.

    Attributes
    ----------
    mean, scale : (m,) array
        Location and scale of each distribution: for the normal ones, the standard deviation.
    covariance : (m, m) array or None
        Of all points together, where it was asked for.
    df : int or None
        Degrees of freedom of the Student-t distributions, None for normal ones.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> ml = gs.gp.MarginalLikelihood(gs.rbf, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> p = ml.predict(np.array([0.5, 9.0]), amplitude=1.0, lengthscale=1.0, sigma=0.1)
    >>> p.mean.round(3), p.scale.round(3)
    (array([1.638, 0.   ]), array([0.191, 1.   ]))
    >>> low, high = p.interval(0.95)
    >>> high.round(3)
    array([2.012, 1.96 ])
    """

    mean: Any
    scale: Any
    covariance: Any = None
    df: int | None = None


@dataclass(frozen=True)
class LocalPrediction(LocationScale):
    """Student-t distributions of the responses at m locations.

    Attributes
    ----------
    mean, scale : (m,) array
        Location and scale of each distribution.
    df : int
        Degrees of freedom: the points of a design.
    indices : (m, df) array of int32
        The rows of X that are each location's design, in the order in which they were chosen; -1 where X or the location have
        a nan.
    d : (m,) array, or (m, p) if separable
        Lengthscales.
    g : (m,) array
        Nuggets.
    loglik : (m,) array
        The log-likelihood of each design's responses at d and g, the amplitude integrated out.
    evaluations : (m,) array of int32
        How often the likelihood was evaluated to find its maximum; negative where the limit was reached before.
    """

    mean: Any
    scale: Any
    df: int
    indices: Any
    d: Any
    g: Any
    loglik: Any
    evaluations: Any

    def rvs(self, size: Any = None, rng: Any = None) -> Any:
        """Independent draws of the responses, of shape `size`, by default (m,); as for `Density.rvs`."""
        return densities["student_t"].rvs(float(self.df), self.mean, self.scale, size=size, rng=rng)
