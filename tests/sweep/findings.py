"""What is wrong: one call of one function, what came out, and what is right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .batch import DATA, DRAWN, DRAWS, FITTED, SLOPE
from .judge import Verdict


@dataclass(frozen=True)
class Finding:
    """A wrong value.

    Attributes
    ----------
    density, ending, dtype : str
        The function, and the type that it was computed in.
    point : tuple of float
        Its arguments.
    got : float
    verdict : Verdict
    property : str
        What showed it.
    seed : int
        Of the batch.
    """

    density: str
    ending: str
    dtype: str
    point: tuple[float, ...]
    got: float
    verdict: Verdict
    property: str
    seed: int

    @property
    def kind(self) -> str:
        return "nan" if math.isnan(self.got) else "wrong"

    @property
    def call(self) -> str:
        """The call that gives the value."""
        arguments = [self._argument(v) for v in self.point]
        density = f"gs.{self.density}"
        if "(" in self.density:
            transform, inner = self.density.rstrip(")").split("(")
            bounds = ", lower=0.0, upper=1.0" if transform == "Truncate" else ""
            density = f"gs.transforms.{transform}(gs.{inner}{bounds})"
        all_of_them = ", ".join(arguments)
        if self.ending.startswith(SLOPE):
            name = self.ending.removeprefix(SLOPE)
            return f'{density}.loglik_and_grad({all_of_them}, wrt="{name}")[1]["{name}"]'
        if self.ending == DRAWN:
            return f"np.mean({density}.rvs({', '.join(arguments[1:])}, size={DRAWS}, rng=20110000) <= {arguments[0]})"
        if self.ending == FITTED:
            draws = f"{density}.rvs({', '.join(arguments[1:])}, size={DATA}, rng={int(self.point[0])})"
            return f"{density}.fit({draws}).log_likelihood"
        return f"{density}.{self.ending}({all_of_them})"

    def _argument(self, value: float) -> str:
        text = repr(float(value)) if math.isfinite(value) else f"np.{'inf' if value > 0 else '-inf'}".replace("np.-", "-np.")
        return f"np.float32({text})" if self.dtype == "float32" else text

    @property
    def again(self) -> str:
        point = " ".join(repr(float(v)) for v in self.point)
        return f"python -m tests.sweep --only '{self.density}' --dtype {self.dtype} --at {self.ending} {point}"

    def __str__(self) -> str:
        v = self.verdict
        return (
            f"== {self.kind}: {self.density}.{self.ending} {self.dtype}, {self.property}, seed {self.seed}\n"
            f"{self.call} is {self.got!r}, right is {v.right!r}: {v.error:.3g} times the allowed error, {v.allowed:.2g}\n"
            f"again: {self.again}"
        )


def as_floats(*values: Any) -> tuple[float, ...]:
    return tuple(float(np.asarray(v)) for v in values)
