"""Elliptical densities: functions of the squared Mahalanobis distance, with a kernel of their own.

A device function whose first two parameters are ``sqdist`` and ``logdet`` is the log-density of a vector x that depends on
(x - mu)' cov⁻¹ (x - mu) and log det cov only. Users pass ``mu`` and ``cov`` (or ``scale_tril``, or ``precision``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..evaluation.arguments import check_wrt
from ..evaluation.broadcasting import FOR_SUMS, FOR_TABLES, Pattern, broadcast
from ..evaluation.parcel import sent_together
from ..evaluation.placement import PlacedArgument, Placement, address_of, as_read, target_of
from ..evaluation.pointwise import Pointwise, Source
from ..evaluation.results import as_host
from ..evaluation.sums import LOGLIK
from ..evaluation.table import TABLE
from ..kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from ..kernels.template import Template
from ..language.device_function import Argument
from ..rewriting.checks import checked
from ..rewriting.differentiate import derivative
from ..runtime.arrays import is_device_array
from .layout import layout, packing, padded_tile, shared_reals
from .repeated import repeated_table
from .whiten import FACTORS, LOGDET, Matrices, whiten
from .whiten import SCALES as SCALES

if TYPE_CHECKING:
    from ..evaluation.repeated import RepeatedCall
    from ..kernels.layout import Problem
    from ..kernels.shape import Shape
    from ..language.device_function import DeviceFunction
    from ..language.nodes import Function
    from ..runtime.base import Device, Runtime
    from ..runtime.types import Array, DType, Handle, Value
    from ..runtime.types import Shape as Lengths

_DOUBLE = np.dtype(np.float64)
_ELLIPTICAL = Template.beside(__file__, "elliptical")
_X, _MEANS = Operand("x", PER_ROW, 1), Operand("means", PER_SET, 1)
#: How an argument lies: the shape to which it is broadcast first, or None, and the distance of the next set's numbers.
_Lying: TypeAlias = "tuple[Lengths | None, int]"
_SHAPES = ("table", "loglik", "mixture")  # that the template has kernels of


class _Geometry(NamedTuple):
    """What the shapes of a call's arguments decide."""

    pattern: Pattern
    dim: int
    in_pairs: bool  # whether the observations less their means take their place, and the mean is 0
    lying: dict[str, _Lying]


