"""Maximum likelihood, or posterior density, for any model that has the interface of `Problem`: from arguments to estimates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..display.bars import bar
from ..evaluation.arguments import elements_inside
from ..language.device_function import Argument
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from ..runtime.types import Doubles, Shape
from .climb import climb
from .estimates import Estimates
from .fitted import Fitted, by_name, covariance_of
from .objective import Found, Objective, Prior
from .problem import Problem
from .refused import refuse_endless

LBFGS = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-8}


def maximise(
    problem: Problem, start: Mapping[str, Any] | None, fixed: Mapping[str, Any] | None, bounds: Mapping[str, Any] | None,
    priors: Mapping[str, Prior] | None, max_iterations: int, progress: bool,
) -> Estimates:  # fmt: skip
    """Estimates of a model's parameters: see `Fittable.fit`."""
    if not isinstance(max_iterations, (int, np.integer)) or max_iterations < 0:
        raise ValueError(f"max_iterations must be a whole number that is not negative, not {max_iterations!r}")
    of_labels = {n: v for n, v in fixed.items() if n not in problem.domains} if isinstance(fixed, Mapping) else {}
    fixed = {n: v for n, v in fixed.items() if n not in of_labels} if isinstance(fixed, Mapping) else fixed
    begin, known = _by_name(problem, "start", start), _by_name(problem, "fixed", problem.known)
    known |= _by_name(problem, "fixed", fixed)
    bounds, priors = dict(bounds or {}), dict(priors or {})
    _known(problem, "bounds", bounds)
    _known(problem, "priors", priors)
    whole = {n: v for n, v in known.items() if not np.isnan(v).any()}
    if both := begin.keys() & whole.keys():
        raise ValueError(f"{both.pop()} is fixed, so it has no start")
    values = {n: np.asarray(v, float) for n, v in problem.starts({**begin, **whole}).items()}
    free = {n: np.ones(v.shape, bool) for n, v in values.items()}
    known |= fixed_by_label(problem.name, problem.labels, of_labels, {n: v.shape for n, v in values.items()}, known)
    for name, value in known.items():
        try:
            given = np.broadcast_to(value, values[name].shape)
        except ValueError:
            raise ValueError(f"fixed: {name} has shape {value.shape}, and must have {values[name].shape}") from None
        free[name] = np.isnan(given)
        values[name] = np.where(free[name], values[name], given)
    wrt = [n for n in problem.domains if n in free and free[n].any()]
    if not wrt:
        raise ValueError(f"all parameters of {problem.name} are fixed: there is nothing to fit")
    if of_whole := [n for n in wrt if "integer" in problem.domains[n]]:
        raise ValueError(f"{of_whole[0]} of {problem.name} takes whole numbers only: give it, fixed={{{of_whole[0]!r}: …}}")
    if idle := [n for n in (*bounds, *priors) if n not in wrt]:
        raise ValueError(f"{idle[0]} is fixed: it takes no bounds and no prior")
    _check_priors(priors)
    limits = {n: _ends(n, given, values[n], n in begin) for n, given in bounds.items()}
    values |= {n: _between(values[n], *ends) for n, ends in limits.items()}
    _check_domains(problem, values)
    objective = Objective(problem, values, wrt, priors)
    mask = np.concatenate([free[n].ravel() for n in wrt])
    pinned = _pinned(objective, mask)
    low, high = _limits(objective, limits)
    point = objective.coordinates.to(values)
    with bar(max_iterations, progress, "steps, at most") as advance:
        first = _begin(objective, point, pinned, low, high)
        climbed = climb(
            objective, first[0], pinned=pinned, low=low, high=high, longest=objective.coordinates.longest,
            limit=max_iterations, single=problem.single, advance=advance, begin=first[1],
        )  # fmt: skip
    fitted = Fitted(objective, climbed, pinned, mask, low, high)
    refuse_endless(fitted, point)
    return estimates_of(fitted)


