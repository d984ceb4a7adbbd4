"""Effects that are integrated out: their places in one vector, and in a matrix of second derivatives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..runtime.types import Doubles, Shape


class Effects:
    """Effects in one vector (d,), one after another, each in C order.

    Parameters
    ----------
    start : mapping
        Name -> value at which searches begin.
    """

    def __init__(self, start: Mapping[str, np.ndarray]):
        self.shapes: dict[str, Shape] = {n: np.shape(v) for n, v in start.items()}
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        ends = list(itertools.accumulate(sizes, initial=0))
        self.starts, self.size = dict(zip(self.shapes, ends, strict=False)), ends[-1]
        self.start = self.joined(start)

    def places(self, name: str) -> np.ndarray:
        """Places of the elements of an effect, in its shape."""
        shape = self.shapes[name]
        return self.starts[name] + np.arange(math.prod(shape)).reshape(shape)

    def joined(self, values: Mapping[str, Any]) -> Doubles:
        """Vector of values by name; 0 for what is not there."""
        parts = (np.ravel(values[n] if n in values else np.zeros(shape)) for n, shape in self.shapes.items())
        return np.concatenate([np.zeros(0), *(part.astype(float) for part in parts)])

    def by_name(self, vector: Doubles) -> dict[str, Any]:
        """Values, (…, d), by name: floats and arrays."""
        found = dict[str, Any]()
        for name, shape in self.shapes.items():
            own = vector[..., self.starts[name] : self.starts[name] + math.prod(shape)].reshape((*vector.shape[:-1], *shape))
            found[name] = own if own.ndim else own.item()
        return found

    def label(self, place: int) -> str:
        """Name of an element, such as "u[2,0]"."""
        name = max((n for n in self.starts if self.starts[n] <= place and self.shapes[n] != (0,)), key=self.starts.__getitem__)
        if not (shape := self.shapes[name]):
            return name
        return f"{name}[{','.join(map(str, np.unravel_index(place - self.starts[name], shape)))}]"
