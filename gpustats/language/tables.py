"""Vectors of a known length beside sequences, as numbers: a parameter for each element, of which an index takes the nearest."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from dataclasses import replace
from typing import NoReturn

from ..errors import DeviceFunctionError
from . import nodes as lang
from .bounds import without_bounds
from .local_arrays import Arrays
from .names import unlike_others
from .nodes import REAL, VECTOR, Call, Expression, Function, Name
from .unrolling import Place, Unroller, element_name


def with_elements(
    function: Function, vectors: Collection[str], size: int, functions: MutableMapping[str, Function]
) -> Function:
    """Function with `size` numbers in the place of each of some vectors, whose loops over these are written out.

    Of `functions`, all that it calls, those that are made on the way are added. DeviceFunctionError where an index that is
    written out is none of an element, or a function that is called is told a length that depends on data.
    """
    return _Tables(function, vectors, size, functions).run()


class _Tables(Arrays):
    def __init__(
        self, function: Function, vectors: Collection[str], size: int, functions: MutableMapping[str, Function]
    ):  # fmt: skip
        used = {p.name for p in function.parameters} | {n.name for n in lang.walk(function) if isinstance(n, lang.Declare)}
        super().__init__(Unroller(functions), used | set(lang.called(function)), self.refused)
        self.function, self.vectors, self.size, self.functions = function, vectors, size, functions

    def refused(self, node: lang.Node, message: str) -> NoReturn:
        raise DeviceFunctionError(f"{self.function.name}: {message}", node.line, node.column)

    def run(self) -> Function:
        parameters: list[lang.Parameter] = []
        for p in self.function.parameters:
            if p.name in self.vectors:
                names = self.elements[p.name] = [self.fresh(element_name(p.name, i)) for i in range(self.size)]
                parameters += [lang.Parameter(n, REAL) for n in names]
            else:
                parameters.append(p)
        place = Place({}, {})
        self.block(self.function.body, place)
        name = f"{self.function.name}_of_{self.size}"
        made = replace(self.function, name=name, parameters=tuple(parameters), body=tuple(place.out))
        made = unlike_others(made, self.functions.get)
        self.functions[made.name] = made
        return made

    def element(self, e: lang.Index, place: Place, aside: bool) -> Expression:
        own = e.array.name in self.elements
        return super().element(replace(e, subscript=without_bounds(e.subscript)) if own else e, place, aside)

    def called(self, e: Call, callee: Function, place: Place, aside: bool) -> Expression:
        given = dict(zip((p.name for p in callee.parameters), e.arguments, strict=True))
        vectors = [p.name for p in callee.parameters if p.type == VECTOR]
        own = [v for v in vectors if isinstance(a := given[v], Name) and a.name in self.elements]
        if not own or len(own) == len(vectors):
            told = [without_bounds(a) if own and p == "dim" else a for p, a in given.items()]
            return super().called(replace(e, arguments=tuple(told)), callee, place, aside)
        made = with_elements(callee, own, self.size, self.functions)
        arguments: list[Expression] = []
        for p, a in given.items():
            if p in own:
                assert isinstance(a, Name)
                arguments += [Name(n, REAL) for n in self.elements[a.name]]
            else:
                arguments.append(self.folded(a, place, aside))
        return replace(e, function=made.name, arguments=tuple(arguments))
