"""Random draws of a density: from its sampler, a device function, to a kernel's launch.

A sampler ``name_sample(rng_t *rng, …)`` takes numbers from a stream. Where it takes just one, it is a function of that
number, and neighbouring draws share a block of random words. A density with a distribution function and no sampler is
inverted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..evaluation.arguments import require
from ..evaluation.broadcasting import Pattern, table_pattern
from ..evaluation.kinds import Plans
from ..evaluation.placement import Placement, device_of
from ..evaluation.pointwise import Pointwise, Source
from ..evaluation.results import Destination, as_shape, size_of
from ..kernels.code import PER_SET, VALUE, KernelCode, Operand
from ..kernels.layout import REFERENCE_DEVICES, Layout, copies, row_blocks
from ..kernels.shape import Compiled, Shape
from ..kernels.template import Template
from ..language.nodes import OUTPUT, REAL, RNG, VECTOR, Function
from ..rewriting.checks import checked_sampler
from ..rewriting.inversion import inverted
from ..rewriting.samplers import DRAW, ONCE, of_one_number, with_first_turn
from ..runtime import choose
from ..runtime.arrays import is_device_array, result_dtype
from .generator import RANDOM, Generator

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..language.device_function import Argument, DeviceFunction
    from ..runtime.base import Device, Kernel, Runtime
    from ..runtime.types import Array, DType, Result, Size, Values
    from ..runtime.types import Shape as Lengths

#: Draws that share a block of words lie this far apart. Part of what a seed stands for: not to be changed.
LANE_STRIDE = 64


@functools.lru_cache(1024)
def draws_pattern(names: tuple[str, ...], shapes: tuple[Lengths, ...], size: Lengths) -> Pattern:
    """Rows and sets of an array of draws: rows are the axes that no parameter varies along."""
    try:
        fits = np.broadcast_shapes(size, *shapes) == size
    except ValueError:
        fits = False
    if not fits:
        listed = ", ".join(f"{n} {s}" for n, s in zip(names, shapes, strict=True) if s)
        raise ValueError(f"size {size} does not fit the shapes of the parameters: {listed}")
    padded = [(1,) * (len(size) - len(s)) + tuple(s) for s in shapes]
    free = tuple(1 if any(s[axis] > 1 for s in padded) else n for axis, n in enumerate(size))
    pattern = table_pattern(("size", *names), (free, *shapes))
    return replace(pattern, roles=pattern.roles[1:], expand=pattern.expand[1:], own_rows=pattern.own_rows[1:])


def layout(device: Device, itemsize: int, rejects: bool) -> Layout:
    """Layout of draws; `rejects`: the first attempts at a tile of draws are made together."""
    if device.type == "cpu":
        return Layout(64 // itemsize, tile=1024 if rejects else 64)
    threads = min(128, device.max_threads)
    return Layout(threads, tile=(16 if rejects else 4) * threads, unroll=4, resident=4096)


SAMPLE = Shape("sample", Template.beside(__file__, "sample"), draws_pattern, layout)


def order_of(pattern: Pattern) -> str:
    """Order of rows and sets in the result, by which a kernel finds those of a place."""
    return "row" if pattern.n_sets == 1 else "row_inside" if pattern.row_stride == 1 else "set_inside"


class _DrawPlan(NamedTuple):
    """Plan shared by all calls whose parameters have certain shapes.

    Attributes
    ----------
    shape : tuple of int
        Shape of the result, whose draws are vectors of `dim` numbers; 0 where they are numbers.
    written, wanted : dtype
        Types that the kernel writes, and that the user gets.
    native : bool
        Whether that is a device array, where `out` does not tell.
    n_draws : int
    kernel, grid, sizes
        Kernel, grid and sizes of the launch; the sizes are the numbers of draws, rows and sets. There is none without draws.
    arguments, alive : list
        Values that the kernel takes for the parameters, and objects that are held until it is done.
    """

    runtime: Runtime
    shape: Lengths
    written: np.dtype
    wanted: np.dtype
    native: bool
    n_draws: int
    dim: list[int]
    kernel: Kernel | None = None
    grid: tuple[int, int] = (0, 0)
    sizes: tuple[int, int, int] = (0, 0, 0)
    arguments: Sequence[Array] = ()
    alive: Sequence[object] = ()


class Sampler(Pointwise):
    """Sampler of a density, ready to draw on any device.

    `functions` are all that the density's source calls; `defaults` are values of the parameters that a call may leave out.
    NotImplementedError where the source has neither a sampler nor a distribution function.
    """

    shares_words = True  # whether draws may share a block of words where one number makes a draw

    def __init__(
        self, definition: DeviceFunction, functions: Mapping[str, Function], defaults: Mapping[str, Values] | None = None
    ):
        functions = dict(functions)
        observation, *parameters = definition.arguments
        sampler = definition.role("sample") or inverted(definition, functions)
        self._inverts = definition.role("sample") is None
        function = checked_sampler(sampler, self.drawn(sampler, parameters), functions.get)
        functions[function.name] = function
        #: "uniform", "normal" or "exponential" where the sampler is a function of one such number
        self.kind, function = (self.shares_words and of_one_number(function, functions)) or ("", function)
        turns = with_first_turn(function, functions) if function.type == REAL and self.shares_words else None
        #: whether it makes attempts, of which some are rejected
        self.rejects, function = turns is not None, turns or function
        super().__init__(definition.name, function, parameters, functions, definition.source, defaults)
        self.c_names = [p.name for p in function.parameters if p.type in (REAL, VECTOR) and p.name != DRAW.name]
        self.rank, self.discrete = observation.rank, definition.discrete
        self._plans: Plans[_DrawPlan] = Plans()

    @staticmethod
    def drawn(sampler: Function, parameters: list[Argument]) -> list[Argument]:
        """Parameters that the device function takes."""
        return parameters

    def for_arguments(self, names: Collection[str]) -> Sampler:
        return self

    def draw(
        self, args: Sequence[Values], kwargs: Mapping[str, Values], size: Size, rng: Generator, dtype: DTypeLike | None,
        out: Array, device: bool,
    ) -> Result:  # fmt: skip
        """Draws: see `Density.rvs`."""
        function = self.for_arguments(kwargs)
        plain = len(args) == len(self.arguments) and not kwargs and {*map(type, args)} <= {float}
        values = list(args) if plain else function.bind(args, kwargs)
        for argument, value in zip(function.arguments, values, strict=True):
            require(argument, value)
        drawn: Result = function._draw(values, size, rng, dtype, out, device)
        return drawn

    def _draw(
        self, values: list[Array], size: Size, rng: Generator, dtype: DTypeLike | None, out: Array, device: bool
    ) -> Array:
        if out is None and set(map(type, values)) <= {float} and isinstance(size, (int, tuple, NoneType)):
            kind = choose.get(), size, dtype, device  # calls of this kind differ in their numbers only
            plan = self._plans.plan(kind, self._plan, values, size, dtype, out, device)
            arguments: Sequence[Array] = values
        else:
            plan = self._plan(values, size, dtype, out, device)
            arguments = plan.arguments
        destination = Destination(plan.runtime, plan.shape, plan.written, plan.wanted, plan.native, out)
        if plan.kernel:
            stream = rng.take(plan.n_draws)
            plan.kernel(plan.grid, destination.handle, destination.offset, *plan.sizes, *stream, *arguments, *plan.dim)
        draws = destination.finished()
        if plan.kernel and not self.rank:
            self._require_draws(draws, values)
        return draws

    def _require_draws(self, draws: Array, values: Sequence[Array]) -> None:
        """Check of parameters, by the first draw of each set; ValueError where they clash; no device array is read."""
        if is_device_array(draws) or any(map(is_device_array, values)):
            return
        shapes = [(1,) * (np.ndim(draws) - np.ndim(v)) + np.shape(v) for v in values]
        varying = [any(shape[axis] > 1 for shape in shapes) for axis in range(np.ndim(draws))]
        first = np.asarray(draws)[tuple(slice(None) if varies else slice(1) for varies in varying)]
        wrong = first == np.iinfo(np.int64).min if self.discrete else first != first
        if np.any(wrong):
            place = tuple(np.argwhere(wrong)[0].tolist())
            found = (np.broadcast_to(v, first.shape)[place] for v in values)
            listed = ", ".join(f"{n}={float(v)}" for n, v in zip(self.argument_names, found, strict=True))
            or_else = ", or the distribution function, which is inverted, is nan there" if self._inverts else ""
            raise ValueError(f"{self.name}: no draws of the parameters {listed}, which do not go together{or_else}")

    def _plan(self, values: list[Array], size: Size, dtype: DTypeLike | None, out: Array, device: bool) -> _DrawPlan:
        batch, dim = self.batch_shapes(values)
        if self.rank and not dim:  # the parameters are numbers
            if not np.ndim(out):
                raise ValueError(f"no parameter of {self.name} tells the length of its vectors: pass out=, which does")
            dim = out.shape[-1]
        core = (dim,) * self.rank
        if out is not None:
            size = size_of(out, size, core)
        shape = np.broadcast_shapes(*batch) if size is None else as_shape(size)
        runtime, computed, wanted = self._target(values, dtype, out)
        # A sampler of vectors writes `real`, also where its draws are whole numbers.
        written = computed if self.rank else wanted
        native = device or any(map(is_device_array, values))
        n_draws = math.prod(shape)
        plan = _DrawPlan(runtime, shape + core, written, wanted, native, n_draws, [dim] * self.function.has_dim)
        pattern = SAMPLE.pattern(self.argument_names, tuple(batch), shape)  # the shapes have to fit without draws, too
        if not math.prod(plan.shape):
            return plan
        placement = self.place_in(pattern, values, runtime, computed, dim)
        kernel, layout = self._kernel(placement, written)
        blocks = row_blocks(runtime.device, layout, -(-n_draws // self._lanes(computed)), 1)
        sizes = n_draws, pattern.n_rows, pattern.n_sets
        return plan._replace(kernel=kernel, grid=(1, blocks), sizes=sizes, arguments=placement.values, alive=placement.alive)

    def _target(self, values: Sequence[Array], dtype: DTypeLike | None, out: Array) -> tuple[Runtime, np.dtype, np.dtype]:
        """Runtime for the draws, the type to compute in, and the type of the draws."""
        on_device = [out] if is_device_array(out) else []
        runtime = device_of([*values, *on_device], [*self.argument_names, "out"][: len(values) + len(on_device)])
        if self.discrete:
            if any(given is not None and np.dtype(given) != np.int64 for given in (dtype, getattr(out, "dtype", None))):
                raise TypeError(f"draws of {self.name} are whole numbers: dtype must be int64, and so must that of out")
            computed = np.dtype(np.float64 if runtime.device.double else np.float32)  # which does not hold all of them
            return runtime, computed, np.dtype(np.int64)
        computed = result_dtype(list(values)) if dtype is None and out is None else np.dtype(dtype or out.dtype)
        if computed not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"draws of {self.name} are float32 or float64, not {computed}")
        if out is not None and out.dtype != computed:
            raise TypeError(f"out has dtype {out.dtype}, and dtype={computed} is asked for")
        if computed.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: say dtype='float32'")
        return runtime, computed, computed

    # -- kernels

    def code(self, operands: Sequence[Operand]) -> KernelCode:
        made = {DRAW.name, ONCE.name}
        drawn = [p.name for p in self.function.parameters if p.type in (RNG, OUTPUT) or p.name in made]
        return KernelCode(self.function, operands, self.functions.get, drawn)

    def _kernel(self, placement: Placement, written: DType) -> Compiled:
        runtime, order = placement.runtime, order_of(placement.pattern)

        def compiled() -> Compiled:
            code = self.code(placement.operands)
            source = self._sample_source(code, runtime.device, placement.dtype.name, runtime.dialect, order, written)
            return self.compiled(runtime, source)

        return SAMPLE.compiled(self, (runtime, placement.operands, placement.dtype, order, written), compiled)

    def _lanes(self, dtype: DType) -> int:
        """Number of draws that share a block of 128 bits."""
        return 16 // dtype.itemsize if self.kind else 1

    def _sample_source(self, code: KernelCode, device: Device, dtype: str, dialect: str, order: str, written: DType) -> Source:
        layout = SAMPLE.layout(device, np.dtype(dtype).itemsize, self.rejects)
        if self.rejects:
            layout = replace(layout, unroll=copies(code, layout.unroll))
        whole, name = written.kind == "i", f"{self.function.name}_sample"
        text = SAMPLE.template.source_of(
            code, name, layout, dtype, dialect, before=(RANDOM,), kind=self.kind,
            lanes=self._lanes(np.dtype(dtype)) if self.kind else 0, together=LANE_STRIDE, order=order, whole=whole,
            rejects=self.rejects, serial=device.type == "cpu", vectors=bool(self.rank), out_type="index_t" if whole else "real",
        )  # fmt: skip
        return Source(text, name, layout)

    def shown(self, dtype: str, dialect: str) -> str:
        """Source of the kernel for one set of parameters; see `Density.kernel_source`."""
        ranks = [min(a.rank, 1) for a in self.arguments]
        operands = [Operand(n, PER_SET if rank else VALUE, rank) for n, rank in zip(self.c_names, ranks, strict=True)]
        written = np.dtype(np.int64 if self.discrete and not self.rank else dtype)
        return self._sample_source(self.code(operands), REFERENCE_DEVICES[dialect], dtype, dialect, "row", written).text
