"""How the kernels of local Gaussian processes are laid out on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...kernels.layout import power_of_two

if TYPE_CHECKING:
    from ...runtime.base import Device, Runtime
    from .fit import Shape

RESERVED = 1024  # bytes of shared memory that CUDA takes of each block's


@dataclass(frozen=True)
class DesignLayout:
    """The constants of the search for designs: a block has a location at a time, its threads the candidates.

    Attributes
    ----------
    threads : int
        Threads a block.
    unroll : int
        Candidates that a thread works on at once.
    width : int
        Places for candidates, in whole rounds of the threads.
    near_state : bool
        Whether the candidates' conditional variances and covariances lie in shared memory.
    near : int
        Rows of the candidates' numbers that lie there: first the coordinates, then the rows of the Cholesky factor.
    end : int
        The most points of a design.
    own : int
        Numbers of shared memory for the point that was chosen last and, with derivatives, for all points.
    scratch : int
        Numbers in global memory that each block has.
    shared : int
        Numbers of shared memory in all.
    blocks : int
        Blocks that are resident on the device.
    """

    threads: int
    unroll: int
    width: int
    near_state: bool
    near: int
    end: int
    own: int
    scratch: int
    shared: int
    blocks: int


def bests(threads: int) -> int:
    """Numbers of shared memory in which a block finds the best candidate."""
    return 2 * (threads + min(threads, 32))


def design(
    device: Device, dim: int, n_candidates: int, end: int, mspe: bool = False, threads: int = 0, unroll: int = 0,
    per_unit: int = 0,
) -> DesignLayout:  # fmt: skip
    """Layout of the search for designs of `end` points.

    Parameters
    ----------
    mspe : bool
        Whether the criterion needs derivatives: each point of the design has two rows of the factor then.
    threads, unroll, per_unit : int
        Another choice of threads, candidates of a thread, and blocks of a multiprocessor than the usual one.
    """
    states, each = (6, 2) if mspe else (2, 1)  # numbers of a candidate beside its rows, and rows for each point
    most = -(-end // 16) * 16  # designs of about the same size have the same kernel
    own = dim + each * most + 8 * most * mspe
    own += own % 2
    cpu = device.type == "cpu"
    if cpu:
        threads, unroll, per_unit = threads or 8, unroll or 4, per_unit or 1
    else:
        threads = min(threads or next((t for t in (64, 128, 256) if n_candidates <= 6 * t), 384), device.max_threads)
        unroll, per_unit = unroll or (2 if mspe else 4), per_unit or max((512 if mspe else 768) // threads, 1)  # by registers
    width = -(-n_candidates // threads) * threads
    width += threads * (cpu and 8 * width % 4096 == 0)  # rows that begin in the same set of a cache would push one another out
    fixed = own + bests(threads)
    rows, near, near_state = dim + each * (end - 1), 0, False
    if not cpu:
        # A block's share of a multiprocessor's shared memory, which is about what one block may have of it.
        budget = min(max((device.shared_memory + RESERVED) // per_unit - RESERVED, 16384), device.shared_memory)
        fit = (budget // 8 - fixed) // width
        near_state = fit >= states
        near = max(min(fit - states, rows), 0)
        near -= (near - dim) % each if near > dim else 0  # no point's rows lie in both memories
    far = (rows - near + states * (not near_state)) * width + (3 * end + dim) * end * mspe
    shared = fixed + (near + states * near_state) * width
    blocks = device.compute_units * per_unit
    return DesignLayout(threads, unroll, width, near_state, near, most, own, far, shared, blocks)


def blocks_within(runtime: Runtime, wanted: int, most: int, nbytes: int) -> int:
    """How many blocks of `wanted`, of which no more than `most` have work, find `nbytes` of scratch each: at least one."""
    free = runtime.free_memory() or runtime.device.memory // 2
    return max(min(wanted, most, free // 2 // max(nbytes, 1)), 1)


@dataclass(frozen=True)
class FitLayout:
    """The constants of the local_fit kernel: a block has a location at a time, its threads the entries of a matrix.

    Attributes
    ----------
    threads, lanes : int
        Threads a block, and how many of them lie side by side along a row of the matrix.
    in_shared : bool
        Whether the matrix lies in shared memory.
    matrix : int
        Numbers of the matrix.
    shared : int
        Numbers of shared memory.
    blocks : int
        Blocks that are resident on the device.
    """

    threads: int
    lanes: int
    in_shared: bool
    matrix: int
    shared: int
    blocks: int

    @property
    def work(self) -> int:
        """Numbers in global memory that each block has."""
        return 0 if self.in_shared else self.matrix


def fit(device: Device, shape: Shape, threads: int = 0, lanes: int = 0, per_unit: int = 0) -> FitLayout:
    """Layout of the local_fit kernel; `threads`, `lanes` and blocks `per_unit` to try others than chosen."""
    cpu = device.type == "cpu"
    lanes = lanes or (8 if cpu else 16)
    threads = threads or (8 if cpu else 64 if shape.n <= 64 else 128)
    rows, estimated = shape.n + 2, shape.estimated
    padded = -(-rows // lanes) * lanes
    matrix = sum(i // lanes * lanes + lanes for i in range(rows))
    beside = (3 + shape.p) * padded + (estimated + 1) * threads + 2 * shape.lengthscales + 1 + (6 + estimated) * estimated
    in_shared = 8 * (matrix + beside) <= device.shared_memory
    shared = beside + matrix * in_shared
    if not per_unit:
        fitting = (device.shared_memory + RESERVED) // (8 * shared + RESERVED)
        per_unit = 4 if cpu else max(min(fitting, 2048 // threads, 32), 1)
    return FitLayout(threads, lanes, in_shared, matrix, shared, device.compute_units * per_unit)


@dataclass(frozen=True)
class NearestLayout:
    """The constants of the search for nearest points.

    Attributes
    ----------
    threads : int
        Threads a block.
    locations : int
        Locations that a block has at a time.
    unroll : int
        Points that a thread has in registers.
    copies : int
        Histograms of a block: one for each of a few threads that are the lanes of a vector register, or one for all.
    blocks : int
        Blocks that are resident on the device.
    """

    threads: int
    locations: int
    unroll: int
    copies: int
    blocks: int

    def scratch(self, capacity: int, start: int) -> int:
        """Words of 8 bytes in global memory that each block has, for `capacity` points of each location."""
        points = self.locations * capacity + start
        return points + -(-points // 2)


def nearest(
    device: Device, dim: int, n_locations: int, threads: int = 0, locations: int = 0, unroll: int = 0, per_unit: int = 0
) -> NearestLayout:
    """Layout of the search for nearest points; the last four to try others than chosen."""
    cpu = device.type == "cpu"
    blocks = device.compute_units * (per_unit or (1 if cpu else 4))

    def time(locations: int) -> int:
        """That of the block with most to do: what it reads of the points costs it as much as 4 locations do."""
        return -(-n_locations // (locations * blocks)) * (locations + 4)

    locations = locations or min((1, 8) if cpu else (1, 4, 8, 16, 24, 32), key=time)
    if cpu:
        return NearestLayout(8, locations, unroll or 4, 8, blocks)
    threads = min(threads or 256, power_of_two(device.max_threads + 1) // 2)
    return NearestLayout(threads, locations, unroll or (2 if dim <= 10 else 1), 1, blocks)
