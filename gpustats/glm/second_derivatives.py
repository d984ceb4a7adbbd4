"""Second derivatives of a GLM in all of its parameters, and the scores of its observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evaluation.pointwise import Pointwise
from ..evaluation.results import as_host
from ..evaluation.second_order import SecondOrder, second_order
from ..fits.problem import Expanded
from ..language.device_function import Argument
from ..language.unrolling import unrolled
from ..rows.assembly import assembled, assembled_gradient, score_products, score_sums
from ..rows.matrix_layout import BorderedLayout
from ..rows.row_parts import Element, Number, Part, Product
from ..rows.second_derivatives import LEAST_IN_BLOCKS
from ..runtime.cached import cached_property
from ..runtime.types import Array, Doubles
from .arguments import Arguments, GLMArgument, Route
from .data import GLMData
from .family import COEFFICIENTS, INTERCEPT, Family
from .products import DesignProducts


class SecondDerivatives:
    """Second derivatives of a GLM whose data lie on one device."""

    def __init__(self, family: Family, data: GLMData):
        self._family, self._data = family, data

    @cached_property
    def _design(self) -> DesignProducts:
        return DesignProducts(self._data.design)

    def expanded(self, arguments: Arguments, names: Sequence[str], predictor: Array) -> Expanded:
        """Sum and its derivatives in the elements of parameters, one after another; `predictor` is the linear one."""
        call = _Call(self._family, self._data, self._design, arguments, names)
        value, first, second = call.derivatives(predictor, True, False)
        if not np.isfinite(value):
            return Expanded(value, np.full(call.size, np.nan))
        parts, design = call.parts(), self._design
        gradient = assembled_gradient(parts, first, call.size, design)
        return Expanded(value, gradient, assembled(parts, second, call.layout(), design))

    def score_sums(
        self, arguments: Arguments, names: Sequence[str], predictor: Array, clusters: np.ndarray | None, n_clusters: int
    ) -> Doubles:
        """Sums over the observations: see `Problem.score_sums`."""
        call, runtime = _Call(self._family, self._data, self._design, arguments, names), self._data.runtime
        slopes = call.derivatives(predictor, False, True).first
        first = {n: as_host(runtime, f).astype(float) for n, f in slopes.items()}
        if clusters is not None:
            return score_sums(call.parts(), first, call.size, clusters, n_clusters)
        weights = None if self._data.weights is None else as_host(runtime, self._data.weights.array)
        return score_products(call.parts(), first, BorderedLayout(call.size), weights).border


class _Call:
    """Derivatives at the arguments of a call."""

    def __init__(self, family: Family, data: GLMData, design: DesignProducts, arguments: Arguments, names: Sequence[str]):
        if arguments.lead:
            raise ValueError("second derivatives are for one set of coefficients and parameters, not for several")
        if by_row := [n for n in names if arguments.kinds[n] is Route.ROW]:
            raise ValueError(f"{by_row[0]} has a value for each row, in which there are no second derivatives")
        self._family, self._data, self._design, self._arguments = family, data, design, arguments
        self._starts, self.size = dict[str, int](), 0
        for name in names:
            self._starts[name] = self.size
            self.size += int(np.size(arguments[name].value))
        weighted = data.weights is not None
        self._function, self._names = numbers_of(family.term(weighted), arguments.dim or 0)

    def layout(self) -> BorderedLayout:
        """Places of the elements: those of many groups' intercepts are blocks."""
        alpha = self._arguments[INTERCEPT]
        if INTERCEPT not in self._starts or alpha.kind is not Route.GROUP or alpha.value.size < LEAST_IN_BLOCKS:
            return BorderedLayout(self.size)
        places = self._starts[INTERCEPT] + np.arange(alpha.value.size)
        return BorderedLayout(self.size, places.reshape(alpha.value.shape[0], -1))

    def parts(self) -> dict[str, list[Part]]:
        """Parts of the arguments in which there are derivatives."""
        found: dict[str, list[Part]] = {}
        for name in self._family.parameters:
            if name in self._starts:
                found |= {c: [Number(self._starts[name] + i)] for i, c in enumerate(self._names[name])}
        outcomes, arguments = self._arguments.outcomes, self._arguments
        for c, eta in enumerate(self._names[self._family.eta]):
            own = found[eta] = list[Part]()
            if COEFFICIENTS in self._starts:
                places = self._starts[COEFFICIENTS] + np.arange(self._data.sizes.columns) * outcomes + c
                own.append(Product(places, self._design))
            if INTERCEPT in self._starts:
                own.append(self._intercept(arguments[INTERCEPT], c))
        return {n: parts for n, parts in found.items() if parts}

    def _intercept(self, alpha: GLMArgument, outcome: int) -> Part:
        start, shape = self._starts[INTERCEPT], alpha.batch + alpha.core
        if alpha.kind is Route.GROUP:
            groups = self._data.groups
            assert groups is not None
            width = shape[-1] if len(shape) > 1 else 1
            return Element(start + np.arange(shape[0]) * width + outcome * (width > 1), groups.on_host, "groups")
        return Number(start + (outcome if shape and shape[-1] > 1 else 0))

    def derivatives(self, predictor: Array, second: bool, all_by_row: bool) -> SecondOrder:
        """Derivatives in the arguments that move; those in the linear predictor, or `all_by_row`, are by row."""
        data, arguments, family = self._data, self._arguments, self._family
        n, given = data.sizes.n_rows, [data.y.array]
        moving, by_row = list[str](), list[str]()
        for name in family.density.parameters:
            own = self._names[name]
            if name == family.eta:
                columns = [predictor] if not family.vector else [np.ascontiguousarray(predictor[:, c]) for c in range(len(own))]
                given += columns
                if COEFFICIENTS in self._starts or INTERCEPT in self._starts:
                    moving += own
                    by_row += own
                continue
            value = arguments[name].value
            numbers = np.ravel(value if isinstance(value, float) else as_host(data.runtime, value)).astype(float)
            if arguments[name].kind is Route.ROW:
                given.append(value)
                continue
            wide = all_by_row and name in self._starts
            given += [np.full(n, v, data.dtype) if wide else float(v) for v in numbers]
            if name in self._starts:
                moving += own
                by_row += own if wide else []
        if data.weights is not None:
            given.append(data.weights.array)
        return second_order(self._function, given, moving, by_row, data.runtime, second)


def numbers_of(function: Pointwise, dim: int) -> tuple[Pointwise, dict[str, list[str]]]:
    """Function of numbers in the place of a function of vectors of a length, and the names of each argument's elements."""
    known: dict[Any, Any] = function.made["numbers"]
    if dim not in known:
        functions = dict(function.functions)
        vectors = any(a.rank for a in function.arguments)
        made = unrolled(function.function, dim, functions) if vectors else function.function
        names = {a.name: [f"{a.name}[{i}]" for i in range(dim)] if a.rank else [a.name] for a in function.arguments}
        listed = [Argument(n) for its in names.values() for n in its]
        known[dim] = Pointwise(function.name, made, listed, functions, function.source), names
    found: tuple[Pointwise, dict[str, list[str]]] = known[dim]
    return found
