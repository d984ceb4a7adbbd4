"""Moments and the entropy of a density whose source does not write them, by quadrature on the device.

A mean over a continuous distribution is an integral over its quantiles, whatever its support and its scale are. With
u = 1 / (1 + exp(-s)) for the probabilities, and each tail's own quantile, it falls off exponentially on both sides of s = 0:

    E g(X) = integral of g(x(u)) u (1 - u) ds.

Discrete ones are summed. Where there are very many numbers, sums become integrals but for those near the lower end, with the
first correction of the formula of Euler and Maclaurin. What lies beyond the last number falls off as a power, or is infinite.
"""

from __future__ import annotations

from ..language.device_function import DeviceFunction
from ..language.nodes import Function
from .beside import Beside
from .inversion import either_quantile, has_quantiles

#: C that returns a number, by its ending. `mean_of` (about, power) is the mean of (x - about)^power, or, where the power is 0,
#: of the density's negative logarithm; `central` gives the mean, the variance, and higher central moments.
BODIES = {
    "mean": "return {central}(1{passed});",
    "var": "return {central}(2{passed});",
    "skewness": "return {central}(3{passed});",
    "kurtosis": "return {central}(4{passed}) - 3;",
    "entropy": "return {mean_of}(0, 0{passed});",
    "moment": "return order == 0 ? 1 : {mean_of}(0, order{passed});",
}

# The mean (order 1), the variance (2), or a central moment relative to the standard deviation's power; those that the source
# writes are not computed.
_CENTRAL = """
__device__ real {name}_central(int order{declared})
{{
    real about = {quantile}(0.5, 0{passed}), mean = {mean}, var = {var}, value = NAN;
    for (int k = 1; k <= order; k++) {{
        if (k == order || (k == 1 && {without_mean}) || (k == 2 && {without_var}))
            value = {mean_of}(k == 1 ? about : mean, k{passed});
        mean = k == 1 && {without_mean} ? about + value : mean;
        var = k == 2 && {without_var} ? (isinf(mean) ? INFINITY : isnan(mean) ? NAN : value) : var;
    }}
    if (order < 3) return order == 1 ? mean : var;
    return isinf(var) ? NAN : value / (var * (order == 3 ? sqrt(var) : var));
}}
"""

# The integrand, in the tail of the larger numbers if `above`; (x - about)^power neither overflows nor underflows before its
# product with the weight does.
_QUANTILES = """
__device__ real {name}_term(real s, int above, real about, real power{declared})
{{
    real p = 1 / (1 + exp(s)), log_weight = log(p) + log1p(-p), x = {quantile}(p, above{passed}), distance = x - about;
    real density = power == 0 ? {density} : 0;
    real value = exp(power * log(fabs(distance)) + log_weight);
    int negative = distance < 0 && fmod(power, (real)2) == 1;
    return power == 0 ? (isinf(density) ? 0 : -density * exp(log_weight)) : distance == 0 ? 0 : negative ? -value : value;
}}
"""

# Gauss-Legendre quadrature in steps, each made half as long until it agrees with its two halves, relative to `size`, roughly
# the integral of the absolute value. Where even the shortest steps do not, the integrand is known less well. Where `ends_early`
# is true, C, what follows a step that adds nothing adds nothing, too.
_STEPS = """
__device__ real {name}_between(real from, real to, real width, real size, int above, real about, real power{declared})
{{
    real sum = 0, at = from, shortest = (EPSILON < 1e-10 ? 1e-13 : 1e-6) * width, known = 4 * EPSILON, large = size;
    for (int i = 0; i < 2000 && at < to && large > 1e-3 * EPSILON * size; i++) {{
        real whole = 0, halves = 0;
        large = 0;
        for (int part = 0; part < 3; part++) {{
            real half = (part == 0 ? 0.5 : 0.25) * width, middle = at + (part == 2 ? 3 * half : half), found = 0;
            for (int k = 0; k < 8; k++)
                found += half * legendre_weight(k) * {name}_term(middle + half * legendre_node(k), above, about, power{passed});
            whole += part == 0 ? found : 0;
            halves += part == 0 ? 0 : found;
            large += part == 0 ? 0 : fabs(found);
        }}
        int same = fabs(halves - whole) <= known * (size + large), done = same || width <= shortest || !(large < INFINITY);
        if (!same && done) known *= 256;
        sum += done ? halves : 0;
        at += done ? width : 0;
        large = done && {ends_early} ? large : size;
        width = done ? fmin(2 * width, to - at) : 0.5 * width;
    }}
    return sum;
}}
"""

