"""Algorithms for lower triangles in blocks of rows on several devices.

All go through the blocks of rows from the top. A block is copied to all devices, and each of these works on its own rows with
it; the next block comes first, so that its copies are under way while the devices work on the others. The calling thread
starts everything and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..evaluation.results import written
from ..runtime import choose
from ..runtime.types import Array
from .block_rows import BlockRow, BlockRows, require_type
from .matrix import Matrix
from .providers import provider_of

Arrival = Callable[[], list[Matrix]]  # has all devices wait for the copies of something, and returns these


def _down(
    l: BlockRows, ready: Callable[[BlockRow], Arrival], change: Callable[[BlockRow, BlockRow, Matrix], None],  # noqa: E741
    done: Callable[[BlockRow, Matrix], None] | None = None,
) -> None:  # fmt: skip
    """Change all blocks of rows, each by all blocks above it.

    Parameters
    ----------
    ready : callable
        Finishes a block that those above it have changed, and starts to copy what those below it need of it.
    change : callable
        Changes the second block by such a copy of the first.
    done : callable, optional
        Changes a block itself by the copy on its device, once the device has done all else with it.
    """
    arrived = ready(l.blocks[0]) if l.blocks else list
    for block in l.blocks:
        copies = arrived()
        for other in l.blocks[block.number + 1 :]:
            change(block, other, copies[other.place])
            if other.number == block.number + 1:
                arrived = ready(other)
        if done is not None:
            done(block, copies[block.place])


def potrf(a: BlockRows) -> list[Array]:
    """Factorisation in place: the lower triangle a = its Cholesky factor, with zeros above the diagonal.

    Returns
    -------
    list
        For each block what `Provider.potrf` returns: the first that is not 0 tells which leading minor of the matrix is not
        positive definite, counted from that block's first row.
    """
    infos: list[Array] = []

    def ready(block: BlockRow) -> Arrival:
        provider, square = a.providers[block.place], block.diagonal
        provider.lower(square, square, provider.reads_above(square))
        infos.append(provider.potrf(square))
        return a.spread(block) if block is not a.blocks[-1] else list

    def change(block: BlockRow, other: BlockRow, row: Matrix) -> None:
        provider, tile = a.providers[other.place], other.whole[:, block.rows]
        if block.number:
            provider.gemm(-1.0, other.whole[:, block.before], row[:, block.before].T, 1.0, tile)
        provider.trsm(row[:, block.rows].T, tile, left=False)
        provider.syrk(-1.0, tile, 1.0, other.diagonal)

    _down(a, ready, change)
    return infos


def factor(a: Matrix, devices: choose.Devices) -> np.ndarray:
    """Factorisation of a matrix of the host by several devices: the lower triangle, with zeros above, as `Provider.factor`.

    Parameters
    ----------
    devices
        As for `runtime.choose.several`.
    """
    runtimes = choose.several(devices)
    require_type(runtimes, a.dtype)
    rows = BlockRows([provider_of(runtime) for runtime in runtimes], a.rows, a.dtype)
    for block in rows.blocks:
        rows.write(block, a[block.rows, : block.rows.stop].view[0])
    infos = potrf(rows)
    for block, info in zip(rows.blocks, infos, strict=True):
        if minor := int(rows.providers[block.place].read(info)[0]):
            return np.array([block.rows.start + minor], np.int32)
    for block in rows.blocks:
        a[block.rows, : block.rows.stop].view[0] = rows.read(block)
    return np.zeros(1, np.int32)


def solve(l: BlockRows, b: Sequence[Matrix]) -> None:  # noqa: E741
    """Solution b = l⁻¹ b, of a copy (n, m) on each device."""

    def ready(block: BlockRow) -> Arrival:
        source = l.providers[block.place]
        parts = [copy[block.rows, :] for copy in b]
        source.trsm(block.diagonal, parts[block.place], left=True)
        waits = [
            source.runtime.send(parts[block.place].flat, provider.runtime, part.flat)
            for place, (provider, part) in enumerate(zip(l.providers, parts, strict=True))
            if place != block.place
        ]

        def arrived() -> list[Matrix]:
            for wait in waits:
                wait()
            return parts

        return arrived

    def change(block: BlockRow, other: BlockRow, part: Matrix) -> None:
        l.providers[other.place].gemm(-1.0, other.whole[:, block.rows], part, 1.0, b[other.place][other.rows, :])

    _down(l, ready, change)


def trtri(l: BlockRows) -> None:  # noqa: E741
    """Inverse l = l⁻¹ of a lower triangle with zeros above the diagonal."""

    def ready(block: BlockRow) -> Arrival:
        return l.spread(block, own=True)

    def change(block: BlockRow, other: BlockRow, row: Matrix) -> None:
        provider, tile = l.providers[other.place], other.whole[:, block.rows]
        provider.trsm(row[:, block.rows], tile, left=False)
        if block.number:
            provider.gemm(-1.0, tile, row[:, block.before], 1.0, other.whole[:, block.before])

    def done(block: BlockRow, row: Matrix) -> None:
        provider = l.providers[block.place]
        provider.trtri(block.diagonal)
        if block.number:
            provider.gemm(-1.0, block.diagonal, row[:, block.before], 0.0, block.left)

    _down(l, ready, change, done)


def gram(l: BlockRows) -> None:  # noqa: E741
    """Lower triangle l = l' l, of a triangle with zeros above the diagonal; the tiles on the diagonal become symmetric."""
    arrived = l.spread(l.blocks[0], own=True) if l.blocks else list
    for block in l.blocks:
        copies = arrived()
        if block is not l.blocks[-1]:
            arrived = l.spread(l.blocks[block.number + 1], own=True)
        for other in l.blocks[: block.number + 1]:
            row, so_far = copies[other.place], 0.0 if other is block else 1.0
            l.providers[other.place].gemm(1.0, row[:, other.rows].T, row[:, : other.rows.stop], so_far, other.whole)


def transposed_product(l: BlockRows, b: Sequence[Matrix]) -> np.ndarray:  # noqa: E741
    """Product l' b, on the host, of a copy (n, m) of b on each device, and a triangle with zeros above the diagonal."""
    sums = l.replicated(np.zeros(b[0].shape))
    for block in l.blocks:
        place = block.place
        part = sums[place][: block.rows.stop, :]
        l.providers[place].gemm(1.0, block.whole.T, b[place][block.rows, :], 1.0, part)
    found = [written(provider.runtime, s.flat) for provider, s in zip(l.providers, sums, strict=True)]
    return np.sum(found, 0).reshape(b[0].shape)
