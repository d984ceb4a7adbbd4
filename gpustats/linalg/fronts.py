"""Fronts of a sparse Cholesky factorisation: which rows are eliminated together, and where the numbers of each step lie.

A front is a dense symmetric matrix: its pivots are rows that are eliminated, its border those that this changes. What is left
of the border is added to the front that eliminates the first of its rows. See Duff & Reid (1983), The multifrontal solution of
indefinite sparse symmetric linear equations, ACM Trans. Math. Softw. 9(3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..runtime import host_memory, thresholds

#: Share of the elements of a front that may be zeros, for which fronts become one, and share of a matrix that is called full.
MOST_ZEROS, FULL = 0.2, 0.25
#: Numbers of the coupling of groups from which on it is sparse, where the rows make so small a share of it not 0.
LEAST_SPARSE, MOST_FILLED = thresholds.MIXED_LEAST_SPARSE.value, thresholds.MIXED_MOST_FILLED.value
#: Rows up to which fronts become one whatever is zero, and to which a matrix is taken as a whole.
FEW = 32


def few_meet(numbers: int, rows: int, pairs: int) -> bool:
    """Whether a coupling of groups with so many numbers is to be sparse, of so many pairs of groups in so many rows."""
    return numbers >= LEAST_SPARSE and rows < MOST_FILLED * pairs


class Ragged(NamedTuple):
    """Lists of numbers, one after another."""

    values: np.ndarray
    starts: np.ndarray  # of each list, and the end

    @classmethod
    def of(cls, lists: Sequence[np.ndarray]) -> Ragged:
        sizes = [len(own) for own in lists]
        return cls(np.concatenate([np.zeros(0, int), *lists]).astype(int), np.concatenate([[0], np.cumsum(sizes, dtype=int)]))

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.starts)

    @property
    def owners(self) -> np.ndarray:
        """Number of the list of each value."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)

    def joined(self, other: Ragged) -> Ragged:
        """Lists, and those of another behind them."""
        return Ragged(np.append(self.values, other.values), np.append(self.starts, self.starts[-1] + other.starts[1:]))

    def spread(self, starts: np.ndarray, sizes: np.ndarray) -> Ragged:
        """Lists in which each value v is replaced by so many numbers from starts[v] on."""
        many = sizes[self.values]
        ends = np.cumsum(many)
        values = np.repeat(starts[self.values] - ends + many, many) + np.arange(many.sum())
        return Ragged(values, np.append(0, ends)[self.starts])


@dataclass(frozen=True, eq=False)
class Level:
    """Fronts of one shape, (n, p + b, p + b), that do not wait for one another.

    Attributes
    ----------
    numbers : slice
        Place of theirs among the numbers of all fronts.
    pivots : (n, p) ndarray
        Rows that are eliminated; a row beyond the last fills a front up.
    border : (n, b) ndarray
    targets : (n, b, b) ndarray
        Places, among the numbers of all fronts, of what is left of the border.
    """

    numbers: slice
    pivots: np.ndarray
    border: np.ndarray
    targets: np.ndarray


