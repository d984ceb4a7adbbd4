"""Distribution functions: a source need write only one of P(X <= x), P(X > x) and their logarithms.

A probability as the source writes it is accurate where it is small. Near 1 it is made of the other tail, so that the
logarithms that users get keep their digits on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..language import nodes as lang
from ..language.derived import call_of, derived, resolve_in
from ..language.device_function import Argument, DeviceFunction
from ..language.kinds import DISTRIBUTION_FUNCTIONS
from ..language.library import library
from ..language.names import fresh_name
from ..language.nodes import Function, Resolve
from .beside import Beside
from .checks import checked, inside, own_prefix
from .derivative_rules import SPECIAL_PREFIX


@dataclass(frozen=True)
class _Tail:
    """Distribution function, by the ending of its name."""

    below: str  # value below the support, in C
    above: str  # value above it
    #: ending of another one -> the formula, with {} for the other one's value; those in which least cancels come first
    made_of: dict[str, str]
    other: str = ""  # ending of the other tail's logarithm, for a logarithm


_TAILS = {
    "cdf": _Tail("0", "1", {"logcdf": "exp({})", "logsf": "-expm1({})", "sf": "1 - {}"}),
    "sf": _Tail("1", "0", {"logsf": "exp({})", "logcdf": "-expm1({})", "cdf": "1 - {}"}),
    "logcdf": _Tail("-INFINITY", "0", {"cdf": "log({})", "logsf": "log1mexp({})", "sf": "log1p(-{})"}, "logsf"),
    "logsf": _Tail("0", "-INFINITY", {"sf": "log({})", "logcdf": "log1mexp({})", "cdf": "log1p(-{})"}, "logcdf"),
}
#: Special functions whose values, logarithms of probabilities, have all their digits near 0, too.
_ON_BOTH_SIDES = {
    f"{SPECIAL_PREFIX}{name}"
    for name in (
        "log_beta_p", "log_beta_p_logit", "log_expit", "log_gamma_p", "log_gamma_p_of_power", "log_gamma_q",
        "log_gamma_q_of_power", "log_ndtr", "log_student_above",
    )
}
_SAME_TAIL = {"cdf": "logcdf", "logcdf": "cdf", "sf": "logsf", "logsf": "sf"}


def has_distribution_function(definition: DeviceFunction) -> bool:
    """True if a source writes one of the distribution functions."""
    return definition.role(*DISTRIBUTION_FUNCTIONS) is not None


def plain_tail(definition: DeviceFunction, ending: str, functions: dict[str, Function]) -> Function:
    """Distribution function as the source writes it, or made of another that it writes; for x within the support.

    The ending is "cdf", "sf", "logcdf" or "logsf". Of `functions`, all that it calls, those made on the way are added.
    NotImplementedError where the source writes none.
    """
    if (own := definition.role(ending)) is not None:
        return own
    for known, formula in _TAILS[ending].made_of.items():
        if (function := definition.role(known)) is not None:
            made = derived(function, ending, f"    return {formula.format(call_of(function))};\n", resolve_in(functions))
            return _added(made, functions)
    raise NotImplementedError(lacks_distribution_function(definition))


def lacks_distribution_function(definition: DeviceFunction) -> str:
    """Message about a source that writes no distribution function."""
    name = definition.name
    return (
        f"{name} has no {name}_logcdf and no {name}_logsf: write one of them, of the same arguments, beside "
        f"{definition.written(definition.density)}"
    )


def distribution_function(
    definition: DeviceFunction, ending: str, functions: dict[str, Function], both_sides: bool = False
) -> Function:
    """Distribution function with scipy.stats' rules around it, for every x; see `plain_tail`.

    If `both_sides`, a logarithm near 0 is made of the other tail: then its relative error is small there, too.
    """
    function = plain_tail(definition, ending, functions)
    other = _TAILS[ending].other
    both_sides = both_sides and not _is_on_both_sides(function, resolve_in(functions))
    if both_sides and other and all(definition.role(e, _SAME_TAIL[e]) for e in (ending, other)):
        function = _on_both_sides(function, plain_tail(definition, other, functions), functions)
    x, *parameters = definition.arguments
    everywhere = _everywhere(definition, function, ending, functions)
    made = checked(everywhere, [Argument(x.name), *parameters], resolve_in(functions))
    functions |= {everywhere.name: everywhere, made.name: made}
    return made


def tails_at_bound(bound: str, side: str, end: str, log_cdf: str, log_sf: str, names: tuple[str, str]) -> str:
    """Declarations, in C, of the logarithms of P(X <= bound) and P(X > bound), for the probability beyond a bound.

    At the end of the support or beyond it they are constants: the tails' own derivatives may be 0 times infinity there, and a
    draw that may be the end itself is not left out.

    The bound is the `side` "lower" or "upper", on which the support has its `end`; `log_cdf` and `log_sf` are the tails
    elsewhere. The variables have the `names`.
    """
    beyond, constants = ("<=", ("-INFINITY", "0")) if side == "lower" else (">=", ("0", "-INFINITY"))
    values = zip(names, constants, (log_cdf, log_sf), strict=True)
    return "".join(f"    real {name} = {bound} {beyond} {end} ? {at_end} : {tail};\n" for name, at_end, tail in values)


#: Where the tails' difference keeps less than exp(-4) of the larger one, the density itself is integrated, in one panel where
#: it is smooth; towards a kink panels get shorter, and longer behind it. At a jump or a pole within the interval, and where
#: rounding makes the density rough, that comes to no end: then one panel has to do. Where it costs more digits than the
#: difference has lost, the difference is taken.
_BETWEEN = """
    real {difference} = log_cdf_difference({cdf_a}, {sf_a}, {cdf_b}, {sf_b}), {larger} = fmin({cdf_b}, {sf_a});
    if (likely({difference} >= {larger} - 4)) return {difference};
    real {top} = {density_within}, {sum} = 0, {error} = 0, {whole} = 0, {doubt} = 0, {begin} = 0, {length} = 1;
    for (int {turn} = 0; {turn} < 200 && {begin} < 1 && {length} > 0; {turn}++) {{
        real {part} = 0, {fault} = 0;
        for (int {k} = 0; {k} < 8; {k}++) {{
            real {at} = {begin} + 0.5 * {length} * (1 + lobatto_node({k}));
            real {value} = 0.5 * {length} * exp({density} - {top});
            {part} += lobatto_weight({k}) * {value};
            {fault} += lobatto_roughness({k}) * {value};
        }}
        {whole} = {turn} == 0 ? {part} : {whole};
        {doubt} = {turn} == 0 ? fabs({fault}) : {doubt};
        real {spare} = 8 * EPSILON * (1 + fabs({top})) * {whole} / fabs({fault}), {least} = 1000 * EPSILON;
        int {rough} = {spare} < 1, {broken} = {rough} && {length} <= {least};
        {sum} += {rough} ? 0 : {part};
        {error} += {rough} ? 0 : fabs({fault});
        {begin} = {rough} ? {begin} : {length} < 1 - {begin} ? {begin} + {length} : 1;
        {length} = {broken} ? 0 : fmin(fmax({length} * panel_growth({spare}), {least}), 1 - {begin});
    }}
    {sum} = {begin} < 1 ? {whole} : {sum};
    {error} = {begin} < 1 ? {doubt} : {error};
    int {worse} = 10 * {error} > {sum} * EPSILON * (1 + fabs({larger})) * exp({larger} - {difference});
    return {sum} > 0 && {sum} < INFINITY && !{worse} ? {top} + log({b} - {a}) + log({sum}) : {difference};
