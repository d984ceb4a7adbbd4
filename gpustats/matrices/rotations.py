"""Uniform draws of orthogonal and unitary matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation.results import as_shape
from .streams import Streams


class _Group:
    """A group of matrices, from which draws are uniform: their distribution is Haar's measure.

    Parameters
    ----------
    name : str
    complex_numbers : bool
    special : bool
        Whether determinants are 1.
    """

    def __init__(self, name: str, complex_numbers: bool = False, special: bool = False):
        self.name, self._complex, self._special = name, complex_numbers, special

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}(n)>"

    def rvs(self, n: int, *, size: int | tuple[int, ...] | None = None, rng: Any = None) -> np.ndarray:
        """Random draws.

        Parameters
        ----------
        n : int
            Rows of the matrices.
        size : int or tuple of int, optional
            Shape of the result, to which (n, n) is added; by default one matrix.
        rng : optional
            As for `Density.rvs`; a draw depends on the seed and on its number alone, to rounding.

        Returns
        -------
        float64 or complex128 ndarray (..., n, n)

        Notes
        -----
        Stewart (1980), The efficient generation of random orthogonal matrices; Mezzadri (2007), How to generate random matrices
        from the classical compact groups: the factor Q of a matrix of normal numbers, with the signs that make R's diagonal
        positive.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> q = gs.special_orthogonal.rvs(3, size=5, rng=1)
        >>> bool(np.allclose(q @ q.swapaxes(-1, -2), np.eye(3))), bool(np.allclose(np.linalg.det(q), 1))
        (True, True)
        """
        if n < 1:
            raise ValueError(f"{self.name}: n must be a positive whole number, not {n}")
        streams = Streams(rng, () if size is None else as_shape(size))
        z = streams.rvs("normal", 0.0, 1.0, each=(n, n))
        if self._complex:
            z = z + 1j * streams.rvs("normal", 0.0, 1.0, each=(n, n))
        q, r = np.linalg.qr(z)
        diagonal = np.diagonal(r, axis1=-2, axis2=-1)
        q = q * (diagonal / np.abs(diagonal))[..., None, :]
        if self._special:
            q[..., 0] *= np.linalg.det(q)[..., None].round()
        return np.asarray(q)


orthogonal, special_orthogonal = _Group("orthogonal"), _Group("special_orthogonal", special=True)
unitary = _Group("unitary", complex_numbers=True)
