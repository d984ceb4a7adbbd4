"""Elliptical densities: functions of the squared Mahalanobis distance, with a kernel of their own.

A device function whose first two parameters are ``sqdist`` and ``logdet`` is the log-density of a vector x that depends on
(x - mu)' cov⁻¹ (x - mu) and log det cov only. Users pass ``mu`` and ``cov`` (or ``scale_tril``, or ``precision``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arrays, codegen, layout
from .broadcasting import Pattern, broadcast, sum_pattern, table_pattern
from .codegen import PER_SET, KernelCode, Operand
from .device_function import Argument
from .library import library
from .pointwise import Placed, Placement, Pointwise, device_of
from .transforms import checked

if TYPE_CHECKING:
    from .device_function import DeviceFunction
    from .language import Function
    from .runtime.base import Device, Runtime

#: Other ways to give the covariance matrix.
SCALES = {
    "cov": "covariance matrix",
    "scale_tril": "lower-triangular Cholesky factor of the covariance matrix",
    "precision": "inverse of the covariance matrix",
}
WIDTH = 8  # rows of W that a thread multiplies at a time


class Elliptical(Pointwise):
    """The checked log-density of an elliptical distribution, or a transform of it."""

    def __init__(self, definition: DeviceFunction, function: Function | None = None):
        if function is None:
            own = [p.name for p in definition.density.parameters if p.name != "dim"]
            public = {a.name: a for a in definition.arguments}
            inner = tuple(public.get(n, Argument(n)) for n in own)
            function = checked(definition.density, inner, library.resolve)
            library.add_derived(function)
        super().__init__(definition.name, function, definition.arguments)
        self.definition = definition
        #: parameters beside mu and the covariance, as ``nu``
        self.others = [a for a in self.arguments[1:] if a.name not in ("mu", "cov")]

    def with_function(self, function: Function) -> Elliptical:
        library.add_derived(function)
        return Elliptical(self.definition, function)

    # -- arguments

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], missing: int = 0) -> list[Any]:
        given = [name for name in SCALES if name in kwargs]
        if len(given) > 1 or (given and given[0] != "cov" and len(args) > self._position("cov") - missing):
            raise ValueError(f"{self.name}: give one of {', '.join(SCALES)}")
        kind = given[0] if given else "cov"
        renamed = {("cov" if name == kind else name): value for name, value in kwargs.items()}
        values = super().bind(args, renamed, missing)
        place = self._position("cov") - missing
        if kind != "cov" or isinstance(values[place], float):
            values[place] = _Scale(values[place], kind)
        return values

    def _position(self, name: str) -> int:
        return [a.name for a in self.arguments].index(name)

    def place(self, shape: str, values: Sequence[Any], runtime: Runtime | None = None) -> Placement:
        values = list(values)
        cov = values[self._position("cov")]
        cov, kind = (cov.array, cov.kind) if isinstance(cov, _Scale) else (cov, "cov")
        values[self._position("cov")] = cov
        names = [a.name for a in self.arguments]
        runtime = device_of(values, names, runtime)
        dtype = arrays.result_dtype(values)
        if dtype.itemsize == 8 and not runtime.device.double:
            raise ValueError(f"{runtime.device} computes in float32 only: pass float32 arrays")
        batch, dim = self.batch_shapes(values)
        broadcast(names, batch)
        x = values[0]
        host = {
            a.name: runtime.to_host(v) if arrays.is_device_array(v) else np.asarray(v, np.float64)
            for a, v in zip(self.arguments[1:], values[1:], strict=True)
        }
        shapes = dict(zip(names, batch, strict=True))
        common = np.broadcast_shapes(*batch[1:])
        pattern = self._pattern(shape, batch[0], common)
        if pattern is None:  # observations and parameters in pairs
            if math.prod(np.broadcast_shapes(*(shapes[n] for n in names[1:] if n != "mu"))) == 1:
                x, common = _subtract(runtime, x, host["mu"], dtype), ()
                host["mu"] = np.zeros(dim)
                host = {n: v.reshape(v.shape[v.ndim - a.rank :]) for (n, v), a in zip(host.items(), self.arguments[1:], strict=True)}
                pattern = self._pattern(shape, np.broadcast_shapes(*batch), common)
                assert pattern is not None
            else:
                full = np.broadcast_shapes(*batch)
                n = math.prod(full)
                x = _broadcast(runtime, x, (*full, dim), dtype)
                common = full
                pattern = Pattern(full, 1, n, n, 1, ("row", "set"), (None, None), (True, False))
                if shape == "loglik":
                    lead = full[:-1]
                    pattern = Pattern(full, 1, n, n, 1, ("row", "set"), (None, None), (True, False))
                    raise ValueError(
                        f"{self.name}.loglik with covariance matrices of their own for each observation (batch shape "
                        f"{lead + full[-1:]}) is not supported: sum logpdf(...)"
                    )
        placement = Placement(runtime, dtype, pattern, dim)
        if not math.prod(pattern.shape):
            return placement
        factors, logdet = whitening(host["cov"], kind)
        n_sets = pattern.n_sets

        def per_set(values: np.ndarray, core: tuple[int, ...]) -> np.ndarray:
            lead = common if math.prod(common) == n_sets else (n_sets,)
            return np.broadcast_to(values, lead + core).reshape(n_sets, -1)

        size = factors.shape[-1]
        parts = [per_set(factors, (size,)), per_set(host["mu"], (dim,)), per_set(logdet, ())]
        parts += [per_set(host[a.name], ()) for a in self.others]
        packed = np.concatenate([p.ravel() for p in parts]).astype(dtype)
        handle, offset = runtime.memory(packed)
        starts = [offset // dtype.itemsize + int(s) for s in np.cumsum([0] + [p.size for p in parts[:-1]])]
        if not arrays.is_device_array(x):
            x = np.ascontiguousarray(x, dtype)
        else:
            x = self._device_array(placement, x, None)
        x_handle, x_offset = runtime.memory(x)
        placement.alive += [x, x_handle, packed, handle]
        stride = pattern.n_rows * dim if pattern.own_rows[0] else 0
        values_ = (x_handle, x_offset // dtype.itemsize, stride, handle, starts[0], handle, starts[1])
        placement.placed.append(Placed(Operand("x", codegen.PER_ROW, 1), values_))
        for name, start in zip(["logdet", *(a.name for a in self.others)], starts[2:], strict=True):
            placement.placed.append(Placed(Operand(name, PER_SET), (handle, start)))
        return placement

    def _pattern(self, shape: str, x: tuple[int, ...], common: tuple[int, ...]) -> Pattern | None:
        """Rows of x and sets of parameters; None where they go in pairs."""
        if shape == "loglik":
            pattern = sum_pattern(["x", "the parameters"], [x, common])
            own = pattern.own_rows[0] or pattern.expand != (None, None)
            return None if pattern.roles[1] == "row" or own else pattern
        pattern = table_pattern(["x", "the parameters"], [x, common])
        return None if pattern.roles[1] == "row" else pattern

    # -- kernels

    def operands(self) -> list[Operand]:
        return [Operand("logdet", PER_SET), *(Operand(a.name, PER_SET) for a in self.others)]

    def code(self, operands: Sequence[Operand]) -> KernelCode:
        inner = [o for o in operands if o.name != "x"]
        return KernelCode(self.function, inner, library.resolve, both=("sqdist",))

    def source(
        self, shape: str, device: Device, dim: int, dtype: str, dialect: str, n_sets: int, own_rows: bool = False
    ) -> tuple[str, str, layout.Layout, int]:
        """(source, name, layout, bytes of shared memory) of a kernel for vectors of length `dim`."""
        code = self.code(self.operands())
        itemsize = np.dtype(dtype).itemsize
        size = factor_size(dim)
        chosen, stage = layout.elliptical(device, itemsize, dim, size, 1 if own_rows else n_sets, shape)
        reals = dim * (chosen.tile + 1)
        reals += -reals % (16 // itemsize) + (chosen.sets * (size + dim) if stage else 0)
        name = f"{self.function.name}_{shape}"
        evaluate = code.evaluate("row", "sets[k]", "n", "first_set + k").replace("sqdist", "sqdist[r]")
        source = codegen.render(
            "elliptical", name, code, chosen, dtype, dialect, shape=shape, dim=dim, width=WIDTH, factor_size=size,
            shared_reals=reals, stage_factors=stage, evaluate=evaluate,
        )  # fmt: skip
        return source, name, chosen, reals * itemsize

    def compile(self, shape: str, placement: Placement, problem: layout.Problem) -> tuple[Any, layout.Layout]:
        runtime, dim = placement.runtime, placement.dim
        source, name, chosen, shared = self.source(
            shape, runtime.device, dim, placement.dtype.name, runtime.dialect, min(problem.n_sets, 64),
            any(placement.pattern.own_rows),
        )  # fmt: skip
        signature = "PqqPqPq" + self.code(self.operands()).signature
        return self._load(runtime, shape, source, name, signature, placement.dtype, chosen, shared), chosen

    def kernel_source(self, shape: str, dtype: str, dialect: str, dim: int = 8) -> str:
        from .pointwise import REFERENCE_DEVICES

        return self.source(shape, REFERENCE_DEVICES[dialect], dim, dtype, dialect, 8)[0]


class _Scale:
    """A covariance matrix given in another way; it broadcasts as the array that it is."""

    def __init__(self, array: Any, kind: str):
        self.array, self.kind = array, kind
        if isinstance(array, float):
            raise ValueError(f"{kind} must be a matrix; it has shape ()")


def _broadcast(runtime: Any, x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if arrays.is_device_array(x):
        from .pointwise import gather

        return gather(runtime, x, dtype, shape)
    return np.ascontiguousarray(np.broadcast_to(x, shape), dtype)


def _subtract(runtime: Any, x: Any, mu: np.ndarray, dtype: np.dtype) -> Any:
    """x - mu, one mean for each observation."""
    on_device = arrays.is_device_array(x)
    difference = np.subtract(runtime.to_host(x) if on_device else x, mu, dtype=np.float64).astype(dtype)
    return runtime.to_device(difference) if on_device else difference


def factor_size(dim: int) -> int:
    """Numbers in one packed W."""
    return WIDTH * sum(min(i + WIDTH, dim) for i in range(0, dim, WIDTH))


@functools.lru_cache(maxsize=64)
def _packing(dim: int) -> np.ndarray:
    """Where each number of a packed W lies in the flat matrix; dim² stands for a zero."""
    places = [
        (i + b) * dim + j if j <= i + b < dim else dim * dim
        for i in range(0, dim, WIDTH)
        for j in range(min(i + WIDTH, dim))
        for b in range(WIDTH)
    ]
    return np.array(places)


def whitening(matrices: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The packed lower-triangular W with |W y|² = y' cov⁻¹ y, and log det cov, for each matrix.

    Parameters
    ----------
    matrices : (..., d, d) ndarray
    kind : {"cov", "scale_tril", "precision"}

    Returns
    -------
    factors : (..., n) ndarray
        nan for a matrix that is not symmetric positive definite (not lower triangular with a positive diagonal).
    logdet : (...) ndarray
    """
    *lead, d, _ = matrices.shape
    flat = np.asarray(matrices, np.float64).reshape(-1, d, d)
    inverse = np.empty_like(flat)
    for k, matrix in enumerate(flat):
        inverse[k] = _whiten(matrix, kind)
    with np.errstate(divide="ignore", invalid="ignore"):
        logdet = -2 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(-1)
    padded = np.concatenate([inverse.reshape(-1, d * d), np.zeros((len(flat), 1))], axis=1)
    return padded[:, _packing(d)].reshape(*lead, -1), logdet.reshape(lead)


def _whiten(matrix: np.ndarray, kind: str) -> np.ndarray | float:
    lower = matrix
    if kind != "scale_tril":
        scale = np.abs(matrix).max()
        if not np.abs(matrix - matrix.T).max() <= 1e-6 * scale:  # nan as well; float32 input is symmetric to 1e-7
            return np.nan
        try:
            lower = np.linalg.cholesky(matrix if kind == "cov" else matrix[::-1, ::-1])
        except np.linalg.LinAlgError:
            return np.nan
        if kind == "precision":  # precision = U U' with U = J chol(J P J) J upper triangular, so W = U'
            return lower[::-1, ::-1].T
    elif not (np.diagonal(matrix) > 0).all() or np.triu(matrix, 1).any():
        return np.nan
    from scipy.linalg.lapack import dtrtri  # SciPy takes 0.1 s to import

    return dtrtri(lower, lower=1)[0]