"""
_BETWEEN_WHOLE = """
    real {difference} = log_cdf_difference({cdf_a}, {sf_a}, {cdf_b}, {sf_b}), {larger} = fmin({cdf_b}, {sf_a});
    if (likely({difference} >= {larger} - 4 || !({b} - {a} < 64))) return {difference};
    real {top} = fmax({density_at_a}, {density_at_b}), {sum} = 0;
    for (int {k} = 0; {k} < 64 && {a} + {k} <= {b}; {k}++) {sum} += exp({density} - {top});
    return {sum} > 0 && {sum} < INFINITY ? {top} + log({sum}) : {difference};
"""
_LOCALS = (
    "b cdf_a sf_a cdf_b sf_b difference larger top sum error whole doubt begin length turn part fault k at value spare least "
    "rough broken worse"
).split()


def log_between(log_density: Function, discrete: bool, functions: dict[str, Function]) -> Function:
    """Function log P(a <= X <= b), accurate also where a and b are close to one another.

    It takes a and the parameters of `log_density`, and five more numbers: b, and the logarithms of P(X < a), P(X >= a), P(X <=
    b) and P(X > b). X, a and b are whole numbers if `discrete`. Of `functions`, all that it calls, those made on the way are
    added.
    """
    a, *names = (p.name for p in log_density.parameters)
    own = {name: fresh_name(name, {a, *names}) for name in _LOCALS}
    b = own["b"]

    def density(at: str) -> str:
        return call_of(log_density, {a: at})

    if discrete:
        at = f"{a} + {own['k']}"
        body = _BETWEEN_WHOLE.format(a=a, **own, density=density(at), density_at_a=density(a), density_at_b=density(b))
    else:
        at = f"{a} + ({b} - {a}) * {own['at']}"
        body = _BETWEEN.format(a=a, **own, density=density(at), density_within=density(f"{a} + 0.6180339887 * ({b} - {a})"))
    more = [own[name] for name in ("b", "cdf_a", "sf_a", "cdf_b", "sf_b")]
    return _added(derived(log_density, "between", body, resolve_in(functions), more), functions)


def _is_on_both_sides(function: Function, resolve: Resolve) -> bool:
    """True if each result of a log-probability is infinite, 0, or made by a function that keeps digits near 0."""

    def is_accurate(e: lang.Expression) -> bool:
        match e:
            case lang.Conditional():
                return is_accurate(e.then) and is_accurate(e.otherwise)
            case lang.Unary(operator="-"):
                return is_accurate(e.operand)
            case lang.Call():
                called = resolve(e.function)
                return e.function in _ON_BOTH_SIDES or (called is not None and _is_on_both_sides(called, resolve))
        return e in (lang.Number("0", lang.INT), lang.Name("INFINITY", lang.REAL))

    return all(is_accurate(n.value) for s in function.body for n in lang.walk(s) if isinstance(n, lang.Return))


def _on_both_sides(function: Function, other: Function, functions: dict[str, Function]) -> Function:
    """Logarithm of a probability, which is made of the `other` tail's where it is near 0."""
    x = {p.name: q.name for p, q in zip(other.parameters, function.parameters, strict=True)}
    own = own_prefix([p.name for p in function.parameters])
    body = (
        f"    real {own}value = {call_of(function)};\n"
        f"    return {own}value > -LOG_2 ? log1mexp({call_of(other, x)}) : {own}value;\n"
    )
    return _added(derived(function, "both_sides", body, resolve_in(functions)), functions)


