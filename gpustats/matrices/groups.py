"""Uniform draws of rotations and their kin, the Haar measures of the orthogonal and unitary groups, and of directions."""

from __future__ import annotations

import math

import numpy as np

from ..draws.generator import Rng
from ..runtime.arrays import result_dtype
from ..runtime.types import Size, Values
from .distribution import UNIT_TOLERANCE, Normals, Result, as_shape, dimension, on_host
from .factors import Array


class Group:
    """Group of n by n matrices, from which draws are uniform.

    Notes
    -----
    The orthogonal factor of a matrix of standard normal numbers, with the signs that make it unique. Source: Mezzadri (2007),
    How to generate random matrices from the classical compact groups.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = gs.special_ortho_group.rvs(3, size=10, rng=1)
    >>> bool(np.allclose(x @ x.swapaxes(-1, -2), np.eye(3)) and np.allclose(np.linalg.det(x), 1))
    True
    """

    def __init__(self, name: str, complex_numbers: bool = False, proper: bool = False):
        self.name, self._complex, self._proper = name, complex_numbers, proper

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}>"

    def rvs(self, n: int, size: Size = None, rng: Rng = None) -> Array:
        """Random members of the group.

        Parameters
        ----------
        n : int
            Number of rows and columns.
        size : int or tuple of int, optional
            Number of matrices, by default one.
        rng : optional
            As for `gpustats.Density.rvs`.

        Returns
        -------
        ndarray, (*size, n, n)
            float64, complex128 of the unitary group.

        Raises
        ------
        ValueError
            Where n is no positive whole number.
        """
        n, shape = dimension(n), as_shape(size)
        parts = Normals(rng).normal(2 if self._complex else 1, *shape, n, n)
        q, r = np.linalg.qr(parts[0] + 1j * parts[1] if self._complex else parts[0])
        diagonal = np.diagonal(r, axis1=-2, axis2=-1)
        x: Array = q * (diagonal / np.abs(diagonal))[..., None, :]
        if self._proper:
            x[..., 0] *= np.sign(np.linalg.det(x))[..., None]
        return x


class Directions:
    """Vectors of length 1, uniform on the sphere. `von_mises_fisher` has those around a mean direction.

    logpdf(x): x lies along the last axis, (..., n); -inf where its length is not 1 within 0.00001 (float32: 0.00035).

    Notes
    -----
    Source: Mardia & Jupp (2000), Directional Statistics, ch. 9. Of one dimension there are two directions, 1 and -1.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = gs.uniform_direction.rvs(3, size=10, rng=1)
    >>> float(np.exp(-gs.uniform_direction.logpdf(x)).round(4)[0])  # the area of the sphere
    12.5664
    """

    name = "uniform_direction"

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}>"

    def rvs(self, n: int, size: Size = None, rng: Rng = None) -> Array:
        """Random directions in n dimensions, (*size, n): see `Group.rvs`."""
        x = Normals(rng).normal(*as_shape(size), dimension(n))
        return x / np.sqrt((x * x).sum(-1, keepdims=True))

    def logpdf(self, x: Values) -> Result:
        """The logarithm of the density, the same everywhere, (...)."""
        x = on_host(x, "x")
        if x.ndim < 1 or not x.shape[-1]:
            raise ValueError(f"x of {self.name} has shape {x.shape}, but must be vectors along the last axis, (..., n)")
        n, square = x.shape[-1], np.square(x, dtype=float).sum(-1)
        there = np.where(np.abs(square - 1) <= UNIT_TOLERANCE[result_dtype([x])], _log_density(n), -np.inf)
        return np.where(np.isnan(square), np.nan, there).astype(result_dtype([x]))[()]


def _log_density(n: int) -> float:
    return math.lgamma(0.5 * n) - math.log(2) - 0.5 * n * math.log(math.pi)


ortho_group = Group("ortho_group")
special_ortho_group = Group("special_ortho_group", proper=True)
unitary_group = Group("unitary_group", complex_numbers=True)
uniform_direction = Directions()
