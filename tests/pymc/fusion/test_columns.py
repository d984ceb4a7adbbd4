"""Columns of data keep all of their numbers, to the sign of zero, in fewer bytes."""

import numpy as np
import pymc as pm
import pytest

import gpustats.pymc as gpm
from gpustats.compiler.fusion.columns import key_of, narrowed, two


@pytest.mark.parametrize("numbers, dtype", [
    ([0.0, 255.0, 3.0], np.uint8), ([True, False], np.uint8), ([0, 256], np.int32), ([-1.0, 2.0], np.int32),
    ([2.0**31 - 1, -(2.0**31)], np.int32), ([2**31, 0], np.float64), ([0.5, 1.0], np.float64), ([-0.0, 1.0], np.float64),
    ([np.nan, 1.0], np.float64), ([np.inf, 1.0], np.float64), ([0.0] * 200 + [0.5], np.float64),
    (np.array([1.5, 2.0], np.float32), np.float64), (np.arange(10.0)[::3], np.uint8),
])  # fmt: skip
def test_narrowed(numbers, dtype):
    numbers = np.asarray(numbers)
    found = narrowed(numbers)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, numbers)
    assert np.array_equal(np.signbit(np.asarray(found, float)), np.signbit(np.asarray(numbers, float)))


def test_two_numbers():
    def back(values):
        one, other, where = two(np.array(values))
        return one, other, np.where(where, other, one).tolist() == values

    assert back([-np.inf, 0.0, -np.inf]) == back([0.0, -np.inf]) == (0.0, -np.inf, True)
    assert back([2.5, 0.5, 0.5]) == back([0.5, 2.5]) == (0.5, 2.5, True)
    assert two(np.array([0.5, 1.5, 2.5])) is None and two(np.array([0.5, np.nan])) is None
    assert two(np.r_[np.zeros(200), 0.5, 0.7]) is None
    assert two(np.array([0.0, -0.0, 1.0])) is None


def test_equal_columns_are_one():
    a = np.arange(10.0)
    assert key_of(a) == key_of(a.copy()) == key_of(np.arange(20.0)[:10]) != key_of(a + 1)
    assert key_of(a) != key_of(a.astype(np.int32))


def test_what_counts_are_read_as(rng):
    """What PyMC makes of the observations takes a byte for each of them, and another for which are 0."""
    with pm.Model() as model:
        pm.Poisson("y", pm.math.exp(pm.Normal("a") * rng.normal(size=1000)), observed=rng.poisson(3, 1000))
    with gpm.fused(min_rows=0):
        (term,) = gpm.explain(model).terms
    assert term.sums[0].bytes_per_row == 8 + 1 + 1 + 8  # x, y, y != 0, log(y!)
