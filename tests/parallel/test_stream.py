"""Data that pass through a device in pieces."""

import gc
import math
import os
import threading
import time
import weakref

import numpy as np
import pytest
from pieces import memmap, same
from runtimes import IDS, error_in_a_forked_child, run
from scipy import stats
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.parallel import stream
from gpustats.runtime import choose
from gpustats.runtime.host_memory import HostRows

N, K, G = 3001, 6, 5  # rows, columns, groups


@pytest.fixture
def runtime(layout):
    """The device that there is, and one with memory of its own."""
    return layout


@pytest.fixture
def data(rng):
    X, offset, weights = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(size=N)
    return dict(y=rng.poisson(2.0, N), X=X, offset=offset, weights=weights, groups=rng.integers(0, G, N))


class Stored:
    """An array that is not in memory, as an HDF5 data set is not; it tells what is read."""

    def __init__(self, array):
        self._array, self.shape, self.dtype = array, array.shape, array.dtype
        self.reads = []

    def __getitem__(self, rows):
        self.reads.append((rows.start, rows.stop))
        return self._array[rows].copy()

    def __array__(self, *_, **__):
        raise AssertionError("read as a whole")


def on_disk(kind, data, folder):
    """The data as arrays that are read by slices."""
    if kind == "memmap":
        return {n: memmap(folder, n, v) for n, v in data.items()}
    if kind == "stored":
        return {n: Stored(v) for n, v in data.items()}
    if kind == "hdf5":
        file = pytest.importorskip("h5py").File(folder / "data.h5", "w")
        return {n: file.create_dataset(n, data=v) for n, v in data.items()}
    if kind == "zarr":
        group = pytest.importorskip("zarr").open_group(folder / "data.zarr", mode="w")
        return {n: group.create_array(n, data=v, chunks=(500, *v.shape[1:])) for n, v in data.items()}
    dask = pytest.importorskip("dask.array")
    return {n: dask.from_array(v, chunks=(500, *v.shape[1:])) for n, v in data.items()}


@pytest.fixture
def on_device(monkeypatch):
    """Counts the bytes of data on the device: [now, the most so far]."""
    counted, lock = [0, 0], threading.Lock()

    def add(n):
        with lock:
            counted[0] += n
            counted[1] = max(counted)

    def watched(kind):
        piece = kind._piece

        def counting(self, data, runtime):
            made = piece(self, data, runtime)
            size = sum(math.prod(v.shape) * (4 if n == "groups" else 8) for n, v in data.items())
            size += 4 * data["groups"].shape[0] if "groups" in data else 0  # their order
            add(size)
            weakref.finalize(made, add, -size)
            return made

        monkeypatch.setattr(kind, "_piece", counting)

    watched(gs.GLM), watched(gs.Likelihood)
    return counted


# ---- the same numbers


@pytest.mark.parametrize("kind", ["memmap", "stored", "hdf5", "zarr", "dask"])
def test_glm_on_disk(kind, data, rng, tmp_path, on_device):
    """A stream through a small memory, to the bit what the same pieces in memory give."""
    stored = on_disk(kind, data, tmp_path)
    row = 8 * (K + 3) + 8
    memory = row * N // 2
    beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
    whole, near = gs.GLM(gs.poisson_log, **data), gs.GLM(gs.poisson_log, **data, chunk=250)
    far = gs.GLM(gs.poisson_log, **stored, chunk=250, memory=memory)
    assert len(near._pieces._kept) == len(near._pieces.ranges) == 13 and 0 < len(far._pieces._kept) < 7
    on_device[1] = on_device[0]
    before = on_device[0]
    for _ in range(2):
        value, gradient = far.value_and_grad(beta, alpha)
        same((value, gradient), whole.value_and_grad(beta, alpha))
        expected, gradients = near.value_and_grad(beta, alpha)
        assert value == expected
        for name in gradient:
            np.testing.assert_array_equal(gradient[name], gradients[name])
    np.testing.assert_array_equal(far.logpdf(beta, alpha), near.logpdf(beta, alpha))
    others = before - len(far._pieces._kept) * 250 * row  # what `near` has on the device
    assert memory - 3 * 250 * row < on_device[1] - others <= memory