def estimates_of(fitted: Fitted) -> Estimates:
    """Estimates at the end of a search."""
    objective, climbed = fitted.objective, fitted.climbed
    coordinates, problem = objective.coordinates, objective.problem
    values, found = objective.values(climbed.point), climbed.found
    assert isinstance(found, Found)
    labels = [label for label, own in zip(coordinates.labels(), fitted.free, strict=True) if own]
    covariance, variances = covariance_of(fitted)
    numbers = np.full(coordinates.n_elements, np.nan)
    with np.errstate(invalid="ignore"):
        numbers[fitted.free] = np.sqrt(variances)
    return Estimates(
        density=problem.name,
        parameters={n: values[n] for n in problem.domains if n in values},
        free=objective.wrt,
        standard_errors=by_name(objective, numbers),
        covariance=covariance,
        log_likelihood=found.loglik,
        n_observations=problem.n_observations,
        converged=climbed.converged,
        n_iterations=climbed.n_iterations,
        message=climbed.message + " at a bound" * bool(climbed.at_bound.any()),
        labels=tuple(labels),
        n_parameters=int((~fitted.pinned).sum()),
        fitted=fitted,
    )


# -- arguments


def _by_name(problem: Problem, what: str, given: Mapping[str, Any] | None) -> dict[str, np.ndarray]:
    """Arrays of a call, by name."""
    if not isinstance(given, Mapping | None):
        raise TypeError(f"{what} must be a dict of parameters by name, such as {{{next(iter(problem.domains))!r}: 0.0}}")
    _known(problem, what, given or {})
    found = {}
    for name, value in (given or {}).items():
        value = to_host(value) if is_device_array(value) else value
        if np.asarray(value).dtype.kind not in "fiub":
            raise TypeError(f"{what}: {name} must be a number or an array of numbers, not {value!r}")
        found[name] = np.array(value, float)
        if what == "start" and not np.isfinite(found[name]).all():
            raise ValueError(f"start: {name} has a number that is not finite")
    return found


