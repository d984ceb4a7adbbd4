"""The host's memory: how much of it is free, and copies that ask for it first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

LARGE = 16 << 20  # bytes from which on it pays to look at the free memory


def available() -> int | None:
    """Bytes that nothing uses, None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = (int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    return next(found, None)


def contiguous(array: np.ndarray, dtype: Any, copy: bool = False) -> np.ndarray:
    """An array's numbers in C order: the array itself where they lie so already and `copy` is not asked for, else a copy.

    Raises
    ------
    MemoryError
        Where a copy does not fit. Some systems grant more than there is, and kill the process when it is written.
    """
    if copy or array.dtype != dtype or not array.flags.c_contiguous:
        nbytes = array.size * np.dtype(dtype).itemsize
        free = available() if nbytes > LARGE else None
        if free is not None and nbytes > free:
            raise MemoryError(
                f"a copy of an array of shape {array.shape} asked {nbytes / 2**30:.2f} GiB, free {free / 2**30:.2f} GiB "
                "of the host's memory"
            )
    return np.array(array, dtype, order="C") if copy else np.ascontiguousarray(array, dtype)
