"""Evaluation of a device function at observations and parameters: from the arguments of one call to a kernel's launch."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CompileError
from ..kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from ..kernels.layout import REFERENCE_DEVICES, Layout, Problem, power_of_two, row_blocks, rows_at_once
from ..kernels.shape import Compiled, Shape
from ..kernels.shown import shown_source
from ..language.derived import call_of, derived, resolve_in
from ..language.device_function import Argument
from ..language.library import library
from ..language.names import numbered_name
from ..language.nodes import Function
from ..rewriting.differentiate import derivative
from ..runtime.arrays import as_array, is_device_array, with_common_type
from ..runtime.base import Device, Runtime
from ..runtime.types import Array, DType, Handle, Result, Value
from ..runtime.types import Shape as Lengths
from .arguments import check_wrt, match
from .broadcasting import Pattern
from .diagnosis import explained
from .kinds import Plans, in_order
from .placement import Placement, place_arguments, target_of
from .repeated import RepeatedCall
from .repeated_table import TableLaunch, is_repeatable, kind_of_table, repeated_table
from .results import written_by
from .sums import LOGLIK, SumLaunch, adder_of
from .table import TABLE


class Source(NamedTuple):
    """Source of a kernel, and the properties that its launch needs."""

    text: str
    name: str
    layout: Layout
    shared: int = 0  # bytes of dynamic shared memory


class Pointwise:
    """Device function of an observation and parameters, ready to be evaluated on any device.

    The name is for errors and kernels, and `source`, the text that the user wrote, for errors. The observation is the
    function's first parameter; `arguments` have names and domains, in the order of the parameters. `functions` are all that it
    calls, by their names, and `defaults` the values of the parameters that a call may leave out.
    """

    def __init__(
        self, name: str, function: Function, arguments: Sequence[Argument], functions: Mapping[str, Function],
        source: str = "", defaults: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        self.functions, self.source = {**functions, function.name: function}, source
        self.name, self.function, self.arguments = name, function, tuple(arguments)
        self.defaults = dict(defaults or {})
        self.argument_names = tuple(a.name for a in self.arguments)  # as users know the arguments
        self.c_names = [p.name for p in function.parameters if p.name != "dim"]  # the same arguments in the device function
        #: objects that others have made of the function once and for all, such as gradients, by their kind and the request
        self.made: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._tables: Plans[RepeatedCall[Array] | None] = Plans()

    def map(self, suffix: str, formula: str) -> Pointwise:
        """Function with `formula`, C in which {} stands for this function's value, applied to the value."""
        body = f"    return {formula.format(call_of(self.function))};\n"
        return self.with_function(derived(self.function, suffix, body, resolve_in(self.functions)))

    def with_function(self, function: Function, more: Sequence[str] = (), by_row: Sequence[str] = ()) -> Pointwise:
        """Other device function of the same arguments, and of `more` scalars for each set, then `by_row` for each row."""
        arguments = [*self.arguments, *(Argument(n) for n in (*more, *by_row))]
        functions = {**library.closure([function]), **self.functions}
        return Pointwise(self.name, function, arguments, functions, self.source, self.defaults)

    def derivative(self, wrt: str | None = None) -> Pointwise:
        """Derivative with respect to one argument, by default the observation, at every point.

        The derivative with respect to a vector takes one more argument, ``component``: the number of the element.
        Where the function has an argument of that name, it is ``component2``.
        """
        (name,) = check_wrt(self.name, self.arguments, self.arguments[0].name if wrt is None else wrt)
        functions = dict(self.functions)
        made = derivative(self.function, self.c_name(name), functions)
        arguments = self.arguments
        if next(a for a in arguments if a.name == name).rank:
            arguments = (*arguments, Argument(numbered_name("component", self.argument_names), "nonnegative integer"))
        return Pointwise(self.name, made, arguments, functions, self.source, self.defaults)

    def for_arguments(self, names: Collection[str]) -> Pointwise:
        """Function of arguments of these names, where several are at hand."""
        return self

    def c_name(self, argument: str) -> str:
        """Name of an argument in the device function."""
        return self.c_names[self.argument_names.index(argument)]

    # -- arguments

    def bind(self, args: Sequence[Value], kwargs: Mapping[str, Value], missing: int = 0) -> list[Any]:
        """Arguments in their order, as arrays; the first `missing` are left out."""
        wanted = self.argument_names[missing:]
        values = match(self.name, wanted, args, kwargs, self.defaults)
        return with_common_type(values, [as_array(value, name) for value, name in zip(values, wanted, strict=True)])

    def batch_shapes(self, values: Sequence[Value]) -> tuple[list[Lengths], int]:
        """Shapes without the axes that belong to one vector, and the length of the vectors."""
        shapes, dim = [], None
        for argument, value in zip(self.arguments, values, strict=True):
            shape = () if isinstance(value, float) else tuple(value.shape)
            if len(shape) < argument.rank:
                kind = "vector" if argument.rank == 1 else "matrix"
                raise ValueError(f"{argument.name} must be a {kind}, or several with leading axes; it has shape {shape}")
            core = shape[len(shape) - argument.rank :]
            for n in core:
                if dim is not None and n != dim[1]:
                    raise ValueError(
                        f"{argument.name} has shape {shape}, whose last ax{'is' if argument.rank == 1 else 'es'} must be "
                        f"as long as {dim[0]}'s, {dim[1]}"
                    )
                dim = dim or (argument.name, n)
            shapes.append(shape[: len(shape) - argument.rank])
        if dim is not None and dim[1] == 0:
            raise ValueError(f"{dim[0]} is a vector of length 0")
        return shapes, dim[1] if dim else 0

    def place(self, shape: Shape, values: Sequence[Value], runtime: Runtime | None = None) -> Placement:
        """Put the arguments on the device where they belong."""
        runtime, dtype = target_of(values, self.argument_names, runtime)
        batch, dim = self.batch_shapes(values)
        return self.place_in(shape.pattern(self.argument_names, tuple(batch)), values, runtime, dtype, dim)

    def place_in(self, pattern: Pattern, values: Sequence[Value], runtime: Runtime, dtype: DType, dim: int) -> Placement:
        """Put the arguments, whose pattern is known, on a device."""
        return place_arguments(self.arguments, self.c_names, values, pattern, runtime, dtype, dim)

    # -- kernels

    def code(self, operands: Sequence[Operand]) -> KernelCode:
        return KernelCode(self.function, operands, self.functions.get)

    def kernel(self, shape: Shape, placement: Placement, outputs: tuple[str, ...] = ()) -> Compiled:
        """Compiled kernel for a placement, which writes the `outputs` of the shape for each row."""
        pattern, runtime, operands = placement.pattern, placement.runtime, placement.operands
        n_sets = 1 if any(pattern.own_rows) else min(power_of_two(pattern.n_sets), 1 << 10)
        dim = placement.dim if operands[0].rank and operands[0].role == PER_ROW else 0
        problem = Problem(
            placement.dtype.itemsize, n_sets, math.gcd(pattern.n_sets, 8), pattern.by_rows, placement.aligned, dim
        )
        if shape.sums and n_sets == 1:
            problem = replace(problem, rows=rows_at_once(runtime.device, pattern.n_rows))

        def compiled() -> Compiled:
            source = self.source_for(
                shape, runtime.device, placement.dtype.name, runtime.dialect, problem, operands, outputs
            )
            return self.compiled(runtime, source)

        return shape.compiled(self, (runtime, operands, problem, outputs), compiled)

    def source_for(
        self, shape: Shape, device: Device, dtype: str, dialect: str, problem: Problem, operands: Sequence[Operand],
        outputs: Sequence[str] = (),
    ) -> Source:  # fmt: skip
        """Source of a shape's kernel for operands."""
        code = self.code(operands)
        if shape.sums and problem.n_sets == 1 and problem.rows > 1 and not any(o.rank for o in operands):
            code = code.with_shared_logarithm()
        layout, name = shape.layout(device, code, problem), f"{self.function.name}_{shape.name}"
        before = shape.before(outputs)
        text = shape.template.source_of(code, name, layout, dtype, dialect, before=before, outputs=outputs)
        return Source(text, name, layout)

    def compiled(self, runtime: Runtime, source: Source) -> Compiled:
        """Kernel of a source."""
        text, name, layout, shared = source
        try:
            return Compiled(runtime.kernel(text, name, layout.threads, shared), layout)
        except CompileError as error:
            raise explained(error, runtime, self.name, self.source, self.functions, self.functions.get) from error

    def shown_for(self, shape: Shape, dtype: str, dialect: str) -> str:
        """Source of a shape's kernel for many observations and many sets of parameters."""
        dim = self.shown_dim if self.arguments[0].rank else 0
        problem = Problem(np.dtype(dtype).itemsize, 8, 8, aligned=True, dim=dim)
        return self.source_for(shape, REFERENCE_DEVICES[dialect], dtype, dialect, problem, self.shown_operands()).text

    shown_dim = 4  # of vectors, in kernels that are shown

    def shown_operands(self) -> list[Operand]:
        """Operands of kernels that are shown: an observation for each row, parameters for each set."""
        ranks = [min(a.rank, 1) for a in self.arguments]
        roles = [PER_ROW, *[PER_SET] * (len(ranks) - 1)]
        return [Operand(*operand) for operand in zip(self.c_names, roles, ranks, strict=True)]

    def kernel_source(self, shape: str, dtype: str, dialect: str) -> str:
        """Source of a kernel of this function; see `Density.kernel_source`."""
        return shown_source("density", self, shape, dtype, dialect)

    # -- evaluation

    def __call__(self, *args: ArrayLike, **kwargs: ArrayLike) -> Result:
        """Values of the function at every point of the broadcast of its arguments."""
        function = self.for_arguments(kwargs)
        found: Result | None = function._repeated_table(args, kwargs)
        return function.table(function.bind(args, kwargs)) if found is None else found

    def _repeated_table(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Array | None:
        """Table of a call that differs from others in its numbers only; None where it may differ in more."""
        if (values := in_order(self.argument_names, args, kwargs)) is None or (kind := kind_of_table(values)) is None:
            return None
        plan = self._tables.plan(kind, self._planned_table, kind[0], values)
        return None if plan is None else plan(values)

    def _planned_table(self, runtime: Runtime, values: Sequence[Value]) -> RepeatedCall[Array] | None:
        return self.new_table(runtime, [v if is_device_array(v) or np.ndim(v) else float(v) for v in values])

    def new_table(self, runtime: Runtime, values: Sequence[Value]) -> RepeatedCall[Array] | None:
        """Repeated call of tables like that of `values`; None where such tables are not repeated."""
        placement = self.place(TABLE, values, runtime)
        return repeated_table(placement, self.table_launch(placement), values) if is_repeatable(placement, values) else None

    def table(self, values: Sequence[Value]) -> Result:
        """Values of the function at every point of the broadcast of its arguments."""
        placement = self.place(TABLE, values)
        runtime, pattern, dtype = placement.runtime, placement.pattern, placement.dtype
        native = any(map(is_device_array, values))
        if not math.prod(pattern.shape):
            return runtime.empty(pattern.shape, dtype) if native else np.empty(pattern.shape, dtype)
        made: Result = written_by(functools.partial(self.launch_table, placement), runtime, pattern.shape, dtype, native)
        return made

    def launch_table(self, placement: Placement, out: Handle, offset: int) -> None:
        """Start the evaluation of a placement into `out`."""
        kernel, grid, before, behind = self.table_launch(placement)
        kernel(grid, out, offset, *before, *placement.values, *behind)

    def table_launch(self, placement: Placement) -> TableLaunch:
        """Launch of the evaluation of a placement; good for other values of the same kinds, too."""
        pattern = placement.pattern
        kernel, layout = self.kernel(TABLE, placement)
        set_blocks = -(-pattern.n_sets // layout.sets)
        blocks = row_blocks(placement.runtime.device, layout, pattern.n_rows, set_blocks)
        strides = (pattern.n_rows, pattern.n_sets, pattern.row_stride, pattern.set_stride)
        return TableLaunch(kernel, (set_blocks, blocks), strides, (placement.dim,) * self.function.has_dim)

    def total(self, *args: ArrayLike, **kwargs: ArrayLike) -> Any:
        """Sum over the last axis, in float64."""
        function = self.for_arguments(kwargs)
        return function.sum(function.bind(args, kwargs))

    def sum(self, values: Sequence[Value], runtime: Runtime | None = None) -> Any:
        """Sum over the last axis, in float64; a device array where there are several sums and a parameter is on a device."""
        placement = self.place(LOGLIK, values, runtime)
        runtime, pattern = placement.runtime, placement.pattern
        shape = pattern.shape[:-1]
        if not math.prod(pattern.shape):
            return np.zeros(shape)[()]
        plan = self.sum_launch(placement)
        if shape and any(map(is_device_array, values[1:])):
            result = runtime.empty(shape, np.float64)
            plan.launch(*runtime.memory(result), placement.values)
            if runtime.host_visible:
                runtime.synchronize()
            return result
        sums = plan.fetch(placement.values)
        return float(sums[0]) if not shape else sums.reshape(shape).copy()

    def sum_launch(self, placement: Placement) -> SumLaunch:
        """Launch of the sum over a placement; good for other values of its scalar parameters, too."""
        kernel, layout = self.kernel(LOGLIK, placement)
        pattern, runtime = placement.pattern, placement.runtime
        set_blocks = -(-pattern.n_sets // layout.sets)
        blocks = row_blocks(runtime.device, layout, pattern.n_rows, set_blocks, kernel.registers)
        dim = (placement.dim,) if self.function.has_dim else ()
        n_sums = self.n_sums(placement.operands)
        adder = adder_of(runtime, layout.threads, blocks, pattern.n_sets * n_sums)
        return SumLaunch(runtime, kernel, adder, (set_blocks, blocks), pattern.n_rows, pattern.n_sets, n_sums, dim)

    def n_sums(self, operands: Sequence[Operand]) -> int:
        """Number of sums for each set."""
        return 1

    def written(self, operands: Sequence[Operand]) -> list[str]:
        """Results that are written for each row."""
        return []


def log_density_of(what: Any) -> Any:
    """Logarithm of a density; a function itself."""
    return getattr(what, "log_density", what)
