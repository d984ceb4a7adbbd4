"""Matrices to test linear algebra with, and how near its results have to come."""

# ruff: noqa: E741  (l is what the factor is called; functions in loops are called at once)
import numpy as np
import scipy.linalg

import gpustats as gs

#: The size of blocks, where tests want small matrices to be cut in them, too.
LEAF = 16


def tolerance(dtype, scale=1.0):
    return scale * (1e-10 if dtype == np.float64 else 2e-3)


def close(got, want, dtype=np.float64, scale=1.0):
    got, want = gs.to_host(got) if hasattr(got, "get") else np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    bound = tolerance(dtype, scale)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * np.abs(want).max(initial=1e-300))


def positive_definite(rng, *shape, dtype=np.float64):
    a = rng.normal(size=shape)
    return (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def with_traps(a, lower):
    """nan in the half that is not to be read."""
    other = np.triu(np.ones(a.shape[-2:], bool), 1)
    return np.where(other if lower else other.T, np.nan, a).astype(a.dtype)


def slope(function, arguments, changes, step=1e-6):
    """The derivative of a number in the direction of `changes`."""
    up = function(*(a + step * d for a, d in zip(arguments, changes)))
    down = function(*(a - step * d for a, d in zip(arguments, changes)))
    return (up - down) / (2 * step)


def plain_cholesky_grad(l, l_bar):
    """The formula, by substitution."""
    p = np.tril(l.T @ np.tril(l_bar))
    p = p + np.tril(p, -1).T
    solved = scipy.linalg.solve_triangular(
        l, scipy.linalg.solve_triangular(l, p, trans=1, lower=True).T, trans=1, lower=True
    )
    return (solved + solved.T) / 4
