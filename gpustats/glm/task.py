"""Tasks: the results that a call of a GLM asks a kernel for, and what the kernel computes for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..rewriting import differentiate
from .arguments import Route


class Quantity(Enum):
    """Quantity that a kernel computes for a row and a set, by its name in C; derivatives go by the arguments' names."""

    VALUE = differentiate.VALUE
    """The log-density."""
    PREDICTOR = "eta"
    """The linear predictor, with intercept and offset."""
    SLOPE = "slope"
    """The derivative of the log-density in the linear predictor."""


class Task(NamedTuple):
    """Results that a call asks a kernel for.

    For each set the kernel gives a line of sums: first those of `sums`, then the slopes', then the derivative in the
    coefficients.
    """

    sums: tuple[Quantity | str, ...] = ()  # over the rows: of the value, and of derivatives in arguments by their names
    rows: tuple[Quantity | str, ...] = ()  # values for each row: quantities, and derivatives in arguments by their names
    #: whether the slopes are summed over the rows, which makes the derivative in an intercept that all rows share
    slope_sums: bool = False
    gradient: bool = False  # whether the derivative in the coefficients is wanted

    @property
    def of_density(self) -> bool:
        """True if the task takes the density, and not the linear predictor alone."""
        return self != PREDICTOR_ALONE

    @property
    def slopes(self) -> bool:
        """True if the derivatives in the linear predictor are computed."""
        return self.gradient or self.slope_sums or Quantity.SLOPE in self.rows

    def column(self, quantity: Quantity | str) -> int:
        """Position of one of `sums` in a line of sums."""
        return self.sums.index(quantity)

    def slope_columns(self, outcomes: int) -> slice:
        """Position of the slopes in a line of sums, one for each outcome."""
        return slice(len(self.sums), len(self.sums) + outcomes * self.slope_sums)

    def gradient_columns(self, outcomes: int) -> slice:
        """Position of the derivative in the coefficients in a line of sums."""
        return slice(self.slope_columns(outcomes).stop, None)

    def n_columns(self, outcomes: int, columns: int) -> int:
        """Length of a line of sums, for X of so many columns."""
        return len(self.sums) + outcomes * (self.slope_sums + columns * self.gradient)


PREDICTOR_ALONE = Task(rows=(Quantity.PREDICTOR,))
VALUE_BY_ROW = Task(rows=(Quantity.VALUE,))


@dataclass(frozen=True)
class Computation:
    """Computation of a kernel, in the names of its C code; the templates know it as ``glm``."""

    columns: int  # of X
    outcomes: int  # elements of the linear predictor
    vector: bool  # whether the density takes the linear predictor as a vector
    alpha: Route = Route.ABSENT  # route of the intercept to the kernel
    offset: bool = False  # whether there is an offset
    sums: tuple[str, ...] = ()  # the results of the device function that are summed over the rows
    #: values that are written for each row: results, ``slope`` (the derivative in the linear predictor), ``eta``
    rows: tuple[str, ...] = ()
    slope: str = ""  # the result that is the derivative in the linear predictor, where this is a number
    slope_sums: bool = False  # whether the derivatives in the linear predictor are summed over the rows
    gradient: bool = False  # whether the derivative in the coefficients is wanted
    own_rows: tuple[str, ...] = ()  # arguments with values for each row that differ between sets

    @property
    def slopes(self) -> bool:
        """True if the derivatives in the linear predictor are computed."""
        return self.gradient or self.slope_sums or "slope" in self.rows

    @property
    def n_sums(self) -> int:
        """Number of sums to which each row adds, without the derivative in the coefficients."""
        return len(self.sums) + self.outcomes * self.slope_sums

    @property
    def slots(self) -> int:
        """Numbers that are summed over the rows for each set: first `sums`, then the slopes, then the gradient."""
        return self.n_sums + self.outcomes * self.columns * self.gradient
