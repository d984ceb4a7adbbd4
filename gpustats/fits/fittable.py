"""Method `fit` of all models that have the interface of `Problem`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..display.html import Shown
from ..names.advised import Advised
from ..names.keywords import advising
from ..names.results import called_here

if TYPE_CHECKING:
    from .estimates import Estimates
    from .objective import Prior
    from .problem import Problem


def _of_estimates(name: str) -> str:
    """Advice about a name that the estimates of a fit have, here or in other packages; "" about all else."""
    if name.startswith("_"):
        return ""
    from .estimates import Estimates

    known = Estimates._names()
    found = name if name in known else called_here(name, known)
    return f": the estimates that fit() returns have it, fit().{found}" if found else ""


class HasFit(Advised):
    """Model that has a method `fit`: about names that estimates have, errors say where these are."""

    def _told_of(self, name: str) -> str:
        return super()._told_of(name) + _of_estimates(name)


class Fittable(HasFit, Shown):
    """Model that can be fitted."""

    @abstractmethod
    def _problem(self) -> Problem:
        """Log-likelihood of the model, as a fit maximises it."""

    @advising
    def fit(
        self, *, start: Mapping[str, ArrayLike] | None = None, fixed: Mapping[str, ArrayLike] | None = None,
        bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = None,
        priors: Mapping[str, Prior] | None = None, max_iterations: int = 200, progress: bool = False,
    ) -> Estimates:  # fmt: skip
        """Estimates of all parameters by maximum likelihood, or by the largest posterior density.

        Parameters
        ----------
        start : dict, optional
            Where the search begins, by name; what it lacks begins at a value that the model chooses.
        fixed : dict, optional
            Known parameters, by name. Elements that are nan are free: ``{"beta": [nan, nan, 0.0]}``. Or single elements by
            their labels: ``{"beta[2]": 0.0}``, ``{"age": 0.0}``.
        bounds : dict, optional
            Name -> (lowest, highest), each a number, an array of the parameter's shape, or None.
        priors : dict, optional
            Name -> density of each element, such as ``gs.normal(0.0, 10.0)``: its logarithm is added to the log-likelihood, a
            ridge penalty.
        max_iterations : int
            Steps after which a search ends.
        progress : bool
            Whether a bar shows the steps.

        Returns
        -------
        Estimates
            With standard errors, covariance, `summary`, `interval`, `robust`, `clustered`, `wald`, `likelihood_ratio`.

        Raises
        ------
        ValueError
            For unknown names and starts outside of bounds; where nothing tells some parameters apart, as of collinear columns:
            with their names.
        NoMaximumError
            Where the likelihood has no maximum, as of separated outcomes: a ValueError with the names of ``parameters``.

        Notes
        -----
        Newton's method with damping, on the logarithms of positive parameters, the log odds of those in [0, 1] and the Cholesky
        factors of covariances. Where a model has no second derivatives, L-BFGS goes first, and these are differences of exact
        first ones. Estimates at a bound are exact; their standard errors are nan, and those of others hold given them.
        Estimates keep the model, which robust errors, profiles and predictions need.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> dose, deaths = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 9.0])
        >>> fit = gs.GLM(gs.poisson_log, deaths, dose).fit()
        >>> fit["beta"].round(3), fit.standard_errors["beta"].round(3)
        (array([0.706]), array([0.255]))
        >>> fit.interval(method="profile")["beta"].round(2)
        array([[0.24, 1.26]])
        """
        from .maximum import maximise

        return maximise(self._problem(), start, fixed, bounds, priors, max_iterations, progress)
