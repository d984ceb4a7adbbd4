"""Explicit Runge-Kutta pairs: coefficients, and the text of a step."""

from __future__ import annotations

from typing import NamedTuple

from ..kernels.template import Template

_STEP = Template.beside(__file__, "runge_kutta")


class RungeKutta(NamedTuple):
    """Explicit Runge-Kutta pair whose last stage is the first one of the next step."""

    title: str
    order: int  # of the step's error in the step size, to which the power belongs by which the size is changed
    c: tuple[float, ...]  # times of the stages
    a: tuple[tuple[float, ...], ...]  # weights of the earlier stages, for each
    error: tuple[float, ...]  # weights of the error
    most: float  # by which a step grows

    def functions(self, name: str, n: int) -> str:
        """Functions that the step calls."""
        return ""

    @property
    def kept(self) -> tuple[str, ...]:
        """Arrays that keep their values from step to step, the last of them for the rates with which the next one begins."""
        return tuple(f"k{i}" for i in range(1, len(self.c)))

    def step(self, name: str, n: int, given: str) -> str:
        """Statements that compute the states `next` behind a step `h`, and their errors `wrong`."""
        return _STEP.text(name=name, n=n, given=given, method=self, k=["first", *self.kept])


METHODS = {
    "dopri5": RungeKutta(
        "Dormand and Prince's pair of orders 5 and 4", 5,
        (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
        (
            (), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
            (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        ),
        (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40), 10.0,
    ),
    "bs23": RungeKutta(
        "Bogacki and Shampine's pair of orders 3 and 2", 3,
        (0.0, 1 / 2, 3 / 4, 1.0), ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)), (5 / 72, -1 / 12, -1 / 9, 1 / 8), 5.0,
    ),
}  # fmt: skip
