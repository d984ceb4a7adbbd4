"""Probabilities of boxes of multivariate normal and Student t distributions, and so their distribution functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..density import densities
from ..draws.generator import Generator
from ..evaluation.results import Destination
from ..kernels.layout import row_blocks
from ..kernels.template import Template
from ..runtime import choose, thresholds
from ..runtime.transfers import to_host
from .confined import confined_kernel
from .lattice import prime_below, rank_1_lattice
from .tilting import Tilted, is_symmetric, tilted

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.types import Array, Values

_WEIGHTS = Template.beside(__file__, "box_probability")
_DOUBLE = np.dtype(np.float64)

#: Shifts of the lattice whose points are weighed: their spread tells the error.
SHIFTS = 12
#: Points that a thread sums; points of a box's first lattice; the factor to the points of its next lattice.
POINTS_PER_THREAD, FIRST_POINTS, POINTS_GROWTH = thresholds.TRANSFORMS_POINTS_PER_THREAD.value, 64, 4
#: Integrals over so many variables are periodic and smooth, those over more are folded.
MOST_SMOOTH_VARIABLES = 4
#: Largest numbers of sums, and of numbers of boxes, of a launch.
MOST_SUMS, MOST_NUMBERS = 1 << 22, 1 << 24


class Probability(NamedTuple):
    """Logarithms of probabilities, and the standard errors of these estimates."""

    log: Array
    error: Array


def box_probability(
    lower: Values, upper: Values, mu: Values, cov: Values, df: float = math.inf, *, rtol: float = 1e-4, atol: float = 0.0,
    points: int = 1 << 14, rng: int = 0, allow_singular: bool = False,
) -> Probability:  # fmt: skip
    """The probability that a multivariate normal, or a Student t vector lies in a box, for many boxes at once.

    Parameters
    ----------
    lower, upper : array_like (..., d) or float
        Bounds of the elements; they may be infinite. With ``lower=-np.inf`` these are distribution functions at `upper`.
    mu : array_like (..., d)
        Means, of Student's distribution locations.
    cov : array_like (..., d, d)
        Covariance matrices, of Student's distribution scale matrices. All leading axes are broadcast.
    df : float
        Degrees of freedom of Student's distribution; infinity for the normal one.
    rtol, atol : float
        Standard errors, relative to the probability and absolute, below either of which a box needs no further points.
    points : int
        At most, of a lattice that is weighed with 12 shifts.
    rng : int
        The seed of the shifts.
    allow_singular : bool
        Whether matrices may be only positive semidefinite.

    Returns
    -------
    log : ndarray (...)
        Natural logarithms of the probabilities, -inf for empty boxes, nan where an argument is nan.
    error : ndarray (...)
        Their standard errors, which are those of the probabilities relative to them; 0 where the probability is exact.

    Raises
    ------
    ValueError
        Shapes that do not fit, an infinite mean or covariance, a matrix that is not symmetric and positive definite, `df` that
        is not positive, or a device that computes in float32 only.

    Notes
    -----
    The elements of a point are drawn one after another, each confined to what those before it leave of the box [1]_, in the
    order of Gibson, Glasbey & Elston. Normal ones are shifted so that the largest weight of a point is smallest [2]_:
    probabilities of 1e-1000 have as many digits as others. Student's are normal ones divided by a random number [3]_, without
    shifts. The points are a lattice [4]_, shifted at random; in up to five dimensions, four of Student's, its error falls off
    faster than any power of the number of points. Where a matrix is singular or nearly so, and in Student's far tails, all
    weights can be 0: then the logarithm is -inf, and the error infinite.

    .. [1] Genz (1992), Numerical computation of multivariate normal probabilities.
    .. [2] Botev (2017), The normal law under linear restrictions: simulation and estimation via minimax tilting.
    .. [3] Genz & Bretz (2002), Comparison of methods for the computation of multivariate t probabilities.
    .. [4] Nuyens & Cools (2006), Fast algorithms for component-by-component construction of rank-1 lattice rules in
       shift-invariant reproducing kernel Hilbert spaces.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> half = np.full((3, 3), 0.5) + 0.5 * np.eye(3)
    >>> found = gs.box_probability(-np.inf, [[0.0, 0.0, 0.0], [1.0, 1.0, np.inf]], np.zeros(3), half)
    >>> np.exp(found.log).round(4)                                        # the first is known to be 1 / 4
    array([0.25  , 0.7452])
    """
    lower, upper, mu, cov = (np.asarray(to_host(v), np.float64) for v in (lower, upper, mu, cov))
    if mu.ndim < 1 or not mu.shape[-1]:
        raise ValueError(f"mu has shape {mu.shape}: it must be (..., d), d at least 1")
    d = mu.shape[-1]
    if cov.shape[-2:] != (d, d):
        raise ValueError(f"cov has shape {cov.shape}, where mu has {mu.shape}: its last axes must be ({d}, {d})")
    for name, bound in (("lower", lower), ("upper", upper)):
        if bound.ndim and bound.shape[-1] != d:
            raise ValueError(f"{name} has shape {bound.shape}, where mu has {mu.shape}: its last axis must have {d} elements")
    if np.ndim(df) or df is None or not df > 0:
        raise ValueError(f"df must be a positive number, not {df}")
    if points < 1 or points != int(points):
        raise ValueError(f"points must be a positive whole number, not {points}")
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"rtol and atol must not be negative, not {rtol} and {atol}")
    if np.isinf(mu).any() or np.isinf(cov).any():
        raise ValueError(f"{'mu' if np.isinf(mu).any() else 'cov'} must be finite")
    if not is_symmetric(cov).all():
        raise ValueError("cov must be symmetric")
    leading = dict(lower=lower.shape[:-1], upper=upper.shape[:-1], mu=mu.shape[:-1], cov=cov.shape[:-2])
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        raise ValueError(f"leading axes do not fit: {', '.join(f'{n} {s}' for n, s in leading.items())}") from None
    low, high = (np.broadcast_to(bound - mu, (*shape, d)).reshape(-1, d) for bound in (lower, upper))
    matrices = np.broadcast_to(cov, (*shape, d, d)).reshape(-1, d, d)
    log, error = np.full(len(low), -np.inf), np.zeros(len(low))
    unknown = np.isnan(low).any(1) | np.isnan(high).any(1) | np.isnan(matrices).any((1, 2))
    log[unknown] = error[unknown] = np.nan
    boxes = np.flatnonzero((low < high).all(1) & ~unknown)
    piece = max(1, MOST_NUMBERS // d**2)
    for part in (boxes[first : first + piece] for first in range(0, len(boxes), piece)):
        t = tilted(matrices[part], low[part], high[part], tilt=df == math.inf, allow_singular=allow_singular)
        log[part], error[part] = weighed(choose.get(), t, int(points), df, rtol, atol, rng)
    return Probability(log.reshape(shape)[()], error.reshape(shape)[()])


def weighed(
    runtime: Runtime, t: Tilted, points: int, df: float = math.inf, rtol: float = 0.0, atol: float = 0.0, rng: int = 0
) -> Probability:
    """Probabilities of boxes: means of the weights at the points of a lattice, up to the tolerances."""
    if not runtime.device.double:
        raise ValueError(f"{runtime.device} computes in float32 only: probabilities of a box need float64")
    n, d = t.low.shape
    smooth = d - 1 + (df < math.inf) <= MOST_SMOOTH_VARIABLES
    unseen = df < math.inf and not smooth  # radii so rare that no point has one may have other weights, and none tells
    shifts = densities["uniform"].rvs(0.0, 1.0, size=(SHIFTS, d), rng=Generator(rng))
    numbers = np.concatenate([t.factor.reshape(n, d * d), t.low, t.high, t.tilt, t.largest[:, None]], 1)
    log, error, left = np.full(n, -np.inf), np.zeros(n), np.arange(n)
    for size in _looks(points, rtol or atol) if d > 1 or df < math.inf else [2]:
        lattice = np.concatenate([rank_1_lattice(size, d)[None] / size, shifts])
        radii = None if df == math.inf else _radii(lattice[:, -1], size, df, smooth)
        sums = _sums(runtime, lattice, numbers[left], size, radii, smooth)
        most = sums.max(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = sums / most[:, None]  # squares of small numbers would be 0
            mean, spread = relative.mean(1), relative.std(1, ddof=1) / math.sqrt(SHIFTS)
            log[left] = np.where(most > 0, t.largest[left] + np.log(most / size) + np.log(mean), -np.inf)
            error[left] = np.where(most > 0, np.maximum(spread / mean, unseen / (SHIFTS * size)), np.inf)
            left = left[(error[left] > rtol) & ~((atol > 0) & (error[left] * np.exp(log[left]) <= atol))]
        if not len(left):
            break
    return Probability(log, error)


def _looks(points: int, tolerance: float) -> Iterator[int]:
    """Number of points of each lattice, for lattices taken one after another."""
    size = FIRST_POINTS
    while tolerance and size < points:
        yield prime_below(size)
        size *= POINTS_GROWTH
    yield prime_below(max(points, 2))


def _radii(column: np.ndarray, size: int, df: float, smooth: bool) -> np.ndarray:
    """Factors of the bounds of Student's vectors at the points, and the points' weights, (SHIFTS, size, 2).

    The factors are roots of chi-squares over `df`.
    """
    from scipy.special import gammainccinv

    turned = (np.arange(size) * column[0] + column[1:, None]) % 1
    angle = 2 * np.pi * turned
    part, density = (turned - np.sin(angle) / (2 * np.pi), 1 - np.cos(angle)) if smooth else (np.abs(2 * turned - 1), 1.0)
    u = np.clip(part, np.finfo(float).eps, 1 - np.finfo(float).eps)
    radius = np.maximum(np.sqrt(gammainccinv(0.5 * df, u) / (0.5 * df)), np.finfo(float).tiny)  # infinity times 0 is none
    return np.stack(np.broadcast_arrays(radius, density), -1)


def _sums(
    runtime: Runtime, lattice: np.ndarray, numbers: np.ndarray, size: int, radii: np.ndarray | None, smooth: bool
) -> np.ndarray:
    """The sums of the weights of each box for each shift, (boxes, SHIFTS)."""
    d = lattice.shape[1]
    kernel, layout = confined_kernel(
        runtime, _WEIGHTS, "box_weights", _DOUBLE, dim=d, radial=radii is not None, smooth=smooth, each=POINTS_PER_THREAD,
        shifts=SHIFTS,
    )  # fmt: skip
    a_box = SHIFTS * -(-size // POINTS_PER_THREAD)
    sums, handle = np.empty((len(numbers), SHIFTS)), runtime.memory(lattice)[0]
    more = () if radii is None else (runtime.memory(radii)[0], 0)
    piece = max(1, MOST_SUMS // a_box)
    for first in range(0, len(numbers), piece):
        part = np.ascontiguousarray(numbers[first : first + piece])
        n = len(part) * a_box
        destination = Destination(runtime, (len(part), SHIFTS, a_box // SHIFTS), _DOUBLE, _DOUBLE, False, None)
        blocks, out = row_blocks(runtime.device, layout, n, 1), (destination.handle, destination.offset)
        kernel((1, blocks), *out, n, size, handle, 0, runtime.memory(part)[0], 0, *more)
        sums[first : first + piece] = destination.finished().sum(-1)
    return sums
