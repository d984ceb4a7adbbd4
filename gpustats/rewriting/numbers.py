"""Numbers that depend on the parameters of a density alone: its mean, its variance, the ends of its support."""

from __future__ import annotations

from ..language.derived import resolve_in
from ..language.device_function import Argument, DeviceFunction
from ..language.nodes import Function
from .beside import NO_PARAMETER, Beside
from .checks import checked
from .moments import BODIES, body_of, has_moments

_NUMBER = """
__device__ real {name}_number({parameters})
{{
    {refusal}
    {body}
}}
"""
_ENDS = ("lower", "upper")
ORDER = Argument("order", "nonnegative integer")


def lacks_number(definition: DeviceFunction, ending: str) -> str:
    """Message why a number cannot be had, with advice; empty where it can."""
    name = definition.name
    if ending in _ENDS or definition.role(ending) is not None or (ending in BODIES and has_moments(definition)):
        return ""
    beside = f"beside {definition.written(definition.density)}"
    if ending not in BODIES:
        return f"{name} has no {name}_{ending}: write it, of the parameters alone, {beside}"
    first = "" if ending == "moment" else f"{name}_{ending}, of the parameters alone, or "
    return f"{name} has no {ending}: write {first}{name}_logcdf, from which it is found by quadrature, {beside}"


def number(definition: DeviceFunction, ending: str, functions: dict[str, Function], lost: bool = False) -> Function:
    """Function of the parameters with scipy.stats' rules around it: nan where they lie outside their domains.

    The ending is one of `NUMBERS`, or ``moment``, a function of an order and the parameters. If `lost`, the function returns
    instead 1 where the number cannot be computed accurately enough, else 0. Functions made on the way are added to
    `functions`. NotImplementedError where the source neither writes the number nor functions that give it.
    """
    if lack := lacks_number(definition, ending):
        raise NotImplementedError(lack)
    beside, function = Beside(definition, functions), definition.role(ending)
    if ending in _ENDS or function is not None:
        body = f"return {beside.end(ending) if ending in _ENDS else beside.written(ending, beside.passed[2:])};"
        body = "return 0;" if lost else body
    else:
        body = body_of(definition, ending, functions, lost)
    arguments, parameters = definition.arguments[1:] or (NO_PARAMETER,), beside.alone
    if ending == "moment":
        arguments, parameters = (ORDER, *definition.arguments[1:]), f"real {ORDER.name}{beside.declared}"
    made = beside.made(_NUMBER, "number", parameters=parameters, body=body, refusal=beside.refusal(function))
    guarded = checked(made, arguments, resolve_in(functions), "NAN")
    functions[guarded.name] = guarded
    return guarded
