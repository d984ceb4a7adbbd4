"""Elliptical densities: functions of the squared Mahalanobis distance, with a kernel of their own.

A device function whose first two parameters are ``sqdist`` and ``logdet`` is the log-density of a vector x that depends on
(x - mu)' cov⁻¹ (x - mu) and log det cov only. Users pass ``mu`` and ``cov`` (or ``scale_tril``, or ``precision``).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.broadcasting import Pattern, Shape, broadcast, mixture_pattern, sum_pattern, table_pattern
from ..evaluation.placement import Placed, Placement, gather, target_of
from ..evaluation.pointwise import Pointwise
from ..kernels import code as codegen
from ..kernels import layout
from ..kernels.code import PER_ROW, PER_SET, KernelCode, Operand
from ..language.device_function import Argument
from ..rewriting.checks import checked
from ..rewriting.differentiate import derivative
from ..runtime import arrays

if TYPE_CHECKING:
    from ..language.device_function import DeviceFunction
    from ..language.nodes import Function
    from ..runtime.base import Device, Kernel, Runtime
    from .gradient import EllipticalGradient

#: The ways to give the covariance matrix.
SCALES = {
    "cov": "covariance matrix",
    "scale_tril": "lower-triangular Cholesky factor of the covariance matrix",
    "precision": "inverse of the covariance matrix",
}
#: Rows from which the device's linear algebra factors a matrix in less time than a block of the whiten kernel
LARGE = 96
_DOUBLE = np.dtype(np.float64)
_PADDING = np.zeros(4, np.uint8)


@functools.cache
def factor_size(dim: int, width: int) -> int:
    """Numbers in a W packed by `width` rows."""
    return width * sum(min(i + width, dim) for i in range(0, dim, width))


class Elliptical(Pointwise):
    """The checked log-density of an elliptical distribution, or a transform of it.

    Parameters
    ----------
    definition : DeviceFunction
    functions : mapping
        All functions that it calls.
    function : Function, optional
        What a transform made of its log-density.
    scale : str
        Which of `SCALES` the arguments have.
    sums, rows : sequence of str
        Of a function with several results: those to be summed over the rows, and those to be written for each set and row.
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
        """Another function of the same numbers."""
        own = dict(scale=self.scale, more=self.more, by_row=self.by_row)
        return Elliptical(self.definition, functions or self.functions, function, **{**own, **changed})

    def given(self, names: Collection[str]) -> Elliptical:
        scale = next((s for s in SCALES if s in names), "cov")
        if scale not in self._siblings:
            self._siblings[scale] = self.variant(self.function, scale=scale)
        return self._siblings[scale]

    # -- arguments

    def place(self, shape: str, values: Sequence[Any], runtime: Runtime | None = None) -> Placement:
        names = [a.name for a in self.arguments]
        runtime, dtype = target_of(values, names, runtime)
        batch, dim = self.batch_shapes(values)
        full = broadcast(names, batch) if shape != "mixture" else ()
        given = dict(zip(names, values, strict=True))
        shapes = dict(zip(names, batch, strict=True))
        common = np.broadcast_shapes(*(s for n, s in shapes.items() if n != names[0] and n not in self.by_row))
        pattern = _pattern(shape, shapes[names[0]], common)
        if pattern.roles[1] == PER_ROW:  # observations and parameters in pairs
            if not self._more_than_means(batch):  # move the observations instead
                given[names[0]] = _difference(runtime, given[names[0]], given["mu"], dtype)
                given["mu"], shapes["mu"] = np.zeros(dim), ()
                pattern = _pattern(shape, full, ())
            else:  # every observation is the only row of a set
                n = math.prod(full)
                pattern = Pattern(full, 1, n, n, 1, (PER_ROW, PER_SET), (full, full), (True, False))
        placement = Placement(runtime, dtype, pattern, dim)
        if math.prod(pattern.shape):
            expand = None if pattern.expand[0] is None else pattern.expand[0] + (dim,)
            stride = pattern.n_rows * dim if pattern.own_rows[0] else 0
            self._place_array(placement, Operand("x", PER_ROW, 1), given[names[0]], expand, stride)
            self._place_parameters(placement, given, shapes)
        return placement

    def _place_parameters(self, placement: Placement, given: dict[str, Any], shapes: dict[str, Shape]) -> None:
        """W, mu, log det cov and the density's other parameters, for each set or shared by all sets."""
        runtime, pattern, dim, dtype = placement.runtime, placement.pattern, placement.dim, placement.dtype
        common = pattern.expand[1]
        if common is None:
            common = np.broadcast_shapes(*(shapes[a.name] for a in self.arguments[1:] if a.name not in self.by_row))
        others = [o for o in self.inner_operands()[1:] if o.role == PER_SET]
        parts, packed, start = {}, [], 0  # host parameters travel in one copy
        for name, rank in [(self.scale, 2), ("mu", 1), *((o.name, 0) for o in others)]:
            value, several = given[name], math.prod(shapes[name]) > 1
            core = (dim,) * rank
            expand = common + core if several and math.prod(shapes[name]) != pattern.n_sets else None
            stride = dim**rank if several else 0
            if arrays.is_device_array(value):
                to = value.dtype if rank == 2 and value.dtype.kind == "f" else dtype
                if value.dtype != to or expand is not None or not arrays.is_contiguous(value):
                    value = gather(runtime, value, to, expand)
                handle, offset = runtime.memory(value)
                placement.alive += [value, handle]
                parts[name] = (handle, offset // to.itemsize, stride)
            else:
                to = _DOUBLE if rank == 2 else dtype  # matrices are factored in float64
                value = np.ascontiguousarray(value if expand is None else np.broadcast_to(value, expand), to)
                packed.append(value.reshape(-1).view(np.uint8))
                parts[name] = (None, start // to.itemsize, stride)
                start += value.nbytes
                if start % 8:
                    packed.append(_PADDING)
                    start += 4
        if packed:
            together = np.concatenate(packed)
            handle, offset = runtime.memory(together)
            placement.alive += [together, handle]
            parts = {n: (handle, p[1], p[2]) if p[0] is None else p for n, p in parts.items()}
        factors, logdet = self._whiten(placement, given[self.scale], parts[self.scale])
        means = Placed(Operand("means", PER_SET, 1), parts["mu"])
        placement.placed += [factors, means, logdet, *(Placed(o, parts[o.name]) for o in others)]
        for name in self.by_row:
            self._place_array(placement, Operand(name, PER_ROW), given[name], None, 0)

    def _whiten(self, placement: Placement, matrix: Any, part: tuple[Any, int, int]) -> tuple[Placed, Placed]:
        """Launch the factorisation of all matrices: the packed W and their log determinants."""
        runtime, dim, dtype = placement.runtime, placement.dim, placement.dtype
        handle, offset, stride = part
        n = placement.pattern.n_sets if stride else 1
        width = layout.factor_width(runtime.device)
        size = factor_size(dim, width)
        single = arrays.is_device_array(matrix) and matrix.dtype.itemsize == 4
        factors = runtime.scratch(n * (size + 1) * dtype.itemsize)  # the determinants lie behind the factors
        how = dtype.name, self.scale, "float" if single else "double", width
        if dim >= LARGE and (n == 1 or runtime.device.type == "cpu"):  # a GPU's blocks work on several matrices at a time
            placement.alive.append(_whiten_large(runtime, how, n, (factors, size), (handle, offset), dim))
        else:
            chosen = layout.whiten(runtime.device, dim)
            work = factors if chosen.shared else runtime.scratch(n * 2 * dim * dim * 8)
            whiten = _whiten_kernel(runtime, *how, chosen)
            whiten((n, 1), factors, 0, factors, n * size, work, handle, offset, dim, size)
            placement.alive.append(work)
        placement.alive.append(factors)
        return (
            Placed(Operand("factors", PER_SET, 1), (factors, 0, size if stride else 0)),
            Placed(Operand("logdet", PER_SET), (factors, n * size, 1 if stride else 0)),
        )

    def _more_than_means(self, batch: Sequence[Shape]) -> bool:
        """Whether there are several of any parameter beside the mean."""
        return any(math.prod(s) > 1 for n, s in zip(self._public[1:], batch[1:], strict=True) if n != "mu")

    # -- sums and derivatives

    def sum(self, values: Sequence[Any], runtime: Runtime | None = None) -> Any:
        batch, _ = self.batch_shapes(values)
        parameters = broadcast(self._public[1:], batch[1:])
        if parameters[-1:] <= (1,) or not self._more_than_means(batch):
            return super().sum(values, runtime)
        placement = self.place("loglik", values, runtime)  # every observation is a set
        terms = self.sum_plan(placement).fetch(placement.values) if placement.placed else np.zeros(0)
        sums = terms.reshape(placement.pattern.shape).sum(-1)
        native = sums.ndim and any(arrays.is_device_array(v) for v in values[1:])
        return placement.runtime.to_device(sums) if native else sums if sums.ndim else float(sums)

    def n_sums(self, operands: Sequence[Operand]) -> int:
        return len(self.sums) or 1

    def differentiated(self, wrt: Sequence[str]) -> EllipticalGradient:
        from .gradient import EllipticalGradient

        return EllipticalGradient(self, wrt)

    def derivative(self, name: str) -> Elliptical:
        """The derivative with respect to one of the numbers that it depends on, at every point."""
        if next(a.rank for a in self.arguments if a.name == name):
            raise ValueError(
                f"{self.name} has no derivative at every point with respect to {name}, only of its sums: see loglik_and_grad"
            )
        functions = dict(self.functions)
        return self.variant(derivative(self.function, name, functions), functions)

    def hessian(self, wrt: str | Collection[str] | None) -> Any:
        raise ValueError(
            f"the Hessian is for densities of scalar parameters, and {self.name} has a mean vector and a covariance matrix: "
            "take differences of value_and_grad"
        )

    # -- kernels

    def inner_operands(self) -> list[Operand]:
        """The operands of the device function but for ``sqdist``."""
        names = [p.name for p in self.function.parameters if p.name not in ("sqdist", "dim")]
        return [Operand(n, PER_ROW if n in self.by_row else PER_SET) for n in names]

    def generated(
        self, shape: str, device: Device, dtype: str, dialect: str, problem: layout.Problem, outputs: Sequence[str] = ()
    ) -> tuple[str, str, layout.Layout, int]:
        """(source, name, layout, bytes of shared memory) of a kernel."""
        code = KernelCode(self.function, self.inner_operands(), self.functions.get, ("sqdist",), self.sums, self.rows)
        dim, width = problem.dim, layout.factor_width(device)
        size = factor_size(dim, width)
        if shape == "mixture":
            chosen, stage = layout.elliptical_mixture(device, problem, size)
        else:
            chosen, stage = layout.elliptical(device, problem, size, code.n_sums if shape == "loglik" else 0)
        reals = dim * (chosen.tile + 1)
        reals += -reals % (16 // problem.itemsize) + chosen.group * (size + dim) * stage
        name = f"{self.function.name}_{shape}"
        set = f"sets[k % {chosen.group}]" if shape == "mixture" else "sets[k]"
        evaluate = re.sub(r"\bsqdist\b", "sqdist[r]", code.evaluate("row", set, "n", "first_set + k"))
        source = codegen.render(
            "elliptical/elliptical", name, code, chosen, dtype, dialect, shape=shape, dim=dim, width=width, factor_size=size,
            shared_reals=reals, stage_factors=stage, evaluate=evaluate, outputs=outputs, streams="labels" in outputs,
        )  # fmt: skip
        return source, name, chosen, reals * problem.itemsize

    def compile(
        self, shape: str, placement: Placement, problem: layout.Problem, outputs: Sequence[str]
    ) -> tuple[Any, layout.Layout]:
        runtime, dtype = placement.runtime, placement.dtype
        source, name, chosen, shared = self.generated(
            shape, runtime.device, dtype.name, runtime.dialect, problem, outputs
        )
        return self._load(runtime, shape, source, name, chosen, shared), chosen

    def kernel_source(self, shape: str, dtype: str, dialect: str, dim: int = 16) -> str:
        if shape == "gradient":
            return self.gradient(None).kernel_source(dtype, dialect)
        problem = layout.Problem(np.dtype(dtype).itemsize, 8, 8, aligned=True, dim=dim)
        return self.generated(shape, layout.REFERENCE_DEVICES[dialect], dtype, dialect, problem)[0]


@functools.lru_cache
def _whiten_kernel(
    runtime: Runtime, dtype: str, kind: str, matrix_type: str, width: int, chosen: layout.WhitenLayout
) -> Kernel:
    source = codegen.render_plain(
        "elliptical/whiten", dtype, runtime.dialect, width=width, kind=kind, matrix_type=matrix_type, **asdict(chosen)
    )
    return runtime.kernel(source, "whiten", chosen.threads, 8 * chosen.shared)


def _whiten_large(
    runtime: Runtime, how: tuple[str, str, str, int], n: int, factors: tuple[Any, int], matrices: tuple[Any, int], dim: int
) -> Any:
    """What `_whiten_kernel` does, by the device's linear algebra: n matrices into memory for packed factors of a size.

    Returns what is to be kept until the kernels are done.
    """
    from ..linalg.providers import provider_of

    provider, (dtype, kind, matrix_type, width) = provider_of(runtime), how
    work = provider.empty(dim, dim, _DOUBLE, n)
    mirror = kind != "scale_tril" and provider.reads_above(work) == "mirror"
    threads = layout.whiten(runtime.device, dim).threads
    source = codegen.render_plain(
        "elliptical/whiten_large", dtype, runtime.dialect, kind=kind, matrix_type=matrix_type, mirror=mirror, width=width,
        threads=threads,
    )  # fmt: skip
    blocks = min(-(-dim * dim // threads), runtime.device.compute_units * 8)
    take = runtime.kernel(source, "whiten_take", threads)
    take((n, blocks), work.handle, work.offset, *matrices, dim)
    if provider.on_host:
        runtime.synchronize()
    failed = provider.factor(work) if kind != "scale_tril" else runtime.zeroed_counters(n)
    if kind != "precision":
        provider.invert(work)
    handle, offset = (failed, 0) if kind == "scale_tril" else runtime.memory(failed)
    packed, size = factors
    pack = runtime.kernel(source, "whiten_pack", threads)
    pack((n, 1), packed, 0, packed, n * size, work.handle, work.offset, handle, offset // 4, dim, size)
    return work, failed, handle


def checked_density(definition: DeviceFunction, functions: Mapping[str, Function]) -> Function:
    """The density as a function of ``sqdist``, ``logdet`` and its other parameters, with checks around it."""
    public = {a.name: a for a in definition.arguments}
    own = [p.name for p in definition.density.parameters if p.name != "dim"]
    return checked(definition.density, [public.get(n, Argument(n)) for n in own], functions.get)


def _pattern(shape: str, x: Shape, common: Shape) -> Pattern:
    """Rows of x and sets of parameters, which are broadcast among themselves first."""
    if shape == "table":
        return table_pattern(("x", "the parameters"), (x, common))
    if shape == "mixture":
        return mixture_pattern(("x", "the parameters"), (x, common))
    pattern = sum_pattern(("x", "the parameters"), (x, common))
    if pattern.roles[0] == PER_SET:  # one observation for each set
        return replace(pattern, roles=(PER_ROW, pattern.roles[1]), own_rows=(True, False))
    return pattern


def _difference(runtime: Runtime, x: Any, mu: Any, dtype: np.dtype) -> Any:
    """x - mu, one mean for each observation."""
    on_device = arrays.is_device_array(x) or arrays.is_device_array(mu)
    host = [runtime.to_host(v) if arrays.is_device_array(v) else v for v in (x, mu)]
    difference = np.subtract(*host, dtype=np.float64).astype(dtype)
    return runtime.to_device(difference) if on_device else difference
