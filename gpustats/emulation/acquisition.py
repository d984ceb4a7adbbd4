"""Effects of observations at candidates on references: sums that sequential designs maximise, with derivatives."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from ..evaluation.placement import empty, moved
from ..evaluation.results import written
from ..kernels.code import VALUE, KernelCode, Operand
from ..kernels.layout import Layout
from ..kernels.template import Template
from ..language.derived import resolve_in
from ..language.device_function import parse
from ..language.library import library
from ..linalg.matrix import Matrix
from ..processes.factor import Factor
from ..processes.parameters import Given, by_row
from ..processes.posterior import Posterior
from ..rewriting.differentiate import derivative_name, gradient
from ..runtime import thresholds
from ..runtime.base import Device, Kernel, Runtime
from ..runtime.types import Array

_ACQUISITION = Template.beside(__file__, "acquisition")
REDUCTION, IMPROVEMENT = "variance_reduction", "improvement_left"
#: Points in one matrix of which only the diagonal is used.
DIAGONAL_POINTS = thresholds.EMULATION_DIAGONAL_POINTS.value

#: C functions of the scale at a reference, whose square an observation makes smaller by `reduced`.
_FUNCTIONS = {
    REDUCTION: """
real variance_reduction(real reduced, real gain, real spread, real nu) { return reduced; }
""",
    # E max(gain + scale T, 0), T being standard normal or Student-t with nu degrees of freedom
    IMPROVEMENT: """
real improvement_left(real reduced, real gain, real spread, real nu)
{
    real scale = sqrt(fmax(spread * spread - reduced, 0));
    if (!(scale > 0)) return isnan(spread - reduced) ? NAN : fmax(gain, 0);
    real u = gain / scale, normal = exp(-0.5 * u * u - HALF_LOG_2PI);
    if (isinf(nu)) return u < 0 ? scale * normal * (1 + u * (0.5 * SQRT_PI * SQRT_2) * scaled_erfc(-u / SQRT_2))
                                : scale * (u * (0.5 * erfc(-u / SQRT_2)) + normal);
    if (nu <= 1) return INFINITY;
    return scale * (u * student_t_cdf(u, nu, 0, 1) + (nu + u * u) / (nu - 1) * exp(student_t_logpdf(u, nu, 0, 1)));
}

real improvement_left_grad_reduced(real reduced, real gain, real spread, real nu)
{
    real scale = sqrt(fmax(spread * spread - reduced, 0));
    if (!(scale > 0)) return 0;
    real u = gain / scale;
    if (isinf(nu)) return -exp(-0.5 * u * u - HALF_LOG_2PI) / (2 * scale);
    return -(nu + u * u) / (nu - 1) * exp(student_t_logpdf(u, nu, 0, 1)) / (2 * scale);
}
""",
}
_SEEN = {"reduced": "seen0", "gain": "seen1", "spread": "seen2"}


class Sums(NamedTuple):
    """Sums over references for each of m candidates."""

    values: Array  # (m,), as kernels write it
    slopes: np.ndarray | None  # (m, p), their derivatives in the candidates, where they were asked for


@functools.cache
def _code(which: str, grad: bool) -> tuple[KernelCode, str]:
    """Code of the function of a reference, with its derivative in the reduction if `grad`, and the derivative's name."""
    function, *others = parse(_FUNCTIONS[which], resolve_in({}), which).functions.values()
    functions = library.closure([function, *others])
    if grad:
        function = gradient(function, ["reduced"], functions)
    code = KernelCode(function, [Operand("nu", VALUE)], functions.get, list(_SEEN))
    code.at_hand = _SEEN
    return code, derivative_name("reduced")


def _layout(device: Device) -> Layout:
    return Layout(threads=min(256, device.max_threads) if device.type != "cpu" else 32)


def source(which: str, grad: bool, device: Device, dtype: str, dialect: str) -> str:
    """The source of the kernel `acquisition`."""
    (code, slope), layout = _code(which, grad), _layout(device)
    return _ACQUISITION.source_of(
        code, "acquisition", layout, dtype, dialect, which="sums", slope=slope, threads=layout.threads
    )  # fmt: skip


