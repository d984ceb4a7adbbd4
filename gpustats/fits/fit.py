"""Maximum likelihood: from the arguments of `Density.fit` to its estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..display.bars import bar
from ..evaluation.arguments import elements_inside
from ..evaluation.placement import device_of
from ..parallel.maps import DeviceMap
from ..runtime import choose, thresholds
from ..runtime.arrays import is_device_array
from ..runtime.base import Device, Runtime
from ..runtime.types import Array, Mask, Shape, Values
from .collected import ENDLESS, Collected
from .estimates import Estimates
from .model import Model
from .newton import AT_EDGE, AT_KINK, CONVERGED, RUNNING, WITHOUT_START, Objective, Precision, Searches, solve
from .observations import UPPER, Rectangle, arranged
from .scales import Scales
from .searched import Searched
from .starts import Tries

FAR_ALONG_SCALE = 18.0  # way in a logarithm that a search goes without an end where there is no maximum
# Standard errors from which on a parameter is said to go to the end of its domain: of logarithms, and relative to the standard
# errors where the search began. And the relative one below which a kink is a pole.
ENDLESS_LOG_ERROR, ENDLESS_RELATIVE_ERROR, POLE_RELATIVE_ERROR = 300.0, 1e6, 1e-6

# Where likelihoods have corners at observations: number of places between observations that are tried, number of searches from
# the best of these, the gain that a place has to promise for a search, and the largest number of such rounds.
PLACES_TRIED, PLACES_SEARCHED, LEAST_PROMISE, MOST_ROUNDS = 24, 4, 1e-7, 3

#: Least number of data sets of a piece, which one of several devices takes at a time, and largest number of pieces.
FEWEST_DATA_SETS, MOST_PIECES = thresholds.FITS_FEWEST_DATA_SETS.value, thresholds.FITS_MOST_PIECES.value


class Job(NamedTuple):
    """Independent searches for the data sets of a rectangle, from the best guesses (G, C, P) for each."""

    model: Model
    rectangle: Rectangle
    free: Mapping[str, frozenset[str]]
    best: np.ndarray
    corners: Sequence[int]  # the parameters in which the likelihood has corners or poles at observations
    limit: int


#: Results for each data set of a job: ``loglik``, ``values``, ``covariance``, ``status`` and ``steps``.
Found = dict[str, np.ndarray]


def fit(
    model: Model, x: Values | None, fixed: Mapping[str, Values] | None, start: Mapping[str, Values] | None,
    weights: Values | None, lower: Values | None, upper: Values | None, groups: ArrayLike | None, max_iterations: int,
    devices: str | Sequence[str | Device] | None = None, progress: bool = False,
) -> Estimates:  # fmt: skip
    """Estimates by maximum likelihood: see `Density.fit`."""
    start, known, free = told_apart(model, fixed, start, max_iterations)
    rectangles, shape, labels = arranged(x, lower, upper, weights, known, groups)
    begin = {n: _broadcast(n, v, shape) for n, v in start.items()}
    runtime, search = _where(rectangles[0].x, devices)
    n_data_sets = sum(len(rectangle.which) for rectangle in rectangles)
    tries = [Tries(model, rectangle, free, begin, runtime) for rectangle in rectangles]
    largest = max(range(len(rectangles)), key=lambda i: len(rectangles[i].which))
    ends = {} if UPPER in rectangles[0].columns else tries[largest].ends()
    if whole := [n for n, words in free.items() if "integer" in words and n not in ends]:
        raise ValueError(f"{whole[0]} of {model.name} takes whole numbers only: give it, fixed={{{whole[0]!r}: …}}")
    result = Collected(model, free, ends, known, shape)
    with bar(n_data_sets, progress, "data sets") as advance:
        for rectangle, tried in zip(rectangles, tries, strict=True):
            low_high = rectangle.on_host().outermost() if ends else ()
            at_ends = {n: low_high[side > 0][:, None] for n, side in ends.items()}
            _fit_rectangle(model, rectangle.beside(at_ends), tried.beside(at_ends), max_iterations, search, result)
            advance(len(rectangle.which))
    return result.estimates(labels)


def told_apart(
    model: Model, fixed: Mapping[str, Values] | None, start: Mapping[str, Values] | None, max_iterations: int
) -> tuple[dict[str, Values], dict[str, Values], dict[str, frozenset[str]]]:
    """Starts, known parameters, and the words of the domains of those that are to be estimated, by name."""
    domains = model.parameters()
    if not isinstance(max_iterations, (int, np.integer)) or max_iterations < 0:
        raise ValueError(f"max_iterations must be a whole number that is not negative, not {max_iterations!r}")
    begin, known = _by_name("start", start, model), _by_name("fixed", fixed, model)
    if both := begin.keys() & known.keys():
        raise ValueError(f"{both.pop()} is fixed, so it has no start")
    known = {**{n: v for n, v in model.log_density.defaults.items() if n not in begin}, **known}
    free = {n: words for n, words in domains.items() if n not in known}
    if not free:
        raise ValueError(f"all parameters of {model.name} are fixed: there is nothing to fit")
    return begin, known, free


def ends_of(model: Model, x: np.ndarray, known: Mapping[str, Values], free: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """Parameters that are an end of the support of one data set, (N,): see `Tries.ends`."""
    rectangle = arranged(x, None, None, None, dict(known), None).rectangles[0]
    return Tries(model, rectangle, free, {}, _where(rectangle.x, None)[0]).ends()


def _by_name(what: str, given: Mapping[str, Values] | None, model: Model) -> dict[str, Values]:
    """Values of parameters in a call, by name, each checked to lie in its parameter's domain."""
    if not isinstance(given, Mapping | None):
        raise TypeError(f"{what} must be a dict of parameters by name, such as {{{next(iter(model.parameters()))!r}: 1.0}}")
    arguments = {a.name: a for a in model.log_density.arguments[1:]}
    for name, value in (given or {}).items():
        if name not in arguments:
            raise ValueError(f"{what}: {model.name} has no parameter {name!r}; its parameters are {', '.join(arguments)}")
        if is_device_array(value) or (numbers := np.asarray(value)).dtype.kind not in "fiub":
            continue
        fine = np.isfinite(numbers) if what == "start" else ~np.isnan(numbers)
        fine &= elements_inside(arguments[name], numbers)
        if not fine.all():
            raise ValueError(f"{what}: {name} must be {arguments[name].domain}, and {numbers[~fine].flat[0]:g} is not")
    return dict(given or {})


