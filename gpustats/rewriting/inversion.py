"""Quantiles, and samplers that invert them, for densities whose sources do not have their own.

A quantile is where a distribution function has a given value: the tail that is at most 1/2 is solved for it, in logarithms, so
that far tails are no harder than the middle.
"""

from __future__ import annotations

from ..language.derived import resolve_in
from ..language.device_function import Argument, DeviceFunction
from ..language.kinds import QUANTILES
from ..language.nodes import Function
from .beside import Beside
from .checks import checked
from .distribution_functions import has_distribution_function, lacks_distribution_function, plain_tail

# The x at which log P(X <= x), or log P(X > x) if `above`, is log(p), p <= 1/2; nan where no search finds it. One loop, so that
# threads in different phases go on together. First x = base + y or base - y, y >= 0, where the base is the nearer end of the
# support, or the middle where both ends are far from it: the side of a middle is found; steps that grow, outwards or inwards,
# find an interval [low, high] for y; it is halved in logarithms until it is shorter than twice its lower end. What `near` tells
# is whether y lies nearer to the base than the quantile. Inverse quadratic interpolation solves the rest in x itself, until
# both ends are neighbours among the numbers, or the tail is nearly the same at both: more its rounding does not allow. The
# interval is halved wherever that does not converge; in logarithms after some halvings, as x may be tiny beside y.
# Source: Chandrupatla (1997), A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function.
_CONTINUOUS = """
__device__ real {name}_solved(real p, int above{declared})
{{
    real lower = {lower}, upper = {upper}, center = {center}, scale = {scale}, log_p = log(p);
    if (!(fabs(center) < INFINITY)) center = 0;
    int ends = lower > -INFINITY || upper < INFINITY, up = !(upper < INFINITY) || center - lower <= upper - center;
    int from_end = ends && !(fmin(center - lower, upper - center) > 8 * scale);
    real base = !from_end ? center : up ? lower : upper, largest = ldexp((real)1, EPSILON < 1e-10 ? 1023 : 127);
    real longest = fmin(from_end ? upper - lower : INFINITY, largest), first = from_end ? fabs(center - base) : scale;
    if (!(first > 0 && first < longest)) first = fmin((real)1, 0.5 * longest);

    // 0: side, 1: first step, 2: more steps, 3: halving, 4: interpolation, 5: found, 6: at an end or beyond the largest numbers
    int phase = from_end ? 1 : 0, outwards = 1, halvings = 0, wide = 0;
    real y = from_end ? first : 0, x = up ? base + y : base - y, low = 0, high = longest, factor = 2;
    real a = x, b = x, at_a = 0, at_b = 0, rough = 256 * EPSILON * (1 - log_p);
    for (int i = 0; i < 200 && phase < 5; i++) {{
        real value = above ? log_p - {logsf} : {logcdf} - log_p;
        int near = up ? value < 0 : value > 0;
        if (fabs(value) <= 2 * EPSILON || (phase == 0 && isnan(value))) {{
            a = x;
            b = x;
            at_a = value;
            at_b = value;
            phase = 5;
        }} else if (phase == 0) {{
            up = value < 0;
            longest = fmin(up ? upper - base : base - lower, largest);
            high = longest;
            phase = 1;
        }} else if (phase < 4) {{
            low = near ? y : low;
            b = near ? x : b;
            at_b = near ? value : at_b;
            high = near ? high : y;
            a = near ? a : x;
            at_a = near ? at_a : value;
            outwards = phase == 1 ? near : outwards;
            phase = phase < 3 && near == outwards ? ((outwards ? low < longest : high > 0) ? 2 : 6)
                  : high > 2 * low && EPSILON * high > 0 && high > EPSILON * fabs(base) ? 3 : 4;
            x = 0.5 * a + 0.5 * b;
        }} else {{
            int same = (value < 0) == (at_a < 0);
            real c = same ? a : b, at_c = same ? at_a : at_b;
            b = same ? b : a;
            at_b = same ? at_b : at_a;
            a = x;
            at_a = value;
            real xi = (a - b) / (c - b), phi = (at_a - at_b) / (at_c - at_b), length = b - a, middle = 0.5 * a + 0.5 * b;
            int quadratic = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
            real t = quadratic ? at_a / (at_b - at_a) * (at_c / (at_b - at_c))
                                 + (c - a) / length * (at_a / (at_c - at_a)) * (at_b / (at_c - at_b)) : 0.5;
            real least = EPSILON * fabs(fabs(at_a) < fabs(at_b) ? a : b) / fabs(length);
            x = a + fmin(fmax(t, least), 1 - least) * length;
            int halved = !quadratic || x == a || x == b;
            x = halved ? middle : x;
            low = fmin(fabs(a), fabs(b));
            high = fmax(fabs(a), fabs(b));
            halvings += halved;
            wide = halved && halvings > 4 && low < 0.1 * high && EPSILON * high > 0;
            phase = least < 0.5 && middle != a && middle != b && fmax(fabs(at_a), fabs(at_b)) > rough ? 4 : 5;
        }}
        real geometric = low > 0 ? sqrt(low) * sqrt(high) : EPSILON * high;
        if (phase < 4) {{
            y = phase == 1 ? fmin(first, longest)
              : phase == 3 ? geometric : outwards ? fmin(low * factor, longest) : high / factor;
            factor *= phase == 1 ? 1 : factor;
            x = up ? base + y : base - y;
        }} else if (wide) {{
            x = (a < 0) != (b < 0) && low > 0 ? 0 : a < 0 || b < 0 ? -geometric : geometric;
        }}
    }}
    if (phase < 5 || isnan(at_a) || isnan(at_b)) return NAN;
    if (phase == 6) return outwards == up ? upper : lower;
    int nearer = fabs(at_a) < fabs(at_b);
    real from = nearer ? a : b, value = nearer ? at_a : at_b, difference = value - (nearer ? at_b : at_a);
    real found = from + (difference == 0 ? 0 : value / difference * ((nearer ? b : a) - from));
    return fmin(fmax(found, lower), upper);
}}

__device__ real {name}_quantile(real q, int above{declared})
{{
    return {name}_solved(q > 0.5 ? 1 - q : q, (q > 0.5) != above{passed});
}}
"""

