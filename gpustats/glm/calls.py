"""Parts of a call of a GLM: its arguments, what is computed for it, and calls that are repeated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from ..density import Density
from ..evaluation.arguments import check_wrt_among
from ..evaluation.compiled import RepeatedSum, Replayable
from ..evaluation.kinds import Plans, kind_of
from ..evaluation.repeated import RepeatedCall
from ..runtime.types import Value
from .arguments import Arguments, arguments_of
from .data import GLMData, Named, Sizes
from .family import COEFFICIENTS, DESIGN, INTERCEPT, OBSERVATIONS, Family
from .launch import Launcher
from .on_rows import Delegate, RowsCall
from .repeated import repeatable, repeated
from .results import Evaluator
from .second_derivatives import SecondDerivatives
from .varying import Varying

if TYPE_CHECKING:
    from ..parallel.pieces import Pieces
    from ..runtime.base import Runtime

#: Repeated call of a GLM's summed log-density and its derivatives.
Call: TypeAlias = "RepeatedCall[tuple[Value, dict[str, Value]]]"


class Calls(Replayable):
    """GLM that can be called."""

    n_rows: int
    n_groups: int | None
    _family: Family
    _columns: int  # of X
    _terms: tuple[Named, ...]
    _on_rows: bool  # whether a sum over rows evaluates it
    _pieces: Pieces | None
    _runtime: Runtime
    _data: GLMData
    _launcher: Launcher
    _evaluator: Evaluator | Varying
    _second: SecondDerivatives
    _delegate: Delegate | None
    _calls: Plans[Call | RowsCall | None]

    @property
    def density(self) -> Density:
        """The distribution of an observation."""
        return self._family.density

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the methods take, in their order."""
        return (COEFFICIENTS, INTERCEPT, *self._family.parameters, *(t.name for t in self._terms))

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Names of the parameters in which there are derivatives."""
        return tuple(n for n in self.parameters if n not in self._family.whole)

    def _for_one_call(self) -> Self:
        """The model itself, which will be called once: its data are not laid out anew for faster calls."""
        self._delegate = None
        return self

    @property
    def _sizes(self) -> Sizes:
        return Sizes(self.n_rows, self._columns, self.n_groups, self._terms, self._on_rows)

    def _refuse_named(self, method: str) -> None:
        if self._on_rows and method == "weighted_gradients":
            raise ValueError("weighted_gradients is not to be had beside groups with names or a sparse X")

    def _linear_arguments(self, beta: Value, alpha: Value = 0.0, **tables: Value) -> Arguments:
        """Arguments of a call that computes the linear predictor."""
        return arguments_of(self._family, self._sizes, beta, alpha, (), tables, density=False)

    def _all_arguments(self, beta: Value, alpha: Value = 0.0, *args: Value, **kwargs: Value) -> Arguments:
        """Arguments of a call that computes the density."""
        return arguments_of(self._family, self._sizes, beta, alpha, args, kwargs)

    def _start_repeated(
        self, beta: Value, alpha: Value = 0.0, *args: Value, wrt: str | Collection[str] | None = (), **kwargs: Value
    ) -> Callable[[], tuple[Value, dict[str, Value]]] | None:
        """Start a call that is repeated with other numbers; returns the wait for value and derivatives, or None."""
        wrt = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        if self._terms or (found := self._repeated(wrt, beta, alpha, args, kwargs)) is None:
            return None
        return found.start((beta, 0.0 if alpha is None else alpha, *args, *kwargs.values()))

    def _value_and_grad(
        self, wrt: str | Collection[str] | None, beta: Value, alpha: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> tuple[Value, dict[str, Value]]:
        if (finish := self._start_repeated(beta, alpha, *args, wrt=wrt, **kwargs)) is not None:
            return finish()
        in_wrt = self._wrt(wrt, alpha is not None)
        arguments = self._all_arguments(beta, alpha, *args, **kwargs)
        return self._evaluator.value_and_grad(arguments, in_wrt)

    def along(self, names: Collection[str]) -> Replayable | None:
        if self._pieces is not None:
            return None
        if isinstance(self._evaluator, Varying):
            return self._evaluator.along(names)
        return self._delegate.along(names) if self._delegate else None

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        if self._pieces is not None:
            return None
        if isinstance(self._evaluator, Varying):
            return self._evaluator.compiled(arguments, wrt, 0 if n_sets is None else 1)
        others, of_numbers = dict(arguments), list[str]()
        if n_sets is not None:  # what all rows share has an axis for rows, too
            ranks = self._family.ranks | {INTERCEPT: int(self._family.vector)}
            others = {n: v if n == COEFFICIENTS or v.ndim > 1 + ranks[n] else v[:, None] for n, v in others.items()}
            if self._family.vector and INTERCEPT in others and others[INTERCEPT].ndim == 2:  # a number of all outcomes
                others[INTERCEPT] = np.broadcast_to(others[INTERCEPT][..., None], (n_sets, 1, others[COEFFICIENTS].shape[-1]))
                of_numbers = [INTERCEPT]
        beta, alpha = others.pop(COEFFICIENTS), others.pop(INTERCEPT, 0.0)
        if (found := self._repeated(tuple(wrt), beta, alpha, (), others)) is None:
            return None
        if (made := found.compiled((beta, alpha, *others.values()))) is None:
            return None
        return made.of_numbers(of_numbers) if INTERCEPT in arguments else made.fix({INTERCEPT: alpha})

    def _repeated(
        self, wrt: str | tuple[str, ...] | None, beta: Value, alpha: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Call | RowsCall | None:
        """Evaluator for calls of this kind; None where calls differ in more than their numbers."""
        if (kind := kind_of((beta, 0.0 if alpha is None else alpha, *args, *kwargs.values()))) is None:
            return None
        return self._calls.plan((kind, alpha is None, tuple(kwargs), wrt), self._new_repeated, wrt, beta, alpha, args, kwargs)

    def _new_repeated(
        self, wrt: str | tuple[str, ...] | None, beta: Value, alpha: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Call | RowsCall | None:
        names = [COEFFICIENTS, INTERCEPT, *self._family.parameters[: len(args)], *kwargs]
        in_wrt = self._wrt(wrt, alpha is not None)
        arguments = self._all_arguments(beta, alpha, *args, **kwargs)
        if not repeatable(arguments, in_wrt, names):
            return None
        if isinstance(self._evaluator, Varying):  # of a sparse X
            return RowsCall(arguments, in_wrt, names, self._evaluator.rows(True))
        on_rows = self._delegate and self._delegate.call(arguments, in_wrt, names)
        return on_rows or repeated(self._launcher, arguments, in_wrt, names)

    def _wrt(self, wrt: str | Collection[str] | None, intercept: bool) -> tuple[str, ...]:
        can = self.differentiable
        if wrt is None:
            return tuple(n for n in can if n != INTERCEPT or intercept)
        return check_wrt_among(wrt, can if self._on_rows else [*can, DESIGN, *{OBSERVATIONS} - self._family.whole])
