"""`python -m bench.paths`: rows spread over several devices, and rows that pass through one in a stream."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpustats as gs
from gpustats.runtime import choose

from .peers import GPUStats
from .report import Columns, Report, Row, Table, attempt, cell, number, options, size, timed

PIECE = 64 << 20  # bytes of a piece of a stream
PASSES = 5

DEVICES: Columns = {"waited / µs": cell("waited_us"), "times as fast": cell("speedup", "{:.2f}")}
DEVICES_NOTE = "The sum and its gradient, waited for (median). times as fast: as one device with all rows.\n"
STREAMS: Columns = {"GB": cell("bytes", number, 1e-9), "s": cell("seconds"), "GB/s": cell("rate", number, 1e-9)}
STREAMS_NOTE = f"""\
A pass over all rows of a logistic regression, for its sum and gradient, in pieces of {PIECE >> 20} MB, of which the device
holds four at a time (median). Files are in the page cache. page-locked: copies of such a piece to the device, and nothing else.
"""


@dataclass(frozen=True)
class Case:
    """Model of N rows: see `MODELS`."""

    model: str
    n: int
    title: str


def regression(n: int, k: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Data y (n,) and X (n, k), whose rows come again and again: to draw all would take longer than to measure."""
    rng = np.random.default_rng(14)
    block = rng.standard_normal((min(n, 1 << 16), k))
    X = np.resize(block, (n, k))
    return (np.resize(rng.random(len(block)) < 0.5, n)).astype(float), X


def glm(n: int) -> tuple[Callable[..., Any], Callable[[Any], Any]]:
    y, X = regression(n)
    beta = np.full(X.shape[1], 0.01)
    return lambda **where: gs.GLM(gs.bernoulli_logit, y, X, **where), lambda model: model.value_and_grad(beta, 0.1)


def likelihood(n: int) -> tuple[Callable[..., Any], Callable[[Any], Any]]:
    x = np.random.default_rng(14).standard_normal(n)
    return lambda **where: gs.Likelihood(gs.student_t, x, **where), lambda model: model.value_and_grad(4.0, 0.1, 1.2)


def rows(n: int) -> tuple[Callable[..., Any], Callable[[Any], Any]]:
    rng = np.random.default_rng(14)
    x, group, means = rng.standard_normal(n), rng.integers(0, 1000, n).astype(np.int32), np.zeros(1000)

    def call(model: Any) -> Any:
        return model.value_and_grad(mu=means, sigma=1.2)

    return lambda **where: gs.Rows(gs.normal, x=x, mu=gs.gather(group), **where), call


#: Name -> a function of n, which gives one that makes the model, with options, and one that calls it.
MODELS = {"GLM": glm, "Likelihood": likelihood, "Rows": rows}


def cases(n: int) -> list[Case]:
    """Work for several devices; a likelihood has ten times the rows."""
    sizes = {"GLM": n, "Likelihood": 10 * n, "Rows": n}
    says = {"GLM": "logistic regression, k=50", "Likelihood": "Student t", "Rows": "normal, means of 1,000 groups"}
    return [Case(m, s, f"{m}: {says[m]}, N={s:.0e}".replace("e+0", "e")) for m, s in sizes.items()]


def on_devices(report: Report, case: Case, counts: list[int]) -> Iterator[Row]:
    """Rows of a case: one for each number of devices."""
    make, call = MODELS[case.model](case.n)
    one = None
    for count in counts:
        where = {} if count == 1 else {"devices": [device["id"] for device in report.devices[:count]]}

        def measured(where: Any = where) -> Row:
            model = make(**where)
            call(model)
            return {"waited_us": report.measure(lambda: call(model), GPUStats(report.gpu))["waited_us"]}

        name = GPUStats.name if count == 1 else f"{GPUStats.name}, {count} devices"
        row = attempt({"work": case.title, "peer": name, "time": "waited_us"}, measured)
        one = row.get("waited_us") if count == 1 else one
        if one and "error" not in row:
            row["speedup"] = one / row["waited_us"]
        yield row


# -- streams


