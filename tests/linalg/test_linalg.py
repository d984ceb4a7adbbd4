"""Linear algebra, forward and in reverse, against SciPy and finite differences."""

# ruff: noqa: E741, B023  (l is what the factor is called; functions in loops are called at once)
import numpy as np
import pytest
import scipy.linalg
from scipy.linalg import hilbert, toeplitz

import gpustats as gs
from gpustats import linalg
from gpustats.linalg import blocked, where
from gpustats.linalg.host import HostProvider
from gpustats.linalg.kernels import KernelProvider
from gpustats.linalg.providers import provider_of
from gpustats.runtime import choose

LEAF = 16  # so that small matrices are cut in blocks, too
SIZES = [1, 2, 3, 8, 15, 16, 17, 33, 64, 70, 130]
DTYPES = [np.float64, np.float32]


@pytest.fixture(params=["best", "kernels"])
def provider(request, monkeypatch):
    """Computes with the device's best provider, and with our own kernels."""
    if request.param == "kernels":
        own = KernelProvider(choose.get())
        monkeypatch.setattr(where, "provider_of", lambda runtime: own)
    for name in ("leaf", "dense"):
        monkeypatch.setattr(HostProvider, name, LEAF)
        monkeypatch.setattr(KernelProvider, name, LEAF)
    return request.param


def tolerance(dtype, scale=1.0):
    return scale * (1e-10 if dtype == np.float64 else 2e-3)


def close(got, want, dtype=np.float64, scale=1.0):
    got, want = gs.to_host(got) if hasattr(got, "get") else np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    bound = tolerance(dtype, scale)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * np.abs(want).max(initial=1e-300))


