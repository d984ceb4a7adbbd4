"""Estimates of the parameters of a density or a model, as a fit returns them.

What users ask of a fit is one module: a method is a line or two, and what it says of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..frames.by_label import ByLabel
from ..names.advised import Advised
from ..names.results import called_here
from ..runtime.types import Mostly, Value
from .fitted import Fitted, by_name
from .hypotheses import Test, likelihood_ratio, place_of, places, wald, width_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .predictions import Prediction
    from .summary import Table

#: Beginning of `Estimates.errors_by` where there are none; the reason follows.
NO_ERRORS = "no standard errors: "
#: Numbers of one data set, or arrays with one for each data set.
Numbers = Any


@dataclass(frozen=True, repr=False, eq=False)
class Estimates(Advised):
    """Estimates of parameters by maximum likelihood.

    For one data set everything is a number, or an array of the parameter's shape; for many data sets of a density, an array
    with one for each. It can be unpacked: ``alpha, beta = gs.gamma.fit(x)``.

    Attributes
    ----------
    density : str
        The name of the density or model.
    parameters : dict
        Name -> estimate, or the value that was given, in the model's order: ``model(**estimates.parameters)``.
    free : tuple of str
        The parameters that were estimated.
    standard_errors : dict
        Name -> standard error of each of these, in its shape: the roots of the diagonal of `covariance`. nan for what was
        fixed, and for what ended at a bound. ``standard_errors["age"]`` is that of a label.
    covariance : (P, P) or (..., P, P) ndarray, or None
        Covariance of the estimates, in the order of `labels`: the inverse of the observed information, the second derivatives
        of the log-likelihood with their sign changed, those of priors among them. Where a density has a kink at an observation,
        these do not tell, and it is the inverse of the sum of the products of the scores. nan for an end of the support, and
        where a search failed. None for more than 5,000 parameters.
    log_likelihood : float or ndarray
        At the estimates, without priors.
    n_observations : float, int or ndarray
        The sums of the weights.
    converged : bool or ndarray of bool
    n_iterations : int or ndarray of int
        Steps that were tried.
    message : str or ndarray of str
        End of the search, in words.
    groups : ndarray or None
        The labels of the data sets, where they had some.
    labels : tuple of str
        Names of the numbers that were estimated: those of columns and groups where the data had names, else such as
        ``beta[0]``. ``estimates["beta"]`` is a parameter, ``estimates["age"]`` the number of a label.
    n_parameters : int
        How many of them are independent of one another: weights of K components are K - 1.
    errors_by : str
        What the standard errors are made of: ``"observed information"``, ``"HC0"`` or ``"clusters"``. Where they are nan, as
        they can be for Gaussian processes, why.

    Examples
    --------
    >>> import gpustats as gs
    >>> fit = gs.Likelihood(gs.gamma, gs.gamma.rvs(2.5, 1.5, size=1000, rng=1)).fit()
    >>> fit.labels, fit.estimates.round(2), fit.errors.round(2), fit.robust().errors.round(2)
    (('alpha', 'beta'), array([2.41, 1.44]), array([0.1 , 0.07]), array([0.1 , 0.06]))
    >>> round(fit.wald("alpha = 2.5").p, 2)
    0.36
    """

    density: str
    parameters: dict[str, Numbers]
    free: tuple[str, ...]
    standard_errors: dict[str, Numbers]
    covariance: Mostly
    log_likelihood: Numbers
    n_observations: Numbers
    converged: Numbers
    n_iterations: Numbers
    message: Numbers
    groups: np.ndarray | None = None
    labels: tuple[str, ...] = ()
    n_parameters: int = -1
    errors_by: str = "observed information"
    fitted: Fitted | None = field(default=None, kw_only=True)  # for further questions, where they can be asked

    def __post_init__(self) -> None:
        if not self.labels:
            object.__setattr__(self, "labels", self.free)
        if self.n_parameters < 0:
            object.__setattr__(self, "n_parameters", len(self.free))
        for name in ("parameters", "standard_errors"):
            numbers = ByLabel(getattr(self, name), self.free, self._elements(), self.parameters)
            object.__setattr__(self, name, numbers)

    def __iter__(self) -> Iterator[Numbers]:
        return iter(self.parameters.values())

    def __len__(self) -> int:
        return len(self.parameters)

    def _told_of(self, name: str) -> str:
        here = "" if name.startswith("_") else called_here(name, self._names())
        told = self.fitted and self.fitted.objective.problem.elsewhere.get(name) or here and f"they have .{here}"
        return f"estimates have no attribute {name!r}{told and f': {told}'}"

    @classmethod
    def _names(cls) -> frozenset[str]:
        """Names of the attributes and methods of estimates."""
        return frozenset((*dir(cls), *(f.name for f in fields(cls))))

    def __getitem__(self, name: str) -> Numbers:
        return self.parameters[name]

    @property
    def formula(self) -> str | None:
        """The formula of the model, where it has one."""
        return None if self.fitted is None else self.fitted.objective.problem.formula

    @property
    def aic(self) -> Numbers:
        """Akaike's criterion, -2 log L + 2 P."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> Numbers:
        """Schwarz's criterion, -2 log L + P log N."""
        return self.n_parameters * np.log(self.n_observations) - 2 * self.log_likelihood

    @property
    def estimates(self) -> np.ndarray:
        """The numbers that were estimated, (P,), in the order of `labels`."""
        self._of_one_data_set("estimates")
        found: np.ndarray = np.concatenate([np.ravel(self.parameters[n]) for n in self.free]).astype(float)[self._moving]
        return found

    @property
    def errors(self) -> np.ndarray:
        """Standard errors of `estimates`, (P,)."""
        self._of_one_data_set("errors")
        found: np.ndarray = np.concatenate([np.ravel(self.standard_errors[n]) for n in self.free])[self._moving]
        return found

    @property
    def _moving(self) -> np.ndarray | slice:
        """Mask of those elements of `free` that were estimated."""
        return slice(None) if self.fitted is None else self.fitted.free

    def _elements(self) -> Iterable[str] | Callable[[], Iterable[str]]:
        """Names of all elements of `free`, or what returns them; it does not hold the estimates."""
        return self.labels if self.fitted is None else self.fitted.objective.coordinates.labels

    def interval(
        self, level: float = 0.95, method: str = "wald", parameters: str | Collection[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Confidence intervals.

        Parameters
        ----------
        level : float
            Their coverage.
        method : {"wald", "profile"}
            Estimates ± normal quantiles of their standard errors; or where the log-likelihood, maximised in all other
            parameters, is less by half a quantile of chi² with one degree of freedom than at the maximum.
        parameters : str or collection of str, optional
            Names of parameters, or labels such as ``"beta[0]"``; by default all.

        Returns
        -------
        dict
            Name or label -> (..., 2), the lower and the upper end; infinite where the likelihood never falls so far.
        """
        width, found = width_of(level), {}
        if method not in ("wald", "profile"):
            raise ValueError(f"method must be 'wald' or 'profile', not {method!r}")
        names = self.free if parameters is None else (parameters,) if isinstance(parameters, str) else tuple(parameters)
        for name in names:
            if name not in self.standard_errors:
                self._of_one_data_set("interval of a label")
                place_of((*self.free, *self.labels), name)
        if method == "profile":
            from .profile import profile_intervals

            return profile_intervals(self._for_more("profile intervals"), level, names)
        for name in names:
            value, error = np.asarray(self.parameters[name]), np.asarray(self.standard_errors[name])
            found[name] = np.stack([value - width * error, value + width * error], -1)
        return found

    def summary(self, level: float = 0.95) -> str:
        """Table of the estimates: each with its standard error, z, the p-value of z, and an interval.

        Parameters
        ----------
        level : float
            Coverage of the intervals.

        Returns
        -------
        str
        """
        self._of_one_data_set("summary")
        return str(self._table(level))

    def _table(self, level: float) -> Table:
        """Table of `summary`, which notebooks show as HTML."""
        from .summary import table

        facts = {
            "observations": f"{self.n_observations:.10g}", "log-likelihood": f"{self.log_likelihood:.6g}",
            "free parameters": f"{self.n_parameters}", "AIC": f"{self.aic:.6g}",
            "errors by": self.errors_by, "BIC": f"{self.bic:.6g}",
        }  # fmt: skip
        return table(self._title, facts, self.message, self.labels, self.estimates, self.errors, level)

    def to_frame(self, level: float = 0.95) -> Any:
        """Data frame of pandas with the estimates: each with its standard error, z, the p-value of z, and an interval.

        Parameters
        ----------
        level : float
            Coverage of the intervals.

        Returns
        -------
        pandas.DataFrame
            With the columns ``estimate``, ``error``, ``z``, ``p``, ``lower`` and ``upper``, and a row for each of `labels`.
        """
        from .summary import columns, frame_of

        self._of_one_data_set("to_frame")
        return frame_of(columns(self.estimates, self.errors, level)._asdict(), list(self.labels))

    def robust(self) -> Estimates:
        """The same estimates with standard errors that hold where the model is wrong: the sandwich of White (1980), HC0.

        A row is as many observations as its weight says.

        Returns
        -------
        Estimates
        """
        from .sandwich import sandwich

        return self._with_covariance(sandwich(self._for_more("robust errors")), "HC0")

    def clustered(self, clusters: ArrayLike, correction: bool = True) -> Estimates:
        """The same estimates with standard errors for observations that depend on one another within clusters.

        Parameters
        ----------
        clusters : (N,) array_like
            Label of the cluster of each observation.
        correction : bool
            Whether the covariance is multiplied by G / (G - 1) (N - 1) / (N - P), for G clusters.

        Returns
        -------
        Estimates
        """
        from .sandwich import sandwich

        return self._with_covariance(sandwich(self._for_more("errors by clusters"), clusters, correction), "clusters")

    def wald(self, hypotheses: str | Sequence[str] | ArrayLike, value: ArrayLike = 0.0) -> Test:
        """Test of linear hypotheses by the covariance of the estimates.

        Parameters
        ----------
        hypotheses : str, sequence of str, or (q, P) array_like
            Such as ``"beta[1]"``, which is to be 0, ``"beta"`` for all of its elements, ``"beta[0] = 2 * beta[1]"``,
            ``"age = 0"`` by any of `labels`, in backquotes where that is not clear; several in a list. The name of a term of a
            formula, ``"C(site)"``, stands for all of its columns. Or the matrix R of R θ = value, with a column for each of
            `labels`.
        value : float or (q,) array_like
            The right-hand side, for a matrix.

        Returns
        -------
        Test
            ``statistic``, chi² with ``df`` degrees of freedom, and ``p``.
        """
        self._of_one_data_set("wald")
        if self.covariance is None:
            raise NotImplementedError(f"Wald tests of {len(self.labels)} parameters: they are for 5,000 at most")
        return wald(self._places(), self.estimates, self.covariance, hypotheses, value)

    def _places(self) -> dict[str, np.ndarray]:
        """Places among `labels` of the elements of each parameter, of each label, and of each term of a formula."""
        return places(
            self.labels, {n: np.shape(self.parameters[n]) for n in self.free}, self._moving,
            {} if self.fitted is None else self.fitted.objective.problem.formula_terms,
        )  # fmt: skip

    def likelihood_ratio(self, restricted: Estimates) -> Test:
        """Test of a fit with fewer free parameters, of the same data, within this one.

        Parameters
        ----------
        restricted : Estimates
            As from ``fit(fixed=…)``.

        Returns
        -------
        Test
        """
        self._of_one_data_set("likelihood_ratio")
        return likelihood_ratio(self, restricted)

    def predict(self, *args: Value, **kwargs: Value) -> Prediction | Any:
        """Predictions for new data with standard errors, by the delta method.

        Parameters
        ----------
        *args, **kwargs
            What the model takes. A `gpustats.GLM` takes X, (M, k), and by name ``offset`` and ``groups`` of these rows; one of
            a formula takes a data frame. With ``noise=True``, `Prediction.interval` is of a new observation. A Gaussian process
            takes points, (M, p), and what its own `predict` takes by name: it predicts with these hyperparameters as if they
            were known. A mixture takes observations, else those that it has.

        Returns
        -------
        Prediction
            A Gaussian process and a mixture return what their own `predict` does.

        Raises
        ------
        NotImplementedError
            Where a model has no predictions; for ``noise=True``, where its linear predictor is a vector, its density has no
            quantiles, or one of the density's other parameters has a value for each observation.

        Notes
        -----
        With noise, an observation has the density's distribution around a linear predictor that is normal with its standard
        error: this error is integrated out. Other parameters, such as sigma, are taken at their estimates. A regression of
        `gpustats.normal` has the intervals mean ± z sqrt(sigma² + error²) with normal quantiles z and the sigma of maximum
        likelihood, those of a mixed model by REML its own; R's ``predict(lm, interval="prediction")`` and statsmodels'
        ``obs_ci`` take quantiles of t, and a sigma² that is N / (N - P) times as large.
        """
        if self.fitted is None:
            raise NotImplementedError(f"{self.density} has no predictions with standard errors: gpustats.GLM has")
        return self.fitted.objective.problem.predict(self, *args, **kwargs)

    @property
    def _title(self) -> str:
        """Title of the table."""
        return self.density if self.formula is None else f"{self.density}: {self.formula}"

    def _for_more(self, what: str) -> Fitted:
        """What was searched, for further questions."""
        if self.fitted is None:
            raise NotImplementedError(f"{what} are of fits of models; of a density, see gpustats.Likelihood(density, x).fit()")
        if self.covariance is None and what != "profile intervals":
            raise NotImplementedError(f"{what} of {len(self.labels)} parameters: they are for 5,000 at most")
        return self.fitted

    def _with_covariance(self, whole: np.ndarray, kind: str) -> Estimates:
        """The same estimates with the covariance of all elements, (P, P)."""
        assert self.fitted is not None
        free = self.fitted.free
        errors = by_name(self.fitted.objective, np.sqrt(np.where(free, np.diagonal(whole), np.nan)))
        return replace(self, covariance=whole[np.ix_(free, free)], standard_errors=errors, errors_by=kind)

    def _of_one_data_set(self, method: str) -> None:
        if np.ndim(self.log_likelihood):
            raise ValueError(f"{method} is of one data set, and these are estimates of {self.log_likelihood.size}")

    def __repr__(self) -> str:
        from .summary import in_short

        return in_short(self, self.errors_by if self.errors_by.startswith(NO_ERRORS) else "")

    def _repr_html_(self) -> str:
        from .summary import of_data_sets

        return of_data_sets(self) if np.ndim(self.log_likelihood) else self._table(0.95)._repr_html_()
