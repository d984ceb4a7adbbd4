"""Log-likelihoods as functions of JAX."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..evaluation.arguments import match
from ..evaluation.by_code import evaluation_of, spread
from ..evaluation.compiled import Replayable
from ..frames.by_label import tell_jax

if TYPE_CHECKING:
    import jax

    from ..evaluation.by_code import Evaluation
    from ..runtime.types import Shape
    from .sums import Sums


def as_jax(model: Replayable, *copies: Replayable, terms: bool = False) -> Callable[..., jax.Array]:
    """Log-likelihood as a function of JAX, for its transformations and for samplers that are written in it.

    XLA's programs call the device without a step in Python, and without Python's lock. Where JAX computes on the GPU on which
    the data lie, the work is put on XLA's own stream, and no number crosses the bus. The few calls that only Python can make
    go through it.

    Parameters
    ----------
    model : Likelihood, GLM, Rows, Mixture or MarginalLikelihood
        What the function is of, with its data.
    *copies : Likelihood, GLM, Rows, Mixture or MarginalLikelihood
        The same model with its data on further GPUs, for sets of parameters that `jax.shard_map` spreads over these. Each is
        made within ``with gs.use("cuda:1"):``, and so on.
    terms : bool, optional
        Whether the function is that of the terms of all rows, (N,), instead of their sum. Only `Rows` have such; there are no
        derivatives.

    Returns
    -------
    callable
        It takes the model's parameters in their order or by name, arrays of JAX or what becomes one, and returns a number. It
        can be compiled, differentiated in forward or reverse mode, and mapped by `jax.vmap`: all sets of parameters are one
        launch. Of `Rows`, and of a Likelihood, GLM or Mixture that is a sum over rows of numbers, there are second derivatives,
        too, by forward mode over any: `jax.hessian`, and `jax.jvp` of `jax.grad`. Python finds those of a MarginalLikelihood,
        of a GLM of more than 64 columns and of tables of slopes.

    Raises
    ------
    ImportError
        Where JAX or Numba is not installed: ``pip install 'gpustats[jax]'``.
    TypeError
        Where a model is none of these, or a copy is of another kind; when the function is differentiated in a whole number.
    ValueError
        When the data are float64 and JAX is not to compute in float64, or a copy has other data.

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
    tell_jax()
    names = tuple(getattr(model, "argument_names", ()))
    for which, its in (("model", model), *(("a copy", c) for c in copies)):
        if not isinstance(its, Replayable):
            raise TypeError(
                f"{which} is a {type(its).__name__}: as_jax takes a Likelihood, GLM, Rows, Mixture or MarginalLikelihood"
            )
        if tuple(its.argument_names) != names:
            raise TypeError(f"a copy has the parameters {', '.join(its.argument_names)}, and the model {', '.join(names)}")

    def reject(places: Sequence[int]) -> None:
        _reject([names[i] for i in places], model, terms)

    def of_terms(arrays: Sequence[jax.Array]) -> Callable[..., list[jax.Array]]:
        n_terms = model.n_terms({n: np.ones(a.shape) for n, a in zip(names, arrays, strict=True)})
        if n_terms not in by_length:
            by_length[n_terms] = _sums((model, *copies), names, n_terms).function(reject)
        return by_length[n_terms]

    @functools.cache
    def compare(shapes: tuple[Shape, ...]) -> None:
        numbers, *others = (_examples(its, dict(zip(names, shapes, strict=True))) for its in (model, *copies))
        if not all(its.shape == numbers.shape and np.allclose(its, numbers, 1e-6, 0, equal_nan=True) for its in others):
            raise ValueError("a copy gives other values than the model: each has all of the data, and not a part of them")

    by_length: dict[int, Callable[..., list[jax.Array]]] = {}
    logp = None if terms else _sums((model, *copies), names).function(reject)

    def function(*args: Any, **kwargs: Any) -> jax.Array:
        given = match(type(model).__name__, names, args, kwargs, model.defaults, "parameters")
        arrays = [jnp.asarray(v, jnp.result_type(float)) for v in given]
        if copies:
            compare(tuple(a.shape for a in arrays))
        return (logp or of_terms(arrays))(*arrays)[0]

    function.__doc__ = f"{'Terms' if terms else 'Log-likelihood'} of {model!r}, of {', '.join(names)}."
    return function