def over_references(
    which: str, candidates: Posterior, references: Posterior, weights: np.ndarray, gains: Array | None,
    spreads: Array | None, grad: bool,
) -> Sums:  # fmt: skip
    """The sums over references j of weights_j f(scale2 c² / v), for all candidates.

    c is the covariance of a candidate and a reference given the data, v the variance of an observation at the candidate:
    scale2 c² / v is by how much the observation reduces the variance at the reference.

    Parameters
    ----------
    which : {REDUCTION, IMPROVEMENT}
        The function f: what is reduced, or the improvement that is then expected at the reference.
    candidates, references : Posterior
        The noise of candidates is that of observations.
    weights : (r,) ndarray
    gains, spreads : (r,) array or None
        Gains, how much better than the best response so far the mean is, and scales, of references.
    grad : bool
        Whether derivatives in the candidates are wanted.

    Notes
    -----
    With W_ij = 2 weight_j f' c / v and B_i = sum_j weight_j f' c² / v², the derivative of a sum is sum_j W_ij dc_ij - B_i dv_i.
    c_ij and v_i are k(z, .) less products of rows V of k(., x) l'⁻¹. So each candidate has weights by which the derivatives of
    k(z, references) count, W, and (2 B V_z - W V_r) l⁻¹ by which those of k(z, x) do.
    """
    factor, m, r = candidates.factor, candidates.m, references.m
    assert isinstance(factor, Factor)  # an emulator's
    runtime, pairs, provider, dtype = factor.runtime, factor.pairs, factor.provider, factor.pairs.dtype
    values, slopes = empty(runtime, m, dtype), np.zeros(tuple(candidates.xs.shape), dtype) if grad else None
    if not m:
        return Sums(values, slopes)
    kernel, of_references = _kernel(runtime, dtype.name, which, grad), factor.rows(references.xs)
    weights = moved(runtime, weights.astype(dtype))
    gains, spreads = weights if gains is None else gains, weights if spreads is None else spreads
    for part in candidates.parts(beside=r):
        xs = candidates.xs[part]
        count, rows, prior = xs.shape[0], factor.rows(xs), pairs.diagonal(xs, factor.values)
        cross, curve = provider.empty(count, r, dtype), empty(runtime, count, dtype)
        pairs.matrix(cross, xs, references.xs, factor.values)
        if factor.n:
            provider.gemm(-1.0, rows, of_references.T, 1.0, cross)
        kernel(
            (count, 1), *pairs.at(values[part]), *pairs.at(curve), cross.handle, cross.offset, cross.stride,
            rows.handle, rows.offset, rows.stride, *pairs.at(prior), *pairs.at(candidates.noise[part]), *pairs.at(weights),
            *pairs.at(gains), *pairs.at(spreads), factor.n, r, factor.lift, factor.scale2,
            math.inf if factor.df is None else float(factor.df),
        )  # fmt: skip
        bends = written(runtime, curve)
        if slopes is not None:
            if factor.n:
                factor.weigh(rows, -2 * bends, np.zeros_like(bends))
                provider.gemm(-1.0, cross, of_references, 1.0, rows)
            slopes[part] = slopes_at(factor, xs, rows, -factor.lift * bends)
            slopes[part] += _cross_slopes(factor, references.xs, xs, cross)
    return Sums(values, slopes)


def averaging(weights: Given, r: int) -> np.ndarray:
    """Weights of the references in an average."""
    if not r:
        raise ValueError("there are no references")
    given = np.ones(r) if weights is None else by_row("weights", weights, r)
    if np.any(np.asarray(given) < 0):
        raise ValueError(f"weights has {np.min(given)}: they must be nonnegative")
    return np.broadcast_to(np.asarray(given) / r, r)


def slopes_at(factor: Factor, xs: Array, rows: Matrix, own: np.ndarray) -> np.ndarray:
    """Derivatives in points of the sums over l of -w_il k(xs_i, x_l), where w = rows l⁻¹, and of own_i k(xs_i, xs_i): (m, p).

    Parameters
    ----------
    xs : (m, p) array
        As kernels read it.
    rows : Matrix
        (m, n); it is used up.
    own : (m,) ndarray
    """
    found = np.zeros(tuple(xs.shape), factor.pairs.dtype)
    if factor.n:
        factor.provider.trsm(factor.l, rows, left=False)
        found += _cross_slopes(factor, factor.x, xs, rows)
    if any(i.kind == "dot" for i in factor.pairs.covariance.inputs):  # of a distance, k(x, x) is the same everywhere
        for i in range(0, len(own), DIAGONAL_POINTS):
            part = slice(i, i + DIAGONAL_POINTS)
            diagonal = moved(factor.runtime, np.diag(-2 * own[part]).astype(factor.pairs.dtype))
            found[part] += _cross_slopes(factor, xs[part], xs[part], Matrix.over(factor.runtime, diagonal))
    return found


def _cross_slopes(factor: Factor, x: Array, xs: Array, negative: Matrix) -> np.ndarray:
    """Derivatives in xs of the sums over j of -negative_ij k(xs_i, x_j), (m, p)."""
    turned = factor.provider.empty(negative.columns, negative.rows, factor.pairs.dtype)
    factor.provider.copy(negative.T, turned)
    return written(factor.runtime, factor.pairs.cross_gradient(x, xs, factor.values, turned))


@functools.cache
def _kernel(runtime: Runtime, dtype: str, which: str, grad: bool) -> Kernel:
    text = source(which, grad, runtime.device, dtype, runtime.dialect)
    return runtime.kernel(text, "acquisition", _layout(runtime.device).threads)
