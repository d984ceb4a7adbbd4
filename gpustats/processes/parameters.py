"""Arguments of a marginal likelihood by their names: hyperparameters, the noise's standard deviation and the prior mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.arguments import elements_inside
from ..evaluation.placement import device_of
from ..language.device_function import Argument
from ..runtime import arrays
from ..runtime.types import Shape
from .expression import Expression
from .hyperparameters import Hyperparameters, check_names

SIGMA, MEAN, X, Y = "sigma", "mean", "x", "y"
#: Numbers that a call may give, or leave out.
Given: TypeAlias = ArrayLike | None
#: Arguments of a marginal likelihood's methods beside hyperparameters, which so cannot have these names.
RESERVED = (SIGMA, MEAN, X, Y, "xs", "wrt", "noise", "cov", "mean_xs", "size", "rng")


class Parameters(NamedTuple):
    """Parameters of one evaluation of a marginal likelihood, checked."""

    hyperparameters: Hyperparameters
    # standard deviation of the noise, and the prior mean: one number, or (n,)
    sigma: float | np.ndarray
    mean: float | np.ndarray
    given: tuple[str, ...]  # names of those that the caller gave

    @classmethod
    def of(
        cls, covariance: Expression, columns: int, n: int, values: Mapping[str, ArrayLike], given: tuple[str, ...]
    ) -> Parameters:
        """Parameters from the values of hyperparameters, sigma and mean, for n points of so many columns."""
        own = {name: on_host(v) for name, v in values.items() if name not in (SIGMA, MEAN)}
        hyperparameters = Hyperparameters(covariance, columns, own)
        return cls(hyperparameters, deviation(SIGMA, values[SIGMA], n), by_row(MEAN, values[MEAN], n), given)

    @property
    def by_name(self) -> dict[str, float | np.ndarray]:
        return self.hyperparameters.by_name | {SIGMA: self.sigma, MEAN: self.mean}

    @property
    def n_sets(self) -> int:
        return 1

    @property
    def noise(self) -> float | np.ndarray:
        """Variance of the noise; infinite where that of sigma overflows: the covariance matrix's factor will tell."""
        with np.errstate(over="ignore"):
            return np.square(self.sigma)

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """Array with one row, by argument."""
        return {n: np.reshape(np.asarray(v, float), (1, np.size(v))) for n, v in self.by_name.items()}

    def as_given(self, name: str, derivatives: np.ndarray) -> float | np.ndarray:
        """Derivatives in an argument, the row of this set, shaped like that argument."""
        one = np.ndim(self.by_name[name]) == 0
        return float(derivatives.item()) if one else derivatives[0]

    @property
    def key(self) -> tuple[tuple[str, Shape, bytes], ...]:
        """Hashable key, equal for equal parameters."""
        return tuple((n, np.shape(v), np.asarray(v).tobytes()) for n, v in self.by_name.items())

    def __str__(self) -> str:
        return ", ".join(f"{n}={_short(v)}" for n, v in self.by_name.items() if n != MEAN)


class ParameterSets(NamedTuple):
    """Several sets of parameters of a marginal likelihood, checked."""

    lead: tuple[int, ...]  # the leading axes, those of the sets
    # argument -> array of float64: a number or a vector for all sets, or one for each of them with the leading axes and one
    # of length 1 or the vector's
    values: dict[str, np.ndarray]
    given: tuple[str, ...]  # names of those that the caller gave

    @classmethod
    def of(
        cls, covariance: Expression, columns: int, n: int, values: Mapping[str, ArrayLike], given: tuple[str, ...]
    ) -> ParameterSets:
        """Sets of parameters from values of hyperparameters, sigma and mean, at least one of which has leading axes.

        Parameters
        ----------
        columns, n : int
            Numbers of columns and of points.

        Raises
        ------
        ValueError
            Where shapes do not go together, or values are outside their domains or not finite.
        """
        check_names(covariance, [name for name in values if name not in (SIGMA, MEAN)])
        found = {name: np.asarray(on_host(v), np.float64) for name, v in values.items()}
        several, lead = next((name, a.shape[:-1]) for name, a in found.items() if a.ndim > 1)
        lengths = {SIGMA: n, MEAN: n} | {i.lengthscale: columns for i in covariance.inputs}
        for argument in (Argument(SIGMA, "nonnegative"), Argument(MEAN), *covariance.arguments):
            name = argument.name
            shape, length = found[name].shape, lengths.get(name, 1)
            one = shape == () or (name in lengths and shape == (length,))
            if not one and (shape[:-1] != lead or shape[-1] not in (1, length)):
                vectors = f", ({length},) or {(*lead, length)}" if name in lengths else ""
                sets = f"{several} has {found[several].shape}"
                raise ValueError(f"{name} has shape {shape}, and {sets}: it must be a number or {(*lead, 1)}{vectors}")
            if not (inside := np.isfinite(found[name]) & elements_inside(argument, found[name])).all():
                place = tuple(np.argwhere(~inside)[0].tolist())
                at = f"[{', '.join(map(str, place))}]" if place else ""
                raise ValueError(f"{name}{at} is {found[name][place]}: it must be {argument.domain}, and finite")
        return cls(lead, found, given)

    @property
    def n_sets(self) -> int:
        return math.prod(self.lead)

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """Array with a row for each set, or one row for all, by argument."""
        return {
            name: a.reshape(self.n_sets, a.shape[-1]) if a.ndim > 1 else a.reshape(1, a.size)
            for name, a in self.values.items()
        }

    def one(self, k: int) -> dict[str, float | np.ndarray]:
        """Parameters of set k."""
        values = {name: a[k if len(a) > 1 else 0] for name, a in self.rows.items()}
        return {name: v if self.values[name].ndim == 1 or v.size > 1 else v.item() for name, v in values.items()}

    def as_given(self, name: str, derivatives: np.ndarray) -> float | np.ndarray:
        """Derivatives in an argument, a row for each set, shaped like that argument: added up where all sets share it."""
        value = self.values[name]
        found = (derivatives if value.ndim > 1 else derivatives.sum(0)).reshape(value.shape)
        return found if value.ndim else float(found)


def _short(value: float | np.ndarray) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    listed = ", ".join(f"{v:.6g}" for v in value[:4])
    return f"[{listed}{', …' if len(value) > 4 else ''}]"


def on_host(value: ArrayLike) -> ArrayLike:
    """NumPy array of a device array; any other value as it is."""
    return device_of([value], ["value"]).to_host(value) if arrays.is_device_array(value) else value


def by_row(name: str, value: ArrayLike, n: int) -> float | np.ndarray:
    """Number, or vector (n,) in float64; ValueError for another shape, nan and infinity."""
    value = np.asarray(on_host(value), np.float64)
    if value.shape not in ((), (n,)):
        raise ValueError(f"{name} has shape {value.shape}: it must be a number or ({n},)")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} is {value if not value.ndim else value[~np.isfinite(value)][0]}: it must be finite")
    return value if value.ndim else float(value)


def deviation(name: str, value: ArrayLike, n: int) -> float | np.ndarray:
    """Standard deviation: a number, or a vector (n,) in float64."""
    checked = by_row(name, value, n)
    if np.any(np.asarray(checked) < 0):
        raise ValueError(f"{name} is {np.min(checked)}: a standard deviation must be nonnegative")
    return checked
