"""Computations of a kernel of the glm shape, and the routes of its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..kernels import code


class Route(Enum):
    """Route of an argument to the kernel."""

    ABSENT = "absent"
    """Not at all: the intercept, where a call has none."""
    VALUE = code.VALUE
    """As a number, the same for all rows and sets."""
    SET = code.PER_SET
    """As an array with a number or a vector for each set; or with one vector, the same for all."""
    ROW = code.PER_ROW
    """As an array with a number or a vector for each row, which the sets share or not."""
    GROUP = "group"
    """As an array with an intercept for each group of rows, which the sets share or not."""


@dataclass(frozen=True)
class Computation:
    """Computation of a kernel, in the names of its C code; the templates know it as ``glm``.

    Attributes
    ----------
    columns, outcomes : int
        Columns of X, and elements of the linear predictor.
    vector : bool
        Whether the density takes the linear predictor as a vector.
    alpha : Route
        Route of the intercept to the kernel.
    offset : bool
        Whether there is an offset.
    sums : tuple of str
        The results of the device function that are summed over the rows.
    rows : tuple of str
        Values that are written for each row: results, ``slope`` (the derivative in the linear predictor), ``eta``.
    slope : str
        The result that is the derivative in the linear predictor, where this is a number.
    slope_sums : bool
        Whether the derivatives in the linear predictor are summed over the rows.
    gradient : bool
        Whether the derivative in the coefficients is wanted.
    own_rows : tuple of str
        Arguments with values for each row that differ between sets.
    """

    columns: int
    outcomes: int
    vector: bool
    alpha: Route = Route.ABSENT
    offset: bool = False
    sums: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    slope: str = ""
    slope_sums: bool = False
    gradient: bool = False
    own_rows: tuple[str, ...] = ()

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
