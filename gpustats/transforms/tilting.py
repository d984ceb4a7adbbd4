"""Order and shifts for draws, element by element, from multivariate normal distributions in boxes.

All boxes at once: arrays of numbers of boxes have a first axis of B of them.

Source: Botev (2017), The normal law under linear restrictions: simulation and estimation via minimax tilting.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime.types import Mask

STEPS, HALVINGS = 60, 30  # of Newton's method, and of a step of it that leads nowhere
SADDLE_TOLERANCE = 1e-6  # largest slope at a saddle point
NUMBERS_AT_ONCE = 1 << 22  # numbers of the matrices that are solved at once
#: The standard deviation of an element that those before it determine, relative to its own, and how many of these it may lie
#: outside of its interval, which so becomes a condition.
DETERMINED_SCALE, SLACK_DEVIATIONS = 1e-9, 40.0
ROUNDING_VARIANCE = -1e-8  # the least variance of an element given others, relative to its own, that rounding explains


class Tilted(NamedTuple):
    """Order in which elements are drawn, with their means, scales, bounds and shifts.

    Attributes
    ----------
    order : int ndarray (B, d)
        The elements, those first that the box confines most.
    factor : ndarray (B, d, d)
        Below its diagonal, what elements before one add to its mean, relative to its own standard deviation.
    scale : ndarray (B, d)
        Standard deviation of each element, given the elements before.
    low, high : ndarray (B, d)
        The bounds, less the mean, relative to them.
    tilt : ndarray (B, d)
        Shift of each element.
    largest : ndarray (B,)
        The largest logarithm of a weight.
    """

    order: np.ndarray
    factor: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tilt: np.ndarray
    largest: np.ndarray


def _log_mass(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Log-probability log(Phi(b) - Phi(a)), from the tail that is smaller."""
    from scipy.special import log_ndtr

    turned = a > -b
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    above = log_ndtr(high)
    log_mass: np.ndarray = above + np.log1p(-np.exp(log_ndtr(low) - above))
    return log_mass


