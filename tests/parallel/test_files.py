"""Memory-mapped files that change while a model is in use."""

import mmap
import os
import pickle
import threading
import time

import numpy as np
import pytest
from pieces import memmap
from runtimes import run
from thorough import THOROUGH

import gpustats as gs
from gpustats.parallel import files
from gpustats.parallel.rows import as_rows
from gpustats.parallel.stream import StreamedPieces
from gpustats.runtime import choose
from gpustats.runtime.host_memory import HostRows

pytestmark = pytest.mark.skipif(not hasattr(os, "preadv"), reason="files are read through memory on Windows")

N = 2000
STREAM = dict(chunk=100, memory=400 * 8)  # two pieces stay, eighteen pass through at each call


@pytest.fixture
def x(rng):
    return rng.normal(size=N)


def shrink(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


def grow(path):
    with path.open("ab") as file:
        file.write(bytes(80))


def write(path):
    with path.open("r+b") as file:
        file.seek(8 * 1500)
        file.write(np.zeros(100).tobytes())


def replace(path):
    other = path.with_name("other")
    other.write_bytes(np.zeros(N).tobytes())
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)


CHANGES = dict(shrink=shrink, empty=empty, grow=grow, write=write, replace=replace)
views = {
    "whole": lambda x: x, "a slice": lambda x: x[200:], "a plain view": lambda x: np.asarray(x)[:-100],
    "a step": lambda x: x[::2], "backwards": lambda x: x[::-1],
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_calls(tmp_path, x, change):
    likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), **STREAM)
    for _ in range(2):
        assert likelihood(0.0, 1.0) == gs.Likelihood(gs.normal, x, chunk=100)(0.0, 1.0)
    CHANGES[change](tmp_path / "x")
    for method in (likelihood, likelihood.value_and_grad, likelihood.hessian):
        with pytest.raises(
            RuntimeError, match=r"x: the file .*x (has changed since|was replaced by another).* make a new model"
        ):
            method(0.0, 1.0)


@pytest.mark.parametrize("change", ["shrink", "write", "replace"])
@pytest.mark.parametrize("view", views)
def test_views(tmp_path, x, view, change):
    mapped = views[view](memmap(tmp_path, "x", x))
    likelihood = gs.Likelihood(gs.normal, mapped, **STREAM)
    assert likelihood(0.1, 1.0) == gs.Likelihood(gs.normal, views[view](x), chunk=100)(0.1, 1.0)
    CHANGES[change](tmp_path / "x")
    with pytest.raises(RuntimeError, match="make a new model"):
        likelihood(0.1, 1.0)


def test_npy_files(tmp_path, x):
    np.save(tmp_path / "x.npy", x)
    likelihood = gs.Likelihood(gs.normal, np.load(tmp_path / "x.npy", mmap_mode="r"), **STREAM)
    assert likelihood(0.1, 1.0) == gs.Likelihood(gs.normal, x, chunk=100)(0.1, 1.0)
    shrink(tmp_path / "x.npy")
    with pytest.raises(RuntimeError, match=r"x: the file .*x\.npy has changed since the model was made \(16128 bytes"):
        likelihood(0.1, 1.0)


@pytest.mark.parametrize("name", ["y", "X", "offset", "weights", "groups"])
def test_glm(tmp_path, rng, name):
    data = dict(
        y=rng.poisson(1.0, N), X=rng.normal(size=(N, 3)), offset=rng.normal(size=N), weights=rng.uniform(size=N)
    )
    data["groups"] = rng.integers(0, 4, N)
    glm = gs.GLM(gs.poisson_log, **{n: memmap(tmp_path, n, v) for n, v in data.items()}, chunk=100, memory=400 * 60)
    value, gradient = glm.value_and_grad(np.ones(3), np.zeros(4))
    expected, gradients = gs.GLM(gs.poisson_log, **data, chunk=100).value_and_grad(np.ones(3), np.zeros(4))
    assert value == expected and (gradient["beta"] == gradients["beta"]).all()
    shrink(tmp_path / name)
    with pytest.raises(RuntimeError, match=rf"{name}: the file"):
        glm.logpdf(np.ones(3), np.zeros(4))


