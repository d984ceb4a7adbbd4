"""Ordinary differential equations in device functions: text that takes the states of a system from one time to another."""

from __future__ import annotations

from collections.abc import Sequence

from ..kernels.template import Template
from . import rosenbrock, runge_kutta
from .texts import check_name, check_parameters, positive_number, unlike, whole_number

_ODE = Template.beside(__file__, "ode")
METHODS: dict[str, runge_kutta.RungeKutta | rosenbrock.Rosenbrock] = {**runge_kutta.METHODS, **rosenbrock.METHODS}


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
    method : {"dopri5", "bs23", "rodas4", "rodas5p"}
        Dormand and Prince's pair of order 5, or Bogacki and Shampine's of order 3, for wide tolerances. For stiff equations the
        Rosenbrock methods of Hairer and Wanner, of order 4, and of Steinebach, of order 5, for tolerances below 1e-6. These
        solve linear equations with the derivatives of the rates in states and time, which are made of the rates' own text.
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

    Notes
    -----
    A system is stiff where some of its parts settle far faster than the time of interest: explicit steps then stay as short as
    the fastest part needs them, whatever the error. A step of a Rosenbrock method costs more, the more the more states there
    are.

    References
    ----------
    Hairer, Nørsett and Wanner (1993), Solving Ordinary Differential Equations I, sections II.4 and II.5.
    Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.7 and its program RODAS.
    Steinebach (2023), Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential
    Equations package.

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
        raise ValueError(f"method is {method!r}: there are {', '.join(METHODS)}")
    check_name("rates", rates)
    check_parameters("parameters", parameters, ("start", "end", "y"), f"{rates}_advance")
    its = METHODS[method]
    constants = dict(
        name=rates, n=whole_number("n_states", n_states, 1, 16), method=its,
        rtol=repr(positive_number("rtol", rtol)), atol=repr(positive_number("atol", atol)),
        max_steps=whole_number("max_steps", max_steps, 1, 2**31 - 1), functions=its.functions(rates, n_states),
    )  # fmt: skip
    names = unlike(parameters, _ODE.text(parameters=(), given="", **constants))
    return _ODE.text(parameters=names, given="".join(f", {p}" for p in names), **constants)
