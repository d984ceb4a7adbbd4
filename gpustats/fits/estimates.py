"""Estimates of a density's parameters, as a fit returns them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Numbers of one data set, or arrays with one for each data set.
Numbers = Any


@dataclass(frozen=True, repr=False, eq=False)
class Estimates:
    """Estimates of a density's parameters by maximum likelihood.

    For one data set everything is a number; for many, an array with one for each data set. It can be unpacked:
    ``alpha, beta = gs.gamma.fit(x)``.

    Attributes
    ----------
    density : str
        The name of the density.
    parameters : dict
        Name -> estimate, or the value that was given, in the density's order.
    free : tuple of str
        The parameters that were estimated.
    standard_errors : dict
        Name -> standard error of each of these: the roots of the diagonal of `covariance`.
    covariance : (P, P) or (..., P, P) ndarray
        Covariance of the estimates, in the order of `free`: the inverse of the observed information, the second derivatives of
        the log-likelihood with their sign changed. Where the density has a kink at an observation, these do not tell, and it is
        the inverse of the sum of the products of the scores. nan for an end of the support, and where a search failed.
    log_likelihood : float or ndarray
        At the estimates.
    n_observations : int or ndarray
        The sums of the weights.
    converged : bool or ndarray of bool
    n_iterations : int or ndarray of int
        Steps that were tried.
    message : str or ndarray of str
        End of the search, in words.
    groups : ndarray or None
        The labels of the data sets, where they had some.
    """

    density: str
    parameters: dict[str, Numbers]
    free: tuple[str, ...]
    standard_errors: dict[str, Numbers]
    covariance: np.ndarray
    log_likelihood: Numbers
    n_observations: Numbers
    converged: Numbers
    n_iterations: Numbers
    message: Numbers
    groups: np.ndarray | None = None

    def __iter__(self) -> Iterator[Numbers]:
        return iter(self.parameters.values())

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, parameter: str) -> Numbers:
        return self.parameters[parameter]

    @property
    def aic(self) -> Numbers:
        """Akaike's criterion, -2 log L + 2 P."""
        return 2 * len(self.free) - 2 * self.log_likelihood

    @property
    def bic(self) -> Numbers:
        """Schwarz's criterion, -2 log L + P log N."""
        return len(self.free) * np.log(self.n_observations) - 2 * self.log_likelihood

    def __repr__(self) -> str:
        if np.ndim(self.log_likelihood):
            fine, n = int(np.sum(self.converged)), self.log_likelihood.size
            return f"<estimates of {', '.join(self.free)} of {self.density} for {n} data sets, {fine} of them converged>"
        errors = {n: f" ± {error:.2g}" for n, error in self.standard_errors.items()}
        parts = [f"{n}={v:.6g}{errors.get(n, '')}" if np.ndim(v) == 0 else f"{n} given" for n, v in self.parameters.items()]
        return f"<estimates of {self.density}: {', '.join(parts)}; log-likelihood {self.log_likelihood:.6g}; {self.message}>"
