"""Moments and the entropy of a density whose source does not write them, by quadrature on the device.

A mean over a continuous distribution is an integral over its quantiles, whatever its support and its scale are. With
u = 1 / (1 + exp(-s)) for the probabilities, and each tail's own quantile, it falls off exponentially on both sides of s = 0:

    E g(X) = integral of g(x(u)) u (1 - u) ds.

Discrete ones are summed. Where there are very many numbers, sums become integrals but for those near the lower end, with the
first corrections of the formula of Euler and Maclaurin. What lies beyond the last number falls off as a power, or is infinite.

An estimate of the error comes along: what halving a step changed, and how far the rounding of x moves the integrand. Where
that is too large, there is no number. A scale that the source's comment declares, and a location, are taken out first: no far
location costs digits. Central moments are of x in a unit near the standard deviation, so that no power over- or underflows.
"""

from __future__ import annotations

from ..language.device_function import DeviceFunction
from ..language.nodes import Function
from .beside import Beside
from .inversion import either_quantile, has_quantiles

#: What functions of this module give, in C, in place of a number that they cannot compute accurately enough.
LOST = "-1.23456789e37"

#: C expressions of a number, by its ending, in units in which the location is 0 and the scale 1. `mean_of` (about, power,
#: least) is the mean of (x - about)^power, or, where the power is 0, of the density's negative logarithm; an error is small
#: relative to the mean absolute value, or to `least`. Powers are those of x - about in a `unit`, and so is their mean.
#: `central` gives the mean, the variance, and higher central moments.
_STANDARD = {
    "mean": "{central}(1{standard})",
    "var": "{central}(2{standard})",
    "skewness": "{central}(3{standard})",
    "kurtosis": "{central}(4{standard})",
    "entropy": "{mean_of}(0, 0, 1, 1{standard})",
    "moment": "order == 0 ? 1 : {mean_of}(-location / scale, order, 0, 1{standard})",
}
#: The number itself, of that `value`.
BODIES = {
    "mean": "location + scale * value",
    "var": "scale * (scale * value)",
    "skewness": "value",
    "kurtosis": "value",
    "entropy": "log(scale) + value",
    "moment": "pow(scale, 0.5 * order) * value * pow(scale, 0.5 * order)",
}

# What the source's comment calls location and scale is taken out where the density and its ends agree.
_DECLARED = """
    int declared = 1;
    for (int i = 0; i < 3; i++) {{
        real z = i == 0 ? {first} : i == 1 ? 0.5 : 1.5, x = {location} + {scale} * z, far = fabs({location} / {scale});
        real at_x = {at_x}, at_z = {at_z} - log({scale}), end = i == 0 ? {lower} : {upper};
        real end_z = {location} + {scale} * (i == 0 ? {lower_z} : {upper_z}), rounding = 16 * EPSILON;
        int agree = at_x == at_z || fabs(at_x - at_z) <= rounding * (1 + fabs(at_z) + far) || far > 1e-3 / EPSILON;
        declared = declared && agree && (end == end_z || fabs(end - end_z) <= rounding * fabs(end));
    }}
    real location = declared ? {location} : 0, scale = declared ? {scale} : 1;
    real location_left = declared ? 0 : {location}, scale_left = declared ? 1 : {scale};
"""

# The mean (order 1), the variance (2), or a central moment relative to the standard deviation's power, the fourth less that
# of a normal distribution. A mean that the source writes is not computed. The variance that others are relative to is, in their
# unit, as that in others may be beyond the numbers.
_CENTRAL = """
__device__ real {name}_central(int order{declared})
{{
    real about = {quantile}(0.5, 0{passed}), mean = {mean}, var = NAN, value = NAN, unit = 0;
    for (int i = 0; i < 96; i++) {{
        real p = 1 / (1 + exp((real)0.5 + (i / 2))), distance = fabs({quantile}(p, i % 2{passed}) - about) * sqrt(p);
        unit = distance < INFINITY ? fmax(unit, distance) : unit;
    }}
    if (unit == 0) unit = 1;
    for (int k = 1; k <= order; k++) {{
        if (k == order || (k == 1 && {without_mean}) || k == 2) {{
            value = {mean_of}(k == 1 ? about : mean, k, k == 1 ? fabs(about) / unit : 0, unit{passed});
            if (value == {lost}) return {lost};
        }}
        mean = k == 1 && {without_mean} ? about + unit * value : mean;
        var = k == 2 ? value : var;
        k = isnan(mean) || isinf(mean) || isinf(var) ? order : k;
    }}
    if (order == 1) return mean;
    if (order == 2) return isinf(mean) ? INFINITY : isnan(mean) ? NAN : var * unit * unit;
    return isinf(mean) || isinf(var) ? NAN : value / (var * (order == 3 ? sqrt(var) : var)) - (order == 3 ? 0 : 3);
}}
"""