def _broadcast(name: str, value: Values, shape: Shape) -> np.ndarray:
    """Starting value for each data set."""
    if np.asarray(value).dtype.kind not in "fiub":
        raise TypeError(f"start of {name} must be a number, or one for each data set, not {value!r}")
    try:
        return np.broadcast_to(np.asarray(value, float), shape).reshape(-1)
    except ValueError:
        raise ValueError(f"start of {name} has shape {np.shape(value)}: one number, or one for each data set {shape}") from None


def _where(x: Array, devices: str | Sequence[str | Device] | None) -> tuple[Runtime, Callable[[Job], Found]]:
    """Device on which guesses are tried, and the function that searches, there or on all of `devices`."""
    if devices is None:
        runtime = device_of([x], ["x"])
        return runtime, lambda job: _searched(job, 0, len(job.best), runtime)
    if is_device_array(x):
        raise ValueError("x is on a device already, and not divided: pass NumPy arrays, see gs.to_host, or leave out devices")
    over = DeviceMap(devices)

    def search(job: Job) -> Found:
        n = len(job.best)
        return over(_searched, job, n, chunk=max(FEWEST_DATA_SETS, -(-n // MOST_PIECES)))  # whatever the devices are

    return choose.several(devices)[0], search


def _fit_rectangle(
    model: Model, rectangle: Rectangle, tries: Tries, limit: int, search: Callable[[Job], Found], result: Collected
) -> None:
    """Fit the data sets of a rectangle."""
    best = tries.best()
    corners = [] if UPPER in rectangle.columns else tries.corners(best)
    found = search(Job(model, rectangle, tries.free, best, corners, limit))
    bad = np.flatnonzero(found["status"] == WITHOUT_START)
    if bad.size and tries.free:
        # no likelihood for observations that are not in the samples: once more, with the outermost ones
        few = rectangle.on_host()[bad]
        again = Tries(model, few, tries.free, tries.begin, tries.runtime, outermost=True)
        for name, numbers in search(Job(model, few, tries.free, again.best(), corners, limit)).items():
            found[name][bad] = numbers
    result.add(rectangle, **found)


def _searched(job: Job, first: int, end: int, runtime: Runtime) -> Found:
    """Results for data sets `first` to `end` - 1 of a job on a device."""
    rectangle = job.rectangle if end - first == len(job.best) else job.rectangle[np.arange(first, end)]
    scales = Scales(list(job.free.values()))
    searched = Searched(job.model, rectangle, list(job.free), scales, runtime)
    points, objective = _begin(searched, scales, job.best[first:end])
    precision = Precision() if searched.dtype.itemsize == 8 else Precision(1e-6, 1e-8)
    searches = Searches(searched, points, objective, scales.longest, precision)
    searches.run(job.limit)
    if job.corners:
        _beside_kinks(job.corners, searches, job.limit)
        _among_observations(searched, rectangle, job.corners, scales, searches, job.limit)
        _beside_kinks(job.corners, searches, job.limit)
    failed = searches.status == WITHOUT_START
    values, slopes, _ = scales.back(searches.points)
    values[failed] = np.nan
    covariance = _covariance(searches, scales)
    far = (np.abs(searches.points - points) > FAR_ALONG_SCALE) & np.isfinite(scales.longest)
    searches.status[far.any(-1) & (searches.status == RUNNING)] = ENDLESS
    with np.errstate(invalid="ignore", over="ignore"):
        covariance *= slopes[:, :, None] * slopes[:, None, :]
    covariance[(searches.status != CONVERGED) & (searches.status != AT_KINK)] = np.nan
    loglik = np.where(failed, np.nan, -searches.objective.value)
    return dict(loglik=loglik, values=values, covariance=covariance, status=searches.status, steps=searches.n_iterations)


def _covariance(searches: Searches, scales: Scales) -> np.ndarray:
    """Covariances of estimates on their scales; searches that went to a pole or to the end of a domain are marked."""
    covariance, definite = _inverse(searches.objective.hessian)
    of_scores, told = _inverse(searches.objective.metric)
    told |= _inverse(searches.objective.hessian + searches.objective.metric)[1]
    covariance = np.where((definite & (searches.status != AT_KINK))[:, None, None], covariance, of_scores)
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        by_scores, relative = 1 / np.sqrt(searches.objective.scale), np.sqrt(searches.first_scale)
        spread = np.where(np.isnan(spread), by_scores, spread)
        endless = ((spread > ENDLESS_LOG_ERROR) & np.isfinite(scales.longest)) | (spread * relative > ENDLESS_RELATIVE_ERROR)
        endless |= ((searches.status == AT_KINK) & ~told)[:, None]  # nothing tells some parameters apart
    searches.status[_at_poles(searches)] = AT_EDGE
    searches.status[endless.any(-1) & np.isin(searches.status, (RUNNING, CONVERGED, AT_KINK))] = ENDLESS
    return covariance


def _begin(searched: Searched, scales: Scales, best: np.ndarray) -> tuple[np.ndarray, Objective]:
    """Starting points, the first of the best guesses (G, C, P) at which all of a data set's observations have a likelihood."""
    with np.errstate(invalid="ignore", divide="ignore"):
        points = scales.to(best)
    begin, objective = points[:, 0].copy(), searched(points[:, 0], np.arange(len(best)))
    for other in range(1, points.shape[1]):
        bad = np.flatnonzero(~objective.finite)
        if not bad.size:
            break
        begin[bad] = points[bad, other]
        objective[bad] = searched(begin[bad], bad)
    return begin, objective


def _beside_kinks(corners: Sequence[int], searches: Searches, limit: int) -> None:
    """Search on in the other parameters where one with a corner has come to a kink."""
    for i in corners if searches.points.shape[1] > 1 else ():
        which = np.flatnonzero((searches.status == AT_KINK) & ~_at_poles(searches))
        if which.size:
            searches.go_on_without(i, which, limit)


def _among_observations(
    searched: Searched, rectangle: Rectangle, corners: Sequence[int], scales: Scales, searches: Searches, limit: int
) -> None:
    """Search again between other observations, for each parameter with a corner at them: such likelihoods have many maxima.

    Searches begin at the places between observations from which they might find more, as the slopes and the curvature
    there say, the others of the parameters being as they were found.
    """
    sets = np.arange(len(searches.points))
    for i in corners:
        scale, left = scales.only(i), sets  # the data sets that are not done with
        for _ in range(MOST_ROUNDS):
            left = left[searches.objective[left].finite & ~_at_poles(searches)[left]]
            if not left.size:
                break
            low, high = rectangle[left].between(scale.back(searches.points[left, i])[0], PLACES_TRIED)
            with np.errstate(invalid="ignore", divide="ignore"):
                low, high = scale.to(low), scale.to(high)
            places, reach = low + 0.5 * (high - low), 0.5 * (high - low)
            promises = np.full(places.shape, -np.inf)
            for k in range(places.shape[1]):
                points = searches.points[left].copy()
                points[:, i] = places[:, k]
                promises[:, k] = _promised(searched(points, left), i, reach[:, k]) + searches.objective.value[left]
            order, before = np.argsort(-promises, axis=1), searches.objective.value.copy()
            for k in order.T[:PLACES_SEARCHED]:
                promising = np.flatnonzero(promises[np.arange(len(left)), k] > LEAST_PROMISE)
                if not promising.size:
                    break
                which = left[promising]
                points = searches.points[which].copy()
                points[:, i] = places[promising, k[promising]]
                searches.again(which, points, limit)
            left = left[searches.objective.value[left] < before[left]]


def _at_poles(searches: Searches) -> Mask:
    """Mask of searches that ended at a pole: a kink at which a standard error vanishes."""
    with np.errstate(invalid="ignore"):
        relative = np.sqrt(searches.first_scale / searches.objective.scale)
        at_poles: Mask = (relative < POLE_RELATIVE_ERROR).any(-1) & (searches.status == AT_KINK)
    return at_poles


def _promised(objective: Objective, i: int, reach: np.ndarray) -> np.ndarray:
    """Log-likelihood that is possible near a point: parameter i may move by `reach`, the others as the Hessian says."""
    others = [j for j in range(objective.gradient.shape[1]) if j != i]
    gradient = objective.gradient[:, others]
    step, fine = solve(objective.hessian[:, others][:, :, others], -gradient)
    gain = np.where(fine, -0.5 * np.einsum("gi,gi->g", gradient, step), 0)
    with np.errstate(invalid="ignore"):
        value = gain + np.abs(objective.gradient[:, i]) * reach - objective.value
    return np.where(objective.finite, value, -np.inf)


def _inverse(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses of symmetric matrices (G, P, P), nan where one is not positive definite, and the mask of those that are."""
    found, definite = np.empty_like(matrices), np.ones(len(matrices), bool)
    for k, unit in enumerate(np.eye(matrices.shape[-1])):
        found[:, :, k], fine = solve(matrices, np.broadcast_to(unit, matrices.shape[:-1]))
        definite &= fine
    found = 0.5 * (found + found.swapaxes(-1, -2))
    return np.where(definite[:, None, None], found, np.nan), definite
