"""Second derivatives of a row function in pairs of its arguments: summed on the device as far as that can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.results import as_host
from .assembly import Summed
from .leaves import Dot, Gather, Scalar
from .tasks import Pair, Pairs, second_name

if TYPE_CHECKING:
    from ..runtime.types import Array, Doubles
    from .launch import Launch
    from .leaves import Leaf
    from .parameters import Packing


def pairs_by_order(
    arguments: Sequence[str], leaves: Mapping[str, Leaf], shape_of_table: Mapping[str, Sequence[int]], main: tuple[int, ...]
) -> dict[tuple[int, ...], Pairs]:
    """Pairs of arguments by the order of the rows in which their second derivatives are summed.

    Parameters
    ----------
    arguments : sequence of str
    leaves : mapping
        Argument -> its leaf.
    shape_of_table : mapping
        Argument that is an element of a table -> the shape of this.
    main : tuple of int
        Order in which what needs no other one is summed.
    """
    def table(argument: str) -> object:
        leaf = leaves[argument]
        assert isinstance(leaf, Gather)
        return tuple(map(id, leaf.indices)), shape_of_table[argument]

    found = {main: Pairs()}
    for i, one in enumerate(arguments):
        for other in arguments[: i + 1]:
            first, second = (other, one) if _rank(leaves[other]) > _rank(leaves[one]) else (one, other)
            left, right, order = leaves[first], leaves[second], main
            match left, right:
                case Scalar(), Scalar():
                    use = "sums"
                case Dot(), Scalar():
                    use = "slopes"
                case Gather(), Scalar():
                    use, order = "tables", left.order
                case Gather(), Gather() if table(first) == table(second):
                    use, order = "tables", left.order
                case Gather(), Dot():
                    use, order = "slopes_of_tables", left.order
                case _:
                    use = "rows"
            own = found.get(order, Pairs())
            found[order] = own._replace(**{use: (*getattr(own, use), (first, second))})
    return {order: pairs for order, pairs in found.items() if any(pairs)}


def _rank(leaf: Leaf) -> int:
    """Place of a leaf in a pair: elements of tables first, then dot products."""
    return 2 if isinstance(leaf, Gather) else int(isinstance(leaf, Dot))


class SecondOfPairs:
    """Second derivatives in pairs, read from the results of launches.

    Parameters
    ----------
    launches : sequence of Launch
    packing : Packing
    """

    def __init__(self, launches: Sequence[Launch], packing: Packing):
        self._launches, self._packing = launches, packing

    def __call__(self, numbers: np.ndarray, kept: Sequence[Array]) -> dict[Pair, Any]:
        """Pair -> a number, what the rows were summed to, or the derivative in each row."""
        found: dict[Pair, Any] = {}
        for launch in self._launches:
            pairs = _pairs_of(launch)
            sums, slopes = numbers[launch.sums[0]], launch.made.slopes_of()
            found |= {pair: float(sums[i]) for i, pair in enumerate(pairs.sums)}
            found |= {pair: Summed(sums[slopes[second_name(pair)], None]) for pair in pairs.slopes}
            if launch.tables:
                places, of_kept = launch.tables[0]
                found |= self._tables(launch, pairs, numbers[places[0]] if of_kept is None else kept[of_kept][0])
        for launch in self._launches:  # now that all numbers were read, since further kernels leave theirs in the same place
            for pair, (_, of_kept) in zip(_pairs_of(launch).rows, launch.rows, strict=True):
                found[pair] = self._rows(launch, pair, kept[of_kept])
        return found

    def _tables(self, launch: Launch, pairs: Pairs, sums: np.ndarray) -> dict[Pair, Summed]:
        """Sums by group, (groups, results), as sums by the elements of the tables."""
        made, found, place = launch.made, dict[Pair, Summed](), 0
        assert made.sheet.groups is not None
        for pair in (*pairs.tables, *pairs.slopes_of_tables):
            leaf, other = made.leaves[pair[0]], made.leaves[pair[1]]
            assert isinstance(leaf, Gather)
            width = other.X.shape[1] if isinstance(other, Dot) else 1
            shape = self._packing.cores[made.made_of[pair[0]]][: len(leaf.indices)]
            elements, own = made.sheet.groups.elements(leaf), sums[:, place : place + width]
            if own.shape[:1] != shape or not isinstance(elements[0], slice):  # else the groups are the table's elements
                whole: Doubles = np.zeros((*shape, width))
                whole[elements] = own
                own = whole.reshape(-1, width)
            found[pair] = Summed(own[:, 0] if isinstance(other, Gather) else own)
            place += width
        return found

    def _rows(self, launch: Launch, pair: Pair, derivative: Array) -> Any:
        """What is made of the derivative in each row, which stand in the order of the pass."""
        sheet, (left, right) = launch.made.sheet, (launch.made.leaves[n] for n in pair)
        if isinstance(left, Dot) and isinstance(right, Dot) and left.X is right.X:
            return Summed(sheet.columns_of(left.X).weighted(derivative))
        numbers = as_host(sheet.runtime, derivative)
        if sheet.groups is None:
            return numbers
        in_order = np.empty_like(numbers)
        in_order[sheet.groups.segments.order] = numbers
        return in_order


def _pairs_of(launch: Launch) -> Pairs:
    pairs = launch.made.task.second
    assert pairs is not None
    return pairs
