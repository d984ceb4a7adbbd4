"""Contingency tables of given sums of rows and columns."""

from __future__ import annotations

import numpy as np

from ..density import densities
from ..draws.generator import Rng, as_generator
from ..runtime.types import Size, Values
from .distribution import Result, as_shape, on_host
from .factors import Array


class RandomTable:
    """Tables of counts whose rows and columns are independent, given the sums of both.

    logpmf(x, row, col): x is (..., r, c); row is (r,), the sums of the rows, and col (c,), those of the columns, with the same
    total. A row has a multivariate hypergeometric distribution, given the rows above.

    Notes
    -----
    Source: Patefield (1981), An efficient method of generating random R x C tables with given row and column totals.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> round(float(gs.random_table.pmf([[1, 0], [2, 3]], [1, 5], [3, 3])), 4)
    0.5
    >>> gs.random_table.rvs([1, 5], [2, 3, 1], size=10, rng=1).sum(-1)[0]
    array([1, 5])
    """

    name = "random_table"

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}(x, row, col)>"

    def logpmf(self, x: Values, row: Values, col: Values) -> Result:
        """The logarithm of the probability.

        Parameters
        ----------
        x : array_like, (..., r, c)
        row : array_like, (r,)
        col : array_like, (c,)

        Returns
        -------
        float or ndarray, (...)
            float64: -inf for what is no such table, nan where x has nan.

        Raises
        ------
        ValueError
            Sums that are no counts or have different totals, and tables of another shape.
        """
        row, col, x = *_margins(row, col), on_host(x, "x", float)
        if x.ndim < 2 or x.shape[-2:] != (len(row), len(col)):
            wanted = f"(..., {len(row)}, {len(col)}), as row and col have it"
            raise ValueError(f"x of {self.name} has shape {x.shape}, but must be {wanted}")
        left = col - np.cumsum(x, axis=-2) + x  # in the rows from this one on
        there = ((x >= 0) & (x == np.floor(x))).all((-2, -1)) & (x.sum(-1) == row).all(-1) & (x.sum(-2) == col).all(-1)
        fine = there[..., None, None]
        counts = np.where(fine, x, 0), np.where(fine[..., 0], row, 0), np.where(fine, left, 0)
        value = np.where(there, np.sum(densities["multivariate_hypergeometric"].logpmf(*counts), axis=-1), -np.inf)
        return np.where(np.isnan(x).any((-2, -1)), np.nan, value)[()]

    def pmf(self, x: Values, row: Values, col: Values) -> Result:
        """The probability: see `logpmf`."""
        return np.exp(self.logpmf(x, row, col))

    def mean(self, row: Values, col: Values) -> Array:
        """Mean, (r, c); nan where the total is 0."""
        row, col = _margins(row, col)
        total = row.sum()
        return np.outer(row, col) / (total if total else np.nan)

    def rvs(self, row: Values, col: Values, size: Size = None, rng: Rng = None) -> Array:
        """Random tables.

        Parameters
        ----------
        row : array_like, (r,)
        col : array_like, (c,)
        size : int or tuple of int, optional
            Number of tables, by default one.
        rng : optional
            As for `gpustats.Density.rvs`.

        Returns
        -------
        ndarray of int64, (*size, r, c)
        """
        (row, col), shape, rng = _margins(row, col), as_shape(size), as_generator(rng)
        x = np.zeros((int(np.prod(shape)), len(row), len(col)), np.int64)
        left = np.broadcast_to(col, x[:, 0].shape)
        for i in range(len(row) - 1):
            x[:, i] = densities["multivariate_hypergeometric"].rvs(row[i], left, rng=rng)
            left = left - x[:, i]
        x[:, -1] = left
        return x.reshape(*shape, len(row), len(col))


def _margins(row: Values, col: Values) -> tuple[Array, Array]:
    row, col = on_host(row, "row", float), on_host(col, "col", float)
    for name, sums in (("row", row), ("col", col)):
        if sums.ndim != 1 or not len(sums) or not ((sums >= 0) & (sums == np.floor(sums))).all():
            raise ValueError(f"{name} must be a vector of whole numbers that are not negative, not {sums}")
    if row.sum() != col.sum():
        raise ValueError(f"row and col must have the same sum, not {row.sum():g} and {col.sum():g}")
    return row, col


random_table = RandomTable()
