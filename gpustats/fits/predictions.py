"""Predictions with standard errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..display.html import GAP, Shown, ends, left_out, shape_of, table
from ..runtime.types import Mostly
from .hypotheses import width_of
from .summary import frame_of, number

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
    index : sequence or None
        Labels of the rows, of a data frame of pandas.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> dose, deaths = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 9.0])
    >>> new = gs.GLM(gs.poisson_log, deaths, dose).fit().predict([[4.0]])
    >>> new.mean.round(1), new.mean_errors.round(1)
    (array([19.6]), array([9.8]))
    >>> gs.GLM(gs.poisson_log, deaths, dose).fit().predict([[4.0]], noise=True).interval()
    array([[ 6., 54.]])
    """

    linear_predictor: np.ndarray
    linear_predictor_errors: np.ndarray
    mean: Mostly
    mean_errors: Mostly
    index: Any = field(default=None, kw_only=True)
    quantile: Callable[[float], np.ndarray] | None = field(default=None, kw_only=True)  # of new observations, (M,)

    @property
    def noise(self) -> bool:
        """Whether intervals are of observations, with their noise, rather than of the mean."""
        return self.quantile is not None

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Intervals of the mean, (M, 2), of the linear predictor where there is no mean; with noise, of a new observation.

        Parameters
        ----------
        level : float
            Their coverage: the mean, or the observation, lies below an interval and above it with equal probabilities.

        Returns
        -------
        (M, 2) ndarray
            Lower and upper ends: normal quantiles of the standard errors; with noise, quantiles of the distribution of an
            observation.
        """
        width = width_of(level)
        if self.quantile is not None:
            return np.stack([self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)], -1)
        _, value, errors = self._shown()
        return np.stack([value - width * errors, value + width * errors], -1)

    def to_frame(self, level: float = 0.95) -> Any:
        """Data frame of pandas with the means of the rows, their standard errors, and intervals.

        Parameters
        ----------
        level : float
            Coverage of the intervals.

        Returns
        -------
        pandas.DataFrame
            With the columns ``mean``, or ``linear_predictor`` where there is no mean, ``error``, ``lower`` and ``upper``: the
            ends of `interval`. Its rows have the labels of those of the new data frame, if it was one of pandas; where the
            linear predictor is a vector, they have a second label, the number of the outcome.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> dose, deaths = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 9.0])
        >>> gs.GLM(gs.poisson_log, deaths, dose).fit().predict([[1.5], [4.0]]).to_frame().round(1)
           mean  error  lower  upper
        0   3.4    1.0    1.3    5.4
        1  19.6    9.8    0.4   38.8
        """
        (named, value, errors), ends = self._shown(), self.interval(level)
        rows = range(len(value)) if self.index is None else self.index
        columns = {named.replace(" ", "_"): value, "error": errors, "lower": ends[..., 0], "upper": ends[..., 1]}
        if value.ndim == 1:
            return frame_of(columns, rows)
        outcomes = value.shape[1]
        labels = {"row": [row for row in rows for _ in range(outcomes)], "outcome": [*range(outcomes)] * len(value)}
        return frame_of(labels | {n: v.ravel() for n, v in columns.items()}, None).set_index([*labels])

    def _shown(self) -> tuple[str, np.ndarray, np.ndarray]:
        """Name, numbers and errors of what there is: of the mean, or of the linear predictor."""
        if self.mean is None or self.mean_errors is None:
            return "linear predictor", self.linear_predictor, self.linear_predictor_errors
        return "mean", np.asarray(self.mean), np.asarray(self.mean_errors)

    def __repr__(self) -> str:
        of = "linear predictor" if self.mean is None else "linear predictor and mean"
        noise = "intervals with noise" if self.noise else "without noise"
        return f"<predictions for {len(self.linear_predictor)} rows: {of}, with standard errors, {noise}>"

    def _title(self) -> str:
        return f"Predictions for {len(self.linear_predictor):,} rows"

    def _facts(self) -> Mapping[str, object]:
        named, value, errors = self._shown()
        if value.ndim > 1:
            return {"linear predictor": shape_of(value)}
        n, limits = len(value), self.interval(0.95)
        labels = range(n) if self.index is None else self.index
        rows: list[list[object]] = [
            [left_out(n, MOST_ROWS)] if i == GAP else [labels[i], *map(number, (value[i], errors[i], *limits[i]))]
            for i in ends(n, MOST_ROWS)
        ]
        head = "row", named, "std err", "[0.025", "0.975]"
        of = "of observations" if self.noise else f"of the {named}, not of observations"
        return {"intervals": of, "": table(rows, head, numbers=True)}
