"""Uniform draws of rotations and their kin: the Haar measures of the orthogonal and unitary groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .distribution import Normals
from .factors import Array


class Group:
    """A group of n by n matrices, drawn from uniformly.

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

    def rvs(self, n: int, size: int | Sequence[int] | None = None, rng: Any = None) -> Array:
        """Random members of the group.

        Parameters
        ----------
        n : int
            How many rows and columns they have.
        size : int or tuple of int, optional
            How many of them, by default one.
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
        if int(n) != n or n < 1:
            raise ValueError(f"n is {n}, but must be a whole number, at least 1")
        shape = () if size is None else (int(size),) if np.ndim(size) == 0 else tuple(map(int, size))  # type: ignore
        parts = Normals(rng).normal(2 if self._complex else 1, *shape, int(n), int(n))
        q, r = np.linalg.qr(parts[0] + 1j * parts[1] if self._complex else parts[0])
        diagonal = np.diagonal(r, axis1=-2, axis2=-1)
        x: Array = q * (diagonal / np.abs(diagonal))[..., None, :]
        if self._proper:
            x[..., 0] *= np.sign(np.linalg.det(x))[..., None]
        return x


ortho_group = Group("ortho_group")
special_ortho_group = Group("special_ortho_group", proper=True)
unitary_group = Group("unitary_group", complex_numbers=True)
