"""Arrays on the device that kernels cannot read as they lie."""

from scipy import stats
from simulator import close, kernel_shape

import gpustats as gs


@kernel_shape
def gather(dtype, rng):
    x = rng.normal(size=(30, 8)).astype(dtype)
    device = gs.to_device(x)
    close(gs.normal.logpdf(device.T, 0.0, 1.0), stats.norm.logpdf(x.T), dtype)
    close(gs.normal.logpdf(device[::2, 1:], device[0, 1:], 1.0), stats.norm.logpdf(x[::2, 1:], x[0, 1:]), dtype)
