"""Predictions with standard errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..display.html import GAP, Shown, ends, left_out, shape_of, table
from ..runtime.types import Mostly
from .summary import number

MOST_ROWS = 20  # in a notebook; of more the first and the last


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Shown):
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
    mean: Mostly
    mean_errors: Mostly

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
        of = "linear predictor" if self.mean is None else "linear predictor and mean"
        return f"<predictions for {len(self.linear_predictor)} rows: {of}, with standard errors, without noise>"

    def _title(self) -> str:
        return f"Predictions for {len(self.linear_predictor):,} rows"

    def _facts(self) -> Mapping[str, object]:
        limits, n = self.interval(0.95), len(self.linear_predictor)
        named = "linear predictor" if self.mean is None else "mean"
        value = self.linear_predictor if self.mean is None else self.mean
        errors = self.linear_predictor_errors if self.mean_errors is None else self.mean_errors
        if value.ndim > 1:
            return {"linear predictor": shape_of(value)}
        rows: list[list[object]] = [
            [left_out(n, MOST_ROWS)] if i == GAP else [i, *map(number, (value[i], errors[i], *limits[i]))]
            for i in ends(n, MOST_ROWS)
        ]
        head = "row", named, "std err", "[0.025", "0.975]"
        return {"intervals": f"of the {named}, not of observations", "": table(rows, head, numbers=True)}
