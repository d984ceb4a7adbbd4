"""Log-likelihoods as functions of JAX."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.arguments import match
from ..evaluation.by_code import evaluation_of, spread
from ..evaluation.compiled import Replayable

if TYPE_CHECKING:
    import jax

    from ..evaluation.by_code import Evaluation
    from ..runtime.types import Shape
    from .sums import Sums


def as_jax(model: Replayable) -> Callable[..., jax.Array]:
    """Log-likelihood as a function of JAX, for its transformations and for samplers that are written in it.

    XLA's programs call the device without a step in Python, and without Python's lock. Where JAX computes on the GPU on which
    the data lie, the work is put on XLA's own stream, and no number crosses the bus. The few calls that only Python can make
    go through it.

    Parameters
    ----------
    model : Likelihood, GLM, Rows, Mixture or MarginalLikelihood
        What the function is of, with its data.

    Returns
    -------
    callable
        It takes the model's parameters in their order or by name, arrays of JAX or what becomes one, and returns a number. It
        can be compiled, differentiated in forward or reverse mode, and mapped by `jax.vmap`: all sets of parameters are one
        launch. Of `Rows`, and of a Likelihood or GLM that is a sum over rows of numbers, there are second derivatives, too, by
        forward mode over any: `jax.hessian`, and `jax.jvp` of `jax.grad`.

    Raises
    ------
    ImportError
        Where JAX or Numba is not installed: ``pip install 'gpustats[jax]'``.
    TypeError
        Where the model is none of these; when the function is differentiated in a whole number.
    ValueError
        When the data are float64 and JAX is not to compute in float64.

    Notes
    -----
    A function that JAX has compiled keeps the model's data until the process ends, because XLA tells nobody when it drops what
    it has compiled. JAX takes most of a GPU's memory at its start, unless the environment says
    ``XLA_PYTHON_CLIENT_PREALLOCATE=false``.

    Examples
    --------
    >>> import jax, numpy as np, gpustats as gs
    >>> logp = jax.jit(gs.as_jax(gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 1.0, 4.0]))))
    >>> with jax.enable_x64(True):
    ...     print(logp(0.5, 2.0).round(6), jax.grad(logp)(0.5, sigma=2.0))
    ...     print(jax.vmap(logp, (0, None))(np.array([0.0, 1.0]), 2.0).round(6))
    -8.323343 0.5
    [-8.698343 -8.198343]
    """
    try:
        import jax.numpy as jnp
        import numba  # noqa: F401
    except ImportError as error:
        raise ImportError(f"as_jax needs JAX and Numba ({error}): pip install 'gpustats[jax]'") from error
    if not isinstance(model, Replayable):
        raise TypeError(
            f"model is a {type(model).__name__}: as_jax takes a Likelihood, GLM, Rows, Mixture or MarginalLikelihood"
        )
    names = tuple(model.argument_names)
    logp = _sums(model, names).function(lambda places: _reject([n for i, n in enumerate(names) if i in places], model))

    def function(*args: Any, **kwargs: Any) -> jax.Array:
        given = match(type(model).__name__, names, args, kwargs, model.defaults, "parameters")
        return logp(*[jnp.asarray(v, jnp.result_type(float)) for v in given])[0]

    function.__doc__ = f"Log-likelihood of {model!r}, of {', '.join(names)}."
    return function


def _reject(names: Sequence[str], model: Replayable) -> None:
    if whole := [n for n in names if n not in model.differentiable]:
        raise TypeError(f"there is no derivative in {', '.join(whole)}: take jax.lax.stop_gradient of it")


def _sums(model: Any, names: Sequence[str]) -> Sums:
    """Sums of a model, whose arguments come in the order of some names."""
    from .sums import Sums  # needs Numba

    loglik = model if callable(model) else model.loglik

    def evaluation(shapes: tuple[Shape, ...], wrt: tuple[int, ...], n_sets: int | None) -> Evaluation | None:
        given = {n: spread(shape, n_sets) for n, shape in zip(names, shapes, strict=True)}
        made = model.compiled(given, [names[i] for i in wrt], n_sets)
        if made is None or made.n_sets != (n_sets or 1):
            check([np.ones(shape) for shape in shapes])
            return None
        places = [np.arange(math.prod(shape)) for shape in shapes]
        starts = list(itertools.accumulate((places[i].size for i in wrt), initial=1))
        outputs = [(names[i], start + places[i]) for i, start in zip(wrt, starts, strict=False)]
        return evaluation_of(made, zip(range(len(names)), names, places, strict=True), outputs, starts[-1])

    def check(arrays: Sequence[np.ndarray]) -> None:
        """Raise an error for shapes that the model does not take: within a program of XLA's it would be hard to read."""
        with contextlib.suppress(np.linalg.LinAlgError):  # the numbers are none that mean anything
            if np.size(by_python(arrays, ())[0]) != 1:
                listed = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
                raise ValueError(f"the arguments have several sets ({listed}): pass one, and take jax.vmap for several")

    def by_python(arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[Any]:
        given: dict[str, Any] = {n: a if a.ndim else a.item() for n, a in zip(names, arrays, strict=True)}
        if not wrt:
            return [loglik(**given)]
        value, slopes = model.value_and_grad(**given, wrt=[names[i] for i in wrt])
        return [value, *(slopes[names[i]] for i in wrt)]

    def along(places: tuple[int, ...]) -> Sums | None:
        found = model.along([names[i] for i in places])
        return None if found is None else _sums(found, found.argument_names)

    return Sums(evaluation, by_python, along=along)
