"""Mixed models."""

import dataclasses

import numpy as np
from simulator import close, kernel_shape

from gpustats.mixed.structure import Grouping, Structure
from gpustats.mixed.sums import sums
from gpustats.runtime import choose


@kernel_shape
def segment_products(dtype, rng):
    """Products of columns by group: one thread and several for a segment, several segments for a group, tiles whole and not."""
    runtime = choose.get()
    whole = runtime.device
    for device in (whole, dataclasses.replace(whole, type="gpu", warp=32)):
        runtime.device = device
        cases = (1, 1, 1, 1, False), (70, 40, 3, 2, True), (600, 2, 9, 5, False), (90, 3, 2, 1, True)
        for n, levels, k, slopes, weighted in cases:
            X, Z, y = (rng.normal(size=shape).astype(dtype) for shape in ((n, k), (n, slopes), n))
            g, h = rng.integers(0, levels, n), rng.integers(0, 3, n)
            sources = (("X", k), ("Z", slopes), ("y", 1))
            largest = Grouping("g", levels, (0, *range(k + 1, k + 1 + slopes)))
            structure = Structure(sources, (largest, Grouping("h", 3, (0,))), (), (*range(1, k + 1), 0))
            shifts, weights = rng.normal(size=structure.width) * [0, *[1] * k, *[0] * slopes, 1], None
            if weighted:
                weights = rng.uniform(size=n).astype(dtype)
            found = sums(structure, {"X": X, "Z": Z, "y": y, "g": g, "h": h}, weights, shifts, runtime).matrix
            columns = np.zeros((n, found.size))
            columns[:, :3] = np.eye(3)[h]
            columns[:, 3 : 3 + k], columns[:, 3 + k], columns[:, 4 + k] = X - shifts[1 : k + 1], 1.0, y - shifts[-1]
            own = found.block_places[g]
            np.put_along_axis(columns, own, np.column_stack([np.ones(n), Z]).astype(float), 1)
            close(found.toarray(), (columns.T * (1.0 if weights is None else weights.astype(float))) @ columns, dtype)
    runtime.device = whole
