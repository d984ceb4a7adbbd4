"""Structure of the linear predictor of a Gaussian mixed model: its columns, and whose coefficients they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..linalg.fronts import few_meet

#: Columns of the border, the effects that are not those of the largest grouping, and numbers of its coupling to this one.
MOST_BORDER, MOST_COUPLING = 20_000, 1 << 30


class Grouping(NamedTuple):
    """Groups of rows, each with a coefficient of some columns."""

    data: str  # name, among the data, of the group of each row
    levels: int  # number of groups
    columns: tuple[int, ...]  # numbers of the columns

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.levels * len(self.columns)


@dataclass(frozen=True)
class Structure:
    """Structure of a linear predictor: which columns have coefficients of all rows, and which of groups.

    Columns are numbered: 0 is one of ones, behind it come those of `sources`.

    Attributes
    ----------
    sources : tuple of (str, int)
        Names, among the data, and widths of matrices and vectors, the last of which has the observations.
    random : tuple of Grouping
        Those with random effects, the one with most coefficients first.
    tables : tuple of Grouping
        Those with fixed effects.
    fixed : tuple of int
        Columns that have a coefficient of all rows.
    sparse : bool
        Whether most pairs of groups of different groupings have no row.
    """

    sources: tuple[tuple[str, int], ...]
    random: tuple[Grouping, ...]
    tables: tuple[Grouping, ...]
    fixed: tuple[int, ...]
    sparse: bool = False

    def __post_init__(self) -> None:
        numbers = self.largest.size * self.border
        if self.sparse:
            numbers = sum(g.size for g in self.random) * self.ends
        if numbers > MOST_COUPLING:
            sizes = ", ".join(f"{g.levels:,} of {g.data}" for g in (*self.random, *self.tables))
            raise NotImplementedError(
                f"effects of {sizes}: their products with fixed effects are {numbers:,} numbers, and {MOST_COUPLING:,} at most "
                "are possible; take effects of groups as random"
            )

    @property
    def largest(self) -> Grouping:
        """The random grouping with most coefficients."""
        return self.random[0]

    @property
    def width(self) -> int:
        """Number of columns."""
        return 1 + sum(width for _, width in self.sources)

    @property
    def observations(self) -> int:
        """Number of the column of observations."""
        return self.width - 1

    @property
    def ends(self) -> int:
        """Number of the fixed effects, and one more for the observations."""
        return sum(g.size for g in self.tables) + len(self.fixed) + 1

    @property
    def border(self) -> int:
        """Number of all coefficients but those of the largest grouping, and one more for the observations."""
        return sum(g.size for g in self.random[1:]) + self.ends


def is_sparse(random: Sequence[Grouping], n_rows: int) -> bool:
    """Whether products of random groupings, the one with most coefficients first, are held as sparse matrices."""
    largest, others = random[0], random[1:]
    border = sum(g.size for g in others)
    if border > MOST_BORDER or largest.size * border > MOST_COUPLING:
        return True
    pairs = largest.levels * sum(g.levels for g in others)
    return few_meet(largest.size * border, n_rows * len(others), pairs)
