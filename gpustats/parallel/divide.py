"""Division of the rows of a model: over a cluster, over devices, in a stream, or not at all."""

from __future__ import annotations

from numbers import Real

from ..runtime import arrays
from ..runtime.base import Runtime
from .devices import Devices
from .pieces import Data, Divisible, Options, Pieces
from .stream import StreamedPieces, fits


def divide(model: Divisible, data: Data, options: Options, runtime: Runtime | None) -> Pieces | None:
    """Pieces of a model; None where all rows go to one device at once.

    That is `runtime`, None where the model is spread over several devices or workers.
    """
    sizes_of(options.memory, options.chunk)
    native = [n for n, v in data.arrays.items() if arrays.is_device_array(v)]
    if native:
        if options != Options():
            raise ValueError(f"{', '.join(native)}: on a device already, and not divided; pass NumPy arrays, see gs.to_host")
        return None
    if options.client is not None:
        from .cluster import Cluster  # Dask is slow to import, and may be missing

        return Cluster(model, data, options)
    if options.devices is not None:
        return Devices(model, data, options)
    assert runtime is not None
    return None if fits(data, options, runtime) else StreamedPieces(model, data, options, runtime)


def sizes_of(memory: int | None, chunk: int | None) -> Options:
    """Options of bytes or rows of pieces; ValueError where a user gives some that are not positive."""
    for name, value in (("memory", memory), ("chunk", chunk)):
        if value is not None and not (isinstance(value, Real) and value > 0):
            what = "bytes, such as 1 << 30" if name == "memory" else "rows"
            raise ValueError(f"{name} must be a positive number of {what}, not {value!r}")
    return Options(memory=memory, chunk=chunk)
