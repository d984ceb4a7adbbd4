"""Draws of elliptical distributions: a normal vector, times a number, times a factor of the covariance matrix."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draws.generator import Generator
from ..draws.sampler import Sampler, draws_pattern, order_of
from ..evaluation.broadcasting import Pattern, Shape
from ..evaluation.results import Destination, as_shape, size_of
from ..kernels import code as codegen
from ..kernels import layout
from ..kernels.code import PER_ROW, PER_SET, VALUE, Operand
from ..language.device_function import Argument
from ..runtime import arrays
from ..runtime.transfers import to_host
from .density import SCALES

if TYPE_CHECKING:
    from ..density import Density
    from ..language.nodes import Function
    from ..runtime.base import Device, Kernel, Runtime


#: The set of parameters of a draw: the only one, its own, or what its place in the result tells.
_SET_OF = {"one": "0", "own": "{}", "row_inside": "{} / n_rows", "set_inside": "{} % n_sets"}


class EllipticalSampler(Sampler):
    """Draws mean + s L z, L L' being the covariance matrix, z standard normal, and s what the density's sampler gives.

    Parameters
    ----------
    density : Density
    scale : str
        Which of `SCALES` the arguments have.
    """

    def __init__(self, density: Density, scale: str = "cov"):
        super().__init__(density)
        self.density, self.scale = density, scale
        self.arguments = tuple(replace(a, name=scale) if a.name == "cov" else a for a in self.arguments)
        self._public = tuple(a.name for a in self.arguments)
        self._siblings = {scale: self}

    shares_words = False  # it needs a normal vector beside what the sampler takes

    @staticmethod
    def drawn(sampler: Function, parameters: list[Argument]) -> list[Argument]:
        return [a for a in parameters if not a.rank]

    def given(self, names: Collection[str]) -> EllipticalSampler:
        scale = next((s for s in SCALES if s in names), "cov")
        if scale not in self._siblings:
            self._siblings[scale] = EllipticalSampler(self.density, scale)
        return self._siblings[scale]

    def _draw(self, values: list[Any], size: Any, rng: Generator, dtype: Any, out: Any, device: bool) -> Any:
        batch, dim = self.batch_shapes(values)
        if out is not None:
            size = size_of(out, size, (dim,))
        common = np.broadcast_shapes(*batch)
        shape = common if size is None else as_shape(size)
        pattern = draws_pattern(("the parameters",), (common,), shape)
        runtime, computed, _ = self._target(values, dtype, out)
        native = device or any(map(arrays.is_device_array, values))
        destination = Destination(runtime, (*shape, dim), computed, computed, native, out)
        if n := math.prod(shape):
            kernel, chosen = self._kernel(runtime, computed, dim, pattern)
            blocks = layout.row_blocks(runtime.device, chosen, n, 1)
            sizes = (n, pattern.n_rows, pattern.n_sets)
            parts = self._on_device(runtime, values, dim, pattern.expand[0] or common, computed)
            own_dim = [dim] * self.function.has_dim
            kernel((1, blocks), destination.handle, destination.offset, *sizes, *rng.take(n), *parts, *own_dim)
        return destination.finished()

    def _on_device(self, runtime: Runtime, values: Sequence[Any], dim: int, common: Shape, dtype: np.dtype) -> list[Any]:
        """What a kernel takes for the parameters, of shape `common` each, after one copy."""
        host = {n: to_host(v) for n, v in zip(self._public, values, strict=True)}
        factor, mean = _factor(self.scale, host.pop(self.scale)), host.pop("mu")
        spread = [np.broadcast_to(factor, (*common, dim, dim)), np.broadcast_to(mean, (*common, dim))]
        spread += [np.broadcast_to(value, common) for value in host.values()]
        memory, start = runtime.memory(np.concatenate([part.ravel() for part in spread], dtype=dtype))
        starts = start // dtype.itemsize + np.cumsum([0, *(part.size for part in spread[:-1])])
        parts = [(memory, int(place)) for place in starts]
        return [*parts[0], *parts[1], *(v for part in parts[2:] for v in (*part, 1))]

    # -- kernels

    def _kernel(self, runtime: Runtime, dtype: np.dtype, dim: int, pattern: Pattern) -> tuple[Kernel, layout.Layout]:
        order = "one" if pattern.roles[0] == VALUE else "own" if pattern.roles[0] == PER_ROW else order_of(pattern)
        key = (id(runtime), dtype, dim, order)
        if key not in self._kernels:
            source, chosen, shared = self._elliptical_source(runtime.device, dtype.name, runtime.dialect, dim, order)
            self._kernels[key] = runtime.kernel(source, f"{self.name}_sample", chosen.threads, shared), chosen
        return self._kernels[key]

    def _elliptical_source(
        self, device: Device, dtype: str, dialect: str, dim: int, order: str
    ) -> tuple[str, layout.Layout, int]:
        """(source, layout, bytes of shared memory) of the kernel."""
        code = self.code([Operand(n, PER_SET) for n in self._names])
        itemsize, padded = np.dtype(dtype).itemsize, dim | 1
        chosen = layout.elliptical_sample(device, dim, itemsize)
        staged = order == "one" and dim * padded * itemsize <= min(device.shared_memory // 2, 16 * 1024)
        shared = chosen.tile * (padded + 1) + dim * padded * staged
        source = codegen.render(
            "elliptical/elliptical_sample", f"{self.name}_sample", code, chosen, dtype, dialect, streams=True, dim=dim,
            padded=padded, lanes=16 // itemsize, set_of=_SET_OF[order], staged=staged, shared=shared,
        )  # fmt: skip
        return source, chosen, shared * itemsize

    def kernel_source(self, shape: str, dtype: str, dialect: str) -> str:
        return self._elliptical_source(layout.REFERENCE_DEVICES[dialect], dtype, dialect, 16, "one")[0]


def _factor(scale: str, matrix: np.ndarray) -> np.ndarray:
    """Lower-triangular L with L L' = the covariance matrix, in float64."""
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
