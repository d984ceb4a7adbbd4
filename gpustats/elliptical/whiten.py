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
    from ..runtime.base import Device, Kernel, Runtime
    from ..runtime.types import Array, DType, Handle

#: The ways to give the covariance matrix.
SCALES = {
    "cov": "covariance matrix",
    "scale_tril": "lower-triangular Cholesky factor of the covariance matrix",
    "precision": "inverse of the covariance matrix",
}
#: Rows from which the device's linear algebra factors a matrix in less time than a block of the whiten kernel
LARGE_MATRIX = thresholds.ELLIPTICAL_LARGE_MATRIX.value
#: What kernels take of the matrices.
FACTORS, LOGDET = Operand("factors", PER_SET, 1), Operand("logdet", PER_SET)
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


class Blocks(NamedTuple):
    """Factorisation by the whiten kernel, a block of it for each matrix.

    Attributes
    ----------
    runtime : Runtime
    kernel : Kernel
    n, dim : int
        How many matrices there are, and their rows.
    size : int
        Numbers of a packed W.
    work : int
        Bytes of memory that it works in; 0: it works in shared memory.
    """

    runtime: Runtime
    kernel: Kernel
    n: int
    dim: int
    size: int
    work: int

    def start(self, factors: Handle, handle: Handle, offset: int) -> None:
        """Start it for the matrices at a handle and an offset."""
        work = self.runtime.scratch(self.work) if self.work else factors
        self.kernel((self.n, 1), factors, 0, factors, self.n * self.size, work, handle, offset, self.dim, self.size)


class Matrices(NamedTuple):
    """Matrices of one kind of calls, whose factors take memory of one size: the packed W, the log determinants behind them.

    Attributes
    ----------
    dtype : dtype
        Type of the factors.
    scale : str
        Name out of `SCALES` of the matrices.
    number_type : str
        Type of their numbers in C.
    n : int
        How many there are.
    several : bool
        Whether each set has its own.
    """

    runtime: Runtime
    dtype: DType
    scale: str
    number_type: str
    dim: int
    n: int
    several: bool
    packing: Packing

    @classmethod
    def of(cls, placement: Placement, scale: str, read: DType, stride: int) -> Matrices:
        """Matrices of a placement, of the type `read`; `stride` is the distance of one set's from the next's."""
        runtime, dtype, dim = placement.runtime, placement.dtype, placement.dim
        packed = packing(runtime.device, dtype.itemsize, dim)
        n = placement.pattern.n_sets if stride else 1
        return cls(runtime, dtype, scale, "float" if read.itemsize == 4 else "double", dim, n, stride > 0, packed)

    @property
    def nbytes(self) -> int:
        """Bytes of their factors."""
        return self.n * (self.packing.size + 1) * self.dtype.itemsize

    @property
    def large(self) -> bool:
        """True if linear algebra factors them. A GPU's blocks work on several matrices at a time."""
        return self.dim >= LARGE_MATRIX and (self.n == 1 or self.runtime.device.type == "cpu")

    def factors_at(self, factors: Handle) -> tuple[tuple[Handle, int, int], tuple[Handle, int, int]]:
        """Places of the packed W and of the log determinants, as kernels take them."""
        size, several = self.packing.size, self.several
        return (factors, 0, size if several else 0), (factors, self.n * size, 1 if several else 0)

    def blocks(self) -> Blocks:
        """Factorisation by a block for each."""
        runtime, chosen = self.runtime, layout(self.runtime.device, self.dim)
        kernel = _WHITEN.kernel(
            runtime, "whiten", chosen.threads, 8 * chosen.shared, dtype=name_of(self.dtype), kind=self.scale,
            width=self.packing.width, products=self.packing.products, matrix_type=self.number_type, **chosen._asdict(),
        )  # fmt: skip
        work = 0 if chosen.shared else self.n * 2 * self.dim * (self.dim | 1) * 8
        return Blocks(runtime, kernel, self.n, self.dim, self.packing.size, work)


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
    handle, offset, stride = place
    read = np.dtype(matrix.dtype) if is_device_array(matrix) else _DOUBLE
    matrices = Matrices.of(placement, scale, read, stride)
    factors = placement.runtime.scratch(matrices.nbytes)
    placement.alive.append(factors)
    if matrices.large:
        placement.alive += _by_linear_algebra(matrices, factors, handle, offset)
    else:
        matrices.blocks().start(factors, handle, offset)
    packed, logdets = matrices.factors_at(factors)
    return PlacedArgument(FACTORS, packed), PlacedArgument(LOGDET, logdets)


def _by_linear_algebra(m: Matrices, factors: Handle, handle: Handle, offset: int) -> list[Handle]:
    """Factorisation by the device's linear algebra, between a kernel that takes the matrices and one that packs the results.

    Returns objects to keep until the kernels are done.
    """
    runtime, provider = m.runtime, provider_of(m.runtime)
    work = provider.empty(m.dim, m.dim, _DOUBLE, m.n)
    constants: dict[str, Any] = dict(
        dtype=m.dtype.name, kind=m.scale, matrix_type=m.number_type, width=m.packing.width, products=m.packing.products,
        mirror=m.scale != "scale_tril" and provider.reads_above(work) == "mirror",
        threads=layout(runtime.device, m.dim).threads,
    )  # fmt: skip
    threads = constants["threads"]
    blocks = min(-(-m.dim * m.dim // threads), runtime.device.compute_units * 8)
    take = _WHITEN_LARGE.kernel(runtime, "whiten_take", threads, **constants)
    take((m.n, blocks), work.handle, work.offset, handle, offset, m.dim)
    if provider.on_host:
        runtime.synchronize()
    failed = provider.factor(work) if m.scale != "scale_tril" else runtime.zeroed_counters(m.n)
    if m.scale != "precision":
        provider.invert(work)
    counts, start = (failed, 0) if m.scale == "scale_tril" else runtime.memory(failed)
    pack = _WHITEN_LARGE.kernel(runtime, "whiten_pack", threads, **constants)
    size = m.packing.size
    pack((m.n, 1), factors, 0, factors, m.n * size, work.handle, work.offset, counts, start, m.dim, size)
    return [work, failed, counts]
