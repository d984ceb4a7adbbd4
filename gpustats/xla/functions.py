"""Log-likelihoods as functions of JAX."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..evaluation.arguments import match
from ..evaluation.repeated import Replayable, SumReplay
from ..runtime.foreign import from_any_thread
from .calls import Program

if TYPE_CHECKING:
    import jax

    from ..runtime.types import Shape


def as_jax(model: Replayable) -> Callable[..., jax.Array]:
    """Log-likelihood as a function of JAX, for its transformations and for samplers that are written in it.

    Where JAX computes on the CPU, XLA's programs call the device without a step in Python, and without Python's lock. Where
    it computes on another device, and for the few calls that only Python can make, they call Python.

    Parameters
    ----------
    model : Likelihood, GLM, Rows, Mixture or MarginalLikelihood
        What the function is of, with its data.

    Returns
    -------
    callable
        It takes the model's parameters in their order or by name, arrays of JAX or what becomes one, and returns a number. It
        can be compiled, differentiated once, in forward or reverse mode, and mapped by `jax.vmap`.

    Raises
    ------
    ImportError
        Where JAX or Numba is not installed: ``pip install 'gpustats[jax]'``.
    TypeError
        Where the model is none of these; when the function is differentiated in a whole number.
    ValueError
        When the data are float64 and JAX is not to compute in float64.

    Examples
    --------
    >>> import jax, numpy as np, gpustats as gs
    >>> jax.config.update("jax_enable_x64", True)
    >>> likelihood = gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 1.0, 4.0]))
    >>> logp = jax.jit(gs.as_jax(likelihood))
    >>> logp(0.5, 2.0).round(6), jax.grad(logp)(0.5, sigma=2.0)
    (Array(-8.573342, dtype=float64), Array(0.5, dtype=float64, weak_type=True))
    >>> jax.vmap(logp, (0, None))(np.array([0.0, 1.0]), 2.0).round(6)
    Array([-8.698342, -8.698342], dtype=float64)
    """
    try:
        import jax
        import jax.numpy as jnp
        import numba  # noqa: F401
    except ImportError as error:
        raise ImportError(f"as_jax needs JAX and Numba ({error}): pip install 'gpustats[jax]'") from error
    if not isinstance(model, Replayable):
        raise TypeError(
            f"model is a {type(model).__name__}: as_jax takes a Likelihood, GLM, Rows, Mixture or MarginalLikelihood"
        )
    names, sums = tuple(model.argument_names), _Sums(model)

    @jax.custom_jvp
    def logp(*arrays: jax.Array) -> jax.Array:
        return sums.evaluated(arrays, ())[0]

    def along(arrays: Sequence[jax.Array], directions: Sequence[Any]) -> tuple[jax.Array, jax.Array]:
        wrt = [n for n, d in zip(names, directions, strict=True) if type(d) is not jax.custom_derivatives.SymbolicZero]
        if whole := [n for n in wrt if n not in model.differentiable]:
            raise TypeError(f"there is no derivative in {', '.join(whole)}: take jax.lax.stop_gradient of it")
        value, slopes = sums.evaluated(arrays, wrt)
        along_each = [jnp.sum(slopes[n] * d) for n, d in zip(names, directions, strict=True) if n in wrt]
        return value, jnp.asarray(sum(along_each), value.dtype)

    logp.defjvp(along, symbolic_zeros=True)

    def function(*args: Any, **kwargs: Any) -> jax.Array:
        given = match(type(model).__name__, names, args, kwargs, model.defaults, "parameters")
        found: jax.Array = logp(*[jnp.asarray(v, jnp.result_type(float)) for v in given])
        return found

    function.__doc__ = f"Log-likelihood of {model!r}, of {', '.join(names)}."
    return function


class _Sum(NamedTuple):
    """Sum and derivatives that XLA calls, for arguments of some shapes."""

    program: Program
    made: SumReplay
    order: np.ndarray  # of the numbers given, among those of all arguments and behind them those that are constant

    @classmethod
    def of(cls, made: SumReplay, names: Sequence[str]) -> _Sum:
        """Sum of a replay, whose arguments come in the order of some names."""
        given = made.replay.given
        n = sum(made.arguments[name].size for name in names)
        order, end = n + np.arange(given.size), 0
        for name in names:
            places = made.arguments[name]
            order[places] = np.arange(end, end + places.size)
            end += places.size
        return cls(Program.of(made.replay), made, order)

    def __call__(self, arrays: Sequence[jax.Array]) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Sum, and derivatives of their arguments' sizes, by name."""
        import jax.numpy as jnp

        dtype, (replay, _, derivatives) = jnp.result_type(float), self.made
        if replay.given.dtype.itemsize > dtype.itemsize:
            raise ValueError(
                "the data are float64 and JAX computes in float32: call jax.config.update('jax_enable_x64', True) first, or "
                "make the likelihood of data in float32"
            )
        numbers = jnp.concatenate([*map(jnp.ravel, arrays), jnp.asarray(replay.given, dtype)])[self.order]
        found = self.program(numbers, replay.found.size)
        slopes = {}
        for name, pairs in derivatives.items():
            slope = jnp.zeros(self.made.arguments[name].size, dtype) if name in self.made.arguments else jnp.zeros(1, dtype)
            for elements, places in pairs:
                slope = slope.at[elements].add(found[places])
            slopes[name] = slope
        return found[0], slopes