# The integrand at x, whose weight has the logarithm `log_weight`; ((x - about) / unit)^power neither overflows nor underflows
# before its product with the weight does. Where x is beyond the largest number, so is the integrand.
_TERM = """
__device__ real {name}_term(real x, real log_weight, real about, real power, real unit{declared})
{{
    real distance = x - about, density = power == 0 ? {density} : 0;
    real value = exp(power * log_quotient(fabs(distance), unit) + log_weight);
    int negative = distance < 0 && fmod(power, (real)2) == 1;
    if (isinf(x) && log_weight > -INFINITY) return distance < 0 ? -INFINITY : INFINITY;
    return log_weight == -INFINITY || isinf(density) ? 0 : power == 0 ? -density * exp(log_weight)
         : distance == 0 ? 0 : negative ? -value : value;
}}

__device__ real {name}_at(real s, int above, real about, real power, real unit{declared})
{{
    {point}
    return {name}_term(x, log_weight, about, power, unit{passed});
}}
"""

# How far the rounding of x moves the integrand. An atom of the probability, beside which the density jumps, is not rounded.
# Where x has been rounded to a pole of the density, nothing is known of it.
_ROUNDING = """
__device__ real {name}_rounding(real x, real log_weight, real about, real power, real unit{declared})
{{
    real step = 2 * EPSILON * fabs(x) + ldexp((real)1, EPSILON < 1e-10 ? -1020 : -123);
    real moved = x + step, further = moved + step;
    real apart = log_quotient(fmax(fabs(x - about), step), unit);
    if (power > 0) return power * (step / unit) * exp((power - 1) * apart + log_weight);
    real here = {density}, beside = {density_moved}, change = fmin(fabs(beside - here), fabs({density_further} - beside));
    return (here == INFINITY ? 1 - log_weight : change < INFINITY ? change : 0) * exp(log_weight);
}}
"""

# Gauss-Lobatto quadrature from `at` to `last` in steps, each made half as long until it agrees with its two halves within
# `tolerance`, relative to `size`, roughly the integral of the absolute value. What they differ by adds to `error`.
_STEPS = """
        int over = 0;
        for (int i = 0; i < 3000 && at < last && !over; i++) {{
            real whole = 0, halves = 0, rounding = 0, large = 0;
            for (int part = 0; part < 3; part++) {{
                real half = (part == 0 ? 0.5 : 0.25) * width, middle = at + (part == 2 ? 3 * half : half);
                for (int k = 0; k < 8; k++) {{
                    real s = middle + half * lobatto_node(k), weight = half * lobatto_weight(k);
                    {point}
                    real found = weight * {name}_term(x, log_weight, about, power, unit{passed});
                    whole += part == 0 ? found : 0;
                    halves += part == 0 ? 0 : found;
                    large += part == 0 ? 0 : fabs(found);
                    rounding += part == 0 ? weight * {rounding} : 0;
                }}
            }}
            real differ = fabs(halves - whole);
            int done = differ <= tolerance * (size + large) + rounding || width <= shortest || !(large < INFINITY);
            sum += done ? halves : 0;
            total += done ? large : 0;
            error += done ? differ + rounding : 0;
            at += done ? width : 0;
            {ending}
            width = done ? fmin(fmin(2 * width, {longest}), last - at) : 0.5 * width;
        }}
        if (at < last && !over) error = INFINITY;
"""

