"""Matrices of the host that several devices factorise together."""

from __future__ import annotations

import numpy as np

from ..runtime import choose
from . import distributed
from .block_rows import BlockRows, require_type
from .matrix import Matrix
from .providers import provider_of


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
    infos = distributed.potrf(rows)
    for block, info in zip(rows.blocks, infos, strict=True):
        if minor := int(rows.providers[block.place].read(info)[0]):
            return np.array([block.rows.start + minor], np.int32)
    for block in rows.blocks:
        a[block.rows, : block.rows.stop].view[0] = rows.read(block)
    return np.zeros(1, np.int32)
