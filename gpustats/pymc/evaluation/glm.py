"""From PyTensor's arrays to a GLM on a device."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...density import Density
from ...draws.generator import Generator
from ...glm import GLM
from ...glm.family import COEFFICIENTS, DESIGN, INTERCEPT, Family
from .density import Evaluator, Formula, in_one_process

#: What an observation has beside its row of X, where it is given.
OPTIONS = ("groups", "offset", "weights")


class GLMFormula(Formula):
    """A density of which one parameter is the linear predictor of a GLM.

    Its arguments are the observation, a row of X, the coefficients, the intercept (a vector over the groups, where there are
    groups), those of `OPTIONS` that are given, and the density's other parameters.

    Parameters
    ----------
    density : Density
    eta : str
        Name of the parameter that is the linear predictor.
    options : tuple of str
        Of ``"groups"``, ``"offset"`` and ``"weights"``.
    """

    single = frozenset({DESIGN})

    def __init__(self, density: Density, eta: str, options: Sequence[str] = ()):
        self.plain, self.eta, self.options = Formula(density), eta, tuple(n for n in OPTIONS if n in options)
        self.family = Family(density, eta)
        self.density, self.kind, self.words = density, "logpdf", self.plain.words
        self.name = f"{density.name}_glm"
        vector, grouped = self.family.vector, "groups" in self.options
        of = dict(zip(self.plain.names, zip(self.plain.ranks, self.plain.cores, self.plain.domains, strict=True), strict=True))
        arguments = {
            self.plain.names[0]: of[self.plain.names[0]],
            DESIGN: (1, "(k)", "vector"),
            COEFFICIENTS: (1 + vector, "(k,c)" if vector else "(k)", "vector"),
            INTERCEPT: (grouped + vector, ("(g,c)" if vector else "(g)") if grouped else "(c)" if vector else "()", "real"),
            **{n: (0, "()", "integer" if n == "groups" else "real") for n in self.options},
            **{n: of[n] for n in self.family.parameters},
        }
        if clash := set(OPTIONS) & set(self.family.parameters):
            raise ValueError(f"{density.name} has a parameter called {clash.pop()!r}, as a GLM's data are: rename it")
        self.names = tuple(arguments)
        self.ranks, self.cores, self.domains = zip(*arguments.values(), strict=True)
        self.key = ("glm", eta, *self.options, *self.plain.key)
        moved = {self.plain.names[i] for i in self.plain.differentiable} | {DESIGN, COEFFICIENTS, INTERCEPT}
        self.differentiable = tuple(i for i, n in enumerate(self.names) if n in moved)

    def evaluator(self, known: Mapping[int, np.ndarray]) -> Evaluator:
        return GLMEvaluator(self, known)

    def given(self, values: Sequence[Any]) -> dict[str, Any]:
        """The arguments by their names; of all, or of all but the observation."""
        return dict(zip(self.names[len(self.names) - len(values) :], values, strict=True))

    def plain_parameters(self, parameters: Sequence[Any]) -> dict[str, Any]:
        """The density's own parameters by their names, the linear predictor among them: arrays or variables as they come."""
        given, vector = self.given(parameters), self.family.vector
        X, beta, alpha = given[DESIGN], given[COEFFICIENTS], given[INTERCEPT]
        if vector:
            eta = (X[..., None, :] @ beta)[..., 0, :]
        else:
            eta = X @ beta if beta.ndim == 1 else (X * beta).sum(-1)
        if "groups" in given:
            groups, alpha = given["groups"].astype("int64"), without_row_axis(alpha, vector)
            alpha = alpha[..., groups, :] if vector else alpha[..., groups]
        eta = eta + alpha
        if "offset" in given:
            eta = eta + (given["offset"][..., None] if vector else given["offset"])
        return {n: eta if n == self.eta else given[n] for n in self.plain.names[1:]}

    def __reduce__(self) -> tuple:
        return _restored, (self.plain, self.eta, self.options)


def _restored(plain: Formula, eta: str, options: tuple[str, ...]) -> GLMFormula:
    return GLMFormula(plain.density, eta, options)


