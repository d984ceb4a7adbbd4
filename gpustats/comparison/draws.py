"""Draws of a posterior: read from arrays by name or from ArviZ's trees, with an axis of all draws in front."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..runtime import arrays
from ..runtime.transfers import to_host
from ..runtime.types import Shape, Value

#: Draws as users give them: arrays by the names of parameters, or ArviZ's tree with a posterior.
GivenDraws: TypeAlias = "Mapping[str, Value] | Any"


@dataclass(frozen=True)
class Names:
    """Names of a model's parameters.

    Attributes
    ----------
    ranks : mapping
        Name -> number of axes of a value, at least.
    exact : collection of str
        Those whose values have no more axes.
    optional : collection of str
        Those that may be missing.
    n_rows : int, optional
        Number of rows, where values may have a number for each.
    """

    ranks: Mapping[str, int]
    exact: Collection[str]
    optional: Collection[str] = ()
    n_rows: int | None = None


@dataclass(frozen=True)
class Draws:
    """Draws of the parameters of a model.

    Attributes
    ----------
    values : dict
        Name -> (S, …) ndarray, or a value that all draws share.
    shared : set of str
        Names of the values that all draws share.
    lead : tuple of int
        (chains, draws), or (draws,).
    posterior : Dataset or None
        ArviZ's, if the draws came so.
    """

    values: dict[str, Value]
    shared: set[str]
    lead: Shape
    posterior: Any

    @property
    def n(self) -> int:
        """Number of all draws."""
        return math.prod(self.lead)

    def __getitem__(self, draws: slice) -> dict[str, Value]:
        """Values of some draws."""
        return {n: v if n in self.shared else v[draws] for n, v in self.values.items()}

    def named(self, draw: int) -> str:
        """Words for a draw."""
        if len(self.lead) == 1:
            return f"draw {draw}"
        return "draw {1} of chain {0}".format(*divmod(draw, self.lead[1]))

    def r_eff(self) -> float:
        """Effective draws of the means of all parameters, per draw, as ArviZ has it for a posterior."""
        if len(self.lead) == 1 or self.lead[0] == 1:
            return 1.0
        from .elpd import effective_draws

        own = {n: v.reshape(*self.lead, *v.shape[1:]) for n, v in self.values.items() if n not in self.shared}
        return effective_draws(own if self.posterior is None else self.posterior) / self.n


def read_draws(given: GivenDraws, names: Names, least: int = 2) -> Draws:
    """Draws of a model's parameters.

    Raises
    ------
    ValueError
        For names or shapes that do not fit, or fewer than `least` draws.
    TypeError
        For what is neither a mapping nor a tree with a posterior.
    """
    posterior = _posterior_of(given)
    values: dict[str, Any] = {}
    if posterior is not None:
        for name in names.ranks:
            if name in posterior.data_vars:
                values[name] = posterior[name].transpose("chain", "draw", ...).values
        present = list(posterior.data_vars)
    elif isinstance(given, Mapping):
        present = list(given)
        if unknown := [n for n in present if n not in names.ranks]:
            of_glm = {"alpha", "beta"} <= names.ranks.keys()
            told = ": beta has the coefficients, in the order of fit.labels, alpha is the intercept" * of_glm
            raise ValueError(f"draws has {unknown[0]!r}, and the model's parameters are {', '.join(names.ranks)}{told}")
        values = {n: _on_host(v, n) for n, v in given.items()}
    else:
        raise TypeError(
            f"draws must be a dict of arrays or an ArviZ tree with a posterior group, not {type(given).__name__}"
        )
    if missing := [n for n in names.ranks if n not in values and n not in names.optional]:
        listed = f"the model takes {', '.join(names.ranks)}, and there are {', '.join(map(str, present)) or 'none'}"
        raise ValueError(f"draws has no {missing[0]!r}: {listed}")
    beyond = {n: v.ndim - names.ranks[n] for n, v in values.items()}  # axes beyond those of a value
    shared = {n for n, axes in beyond.items() if axes == 0}
    for name, axes in beyond.items():
        if axes < 0:
            raise ValueError(f"draws: {name} has shape {values[name].shape}, and a value of it has {names.ranks[name]} axes")
    if len(shared) == len(values):
        listed = ", ".join(f"{n} {v.shape}" for n, v in values.items())
        raise ValueError(f"draws: no parameter has an axis of draws, (chain, draw, …) or (draw, …): {listed}")
    rest = {n: axes for n, axes in beyond.items() if n not in shared}
    sure = [axes for n, axes in rest.items() if n in names.exact]
    n_lead = min(sure or rest.values())
    if n_lead > 2 and not sure:
        n_lead = 2
    lead: Shape = next(v.shape[:n_lead] for n, v in values.items() if n in rest and rest[n] >= n_lead)
    for name in rest:
        own = values[name].shape
        if rest[name] > n_lead and name in names.exact or own[:n_lead] != lead or n_lead > 2:
            listed = ", ".join(f"{n} {values[n].shape}" for n in rest)
            wanted = f"all must begin with the same axes, (chain, draw) or (draw,): {listed}"
            raise ValueError(f"draws: {name} has shape {own}; {wanted}")
    if posterior is None and not sure and n_lead == 2 and lead[1] == names.n_rows:
        both = f"draws have shape {lead}, which may be (chain, draw), or (draw, row) for the {names.n_rows} rows"
        raise ValueError(f"{both}: give chains one after another, (draw,), or an axis of chains, (1, {lead[0]}, {lead[1]})")
    if math.prod(lead) < least:
        raise ValueError(f"draws has {math.prod(lead)} of them, and {least} is the least number")
    made = {n: v.reshape(math.prod(lead), *v.shape[n_lead:]) for n, v in values.items() if n not in shared}
    made |= {n: values[n] if values[n].ndim else float(values[n]) for n in shared}
    found = Draws(made, shared, lead, posterior)
    for name, value in made.items():
        if name not in shared and np.isnan(value).any():
            where = int(np.isnan(value.reshape(found.n, -1)).any(1).argmax())
            raise ValueError(f"draws: {name} is nan at {found.named(where)}: leave such draws out")
    return found


def _on_host(value: Value, name: str) -> np.ndarray:
    found = arrays.as_array(value, name)
    return to_host(found) if arrays.is_device_array(found) else np.asarray(found)


def _posterior_of(given: Any) -> Any:
    """Posterior of ArviZ's trees, a data set; None for what is none."""
    if hasattr(given, "data_vars") and hasattr(given, "dims") and not hasattr(given, "children"):
        return given  # a data set
    group = getattr(given, "posterior", None)
    return group if group is None else getattr(group, "dataset", group)
