"""Samplers of densities that have a distribution function but no sampler: the function is inverted."""

from __future__ import annotations

from dataclasses import replace

from ..language.device_function import DeviceFunction, parse
from ..language.nodes import Function
from .checks import DISTRIBUTION_FUNCTIONS, declaration, distribution_function, resolve_in

# The number t >= 0 for which sign * t has the distribution function u, by growing or shrinking an interval and halving it. What
# short_of tells is whether t lies nearer to 0 than that.
_CONTINUOUS = """
__device__ int {name}_short_of(real t, real sign, real u{declared})
{{
    real x = sign * t;
    int below = u < 0.5 ? {logcdf} < log(u) : {logsf} > log1p(-u);
    return below == (sign > 0);
}}

__device__ real {name}_sample(rng_t *rng{declared})
{{
    real u = uniform(rng), sign = {sign} ? -1 : 1, low = 1, high = 1, factor = 2;
    int outwards = {name}_short_of(1, sign, u{passed});
    for (int i = 0; i < 11 && {name}_short_of(outwards ? high : low, sign, u{passed}) == outwards; i++) {{
        real before = outwards ? high : low;
        high = outwards ? high * factor : before;
        low = outwards ? before : low / factor;
        factor *= factor;
    }}
    for (int i = 0; i < 80 && high - low > EPSILON * low; i++) {{
        real middle = high > 2 * low ? sqrt(low) * sqrt(high) : low + 0.5 * (high - low);
        int short_of = {name}_short_of(middle, sign, u{passed});
        low = short_of ? middle : low;
        high = short_of ? high : middle;
    }}
    return sign * high;
}}
"""

# The smallest whole number whose distribution function is at least u.
_DISCRETE = """
__device__ int {name}_below(real x, real u{declared})
{{
    return u < 0.5 ? {logcdf} < log(u) : {logsf} > log1p(-u);
}}

__device__ real {name}_sample(rng_t *rng{declared})
{{
    real u = uniform(rng), low = -1, high = 1;
    for (int i = 0; i < 60 && {name}_below(high, u{passed}); i++) {{
        low = high;
        high *= 2;
    }}
    for (int i = 0; i < 60 && !{name}_below(low, u{passed}); i++) {{
        high = low;
        low *= 2;
    }}
    for (int i = 0; i < 62 && high - low > 1; i++) {{
        real middle = floor(low + 0.5 * (high - low));
        int below = {name}_below(middle, u{passed});
        low = below ? middle : low;
        high = below ? high : middle;
    }}
    return high;
}}
"""


def inverted(definition: DeviceFunction, functions: dict[str, Function]) -> Function:
    """A sampler made of the distribution function; functions made on the way are added to `functions`.

    Raises
    ------
    NotImplementedError
        Where there is no distribution function, either.
    """
    name, observation = definition.name, definition.arguments[0]
    if observation.rank or definition.role(*DISTRIBUTION_FUNCTIONS) is None:
        also = "" if observation.rank else f", or {name}_logcdf, which is inverted then"
        raise NotImplementedError(f"no random draws of {name}: write {name}_sample(rng_t *rng, …) beside its density{also}")
    logcdf = distribution_function(definition, "logcdf", functions)
    logsf = distribution_function(definition, "logsf", functions)
    own = [p if p.name == "dim" else replace(p, name=f"p{i}") for i, p in enumerate(logcdf.parameters[1:])]
    declared = "".join(f", {declaration(p)}" for p in own)
    passed = "".join(f", {p.name}" for p in own)
    text = (_DISCRETE if definition.discrete else _CONTINUOUS).format(
        name=name, declared=declared, passed=passed,
        logcdf=f"{logcdf.name}(x{passed})", logsf=f"{logsf.name}(x{passed})",
        sign="0" if observation.words & {"positive", "nonnegative", "unit"} else f"{name}_short_of(0, -1, u{passed})",
    )  # fmt: skip
    made = parse(text, resolve_in(functions), name).functions
    functions |= made
    return made[f"{name}_sample"]
