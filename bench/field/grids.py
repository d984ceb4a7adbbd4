"""Stationary Gaussian processes on grids, drawn exactly by circulant embedding, and scores of predictions.

A grid is embedded in a larger one whose ends meet, on which the covariance matrix is diagonal in Fourier space
(Wood & Chan 1994; Dietrich & Newsam 1997).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft, special

LARGEST = 16  # times a side of the grid
ROUNDING = 1e-10  # share of the largest eigenvalue that a negative one may have


def eigenvalues(shape: tuple[int, int], spacing: tuple[float, float], covariance: Callable[[Any], Any]) -> np.ndarray:
    """Eigenvalues of the covariance matrix of a larger grid whose ends meet, in Fourier space.

    Raises ValueError where none of up to 16 times the sides has a covariance matrix.
    """
    times = 2
    while times <= LARGEST:
        sides = [fft.next_fast_len(times * n) for n in shape]
        y, x = (h * np.minimum(np.arange(n), n - np.arange(n)) for h, n in zip(spacing, sides, strict=True))
        found: np.ndarray = fft.fft2(covariance(np.hypot(y[:, None], x)), workers=-1).real
        if found.min() > -ROUNDING * found.max():
            return np.maximum(found, 0)
        times *= 2
    raise ValueError(f"the covariance reaches too far for a grid of {shape}: it is not 0 at {LARGEST} times its sides")


def drawn(
    shape: tuple[int, int], spacing: tuple[float, float], covariance: Callable[[Any], Any], rng: np.random.Generator
) -> np.ndarray:
    """Process of mean 0 on a grid, (rows, columns), with a covariance that is a function of the distance."""
    roots = eigenvalues(shape, spacing, covariance)
    roots = np.sqrt(roots / roots.size)
    noise = roots * (rng.standard_normal(roots.shape) + 1j * rng.standard_normal(roots.shape))
    return fft.fft2(noise, workers=-1, overwrite_x=True).real[: shape[0], : shape[1]]


def matern(nu: float, amplitude: float, lengthscale: float) -> Callable[[Any], Any]:
    """Covariance of Matérn's with ν = 1/2 or 3/2, as functions of the distance."""

    def covariance(distance: Any) -> Any:
        r = np.sqrt(2 * nu) * distance / lengthscale
        return amplitude**2 * (1 + (r if nu == 1.5 else 0)) * np.exp(-r)

    return covariance


def scores(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, float]:
    """Scores of predictions, with 95 % intervals: those of Heaton et al. (2019).

    Root of the mean squared and mean absolute errors, the continuous ranked probability score of normal distributions
    (Gneiting & Raftery 2007), the interval score, and the share of true values in the intervals.
    """
    error = truth - mean
    z = error / sd
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    crps = sd * (z * (2 * special.ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return {
        "rmse": float(np.sqrt(np.mean(error**2))), "mae": float(np.mean(np.abs(error))), "crps": float(crps.mean()),
        "interval_score": float(np.mean(high - low + outside / 0.025)), "coverage": float(np.mean(outside == 0)),
    }  # fmt: skip
