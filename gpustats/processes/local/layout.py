"""Layouts of the kernels of local Gaussian processes on a device.

Each layout function takes the constants to use instead of those that it would choose: tests try others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ...kernels.layout import power_of_two
from ...runtime import thresholds
from ...runtime.base import Device, Runtime

RESERVED_BYTES = 1024  # of shared memory, which CUDA takes for each block


def blocks_within(runtime: Runtime, wanted: int, most: int, nbytes: int) -> int:
    """Number of blocks, at most `wanted` and `most`, that find `nbytes` of scratch each in memory; at least one."""
    free = runtime.free_memory() or runtime.device.memory // 2
    return max(min(wanted, most, free // 2 // max(nbytes, 1)), 1)


def blocks_in_shared(device: Device, nbytes: int, most: int) -> int:
    """Number of blocks, at most `most`, whose bytes of shared memory a multiprocessor has room for at a time; at least one."""
    return max(min((device.shared_memory + RESERVED_BYTES) // (nbytes + RESERVED_BYTES), most), 1)


# ---- designs

#: Threads of a GPU's block for up to so many candidates, which are no more than 6 for a thread; beyond the last: 384.
_DESIGN_THREADS = thresholds.PROCESSES_DESIGN_THREADS.value


@dataclass(frozen=True)
class DesignLayout:
    """Constants of the search for designs: a block has a location at a time, its threads the candidates."""

    threads: int  # threads a block
    unroll: int  # candidates that a thread works on at once
    near_state: bool  # whether the candidates' conditional variances and covariances lie in shared memory
    # rows of the Cholesky factor that are kept in float64 where the others, and coordinates, are float32; 0: all are float64
    wide: int
    near_wide: bool  # whether these lie in shared memory
    # other rows of the candidates' numbers that lie there: first the coordinates, then the rows of the Cholesky factor
    near: int
    end: int  # the most points of a design
    own: int  # numbers of shared memory for the point that was chosen last and, with derivatives, for all points
    shared: int  # numbers of shared memory in all
    # sizes of a launch, not of the kernel: places for candidates, in whole rounds of the threads; numbers in global memory
    # that each block has; blocks that are resident on the device
    width: int = field(compare=False, repr=False)
    scratch: int = field(compare=False, repr=False)
    blocks: int = field(compare=False, repr=False)


def _design_block(device: Device, n_candidates: int, mspe: bool, threads: int) -> tuple[int, int, int]:
    """Number of threads, of candidates that a thread works on at once, and of blocks of a multiprocessor."""
    if device.type == "cpu":
        return threads or 8, 4, 1
    usual = next((t for most, t in _DESIGN_THREADS.items() if n_candidates <= most), 384)
    threads = min(threads or usual, device.max_threads)
    resident = 512 if mspe else 768  # threads of a multiprocessor, by the registers that they need
    return threads, 2 if mspe else 4, max(resident // threads, 1)


def wide_rows(dim: int) -> int:
    """Number of rows of the factor, those of large numbers, that stay in float64 where the others are float32.

    The more columns, the more slowly points make variances, and with them the numbers of further rows, small. Measured: with
    nuggets of 1e-4 and 1e-5 of 1,000 designs no more than one is another one, of 2 to 8 columns.
    """
    return 12 if dim <= 4 else 8 if dim <= 6 else 4


def is_narrow_faster(device: Device, n_candidates: int, end: int) -> bool:
    """True if the bytes of the candidates' rows bound the search: on a GPU, or beyond a CPU's cache."""
    return device.type != "cpu" or 8 * n_candidates * end > 1 << 21


def design_layout(
    device: Device, dim: int, n_candidates: int, end: int, mspe: bool = False, references: int = 0,
    narrow: bool = False, threads: int = 0, unroll: int = 0, per_unit: int = 0,
) -> DesignLayout:  # fmt: skip
    """Layout of the search for designs of `end` points.

    Parameters
    ----------
    mspe : bool
        Whether the criterion needs derivatives: each point of the design has two rows of the factor then.
    references : int
        Number of references of each location, if it has several: any number of them has the same kernel.
    narrow : bool
        Whether most rows are kept in float32.
    threads, unroll, per_unit : int
        Another choice of threads, candidates of a thread, and blocks of a multiprocessor than the usual one.
    """
    # Numbers of a candidate beside its rows, and rows for each point.
    states, each = (1 + references, 1) if references else (6, 2) if mspe else (2, 1)
    most = -(-end // 16) * 16  # designs of about the same size have the same kernel
    own = dim + each * most + 8 * most * mspe
    own += own % 2
    threads, usual_unroll, usual_per_unit = _design_block(device, n_candidates, mspe, threads)
    unroll, per_unit = unroll or usual_unroll, per_unit or usual_per_unit
    cpu = device.type == "cpu"
    width = -(-n_candidates // threads) * threads
    # Rows that begin in the same set of a cache would push one another out.
    width += threads * (cpu and (4 if narrow else 8) * width % 4096 == 0)
    fixed = own + 2 * (threads + min(threads, 32))  # the latter to find the best candidate
    wide = wide_rows(dim) if narrow else 0
    rows, near, near_state, near_wide = max(dim + each * (end - 1) - wide, dim), 0, False, False
    size = 2 if narrow else 1  # rows in the room of one in float64
    if not cpu:
        # A block's share of a multiprocessor's shared memory, which is about what one block may have of it.
        budget = min(max((device.shared_memory + RESERVED_BYTES) // per_unit - RESERVED_BYTES, 16384), device.shared_memory)
        fitting = (budget // 8 - fixed) // width
        near_state = fitting >= states and not references
        fitting = fitting - states if not references else fitting
        near_wide = narrow and fitting >= wide
        near = max(min(size * (fitting - wide * near_wide), rows), 0)
        near -= (near - dim) % each if near > dim else 0  # no point's rows lie in both memories
    in_shared = states * near_state + wide * near_wide
    in_scratch = states * (not near_state) + wide * (not near_wide)
    return DesignLayout(
        threads, unroll, near_state, wide, near_wide, near, most, own,
        shared=fixed + in_shared * width + -(-near * width // size), width=width,
        scratch=in_scratch * width + -(-(rows - near) * width // size) + (3 * end + dim) * end * mspe + references,
        blocks=device.compute_units * per_unit,
    )  # fmt: skip


@dataclass(frozen=True)
class ClusterLayout:
    """Constants of the search for designs by clusters of blocks: a cluster has a location, its threads a candidate each."""

    # threads a block, and blocks of a cluster
    threads: int
    parts: int
    # numbers of a candidate's row of the Cholesky factor that are kept in registers, in float64, where the others are
    # float32; 0: all are float64 and lie in shared memory
    wide: int
    # numbers that a thread reads at once, and how many times so many there are of a candidate in shared memory
    chunk: int
    chunks: int
    # numbers that a block tells of a candidate before the candidate's row of the factor, and in all
    before: int
    told: int
    shared: int  # numbers of shared memory


#: Registers of a multiprocessor, and the most of a thread, of all devices with clusters.
_REGISTERS, _MOST_REGISTERS = 1 << 16, 255


def cluster_layout(
    device: Device, dim: int, n_candidates: int, end: int, narrow: bool = False, parts: int = 0
) -> ClusterLayout | None:
    """Layout of the search for designs of `end` points by clusters; None where no cluster has room for all numbers.

    Measured on an NVIDIA H200: blocks as few as can be are the fastest, or nearly. Of other numbers of them than these, fewer
    clusters find room at a time.

    Parameters
    ----------
    narrow : bool
        Whether most of the factor is kept in float32.
    parts : int
        Another choice of the blocks of a cluster than the usual one.
    """
    if device.cluster == 1:
        return None
    wide, chunk = (wide_rows(dim), 4) if narrow else (0, 2)
    chunks = max(-(-(end - 1 - wide) // chunk), 1)
    before = 4 + dim + dim % 2
    told = before + wide + chunks * chunk
    registers = 44 + dim * (3 if narrow else 4) // 2 + 2 * wide  # of a thread, about: floats are there twice, some of them
    for blocks in (parts,) if parts else (1, 2, 4, 8):
        threads = -(-n_candidates // (32 * blocks)) * 32
        shared = 2 * blocks * told + 2 * threads * chunks  # chunks of 16 bytes
        fits = registers <= _MOST_REGISTERS and threads * registers <= _REGISTERS
        if fits and threads <= device.max_threads and 8 * shared + RESERVED_BYTES <= device.shared_memory:
            return ClusterLayout(threads, blocks, wide, chunk, chunks, before, told, shared)
    return None


@dataclass(frozen=True)
class RayLayout:
    """Constants of the search along rays: a block has a location at a time."""

    threads: int  # threads a block
    trials: int  # points that are looked at together, on all rays
    end: int  # the most points of a design
    in_shared: bool  # whether the factor, and its rows of all trials, lie in shared memory
    # numbers of these, and of all else in shared memory
    matrices: int
    beside: int
    # sizes of a launch, not of the kernel: places for candidates; numbers in global memory that each block has; blocks that
    # are resident on the device
    width: int = field(compare=False, repr=False)
    scratch: int = field(compare=False, repr=False)
    blocks: int = field(compare=False, repr=False)

    @property
    def shared(self) -> int:
        """Size of shared memory, in numbers."""
        return self.beside + self.matrices * self.in_shared


def ray_layout(device: Device, dim: int, n_candidates: int, end: int, rays: int, threads: int = 0) -> RayLayout:
    """Layout of the search along `rays` for designs of `end` points; `threads` to try others than usual."""
    cpu, trials, most = device.type == "cpu", 8 * rays, -(-end // 16) * 16
    threads = threads or (8 if cpu else min(max(-(-trials // 32) * 32, 64), 256, device.max_threads))
    matrices = most * (most + 1) // 2 + most * trials
    beside = (dim + 4) * most + 2 + (3 + 2 * rays) * dim + rays + trials + max(trials, threads) + trials + threads
    beside += beside % 2
    in_shared = 8 * (beside + matrices) <= device.shared_memory
    width = -(-n_candidates // 32) * 32
    per_unit = 1 if cpu else blocks_in_shared(device, 8 * (beside + matrices * in_shared), 16)
    return RayLayout(
        threads, trials, most, in_shared, matrices, beside, width, scratch=matrices * (not in_shared) + -(-dim * width // 2),
        blocks=device.compute_units * per_unit,
    )  # fmt: skip


# ---- estimates


@dataclass(frozen=True)
class FitProblem:
    """Problem of the local_fit kernel: the sizes, and the parameters to estimate."""

    # points of a design, and columns of X
    n: int
    p: int
    separable: bool = False  # whether there is a lengthscale for each column
    # whether lengthscales and the nugget are estimated
    estimate_d: bool = True
    estimate_g: bool = False

    #: The search ends where no derivative in a logarithm is larger, but for those that point beyond a bound; or where a step
    #: changes the objective by no more than rounding does.
    TOLERANCE: ClassVar[float] = 1e-6
    MOST_EVALUATIONS: ClassVar[int] = 100

    @property
    def lengthscales(self) -> int:
        return self.p if self.separable else 1

    @property
    def estimated(self) -> int:
        """Number of parameters that are estimated for each location."""
        return self.lengthscales * self.estimate_d + self.estimate_g


@dataclass(frozen=True)
class FitLayout:
    """Constants of the local_fit kernel: a block has a location at a time, its threads the entries of a matrix."""

    # threads a block, and how many of them lie side by side along a row of the matrix
    threads: int
    lanes: int
    in_shared: bool  # whether the matrix lies in shared memory
    matrix: int  # numbers of the matrix
    shared: int  # numbers of shared memory
    # blocks that are resident on the device; the kernel is the same for all numbers of them
    blocks: int = field(compare=False, repr=False)

    @property
    def work(self) -> int:
        """Size of each block's work in global memory, in numbers."""
        return 0 if self.in_shared else self.matrix


