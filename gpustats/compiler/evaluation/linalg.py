"""Linear algebra in a graph: from PyTensor's arrays to factors, solutions and their reverse modes on a device."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from ... import linalg
from ...evaluation.gradient import reduced
from .forked import survives_fork

Trans = int | str


class LinearAlgebra:
    """Functions that the Ops of linear algebra compute, of stacks of float64 matrices with as many leading axes each.

    It has no state, so that there is one object in each process.
    """

    def __reduce__(self) -> str:
        return "linear_algebra"

    @survives_fork
    def cholesky(self, a: np.ndarray, on_error: str) -> np.ndarray:
        return linalg.cholesky(a) if on_error == "raise" else _or_nan(linalg.cholesky, a)

    @survives_fork
    def cholesky_grad(self, l: np.ndarray, l_bar: np.ndarray) -> np.ndarray:  # noqa: E741
        return linalg.cholesky_grad(l, l_bar)

    @survives_fork
    def solve_triangular(self, a: np.ndarray, b: np.ndarray, trans: Trans, lower: bool) -> np.ndarray:
        return _or_nan(lambda a, b: linalg.solve_triangular(a, b, trans, lower), a, b)

    @survives_fork
    def solve_triangular_grad(
        self, a: np.ndarray, b: np.ndarray, x: np.ndarray, x_bar: np.ndarray, trans: Trans, lower: bool
    ) -> Sequence[np.ndarray]:
        with np.errstate(all="ignore"):  # some systems have no solution
            a_bar, b_bar = linalg.solve_triangular_grad(a, x, x_bar, trans, lower)
        return [a_bar, reduced(b_bar, b.shape)]


linear_algebra = LinearAlgebra()


def _or_nan(function: Callable[..., np.ndarray], *stacks: np.ndarray) -> np.ndarray:
    """Result of function(*stacks), with nan for the matrices that have no result.

    Such a matrix is singular or not positive definite, or has nan or infinite numbers. Other errors are raised.
    """
    try:
        return function(*stacks)
    except np.linalg.LinAlgError as error:
        failure: ValueError = error
    except ValueError as error:
        if np.isfinite(stacks[0]).all():
            raise
        failure = error
    leading = np.broadcast_shapes(*(s.shape[:-2] for s in stacks))
    if not leading:
        if stacks[0].shape[-1] != stacks[-1].shape[-2]:
            raise failure
        return np.full(stacks[-1].shape, np.nan)
    each = [np.broadcast_to(s, (*leading, *s.shape[-2:])) for s in stacks]
    result = np.empty((*leading, *stacks[-1].shape[-2:]))
    for place in itertools.product(*map(range, leading)):
        result[place] = _or_nan(function, *(s[place] for s in each))
    return result
