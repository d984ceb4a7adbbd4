"""Elements of tables by group in JAX, whose derivatives are sums by group: plainly, and in the ways of its experts.

"plain" is `table[index]`: JAX adds the derivatives up one by one, by scatters. In the others rows are in the order of the index
with the most groups, and derivatives are

- "segments": `jax.ops.segment_sum` of sorted groups; those of a second index are put into its order first;
- "one-hot": products with a matrix of one-hot columns, made once;
- "masks": sums of all rows for each group, where XLA makes the comparisons as it adds.

The last two are for up to `FEW_GROUPS` groups, and tables of more groups beside these have segments. Which is fastest depends
on the device, so that a bench measures all and keeps the best.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

PLAIN = "plain"
FAST = "segments", "one-hot", "masks"
FEW_GROUPS = 128
MOST_BYTES = 8 << 30  # of one-hot columns


class Plain(NamedTuple):
    """Index of rows, as it is."""

    index: Any

    def of(self, table: Any) -> Any:
        return table[self.index]


class Segments(NamedTuple):
    """Index of rows, the same in order, and the rows in this order; None twice where the index itself is in order."""

    index: Any
    in_order: Any = None
    rows: Any = None

    def of(self, table: Any) -> Any:
        return _with_segments()(table, *self)


class OneHot(NamedTuple):
    """Columns of zeros and ones, (N, K)."""

    columns: Any

    def of(self, table: Any) -> Any:
        return self.columns @ table


class Masks(NamedTuple):
    """Index of rows, for sums of all rows for each group."""

    index: Any

    def of(self, table: Any) -> Any:
        return _with_masks()(table, self.index)


Index = Plain | Segments | OneHot | Masks


def taken(table: Any, index: Any) -> Any:
    """Element of a table for each row: by one of the ways, or by an array of places, plainly."""
    return index.of(table) if isinstance(index, Index) else table[index]


def ways(indices: Sequence[np.ndarray], itemsize: int = 8) -> tuple[str, ...]:
    """Ways of experts that differ for these indices."""
    few = [index for index in indices if index.max() < FEW_GROUPS]
    if not few:
        return FAST[:1]
    columns = sum(len(index) * (int(index.max()) + 1) * itemsize for index in few)
    return tuple(way for way in FAST if way != "one-hot" or columns <= MOST_BYTES)


def arranged(data: dict[str, Any], groups: Sequence[str], way: str, dtype: Any = float) -> dict[str, Any]:
    """Data whose indices, named in `groups`, are taken in one way; rows are put into order for all ways but the plain one."""
    if way == PLAIN or not groups:
        return data | {name: Plain(np.asarray(data[name], np.int32)) for name in groups}
    sizes = {name: int(data[name].max()) + 1 for name in groups}
    first = max(groups, key=lambda name: sizes[name])
    order = np.argsort(data[first], kind="stable")
    moved = {name: a[order] if np.shape(a)[:1] == order.shape else a for name, a in data.items()}

    def index(name: str) -> Index:
        places = np.asarray(moved[name], np.int32)
        if sizes[name] <= FEW_GROUPS and way == "one-hot":
            import jax

            return OneHot(jax.nn.one_hot(places, sizes[name], dtype=dtype))
        if sizes[name] <= FEW_GROUPS and way == "masks":
            return Masks(places)
        if name == first:
            return Segments(places)
        rows = np.argsort(places, kind="stable").astype(np.int32)
        return Segments(places, places[rows], rows)

    return moved | {name: index(name) for name in groups}


def _slot(table: Any, index: Any, in_order: bool) -> Any:
    return table.at[index].get(indices_are_sorted=in_order, mode="promise_in_bounds")


@functools.cache
def _with_segments() -> Any:
    import jax

    @jax.custom_vjp
    def taken(table: Any, index: Any, in_order: Any, rows: Any) -> Any:
        return _slot(table, index, rows is None)

    def forward(table: Any, index: Any, in_order: Any, rows: Any) -> Any:
        return _slot(table, index, rows is None), (index if rows is None else in_order, rows, table.shape[0])

    def backward(kept: Any, slopes: Any) -> Any:
        groups, rows, size = kept
        slopes = slopes if rows is None else slopes[rows]
        return jax.ops.segment_sum(slopes, groups, size, indices_are_sorted=True), None, None, None

    taken.defvjp(forward, backward)
    return taken


@functools.cache
def _with_masks() -> Any:
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def taken(table: Any, index: Any) -> Any:
        return _slot(table, index, False)

    def forward(table: Any, index: Any) -> Any:
        return _slot(table, index, False), (index, table.shape[0])

    def backward(kept: Any, slopes: Any) -> Any:
        index, size = kept
        own = index[:, None] == jnp.arange(size, dtype=index.dtype)
        own = own.reshape(own.shape + (1,) * (slopes.ndim - 1))
        return jnp.where(own, slopes[:, None], 0).sum(0), None

    taken.defvjp(forward, backward)
    return taken