def _slopes(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-probability log(Phi(b) - Phi(a)), and its first and second derivatives in a shift taken off both a and b."""
    log_mass = _log_mass(a, b)
    at_a, at_b = (np.exp(-0.5 * x * x - 0.5 * math.log(2 * math.pi) - log_mass) for x in (a, b))
    first = at_a - at_b
    finite_a, finite_b = (np.where(np.isfinite(x), x, 0.0) for x in (a, b))
    return log_mass, first, finite_a * at_a - finite_b * at_b - first**2


def is_symmetric(cov: np.ndarray) -> Mask:
    """True if matrices (..., d, d) are symmetric, to nine digits of the largest possible element, or have nan."""
    scale = np.sqrt(np.abs(np.diagonal(cov, axis1=-2, axis2=-1)))
    bound = 1e-9 * scale[..., :, None] * scale[..., None, :]
    asymmetric: Mask = (np.abs(cov - cov.swapaxes(-1, -2)) > bound).any((-1, -2))
    return ~asymmetric


def tilted(cov: np.ndarray, lower: np.ndarray, upper: np.ndarray, *, tilt: bool = True, allow_singular: bool = False) -> Tilted:
    """Order, factor and shifts for boxes around the mean.

    Parameters
    ----------
    cov : ndarray (B, d, d)
    lower, upper : ndarray (B, d)
    tilt : bool
        Whether to find shifts. Where there are none, they are 0, and a weight is a probability.
    allow_singular : bool
        Whether some elements may be determined by others. They come last.

    Raises
    ------
    ValueError
        A matrix that is not positive definite (not even semidefinite).
    """
    n, d = lower.shape
    with np.errstate(all="ignore"):
        sd = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
        sd = np.where(sd > 0, sd, 1.0)
        lower, upper = lower / sd, upper / sd
        order, factor, means = _ordered(cov / sd[:, :, None] / sd[:, None, :], lower, upper, allow_singular)
        scale = np.diagonal(factor, axis1=1, axis2=2).copy()
        slack = np.where(scale <= DETERMINED_SCALE, SLACK_DEVIATIONS, 0.0)
        low = np.take_along_axis(lower, order, 1) / scale - slack
        high = np.take_along_axis(upper, order, 1) / scale + slack
        factor = np.tril(factor / scale[..., None], -1)
        scale *= np.take_along_axis(sd, order, 1)
        shifts, largest = np.zeros((n, d)), np.where(slack.any(1) | (not tilt), 0.0, np.nan)
        if tilt:
            piece = max(1, NUMBERS_AT_ONCE // (2 * d) ** 2)
            for start in (means, np.zeros((n, d))):
                left = np.flatnonzero(np.isnan(largest))
                for begin in range(0, len(left), piece):
                    part = left[begin : begin + piece]
                    shifts[part], largest[part] = _minimax(factor[part], low[part], high[part], start[part])
            shifts[np.isnan(largest)], largest[np.isnan(largest)] = 0, 0
    return Tilted(order, factor, scale, low, high, shifts, largest)


def _ordered(
    cov: np.ndarray, lower: np.ndarray, upper: np.ndarray, allow_singular: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order of the elements, whose variances are 1 or 0, and in it the Cholesky factor and their means, standardised.

    Next comes the element whose interval is least likely, given that those before have their means.

    Source: Gibson, Glasbey & Elston (1994), Monte Carlo evaluation of multivariate normal integrals and sensitivity to variate
    ordering.
    """
    n, d = lower.shape
    boxes, cov, lower, upper = np.arange(n), cov.copy(), lower.copy(), upper.copy()
    order, factor = np.tile(np.arange(d), (n, 1)), np.zeros((n, d, d))
    mean, means = np.zeros((n, d)), np.zeros((n, d))
    variance = np.diagonal(cov, axis1=1, axis2=2).copy()
    floor = d * np.finfo(float).eps
    for k in range(d):
        determined = variance[:, k:] <= floor
        if (determined if not allow_singular else variance[:, k:] < ROUNDING_VARIANCE).any():
            raise ValueError(f"cov must be positive {'semidefinite' if allow_singular else 'definite'}")
        sd = np.where(determined, DETERMINED_SCALE, np.sqrt(variance[:, k:]))
        masses = _log_mass((lower[:, k:] - mean[:, k:]) / sd, (upper[:, k:] - mean[:, k:]) / sd)
        chosen = k + np.argmin(np.where(determined, np.inf, masses), 1)
        for array in (order, mean, variance, lower, upper, factor, cov, cov.swapaxes(1, 2)):
            array[boxes, k], array[boxes, chosen] = array[boxes, chosen], array[boxes, k]
        pivot = sd[boxes, chosen - k]
        factor[:, k, k] = pivot
        below = cov[:, k + 1 :, k] - (factor[:, k + 1 :, :k] @ factor[:, k, :k, None])[..., 0]
        free = variance[:, k] > floor  # what is determined adds nothing to others
        factor[:, k + 1 :, k] = np.where(free[:, None], below / pivot[:, None], 0.0)
        variance[:, k + 1 :] -= factor[:, k + 1 :, k] ** 2
        expected = _slopes((lower[:, k] - mean[:, k]) / pivot, (upper[:, k] - mean[:, k]) / pivot)[1]
        means[:, k] = np.where(np.isfinite(expected), expected, 0.0)
        mean[:, k + 1 :] += factor[:, k + 1 :, k] * means[:, k, None]
    return order, factor, means


def _minimax(factor: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shifts for which the largest logarithm of a weight is smallest, and that logarithm.

    The result is the saddle point of the sum over k of mu_k^2 / 2 - x_k mu_k + log(mass of [low_k - s_k, high_k - s_k]), where
    s = mu + factor x, and x and mu of the last element are 0. Newton's method begins where mu is 0, and x is the start. Where
    it does not find the saddle point, the logarithm is nan.
    """
    n, d = low.shape
    inner = factor[:, :, : d - 1]

    def at(which: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, ...]:
        last = np.zeros((len(point), 1))
        x, mu = np.concatenate([point[:, : d - 1], last], 1), np.concatenate([point[:, d - 1 :], last], 1)
        shift = (factor[which] @ x[..., None])[..., 0] + mu
        return x, mu, *_slopes(low[which] - shift, high[which] - shift)

    def gradient(which: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, mu, _, first, second = at(which, point)
        along = (inner[which].swapaxes(1, 2) @ first[..., None])[..., 0]
        return np.concatenate([along - mu[:, :-1], (mu - x + first)[:, :-1]], 1), second

    def jacobian(which: np.ndarray, second: np.ndarray) -> np.ndarray:
        part, eye = inner[which], np.eye(d - 1)
        mixed = second[:, :-1, None] * part[:, :-1] - eye
        curved = part.swapaxes(1, 2) @ (second[..., None] * part)
        own = eye * (1 + second[:, None, :-1])
        return np.concatenate([np.concatenate([curved, mixed.swapaxes(1, 2)], 2), np.concatenate([mixed, own], 2)], 1)

    point, flat = np.concatenate([start[:, :-1], np.zeros((n, d - 1))], 1), np.zeros(n, bool)
    going = np.arange(n)
    for _ in range(STEPS):
        slope, second = gradient(going, point[going])
        size = np.abs(slope).max(1, initial=0.0)
        flat[going[size < SADDLE_TOLERANCE * 1e-4]] = True
        keep = (size >= SADDLE_TOLERANCE * 1e-4) & np.isfinite(size) & np.isfinite(second).all(1)
        going, slope, second, size = going[keep], slope[keep], second[keep], np.linalg.norm(slope[keep], axis=1)
        if not len(going):
            break
        try:
            step = np.linalg.solve(jacobian(going, second), -slope[..., None])[..., 0]
        except np.linalg.LinAlgError:
            break
        part, moved = np.ones(len(going)), point[going] + step
        for _ in range(HALVINGS):
            worse = ~(np.linalg.norm(gradient(going, moved)[0], axis=1) < size)
            if not worse.any():
                break
            part[worse] *= 0.5
            moved = point[going] + part[:, None] * step
        point[going] = np.where(worse[:, None], point[going], moved)
        flat[going[worse]] = np.abs(slope[worse]).max(1) < SADDLE_TOLERANCE  # as near as rounding lets it come
        going = going[~worse]
    x, mu, log_mass, *_ = at(np.arange(n), point)
    largest = np.sum(log_mass + 0.5 * mu * mu - x * mu, 1)
    return mu, np.where(flat & np.isfinite(largest), largest, np.nan)
