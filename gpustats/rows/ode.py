"""Ordinary differential equations in device functions: text that takes the states of a system from one time to another."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..kernels.template import Template

_ODE = Template.beside(__file__, "ode")
_OWN = re.compile(r"t|span|first|next|step|low|high|taken|h|error|wrong|scale|i|j|k\d+")  # variables of the text


class Method(NamedTuple):
    """Explicit Runge-Kutta pair whose last stage is the first one of the next step."""

    title: str
    order: int  # of the step's error in the step size, to which the power belongs by which the size is changed
    c: tuple[float, ...]  # times of the stages
    a: tuple[tuple[float, ...], ...]  # weights of the earlier stages, for each
    error: tuple[float, ...]  # weights of the error
    most: float  # by which a step grows


METHODS = {
    "dopri5": Method(
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
    "bs23": Method(
        "Bogacki and Shampine's pair of orders 3 and 2", 3,
        (0.0, 1 / 2, 3 / 4, 1.0), ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)), (5 / 72, -1 / 12, -1 / 9, 1 / 8), 5.0,
    ),
}  # fmt: skip


def ode_steps(
    rates: str, n_states: int, parameters: Sequence[str] = (), *, method: str = "dopri5", rtol: float = 1e-8,
    atol: float = 1e-10, max_steps: int = 10_000,
) -> str:  # fmt: skip
    """Text of a function in C, ``<rates>_advance``, that takes the states of a differential equation to a later time, or back.

    Put it between the function of the rates and a row function that calls it. Step sizes follow the error. Derivatives are
    those of the steps taken: differentiation takes the sizes for constants.

    Parameters
    ----------
    rates : str
        Name of the function of the rates of change: ``void name(real t, const real *y, real *rates, real …)``.
    n_states : int
        Number of states, 1 to 16.
    parameters : sequence of str
        Names of the parameters that the rates take behind their arrays; the text's function takes them as well, under
        another name where a variable of its own has this one.
    method : {"dopri5", "bs23"}
        Dormand and Prince's pair of order 5, or Bogacki and Shampine's of order 3, for wide tolerances.
    rtol, atol : float
        Error of a step, relative to each state and absolute, in the root of the mean square.
    max_steps : int
        Number of steps after which the states are nan; that many are also taken where steps become too small to be taken.

    Returns
    -------
    str
        ``void <rates>_advance(real start, real end, real *y, …)``, which changes y.

    Raises
    ------
    ValueError
        For an unknown method, tolerances that are not positive, or names that C does not have.

    References
    ----------
    Hairer, Nørsett and Wanner (1993), Solving Ordinary Differential Equations I, sections II.4 and II.5.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rates = '''
    ... __device__ void decay(real t, const real *y, real *rate, real k)
    ... {
    ...     rate[0] = -k * y[0];
    ... }'''
    >>> model = '''
    ... __device__ real patient(const real *time, const real *seen, int n, real k, real sigma)
    ... {
    ...     real y[1] = {1}, before = 0, loglik = 0;
    ...     for (int i = 0; i < n; i++) {
    ...         decay_advance(before, time[i], y, k);
    ...         loglik += normal_logpdf(seen[i], y[0], sigma);
    ...         before = time[i];
    ...     }
    ...     return loglik;
    ... }'''
    >>> source = rates + gs.ode_steps("decay", 1, ["k"]) + model
    >>> rows = gs.Rows(source, time=gs.sequences([[1.0, 2.0]]), seen=gs.sequences([[0.5, 0.25]]))
    >>> value, slopes = rows.value_and_grad(k=np.log(2), sigma=0.1)
    >>> print(round(value, 8), round(abs(slopes["k"]), 6))
    2.76729312 0.0
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}: there are {' and '.join(METHODS)}")
    if not 1 <= operator.index(n_states) <= 16:
        raise ValueError(f"n_states is {n_states}: a system has 1 to 16 states")
    for what, number in (("rtol", rtol), ("atol", atol)):
        if not 0 < number < math.inf:
            raise ValueError(f"{what} is {number}, and must be positive")
    if max_steps < 1:
        raise ValueError(f"max_steps is {max_steps}, and must be positive")
    for name in (rates, *parameters):
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError(f"{name!r} is no name in C")
    if taken := [p for i, p in enumerate(parameters) if p in ("start", "end", "y", *parameters[:i])]:
        raise ValueError(f"{taken[0]} is a parameter of {rates}_advance already: call yours otherwise")
    its = METHODS[method]
    named = [_unlike_own(p, parameters) for p in parameters]
    return _ODE.text(
        name=rates, n=n_states, parameters=tuple(named), given="".join(f", {p}" for p in named), method=its,
        stages=len(its.c), rtol=repr(float(rtol)), atol=repr(float(atol)), max_steps=max_steps,
    )  # fmt: skip


def _unlike_own(name: str, parameters: Sequence[str]) -> str:
    """Name for a parameter: its own, or a longer one where the text has a variable of this name."""
    made = name
    while _OWN.fullmatch(made) or (made != name and made in parameters):
        made += "_"
    return made
