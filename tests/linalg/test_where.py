"""Where linear algebra is computed: on the device or on the host, and in whose memory."""

# ruff: noqa: E741  (l is what the factor is called; functions in loops are called at once)
import numpy as np
from matrices import LEAF, close, plain_cholesky_grad, positive_definite

from gpustats import linalg
from gpustats.linalg import blocked, where
from gpustats.linalg.host import HostProvider
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.providers import provider_of
from gpustats.runtime import choose, speeds
from gpustats.runtime.speeds import Line


def test_the_host_alone(rng):
    """Without a device's runtime."""
    a, l_bar = positive_definite(rng, 3, 40, 40), rng.normal(size=(3, 40, 40))
    l = linalg.cholesky(a, where="host")
    close(l, np.linalg.cholesky(a))
    close(linalg.cholesky_grad(l, l_bar, where="host")[1], plain_cholesky_grad(l[1], l_bar[1]))
    close(linalg.matmul(a, l, where="host"), a @ l)


def test_the_faster_place(monkeypatch):
    line = Line
    measured = {
        "transfer": line(1e-5, 1e-10), "host gemm": line(0, 1e-11), "device gemm": line(1e-5, 1e-13),
        "host potrf": line(0, 1e-11), "device potrf": line(1e-4, 1e-12),
    }  # fmt: skip
    for n, pays in [(10, False), (100, False), (1000, True), (10_000, True)]:
        assert where.pays(measured, 2 * n**3, 3 * 8 * n**2, "gemm") == pays
    assert not where.pays(measured, 2e6, 8 * 10**6, "gemm")  # matrix times vector
    assert where.pays(measured, 1e9, 8 * 10**6, "potrf") and not where.pays(measured, 1e6, 8 * 10**4, "potrf")


def test_measured_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUSTATS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(where, "MEASURED_SIZES", {"host": (16, 64), "device": (16, 64)})
    monkeypatch.setattr(speeds, "TRANSFER_BYTES", 1 << 16)
    runtime, own = choose.get(), KernelProvider(choose.get())
    monkeypatch.setattr(where, "provider_of", lambda runtime: own)
    where.speeds.cache_clear()
    measured = where.speeds(runtime, np.dtype("float64"))
    assert all(l.start >= 0 and l.each >= 0 and l.start + l.each > 0 for l in measured.values())
    where.speeds.cache_clear()
    monkeypatch.setattr(where, "measure", None)
    assert where.speeds(runtime, np.dtype("float64")) == measured
    where.speeds.cache_clear()


def test_the_algorithms_take_no_other_memory(rng):
    """Beside its arguments and its result, the reverse mode has one matrix of their size."""
    taken = []

    class Counting(HostProvider):
        leaf = dense = LEAF

        def empty(self, rows, columns, dtype, batch=1):
            taken.append(rows * columns * batch)
            return super().empty(rows, columns, dtype, batch)

    provider, n = Counting(), 40 * LEAF
    l, work, out = (provider.empty(n, n, np.float64) for _ in range(3))
    for m in (l, work, out):
        m.view[...] = np.eye(n)
    taken.clear()
    blocked.CholeskyReverse(provider, l, work, out).run()
    assert sum(sorted(taken)[-2:]) <= 2 * LEAF * n and max(sorted(taken)[:-2], default=0) <= LEAF**2


def test_providers():
    runtime = choose.get()
    assert provider_of(runtime) is provider_of(runtime)
    assert provider_of(runtime).on_host == runtime.host_visible