# The smallest whole number at which P(X <= x) is at least q, or P(X > x) at most q if `above`, but for the rounding of the
# tails and of numbers that large; nan where no search finds it, the end of the support where it is so large that tails may
# overflow. Steps that grow lead from `start` to the other side of it, and halving the last one, in logarithms where it is
# long, to the number itself.
_DISCRETE = """
__device__ real {name}_searched(real q, int above, real start, real step{declared})
{{
    real lower = {lower}, upper = {upper}, slack = fmin(8 * EPSILON * q, 0.125 * (1 - q)), p = above ? q + slack : q - slack;
    int by_sf = q > 0.5 ? !above : above;
    if (q > 0.5) p = 1 - q + (above ? -slack : slack);
    real low = lower - 1, high = upper, x = floor(fmin(fmax(start, lower), upper)), gap = 1;
    real next = step >= 1 && step < INFINITY ? floor(step) : 1, largest = ldexp((real)1, EPSILON < 1e-10 ? 1000 : 110);
    if (!(fabs(x) < INFINITY)) x = lower > -INFINITY ? lower : upper < INFINITY ? upper : 0;
    int up = 0, halving = 0;
    for (int i = 0; i < 180 && high - low > gap && low < largest; i++) {{
        real excess = x < lower ? -1 : x >= upper ? 1 : by_sf ? p - {sf} : {cdf} - p;
        int below = excess < 0;
        up = i == 0 ? below : up;
        halving = halving || below != up;
        low = below ? x : low;
        high = below ? high : isnan(excess) ? NAN : x;
        gap = fmax((real)1, 2 * EPSILON * fabs(x));
        x = halving ? floor(low + 0.5 * (high - low)) : up ? fmin(x + next, fmin(upper, largest)) : fmax(x - next, lower - 1);
        if (halving && low >= -1 && high > 1000 * fmax(low, (real)1)) x = floor(sqrt(fmax(low, (real)1)) * sqrt(high));
        next *= i < 8 ? 4 : next;
    }}
    return high - low > gap && low < largest ? NAN : high;
}}

__device__ real {name}_quantile(real q, int above{declared})
{{
    return {name}_searched(q, above, {start}{passed});
}}
"""

# What a source writes, for q between 0 and 1.
_WRITTEN = """
__device__ real {name}_quantile(real q, int above{declared})
{{
    return above ? {isf} : {ppf};
}}
"""