@pytest.mark.parametrize("chunk", [1, 7, 1500, N, 10 * N])
def test_pieces_of_any_size(runtime, chunk, rng):
    n = min(N, 30 * chunk)
    X, y = rng.normal(size=(n, K)), rng.normal(size=n)
    beta = rng.normal(size=(2, K))
    whole, divided = gs.GLM(gs.normal, y, X, eta="mu"), gs.GLM(gs.normal, y, X, eta="mu", chunk=chunk)
    same(divided.value_and_grad(beta, 0.2, 1.5), whole.value_and_grad(beta, 0.2, 1.5))
    same(divided.linear_predictor(beta, y), whole.linear_predictor(beta, y))


@pytest.mark.parametrize("dtype", some([np.float64, np.float32, np.int64]))
def test_likelihood(runtime, rng, tmp_path, dtype, on_device):
    x = rng.integers(1, 9, N).astype(dtype)
    size = 4 if dtype == np.float32 else 8
    mapped = memmap(tmp_path, "x", x)
    whole = gs.Likelihood(gs.gamma, x)
    before = on_device[0]
    divided = gs.Likelihood(gs.gamma, mapped, chunk=100, memory=1000 * size)
    by_row = rng.uniform(1, 2, N).astype(np.float32 if dtype == np.float32 else float)
    rtol = 1e-5 if dtype == np.float32 else 1e-11
    for alpha in (2.0, by_row, rng.uniform(1, 2, size=(3, 1))):
        same(divided(alpha, 1.5), whole(alpha, 1.5), rtol)
        same(divided.value_and_grad(alpha, 1.5), whole.value_and_grad(alpha, 1.5), rtol)
    assert on_device[1] - before <= 8000
    assert divided(2.0, 1.5) == pytest.approx(stats.gamma.logpdf(x.astype(float), 2, scale=1 / 1.5).sum(), rel=1e-6)
    near = gs.Likelihood(gs.gamma, x, chunk=100)
    assert near.value_and_grad(2.0, 1.5) == divided.value_and_grad(2.0, 1.5)


