"""Normal prior of the rows of a table, whose covariance matrix is a parameter, as a term of what is integrated."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..fits.problem import Expanded
from ..fits.symmetric import Symmetric
from ..rows.matrix_layout import MatrixLayout
from ..runtime.types import Doubles
from .effects import Effects
from .rows_term import Grouping


class NormalRows:
    """Multivariate normal log-density of each row of a table (…, m), as a term: see `Term`.

    Parameters
    ----------
    effect : str
        Name of the table.
    effects : Effects
    mean : (m,) ndarray
    covariance : str or (m, m) ndarray
        Name of the parameter, or its value.

    Attributes
    ----------
    width : int
        Elements of a row, m.
    """

    def __init__(self, effect: str, effects: Effects, mean: Doubles, covariance: str | Doubles):
        self._effect, self._effects, self._mean, self.covariance = effect, effects, mean, covariance
        self.domains: Mapping[str, Collection[str]] = {effect: ()}
        if isinstance(covariance, str):
            self.domains = {effect: (), covariance: ("covariance",)}
        self.width = effects.shapes[effect][-1]
        self._places = effects.places(effect).reshape(-1, self.width)  # of each row's elements
        self.n_rows = len(self._places)

    def expanded(self, values: Mapping[str, Any], layout: MatrixLayout[Symmetric]) -> Expanded:
        found, precision, apart = layout.empty(), self._precision(values), self._apart(values)
        gradient = np.zeros(layout.size)
        if precision is None:
            return Expanded(math.nan, gradient, found)
        n, m = apart.shape
        for i, rows in enumerate(self._places.T):
            for j, columns in enumerate(self._places.T):
                layout.add_diagonal(found, rows, columns, np.full(n, -precision[i, j]))
        slope = -apart @ precision
        log_det = float(np.linalg.slogdet(precision)[1])
        value = 0.5 * float((slope * apart).sum()) + 0.5 * n * (log_det - m * math.log(2 * math.pi))
        gradient[self._places] = slope
        return Expanded(value, gradient, found)

    def with_trace(self, values: Mapping[str, Any], matrix: Symmetric, wrt: Collection[str]) -> dict[str, Any]:
        found, precision, apart = dict[str, Any](), self._precision(values), self._apart(values)
        assert precision is not None  # as the mode has been found
        if self._effect in wrt:
            found[self._effect] = -(apart @ precision).reshape(self._effects.shapes[self._effect])
        if self._covariance_in(wrt):
            squares = apart.T @ apart + matrix.at(self._places[:, :, None], self._places[:, None, :]).sum(0)
            found[str(self.covariance)] = 0.5 * (precision @ squares @ precision - len(apart) * precision)
        return found

    def product(self, values: Mapping[str, Any], direction: Mapping[str, Any], wrt: Collection[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        precision = self._precision(values)
        assert precision is not None
        shape, apart = self._effects.shapes[self._effect], self._apart(values)
        along = np.reshape(direction.get(self._effect, np.zeros(shape)), (-1, self.width))
        if self._effect in wrt:
            moved = along
            if self._covariance_in(direction):
                moved = along - apart @ precision @ np.asarray(direction[str(self.covariance)])
            found[self._effect] = -(moved @ precision).reshape(shape)
        if self._covariance_in(wrt):
            both = along.T @ apart
            found[str(self.covariance)] = 0.5 * precision @ (both + both.T) @ precision
        return found

    def groupings(self) -> dict[str, set[Grouping]]:
        return {self._effect: {("rows", len(self._places))}}

    def _covariance_in(self, wrt: Collection[str] | Mapping[str, Any]) -> bool:
        return isinstance(self.covariance, str) and self.covariance in wrt

    def _apart(self, values: Mapping[str, Any]) -> Doubles:
        """Rows less their mean, (G, m)."""
        found: Doubles = np.reshape(values[self._effect], (-1, self.width)) - self._mean
        return found

    def _precision(self, values: Mapping[str, Any]) -> Doubles | None:
        """Inverse of the covariance matrix; None where that is not positive definite."""
        covariance = values[self.covariance] if isinstance(self.covariance, str) else self.covariance
        try:
            factor = np.linalg.cholesky((covariance + np.swapaxes(covariance, 0, 1)) / 2)
        except np.linalg.LinAlgError:
            return None
        inverse = np.linalg.inv(factor)
        found: Doubles = inverse.T @ inverse
        return found
