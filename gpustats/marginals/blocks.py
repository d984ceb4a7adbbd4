"""Groups of effects that are eliminated one by one: those of the largest table, and of the tables of the same grouping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..fits.bordered import MOST_DENSE
from ..linalg.fronts import few_meet
from ..rows.matrix_layout import BorderedLayout, MatrixLayout
from ..rows.sparse_layout import SparseLayout
from .effects import Effects
from .rows_term import Grouping, Term

LEAST_IN_BLOCKS = 16  # elements of the tables of one grouping from which on these are blocks


def layout_of(effects: Effects, terms: Sequence[Term]) -> MatrixLayout[Any]:
    """Places of effects in their matrix of second derivatives.

    Elements of two groups of the blocks stand in no row together, of any term.
    """
    sizes = {n: math.prod(shape) for n, shape in effects.shapes.items()}
    found = [term.groupings() for term in terms]
    candidates: dict[Grouping, list[str]] = {}
    for of_term in found:
        for name, groupings in of_term.items():
            if len(groupings) == 1 and None not in next(iter(groupings)):
                candidates.setdefault(next(iter(groupings)), []).append(name)
    best, most, n_groups = list[str](), LEAST_IN_BLOCKS - 1, 0
    for (_, n), names in candidates.items():
        own = list(dict.fromkeys(names))
        if sum(sizes[m] for m in own) > most and all(_apart(of_term, own, n) for of_term in found):
            best, most, n_groups = own, sum(sizes[m] for m in own), n
    blocks = np.concatenate([np.zeros((n_groups, 0), int), *(effects.places(m).reshape(n_groups, -1) for m in best)], 1)
    rest, n_rows = effects.size - blocks.size, sum(term.n_rows for term in terms)
    if rest > MOST_DENSE or few_meet(rest * blocks.size, n_rows, n_groups * rest):
        return SparseLayout(effects.size, blocks)
    return BorderedLayout(effects.size, blocks)


def _apart(groupings: dict[str, set[Grouping]], names: Sequence[str], n: int) -> bool:
    """True if no row of a term has elements of two of n groups."""
    own = [name for name in names if name in groupings]
    of_rows = set().union(*(groupings[name] for name in own))
    if not own:
        return True
    _, n_own = next(iter(of_rows))
    return len(of_rows) == 1 and (n_own == n or (len(own) == 1 and n_own % n == 0))
