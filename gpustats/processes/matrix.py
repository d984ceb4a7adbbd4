"""Matrix of a covariance function at points that a user gives."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from ..evaluation.placement import as_read, moved, target_of
from ..linalg.matrix import Matrix
from ..runtime import arrays
from ..runtime.types import Array
from .expression import Expression
from .hyperparameters import Hyperparameters
from .pairs import Pairs
from .parameters import Given


def covariance_matrix(covariance: Expression, x: ArrayLike, x2: Given, values: Mapping[str, ArrayLike]) -> Array:
    """Matrix of covariances between points: see `Covariance.__call__`."""
    given = [as_points(x, "x")] + ([] if x2 is None else [as_points(x2, "x2")])
    columns = given[0].shape[1]
    if given[-1].shape[1] != columns:
        raise ValueError(f"x has {columns} columns, and x2 {given[-1].shape[1]}: they must have the same")
    runtime, dtype = target_of(given, ["x", "x2"][: len(given)], None)
    hyperparameters = Hyperparameters(covariance, columns, values)
    pairs = Pairs(covariance, runtime, dtype, columns, tuple(hyperparameters.vectors))
    placed = [moved(runtime, as_read(runtime, a, dtype)) for a in given]
    shape = placed[0].shape[0], placed[-1].shape[0]
    out = runtime.empty(shape, dtype)
    if 0 not in shape:
        pairs.matrix(Matrix.over(runtime, out), placed[0], placed[-1], hyperparameters)
    return out if any(map(arrays.is_device_array, given)) else runtime.to_host(out)


def as_points(x: ArrayLike, name: str) -> Array:
    """Points as an array (n, p); numbers are points of one column."""
    points = arrays.as_array(x, name)
    shape = tuple(getattr(points, "shape", ()))
    if len(shape) == 1:
        return points.reshape(-1, 1)
    if len(shape) != 2 or not shape[1]:
        raise ValueError(f"{name} has shape {shape}: it must be (n, p), points in rows, or (n,)")
    return points
