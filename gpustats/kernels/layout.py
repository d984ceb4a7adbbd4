"""How a kernel is laid out on a device: chosen from the device's properties and the function's cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .separate import ROW, SET

if TYPE_CHECKING:
    from ..runtime.base import Device
    from .code import KernelCode


@dataclass(frozen=True)
class Layout:
    """The constants that a template is rendered with.

    Attributes
    ----------
    threads : int
        Threads a block.
    sets : int
        Parameter sets a block.
    tile : int
        Rows that a block takes at once.
    unroll : int
        Independent rows that a thread has in flight.
    vector : int
        Numbers in one wide load or store.
    by_rows : bool
        Whether neighbouring threads take neighbouring rows (else neighbouring sets).
    chunk : int
        Sets that a thread writes in one store, where it goes through the sets of a row.
    group : int
        Sets whose matrices are in shared memory at once.
    stage_rows : bool
        Whether what depends on a row alone is kept in shared memory.
    stage_vectors : int
        Numbers of the shared tile of vector observations; 0: they are read where they lie.
    resident : int
        Threads of a multiprocessor that a launch is sized for.
    """

    threads: int
    sets: int = 1
    tile: int = 1
    unroll: int = 1
    vector: int = 1
    by_rows: bool = False
    chunk: int = 1
    group: int = 1
    stage_rows: bool = False
    stage_vectors: int = 0
    resident: int = 2048


@dataclass(frozen=True)
class Problem:
    """What a layout is chosen for; `aligned`: every array of it allows 16-byte accesses."""

    itemsize: int
    n_sets: int
    set_multiple: int = 1  # a power of two up to 8 that divides the number of sets
    by_rows: bool = False
    aligned: bool = False
    dim: int = 0  # length of vector observations, 0 where they are scalars


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()


def _stage_vectors(device: Device, code: KernelCode, problem: Problem, rows: int) -> tuple[int, int]:
    """(rows a tile, numbers in shared memory) for vector observations; 0 numbers where they do not fit."""
    if not problem.dim or device.type == "cpu" or not code.can_stage_vectors:
        return rows, 0
    budget = min(device.shared_memory, 48 * 1024) // 2 // problem.itemsize
    rows = min(rows, budget // (problem.dim | 1))
    return (rows, rows * (problem.dim | 1)) if rows >= device.warp else (256, 0)


def table(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of the table shape."""
    if device.type == "cpu":  # threads are the lanes of vector registers: a small block is one register
        threads = 64 // problem.itemsize
        sets = 1 if problem.by_rows else min(power_of_two(problem.n_sets), 64)
        chunk = next(c for c in (8, 4, 2, 1) if sets % c == 0 and problem.set_multiple % c == 0)
        return Layout(threads, sets, 512, 512 // threads, by_rows=True, chunk=chunk)
    threads = min(256, device.max_threads)
    wide = 16 // problem.itemsize if problem.aligned else 1
    if problem.by_rows:
        unroll = 1 if code.mixed_cost > 60 else 2
        if problem.dim or any(o.rank for o in code.row_operands):
            wide = 1
        return Layout(threads, 1, threads * wide * unroll, unroll, wide, by_rows=True)
    heavy = code.struct_bytes(SET, problem.itemsize) * wide > 128  # too many registers for several sets a thread
    vector = wide if problem.set_multiple % wide == 0 and not heavy else 1
    threads = min(128, device.max_threads)
    sets = min(power_of_two(problem.n_sets), threads, 32 * vector)
    struct = code.struct_bytes(ROW, problem.itemsize) if code.row_type else 0
    budget = min(device.shared_memory, 48 * 1024) - sets * code.struct_bytes(SET, problem.itemsize) - 256
    if problem.dim:
        tile, numbers = _stage_vectors(device, code, problem, 256)
    else:
        tile, numbers = max((t for t in (1024, 512, 256) if t * struct <= budget), default=128), 0
    stage_rows = 0 < tile * struct <= budget - numbers * problem.itemsize
    # A block for each tile writes fastest, unless the parameter-only work of every block costs more than that.
    resident = 2048 if code.set_cost > 60 else 1 << 30
    return Layout(
        threads, sets, tile, 1, vector, stage_rows=stage_rows, stage_vectors=numbers, resident=resident
    )  # fmt: skip


def loglik(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of the loglik shape."""
    cpu = device.type == "cpu"
    sets = min(power_of_two(problem.n_sets), power_of_two(max(24 // code.n_sums, 1) + 1) // 2, 8)
    threads = min(64 if cpu else 256 if sets == 1 and not problem.dim else 128, device.max_threads)
    if problem.dim:
        tile, numbers = _stage_vectors(device, code, problem, threads)
        tile = threads if not numbers else tile
        threads = min(threads, power_of_two(tile + 1) // 2)
        return Layout(threads, sets, threads, stage_vectors=numbers)
    wide = 1 if cpu or not problem.aligned or any(o.rank for o in code.row_operands) else 16 // problem.itemsize
    light = code.mixed_cost < (60 if cpu else 20)
    unroll = 1 if sets > 1 else (8 if light and not code.rows else 2) if cpu else 8 if light and problem.itemsize == 8 else 4
    return Layout(threads, sets, threads * wide * unroll, unroll, wide, resident=1024)


def mixture(device: Device, code: KernelCode, problem: Problem) -> Layout:
    """Layout of the mixture shape: a block goes through all sets, a group at a time; few sets are one group."""
    n_sets, cpu = max(problem.n_sets, 16), device.type == "cpu"
    threads = 64 // problem.itemsize if cpu else min(128, device.max_threads)
    unroll = 1 if problem.dim else 4 if cpu or code.mixed_cost < 60 else 2
    tile, numbers = _stage_vectors(device, code, problem, threads) if problem.dim else (threads * unroll, 0)
    if problem.dim:
        threads = tile = min(threads, power_of_two(tile + 1) // 2)
    group = min(n_sets, 64)
    while group > 1 and group * code.struct_bytes(SET, problem.itemsize) > 8192:
        group //= 2
    return Layout(threads, n_sets, tile, unroll, group=group, stage_vectors=numbers, resident=1024)


def factor_width(device: Device) -> int:
    """Rows of W that a thread multiplies at a time: as many as its registers hold sums for."""
    return 8 if device.type == "cpu" else 16


def elliptical(device: Device, problem: Problem, factor_size: int, n_sums: int) -> tuple[Layout, bool]:
    """Layout of the elliptical kernels with `n_sums` sums a set, and whether they keep its matrices in shared memory."""
    itemsize, dim = problem.itemsize, problem.dim
    if device.type == "cpu":
        threads = 64 // itemsize
        return Layout(threads, min(problem.n_sets, 16), threads, 1), False
    sets = min(problem.n_sets, max(8 // max(n_sums, 1), 1))
    wide = 16 // itemsize  # neighbouring sets in one store, where they are neighbours in the result
    vector = wide if problem.aligned and not problem.by_rows and problem.set_multiple % wide == 0 and sets > 1 else 1
    matrix = (factor_size + dim) * itemsize
    threads = min(128, device.max_threads)
    fixed = 8 * n_sums * sets * threads + 64 * sets + 1024
    # Measured on an H200: two rows a thread, all sets' matrices at once while they are small beside the rows, else one.
    for rows, group in ((2, sets), (2, 1), (1, 1), (1, 0)):
        small = group * matrix <= dim * threads * rows * itemsize or group == 1
        if small and fixed + group * matrix + dim * (threads * rows + 1) * itemsize <= device.shared_memory:
            break
    while threads > 1 and fixed + group * matrix + dim * (threads * rows + 1) * itemsize > device.shared_memory:
        threads //= 2
    return Layout(threads, sets, threads * rows, rows, vector, group=max(group, 1)), group > 0


def elliptical_mixture(device: Device, problem: Problem, factor_size: int) -> tuple[Layout, bool]:
    """Layout of the mixture shape of elliptical densities, and whether it keeps a group's matrices in shared memory."""
    chosen, stage = elliptical(device, replace(problem, n_sets=min(problem.n_sets, 8)), factor_size, 1)
    n_sets = problem.n_sets if stage else max(problem.n_sets, 16)
    return replace(chosen, sets=n_sets, vector=1, group=chosen.group if stage else 16), stage


@dataclass(frozen=True)
class SoftmaxLayout(Layout):
    """The constants of the softmax kernel; `tile` is the rows that a block takes at once.

    Attributes
    ----------
    lanes : int
        Threads that share a row; a power of two.
    """

    lanes: int = 1


def softmax(device: Device, itemsize: int, n_columns: int) -> SoftmaxLayout:
    """Layout of the softmax kernel."""
    threads = 64 // itemsize if device.type == "cpu" else min(128, device.max_threads)
    lanes = 1 if device.type == "cpu" else min(power_of_two(n_columns), 32, threads)
    return SoftmaxLayout(threads, tile=threads // lanes, lanes=lanes)


@dataclass(frozen=True)
class WhitenLayout:
    """The constants of the whiten kernel.

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


def whiten(device: Device, dim: int) -> WhitenLayout:
    """Layout of the whiten kernel."""
    if device.type == "cpu":
        return WhitenLayout(32, 32, False, 0)
    lanes = min(max(power_of_two(dim), 32), 128, device.max_threads)
    threads = min(8 * lanes, power_of_two(device.max_threads + 1) // 2)
    fits = 8 * (2 * dim * dim + 2 * threads) <= device.shared_memory
    return WhitenLayout(threads, lanes, dim <= lanes, 2 * dim * dim * fits)


@dataclass(frozen=True)
class ScatterLayout(Layout):
    """The constants of the scatter kernel; `tile` is the rows that a block has in shared memory.

    Attributes
    ----------
    lanes : int
        Threads that share the rows of a pair of tiles of columns; a power of two.
    width : int
        Columns of a tile: a thread has width² sums in registers.
    columns, panels : int
        Columns of a panel of tiles, and how many panels there are.
    pairs : int
        Pairs of tiles that a block has: the upper half of them where there is but one panel.
    together : int
        Sums of a thread that are added to those of other threads at a time.
    places : int
        Columns that neighbouring threads load side by side.
    """

    lanes: int = 1
    width: int = 4
    columns: int = 4
    panels: int = 1
    pairs: int = 1
    together: int = 1
    places: int = 1


def scatter(device: Device, dim: int) -> ScatterLayout:
    """Layout of the scatter kernel."""
    cpu = device.type == "cpu"
    width = 4 if cpu or dim < 16 else 8
    tiles = -(-(dim + 1) // width)
    panels, tiles = -(-tiles // 4), min(tiles, 4)
    pairs = tiles * (tiles + 1) // 2 if panels == 1 else tiles * tiles
    # On a CPU the lanes of a vector register have all pairs; on a GPU each pair has threads of its own.
    most = min(512 if width == 4 else 256, device.max_threads)  # more would not leave enough registers for a tile
    lanes = 8 if cpu else min(power_of_two(most // pairs + 1) // 2, 128)
    columns = tiles * width
    staged = columns * min(panels, 2)
    room = 4096 - lanes * pairs * width**2 if cpu else 3072  # 32 KB, of which the sums of several pairs take a part
    tile = next((t for t in (256, 128, 64, 56) if staged * (t + 1) + t <= room), 32)
    threads = lanes if cpu else lanes * pairs
    return ScatterLayout(
        threads, tile=tile, resident=320 if width == 8 else 1024, lanes=lanes, width=width, columns=columns,
        panels=panels, pairs=pairs, together=min(width * width, power_of_two(2048 // threads + 1) // 2),
        places=1 if cpu else min(staged, threads),
    )  # fmt: skip


@dataclass(frozen=True)
class DrawLayout(Layout):
    """The constants of the discrete_draws kernel; `tile` is the rows of a block.

    Attributes
    ----------
    width : int
        The most entries of rows that have a thread each, a power of two; 0: a block has a row.
    draws : int
        The most draws of a long row that a block makes in one pass over it.
    """

    width: int = 0
    draws: int = 0


def discrete_draws(device: Device, itemsize: int, n: int) -> DrawLayout:
    """Layout of the discrete_draws kernel for rows of n entries."""
    cpu = device.type == "cpu"
    if n > (512 if cpu else 128):  # measured
        return DrawLayout(64 // itemsize, draws=256) if cpu else DrawLayout(64, draws=64)
    width = max(power_of_two(n), 4)
    threads = 128 // itemsize if cpu else min(128, device.max_threads)
    while not cpu and (width + width // 8) * (threads + 1) * itemsize > min(device.shared_memory, 40 * 1024):
        threads //= 2
    return DrawLayout(threads, tile=threads, width=width)


def draw_parts(device: Device, layout: DrawLayout, n_rows: int, n_draws: int) -> tuple[int, int]:
    """How many blocks share the draws of a row, and how many of these a block makes at a time."""
    if not layout.width:
        return min(-(-n_draws // layout.draws), 65535), layout.draws
    row_blocks = -(-n_rows // layout.tile)
    wanted = -(-32 * device.compute_units // row_blocks)
    least = max(1, 8 * layout.threads // min(n_rows, layout.tile))  # draws that are worth the rows' preparation
    part = max(-(-n_draws // min(wanted, 65535)), min(least, n_draws))
    return -(-n_draws // part), part


def sample(device: Device, itemsize: int, rejects: bool) -> Layout:
    """Layout of the sample shape; `rejects`: the first attempts at a tile of draws are made together."""
    if device.type == "cpu":
        return Layout(64 // itemsize, tile=1024 if rejects else 64)
    threads = min(128, device.max_threads)
    return Layout(threads, tile=(8 if rejects else 2) * threads, unroll=2, resident=4096)


@dataclass(frozen=True)
class LabelLayout(Layout):
    """The constants of the label_statistics kernels; `tile` is the rows that a block has in shared memory.

    Attributes
    ----------
    labels : int
        Labels of a block.
    columns : int
        Of the rows; padded on a CPU to whole vector registers.
    slices, each : int
        Threads for a column, and sums that each of them has for a label.
    shift_parts : int
        Blocks that share the sums of a label.
    groups : int
        Groups of threads that share the rows of a tile.
    width : int
        Numbers of a row in shared memory.
    shared : int
        float64 numbers of shared memory.
    adders : int
        Threads a block of the kernel that adds the blocks' sums.
    """

    labels: int = 1
    columns: int = 1
    slices: int = 1
    each: int = 1
    shift_parts: int = 1
    groups: int = 1
    width: int = 1
    shared: int = 1
    adders: int = 64


def label_statistics(device: Device, dim: int, n_labels: int, products: bool) -> LabelLayout:
    """Layout of the kernels that add rows of `dim` numbers, or their products, by label."""
    cpu = device.type == "cpu"
    columns, shifts = (dim, dim // 2 + 1) if products else (dim + 1, 1)
    if cpu:
        columns = power_of_two(columns) if columns <= 8 else -(-columns // 8) * 8  # whole vector registers
    if columns > device.max_threads:
        raise ValueError(f"x has vectors of length {dim}: label_statistics takes up to {device.max_threads - 1} on {device.id}")
    slices = 1 if cpu else min(shifts, max(1, min(512, device.max_threads) // columns))
    each = -(-shifts // slices)
    groups = max(1, min(8 if cpu else 128, device.max_threads) // (columns * slices))
    available = min(device.shared_memory, (256 if cpu else 96) * 1024) // 8 - 64
    labels, shift_parts = 0, 1
    while True:
        width = columns + slices * each * shift_parts if products else columns
        tile = max(1, min(64, available // 8 // width))
        room = available - tile * (width + 1)
        labels = min(room // (each * groups * columns * slices), -(-n_labels // 8) * 8)
        if labels >= min(n_labels, 1024) or (labels and groups == 1):
            break
        if groups > 1:
            groups -= 1
        elif each > 1:
            each = -(-each // 2)
            shift_parts = -(-shifts // (slices * each))
        elif slices > 1:
            slices = -(-slices // 2)
            shift_parts = -(-shifts // (slices * each))
        else:
            raise ValueError(f"x has vectors of length {dim}, too long for the shared memory of {device.id}")
    threads = groups * columns * slices
    shared = labels * each * threads + tile * width
    resident = threads * max(1, device.shared_memory // (8 * shared + 4 * tile + 1024))
    return LabelLayout(
        threads, tile=tile, resident=min(resident, 2048), labels=labels, columns=columns, slices=slices, each=each,
        shift_parts=shift_parts, groups=groups, width=width, shared=shared, adders=8 if cpu else 64,
    )  # fmt: skip


def elliptical_sample(device: Device, dim: int, itemsize: int) -> Layout:
    """Layout of the kernel that draws vectors; `tile` is the draws that a block has in shared memory."""
    threads = 64 // itemsize if device.type == "cpu" else min(256, device.max_threads)
    budget = min(device.shared_memory // 2, 16 * 1024)
    tile = min(max(budget // (((dim | 1) + 1) * itemsize), 1), 128)
    return Layout(threads, tile=tile)


def row_blocks(device: Device, layout: Layout, n_rows: int, set_blocks: int, registers: int | None = None) -> int:
    """How many blocks share the rows: enough to fill the device a few times over, and no more.

    `registers`: those of a thread, where no block is to wait for another to finish.
    """
    per_unit = 16 if device.type == "cpu" else layout.resident // layout.threads
    if registers:  # handed out by eights, of the 65,536 that a CUDA multiprocessor has
        per_unit = min(per_unit, 65536 // (-(-registers // 8) * 8 * layout.threads))
    filled = device.compute_units * max(1, per_unit)
    wanted = max(1, -(-filled // set_blocks))
    return max(1, min(-(-n_rows // layout.tile), wanted, 65535))


def _reference_devices() -> dict[str, Any]:
    from ..runtime.base import Device

    common = dict(vendor="", driver="", memory=0, double=True)
    gpu = Device(
        id="cuda:0", backend="cuda", type="gpu", name="a GPU", compute_units=132, warp=32, shared_memory=232448,
        max_threads=1024, **common,  # type: ignore[arg-type]
    )  # fmt: skip
    return {"cuda": gpu, "opencl": replace(gpu, id="opencl:0", backend="opencl", shared_memory=65536, max_threads=256)}


#: What `Density.kernel_source` lays kernels out for: a large CUDA GPU and a middling OpenCL one.
REFERENCE_DEVICES = _reference_devices()
