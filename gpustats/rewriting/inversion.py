"""Distribution functions, and samplers that invert them, for densities whose sources do not have their own.

Of the logarithms of the distribution function and of the survival function a source need write only one, or the distribution
function itself.
"""

from __future__ import annotations

from dataclasses import replace

from ..language.derived import call_of, declaration, derived, resolve_in, taken_in
from ..language.device_function import Argument, DeviceFunction, parse
from ..language.library import library
from ..language.nodes import Function, Resolve
from .checks import checked, inside, own_prefix

#: Endings of the functions from which the distribution function can be had.
DISTRIBUTION_FUNCTIONS = ("logcdf", "logsf", "cdf")
# For each of the two logarithms, by the ending of its function: the ending of the other one, and its values below and above the
# support.
_TAILS = {"logcdf": ("logsf", ("-INFINITY", "0")), "logsf": ("logcdf", ("0", "-INFINITY"))}


def distribution_function(
    definition: DeviceFunction, ending: str, functions: dict[str, Function]
) -> Function:
    """The logarithm of the distribution function or of the survival function, with scipy.stats' rules around it.

    Where the source has only one of the two, it makes the other.

    Parameters
    ----------
    definition : DeviceFunction
    ending : {"logcdf", "logsf"}
    functions : mapping
        All functions that it calls; those made on the way are added.
    """
    other, edges = _TAILS[ending]
    function = definition.role(ending)
    if function is None:
        known, formula = definition.role(other), "log1mexp({})"
        if known is None:
            known, formula = definition.role("cdf"), "log({})" if ending == "logcdf" else "log1p(-{})"
        if known is None:
            names = " and no ".join(f"{definition.name}_{ending}" for ending in _TAILS)
            raise NotImplementedError(
                f"{definition.name} has no {names}: write one of them, of the same arguments, beside {definition.density.name}"
            )
        function = derived(known, ending, f"    return {formula.format(call_of(known))};\n", resolve_in(functions))
        functions |= {**library.closure([function]), **functions}
    x, *parameters = definition.arguments
    everywhere = _everywhere(function, x, edges, resolve_in(functions))
    made = checked(everywhere, [Argument(x.name), *parameters], resolve_in(functions))
    functions |= {everywhere.name: everywhere, made.name: made}
    return made


def _everywhere(function: Function, observation: Argument, edges: tuple[str, str], resolve: Resolve) -> Function:
    """A distribution function for every real number: it has the values `edges` below and above the observation's domain.

    A function of whole numbers keeps its value up to the next one. Outside of the domain the function is evaluated at 1,
    which lies in every domain: so it can say nan where parameters do not go together, whatever x is.
    """
    x, *names = (p.name for p in function.parameters)
    own = own_prefix([x, *names])
    at, (below, above) = f"{own}at", edges
    test = f"{inside(observation.words - {'integer'}, at)} && fabs({at}) < INFINITY"
    body = (
        f"    real {at} = {f'floor({x})' if 'integer' in observation.words else x};\n"
        f"    int {own}inside = {test};\n"
        f"    real {own}value = {function.name}({', '.join([f'{own}inside ? {at} : 1', *names])});\n"
        f"    return {own}inside || {own}value != {own}value ? {own}value : {at} > 0 ? {above} : {below};\n"
    )
    return derived(function, "everywhere", body, resolve)


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
    made = parse(text, resolve_in(functions), name, taken_in(functions))
    functions |= made.functions
    sampler = made.role("sample")
    assert sampler is not None
    return sampler