def test_layouts(tmp_path, rng):
    """What is read is what is mapped, however the numbers lie in the file."""
    a = rng.normal(size=(400, 7, 3))
    mapped = memmap(tmp_path, "a", a)
    row_major = memmap(tmp_path, "big", rng.normal(size=(3000, 200)))
    cases = [
        mapped, mapped[10:], mapped[:, 2:4], mapped[:, :, 1], mapped[::3], mapped[::-1], mapped[:, ::-2, ::-1], mapped.T,
        mapped.transpose(1, 0, 2), mapped[5:5], mapped[:, :0], mapped[3:4], row_major.T, row_major[:, ::50], row_major[::-7].T,
        np.broadcast_to(mapped[0, 0], (50, 3)), np.asarray(mapped)[None],
    ]  # fmt: skip
    for case in cases:
        rows = as_rows(case, "a")
        assert isinstance(rows, files.FileRows)
        n = len(case)
        for first, end in ((0, n), (n // 3, n // 2), (n, n)):
            np.testing.assert_array_equal(rows[first:end], case[first:end])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows))[:], case)


@THOROUGH
def test_a_file_that_is_emptied_during_a_call(tmp_path):
    """The process lives, and says what happened."""
    code = f"""
    import os, threading, time
    import numpy as np, gpustats as gs
    path = {str(tmp_path / "x")!r}
    np.zeros(1 << 21).tofile(path)
    likelihood = gs.Likelihood(gs.normal, np.memmap(path, float, "r"), chunk=1 << 12, memory=1 << 18)
    expected = likelihood(0.0, 1.0)
    done = threading.Event()
    def again():
        try:
            while True:
                assert likelihood(0.0, 1.0) == expected
        except RuntimeError as error:
            print(error)
        done.set()
    threading.Thread(target=again).start()
    time.sleep(0.05)
    os.truncate(path, 0)
    assert done.wait(20)
    """
    assert "has changed since the model was made (16777216 bytes" in run(code)


def test_a_change_during_a_call(tmp_path, x, monkeypatch):
    """Also of rows that have been read."""
    likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), **STREAM)
    arrived, pieces = StreamedPieces._arrived, []

    def changed_on_the_way(self, *args):
        pieces.append(len(pieces))
        if len(pieces) == 10:
            os.utime(tmp_path / "x")
        return arrived(self, *args)

    monkeypatch.setattr(StreamedPieces, "_arrived", changed_on_the_way)
    with pytest.raises(RuntimeError, match="has changed since"):
        likelihood(0.0, 1.0)
    assert 10 <= len(pieces) <= 12


def test_a_file_that_changes_at_once(tmp_path, x):
    """Clocks of file systems have ticks: a change right after the model was made has another time than the one before."""
    for _ in range(20):
        x.tofile(tmp_path / "x")
        rows = as_rows(np.memmap(tmp_path / "x", float, "r"), "x")
        write(tmp_path / "x")
        with pytest.raises(RuntimeError, match="has changed since"):
            rows[:]


def test_a_file_that_changed_before(tmp_path, x):
    for change, message in ((shrink, "ends 8000 bytes before what was mapped"), (replace, "map it anew")):
        mapped = memmap(tmp_path, "x", x)
        change(tmp_path / "x")
        for make in (gs.Likelihood, gs.Mixture):
            with pytest.raises((ValueError, RuntimeError), match=message):
                make(gs.normal, mapped)


def test_without_a_path(tmp_path, x):
    """A file that was removed lives on, and one that cannot be told is watched by its size."""
    removed, mapped = memmap(tmp_path, "x", x), memmap(tmp_path, "y", x)
    with (tmp_path / "z").open("w+b") as file:
        file.write(x.tobytes())
        file.flush()
        unknown = np.frombuffer(mmap.mmap(file.fileno(), 0))
    likelihood = gs.Likelihood(gs.normal, mapped, **STREAM)
    (tmp_path / "x").unlink(), (tmp_path / "y").unlink()
    expected = gs.Likelihood(gs.normal, x, chunk=100)(0.0, 1.0)
    assert likelihood(0.0, 1.0) == expected
    for array in (removed, unknown):
        other = gs.Likelihood(gs.normal, array, **STREAM)
        assert other(0.0, 1.0) == expected == pickle.loads(pickle.dumps(other))(0.0, 1.0)
    shrink(tmp_path / "z")
    with pytest.raises(RuntimeError, match="had 16000 bytes when the model was made, and has 8000 now"):
        other(0.0, 1.0)