def test_memory_alone_chooses_the_pieces(runtime, rng, on_device, monkeypatch):
    monkeypatch.setattr(stream, "SMALLEST_PIECE", 1 << 10)
    X, y = rng.normal(size=(N, K)), rng.poisson(1.0, N)
    memory = 60_000
    before = on_device[0]
    glm = gs.GLM(gs.poisson_log, y, X, memory=memory)
    same(glm.value_and_grad(np.ones(K) / 9), gs.GLM(gs.poisson_log, y, X).value_and_grad(np.ones(K) / 9))
    assert memory / 2 < on_device[1] - before <= memory
    assert gs.GLM(gs.poisson_log, y, X, memory=1 << 30)._pieces is None  # all of it fits
    assert len(gs.GLM(gs.poisson_log, y, X, memory=8000)._pieces.ranges) == -(-N // (1000 // (8 * (K + 1))))


def test_what_the_device_cannot_hold_is_streamed_unasked(rng, monkeypatch):
    x = rng.normal(size=N)
    runtime = choose.get()
    monkeypatch.setattr(stream, "SMALL_DATA", 1 << 10)
    monkeypatch.setattr(stream, "SMALLEST_PIECE", 1 << 10)
    monkeypatch.setattr(runtime, "free_memory", lambda: 10_000)
    likelihood = gs.Likelihood(gs.normal, x)
    assert len(likelihood._pieces.ranges) > 2
    assert likelihood(0.0, 1.0) == pytest.approx(stats.norm.logpdf(x).sum(), rel=1e-12)
    assert gs.Likelihood(gs.normal, Stored(x[:100]))._pieces is None


def test_a_stream_that_is_gone_leaves_nothing(rng, on_device):
    likelihood = gs.Likelihood(gs.normal, rng.normal(size=N), chunk=100)
    (thread,) = likelihood._pieces._readers[0]._threads
    assert on_device[0] == 8 * N and thread.is_alive()
    del likelihood
    thread.join(10)
    assert on_device[0] == 0 and not thread.is_alive()


def test_the_collector_may_come_where_a_lock_is_held():
    """A stream may be freed within any call: also where a pool of threads is just given work, and holds a lock for that."""
    output = run("""
        import concurrent.futures.thread as pools, gc, time
        import numpy as np, gpustats as gs
        likelihood = gs.Likelihood(gs.normal, np.zeros(1000), chunk=100)
        (reader,) = likelihood._pieces._readers[0]._threads
        with pools._global_shutdown_lock:
            del likelihood
            gc.collect()
        reader.join(10)
        print(reader.is_alive())
        """, seconds=60)  # fmt: skip
    assert output == "False\n"


def test_files_that_fit_are_read_once(rng, tmp_path):
    x = rng.normal(size=N)
    stored = Stored(x)
    likelihood = gs.Likelihood(gs.normal, stored)
    for _ in range(2):
        assert likelihood(0.0, 1.0) == gs.Likelihood(gs.normal, x)(0.0, 1.0)
    assert stored.reads == [(None, N)]
    gs.Mixture(gs.normal, memmap(tmp_path, "x", x)).loglik(np.zeros(1), 0.0, 1.0)


# ---- how it runs


def test_value_and_gradient_read_the_data_once(rng):
    x = Stored(rng.normal(size=1000))
    likelihood = gs.Likelihood(gs.normal, x, chunk=100, memory=400 * 8)
    kept = sorted(x.reads)
    assert kept == [(0, 100), (100, 200)]  # two stay, two pass through
    x.reads.clear()
    likelihood.value_and_grad(0.0, 1.0)
    assert x.reads == [(i, i + 100) for i in range(200, 1000, 100)]


def test_reading_and_computing_overlap(rng, monkeypatch):
    """While one piece is computed on, the next is read."""
    x = Stored(rng.normal(size=1000))
    likelihood = gs.Likelihood(gs.normal, x, chunk=100, memory=200 * 8)
    call, computed = gs.Likelihood.__call__, []

    def until_the_next_is_read(self, *args):
        if self._pieces is None:
            computed.append(len(computed))
            wanted, deadline = min(len(computed) + 1, 10), time.monotonic() + 10
            while len(x.reads) < wanted:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            assert len(x.reads) == wanted  # and no further one, for which there is no room
        return call(self, *args)

    monkeypatch.setattr(gs.Likelihood, "__call__", until_the_next_is_read)
    likelihood(0.0, 1.0)
    assert len(computed) == 10


def test_two_pieces_arrive_at_once_where_two_can_read(rng, on_device):
    """One is copied while the other is prepared; each has memory of its own, and results come in the order of the rows."""
    x = rng.normal(size=(1000, 2))
    readers_of, arrived = [], stream.StreamedPieces._arrived
    for data, n_readers in ((x[:, 0], 2), (FaultyRows(x[:, 0]), 2), (Stored(x[:, 0]), 1)):
        before = on_device[0]
        on_device[1] = before
        likelihood = gs.Likelihood(gs.normal, data, chunk=100, memory=200 * 8)
        expected = gs.Likelihood(gs.normal, x[:, 0].copy(), chunk=100).value_and_grad(0.1, 1.2)
        readers_of.clear()

        def noted(self, i, done):
            readers_of.append((threading.get_ident(), i))
            return arrived(self, i, done)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream.StreamedPieces, "_arrived", noted)
            assert likelihood.value_and_grad(0.1, 1.2) == expected
        assert sorted(i for _, i in readers_of) == list(range(10))
        readers = [{reader for reader, i in readers_of if i % 2 == odd} for odd in (0, 1)]
        assert all(len(its) == 1 for its in readers) and len(set.union(*readers)) == n_readers
    assert on_device[1] - before <= 1000 * 8 + 200 * 8


