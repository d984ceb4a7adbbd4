"""A device function evaluated at observations and parameters: from the arguments of one call to a kernel's launch."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import CompileError, DeviceFunctionError
from ..kernels import code as codegen
from ..kernels import layout
from ..kernels.code import PER_ROW, PER_SET, VALUE, KernelCode, Operand
from ..kernels.template import prelude
from ..language.device_function import Argument
from ..language.printer import Printer
from ..runtime import arrays
from .broadcasting import Pattern, Shape, mixture_pattern, sum_pattern, table_pattern
from .placement import Placed, Placement, gather, target_of

if TYPE_CHECKING:
    from ..language.nodes import Function
    from ..runtime.base import Runtime
    from .gradient import Gradient, Hessian

_TEMPLATES = {"table": "kernels/table", "loglik": "kernels/loglik", "mixture": "mixtures/mixture"}
_PATTERNS = {"table": table_pattern, "loglik": sum_pattern, "mixture": mixture_pattern}


class SumPlan(NamedTuple):
    """A compiled sum and its launch."""

    runtime: Runtime
    kernel: Any
    finish: Any  # the launch that adds the blocks' sums, where the kernel cannot
    grid: tuple[int, int]
    n_rows: int
    n_sets: int
    n_sums: int  # for each set
    dim: tuple[int, ...]

    def launch(self, out: Any, offset: int, values: Sequence[Any]) -> None:
        """Start the sum into `out`."""
        set_blocks, blocks = self.grid
        partial = counters = out
        if blocks > 1:
            partial = self.runtime.scratch(8 * self.n_sets * self.n_sums * blocks)
            if self.finish is None:
                counters = self.runtime.zeroed_counters(set_blocks)
        self.kernel(self.grid, out, offset, partial, counters, self.n_rows, self.n_sets, *values, *self.dim)
        if self.finish is not None and blocks > 1:
            self.finish((set_blocks, 1), out, offset, partial, self.n_sets, blocks)

    def fetch(self, values: Sequence[Any]) -> np.ndarray:
        """The sums: a view, to be read at once."""
        result = self.runtime.result(8 * self.n_sets * self.n_sums)
        self.launch(result.handle, 0, values)
        return self.runtime.fetch(result).view(np.float64)


class Pointwise:
    """A device function of an observation and parameters, ready to be evaluated on any device.

    Parameters
    ----------
    name : str
        For errors and kernels.
    function : Function
        Its first parameter is the observation.
    arguments : sequence of Argument
        Names and domains, in the order of the parameters.
    functions : mapping
        All functions that it calls, by their names.
    source : str
        What the user wrote, for errors.
    defaults : mapping
        Values of the parameters that a call may leave out, by their names.
    """

    def __init__(
        self, name: str, function: Function, arguments: Sequence[Argument], functions: Mapping[str, Function],
        source: str = "", defaults: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        self.functions, self.source = {**functions, function.name: function}, source
        self.name, self.function, self.arguments = name, function, tuple(arguments)
        self.defaults = dict(defaults or {})
        self._public = tuple(a.name for a in self.arguments)
        self._names = [p.name for p in function.parameters if p.name != "dim"]
        self._kernels: dict[tuple[Any, ...], tuple[Any, layout.Layout]] = {}
        self._gradients: dict[tuple[str, ...] | str | None, Gradient] = {}
        self._hessians: dict[tuple[str, ...], Hessian] = {}

    def map(self, suffix: str, formula: str) -> Pointwise:
        """The same function with `formula`, C in which {} stands for its value, applied to the value."""
        from ..language.derived import derived

        call = f"{self.function.name}({', '.join(p.name for p in self.function.parameters)})"
        body = f"    return {formula.format(call)};\n"
        return self.with_function(derived(self.function, suffix, body, self.functions.get))

    def with_function(self, function: Function, more: Sequence[str] = (), by_row: Sequence[str] = ()) -> Pointwise:
        """Another device function of the same arguments, and of `more` scalars for each set, then `by_row` for each row."""
        arguments = [*self.arguments, *(Argument(n) for n in (*more, *by_row))]
        return Pointwise(self.name, function, arguments, self.functions, self.source, self.defaults)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function at every point of the broadcast of its arguments."""
        function = self.given(kwargs)
        return function.table(function.bind(args, kwargs))

    def given(self, names: Collection[str]) -> Pointwise:
        """The function of these arguments, where it can be given in several ways."""
        return self

    # -- arguments

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], missing: int = 0) -> list[Any]:
        """The arguments in their order, as arrays; the first `missing` are left out."""
        wanted = self._public[missing:]
        if len(args) > len(wanted):
            raise ValueError(f"{self.name} takes {len(wanted)} arguments ({', '.join(wanted)}), not {len(args)}")
        given = dict(zip(wanted, args, strict=False))
        for name, value in kwargs.items():
            if name not in wanted:
                raise ValueError(f"{self.name} has no parameter {name!r}; its parameters are {', '.join(wanted)}")
            if name in given:
                raise ValueError(f"{self.name}: {name} is given twice")
            given[name] = value
        given = {**self.defaults, **given}
        if lacking := [n for n in wanted if n not in given]:
            raise ValueError(f"{self.name} needs {', '.join(lacking)}; its parameters are {', '.join(wanted)}")
        return [arrays.as_array(given[n], n) for n in wanted]

    def batch_shapes(self, values: Sequence[Any]) -> tuple[list[Shape], int]:
        """The shapes without the axes that belong to one vector, and the length of the vectors."""
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

    def place(self, shape: str, values: Sequence[Any], runtime: Runtime | None = None) -> Placement:
        """Put the arguments on the device where they belong."""
        runtime, dtype = target_of(values, self._public, runtime)
        batch, dim = self.batch_shapes(values)
        return self.placed(values, _PATTERNS[shape](self._public, tuple(batch)), runtime, dtype, dim)

    def placed(self, values: Sequence[Any], pattern: Pattern, runtime: Runtime, dtype: np.dtype, dim: int) -> Placement:
        """The arguments on a device, in a known pattern."""
        placement = Placement(runtime, dtype, pattern, dim)
        if not math.prod(pattern.shape):
            return placement
        packed: list[np.ndarray] = []
        for i, (argument, value) in enumerate(zip(self.arguments, values, strict=True)):
            self._place_one(placement, packed, i, argument, value)
        if packed:  # all parameters in one copy
            sizes = [a.size for a in packed]
            handle, offset = runtime.memory(np.concatenate([a.ravel() for a in packed]) if len(packed) > 1 else packed[0])
            placement.alive.append((handle, packed))
            starts = iter(np.cumsum([0, *sizes[:-1]]).tolist())
            for p in placement.placed:
                if p.values and p.values[0] is None:
                    p.values = (handle, offset // dtype.itemsize + next(starts), p.values[2])
        return placement

    def _place_one(self, placement: Placement, packed: list[np.ndarray], i: int, argument: Argument, value: Any) -> None:
        pattern, dtype, dim = placement.pattern, placement.dtype, placement.dim
        role, expand, own, rank = pattern.roles[i], pattern.expand[i], pattern.own_rows[i], argument.rank
        name = self._names[i]
        if role == VALUE and isinstance(value, np.ndarray) and not rank:
            value = float(value.reshape(()))
        if isinstance(value, float):
            placement.placed.append(Placed(Operand(name, VALUE), (value,)))
            return
        core: Shape = (dim,) * rank
        on_device = arrays.is_device_array(value)
        if role == PER_ROW:
            stride = dim**rank * (pattern.n_rows if own else 0)
        else:
            stride = 0 if role == VALUE else dim**rank
            role = PER_SET
            if expand is not None:  # a sum's sets have no last axis
                expand = expand[:-1]
                value = value.reshape(*value.shape[: len(value.shape) - rank - 1], *core)
        operand = Operand(name, role, min(rank, 1))
        if not on_device and role == PER_SET:
            array = value if expand is None else np.broadcast_to(value, expand + core)
            packed.append(np.ascontiguousarray(array, dtype))
            placement.placed.append(Placed(operand, (None, None, stride)))
            return
        self._place_array(placement, operand, value, None if expand is None else expand + core, stride)

    def _place_array(self, placement: Placement, operand: Operand, value: Any, expand: Shape | None, stride: int) -> None:
        """Contiguous `real` numbers: the array as it lies where it is that already, else a copy, broadcast to `expand`."""
        runtime, dtype = placement.runtime, placement.dtype
        if not arrays.is_device_array(value):
            value = np.ascontiguousarray(value if expand is None else np.broadcast_to(value, expand), dtype)
        elif value.dtype != dtype or expand is not None or not arrays.is_contiguous(value):
            value = gather(runtime, value, dtype, expand)
        handle, offset = runtime.memory(value)
        placement.alive.append((value, handle))
        address = offset + (handle if isinstance(handle, int) else 0)
        placement.placed.append(Placed(operand, (handle, offset // dtype.itemsize, stride), address))

    # -- kernels

    def code(self, operands: Sequence[Operand]) -> KernelCode:
        return KernelCode(self.function, operands, self.functions.get)

    def kernel(self, shape: str, placement: Placement, outputs: tuple[str, ...] = ()) -> tuple[Any, layout.Layout]:
        """The compiled kernel for a placement, and its layout; `outputs`: what a mixture writes for each row."""
        pattern, runtime = placement.pattern, placement.runtime
        operands = tuple(p.operand for p in placement.placed)
        own_rows = any(pattern.own_rows)
        n_sets = 1 if own_rows else min(layout.power_of_two(pattern.n_sets), 1 << 10)
        multiple = math.gcd(pattern.n_sets, 8)
        dim = placement.dim if operands[0].rank and operands[0].role == PER_ROW else 0
        problem = layout.Problem(placement.dtype.itemsize, n_sets, multiple, pattern.by_rows, placement.aligned, dim)
        key = (id(runtime), shape, operands, problem, outputs)
        if key not in self._kernels:
            try:
                self._kernels[key] = self.compile(shape, placement, problem, outputs)
            except CompileError as error:
                raise self._explain(error, runtime) from error
        return self._kernels[key]

    def compile(
        self, shape: str, placement: Placement, problem: layout.Problem, outputs: Sequence[str]
    ) -> tuple[Any, layout.Layout]:
        """((kernel, the launch that finishes its sums), layout)."""
        runtime, dtype = placement.runtime, placement.dtype
        code = self.code([p.operand for p in placement.placed])
        chosen = getattr(layout, shape)(runtime.device, code, problem)
        name = f"{self.function.name}_{shape}"
        source = codegen.render(
            _TEMPLATES[shape], name, code, chosen, dtype.name, runtime.dialect, outputs=outputs, streams="labels" in outputs
        )
        return self._load(runtime, shape, source, name, chosen, 0), chosen

    def _load(
        self, runtime: Runtime, shape: str, source: str, name: str, chosen: layout.Layout, shared: int
    ) -> tuple[Any, Any]:
        kernel = runtime.kernel(source, name, chosen.threads, shared)
        finish = None
        if shape != "table" and runtime.dialect == "opencl":
            finish = runtime.kernel(source, "add_partial_sums", chosen.threads)
        return kernel, finish

    def _explain(self, error: CompileError, runtime: Runtime) -> Exception:
        """The compiler's words about the user's own lines, where it also rejects these as they stand."""
        source = self.source
        called = codegen.callees_first(list(self.functions.values()), self.functions.get)
        functions = [f for f in called if not f.name.startswith(f"{self.name}_") and not f.results]
        printer = Printer("float64")
        text = prelude("float64", runtime.dialect) + "\n".join(map(printer.function, functions))
        text += "".join(f"#define {f.name.removeprefix('special_')} {f.name}\n" for f in functions)
        text += '#line 1 "snippet"\n' + re.sub(r"\b__device__\b", "DEVICE", source) + "\nKERNEL(1) nothing(int n) {}\n"
        try:
            runtime.kernel(text, "nothing", 1)
        except CompileError as own:
            place = re.search(r"snippet[:(](\d+)(?:[:,](\d+))?[^\n]*error: *([^\n]*)", own.log)
            if place:
                line, column = int(place[1]), int(place[2]) if place[2] else None
                return DeviceFunctionError(f"{runtime.device.id}'s compiler: {place[3]}", line, column, source)
        return error

    # -- evaluation

    def table(self, values: Sequence[Any]) -> Any:
        """The function at every point of the broadcast of its arguments."""
        placement = self.place("table", values)
        runtime, pattern, dtype = placement.runtime, placement.pattern, placement.dtype
        native = any(arrays.is_device_array(v) for v in values)
        if not math.prod(pattern.shape):
            return runtime.empty(pattern.shape, dtype) if native else np.empty(pattern.shape, dtype)
        result, out, offset = output(runtime, pattern.shape, dtype, native)
        self.launch_table(placement, out, offset)
        return deliver(runtime, result, native)

    def launch_table(self, placement: Placement, out: Any, offset: int) -> None:
        """Start the evaluation of a placement into `out`."""
        runtime, pattern = placement.runtime, placement.pattern
        (kernel, _), chosen = self.kernel("table", placement)
        set_blocks = -(-pattern.n_sets // chosen.sets)
        blocks = layout.row_blocks(runtime.device, chosen, pattern.n_rows, set_blocks)
        strides = (pattern.n_rows, pattern.n_sets, pattern.row_stride, pattern.set_stride)
        dim = [placement.dim] * self.function.has_dim
        kernel((set_blocks, blocks), out, offset, *strides, *placement.values, *dim)

    def total(self, *args: Any, **kwargs: Any) -> Any:
        """The sum over the last axis, in float64."""
        function = self.given(kwargs)
        return function.sum(function.bind(args, kwargs))

    def sum(self, values: Sequence[Any], runtime: Runtime | None = None) -> Any:
        """The sum over the last axis, in float64; a device array where there are several and a parameter is one."""
        placement = self.place("loglik", values, runtime)
        runtime, pattern = placement.runtime, placement.pattern
        shape = pattern.shape[:-1]
        native = bool(shape) and any(arrays.is_device_array(v) for v in values[1:])
        if not math.prod(pattern.shape):
            return np.zeros(shape)[()]
        plan = self.sum_plan(placement)
        if native:
            result = runtime.empty(shape, np.float64)
            out, offset = runtime.memory(result)
            plan.launch(out, offset // 8, placement.values)
            if runtime.host_visible:
                runtime.synchronize()
            return result
        sums = plan.fetch(placement.values)
        return float(sums[0]) if not shape else sums.reshape(shape).copy()

    def value_and_grad(
        self, values: Sequence[Any], wrt: str | Collection[str] | None = None, runtime: Runtime | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The sum over the last axis, and its derivatives."""
        return self.gradient(wrt)(values, runtime)

    def gradient(self, wrt: str | Collection[str] | None) -> Gradient:
        """What computes the sum and its derivatives with respect to these arguments."""
        key = wrt if wrt is None or isinstance(wrt, str) else tuple(wrt)
        if (known := self._gradients.get(key)) is None:
            from .gradient import chosen

            names = chosen(self, wrt)
            known = self._gradients.get(names) or self.differentiated(names)
            self._gradients[key] = self._gradients[names] = known
        return known

    def differentiated(self, wrt: Sequence[str]) -> Gradient:
        from .gradient import Gradient

        return Gradient(self, wrt)

    def derivative(self, name: str) -> Pointwise:
        """The derivative with respect to one argument, at every point."""
        from .gradient import derivative_of

        return derivative_of(self, name)

    def hessian(self, wrt: str | Collection[str] | None) -> Hessian:
        """What computes the second derivatives of the sum with respect to these scalar parameters."""
        from .gradient import Hessian, chosen

        names = chosen(self, wrt)
        if names not in self._hessians:
            self._hessians[names] = Hessian(self, names)
        return self._hessians[names]

    def sum_plan(self, placement: Placement) -> SumPlan:
        """How to launch the sum over a placement; good for other values of its scalar parameters, too."""
        (kernel, finish), chosen = self.kernel("loglik", placement)
        pattern = placement.pattern
        set_blocks = -(-pattern.n_sets // chosen.sets)
        device = placement.runtime.device
        blocks = layout.row_blocks(device, chosen, pattern.n_rows, set_blocks, kernel.registers)
        dim = (placement.dim,) if self.function.has_dim else ()
        n_sums = self.n_sums([p.operand for p in placement.placed])
        return SumPlan(
            placement.runtime, kernel, finish, (set_blocks, blocks), pattern.n_rows, pattern.n_sets, n_sums, dim
        )  # fmt: skip

    def n_sums(self, operands: Sequence[Operand]) -> int:
        """How many sums there are for each set."""
        return 1

    def written(self, operands: Sequence[Operand]) -> list[str]:
        """The results that are written for each row."""
        return []

    def kernel_source(self, shape: str, dtype: str, dialect: str) -> str:
        """The source of the kernel for many observations and many parameter sets; see `Density.kernel_source`."""
        if shape == "gradient":
            return self.gradient(None).kernel_source(dtype, dialect)
        ranks = [min(a.rank, 1) for a in self.arguments]
        operands = [
            Operand(n, PER_ROW if i == 0 else PER_SET, rank) for i, (n, rank) in enumerate(zip(self._names, ranks, strict=True))
        ]
        code = self.code(operands)
        itemsize = np.dtype(dtype).itemsize
        problem = layout.Problem(itemsize, 8, 8, aligned=True, dim=4 if ranks[0] else 0)
        chosen = getattr(layout, shape)(layout.REFERENCE_DEVICES[dialect], code, problem)
        return codegen.render(_TEMPLATES[shape], f"{self.function.name}_{shape}", code, chosen, dtype, dialect, outputs=())


def output(runtime: Runtime, shape: Shape, dtype: np.dtype, native: bool) -> tuple[Any, Any, int]:
    """(what is returned, what the kernel writes to, the offset in it)."""
    if not native and runtime.host_visible:
        array, handle = runtime.host_result(shape, dtype)
        return array, handle, 0
    array = runtime.empty(shape, dtype)
    handle, offset = runtime.memory(array)
    return array, handle, offset // dtype.itemsize


def deliver(runtime: Runtime, result: Any, native: bool) -> Any:
    """The result for the user, once the kernel may be waited for."""
    if native:
        if runtime.host_visible:  # the kernel may be reading NumPy arrays that do not outlive this call
            runtime.synchronize()
        return result
    if runtime.host_visible:
        runtime.synchronize()
        return result[()]
    host = np.empty(result.shape, result.dtype)
    runtime.download(result, host)
    return host[()]
