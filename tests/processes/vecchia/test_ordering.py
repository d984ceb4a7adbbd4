"""Orders of points, and the nearest of those before each."""

import numpy as np
import pytest
from references_vecchia import earlier
from scipy.spatial import cKDTree

from gpustats.processes.vecchia import neighbours, ordering
from gpustats.runtime import choose


def separations(x, order):
    """The distance of each point from all before it."""
    return np.array([np.sqrt(((x[order[:k]] - x[order[k]]) ** 2).sum(1)).min() for k in range(1, len(order))])


def test_maxmin_is_exact_for_few_points(rng):
    x = rng.normal(size=(150, 3))
    order = ordering.ordered("maxmin", x)
    assert order[0] == np.argmin(((x - x.mean(0)) ** 2).sum(1))
    np.testing.assert_array_equal(np.sort(order), np.arange(150))
    for k, distance in enumerate(separations(x, order), 1):
        left = order[k:]
        assert distance == np.sqrt(((x[left][:, None] - x[order[:k]]) ** 2).sum(-1)).min(1).max()


@pytest.mark.parametrize("shape", ["uniform", "clusters", "duplicates"])
def test_maxmin_of_many_points_is_near_to_it(shape, rng, monkeypatch):
    """Half the distance of the exact order, at least, and far more than by chance."""
    x = rng.uniform(size=(3000, 2))
    if shape == "clusters":
        x = x**6
    if shape == "duplicates":
        x = np.round(10 * x)
    exact = ordering.ordered("maxmin", x)
    monkeypatch.setattr(ordering, "EXACT_ORDER_LIMIT", 512)
    order = ordering.ordered("maxmin", x)
    np.testing.assert_array_equal(np.sort(order), np.arange(3000))
    np.testing.assert_array_equal(order, ordering.ordered("maxmin", x))
    for k in (60, 100) if shape == "duplicates" else (100, 400, 1500):
        nearest = [cKDTree(x[o[:k]]).query(x[o[:k]], 2)[0][:, 1].min() for o in (exact, order)]
        assert nearest[1] > 0.4 * nearest[0]


def test_other_orders(rng):
    x = rng.normal(size=(50, 2))
    random = [ordering.ordered("random", x, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(random[0], random[1])
    assert (random[0] != random[2]).any()
    assert (np.diff(x.sum(1)[ordering.ordered("coordinate", x)]) >= 0).all()
    given = rng.permutation(50)
    np.testing.assert_array_equal(ordering.ordered(given, x), given)


@pytest.mark.parametrize("wrong", ["nearest", np.arange(4), np.zeros(5, int), np.arange(5.0), np.arange(1, 6)])
def test_orders_that_are_none(wrong):
    with pytest.raises(ValueError, match="ordering"):
        ordering.ordered(wrong, np.zeros((5, 2)))


@pytest.mark.parametrize("kind, m", [("random", 7), ("coordinate", 7), ("given", 3), ("duplicates", 7), ("wide", 5)])
def test_neighbours_are_exact(kind, m, rng, monkeypatch):
    """In several rounds, also where most of what is near comes later."""
    monkeypatch.setattr(neighbours, "ALL_PAIRS_LIMIT", 32)
    monkeypatch.setattr(neighbours, "NEIGHBOURS_AT_ONCE", 1000)
    x = rng.normal(size=(300, 7 if kind == "wide" else 2))
    if kind == "duplicates":
        x = np.round(2 * x)
    x = x[ordering.ordered(kind, x) if kind in ("random", "coordinate") else np.argsort(-(x**2).sum(1))]
    found = neighbours.earlier_neighbours(choose.get(), x, m)
    np.testing.assert_array_equal(found, earlier(x, np.arange(300), m))
