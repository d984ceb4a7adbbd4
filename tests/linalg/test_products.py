"""Products of matrices and of triangles, forward and in reverse, against SciPy and finite differences."""

# ruff: noqa: B023  (l is what the factor is called; functions in loops are called at once)
import numpy as np
import pytest
import scipy.linalg
from matrices import LEAF, close, slope, with_traps
from thorough import some

from gpustats import linalg
from gpustats.linalg import where
from gpustats.linalg.host import HostProvider

SIZES = [1, 2, 3, 8, 15, 16, 17, 33, 64, 70, 130]
DTYPES = [np.float64, np.float32]


def triangle(rng, *shape, dtype=np.float64):
    """A well-conditioned triangular matrix, with numbers that must not be read in its other half."""
    return (rng.normal(size=shape) / shape[-1] + 2 * np.eye(shape[-1])).astype(dtype)


def halves(lower):
    return np.tril if lower else np.triu


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul(rng, provider, dtype):
    for m, k, n in [(1, 1, 1), (3, 70, 2), (65, 33, 17), (2, 1000, 3), (130, 1, 70)]:
        a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        close(linalg.matmul(a, b), a @ b, dtype)
        assert linalg.matmul(a, b).dtype == dtype
        close(linalg.matmul(np.asfortranarray(a), b), a @ b, dtype)
        close(linalg.matmul(a[::-1, ::-1], b[::-1]), a[:, ::-1][::-1] @ b[::-1], dtype)
        close(linalg.matmul(a, b[:, 0]), a @ b[:, 0], dtype)
        close(linalg.matmul(a[0], b), a[0] @ b, dtype)
        close(linalg.matmul(a[0], b[:, 0]), a[0] @ b[:, 0], dtype)
        close(linalg.gram(a), a @ a.T, dtype)
        close(linalg.gram(a.T), a.T @ a, dtype)
        assert np.array_equal(linalg.gram(a), linalg.gram(a).T)


@pytest.mark.parametrize("kinds", [("lower", ""), ("upper", ""), ("", "lower"), ("", "upper"), ("lower", "lower"),
                                   ("lower", "upper"), ("upper", "lower"), ("upper", "upper")])  # fmt: skip
def test_triangular_products_read_and_keep_one_half(rng, provider, kinds):
    marks = {"lower": linalg.lower, "upper": linalg.upper, "": lambda a: a}
    parts = {"lower": np.tril, "upper": np.triu, "": lambda a: a}
    for n in (1, 16, 33, 70):
        a, b, c_bar = rng.normal(size=(3, n, n))
        trapped = [with_traps(x, kind == "lower") if kind else x for x, kind in zip((a, b), kinds)]
        marked = [marks[kind](x) for x, kind in zip(trapped, kinds)]
        a, b = (parts[kind](x) for x, kind in zip((a, b), kinds))
        close(linalg.matmul(*marked), a @ b)
        if kinds[0] == kinds[1]:
            assert np.array_equal(linalg.matmul(*marked), parts[kinds[0]](linalg.matmul(*marked)))
        a_bar, b_bar = linalg.matmul_grad(*marked, c_bar)
        close(a_bar, parts[kinds[0]](c_bar @ b.T))
        close(b_bar, parts[kinds[1]](a.T @ c_bar))


def test_triangular_products_skip_zeros(rng, monkeypatch):
    done = []

    class Counting(HostProvider):
        leaf = dense = LEAF

        def gemm(self, alpha, a, b, beta, c):
            done.append(2 * a.rows * a.columns * b.columns)
            super().gemm(alpha, a, b, beta, c)

    n = 32 * LEAF
    monkeypatch.setattr(where, "_host", Counting)
    a, b = rng.normal(size=(2, n, n))
    close(linalg.matmul(linalg.lower(a), linalg.lower(b), where="host"), np.tril(a) @ np.tril(b))
    assert sum(done) < 1.1 * n**3 / 3  # a third of the 2 n^3 / 2 of one triangle


def test_matmul_broadcasts_and_its_reverse_sums(rng, provider):
    for a_stack, b_stack in [
        ((3,), ()),
        ((), (3,)),
        ((3, 1), (2,)),
        ((2, 3), (2, 3)),
        ((1,), (4,)),
        ((2, 1, 2), (3, 1)),
    ]:
        a, b = rng.normal(size=(*a_stack, 4, 5)), rng.normal(size=(*b_stack, 5, 6))
        c = linalg.matmul(a, b)
        close(c, a @ b)
        c_bar = rng.normal(size=c.shape)
        a_bar, b_bar = linalg.matmul_grad(a, b, c_bar)
        assert (a_bar.shape, b_bar.shape) == (a.shape, b.shape)
        changes = rng.normal(size=a.shape), rng.normal(size=b.shape)
        want = slope(lambda a, b: ((a @ b) * c_bar).sum(), (a, b), changes)
        assert (a_bar * changes[0]).sum() + (b_bar * changes[1]).sum() == pytest.approx(want, rel=1e-6, abs=1e-6)


