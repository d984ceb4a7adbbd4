"""Sequences as users give them: their numbers, offsets and keys become NumPy arrays, or are refused."""

from __future__ import annotations

import decimal
import numbers
import reprlib
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

import numpy as np

from ..runtime import arrays
from ..runtime.transfers import to_host

if TYPE_CHECKING:
    from ..runtime.types import Value

_FORMS = "give a list of arrays, a table with a row for each sequence, or numbers one after another with offsets or by keys"


def numbers_of(name: str, values: Value) -> np.ndarray:
    """Array of real numbers; nan where None or pandas' NA stands."""
    found = _on_host(name, values)
    if found.dtype.kind == "O":
        return _of_objects(name, found)
    if found.dtype.kind not in "biuf":
        advice = ": give times as numbers, such as hours since the first" if found.dtype.kind in "mM" else ""
        raise TypeError(f"{name} has dtype {found.dtype}, and a sequence has real numbers{advice}")
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def one_after_another(values: Value) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of listed sequences, or of the rows of a table, one after another, and where each sequence begins."""
    if hasattr(values, "__array__") or arrays.is_device_array(values):  # data frames would give their columns
        values = _on_host("values", values)
    if isinstance(values, np.ndarray) and values.ndim > 1:
        table = numbers_of("values", values)
        if table.ndim != 2:
            raise ValueError(f"values has shape {table.shape}: a table has two axes, and a row for each sequence")
        return table.flatten(), table.shape[1] * np.arange(table.shape[0] + 1)
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"values is {reprlib.repr(values)}: {_FORMS}")
    its = [numbers_of(f"sequence {i}", v) for i, v in enumerate(values)]
    for i, own in enumerate(its):
        if own.ndim != 1:
            hint = ": values one after another come with their offsets, or by keys" if own.ndim == 0 else ""
            raise ValueError(f"sequence {i} has shape {own.shape}, and must have one axis{hint}")
    filled = [own for own in its if own.size]  # others decide no type
    return (np.concatenate(filled) if filled else np.empty(0)), np.cumsum([0, *(own.size for own in its)], dtype=np.int64)


def in_one_array(values: Value) -> np.ndarray:
    """Copy of the numbers of all sequences, which come in one array."""
    return _of_one_axis("values", numbers_of("values", values)).copy()


def offsets_of(values: Value, size: int) -> np.ndarray:
    """Offsets of sequences among so many numbers."""
    found = _of_one_axis("offsets", _on_host("offsets", values))
    if not found.size:
        raise ValueError(f"offsets has no numbers: it must go from 0 to the number of values, {size}")
    if found.dtype.kind not in "iu":
        missing = next((i for i, v in enumerate(found) if found.dtype.kind in "fO" and _is_missing(v)), None)
        what = f"dtype {found.dtype}" if missing is None else f"{found[missing]} at place {missing}"
        raise ValueError(f"offsets must be whole numbers, and has {what}")
    if found[0] != 0 or found[-1] != size:
        raise ValueError(f"offsets go from {found[0]} to {found[-1]}: they must go from 0 to the number of values, {size}")
    if (falls := found[1:] < found[:-1]).any():
        place = int(falls.argmax())
        raise ValueError(f"offsets fall from {found[place]} to {found[place + 1]} at sequence {place}: they must rise")
    return found.astype(np.int64)


def by_key(size: int, by: Value) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted keys, the places among so many numbers of those of each key one after another, and where each key begins."""
    keys = _of_one_axis("by", _keys(by))
    if keys.size != size:
        raise ValueError(f"by has {keys.size} keys for {size} numbers: each number needs one")
    if keys.dtype.kind in "fcmM" and (missing := np.isnan(keys)).any():
        _refuse_missing_key(keys, int(missing.argmax()))
    if keys.dtype.kind == "O":
        for i, key in enumerate(keys):
            if _is_missing(key):
                _refuse_missing_key(keys, i)
    try:
        found, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    except TypeError:
        other = next(i for i, key in enumerate(keys) if type(key) is not type(keys[0]))
        one, two = (f"{reprlib.repr(keys[i])} at place {i}" for i in (0, other))
        raise ValueError(f"by has {one} and {two}, which have no order: keys are whole numbers, or strings") from None
    return found, np.argsort(place, kind="stable"), np.concatenate([[0], np.cumsum(counts)])


def _on_host(name: str, values: Value) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise TypeError(f"{name} is masked: fill its gaps first")
    try:
        return np.asarray(to_host(values) if arrays.is_device_array(values) else values)
    except ValueError:
        raise ValueError(f"{name} is {reprlib.repr(values)}, whose parts have several lengths: {_FORMS}") from None


def _of_objects(name: str, found: np.ndarray) -> np.ndarray:
    made = np.empty(found.shape)
    for place, value in np.ndenumerate(found):
        if not _is_missing(value) and not isinstance(value, numbers.Real | decimal.Decimal | np.bool_):
            where = place[0] if len(place) == 1 else place
            raise TypeError(f"{name} has {reprlib.repr(value)} at place {where}, and a sequence has real numbers")
        made[place] = np.nan if _is_missing(value) else float(value)
    return made


def _of_one_axis(name: str, found: np.ndarray) -> np.ndarray:
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}, and must have one axis where the sequences are told apart otherwise")
    return found


def _keys(by: Value) -> np.ndarray:
    found = _on_host("by", by)
    if found.dtype.kind in "US" and found.ndim == 1 and isinstance(by, list | tuple):  # NumPy makes strings of all
        listed = np.empty(len(by), object)
        listed[:] = by
        return found if {type(key) for key in by} <= {str, np.str_, bytes, np.bytes_} else listed
    return found


def _is_missing(value: object) -> bool:
    """True of None and of what differs from itself: nan, NaT and pandas' NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # whether NA differs from itself is not known
        return True
    except ValueError:  # an array
        return False


def _refuse_missing_key(keys: np.ndarray, place: int) -> None:
    raise ValueError(f"by has {keys[place]} at place {place}: each number needs a key")
