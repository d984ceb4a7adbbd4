"""Functions written around a user's function: with the same arguments, and a body of C that calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .device_function import parse
from .library import library
from .names import fresh_name, unlike_others
from .nodes import INT, OUTPUT, REAL, RNG, VECTOR, Function, Parameter, Resolve

_DECLARED = {REAL: "real ", INT: "int ", VECTOR: "const real *", OUTPUT: "real *", RNG: "rng_t *"}


def declaration(p: Parameter) -> str:
    """Declaration of the parameter `p`, as a user writes it."""
    return f"{'const int *' if p.whole else _DECLARED[p.type]}{p.name}"


def call_of(function: Function, given: Mapping[str, str] | None = None) -> str:
    """Call of `function`, in C, by one that has arguments of the same names; `given`: others in the place of some."""
    return f"{function.name}({', '.join((given or {}).get(p.name, p.name) for p in function.parameters)})"


def derived(function: Function, suffix: str, body: str, resolve: Resolve, more: Sequence[str] = ()) -> Function:
    """Function ``<name>_<suffix>`` with the arguments of `function`, `more` real ones before ``dim``, and the given body.

    The body is statements of C, in which `function` may be called by its name; `resolve` finds the other functions that it
    calls.
    """
    parameters = [p for p in function.parameters if p.name != "dim"]
    dim = [p for p in function.parameters if p.name == "dim"]
    declared = ", ".join([*map(declaration, parameters), *(f"real {name}" for name in more), *map(declaration, dim)])
    name = f"{function.name}_{suffix}"

    def known(called: str) -> Function | None:
        return function if called == function.name else resolve(called)

    made = parse(f"{function.type} {name}({declared})\n{{\n{body}}}\n", known, name=function.name)
    return unlike_others(made.as_written(made.functions[name]), resolve)


def with_argument(function: Function, suffix: str, argument: str, body: str, resolve: Resolve) -> tuple[Function, str]:
    """Function ``<name>_<suffix>`` of one more real argument, and the name of that argument.

    This is `argument`, unless `function` has one of this name. The body has ``{argument}`` where it uses the new argument, and
    ``{call}`` where it calls `function`; `resolve` finds the other functions that it calls.
    """
    name = fresh_name(argument, {p.name for p in function.parameters})
    return derived(function, suffix, body.format(argument=name, call=call_of(function)), resolve, [name]), name


def taken_in(functions: Mapping[str, Function]) -> Callable[[str], bool]:
    """Test for a name that one of `functions`, or a special function, has: functions written beside them need another."""
    return lambda name: name in functions or name in library.special


def resolve_in(functions: Mapping[str, Function]) -> Resolve:
    """Look-up of a function among `functions`, or else in the library."""
    return lambda name: functions.get(name) or library.resolve(name)
