"""Interface of a model that can be fitted: its parameters by name, its log-likelihood, and derivatives of this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.types import Doubles, Shape, Value
from .coordinates import labels_of
from .symmetric import Symmetric

if TYPE_CHECKING:
    from .predictions import Prediction

#: Values of parameters by name: floats, and arrays.
Named = Mapping[str, Any]


@dataclass(frozen=True)
class Expanded:
    """Log-likelihood at a point, its derivatives in the elements of some parameters, one after another, and the second ones."""

    value: float
    gradient: Doubles  # (P,)
    hessian: Symmetric | None = None

    def __add__(self, other: Expanded) -> Expanded:
        both = None if self.hessian is None or other.hessian is None else self.hessian + other.hessian
        return Expanded(self.value + other.value, self.gradient + other.gradient, both)

    @property
    def finite(self) -> bool:
        """True if the value and its derivatives are finite."""
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all())


def number_of(weights: np.ndarray | float) -> float:
    """Number of observations that weights stand for; ValueError where they are none."""
    if not (np.all(np.greater_equal(weights, 0)) and np.all(np.isfinite(weights))):
        raise ValueError("weights must be finite and not negative: they say how often each observation counts")
    return float(np.sum(weights, dtype=float))


class Problem(ABC):
    """Log-likelihood of a model, as a fit maximises it.

    Attributes
    ----------
    name : str
        Name of the model, for tables.
    domains : dict
        Name of each parameter, in their order -> words of its domain.
    n_observations : float
    single : bool
        Whether the model computes in float32.
    known : dict
        Values of parameters that are fixed unless a call says otherwise; elements that are nan are free.
    formula : str or None
        The formula of the model, where it has one.
    elsewhere : dict
        What estimates do not have -> what has it, for errors.
    formula_terms : dict
        Name of a term of the formula -> a parameter, and the places along its first axis of the columns that the term makes.
    """

    name: str
    domains: Mapping[str, Collection[str]]
    n_observations: float
    single = False
    known: Named = {}
    formula: str | None = None
    elsewhere: Mapping[str, str] = {}
    formula_terms: Mapping[str, tuple[str, Sequence[int]]] = {}

    @abstractmethod
    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Where a search begins: a value of each parameter, which tells its shape; those that are given, as they are."""

    @abstractmethod
    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        """Log-likelihood and its derivatives in the parameters `wrt`; second ones where they are wanted, and there are any."""

    def exact_in(self, wrt: Sequence[str]) -> bool:
        """True if `expand` has second derivatives in parameters; else they are differences of first ones."""
        return True

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        """Sum over the observations of the products (P, P) of their scores; or the sums (n_clusters, P) of each cluster's."""
        raise NotImplementedError(f"{self.name} has no scores of single observations, which robust errors need")

    def predict(self, estimates: Any, *args: Value, **kwargs: Value) -> Prediction:
        """Predictions for new data, with standard errors."""
        raise NotImplementedError(f"{self.name} has no predictions with standard errors: gpustats.GLM has")

    def complaint(self) -> str:
        """Why the log-likelihood is not finite, where the data tell."""
        return "nan among the data makes it nan"

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        """Names of the elements of a parameter in C order, such as ``beta[0]``."""
        return labels_of(name, shape)

    def described(self, label: str) -> str:
        """Words for an element of a parameter, such as "beta[2] (column 2 of X)"."""
        return label