# What lies beyond falls off as exp(-rate s), or, of whole numbers, as a power. It is infinite where it does not, and no step
# is needed then; it is lost where that cannot be told.
_BEYOND = """
        real at_last = 0, at_half = 0, at_quarter = 0;
        for (int i = 0; i < 3; i++) {{
            real value = {name}_at({further}, above, about, power, unit{passed});
            at_quarter = i == 0 ? value : at_quarter;
            at_half = i == 1 ? value : at_half;
            at_last = value;
        }}
        real rate = {rate}, before = {rate_before}, rest = at_last * {length} / rate, flat = {flat};
        int endless = rate < flat && rate <= before + 1e-6, counts = fabs(at_last) * {length} > 1e-3 * EPSILON * size;
        sum += !counts ? 0 : endless ? (at_last > 0 ? INFINITY : -INFINITY) : rest;
        error += !counts || endless ? 0 : rate < flat ? INFINITY : fabs(rest) * (fabs(rate - before) + 0.1 * flat) / rate;
        last = counts && endless ? at : last;
"""

_VERDICT = """
    return isinf(sum) || error <= (EPSILON < 1e-10 ? 1e-8 : 3e-4) * fmax(total, least) ? sum : {lost};
}}
"""

# In the tail of the larger numbers if `above`. Steps end where they add nothing, and nothing lies further out.
_CONTINUOUS = f"""{_TERM}{_ROUNDING}
__device__ real {{name}}_mean_of(real about, real power, real least, real unit{{declared}})
{{{{
    real sum = 0, total = 0, error = 0, size = 0, tolerance = EPSILON < 1e-10 ? 1e-12 : 2e-6, shortest = 0.1 * tolerance;
    for (int i = 0; i < 96; i++) {{{{
        real value = fabs({{name}}_at(0.5 + (i / 2), i % 2, about, power, unit{{passed}}));
        size += value < INFINITY ? value : 0;
    }}}}
    for (int above = 0; above < 2; above++) {{{{
        real at = 0, width = 1, last = EPSILON < 1e-10 ? 700 : 80;
        for (int i = 0; i < 60 && isinf({{name}}_at(last, above, about, power, unit{{passed}})); i++)
            last *= 0.9;
{_BEYOND}{_STEPS}
    }}}}
{_VERDICT}"""

_DISCRETE = f"""{_TERM}
__device__ real {{name}}_mean_of(real about, real power, real least, real unit{{declared}})
{{{{
    real first = {{quantile}}(1e-30, 0{{passed}}), end = {{quantile}}(1e-30, 1{{passed}}), sum = 0, lost = 0, total = 0;
    if (!(end >= first)) return {{lost}};
    int many = end - first >= 65536, n = many ? 4096 : (int)(end - first) + 1, above = 0;
    for (int i = 0; i < n; i++) {{{{
        real term = {{name}}_at(first + i, above, about, power, unit{{passed}}) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        total += fabs(term);
    }}}}
    if (!many) return sum;
    real edge = first + n, size = total, error = 0, tolerance = EPSILON < 1e-10 ? 1e-12 : 2e-6, shortest = tolerance;
    if ({{density_edge}} == -INFINITY) return {{lost}};
    for (int i = 0; i < 64; i++) {{{{
        real x = floor(edge + (end - edge) * (i + 0.5) / 64);
        size += fabs({{name}}_at(x, above, about, power, unit{{passed}})) * (end - edge) / 64;
    }}}}
    real at_edge = {{name}}_at(edge, above, about, power, unit{{passed}});
    real at_end = {{name}}_at(end, above, about, power, unit{{passed}});
    sum += (at_edge - {{name}}_at(edge - 1, above, about, power, unit{{passed}})) / 24;
    sum += 0.5 * at_end + (at_end - {{name}}_at(end - 1, above, about, power, unit{{passed}})) / 12;
    real at = edge - 0.5, width = 1024, last = end;
    if (end < {{upper}} && end > 4 * fabs(edge)) {{{{
{_BEYOND}
    }}}}
{_STEPS}
{_VERDICT}"""

