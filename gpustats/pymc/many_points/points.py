"""Points of a model: where its variables lie in an array."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate, pairwise

import numpy as np
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pymc.model import Model
from pytensor.graph.basic import Variable

from ...compiler.graph.types import TensorVariable


class Points:
    """Variables of a point: the values of a model's free variables, transformed to be unconstrained, as samplers see them.

    Attributes
    ----------
    shapes : dict of str to tuple
        Shape of each variable, in their order in an array.
    size : int
        Number of numbers in a point.
    discrete : list of str
        The variables that are whole numbers.
    start : (d,) ndarray
        The model's initial point.
    """

    def __init__(self, model: Model):
        initial = model.initial_point()
        self._dtypes = {v.name: v.type.dtype for v in model.value_vars}
        self.shapes = {name: np.shape(initial[name]) for name in self._dtypes}
        self.discrete = [name for name, dtype in self._dtypes.items() if np.dtype(dtype).kind != "f"]
        bounds = accumulate((math.prod(shape) for shape in self.shapes.values()), initial=0)
        self._slices = dict(zip(self.shapes, (slice(*pair) for pair in pairwise(bounds)), strict=True))
        self.size = sum(math.prod(shape) for shape in self.shapes.values())
        self.start = self.ravel({name: np.asarray(initial[name]) for name in self.shapes})

    @property
    def places(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Part of a point, and shape, of each variable."""
        return {name: (its, self.shapes[name]) for name, its in self._slices.items()}

    def ravel(self, point: Mapping[str, ArrayLike]) -> np.ndarray:
        """Point as an array, (d,)."""
        return self.as_array({name: np.asarray(value)[None] for name, value in point.items()})[0]

    def as_array(self, points: ArrayLike | Mapping[str, ArrayLike]) -> np.ndarray:
        """Points as a contiguous array of float64, (C, d).

        Raises
        ------
        ValueError
            Where shapes are not those of the variables, or names are missing or unknown.
        """
        if not isinstance(points, Mapping):
            array = np.ascontiguousarray(points, np.float64)
            if array.ndim != 2 or array.shape[1] != self.size:
                raise ValueError(f"points have shape {array.shape}: they must have (C, {self.size}), a row for each point")
            return array
        if points.keys() != self.shapes.keys():
            wanted, given = ", ".join(self.shapes), ", ".join(map(str, points))
            raise ValueError(f"points have the variables {given}: they must have {wanted}")
        arrays = {name: np.asarray(points[name], np.float64) for name in self.shapes}
        lengths = set()
        for name, array in arrays.items():
            if not array.ndim or array.shape[1:] != self.shapes[name]:
                wanted = ", ".join(["C", *map(str, self.shapes[name])]) + "," * (not self.shapes[name])
                raise ValueError(f"{name} has shape {array.shape}: it must have ({wanted}), points along the first axis")
            lengths.add(array.shape[0])
        if len(lengths) > 1:
            listed = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
            raise ValueError(f"all variables must have as many points; they have: {listed}")
        n = lengths.pop() if lengths else 0
        return np.concatenate([a.reshape(n, math.prod(a.shape[1:])) for a in arrays.values()] or [np.empty((n, 0))], axis=1)

    def as_dict(self, array: np.ndarray) -> dict[str, np.ndarray]:
        """Variables of points, (C, …), of an array (C, d)."""
        return {name: array[:, its].reshape(-1, *self.shapes[name]) for name, its in self._slices.items()}

    def variables(self) -> list[Variable]:
        """Variables, new in a graph, for those of one point, with lengths that are known."""
        return [pt.TensorType(self._dtypes[name], shape=shape)(name) for name, shape in self.shapes.items()]

    def split(self, matrix: TensorVariable) -> list[Variable]:
        """Variables of points, (C, …), of a matrix (C, d) in a graph, in their types; discrete ones are rounded."""
        found = []
        for name, its in self._slices.items():
            part = matrix[:, its].reshape((matrix.shape[0], *self.shapes[name]))
            found.append((pt.round(part) if name in self.discrete else part).astype(self._dtypes[name]))
        return found
