"""Replicated data: for draws of a posterior, data sets that the model's density draws, or a sampler of the user's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..density import Density
from ..glm import GLM
from ..likelihood import Likelihood
from ..parallel.pieces import in_memory
from ..rows.leaves import Column, Dot, Gather, Leaf, PerRow, Scalar, SparseDot
from ..rows.model import Rows
from ..runtime import arrays
from ..runtime.transfers import to_host
from ..runtime.types import Array, Value

if TYPE_CHECKING:
    from ..draws.generator import Generator
    from ..runtime.base import Runtime

#: Sampler of a user's: from values of the parameters by name, (draws, …) each, and a generator, to data sets, (draws, N).
UsersSampler: TypeAlias = Callable[[Mapping[str, Any], Any], Any]


class Replicas(ABC):
    """Data sets like the observed one; a class for each kind of models.

    Parameters
    ----------
    model : Likelihood, GLM or Rows
    """

    n_arrays = 1  # (draws, N), that are there at a time

    def __init__(self, model: Any):
        self.model = model

    def _data(self) -> dict[str, Array]:
        """Data of the model by their names, on the host."""
        data = in_memory(self.model._held())
        return {n: to_host(v) if arrays.is_device_array(v) else v for n, v in data.items()}

    @property
    @abstractmethod
    def observed(self) -> np.ndarray:
        """Data set of the model, (N,) or (N, d)."""

    @abstractmethod
    def drawn(self, given: Mapping[str, Value], n_draws: int, generator: Generator, runtime: Runtime | None) -> Array:
        """Data sets for values of the parameters, (n_draws, …) each, or for all draws; on a device, if that is given."""


def replicas_of(model: Likelihood | GLM | Rows, sampler: UsersSampler | None) -> Replicas:
    """Replicas of a model; TypeError for a model of which nothing can be drawn."""
    if isinstance(model, Rows):
        return _OfRows(model) if sampler is None else _OfSampler(model, sampler)
    if sampler is not None:
        raise TypeError(f"sampler is for a Rows: a {type(model).__name__} draws by its density")
    if isinstance(model, Likelihood | GLM):
        return _OfLikelihood(model) if isinstance(model, Likelihood) else _OfGLM(model)
    raise TypeError(f"replicated data are drawn of a Likelihood, a GLM or a Rows, not of a {type(model).__name__}")


class _OfLikelihood(Replicas):
    @property
    def observed(self) -> np.ndarray:
        return np.asarray(self._data()["x"])

    def drawn(self, given: Mapping[str, Value], n_draws: int, generator: Generator, runtime: Runtime | None) -> Array:
        n_rows: int = self.model.x.shape[0]
        return self.model.density.rvs(**_placed(given, runtime), size=(n_draws, n_rows), rng=generator)


class _OfGLM(Replicas):
    @property
    def observed(self) -> np.ndarray:
        return np.asarray(self._data()["y"])

    def drawn(self, given: Mapping[str, Value], n_draws: int, generator: Generator, runtime: Runtime | None) -> Array:
        return self.model.rvs(**_placed(given, runtime), rng=generator)


class _OfSampler(Replicas):
    """Data sets of a user's sampler; the data are the first argument of the function of a row."""

    def __init__(self, model: Rows, sampler: UsersSampler | None):
        super().__init__(model)
        self._sampler = sampler
        self._bound = model._bound
        self._first = self._bound.arguments[0].name
        if not isinstance(self._bound.leaves[self._first], Column):
            raise ValueError(f"{self._first} is the function's first argument, and must be a column: the data to be replicated")

    @property
    def observed(self) -> np.ndarray:
        return np.asarray(self._data()[self._first])

    def drawn(self, given: Mapping[str, Value], n_draws: int, generator: Generator, runtime: Runtime | None) -> Array:
        assert self._sampler is not None
        found = self._sampler(given, generator)
        if np.shape(found)[:1] != (n_draws,) or np.shape(found)[1:] != self.observed.shape:
            wanted = (n_draws, *self.observed.shape)
            raise ValueError(f"sampler gives shape {np.shape(found)} for {n_draws} draws, and must give {wanted}")
        return found if runtime is None or arrays.is_device_array(found) else runtime.to_device(np.ascontiguousarray(found))


class _OfRows(_OfSampler):
    """Data sets of the density that is the function of a row, without weights."""

    def __init__(self, model: Rows):
        density = model._bound.function
        if not isinstance(density, Density):
            raise TypeError(
                f"{model._bound.row.name} is a function of rows, and only the density of gs.Rows(gs.normal, …) has a sampler: "
                "give sampler=, a function of parameters by name, (draws, …), and of rng that gives data sets, (draws, N)"
            )
        super().__init__(model, None)
        self._density = density
        self._bound = model._bound.over({n: np.asarray(v) for n, v in self._data().items()})  # in memory
        self._leaves = {a.name: self._bound.leaves[a.name] for a in self._bound.arguments[1:]}
        self.n_arrays = 1 + sum(not isinstance(leaf, Scalar | Column) for leaf in self._leaves.values())

    def drawn(self, given: Mapping[str, Value], n_draws: int, generator: Generator, runtime: Runtime | None) -> Array:
        arguments = {a: self._of_rows(a, leaf, given.get(leaf.of or a)) for a, leaf in self._leaves.items()}
        return self._density.rvs(**_placed(arguments, runtime), size=(n_draws, self.model.n_rows), rng=generator)

    def _of_rows(self, argument: str, leaf: Leaf, value: Any) -> Any:
        """Values of an argument, which go with (draws, N), behind which vectors have an axis of their elements."""
        if isinstance(leaf, Column):
            return leaf.numbers
        parameter, vector = self._bound.parameters[leaf.of or argument], argument in self._bound.vectors
        by_draw = np.ndim(value) > parameter.rank
        match leaf:
            case Scalar():
                return np.asarray(value)[:, None] if by_draw else value
            case Gather():
                return value[(*[slice(None)] * by_draw, *leaf.indices)]
            case Dot() if vector:
                return leaf.X @ value
            case Dot():
                return value @ leaf.X.T
            case SparseDot() if not vector:
                return (leaf.X.as_scipy() @ value.T).T
            case PerRow():
                return value[..., leaf.offset : leaf.offset + self.model.n_rows]
        raise NotImplementedError(f"{argument} is {leaf.kind}, of which no data are replicated: give sampler=")


def _placed(given: Mapping[str, Value], runtime: Runtime | None) -> dict[str, Value]:
    """Values where results are to lie."""
    if runtime is None:
        return dict(given)
    return {n: v if isinstance(v, float) else runtime.to_device(np.ascontiguousarray(v)) for n, v in given.items()}
