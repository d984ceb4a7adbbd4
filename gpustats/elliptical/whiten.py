"""Whitening: covariance matrices become the inverses W of their factors, packed for kernels, and log determinants."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import PlacedArgument
from ..kernels.code import PER_SET, Operand
from ..kernels.layout import power_of_two
from ..kernels.template import Template
from ..linalg.providers import provider_of
from ..runtime import thresholds
from ..runtime.arrays import is_device_array, name_of
from .layout import Packing, packing

if TYPE_CHECKING:
    from ..evaluation.placement import Placement
    from ..runtime.base import Device
    from ..runtime.types import Array, Handle

#: The ways to give the covariance matrix.
SCALES = {
    "cov": "covariance matrix",
    "scale_tril": "lower-triangular Cholesky factor of the covariance matrix",
    "precision": "inverse of the covariance matrix",
}
#: Rows from which the device's linear algebra factors a matrix in less time than a block of the whiten kernel
LARGE_MATRIX = thresholds.ELLIPTICAL_LARGE_MATRIX.value
_DOUBLE = np.dtype(np.float64)
_WHITEN = Template.beside(__file__, "whiten")
_WHITEN_LARGE = Template.beside(__file__, "whiten_large")


class WhitenLayout(NamedTuple):
    """Constants of the whiten kernel.

    Attributes
    ----------
    threads, lanes : int
        Threads a block, and how many of them lie along a row of the matrix.
    single : bool
        Whether a row has no more entries than lanes.
    shared : int
        float64 numbers of shared memory that it works in; 0: it works in global memory.
    """

    threads: int
    lanes: int
    single: bool
    shared: int


@functools.lru_cache(1024)
def layout(device: Device, dim: int) -> WhitenLayout:
    """Layout of the whiten kernel."""
    if device.type == "cpu":
        return WhitenLayout(32, 32, False, 0)
    lanes = min(max(power_of_two(dim), 32), 128, device.max_threads)
    threads = min(8 * lanes, power_of_two(device.max_threads + 1) // 2)
    numbers = 2 * dim * (dim | 1)
    fits = 8 * (numbers + 2 * threads) <= device.shared_memory
    return WhitenLayout(threads, lanes, dim <= lanes, numbers * fits)


class _Matrices(NamedTuple):
    """Matrices on a device, and the memory for their factors."""

    placement: Placement
    scale: str  # which of `SCALES` they are
    number_type: str  # in C
    handle: Handle
    offset: int  # in numbers
    n: int
    factors: Handle  # the packed W; the log determinants lie behind them
    packing: Packing

    @property
    def dim(self) -> int:
        return self.placement.dim

    @property
    def size(self) -> int:
        """Numbers of a packed W."""
        return self.packing.size


def whiten(
    placement: Placement, scale: str, matrix: Array, place: tuple[Handle, int, int]
) -> tuple[PlacedArgument, PlacedArgument]:
    """Start the factorisation of all matrices: the packed W and their log determinants, as kernels take them.

    Parameters
    ----------
    scale : str
        Name out of `SCALES` of the matrices.
    matrix : array
        As the user gave them.
    place : tuple
        Place on the device: a handle, the offset behind it in numbers, the numbers between one set's matrix and the next's.
    """
    runtime, dim, dtype = placement.runtime, placement.dim, placement.dtype
    handle, offset, stride = place
    n = placement.pattern.n_sets if stride else 1
    packed = packing(runtime.device, dtype.itemsize, dim)
    size = packed.size
    single = is_device_array(matrix) and matrix.dtype.itemsize == 4
    factors = runtime.scratch(n * (size + 1) * dtype.itemsize)
    matrices = _Matrices(placement, scale, "float" if single else "double", handle, offset, n, factors, packed)
    # A GPU's blocks work on several matrices at a time.
    large = dim >= LARGE_MATRIX and (n == 1 or runtime.device.type == "cpu")
    placement.alive += [*(_by_linear_algebra if large else _by_blocks)(matrices), factors]
    return (
        PlacedArgument(Operand("factors", PER_SET, 1), (factors, 0, size if stride else 0)),
        PlacedArgument(Operand("logdet", PER_SET), (factors, n * size, 1 if stride else 0)),
    )


def _by_blocks(m: _Matrices) -> list[Handle]:
    """Factorisation by a block of the whiten kernel for each matrix. Returns objects to keep until the kernels are done."""
    runtime = m.placement.runtime
    chosen = layout(runtime.device, m.dim)
    kernel = _WHITEN.kernel(
        runtime, "whiten", chosen.threads, 8 * chosen.shared, dtype=name_of(m.placement.dtype), kind=m.scale,
        width=m.packing.width, products=m.packing.products, matrix_type=m.number_type, **chosen._asdict(),
    )  # fmt: skip
    work = m.factors if chosen.shared else runtime.scratch(m.n * 2 * m.dim * (m.dim | 1) * 8)
    kernel((m.n, 1), m.factors, 0, m.factors, m.n * m.size, work, m.handle, m.offset, m.dim, m.size)
    return [work]


def _by_linear_algebra(m: _Matrices) -> list[Handle]:
    """Factorisation by the device's linear algebra, between a kernel that takes the matrices and one that packs the results."""
    runtime, provider = m.placement.runtime, provider_of(m.placement.runtime)
    work = provider.empty(m.dim, m.dim, _DOUBLE, m.n)
    constants: dict[str, Any] = dict(
        dtype=m.placement.dtype.name, kind=m.scale, matrix_type=m.number_type, width=m.packing.width,
        products=m.packing.products, mirror=m.scale != "scale_tril" and provider.reads_above(work) == "mirror",
        threads=layout(runtime.device, m.dim).threads,
    )  # fmt: skip
    threads = constants["threads"]
    blocks = min(-(-m.dim * m.dim // threads), runtime.device.compute_units * 8)
    take = _WHITEN_LARGE.kernel(runtime, "whiten_take", threads, **constants)
    take((m.n, blocks), work.handle, work.offset, m.handle, m.offset, m.dim)
    if provider.on_host:
        runtime.synchronize()
    failed = provider.factor(work) if m.scale != "scale_tril" else runtime.zeroed_counters(m.n)
    if m.scale != "precision":
        provider.invert(work)
    handle, offset = (failed, 0) if m.scale == "scale_tril" else runtime.memory(failed)
    pack = _WHITEN_LARGE.kernel(runtime, "whiten_pack", threads, **constants)
    sizes = (m.dim, m.size)
    pack((m.n, 1), m.factors, 0, m.factors, m.n * m.size, work.handle, work.offset, handle, offset, *sizes)
    return [work, failed, handle]
