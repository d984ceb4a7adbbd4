"""The kernels of linear algebra."""

import numpy as np
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.linalg import small, triangles
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.matrix import ASYMMETRIC, SOUND, Matrix
from gpustats.runtime import choose


def held(array):
    """A copy on the device, and the matrix that it is."""
    native = choose.get().to_device(array)
    return native, Matrix.over(choose.get(), native)


def factors(rng, n, batch, dtype):
    """Positive definite matrices and their Cholesky factors."""
    root = rng.normal(size=(batch, n, n))
    a = (root @ root.swapaxes(1, 2) / n + np.eye(n)).astype(dtype)
    return a, np.linalg.cholesky(a.astype(float))


@kernel_shape
def linalg_blocked(dtype, rng):
    """Products in tiles, large, small and narrow, and in parts; triangles of one block and of several."""
    provider = KernelProvider(choose.get())
    for batch, m, n, k in (
        (2, 130, 20, 9), (2, 33, 35, 18), (2, 40, 3, 17), (2, 3, 20, 17), (2, 3, 4, 5), (1, 9, 9, 260),
    ):  # fmt: skip
        a, b, c = (rng.normal(size=(batch, *shape)).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        got, matrix = held(c)
        provider.gemm(2.0, held(a)[1], held(np.ascontiguousarray(b.swapaxes(1, 2)))[1].T, 0.5, matrix)
        close(got, 2 * (a.astype(float) @ b) + 0.5 * c, dtype)
    a = rng.normal(size=(50, 9)).astype(dtype)
    got, matrix = held(np.zeros((50, 50), dtype))
    provider.syrk(1.0, held(a)[1], 0.0, matrix)
    close(got, np.tril(a.astype(float) @ a.T), dtype)
    for n, batch in ((5, 2), (40, 1), (70, 1)):
        a, lower = factors(rng, n, batch, dtype)
        got, matrix = held(a)
        assert (provider.read(provider.potrf(matrix)) == 0).all()
        close(np.tril(gs.to_host(got)), lower, dtype)
        b = rng.normal(size=(batch, n, 11)).astype(dtype)
        for l_seen, seen in ((matrix, lower), (matrix.T, lower.swapaxes(1, 2))):
            x, side = held(b)
            provider.trsm(l_seen, side, left=True)
            close(x, np.linalg.solve(seen, b.astype(float)), dtype)
            x, side = held(np.ascontiguousarray(b.swapaxes(1, 2)))
            provider.trsm(l_seen, side, left=False)
            close(x, np.linalg.solve(seen.swapaxes(1, 2), b.astype(float)).swapaxes(1, 2), dtype)
        provider.trtri(matrix)
        close(np.tril(gs.to_host(got)), np.linalg.inv(lower), dtype)


@kernel_shape
def linalg_small(dtype, rng):
    """A matrix to a thread, in registers and in shared memory, and a matrix to a block; the last block not full."""
    runtime = choose.get()
    provider = KernelProvider(runtime)
    for n in (1, 3, 8, 13, 40):
        a, lower = factors(rng, n, 67 if n < 9 else 2, dtype)
        got, matrix = held(a)
        info = provider.read(provider.factor(matrix))
        assert (info == 0).all()
        close(np.tril(gs.to_host(got)), lower, dtype)
        seed = rng.normal(size=lower.shape).astype(dtype)
        derivative, seeds = held(seed)
        small.cholesky_grad(runtime, matrix, seeds)
        phi, inverse = np.tril(lower.swapaxes(1, 2) @ np.tril(seed.astype(float))), np.linalg.inv(lower)
        phi[:, range(n), range(n)] /= 2
        want = inverse.swapaxes(1, 2) @ phi @ inverse
        close(derivative, (want + want.swapaxes(1, 2)) / 2, dtype)
        for columns in (1, 9):
            b = rng.normal(size=(len(a), n, columns)).astype(dtype)
            x, side = held(b)
            provider.solve(matrix.T, side)
            close(x, np.linalg.solve(lower.swapaxes(1, 2), b.astype(float)), dtype)
        provider.invert(matrix)
        close(np.tril(gs.to_host(got)), inverse, dtype)


@kernel_shape
def linalg_triangles(dtype, rng):
    """Passes over matrices of one tile and of several, parts of larger ones, batches, as they lie and transposed."""
    runtime = choose.get()
    provider = KernelProvider(runtime)
    for n in (5, 70):
        a = rng.normal(size=(2, n + 3, n + 2)).astype(dtype)
        whole, part = a.astype(float), (slice(1, n + 1), slice(2, n + 2))
        source = held(a)[1][part]
        for seen, numbers in ((source, whole[:, *part]), (source.T, whole[:, *part].swapaxes(1, 2))):
            got, matrix = held(a)
            provider.copy(seen, matrix[:n, :n])
            want = whole.copy()
            want[:, :n, :n] = numbers
            close(got, want, dtype)
            for upper in ("zero", "mirror", "keep"):
                got, matrix = held(a)
                provider.lower(seen, matrix[part], upper)
                lower = np.tril(numbers)
                above = {"zero": 0, "mirror": np.tril(numbers, -1).swapaxes(1, 2), "keep": np.triu(whole[:, *part], 1)}
                want = whole.copy()
                want[:, *part] = lower + above[upper]
                close(got, want, dtype)
            assert provider.read(provider.lower_if_symmetric(seen, held(a)[1][part])) == ASYMMETRIC
            assert provider.read(provider.examine_triangle(seen)) == SOUND
        got, matrix = held(a)
        provider.identity(matrix[:n, :n])
        close(gs.to_host(got)[:, :n, :n], np.stack([np.eye(n)] * 2), dtype)
        got, matrix = held(a)
        provider.symmetrise(matrix[part])
        mean = (whole[:, *part] + whole[:, *part].swapaxes(1, 2)) / 2
        close(gs.to_host(got)[:, *part], mean, dtype)
        spd, lower = factors(rng, n, 2, dtype)
        assert provider.read(provider.lower_if_symmetric(held(spd)[1], held(spd)[1])) == SOUND
        value = triangles.log_determinant(runtime, held(lower.astype(dtype))[1])
        np.testing.assert_allclose(gs.to_host(value), np.linalg.slogdet(spd.astype(float))[1], rtol=1e-4)
