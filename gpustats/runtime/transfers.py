"""Functions by which users see devices and move arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..display.html import card, table
from . import arrays, choose
from .base import Device
from .host_memory import contiguous
from .types import Array


class Devices(list[Device]):
    """List of devices, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        head = "", "name", "type", "driver", "memory", "compute units", "float64"
        rows = [
            (d.id, d.name, d.type, d.driver, f"{d.memory / 2**30:.1f} GiB", d.compute_units, "yes" if d.double else "no")
            for d in self
        ]
        return card(f"{len(self)} devices", table(rows, head))


def devices() -> list[Device]:
    """Devices that gpustats can compute on, CUDA devices first; notebooks show a table.

    Examples
    --------
    >>> import gpustats as gs
    >>> [device.id for device in gs.devices()]  # doctest: +SKIP
    ['cuda:0', 'opencl:0']
    """
    return Devices(choose.devices())


def to_device(array: ArrayLike) -> Array:
    """Copy an array to the default device.

    Parameters
    ----------
    array : array_like
        Converted to float64 unless it is float32. A device array is returned as it is.

    Returns
    -------
    DeviceArray or pyopencl.array.Array
        Or PyCUDA's ``GPUArray``: see `use`.
    """
    array = arrays.as_array(array, "array")
    if arrays.is_device_array(array):
        return array
    host = contiguous(np.asarray(array), arrays.result_dtype([array]))
    return choose.get().to_device(host.reshape(np.shape(array)))


def to_host(array: ArrayLike) -> np.ndarray:
    """Copy a device array to the host.

    Parameters
    ----------
    array : device array
        Of gpustats, PyOpenCL or PyCUDA, or with ``__cuda_array_interface__``; a NumPy array is returned as it is.
    """
    array = arrays.as_array(array, "array")
    if not arrays.is_device_array(array):
        return np.asarray(array)
    runtime = choose.for_array(array)
    assert runtime is not None
    return runtime.to_host(array)


def to_hosts(found: Sequence[Array]) -> list[np.ndarray]:
    """NumPy arrays of device arrays, waited for once where they are small and of one device."""
    runtimes = [choose.for_array(array) for array in found]
    if len(set(runtimes)) == 1 and runtimes[0] is not None and all(map(runtimes[0].is_native, found)):
        return runtimes[0].to_hosts(found)
    return [to_host(array) for array in found]