def positive_definite(rng, *shape, dtype=np.float64):
    a = rng.normal(size=shape)
    return (a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def triangle(rng, *shape, dtype=np.float64):
    """A well-conditioned triangular matrix, with numbers that must not be read in its other half."""
    return (rng.normal(size=shape) / shape[-1] + 2 * np.eye(shape[-1])).astype(dtype)


def with_traps(a, lower):
    """nan in the half that is not to be read."""
    other = np.triu(np.ones(a.shape[-2:], bool), 1)
    return np.where(other if lower else other.T, np.nan, a).astype(a.dtype)


def halves(lower):
    return np.tril if lower else np.triu


def slope(function, arguments, changes, step=1e-6):
    """The derivative of a number in the direction of `changes`."""
    up = function(*(a + step * d for a, d in zip(arguments, changes)))
    down = function(*(a - step * d for a, d in zip(arguments, changes)))
    return (up - down) / (2 * step)


# ---- products


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul(rng, provider, dtype):
    for m, k, n in [(1, 1, 1), (3, 70, 2), (65, 33, 17), (2, 5000, 3), (130, 1, 70)]:
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


# ---- triangles


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
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


# ---- Cholesky


def plain_cholesky_grad(l, l_bar):
    """The formula, by substitution."""
    p = np.tril(l.T @ np.tril(l_bar))
    p = p + np.tril(p, -1).T
    solved = scipy.linalg.solve_triangular(
        l, scipy.linalg.solve_triangular(l, p, trans=1, lower=True).T, trans=1, lower=True
    )
    return (solved + solved.T) / 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(rng, provider, dtype):
    for n in SIZES:
        a = positive_definite(rng, n, n, dtype=dtype)
        l = linalg.cholesky(a)
        assert l.dtype == dtype and np.array_equal(l, np.tril(l))
        close(l, np.linalg.cholesky(a.astype(float)), dtype)
        l_bar = rng.normal(size=(n, n)).astype(dtype)
        a_bar = linalg.cholesky_grad(with_traps(l, True), with_traps(l_bar, True))
        close(a_bar, plain_cholesky_grad(l.astype(float), l_bar), dtype, scale=10)
        assert np.array_equal(a_bar, a_bar.T)
        b = rng.normal(size=(n, 3)).astype(dtype)
        close(linalg.cho_solve(l, b), np.linalg.solve(a.astype(float), b), dtype)
        close(linalg.cho_inverse(with_traps(l, True)), np.linalg.inv(a.astype(float)), dtype)
        for value in (linalg.logdet(a), linalg.cho_logdet(l)):
            assert value == pytest.approx(np.linalg.slogdet(a.astype(float))[1], rel=tolerance(dtype))


def test_cholesky_reverse_is_the_derivative(rng, provider):
    for n in (1, 3, 40):
        a, change = positive_definite(rng, n, n), rng.normal(size=(n, n))
        change = change + change.T
        l_bar = rng.normal(size=(n, n))
        a_bar = linalg.cholesky_grad(linalg.cholesky(a), l_bar)
        want = slope(lambda a: (np.linalg.cholesky(a) * l_bar).sum(), (a,), (change,))
        assert (a_bar * change).sum() == pytest.approx(want, rel=1e-6, abs=1e-7)
        want = slope(lambda a: np.linalg.slogdet(a)[1], (a,), (change,))
        assert (linalg.cho_inverse(linalg.cholesky(a)) * change).sum() == pytest.approx(want, rel=1e-6, abs=1e-7)
        b, b_change, x_bar = rng.normal(size=(3, n))
        x = linalg.cho_solve(linalg.cholesky(a), b)
        a_bar, b_bar = linalg.cho_solve_grad(linalg.cholesky(a), x, x_bar)
        want = slope(lambda a, b: np.linalg.solve(a, b) @ x_bar, (a, b), (change, b_change))
        assert (a_bar * change).sum() + b_bar @ b_change == pytest.approx(want, rel=1e-6, abs=1e-7)
        assert np.array_equal(a_bar, a_bar.T)


def test_the_formula_is_the_one_of_others(rng):
    torch = pytest.importorskip("torch")
    a = torch.tensor(positive_definite(rng, 90, 90), requires_grad=True)
    l, l_bar = torch.linalg.cholesky(a), torch.tensor(rng.normal(size=(90, 90)))
    (a_bar,) = torch.autograd.grad((l * l_bar).sum(), a)
    close(linalg.cholesky_grad(l.detach().numpy(), l_bar.numpy()), ((a_bar + a_bar.T) / 2).numpy())


@pytest.mark.parametrize("n", [3, 20, 64, 80])
def test_stacks(rng, provider, n):
    a = positive_definite(rng, 2, 3, n, n)
    l = linalg.cholesky(a)
    close(l, np.linalg.cholesky(a))
    assert np.array_equal(l, np.tril(l))
    l_bar = rng.normal(size=a.shape)
    a_bar = linalg.cholesky_grad(l, l_bar)
    assert np.array_equal(a_bar, a_bar.swapaxes(-1, -2))
    for i, j in [(0, 0), (1, 2)]:
        close(a_bar[i, j], plain_cholesky_grad(l[i, j], l_bar[i, j]))
    close(linalg.logdet(a), np.linalg.slogdet(a)[1])
    close(linalg.cho_logdet(l), np.linalg.slogdet(a)[1])
    close(linalg.cho_inverse(l), np.linalg.inv(a))
    close(linalg.inv_triangular(l), np.linalg.inv(l))
    close(linalg.inv_triangular(l.swapaxes(-1, -2), lower=False), np.linalg.inv(l.swapaxes(-1, -2)))
    a[1, 0, 0, 0] = -1
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[1, 0\].*order 1 "):
        linalg.cholesky(a)


def test_many_small_matrices(rng):
    a = positive_definite(rng, 100_000, 3, 3)
    l = linalg.cholesky(a)
    close(l, np.linalg.cholesky(a))
    close(linalg.cho_solve(l, a[:, :, :1]), np.broadcast_to(np.eye(3)[:, :1], (100_000, 3, 1)), scale=1e3)
    a_bar = linalg.cholesky_grad(l, np.ones_like(l))
    close(a_bar[-1], plain_cholesky_grad(l[-1], np.ones((3, 3))))


@pytest.mark.parametrize("n", [500, 1500])
def test_large(rng, n):
    a = np.asarray(toeplitz(n - np.arange(n, dtype=float)))  # of the measurements of Stan's GPU support
    np.fill_diagonal(a, n**2)
    l = linalg.cholesky(a)
    close(l, scipy.linalg.cholesky(a, lower=True), scale=0.01)
    l_bar = np.tril(rng.normal(size=(n, n)))
    close(linalg.cholesky_grad(l, l_bar), plain_cholesky_grad(l, l_bar), scale=0.01)


def test_ill_conditioned(rng, provider):
    """The blocks lose no more digits than the condition of the matrix costs, down to the last of them."""
    squares = np.subtract.outer(*[np.linspace(0, 10, 150)] * 2) ** 2
    smooth = np.exp(-0.5 * squares) + 1e-10 * np.eye(150)
    for a in (hilbert(9), smooth, toeplitz(0.9999 ** np.arange(150.0)), np.diag(10.0 ** np.arange(-30, 30))):
        n = len(a)
        l = linalg.cholesky(a)
        np.testing.assert_allclose(l @ l.T, a, rtol=1e-13, atol=1e-15 * a.max())
        l_bar = np.tril(rng.normal(size=(n, n)))
        got, plain = linalg.cholesky_grad(l, l_bar), plain_cholesky_grad(l, l_bar)
        exact = plain_cholesky_grad_in_many_digits(l, l_bar)
        # a number of the result is a sum of products, and its error relative to these
        size = np.abs(exact).max()
        scaled = a / np.sqrt(np.outer(np.diag(a), np.diag(a)))
        assert np.abs(got - exact).max() <= 10 * np.abs(plain - exact).max() + 1e-16 * np.linalg.cond(scaled) * size
        b = rng.normal(size=n)
        x = linalg.cho_solve(l, b)
        residual = np.abs(a @ x - b).max()
        assert residual <= 100 * 2.2e-16 * np.abs(a).sum(0).max() * np.abs(x).max()


def plain_cholesky_grad_in_many_digits(l, l_bar):
    """The formula in extended precision, by substitution."""
    l, l_bar = l.astype(np.longdouble), l_bar.astype(np.longdouble)

    def solve_transposed(b):
        x = b.copy()
        for i in range(len(l) - 1, -1, -1):
            x[i] = (x[i] - l[i + 1 :, i] @ x[i + 1 :]) / l[i, i]
        return x

    p = np.tril(l.T @ np.tril(l_bar))
    p = p + np.tril(p, -1).T
    return (solve_transposed(solve_transposed(p).T) / 2).astype(float)


# ---- arguments and results


def test_device_arrays_stay_on_the_device(rng, provider):
    n = 40
    a, b = positive_definite(rng, n, n), rng.normal(size=(n, 3))
    a_device, b_device = gs.to_device(a), gs.to_device(b)
    l = linalg.cholesky(a_device)
    kind = type(a_device)
    l_host = np.linalg.cholesky(a)
    x, x_bar = np.linalg.solve(l_host, b), rng.normal(size=b.shape)
    for got, want in [
        (l, l_host),
        (linalg.matmul(a_device, b), a @ b),
        (linalg.matmul(linalg.lower(a_device), b_device[:, 0]), np.tril(a) @ b[:, 0]),
        (linalg.gram(b_device), b @ b.T),
        (linalg.solve_triangular(l, b), x),
        (linalg.solve_triangular(gs.to_device(l_host.T.copy()), b, 1, False), x),
        (linalg.solve_triangular(l, b_device[::-1]), np.linalg.solve(l_host, b[::-1])),
        (linalg.solve_triangular_grad(l, gs.to_device(x), x_bar)[1], np.linalg.solve(l_host.T, x_bar)),
        (linalg.inv_triangular(l), np.linalg.inv(l_host)),
        (linalg.cho_solve(l, b_device), np.linalg.solve(a, b)),
        (linalg.cho_inverse(l), np.linalg.inv(a)),
        (linalg.cholesky_grad(l, gs.to_device(np.ones((n, n)))), plain_cholesky_grad(l_host, np.ones((n, n)))),
        (linalg.logdet(a_device), np.linalg.slogdet(a)[1]),
        (linalg.cho_logdet(l), np.linalg.slogdet(a)[1]),
        (linalg.cholesky(gs.to_device(np.stack([a, a]))), np.stack([l_host, l_host])),
    ]:
        assert type(got) is kind
        close(got, want)
    assert np.array_equal(gs.to_host(a_device), a)  # arguments stay as they are
    with pytest.raises(ValueError, match="lies on a device"):
        linalg.cholesky(a_device, where="host")


def test_arguments_stay_as_they_are(rng, provider):
    a, b = positive_definite(rng, 30, 30), rng.normal(size=(30, 2))
    a.flags.writeable = b.flags.writeable = False
    kept = a.copy(), b.copy()
    l = linalg.cholesky(a)
    linalg.cholesky_grad(a, a), linalg.solve_triangular(a, b), linalg.inv_triangular(a), linalg.cho_solve(a, b)
    linalg.matmul(a, b), linalg.gram(b), linalg.solve_triangular_grad(a, b, b), linalg.matmul_grad(a, b, b)
    assert np.array_equal(a, kept[0]) and np.array_equal(b, kept[1])
    whole = np.array([[4, 2], [2, 5]])
    assert linalg.cholesky(whole).tolist() == [[2, 0], [1, 2]]
    assert not np.shares_memory(l, a)


def test_the_same_bits(rng, provider):
    a, l_bar = positive_definite(rng, 150, 150), rng.normal(size=(150, 150))
    results = [linalg.cholesky_grad(linalg.cholesky(a), l_bar) for _ in range(3)]
    assert all(np.array_equal(r, results[0]) for r in results)


def test_nothing(provider):
    empty, stack = np.ones((0, 0)), np.ones((0, 3, 3))
    for a in (empty, stack):
        for function in (linalg.cholesky, linalg.inv_triangular, linalg.cho_inverse, linalg.gram):
            assert function(a).shape == a.shape
        assert linalg.cholesky_grad(a, a).shape == a.shape
        assert linalg.solve_triangular(a, a).shape == a.shape
        assert [x.shape for x in linalg.solve_triangular_grad(a, a, a)] == [a.shape, a.shape]
        assert [x.shape for x in linalg.cho_solve_grad(a, a, a)] == [a.shape, a.shape]
        assert linalg.logdet(a).shape == a.shape[:-2]
    assert linalg.logdet(empty) == 0
    assert np.array_equal(linalg.matmul(np.ones((2, 0)), np.ones((0, 3))), np.zeros((2, 3)))
    assert np.array_equal(linalg.gram(np.ones((2, 0))), np.zeros((2, 2)))
    assert linalg.matmul(np.ones((0, 2)), np.ones((2, 3))).shape == (0, 3)
    a_bar, b_bar = linalg.matmul_grad(np.ones((0, 2)), np.ones((2, 3)), np.ones((0, 3)))
    assert a_bar.shape == (0, 2) and np.array_equal(b_bar, np.zeros((2, 3)))
    assert linalg.matmul(gs.to_device(np.ones((2, 0))), np.ones((0, 3))).shape == (2, 3)


@pytest.mark.parametrize("on_device", [False, True])
def test_what_cannot_be_factorised(rng, provider, on_device):
    place = gs.to_device if on_device else np.asarray
    for n, minor in [(1, 1), (5, 3), (70, 65)]:
        a = positive_definite(rng, n, n)
        a[minor - 1, minor - 1] = -1
        with pytest.raises(np.linalg.LinAlgError, match=f"leading minor of order {minor} "):
            linalg.cholesky(place(a))
        with pytest.raises(np.linalg.LinAlgError, match=f"leading minor of order {minor} "):
            linalg.logdet(place(a))
    for n in (2, 40, 600):
        for bad in (np.nan, np.inf, -np.inf):
            a = positive_definite(rng, n, n)
            a[n - 1, 1] = a[1, n - 1] = bad
            with pytest.raises(ValueError, match=rf"nan or infinite numbers, the first at \[1, {n - 1}\]"):
                linalg.cholesky(place(a))
        a = positive_definite(rng, n, n)
        a[n - 1, 0] += 1e-10  # rounding
        close(linalg.cholesky(place(a)), np.linalg.cholesky(a))
        a[n - 1, 0] += 1e-3
        with pytest.raises(ValueError, match=rf"not symmetric: \[{n - 1}, 0\] is"):
            linalg.cholesky(place(a))


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("n", [2, 600])
def test_what_cannot_be_solved(provider, on_device, n):
    place = gs.to_device if on_device else np.asarray
    for lower in (True, False):
        a = np.eye(n)
        a[1, 1] = 0
        for function in (
            lambda a: linalg.solve_triangular(a, np.ones(n), 0, lower),
            lambda a: linalg.inv_triangular(a, lower),
        ):
            with pytest.raises(np.linalg.LinAlgError, match="zero on its diagonal"):
                function(place(a))
            bad = np.eye(n)
            bad[(n - 1, 0) if lower else (0, n - 1)] = np.nan
            with pytest.raises(ValueError, match=f"in its {'lower' if lower else 'upper'} triangle"):
                function(place(bad))
    b = np.ones((n, 2))
    b[0, 1] = np.nan
    x = linalg.solve_triangular(np.eye(n), b)
    assert (x[:, 0] == 1).all() and np.isnan(x[0, 1])


def test_shapes_that_do_not_fit():
    two, three = np.eye(2), np.eye(3)
    for call, words in [
        (lambda: linalg.matmul(two, three), r"a has shape \(2, 2\) and b \(3, 3\)"),
        (lambda: linalg.matmul(two, 1.0), "b is a number"),
        (lambda: linalg.matmul(np.ones((2, 1, 1)), np.ones((3, 1, 1))), "do not broadcast"),
        (lambda: linalg.matmul_grad(two, two, three), r"c_bar has shape \(3, 3\)"),
        (lambda: linalg.gram_grad(two, three), r"c_bar has shape \(3, 3\)"),
        (lambda: linalg.lower(np.ones((2, 3))), r"a has shape \(2, 3\), but must be a square matrix"),
        (lambda: linalg.cholesky(np.ones(3)), r"a has shape \(3,\), but must be a square matrix"),
        (lambda: linalg.cholesky(2.0), r"a has shape \(\)"),
        (lambda: linalg.cholesky_grad(two, three), r"l_bar has shape \(3, 3\)"),
        (lambda: linalg.solve_triangular(two, np.ones(3)), "b must have 2 rows"),
        (lambda: linalg.solve_triangular(two, np.ones(2), "X"), "trans must be"),
        (lambda: linalg.solve_triangular_grad(two, np.ones(2), np.ones(3)), r"x_bar \(3,\)"),
        (lambda: linalg.inv_triangular_grad(two, three), r"inverse_bar has shape \(3, 3\)"),
        (lambda: linalg.cholesky(two, where="gpu"), "where must be one of 'auto', 'host', 'device'"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="complex"):
        linalg.cholesky(two * 1j)


# ---- where


def test_the_host_alone(rng):
    """Without a device's runtime."""
    a, l_bar = positive_definite(rng, 3, 40, 40), rng.normal(size=(3, 40, 40))
    l = linalg.cholesky(a, where="host")
    close(l, np.linalg.cholesky(a))
    close(linalg.cholesky_grad(l, l_bar, where="host")[1], plain_cholesky_grad(l[1], l_bar[1]))
    close(linalg.matmul(a, l, where="host"), a @ l)


def test_the_faster_place(monkeypatch):
    line = where.Line
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
    monkeypatch.setattr(where, "SIZES", {"host": (16, 64), "device": (16, 64)})
    monkeypatch.setattr(where, "TRANSFER", 1 << 16)
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
