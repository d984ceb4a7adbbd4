"""Fits of GLMs: method `fit`, second derivatives, and scores of observations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.arguments import check_wrt_among
from ..fits.estimates import Estimates
from ..fits.fittable import Fittable
from ..fits.objective import Prior
from ..fits.problem import Expanded
from ..fits.symmetric import Symmetric
from ..mixed.estimates import MixedEstimates
from ..mixed.structure import Structure
from ..mixed.sums import Sums
from ..names.keywords import advising
from ..parallel.pieces import in_pieces
from ..parallel.rows import added
from ..runtime.types import Array, Doubles, Value
from .arguments import Arguments, Route
from .data import as_numpy
from .divided import Divided
from .family import COEFFICIENTS, INTERCEPT
from .linear import sums_of
from .mixed import fit_mixed, random_terms
from .problem import GLMProblem
from .results import Evaluator
from .varying import Varying

if TYPE_CHECKING:
    import scipy.sparse


class Fitting(Divided, Fittable):
    """GLM that can be fitted."""

    @overload
    def fit(
        self, *, random: None = None, reml: bool | None = ..., start: Mapping[str, ArrayLike] | None = ...,
        fixed: Mapping[str, ArrayLike] | None = ...,
        bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = ...,
        priors: Mapping[str, Prior] | None = ..., max_iterations: int = ..., progress: bool = ...,
    ) -> Estimates: ...  # fmt: skip

    @overload
    def fit(
        self, *, random: str | Collection[str], reml: bool | None = ..., start: Mapping[str, ArrayLike] | None = ...,
        fixed: Mapping[str, ArrayLike] | None = ...,
        bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = ...,
        priors: Mapping[str, Prior] | None = ..., max_iterations: int = ..., progress: bool = ...,
    ) -> MixedEstimates: ...  # fmt: skip

    @advising
    def fit(
        self, *, random: str | Collection[str] | None = None, reml: bool | None = None,
        start: Mapping[str, ArrayLike] | None = None, fixed: Mapping[str, ArrayLike] | None = None,
        bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = None,
        priors: Mapping[str, Prior] | None = None, max_iterations: int = 200, progress: bool = False,
    ) -> Estimates:  # fmt: skip
        """Estimates of all parameters by maximum likelihood, or by the largest posterior density; with random effects, too.

        Parameters
        ----------
        random : str or collection of str, optional
            Names of terms whose groups have normal effects with mean 0 and a covariance that is estimated: names of `groups`,
            or "alpha" for the intercepts of groups without a name. () for none; by default what the model says, as a formula.
        reml : bool, optional
            Whether the fixed effects of a linear model are integrated out, so that variances are not too small: restricted
            maximum likelihood. By default they are. For Gaussian models with random effects only.
        start, fixed, bounds, priors, max_iterations, progress
            As for `Likelihood.fit`. The parameters of a model with random effects are its fixed effects, ``beta``, ``alpha``
            and tables that are not random, those of the density, and ``chol_`` with the name of a term behind it: the lower
            triangular factor of the covariance of its effects, of an intercept its standard deviation.

        Returns
        -------
        Estimates
            With random effects, a `MixedEstimates`.

        Raises
        ------
        ValueError
            For unknown names and starts outside of bounds; where nothing tells some parameters apart, as of collinear columns:
            with their names.
        NoMaximumError
            Where the likelihood has no maximum, as of separated outcomes: a ValueError with the names of ``parameters``.

        Notes
        -----
        The sums over the rows that a linear mixed model needs are made once; its likelihood is then a function of these: Bates
        et al. (2015), J. Stat. Softw. 67(1). Weights say how often an observation counts. Standard errors of fixed effects hold
        given the covariances. With groups without a name, ``alpha`` is the mean of the groups' intercepts.

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
        terms = random_terms(self._random if random is None else random, self._terms, self.n_groups)
        if terms:
            return fit_mixed(self, self._problem(), terms, reml, start, fixed, bounds, priors, max_iterations, progress)
        if reml is not None:
            raise ValueError(f"reml={reml} is of models with random effects: name terms by random=, or leave it out")
        return super().fit(
            start=start, fixed=fixed, bounds=bounds, priors=priors, max_iterations=max_iterations, progress=progress
        )

    @in_pieces(added)
    def _sums(self, structure: Structure, shifts: Doubles) -> Sums:
        """Sums over the rows of a Gaussian mixed model."""
        return sums_of(self._held(), structure, shifts, self._runtime)

    def hessian(
        self, beta: ArrayLike, alpha: ArrayLike = 0.0, *args: ArrayLike, wrt: str | Collection[str] | None = None,
        **kwargs: ArrayLike,
    ) -> np.ndarray | scipy.sparse.csc_array:  # fmt: skip
        """The matrix of second derivatives of the summed log-density.

        Parameters
        ----------
        beta, alpha, *parameters : array_like
            One set of them: see the notes of the class.
        wrt : str or collection of str, optional
            Names of parameters, in the order of the rows of the matrix, each with its elements in C order; by default all but
            those that are whole numbers.

        Returns
        -------
        (P, P) ndarray; where intercepts or slopes of groups are in `wrt`, a scipy.sparse.csc_array of float64

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 2.5])
        >>> glm = gs.GLM(gs.normal, y, X, eta="mu")
        >>> glm.hessian(np.array([1.0]), 0.0, sigma=1.0)
        array([[-14.  ,  -6.  ,   3.  ],
               [ -6.  ,  -3.  ,   1.  ],
               [  3.  ,   1.  ,   2.25]])
        """
        names = self.differentiable if wrt is None else check_wrt_among(wrt, self.differentiable)
        arguments = self._all_arguments(beta, alpha, *args, **kwargs)
        values = {n: a.value if isinstance(a.value, float) else as_numpy(a.value) for n, a in arguments.by_name.items()}
        made: Symmetric | None = self._expanded(**values, wrt=tuple(names)).hessian
        if made is None:
            return np.full((size := sum(np.size(values[n]) for n in names), size), np.nan)
        tables = [n for n in names if arguments.kinds[n] is Route.GROUP]
        return made.tosparse() if tables else made.toarray()

    @in_pieces(added)
    def _expanded(self, beta: Value, alpha: Value, *args: Value, wrt: Sequence[str], **kwargs: Value) -> Expanded:
        """Sum, and its derivatives in the elements of parameters."""
        arguments = self._all_arguments(beta, alpha, *args, **kwargs)
        if isinstance(self._evaluator, Varying):
            return self._evaluator.expanded(arguments, wrt)
        return self._second.expanded(arguments, wrt, self._predictor(arguments, wrt))

    @in_pieces(added)
    def _score_sums(
        self, beta: Value, alpha: Value, *args: Value, wrt: Sequence[str], n_clusters: int,
        clusters: np.ndarray | None = None, **kwargs: Value,
    ) -> Doubles:  # fmt: skip
        """Sums of the observations' scores: see `Problem.score_sums`."""
        arguments = self._all_arguments(beta, alpha, *args, **kwargs)
        if isinstance(self._evaluator, Varying):
            return self._evaluator.score_sums(arguments, wrt, clusters, n_clusters)
        return self._second.score_sums(arguments, wrt, self._predictor(arguments, wrt), clusters, n_clusters)

    def _predictor(self, arguments: Arguments, wrt: Sequence[str]) -> Array:
        """Linear predictor at the arguments of a call, on the device where products with X are computed there."""
        beta, alpha = (arguments[n].value for n in (COEFFICIENTS, INTERCEPT))
        by_group = arguments.kinds[INTERCEPT] is Route.GROUP and INTERCEPT in wrt
        on_device = not (self._runtime.host_visible or self._family.vector or by_group)
        beta = self._runtime.to_device(np.asarray(beta, self._data.dtype)) if on_device else as_numpy(beta)
        assert isinstance(self._evaluator, Evaluator)
        return self._evaluator.linear_predictor(self._linear_arguments(beta, alpha))

    def _problem(self) -> GLMProblem:
        return GLMProblem(self)
