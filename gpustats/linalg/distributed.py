"""Algorithms for lower triangles in blocks of rows on several devices.

All go through the blocks of rows from the top. A block is copied to all devices, and each of these works on its own rows with
it; the next block comes first, so that its copies are under way while the devices work on the others. The calling thread
starts everything and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..evaluation.results import written
from ..runtime.types import Array
from .block_rows import BlockRow, BlockRows
from .matrix import Matrix


def potrf(a: BlockRows) -> list[Array]:
    """The lower triangle a = its Cholesky factor, with zeros above the diagonal, whose tiles on the diagonal need no mirror.

    Returns
    -------
    list
        For each block what `Provider.potrf` returns: the first that is not 0 says which leading minor of the matrix from that
        block on is not positive definite.
    """
    infos: list[Array] = []
    arrived: Callable[[], list[Matrix]] | None = None

    def finish(block: BlockRow) -> Callable[[], list[Matrix]] | None:
        provider, square = a.providers[block.place], block.diagonal
        provider.lower(square, square, provider.reads_above(square))
        infos.append(provider.potrf(square))
        return a.spread(block) if block is not a.blocks[-1] else None

    for block in a.blocks:
        if block.number == 0:
            arrived = finish(block)
        if arrived is None:
            break
        rows = arrived()
        for other in a.blocks[block.number + 1 :]:
            provider, row, tile = a.providers[other.place], rows[other.place], other.whole[:, block.rows]
            if block.number:
                provider.gemm(-1.0, other.whole[:, block.before], row[:, block.before].T, 1.0, tile)
            provider.trsm(row[:, block.rows].T, tile, left=False)
            provider.syrk(-1.0, tile, 1.0, other.diagonal)
            if other.number == block.number + 1:
                arrived = finish(other)
    return infos


def trtri(l: BlockRows) -> None:  # noqa: E741
    """The lower triangle l = l⁻¹, of a triangle with zeros above the diagonal."""
    arrived = l.spread(l.blocks[0], own=True) if l.blocks else None
    for block in l.blocks:
        assert arrived is not None
        rows = arrived()
        for other in l.blocks[block.number + 1 :]:
            provider, row, tile = l.providers[other.place], rows[other.place], other.whole[:, block.rows]
            provider.trsm(row[:, block.rows], tile, left=False)
            if block.number:
                provider.gemm(-1.0, tile, row[:, block.before], 1.0, other.left[:, block.before])
            if other.number == block.number + 1:
                arrived = l.spread(other, own=True)
        provider = l.providers[block.place]
        provider.trtri(block.diagonal)
        if block.number:
            provider.gemm(-1.0, block.diagonal, rows[block.place][:, block.before], 0.0, block.left)


def gram(l: BlockRows) -> None:  # noqa: E741
    """The lower triangle l = l' l, of a triangle with zeros above the diagonal; the tiles on the diagonal become symmetric."""
    arrived = l.spread(l.blocks[0], own=True) if l.blocks else None
    for block in l.blocks:
        assert arrived is not None
        rows = arrived()
        if block is not l.blocks[-1]:
            arrived = l.spread(l.blocks[block.number + 1], own=True)
        for other in l.blocks[: block.number + 1]:
            row, new = rows[other.place], other is block
            l.providers[other.place].gemm(
                1.0, row[:, other.rows].T, row[:, : other.rows.stop], 0.0 if new else 1.0, other.whole
            )


def solve(l: BlockRows, b: Sequence[Matrix]) -> None:  # noqa: E741
    """b = l⁻¹ b, of a copy (n, m) on each device."""
    for block in l.blocks:
        provider, own = l.providers[block.place], b[block.place]
        part = own[block.rows, :]
        if block.number:
            provider.gemm(-1.0, block.left, own[block.before, :], 1.0, part)
        provider.trsm(block.diagonal, part, left=True)
        waits = [
            provider.runtime.send(part.flat, other.runtime, b[place][block.rows, :].flat)
            for place, other in enumerate(l.providers)
            if place != block.place
        ]
        for wait in waits:
            wait()


def transposed_product(l: BlockRows, b: Sequence[Matrix]) -> np.ndarray:  # noqa: E741
    """l' b, on the host, of a copy (n, m) of b on each device, and a triangle with zeros above the diagonal."""
    sums = l.replicated(np.zeros(b[0].shape))
    for block in l.blocks:
        place = block.place
        part = sums[place][: block.rows.stop, :]
        l.providers[place].gemm(1.0, block.whole.T, b[place][block.rows, :], 1.0, part)
    found = [written(provider.runtime, s.flat) for provider, s in zip(l.providers, sums, strict=True)]
    return np.sum(found, 0).reshape(b[0].shape)