@pytest.mark.parametrize("order", some(["C", "F", "strided", "reversed"], 2))
@pytest.mark.parametrize("dtype", some([np.float32, np.float64, np.int16]))
def test_layouts_and_types(runtime, rng, order, dtype):
    wide = (3 * rng.normal(size=(2 * N, 2 * K))).astype(dtype)
    layouts = {"C": wide[:N, :K].copy(), "F": np.asfortranarray(wide[:N, :K]), "strided": wide[::2, ::2]}
    X = (layouts | {"reversed": wide[N - 1 :: -1, :K]})[order]
    y, beta = rng.poisson(1.0, N), 0.01 * np.arange(K)
    divided = gs.GLM(gs.poisson_log, y, X, chunk=250, memory=1000 * 8 * (K + 1))
    whole = gs.GLM(gs.poisson_log, y, X.copy(), chunk=250)
    same(divided.value_and_grad(beta, 0.1), whole.value_and_grad(beta, 0.1), 0.0)


def test_pieces_take_the_memory_of_those_before(like_a_gpu, rng, monkeypatch):
    """Models of a device with memory of its own are made for the pieces that are there at a time, and filled with others."""
    n = 1030
    X, x, cov = rng.normal(size=(n, 3)), rng.normal(size=n), np.diag([1.0, 2.0, 3.0]) + 0.2
    y, group, weights = rng.poisson(1.0, n), rng.integers(0, 4, n), rng.uniform(size=n)
    made, pieces = [], {kind: kind._piece for kind in (gs.GLM, gs.Likelihood)}
    for kind, piece in pieces.items():
        monkeypatch.setattr(kind, "_piece", lambda self, *a, piece=piece: made.append(a) or piece(self, *a))
    models = {
        "glm": (lambda **o: gs.GLM(gs.poisson_log, y, X, weights=weights, offset=0.1 * x, **o), (np.full(3, 0.1), 0.2), 4, 3),
        "groups": (lambda **o: gs.GLM(gs.poisson_log, y, X, groups=group, **o), (np.full(3, 0.1), np.ones(4)), 4, 11),
        "likelihood": (lambda **o: gs.Likelihood(gs.normal, x, **o), (0.1, 1.2), 1, 3),
        "vectors": (lambda **o: gs.Likelihood(gs.mvnormal, X, **o), (np.zeros(3), cov), 3, 3),
    }
    with gs.use(like_a_gpu):
        for name, (make, args, numbers, n_made) in models.items():
            divided, whole = make(chunk=100, memory=200 * 8 * (numbers + 4)), make()
            made.clear()
            for method in ("value_and_grad", "__call__"):
                same(getattr(divided, method)(*args), getattr(whole, method)(*args))
            assert len(made) <= 2 * n_made, (name, len(made))
        same(divided(np.zeros(3), precision=cov), whole(np.zeros(3), precision=cov))


def test_errors_end_a_call_and_the_next_one_works(rng, on_device):
    x = rng.normal(size=1000)

    class Broken(Stored):
        broken = False

        def __getitem__(self, rows):
            if self.broken and rows.start == 500:
                raise OSError("the disk is gone")
            return super().__getitem__(rows)

    stored = Broken(x)
    likelihood = gs.Likelihood(gs.normal, stored, chunk=100, memory=300 * 8)
    kept = on_device[0]
    Broken.broken = True
    with pytest.raises(OSError, match="the disk is gone"):
        likelihood(0.0, 1.0)
    with pytest.raises(ValueError, match="no parameter 'nu'"):
        likelihood(0.0, 1.0, nu=3.0)
    Broken.broken = False
    assert likelihood(0.0, 1.0) == pytest.approx(stats.norm.logpdf(x).sum(), rel=1e-12)
    assert on_device[0] == kept


class Faulty(Stored):
    """Raises an error at a place, while there is one."""

    fault, place = None, 0

    def __getitem__(self, rows):
        if self.fault and rows.start == self.place:
            raise self.fault("of the reader")
        return super().__getitem__(rows)


class FaultyRows(HostRows):
    """The same for rows that two threads read."""

    fault, place = None, 0

    def __init__(self, array, first=0, whole=None):
        self.numbers, self.first, self.whole, self.shape, self.dtype = array, first, whole or self, array.shape, array.dtype

    def part(self, first, end):
        return FaultyRows(self.numbers[first:end], self.first + first, self.whole)

    def read(self, out):
        if self.whole.fault and self.first == self.whole.place:
            raise self.whole.fault("of the reader")
        out[...] = self.numbers


