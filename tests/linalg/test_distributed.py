"""Triangles in blocks of rows on several devices, against SciPy."""

import dataclasses

import numpy as np
import pytest
from scipy import linalg

import gpustats as gs
from gpustats.linalg import block_rows, distributed
from gpustats.linalg.block_rows import BlockRows, ends_of_blocks
from gpustats.linalg.host import HostProvider
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.matrix import Matrix
from gpustats.linalg.providers import provider_of
from gpustats.runtime import choose

SIZES = [1, 31, 32, 33, 100, 129]


@pytest.fixture(params=["all", "best", "kernels", "different"])
def providers(request):
    """All devices, often one, and three: one, by the best provider or our own kernels, and those with memories of their own."""
    here = choose.get()
    if request.param == "all":
        return [provider_of(runtime) for runtime in choose.several("all")]
    if request.param == "best":
        return [provider_of(here)] * 3
    if request.param == "kernels":
        return [KernelProvider(here)] * 3
    other = request.getfixturevalue("like_a_gpu")
    return [KernelProvider(other), provider_of(here), KernelProvider(other)]


def positive_definite(rng, n, dtype=np.float64):
    a = rng.normal(size=(n, n))
    return (a @ a.T / n + np.eye(n)).astype(dtype)


def placed(providers, a):
    """The lower triangle of a matrix; what lies above the diagonal is nan."""
    made = BlockRows(providers, len(a), a.dtype)
    below = np.where(np.tri(len(a), dtype=bool), a, np.nan).astype(a.dtype)
    for block in made.blocks:
        made.write(block, below[block.rows, : block.rows.stop])
    return made


def numbers(made):
    """The lower triangle on the host."""
    found = np.zeros((made.n, made.n), made.dtype)
    for block in made.blocks:
        found[block.rows, : block.rows.stop] = made.read(block)
    return np.tril(found)


def read(made, matrices):
    return [p.read(m.memory.array).reshape(m.shape) for p, m in zip(made.providers, matrices, strict=True)]


@pytest.mark.parametrize("n", SIZES)
def test_equals_scipy(n, providers, rng):
    a, b = positive_definite(rng, n), rng.normal(size=(n, 3))
    l = placed(providers, a)  # noqa: E741
    infos = distributed.potrf(l)
    assert not any(l.providers[block.place].read(i).any() for block, i in zip(l.blocks, infos, strict=True))
    want = linalg.cholesky(a, lower=True)
    np.testing.assert_allclose(numbers(l), want, rtol=1e-12, atol=1e-13)
    solved = l.replicated(b)
    distributed.solve(l, solved)
    for found in read(l, solved):  # every device has it
        np.testing.assert_allclose(found, linalg.solve_triangular(want, b, lower=True), rtol=1e-12, atol=1e-13)
    distributed.trtri(l)
    inverse = linalg.solve_triangular(want, np.eye(n), lower=True)
    np.testing.assert_allclose(numbers(l), inverse, rtol=1e-12, atol=1e-13)
    product = distributed.transposed_product(l, l.replicated(b))
    np.testing.assert_allclose(product, inverse.T @ b, rtol=1e-12, atol=1e-13)
    distributed.gram(l)
    np.testing.assert_allclose(numbers(l), np.tril(linalg.inv(a)), rtol=1e-12, atol=1e-13)


def test_float32(providers, rng):
    a = positive_definite(rng, 100, np.float32)
    l = placed(providers, a)  # noqa: E741
    distributed.potrf(l)
    assert l.dtype == np.float32
    np.testing.assert_allclose(numbers(l), linalg.cholesky(a.astype(float), lower=True), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("row", [0, 20, 32, 70, 99])
def test_the_first_minor_that_is_not_positive_definite(row, providers, rng):
    a = positive_definite(rng, 100)
    a[row, row] = -1
    l = placed(providers, a)  # noqa: E741
    infos = [int(l.providers[block.place].read(i)[0]) for block, i in zip(l.blocks, distributed.potrf(l), strict=True)]
    first = next(block for block, info in zip(l.blocks, infos, strict=True) if info)
    assert first.rows.start + infos[first.number] == row + 1


def test_no_rows(providers):
    l = placed(providers, np.zeros((0, 0)))  # noqa: E741
    assert not l.blocks and not distributed.potrf(l)
    distributed.trtri(l)
    distributed.gram(l)


def test_devices_have_as_much_to_do():
    """Rows by turns there and back: the operations of a factorisation, by device."""
    for count in (1, 2, 3, 8):
        provider = provider_of(choose.get())
        made = BlockRows([provider] * count, 256 * count, np.dtype(np.float32))
        work = [sum(b.whole.columns**2 * b.whole.rows for b in made.blocks if b.place == place) for place in range(count)]
        assert max(work) < 1.05 * min(work)


@pytest.mark.parametrize("devices", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 1000, 50_000, 100_001, 500_000])
def test_blocks(n, devices):
    """Whole tiles, in whole rounds, about equal."""
    ends = ends_of_blocks(n, devices)
    sizes = np.diff([0, *ends])
    assert sizes.sum() == n and (n == 0 or sizes.min() > 0) and not any(size % 32 for size in sizes[:-1])
    if n >= 50_000:
        assert len(ends) % (2 * devices) == 0 and sizes.max() <= min(block_rows.MOST_BLOCK_ROWS + 32, sizes.min() + 64)


def test_what_does_not_fit_is_refused(monkeypatch):
    runtime = choose.get()
    monkeypatch.setattr(runtime, "device", dataclasses.replace(runtime.device, memory=10_000))
    with pytest.raises(MemoryError, match=r"lower triangle of 100 x 100 numbers of float64 takes .* name more devices"):
        BlockRows([provider_of(runtime)] * 2, 100, np.dtype(np.float64))


