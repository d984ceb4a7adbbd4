"""The arguments of a marginal likelihood by their names: hyperparameters, the noise's standard deviation and the prior mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..evaluation.placement import device_of
from ..runtime import arrays
from .hyperparameters import Hyperparameters

SIGMA, MEAN, X, Y = "sigma", "mean", "x", "y"
#: What the methods of a marginal likelihood take beside hyperparameters, which so cannot have these names.
RESERVED = (SIGMA, MEAN, X, Y, "xs", "wrt", "noise", "cov", "mean_xs", "size", "rng")


class Parameters(NamedTuple):
    """The parameters at which a marginal likelihood is evaluated, checked.

    Attributes
    ----------
    hyperparameters : Hyperparameters
    sigma, mean : float or (n,) ndarray
        Standard deviation of the noise, and the prior mean.
    given : tuple of str
        Names of those that the caller gave.
    """

    hyperparameters: Hyperparameters
    sigma: float | np.ndarray
    mean: float | np.ndarray
    given: tuple[str, ...]

    @property
    def by_name(self) -> dict[str, float | np.ndarray]:
        return self.hyperparameters.by_name | {SIGMA: self.sigma, MEAN: self.mean}

    @property
    def key(self) -> Any:
        """What is equal for equal parameters, and hashable."""
        return tuple((n, np.shape(v), np.asarray(v).tobytes()) for n, v in self.by_name.items())

    def __str__(self) -> str:
        return ", ".join(f"{n}={_short(v)}" for n, v in self.by_name.items() if n != MEAN)


def _short(value: float | np.ndarray) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    listed = ", ".join(f"{v:.6g}" for v in value[:4])
    return f"[{listed}{', …' if len(value) > 4 else ''}]"


def on_host(value: Any) -> Any:
    """A device array as a NumPy array; anything else as it is."""
    return device_of([value], ["value"]).to_host(value) if arrays.is_device_array(value) else value


def by_row(name: str, value: Any, n: int) -> float | np.ndarray:
    """A number, or a vector (n,) in float64; ValueError for another shape, nan and infinity."""
    value = np.asarray(on_host(value), np.float64)
    if value.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {value.shape}: it must be a number or ({n},)")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} is {value if not value.ndim else value[~np.isfinite(value)][0]}: it must be finite")
    return value if value.ndim else float(value)


def deviation(name: str, value: Any, n: int) -> float | np.ndarray:
    """A standard deviation: a number, or a vector (n,) in float64."""
    checked = by_row(name, value, n)
    if np.any(np.asarray(checked) < 0):
        raise ValueError(f"{name} is {np.min(checked)}: a standard deviation must be nonnegative")
    return checked