# What lies beyond the last s falls off as from the middle to there; it is infinite where it does not.
_CONTINUOUS = """
__device__ real {name}_beyond(real last, real size, int above, real about, real power{declared})
{{
    real at_last = 0, at_middle = 0;
    for (int i = 0; i < 2; i++) {{
        real value = {name}_term(i == 0 ? 0.5 * last : last, above, about, power{passed});
        at_middle = i == 0 ? value : at_middle;
        at_last = value;
    }}
    if (fabs(at_last) <= 1e-3 * EPSILON * size || at_last == 0) return 0;
    real rate = log(at_middle / at_last) / (0.5 * last);
    return rate > 1e-3 ? at_last / rate : at_last > 0 ? INFINITY : -INFINITY;
}}

__device__ real {name}_mean_of(real about, real power{declared})
{{
    real last = EPSILON < 1e-10 ? 700 : 80, sum = 0, size = 0;
    for (int i = 0; i < 48; i++)
        size += fabs({name}_term(0.5 + (i / 2), i % 2, about, power{passed}));
    for (int above = 0; above < 2; above++)
        sum += {name}_between(0, last, 1, size, above, about, power{passed})
             + {name}_beyond(last, size, above, about, power{passed});
    return sum;
}}
"""

_SUMS = """
__device__ real {name}_term(real x, int above, real about, real power{declared})
{{
    real density = {density}, distance = x - about;
    real value = exp(power * log(fabs(distance)) + density);
    int negative = distance < 0 && fmod(power, (real)2) == 1;
    return density == -INFINITY ? 0 : power == 0 ? -density * exp(density) : distance == 0 ? 0 : negative ? -value : value;
}}
"""

_DISCRETE = """
__device__ real {name}_mean_of(real about, real power{declared})
{{
    real first = {quantile}(1e-30, 0{passed}), last = {quantile}(1e-30, 1{passed}), sum = 0, lost = 0, size = 0;
    int many = last - first >= 65536, n = many ? 4096 : (int)(last - first) + 1;
    for (int i = 0; i < n; i++) {{
        real term = {name}_term(first + i, 0, about, power{passed}) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        size += fabs(term);
    }}
    if (!many) return sum;
    real edge = first + n, step = {name}_term(edge, 0, about, power{passed}) - {name}_term(edge - 1, 0, about, power{passed});
    real x = edge + 0.5;
    if ({density} == -INFINITY) return NAN;
    for (int i = 0; i < 64; i++)
        size += fabs({name}_term(floor(edge + (last - edge) * (i + 0.5) / 64), 0, about, power{passed})) * (last - edge) / 64;
    sum += step / 24 + {name}_between(edge - 0.5, last + 0.5, 1024, size, 0, about, power{passed});
    real at_half = {name}_term(0.5 * last, 0, about, power{passed}), at_last = {name}_term(last, 0, about, power{passed});
    if (!(last > 2 * fabs(edge)) || fabs(at_last) * last <= EPSILON * size) return sum;
    real rate = log(0.5 * at_half / at_last) / LOG_2;
    return rate > 1e-3 ? sum + at_last * last / rate : at_last > 0 ? INFINITY : -INFINITY;
}}
"""


def has_moments(definition: DeviceFunction) -> bool:
    """Whether the moments of a source can be had by quadrature."""
    return definition.role("logpdf", "logpmf") is not None and has_quantiles(definition)


def body_of(definition: DeviceFunction, ending: str, functions: dict[str, Function]) -> str:
    """C that returns a number out of `BODIES`; functions made on the way are added to `functions`."""
    beside, quantile = Beside(definition, functions), either_quantile(definition, functions).name
    text = _SUMS + _STEPS + _DISCRETE if definition.discrete else _QUANTILES + _STEPS + _CONTINUOUS
    density = f"{definition.density.name}(x{beside.passed})"
    ends_early = "0" if definition.discrete else "at > 4"
    mean_of = beside.made(text, "mean_of", density=density, quantile=quantile, ends_early=ends_early).name
    body, known = BODIES[ending], dict[str, str]()
    if "{central}" in body:
        for other in ("mean", "var"):
            written = beside.written(other, beside.passed[2:])
            known |= {other: written or "NAN", f"without_{other}": str(int(not written))}
        known = {"central": beside.made(_CENTRAL, "central", quantile=quantile, mean_of=mean_of, **known).name}
    return body.format(mean_of=mean_of, passed=beside.passed, **known)
