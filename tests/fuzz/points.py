"""Where programs are evaluated: observations and sets of parameters, of the domains that a program names."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .interpreter import Expected, Point, expected
from .tree import VECTOR, Parameter, Program

OBSERVATIONS, SETS = 5, 3


@dataclass(frozen=True)
class Points:
    """Every observation with every set of parameters.

    Attributes
    ----------
    x : list
        Numbers, or lists of `dim` of them.
    sets : list of dict
        Parameter -> its value.
    dim : int
        The length of vectors.
    """

    x: list[Any]
    sets: list[dict[str, Any]]
    dim: int

    def at(self, program: Program, row: int, number: int) -> Point:
        return {program.density.parameters[0].name: self.x[row], **self.sets[number]}

    def expected(self, program: Program, dtype: str) -> list[list[Expected]]:
        """N × K of them."""
        sets = range(len(self.sets))
        return [[expected(program, self.at(program, n, k), dtype, self.dim) for k in sets] for n in range(len(self.x))]

    def parameter(self, name: str) -> np.ndarray:
        """A parameter's value in each set: (K,) or (K, dim)."""
        return np.array([s[name] for s in self.sets], float)


def points_of(program: Program, seed: int) -> Points:
    """The points of a seed. All numbers are exact in float32, too; each argument's depend on its name, not on others."""
    random = Random(f"points {seed}")
    dim = random.choice([1, 2, 3, 3, 5])
    x, *parameters = program.density.parameters
    streams = {p.name: Random(f"{p.name} {seed}") for p in program.density.parameters}
    observations = [_value(streams[x.name], x, dim) for _ in range(OBSERVATIONS)]
    sets = [{p.name: _value(streams[p.name], p, dim) for p in parameters} for _ in range(SETS)]
    if random.random() < 0.2:  # outside of the domains
        observations[0] = [np.nan] * dim if x.type == VECTOR else random.choice([np.nan, -2.5])
    if random.random() < 0.2 and parameters and parameters[0].type != VECTOR:
        sets[0][parameters[0].name] = -1.5
    return Points(observations, sets, dim)


def _value(random: Random, parameter: Parameter, dim: int) -> Any:
    words = parameter.domain.split()
    if parameter.type == VECTOR:
        return [_number(random, words) for _ in range(dim)]
    return _number(random, words)


def _number(random: Random, words: list[str]) -> float:
    if "integer" in words:
        least = 1 if "positive" in words else 0 if "nonnegative" in words else -4
        return float(random.randint(least, 5))
    if "unit" in words:
        return random.choice([0.0, 1.0, 0.5]) if random.random() < 0.25 else _exact(random.uniform(0.01, 0.99))
    if "positive" in words or "nonnegative" in words:
        special = [1.0, 2.0, 0.5] + [0.0] * ("nonnegative" in words)
        return random.choice(special) if random.random() < 0.2 else _exact(random.lognormvariate(0, 0.8))
    return random.choice([0.0, 1.0, -1.0, 2.0, 0.5, 1.5]) if random.random() < 0.2 else _exact(random.gauss(0, 1.5))


def _exact(value: float) -> float:
    return float(np.float32(value))
