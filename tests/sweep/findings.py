"""What is wrong: one call of one function, what came out, and what is right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        if self.ending.startswith("d/d"):
            name = self.ending.removeprefix("d/d")
            arguments = ", ".join(self._argument(v) for v in self.point)
            return f'gs.{self.density}.loglik_and_grad({arguments}, wrt="{name}")[1]["{name}"]'
        return f"gs.{self.density}.{self.ending}({', '.join(self._argument(v) for v in self.point)})"

    def _argument(self, value: float) -> str:
        text = repr(float(value)) if math.isfinite(value) else f"np.{'inf' if value > 0 else '-inf'}".replace("np.-", "-np.")
        return f"np.float32({text})" if self.dtype == "float32" else text

    @property
    def again(self) -> str:
        point = " ".join(repr(float(v)) for v in self.point)
        return f"python -m tests.sweep --only {self.density} --dtype {self.dtype} --at {self.ending} {point}"

    def __str__(self) -> str:
        v = self.verdict
        return (
            f"== {self.kind}: {self.density}.{self.ending} {self.dtype}, {self.property}, seed {self.seed}\n"
            f"{self.call} is {self.got!r}, right is {v.right!r}: {v.error:.3g} times the allowed error, {v.allowed:.2g}\n"
            f"again: {self.again}"
        )


def as_floats(*values: Any) -> tuple[float, ...]:
    return tuple(float(np.asarray(v)) for v in values)
