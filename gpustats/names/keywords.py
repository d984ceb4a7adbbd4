"""Errors about keyword arguments that a method does not have, which say what it is called here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

from .near import abbreviated, did_you_mean

P = ParamSpec("P")
R = TypeVar("R")

_STEPS = "max_iterations", "options={'maxiter': …}"
#: How near a name must be to be suggested.
_NEAR = 0.7
#: Argument of a fit in statsmodels, SciPy, scikit-learn, PyMC or R, or of another fit here -> what it may be of a fit.
ELSEWHERE = {
    **dict.fromkeys(("max_iterations", "maxiter", "max_iter", "maxit", "n_iter", "iterations", "maxfun", "maxfev"), _STEPS),
    **dict.fromkeys(("verbose", "disp", "display", "trace", "progressbar", "progress_bar"), ("progress",)),
    **dict.fromkeys(("x0", "p0", "loc", "scale", "start_params", "init", "initial", "initvals", "theta0"), ("start",)),
    **dict.fromkeys(("floc", "fscale", "f0", "f1", "f2", "known", "constant"), ("fixed",)),
    **dict.fromkeys(("sample_weight", "freq_weights", "frequency_weights", "counts", "w"), ("weights",)),
    **dict.fromkeys(("seed", "random_state", "random_seed"), ("rng",)),
    **dict.fromkeys(("n_components", "n_clusters", "k"), ("components",)),
    **dict.fromkeys(("n_restarts", "n_restarts_optimizer", "n_init", "nstart"), ("restarts",)),
    **dict.fromkeys(("data", "obs", "observed", "y"), ("x",)),
    **dict.fromkeys(("penalty", "regularization"), ("priors",)),
    **dict.fromkeys(("re_formula", "ranef"), ("random",)),
}
#: Arguments that fits of models have alone.
_OF_MODELS = frozenset(("bounds", "priors"))


def advising(method: Callable[P, R]) -> Callable[P, R]:
    """Method whose TypeError about an unknown keyword argument says what may be meant."""
    _, *known = inspect.signature(method).parameters

    @functools.wraps(method)
    def advised(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                model = args[0]
                owner = f"{type(model).__name__}.{method.__name__}"
                raise TypeError(f"{owner} has no argument {name!r}{_told(name, known, getattr(model, 'parameters', ()))}")
        return method(*args, **kwargs)

    return advised


def _told(name: str, known: Collection[str], parameters: Collection[str]) -> str:
    """Advice about an argument that is none of those that are known, for a model of these parameters."""
    if name in parameters:
        return f": it is a parameter, so write start={{{name!r}: …}}, or use fixed= where it is known"
    if here := [own for own in ELSEWHERE.get(name, ()) if own.partition("=")[0] in known]:
        return f": here it is {here[0]}"
    if name in _OF_MODELS:
        return ": gpustats.Likelihood(density, x).fit has it"
    if near := did_you_mean(name.lower(), known, how_near=_NEAR, shown=str):
        return f": {near}"
    if near_ones := abbreviated(name.lower(), known):
        return f": did you mean {' or '.join(near_ones)}?"
    return f"; its arguments are {', '.join(known)}"
