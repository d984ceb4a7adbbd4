"""Times of work on a CUDA device, by its own clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cu

from .cuda_driver import checked, new_event

_COPY = """
extern "C" __global__ void copy(const double2 *source, double2 *target, long long n) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        target[i] = source[i];
}
"""


def elapsed(stream: Any, function: Callable[[], object], repeat: int) -> list[float]:
    """Seconds of what a function starts in a stream, whose context is current, each time that it is called."""
    events = [(new_event(0), new_event(0)) for _ in range(repeat)]
    for start, end in events:
        checked(cu.cuEventRecord(start, stream))
        function()
        checked(cu.cuEventRecord(end, stream))
    checked(cu.cuStreamSynchronize(stream))
    times = [checked(cu.cuEventElapsedTime(start, end)) * 1e-3 for start, end in events]
    for pair in events:
        for event in pair:
            checked(cu.cuEventDestroy(event))
    return times


def bandwidth(runtime: Any, nbytes: int) -> float:
    """Bytes a second of a copy of so many bytes on a device, read and written bytes counted."""
    nbytes = nbytes // 8192 * 8192
    source, target, stream = runtime.scratch(nbytes), runtime.scratch(nbytes), runtime.state().stream
    kernel = runtime.kernel(_COPY, "copy", 256)
    blocks = 16 * runtime.device.compute_units
    times = runtime.elapsed(lambda: checked(cu.cuMemcpyDtoDAsync(int(target), int(source), nbytes, stream)), 8)
    times += runtime.elapsed(lambda: kernel((blocks, 1), source, target, nbytes // 16), 8)
    return 2 * nbytes / float(min(times))
