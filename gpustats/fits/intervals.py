"""Log-likelihood of an observation that is known to lie in an interval."""

from __future__ import annotations

from ..evaluation.pointwise import Pointwise
from ..language.derived import call_of, resolve_in, with_argument
from ..language.device_function import Argument, DeviceFunction
from ..language.library import library
from ..language.names import fresh_name
from ..language.nodes import Function
from ..rewriting.distribution_functions import distribution_function, log_between, tails_at_bound
from ..rewriting.numbers import number


def interval_log_probability(log_density: Pointwise, definition: DeviceFunction) -> Pointwise:
    """The log-probability of an interval, or the log-density where its ends are the same.

    It is a function of the lower end, which belongs to the interval, the parameters of `log_density`, and the upper end, last.
    """
    x, *parameters = log_density.c_names
    function, functions = log_density.function, dict(log_density.functions)
    log_cdf, log_sf = (distribution_function(definition, ending, functions) for ending in ("logcdf", "logsf"))

    def call(made: Function, *at: str) -> str:
        """Call of a function of the parameters, or of a number and the parameters."""
        names = [p.name for p in made.parameters]
        return call_of(made, dict(zip(names, [*at, *parameters] or ["0"], strict=True)))

    tails: list[str] = []
    head, first, last = "", x, "{argument}"
    if definition.discrete:
        first, last = f"ceil({x})", "floor({argument})"
    below = f"{first} - 1" if definition.discrete else first
    for side, bound, at in (("lower", x, below), ("upper", "{argument}", "{argument}")):
        names = fresh_name(f"log_cdf_{side}", log_density.c_names), fresh_name(f"log_sf_{side}", log_density.c_names)
        end = call(number(definition, side, functions))
        head += tails_at_bound(bound, side, end, call(log_cdf, at), call(log_sf, at), names)
        tails += names
    mass = log_between(function, definition.discrete, functions)
    passed = [first, *parameters, last, *tails]
    given = call_of(mass, dict(zip([p.name for p in mass.parameters if p.name != "dim"], passed, strict=True)))
    body = (
        f"    if ({x} == {{argument}}) return {{call}};\n"
        f"    if (!({x} < {{argument}})) return NAN;\n"
        f"{head}"
        f"    return {given};\n"
    )
    made, upper = with_argument(function, "interval", "upper_end", body, resolve_in(functions))
    functions = {**library.closure([made]), **functions, made.name: made}
    return Pointwise(log_density.name, made, [*log_density.arguments, Argument(upper)], functions, log_density.source)
