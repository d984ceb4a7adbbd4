"""Sufficient statistics of observations by label."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.placement import as_read, device_of, target_of
from ..evaluation.results import Destination
from ..kernels.layout import Layout, power_of_two, row_blocks
from ..kernels.template import Template
from ..runtime.arrays import as_array, is_contiguous, is_device_array
from ..runtime.base import Device, Runtime
from ..runtime.types import DType, Value

_STATISTICS = Template.beside(__file__, "label_statistics")
_DOUBLE = np.dtype(np.float64)
_LABEL_TYPES = {"int32": "int", "int64": "index_t"}


@dataclass(frozen=True)
class LabelLayout(Layout):
    """The constants of the label_statistics kernels; `tile` is the rows that a block has in shared memory."""

    labels: int = 1  # labels of a block
    columns: int = 1  # number of columns of the rows; padded on a CPU to whole vector registers
    slices: int = 1  # threads for a column
    each: int = 1  # sums that each of them has for a label
    shift_parts: int = 1  # blocks that share the sums of a label
    groups: int = 1  # groups of threads that share the rows of a tile
    width: int = 1  # numbers of a row in shared memory
    shared: int = 1  # float64 numbers of shared memory
    adders: int = 64  # threads a block of the kernel that adds the blocks' sums


def layout(device: Device, dim: int, n_labels: int, products: bool) -> LabelLayout:
    """Layout of the kernels that add rows of `dim` numbers, or their products, by label."""
    cpu = device.type == "cpu"
    columns, shifts = (dim, dim // 2 + 1) if products else (dim + 1, 1)
    if cpu:
        columns = power_of_two(columns) if columns <= 8 else -(-columns // 8) * 8  # whole vector registers
    if columns > device.max_threads:
        raise ValueError(f"x has vectors of length {dim}: label_statistics takes up to {device.max_threads - 1} on {device.id}")
    slices = 1 if cpu else min(shifts, max(1, min(512, device.max_threads) // columns))
    each = -(-shifts // slices)
    groups = max(1, min(8 if cpu else 128, device.max_threads) // (columns * slices))
    available = min(device.shared_memory, (256 if cpu else 96) * 1024) // 8 - 64
    labels, shift_parts = 0, 1
    while True:
        width = columns + slices * each * shift_parts if products else columns
        tile = max(1, min(64, available // 8 // width))
        room = available - tile * (width + 1)
        labels = min(room // (each * groups * columns * slices), -(-n_labels // 8) * 8)
        if labels >= min(n_labels, 1024) or (labels and groups == 1):
            break
        if groups > 1:
            groups -= 1
        elif each > 1:
            each = -(-each // 2)
            shift_parts = -(-shifts // (slices * each))
        elif slices > 1:
            slices = -(-slices // 2)
            shift_parts = -(-shifts // (slices * each))
        else:
            raise ValueError(f"x has vectors of length {dim}, too long for the shared memory of {device.id}")
    threads = groups * columns * slices
    shared = labels * each * threads + tile * width
    resident = threads * max(1, device.shared_memory // (8 * shared + 4 * tile + 1024))
    return LabelLayout(
        threads, tile=tile, resident=min(resident, 2048), labels=labels, columns=columns, slices=slices, each=each,
        shift_parts=shift_parts, groups=groups, width=width, shared=shared, adders=8 if cpu else 64,
    )  # fmt: skip


class LabelStatistics(NamedTuple):
    """Counts, means and sums of squares and products of the observations of each label; see `label_statistics`."""

    count: np.ndarray  # type: ignore[assignment]  # tuple.count is of no use here
    mean: np.ndarray
    scatter: np.ndarray


def label_statistics(x: ArrayLike, labels: ArrayLike, n_labels: int) -> LabelStatistics:
    """Count, mean and scatter matrix of the observations of each label, as for a Gibbs sweep of a mixture.

    Parameters
    ----------
    x : array_like (N,) or (N, d)
        Observations, float32 or float64, NumPy or device array.
    labels : array_like (N,)
        Whole numbers, NumPy (of any integer type) or a device array (int32 or int64). Observations whose label is not one of
        0, ..., n_labels - 1 are left out.
    n_labels : int
        K.

    Returns
    -------
    count : int64 ndarray (K,)
    mean : float64 ndarray (K,) or (K, d)
        0 for a label without observations.
    scatter : float64 ndarray (K,) or (K, d, d)
        The sum of (x - mean)(x - mean)' over the observations of a label, not divided by their number; for scalar x the sum of
        squares.

    Raises
    ------
    ValueError, TypeError
        Shapes that do not match, labels that are no whole numbers, vectors too long for the device.

    Notes
    -----
    Sums run in float64 and in an order that is always the same on a device. Products are about each label's own mean, found
    first, so that nothing cancels where the mean is much larger than the spread.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.array([1.0, 3.0, 10.0, 20.0, 30.0])
    >>> count, mean, scatter = gs.label_statistics(x, [0, 0, 2, 2, 2], n_labels=3)
    >>> count, mean, scatter
    (array([2, 0, 3]), array([ 2.,  0., 20.]), array([  2.,   0., 200.]))
    """
    data, of_labels = as_array(x, "x"), _as_labels(labels)
    if isinstance(data, float) or data.ndim > 2:
        raise ValueError(f"x must have shape (N,) or (N, d), not {() if isinstance(data, float) else tuple(data.shape)}")
    if tuple(of_labels.shape) != tuple(data.shape[:1]):
        shapes = f"labels has shape {tuple(of_labels.shape)}, but x {tuple(data.shape)}"
        raise ValueError(f"{shapes}: each observation needs one label")
    if (n_labels := operator.index(n_labels)) < 0:
        raise ValueError(f"n_labels must not be negative: {n_labels}")
    core = tuple(data.shape[1:])
    if core == (0,):
        raise ValueError(f"x has shape {tuple(data.shape)}: vectors of length 0")
    runtime = device_of([data, of_labels], ["x", "labels"])
    _, dtype = target_of([data], ["x"], runtime)
    if not runtime.device.double:
        raise ValueError(f"{runtime.device} computes in float32 only: label_statistics adds in float64")
    dim = core[0] if core else 1
    n_means, n_products = n_labels * (dim + 1), n_labels * dim * dim
    if data.shape[0] and n_labels:
        numbers = _evaluate(runtime, dtype, data, of_labels, dim, n_labels)
    else:
        numbers = np.zeros(n_means + n_products)
    means = numbers[:n_means].reshape(n_labels, dim + 1)
    return LabelStatistics(
        means[:, dim].astype(np.int64), means[:, :dim].reshape(n_labels, *core), numbers[n_means:].reshape(n_labels, *core * 2)
    )  # fmt: skip


def _as_labels(labels: Value) -> Any:
    """The labels as an array of int32 or int64."""
    if not is_device_array(labels) and not hasattr(labels, "__cuda_array_interface__"):
        host = np.asarray(labels)
        if host.dtype.kind not in "iu" and host.size:
            raise TypeError(f"labels must be whole numbers, not {host.dtype}")
        return np.ascontiguousarray(host, np.int32 if np.can_cast(host.dtype, np.int32) else np.int64)
    labels = as_array(labels, "labels")
    if labels.dtype.name not in _LABEL_TYPES:
        raise TypeError(f"labels on a device must be int32 or int64, not {labels.dtype}")
    if not is_contiguous(labels):
        raise ValueError("labels on a device must be contiguous")
    return labels


def _evaluate(runtime: Runtime, dtype: DType, x: Value, labels: Value, dim: int, n_labels: int) -> np.ndarray:
    """Means and counts (K, d + 1), and sums of products (K, d, d) behind them."""
    layouts = [layout(runtime.device, dim, n_labels, products) for products in (False, True)]
    x = as_read(runtime, x, dtype)
    data = (*runtime.memory(x), *runtime.memory(labels), x.shape[0], n_labels)
    n_means, n_products = n_labels * (dim + 1), n_labels * dim * dim
    result = Destination(runtime, (n_means + n_products,), _DOUBLE, _DOUBLE, False, None)
    out, offset = result.handle, result.offset
    for products, chosen in enumerate(layouts):
        n_out, start = (n_products, offset + n_means) if products else (n_means, offset)
        constants: dict[str, Any] = dict(
            dtype=dtype.name, layout=chosen, label_type=_LABEL_TYPES[labels.dtype.name], dim=dim, products=bool(products)
        )
        sums = _STATISTICS.kernel(runtime, "label_sums", chosen.threads, 8 * chosen.shared, **constants)
        totals = _STATISTICS.kernel(runtime, "label_totals", chosen.adders, **constants)
        parts = -(-n_labels // chosen.labels) * chosen.shift_parts
        blocks = row_blocks(runtime.device, chosen, x.shape[0], parts)
        partial = runtime.scratch(8 * blocks * n_labels * chosen.shift_parts * chosen.each * chosen.columns * chosen.slices)
        sums((parts, blocks), partial, *data, *((out, offset) if products else ()))
        totals((-(-n_out // chosen.adders), 1), out, start, partial, blocks, n_labels)
    found: np.ndarray = result.finished()
    return found
