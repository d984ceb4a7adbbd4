"""Derivatives of the log marginal likelihood of a Gaussian process, from the factor of its covariance matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..runtime.types import Array
from .factor import Factorised
from .observations import Observations
from .parameters import MEAN, SIGMA, Parameters, X, Y


def gradient(factor: Factorised, data: Observations, parameters: Parameters, wrt: Sequence[str]) -> dict[str, Array]:
    """Derivatives in hyperparameters, ``"sigma"``, ``"mean"``, ``"x"`` and ``"y"``.

    With R = K + diag(sigma²) and alpha = R⁻¹ (y - mean), the derivative in R is W = (weight alpha alpha' - R⁻¹) / 2, with the
    factor's weight.

    Parameters
    ----------
    factor : Factorised
        R.
    data : Observations
        Points and responses, at least one.
    parameters : Parameters
        At which R was computed.

    Returns
    -------
    dict
        Name -> float or array, like that argument.
    """
    if not wrt:
        return {}  # and no inverse
    slopes = factor.slopes()
    own = [n for n in wrt if n in factor.pairs.covariance.parameters]
    found: dict[str, Array] = {}
    if own or SIGMA in wrt:
        of_own, trace, diagonal = slopes.in_hyperparameters(own)
        found |= of_own
        if SIGMA in wrt:
            one = isinstance(parameters.sigma, float)
            found[SIGMA] = 2 * parameters.sigma * (trace if one else diagonal.astype(float))
    if MEAN in wrt or Y in wrt:
        slope = factor.summary.weight * slopes.alpha()
        found[MEAN] = float(slope.sum(dtype=float)) if isinstance(parameters.mean, float) else slope.astype(float)
        found[Y] = data.like_y(-slope)
    if X in wrt:
        found[X] = data.like_x(slopes.in_points())
    return {n: found[n] for n in wrt}


def zero_gradient(data: Observations, parameters: Parameters, wrt: Sequence[str]) -> dict[str, Array]:
    """Derivatives where there are no observations."""
    zeros: dict[str, Array] = {X: data.like_x(np.zeros((0, data.columns), data.dtype)), Y: data.like_y(np.zeros(0, data.dtype))}
    for name, value in parameters.by_name.items():
        zeros[name] = 0.0 if isinstance(value, float) else np.zeros(value.shape)
    return {n: zeros[n] for n in wrt}
