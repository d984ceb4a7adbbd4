"""Draws of elliptical distributions: a normal vector, times a number, times a factor of the covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..draws.generator import RANDOM, Generator
from ..draws.sampler import SAMPLE, Sampler, draws_pattern, order_of
from ..evaluation.pointwise import Source
from ..evaluation.results import Destination, as_shape, size_of
from ..kernels.code import PER_ROW, PER_SET, VALUE, Operand
from ..kernels.layout import REFERENCE_DEVICES, Layout, row_blocks
from ..kernels.shape import Compiled
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from .whiten import SCALES

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..evaluation.broadcasting import Pattern
    from ..language.device_function import Argument, DeviceFunction
    from ..language.nodes import Function
    from ..runtime.base import Device, Runtime
    from ..runtime.types import Array, DType, Handle, Size
    from ..runtime.types import Shape as Lengths

_SAMPLE = Template.beside(__file__, "elliptical_sample")
#: The set of parameters of a draw: the only one, its own, or what its place in the result tells.
_SET_OF = {"one": "0", "own": "{}", "row_inside": "{} / n_rows", "set_inside": "{} % n_sets"}

#: The most bytes of a vector that a thread of a GPU draws by itself, its elements in registers.
_MOST_BYTES_IN_REGISTERS = thresholds.ELLIPTICAL_MOST_BYTES_IN_REGISTERS.value


class EllipticalSampler(Sampler):
    """Sampler of mean + s L z, L L' being the covariance matrix, z standard normal, and s a draw of the density's sampler.

    Parameters
    ----------
    definition, functions
        As for `Sampler`.
    scale : str
        Name out of `SCALES` of the matrix among the arguments.
    """

    def __init__(self, definition: DeviceFunction, functions: Mapping[str, Function], scale: str = "cov"):
        super().__init__(definition, functions)
        self.definition, self.scale = definition, scale
        self.arguments = tuple(replace(a, name=scale) if a.name == "cov" else a for a in self.arguments)
        self.argument_names = tuple(a.name for a in self.arguments)
        self._siblings = {scale: self}

    shares_words = False  # it needs a normal vector beside what the sampler takes

    @staticmethod
    def drawn(sampler: Function, parameters: list[Argument]) -> list[Argument]:
        return [a for a in parameters if not a.rank]

    def for_arguments(self, names: Collection[str]) -> EllipticalSampler:
        scale = next((s for s in SCALES if s in names), "cov")
        if scale not in self._siblings:
            self._siblings[scale] = EllipticalSampler(self.definition, self.functions, scale)
        return self._siblings[scale]

    def _draw(
        self, values: list[Array], size: Size, rng: Generator, dtype: DTypeLike | None, out: Array, device: bool
    ) -> Array:
        batch, dim = self.batch_shapes(values)
        if out is not None:
            size = size_of(out, size, (dim,))
        common = np.broadcast_shapes(*batch)
        shape = common if size is None else as_shape(size)
        pattern = draws_pattern(("the parameters",), (common,), shape)
        runtime, computed, _ = self._target(values, dtype, out)
        native = device or any(map(is_device_array, values))
        destination = Destination(runtime, (*shape, dim), computed, computed, native, out)
        if n := math.prod(shape):
            kernel, layout = self._vector_kernel(runtime, computed, dim, pattern)
            blocks = row_blocks(runtime.device, layout, n, 1)
            sizes = (n, pattern.n_rows, pattern.n_sets)
            parts = self._on_device(runtime, values, dim, pattern.expand[0] or common, computed)
            own_dim = [dim] * self.function.has_dim
            kernel((1, blocks), destination.handle, destination.offset, *sizes, *rng.take(n), *parts, *own_dim)
        return destination.finished()

    def _on_device(
        self, runtime: Runtime, values: Sequence[Array], dim: int, common: Lengths, dtype: DType
    ) -> list[Handle | int]:
        """Values that a kernel takes for the parameters, of shape `common` each, after one copy."""
        host = {n: to_host(v) for n, v in zip(self.argument_names, values, strict=True)}
        factor, mean = _factor(self.scale, host.pop(self.scale)), host.pop("mu")
        spread = [np.broadcast_to(factor, (*common, dim, dim)), np.broadcast_to(mean, (*common, dim))]
        spread += [np.broadcast_to(value, common) for value in host.values()]
        memory = runtime.passed(np.concatenate([part.ravel() for part in spread], dtype=dtype))
        starts = np.cumsum([0, *(part.size for part in spread[:-1])])
        parts = [(memory, int(place)) for place in starts]
        return [*parts[0], *parts[1], *(v for part in parts[2:] for v in (*part, 1))]

    # -- kernels

    def _vector_kernel(self, runtime: Runtime, dtype: DType, dim: int, pattern: Pattern) -> Compiled:
        order = "one" if pattern.roles[0] == VALUE else "own" if pattern.roles[0] == PER_ROW else order_of(pattern)

        def compiled() -> Compiled:
            return self.compiled(runtime, self._vector_source(runtime.device, dtype.name, runtime.dialect, dim, order))

        return SAMPLE.compiled(self, (runtime, dtype, dim, order), compiled)

    def _vector_source(self, device: Device, dtype: str, dialect: str, dim: int, order: str) -> Source:
        code = self.code([Operand(n, PER_SET) for n in self.c_names])
        itemsize, padded, name = np.dtype(dtype).itemsize, dim | 1, f"{self.name}_sample"
        in_registers = order == "one" and device.type != "cpu" and dim * itemsize <= _MOST_BYTES_IN_REGISTERS
        chosen = layout(device, dim, itemsize, in_registers)
        staged = order == "one" and dim * padded * itemsize <= min(device.shared_memory // 2, 16 * 1024)
        pitch = dim + -dim % (16 // itemsize)  # so that rows of the factor are read 16 bytes at a time
        shared = chosen.tile * (padded + 1) + dim * padded * staged
        if in_registers:
            shared = chosen.tile * padded + (dim + 1) * pitch
        text = _SAMPLE.source_of(
            code, name, chosen, dtype, dialect, before=(RANDOM,), dim=dim, padded=padded, lanes=16 // itemsize,
            set_of=_SET_OF[order], staged=staged, shared=shared, in_registers=in_registers, pitch=pitch,
        )  # fmt: skip
        return Source(text, name, chosen, shared * itemsize)

    def shown(self, dtype: str, dialect: str) -> str:
        return self._vector_source(REFERENCE_DEVICES[dialect], dtype, dialect, 16, "one").text


def layout(device: Device, dim: int, itemsize: int, in_registers: bool) -> Layout:
    """Layout of the kernel that draws vectors; `tile` is the draws that a block has in shared memory."""
    if in_registers:
        threads = min(128, device.max_threads)
        return Layout(threads, tile=threads)
    threads = 64 // itemsize if device.type == "cpu" else min(256, device.max_threads)
    budget = min(device.shared_memory // 2, 16 * 1024)
    tile = min(max(budget // (((dim | 1) + 1) * itemsize), 1), 128)
    return Layout(threads, tile=tile)


def _factor(scale: str, matrix: np.ndarray) -> np.ndarray:
    """Factor L, lower-triangular, with L L' = the covariance matrix, in float64."""
    matrix = np.asarray(matrix, np.float64)
    if scale == "scale_tril":
        if np.triu(matrix, 1).any() or not (np.diagonal(matrix, axis1=-2, axis2=-1) > 0).all():
            raise ValueError("scale_tril must be lower triangular, with a positive diagonal")
        return matrix
    asymmetry = np.abs(matrix - matrix.swapaxes(-1, -2)) > 1e-6 * np.abs(matrix).max((-2, -1), keepdims=True, initial=0)
    try:
        if asymmetry.any():
            raise np.linalg.LinAlgError
        if scale == "cov":
            return np.linalg.cholesky(matrix)
        # Turned round, the precision's factor R is upper triangular, and the covariance matrix is the inverse of R R'.
        upper = np.linalg.cholesky(matrix[..., ::-1, ::-1])[..., ::-1, ::-1]
        return np.linalg.inv(upper).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        raise ValueError(f"{scale} must be symmetric and positive definite") from None
