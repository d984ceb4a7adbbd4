"""Arrays on the device that kernels cannot read as they lie."""

import numpy as np
from scipy import stats
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.evaluation.pieces import Place, copy_pieces
from gpustats.runtime import choose


@kernel_shape
def gather(dtype, rng):
    x = rng.normal(size=(30, 8)).astype(dtype)
    device = gs.to_device(x)
    close(gs.normal.logpdf(device.T, 0.0, 1.0), stats.norm.logpdf(x.T), dtype)
    close(gs.normal.logpdf(device[::2, 1:], device[0, 1:], 1.0), stats.norm.logpdf(x[::2, 1:], x[0, 1:]), dtype)


@kernel_shape
def pieces(dtype, rng):
    """Runs of numbers of each of three sets, more than one kernel takes; two are the same for all sets."""
    runtime, dtype = choose.get(), np.dtype(dtype)
    sizes = rng.integers(1, 100, 10)
    starts = np.cumsum(sizes) - sizes
    sources = [rng.normal(size=(1 if i < 2 else 3, size)).astype(dtype) for i, size in enumerate(sizes)]
    natives = [runtime.to_device(source) for source in sources]
    target = runtime.to_device(np.full((3, 5 + sizes.sum()), -1, dtype))
    to, offset = runtime.memory(target)
    copies = []
    for i, (native, size, start) in enumerate(zip(natives, sizes.tolist(), starts.tolist(), strict=True)):
        places = Place(*runtime.memory(native), 0 if i < 2 else size), Place(to, offset + start + 5, target.shape[1])
        copies.append((*places, size))
    copy_pieces(runtime, dtype, copies, 3)
    wanted = np.concatenate([np.broadcast_to(source, (3, source.shape[1])) for source in sources], 1)
    close(target, np.concatenate([np.full((3, 5), -1.0), wanted], 1), dtype)
