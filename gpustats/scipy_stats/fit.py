"""Fits as SciPy has them: shapes, loc and scale of one data set, some of which may be known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from ..density import Density
from ..evaluation.placement import device_of
from ..fits.model import Model
from ..fits.observations import UPPER, arranged
from ..names.scipy import FIXED_BY_DEFAULT, LOC_IS_ANGLE
from ..runtime.arrays import as_array, is_device_array
from ..runtime.transfers import to_device, to_host
from ..runtime.types import Array, Doubles, Values
from .reparametrised import Named

#: Values of parameters by their names.
Parameters = Mapping[str, float]


def fit(named: Named, density: Density, data: Any, starts: Sequence[float], kwds: Mapping[str, Any]) -> tuple[float, ...]:
    """Estimates of shapes, loc and scale: see `Continuous.fit`.

    The density has no defaults, which would be taken as known.
    """
    name, shapes, kwds = named.name, list(named.shapes), {**FIXED_BY_DEFAULT.get(named.name, {}), **kwds}
    method, optimizer = str(kwds.pop("method", "mle")).lower(), kwds.pop("optimizer", None)
    if method not in ("mle", "mm"):
        raise ValueError(f"method must be 'MLE' or 'MM', not {method!r}")
    if len(starts) > len(shapes):
        raise TypeError(f"{name}.fit takes starts of its shapes by position, {len(shapes)} of them, not {len(starts)}")
    start = dict(zip(shapes, starts, strict=False)) | {n: kwds.pop(n) for n in ("loc", "scale") if n in kwds}
    fixed = _fixed(name, shapes, kwds)
    if kwds:
        raise TypeError(f"{name}.fit has no argument {next(iter(kwds))}")
    if len(fixed) == len(named.parameters):
        raise ValueError(f"all parameters of {name} are fixed: there is nothing to fit")
    start = {n: v for n, v in start.items() if n not in fixed}
    censored = type(data).__name__ == "CensoredData"
    if censored and not data.num_censored():
        data, censored = data._uncensored, False
    if not censored:
        data = as_array(data, "data")
        data = data if is_device_array(data) else np.ravel(data)
        if not is_device_array(data) and not np.isfinite(data).all():
            raise ValueError("data has numbers that are not finite")
    problem = _Fit(named, density, data, fixed, start)
    if method == "mle" and optimizer is None:
        if name in _CLOSED_FORMS and not censored:
            return _CLOSED_FORMS[name](data, fixed)
        estimates = problem.by_newton(start)
        if not censored and "scale" in fixed and named.shapes and "loc" not in {**start, **fixed}:
            estimates = problem.from_mean(estimates)
        if estimates is not None:
            if name in LOC_IS_ANGLE and "loc" not in fixed and fixed.get("scale") == 1:
                estimates = {**estimates, "loc": np.pi - (np.pi - estimates["loc"]) % (2 * np.pi)}
            return problem.result(estimates)
    if censored and method == "mm":
        raise ValueError(f"{name}.fit: censored data have no moments, so method must be 'MLE'")
    return _by_search(problem, method, optimizer)


def _fixed(name: str, shapes: Sequence[str], kwds: dict[str, Any]) -> dict[str, float]:
    """Known parameters, which are taken out of `kwds`."""
    fixed: dict[str, float] = {}
    known = {shape: (f"f{i}", f"f{shape}", f"fix_{shape}") for i, shape in enumerate(shapes)}
    for parameter, keys in {**known, "loc": ("floc",), "scale": ("fscale",)}.items():
        given = [key for key in dict.fromkeys(keys) if key in kwds]
        if len(given) > 1:
            raise ValueError(f"{name}.fit: {' and '.join(given)} are the same parameter, {parameter}")
        for key in given:
            if (value := kwds.pop(key)) is not None:
                fixed[parameter] = value
    return fixed


def _uniform(data: Array, fixed: Parameters) -> tuple[float, ...]:
    """Location and width of a uniform distribution: the ends of the data, or as near to these as known parameters allow."""
    data = to_host(data)
    lowest, high = np.float64(data.min()), np.float64(data.max())
    low = fixed.get("loc", lowest)
    width = fixed.get("scale", high - low)
    if "scale" in fixed:  # any place is as good that has all the data
        low = low - 0.5 * (width - (high - low))
    if not (low <= data.min() and high <= low + width + 1e-12 * abs(width)):
        raise ValueError("uniform: no data with a likelihood: some lie outside of the support that is given")
    return low, width


def _laplace(data: Array, fixed: Parameters) -> tuple[float, ...]:
    """Location and scale of a Laplace distribution: the median, and the mean distance from the median.

    Of all numbers between the two in the middle, which are as good, the median is the middle.
    """
    data = to_host(data)
    loc = fixed.get("loc", np.float64(np.median(data)))
    return loc, fixed.get("scale", np.float64(np.mean(np.abs(data - loc))))


#: Fits that are formulas, where a search would find one of many maxima.
_CLOSED_FORMS: dict[str, Callable[..., tuple[float, ...]]] = {"uniform": _uniform, "laplace": _laplace}


#: Width of data, relative to their distance from 0, below which the data are moved there.
CLOSE_WIDTH = 1e-4

#: Number of times that a search begins anew where it ended, as long as it gains so much.
MOST_RESTARTS, LEAST_GAIN = 20, 1e-7

MOST_MOVED_STARTS = 100  # starts whose support is moved to where the data lie
#: Values of shapes at which a search may begin, where there is no likelihood at the first.
_SHAPE_STARTS = (1.0, 0.5, 2.0, 4.0, -0.5, -1.0, -4.0)


@dataclass(frozen=True)
class _Fit:
    """Fit to one data set: `fixed` are known parameters, `start` has values of others at which a search begins."""

    named: Named
    density: Density
    data: Array
    fixed: Parameters
    start: Parameters

    def theta(self, values: Parameters) -> list[float]:
        """Numbers of all parameters in their order, known ones as they are known."""
        of_all = {**values, **self.fixed}
        return [of_all[n] for n in self.named.parameters]

    def result(self, values: Parameters) -> tuple[float, ...]:
        """Estimates as they are returned."""
        theta = zip(self.named.parameters, self.theta(values), strict=True)
        return tuple(v if n in self.fixed else np.float64(v) for n, v in theta)

    def by_newton(self, start: Parameters) -> Parameters | None:
        """Estimates by Newton's method; None where the search did not converge.

        Where loc is known the data are moved, so that an end of the support is at the outermost of them; and where they lie
        much closer together than at 0, so that differences from loc are not rounded away.
        """
        moved, data, fixed = 0.0, self.data, self.fixed
        if isinstance(data, np.ndarray) and "loc" in fixed:
            standard = {n: v for n, v in (("loc", 0.0), ("scale", 1.0)) if n in fixed}
            data, fixed = (data - fixed["loc"]) / fixed.get("scale", 1.0), {**fixed, **standard}
        elif isinstance(data, np.ndarray) and "loc" not in start and np.ptp(data) < CLOSE_WIDTH * abs(np.median(data)):
            moved = np.median(data)
            data = data - moved
        try:
            estimates = self.density.fit(data, fixed=fixed, start=start)
        except ValueError:  # no likelihood anywhere that it began
            return None
        if not estimates.converged or not np.isfinite(estimates.log_likelihood):
            return None
        return {**estimates.parameters, "loc": estimates.parameters["loc"] + moved}

    def from_mean(self, found: Parameters | None) -> Parameters | None:
        """Better estimates of two: `found`, or those of a search that begins where the mean is that of the data.

        Guesses of loc are made of the data alone. With a known scale the best loc may lie far from these.
        """
        tried = [found]
        for shape in (0.1, 1.0):
            begin = self.of_mean_and_variance(to_host(self.data), shape)
            tried.append(self.by_newton({n: v for n, v in begin.items() if n not in self.fixed}))
        converged = [values for values in tried if values is not None]
        return max(converged, key=lambda v: float(self.density.loglik(self.data, *self.theta(v))), default=None)

    def begin(self, merit: Callable[[Parameters], float]) -> Parameters:
        """Parameters at which a search begins, where `merit`, which the search makes large, is finite, if some are found.

        Shapes are all 1, or else those values of `_SHAPE_STARTS`, together with some of loc and scale, with the largest merit.
        """
        named, data, known = self.named, self.data, {**self.start, **self.fixed}
        at = {**dict.fromkeys(named.shapes, 1.0), **_moved(named.support, data, known), **known}
        if not np.isfinite(merit(at)):
            low, high, width = data.min(), data.max(), np.ptp(data) or 1.0
            others = {"loc": (low - 0.1 * width, low - 2 * width, high + 0.1 * width), "scale": (2 * width,)}
            choice = {n: (at[n], *others[n]) if n in others else _SHAPE_STARTS for n in named.parameters if n not in known}
            tried = [{**at, **dict(zip(choice, each, strict=True))} for each in itertools.product(*choice.values())]
            tried += [self.around(values, list(choice)) for values in tried[:MOST_MOVED_STARTS]]
            at = max(tried, key=lambda values: np.nan_to_num(merit(values), nan=-np.inf))
        return at

    def of_mean_and_variance(self, data: Doubles, shape: float) -> dict[str, float]:
        """Parameters with the mean and the variance of the data, where loc and scale are free.

        All shapes are the number `shape`.
        """
        known = {**self.start, **self.fixed}
        at = {**dict.fromkeys(self.named.shapes, shape), "loc": 0.0, "scale": 1.0, **known}
        std = float(self.density.std(*self.theta(at)))
        if "scale" not in known and 0 < std < np.inf:
            at["scale"] *= float(data.std()) / std or 1.0
        mean = float(self.density.mean(*self.theta(at)))
        if "loc" not in known and np.isfinite(mean):
            at["loc"] += float(data.mean()) - mean
        return at

    def around(self, values: Parameters, free: Sequence[str]) -> dict[str, float]:
        """Parameters of which some free ones are changed, so that the ends of the support lie just outside of the data.

        An end is moved by a parameter of which it is a linear function, as most ends are of each of theirs.
        """
        found, width = dict(values), np.ptp(self.data) or 1.0

        def end(side: int, **changed: float) -> float:
            return float(self.density.support(*self.theta({**found, **changed}))[side])

        for side, beyond in ((0, self.data.min() - 1e-3 * width), (1, self.data.max() + 1e-3 * width)):
            for name in sorted(free, key=lambda n: n in ("loc", "scale")):  # shapes first
                here, there = end(side), end(side, **{name: 1.5 * found[name] + 0.1})
                inside = here >= beyond if side == 0 else here <= beyond
                if inside and np.isfinite(there) and there != here:
                    moved = found[name] + (beyond - here) * (0.5 * found[name] + 0.1) / (there - here)
                    if abs(end(side, **{name: moved}) - beyond) < 1e-6 * width:
                        found[name] = moved
        return found

    def beside_ends(self, found: Parameters, loglik: Callable[[Parameters], float]) -> Parameters:
        """Best estimates of several searches: `found`, and searches with an end of the support at the outermost observation.

        Where a likelihood grows up to this end, a simplex collapses at it long before the maximum.
        """
        import scipy.optimize

        def at_end(values: Parameters, side: int) -> Parameters:
            """Parameters with another loc, which moves the support until its end is at the outermost of the data."""
            *shapes, _, scale = self.theta(values)
            end = float(self.density.support(*shapes, 0.0, scale)[side])
            outermost = float(self.data.max() if side else self.data.min())
            beyond = 4 * np.finfo(float).eps * (abs(end) + abs(outermost))
            return {**values, "loc": outermost - end + (beyond if side else -beyond)}

        def searched(values: Parameters, side: int | None) -> Parameters:
            names = [n for n in values if side is None or n != "loc"]

            def placed(numbers: Sequence[float]) -> Parameters:
                changed = {**values, **dict(zip(names, map(float, numbers), strict=True))}
                return changed if side is None else at_end(changed, side)

            def objective(numbers: Sequence[float]) -> float:
                value = -loglik(placed(numbers))
                return value if np.isfinite(value) else np.inf

            last, value = [values[n] for n in names], np.inf
            for _ in range(MOST_RESTARTS if names else 0):
                last, before = scipy.optimize.fmin(objective, last, xtol=1e-8, ftol=1e-8, disp=0), value
                value = objective(last)
                if not value < before - LEAST_GAIN:
                    break
            return placed(last)

        def worth(values: Parameters) -> float:
            return float(np.nan_to_num(loglik(values), nan=-np.inf))

        sides = [side for side, end in enumerate(self.named.support) if np.isfinite(end) and "loc" not in self.fixed]
        best = max([found, *(searched(at_end(found, side), side) for side in sides)], key=worth)
        return max(best, searched(best, None), key=worth)


def _by_search(given: _Fit, method: str, optimizer: Callable[..., Sequence[float]] | str | None) -> tuple[float, ...]:
    """Estimates by a search that takes no derivatives."""
    import scipy.optimize

    if isinstance(optimizer, str):
        search = getattr(scipy.optimize, optimizer if optimizer.startswith("fmin") else f"fmin_{optimizer}")
    else:
        search = optimizer or scipy.optimize.fmin
    of_theta, on_host = _log_likelihood(given.density, given.data)
    problem, free = replace(given, data=on_host), [n for n in given.named.parameters if n not in given.fixed]
    moments = np.mean(on_host ** np.arange(1.0, len(free) + 1)[:, None], axis=1)

    def of_free(values: Sequence[float]) -> Parameters:
        return dict(zip(free, map(float, values), strict=True))

    def loglik(values: Parameters) -> float:
        return of_theta(problem.theta(values))

    def differences(values: Sequence[float]) -> Array:
        found = _moments(problem.density, problem.theta(of_free(values)), len(free))
        return (found - moments) / np.maximum(abs(moments), 1e-8)

    def objective(values: Sequence[float], *data: Array) -> float:
        value = float(np.sum(differences(values) ** 2)) if method == "mm" else -loglik(of_free(values))
        return value if np.isfinite(value) else np.inf

    begin = problem.begin(lambda v: -objective([v[n] for n in free]))
    if method == "mm":
        others = (problem.of_mean_and_variance(on_host, shape) for shape in _SHAPE_STARTS)
        begin = min([begin, *others], key=lambda at: objective([at[n] for n in free]))
    if method == "mle" and optimizer is None and (found := problem.by_newton(problem.start)) is not None:
        begin = max(begin, found, key=loglik)  # of censored data, a value within each interval
    estimates = search(objective, [begin[n] for n in free], args=(on_host,), disp=0)
    if method == "mle" and optimizer is None:
        estimates = list(problem.beside_ends(dict(zip(free, estimates, strict=True)), loglik).values())
    if method == "mm" and np.isfinite(objective(estimates)):
        with np.errstate(all="ignore"):
            nearer = scipy.optimize.root(
                lambda v: np.nan_to_num(differences(v), nan=1e9), estimates, tol=1e-14,
                options={"maxfev": 100 * (len(free) + 1)},
            ).x  # fmt: skip
        estimates = nearer if objective(nearer) < objective(estimates) else estimates
    if not np.isfinite(objective(estimates)):
        raise ValueError(f"{given.named.name}: no parameters are found at which the data have a likelihood: give starts")
    return problem.result(of_free(estimates))


def _moments(density: Density, theta: Sequence[float], number: int) -> Doubles:
    """Means of the first powers of X.

    The first four come from mean, standard deviation, skewness and kurtosis, for which there are formulas, the others from
    integrals.
    """
    mean, deviation = float(density.mean(*theta)), float(density.std(*theta)) if number > 1 else 0.0
    central = [1.0, 0.0, 1.0]  # of the standardised number
    central += [float(density.skewness(*theta))] if number > 2 else []
    central += [float(density.kurtosis(*theta)) + 3] if number > 3 else []
    orders, further = range(1, min(number, 4) + 1), np.arange(5.0, number + 1)
    found = [sum(comb(n, k) * mean ** (n - k) * deviation**k * central[k] for k in range(n + 1)) for n in orders]
    return np.array([*found, *(density.moment(further, *theta) if further.size else ())])


def _log_likelihood(density: Density, data: Values) -> tuple[Callable[[Sequence[float]], float], Doubles]:
    """Log-likelihood of parameters, and the data on the host: of a censored one, a number in its interval."""
    rectangle = arranged(data, None, None, None, {}, None).rectangles[0]
    if UPPER not in rectangle.columns:
        on_device = to_device(data)
        return lambda theta: density.loglik(on_device, *theta), np.asarray(to_host(data), float)
    of_intervals = Model(density.log_density, density.definition).of_intervals()
    runtime = device_of([rectangle.x], ["x"])

    def loglik(theta: Sequence[float]) -> float:
        return float(np.sum(of_intervals.sum([rectangle.x, *map(float, theta), rectangle.columns[UPPER]], runtime)))

    return loglik, np.ravel(rectangle.sample(rectangle.x.size, False).x)


def _moved(support: tuple[float, float], data: Doubles, known: Parameters) -> dict[str, float]:
    """Location and scale with which the data lie within the support of the standard form."""
    (a, b), low, high = support, float(data.min()), float(data.max())
    width, scale = (high - low) or 1.0, float(data.std()) or 1.0
    if "loc" in known:
        at_ends = [(x - known["loc"]) / end for x, end in ((low, a), (high, b)) if np.isfinite(end) and end]
        return {"scale": max([scale, *(1.1 * at for at in at_ends)]) if len(at_ends) else scale}
    if np.isfinite(a) and np.isfinite(b):
        scale = known.get("scale", 1.2 * width / (b - a))
        return {"loc": 0.5 * (low + high) - 0.5 * scale * (a + b), "scale": scale}
    scale = known.get("scale", scale)
    loc = float(np.median(data))
    if np.isfinite(a):
        loc = low - 0.1 * width - a * scale
    elif np.isfinite(b):
        loc = high + 0.1 * width - b * scale
    return {"loc": loc, "scale": scale}
