"""Tasks of passes: the derivatives that one reading of the rows computes, and the use that is made of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..rewriting.differentiate import VALUE, derivative_name

Pair: TypeAlias = tuple[str, str]


class Used(NamedTuple):
    """Results of a function, by the use that a pass makes of them."""

    sums: tuple[str, ...]  # summed over all rows
    slopes: tuple[Pair, ...]  # dot product, and the result that the columns of its matrix are multiplied by
    tables: tuple[Pair, ...]  # summed over the rows of each group; then the dot product whose columns they are multiplied by
    rows: tuple[str, ...]  # written for each row


class Pairs(NamedTuple):
    """Second derivatives that one pass computes: pairs of arguments, as in C, by the use of the derivatives in them."""

    sums: tuple[Pair, ...] = ()  # two numbers
    slopes: tuple[Pair, ...] = ()  # a dot product, and a number
    tables: tuple[Pair, ...] = ()  # an element of the table by whose groups the rows stand, and another such or a number
    slopes_of_tables: tuple[Pair, ...] = ()  # such an element, and a dot product
    rows: tuple[Pair, ...] = ()  # any others

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the pairs."""
        return tuple(dict.fromkeys(name for pairs in self for pair in pairs for name in pair))

    def used(self) -> Used:
        """Results for the pairs."""
        tables = [(second_name(p), "") for p in self.tables] + [(second_name(p), p[1]) for p in self.slopes_of_tables]
        return Used(
            tuple(map(second_name, self.sums)), tuple((p[0], second_name(p)) for p in self.slopes), tuple(tables),
            tuple(map(second_name, self.rows)),
        )  # fmt: skip


def second_name(pair: Pair) -> str:
    """Name of the second derivative in a pair of arguments."""
    return derivative_name(pair[1], derivative_name(pair[0]))


@dataclass(frozen=True)
class Task:
    """Derivatives that one pass computes: the names of arguments, as in C, by the use of the derivatives in them."""

    value: bool = True  # whether it sums the values, too
    sums: tuple[str, ...] = ()  # arguments that are numbers
    slopes: tuple[str, ...] = ()  # dot products
    tables: tuple[str, ...] = ()  # elements of the table by whose groups the rows stand
    rows: tuple[str, ...] = ()  # numbers of the rows
    products: tuple[str, ...] = ()  # dot products with rows of sparse matrices
    gathered: tuple[str, ...] = ()  # elements of tables that steps gather
    terms: bool = False  # whether the value of each row is written
    second: Pairs | None = None  # second derivatives: nothing else is computed then
    steps: tuple[str, ...] = ()  # outputs by step: nothing else is computed then

    def used(self) -> Used:
        """Results for the arguments."""
        return Used(
            (*([VALUE] if self.value else []), *map(derivative_name, self.sums)),
            tuple((name, derivative_name(name)) for name in self.slopes),
            tuple((derivative_name(name), "") for name in self.tables),
            (*([VALUE] if self.terms else []), *map(derivative_name, (*self.rows, *self.products))),
        )
