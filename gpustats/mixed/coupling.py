"""Coupling of the coefficients of a large grouping to all others, and the products with it that a likelihood takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import linalg
from ..linalg.threads import as_many_as_free
from ..runtime import choose, thresholds
from ..runtime.cached import cached_property
from ..runtime.transfers import to_host
from ..runtime.types import Doubles

#: Multiplications of the border's products from which on a GPU has the coupling.
LEAST_ON_DEVICE = thresholds.MIXED_LEAST_ON_DEVICE.value


class Coupling:
    """Coupling C of G groups with m coefficients each to a border of r. Matrices of the groups are (m, m, G).

    A large one lies on the device, where there is one that has memory of its own.

    Parameters
    ----------
    coupling : (G, m, r) ndarray
    on_device : bool, optional
        Whether it lies on the device; by default where that is faster.
    """

    def __init__(self, coupling: Doubles, on_device: bool | None = None):
        self._coupling, (self._groups, self._m, self._r) = coupling, coupling.shape
        self._work = coupling.size * self._r
        runtime, self._placed = choose.get(), list[Any]()
        if on_device is None:
            on_device = not runtime.host_visible and self._work >= LEAST_ON_DEVICE
        if on_device:
            across, down = coupling.swapaxes(1, 2), coupling.reshape(-1, self._r).T
            self._placed = [runtime.to_device(np.ascontiguousarray(c)) for c in (coupling, across, down)]

    @cached_property
    def _columns(self) -> Doubles:
        """Coupling in the order (m, r, G), in which the host multiplies it."""
        return np.ascontiguousarray(self._coupling.transpose(1, 2, 0))

    def gram(self, solver: Doubles) -> Doubles:
        """Sum of C' S' S C over the groups, (r, r), for matrices S."""
        if self._placed:
            coupling, _, down = self._placed
            metric = np.einsum("kig,kjg->gij", solver, solver)
            weighted = linalg.matmul(choose.get().to_device(metric), coupling).reshape(-1, self._r)
            found: Doubles = to_host(linalg.matmul(down, weighted))
            return (found + found.T) / 2
        with as_many_as_free(self._work):
            found = np.zeros((self._r, self._r))
            for own in solver:
                columns = sum(s * c for s, c in zip(own, self._columns, strict=True))
                found += columns @ columns.T
        return found

    def quadratic(self, inner: Doubles) -> Doubles:
        """Products C H C' of each group, (m, m, G), for a symmetric matrix H, (r, r)."""
        if self._placed:
            coupling, across, _ = self._placed
            times = linalg.matmul(coupling.reshape(-1, self._r), choose.get().to_device(inner))
            found = to_host(linalg.matmul(times.reshape(self._groups, self._m, self._r), across))
            return np.ascontiguousarray(found.transpose(1, 2, 0))
        made = np.empty((self._m, self._m, self._groups))
        with as_many_as_free(self._work):
            for i, columns in enumerate(self._columns):
                times = inner @ columns
                for j in range(i + 1):
                    made[i, j] = made[j, i] = (times * self._columns[j]).sum(0)
        return made

    def times(self, vector: Doubles) -> Doubles:
        """Products with a vector (r,), (m, G)."""
        found: Doubles = (self._coupling @ vector).T
        return found

    def of_rows(self, groups: np.ndarray, rows: Doubles) -> Doubles:
        """Products of rows (M, m) and the coupling of a group for each, (M, r)."""
        return np.einsum("ni,nir->nr", rows, self._coupling[groups])
