"""Predictions of a Gaussian process: their distribution at each new point, and jointly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Prediction:
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

    @property
    def variance(self) -> Any:
        """That of each distribution; infinite for two degrees of freedom or less."""
        square = self.scale * self.scale
        return square if self.df is None else square * variance_of_t(self.df)

    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """The ends of the central intervals that have the probability `confidence`."""
        return central_interval(self.mean, self.scale, self.df, confidence)


def variance_of_t(df: int) -> float:
    """That of a Student-t distribution with scale 1."""
    return df / (df - 2) if df > 2 else np.inf


def central_interval(mean: Any, scale: Any, df: int | None, confidence: float) -> tuple[Any, Any]:
    """The ends of central intervals of normal distributions, or of Student-t distributions with `df` degrees of freedom."""
    from scipy import stats

    if not 0 <= confidence <= 1:
        raise ValueError(f"confidence = {confidence}: it must lie between 0 and 1")
    standard = stats.norm() if df is None else stats.t(df)
    half = scale * float(standard.ppf((1 + confidence) / 2))
    return mean - half, mean + half
