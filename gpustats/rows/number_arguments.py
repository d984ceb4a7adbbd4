"""Functions of a row whose arguments are numbers, with the source of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..language.nodes import VECTOR
from ..language.tables import with_elements
from ..language.unrolling import unrolled
from ..rewriting.differentiate import directional
from .leaves import Column, Leaf, Sequences, StepGather
from .parameters import along_of

if TYPE_CHECKING:
    from .binding import Binding, RowFunction


@dataclass(frozen=True)
class NumberArguments:
    """Function of a row whose arguments are numbers, and the source of each.

    Attributes
    ----------
    row : RowFunction
    leaves : dict
        Argument, as in C -> leaf.
    made_of : dict
        Argument -> the parameter that it is made of; without columns of data.
    """

    row: RowFunction
    leaves: Mapping[str, Leaf]
    made_of: Mapping[str, str]

    @classmethod
    def of(cls, bound: Binding, length: int) -> NumberArguments:
        """Arguments of a model whose vectors have some length: an argument for each element; 0 where it has no vectors."""
        row, leaves, made_of = bound.row, dict[str, Leaf](), dict[str, str]()
        if bound.vectors:
            functions = dict(row.functions)
            if any(isinstance(leaf, Sequences | StepGather) for leaf in bound.leaves.values()):
                function = with_elements(row.function, [bound.c_names[v] for v in bound.vectors], length, functions)
            else:
                function = unrolled(row.function, length, functions)
            row = replace(row, function=function, functions=functions)
        names = iter(p.name for p in row.function.parameters if p.name != "dim")
        by_name = {c: argument for argument, c in bound.c_names.items()}
        for p in bound.row.function.parameters:
            if p.name == "dim":
                continue
            argument = by_name[p.name]
            leaf = bound.leaves[argument]
            unrolled_here = p.type == VECTOR and not isinstance(leaf, Sequences | StepGather)
            elements = [_element(leaf, i, length) for i in range(length)] if unrolled_here else [leaf]
            for element in elements:
                name = next(names)
                leaves[name] = element
                if not isinstance(leaf, Column | Sequences):
                    made_of[name] = leaf.of or argument
        return cls(row, leaves, made_of)

    def along(self, names: Sequence[str]) -> NumberArguments:
        """Arguments of the derivative in a direction, whose components in some parameters are parameters behind the others.

        `along_of` names them.
        """
        if steps := [n for n, leaf in self.leaves.items() if isinstance(leaf, StepGather)]:
            raise ValueError(f"{steps[0]} is gathered by steps: there are no products with second derivatives, only `hessian`")
        functions = dict(self.row.functions)
        wrt = [c for c, parameter in self.made_of.items() if parameter in names]
        function, twins = directional(self.row.function, wrt, functions)
        return NumberArguments(
            replace(self.row, function=function, functions=functions),
            {**self.leaves, **{twin: self.leaves[name] for name, twin in twins.items()}},
            {**self.made_of, **{twin: along_of(self.made_of[name]) for name, twin in twins.items()}},
        )

    def of_parameter(self, parameter: str) -> list[str]:
        """Arguments that are made of a parameter."""
        return [c for c, made_of in self.made_of.items() if made_of == parameter]


def _element(leaf: Leaf, i: int, length: int) -> Leaf:
    """Leaf of an element of a vector."""
    if isinstance(leaf, Column):
        return Column(None, np.ascontiguousarray(leaf.numbers[:, i]))
    return replace(leaf, element=i, elements=length)
