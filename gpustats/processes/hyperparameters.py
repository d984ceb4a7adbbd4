"""Hyperparameters of a covariance function in a call: checked, with vectors apart from numbers."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.pointwise import Pointwise
from ..language.device_function import Argument
from ..runtime.types import Array
from .expression import LENGTHSCALE, Expression, require_inside


class Hyperparameters:
    """Values of a covariance function's hyperparameters.

    Parameters
    ----------
    columns : int
        Number of columns of the points.
    values : mapping
        Name -> number; a lengthscale may be a vector with a value for each column.

    Raises
    ------
    ValueError
        Names that are unknown or missing, numbers outside their domain, and vectors where the function takes a number.
    """

    def __init__(self, covariance: Expression, columns: int, values: Mapping[str, ArrayLike]) -> None:
        check_names(covariance, values)
        self.numbers: dict[str, float] = {}  # 1 for a vector, as the coordinates have been divided by it
        self.vectors: dict[str, np.ndarray] = {}  # (columns,)
        self.scales: Array | None = None  # factors of the coordinates, for the vectors, once `Pairs` has made them
        scaling = {i.lengthscale for i in covariance.inputs}
        for argument in covariance.arguments:
            name, value = argument.name, np.asarray(values[argument.name], np.float64)
            if value.ndim == 0:
                require_inside(argument, float(value))
                self.numbers[name] = float(value)
                continue
            if name not in scaling:
                raise ValueError(f"{name} has shape {value.shape}: it must be a number")
            if value.shape != (columns,):
                raise ValueError(
                    f"{name} has shape {value.shape}: it must be a number, or ({columns},) for points of {columns} columns"
                )
            for element in value:
                require_inside(argument, float(element))
            self.vectors[name] = value
            self.numbers[name] = 1.0
        for name in self.vectors:
            require_scaled(covariance, name)

    @property
    def by_name(self) -> dict[str, float | np.ndarray]:
        """Values by name, as the user gave them: numbers, or vectors."""
        return self.numbers | self.vectors


def check_names(covariance: Expression, names: Collection[str]) -> None:
    """Check of names: ValueError unless these are the covariance function's hyperparameters."""
    has = f"its hyperparameters are {', '.join(covariance.parameters)}"
    if unknown := [n for n in names if n not in covariance.parameters]:
        raise ValueError(f"{covariance.name} has no hyperparameter {unknown[0]!r}; {has}")
    if lacking := [n for n in covariance.parameters if n not in names]:
        raise ValueError(f"{covariance.name} needs {', '.join(lacking)}; {has}")


def refuse_names(covariance: Expression, reserved: Collection[str]) -> None:
    """Check of names: ValueError where a hyperparameter has a name that means something else."""
    if taken := [n for n in covariance.parameters if n in reserved]:
        name = taken[0]
        raise ValueError(f"{covariance.name} has a hyperparameter {name!r}: rename it, as in cov.rename({name}='{name}_2')")


@functools.lru_cache
def require_scaled(covariance: Expression, name: str) -> None:
    """Check of a lengthscale: ValueError unless the inputs count only relative to `name`, as tried at some numbers."""
    inputs = [i for i in covariance.inputs if i.lengthscale == name]
    names = [*(i.name for i in covariance.inputs), *covariance.parameters]
    function = Pointwise(covariance.name, covariance.function, [Argument(n) for n in names], covariance.functions)
    numbers = np.array([0.3, 1.1, 2.7])
    plain = {n: numbers * (1 + 0.1 * k) for k, n in enumerate(names)}
    whole = {a.name: np.ceil(plain[a.name]) for a in covariance.arguments if "integer" in a.words}
    unit = {a.name: plain[a.name] / 8 for a in covariance.arguments if "unit" in a.words}
    plain |= whole | unit
    scaled = plain | {name: 2 * plain[name]} | {i.name: 4 * plain[i.name] for i in inputs}
    one, other = (np.asarray(function(*(v[n] for n in names))) for v in (plain, scaled))
    if not np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True):
        raise ValueError(
            f"{name} of {covariance.name} must be a number: it is no function of {inputs[0].kind} / {LENGTHSCALE}**2, so the "
            "columns cannot be divided by one lengthscale each"
        )
