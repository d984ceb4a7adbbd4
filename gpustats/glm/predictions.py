"""Predictions of GLMs without random effects for new rows, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..fits.estimates import Estimates
from ..fits.predictions import Prediction
from ..runtime.types import Doubles, Value
from .family import COEFFICIENTS, INTERCEPT, Family
from .new_data import NewData

ROWS_PREDICTED = 1 << 14  # at once
#: Relative step of the differences of means, which have no derivatives.
MEAN_STEP = 1e-5


def predicted(family: Family, estimates: Estimates, new: NewData) -> Prediction:
    """Predictions for new rows."""
    outcomes = estimates[COEFFICIENTS].shape[1] if family.vector else 1
    found = [_of_outcome(family, estimates, new, c) for c in range(outcomes)]
    if family.vector:
        return Prediction(np.stack([f[0] for f in found], -1), np.stack([f[1] for f in found], -1), None, None)
    return Prediction(*found[0])


def mean_of(family: Family, estimates: Estimates, eta: Doubles, changed: Mapping[str, Value] | None = None) -> Any:
    """Mean of the density at linear predictors; None where it has none."""
    values = {n: estimates[n] for n in family.parameters} | dict(changed or {})
    try:
        return np.asarray(family.density.mean(**{family.eta: eta}, **values), float)
    except (AttributeError, NotImplementedError):
        return None


def _of_outcome(
    family: Family, estimates: Estimates, new: NewData, c: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Linear predictor of an outcome, the mean, and their standard errors."""
    slopes = np.zeros((len(new.X), sum(np.size(estimates[n]) for n in estimates.free)))
    eta, places, at = new.offset.copy(), dict[str, int](), 0
    for name in estimates.free:
        places[name], at = at, at + np.size(estimates[name])
    for name in dict.fromkeys((COEFFICIENTS, INTERCEPT, *new.tables)):
        value = np.asarray(estimates[name])
        columns, elements = _columns_of(family, name, value, new, c)
        eta += (columns * value.ravel()[elements]).sum(1)
        if name in places:
            np.put_along_axis(slopes, places[name] + np.broadcast_to(elements, columns.shape), columns, 1)
    assert estimates.fitted is not None
    covariance, free = np.asarray(estimates.covariance), estimates.fitted.free
    covariance = np.where(np.isnan(covariance), 0.0, covariance)  # what is at a bound stays there
    errors = _spread(slopes[:, free], covariance)
    if family.vector or (mean := mean_of(family, estimates, eta)) is None:
        return eta, errors, None, None
    step = MEAN_STEP * np.maximum(np.abs(eta), 1)
    slope = (mean_of(family, estimates, eta + step) - mean_of(family, estimates, eta - step)) / (2 * step)
    of_mean = slopes * slope[:, None]
    for name in family.parameters:
        value = np.asarray(estimates[name], float)
        for i in range(value.size if name in places else 0):
            wide = MEAN_STEP * max(abs(value.flat[i]), 1e-3)
            unit = wide * (np.arange(value.size) == i).reshape(value.shape)
            up, down = (mean_of(family, estimates, eta, {name: (value + s * unit)[()]}) for s in (1, -1))
            of_mean[:, places[name] + i] = (up - down) / (2 * wide)
    return eta, errors, mean, _spread(of_mean[:, free], covariance)


def _columns_of(family: Family, name: str, value: np.ndarray, new: NewData, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns (M, m) by which elements of a parameter count in the linear predictor, and the numbers of the elements."""
    if name == COEFFICIENTS:
        k = new.X.shape[1]
        return new.X, np.arange(k)[None] * (value.size // k) + c
    width = value.shape[-1] if family.vector and value.ndim and value.shape[-1] > 1 else 1
    own = c if width > 1 else 0
    if name not in new.tables:
        return np.ones((len(new.X), 1)), np.full((1, 1), own)
    index, columns = new.tables[name]
    if name == INTERCEPT:
        return columns, index[:, None] * width + own
    return columns, index[:, None] * columns.shape[1] + np.arange(columns.shape[1])


def _spread(slopes: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Standard errors of linear functions of the estimates."""
    found = np.empty(len(slopes))
    for first in range(0, len(slopes), ROWS_PREDICTED):
        own = slopes[first : first + ROWS_PREDICTED]
        found[first : first + ROWS_PREDICTED] = np.sqrt(np.einsum("ni,ni->n", own @ covariance, own).clip(0))
    return found