def fit_layout(device: Device, problem: FitProblem, threads: int = 0, lanes: int = 0, per_unit: int = 0) -> FitLayout:
    """Layout of the local_fit kernel; `threads`, `lanes` and blocks `per_unit` of a multiprocessor to try others than usual."""
    cpu = device.type == "cpu"
    lanes = lanes or (8 if cpu else 16)
    threads = threads or (8 if cpu else 64 if problem.n <= 64 else 128)
    rows, estimated = problem.n + 2, problem.estimated
    padded = -(-rows // lanes) * lanes
    matrix = sum(i // lanes * lanes + lanes for i in range(rows))
    beside = (3 + problem.p) * padded + (estimated + 1) * threads + 2 * problem.lengthscales + 1 + (8 + estimated) * estimated
    in_shared = 8 * (matrix + beside) <= device.shared_memory
    shared = beside + matrix * in_shared
    if not per_unit:
        per_unit = 4 if cpu else blocks_in_shared(device, 8 * shared, min(2048 // threads, 32))
    return FitLayout(threads, lanes, in_shared, matrix, shared, device.compute_units * per_unit)


# ---- joint predictions


@dataclass(frozen=True)
class JointLayout:
    """Constants of the local_joint kernel: a block has a set of references at a time, its threads the rows of matrices."""

    threads: int  # threads a block
    in_shared: bool  # whether the factor of the design's matrix lies in shared memory
    shared: int  # numbers of shared memory
    # blocks that are resident on the device; the kernel is the same for all numbers of them
    blocks: int = field(compare=False, repr=False)

    def scratch(self, n: int, references: int) -> int:
        """Size of each block's scratch in global memory, in numbers: the references' rows, and a factor that is not shared."""
        return n * references + n * (n + 1) * (not self.in_shared)


def joint_layout(device: Device, n: int, p: int) -> JointLayout:
    """Layout of the local_joint kernel for designs of n points."""
    cpu = device.type == "cpu"
    beside, factor = p * n, n * (n + 1)
    in_shared = 8 * (beside + factor) <= device.shared_memory
    shared = beside + factor * in_shared
    per_unit = 1 if cpu else blocks_in_shared(device, 8 * shared, 8)
    return JointLayout(8 if cpu else 128, in_shared, shared, device.compute_units * per_unit)


# ---- nearest points


@dataclass(frozen=True)
class NearestLayout:
    """Constants of the search for nearest points."""

    threads: int  # threads a block
    locations: int  # locations that a block has at a time
    unroll: int  # points that a thread has in registers
    # histograms of a block: one for each of a few threads that are the lanes of a vector register, or one for all
    copies: int
    # blocks that are resident on the device; the kernel is the same for all numbers of them
    blocks: int = field(compare=False, repr=False)

    def scratch(self, capacity: int, start: int) -> int:
        """Size of each block's scratch in global memory, in words of 8 bytes, for `capacity` points of each location."""
        points = self.locations * capacity + start
        return points + -(-points // 2)


def nearest_layout(
    device: Device, dim: int, n_locations: int, threads: int = 0, locations: int = 0, unroll: int = 0, per_unit: int = 0
) -> NearestLayout:
    """Layout of the search for nearest points; the last four arguments try others than usual."""
    cpu = device.type == "cpu"
    blocks = device.compute_units * (per_unit or (1 if cpu else 4))

    def time(locations: int) -> int:
        """Time of the block with most to do: to read the points costs as much as 4 locations."""
        return -(-n_locations // (locations * blocks)) * (locations + 4)

    locations = locations or min((1, 8) if cpu else (1, 4, 8, 16, 24, 32), key=time)
    if cpu:
        return NearestLayout(8, locations, unroll or 4, 8, blocks)
    threads = min(threads or 256, power_of_two(device.max_threads + 1) // 2)
    return NearestLayout(threads, locations, unroll or (2 if dim <= 10 else 1), 1, blocks)
