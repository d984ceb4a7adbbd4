"""Kernels whose threads draw normal numbers between two bounds, one after another."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..kernels.code import KernelCode
from ..kernels.layout import Layout
from ..language.device_function import parse
from ..language.library import library

if TYPE_CHECKING:
    import numpy as np

    from ..kernels.template import Template
    from ..runtime.base import Kernel, Runtime

# `beyond`: how far behind c, far in the upper tail, the number lies above which a part of the probability of [c, c + width]
# lies. The distance s solves log(Q(c + s) / Q(c)) = log(v), where Q is the upper tail: Newton's steps begin at the solution for
# a density that falls off like exp(-x^2 / 2) alone.
_FUNCTIONS = """
real number(real p) { return ndtri(p); }

real log_mass_of(real low, real high) { return log_ndtr_difference(low, high); }

real beyond(real part, real c, real width)
{
    real scaled = scaled_erfc(c / SQRT_2), rest = 0;
    if (width < INFINITY) rest = exp(-width * (c + 0.5 * width)) * (scaled_erfc((c + width) / SQRT_2) / scaled);
    real log_v = log(rest + part * (1 - rest)), s = -2 * log_v / (c + sqrt(c * c - 2 * log_v));
    for (int i = 0; i < 3; i++) {
        real tail = scaled_erfc((c + s) / SQRT_2);
        s += (log(tail / scaled) - s * (c + 0.5 * s) - log_v) * (tail / SQRT_2_OVER_PI);
    }
    return fmax(s, 0);
}
"""


@functools.lru_cache(256)
def confined_kernel(
    runtime: Runtime, template: Template, name: str, dtype: np.dtype, before: tuple[Template, ...] = (), **constants: Any
) -> tuple[Kernel, Layout]:
    """Kernel of a template whose threads draw vectors, each one or several, and its layout."""
    threads = 64 // dtype.itemsize if runtime.device.type == "cpu" else min(128, runtime.device.max_threads)
    layout, made = Layout(threads, tile=threads), parse(_FUNCTIONS, library.resolve, "box")
    codes = [KernelCode(f, (), library.resolve, [p.name for p in f.parameters]) for f in made.functions.values()]
    text = template.source_of(codes[0], name, layout, dtype.name, runtime.dialect, others=codes[1:], before=before, **constants)
    return runtime.kernel(text, name, layout.threads), layout
