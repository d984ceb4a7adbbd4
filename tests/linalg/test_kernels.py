"""The kernels of linear algebra, on whatever device there is, also where a vendor's library serves it."""

import dataclasses

import numpy as np
import pytest
import scipy.linalg
from thorough import double_first, some

from gpustats.linalg import small
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.matrix import Matrix
from gpustats.runtime import choose

SMALL = [1, 2, 3, 8, 9, 16, 17, 33, 64]
LARGE = [65, 128, 130, 257]


@pytest.fixture(scope="module")
def runtime():
    return choose.get()


@pytest.fixture(scope="module")
def provider(runtime):
    return KernelProvider(runtime)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def as_gpu(runtime, monkeypatch):
    """Kernels are laid out as for a GPU: large blocks of threads and tiles of every kind."""
    if runtime.device.type == "gpu":
        pytest.skip("that is what all tests run")
    gpu = dataclasses.replace(runtime.device, type="gpu", warp=32, max_threads=256)
    monkeypatch.setattr(runtime, "device", gpu)


class Held:
    """A NumPy array on the device; `matrix` of a part of it, or of its transpose, is what the kernels get."""

    def __init__(self, runtime, array):
        self.runtime, self.shape = runtime, array.shape
        self.native = runtime.to_device(array)
        self.matrix = Matrix.over(runtime, self.native)

    def numbers(self):
        return self.runtime.to_host(self.native).reshape(self.shape)


def part(runtime, array, transposed=False):
    """A matrix with other numbers around it: those must neither be read nor written, so they are nan."""
    if transposed:
        array = array.swapaxes(-1, -2)
    around = np.full((*array.shape[:-2], array.shape[-2] + 3, array.shape[-1] + 5), np.nan, array.dtype)
    around[..., 1:-2, 2:-3] = array
    held = Held(runtime, around)
    inner = held.matrix[1 : 1 + array.shape[-2], 2 : 2 + array.shape[-1]]
    held.matrix = inner.T if transposed else inner

    def numbers():
        got = Held.numbers(held)
        inside = got[..., 1:-2, 2:-3].copy()
        got[..., 1:-2, 2:-3] = np.nan
        assert np.isnan(got).all()
        return inside.swapaxes(-1, -2) if transposed else inside

    held.numbers = numbers
    return held


def close(got, want, dtype, scale=1.0):
    assert got.dtype == dtype
    bound = scale * (1e-13 if dtype == np.float64 else 5e-5)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * np.abs(want).max(initial=0))


def positive_definite(rng, n, dtype, batch=1):
    root = rng.normal(size=(batch, n, n + 2))
    return (root @ root.swapaxes(1, 2) / n + np.eye(n)).astype(dtype)


def factors(rng, n, dtype, batch=1):
    """Cholesky factors with nan above the diagonal, and the same with zeros, in float64."""
    lower = np.linalg.cholesky(positive_definite(rng, n, np.float64, batch)).astype(dtype)
    return lower + np.triu(np.full((n, n), np.nan, dtype), 1), lower.astype(float)


def sides(rng, lower, columns, dtype, left, l_transposed, b_transposed):
    """A right-hand side of trsm, and the solution."""
    batch, n, _ = lower.shape
    seen = lower.swapaxes(1, 2) if l_transposed else lower
    b = rng.normal(size=(batch, n, columns) if left else (batch, columns, n)).astype(dtype)
    if left:
        return b, np.linalg.solve(seen, b.astype(float))
    return b, np.linalg.solve(seen.swapaxes(1, 2), b.swapaxes(1, 2).astype(float)).swapaxes(1, 2)


# Products


