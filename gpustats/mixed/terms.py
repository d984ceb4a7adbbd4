"""Random terms of a linear predictor, and the Cholesky factors of their covariances as numbers of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..runtime.types import Doubles


class Term(NamedTuple):
    """Random term: each of its groups has effects, normal with one covariance, Σ = L L'."""

    name: str
    columns: int | None  # number of effects of a group; None: an intercept
    levels: int  # number of groups
    grouping: int  # its grouping among those of random terms
    first: int  # its first column among those of the grouping
    names: tuple[str, ...] = ()  # of its columns, where they have some

    @property
    def parameter(self) -> str:
        """Name of the parameter that is L."""
        return f"chol_{self.name}"

    @property
    def size(self) -> int:
        """Number of effects of a group."""
        return self.columns or 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of L: of an intercept a number, its standard deviation."""
        return () if self.columns is None else (self.size, self.size)

    def effect(self, i: int) -> str:
        """Name of an effect."""
        if self.columns is None:
            return "Intercept"
        return self.names[i] if self.names else f"{self.name}[{i}]"

    def check_groups(self, one: bool, told: bool) -> None:
        """ValueError where the rows that count are of `one` group and nothing else has `told` the covariance of groups."""
        if one and not told:
            raise ValueError(
                f"{self.name} has rows of one group alone, which tell no variance of groups: leave the term out, or fix "
                f"{self.parameter}"
            )

    def check_columns(self, dependent: np.ndarray) -> None:
        """ValueError where some of its columns are `dependent`."""
        if len(dependent):
            named = ", ".join(self.effect(int(i)) for i in dependent)
            raise ValueError(
                f"nothing tells the effects {named} of {self.name} apart: columns of its groups depend on one another, or are "
                f"0. Leave one of them out, or fix {self.parameter}"
            )

    @property
    def places(self) -> slice:
        """Its columns among those of the grouping."""
        return slice(self.first, self.first + self.size)


class Factors:
    """Lower triangles of the factors of all terms, as one vector: term by term, row by row.

    Parameters
    ----------
    terms : sequence of Term
    widths : sequence of int
        Number of columns of each grouping of random terms.
    """

    def __init__(self, terms: Sequence[Term], widths: Sequence[int]):
        self.terms, self.widths = tuple(terms), tuple(widths)
        rows, columns, groupings = list[int](), list[int](), list[int]()
        self.slices = dict[str, slice]()
        for term in terms:
            down, across = np.tril_indices(term.size)
            self.slices[term.parameter] = slice(len(rows), len(rows) + len(down))
            rows += (term.first + down).tolist()
            columns += (term.first + across).tolist()
            groupings += [term.grouping] * len(down)
        self.rows, self.columns, self.groupings = np.array(rows), np.array(columns), np.array(groupings)
        #: mask of the diagonal elements, which are not negative
        self.diagonal = self.rows == self.columns
        self.size = len(rows)

    def matrices(self, vector: Doubles) -> list[Doubles]:
        """Factor of each grouping, (m, m), which has those of its terms on its diagonal."""
        found = [np.zeros((width, width)) for width in self.widths]
        for i, own in enumerate(found):
            here = self.groupings == i
            own[self.rows[here], self.columns[here]] = vector[here]
        return found

    def gathered(self, matrices: Sequence[Doubles]) -> Doubles:
        """Elements of a matrix for each grouping, such as derivatives, as a vector."""
        return np.array([matrices[g][i, j] for g, i, j in zip(self.groupings, self.rows, self.columns, strict=True)], float)

    def column(self, k: int) -> np.ndarray:
        """Mask of the elements of a factor in the column of one of them."""
        found: np.ndarray = (self.columns == self.columns[k]) & (self.groupings == self.groupings[k])
        return found

    def by_name(self, vector: Doubles) -> dict[str, np.ndarray]:
        """Factor of each term by the name of its parameter."""
        found = dict[str, np.ndarray]()
        for term in self.terms:
            own = np.zeros((term.size, term.size))
            own[np.tril_indices(term.size)] = vector[self.slices[term.parameter]]
            found[term.parameter] = own.reshape(term.shape)
        return found

    def vector(self, values: Mapping[str, np.ndarray]) -> Doubles:
        """Vector of factors by the names of their parameters."""
        parts = [np.reshape(values[t.parameter], (t.size, t.size))[np.tril_indices(t.size)] for t in self.terms]
        return np.concatenate(parts).astype(float)
