"""Other runtimes for the device that there is: with optimised kernels, or laid out as for a GPU."""

import contextlib
import dataclasses


@contextlib.contextmanager
def another(runtime, **changes):
    """Another runtime for an OpenCL CPU, with memory and kernels of its own, and these changes to what the device says."""
    from pyopencl import Context

    from gpustats.runtime import opencl

    context = Context([runtime.cl_device])
    made = opencl.OpenCLRuntime(context, runtime.cl_device, dataclasses.replace(runtime.device, **changes))
    opencl._adopted[context.int_ptr] = made
    try:
        yield made
    finally:
        del opencl._adopted[context.int_ptr]


def like_a_gpu(runtime):
    """A runtime whose kernels are laid out as for a GPU."""
    return another(runtime, type="gpu", warp=32, max_threads=256, shared_memory=65536, compute_units=4)
