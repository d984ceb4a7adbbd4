"""Predictions with standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Predictions for M new rows.

    Attributes
    ----------
    linear_predictor : (M,) ndarray, or (M, C)
    linear_predictor_errors : ndarray
        Its standard errors.
    mean : (M,) ndarray or None
        The mean of a new observation; None where the density has none.
    mean_errors : (M,) ndarray or None
        Standard errors of the mean, by the delta method.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> dose, deaths = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 9.0])
    >>> new = gs.GLM(gs.poisson_log, deaths, dose).fit().predict([[4.0]])
    >>> new.mean.round(1), new.mean_errors.round(1)
    (array([19.6]), array([9.8]))
    """

    linear_predictor: np.ndarray
    linear_predictor_errors: np.ndarray
    mean: np.ndarray | None
    mean_errors: np.ndarray | None

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Confidence intervals of the mean by its standard errors, (M, 2); of the linear predictor where there is no mean.

        Parameters
        ----------
        level : float
            Their coverage.
        """
        from scipy.special import ndtri

        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level!r}")
        no_mean = self.mean is None or self.mean_errors is None
        value = self.linear_predictor if no_mean else np.asarray(self.mean)
        errors = self.linear_predictor_errors if no_mean else np.asarray(self.mean_errors)
        width = ndtri((1 + level) / 2)
        found: np.ndarray = np.stack([value - width * errors, value + width * errors], -1)
        return found

    def __repr__(self) -> str:
        return f"<predictions for {len(self.linear_predictor)} rows>"
