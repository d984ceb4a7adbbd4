"""Texts about the functions of a source, with the parameters by which they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..language.derived import declaration, resolve_in, taken_in
from ..language.device_function import Argument, DeviceFunction, parse
from ..language.library import library
from ..language.nodes import Function
from .checks import refuses, says_nan

#: The argument of a number of a density without parameters: kernels take one at least.
NO_PARAMETER = Argument("nothing")


class Beside:
    """Functions written beside those of a source: with the source's parameters, under names of their own.

    `functions` are all that the source's call; those that are made are added.
    """

    def __init__(self, definition: DeviceFunction, functions: dict[str, Function]):
        self.definition, self.functions = definition, functions
        parameters = definition.density.parameters[1:]
        own = [p if p.name == "dim" else replace(p, name=f"p{i}") for i, p in enumerate(parameters)]
        self.declared = "".join(f", {declaration(p)}" for p in own)  # the parameters behind another one, in a declaration
        #: declaration of the parameters alone; of one that is not used where there are none
        self.alone = self.declared[2:] or f"real {NO_PARAMETER.name}"
        self.passed = "".join(f", {p.name}" for p in own)  # the parameters behind another one, in a call

    def written(self, ending: str, arguments: str) -> str:
        """Call of the source's function with an ending; empty where the source has none."""
        function = self.definition.role(ending)
        return "" if function is None else f"{function.name}({arguments})"

    def end(self, ending: str) -> str:
        """End of the support, ``lower`` or ``upper``: the source's, or that of the observation's domain."""
        ends = _ends(self.definition.arguments[0].words)
        return self.written(ending, self.passed[2:]) or ends[ending == "upper"]

    def refusal(self, function: Function | None = None, names: Sequence[str] = ()) -> str:
        """Statement that returns nan where the density does at 1, as it does for parameters that do not go together.

        Empty where the density never does, or `function` does so itself; `names`: what the parameters are called there.
        """
        density, resolve = self.definition.density, resolve_in(self.functions)
        if not refuses(density, resolve) or (function is not None and says_nan(function)):
            return ""
        return f"    if (isnan({density.name}(1{self.passed if not names else ', ' + ', '.join(names)}))) return NAN;\n"

    def made(self, text: str, ending: str, /, **values: str) -> Function:
        """Function with an ending of a text, after all functions of the text have been added to `functions`."""
        name, functions = self.definition.name, self.functions
        text = text.format(name=name, declared=self.declared, passed=self.passed, **values)
        made = parse(text, resolve_in(functions), name, taken_in(functions))
        functions |= {**library.closure(made.functions.values()), **functions, **made.functions}
        function = made.role(ending)
        assert function is not None
        return function


def _ends(words: frozenset[str]) -> tuple[str, str]:
    """Smallest and largest number of a domain; the domain of positive numbers begins at 0."""
    if "unit" in words:
        return ("1" if {"positive", "integer"} <= words else "0"), "1"
    if "positive" in words:
        return ("1" if "integer" in words else "0"), "INFINITY"
    return ("0" if "nonnegative" in words else "-INFINITY"), "INFINITY"
