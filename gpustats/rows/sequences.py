"""Sequences: rows each of which has as many numbers as it likes, for a function that goes through them in a loop."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..language.domains import domains_of
from .leaves import Leaf, Sequences, StepGather, place_of_step, stored
from .sequence_input import by_key, in_one_array, offsets_of, one_after_another

if TYPE_CHECKING:
    from ..runtime.types import DType

#: Numbers in memory for each number of data, beyond which fewer sequences lie side by side.
MOST_PADDED = 1.25
LARGEST_PLACE = 2**31 - 1  # of a number among all


def sequences(
    values: ArrayLike | Sequence[ArrayLike], offsets: ArrayLike | None = None, *, by: ArrayLike | None = None,
    missing: bool = False, increasing: bool = False, empty: bool = False,
) -> Sequences:  # fmt: skip
    """Argument of a row function, ``const real *x``, that is a sequence of each row's own: the trials of a person, for example.

    The function takes the length as an `int` behind its sequences, and goes through them in a loop. Several arguments may be
    sequences, of the same lengths: trials, times, doses.

    Parameters
    ----------
    values : (T,) array_like, (N, n) array_like, or sequence of N arrays
        Numbers of all sequences one after another, with `offsets` or `by`; a table with a row for each sequence; or the
        sequences themselves. Numbers of floating point decide the type of the computation, as columns do. None and NA of
        pandas are nan.
    offsets : (N + 1,) array_like of int, optional
        Where each sequence begins among the numbers, and at last their number T.
    by : (T,) array_like, optional
        Key of each number's sequence: whole numbers or strings. The rows are in the order of the sorted keys, which `keys` has;
        the numbers of one key keep their order.
    missing : bool, optional
        Whether nan may stand in a sequence. The function has to look for it.
    increasing : bool, optional
        Whether each number must be larger than the one before, as times are; nan may stand between, where it may stand.
    empty : bool, optional
        Whether a sequence may have no numbers: a window of time in which nothing happened, as `series.hawkes_exponential` takes
        it. An element that a function asks of it is nan.

    Returns
    -------
    Sequences
        For `gpustats.Rows`. `lengths` has the length of each.

    Raises
    ------
    TypeError
        For masked numbers, strings, complex numbers and times with a unit.
    ValueError
        Where offsets do not rise, a key is missing, or a sequence is empty, has nan, or does not increase: with the place.

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
    keys = order = None
    if by is not None:
        numbers = in_one_array(values)
        keys, order, ends = by_key(numbers.size, by)
        numbers = numbers[order]
    elif offsets is not None:
        numbers = in_one_array(values)
        ends = offsets_of(offsets, numbers.size)
    else:
        numbers, ends = one_after_another(values)
    if not empty and not (lengths := np.diff(ends)).all():
        row = int((lengths == 0).argmax())
        raise ValueError(f"sequence {row} is empty: leave it out, or let it stand by empty=True, for functions that take it")
    numbers = stored("values", numbers)
    if not missing:
        _refuse(np.isnan(numbers), ends, "has nan", "missing=True lets it stand, for a function that looks for it")
    if increasing:
        _refuse(_not_larger(numbers, ends), ends, "does not increase", "sort it, and take the mean of what has the same time")
    return Sequences(None, numbers, ends, keys, order)


def _not_larger(numbers: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Mark of the numbers that are not larger than the one before, of those that are there, in their sequence."""
    there = np.flatnonzero(~np.isnan(numbers))
    row = np.searchsorted(offsets, there, "right")
    wrong = np.zeros(numbers.size, bool)
    wrong[there[1:]] = (row[1:] == row[:-1]) & ~(numbers[there[1:]] > numbers[there[:-1]])
    return wrong


def _refuse(wrong: np.ndarray, offsets: np.ndarray, what: str, advice: str) -> None:
    if wrong.any():
        row, step = place_of_step(offsets, int(wrong.argmax()))
        raise ValueError(f"sequence {row} {what} at place {step}: {advice}")


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
                _refuse(wrong, leaf.offsets, f"of {name} is not {domain.word}", f"{name} is to be {_in_words(words)}")
            elif domain.whole is not None:
                for row, (begin, end) in enumerate(itertools.pairwise(leaf.offsets)):
                    if not domain.whole(leaf.numbers[begin:end]):
                        raise ValueError(f"sequence {row} of {name} is not {domain.word}: {name} is to be {_in_words(words)}")


def refuse_fractions(leaves: Mapping[str, Leaf], wholes: Collection[str]) -> None:
    """Refuse sequences of a model, of arguments that are whole numbers, which have others."""
    for name in wholes:
        leaf = leaves[name]
        if not isinstance(leaf, Sequences):
            raise ValueError(f"{name} is `const int *`: give it as gs.sequences(…), of whole numbers")
        most = 2**24 if leaf.numbers.dtype == np.float32 else 2**31 - 1
        wrong = ~((np.rint(leaf.numbers) == leaf.numbers) & (np.abs(leaf.numbers.astype(float)) <= most))
        _refuse(wrong, leaf.offsets, f"of {name} is no whole number of int", f"{name} is `const int *`")


def _in_words(words: Collection[str]) -> str:
    return " ".join(sorted(words))


def of_one_length(leaves: Mapping[str, Leaf]) -> None:
    """Refuse sequences of a model that differ in their lengths."""
    (first, its), *others = [(n, f) for n, f in leaves.items() if isinstance(f, Sequences | StepGather)]
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
    second ones. The memory has as many numbers for each as for the longest of them; an empty one has a number, nan.
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
        return cls.side_by_side(lengths, side)

    @classmethod
    def side_by_side(cls, lengths: np.ndarray, side: int) -> Dealt:
        """Places for sequences in the order in which threads take them, `side` of which lie side by side."""
        longest = np.maximum(_padded(lengths, side), 1)
        begins = side * np.cumsum([0, *longest], dtype=np.int64)
        if begins[-1] > LARGEST_PLACE:
            raise ValueError(f"the sequences take {begins[-1]} numbers in memory, and one model {LARGEST_PLACE} at most")
        rows = np.arange(lengths.size)
        return cls(side, (begins[rows // side] + rows % side).astype(np.int32), int(begins[-1]))

    def places(self, offsets: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Places in memory of all numbers; `starts` are those of the rows as these came."""
        before = np.repeat(starts.astype(np.int64) - self.side * offsets[:-1], np.diff(offsets))
        found: np.ndarray = before + self.side * np.arange(offsets[-1])
        return found

    def dealt(self, numbers: np.ndarray, offsets: np.ndarray, order: np.ndarray, dtype: DType) -> np.ndarray:
        """Numbers of sequences, which threads take in some order, as they lie in memory."""
        empty = np.diff(offsets)[order] == 0
        if self.side == 1 and not empty.any():
            ends = zip(offsets[order], offsets[order + 1], strict=True)
            return np.concatenate([numbers[begin:end] for begin, end in ends], dtype=dtype)
        starts = np.empty(order.size, np.int64)
        starts[order] = self.starts
        found = np.zeros(self.size, dtype)
        if dtype.kind == "f":
            found[self.starts[empty]] = np.nan
        found[self.places(offsets, starts)] = numbers
        return found


def _padded(lengths: np.ndarray, side: int) -> np.ndarray:
    """The largest of each so many lengths."""
    return np.maximum.reduceat(lengths, np.arange(0, lengths.size, side)) if lengths.size else lengths
