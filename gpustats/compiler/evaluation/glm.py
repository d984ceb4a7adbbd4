"""GLM in a graph: from PyTensor's arrays to its sums, gradients and draws on a device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...density import Density
from ...draws.generator import Generator
from ...evaluation.compiled import RepeatedSum
from ...evaluation.kinds import Plans
from ...glm import GLM
from ...glm.family import COEFFICIENTS, DESIGN, GROUPS, INTERCEPT, OBSERVATIONS, OFFSET, WEIGHTS, Family
from ...runtime.cached import cached_property
from .batches import Shape, batch_of, common_batch, core_of
from .density import DensityFormula
from .formula import Evaluator, Formula, FormulaArgument, LogFunction

#: The data that an observation may have beside its row of X.
OPTIONS = (GROUPS, OFFSET, WEIGHTS)


class GLMFormula(Formula):
    """Log-density of observations with a linear predictor, the parameter `eta` of a density.

    Its arguments are the observation, a row of X, the coefficients, the intercept (a vector over the groups, where there are
    groups), those of `OPTIONS` that a model has, ``"groups"``, ``"offset"`` and ``"weights"``, and the density's other
    parameters. `outcome` is the formula of an observation, the linear predictor being one of the parameters.
    """

    def __init__(self, density: Density, eta: str, options: Sequence[str] = ()):
        self.density, self.eta, self.options = density, eta, tuple(n for n in OPTIONS if n in options)
        self.outcome, self.family = DensityFormula(density), Family(density, eta)
        if clash := set(OPTIONS) & set(self.family.parameters):
            raise ValueError(f"{density.name} has a parameter called {clash.pop()!r}, as a GLM's data are: rename it")
        observation, *parameters = self.outcome.arguments
        arguments = [
            observation,
            FormulaArgument(DESIGN, "(k)", "vector", single=True),
            FormulaArgument(COEFFICIENTS, "(k,c)" if self.family.vector else "(k)", "vector"),
            FormulaArgument(INTERCEPT, _axes("g" * (GROUPS in self.options) + "c" * self.family.vector), "real"),
            *(FormulaArgument(n, "()", "integer" if n == GROUPS else "real", False) for n in self.options),
            *(a for a in parameters if a.name != eta),
        ]
        key = ("glm", eta, *self.options, *self.outcome.key)
        super().__init__(f"{density.name}_glm", arguments, key, density.discrete)

    def of_kind(self, kind: LogFunction) -> DensityFormula:
        """Formula of a function of the outcome's distribution, whose parameters are those of `outcome_parameters`."""
        return self.outcome.of_kind(kind)

    def evaluator(self, known: Mapping[int, np.ndarray]) -> GLMEvaluator:
        return GLMEvaluator(self, known)

    def outcome_parameters(self, parameters: Sequence[Any]) -> dict[str, Any]:
        """Density's parameters by name, with the linear predictor, from the arguments after the observation.

        The arguments are arrays or PyTensor's variables, and so are the parameters.
        """
        by_name = dict(zip(self.names[1:], parameters, strict=True))
        by_name[self.eta] = self._linear_predictor(by_name)
        return {n: by_name[n] for n in self.outcome.names[1:]}

    def _linear_predictor(self, by_name: Mapping[str, Any]) -> Any:
        X, beta, alpha = by_name[DESIGN], by_name[COEFFICIENTS], by_name[INTERCEPT]
        vector = self.family.vector
        if vector:
            product = (X[..., None, :] @ beta)[..., 0, :]
        else:
            product = X @ beta if beta.ndim == 1 else (X * beta).sum(-1)
        if GROUPS in by_name:
            groups, alpha = by_name[GROUPS].astype("int64"), without_row_axis(alpha, vector)
            alpha = alpha[..., groups, :] if vector else alpha[..., groups]
        eta = product + alpha
        if OFFSET in by_name:
            eta = eta + (by_name[OFFSET][..., None] if vector else by_name[OFFSET])
        return eta

    def __reduce__(self) -> tuple:
        return _restored, (self.outcome, self.eta, self.options)


def _restored(outcome: DensityFormula, eta: str, options: tuple[str, ...]) -> GLMFormula:
    return GLMFormula(outcome.density, eta, options)


def _axes(letters: str) -> str:
    return f"({','.join(letters)})"


