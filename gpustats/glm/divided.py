"""GLMs that are evaluated in pieces, and that travel to other processes: see `parallel.pieces.Divisible`."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from ..parallel.devices import example
from ..parallel.remade import Remade
from ..runtime.base import Runtime
from ..runtime.host_memory import HostRows
from ..runtime.types import Array, Value
from .arguments import Route
from .calls import Calls
from .data import table_shape
from .family import DESIGN, INTERCEPT, OBSERVATIONS
from .names import Names
from .varying import made_with


class Divided(Remade, Calls):
    """GLM whose rows may lie in pieces."""

    _same_bits: bool
    _names: Names
    _random: tuple[str, ...]

    if TYPE_CHECKING:
        def _bind(self, data: Mapping[str, Array], runtime: Runtime, stay: bool = True) -> None: ...

    def _start(self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Callable[[], object] | None:
        if method == "__call__":
            finish = self._start_repeated(*args, **kwargs)
            return finish and (lambda: finish()[0])
        missing = {"wrt": None} if len(args) > 1 else {"wrt": None, INTERCEPT: None}
        return self._start_repeated(*args, **{**missing, **kwargs}) if method == "value_and_grad" else None

    def _row_axes(
        self, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> tuple[Sequence[str], dict[str, int]]:
        if method == "_sums":
            return (), {}
        names, vector = list(self.parameters), self._family.vector
        axes = {OBSERVATIONS: 0, DESIGN: 0, "logpdf": -1, "linear_predictor": -1 - vector, "clusters": -1}
        own = {n: v for n, v in kwargs.items() if n not in ("wrt", "factors", "clusters", "n_clusters")}
        self._refuse_named(method)
        if method == "weighted_gradients":
            names.insert(0, "factors")
            factors = args[0] if args else kwargs["factors"]
            if np.shape(factors)[-1:] != (self.n_rows,):
                raise ValueError(f"factors has shape {np.shape(factors)}: it must be ({self.n_rows},) or (S, {self.n_rows})")
            axes["factors"], args = -1, args[1:]
        arguments = self._linear_arguments if method == "linear_predictor" else self._all_arguments
        for name, argument in arguments(*args, **own).by_name.items():
            if argument.kind is Route.ROW:
                axes[name] = -1 - len(argument.core)
                if name == INTERCEPT and self.n_groups is not None:
                    raise ValueError("alpha has a value for each row: leave out groups where the rows are divided")
        return names, axes

    def _recipe(self) -> Callable[..., Self]:
        if self._on_rows:
            return functools.partial(made_with, type(self), self.density, self._family.eta, self._terms)
        made: Callable[..., Self] = type(self)
        return functools.partial(
            made, self.density, eta=self._family.eta, n_groups=self.n_groups, same_bits=self._same_bits
        )

    def _kept(self) -> dict[str, object]:
        return {"_names": self._names, "_random": self._random}

    def _held(self) -> dict[str, Value]:
        if self._pieces is not None:
            return self._pieces.held()
        return self._evaluator.on_host()

    def _piece(self, data: Mapping[str, np.ndarray | HostRows], runtime: Runtime) -> Self:
        piece = copy.copy(self)
        piece._pieces, piece.n_rows = None, data[DESIGN].shape[0]
        piece._bind(data, runtime, stay=False)
        return piece

    def _places(self) -> Mapping[str, Array] | None:
        return None if self._on_rows else self._data.places()

    def _trial(self) -> tuple[Value, ...]:
        beta = np.zeros((self._columns, 3) if self._family.vector else self._columns)
        arguments = {a.name: a for a in self.density.log_density.arguments}
        tables = (np.zeros(table_shape(t)) for t in self._terms)
        return (beta, 0.0, *(example(arguments[n], 3) for n in self._family.parameters), *tables)
