"""Sums of a device function with the derivatives for a Newton step, for many sets in one pass over the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..language.device_function import Argument
from ..language.library import library
from ..language.names import fresh_name
from ..rewriting.differentiate import VALUE, derivative_name, expansion, product_name
from ..runtime.base import Runtime
from ..runtime.types import Value
from .gradient import Summed
from .pointwise import Pointwise


class Expanded(NamedTuple):
    """Sums over the rows, for each of G sets of P parameters."""

    value: np.ndarray  # (G,)
    gradient: np.ndarray  # (G, P)
    hessian: np.ndarray  # (G, P, P)
    products: np.ndarray  # (G, P, P): sums of the products of the rows' first derivatives


class Expansion:
    """Sum of a function, its first and second derivatives, and the products of the rows' first derivatives.

    The function is one of numbers, and `wrt` are parameters that are not whole numbers. If `weighted`, each row counts with a
    weight, which is the last argument then.
    """

    def __init__(self, function: Pointwise, wrt: Sequence[str], weighted: bool = False):
        self.wrt = tuple(wrt)
        names, functions = [function.c_name(n) for n in wrt], dict(function.functions)
        weight = fresh_name("weight", {*function.c_names, *function.argument_names}) if weighted else ""
        made = expansion(function.function, names, functions, weight)
        functions |= {**library.closure([made]), **functions, made.name: made}
        arguments = [*function.arguments, *([Argument(weight)] if weighted else [])]
        inner = Pointwise(function.name, made, arguments, functions, function.source)
        self._pairs = [(i, j) for i in range(len(names)) for j in range(i + 1)]
        self._gradient = [derivative_name(a) for a in names]
        self._hessian = [derivative_name(names[j], derivative_name(names[i])) for i, j in self._pairs]
        self._products = [product_name(names[i], names[j]) for i, j in self._pairs]
        results = [VALUE, *self._gradient, *self._hessian, *self._products]
        self._summed = Summed(inner, made, functions, [(r, "") for r in results])

    def __call__(self, values: Sequence[Value], runtime: Runtime | None = None) -> Expanded:
        """Sums over the last axis; parameters are numbers, or of shape (G, 1) for G sets.

        The values are numbers and arrays in the order of the function's arguments; the weights last.
        """
        _, sums, _ = self._summed.evaluate(values, runtime)
        gradient = np.array([sums[name] for name in self._gradient]).reshape(-1, len(sums[VALUE])).T.copy()
        return Expanded(
            sums[VALUE], gradient, self._matrices(self._hessian, sums), self._matrices(self._products, sums)
        )

    def _matrices(self, names: Sequence[str], sums: dict[str, np.ndarray]) -> np.ndarray:
        """Symmetric matrices with the sums of these names as their lower triangles."""
        result = np.empty((len(sums[VALUE]), len(self.wrt), len(self.wrt)))
        for name, (i, j) in zip(names, self._pairs, strict=True):
            result[:, i, j] = result[:, j, i] = sums[name]
        return result


def expansion_of(function: Pointwise, wrt: Sequence[str], weighted: bool = False) -> Expansion:
    """Expansion of a function, made once."""
    known: dict[Any, Expansion] = function.made["expansion"]
    key = (tuple(wrt), weighted)
    if key not in known:
        known[key] = Expansion(function, wrt, weighted)
    return known[key]