def without_row_axis(alpha: Any, vector: bool) -> Any:
    """Intercepts of groups, (…, 1, G), as (…, G).

    A variable broadcasts against rows, in whose place a GLM has the groups.
    """
    if alpha.ndim < 2 + vector:
        return alpha
    return alpha[..., 0, :, :] if vector else alpha[..., 0, :]


class GLMEvaluator(Evaluator):
    """Log-densities of a GLM, its sums, gradients and draws, at arrays of which some never change.

    Where the data never change, one model is bound to them; else each call binds a model to its own.
    """

    formula: GLMFormula

    def __init__(self, formula: GLMFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        data = {0, *(i for i, n in enumerate(formula.names) if n == DESIGN or n in formula.options)}
        self._data_stay = data <= self.known.keys()
        self._parameters = [i for i in range(len(formula.arguments)) if i not in data]
        self._plans: Plans[list[Shape | None] | None] = Plans()

    @cached_property
    def _model(self) -> GLM:
        """Model of data that never change."""
        return model_of(self.formula, {self.formula.names[i]: v for i, v in self.known.items()})

    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self.all_arguments(values)
        model, parameters = self._model_and_parameters(arguments)
        shape = common_batch(arguments, self.formula.ranks)
        return np.asarray(model.logpdf(**parameters), np.float64).reshape(shape)

    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        shapes = tuple([v.shape for v in values])
        passed = self._plans.plan(shapes, self._as_one_set, shapes)
        if passed is None:
            return self._sum_of_all(self.all_arguments(values), wrt)
        return self._sums_of_fixed_data(values, passed, wrt)

    def _as_one_set(self, shapes: Sequence[Shape]) -> list[Shape | None] | None:
        """Shapes in which the model takes its parameters, for arrays of these shapes; None for a number.

        Instead of the list, None unless the data never change and the arrays are one set of parameters: PyMC adds leading axes
        of length 1.
        """
        if not self._data_stay:
            return None
        of_all = {i: v.shape for i, v in self.known.items()} | dict(zip(self.free, shapes, strict=True))
        passed: list[Shape | None] = []
        for i in self._parameters:
            n_leading = len(of_all[i]) - self.formula.ranks[i]
            if math.prod(of_all[i][:n_leading]) != 1:
                return None
            passed.append(of_all[i][n_leading:] or None)
        return passed

    def _passed(self, values: Sequence[np.ndarray], shapes: Sequence[Shape | None], lead: Shape = ()) -> dict[str, Any]:
        """Parameters as the model takes them; `values` may have leading axes of sets."""
        arguments, found = self.all_arguments(values), dict[str, Any]()
        for i, shape in zip(self._parameters, shapes, strict=True):
            before = () if i in self.known else lead
            if shape is None and not before:
                found[self.formula.names[i]] = arguments[i].item()
            else:
                found[self.formula.names[i]] = arguments[i].reshape(*before, *((1,) if shape is None else shape))
        return found

    def _sums_of_fixed_data(
        self, values: Sequence[np.ndarray], passed: Sequence[Shape | None], wrt: tuple[int, ...], lead: Shape = ()
    ) -> list[np.ndarray]:
        """Sums for fixed data, of one set of parameters or of several.

        A sampler makes the call with one set thousands of times.
        """
        parameters = self._passed(values, passed, lead)
        if not wrt:
            return [np.asarray(self._model(**parameters))]
        names = self._names_in_model(wrt)
        value, gradients = self._model.value_and_grad(**parameters, wrt=names)
        shapes = [values[self.free.index(i)].shape for i in wrt]
        return [np.asarray(value), *[np.asarray(gradients[n]).reshape(s) for n, s in zip(names, shapes, strict=True)]]

    def compiled(self, shapes: Sequence[Shape], wrt: tuple[int, ...], n_sets: int | None = None) -> RepeatedSum | None:
        if (passed := self._plans.plan(tuple(shapes), self._as_one_set, shapes)) is None:
            return None
        lead = () if n_sets is None else (n_sets,)
        given = self._passed([np.ones((*lead, *shape)) for shape in shapes], passed, lead)
        found, names = self._model.compiled(given, self._names_in_model(wrt), n_sets), self.formula.names
        return found and found.fix({names[i]: v for i, v in self.known.items() if i in self._parameters})

    def sums_of_sets(self, values: Sequence[np.ndarray], n_sets: int, wrt: tuple[int, ...]) -> list[np.ndarray] | None:
        shapes = tuple([v.shape[1:] for v in values])
        passed = self._plans.plan(shapes, self._as_one_set, shapes)
        return None if passed is None else self._sums_of_fixed_data(values, passed, wrt, (n_sets,))

    def _sum_of_all(self, arguments: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        """Sums over all sets of parameters, of data that may change."""
        model, parameters = self._model_and_parameters(arguments)
        if not wrt:
            return [np.asarray(np.sum(model(**parameters)))]
        value, gradients = model.value_and_grad(**parameters, wrt=self._names_in_model(wrt))
        return [np.asarray(np.sum(value)), *self._in_order(gradients, arguments, wrt)]

    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self.all_arguments(values)
        model, parameters = self._model_and_parameters(arguments)
        gradients = model.weighted_gradients(weight, **parameters, wrt=self._names_in_model(wrt))
        return self._in_order(gradients, arguments, wrt)

    def draws(self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator) -> np.ndarray:
        return self.formula.density.rvs(**self.formula.outcome_parameters(parameters), size=size, rng=rng)

    def _model_and_parameters(self, arguments: Sequence[np.ndarray]) -> tuple[GLM, dict[str, Any]]:
        by_name = dict(zip(self.formula.names, arguments, strict=True))
        model = self._model if self._data_stay else model_of(self.formula, by_name)._for_one_call()
        return model, parameters_of_model(self.formula, by_name)

    def _names_in_model(self, wrt: tuple[int, ...]) -> tuple[str, ...]:
        """Names of arguments in the model, which calls every density's observation y."""
        names = self.formula.names
        return tuple([names[i] if i else OBSERVATIONS for i in wrt])

    def _in_order(
        self, gradients: Mapping[str, Any], arguments: Sequence[np.ndarray], wrt: tuple[int, ...]
    ) -> list[np.ndarray]:
        """Derivatives by names as a list, shaped like their arguments."""
        own = zip((gradients[n] for n in self._names_in_model(wrt)), (arguments[i] for i in wrt), strict=True)
        return [np.reshape(gradient, a.shape).astype(a.dtype) for gradient, a in own]


def model_of(formula: GLMFormula, arguments: Mapping[str, np.ndarray]) -> GLM:
    """Model of the data among the arguments."""
    X = arguments[DESIGN].reshape(_without_batch(DESIGN, arguments[DESIGN], 2))
    data: dict[str, Any] = {}
    for name, in_model in ((formula.names[0], OBSERVATIONS), *((n, n) for n in formula.options)):
        rows = arguments[name].reshape(_without_batch(in_model, arguments[name], 1))
        data[in_model] = np.broadcast_to(rows, len(X))
    if GROUPS in data:
        data[GROUPS] = data[GROUPS].astype(np.int64)
    return GLM(formula.density, data.pop(OBSERVATIONS), X, eta=formula.eta, **data)


def _without_batch(name: str, value: np.ndarray, rank: int) -> tuple[int, ...]:
    """Shape of data without leading axes, along which they cannot differ: (1, N, k) becomes (N, k)."""
    lead = value.shape[: max(value.ndim - rank, 0)]
    if set(lead) - {1}:
        raise ValueError(f"{name} has shape {value.shape}: the data of a GLM are the same for all sets of coefficients")
    return value.shape[len(lead) :]


def parameters_of_model(formula: GLMFormula, arguments: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Coefficients, intercept and the density's other parameters as a model's methods take them."""
    family, ranks = formula.family, dict(zip(formula.names, formula.ranks, strict=True))
    beta, rank = arguments[COEFFICIENTS], ranks[COEFFICIENTS]
    batch = batch_of(beta, rank)
    if batch and batch[-1] != 1:
        raise ValueError(f"beta has shape {beta.shape}: coefficients that differ from row to row make no GLM")
    parameters: dict[str, Any] = {COEFFICIENTS: beta.reshape(*batch[:-1], *core_of(beta, rank)) if batch else beta}
    for name in (INTERCEPT, *family.parameters):
        value = arguments[name]
        parameters[name] = value.item() if value.size == 1 and not ranks[name] else value
    if GROUPS in formula.options:
        parameters[INTERCEPT] = without_row_axis(arguments[INTERCEPT], family.vector)
    return parameters
