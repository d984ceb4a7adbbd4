"""Covariance function of local Gaussian processes: a correlation of one squared scaled distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...kernels.code import callees_first
from ...kernels.inlining import printer
from ...kernels.sines import kept_apart
from ...language import nodes as lang
from ...language.nodes import REAL, Binary, Call, Function, Name, Number, Parameter, Return
from ...rewriting import differentiate
from ..expression import Expression

_R2 = Name("r2", REAL)


class Correlation:
    """C functions ``correlation(real r2)``, ``correlation_slope`` and ``correlation_curvature``, its derivatives.

    Here r2 = sum_k (x_k - x'_k)² / d_k, so that the Gaussian covariance becomes exp(-r2): the covariance at amplitude 1,
    lengthscale 1 and the squared distance 2 r2. A lengthscale l of the covariance is d = 2 l².

    Parameters
    ----------
    covariance : Expression, optional
        Function of one squared distance, an amplitude and a lengthscale; other parameters have to be fixed. exp(-r2) if
        there is none.

    Raises
    ------
    ValueError
        Where the covariance is another one.

    Examples
    --------
    >>> print(Correlation().source())
    DEVICE real correlation(real r2)
    {
        return exp(-r2);
    }
    <BLANKLINE>
    DEVICE real correlation_slope(real r2)
    {
        return -exp(-r2);
    }
    <BLANKLINE>
    """

    def __init__(self, covariance: Expression | None = None):
        self._functions: dict[str, Function] = {}
        if covariance is None:
            value = Call("exp", (lang.Unary("-", _R2, REAL),))
            minus = lang.Unary("-", value, REAL)
            self._parts = [_function("", value), _function("_slope", minus), _function("_curvature", value)]
            return
        self._functions |= {**covariance.functions, covariance.function.name: covariance.function}
        plain = _function("", _at_one(covariance))
        slope = differentiate.derivative(plain, "r2", self._functions)
        curvature = differentiate.derivative(slope, "r2", self._functions)
        named = replace(slope, name="correlation_slope"), replace(curvature, name="correlation_curvature")
        self._parts = [plain, *named]

    def source(self, curvature: bool = False) -> str:
        """C functions for either dialect's prelude, in the type ``real``; the second derivative only if asked for."""
        return "\n".join(filter(None, self._printed(self._parts if curvature else self._parts[:2])))

    def _printed(self, parts: list[Function]) -> Iterator[str]:
        bodies = [statement for part in parts for statement in part.body]
        own = {part.name for part in parts}
        called = callees_first(bodies, lambda name: None if name in own else self._functions.get(name))
        functions = [*called, *parts]
        prints = printer((f.name, f.body) for f in functions)
        yield kept_apart(functions)
        for function in called:
            if function.results:
                yield prints.results(function)
            yield prints.function(function)
        yield from map(prints.function, parts)


def _function(suffix: str, value: lang.Expression) -> Function:
    return Function(f"correlation{suffix}", (Parameter("r2", REAL),), (Return(value),))


def _at_one(covariance: Expression) -> Call:
    """Covariance at amplitude 1, lengthscale 1 and the squared distance 2 r2."""
    inputs, parameters = covariance.inputs, covariance.parameters
    if len(inputs) != 1 or inputs[0].kind != "sqdist" or inputs[0].columns is not None:
        raise ValueError(f"cov = {covariance!r} must depend on one distance, in all columns, as gs.rbf does")
    ones = "amplitude", inputs[0].lengthscale
    if lacking := [n or "lengthscale" for n in ones if n not in parameters]:
        raise ValueError(
            f"cov = {covariance!r} must have the hyperparameter {lacking[0]}: a local Gaussian process estimates the "
            "lengthscale and integrates the amplitude out"
        )
    if free := [n for n in parameters if n not in ones]:
        raise ValueError(f"cov = {covariance!r}: give {free[0]} a value, as in cov.fix({free[0]}=1.0)")
    distance = Binary("*", Number("2", lang.INT), _R2, REAL)
    return Call(covariance.function.name, (distance, *(Number("1.0", REAL) for _ in parameters)))
