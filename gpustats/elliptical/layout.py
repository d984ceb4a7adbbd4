"""Layout of the kernels of elliptical densities, and the form in which they keep the inverse factors W of the matrices."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..kernels.layout import Layout, Problem
from ..runtime import thresholds
from ..runtime.cached import cached_property

if TYPE_CHECKING:
    from ..runtime.base import Device

#: Rows of W that a thread multiplies at a time: as many as its registers hold sums for.
_WIDTHS = thresholds.ELLIPTICAL_WIDTHS.value
#: Dimensions from which the units for products of small matrices are faster, which multiply by the zeros of a triangle too.
_LEAST_PRODUCT_DIM = thresholds.ELLIPTICAL_LEAST_PRODUCT_DIM.value
#: (rows a thread, sets whose matrices are in shared memory at once), the fastest first: two rows a
#: thread, all sets' matrices (None) at once while they are small beside the rows, else one, else none.
_IN_SHARED_MEMORY = thresholds.ELLIPTICAL_IN_SHARED_MEMORY.value
_IN_PRODUCTS = thresholds.ELLIPTICAL_IN_PRODUCTS.value


@dataclass(frozen=True)
class EllipticalLayout(Layout):
    """Constants of the elliptical kernels; `tile` is the rows that a block has in shared memory.

    Attributes
    ----------
    copies : bool
        Whether tiles are copied in the background, rather than through the registers of threads.
    stage_factors : bool
        Whether matrices are in shared memory.
    """

    copies: bool = False
    stage_factors: bool = False


@dataclass(frozen=True)
class Packing:
    """Form of a W of some dimension in memory: in the order of its use, `width` rows at a time.

    Attributes
    ----------
    width : int
        Rows of W that a thread, or a warp, multiplies at a time.
    products : bool
        Whether warps multiply matrices of 8 rows and columns, which are padded by zeros, rather than threads numbers.
    """

    dim: int
    width: int
    products: bool = False

    @cached_property
    def columns(self) -> int:
        """Columns of W with their padding."""
        return self.dim + -self.dim % 8 if self.products else self.dim

    @cached_property
    def size(self) -> int:
        """Numbers in a packed W."""
        return self.width * sum(min(i + self.width, self.columns) for i in range(0, self.dim, self.width))


@functools.lru_cache(1024)
def packing(device: Device, itemsize: int, dim: int) -> Packing:
    """Packing of matrices for the kernels of a device."""
    products = Packing(dim, min(32, dim + -dim % 8), True)
    pays = device.products and itemsize == 8 and dim >= _LEAST_PRODUCT_DIM
    if pays and _bytes(products, 8, device.warp, 0) <= device.shared_memory:
        return products
    return Packing(dim, _WIDTHS.get(device.type, 16))


def padded_tile(packing: Packing, tile: int) -> int:
    """Distance of the columns of a tile of rows in shared memory, so that threads do not meet in a bank."""
    return tile + (4 if packing.products else 1)


def shared_reals(packing: Packing, itemsize: int, tile: int, group: int) -> int:
    """Numbers in shared memory: a tile of rows, and behind it, at a multiple of 16 bytes, matrices and means."""
    rows = packing.columns * padded_tile(packing, tile)
    return rows + -rows % (16 // itemsize) + group * (packing.size + packing.dim)


def _bytes(packing: Packing, itemsize: int, tile: int, group: int, threads: int = 32, sums: int = 1) -> int:
    """Bytes of shared memory of a block, with all that it has beside `shared_reals`."""
    return 8 * sums * threads + 64 * sums + 1024 + itemsize * shared_reals(packing, itemsize, tile, group)


def layout(device: Device, problem: Problem, packing: Packing, n_sums: int, all_sets: bool = False) -> EllipticalLayout:
    """Layout of a kernel.

    Parameters
    ----------
    n_sums : int
        Sums for each set.
    all_sets : bool
        Whether a block goes through all sets, as that of a mixture does; few sets are one group.
    """
    if not all_sets:
        return _of_some_sets(device, problem, packing, n_sums)
    chosen = _of_some_sets(device, replace(problem, n_sets=min(problem.n_sets, 8)), packing, 1)
    n_sets = problem.n_sets if chosen.stage_factors else max(problem.n_sets, 16)
    return replace(chosen, sets=n_sets, vector=1, group=chosen.group if chosen.stage_factors else 16)


def _of_some_sets(device: Device, problem: Problem, packing: Packing, n_sums: int) -> EllipticalLayout:
    """Layout of a kernel whose blocks share the sets."""
    itemsize, dim = problem.itemsize, problem.dim
    if device.type == "cpu":
        threads = 64 // itemsize
        return EllipticalLayout(threads, min(problem.n_sets, 16), threads)
    sets = min(problem.n_sets, max(8 // max(n_sums, 1), 1))
    wide = 16 // itemsize  # neighbouring sets in one store, where they are neighbours in the result
    vector = wide if problem.aligned and not problem.by_rows and problem.set_multiple % wide == 0 and sets > 1 else 1
    threads, least = min(128, device.max_threads), device.warp if packing.products else 1

    def fits(threads: int, rows: int, group: int) -> bool:
        return _bytes(packing, itemsize, threads * rows, group, 128, n_sums * sets) <= device.shared_memory

    for rows, matrices in _IN_PRODUCTS if packing.products else _IN_SHARED_MEMORY:
        group = sets if matrices is None else matrices
        small = group * (packing.size + dim) <= max(dim * threads * rows, 24 * 1024 // itemsize) or group == 1
        if small and fits(threads, rows, group):
            break
    while threads > least and not fits(threads, rows, group):
        threads //= 2
    return EllipticalLayout(
        threads, sets, threads * rows, rows, vector, group=max(group, 1), copies=True, stage_factors=group > 0
    )