def test_gram_grad(rng, provider):
    for shape in [(1, 1), (7, 30), (2, 3, 5)]:
        a, change = rng.normal(size=(2, *shape))
        c_bar = rng.normal(size=(*shape[:-1], shape[-2]))
        close(linalg.gram(a), a @ a.swapaxes(-1, -2))
        want = slope(lambda a: ((a @ a.swapaxes(-1, -2)) * c_bar).sum(), (a,), (change,))
        assert (linalg.gram_grad(a, c_bar) * change).sum() == pytest.approx(want, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", some([True, False]))
def test_triangles(rng, provider, dtype, lower):
    for n in SIZES:
        a, b = triangle(rng, n, n, dtype=dtype), rng.normal(size=(n, 5)).astype(dtype)
        trapped = with_traps(a, lower)
        for order in "CF":
            given = np.asarray(trapped, order=order)
            for trans in (0, "T"):
                want = scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower)
                got = linalg.solve_triangular(given, b, trans, lower)
                close(got, want, dtype)
                assert got.dtype == dtype
                close(linalg.solve_triangular(given, b[:, 0], trans, lower), want[:, 0], dtype)
            inverse = linalg.inv_triangular(given, lower)
            close(inverse, np.linalg.inv(halves(lower)(a).astype(float)), dtype)
            assert np.array_equal(inverse, halves(lower)(inverse))


@pytest.mark.parametrize("lower", [True, False])
def test_triangular_reverse(rng, provider, lower):
    for n, trans in [(1, 0), (17, 1), (40, 0), (40, 2)]:
        a, change = triangle(rng, n, n), halves(lower)(rng.normal(size=(n, n)))
        b, b_change = rng.normal(size=(2, n, 3))
        x = linalg.solve_triangular(a, b, trans, lower)
        x_bar = rng.normal(size=x.shape)
        a_bar, b_bar = linalg.solve_triangular_grad(with_traps(a, lower), x, x_bar, trans, lower)
        want = slope(
            lambda a, b: (scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower) * x_bar).sum(), (a, b),
            (change, b_change),
        )  # fmt: skip
        assert (a_bar * change).sum() + (b_bar * b_change).sum() == pytest.approx(want, rel=1e-6, abs=1e-7)
        assert np.array_equal(a_bar, halves(lower)(a_bar))
        inverse, bar = linalg.inv_triangular(a, lower), rng.normal(size=(n, n))
        got = linalg.inv_triangular_grad(with_traps(inverse, lower), with_traps(bar, lower), lower)
        want = slope(lambda a: (np.linalg.inv(halves(lower)(a)) * halves(lower)(bar)).sum(), (a,), (change,))
        assert (got * change).sum() == pytest.approx(want, rel=1e-6, abs=1e-7)
        assert np.array_equal(got, halves(lower)(got))


def test_triangular_stacks_broadcast(rng, provider):
    for a_stack, b_stack in [((), (4,)), ((4,), ()), ((3, 1), (2,)), ((2,), (2,))]:
        for n in (3, 70):
            a, b = triangle(rng, *a_stack, n, n), rng.normal(size=(*b_stack, n, 2))
            x = linalg.solve_triangular(a, b)
            close(x, np.linalg.solve(np.tril(a), b))
            close(linalg.cho_solve(a, b), np.linalg.solve(np.tril(a) @ np.tril(a).swapaxes(-1, -2), b), scale=100)
            x_bar = rng.normal(size=x.shape)
            change, b_change = np.tril(rng.normal(size=a.shape)), rng.normal(size=b.shape)
            want = slope(lambda a, b: (np.linalg.solve(np.tril(a), b) * x_bar).sum(), (a, b), (change, b_change))
            # b_bar is shaped like x: the caller has broadcast b
            a_bar, b_bar = linalg.solve_triangular_grad(a, x, x_bar)
            assert a_bar.shape == a.shape
            got = (a_bar * change).sum() + (b_bar * np.broadcast_to(b_change, x.shape)).sum()
            assert got == pytest.approx(want, rel=1e-5, abs=1e-6)