#: Where texts need the density.
_POINTS = {"": "x", "_moved": "moved", "_further": "further", "_edge": "edge"}
_OF_QUANTILES = {
    "point": "real p = 1 / (1 + exp(s)), log_weight = log(p) + log1p(-p), x = {quantile}(p, above{passed});",
    "rounding": "{name}_rounding(x, log_weight, about, power, unit{passed})",
    "ending": """over = done && at > 4 && large <= 1e-3 * EPSILON * size;
            for (real further = at; over && further < 48; further += 1)
                over = fabs({name}_at(further, above, about, power, unit{passed})) <= 1e-3 * EPSILON * size;""",
    "longest": "fmax((real)1, 0.125 * at)",
    "further": "ldexp(last, i - 2)",
    "rate": "log(at_half / at_last) / (0.5 * last)",
    "rate_before": "log(at_quarter / at_half) / (0.25 * last)",
    "flat": "EPSILON < 1e-10 ? 1e-10 : 1e-3",
    "length": "1",
}
_OF_NUMBERS = {
    "point": "real x = s, log_weight = {density};",
    "rounding": "0",
    "ending": "",
    "longest": "INFINITY",
    "further": "floor(ldexp(end, i - 2))",
    "rate": "log(0.5 * at_half / at_last) / LOG_2",
    "rate_before": "log(0.5 * at_quarter / at_half) / LOG_2",
    "flat": "EPSILON < 1e-10 ? 1e-8 : 1e-4",
    "length": "end",
}


def has_moments(definition: DeviceFunction) -> bool:
    """Whether the moments of a source can be had by quadrature."""
    return definition.role("logpdf", "logpmf") is not None and has_quantiles(definition)


def body_of(definition: DeviceFunction, ending: str, functions: dict[str, Function], lost: bool = False) -> str:
    """C that returns a number out of `BODIES`; functions made on the way are added to `functions`.

    If `lost`, it returns instead 1 where the number cannot be computed accurately enough, else 0.
    """
    beside = Beside(definition, functions)
    quantile, mean_of, known = either_quantile(definition, functions).name, _mean_of(beside), dict[str, str]()
    if "{central}" in _STANDARD[ending]:
        written = beside.written("mean", beside.passed[2:])
        known = {"mean": written or "NAN", "without_mean": str(int(not written))}
        known = {"central": beside.made(_CENTRAL, "central", quantile=quantile, mean_of=mean_of, lost=LOST, **known).name}
    units, passed = _units(beside)
    value = _STANDARD[ending].format(mean_of=mean_of, standard=passed, **known)
    told = f"value == {LOST}" if lost else f"value == {LOST} ? NAN : {BODIES[ending]}"
    return f"{units}    real value = {value};\n    return {told};"


def _mean_of(beside: Beside) -> str:
    """The name of the quadrature, which is made."""
    definition, density = beside.definition, beside.definition.density.name
    values = {f"density{e}": f"{density}({x}{beside.passed})" for e, x in _POINTS.items()}
    values |= {"quantile": either_quantile(definition, beside.functions).name, "upper": beside.end("upper"), "lost": LOST}
    parts = {
        key: part.format(name=definition.name, passed=beside.passed, **values)
        for key, part in (_OF_NUMBERS if definition.discrete else _OF_QUANTILES).items()
    }
    return beside.made(_DISCRETE if definition.discrete else _CONTINUOUS, "mean_of", **values, **parts).name


def _units(beside: Beside) -> tuple[str, str]:
    """C for `location` and `scale`, as far as the source declares them, and the parameters to pass without them."""
    definition, (x, *arguments) = beside.definition, beside.definition.arguments
    places = {a.description: f"p{i}" for i, a in enumerate(arguments) if not a.rank}
    if definition.discrete or "unit" in x.words or "scale" not in places:
        return "    real location = 0, scale = 1;\n", beside.passed
    location, scale, density = places.get("location", "0"), places["scale"], definition.density.name
    left = {location: "location_left", scale: "scale_left"}
    passed = ", ".join(left.get(p, p) for p in beside.passed.split(", "))
    at_z = ", ".join({location: "0", scale: "1"}.get(p, p) for p in beside.passed.split(", "))
    ends = {end: beside.end(end) for end in ("lower", "upper")}
    ends |= {f"{end}_z": beside.written(end, at_z[2:]) or value for end, value in ends.items()}
    return _DECLARED.format(
        location=location, scale=scale, first=-0.75 if x.words == {"real"} else 0.25,
        at_x=f"{density}(x{beside.passed})", at_z=f"{density}(z{at_z})", **ends,
    ), passed  # fmt: skip
