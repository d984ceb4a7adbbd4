"""Estimates of mixed models: fixed effects, covariances of random effects, and the modes of these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..fits.estimates import Estimates
from ..fits.hypotheses import Test
from ..fits.predictions import Prediction
from ..fits.summary import Table, frame_of, table
from ..runtime.types import Doubles, Value
from .terms import Term

#: Share of an effect's standard deviation that is not told by the effects before it, below which a covariance is singular.
LEAST_APART = 1e-4


@dataclass(frozen=True, repr=False, eq=False)
class MixedEstimates(Estimates):
    """Estimates of a mixed model, whose random effects are integrated out.

    Beside the attributes of `Estimates` there are those of the random terms, by their names. A term's effects of a group are
    normal with the covariance Σ = L L'; the lower triangular L is the parameter ``chol_`` with the term's name behind it: of an
    intercept a number, its standard deviation.

    Attributes
    ----------
    terms : tuple of Term
        The random terms.
    variance_components : dict
        Name -> Σ, (m, m).
    variance_errors : dict
        Name -> standard errors of the elements of Σ, by the delta method; nan where a factor ended at its bound of 0.
    random_effects : dict
        Name -> modes of the effects of each group given the estimates, (G,) or (G, m).
    random_effects_errors : dict
        Name -> their standard deviations given the estimates.
    reml : bool
        Whether `log_likelihood` is the restricted one.
    singular : bool
        Whether a Σ is singular: a variance is 0, or a correlation ±1.
    levels : dict
        Name -> labels of its groups, in the order of `random_effects`, where the data had labels.
    residual : bool
        Whether ``sigma`` is the standard deviation of observations given their means: whether the model is linear.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> group, x = np.repeat(np.arange(20), 10), np.tile(np.arange(10.0), 20)
    >>> y = 1.0 + 0.5 * x + rng.normal(size=20)[group] + rng.normal(size=200)
    >>> fit = gs.GLM(gs.normal, y, x[:, None], eta="mu", groups={"subject": group}).fit(random="subject")
    >>> fit["beta"].round(2), fit.variance_components["subject"].round(2), round(fit["sigma"], 2)
    (array([0.46]), array([[0.25]]), 0.98)
    >>> fit.random_effects["subject"][:3].round(2)
    array([0.09, 0.78, 0.13])
    """

    terms: tuple[Term, ...] = field(default=(), kw_only=True)
    variance_components: dict[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    variance_errors: dict[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    random_effects: dict[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    random_effects_errors: dict[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    reml: bool = field(default=False, kw_only=True)
    singular: bool = field(default=False, kw_only=True)
    residual: bool = field(default=False, kw_only=True)
    levels: dict[str, np.ndarray] = field(default_factory=dict, kw_only=True)
    by_likelihood: Callable[[], MixedEstimates] | None = field(default=None, kw_only=True)  # the fit without REML

    elements: dict[str, bool] = field(default_factory=dict, kw_only=True)  # all of `free`, and whether each was estimated

    @property
    def _moving(self) -> np.ndarray:
        return np.array(list(self.elements.values()), bool)

    def _elements(self) -> Mapping[str, bool]:
        return self.elements

    def interval(
        self, level: float = 0.95, method: str = "wald", parameters: str | Collection[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Confidence intervals, as those of `Estimates`; profiles are of the likelihood, also where the fit is by REML."""
        if method == "profile" and self.reml and 0 < level < 1:
            assert self.by_likelihood is not None
            return self.by_likelihood().interval(level, method, parameters)
        return super().interval(level, method, parameters)

    def likelihood_ratio(self, restricted: Estimates) -> Test:
        """Test of a fit with fewer free parameters, of the same data, within this one.

        Where the restricted fit has a variance of 0, at the bound of its domain, the p-value is too large: up to twice the
        right one for one variance.

        Parameters
        ----------
        restricted : Estimates
            As from ``fit(fixed=…)`` or ``fit(random=())``. Fits by REML must have the same fixed effects.

        Returns
        -------
        Test
        """
        reml = isinstance(restricted, MixedEstimates) and restricted.reml
        if self.reml != reml:
            raise ValueError("one of the fits is by REML and the other is not: fit both with reml=False")
        if self.reml and self._fixed_labels() != restricted._fixed_labels():  # type: ignore[attr-defined]
            raise ValueError(
                "the fits are by REML and have different fixed effects, so that their likelihoods are of different data: fit "
                "both with reml=False"
            )
        return super().likelihood_ratio(restricted)

    def predict(
        self, X: Value, *, offset: Value | None = None, groups: Value | None = None, new_groups: bool = False,
        noise: bool = False,
    ) -> Prediction:  # fmt: skip
        """Predictions for new rows with standard errors.

        Parameters
        ----------
        X : (M, k) array_like or data frame
            Design matrix; of a formula a data frame, which has the groups, too.
        offset : (M,) array_like, optional
        groups : mapping or (M,) array_like, optional
            Groups of these rows, of all terms, as `GLM` takes them: the modes of their effects are part of the prediction, and
            what is not known of these is part of the errors. Without groups, of a formula without their columns, predictions
            are of the fixed effects alone.
        new_groups : bool
            Whether groups may be new: the effects of these are 0, and their variance is part of the errors.
        noise : bool
            Whether `Prediction.interval` is of a new observation, as for `Estimates.predict`.

        Returns
        -------
        Prediction

        Raises
        ------
        ValueError
            Where a group is new and may not be, by its number or label; where shapes do not fit the fit.
        """
        return super().predict(X, offset=offset, groups=groups, new_groups=new_groups, noise=noise)

    def random_effects_to_frame(self, term: str | None = None) -> Any:
        """Data frame of pandas with the modes of a term's effects, a row for each group and a column for each effect.

        Parameters
        ----------
        term : str, optional
            Name of the term; may be left out where there is one.

        Returns
        -------
        pandas.DataFrame
            By the labels of groups and the names of columns, where the data had some; else by numbers.
        """
        names = [t.name for t in self.terms]
        if term not in names and (term is not None or len(names) > 1):
            raise ValueError(f"term is {term!r}, and must be one of the random terms: {', '.join(names)}")
        own = self.terms[0 if term is None else names.index(term)]
        effects = np.reshape(self.random_effects[own.name], (own.levels, own.size))
        labels = self.levels[own.name].tolist() if own.name in self.levels else []
        index = [*labels, *range(len(labels), own.levels)]
        return frame_of(effects, index, [own.effect(i) for i in range(own.size)])

    def summary(self, level: float = 0.95) -> str:
        """Table of the random effects' variances, and of the fixed effects with standard errors, z, p-values, and intervals.

        Parameters
        ----------
        level : float
            Coverage of the intervals.

        Returns
        -------
        str
        """
        return super().summary(level)

    def _table(self, level: float) -> Table:
        own = self._fixed_effects()
        groups = ", ".join(f"{t.name} {t.levels:,}" for t in self.terms)
        facts = {
            "observations": f"{self.n_observations:.10g}",
            "restricted log-likelihood" if self.reml else "log-likelihood": f"{self.log_likelihood:.6g}",
            "free parameters": f"{self.n_parameters}", "AIC": f"{self.aic:.6g}",
            "groups": groups, "BIC": f"{self.bic:.6g}",
        }  # fmt: skip
        labels = [self.labels[i] for i in own]
        return table(
            self._title, facts, self.message, labels, self.estimates[own], self.errors[own], level, self._random_rows()
        )

    def _factors(self) -> set[str]:
        """Names of the parameters that the table of random effects shows."""
        return {t.parameter for t in self.terms} | ({"sigma"} if self.residual else set())

    def _residual(self) -> dict[str, float]:
        """Variance of the observations given their means, of a Gaussian model."""
        return {"Residual": float(self.parameters["sigma"]) ** 2} if self.residual else {}

    def _fixed_effects(self) -> np.ndarray:
        """Places, among `labels`, of what the table of random effects does not show."""
        places, factors = self._places(), self._factors()
        return np.concatenate([np.zeros(0, int), *(places[n] for n in self.free if n not in factors)])

    def _fixed_labels(self) -> tuple[str, ...]:
        return tuple(self.labels[i] for i in self._fixed_effects())

    def _random_rows(self) -> list[list[str]]:
        """Table of the random effects, its head first."""
        rows = [["Groups", "Name", "Variance", "Std.Dev.", "Corr"]]
        for term in self.terms:
            sigma = self.variance_components[term.name]
            spread = np.sqrt(np.diagonal(sigma))
            for i in range(term.size):
                with np.errstate(divide="ignore", invalid="ignore"):
                    correlations = [f"{c:.2f}" for c in sigma[i, :i] / (spread[i] * spread[:i])]
                numbers = f"{sigma[i, i]:.5g}", f"{spread[i]:.5g}", " ".join(correlations)
                rows.append([term.name * (i == 0), term.effect(i), *numbers])
        return rows + [[name, "", f"{v:.5g}", f"{np.sqrt(v):.5g}", ""] for name, v in self._residual().items()]