class Elliptical(Pointwise):
    """Checked log-density of an elliptical distribution, or a transform of it.

    Parameters
    ----------
    definition : DeviceFunction
    functions : mapping
        All functions that it calls.
    function : Function, optional
        Function that a transform made of its log-density.
    scale : str
        Name out of `SCALES` of the matrix among the arguments.
    sums, rows : sequence of str
        Results of a function with several: those to be summed over the rows, and those to be written for each set and row.
    more, by_row : sequence of str
        Names of scalar arguments that `function` takes behind those of the density: some with a value for each set, then
        some with a value for each row.
    """

    def __init__(
        self, definition: DeviceFunction, functions: Mapping[str, Function], function: Function | None = None,
        scale: str = "cov", sums: Sequence[str] = (), rows: Sequence[str] = (), more: Sequence[str] = (),
        by_row: Sequence[str] = (),
    ):  # fmt: skip
        function = function or checked_density(definition, functions)
        arguments = [replace(a, name=scale) if a.name == "cov" else a for a in definition.arguments]
        arguments += [Argument(n) for n in (*more, *by_row)]
        super().__init__(definition.name, function, arguments, functions, definition.source)
        self.definition, self.scale, self.sums, self.rows = definition, scale, tuple(sums), tuple(rows)
        self.more, self.by_row = tuple(more), tuple(by_row)
        self._siblings = {scale: self}

    def with_function(self, function: Function, more: Sequence[str] = (), by_row: Sequence[str] = ()) -> Elliptical:
        return self.variant(function, more=(*self.more, *more), by_row=(*self.by_row, *by_row))

    def variant(self, function: Function, functions: Mapping[str, Function] | None = None, **changed: Any) -> Elliptical:
        """Elliptical object of another function of the same numbers."""
        own = dict(scale=self.scale, more=self.more, by_row=self.by_row)
        return Elliptical(self.definition, functions or self.functions, function, **{**own, **changed})

    def for_arguments(self, names: Collection[str]) -> Elliptical:
        scale = next((s for s in SCALES if s in names), "cov")
        if scale not in self._siblings:
            self._siblings[scale] = self.variant(self.function, scale=scale)
        return self._siblings[scale]

    # -- arguments

    def place(self, shape: Shape, values: Sequence[Array], runtime: Runtime | None = None) -> Placement:
        names = self.argument_names
        runtime, dtype = target_of(values, names, runtime)
        pattern, dim, in_pairs, lying = self._geometry(shape, values)
        given = dict(zip(names, values, strict=True))
        if in_pairs:  # move the observations instead
            given[names[0]] = _difference(runtime, given[names[0]], given["mu"], dtype)
            given["mu"] = np.zeros(dim)
        placement = Placement(runtime, dtype, pattern, dim)
        if math.prod(pattern.shape):
            placement.add_array(_X, given[names[0]], *lying[names[0]])
            self._place_parameters(placement, given, lying)
        return placement

    def _geometry(self, shape: Shape, values: Sequence[Array]) -> _Geometry:
        """Rows and sets of a call, and how each argument lies, which its shapes decide."""
        batch, dim = self.batch_shapes(values)
        shapes, x = dict(zip(self.argument_names, batch, strict=True)), self.argument_names[0]
        full = () if shape.all_sets else broadcast(self.argument_names, batch, FOR_SUMS if shape.sums else FOR_TABLES)
        common = np.broadcast_shapes(*(s for n, s in shapes.items() if n != x and n not in self.by_row))
        pattern, in_pairs = _pattern(shape, shapes[x], common), False
        if pattern.roles[1] == PER_ROW:  # observations and parameters in pairs
            if in_pairs := not self._more_than_means(batch):
                shapes["mu"] = ()
                pattern = _pattern(shape, full, ())
            else:  # every observation is the only row of a set
                n = math.prod(full)
                pattern = Pattern(full, 1, n, n, 1, (PER_ROW, PER_SET), (full, full), (True, False))
        rows = None if pattern.expand[0] is None else pattern.expand[0] + (dim,)
        lying = {x: (rows, pattern.n_rows * dim if pattern.own_rows[0] else 0)}
        if pattern.expand[1] is not None:
            common = pattern.expand[1]
        for argument in self.arguments[1:]:
            size, core = math.prod(shapes[argument.name]), (dim,) * argument.rank
            expand = common + core if size > 1 and size != pattern.n_sets else None
            lying[argument.name] = expand, math.prod(core) if size > 1 else 0
        return _Geometry(pattern, dim, in_pairs, lying)

    def _scalars(self) -> list[Operand]:
        """Operands of the scalar parameters, with a value for each set or for all."""
        return [o for o in self.inner_operands()[1:] if o.role == PER_SET]

    def _place_parameters(self, placement: Placement, given: dict[str, Array], lying: Mapping[str, _Lying]) -> None:
        """Parameters W, mu, log det cov, and the density's others, for each set or shared by all sets."""
        runtime, dtype, scalars = placement.runtime, placement.dtype, self._scalars()
        places, small = dict[str, tuple["Handle", int]](), dict[str, np.ndarray]()
        for name in (self.scale, "mu", *(o.name for o in scalars)):
            value, matrix, expand = given[name], name == self.scale, lying[name][0]
            if is_device_array(value):
                to = value.dtype if matrix and value.dtype.kind == "f" else dtype
                value = as_read(runtime, value, to, expand)
                places[name] = runtime.memory(value)
                placement.alive += [value, places[name]]
            else:
                small[name] = as_read(runtime, value, _DOUBLE if matrix else dtype, expand)  # it is factored in float64
        sent, alive = sent_together(runtime, small)
        places |= sent
        placement.alive += alive

        def placed(operand: Operand, name: str) -> PlacedArgument:
            return PlacedArgument(operand, (*places[name], lying[name][1]))

        matrix_place = (*places[self.scale], lying[self.scale][1])
        factors, logdet = whiten(placement, self.scale, given[self.scale], matrix_place)
        placement.arguments += [factors, placed(_MEANS, "mu"), logdet, *(placed(o, o.name) for o in scalars)]
        for name in self.by_row:
            placement.add_array(Operand(name, PER_ROW), given[name], None, 0)

    def _more_than_means(self, batch: Sequence[Lengths]) -> bool:
        """True if there are several of any parameter beside the mean."""
        return any(math.prod(s) > 1 for n, s in zip(self.argument_names[1:], batch[1:], strict=True) if n != "mu")

    def new_table(self, runtime: Runtime, values: Sequence[Value]) -> RepeatedCall[Array] | None:
        names, scalars = self.argument_names, self._scalars()
        runtime, dtype = target_of(values, names, runtime)
        pattern, dim, in_pairs, lying = self._geometry(TABLE, values)
        given = dict(zip(names, values, strict=True))
        matrix, x, stays = given[self.scale], given[names[0]], all(expand is None for expand, _ in lying.values())
        typed = all(isinstance(v, float) or v.dtype == dtype or n == self.scale for n, v in given.items())
        if self.by_row or in_pairs or not math.prod(pattern.shape) or not (stays and typed):
            return None
        placement = Placement(runtime, dtype, pattern, dim)
        read = np.dtype(matrix.dtype) if is_device_array(matrix) else dtype
        matrices = Matrices.of(placement, self.scale, read, lying[self.scale][1])
        if matrices.large:
            return None
        address = address_of(*runtime.memory(x), dtype) if is_device_array(x) else 0
        rows = PlacedArgument(_X, (), address)
        placement.arguments = [rows, *(PlacedArgument(o, ()) for o in (FACTORS, _MEANS, LOGDET, *scalars))]
        order = [names.index(n) for n in (names[0], self.scale, "mu", *(o.name for o in scalars))]
        strides = [lying[names[i]][1] for i in order]
        return repeated_table(placement, self.table_launch(placement), matrices, values, order, strides)

    # -- sums and derivatives

    def sum(self, values: Sequence[Array], runtime: Runtime | None = None) -> Array | float:
        batch, _ = self.batch_shapes(values)
        parameters = broadcast(self.argument_names[1:], batch[1:], FOR_SUMS)
        if parameters[-1:] <= (1,) or not self._more_than_means(batch):
            return super().sum(values, runtime)
        placement = self.place(LOGLIK, values, runtime)  # every observation is a set
        terms = self.sum_launch(placement).fetch(placement.values) if placement.arguments else np.zeros(0)
        sums = terms.reshape(placement.pattern.shape).sum(-1)
        native = sums.ndim and any(map(is_device_array, values[1:]))
        return placement.runtime.to_device(sums) if native else sums if sums.ndim else float(sums)

    def n_sums(self, operands: Sequence[Operand]) -> int:
        return len(self.sums) or 1

    def derivative(self, wrt: str | None = None) -> Elliptical:
        """Derivative with respect to one of the scalars, at every point."""
        (name,) = check_wrt(self.name, self.arguments, self.arguments[0].name if wrt is None else wrt)
        if next(a.rank for a in self.arguments if a.name == name):
            raise ValueError(
                f"{self.name} has no derivative at every point with respect to {name}, only of its sums: see loglik_and_grad"
            )
        functions = dict(self.functions)
        return self.variant(derivative(self.function, name, functions), functions)

    # -- kernels

    def inner_operands(self) -> list[Operand]:
        """Operands of the device function but for ``sqdist``."""
        names = [p.name for p in self.function.parameters if p.name not in ("sqdist", "dim")]
        return [Operand(n, PER_ROW if n in self.by_row else PER_SET) for n in names]

    def source_for(
        self, shape: Shape, device: Device, dtype: str, dialect: str, problem: Problem, operands: Sequence[Operand],
        outputs: Sequence[str] = (),
    ) -> Source:  # fmt: skip
        if shape.name not in _SHAPES:
            raise NotImplementedError(
                f"{self.name} is a function of a squared distance, which has kernels of its own, {', '.join(_SHAPES)}, "
                f"and none of the shape {shape.name}"
            )
        code = KernelCode(self.function, self.inner_operands(), self.functions.get, ("sqdist",), self.sums, self.rows)
        packed = packing(device, problem.itemsize, problem.dim)
        chosen = layout(device, problem, packed, code.n_sums if shape.sums else 0, shape.all_sets)
        group = chosen.group * chosen.stage_factors
        reals = shared_reals(packed, problem.itemsize, chosen.tile, group)
        name = f"{self.function.name}_{shape.name}"
        set = f"sets[k % {chosen.group}]" if shape.all_sets else "sets[k]"
        evaluate = re.sub(r"\bsqdist\b", "sqdist[r]", code.evaluate("row", set, "n", "first_set + k"))
        text = _ELLIPTICAL.source_of(
            code, name, chosen, dtype, dialect, shape=shape.name, packing=packed, shared_reals=reals,
            padded_tile=padded_tile(packed, chosen.tile), evaluate=evaluate, outputs=outputs,
            before=shape.before(outputs),
        )  # fmt: skip
        return Source(text, name, chosen, reals * problem.itemsize)

    shown_dim = 16

    def shown_operands(self) -> list[Operand]:
        return self.inner_operands()


def checked_density(definition: DeviceFunction, functions: Mapping[str, Function]) -> Function:
    """Density as a function of ``sqdist``, ``logdet`` and its other parameters, with checks around it."""
    public = {a.name: a for a in definition.arguments}
    own = [p.name for p in definition.density.parameters if p.name != "dim"]
    return checked(definition.density, [public.get(n, Argument(n)) for n in own], functions.get)


def _pattern(shape: Shape, x: Lengths, common: Lengths) -> Pattern:
    """Rows of x and sets of parameters, which are broadcast among themselves first."""
    pattern: Pattern = shape.pattern(("x", "the parameters"), (x, common))
    if shape.sums and pattern.roles[0] == PER_SET:  # one observation for each set
        return replace(pattern, roles=(PER_ROW, pattern.roles[1]), own_rows=(True, False))
    return pattern


def _difference(runtime: Runtime, x: Array, mu: Array, dtype: DType) -> Array:
    """Differences x - mu, one mean for each observation."""
    on_device = is_device_array(x) or is_device_array(mu)
    host = [as_host(runtime, v) for v in (x, mu)]
    difference = np.subtract(*host, dtype=np.float64).astype(dtype)
    return runtime.to_device(difference) if on_device else difference