def fixed_by_label(
    model: str, labels_of: Callable[[str, Shape], Sequence[str]], given: Mapping[str, Any], shapes: Mapping[str, Shape],
    known: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Known values of the parameters of which `given` has elements by their labels; others are as they are `known`, or nan."""
    found = dict[str, np.ndarray]()
    labels = {label: (n, i) for n, shape in shapes.items() for i, label in enumerate(labels_of(n, shape))} if given else {}
    for label, value in given.items():
        if label not in labels:
            raise _unknown(model, "fixed", label, shapes)
        name, i = labels[label]
        number = np.asarray(value)
        if number.dtype.kind not in "fiub" or number.ndim or np.isnan(number):
            raise TypeError(f"fixed: {label} is one number, and cannot be {value!r}")
        if name not in found:
            found[name] = np.broadcast_to(known.get(name, np.nan), shapes[name]).copy()
        found[name].flat[i] = number
    return found


def _known(problem: Problem, what: str, given: Collection[str]) -> None:
    for name in given:
        if name not in problem.domains:
            raise _unknown(problem.name, what, name, problem.domains)


def _unknown(model: str, what: str, name: str, names: Collection[str]) -> ValueError:
    return ValueError(f"{what}: {model} has no parameter {name!r}; its parameters are {', '.join(names)}")


def _check_domains(problem: Problem, values: Mapping[str, np.ndarray]) -> None:
    for name, value in values.items():
        words = frozenset(problem.domains[name]) - {"vector", "matrix", "simplex", "covariance", "logarithms", "ordered"}
        argument = Argument(name, " ".join(sorted(words)) or "real")
        fine = np.isfinite(value) & elements_inside(argument, value)
        if not np.all(fine):
            where = np.ravel(value)[~np.ravel(np.broadcast_to(fine, value.shape))][0]
            raise ValueError(f"{name} of {problem.name} must be {argument.domain}, and {where:g} is not")


def _check_priors(priors: Mapping[str, Prior]) -> None:
    for name, prior in priors.items():
        density = getattr(prior, "density", None)
        if density is None or density.discrete or density.log_density.arguments[0].rank:
            raise TypeError(f"the prior of {name} must be a density of numbers with its parameters: gs.normal(0.0, 10.0)")


def _pinned(objective: Objective, free: np.ndarray) -> np.ndarray:
    """Mask of the coordinates of elements that are fixed."""
    coordinates, pinned = objective.coordinates, np.zeros(objective.coordinates.size, bool)
    for name, chart in coordinates.charts.items():
        own = free[coordinates.elements[name]]
        if chart.elementwise:
            pinned[coordinates.points[name]] = ~own
        elif not own.all():
            raise ValueError(f"fixed: the elements of {name} depend on one another, so all of them are fixed or none")
    return pinned


def _ends(name: str, given: Any, value: np.ndarray, begun: bool) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of a parameter; `begun`: the user says where it starts."""
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise ValueError(f"bounds: {name} has {given!r}, and must have (lowest, highest), each a number, an array or None")
    ends = [np.asarray(end if e is None else e, float) for e, end in zip(given, (-np.inf, np.inf), strict=True)]
    try:
        low, high = (np.broadcast_to(e, value.shape) for e in ends)
    except ValueError:
        raise ValueError(f"bounds: {name} has ends of shapes {[e.shape for e in ends]}, not {value.shape}") from None
    if not (low < high).all():
        raise ValueError(f"bounds: the lowest {name} must be below the highest, not {given!r}")
    if begun and not ((low <= value) & (value <= high)).all():
        outside = np.ravel(value)[np.ravel((value < low) | (value > high))][0]
        raise ValueError(f"start: {name} starts at {outside:g}, outside of its bounds, {_shown(low)} to {_shown(high)}")
    return low, high


def _shown(end: np.ndarray) -> object:
    """End of bounds for errors."""
    return f"{float(end):g}" if end.ndim == 0 else end.tolist()


def _between(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Start that lies between bounds: as it is, or in their middle, or beside the one that there is."""
    with np.errstate(invalid="ignore"):
        beside = np.where(np.isfinite(low), low + 0.5 * np.maximum(np.abs(low), 1), high - 0.5 * np.maximum(np.abs(high), 1))
        inside = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, beside)
    return np.where((low <= value) & (value <= high), value, inside)


def _limits(objective: Objective, limits: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> tuple[Doubles, Doubles]:
    """Bounds of the coordinates."""
    coordinates = objective.coordinates
    low, high = np.full(coordinates.size, -np.inf), np.full(coordinates.size, np.inf)
    for name, ends in limits.items():
        chart = coordinates.charts[name]
        if not chart.elementwise:
            raise ValueError(f"bounds: the elements of {name} depend on one another, and take no bounds")
        with np.errstate(divide="ignore", invalid="ignore"):
            to_low, to_high = (chart.to(np.array(end)) for end in ends)
        low[coordinates.points[name]] = np.where(np.isnan(to_low), -np.inf, to_low)
        high[coordinates.points[name]] = np.where(np.isnan(to_high), np.inf, to_high)
    return low, high


def _begin(
    objective: Objective, point: Doubles, pinned: np.ndarray, low: Doubles, high: Doubles
) -> tuple[Doubles, Found | None]:
    """First point of Newton's method, and the objective there; without second derivatives after a search without them."""
    problem = objective.problem
    if objective.exact:
        found = objective(point)
        if found.finite:
            return point, found
        value = found.value
    else:
        value, slopes = objective.slope(point)
        if np.isfinite(value) and np.isfinite(slopes).all():
            return _without_second(objective, point, pinned, low, high, abs(value)), None
    if np.isfinite(objective.loglik(point)) and not np.isfinite(value):
        raise ValueError(f"the priors have no density at the start: give start= values of {problem.name} inside of them")
    raise ValueError(
        f"the log-likelihood of {problem.name} is {value} at the start: give start= values at which it is finite, with "
        f"finite derivatives; {problem.complaint()}"
    )


def _without_second(
    objective: Objective, point: Doubles, pinned: np.ndarray, low: Doubles, high: Doubles, worst: float
) -> Doubles:
    """Maximum by first derivatives alone."""
    from scipy.optimize import minimize

    free = ~pinned

    def negative(moving: Doubles) -> tuple[float, Doubles]:
        nonlocal worst
        whole = point.copy()
        whole[free] = moving
        value, slopes = objective.slope(whole)
        if not (np.isfinite(value) and np.isfinite(slopes).all()):
            return 2 * worst + 1, np.zeros(len(moving))
        worst = max(worst, abs(value))
        return -value, -slopes[free]

    bounds = list(zip(low[free], high[free], strict=True))
    found = minimize(negative, point[free], jac=True, method="L-BFGS-B", bounds=bounds, options=LBFGS)
    best = point.copy()
    best[free] = found.x
    return best
