"""From PyTensor's arrays to linear algebra on a device."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ... import linalg
from ...evaluation.gradient import reduced
from .density import in_one_process

Trans = int | str


class LinearAlgebra:
    """What the Ops of `gpustats.pymc.linalg` compute, on stacks of float64 matrices with as many leading axes each.

    It has no state: there is one, and its worker makes another.
    """

    # What `forked` sends a worker of an evaluator, to make one there.
    known: Mapping[int, np.ndarray] = {}

    @property
    def formula(self) -> LinearAlgebra:
        return self

    def evaluator(self, known: Mapping[int, np.ndarray]) -> LinearAlgebra:
        return self

    # -- what the Ops ask for

    @in_one_process
    def cholesky(self, a: np.ndarray, on_error: str) -> np.ndarray:
        return linalg.cholesky(a) if on_error == "raise" else _or_nan(linalg.cholesky, a)

    @in_one_process
    def cholesky_grad(self, l: np.ndarray, l_bar: np.ndarray) -> np.ndarray:  # noqa: E741
        return linalg.cholesky_grad(l, l_bar)

    @in_one_process
    def solve_triangular(self, a: np.ndarray, b: np.ndarray, trans: Trans, lower: bool) -> np.ndarray:
        return _or_nan(lambda a, b: linalg.solve_triangular(a, b, trans, lower), a, b)

    @in_one_process
    def solve_triangular_grad(
        self, a: np.ndarray, b: np.ndarray, x: np.ndarray, x_bar: np.ndarray, trans: Trans, lower: bool
    ) -> Sequence[np.ndarray]:
        with np.errstate(all="ignore"):  # of what has no solution
            a_bar, b_bar = linalg.solve_triangular_grad(a, x, x_bar, trans, lower)
        return [a_bar, reduced(b_bar, b.shape)]


linear_algebra = LinearAlgebra()


def _or_nan(function: Callable[..., np.ndarray], *stacks: np.ndarray) -> np.ndarray:
    """function(*stacks), with nan for the matrices that have no result.

    These are such as are singular or not positive definite, or have nan or infinite numbers. Other errors are raised.
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
