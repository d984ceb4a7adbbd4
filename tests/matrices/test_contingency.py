"""Tables of given sums against their definition by factorials, and against scipy.stats."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import gpustats as gs

ROW, COL = [10, 4, 7], [5, 6, 3, 7]


def exact(x, row, col):
    with mp.workdps(40):
        log_factorial = lambda k: mp.loggamma(mp.mpf(int(k)) + 1)  # noqa: E731
        sums = sum(map(log_factorial, [*row, *col])) - log_factorial(np.sum(row))
        return float(sums - sum(map(log_factorial, np.ravel(x))))


@pytest.mark.parametrize("row, col", [(ROW, COL), ([3], [1, 2]), ([2, 1], [3]), ([0, 5], [5, 0]), ([0, 0], [0, 0])])
def test_probability(row, col):
    x = stats.random_table.rvs(row, col, size=5, method="boyett", random_state=1)  # the other is wrong for one row or column
    want = [exact(table, row, col) for table in x]
    np.testing.assert_allclose(gs.random_table.logpmf(x, row, col), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gs.random_table.pmf(x[0], row, col), np.exp(want[0]), rtol=1e-12)


def test_large_counts():
    """Logarithms of factorials would leave five digits."""
    row, col = [400_000_000, 600_000_000], [300_000_000, 500_000_000, 200_000_000]
    x = np.array([[120_005_000, 199_990_000, 80_005_000], [179_995_000, 300_010_000, 119_995_000]])
    assert gs.random_table.logpmf(x, row, col) == pytest.approx(exact(x, row, col), rel=1e-11)


def test_all_tables_together():
    row, col = [2, 3], [1, 3, 1]
    tables = [
        [[a, b, 2 - a - b], [1 - a, 3 - b, b + a - 1]] for a, b in itertools.product(range(2), range(4)) if 0 <= 2 - a - b <= 1
    ]
    assert gs.random_table.pmf(tables, row, col).sum() == pytest.approx(1, rel=1e-13)
    np.testing.assert_allclose(gs.random_table.mean(row, col), np.outer(row, col) / 5)


def test_outside_and_mistakes():
    x = np.array(stats.random_table.rvs(ROW, COL, size=4, random_state=1), float)
    x[0, 0, 0] += 1
    x[1, 0, 0] -= 0.5
    x[2, 0, 0] = np.nan
    got = gs.random_table.logpmf(gs.to_device(x), ROW, COL)
    assert np.isneginf(got[:2]).all() and np.isnan(got[2]) and got[3] == gs.random_table.logpmf(x[3], ROW, COL)
    for call, message in (
        (lambda: gs.random_table.logpmf(x[..., :2], ROW, COL), r"x of random_table has shape \(4, 3, 2\).*\(..., 3, 4\)"),
        (lambda: gs.random_table.rvs([1.5], [1.5]), "row must be a vector of whole numbers"),
        (lambda: gs.random_table.rvs([1], [[1]]), "col must be a vector of whole numbers"),
        (lambda: gs.random_table.mean([1], [2]), "row and col must have the same sum, not 1 and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_draws():
    x = gs.random_table.rvs(ROW, COL, size=20_000, rng=1)
    assert x.dtype == np.int64 and (x.sum(-1) == ROW).all() and (x.sum(-2) == COL).all()
    total = sum(ROW)
    for i, j in np.ndindex(3, 4):
        k = np.arange(max(ROW[i], COL[j]) + 1)
        seen = np.bincount(x[:, i, j], minlength=len(k))
        wanted = len(x) * stats.hypergeom(total, ROW[i], COL[j]).pmf(k)
        enough = wanted > 5
        assert stats.chisquare(seen[enough], wanted[enough] * seen[enough].sum() / wanted[enough].sum()).pvalue > 1e-5
    assert gs.random_table.rvs(ROW, COL).shape == (3, 4) and gs.random_table.rvs(ROW, COL, size=(2, 0)).shape == (2, 0, 3, 4)
