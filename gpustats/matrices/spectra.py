"""Random correlation matrices of known eigenvalues."""

from __future__ import annotations

import numpy as np

from ..draws.generator import Rng
from ..runtime.types import Size, Values
from .distribution import as_shape, on_host
from .factors import Array
from .groups import ortho_group

#: By how much the eigenvalues' mean may differ from 1.
_TOLERANCE = 1e-10


class RandomCorrelation:
    """Correlation matrices with given eigenvalues: a uniformly rotated diagonal matrix, rotated on until its diagonal is 1.

    Notes
    -----
    Source: Davies & Higham (2000), Numerically stable generation of correlation matrices and their factors.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = gs.random_correlation.rvs([0.5, 0.8, 1.2, 1.5], size=10, rng=1)
    >>> np.linalg.eigvalsh(x)[0].round(6)
    array([0.5, 0.8, 1.2, 1.5])
    """

    name = "random_correlation"

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}(eigs)>"

    def rvs(self, eigs: Values, size: Size = None, rng: Rng = None) -> Array:
        """Random correlation matrices.

        Parameters
        ----------
        eigs : array_like, (n,)
            The eigenvalues, none negative, whose sum is n.
        size : int or tuple of int, optional
            Number of matrices, by default one.
        rng : optional
            As for `gpustats.Density.rvs`.

        Returns
        -------
        ndarray, (*size, n, n)
            float64, symmetric to the last bit, with 1 on the diagonal.

        Raises
        ------
        ValueError
            Where these are no eigenvalues of a correlation matrix.
        """
        eigs, shape = _spectrum(eigs), as_shape(size)
        rotation = ortho_group.rvs(len(eigs), size=(int(np.prod(shape)),), rng=rng)
        x = (rotation * eigs) @ rotation.swapaxes(-1, -2)
        for i in range(len(eigs) - 1):
            _make_one(x, i)
        x = (x + x.swapaxes(-1, -2)) / 2
        x[:, np.arange(len(eigs)), np.arange(len(eigs))] = 1
        return x.reshape(*shape, len(eigs), len(eigs))


def _spectrum(eigs: Values) -> Array:
    values = on_host(eigs, "eigs", float)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"eigs has shape {values.shape}, but must be a vector of eigenvalues, (n,)")
    if not (values >= 0).all() or not abs(values.mean() - 1) <= _TOLERANCE:
        raise ValueError(f"eigs must be numbers that are not negative, whose sum is {len(values)}, not {values}")
    return values


def _make_one(x: Array, i: int) -> None:
    """Rotate each matrix, in place, so that number i on its diagonal is 1.

    The rotation is of its axis and the first one after it whose number lies on the other side of 1.
    """
    each = np.arange(len(x))
    beyond = np.diagonal(x, axis1=-2, axis2=-1) - 1
    opposite = beyond[:, i + 1 :] * beyond[:, i, None] < 0
    turn, j = opposite.any(-1), i + 1 + opposite.argmax(-1)
    here, there, between = beyond[:, i], np.where(turn, beyond[each, j], 1), x[each, i, j]
    # The tangent t of the angle solves there t^2 - 2 between t + here = 0; of both solutions that without cancellation.
    root = between + np.copysign(np.sqrt(between * between - np.where(turn, here * there, 0)), between)
    tangent = np.where(turn, root / there, 0)[:, None]
    c = 1 / np.sqrt(1 + tangent * tangent)
    for rows in (x, x.swapaxes(-1, -2)):
        a, b = rows[:, i].copy(), rows[each, j]
        rows[:, i], rows[each, j] = c * (a - tangent * b), np.where(turn[:, None], c * (tangent * a + b), b)
    x[turn, i, i] = 1


random_correlation = RandomCorrelation()
