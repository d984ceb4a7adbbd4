"""Labels of rows, such as the names of groups, as numbers with the label of each."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse


#: End of errors about new labels of groups whose effects are random.
ALLOWS_NEW = "; with new_groups=True such groups have effects of 0, and the variance of these is in the errors"
#: Up to here, numbers in double precision are told from their neighbours.
MOST_WHOLE = 2**53


@dataclass(frozen=True, eq=False)
class Labelled:
    """Column of labels: the number of each row's label, -1 where it is missing, and all labels that occur."""

    codes: np.ndarray  # (N,) int32
    labels: np.ndarray  # (G,), of strings or of numbers

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: np.ndarray) -> Labelled:
        """Labels of some rows; those that occur nowhere else are left out."""
        return numbered(self.codes[rows], self.labels)

    def numbers(self, name: str) -> np.ndarray:
        """Numbers of the rows; ValueError, which names the column, where a row has no label."""
        if (n := int((self.codes < 0).sum())) > 0:
            raise ValueError(f"{name} has no label in {n} row{'s' * (n != 1)}, first in row {int((self.codes < 0).argmax())}")
        return self.codes

    def one_hot(self) -> scipy.sparse.csc_array:
        """Sparse matrix (N, G) with a column for each label, which is 1 in the rows that have it."""
        import scipy.sparse

        codes = self.numbers("a category")
        ends = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(self.labels)))])
        rows = np.argsort(codes, kind="stable")
        return scipy.sparse.csc_array((np.ones(len(codes)), rows, ends), shape=(len(codes), len(self.labels)))

    def among(self, labels: np.ndarray, name: str, new: bool = False, hint: str = "") -> np.ndarray:
        """Numbers of the rows among the labels of a fit; others have -1 if they may be `new`, else are a ValueError."""
        places = {label: i for i, label in enumerate(labels.tolist())}
        found = np.array([places.get(label, -1) for label in self.labels.tolist()], np.int32)
        if not new and len(unseen := np.flatnonzero(found < 0)):
            told = ", ".join(repr(label) for label in self.labels[unseen[:6]].tolist())
            n = int(np.isin(self.codes, unseen).sum())
            known = ", ".join(map(str, labels[:12])) + ", …" * (len(labels) > 12)
            raise ValueError(
                f"{name} has {told}{', …' * (len(unseen) > 6)} in {n} row{'s' * (n != 1)}, which the fit has not seen: its "
                f"labels are {known}{hint}"
            )
        return np.append(found, np.int32(-1))[self.codes]


def labelled(values: Any) -> Labelled:
    """Labels of an array or a column of pandas, in ascending order; None and nan are missing."""
    if importlib.util.find_spec("pandas") is not None:
        import pandas

        codes, labels = pandas.factorize(values)
        return numbered(codes, _whole(np.asarray(labels)), ordered=False)
    array = np.asarray(values)
    missing = np.array([v is None or v != v for v in array.tolist()], bool)
    labels, places = np.unique(array[~missing], return_inverse=True)
    return numbered(_filled(places, missing), _whole(labels))


def _whole(labels: np.ndarray) -> np.ndarray:
    """Labels as whole numbers, if they are such numbers in a type of floating point."""
    whole = labels.dtype.kind == "f" and np.all((np.mod(labels, 1) == 0) & (np.abs(labels) < MOST_WHOLE))
    return labels.astype(np.int64) if whole else labels


def numbered(codes: np.ndarray, labels: np.ndarray, ordered: bool = True) -> Labelled:
    """Labels by their numbers, without those that do not occur; unless they are `ordered`, put in ascending order."""
    if labels.dtype == object:  # among which may be NumPy's own strings and numbers
        labels = np.array([*(v.item() if isinstance(v, np.generic) else v for v in labels.tolist()), None], object)[:-1]
    used = np.zeros(len(labels) + 1, bool)
    used[codes] = True  # the last place is that of what is missing
    kept = np.flatnonzero(used[:-1])
    kinds = {type(v) for v in labels[kept].tolist()}
    if not any(kinds <= alike for alike in ({str}, {bytes}, {int, float, bool})):
        listed = ", ".join(sorted(k.__name__ for k in kinds))
        raise TypeError(f"a column has labels of the types {listed}: make strings of them")
    if not ordered:
        kept = kept[np.argsort(labels[kept], kind="stable")]
    places = np.full(len(labels) + 1, -1, np.int32)
    places[kept] = np.arange(len(kept))
    return Labelled(places[codes], labels[kept])


def crossed(parts: Sequence[Labelled]) -> Labelled:
    """Labels of combinations that occur, such as ``a:b``; missing where one of them is."""
    codes, missing = np.zeros(len(parts[0]), np.int64), np.zeros(len(parts[0]), bool)
    for part in parts:
        codes = codes * len(part.labels) + part.codes
        missing |= part.codes < 0
    seen, places = np.unique(codes[~missing], return_inverse=True)
    names, rest = list[list[str]](), seen
    for part in reversed(parts):
        rest, own = np.divmod(rest, max(len(part.labels), 1))
        names.insert(0, [str(label) for label in part.labels[own].tolist()])
    labels = np.array([":".join(of_one) for of_one in zip(*names, strict=True)], object)
    return numbered(_filled(places, missing), labels)


def _filled(places: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Numbers of all rows: `places` of those that are not missing, -1 of the others."""
    found = np.full(len(missing), -1)
    found[~missing] = places
    return found
