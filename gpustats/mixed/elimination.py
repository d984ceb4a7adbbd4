"""Elimination of normal effects from the sums of a Gaussian mixed model: what its likelihood and predictions need of it.

Effects of a group are b = Λ u, u being standard normal in units of the residual standard deviation. With A = Λ' Z' Z Λ + I,
what the likelihood needs is log |A|, and the products of the columns of X and y with each other in the metric of the
observations' inverse covariance: V⁻¹ = I - Z Λ A⁻¹ Λ' Z'. See Bates et al. (2015), J. Stat. Softw. 67(1), section 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..runtime.types import Doubles

NUMBERS_AT_ONCE = 1 << 23  # of the rows of a prediction


class Elimination(Protocol):
    """Sums of a mixed model without its normal effects.

    Attributes
    ----------
    logdet : float
        log |A|.
    normal : (f + 1, f + 1) ndarray
        Products of the f columns with fixed effects, and of the observations, in the metric of V⁻¹.
    """

    logdet: float
    normal: Doubles

    def gradient(self, of_normal: Doubles) -> list[Doubles]:
        """Derivatives (m, m) of log |A| + f(normal) in the factors, of the symmetric derivative of f in `normal`."""

    def effects(self, away: Doubles) -> list[Doubles]:
        """Conditional modes b, (levels, m) for each grouping, where the observations are away from the fixed effects by the
        combination `away` (f + 1,) of the columns.
        """

    def spreads(self) -> list[Doubles]:
        """Covariances of the effects of each group given the fixed effects, (levels, m, m) for each grouping."""

    def variances(self, design: Doubles, groups: Sequence[tuple[np.ndarray, Doubles]], fixed: Doubles) -> Doubles:
        """Variances of the predictors of new rows, (M,).

        Parameters
        ----------
        design : (M, f) ndarray
            Columns with fixed effects.
        groups : sequence of ((M,) ndarray, (M, m) ndarray)
            Groups of the rows, and their columns, of each grouping; -1 for a group that is no part of the predictor.
        fixed : (f, f) ndarray
            Covariance of the fixed effects.
        """