@double_first
@pytest.mark.parametrize(
    "m, n, k",
    some([(1, 1, 1), (3, 5, 2), (31, 15, 33), (32, 16, 32), (33, 17, 31), (64, 8, 7), (65, 9, 64), (63, 7, 65), (129, 130, 70),
     (5, 300, 40), (300, 1, 300), (1, 300, 300), (20, 20, 3001)]),
)  # fmt: skip
def test_gemm(runtime, provider, rng, m, n, k, dtype):
    for a_transposed in (False, True):
        for b_transposed in (False, True):
            a, b, c = (rng.normal(size=(2, *shape)).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
            held = part(runtime, c)
            left, right = part(runtime, a, a_transposed), part(runtime, b, b_transposed)
            provider.gemm(-2.0, left.matrix, right.matrix, 0.5, held.matrix)
            close(held.numbers(), -2 * (a.astype(float) @ b) + 0.5 * c, dtype, 10)


TRIANGLES = {"lower": np.tril, "upper": np.triu, "": np.asarray}


@pytest.mark.parametrize("a_triangle, b_triangle", [("lower", ""), ("", "lower"), ("upper", "lower"), ("lower", "upper")])
def test_gemm_of_triangles(runtime, provider, rng, a_triangle, b_triangle):
    for m, n, k in ((130, 70, 100), (70, 130, 100), (6, 90, 90), (90, 6, 90), (20, 20, 2500)):
        dtype = np.float64
        a, b = (f(rng.normal(size=s)) for f, s in ((TRIANGLES[a_triangle], (m, k)), (TRIANGLES[b_triangle], (k, n))))
        a, b = a.astype(dtype), b.astype(dtype)
        stored = [
            np.where(TRIANGLES[kind](np.ones_like(x)), x, np.nan).astype(dtype)
            for kind, x in ((a_triangle, a), (b_triangle, b))
        ]
        got = Held(runtime, np.full((m, n), np.nan, dtype))
        left, right = (part(runtime, x).matrix for x in stored)
        provider.gemm(1.0, left, right, 0.0, got.matrix, a_triangle=a_triangle, b_triangle=b_triangle)
        close(got.numbers(), a.astype(float) @ b, dtype, 10)


@double_first
def test_one_matrix_for_a_batch(runtime, provider, rng, dtype):
    a, b = rng.normal(size=(1, 20, 30)).astype(dtype), rng.normal(size=(3, 30, 12)).astype(dtype)
    one = Held(runtime, a)
    shared = Matrix(one.matrix.memory, 20, 30, 30, batch=3, batch_stride=0)
    got = Held(runtime, np.empty((3, 20, 12), dtype))
    provider.gemm(1.0, shared, Held(runtime, b).matrix, 0.0, got.matrix)
    close(got.numbers(), a.astype(float) @ b, dtype, 10)


@double_first
@pytest.mark.parametrize("n, k", [(1, 1), (15, 40), (64, 3), (65, 64), (130, 33), (30, 2000)])
def test_syrk(runtime, provider, rng, n, k, dtype):
    for transposed in (False, True):
        a, c = rng.normal(size=(2, n, k)).astype(dtype), rng.normal(size=(2, n, n)).astype(dtype)
        got = part(runtime, c)
        provider.syrk(1.5, part(runtime, a, transposed).matrix, -1.0, got.matrix)
        want = 1.5 * (a.astype(float) @ a.swapaxes(1, 2)) - c
        close(got.numbers(), np.where(np.tri(n, dtype=bool), want, c), dtype, 10)


def test_same_bits(runtime, provider, rng):
    a, b = rng.normal(size=(40, 5000)), rng.normal(size=(5000, 30))
    results = []
    for _ in range(3):
        got = Held(runtime, np.empty((40, 30)))
        provider.gemm(1.0, Held(runtime, a).matrix, Held(runtime, b).matrix, 0.0, got.matrix)
        results.append(got.numbers().tobytes())
    assert len(set(results)) == 1


# Triangles


@double_first
@pytest.mark.parametrize("n", [1, 7, 8, 33, 64, *LARGE])
def test_potrf(runtime, provider, rng, n, dtype):
    a = positive_definite(rng, n, dtype, 2)
    got = part(runtime, np.where(np.tri(n, dtype=bool), a, np.nan).astype(dtype))
    assert (provider.read(provider.potrf(got.matrix)) == [0, 0]).all()
    numbers = got.numbers()
    assert np.isnan(numbers[:, ~np.tri(n, dtype=bool)]).all()
    close(np.tril(np.nan_to_num(numbers)), np.linalg.cholesky(a.astype(float)), dtype, 20)


@double_first
@pytest.mark.parametrize("n", some([1, 8, 33, 64, *LARGE]))
def test_potrf_says_where(runtime, provider, rng, n, dtype):
    for minor in {1, (n + 1) // 2, n}:
        for wrong in (-1.0, 0.0, np.nan):
            a = np.eye(n, dtype=dtype)[None].repeat(3, 0)
            a[1, minor - 1, minor - 1] = wrong
            assert (provider.read(provider.potrf(Held(runtime, a).matrix)) == [0, minor, 0]).all()
            if n <= small.MOST_ROWS:
                assert (runtime.to_host(provider.factor(Held(runtime, a).matrix)) == [0, minor, 0]).all()


@double_first
@pytest.mark.parametrize("n", [1, 7, 8, 33, 64, *LARGE])
def test_trtri(runtime, provider, rng, n, dtype):
    for batch in (1, 3):
        stored, lower = factors(rng, n, dtype, batch)
        got = part(runtime, stored)
        provider.trtri(got.matrix)
        numbers = got.numbers()
        assert np.isnan(numbers[:, ~np.tri(n, dtype=bool)]).all()
        close(np.tril(np.nan_to_num(numbers)), np.linalg.inv(lower), dtype, 20)


@double_first
@pytest.mark.parametrize("n, columns", [(1, 1), (8, 3), (33, 70), (64, 64), (65, 1), (130, 65), (257, 5)])
@pytest.mark.parametrize("left", [True, False])
def test_trsm(runtime, provider, rng, n, columns, left, dtype):
    stored, lower = factors(rng, n, dtype, 2)
    for l_transposed in (False, True):
        for b_transposed in (False, True):
            b, want = sides(rng, lower, columns, dtype, left, l_transposed, b_transposed)
            got, triangle = part(runtime, b, b_transposed), part(runtime, stored).matrix
            provider.trsm(triangle.T if l_transposed else triangle, got.matrix, left)
            close(got.numbers(), want, dtype, 100)


def test_ill_conditioned(runtime, provider, rng):
    """Residuals are small whatever the condition of the matrix, as substitution promises."""
    n = 150
    hilbert = scipy.linalg.hilbert(n) + 1e-13 * np.eye(n)
    got = Held(runtime, hilbert)
    assert provider.read(provider.potrf(got.matrix)) == 0
    lower = np.tril(got.numbers())
    assert np.abs(lower @ lower.T - hilbert).max() < 1e-14
    assert np.linalg.cond(lower) > 1e6
    b = rng.normal(size=(n, 4))
    x = Held(runtime, b)
    provider.trsm(got.matrix, x.matrix, left=True)
    x = x.numbers()
    assert np.abs(lower @ x - b).max() < 1e-15 * n * np.abs(lower).dot(np.abs(x)).max()
    toeplitz = scipy.linalg.toeplitz(np.r_[float(n * n), n - np.arange(1, n)])
    got = Held(runtime, toeplitz)
    provider.potrf(got.matrix)
    close(np.tril(got.numbers()), np.linalg.cholesky(toeplitz), np.float64, 10)


# Small matrices


@double_first
@pytest.mark.parametrize("n", SMALL)
def test_small(runtime, provider, rng, n, dtype):
    """Several blocks of threads, the last not full; nothing above the diagonal is read or written."""
    batch = 71
    above = ~np.tri(n, dtype=bool)
    a = positive_definite(rng, n, dtype, batch)
    want = np.linalg.cholesky(a.astype(float))
    stored = np.where(above, np.nan, a).astype(dtype)
    got = part(runtime, stored)
    assert (runtime.to_host(provider.factor(got.matrix)) == 0).all()
    numbers = got.numbers()
    assert np.isnan(numbers[:, above]).all()
    close(np.where(above, 0, numbers), want, dtype, 10)
    provider.invert(got.matrix)
    numbers = got.numbers()
    assert np.isnan(numbers[:, above]).all()
    close(np.where(above, 0, numbers), np.linalg.inv(want), dtype, 50)


@double_first
@pytest.mark.parametrize("n", SMALL)
def test_small_grad(runtime, rng, n, dtype):
    stored, lower = factors(rng, n, dtype, 19)
    seed = rng.normal(size=lower.shape).astype(dtype)
    got = part(runtime, np.where(np.tri(n, dtype=bool), seed, np.nan).astype(dtype))
    small.cholesky_grad(runtime, part(runtime, stored).matrix, got.matrix)
    phi = np.tril(lower.swapaxes(1, 2) @ np.tril(seed.astype(float)))  # Murray (2016), eq. 10
    phi[:, range(n), range(n)] /= 2
    inverse = np.linalg.inv(lower)
    want = inverse.swapaxes(1, 2) @ phi @ inverse
    close(got.numbers(), (want + want.swapaxes(1, 2)) / 2, dtype, 100)


def test_small_grad_is_the_derivative(runtime, rng):
    for n in (3, 20):
        a, change, seed = positive_definite(rng, n, np.float64)[0], rng.normal(size=(n, n)), rng.normal(size=(n, n))
        change += change.T
        h = 1e-6
        up, down = (np.sum(np.tril(seed) * np.linalg.cholesky(a + s * change)) for s in (h, -h))
        got = Held(runtime, seed[None])
        small.cholesky_grad(runtime, Held(runtime, np.linalg.cholesky(a)[None]).matrix, got.matrix)
        np.testing.assert_allclose(np.sum(got.numbers() * change), (up - down) / (2 * h), rtol=1e-7)


@double_first
@pytest.mark.parametrize("n", SMALL)
@pytest.mark.parametrize("columns", [1, 11])
def test_small_solve(runtime, provider, rng, n, columns, dtype):
    stored, lower = factors(rng, n, dtype, 13)
    for left in (True, False):
        for l_transposed, b_transposed in ((False, False), (False, True), (True, False), (True, True)):
            b, want = sides(rng, lower, columns, dtype, left, l_transposed, b_transposed)
            got, triangle = part(runtime, b, b_transposed), part(runtime, stored).matrix
            triangle = triangle.T if l_transposed else triangle
            provider.solve(*((triangle, got.matrix) if left else (triangle.T, got.matrix.T)))
            close(got.numbers(), want, dtype, 50)


@double_first
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (3, 3, 3), (8, 8, 8), (2, 7, 16), (9, 9, 5), (3, 3, 40)])
def test_small_gemm(runtime, provider, rng, m, n, k, dtype):
    for a_transposed, b_transposed in ((False, False), (False, True), (True, False), (True, True)):
        a, b, c = (rng.normal(size=(37, *shape)).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        got = part(runtime, c)
        operands = part(runtime, a, a_transposed), part(runtime, b, b_transposed)
        provider.gemm(2.0, operands[0].matrix, operands[1].matrix, -1.0, got.matrix)
        close(got.numbers(), 2 * (a.astype(float) @ b) - c, dtype, 10)


def test_nan_stays_in_its_matrix(runtime, provider, rng):
    for n in (3, 20):
        a = positive_definite(rng, n, np.float64, 9)
        a[4, n - 1, 0] = np.nan
        held = Held(runtime, a)
        info = runtime.to_host(provider.factor(held.matrix))
        assert info[4] == n and np.count_nonzero(info) == 1
        close(np.tril(np.delete(held.numbers(), 4, 0)), np.linalg.cholesky(np.delete(a, 4, 0)), np.float64, 10)
        assert np.isnan(held.numbers()[4]).any()


# Laid out for GPUs


@pytest.mark.parametrize("dtype", [np.float64])
@pytest.mark.parametrize("m, n, k", [(200, 150, 70), (40, 33, 17), (140, 3, 600), (20, 20, 3000)])
def test_gemm_as_gpu(as_gpu, runtime, provider, rng, m, n, k, dtype):
    a, b, c = (rng.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
    held = part(runtime, c)
    provider.gemm(-2.0, part(runtime, a).matrix, part(runtime, b, True).matrix, 0.5, held.matrix)
    close(held.numbers(), -2 * (a.astype(float) @ b) + 0.5 * c, dtype, 10)


@pytest.mark.parametrize("dtype", [np.float64])
@pytest.mark.parametrize("n", [7, 33, 100])
def test_triangles_as_gpu(as_gpu, runtime, provider, rng, n, dtype):
    test_potrf(runtime, provider, rng, n, dtype)
    test_trtri(runtime, provider, rng, n, dtype)
    test_trsm(runtime, provider, rng, n, 70, False, dtype)


@pytest.mark.parametrize("dtype", [np.float64])
@pytest.mark.parametrize("n", [1, 3, 8, 20, 64])
def test_small_as_gpu(as_gpu, runtime, provider, rng, n, dtype):
    test_small(runtime, provider, rng, n, dtype)
    test_small_grad(runtime, rng, n, dtype)
    test_small_solve(runtime, provider, rng, n, 3, dtype)
