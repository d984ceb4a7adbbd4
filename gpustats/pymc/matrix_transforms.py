"""Transforms of matrices to vectors of any numbers: of positive definite ones, and of correlations."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
from pymc.exceptions import NotConstantValueError
from pymc.logprob.transforms import Transform
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Variable

from ..compiler.graph.types import TensorVariable


def length_of(variable: TensorVariable) -> int | None:
    """Length of a variable's last axis, where it is known."""
    try:
        (length,) = constant_fold([variable.shape[-1]])
    except NotConstantValueError:
        return None
    return int(length)


def unpacked(values: TensorVariable, rows: np.ndarray, columns: np.ndarray, n: int) -> TensorVariable:
    """Matrices (..., n, n) with values (..., m) at m places, and zeros elsewhere."""
    places, there = np.zeros((n, n), int), np.zeros((n, n))
    places[rows, columns], there[rows, columns] = np.arange(len(rows)), 1
    return values[..., places] * there


class PositiveDefinite(Transform):
    """Symmetric and positive definite matrices (n, n) by the numbers on and below the diagonals of their Cholesky factors.

    Numbers on the diagonal are logarithms.
    """

    name = "cholesky"

    def __init__(self, n: int):
        self._n, (self._rows, self._columns) = n, np.tril_indices(n)
        self._diagonal = np.flatnonzero(self._rows == self._columns)

    def forward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        packed = pt.linalg.cholesky(value, lower=True)[..., self._rows, self._columns]
        return packed[..., self._diagonal].set(pt.log(packed[..., self._diagonal]))

    def backward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        packed = value[..., self._diagonal].set(pt.exp(value[..., self._diagonal]))
        factor = unpacked(packed, self._rows, self._columns, self._n)
        return factor @ factor.mT

    def log_jac_det(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        """Log-determinant of the Jacobian.

        The logarithm is that of the factor's diagonal, l_i = exp(y_i), and of the product, 2^n prod l_i^(n - i), i = 0, …
        """
        powers = self._n + 1 - np.arange(self._n)
        return (powers * value[..., self._diagonal]).sum(axis=-1) + self._n * np.log(2)


class Correlations(Transform):
    """Correlation matrices (n, n) by the numbers above their diagonals, as any numbers: arctanh of partial correlations.

    These are the correlations of the variables i and j given the variables before i, i < j. All such numbers are those of
    one matrix, where intervals from -1 to 1 have many that are none's.

    Notes
    -----
    Source: Lewandowski, Kurowicka & Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, sect. 2.
    """

    name = "correlations"

    def __init__(self, n: int):
        self._n, (self._columns, self._rows) = n, np.triu_indices(n, 1)

    def forward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        """Numbers y of correlation matrices: arctanh of partial correlations.

        With l the factor of the matrix, such a correlation is l_ij over the length of the elements of row i from l_ij on to the
        right.
        """
        l = pt.linalg.cholesky(correlations(value, self._n), lower=True)  # noqa: E741
        rest = pt.cumsum(pt.square(l)[..., ::-1], axis=-1)[..., ::-1]
        return pt.arctanh((l / pt.sqrt(pt.maximum(rest, 1e-300)))[..., self._rows, self._columns])

    def backward(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        y = unpacked(value, self._rows, self._columns, self._n)
        # The logarithm of 1 - tanh(y)^2, halved and summed over what stands to the left, is that of what is left of a row.
        halves = np.log(2) - pt.abs(y) - pt.log1p(pt.exp(-2 * pt.abs(y)))
        left = pt.exp(pt.cumsum(halves, axis=-1) - halves)
        factor = (pt.tanh(y) + np.eye(self._n)) * left
        return (factor @ factor.mT)[..., self._rows, self._columns]

    def log_jac_det(self, value: TensorVariable, *inputs: Variable) -> TensorVariable:
        """Log-determinant of the Jacobian.

        Each partial correlation r adds log(1 - r^2) for itself, and half of it for each later variable than i but one.
        """
        powers = 2 + (self._n - 2 - self._columns)
        halves = np.log(2) - pt.abs(value) - pt.log1p(pt.exp(-2 * pt.abs(value)))
        return (powers * halves).sum(axis=-1)


def correlations(values: TensorVariable, n: int) -> TensorVariable:
    """Correlation matrices (..., n, n) of the numbers above their diagonals, (..., n (n - 1) / 2), row by row."""
    above = unpacked(values, *np.triu_indices(n, 1), n)
    return above + above.mT + np.eye(n)