# A quantile for probabilities from 0 to 1, and a sampler. The ends are a choice among values, so that no vector is left by some
# of its threads.
_AT_ENDS = """
__device__ real {name}_ppf(real q{declared})
{{
    {refusal}
    real between = q > 0 && q < 1 ? q : 0.5, value = {value};
    return q <= 0 ? {at_zero} : q >= 1 ? {at_one} : value;
}}
"""
_SAMPLER = """
__device__ real {name}_sample(rng_t *rng{declared})
{{
    return {quantile}(uniform(rng){passed});
}}
"""


def has_quantiles(definition: DeviceFunction) -> bool:
    """True if the quantiles of a source can be had: it writes them, or a distribution function."""
    return definition.role(*QUANTILES) is not None or has_distribution_function(definition)


def either_quantile(definition: DeviceFunction, functions: dict[str, Function]) -> Function:
    """Function ``(real q, int above, parameters)`` that gives ``ppf``, or ``isf`` where `above` is 1, for 0 < q < 1.

    Parameters, errors
        As for `quantile`.
    """
    beside = Beside(definition, functions)
    ppf, isf = (beside.written(e, f"q{beside.passed}") for e in QUANTILES)
    if not has_distribution_function(definition):
        if not ppf and not isf:
            raise NotImplementedError(lacks_distribution_function(definition))
        of_other = [beside.written(e, f"1 - q{beside.passed}") for e in QUANTILES]
        return beside.made(_WRITTEN, "quantile", ppf=ppf or of_other[1], isf=isf or of_other[0])
    if ppf and isf and not definition.discrete:
        return beside.made(_WRITTEN, "quantile", ppf=ppf, isf=isf)
    ends = {end: beside.end(end) for end in ("lower", "upper")}
    mean, var = (beside.written(e, beside.passed[2:]) for e in ("mean", "var"))
    center, scale = mean or "0", f"sqrt({var})" if var else "fabs(center)" if mean and not definition.discrete else "1"
    if definition.discrete:
        start = f"above ? {isf or center} : {ppf or center}, {1 if ppf or isf else scale}"
        tails = {e: f"{plain_tail(definition, e, functions).name}(x{beside.passed})" for e in ("cdf", "sf")}
        return beside.made(_DISCRETE, "quantile", **ends, **tails, start=start)
    tails = {e: f"{plain_tail(definition, e, functions).name}(x{beside.passed})" for e in ("logcdf", "logsf")}
    return beside.made(_CONTINUOUS, "quantile", **ends, **tails, center=center, scale=scale)


def _everywhere(definition: DeviceFunction, ending: str, functions: dict[str, Function]) -> Function:
    """Quantile for probabilities from 0 to 1, and nan for parameters that do not go together."""
    beside, above = Beside(definition, functions), int(ending == "isf")
    value = "" if definition.discrete else beside.written(ending, f"between{beside.passed}")
    value = value or f"{either_quantile(definition, functions).name}(between, {above}{beside.passed})"
    low, high = beside.end("lower"), beside.end("upper")
    low = f"{low} - 1" if definition.discrete else low
    at_zero, at_one = (high, low) if above else (low, high)
    return beside.made(
        _AT_ENDS, "ppf", value=value, at_zero=at_zero, at_one=at_one, refusal=beside.refusal(definition.role(ending))
    )


def quantile(definition: DeviceFunction, ending: str, functions: dict[str, Function]) -> Function:
    """Quantile, "ppf" or "isf", with scipy.stats' rules around it; functions made on the way are added to `functions`.

    NotImplementedError where the source has no distribution function, either.
    """
    everywhere = _everywhere(definition, ending, functions)
    arguments = [Argument("q", "unit"), *definition.arguments[1:]]
    made = checked(everywhere, arguments, resolve_in(functions), "NAN")
    functions[made.name] = made
    return made


def inverted(definition: DeviceFunction, functions: dict[str, Function]) -> Function:
    """Sampler made of the quantiles; functions made on the way are added to `functions`.

    NotImplementedError where there is no distribution function, either.
    """
    name, observation = definition.name, definition.arguments[0]
    if observation.rank or not has_quantiles(definition):
        also = "" if observation.rank else f", or {name}_logcdf, which is inverted then"
        raise NotImplementedError(f"no random draws of {name}: write {name}_sample(rng_t *rng, …) beside its density{also}")
    beside = Beside(definition, functions)
    return beside.made(_SAMPLER, "sample", quantile=_everywhere(definition, "ppf", functions).name)
