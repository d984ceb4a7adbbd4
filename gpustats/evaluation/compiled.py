"""Sums for compiled code, which has a device find them and their derivatives again and again, without Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..runtime.cached import cached_property

if TYPE_CHECKING:
    from ..runtime.base import Runtime
    from ..runtime.replay import Enqueued, Replay, Start
    from ..runtime.types import DType, Value


class Repeatable(NamedTuple):
    """Work that a device can do again with other numbers: see `Runtime.replay`."""

    runtime: Runtime
    n_given: int
    n_found: int
    start: Start
    dtype: DType

    def replay(self) -> Replay | None:
        """Replay of the work; None where the device does it for Python alone."""
        return self.runtime.replay(self.n_given, self.n_found, self.start, self.dtype)

    def enqueued(self) -> Enqueued | None:
        """Work for a stream of somebody else's; None where that cannot be."""
        return self.runtime.enqueued(self.n_given, self.n_found, self.start, self.dtype)


@dataclass(eq=False)
class RepeatedSum:
    """Sums of one set of arguments or several, and their derivatives, which compiled code has the device find.

    Attributes
    ----------
    work : Repeatable
    values : (sets,) ndarray of int, or (sets, 0)
        Where the sums lie among the numbers that the work leaves, if it leaves any.
    arguments : dict of str to (ndarray, ndarray) of int
        Argument -> elements of it, (m,), and where they lie among the numbers that the work takes, (sets, m) or, where all sets
        share them, (1, m).
    derivatives : dict of str to list of (ndarray, ndarray) of int
        Argument -> pairs: elements of it, (m,), and where the derivatives in them lie, (sets, m). Where an element is in
        several pairs, or several times in one, these are added.
    constants : dict of str to array_like
        Numbers of constant arguments, by their names.
    """

    work: Repeatable
    values: np.ndarray
    arguments: dict[str, tuple[np.ndarray, np.ndarray]]
    derivatives: dict[str, list[tuple[np.ndarray, np.ndarray]]]
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_sets(self) -> int:
        """Number of sets of arguments."""
        return len(self.values)

    @cached_property
    def replay(self) -> Replay | None:
        """Replay for one thread at a time; None where the device does work for Python alone."""
        if (made := self.work.replay()) is not None:
            self.fill(made.given)
        return made

    def fill(self, given: np.ndarray) -> None:
        """Write the constant arguments among the numbers that the work takes."""
        for name, value in self.constants.items():
            elements, places = self.arguments[name]
            given[places] = np.ravel(value)[elements]

    def fix(self, values: Mapping[str, Any]) -> RepeatedSum:
        """Sums with constant arguments, by their names, the same in all sets."""
        return replace(self, constants={**self.constants, **values})

    def of_numbers(self, names: Collection[str]) -> RepeatedSum:
        """Sums in which some arguments are numbers, each of them given several times."""

        def alike(name: str, places: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            return (np.zeros_like(places[0]), places[1]) if name in names else places

        given = {n: alike(n, its) for n, its in self.arguments.items()}
        left = {n: [alike(n, its) for its in parts] for n, parts in self.derivatives.items()}
        return replace(self, arguments=given, derivatives=left)

    def renamed(self, arguments: Mapping[str, str], derivatives: Mapping[str, str]) -> RepeatedSum:
        """Sums that call arguments and derivatives otherwise; arguments without a new name are constant."""
        given = {**self.arguments, **{new: self.arguments[old] for old, new in arguments.items()}}
        return replace(self, arguments=given, derivatives={new: self.derivatives[old] for old, new in derivatives.items()})

    def of_tables(self, columns: Mapping[str, Sequence[str]]) -> RepeatedSum:
        """Sums of arguments by other names, each of which has one of the present arguments in each column."""

        def joined(places: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
            return [(len(places) * elements + c, device) for c, (elements, device) in enumerate(places)]

        given, left = dict[str, tuple[np.ndarray, np.ndarray]](), dict[str, list[tuple[np.ndarray, np.ndarray]]]()
        for name, its in columns.items():
            elements, device = zip(*joined([self.arguments[n] for n in its]), strict=True)
            given[name] = np.concatenate(elements), np.concatenate(device, axis=-1)
            if its[0] in self.derivatives:
                parts = zip(*(self.derivatives[n] for n in its), strict=True)
                left[name] = [pair for part in parts for pair in joined(part)]
        return replace(self, arguments=given, derivatives=left)


class Replayable:
    """Model whose log-likelihood and derivatives compiled code may find without Python."""

    @property
    def parameters(self) -> Sequence[str]:
        """Names of the parameters that the methods take, in their order."""
        raise NotImplementedError

    @property
    def argument_names(self) -> Sequence[str]:
        """Names of what all methods take, in their order: of the parameters, unless there is more."""
        return self.parameters

    @property
    def differentiable(self) -> Sequence[str]:
        """Names of the arguments in which there are derivatives."""
        return self.argument_names

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Values of the arguments that a call may leave out."""
        return {}

    def along(self, names: Collection[str]) -> Replayable | None:
        """Model of the derivative in a direction that has components in some parameters, given behind the parameters.

        None where it is not known.
        """
        return None

    def compiled(self, arguments: Mapping[str, Value], wrt: Sequence[str], n_sets: int | None = None) -> RepeatedSum | None:
        """Sum and its derivatives for compiled code.

        Parameters
        ----------
        arguments : mapping
            Name of each parameter -> a value of the shape that it has in all calls.
        wrt : sequence of str
            Names of the parameters in which derivatives are wanted.
        n_sets : int, optional
            Number of sets of parameters, the first axis of each value; by default there is one set, and no such axis.

        Returns
        -------
        RepeatedSum or None
            See `gpustats.evaluation.repeated`. None where only Python can evaluate such calls.
        """
        return None

    def n_terms(self, arguments: Mapping[str, Value]) -> int:
        """Number of terms of the sum, for parameters of these shapes.

        Raises
        ------
        TypeError
            Where the terms are not known.
        """
        raise TypeError(f"a {type(self).__name__} has no terms: take gs.Rows of its density")

    def compiled_terms(self, arguments: Mapping[str, Value], n_sets: int | None = None) -> RepeatedSum | None:
        """Terms of the sum for compiled code, as if they were derivatives in ``terms``: see `compiled`."""
        return None
