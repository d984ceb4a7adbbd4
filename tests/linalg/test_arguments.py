"""What linear algebra takes and gives back, and what it refuses."""

# ruff: noqa: E741, B023  (l is what the factor is called; functions in loops are called at once)
import numpy as np
import pytest
from matrices import close, plain_cholesky_grad, positive_definite
from thorough import some

import gpustats as gs
from gpustats import linalg


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


@pytest.mark.parametrize("on_device", some([False, True]))
def test_what_cannot_be_factorised(rng, provider, on_device):
    place = gs.to_device if on_device else np.asarray
    for n, minor in [(1, 1), (5, 3), (70, 65)]:
        a = positive_definite(rng, n, n)
        a[minor - 1, minor - 1] = -1
        with pytest.raises(np.linalg.LinAlgError, match=f"leading minor of order {minor} "):
            linalg.cholesky(place(a))
        with pytest.raises(np.linalg.LinAlgError, match=f"leading minor of order {minor} "):
            linalg.logdet(place(a))
    for n in (2, 40, 300):
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


@pytest.mark.parametrize("on_device", some([False, True]))
@pytest.mark.parametrize("n", some([300, 2]))
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
