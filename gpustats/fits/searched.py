"""Log-likelihoods of many data sets as objectives to minimise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation.expansion import expansion_of
from ..runtime import thresholds
from ..runtime.arrays import is_device_array
from ..runtime.base import Runtime
from ..runtime.types import Array
from .model import Model
from .newton import Objective
from .observations import UPPER, WEIGHT, Rectangle
from .scales import Scales

#: Share of the evaluated data sets: when fewer are still searched, the others are left out.
FEW_LEFT = thresholds.FITS_FEW_LEFT.value


class Searched:
    """Log-likelihoods of a rectangle of data sets as objectives, on the scales of the estimated parameters."""

    def __init__(self, model: Model, rectangle: Rectangle, estimated: Sequence[str], scales: Scales, runtime: Runtime):
        weighted = WEIGHT in rectangle.columns
        function = model.of_intervals() if UPPER in rectangle.columns else model.log_density
        self._expansion, self._names = expansion_of(function, estimated, weighted), function.argument_names
        self._estimated, self._scales, self._runtime, self._weighted = estimated, scales, runtime, weighted
        self._all, self._points = rectangle, np.ones((len(rectangle.which), len(estimated)))
        self.dtype = np.dtype(np.float64 if runtime.device.double else np.float32)
        self._take(np.arange(len(rectangle.which)), rectangle)

    def _take(self, sets: np.ndarray, part: Rectangle) -> None:
        """Set the data sets that are evaluated from now on, by their numbers."""
        self._sets, self._place = sets, np.full(len(self._points), -1)
        self._place[sets[::-1]] = np.arange(len(sets))[::-1]
        self._x, self._columns = self._placed(part.x), {n: self._placed(v) for n, v in part.columns.items()}

    def _placed(self, value: Array) -> Array:
        """Value for each observation where kernels read it; other values as they are."""
        if not np.ndim(value) or is_device_array(value):
            return value
        return value if self._runtime.host_visible or value.shape[1] == 1 else self._runtime.to_device(value, self.dtype)

    def __call__(self, points: np.ndarray, sets: np.ndarray) -> Objective:
        """Objective at points (n, P) of the data sets of these numbers."""
        self._points[sets] = points
        if (self._place[sets] < 0).any():
            self._take(np.arange(len(self._points)), self._all)
        if len(sets) < FEW_LEFT * len(self._sets) and not is_device_array(self._all.x):
            few = np.resize(sets, max(2, len(sets) + (len(self._sets) - len(sets)) % 8))  # for the same kernel
            self._take(few, self._all[few])
        values, slopes, bends = self._scales.back(self._points[self._sets])
        arguments = [self._x]
        for name in self._names[1:]:
            if name in self._estimated:
                own = values[:, self._estimated.index(name), None]
                arguments.append(np.ascontiguousarray(own) if len(own) > 1 else float(own[0, 0]))
            else:
                arguments.append(self._columns[name if name in self._columns else UPPER])
        if self._weighted:
            arguments.append(self._columns[WEIGHT])
        sums, at = self._expansion(arguments, self._runtime), self._place[sets]
        with np.errstate(invalid="ignore", over="ignore"):
            slope, bend = slopes[at], bends[at]
            both = slope[:, :, None] * slope[:, None, :]
            gradient, hessian = sums.gradient[at], sums.hessian[at] * both
            places = range(slope.shape[1])
            hessian[:, places, places] += gradient * bend
            return Objective(-sums.value[at], -gradient * slope, -hessian, sums.products[at] * both)