def of_components(
    terms: Sequence[Term], parameters: Mapping[str, Any], covariances: Mapping[str, Doubles],
    modes: Mapping[str, Doubles], spreads: Mapping[str, Doubles],
) -> dict[str, Any]:
    """Attributes of `MixedEstimates` that are of random terms, and a remark on singular ones.

    Parameters
    ----------
    terms : sequence of Term
    parameters : mapping
        Estimates by name.
    covariances : mapping
        Name of a factor L -> covariance of its elements, (m * m, m * m), where it was estimated.
    modes : mapping
        Name of a term -> modes of its effects, (G, m).
    spreads : mapping
        Name of a term -> their variances, (G, m).
    """
    found: dict[str, Any] = {"terms": tuple(terms)}
    components, errors, effects, deviations = (dict[str, np.ndarray]() for _ in range(4))
    singular = False
    for term in terms:
        m, shape = term.size, (term.levels, *term.shape[1:])
        factor = np.reshape(parameters[term.parameter], (m, m)).astype(float)
        components[term.name] = factor @ factor.T
        errors[term.name] = _covariance_errors(factor, covariances.get(term.parameter, np.zeros((m * m, m * m))))
        effects[term.name] = modes[term.name].reshape(shape)
        deviations[term.name] = np.sqrt(spreads[term.name].clip(0)).reshape(shape)
        singular |= bool((np.diagonal(factor) <= LEAST_APART * np.linalg.norm(factor, axis=1)).any())
    found |= {"variance_components": components, "variance_errors": errors, "random_effects": effects}
    remark = ", singular: a variance is 0 or a correlation ±1" * singular
    return found | {"random_effects_errors": deviations, "singular": singular, "remark": remark}


def _covariance_errors(factor: Doubles, covariance: Doubles) -> Doubles:
    """Standard errors of the elements of Σ, (m, m), by the covariance of those of L; nan in rows that end at 0."""
    m, each = len(factor), np.eye(len(factor))
    at_bound = np.any(np.isnan(np.diagonal(covariance)).reshape(m, m), 1)
    # dΣ_ij = Σ_k dL_ik L_jk + L_ik dL_jk
    slopes = np.einsum("ia,jb->ijab", each, factor) + np.einsum("ja,ib->ijab", each, factor)
    slopes = slopes.reshape(m * m, m * m)
    spread = np.einsum("pa,ab,pb->p", slopes, np.nan_to_num(covariance), slopes).clip(0).reshape(m, m)
    found: Doubles = np.where(at_bound[:, None] | at_bound, np.nan, np.sqrt(spread))
    return found