@pytest.mark.parametrize("kind", some([Faulty, FaultyRows], 2))
@pytest.mark.parametrize("error", some([OSError, MemoryError, SystemExit, KeyboardInterrupt], 2))
@pytest.mark.parametrize("place", some([0, 900, 200], 2))
def test_faults_of_the_reader(rng, on_device, kind, error, place):
    """The call raises what the reader has raised, wherever in the data that was, and leaves nothing on the device."""
    x = rng.normal(size=1000)
    stored = kind(x)
    stored.place = place
    likelihood = gs.Likelihood(gs.normal, stored, chunk=100, memory=200 * 8)  # none stays
    before, expected = on_device[0], likelihood.value_and_grad(0.0, 1.0)
    for _ in range(2):
        stored.fault = error
        with pytest.raises(error, match="of the reader"):
            likelihood.value_and_grad(0.0, 1.0)
        assert on_device[0] == before
        with pytest.raises(error, match="of the reader"):
            gs.Likelihood(gs.normal, stored, chunk=100, memory=1000 * 8)
        stored.fault = None
        assert likelihood.value_and_grad(0.0, 1.0) == expected
    gc.collect()
    assert on_device[0] == before


@THOROUGH
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "options", ["chunk=100, memory=200 * 8", "chunk=100, memory=400 * 8", f"devices={IDS[:1] * 2}"]
)
def test_a_forked_child_does_not_wait_for_threads_of_its_parent(options):
    code = f"""
    import numpy as np, gpustats as gs
    likelihood = gs.Likelihood(gs.normal, np.zeros(1000), {options})
    """
    error = error_in_a_forked_child(code, "likelihood(0.0, 1.0)")
    assert "this process was forked from one that had already used" in error


def test_threads_take_turns(rng, on_device):
    x = rng.normal(size=2000)
    before = on_device[0]
    likelihood = gs.Likelihood(gs.normal, Stored(x), chunk=100, memory=300 * 8)
    found = []
    threads = [threading.Thread(target=lambda i=i: found.append((i, likelihood(float(i), 1.0)))) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(i, likelihood(float(i), 1.0)) for i in range(3)]
    assert on_device[1] - before <= 300 * 8


def test_a_stream_on_each_device(rng, data, like_a_gpu):
    unlike = [choose.get(), like_a_gpu]
    stored = {n: Stored(v) for n, v in data.items()}
    beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
    glm = gs.GLM(gs.poisson_log, **stored, devices=unlike, chunk=100, memory=300 * 80)
    same(glm.value_and_grad(beta, alpha), gs.GLM(gs.poisson_log, **data).value_and_grad(beta, alpha))


def test_errors(rng):
    x = rng.normal(size=1000)
    with pytest.raises(ValueError, match="2 pieces of 500 rows take 8000 bytes of the device, and memory=5000"):
        gs.Likelihood(gs.normal, x, chunk=500, memory=5000)
    for wrong in (dict(chunk=0), dict(memory=-1), dict(memory="1 GB"), dict(chunk=[1])):
        with pytest.raises(ValueError, match="must be a positive number of"):
            gs.Likelihood(gs.normal, x, **wrong)
    with pytest.raises(TypeError, match="x has dtype complex128"):
        gs.Likelihood(gs.normal, Stored(x.astype(complex)), chunk=10)
    with pytest.raises(ValueError, match=r"y has shape \(999,\), and X has 1000 rows"):
        gs.GLM(gs.poisson_log, Stored(x[:999]), Stored(x[:, None]), chunk=10)
    with pytest.raises(ValueError, match="on a device already"):
        gs.Likelihood(gs.normal, gs.to_device(x), chunk=10)
    with pytest.raises(ValueError, match="needs a column"):
        gs.GLM(gs.poisson_log, x, Stored(np.empty((1000, 0))), chunk=10)


def test_nothing(rng):
    assert gs.Likelihood(gs.normal, np.empty(0), chunk=10)(0.0, 1.0) == 0.0
    glm = gs.GLM(gs.poisson_log, np.empty(0), np.empty((0, K)), chunk=10)
    value, gradient = glm.value_and_grad(np.ones(K), 0.1)
    assert value == 0.0 and not gradient["beta"].any() and glm.logpdf(np.ones(K)).shape == (0,)
