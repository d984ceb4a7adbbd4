"""For tests of data in pieces: arrays on a disk, and results that agree to rounding."""

import numpy as np


def memmap(folder, name, array):
    """The array as a file that is read by slices."""
    mapped = np.memmap(folder / name, array.dtype, "w+", shape=array.shape)
    mapped[:] = array
    mapped.flush()
    return np.memmap(folder / name, array.dtype, "r", shape=array.shape)


def same(divided, whole, rtol=1e-11):
    """Whether results are the same to rounding, and of the same kinds."""
    assert type(divided) is type(whole)
    if isinstance(whole, dict):
        assert list(divided) == list(whole)
        for name in whole:
            same(divided[name], whole[name], rtol)
    elif isinstance(whole, tuple):
        for one, other in zip(divided, whole, strict=True):
            same(one, other, rtol)
    else:
        assert np.shape(divided) == np.shape(whole) and np.asarray(divided).dtype == np.asarray(whole).dtype
        np.testing.assert_allclose(divided, whole, rtol, 1e-11 if rtol < 1e-6 else 1e-4)
