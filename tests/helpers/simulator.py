"""Every kernel shape, run once and compared with NumPy or SciPy, on a device that reports stray accesses and races.

The checks of a folder stand in its ``simulated.py``: functions of a type and of a generator, marked by `kernel_shape`.
``tests/test_oclgrind.py`` runs them on Oclgrind, a simulator; ``tests/simulated.py`` runs them on any device.
"""

import dataclasses
import importlib.util
import os
from pathlib import Path

import numpy as np

import gpustats as gs
from gpustats.kernels.template import prelude
from gpustats.runtime import choose

TESTS = Path(__file__).parents[1]
SHAPES = {}  # name -> check
#: Of checks whose kernels are the same with smaller blocks: idle threads take a simulator as long as others.
LARGEST_BLOCKS = dict.fromkeys(
    [
        "mixture", "elliptical", "elliptical_gradients", "elliptical_large", "glm", "samples", "local_nearest", "covariance",
        "strips_of_covariances", "batches_of_marginals", "sequential_designs",
    ], 64,
)  # fmt: skip

MISTAKES = """
KERNEL(64) race(GLOBAL real *out)
{
    SHARED_ARRAY(real, shared, 64);
    shared[THREAD] = THREAD;
    out[THREAD] = shared[63 - THREAD];
}

KERNEL(64) stray(GLOBAL real *out)
{
    out[THREAD + 1] = 0;
}
"""


def kernel_shape(check):
    """Mark a check of a kernel shape: ``check(dtype, rng)``."""
    assert check.__name__ not in SHAPES, f"two checks of the name {check.__name__}"
    SHAPES[check.__name__] = check
    return check


def find():
    """The checks of all folders, by their names."""
    if not SHAPES:
        for path in sorted(TESTS.glob("*/**/simulated.py")):
            name = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
            spec = importlib.util.spec_from_file_location(name, path)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return SHAPES


def close(got, want, dtype):
    """Whether results are right within the rounding of sums in this type."""
    got, want = (gs.to_host(got) if hasattr(got, "get") else np.asarray(got)), np.asarray(want)
    assert got.shape == want.shape, (got.shape, want.shape)
    rtol = 1e-11 if dtype == np.float64 else 3e-5
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


def mistake(name, dtype):
    """Run a kernel with a mistake that has to be reported: a "race" or a "stray" access."""
    runtime = choose.get()
    _, out = runtime.host_result((64,), dtype)  # pooled memory is longer than what was asked for
    source = prelude(np.dtype(dtype).name, runtime.dialect) + MISTAKES
    runtime.kernel(source, name, 64)((1, 1), out)


def check(name, layout, dtype, device=None):
    """Run a check, or one of the mistakes.

    Parameters
    ----------
    name : str
        Of a check, or "race" or "stray".
    layout : {"cpu", "gpu"}
        Whether kernels are laid out as the device wants them, or as for a GPU: with shared memory and wide loads.
    dtype : {"float64", "float32"}
    device : str or None
        As for `gpustats.use`.
    """
    runtime, dtype = choose.get(device), np.dtype(dtype).type
    whole = runtime.device
    if layout == "gpu":
        most = LARGEST_BLOCKS.get(name, whole.max_threads)
        runtime.device = dataclasses.replace(whole, type="gpu", warp=32, compute_units=2, max_threads=most)
    try:
        with gs.use(runtime):
            if name in ("race", "stray"):
                mistake(name, dtype)
            else:
                find()[name](dtype, np.random.default_rng(0))
            runtime.synchronize()
    finally:
        runtime.device = whole


def on_oclgrind(folder, *arguments):
    """Run a check in a process that has touched no device yet; Oclgrind writes what it reports to the file "reports"."""
    checks = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_LOG": str(folder / "reports")}
    quick = {"OCLGRIND_BUILD_OPTIONS": "-O1"}  # what more optimisation takes is more than what it saves
    os.environ |= {**checks, **quick, "GPUSTATS_CACHE_DIR": str(folder / "cache")}
    with open(folder / "output", "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    check(*arguments, device="oclgrind")
