"""Columns of data as rows read them: in the fewest bytes that hold their numbers, and by what they hold."""

from __future__ import annotations

import hashlib

import numpy as np

PROBED_NUMBERS = 100  # the first of a column, which tell of most columns that no narrower type holds them


def narrowed(numbers: np.ndarray) -> np.ndarray:
    """Numbers as uint8 or int32 if either type holds all of them, else as float64."""
    for dtype in (np.uint8, np.int32):
        if all(_holds(dtype, part) for part in (numbers[:PROBED_NUMBERS], numbers)):
            return numbers.astype(dtype, copy=False)
    return numbers.astype(np.float64, copy=False)


def two(numbers: np.ndarray) -> tuple[float, float, np.ndarray] | None:
    """Two numbers of a column that has no others, 0 first if present, and the rows of the second; else None."""
    for part in (numbers[:PROBED_NUMBERS], numbers):
        some, others = part[0], part[part != part[0]]
        if others.size and (others != others[0]).any():
            return None
    if _negative_zeros(numbers):
        return None
    rest, one = (others[0], some) if others[0] == 0 or (some != 0 and others[0] < some) else (some, others[0])
    return float(rest), float(one), numbers == one


def key_of(numbers: np.ndarray) -> tuple:
    """Key that columns of the same numbers in the same type share."""
    return numbers.dtype.char, hashlib.sha1(np.ascontiguousarray(numbers).data, usedforsecurity=False).digest()


def _holds(dtype: type, numbers: np.ndarray) -> bool:
    with np.errstate(invalid="ignore"):
        back = numbers.astype(dtype).astype(numbers.dtype)
    return np.array_equal(back, numbers) and not _negative_zeros(numbers)


def _negative_zeros(numbers: np.ndarray) -> bool:
    """True if a number equals 0 and has a negative sign, so that its reciprocal is another."""
    return numbers.dtype.kind == "f" and bool(np.signbit(numbers[numbers == 0]).any())