class _Sums:
    """Sums of a model that XLA calls, made when they are first asked for."""

    def __init__(self, model: Any):
        self._model, self._names = model, tuple(model.argument_names)
        self._known: dict[tuple[Any, ...], _Sum | None] = {}
        self._lock = threading.Lock()

    def evaluated(self, arrays: Sequence[jax.Array], wrt: Sequence[str]) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Sum at some arguments, and its derivatives, each of the shape of its argument."""
        import jax

        shapes = tuple(a.shape for a in arrays)
        on_cpu = jax.default_backend() == "cpu"
        made = self._of(shapes, tuple(wrt))
        if made is None:
            return self._by_python(arrays, wrt)

        def called(*arrays: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
            value, slopes = made(arrays)
            return value, {n: slopes[n].reshape(shapes[self._names.index(n)]) for n in wrt}

        if on_cpu:
            return called(*arrays)
        found: tuple[jax.Array, dict[str, jax.Array]] = jax.lax.platform_dependent(
            *arrays, cpu=called, default=lambda *arrays: self._by_python(arrays, wrt)
        )
        return found

    def _of(self, shapes: tuple[Shape, ...], wrt: tuple[str, ...]) -> _Sum | None:
        with self._lock:
            if (shapes, wrt) not in self._known:
                values = [np.ones(shape) if shape else 1.0 for shape in shapes]
                made = self._model.replay(dict(zip(self._names, values, strict=True)), wrt)
                self._known[shapes, wrt] = None if made is None else _Sum.of(made, self._names)
            return self._known[shapes, wrt]

    def _by_python(self, arrays: Sequence[jax.Array], wrt: Sequence[str]) -> tuple[jax.Array, dict[str, jax.Array]]:
        import jax

        dtype, model = arrays[0].dtype, self._model
        loglik = model if callable(model) else model.loglik

        @from_any_thread
        def evaluated(*values: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            own = [np.asarray(v, np.float64) if np.ndim(v) else float(v) for v in values]
            given = dict(zip(self._names, own, strict=True))
            value, slopes = model.value_and_grad(**given, wrt=list(wrt)) if wrt else (loglik(**given), {})
            return np.asarray(value, dtype), {n: np.asarray(slopes[n], dtype).reshape(np.shape(given[n])) for n in wrt}

        shapes = {n: jax.ShapeDtypeStruct(a.shape, dtype) for n, a in zip(self._names, arrays, strict=True) if n in wrt}
        found: tuple[jax.Array, dict[str, jax.Array]] = jax.pure_callback(
            evaluated, (jax.ShapeDtypeStruct((), dtype), shapes), *arrays, vmap_method="sequential"
        )
        return found