def sources(y: np.ndarray, X: np.ndarray, folder: Path) -> Iterator[tuple[str, Callable[[], tuple[Any, Any]]]]:
    """Sources by name, each with a function that gives y and X from it."""

    def mapped() -> tuple[Any, Any]:
        for name, array in (("y", y), ("X", X)):
            np.save(folder / f"{name}.npy", array)
        return tuple(np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("y", "X"))

    def zarr() -> tuple[Any, Any]:
        import zarr

        n = max(PIECE // 8 // (8 * X.shape[1]), 1)
        for name, array in (("y", y), ("X", X)):
            made = zarr.create_array(
                folder / f"{name}.zarr", shape=array.shape, chunks=(n, *array.shape[1:]), dtype=array.dtype, compressors=None
            )  # fmt: skip
            made[:] = array
        return tuple(zarr.open_array(folder / f"{name}.zarr", mode="r") for name in ("y", "X"))

    yield "NumPy arrays", lambda: (y, X)
    yield "NumPy arrays, X in column-major order", lambda: (y, np.asfortranarray(X))
    yield "NumPy arrays of float32", lambda: (y.astype(np.float32), X.astype(np.float32))
    yield "memory-mapped files", mapped
    yield "Zarr arrays, not compressed", zarr


def streamed(y: Any, X: Any, piece: int) -> Row:
    """Times of a stream of these data, in pieces of so many bytes."""
    row = X.dtype.itemsize * X.shape[1] + y.dtype.itemsize
    n, beta = max(piece // row, 1), np.full(X.shape[1], 0.01)
    model = gs.GLM(gs.bernoulli_logit, y, X, chunk=n, memory=4 * n * row)
    model.value_and_grad(beta, 0.1)
    seconds = statistics.median(timed(lambda: model.value_and_grad(beta, 0.1))[1] for _ in range(PASSES))
    return {"seconds": seconds, "bytes": X.shape[0] * row, "rate": X.shape[0] * row / seconds}


def page_locked(nbytes: int) -> Row:
    """Times of copies of page-locked memory to a CUDA device."""
    from cuda.bindings import driver

    from gpustats.runtime.cuda_driver import address_of, checked
    from gpustats.runtime.cuda_memory import page_locked as pool

    runtime = choose.get()
    target, source, n = runtime.empty(PIECE, np.uint8), pool.zeros(PIECE, np.uint8), max(nbytes // PIECE, 1)
    stream = runtime.state().stream

    def work() -> None:
        for _ in range(n):
            checked(driver.cuMemcpyHtoDAsync(target.ptr, address_of(source), PIECE, stream))
        runtime.synchronize()

    work()
    seconds = statistics.median(timed(work)[1] for _ in range(PASSES))
    return {"seconds": seconds, "bytes": n * PIECE, "rate": n * PIECE / seconds}


def streams(report: Report, nbytes: int) -> Iterator[Row]:
    """Rows of the streams: one for each source, and one for the bus itself."""
    y, X = regression(max(nbytes // 408, 1))
    if report.devices[0]["backend"] == "cuda":
        yield attempt({"work": "page-locked memory", "peer": "CUDA", "time": "seconds"}, page_locked, X.nbytes)
    with tempfile.TemporaryDirectory() as folder:
        for title, given in sources(y, X, Path(folder)):
            row = {"work": title, "peer": GPUStats.name, "time": "seconds"}
            yield attempt(row, lambda given=given: streamed(*given(), min(PIECE, nbytes // 16)))


def main(argv: list[str] | None = None) -> int:
    parser = options("paths", __doc__)
    parser.add_argument("--n", type=size, help="rows of a GLM on several devices; a likelihood has ten times as many")
    parser.add_argument("--bytes", type=size, help="of the data of a stream")
    args = parser.parse_args(argv)
    report = Report(args, devices=None if args.device else "all")
    counts = [count for count in (1, 2, 4, 8) if count <= len(report.devices)]
    for case in report.wanted(cases(report.default(args.n, 10**7, 10**5, 10**3))):
        report.rows += on_devices(report, case, counts)
    nbytes = report.default(args.bytes, 8 * 10**9, 10**9, 10**6)
    found = list(streams(report, nbytes))
    return report.write(Table(report.rows, DEVICES, DEVICES_NOTE), Table(found, STREAMS, STREAMS_NOTE, "streams"))


if __name__ == "__main__":
    raise SystemExit(main())
