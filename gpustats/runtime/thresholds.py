"""Thresholds that were measured: sizes from which another kernel, route or library is faster, tiles, numbers of threads, costs.

They are one module, a table. They are right where they were measured and a guess elsewhere, so each tells where and when that
was, and what measures it again. Modules take theirs from here. What correctness, a format or the hardware demands, what bounds
memory, and what says how to measure stands where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Threshold(Generic[T]):
    """Value that was measured rather than derived.

    Attributes
    ----------
    value : number, dict or tuple
        A dict has a value for each type of device, or for each kind of problem.
    decides : str
        What depends on it.
    device : str
        Where it was measured, if that is known.
    date : str
        Day of the change that gave it this value, YYYY-MM-DD.
    bench : str
        The module of ``bench/`` that measures it again; empty where none does.
    """

    value: T
    decides: str
    device: str
    date: str
    bench: str = ""

    @property
    def command(self) -> str:
        """Command that measures it again."""
        return f"python -m bench.{self.bench}" if self.bench else "by hand"


H200, H100, CPU = "NVIDIA H200", "NVIDIA H100", "two CPU cores"
BOTH, NOT_RECORDED = f"{H200}; {CPU}", "not recorded"
CUDA_ON_H200 = f"cuda: {H200}; others: {NOT_RECORDED}"

# ---- runtime: copies and waiting

RUNTIME_COPY_THREADS = Threshold(
    8, "threads that copy between the host and a CUDA device at most", NOT_RECORDED, "2026-11-24", "paths"
)
RUNTIME_COPY_PLACES = Threshold(2, "places of such a thread in page-locked memory", H200, "2026-11-29", "fits")
RUNTIME_COPY_PLACE = Threshold(4 << 20, "bytes of such a place", H200, "2026-11-29", "fits")
RUNTIME_COPY_LEAST_PART = Threshold(2 << 20, "bytes of a part of a large copy", NOT_RECORDED, "2026-11-25", "paths")
RUNTIME_SMALL_COPY = Threshold(16 << 20, "bytes below which the driver copies by itself", H200, "2026-11-29", "paths")
RUNTIME_LEAST_REGISTERED = Threshold(
    1 << 15, "bytes from which the memory of a result is registered with the driver", H200, "2026-11-29", "rows"
)
RUNTIME_MOST_REGISTERED = Threshold(
    1 << 28, "bytes that are registered at once; a result has a quarter at most", NOT_RECORDED, "2026-11-29", "rows"
)
RUNTIME_LARGE_RESULT = Threshold(
    8 << 20, "bytes from which the host's memory of a result is used again", NOT_RECORDED, "2026-11-25"
)
RUNTIME_LARGE_COPY = Threshold(
    16 << 20, "bytes from which a copy first looks at the free memory", NOT_RECORDED, "2026-11-23"
)
RUNTIME_PASSING_BYTES = Threshold(
    2 << 20, "bytes of each half of the page-locked memory that parameters pass through", NOT_RECORDED, "2026-11-24"
)
RUNTIME_MOST_MAPPED_NUMBERS = Threshold(
    4096, "numbers up to which CUDA kernels write to the host's memory", NOT_RECORDED, "2026-11-24", "leapfrogs"
)
RUNTIME_SHORT_WAIT = Threshold(
    1.5e-3, "seconds up to which the driver waits, and no signal ends it", NOT_RECORDED, "2026-11-22", "leapfrogs"
)
RUNTIME_SPIN_TIME = Threshold(2e-3, "seconds after which other waits sleep between two looks", NOT_RECORDED, "2026-11-22")

# ---- kernels: rows of a thread, copies of its code, products of a tile and many sets

KERNELS_MOST_ROWS_AT_ONCE = Threshold(
    16, "rows that a thread of a GPU sums at once, at most", NOT_RECORDED, "2026-11-25", "run"
)
#: A compiler took 35 s for what now takes 3.
KERNELS_MOST_REPEATED_NODES = Threshold(
    4096, "nodes of all copies of a function that a kernel of a GPU writes out", NOT_RECORDED, "2026-11-23"
)
#: Bytes of a row up to which it holds, the rows of a tile, and the parts of the columns that warps share.
KERNELS_TILE_SHAPES: Threshold[tuple[tuple[float, int, int], ...]] = Threshold(
    ((256, 64, 1), (512, 32, 1), (float("inf"), 16, 4)), "tiles of rows for many sets", H200, "2026-11-24", "glm"
)
#: Tiles of all rows up to which it holds, and those of a block. A step of 1, 64 and 256 logistic regressions (k = 50)
#: takes 16, 21 and 29 us of 1e3 rows, and 21, 33 and 68 us of 1e4; by eight tiles it was 26, 36 and 42, and 28, 42 and 65 us.
KERNELS_LEAST_TILES: Threshold[tuple[tuple[float, int], ...]] = Threshold(
    ((64, 2), (float("inf"), 4)), "tiles of a block that multiplies for many sets, at least", H100, "2026-11-28", "chains"
)
KERNELS_MOST_BLOCKS = Threshold(4, "blocks of a multiprocessor where threads have few sums", NOT_RECORDED, "2026-11-24", "glm")
KERNELS_FEW_SUMS = Threshold(
    40, "sums up to which a thread that multiplies for many sets has few", NOT_RECORDED, "2026-11-25", "glm"
)

# ---- evaluation: tables, sums, repeated calls

EVALUATION_LIGHT_SUM = Threshold(
    {"cpu": 60, "gpu": 20}, "operations of a row below which a thread has many rows in flight", BOTH, "2026-11-21", "run"
)
#: A thousand threads for the 13,312 sums of 66 blocks waited for one another: 14 us on an H200.
EVALUATION_LEAST_ADDED = Threshold(4, "blocks whose sums a thread adds, at least", H200, "2026-11-29", "glm")
EVALUATION_LIGHT_TABLE = Threshold(
    20, "operations of an entry below which a row of a table is one register of a CPU", CPU, "2026-11-24", "run"
)
EVALUATION_HEAVY_TABLE = Threshold(
    60, "operations beyond which a GPU's thread has one entry at a time, and few blocks share a set", H200, "2026-11-21", "run"
)
EVALUATION_MOST_RECORDED_NUMBERS = Threshold(
    1 << 16, "numbers of a call up to which it is recorded", H200, "2026-11-29", "glm"
)
EVALUATION_LARGEST_PACKED = Threshold(
    1 << 14, "bytes up to which an array travels together with others", NOT_RECORDED, "2026-11-25", "run"
)

# ---- parallel: pieces of rows

PARALLEL_MOST_PIECES = Threshold(16, "pieces of a stream that fill a device's memory", NOT_RECORDED, "2026-11-21", "paths")
PARALLEL_FEWEST_PIECES = Threshold(8, "pieces that fill it where they would else be small", NOT_RECORDED, "2026-11-21", "paths")
PARALLEL_SMALLEST_PIECE = Threshold(
    32 << 20, "bytes below which a piece may take longer to compute than to copy", NOT_RECORDED, "2026-11-21", "paths"
)
PARALLEL_READ_BLOCK = Threshold(1 << 20, "bytes of a file read at once where it has gaps", NOT_RECORDED, "2026-11-22", "paths")
PARALLEL_RANGES_PER_DEVICE = Threshold(16, "ranges of a map for each device, or worker", NOT_RECORDED, "2026-11-21")

# ---- linalg

LINALG_FEWEST_OPERATIONS = Threshold(
    1e6, "operations below which NumPy arrays stay on the host", NOT_RECORDED, "2026-11-21"
)
#: By the provider of linear algebra.
LINALG_LEAF = Threshold(
    {"kernels": 256, "host": 128, "cuda": 512}, "rows of a triangle that is not halved", CUDA_ON_H200, "2026-11-21", "cholesky"
)
#: By the provider of linear algebra.
LINALG_DENSE = Threshold(
    {"kernels": 256, "host": 128, "cuda": 1024}, "rows of a triangle taken whole", CUDA_ON_H200, "2026-11-21", "cholesky"
)
LINALG_MOST_INVERTED_ROWS = Threshold(
    2048, "rows of a triangle up to which CUDA inverts it by products of whole blocks", NOT_RECORDED, "2026-11-21", "cholesky"
)
LINALG_PANEL = Threshold(256, "columns of a panel of a factorisation", NOT_RECORDED, "2026-11-21", "cholesky")
LINALG_HOST_TILE = Threshold(512, "rows and columns that the host compares at a time", NOT_RECORDED, "2026-11-21")
LINALG_MOST_ROWS_IN_REGISTERS = Threshold(
    8, "rows up to which a thread has a matrix in registers", BOTH, "2026-11-21", "cholesky"
)
GemmTile = tuple[int, int, int, int, int, int, int]
#: By their width and the bytes of a number: threads, across, rows, columns, vector, depth, adders of a `GemmLayout`.
LINALG_CPU_TILES: Threshold[dict[tuple[str, int], GemmTile]] = Threshold(
    {
        ("narrow", 4): (64, 16, 4, 1, 1, 16, 16),
        ("narrow", 8): (32, 8, 4, 1, 1, 16, 8),
        ("wide", 4): (128, 16, 8, 2, 1, 16, 16),
        ("wide", 8): (64, 8, 8, 2, 1, 16, 8),
    },
    "tiles of products of matrices on a CPU", CPU, "2026-11-21", "cholesky",
)  # fmt: skip
#: The same numbers. Narrow ones are for few columns; large ones where they fill the device, and small ones where they do not.
LINALG_GPU_TILES: Threshold[dict[tuple[str, int], GemmTile]] = Threshold(
    {
        ("narrow", 4): (128, 8, 4, 1, 1, 16, 64),
        ("narrow", 8): (128, 8, 4, 1, 1, 16, 64),
        ("small", 4): (64, 8, 4, 4, 4, 16, 64),
        ("small", 8): (64, 8, 4, 4, 2, 16, 64),
        ("large", 4): (256, 16, 8, 8, 4, 8, 64),
        ("large", 8): (128, 16, 8, 4, 2, 8, 64),
    },
    "tiles of products of matrices on a GPU", H200, "2026-11-21", "cholesky",
)  # fmt: skip
LINALG_NARROW_COLUMNS = Threshold(8, "columns up to which a GPU's tiles are narrow", H200, "2026-11-21", "cholesky")
LINALG_LEAST_WORK = Threshold(
    64**3, "multiplications from which BLAS takes several threads", NOT_RECORDED, "2026-11-22"
)
LINALG_COUNT_HOLDS = Threshold(0.05, "seconds for which a count of free processors holds", NOT_RECORDED, "2026-11-22")
LINALG_MOST_BLOCK_ROWS = Threshold(
    2048, "rows of a block of a matrix that devices share", NOT_RECORDED, "2026-11-26", "gp_tiled"
)
LINALG_LEAST_ROUNDS = Threshold(4, "rounds over the devices, at least", NOT_RECORDED, "2026-11-26", "gp_tiled")

# ---- fits

FITS_FEWEST_DATA_SETS = Threshold(256, "data sets of a piece that a device takes at a time", NOT_RECORDED, "2026-11-25", "fits")
FITS_MOST_PIECES = Threshold(32, "pieces into which data sets are divided", NOT_RECORDED, "2026-11-25", "fits")
FITS_FEW_LEFT = Threshold(
    0.25, "share still searched below which the other data sets are left out", NOT_RECORDED, "2026-11-25", "fits"
)

# ---- draws

DRAWS_LONG_ROW = Threshold(
    {"gpu": 128, "cpu": 512}, "entries of a table's row from which a block has a row", BOTH, "2026-11-21", "draws"
)

# ---- elliptical

ELLIPTICAL_WIDTHS = Threshold(
    {"cpu": 8, "gpu": 16}, "rows of an inverse factor that a thread multiplies at a time", BOTH, "2026-11-21", "run"
)
ELLIPTICAL_LEAST_PRODUCT_DIM = Threshold(
    12, "dimensions from which units for products of small matrices are faster", NOT_RECORDED, "2026-11-24", "run"
)
#: (rows a thread, sets whose matrices are in shared memory at once), the fastest first; None: all sets.
ELLIPTICAL_IN_SHARED_MEMORY: Threshold[tuple[tuple[int, int | None], ...]] = Threshold(
    ((2, None), (2, 1), (1, 1), (1, 0)), "what a block has in shared memory", H200, "2026-11-21", "run"
)
ELLIPTICAL_IN_PRODUCTS: Threshold[tuple[tuple[int, int | None], ...]] = Threshold(
    ((1, None), (1, 1), (1, 0)), "the same for products of matrices in hardware", NOT_RECORDED, "2026-11-24", "run"
)
ELLIPTICAL_MOST_BYTES_IN_REGISTERS = Threshold(
    128, "bytes of a vector up to which a thread of a GPU draws it in registers", NOT_RECORDED, "2026-11-24", "draws"
)
ELLIPTICAL_LARGE_MATRIX = Threshold(
    96, "rows from which linear algebra factors a matrix, rather than a block", NOT_RECORDED, "2026-11-21"
)

# ---- rows

ROWS_HELD_NUMBERS = Threshold(
    24, "numbers of all rows in flight of a thread of a GPU", NOT_RECORDED, "2026-11-23", "rows"
)
#: Softmax regression, K = 3 and k = 4, has 13, logistic regression of ten columns 11: 1e6 rows take 26 and 29 us, 29 and 32
#: with one row in flight.
ROWS_MOST_HELD = Threshold(
    16, "numbers of a row up to which a thread of a GPU has many rows in flight", H200, "2026-11-29", "rows"
)
ROWS_MOST_IN_FLIGHT = Threshold(8, "such rows", H200, "2026-11-29", "rows")
#: Where it holds four rows are in flight, and there are half as many blocks again: item response, 1,000 answers of each person,
#: takes 162 us, before 214. 100,000 groups of 100 would take 84 so, which take 68.
ROWS_MANY_OF_GROUP = Threshold(512, "rows of a segment of a group from which these are many", H200, "2026-11-29", "rows")
ROWS_CPU_LANES = Threshold(16, "neighbouring rows that a CPU takes at once", NOT_RECORDED, "2026-11-23", "rows")
ROWS_MANY_SUMS = Threshold(
    4, "sums beyond which a CPU adds up derivatives of coefficients for several rows", NOT_RECORDED, "2026-11-23", "rows"
)
ROWS_CACHE_BYTES = Threshold(
    1 << 19, "bytes of matrices of a CPU's block, read for one set after another", NOT_RECORDED, "2026-11-25", "rows"
)
ROWS_MOST_BESIDE_SUMS = Threshold(
    1 << 15, "numbers of a table's derivative up to which it lies beside the sums", NOT_RECORDED, "2026-11-23", "rows"
)
ROWS_MOST_BY_VALUE = Threshold(16, "numbers of a parameter that kernels take one by one", NOT_RECORDED, "2026-11-23", "rows")
ROWS_LEAST_SWEPT = Threshold(
    12, "derivatives from which a loop goes back through a sequence", f"{H100}; {CPU}", "2026-11-28"
)
#: Of 14 derivatives of a differential equation, going back took 2.4 ms, and forwards 1.7.
ROWS_LEAST_SWEPT_OF_LOOPS = Threshold(
    24, "the same of a loop that holds loops", f"{H100}, of 14", "2026-11-28"
)
ROSENBROCK_WRITTEN_OUT = Threshold(
    4, "most states of a stiff equation with which the stages of a step are written out", CPU, "2026-11-28",
    "differential_equations",
)
#: Cores of a CPU would have to be many: each element is gone through three times or more, with more derivatives.
ROWS_LEAST_LONG_STEPS: Threshold[dict[str, float]] = Threshold(
    {"gpu": 2048, "accelerator": float("inf"), "cpu": float("inf")},
    "numbers of the longest sequence from which threads go through parts of it", H100, "2026-11-28", "sequences"
)
ROWS_MOST_LONG = Threshold(8192, "sequences up to which threads go through parts of them", H100, "2026-11-28", "sequences")
ROWS_LEAST_SPAN = Threshold(64, "steps of such a part at least", H100, "2026-11-28", "sequences")
ROWS_SPANS_OF_UNIT = Threshold(
    {"gpu": 1024, "accelerator": 64, "cpu": 16}, "such parts for each multiprocessor or core", H100, "2026-11-28",
    "sequences",
)
ROWS_FOLDED = Threshold(64, "neighbouring parts whose maps a thread composes", "a guess", "2026-11-28", "sequences")
ROWS_MOST_STATE = Threshold(
    10, "numbers that steps hand on up to which parts are gone through side by side", H100, "2026-11-28", "sequences"
)
ROWS_LEAST_SENT_ALONE = Threshold(
    2048, "numbers from which a parameter travels by itself", NOT_RECORDED, "2026-11-23", "rows"
)
ROWS_SPARSE_TILE = Threshold(
    {"gpu": 512, "accelerator": 512, "cpu": 1024}, "entries of a sparse matrix that a block has at once, about",
    f"{H200}; on CPUs a guess", "2026-11-28", "sparse",
)
ROWS_SPARSE_SETS = Threshold(
    {"gpu": 4, "accelerator": 1, "cpu": 1}, "sets of parameters for which a block reads its entries once", f"{CPU}; a guess",
    "2026-11-28", "sparse",
)
ROWS_SPARSE_BAND_BYTES = Threshold(
    1 << 23, "bytes of the rows' numbers that columns gather from, before those of further rows", H200, "2026-11-28", "sparse"
)

ROWS_SPARSE_LEAST_BLOCKED = Threshold(
    1 << 23, "entries from which a GPU goes through a sparse matrix by blocks", "a guess", "2026-11-28", "sparse"
)
ROWS_SPARSE_BLOCK = Threshold(
    (8192, 4096, 1024), "sums of such a block, numbers of a tile, and threads", H200, "2026-11-28", "sparse"
)

# ---- glm

#: Measured with up to a million rows of `bernoulli_logit`, `poisson_log` and `normal_identity`.
GLM_FEWEST_ROWS = Threshold(20_000, "rows from which a CPU evaluates a design on rows", CPU, "2026-11-23", "glm")
GLM_MOST_COLUMNS = Threshold(12, "columns up to which a CPU evaluates a design on rows", CPU, "2026-11-23", "glm")
GLM_MOST_COLUMNS_BY_GROUP = Threshold(16, "columns up to which it does with groups of many rows", CPU, "2026-11-23", "glm")
GLM_MOST_COLUMNS_OF_SMALL_GROUPS = Threshold(6, "columns up to which it does with groups of few rows", CPU, "2026-11-23", "glm")
GLM_SMALL_GROUP = Threshold(32, "rows up to which a group has few, on average", NOT_RECORDED, "2026-11-23", "glm")
GLM_MOST_SUMS_ON_HOST = Threshold(
    1 << 14, "sums of blocks up to which the host adds them where it sees them", NOT_RECORDED, "2026-11-21", "glm"
)
GLM_GROUPS_TOGETHER = Threshold(32, "groups of rows of a CPU that are multiplied in its cache", CPU, "2026-11-28", "fits")
GLM_BLOCKS_OF_CPU = Threshold(4, "blocks for each processor of a CPU that multiply columns", CPU, "2026-11-28", "fits")
GLM_LEAST_TILES_OF_CPU = Threshold(16, "tiles of rows that a block of a CPU has, if they are many", CPU, "2026-11-28", "glm")
GLM_MOST_BLOCKS_OF_CPU = Threshold(4, "blocks for each processor of a CPU that share the rows", CPU, "2026-11-28", "glm")
GLM_PRODUCTS_TILE = Threshold(
    (128, 16384, 4), "threads of a block, bytes of rows that it shares, blocks for each multiprocessor that multiply columns",
    NOT_RECORDED, "2026-11-28", "fits",
)  # fmt: skip
GLMTile = tuple[float, int, int, int, int]
#: Few threads and small tiles, two or three a block, so that several blocks share a multiprocessor. Several sets read the
#: coefficients more often than X, so that a thread has few rows of each set.
#: (bytes of a number, several sets or outcomes) -> by the bytes of a row, what a `_Tiles` has.
GLM_TILES: Threshold[dict[tuple[int, bool], tuple[GLMTile, ...]]] = Threshold(
    {
        # X          sets    row up to  threads      bytes  lanes  stages
        (8, False): ((         255,       128,  26 * 1024,      8,      2),
                     (         639,       128,  13 * 1024,      8,      2),
                     (        1023,       128,  26 * 1024,      8,      2),
                     (        2399,        64,  13 * 1024,      8,      2),
                     (        4096,       128,  13 * 1024,     16,      2),
                     (float("inf"),       256,  26 * 1024,      8,      3)),
        (8, True):  ((        4096,        64,  13 * 1024,     16,      2),
                     (float("inf"),       256,  13 * 1024,     16,      2)),
        (4, False): ((         127,       128,  26 * 1024,      8,      3),
                     (         399,       256,  26 * 1024,      8,      2),
                     (         639,       128,  26 * 1024,      8,      3),
                     (        1199,        64,  13 * 1024,      8,      2),
                     (        4096,       128,  26 * 1024,      8,      3),
                     (float("inf"),       256,  26 * 1024,      8,      3)),
        (4, True):  ((        4096,       128,  26 * 1024,      8,      2),
                     (float("inf"),       256,  26 * 1024,      8,      2)),
    },
    "tiles of rows that a block of a GPU takes", H200, "2026-11-28", "glm",
)  # fmt: skip

# ---- mixed

MIXED_LEAST_ON_DEVICE = Threshold(
    1e9, "multiplications of a border's products from which on a GPU has its coupling", NOT_RECORDED, "2026-11-28", "mixed"
)
MIXED_LEAST_SPARSE = Threshold(1 << 22, "numbers of a coupling from which on it may be sparse", CPU, "2026-11-29", "mixed")
MIXED_MOST_FILLED = Threshold(0.05, "share of the pairs of groups with rows below which it is", CPU, "2026-11-29", "mixed")

# ---- transforms

TRANSFORMS_POINTS_PER_THREAD = Threshold(64, "points of a lattice that a thread sums", NOT_RECORDED, "2026-11-26", "boxes")

# ---- mixtures

MIXTURES_HELD_NUMBERS = Threshold(
    24, "numbers of components, of one row, of a thread of a GPU", NOT_RECORDED, "2026-11-23"
)

MIXTURES_EXACT = Threshold(
    (50_000, 18), "observations from which on second derivatives are worth a kernel of their own, and parameters of it at most",
    CPU, "2026-11-28",
)

# ---- processes

PROCESSES_MOST_EXACT = Threshold(
    512, "observations up to which exact second derivatives, by the host, are cheap", CPU, "2026-11-28"
)
PROCESSES_MOST_FOR_ONE_SET = Threshold(
    256, "observations up to which a GPU takes one block for a call of one set", NOT_RECORDED, "2026-11-25", "gp"
)
PROCESSES_MOST_FOR_SEVERAL_SETS = Threshold(
    192, "observations up to which a GPU takes a block for each set", H200, "2026-11-26", "gp_sets"
)
PROCESSES_RESIDENT_BLOCKS = Threshold(
    4, "such blocks of a multiprocessor or core", NOT_RECORDED, "2026-11-25", "gp_sets"
)
PROCESSES_MOST_IN_BATCH = Threshold(
    3072, "observations up to which several sets are a batch of our own kernels", H200, "2026-11-26", "gp_sets"
)
PROCESSES_MOST_SETS_AT_ONCE = Threshold(256, "sets of such a batch", NOT_RECORDED, "2026-11-26", "gp_sets")
PROCESSES_BLOCKS_OF_A_SET = Threshold(
    64, "blocks that share the sums of one of several sets", NOT_RECORDED, "2026-11-26", "gp_sets"
)
PROCESSES_DESIGN_THREADS = Threshold(
    {384: 64, 768: 128, 1536: 256}, "threads of a GPU's block for up to so many candidates", H200, "2026-11-21", "local_gp"
)
PROCESSES_VECCHIA_COLUMNS = Threshold(
    8, "columns of points whose sums a thread has at once", NOT_RECORDED, "2026-11-25", "vecchia"
)
PROCESSES_ALL_PAIRS_LIMIT = Threshold(
    512, "points of a prefix of which all pairs are compared", NOT_RECORDED, "2026-11-25", "vecchia"
)

# ---- emulation

EMULATION_DIAGONAL_POINTS = Threshold(
    256, "points of a matrix of which only the diagonal is used", NOT_RECORDED, "2026-11-25"
)

# ---- compiler: PyTensor or the device

COMPILER_FEWEST_ROWS = Threshold(500, "rows below which PyTensor has a sum", NOT_RECORDED, "2026-11-23", "models")
COMPILER_FEWEST_STEPS = Threshold(50, "steps of scans below which PyTensor has a sum", CPU, "2026-11-28")
COMPILER_FEWEST_UNREAD_ROWS = Threshold(
    10_000, "rows below which it has a sum whose operations are not known", NOT_RECORDED, "2026-11-23", "models"
)
COMPILER_LARGEST_TIME_RATIO = Threshold(
    0.7, "part of PyTensor's time that the device stays below", NOT_RECORDED, "2026-11-23", "models"
)
COMPILER_CALL_SECONDS = Threshold(
    2e-5, "seconds around a call of `gpustats.Rows` from compiled code", NOT_RECORDED, "2026-11-23", "leapfrogs"
)
COMPILER_MACHINE_CALL_SECONDS = Threshold(
    3e-6, "seconds around what compiled code has the device do by itself", NOT_RECORDED, "2026-11-24", "leapfrogs"
)
COMPILER_LOGARITHMS_PER_DENSITY = Threshold(
    4, "calls of a logarithm that a gamma function or a density counts for", NOT_RECORDED, "2026-11-23"
)
COMPILER_MOST_ELEMENTS_IN_PYTHON = Threshold(
    1000, "elements up to which PyTensor's functions in Python compute what is constant", NOT_RECORDED, "2026-11-23"
)
COMPILER_FEWEST_ALTERNATIVES = Threshold(
    17, "alternatives of a choice from which a GLM's kernel has the sum, and no row function", CPU, "2026-11-28"
)

# ---- pymc

PYMC_ROWS_OF_LARGE_MATRIX = Threshold(
    200, "rows from which one matrix is factorised by `linalg`", NOT_RECORDED, "2026-11-25"
)
