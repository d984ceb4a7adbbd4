"""Model of a fit: the functions and domains of a density."""

from __future__ import annotations

from dataclasses import dataclass

from ..evaluation.pointwise import Pointwise
from ..language.device_function import DeviceFunction
from .intervals import interval_log_probability


@dataclass(frozen=True)
class Model:
    """Log-density of a density, and its definition by its source, for a fit."""

    log_density: Pointwise
    definition: DeviceFunction

    @property
    def name(self) -> str:
        return self.log_density.name

    def parameters(self) -> dict[str, frozenset[str]]:
        """Words of the domain, by parameter."""
        x, *parameters = self.log_density.arguments
        if vectors := [a.name for a in (x, *parameters) if a.rank]:
            raise NotImplementedError(
                f"fit estimates numbers from observations that are numbers: {', '.join(vectors)} of {self.name} is a vector; "
                "gpustats.Likelihood(density, x).fit() takes them"
            )
        return {a.name: frozenset(a.words) for a in parameters}

    def of_intervals(self) -> Pointwise:
        """Log-probability of an interval, made once."""
        known: dict[tuple[()], Pointwise] = self.log_density.made["interval"]
        if not known:
            known[()] = interval_log_probability(self.log_density, self.definition)
        return known[()]
