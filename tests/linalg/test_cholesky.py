"""Cholesky factors, forward and in reverse, against SciPy, mpmath and finite differences."""

# ruff: noqa: E741, B023  (l is what the factor is called; functions in loops are called at once)
import numpy as np
import pytest
import scipy.linalg
from matrices import close, plain_cholesky_grad, positive_definite, slope, tolerance, with_traps
from scipy.linalg import hilbert, toeplitz
from thorough import double_first

from gpustats import linalg

SIZES = [1, 2, 3, 8, 15, 16, 17, 33, 64, 70, 130]
DTYPES = [np.float64, np.float32]


@double_first
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
