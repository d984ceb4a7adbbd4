"""Base of the distributions of matrices: shapes, broadcasting, nan, sums, gradients shaped as their arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..density import densities
from ..draws.generator import Rng, as_generator
from ..evaluation.arguments import check_wrt_among
from ..evaluation.gradient import reduced
from ..runtime.arrays import as_array, is_device_array, result_dtype
from ..runtime.types import Shape, Size, Values
from .factors import Array

#: Results: an array, or a number where there are no axes.
Result: TypeAlias = Array | float


class Argument(NamedTuple):
    """An argument, and the names of the lengths of its axes: (), ("n", "n") or ("n", "p")."""

    name: str
    axes: tuple[str, ...] = ()


SQUARE = ("n", "n")
#: By how much what is 1 may differ from it: a correlation matrix's diagonal, a squared length.
UNIT_TOLERANCE = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 3.5e-4}


def dimension(n: float) -> int:
    """Number of rows that a caller gives."""
    if np.ndim(n) or int(n) != n or n < 1:
        raise ValueError(f"n is {n}, but must be a whole number, at least 1")
    return int(n)


def as_shape(size: Size) -> Shape:
    """Shape of a number of draws that a caller gives."""
    return () if size is None else tuple(int(n) for n in np.atleast_1d(size))


def on_host(value: Values, name: str, dtype: DTypeLike | None = None) -> Array:
    """Argument as a NumPy array."""
    array = as_array(value, name)
    return np.asarray(array.get() if is_device_array(array) else array, dtype)


class Terms(NamedTuple):
    """Log-densities and derivatives of a distribution for one stack of arguments.

    value: log-densities    valid: whether the parameters are valid    inside: whether x lies in the support
    gradient: argument -> derivative for each matrix of the stack
    """

    value: Array
    valid: Array
    inside: Array
    gradient: dict[str, Array]


class MatrixDistribution:
    """A distribution of matrices.

    Attributes
    ----------
    name : str
    parameters : tuple of str
        In the order in which methods take them, behind x.
    """

    name: str
    arguments: tuple[Argument, ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.arguments[1:])

    def __repr__(self) -> str:
        return f"<gpustats.{self.name}({', '.join(a.name for a in self.arguments)})>"

    def logpdf(self, x: Values, *parameters: Values, **named: Values) -> Result:
        """The logarithm of the density.

        Parameters
        ----------
        x : array_like, (..., n, n) or (..., n, p)
        *parameters : array_like
            In the order of `parameters`, or by name. Leading axes of all arguments broadcast: a number has the shape (...),
            a matrix (..., n, n).

        Returns
        -------
        float or ndarray, (...)
            -inf where x lies outside the support, nan where a parameter is invalid: a matrix that is not symmetric and
            positive definite, or too few degrees of freedom. float32 where all arrays are.

        Raises
        ------
        ValueError
            Shapes that do not fit, which it names.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> round(gs.wishart.logpdf(np.eye(2), 3.0, np.eye(2)), 4)
        -3.531
        """
        arrays = self._taken((x, *parameters), named)
        value = self._complete(self._terms((), **arrays), arrays)
        return _delivered(value.astype(result_dtype(list(arrays.values()))))

    def pdf(self, x: Values, *parameters: Values, **named: Values) -> Result:
        """The density: see `logpdf`."""
        return _delivered(np.exp(self.logpdf(x, *parameters, **named)))

    def loglik(self, x: Values, *parameters: Values, **named: Values) -> Result:
        """Sum of the log-densities of the observations, which lie along the last of the leading axes, for each set.

        Parameters
        ----------
        x, *parameters : array_like
            As for `logpdf`. Parameters of shape (K, 1) or (K, 1, n, n) are K sets for all observations.

        Returns
        -------
        float or ndarray
            float64, of the shape that the leading axes broadcast to, without the last one.
        """
        arrays = self._taken((x, *parameters), named)
        return _delivered(_summed(self._complete(self._terms((), **arrays), arrays)))

    def loglik_and_grad(
        self, x: Values, *parameters: Values, wrt: str | Collection[str] | None = None, **named: Values
    ) -> tuple[Result, dict[str, Result]]:
        """Sum of the log-densities, as from `loglik`, and its derivatives.

        Parameters
        ----------
        x, *parameters : array_like
            As for `loglik`.
        wrt : str or collection of str, optional
            Names of arguments; by default all parameters.

        Returns
        -------
        value : float or ndarray
            As `loglik` gives it.
        gradient : dict
            Name -> derivative of the sum of all values, shaped like that argument. That in a symmetric matrix is symmetric:
            with respect to symmetric changes. It is 0 for an observation outside the support.

        Raises
        ------
        ValueError
            Also where `wrt` names no argument.
        """
        arrays = self._taken((x, *parameters), named)
        names = check_wrt_among(self.parameters if wrt is None else wrt, list(arrays))
        terms = self._terms(names, **arrays)
        value = self._complete(terms, arrays)
        gradient = {}
        for name, axes in self.arguments:
            if name in names:
                shape, ones = arrays[name].shape, (1,) * len(axes)
                each = np.broadcast_to(terms.gradient[name], value.shape + shape[len(shape) - len(axes) :])
                outside, unknown = (wrong.reshape(value.shape + ones) for wrong in (np.isneginf(value), np.isnan(value)))
                each = np.where(unknown, np.nan, np.where(outside, 0.0, each))
                gradient[name] = _delivered(reduced(each, shape))
        return _delivered(_summed(value)), {name: gradient[name] for name in names}

    def rvs(self, *parameters: Values, size: Size = None, rng: Rng = None, **named: Values) -> Array:
        """Random draws.

        Parameters
        ----------
        *parameters : array_like
            As for `logpdf`.
        size : int or tuple of int, optional
            The leading axes of the result, to which those of the parameters broadcast; by default these themselves.
        rng : optional
            As for `gpustats.Density.rvs`.

        Returns
        -------
        ndarray, (*size, n, n) or (*size, n, p)
            float32 where all arrays among the parameters are, else float64.

        Raises
        ------
        ValueError
            Where a parameter is invalid.
        """
        return self._sampled(parameters, named, size, rng)

    def _sampled(self, parameters: Sequence[Values], named: dict[str, Values], size: Size, rng: Rng, **more: int) -> Array:
        arrays = self._taken(parameters, named, self.arguments[1:])
        leading = {a.name: arrays[a.name].shape[: arrays[a.name].ndim - len(a.axes)] for a in self.arguments[1:]}
        own = np.broadcast_shapes(*leading.values())
        shape = own if size is None else as_shape(size)
        fits = len(own) <= len(shape) and all(a in (1, b) for a, b in zip(reversed(own), reversed(shape), strict=False))
        if not fits:
            raise ValueError(f"size {shape} does not fit the parameters of {self.name}, whose leading axes are {own}")
        if not self._valid(**arrays).all():
            raise ValueError(f"{self.name}.rvs: invalid parameters: {self.requirements}")
        draws = self._draw(Normals(rng), shape, **arrays, **more)
        return draws.astype(result_dtype(list(arrays.values())), copy=False)

    #: Requirements on the parameters, for errors.
    requirements: str

    #: wrt, **arrays -> Terms; **arrays -> whether the parameters are valid; Normals, shape, **arrays -> draws
    _terms: Callable[..., Terms]
    _valid: Callable[..., Array]
    _draw: Callable[..., Array]

    def _complete(self, terms: Terms, arrays: dict[str, Array]) -> Array:
        """Values with nan and -inf outside the support or the domain; nan where x has nan."""
        x = arrays[self.arguments[0].name]
        value = np.where(terms.inside, terms.value, -np.inf)
        return np.where(terms.valid & ~np.isnan(x).any((-2, -1)), value, np.nan)

    def _taken(
        self, values: Sequence[Values], named: dict[str, Values], arguments: Sequence[Argument] | None = None
    ) -> dict[str, Array]:
        """Arguments by name as NumPy arrays of one type."""
        arguments = self.arguments if arguments is None else arguments
        names = [a.name for a in arguments]
        given = dict(zip(names, values, strict=False))
        twice, unknown = given.keys() & named.keys(), named.keys() - set(names)
        if len(values) > len(names) or twice or unknown or len(given) + len(named) < len(names):
            raise TypeError(f"{self.name} takes {', '.join(names)}, and was given {len(values)} values and {sorted(named)}")
        given |= named
        taken = [as_array(given[name], name) for name in names]
        dtype = result_dtype(taken)
        arrays = {n: np.asarray(v.get() if is_device_array(v) else v, dtype) for n, v in zip(names, taken, strict=True)}
        self._check_shapes(arguments, arrays)
        return arrays

    def _check_shapes(self, arguments: Sequence[Argument], arrays: dict[str, Array]) -> None:
        lengths: dict[str, tuple[int, str]] = {}
        for name, axes in arguments:
            shape = arrays[name].shape
            wanted = f"(..., {', '.join(axes)})"
            if len(shape) < len(axes) or (axes == SQUARE and shape[-1] != shape[-2]):
                raise ValueError(f"{name} of {self.name} has shape {shape}, but must be a matrix or a stack of them, {wanted}")
            for axis, length in zip(axes, shape[len(shape) - len(axes) :], strict=True):
                known, first = lengths.setdefault(axis, (length, name))
                if known != length:
                    needed = f"{wanted} where {axis} is {known}, as {first} has it"
                    raise ValueError(f"{name} of {self.name} has shape {shape}, but must be {needed}")
        leading = {name: arrays[name].shape[: arrays[name].ndim - len(axes)] for name, axes in arguments}
        try:
            np.broadcast_shapes(*leading.values())
        except ValueError:
            listed = ", ".join(f"{name} {arrays[name].shape}" for name in leading)
            raise ValueError(f"arguments of {self.name} whose leading axes do not broadcast: {listed}") from None


class Normals:
    """Standard draws for samplers, of one stream."""

    def __init__(self, rng: Rng):
        self.rng = as_generator(rng)

    def normal(self, *shape: int) -> Array:
        return densities["normal"].rvs(0.0, 1.0, size=shape, rng=self.rng)

    def of(self, name: str, shape: Shape, *parameters: Array) -> Array:
        """Draws of a density of a name."""
        return densities[name].rvs(*(np.asarray(p, float) for p in parameters), size=shape, rng=self.rng)

    def bartlett(self, shape: tuple[int, ...], nu: Array, n: int) -> Array:
        """The Cholesky factors of Wishart matrices of the unit matrix, (*shape, n, n)."""
        factor = np.tril(self.normal(*shape, n, n), -1)
        squares = self.of("chi_squared", (*shape, n), np.broadcast_to(nu, shape)[..., None] - np.arange(n))
        factor[..., np.arange(n), np.arange(n)] = np.sqrt(squares)
        return factor


def _summed(value: Array) -> Array:
    return value.sum(-1, dtype=float) if value.ndim else value


def _delivered(value: Array) -> Result:
    """Array of results, or a number where there are no axes."""
    return value.item() if np.ndim(value) == 0 else value
