"""Elimination of normal effects where those of all groupings but the largest are one dense border."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import linalg
from ..fits.bordered import Bordered
from ..runtime.types import Doubles
from .coupling import Coupling
from .elimination import NUMBERS_AT_ONCE


class BorderedElimination:
    """Sums of a mixed model without its normal effects; see `Elimination`.

    Parameters
    ----------
    matrix : Bordered
        Sums, from `sums`.
    coupling : Coupling
        That of the matrix, where it is multiplied.
    factors : sequence of (m, m) ndarray
        Lower triangular Λ of each grouping of normal effects: the largest first, which is that of the blocks, the others in the
        order of the border.
    levels : sequence of int
        Number of groups of each.
    """

    def __init__(self, matrix: Bordered, coupling: Coupling, factors: Sequence[Doubles], levels: Sequence[int]):
        largest, self._others = factors[0], list(zip(factors[1:], levels[1:], strict=True))
        self._factor, self._coupling = largest, coupling
        across, unit = largest[:, :, None], np.eye(len(largest))[:, :, None]
        self._scaled = _product(np.ascontiguousarray(matrix.blocks.transpose(1, 2, 0)), across)  # Z' Z Λ, (m, m, G)
        triangles = _inverse_triangles(_product(across.swapaxes(0, 1), self._scaled) + unit)
        self._inverse = _product(triangles.swapaxes(0, 1), triangles)
        self._solver = _product(triangles, across.swapaxes(0, 1))
        self.logdet = -2 * sum(float(np.log(triangles[i, i]).sum()) for i in range(len(largest)))
        q = sum(len(f) * n for f, n in self._others)
        #: the border's sums without the effects of the largest grouping
        self._left = left = matrix.border - coupling.gram(self._solver)
        own = self._on_left(self._on_left(left[:q, :q]).T) + np.eye(q)
        self._lower = linalg.cholesky((own + own.T) / 2)
        self.logdet += 2 * float(np.log(np.diagonal(self._lower)).sum())
        self._across = linalg.solve_triangular(self._lower, self._on_left(left[:q, q:]))
        self.normal = left[q:, q:] - self._across.T @ self._across
        self._q = q

    def gradient(self, of_normal: Doubles) -> list[Doubles]:
        inner = self._border_inverse(of_normal)
        outer = self._times(inner)
        bar = linalg.matmul(self._left[: self._q], outer)  # of which the blocks on the diagonal count
        outer = self._times(outer.T)
        across = _product(self._factor[:, :, None], self._inverse)  # Λ A⁻¹
        apart = np.eye(len(across))[:, :, None] - _product(self._scaled, across.swapaxes(0, 1))
        if len(across) == 1:  # numbers, whose products take half as many operations
            weights, sign = np.sqrt(np.abs(apart * across)), np.sign(self._factor)
            through = sign * (self._coupling.gram(weights) * outer).sum()
        else:
            through = _traces(_product(apart, self._coupling.quadratic(outer)), across)
        found = [2 * (_traces(self._scaled, self._inverse) - through)]
        return found + [2 * blocks.sum(0) for blocks in self._diagonal_blocks(bar)]

    def effects(self, away: Doubles) -> list[Doubles]:
        q = self._q
        inverse = linalg.inv_triangular(self._lower)
        own = self._times(inverse.T @ (self._across @ away)[:, None])[:, 0]
        along = self._coupling.times(np.concatenate([-own, away]))
        found = [_product(self._spread_alone(), along[:, None])[:, 0].T]
        at = 0
        for factor, n in self._others:
            found.append(own[at : at + len(factor) * n].reshape(n, -1))
            at += len(factor) * n
        assert at == q
        return found

    def spreads(self) -> list[Doubles]:
        border = self._spread(np.zeros(self.normal.shape))
        alone = self._spread_alone()
        coupled = _product(_product(alone, self._coupling.quadratic(border)), alone)
        return [(alone + coupled).transpose(2, 0, 1), *self._diagonal_blocks(border)]

    def variances(self, design: Doubles, groups: Sequence[tuple[np.ndarray, Doubles]], fixed: Doubles) -> Doubles:
        spread, alone, found = self._spread(np.pad(fixed, (0, 1))), self._spread_alone(), np.zeros(len(design))
        r = len(spread)
        step = max(NUMBERS_AT_ONCE // r, 1)
        for first in range(0, len(design), step):
            rows = slice(first, first + step)
            border = np.zeros((len(design[rows]), r))
            border[:, r - 1 - design.shape[1] : r - 1] = design[rows]
            at = 0
            for i, (index, columns) in enumerate(groups):
                own, z = index[rows], columns[rows]
                seen, m = own >= 0, columns.shape[1]
                if i == 0:
                    through = np.einsum("ijn,nj->ni", alone[:, :, own], z) * seen[:, None]
                    found[rows] += (through * z).sum(1)
                    border -= self._coupling.of_rows(own, through)
                else:
                    places = np.where(seen[:, None], at + own[:, None] * m + np.arange(m), r - 1)
                    np.put_along_axis(border, places, np.take_along_axis(border, places, 1) + z, 1)
                    at += m * self._others[i - 1][1]
            border[:, r - 1] = 0.0
            found[rows] += np.einsum("ni,ni->n", border @ spread, border)
        return found

    def _spread_alone(self) -> Doubles:
        """Covariances Λ A⁻¹ Λ' of the effects of each group of the largest grouping, given all others, (m, m, G)."""
        return _product(self._solver.swapaxes(0, 1), self._solver)

    def _spread(self, of_normal: Doubles) -> Doubles:
        """Covariance of the border's effects and the fixed effects, whose own is `of_normal`, (r, r)."""
        return self._times(self._times(self._border_inverse(of_normal)).T)

    def _border_inverse(self, of_normal: Doubles) -> Doubles:
        """Inverse of the border's matrix in units of u, whose part of fixed effects and observations is `of_normal`, (r, r)."""
        q, found = self._q, np.empty(self._left.shape)
        inverse = linalg.inv_triangular(self._lower)
        solved = inverse.T @ self._across
        found[:q, :q] = linalg.matmul(inverse.T, inverse) + solved @ of_normal @ solved.T
        found[:q, q:] = -solved @ of_normal
        found[q:, :q], found[q:, q:] = found[:q, q:].T, of_normal
        return found

    def _diagonal_blocks(self, matrix: Doubles) -> list[Doubles]:
        """Blocks (levels, m, m) on the diagonal for each grouping of the border."""
        found, at = list[Doubles](), 0
        for factor, n in self._others:
            m = len(factor)
            own = matrix[at : at + m * n, at : at + m * n].reshape(n, m, n, m)
            found.append(own[range(n), :, range(n)])
            at += m * n
        return found

    def _times(self, rows: Doubles) -> Doubles:
        """Product of the factors of the border's effects and the first rows, (q, …); those behind stay."""
        return self._each(rows, False)

    def _on_left(self, rows: Doubles) -> Doubles:
        """Product of the transposed factors and the first rows."""
        return self._each(rows, True)

    def _each(self, rows: Doubles, transposed: bool) -> Doubles:
        found, at = rows.copy(), 0
        for factor, n in self._others:
            width = len(factor)
            own = rows[at : at + width * n].reshape(n, width, -1)
            found[at : at + width * n] = np.matmul(factor.T if transposed else factor, own).reshape(width * n, -1)
            at += width * n
        return found


def _product(left: Doubles, right: Doubles) -> Doubles:
    """Products of the matrices of each group, (m, m, G)."""
    return np.stack([(row[:, None] * right).sum(0) for row in left])


def _traces(left: Doubles, right: Doubles) -> Doubles:
    """Sum over the groups of the products of matrices, (m, m, G)."""
    n = len(left)
    found: Doubles = left.reshape(n, -1) @ right.swapaxes(0, 1).reshape(n, -1).T
    return found


def _inverse_triangles(matrices: Doubles) -> Doubles:
    """Inverses of the Cholesky factors of many small matrices, (m, m, G)."""
    lower, inverse = np.zeros((2, *matrices.shape))
    for j in range(len(matrices)):
        column = matrices[j:, j] - (lower[j:, :j] * lower[j, :j]).sum(1)
        if not (column[0] > 0).all():
            raise np.linalg.LinAlgError("a matrix of a group is not positive definite")
        lower[j:, j] = column / np.sqrt(column[0])
    for i in range(len(matrices)):
        inverse[i, i] = 1 / lower[i, i]
        inverse[i, :i] = -(lower[i, :i, None] * inverse[:i, :i]).sum(0) * inverse[i, i]
    return inverse
