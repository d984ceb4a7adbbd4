"""Units of computation of local Gaussian processes, so that results do not depend on the units of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .defaults import Parameter, spreads, units_of_columns
from .points import Points


@dataclass(frozen=True)
class Units:
    """Divisors of points and responses."""

    columns: np.ndarray  # (p,), lengths in the columns of X
    # the number that is taken from y, and what y is divided by then
    center: float
    response: float

    @classmethod
    def of(cls, X: np.ndarray | Points, y: np.ndarray, separable: bool, center: bool) -> Units:
        """Units of data; `separable`: with a lengthscale for each column; `center`: with the mean of y taken from y."""
        mean = float(np.sum(y / len(y)))
        return cls(units_of_columns(X, separable), mean if center else 0.0, float(spreads(y[:, None])[0]) or 1.0)

    def points(self, X: np.ndarray) -> np.ndarray:
        """Points in these units, in C order."""
        return np.ascontiguousarray(X / self.columns)

    def responses(self, y: np.ndarray) -> np.ndarray:
        """Responses in these units."""
        return (y - self.center) / self.response

    def lengthscales(self, d: np.ndarray, columns: int) -> np.ndarray:
        """Lengthscales, squared lengths, in these units; one for all columns, or (…, p)."""
        return d / self._squares(columns)

    def parameter(self, d: Parameter, columns: int) -> Parameter:
        """Start, bounds and prior of lengthscales, in these units."""
        squares, (a, b) = self._squares(columns), d.ab
        return replace(d, start=d.start / squares, min=d.min / squares, max=d.max / squares, ab=(a, b * squares))

    def predictions(self, made: dict[str, np.ndarray], end: int) -> dict[str, np.ndarray]:
        """Predictions in the units of the data, from those in these units; `end`: responses of a likelihood."""
        spread = {"covariance": 2, "scale": 1}  # powers of the unit of responses
        return made | {
            "mean": self.center + self.response * made["mean"],
            **{name: self.response**power * made[name] for name, power in spread.items() if name in made},
            "loglik": made["loglik"] - end * math.log(self.response),
            "d": made["d"] * self._squares(made["d"].shape[1]),
        }

    def _squares(self, columns: int) -> np.ndarray:
        return self.columns[:columns] ** 2