def test_writable_maps(tmp_path, x):
    """What was written through the map before the model was made is in it, also what is in memory alone."""
    x.tofile(tmp_path / "x")
    for mode in ("r+", "c"):
        mapped = np.memmap(tmp_path / "x", float, mode)
        mapped[-1] = 7.0
        likelihood = gs.Likelihood(gs.normal, mapped, **STREAM)
        expected = gs.Likelihood(gs.normal, np.array(mapped), chunk=100)(0.0, 1.0)
        assert likelihood(0.0, 1.0) == expected == pickle.loads(pickle.dumps(likelihood))(0.0, 1.0)
        x.tofile(tmp_path / "x")


def test_data_that_were_read_may_go(tmp_path, x):
    """A model that has all its data on the device does not read them again."""
    for options in ({}, dict(chunk=100)):
        likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), **options)
        before = likelihood(0.0, 1.0)
        shrink(tmp_path / "x")
        assert likelihood(0.0, 1.0) == before


@pytest.mark.parametrize("change", ["write", "replace"])
def test_hdf5(tmp_path, x, change):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x", "w") as file:
        file.create_dataset("group/x", data=x)
    likelihood = gs.Likelihood(gs.normal, h5py.File(tmp_path / "x", "r")["group/x"], **STREAM)
    other = pickle.loads(pickle.dumps(likelihood))
    assert likelihood(0.0, 1.0) == other(0.0, 1.0) == gs.Likelihood(gs.normal, x, chunk=100)(0.0, 1.0)
    CHANGES[change](tmp_path / "x")
    for model in (likelihood, other):
        with pytest.raises(RuntimeError, match="make a new model"):
            model(0.0, 1.0)


def test_hdf5_that_is_written_to(tmp_path, x):
    """The user keeps it open for writing: when it gets to the disk tells nothing."""
    file = pytest.importorskip("h5py").File(tmp_path / "x", "w")
    likelihood = gs.Likelihood(gs.normal, file.create_dataset("x", data=x), **STREAM)
    expected = likelihood(0.0, 1.0)
    file.create_dataset("another", data=x)
    file.flush()
    assert likelihood(0.0, 1.0) == expected


def test_hdf5_in_another_type(tmp_path, x):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x", "w") as file:
        file["x"] = x
    view = h5py.File(tmp_path / "x", "r")["x"].astype("f4")
    assert gs.Likelihood(gs.normal, view, **STREAM)(0.0, 1.0) == gs.Likelihood(gs.normal, view[:], chunk=100)(0.0, 1.0)


def test_devices(tmp_path, x):
    likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), devices=[choose.get()] * 2, **STREAM)
    assert likelihood(0.0, 1.0) == gs.Likelihood(gs.normal, x, devices=[choose.get()] * 2, chunk=100)(0.0, 1.0)
    write(tmp_path / "x")
    with pytest.raises(RuntimeError, match="has changed since"):
        likelihood(0.0, 1.0)


def test_other_arrays_are_no_files(tmp_path, x):
    mapped = memmap(tmp_path, "x", x)
    shared = np.frombuffer(mmap.mmap(-1, 80))  # with forked children
    for array in (x, x[::2], mapped + 1, mapped.copy(), mapped[[1, 2]], list(x[:3]), np.float64(2.0), shared):
        assert not isinstance(as_rows(array, "x"), HostRows)
    with pytest.raises(TypeError, match="x is masked"):
        as_rows(np.ma.MaskedArray(mapped, x > 0), "x")
    with pytest.raises(TypeError, match="x has dtype complex128"):
        as_rows(np.memmap(tmp_path / "x", complex, "r"), "x")


def test_files_are_closed(tmp_path, x):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else pytest.skip("needs /proc")
    for _ in range(5):
        gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), **STREAM)(0.0, 1.0)
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_threads_that_call_while_a_file_changes(tmp_path, x):
    """Each call is right, or raises."""
    likelihood = gs.Likelihood(gs.normal, memmap(tmp_path, "x", x), **STREAM)
    expected, errors, wrong = likelihood(0.0, 1.0), [], []

    def call():
        try:
            while not errors:
                if likelihood(0.0, 1.0) != expected:
                    wrong.append(1)
        except RuntimeError as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    write(tmp_path / "x")
    for thread in threads:
        thread.join()
    assert errors and not wrong
