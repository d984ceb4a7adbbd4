"""Sequences: rows each of which has as many numbers as it likes, for a function that goes through them in a loop."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..language.domains import domains_of
from ..runtime import arrays
from ..runtime.transfers import to_host
from .leaves import Leaf, Sequences, stored

if TYPE_CHECKING:
    from ..runtime.types import DType, Value

#: Numbers in memory for each number of data, beyond which fewer sequences lie side by side.
MOST_PADDED = 1.25
LARGEST_PLACE = 2**31 - 1  # of a number among all


def sequences(
    values: ArrayLike | Sequence[ArrayLike], offsets: ArrayLike | None = None, *, by: ArrayLike | None = None,
    missing: bool = False, increasing: bool = False,
) -> Sequences:  # fmt: skip
    """Argument of a row function, ``const real *x``, that is a sequence of each row's own: the trials of a person, for example.

    The function takes the length as an `int` behind its sequences, and goes through them in a loop. Several arguments may be
    sequences, of the same lengths: trials, times, doses.

    Parameters
    ----------
    values : (T,) array_like, (N, n) array_like, or sequence of N arrays
        Numbers of all sequences one after another, with `offsets` or `by`; a table with a row for each sequence; or the
        sequences themselves. Numbers of floating point decide the type of the computation, as columns do.
    offsets : (N + 1,) array_like of int, optional
        Where each sequence begins among the numbers, and at last their number T.
    by : (T,) array_like, optional
        Key of each number's sequence: whole numbers or strings. The rows are in the order of the sorted keys, which `keys` has;
        the numbers of one key keep their order.
    missing : bool, optional
        Whether nan may stand in a sequence. The function has to look for it.
    increasing : bool, optional
        Whether each number must be larger than the one before, as times are.

    Returns
    -------
    Sequences
        For `gpustats.Rows`. `lengths` has the length of each.

    Raises
    ------
    TypeError
        For masked numbers.
    ValueError
        Where offsets do not rise or a sequence is empty, has nan, or does not increase: with the number of the sequence.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> person = '''
    ... __device__ real person(const real *choice, const real *reward, int n, real rate, real weight)
    ... {
    ...     real value = 0, loglik = 0;
    ...     for (int t = 0; t < n; t++) {
    ...         loglik += bernoulli_logit_logpmf(choice[t], weight * value);
    ...         value += rate * (reward[t] - value);
    ...     }
    ...     return loglik;
    ... }'''
    >>> choices, rewards = [[1, 1, 0], [0, 1]], [[1.0, 0.0, 1.0], [0.5, 0.5]]
    >>> rows = gs.Rows(person, choice=gs.sequences(choices), reward=gs.sequences(rewards))
    >>> round(rows(rate=0.5, weight=2.0), 6)
    -3.14771
    """
    if offsets is not None and by is not None:
        raise ValueError("values come with offsets or by keys, not with both")
    keys = None
    if offsets is None and by is None:
        numbers, ends = _one_after_another(values)
    else:
        numbers = _flat("values", values)
        if by is None:
            numbers, ends = numbers.copy(), _whole("offsets", offsets)  # a copy, which nobody else changes
        else:
            keys, numbers, ends = _by_key(numbers, by)
    _check_offsets(ends, numbers.size)
    numbers = stored("values", numbers)
    if not missing:
        _refuse(np.isnan(numbers), ends, "has nan", "missing=True lets it stand, for a function that looks for it")
    if increasing:
        falls = np.append(False, ~(numbers[1:] > numbers[:-1]))
        falls[ends[:-1]] = False
        _refuse(falls, ends, "does not increase", "sort it, and take the mean of what has the same time")
    return Sequences(None, numbers, ends, keys)


def _one_after_another(values: Value) -> tuple[np.ndarray, np.ndarray]:
    listed: Value = to_host(values) if arrays.is_device_array(values) else values
    listed = _on_host("values", listed) if getattr(listed, "ndim", 0) > 1 else listed  # data frames would give their columns
    its = [_on_host(f"sequence {i}", v) for i, v in enumerate(listed)]
    for i, own in enumerate(its):
        if own.ndim != 1:
            hint = ": values one after another come with their offsets, or by keys" if own.ndim == 0 else ""
            raise ValueError(f"sequence {i} has shape {own.shape}, and must have one axis{hint}")
    ends = np.cumsum([0, *(own.size for own in its)], dtype=np.int64)
    return (np.concatenate(its) if its else np.empty(0)), ends


def _on_host(name: str, values: Value) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise TypeError(f"{name} is masked: fill its gaps first")
    return np.asarray(to_host(values) if arrays.is_device_array(values) else values)


def _flat(name: str, values: Value) -> np.ndarray:
    found = _on_host(name, values)
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}, and must have one axis where the sequences are told apart otherwise")
    return found


def _whole(name: str, values: Value) -> np.ndarray:
    found = _flat(name, values)
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, and has dtype {found.dtype}")
    return found.astype(np.int64)


def _by_key(numbers: np.ndarray, by: Value) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted keys, the numbers of each one after another, and where each begins."""
    keys = _flat("by", by)
    if keys.size != numbers.size:
        raise ValueError(f"by has {keys.size} keys for {numbers.size} numbers: each number needs one")
    if keys.dtype.kind in "fmM" and (missing := np.isnan(keys)).any():
        raise ValueError(f"by has {keys[missing][0]} at place {int(missing.argmax())}: each number needs a key")
    found, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return found, numbers[np.argsort(place, kind="stable")], np.concatenate([[0], np.cumsum(counts)])


