"""`DeviceArray` on a stand-in for a CUDA device: its views and copies are those of NumPy over the same memory."""

import cuda_stand_in
import numpy as np
import pytest

import gpustats as gs
from gpustats.runtime import choose


@pytest.fixture
def runtime(monkeypatch):
    with cuda_stand_in.in_place(monkeypatch):
        yield choose.get("cuda:0")


KEYS = [
    (), Ellipsis, 0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(4, 0, -2), slice(5, 5), None, (0, 1),
    (slice(1, None), 2), (Ellipsis, 1), (Ellipsis, slice(None, None, -3)), (None, 1, Ellipsis, None),
    (slice(2), None, -1, slice(1, 9, 4)), np.int64(2),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices(runtime, key, dtype):
    host = np.arange(5 * 4 * 6).reshape(5, 4, 6).astype(dtype)
    for view in (lambda a: a[key], lambda a: a.T[key].T, lambda a: a[::-1, :, ::2][key]):
        found, theirs = view(runtime.to_device(host)), view(host)
        assert found.shape == theirs.shape and found.dtype == theirs.dtype and found.ndim == theirs.ndim
        assert found.size == theirs.size and found.nbytes == theirs.nbytes
        assert theirs.size == 0 or all(a == b for a, b, n in zip(found.strides, theirs.strides, found.shape) if n > 1)
        np.testing.assert_array_equal(found.get(), theirs)
        assert theirs.size == 0 or found.flags.c_contiguous == theirs.flags.c_contiguous
        assert theirs.size == 0 or found.flags.f_contiguous == theirs.flags.f_contiguous


def test_random_views(runtime):
    rng = np.random.default_rng(8)
    for _ in range(200):
        host = rng.normal(size=rng.integers(1, 5, rng.integers(1, 5)))
        ours = runtime.to_device(host)
        for _ in range(3):
            if not host.ndim:
                break
            order = rng.permutation(host.ndim)
            key = tuple(
                slice(int(rng.integers(-6, 6)), int(rng.integers(-6, 6)), int(rng.choice([-2, -1, 1, 2])))
                if rng.random() < 0.6 or not n else int(rng.integers(-n, n)) for n in host.shape
            )  # fmt: skip
            host, ours = (host.transpose(order), ours.transpose(order)) if rng.random() < 0.4 else (host[key], ours[key])
            np.testing.assert_array_equal(ours.get(), host)


@pytest.mark.parametrize("shape", [(24,), (2, 12), (4, -1), (-1,), (1, 24, 1), (2, 3, 4), -1])
def test_shapes(runtime, shape):
    host = np.arange(24.0).reshape(4, 6)
    np.testing.assert_array_equal(runtime.to_device(host).reshape(shape).get(), host.reshape(shape))
    lengths = shape if isinstance(shape, tuple) else (shape,)
    np.testing.assert_array_equal(runtime.to_device(host).reshape(*lengths).get(), host.reshape(shape))


def test_nothing_and_one_number(runtime):
    for shape in ((), (0,), (3, 0, 2), (1,), (1, 1)):
        host = np.full(shape, 2.5)
        ours = runtime.to_device(host)
        assert ours.shape == shape and ours.get().shape == shape and np.asarray(ours).shape == shape
        np.testing.assert_array_equal(ours.reshape(host.size).get(), host.reshape(-1))
        if host.size == 1:
            assert ours.item() == 2.5 and float(ours) == 2.5 and bool(ours)
        else:
            with pytest.raises(ValueError, match=r"shape \(.*0.*\)"):
                ours.item()
            assert ours.__cuda_array_interface__["data"][0] == 0
    with pytest.raises(TypeError, match="no length"):
        len(runtime.to_device(np.array(1.0)))
    assert len(runtime.to_device(np.zeros((3, 2)))) == 3


def test_numbers(runtime):
    assert float(runtime.to_device(np.array([3]))) == 3.0 and runtime.to_device(np.array([3])).item() == 3


def test_views_as_other_types(runtime):
    host = np.arange(12.0).reshape(3, 4)
    ours = runtime.to_device(host)
    for dtype in ("i8", "u1", "f4", "c16"):
        np.testing.assert_array_equal(ours.view(dtype).get(), host.view(dtype))
    with pytest.raises(ValueError, match=r"no view as int32"):
        ours.T.view("i4")


def test_what_is_set(runtime):
    ours = runtime.to_device(np.zeros((3, 4)))
    ours.set(np.arange(12).reshape(3, 4))
    ours[1].set(np.full(4, 7.0))
    np.testing.assert_array_equal(ours.get(), [[0, 1, 2, 3], [7, 7, 7, 7], [8, 9, 10, 11]])
    for wrong in (np.zeros(4), np.zeros((4, 3))):
        with pytest.raises(ValueError, match=r"\(3, 4\)"):
            ours.set(wrong)
    with pytest.raises(ValueError, match="gaps"):
        ours.T.set(np.zeros((4, 3)))


@pytest.mark.parametrize("call, words", [
    (lambda a: a[5], "out of bounds"), (lambda a: a[0, 0, 0], "3 indices"), (lambda a: a[[0, 1]], "whole numbers"),
    (lambda a: a[..., ...], "one ..."), (lambda a: a[1.5], "1.5"), (lambda a: a.reshape(5, 5), r"\(3, 4\)"),
    (lambda a: a.reshape(-1, 5), r"\(3, 4\)"), (lambda a: a.reshape(-1, -1), r"\(3, 4\)"),
    (lambda a: a.T.reshape(12), "copy it"), (lambda a: a.transpose((0, 0)), "each of its axes once"),
    (bool, "truth value"), (lambda a: a[True], "True"), (lambda a: a.transpose((5, 0)), "each of its axes once"),
    (lambda a: np.array(a, copy=False), "without a copy"),
])  # fmt: skip
def test_errors_say_what_is_wrong(runtime, call, words):
    with pytest.raises((ValueError, IndexError), match=words):
        call(runtime.to_device(np.zeros((3, 4))))


def test_it_is_no_number_to_arithmetic(runtime):
    """Which is CuPy's work: nothing is copied to the host unseen by an operator."""
    with pytest.raises(TypeError):
        runtime.to_device(np.zeros(3)) + 1.0


def test_the_interface_of_cuda_arrays(runtime):
    ours = runtime.to_device(np.arange(12.0).reshape(3, 4))
    interface = ours.__cuda_array_interface__
    assert interface["shape"] == (3, 4) and interface["typestr"] == "<f8" and interface["strides"] is None
    assert interface["data"] == (ours.ptr, False) and interface["stream"] == int(runtime.state().stream)
    assert ours.T.__cuda_array_interface__["strides"] == (8, 32)
    assert choose.for_array(ours) is runtime and gs.to_device(ours) is ours


def test_memory_lives_as_long_as_a_view(runtime):
    view = runtime.to_device(np.arange(1000.0))[500:]
    others = [runtime.to_device(np.full(1000, -1.0)) for _ in range(5)]
    np.testing.assert_array_equal(view.get(), np.arange(500.0, 1000.0))
    assert len(others) == 5
