"""The random numbers of draws that are made of many: each draw has its own, whatever others there are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..density import densities
from ..draws.generator import Generator, as_generator

#: The stream of the first kind of numbers of a draw: far from those of `Generator.jumped`.
FIRST = 1 << 20


class Streams:
    """Numbers for draws of a shape; calls for several kinds of numbers take streams of their own.

    Parameters
    ----------
    rng
        As for `Density.rvs`.
    shape : tuple of int
        Of the draws.
    """

    def __init__(self, rng: Any, shape: tuple[int, ...]):
        self._generator, self.shape, self._kinds = as_generator(rng), shape, 0
        self._first = self._generator.take(math.prod(shape)).first_draw

    def rvs(self, name: str, *parameters: Any, each: tuple[int, ...] = ()) -> np.ndarray:
        """Draws of a density, of the shape of the draws and `each`; parameters broadcast to it."""
        kind = self._generator.jumped(FIRST + self._kinds)
        self._kinds += 1
        begin = self._first * math.prod(each)
        shape = (*self.shape, *each)
        return np.asarray(densities[name].rvs(*parameters, size=shape, rng=_from(kind, begin)))


def _from(generator: Generator, first: int) -> Generator:
    """A generator that goes on from a draw."""
    made = Generator.__new__(Generator)
    made.__setstate__({**generator.__getstate__(), "_drawn": first})
    return made