def _check_offsets(offsets: np.ndarray, size: int) -> None:
    if not offsets.size or offsets[0] != 0 or offsets[-1] != size:
        ends = f"{offsets[0]} to {offsets[-1]}" if offsets.size else "nothing"
        raise ValueError(f"offsets go from {ends}: they must go from 0 to the number of values, {size}")
    lengths = np.diff(offsets)
    if (lengths < 0).any():
        place = int((lengths < 0).argmax())
        raise ValueError(f"offsets fall from {offsets[place]} to {offsets[place + 1]} at sequence {place}: they must rise")
    if not lengths.all():
        raise ValueError(f"sequence {int((lengths == 0).argmax())} is empty: leave it out")


def _refuse(wrong: np.ndarray, offsets: np.ndarray, what: str, advice: str) -> None:
    if wrong.any():
        place = int(wrong.argmax())
        row = int(np.searchsorted(offsets, place, "right")) - 1
        raise ValueError(f"sequence {row} {what} at place {place - offsets[row]}: {advice}")


def refuse_outside(leaves: Mapping[str, Leaf], domains: Mapping[str, Collection[str]]) -> None:
    """Refuse sequences of a model that lie outside their domains, by the words of these. What is missing may stand anywhere."""
    for name, leaf in leaves.items():
        if not isinstance(leaf, Sequences):
            continue
        words = domains[name]
        for domain in domains_of(words):
            if domain.inside is not None and not domain.c_whole:
                with np.errstate(invalid="ignore"):  # infinite numbers
                    wrong = ~(domain.inside(leaf.numbers) | np.isnan(leaf.numbers))
            elif domain.whole is not None:
                its = (leaf.numbers[begin:end] for begin, end in itertools.pairwise(leaf.offsets))
                wrong = np.zeros(leaf.numbers.size, bool)
                wrong[leaf.offsets[:-1]] = [not domain.whole(own) for own in its]
            else:
                continue
            _refuse(wrong, leaf.offsets, f"of {name} is not {domain.word}", f"{name} is to be {' '.join(sorted(words))}")


def of_one_length(leaves: Mapping[str, Leaf]) -> None:
    """Refuse sequences of a model that differ in their lengths."""
    (first, its), *others = [(n, f) for n, f in leaves.items() if isinstance(f, Sequences)]
    for name, other in others:
        if other.lengths.size == its.lengths.size and not np.array_equal(other.lengths, its.lengths):
            row = int((other.lengths != its.lengths).argmax())
            raise ValueError(
                f"the sequences of a row must have the same length: of row {row}, {first} has {its.lengths[row]} numbers "
                f"and {name} has {other.lengths[row]}"
            )


class Dealt(NamedTuple):
    """Places in memory of the numbers of sequences.

    `side` sequences lie side by side, since as many threads read a number of each at once: their first numbers, then their
    second ones. The memory has as many numbers for each as for the longest of them.
    """

    side: int
    starts: np.ndarray  # of each sequence, in the order of the rows
    size: int  # of the memory

    @classmethod
    def of(cls, lengths: np.ndarray, lanes: int) -> Dealt:
        """Places for sequences in the order in which threads take them; at most `lanes` side by side."""
        side = lanes
        while side > 1 and _padded(lengths, side).sum() * side > MOST_PADDED * lengths.sum() + 1024:
            side //= 2
        longest = _padded(lengths, side)
        begins = side * np.cumsum([0, *longest], dtype=np.int64)
        if begins[-1] > LARGEST_PLACE:
            raise ValueError(f"the sequences take {begins[-1]} numbers in memory, and one model {LARGEST_PLACE} at most")
        rows = np.arange(lengths.size)
        return cls(side, (begins[rows // side] + rows % side).astype(np.int32), int(begins[-1]))

    def dealt(self, leaf: Sequences, order: np.ndarray, dtype: DType) -> np.ndarray:
        """Numbers of sequences, which threads take in some order, as they lie in memory."""
        if self.side == 1:
            ends = zip(leaf.offsets[order], leaf.offsets[order + 1], strict=True)
            return np.concatenate([leaf.numbers[begin:end] for begin, end in ends], dtype=dtype)
        lengths = leaf.lengths[order]
        target = np.repeat(self.starts.astype(np.int64), lengths)
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        source = np.repeat(leaf.offsets[:-1][order], lengths) + steps
        found = np.zeros(self.size, dtype)
        found[target + self.side * steps] = leaf.numbers[source]
        return found


def _padded(lengths: np.ndarray, side: int) -> np.ndarray:
    """The largest of each so many lengths."""
    return np.maximum.reduceat(lengths, np.arange(0, lengths.size, side)) if lengths.size else lengths
