"""Values at which a search for hyperparameters begins, made of the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluation.pointwise import Pointwise
from ..language.device_function import Argument
from ..language.domains import point_of
from .expression import Expression, Input
from .hyperparameters import require_scaled
from .parameters import SIGMA

#: Shares that are tried: of a lengthscale in the distance of points, of the noise in the standard deviation of y.
OF_DISTANCE, OF_DEVIATION = (1.0, 0.5, 0.25, 0.125, 0.0625), (0.1, 0.5)
_POSITIVE = frozenset(("positive", "nonnegative"))


class _Roles:
    """What hyperparameters do, found by evaluating the covariance function at some numbers."""

    def __init__(self, cov: Expression) -> None:
        names = [*(i.name for i in cov.inputs), *cov.parameters]
        self._cov = cov
        self._function = Pointwise(cov.name, cov.function, [Argument(n) for n in names], cov.functions)
        self.plain = {a.name: float(point_of(a.words, np, 1)) for a in cov.arguments}
        positive = [a.name for a in cov.arguments if a.words & _POSITIVE and "integer" not in a.words]
        self.scales = {n: i for n in positive for i in cov.inputs if self._divides(i, n)}
        self.repeating = [n for n, i in self.scales.items() if i.kind == "sqdist" and not self._falls(i)]
        self.amplitudes = [n for n in positive if n not in self.scales and self._multiplies(n)]

    def __call__(self, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> np.ndarray:
        """Covariances at some inputs."""
        numbers = np.broadcast_arrays(*(np.asarray(v, float) for v in [
            *(inputs[i.name] for i in self._cov.inputs), *(values[n] for n in self._cov.parameters),
        ]))  # fmt: skip
        return np.asarray(self._function(*(np.array(np.atleast_1d(v)) for v in numbers)), float)

    def _divides(self, i: Input, name: str) -> bool:
        """True if an input counts only relative to the square of a hyperparameter."""
        inputs = {other.name: np.array([0.3, 1.1, 2.7]) for other in self._cov.inputs}
        one = self(inputs, self.plain)
        moved = self(inputs | {i.name: 4 * inputs[i.name]}, self.plain)
        both = self(inputs | {i.name: 4 * inputs[i.name]}, self.plain | {name: 2 * self.plain[name]})
        return bool(np.allclose(one, both, rtol=1e-9, atol=0) and not np.allclose(one, moved, rtol=1e-9, atol=0))

    def _falls(self, i: Input) -> bool:
        """True if the covariance never rises with the distance of points."""
        distance = np.linspace(0.0, 8.0, 401)
        found = self({other.name: 1.0 for other in self._cov.inputs} | {i.name: distance**2}, self.plain)
        return bool((np.diff(found) <= 1e-9 * np.abs(found).max()).all())

    def _multiplies(self, name: str) -> bool:
        """True if the variance grows with a hyperparameter."""
        low, high = self.variance({}), self.variance({name: 2 * self.plain[name]})
        return bool(high > low * (1 + 1e-9))

    def variance(self, values: Mapping[str, float]) -> float:
        """Covariance of a point with itself, at a distance of 0 and products that are 1."""
        inputs = {i.name: 0.0 if i.kind == "sqdist" else 1.0 for i in self._cov.inputs}
        return float(self(inputs, self.plain | dict(values))[0])


def require_told(cov: Expression, fixed: Sequence[str]) -> None:
    """Check of a fit that is given no start: ValueError where the data alone do not tell one."""
    given = "process.start() | {{{0!r}: …}}"
    if fixed:
        raise ValueError(f"{fixed[0]} is fixed, but at no value: write fit({given.format(fixed[0])}, fixed=[{fixed[0]!r}])")
    if repeating := _Roles(cov).repeating:
        raise ValueError(
            f"the likelihood has many maxima in {repeating[0]}: begin near the right one, fit({given.format(repeating[0])})"
        )


def starts(cov: Expression, x: np.ndarray, residual: np.ndarray, loglik: Callable[..., Any]) -> dict[str, float | np.ndarray]:
    """Values of the hyperparameters and of sigma, as `GaussianProcess.start` tells, for y about the prior mean."""
    x, residual = x.astype(float), residual.astype(float)
    size, spread = (float(v) or 1.0 for v in (np.sqrt(np.mean(residual**2)), residual.std()))
    roles = _Roles(cov)
    found = dict[str, Any](roles.plain)
    for name, i in roles.scales.items():
        found[name] = _scale(cov, name, i, x, size)
    found |= _amplitudes(roles, size**2)
    distances = [n for n, i in roles.scales.items() if i.kind == "sqdist"]
    shares = itertools.product(OF_DISTANCE if distances else (1.0,), OF_DEVIATION)
    candidates = [found | {n: part * found[n] for n in distances} | {SIGMA: noise * spread} for part, noise in shares]
    sets = {n: np.stack([np.atleast_1d(c[n]) for c in candidates]) for n in candidates[0]}
    return candidates[int(np.argmax(np.nan_to_num(loglik(**sets), nan=-np.inf, posinf=-np.inf)))]


def _scale(cov: Expression, name: str, i: Input, x: np.ndarray, size: float) -> float | np.ndarray:
    """Value of a hyperparameter that divides an input: the distance of points, or what makes products as large as y."""
    own = x if i.columns is None else x[:, list(i.columns)]
    by_column = np.sqrt(2) * own.std(0) if i.kind == "sqdist" else np.sqrt(np.mean(own**2, 0)) / size
    by_column = np.where(by_column > 0, by_column, 1.0)
    if name == i.lengthscale and i.columns is None and x.shape[1] > 1 and _may_be_vector(cov, name):
        return by_column * np.sqrt(x.shape[1])
    return float(np.sqrt(np.sum(by_column**2)))


def _may_be_vector(cov: Expression, name: str) -> bool:
    try:
        require_scaled(cov, name)
    except ValueError:
        return False
    return True


def _amplitudes(roles: _Roles, wanted: float) -> dict[str, float]:
    """Amplitudes, all of them alike, with which the variance is that of y."""
    if not roles.amplitudes:
        return {}
    low, high = -40.0, 40.0  # of the logarithm
    for _ in range(60):
        middle = (low + high) / 2
        enough = roles.variance(dict.fromkeys(roles.amplitudes, math.exp(middle))) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return dict.fromkeys(roles.amplitudes, math.exp(high))