# -- devices that do their work late, in whatever order events allow


class Late:
    """A device with a queue, and what runs the queues of all: the first in an order that gets any further."""

    host_visible = True

    def __init__(self, queues, order):
        self.device, self.queues, self.order = choose.get().device, queues, order
        self.own = self.queue()

    def queue(self):
        self.queues.append([])
        return self.queues[-1]

    def record(self, queue):
        event = []
        queue.append(lambda: event.append(True) or True)
        return event

    def send(self, source, to, target):
        events, bus = [self.record(self.own), self.record(to.own)], self.queue()
        for event in events:
            bus.append(lambda event=event: bool(event))
        bus.append(lambda: np.copyto(target, source) or True)
        end = self.record(bus)

        def wait():
            for queue in (self.own, to.own):
                queue.append(lambda: bool(end))

        return wait

    def synchronize(self):
        while any(self.queues):
            assert any(queue and queue[0]() and queue.pop(0) for queue in self.order(self.queues)), "all wait for one another"


class LateProvider(HostProvider):
    """The host's operations, once their turn has come."""

    def __init__(self, runtime):
        super().__init__()
        self.runtime = runtime

    def empty(self, rows, columns, dtype, batch=1):
        return Matrix.over(self.runtime, np.full((batch, rows, columns), np.nan, dtype))

    def potrf(self, a):
        info = np.zeros(1, np.int32)
        self.runtime.own.append(lambda: np.copyto(info, HostProvider.potrf(self, a)) or True)
        return info


def later(name):
    def operation(self, *args, **kwargs):
        self.runtime.own.append(lambda: getattr(HostProvider, name)(self, *args, **kwargs) or True)

    return operation


for name in ("gemm", "syrk", "trsm", "trtri", "copy", "lower"):
    setattr(LateProvider, name, later(name))

ORDERS = {  # who is behind
    "copies": lambda queues: queues,
    "first": lambda queues: queues[3:] + queues[1:3] + queues[:1],
    "second": lambda queues: queues[3:] + queues[2:3] + queues[:2],
    "third": lambda queues: queues[3:] + queues[:3],
}


@pytest.mark.parametrize("order", ORDERS)
def test_devices_need_not_keep_step(order, rng):
    """Nothing is read before it is there, nor overwritten while it is read, whichever device is ahead."""
    n, queues = 400, []  # of the three devices, then of copies
    providers = [LateProvider(Late(queues, ORDERS[order])) for _ in range(3)]
    a, b = positive_definite(rng, n), rng.normal(size=(n, 2))
    l = placed(providers, a)  # noqa: E741
    assert len(l.blocks) == 12
    distributed.potrf(l)
    solved = l.replicated(b)
    distributed.solve(l, solved)
    distributed.trtri(l)
    product = distributed.transposed_product(l, solved)
    distributed.gram(l)
    want = linalg.inv(a)
    np.testing.assert_allclose(product, want @ b, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(numbers(l), np.tril(want), rtol=1e-11, atol=1e-12)


# -- what users call


@pytest.fixture(params=["twice", "different"])
def devices(request):
    here = choose.get()
    return [here, here] if request.param == "twice" else [here, request.getfixturevalue("like_a_gpu")]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 33, 100])
def test_a_matrix_of_the_host(n, dtype, devices, rng):
    a = positive_definite(rng, n, dtype) if n else np.zeros((0, 0), dtype)
    before, bound = a.copy(), 1e-12 if dtype == np.float64 else 1e-4
    l = gs.linalg.cholesky(a, devices=devices)  # noqa: E741
    assert l.dtype == dtype and type(l) is np.ndarray
    np.testing.assert_allclose(l, np.linalg.cholesky(a.astype(float)) if n else a, rtol=bound, atol=bound)
    want = np.linalg.slogdet(a.astype(float))[1]
    np.testing.assert_allclose(gs.linalg.logdet(a, devices=devices), want, rtol=bound, atol=bound)
    np.testing.assert_array_equal(a, before)


def test_columns_first_and_gaps(rng):
    a = positive_definite(rng, 70)
    want = np.linalg.cholesky(a)
    around = np.full((75, 150), np.nan)
    around[2:72, 3:143:2] = a
    for given in (np.asfortranarray(a), around[2:72, 3:143:2], a.tolist()):
        np.testing.assert_allclose(gs.linalg.cholesky(given, devices=[choose.get()] * 2), want, rtol=1e-12, atol=1e-13)


def test_arguments(rng, like_a_gpu):
    a, two = positive_definite(rng, 40), [choose.get()] * 2
    for change, message in (
        ((lambda b: b.__setitem__((3, 2), np.nan)), r"a has nan or infinite numbers, the first at \[3, 2\]"),
        ((lambda b: b.__setitem__((3, 2), 9.0)), r"a is not symmetric: \[3, 2\]"),
    ):
        wrong = a.copy()
        change(wrong)
        with pytest.raises(ValueError, match=message):
            gs.linalg.cholesky(wrong, devices=two)
    a[35, 35] = -1
    with pytest.raises(np.linalg.LinAlgError, match="a is not positive definite: its leading minor of order 36 is not"):
        gs.linalg.logdet(a, devices=two)
    for given, options, message in (
        (a, dict(where="device"), r"where='device' and devices=.*: leave one of them out"),
        (np.stack([a, a]), {}, r"a has shape \(2, 40, 40\): several devices share one matrix, \(n, n\)"),
        (like_a_gpu.to_device(a), {}, "a lies on a device: leave out devices, or bring it to the host"),
        (a[:3], {}, "must be a square matrix"),
    ):
        with pytest.raises(ValueError, match=message):
            gs.linalg.cholesky(given, devices=two, **options)
