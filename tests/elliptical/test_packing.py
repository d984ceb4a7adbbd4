"""How the inverse factors W lie in memory: by columns for threads, and by blocks of 8 x 8 for products of matrices."""

import numpy as np
import pytest

from gpustats.elliptical import whiten
from gpustats.elliptical.layout import Packing
from gpustats.runtime import choose


def packed(runtime, cov, packing):
    """W and the log determinant as the whiten kernel writes them."""
    chosen = whiten.layout(runtime.device, len(cov))
    kernel = whiten._WHITEN.kernel(
        runtime, "whiten", chosen.threads, 8 * chosen.shared, dtype="float64", kind="cov", width=packing.width,
        products=packing.products, matrix_type="double", **chosen._asdict(),
    )  # fmt: skip
    size, dim = packing.size, len(cov)
    out, work = runtime.to_device(np.full(size + 1, np.nan)), runtime.scratch(2 * dim * (dim | 1) * 8)
    handle, offset = runtime.memory(out)
    given = runtime.to_device(cov)
    matrix, matrix_offset = runtime.memory(given)
    kernel((1, 1), handle, offset, handle, offset + size, work, matrix, matrix_offset, dim, size)
    return np.split(runtime.to_host(out), [size])


@pytest.mark.parametrize("width, products", [(8, False), (16, False), (16, True), (32, True)])
@pytest.mark.parametrize("dim", [1, 12, 15, 16, 33, 40, 64])
def test_every_number_has_its_place(dim, width, products, rng):
    root = np.tril(rng.normal(size=(dim, dim)) / dim) + np.eye(dim)
    W = np.linalg.inv(root)
    packing = Packing(dim, width, products)
    numbers, logdet = packed(choose.get(), root @ root.T, packing)
    assert np.isclose(logdet[0], 2 * np.log(np.diagonal(root)).sum(), rtol=1e-12)
    found, start = np.zeros((dim + width, packing.columns)), 0
    for i in range(0, dim, width):
        columns = min(i + width, packing.columns)
        part = numbers[start : start + columns * width]
        start += columns * width
        if products:  # [column / 8, row / 8, row % 8, column % 4, column / 4 % 2]
            blocks = part.reshape(columns // 8, width // 8, 8, 4, 2)
            found[i : i + width, :columns] = blocks.transpose(1, 2, 0, 4, 3).reshape(width, columns)
        else:
            found[i : i + width, :columns] = part.reshape(columns, width).T
    assert start == packing.size
    np.testing.assert_allclose(found[:dim, :dim], W, rtol=1e-10, atol=1e-12)
    assert not found[dim:].any() and not found[:, dim:].any()
