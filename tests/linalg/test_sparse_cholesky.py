"""Sparse Cholesky factors against NumPy's dense functions, on patterns of crossed, nested and moving groups."""

import numpy as np
import pytest
from scipy import sparse

from gpustats.linalg import fronts
from gpustats.linalg.fronts import Fronts
from gpustats.linalg.sparse_cholesky import SparseCholesky


def pairs(kind, n, a, b, rng):
    """Groups of n rows of two groupings, numbered from 0."""
    g = rng.integers(0, a, n)
    h = {"crossed": rng.integers(0, b, n), "nested": g * b // a, "moving": (g * b // a + rng.integers(0, 3, n)) % b}[kind]
    return [np.unique(own, return_inverse=True)[1] for own in (g, h)]


def graph_of(groups):
    """Nodes of all groupings, connected where they share a row."""
    ends = np.cumsum([0, *(own.max() + 1 for own in groups)])
    columns = np.column_stack([own + at for own, at in zip(groups, ends[:-1], strict=True)])
    n, k = columns.shape
    Z = sparse.csr_array((np.ones(n * k), columns.ravel(), k * np.arange(n + 1)), shape=(n, ends[-1]))
    return (Z.T @ Z).tocsr()


def matrix_on(made, rng):
    """Random positive definite matrix with the pattern of fronts, and its numbers."""
    rows = np.repeat(np.arange(made.n), np.diff(made.rows))
    found = np.zeros((made.n, made.n))
    found[rows, made.columns] = rng.normal(size=len(rows))
    found = (found + found.T) / 2 + np.diag(np.full(made.n, 1.0 + np.abs(found).sum(1).max()))
    return found, found[rows, made.columns], rows


@pytest.mark.parametrize("widths", [(1, 1), (2, 1), (1, 9)], ids=str)
@pytest.mark.parametrize("kind", ["crossed", "nested", "moving"])
@pytest.mark.parametrize("leading", [True, False], ids=["largest first", "any order"])
def test_factor_solutions_and_inverse(kind, widths, leading):
    rng = np.random.default_rng(len(kind) + sum(widths))
    for n, a, b in ((500, 150, 60), (60, 40, 30), (1, 1, 1)):
        groups = pairs(kind, n, a, b, rng)
        sizes = np.concatenate([np.full(own.max() + 1, w) for own, w in zip(groups, widths, strict=True)])
        made = Fronts(graph_of(groups), sizes, groups[0].max() + 1 if leading else 0)
        dense, numbers, rows = matrix_on(made, rng)
        assert np.count_nonzero(dense) == len(numbers)
        factor, right = SparseCholesky(made, numbers), rng.normal(size=(made.n, 3))
        assert 2 * np.log(factor.pivots).sum() == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-12)
        np.testing.assert_allclose(factor.solve(right), np.linalg.solve(dense, right), rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(factor.selected_inverse(), np.linalg.inv(dense)[rows, made.columns], rtol=1e-9, atol=1e-14)
        half, root = factor.half_solve(right), factor.transposed_solve(np.eye(made.n))
        np.testing.assert_allclose(half.T @ half, right.T @ np.linalg.solve(dense, right), rtol=1e-10)
        np.testing.assert_allclose(root @ root.T, np.linalg.inv(dense), rtol=1e-9, atol=1e-14)


def test_more_groupings_lonely_nodes_and_a_full_front():
    rng = np.random.default_rng(2)
    groups = [*pairs("moving", 400, 120, 50, rng), rng.integers(0, 4, 400)]
    graph = graph_of(groups)
    alone = sparse.block_diag([graph, np.zeros((5, 5))], format="csr")
    full = graph_of(pairs("crossed", 3000, 500, 300, rng))
    for own, sizes in ((alone, rng.integers(1, 4, alone.shape[0])), (full, np.ones(full.shape[0], int))):
        made = Fronts(own, sizes)
        dense, numbers, rows = matrix_on(made, rng)
        factor, inverse = SparseCholesky(made, numbers), np.linalg.inv(dense)
        np.testing.assert_allclose(factor.solve(np.eye(made.n)), inverse, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(factor.selected_inverse(), inverse[rows, made.columns], rtol=1e-9, atol=1e-14)


def test_elimination_stays_sparse():
    """Fronts of nested groups have no more numbers than their matrix needs, but for those that fill up."""
    rng = np.random.default_rng(3)
    groups = pairs("nested", 40_000, 9000, 900, rng)
    made = Fronts(graph_of(groups), np.ones(groups[0].max() + groups[1].max() + 2, int), groups[0].max() + 1)
    assert made.size < 8 * len(made.columns) and len(made.levels) <= 4


def test_not_positive_definite():
    made = Fronts(sparse.csr_array(np.ones((3, 3))), np.ones(3, int))
    with pytest.raises(np.linalg.LinAlgError):
        SparseCholesky(made, np.array([1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0]))


def test_no_room(monkeypatch):
    """An error says how much memory the factor would take, before it is taken."""
    monkeypatch.setattr(fronts.host_memory, "available", lambda: 1 << 20)
    with pytest.raises(MemoryError, match="crossed with one another everywhere; leave a grouping out"):
        Fronts(sparse.csr_array(np.ones((400, 400))), np.ones(400, int))
