"""How a box of a multivariate normal distribution is drawn from, element by element: in which order, and with which shifts.

Source: Botev (2017), The normal law under linear restrictions: simulation and estimation via minimax tilting.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Tilted(NamedTuple):
    """The order in which elements are drawn, and from what.

    Attributes
    ----------
    order : int ndarray (d,)
        The elements, those first that the box confines most.
    factor : ndarray (d, d)
        Below its diagonal, what elements before one add to its mean, relative to its own standard deviation.
    scale : ndarray (d,)
        These standard deviations, given the elements before.
    low, high : ndarray (d,)
        The bounds, less the mean, relative to them.
    tilt : ndarray (d,)
        How far each is shifted.
    largest : float
        The largest logarithm of a weight.
    """

    order: np.ndarray
    factor: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tilt: np.ndarray
    largest: float


def _log_mass(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """log(Phi(b) - Phi(a)), from the tail that is smaller."""
    from scipy.special import log_ndtr

    turned = a > -b
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    above = log_ndtr(high)
    return above + np.log1p(-np.exp(log_ndtr(low) - above))


def _slopes(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log(Phi(b) - Phi(a)), and its first and second derivatives in a shift by which both a and b are less."""
    log_mass = _log_mass(a, b)
    at_a, at_b = (np.exp(-0.5 * x * x - 0.5 * math.log(2 * math.pi) - log_mass) for x in (a, b))
    first = at_a - at_b
    finite_a, finite_b = (np.where(np.isfinite(x), x, 0.0) for x in (a, b))
    return log_mass, first, finite_a * at_a - finite_b * at_b - first**2


def tilted(cov: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Tilted:
    """The order, the factor and the shifts for a box around the mean."""
    d = len(cov)
    order, factor = _ordered(cov, lower, upper)
    scale = np.diagonal(factor).copy()
    low, high = lower[order] / scale, upper[order] / scale
    factor = np.tril(factor / scale[:, None], -1)
    tilt, largest = _minimax(factor, low, high) if d > 1 else (np.zeros(1), float(_log_mass(low, high)[0]))
    return Tilted(order, factor, scale, low, high, tilt, largest)


def _ordered(cov: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of the elements, and the Cholesky factor in it: next comes the one whose interval is least likely.

    Source: Gibson, Glasbey & Elston (1994), Monte Carlo evaluation of multivariate normal integrals and sensitivity to variate
    ordering.
    """
    d = len(cov)
    order, factor, mean, means = np.arange(d), np.zeros((d, d)), np.zeros(d), np.zeros(d)
    variance, floor = np.diagonal(cov).copy(), d * np.finfo(float).eps * np.abs(np.diagonal(cov)).max()
    for k in range(d):
        if not (variance[k:] > floor).all():
            raise ValueError("cov must be positive definite")
        sd = np.sqrt(variance[k:])
        i = k + int(np.argmin(_log_mass((lower[order[k:]] - mean[k:]) / sd, (upper[order[k:]] - mean[k:]) / sd)))
        for array in (order, mean, variance, factor):
            array[[k, i]] = array[[i, k]]
        pivot = factor[k, k] = math.sqrt(variance[k])
        factor[k + 1 :, k] = (cov[order[k + 1 :], order[k]] - factor[k + 1 :, :k] @ factor[k, :k]) / pivot
        variance[k + 1 :] -= factor[k + 1 :, k] ** 2
        a, b = (lower[order[k]] - mean[k]) / pivot, (upper[order[k]] - mean[k]) / pivot
        means[k] = _slopes(np.array([a]), np.array([b]))[1][0]
        mean[k + 1 :] += factor[k + 1 :, k] * means[k]
    return order, factor


def _minimax(factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, float]:
    """The shifts for which the largest logarithm of a weight is smallest, and that logarithm.

    It is the saddle point of the sum over k of mu_k^2 / 2 - x_k mu_k + log(mass of [low_k - s_k, high_k - s_k]), where
    s = mu + factor x, and x and mu of the last element are 0.
    """
    from scipy.optimize import root

    d = len(low)
    inner = factor[:, : d - 1]

    def at(point: np.ndarray) -> tuple[np.ndarray, ...]:
        x, mu = np.append(point[: d - 1], 0.0), np.append(point[d - 1 :], 0.0)
        shift = factor @ x + mu
        return x, mu, *_slopes(low - shift, high - shift)

    def gradient(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, mu, _, first, second = at(point)
        slope = np.append(inner.T @ first - mu[:-1], (mu - x + first)[:-1])
        mixed = second[:-1, None] * inner[:-1] - np.eye(d - 1)
        curved = inner.T @ (second[:, None] * inner)
        return slope, np.block([[curved, mixed.T], [mixed, np.diag(1 + second[:-1])]])

    with np.errstate(all="ignore"):
        found = root(gradient, np.zeros(2 * d - 2), jac=True, tol=1e-10)
        x, mu, log_mass, *_ = at(found.x)
        if np.abs(gradient(found.x)[0]).max() < 1e-6:
            return mu, float(np.sum(log_mass + 0.5 * mu * mu - x * mu))
    return np.zeros(d), 0.0  # not shifted, a draw's weight is a probability
