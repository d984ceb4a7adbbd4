"""The log-likelihood of an observation that is known to lie in an interval."""

from __future__ import annotations

from ..evaluation.pointwise import Pointwise
from ..language.derived import call_of, resolve_in, with_argument
from ..language.device_function import Argument
from ..language.library import library


def interval_log_probability(
    log_density: Pointwise, log_cdf: Pointwise, log_sf: Pointwise, discrete: bool
) -> Pointwise:
    """The log-probability of an interval, or the log-density where its ends are the same.

    Parameters
    ----------
    log_density, log_cdf, log_sf : Pointwise
        Of the same arguments.
    discrete : bool
        Whether the lower end belongs to the interval.

    Returns
    -------
    Pointwise
        Of the lower end and the parameters of `log_density`, and of the upper end, last.
    """
    function, functions = log_density.function, {**log_sf.functions, **log_cdf.functions, **log_density.functions}
    x = log_density.c_names[0]
    below = f"{x} - 1" if discrete else x
    tails = [
        call_of(
            tail.function, {tail.c_names[0]: at, **dict(zip(tail.c_names[1:], log_density.c_names[1:], strict=True))}
        )
        for at in (below, "{argument}")
        for tail in (log_cdf, log_sf)
    ]
    body = (
        f"    if ({x} == {{argument}}) return {{call}};\n"
        f"    if (!({x} < {{argument}})) return NAN;\n"
        f"    return log_cdf_difference({', '.join(tails)});\n"
    )
    made, upper = with_argument(function, "interval", "upper_end", body, resolve_in(functions))
    functions = {**library.closure([made]), **functions, made.name: made}
    return Pointwise(log_density.name, made, [*log_density.arguments, Argument(upper)], functions, log_density.source)
