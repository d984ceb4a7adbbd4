"""Points and responses of a Gaussian process, on the device that computes with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.placement import as_read, moved, target_of
from ..evaluation.results import as_host, delivered
from ..runtime import arrays
from ..runtime.base import Runtime
from ..runtime.types import Array
from .parameters import X, Y


class Observations:
    """Points and responses: checked, and moved to a device once.

    Parameters
    ----------
    x : (n, p) or (n,) array_like
    y : (n,) array_like
    default : Runtime, optional
        Device for NumPy arrays; by default the chosen one.

    Attributes
    ----------
    n, columns : int
        Points, and numbers of each of them.
    runtime : Runtime
        Device on which x or y lie, else the default one.
    dtype : dtype
        float32 where x and y are float32, else float64.
    host_x, y : ndarray
        (n, columns) and (n,).
    x : (n, columns) array
        As kernels read it.

    Raises
    ------
    ValueError
        Where shapes do not go together, or there are nan or infinite numbers.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, default: Runtime | None = None) -> None:
        points, responses = given = as_points(x, X), arrays.as_array(y, Y)
        shape = tuple(getattr(responses, "shape", ()))
        self.n, self.columns = points.shape
        if shape != (self.n,):
            raise ValueError(f"y has shape {shape}, and x {self.n} points: it must be ({self.n},)")
        self.runtime, self.dtype = target_of(given, [X, Y], default)
        self._native = {X: arrays.is_device_array(x), Y: arrays.is_device_array(y)}
        self._flat = len(getattr(arrays.as_array(x, X), "shape", ())) == 1
        self.host_x, self.y = (
            np.array(as_host(self.runtime, a), self.dtype, order="C") for a in given
        )
        for name, a in ((X, self.host_x), (Y, self.y)):
            require_finite(name, a)
        self.x = moved(self.runtime, as_read(self.runtime, points if self._native[X] else self.host_x, self.dtype))

    @property
    def given(self) -> tuple[Array, Array]:
        """Points and responses as the user gave them: with as many axes, and on the same device."""
        return self.like_x(self.host_x), self.like_y(self.y)

    def like_x(self, array: Array) -> Array:
        """Derivative in the points, (n, columns), shaped like the user's points, and on the same device."""
        array = array.reshape(self.n) if self._flat else array
        return delivered(self.runtime, array, self._native[X])

    def like_y(self, array: Array) -> Array:
        """Derivative in the responses, (n,), on the device of the user's responses."""
        return delivered(self.runtime, array, self._native[Y])

    def gradient(self, found: Mapping[str, Array], wrt: Collection[str]) -> dict[str, Array]:
        """Derivatives in the order of `wrt`; those in points and responses are shaped and placed like the user's arrays."""
        gradient = {n: found[n] for n in wrt}
        if X in wrt:
            gradient[X] = self.like_x(np.reshape(found[X], (self.n, self.columns)).astype(self.dtype))
        if Y in wrt:
            gradient[Y] = self.like_y(np.asarray(found[Y]).astype(self.dtype))
        return gradient


def require_finite(name: str, a: np.ndarray, first: int = 0) -> None:
    """Check for nan and infinity: ValueError with the first such place; `first`: the number of the first row."""
    if not np.isfinite(a).all():
        place = np.argwhere(~np.isfinite(a))[0]
        value = a[tuple(place)]
        place[0] += first
        raise ValueError(f"{name}[{', '.join(map(str, place))}] is {value}: leave out what is not known")


def as_points(x: ArrayLike, name: str) -> Array:
    """Points as an array (n, p); numbers are points of one column."""
    points = arrays.as_array(x, name)
    shape = tuple(getattr(points, "shape", ()))
    if len(shape) == 1:
        return points.reshape(-1, 1)
    if len(shape) != 2 or not shape[1]:
        raise ValueError(f"{name} has shape {shape}: it must be (n, p), points in rows, or (n,)")
    return points
