"""Large copies to and from a CUDA device, in parts and by several threads: with a stand-in for CUDA's driver."""

from pathlib import Path

import pytest
from runtimes import run

BEGIN = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1] / "helpers")!r})
import cuda_stand_in as stand_in
stand_in.install()
import threading
import numpy as np
from gpustats.runtime import choose, staging
from gpustats.runtime.host_memory import HostRows, parts
staging.PLACE, staging.LEAST_PART, staging.SMALL_COPY, staging.LARGE_RESULT = 1 << 12, 1 << 11, 1 << 10, 1 << 13
runtime, rng = choose.get("cuda:0"), np.random.default_rng(1)


class Read(HostRows):
    def __init__(self, array, fault=None):
        self.numbers, self.fault, self.shape, self.dtype = array, fault, array.shape, array.dtype

    def part(self, first, end):
        return Read(self.numbers[first:end], self.fault)

    def read(self, out):
        if self.fault is not None and (self.numbers == self.fault).any():
            raise OSError("the disk is gone")
        out[...] = self.numbers


def there_and_back(array, dtype=None):
    return runtime.to_host(runtime.to_device(array, None if dtype is None else np.dtype(dtype)))
"""


def test_arrays_of_any_layout_and_type():
    output = run(
        BEGIN
        + """
A = rng.normal(size=(300, 50))
B = rng.integers(0, 99, (300, 50))
arrays = [A, A.T, A[::2], A[:, ::3], A[::-1, ::-1], A[:, 0], np.asfortranarray(A), A.reshape(3, 100, 5, 10), A.reshape(1, -1),
          rng.normal(size=(2, 3000)), A.astype(np.float32), B, B.astype(np.uint8), A[:3], A[:0], np.array(2.5), A.ravel()]
for array in arrays:
    for dtype in (None, "f8", "f4"):
        found = there_and_back(array, dtype)
        assert found.shape == array.shape and found.dtype == (dtype or array.dtype), (found.dtype, dtype)
        assert np.array_equal(found, array.astype(dtype or array.dtype))
        rows = Read(array) if array.ndim else None
        assert rows is None or np.array_equal(there_and_back(rows, dtype), found)
print("right")
"""
    )
    assert output == "right\n"


def test_parts_follow_one_another():
    output = run(
        BEGIN
        + """
for shape in [(7,), (300, 50), (3, 1000), (2, 3, 700), (1, 1), (5, 0), (0, 5)]:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    found = list(parts(array, 4, 1000))
    assert all(part.size * 4 <= 1000 for _, part in found)
    assert np.array_equal(np.concatenate([part.ravel() for _, part in found] or [[]]), array.ravel())
    assert [start for start, _ in found] == [4 * int(part.flat[0]) if part.size else 0 for _, part in found]
print("right")
"""
    )
    assert output == "right\n"


def test_page_locked_memory_is_bounded_and_used_again():
    output = run(
        BEGIN
        + """
small = rng.normal(size=100)
there_and_back(small)
assert not stand_in.page_locked
large = rng.normal(size=100_000)
found = []
def many():
    for _ in range(5):
        found.append(np.array_equal(there_and_back(large), large))
threads = [threading.Thread(target=many) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == [True] * 15
assert set(stand_in.page_locked) == {staging.PLACE}
assert len(stand_in.page_locked) <= staging.THREADS * staging.PLACES_PER_THREAD
print("right")
"""
    )
    assert output == "right\n"


@pytest.mark.parametrize("place", [0, 40_000, 99_999])
def test_an_error_of_one_who_reads(place):
    output = run(
        BEGIN
        + f"""
large = np.arange(100_000.0)
for _ in range(3):
    try:
        runtime.to_device(Read(large, {place}.0))
    except OSError as error:
        assert "the disk is gone" in str(error)
    else:
        raise AssertionError
    assert np.array_equal(there_and_back(Read(large)), large)
print("right")
"""
    )
    assert output == "right\n"


def test_an_interrupt_leaves_no_copy_under_way():
    output = run(
        BEGIN
        + """
import signal
going, go_on = threading.Event(), threading.Event()

class Slow(Read):
    reading = 0
    def part(self, first, end):
        return Slow(self.numbers[first:end])
    def read(self, out):
        Slow.reading += 1
        going.set()
        go_on.wait(20)
        super().read(out)
        Slow.reading -= 1

large = np.arange(100_000.0)
def interrupt():
    going.wait(20)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    threading.Timer(0.2, go_on.set).start()
threading.Thread(target=interrupt).start()
try:
    runtime.to_device(Slow(large))
except KeyboardInterrupt:
    assert Slow.reading == 0, Slow.reading
else:
    raise AssertionError
assert np.array_equal(there_and_back(large), large)
print("right")
"""
    )
    assert output == "right\n"


@pytest.mark.parametrize("codec", [None, "auto"])
def test_zarr_arrays_are_read_by_chunks(tmp_path, codec):
    pytest.importorskip("zarr")
    output = run(
        BEGIN
        + f"""
import pickle, zarr
from gpustats.parallel.rows import as_rows
from gpustats.parallel.zarr_rows import ZarrRows
for shape, chunks in [((3000, 5), (70, 5)), ((3000, 5), (70, 2)), ((3000,), (999,)), ((3000, 5), (4000, 5)), ((50, 5), (7, 5))]:
    array = rng.normal(size=shape)
    stored = zarr.create_array({str(tmp_path / "x.zarr")!r}, shape=shape, chunks=chunks, dtype="f8", compressors={codec!r},
                               overwrite=True)
    stored[:] = array
    rows = pickle.loads(pickle.dumps(as_rows(stored, "x")))
    assert isinstance(rows, ZarrRows) and np.array_equal(rows[3:20], array[3:20]) and np.array_equal(rows, array)
    for first, end in [(0, shape[0]), (13, 49), (13, shape[0]), (20, 20)]:
        part = rows.part(first, end)
        cuts = list(part.together(10))
        assert [i for cut in cuts for i in range(*cut)] == list(range(end - first))
        assert all((first + cut[0]) % chunks[0] == 0 for cut in cuts[1:])
        for dtype in ("f8", "f4"):
            assert np.array_equal(there_and_back(part, dtype), array[first:end].astype(dtype))
print("right")
"""
    )
    assert output == "right\n"


def test_copies_when_python_ends():
    """Nobody begins threads any more; who ends Python may still copy."""
    output = run(
        BEGIN
        + """
import atexit

array = rng.normal(size=5000)
there_and_back(array)
atexit.register(lambda: print(np.array_equal(there_and_back(array), array)))
"""
    )
    assert output == "True\n"