class GLMEvaluator(Evaluator):
    """A GLM's values, sums, gradients and draws at arguments of which some never change."""

    formula: GLMFormula

    def __init__(self, formula: GLMFormula, known: Mapping[int, np.ndarray]):
        super().__init__(formula, known)
        self._bound: GLM | None = None
        self._numbers: dict[Any, dict[str, int] | None] = {}

    @in_one_process
    def table(self, values: Sequence[np.ndarray]) -> np.ndarray:
        arguments = self._merge(values)
        glm, parameters = self._call(arguments)
        shape = np.broadcast_shapes(*(v.shape[: v.ndim - r] for v, r in zip(arguments, self.formula.ranks, strict=True)))
        return np.asarray(glm.logpdf(**parameters), np.float64).reshape(shape)

    @in_one_process
    def sums(self, values: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[np.ndarray]:
        if (plain := self._plain(values)) is not None:  # the call that a sampler makes thousands of times
            assert self._bound is not None
            if not wrt:
                return [np.asarray(self._bound(**plain))]
            names = self._wrt(wrt)
            value, found = self._bound.value_and_grad(**plain, wrt=names)
            shapes = (values[self.free.index(i)].shape for i in wrt)
            return [np.asarray(value), *(np.asarray(found[n]).reshape(s) for n, s in zip(names, shapes, strict=True))]
        arguments = self._merge(values)
        glm, parameters = self._call(arguments)
        if not wrt:
            return [np.asarray(np.sum(glm(**parameters)))]
        names = self._wrt(wrt)
        value, gradients = glm.value_and_grad(**parameters, wrt=names)
        return [np.asarray(np.sum(value)), *self._shaped(gradients, names, arguments, wrt)]

    @in_one_process
    def weighted(self, values: Sequence[np.ndarray], weight: np.ndarray, wrt: tuple[int, ...]) -> list[np.ndarray]:
        arguments = self._merge(values)
        glm, parameters = self._call(arguments)
        names = self._wrt(wrt)
        return self._shaped(glm.weighted_gradients(weight, **parameters, wrt=names), names, arguments, wrt)

    @in_one_process
    def draws(
        self, parameters: Sequence[np.ndarray], size: tuple[int, ...], length: int | None, rng: Generator
    ) -> np.ndarray:
        return self.formula.density.rvs(**self.formula.plain_parameters(parameters), size=size, rng=rng)

    # -- arguments

    def _plain(self, values: Sequence[np.ndarray]) -> dict[str, Any] | None:
        """What a bound GLM takes, where the data and nothing else never change, and there is one set of numbers; else None."""
        shapes = tuple([v.shape for v in values])
        if shapes not in self._numbers:
            ranks = dict(zip(self.formula.names, self.formula.ranks, strict=True))
            names = [self.formula.names[i] for i in self.free]
            whole = self._bound is not None and len(self.free) + len(self._data) == len(ranks)
            plain = whole and all(n in ranks and len(s) == ranks[n] for n, s in zip(names, shapes, strict=True))
            if self._bound is None:
                return None
            self._numbers[shapes] = {n: ranks[n] for n in names} if plain else None
        known = self._numbers[shapes]
        if known is None:
            return None
        return {n: v if rank else v.item() for (n, rank), v in zip(known.items(), values, strict=True)}

    @functools.cached_property
    def _data(self) -> set[int]:
        """The arguments that are data."""
        data = {DESIGN, *self.formula.options}
        return {i for i, n in enumerate(self.formula.names) if i == 0 or n in data} & set(self.known)

    def _wrt(self, wrt: tuple[int, ...]) -> tuple[str, ...]:
        return tuple("y" if i == 0 else self.formula.names[i] for i in wrt)

    def _shaped(
        self, gradients: Mapping[str, Any], names: Sequence[str], arguments: Sequence[np.ndarray], wrt: Sequence[int]
    ) -> list[np.ndarray]:
        own = [(gradients[n], arguments[i]) for n, i in zip(names, wrt, strict=True)]
        return [np.reshape(gradient, a.shape).astype(a.dtype) for gradient, a in own]

    def _call(self, arguments: Sequence[np.ndarray]) -> tuple[GLM, dict[str, Any]]:
        """The model of the data, and what its methods take."""
        formula = self.formula
        y, *rest = arguments
        given = formula.given(rest)
        data = {DESIGN: given[DESIGN], **{n: given[n] for n in formula.options}}
        glm = self._bound
        if glm is None:
            X = data[DESIGN].reshape(_alone(DESIGN, data[DESIGN], 2))
            by_row = {n: v.reshape(_alone(n, v, 1)) for n, v in {"y": y, **data}.items() if n != DESIGN}
            own: dict[str, Any] = {n: np.broadcast_to(v, len(X)) for n, v in by_row.items()}
            if "groups" in own:
                own["groups"] = own["groups"].astype(np.int64)
            glm = GLM(formula.density, own.pop("y"), X, eta=formula.eta, **own)
            if len(self._data) == 1 + len(data):
                self._bound = glm
        beta = given[COEFFICIENTS]
        rank = 1 + formula.family.vector
        batch = beta.shape[: beta.ndim - rank]
        if batch and batch[-1] != 1:
            raise ValueError(f"beta has shape {beta.shape}: coefficients that differ from row to row make no GLM")
        parameters = {COEFFICIENTS: beta.reshape(*batch[:-1], *beta.shape[beta.ndim - rank :]) if batch else beta}
        ranks = dict(zip(formula.names, formula.ranks, strict=True))
        for name in (INTERCEPT, *formula.family.parameters):
            value = given[name]
            parameters[name] = value.item() if value.size == 1 and not ranks[name] else value
        if "groups" in formula.options:
            parameters[INTERCEPT] = without_row_axis(given[INTERCEPT], formula.family.vector)
        return glm, parameters


def _alone(name: str, value: np.ndarray, rank: int) -> tuple[int, ...]:
    """The shape without leading axes, which data share: (1, N, k) is (N, k)."""
    lead = value.shape[: max(value.ndim - rank, 0)]
    if set(lead) - {1}:
        raise ValueError(f"{name} has shape {value.shape}: the data of a GLM are the same for all sets of coefficients")
    return value.shape[len(lead) :]


def without_row_axis(alpha: Any, vector: bool) -> Any:
    """Intercepts (…, 1, G) of groups as (…, G), an array or a variable: the groups take the place of the rows."""
    if alpha.ndim < 2 + vector:
        return alpha
    return alpha[..., 0, :, :] if vector else alpha[..., 0, :]