def _reject(names: Sequence[str], model: Replayable, terms: bool) -> None:
    if terms and names:
        raise TypeError("there are no derivatives of terms: take those of their sum, gs.as_jax without terms")
    if whole := [n for n in names if n not in model.differentiable]:
        raise TypeError(f"there is no derivative in {', '.join(whole)}: take jax.lax.stop_gradient of it")


def _examples(model: Any, shapes: Mapping[str, Shape]) -> np.ndarray:
    """Values of a model at two examples of its arguments, nan where these mean nothing."""
    found, loglik = list[Any](), model if callable(model) else model.loglik
    for number in (0.5, 1.0):
        try:
            found.append(loglik(**{n: np.full(shape, number) if shape else number for n, shape in shapes.items()}))
        except (ValueError, np.linalg.LinAlgError):
            found.append(np.nan)
    return np.hstack(found)


def _sums(models: Sequence[Any], names: Sequence[str], n_terms: int | None = None) -> Sums:
    """Sums of a model, or so many terms, whose arguments come in the order of some names.

    The other models are the same on other devices.
    """
    from .sums import Sums  # needs Numba

    model = models[0]
    loglik = model if callable(model) else model.loglik

    def evaluation(
        model: Any, shapes: tuple[Shape, ...], wrt: tuple[int, ...], n_sets: int | None
    ) -> Evaluation | None:
        given = {n: spread(shape, n_sets) for n, shape in zip(names, shapes, strict=True)}
        of = [names[i] for i in wrt]
        made = model.compiled(given, of, n_sets) if n_terms is None else model.compiled_terms(given, n_sets)
        if made is None or made.n_sets != (n_sets or 1):
            check([np.ones(shape) for shape in shapes])
            return None
        places = [np.arange(math.prod(shape)) for shape in shapes]
        inputs = list(zip(range(len(names)), names, places, strict=True))
        if n_terms is not None:
            return evaluation_of(made, inputs, [("terms", np.arange(n_terms))], n_terms)
        starts = list(itertools.accumulate((places[i].size for i in wrt), initial=1))
        outputs = [(names[i], start + places[i]) for i, start in zip(wrt, starts, strict=False)]
        return evaluation_of(made, inputs, outputs, starts[-1])

    def check(arrays: Sequence[np.ndarray]) -> None:
        """Raise an error for shapes that the model does not take: within a program of XLA's it would be hard to read."""
        with contextlib.suppress(np.linalg.LinAlgError):  # the numbers are none that mean anything
            if np.size(by_python(arrays, ())[0]) != (1 if n_terms is None else n_terms):
                listed = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
                raise ValueError(f"the arguments have several sets ({listed}): pass one, and take jax.vmap for several")

    def by_python(arrays: Sequence[np.ndarray], wrt: tuple[int, ...]) -> list[Any]:
        given: dict[str, Any] = {n: a if a.ndim else a.item() for n, a in zip(names, arrays, strict=True)}
        if not wrt:
            return [loglik(**given) if n_terms is None else model.terms(**given)]
        value, slopes = model.value_and_grad(**given, wrt=[names[i] for i in wrt])
        return [value, *(slopes[names[i]] for i in wrt)]

    def along(places: tuple[int, ...]) -> Sums | None:
        found = [its.along([names[i] for i in places]) for its in models]
        return None if found[0] is None else _sums(found, found[0].argument_names)

    own, *others = [functools.partial(evaluation, its) for its in models]
    return Sums(own, by_python, ((),) if n_terms is None else ((n_terms,),), along, others)
