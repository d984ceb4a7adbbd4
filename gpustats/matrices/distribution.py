"""What distributions of matrices have in common: arguments, broadcasting, sums, derivatives of sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..evaluation.arguments import check_wrt_among, match
from ..evaluation.results import as_shape
from .stacks import matrices, numbers, on_host
from .streams import Streams


class MatrixDensity(ABC):
    """A density of matrices.

    Leading axes of matrices and of parameters broadcast against each other, as in NumPy. Matrices are factored by
    `gpustats.linalg`, where that takes least time, all of a stack in one call; results are NumPy arrays.

    Attributes
    ----------
    name : str
    parameters : tuple of str
    """

    name: str
    parameters: tuple[str, ...]
    #: Names of the arguments that are matrices, x among them, -> whether they are square; the others are numbers.
    matrices: Mapping[str, bool]
    defaults: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(self.parameters)})>"

    @abstractmethod
    def _log_density(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        """The log-density of each matrix; nan where parameters are none, -inf where x lies outside of the support."""

    @abstractmethod
    def _slopes(self, x: np.ndarray, *parameters: np.ndarray) -> dict[str, np.ndarray]:
        """The derivative of each log-density in each real argument, for arguments that lie in their domains."""

    def logpdf(self, *args: Any, **kwargs: Any) -> Any:
        """The log-density.

        Parameters
        ----------
        x : array_like (..., m, n)
            Matrices.
        *parameters : array_like
            In the order of `parameters`, or by name.

        Returns
        -------
        float64 ndarray (...), or a number
            float32 where x is. nan where a parameter is none or x has a nan, -inf where x lies outside of the support.

        Raises
        ------
        ValueError
            Shapes that do not fit, unknown or missing names.
        """
        given, dtype = self._given(args, kwargs)
        return self._finite(given).astype(dtype)[()]

    def pdf(self, *args: Any, **kwargs: Any) -> Any:
        """The density; arguments as for `logpdf`."""
        return np.exp(self.logpdf(*args, **kwargs))

    def loglik(self, *args: Any, **kwargs: Any) -> float:
        """The sum of all log-densities, in float64; arguments as for `logpdf`."""
        return float(self._finite(self._given(args, kwargs)[0]).sum())

    def loglik_and_grad(
        self, *args: Any, wrt: str | Collection[str] | None = None, **kwargs: Any
    ) -> tuple[float, dict[str, Any]]:
        """`loglik` and its derivatives.

        Parameters
        ----------
        x, *parameters : array_like
            As for `logpdf`.
        wrt : str or collection of str, optional
            The arguments in which derivatives are wanted; by default all parameters.

        Returns
        -------
        value : float
        gradient : dict
            Name -> derivative, shaped like the argument; in a symmetric matrix with respect to symmetric changes. nan where a
            log-density is not finite.
        """
        given, _ = self._given(args, kwargs)
        names = ("x", *self.parameters)
        wanted = check_wrt_among(self.parameters if wrt is None else wrt, names)
        each = self._finite(given)
        inside = np.isfinite(each)
        slopes = self._slopes(*given)
        gradient = {}
        for name in wanted:
            argument, core = given[names.index(name)], (2 if name in self.matrices else 0)
            slope = np.broadcast_to(slopes[name], (*each.shape, *argument.shape[argument.ndim - core :]))
            slope = np.where(inside.reshape(*each.shape, *(1,) * core), slope, np.nan)
            found = _summed_to(slope, argument.shape)
            gradient[name] = found if found.ndim else float(found)
        return float(each.sum()), gradient

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[np.ndarray], Any]:
        """All arguments as float64 arrays, checked, and the type of the result."""
        values = match(self.name, ("x", *self.parameters), args, kwargs, self.defaults)
        single = on_host(values[0]).dtype == np.float32
        given = [matrices(values[0], "x", self.matrices["x"]), *self._parameters(values[1:])]
        self._check_shapes(given)
        self._common(("x", *self.parameters), given)
        return given, np.float32 if single else np.float64

    def _parameters(self, values: Sequence[Any]) -> list[np.ndarray]:
        named = zip(self.parameters, values, strict=True)
        return [matrices(v, n, self.matrices[n]) if n in self.matrices else numbers(v, n) for n, v in named]

    def _check_shapes(self, given: Sequence[np.ndarray]) -> None:
        """ValueError where matrices do not go together; those of most distributions have the same shape."""
        shapes = {n: a.shape[-2:] for n, a in zip(("x", *self.parameters), given, strict=True) if n in self.matrices}
        if len(set(shapes.values())) > 1:
            raise ValueError(f"{self.name}: matrices of one shape are needed, but {listed(shapes)}")

    def _common(self, names: Sequence[str], given: Sequence[np.ndarray]) -> tuple[int, ...]:
        leading = {n: a.shape[:-2] if n in self.matrices else a.shape for n, a in zip(names, given, strict=True)}
        try:
            return np.broadcast_shapes(*leading.values())
        except ValueError:
            raise ValueError(f"{self.name}: leading axes do not broadcast: {listed(leading)}") from None

    def _finite(self, given: Sequence[np.ndarray]) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.isnan(given[0]).any((-2, -1)), np.nan, self._log_density(*given))


class MatrixDistribution(MatrixDensity):
    """A distribution of matrices, from which parameters alone tell how to draw."""

    @abstractmethod
    def _draw(self, streams: Streams, shape: tuple[int, ...], *parameters: np.ndarray) -> np.ndarray:
        """Draws of a shape, to which that of a matrix is added; `parameters` broadcast to it."""

    @abstractmethod
    def _faults(self, *parameters: np.ndarray) -> Sequence[tuple[str, str, np.ndarray]]:
        """Of parameters that are given to `rvs`: (name, what it must be, where it is so)."""

    def rvs(self, *args: Any, size: int | tuple[int, ...] | None = None, rng: Any = None, **kwargs: Any) -> np.ndarray:
        """Random draws.

        Parameters
        ----------
        *parameters : array_like
            In the order of `parameters`, or by name; their leading axes broadcast against each other and to `size`.
        size : int or tuple of int, optional
            Shape of the result, to which the axes of a matrix are added. By default that of the parameters.
        rng : optional
            As for `Density.rvs`; a draw depends on the seed and on its number alone, to rounding.

        Raises
        ------
        ValueError
            Where a parameter lies outside its domain.
        """
        given = self._parameters(match(self.name, self.parameters, args, kwargs, self.defaults))
        for name, wanted, valid in self._faults(*given):
            if not np.all(valid):
                raise ValueError(f"{self.name}: {name} must be {wanted}")
        common = self._common(self.parameters, given)
        shape = common if size is None else as_shape(size)
        if not fits(common, shape):
            raise ValueError(f"size {shape} does not fit the shape of the parameters, {common}")
        return self._draw(Streams(rng, shape), shape, *given)


def fits(shape: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Whether arrays of a shape broadcast to `size`."""
    tail = size[len(size) - len(shape) :]
    return len(shape) <= len(size) and all(n in (1, m) for n, m in zip(shape, tail, strict=True))


def listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} has {shape}" for name, shape in shapes.items())


def _summed_to(a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over the axes along which an array of `shape` was broadcast."""
    a = a.sum(tuple(range(a.ndim - len(shape))))
    return np.asarray(a.sum(tuple(i for i, n in enumerate(shape) if n == 1 and a.shape[i] != 1), keepdims=True))