def _everywhere(definition: DeviceFunction, function: Function, ending: str, functions: dict[str, Function]) -> Function:
    """Distribution function for every real number: it has certain values below and above the observation's domain.

    It has them beyond the ends of the support that the source writes, too, where rounding would give it others, and rounding
    takes no probability out of [0, 1]. A function of whole numbers keeps its value up to the next one. Outside of the domain
    the function is evaluated at 1, which lies in every domain: so it can say nan where parameters do not go together,
    whatever x is.
    """
    observation, edges = definition.arguments[0], _TAILS[ending]
    x, *names = (p.name for p in function.parameters)
    own = own_prefix([x, *names])
    at = f"{own}at"
    test = f"{inside(observation.words - {'integer'}, at)} && fabs({at}) < INFINITY"
    beside, value = Beside(definition, functions), f"{own}value"
    within = "".join(
        f"{at} {beyond} {end} ? {edge} : "
        for ending, beyond, edge in (("lower", "<", edges.below), ("upper", ">", edges.above))
        if (end := beside.written(ending, ", ".join(names)))
    )
    bounded = value if edges.other else f"fmin(fmax({value}, (real)0), (real)1)"
    body = (
        f"    real {at} = {f'floor({x})' if 'integer' in observation.words else x};\n"
        f"    int {own}inside = {test};\n"
        f"    real {value} = {function.name}({', '.join([f'{own}inside ? {at} : 1', *names])});\n"
        f"{beside.refusal(function, names)}"
        f"    return {value} != {value} ? {value} : "
        f"{within}{own}inside ? {bounded} : {at} > 0 ? {edges.above} : {edges.below};\n"
    )
    return derived(function, "everywhere", body, resolve_in(functions))


def _added(made: Function, functions: dict[str, Function]) -> Function:
    functions |= {**library.closure([made]), **functions, made.name: made}
    return made
