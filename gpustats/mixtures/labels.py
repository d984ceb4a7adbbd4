"""Sufficient statistics of observations by label."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.placement import device_of, gather, target_of
from ..evaluation.results import Destination
from ..kernels import code as codegen
from ..kernels import layout
from ..runtime import arrays

if TYPE_CHECKING:
    from ..runtime.base import Kernel, Runtime

_DOUBLE = np.dtype(np.float64)
_LABEL_TYPES = {"int32": "int", "int64": "index_t"}


class LabelStatistics(NamedTuple):
    """Counts, means and sums of squares and products of the observations of each label; see `label_statistics`."""

    count: np.ndarray  # type: ignore[assignment]  # tuple.count is of no use here
    mean: np.ndarray
    scatter: np.ndarray


def label_statistics(x: Any, labels: Any, n_labels: int) -> LabelStatistics:
    """Count, mean and scatter matrix of the observations of each label: what a Gibbs sweep of a mixture needs.

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
    x, labels = arrays.as_array(x, "x"), _as_labels(labels)
    if isinstance(x, float) or x.ndim > 2:
        raise ValueError(f"x must have shape (N,) or (N, d), not {() if isinstance(x, float) else tuple(x.shape)}")
    if tuple(labels.shape) != tuple(x.shape[:1]):
        raise ValueError(f"labels has shape {tuple(labels.shape)}, but x {tuple(x.shape)}: each observation needs one label")
    if (n_labels := operator.index(n_labels)) < 0:
        raise ValueError(f"n_labels must not be negative: {n_labels}")
    core = tuple(x.shape[1:])
    if core == (0,):
        raise ValueError(f"x has shape {tuple(x.shape)}: vectors of length 0")
    runtime = device_of([x, labels], ["x", "labels"])
    _, dtype = target_of([x], ["x"], runtime)
    if not runtime.device.double:
        raise ValueError(f"{runtime.device} computes in float32 only: label_statistics adds in float64")
    dim = core[0] if core else 1
    n_means, n_products = n_labels * (dim + 1), n_labels * dim * dim
    if x.shape[0] and n_labels:
        numbers = _evaluate(runtime, dtype, x, labels, dim, n_labels)
    else:
        numbers = np.zeros(n_means + n_products)
    means = numbers[:n_means].reshape(n_labels, dim + 1)
    return LabelStatistics(
        means[:, dim].astype(np.int64), means[:, :dim].reshape(n_labels, *core), numbers[n_means:].reshape(n_labels, *core * 2)
    )  # fmt: skip


def _as_labels(labels: Any) -> Any:
    """The labels as an array of int32 or int64."""
    if not arrays.is_device_array(labels) and not hasattr(labels, "__cuda_array_interface__"):
        host = np.asarray(labels)
        if host.dtype.kind not in "iu" and host.size:
            raise TypeError(f"labels must be whole numbers, not {host.dtype}")
        return np.ascontiguousarray(host, np.int32 if np.can_cast(host.dtype, np.int32) else np.int64)
    labels = arrays.as_array(labels, "labels")
    if labels.dtype.name not in _LABEL_TYPES:
        raise TypeError(f"labels on a device must be int32 or int64, not {labels.dtype}")
    if not arrays.is_contiguous(labels):
        raise ValueError("labels on a device must be contiguous")
    return labels


def _evaluate(runtime: Runtime, dtype: np.dtype, x: Any, labels: Any, dim: int, n_labels: int) -> np.ndarray:
    """(K, d + 1) means and counts, and (K, d, d) sums of products behind them."""
    layouts = [layout.label_statistics(runtime.device, dim, n_labels, products) for products in (False, True)]
    if not arrays.is_device_array(x):
        x = np.ascontiguousarray(x, dtype)
    elif not arrays.is_contiguous(x) or x.dtype != dtype:
        x = gather(runtime, x, dtype)
    x_handle, x_start = runtime.memory(x)
    labels_handle, labels_start = runtime.memory(labels)
    data = (x_handle, x_start // dtype.itemsize, labels_handle, labels_start // labels.dtype.itemsize, x.shape[0], n_labels)
    n_means, n_products = n_labels * (dim + 1), n_labels * dim * dim
    result = Destination(runtime, (n_means + n_products,), _DOUBLE, _DOUBLE, False, None)
    out, offset = result.handle, result.offset
    for products, chosen in enumerate(layouts):
        n_out, start = (n_products, offset + n_means) if products else (n_means, offset)
        sums, totals = _kernels(runtime, dtype.name, _LABEL_TYPES[labels.dtype.name], dim, bool(products), chosen)
        parts = -(-n_labels // chosen.labels) * chosen.shift_parts
        blocks = layout.row_blocks(runtime.device, chosen, x.shape[0], parts)
        partial = runtime.scratch(8 * blocks * n_labels * chosen.shift_parts * chosen.each * chosen.columns * chosen.slices)
        sums((parts, blocks), partial, *data, *((out, offset) if products else ()))
        totals((-(-n_out // chosen.adders), 1), out, start, partial, blocks, n_labels)
    return result.finished()


@functools.lru_cache
def _kernels(
    runtime: Runtime, dtype: str, label_type: str, dim: int, products: bool, chosen: layout.LabelLayout
) -> tuple[Kernel, Kernel]:
    source = codegen.render_plain(
        "mixtures/label_statistics", dtype, runtime.dialect, layout=chosen, label_type=label_type, dim=dim, products=products
    )
    sums = runtime.kernel(source, "label_sums", chosen.threads, 8 * chosen.shared)
    return sums, runtime.kernel(source, "label_totals", chosen.adders)