class Fronts:
    """Fronts of symmetric matrices (P, P) with one pattern.

    Parameters
    ----------
    graph : scipy.sparse.csr_array, (N, N)
        Nodes that are connected; a node is some neighbouring rows of the matrix with the same pattern.
    sizes : (N,) ndarray of int
        Number of rows of each node.
    first : int
        Nodes at the beginning that are not connected with one another, and are eliminated first.

    Attributes
    ----------
    rows : (P + 1,) ndarray
        Starts of the rows of a matrix among its numbers, and their end: those of a CSR matrix with whole blocks.
    columns, row_of : (nnz,) ndarray
        Column of each number, and its row.
    diagonal : (P,) ndarray
        Places of the diagonal among the numbers.
    levels : list of Level
        In the order of elimination.
    places, ones : ndarray
        Place of each number among those of all fronts, and places of the diagonals of pivots that fill up.
    size : int
        Numbers of all fronts.
    """

    def __init__(self, graph: Any, sizes: np.ndarray, first: int = 0):
        graph = _with_diagonal(graph)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        whole = Ragged(graph.indices, graph.indptr).spread(starts, sizes)
        lists = np.repeat(np.arange(len(sizes)), sizes)  # node of each row
        self.n = len(lists)
        own = Ragged(lists, np.arange(self.n + 1)).spread(whole.starts[:-1], whole.sizes)
        self.rows, self.columns, self.row_of = own.starts, whole.values[own.values], own.owners
        self.diagonal = np.flatnonzero(self.row_of == self.columns)
        position, pivots, border = _symbolic(graph, sizes, first)
        by_position = np.argsort(position)
        starts, sizes = starts[by_position], sizes[by_position]
        self._place(pivots.spread(starts, sizes), border.spread(starts, sizes), position[lists])

    def find(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Places of elements among the numbers of a matrix; their number for elements that it has not."""
        keys = self.row_of * self.n + self.columns
        wanted = rows * self.n + columns
        found = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        return np.where(keys[found] == wanted, found, len(keys))

    def matrix(self, numbers: np.ndarray) -> Any:
        """Matrix with these numbers, a scipy.sparse.csr_array."""
        import scipy.sparse

        return scipy.sparse.csr_array((numbers, self.columns, self.rows), shape=(self.n, self.n))

    def _place(self, pivots: Ragged, border: Ragged, position: np.ndarray) -> None:
        """Place the numbers of fronts, of which the rows are known; `position` of each row is that of its node."""
        n_fronts = len(pivots.sizes)
        order = np.lexsort((np.arange(self.n), position))
        rank = np.empty(self.n, int)
        rank[order] = np.arange(self.n)
        front, place = np.empty(self.n, int), np.empty(self.n, int)
        front[pivots.values] = pivots.owners
        place[pivots.values] = np.arange(self.n) - pivots.starts[pivots.owners]
        parent, above_it = np.full(n_fronts, -1), border.sizes > 0
        parent[above_it] = front[border.values[border.starts[:-1][above_it]]]
        # fronts of one depth and shape are a level, whose numbers stand together
        depth, p, b = _depths(parent), _padded(pivots.sizes), _padded(border.sizes)
        kinds, kind = np.unique(np.column_stack([depth, p, b]), axis=0, return_inverse=True)
        members = np.argsort(kind.ravel(), kind="stable")
        counts = np.bincount(kind.ravel(), minlength=len(kinds))
        numbers = np.zeros(n_fronts, int)
        numbers[members] = np.concatenate([[0], np.cumsum(((p + b) ** 2)[members])])[:-1]
        self.size = int(((p + b) ** 2).sum())
        self._check(self.size)
        keys = border.owners * self.n + rank[border.values]

        def locate(fronts: np.ndarray, rows: np.ndarray) -> np.ndarray:
            """Places of rows in fronts."""
            in_border = p[fronts] + np.searchsorted(keys, fronts * self.n + rank[rows]) - border.starts[fronts]
            return np.where(front[rows] == fronts, place[rows], in_border)

        # a matrix' elements lie in the front that eliminates the first of their two rows
        fronts = front[np.where(rank[self.row_of] < rank[self.columns], self.row_of, self.columns)]
        self.places = numbers[fronts] + locate(fronts, self.row_of) * (p + b)[fronts] + locate(fronts, self.columns)
        # what is left of a border goes to the front above, and what fills it up beyond all numbers
        in_parent = locate(np.repeat(parent, border.sizes), border.values)
        self.levels, ones, at = list[Level](), list[np.ndarray](), 0
        for (_, wide, high), count in zip(kinds.tolist(), counts.tolist(), strict=True):
            own, f = members[at : at + count], wide + high
            above, at = parent[own], at + count
            filled_pivots, filled = _filled(pivots, own, wide, self.n), _filled(border, own, high, self.n)
            local = _filled(Ragged(in_parent, border.starts), own, high, 0)
            targets = (numbers[above, None] + local * (p + b)[above, None])[:, :, None] + local[:, None, :]
            beside = filled == self.n
            targets[beside[:, :, None] | beside[:, None, :]] = self.size
            start = int(numbers[own[0]])
            self.levels.append(Level(slice(start, start + count * f * f), filled_pivots, filled, targets))
            which, where = np.nonzero(filled_pivots == self.n)
            ones.append(start + which * f * f + where * (f + 1))
        self.ones = np.concatenate(ones)

    @staticmethod
    def _check(size: int) -> None:
        if 24 * size > (free := host_memory.available() or math.inf):
            raise MemoryError(
                f"a sparse factor of {size:,} numbers takes about {24 * size / 2**30:.1f} GiB, {free / 2**30:.1f} are free: "
                "groups are crossed with one another everywhere; leave a grouping out"
            )


def _with_diagonal(graph: Any) -> Any:
    """Pattern with the diagonal, whose columns are sorted."""
    import scipy.sparse

    n = graph.shape[0]
    pattern = scipy.sparse.csr_array((np.ones(graph.nnz, np.int8), graph.indices, graph.indptr), shape=(n, n))
    found = (pattern.astype(bool) + scipy.sparse.eye_array(n, dtype=bool, format="csr")).tocsr()
    found.sort_indices()
    return found


def _padded(sizes: np.ndarray) -> np.ndarray:
    """Sizes that are filled up, so that fronts of about the same size have the same: to three bits, from 256 on as they are."""
    step = 2 ** np.maximum(np.floor(np.log2(np.maximum(sizes, 1))).astype(int) - 2, 0)
    return np.where(sizes < 256, -(-sizes // step) * step, sizes)


def _filled(lists: Ragged, which: np.ndarray, width: int, fill: int) -> np.ndarray:
    """Some of the lists as the rows of an array, filled up."""
    found = np.full((len(which), width), fill)
    inside = np.arange(width) < lists.sizes[which, None]
    found[inside] = lists.values[(lists.starts[which, None] + np.arange(width))[inside]]
    return found


def _depths(parent: np.ndarray) -> np.ndarray:
    """Number of fronts below each, on the longest way; parents stand behind."""
    found, leaves = np.zeros(len(parent), int), np.ones(len(parent), bool)
    leaves[parent[parent >= 0]] = False
    of_leaves = parent[leaves & (parent >= 0)]
    found[of_leaves] = 1
    for i in np.flatnonzero(~leaves & (parent >= 0)).tolist():
        found[parent[i]] = max(found[parent[i]], found[i] + 1)
    return found


def _symbolic(graph: Any, sizes: np.ndarray, first: int) -> tuple[np.ndarray, Ragged, Ragged]:
    """Position of each node in the elimination, and the positions of the nodes of each front's pivots and border, sorted."""
    n = len(sizes)
    coupling, rest = graph[:first, first:], graph[first:, first:]
    if first:
        rest = (rest + (coupling.T @ coupling).tocsr()).tocsr()
    order = _order(rest)
    position = np.arange(n)
    position[first + order] = first + np.arange(n - first)
    coupling = coupling.tocsr()
    of_first = Ragged(position[first + coupling.indices], coupling.indptr)
    of_first = of_first._replace(values=of_first.values[np.lexsort((of_first.values, of_first.owners))])
    pivots, border = _merged(*_eliminated(rest[order][:, order]), sizes[first + order])
    leaves = Ragged(np.arange(first), np.arange(first + 1))
    behind = [Ragged(first + own.values, own.starts) for own in (pivots, border)]
    return position, leaves.joined(behind[0]), of_first.joined(behind[1])


def _order(graph: Any) -> np.ndarray:
    """Nodes in the order of elimination: by minimum degree, of SuperLU."""
    from scipy.sparse.linalg import spilu

    n = graph.shape[0]
    if n <= FEW or graph.nnz > FULL * n**2:
        return np.arange(n)
    matrix = graph.astype(float)
    matrix.data[:] = 1e-12
    matrix.setdiag(1.0)
    # an incomplete factorisation that keeps nothing
    found = spilu(
        matrix.tocsc(), drop_tol=1.0, fill_factor=1, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    return np.argsort(found.perm_c)


def _eliminated(graph: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Pivots and border of each step of an elimination in the order of the nodes; the last one takes what is full."""
    graph.sort_indices()
    n, indices, indptr = graph.shape[0], graph.indices.astype(int), graph.indptr
    diagonal = indptr[:-1] + np.bincount(
        np.repeat(np.arange(n), np.diff(indptr)), indices < np.repeat(np.arange(n), np.diff(indptr)), n
    ).astype(int)
    waiting: dict[int, list[np.ndarray]] = {}
    pivots, border = list[np.ndarray](), list[np.ndarray]()
    for j in range(n):
        found = indices[diagonal[j] + 1 : indptr[j + 1]]
        if below := waiting.pop(j, None):
            found = np.unique(np.concatenate([found, *below]))[1:] if len(below) > 1 or len(found) else below[0][1:]
            found = found[np.searchsorted(found, j, "right") :]
        if len(found) > FULL * (n - 1 - j) and len(found) > FEW or n - j <= FEW:
            pivots.append(np.arange(j, n))
            border.append(np.zeros(0, int))
            break
        pivots.append(np.array([j]))
        border.append(found)
        if len(found):
            waiting.setdefault(int(found[0]), []).append(found)
    return pivots, border


def _merged(pivots: list[np.ndarray], border: list[np.ndarray], sizes: np.ndarray) -> tuple[Ragged, Ragged]:
    """Fronts of single steps that are made one where few of its elements are zeros without need."""
    count = len(pivots)
    of_node = {int(node): i for i, own in enumerate(pivots) for node in own.tolist()}
    width = [int(sizes[own].sum()) for own in pivots]
    high = [int(sizes[own].sum()) for own in border]
    zeros, into = [0] * count, [-1] * count
    for i in range(count):
        if not len(border[i]):
            continue
        above = of_node[int(border[i][0])]
        added = zeros[i] + zeros[above] + width[i] * (width[above] + high[above] - high[i])
        p = width[i] + width[above]
        if p <= FEW and p + high[above] <= FEW or added <= MOST_ZEROS * p * (p / 2 + high[above]):
            into[i], width[above], zeros[above] = above, p, added
    members: dict[int, list[np.ndarray]] = {}
    for i in range(count):
        own = members.setdefault(i, [])
        own.append(pivots[i])
        if into[i] >= 0:
            members.setdefault(into[i], []).extend(members.pop(i))
    kept = sorted(members)
    return Ragged.of([np.sort(np.concatenate(members[i])) for i in kept]), Ragged.of([border[i] for i in kept])
