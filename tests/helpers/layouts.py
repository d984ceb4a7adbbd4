"""Kernels laid out as for a GPU, where there is none."""

import contextlib
import dataclasses


@contextlib.contextmanager
def like_a_gpu(runtime):
    """Another runtime for an OpenCL CPU: with memory of its own, and kernels laid out as for a GPU."""
    from pyopencl import Context

    from gpustats.runtime import opencl

    context = Context([runtime._device])
    limits = dict(warp=32, max_threads=256, shared_memory=65536, compute_units=4)
    made = opencl.OpenCLRuntime(context, runtime._device, dataclasses.replace(runtime.device, type="gpu", **limits))
    opencl._adopted[context.int_ptr] = made
    try:
        yield made
    finally:
        del opencl._adopted[context.int_ptr]
