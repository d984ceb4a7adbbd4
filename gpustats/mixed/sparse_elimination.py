"""Elimination of normal effects by a sparse Cholesky factorisation of their matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..linalg.fronts import Fronts
from ..linalg.sparse_cholesky import SparseCholesky
from ..runtime.cached import cached_property
from ..runtime.types import Doubles


class Pattern:
    """Pattern of a matrix (q, q) of the effects of all groupings, whose blocks of groups are whole.

    Parameters
    ----------
    fronts : Fronts
        Of the matrix.
    places : sequence of slice
        Effects of each grouping.
    widths : sequence of int
        Effects of a group of each.

    Attributes
    ----------
    columns : list of (n, m) ndarray
        For each grouping the places of the numbers in the columns of its groups.
    rows : list of (m, n) ndarray
        Places of the numbers in the rows of its groups.
    blocks : list of (levels, m, m) ndarray
        Places of the blocks on the diagonal.
    transposed : (nnz,) ndarray
        Place of each number's counterpart across the diagonal.
    """

    def __init__(self, fronts: Fronts, places: Sequence[slice], widths: Sequence[int]):
        self.fronts, self.places = fronts, list(places)
        column, row = fronts.columns, fronts.row_of
        self.transposed = np.lexsort((row, column))
        self.columns, self.rows, self.blocks = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        for own, m in zip(self.places, widths, strict=True):
            self.columns.append(np.flatnonzero((column >= own.start) & (column < own.stop)).reshape(-1, m))
            numbers = np.arange(fronts.rows[own.start], fronts.rows[own.stop])
            its_row, its_column = row[numbers] - own.start, column[numbers] - own.start
            self.rows.append(np.stack([numbers[its_row % m == i] for i in range(m)]))
            self.blocks.append(numbers[its_row // m == its_column // m].reshape(-1, m, m))


class SparseElimination:
    """Sums of a mixed model without its normal effects; see `Elimination`.

    Parameters
    ----------
    pattern : Pattern
    numbers : (nnz,) ndarray
        Of Z' Z, where the pattern has them.
    coupling : (q, f + 1) ndarray
        Z' times the columns of fixed effects and the observations.
    ends : (f + 1, f + 1) ndarray
        Products of these.
    factors : sequence of (m, m) ndarray
        Λ of each grouping.
    """

    def __init__(
        self, pattern: Pattern, numbers: Doubles, coupling: Doubles, ends: Doubles, factors: Sequence[Doubles]
    ):
        self._pattern, self._coupling, self._factors = pattern, coupling, factors
        self._scaled = self._on_right(numbers)  # Z' Z Λ
        of_effects = self._on_right(self._scaled[pattern.transposed])
        of_effects[pattern.fronts.diagonal] += 1
        self._cholesky = SparseCholesky(pattern.fronts, of_effects)
        self.logdet = 2 * float(np.log(self._cholesky.pivots).sum())
        self._half = self._cholesky.half_solve(self._times(coupling, transposed=True))
        self.normal = ends - self._half.T @ self._half

    def _on_right(self, numbers: Doubles) -> Doubles:
        """Numbers of the product of a matrix with this pattern and Λ."""
        found = np.empty(len(numbers))
        for places, factor in zip(self._pattern.columns, self._factors, strict=True):
            found[places] = numbers[places] @ factor
        return found

    def _times(self, right: Doubles, transposed: bool = False) -> Doubles:
        """Product of Λ, or its transpose, and a matrix, (q, r)."""
        found = np.empty(right.shape)
        for own, factor in zip(self._pattern.places, self._factors, strict=True):
            rows = right[own].reshape(-1, len(factor), right.shape[1])
            found[own] = np.matmul(factor.T if transposed else factor, rows).reshape(-1, right.shape[1])
        return found

    @cached_property
    def _solved(self) -> Doubles:
        """A⁻¹ Λ' times the coupling, (q, f + 1)."""
        return self._cholesky.transposed_solve(self._half)

    def gradient(self, of_normal: Doubles) -> list[Doubles]:
        inverse, found = self._cholesky.selected_inverse(), list[Doubles]()
        left = (self._pattern.fronts.matrix(self._scaled) @ self._solved - self._coupling) @ of_normal
        for own, rows, factor in zip(self._pattern.places, self._pattern.rows, self._factors, strict=True):
            m = len(factor)
            through = left[own].reshape(-1, m, left.shape[1]).transpose(1, 0, 2).reshape(m, -1)
            solved = self._solved[own].reshape(-1, m, left.shape[1]).transpose(1, 0, 2).reshape(m, -1)
            found.append(2 * (self._scaled[rows] @ inverse[rows].T + through @ solved.T))
        return found

    def effects(self, away: Doubles) -> list[Doubles]:
        found = self._times((self._solved @ away)[:, None])
        return [found[own].reshape(-1, len(f)) for own, f in zip(self._pattern.places, self._factors, strict=True)]

    def spreads(self) -> list[Doubles]:
        inverse = self._cholesky.selected_inverse()
        return [f @ inverse[b] @ f.T for b, f in zip(self._pattern.blocks, self._factors, strict=True)]

    def variances(self, design: Doubles, groups: Sequence[tuple[np.ndarray, Doubles]], fixed: Doubles) -> Doubles:
        places, columns = list[np.ndarray](), list[Doubles]()
        for own, factor, (index, z) in zip(self._pattern.places, self._factors, groups, strict=True):
            m, seen = len(factor), index[:, None] >= 0
            places.append(np.where(seen, own.start + index[:, None] * m + np.arange(m), own.start))
            columns.append(np.where(seen, z @ factor, 0.0))
        at, effects = np.concatenate(places, 1), np.concatenate(columns, 1)  # (M, m) of all groupings, in units of u
        away = design - np.einsum("nm,nmf->nf", effects, self._solved[:, :-1][at])
        of_fixed: Doubles = np.einsum("nf,fg,ng->n", away, fixed, away)
        return of_fixed + self._cholesky.variances(at, effects)
