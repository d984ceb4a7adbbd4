"""Fits as SciPy has them: shapes, loc and scale of one data set, some of which may be known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..density import Density
from ..evaluation.placement import device_of
from ..fits.model import Model
from ..fits.observations import UPPER, arranged
from ..runtime.arrays import as_array, is_device_array
from ..runtime.transfers import to_device, to_host
from .reparametrised import Named
from .table import KNOWN


def fit(
    named: Named, density: Density, data: Any, starts: Sequence[Any], kwds: Mapping[str, Any]
) -> tuple[float, ...]:
    """See `Continuous.fit`. The density has no defaults, which would be taken as known."""
    name, shapes, kwds = named.name, list(named.shapes), {**KNOWN.get(named.name, {}), **kwds}
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
    if not censored:
        data = as_array(data, "data")
        data = data if is_device_array(data) else np.ravel(data)
        if not is_device_array(data) and not np.isfinite(data).all():
            raise ValueError("data has numbers that are not finite")
    if method == "mle" and optimizer is None:
        if name == "uniform" and not censored:
            return _uniform(data, fixed)
        found = _by_newton(density, data, fixed, start)
        if found is not None:
            return tuple(fixed[n] if n in fixed else np.float64(found[n]) for n in named.parameters)
    if censored and method == "mm":
        raise ValueError(f"{name}.fit: censored data have no moments, so method must be 'MLE'")
    return _by_search(density, named, data, fixed, start, method, optimizer)


def _fixed(name: str, shapes: Sequence[str], kwds: dict[str, Any]) -> dict[str, Any]:
    """The known parameters, which are taken out of `kwds`."""
    fixed: dict[str, Any] = {}
    known = {shape: (f"f{i}", f"f{shape}", f"fix_{shape}") for i, shape in enumerate(shapes)}
    for parameter, keys in {**known, "loc": ("floc",), "scale": ("fscale",)}.items():
        given = [key for key in dict.fromkeys(keys) if key in kwds]
        if len(given) > 1:
            raise ValueError(f"{name}.fit: {' and '.join(given)} are the same parameter, {parameter}")
        for key in given:
            if (value := kwds.pop(key)) is not None:
                fixed[parameter] = value
    return fixed


def _uniform(data: Any, fixed: Mapping[str, Any]) -> tuple[float, ...]:
    """Both ends of the support are those of the data, or as near as what is known lets them."""
    data = to_host(data)
    low, high = np.float64(data.min()), np.float64(data.max())
    if "loc" in fixed:
        low = fixed["loc"]
    width = fixed.get("scale", high - low)
    if "scale" in fixed:  # any place is as good that has all the data
        low = low - 0.5 * (width - (high - low))
    if not (low <= data.min() and high <= low + width + 1e-12 * abs(width)):
        raise ValueError("uniform: no data with a likelihood: some lie outside of the support that is given")
    return low, width


def _by_newton(
    density: Density, data: Any, fixed: Mapping[str, Any], start: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The estimates; None where the search did not converge.

    Where loc is known the data are moved, so that an end of the support is at the outermost of them.
    """
    if isinstance(data, np.ndarray) and "loc" in fixed:
        standard = {n: v for n, v in (("loc", 0.0), ("scale", 1.0)) if n in fixed}
        data, fixed = (data - fixed["loc"]) / fixed.get("scale", 1.0), {**fixed, **standard}
    try:
        found = density.fit(data, fixed=fixed, start=start)
    except ValueError:  # no likelihood anywhere that it began
        return None
    return found.parameters if found.converged and np.isfinite(found.log_likelihood) else None


def _by_search(
    density: Density, named: Named, data: Any, fixed: Mapping[str, Any], start: Mapping[str, Any], method: str,
    optimizer: Callable[..., Any] | str | None,
) -> tuple[float, ...]:  # fmt: skip
    """Estimates by a search that takes no derivatives."""
    import scipy.optimize

    if isinstance(optimizer, str):
        search = getattr(scipy.optimize, optimizer if optimizer.startswith("fmin") else f"fmin_{optimizer}")
    else:
        search = optimizer or scipy.optimize.fmin
    free = [n for n in named.parameters if n not in fixed]
    loglik, on_host = _log_likelihood(density, data)
    orders = np.arange(1.0, len(free) + 1)
    moments = np.mean(on_host**orders[:, None], axis=1)

    def theta(values: Sequence[float]) -> list[Any]:
        of_free = dict(zip(free, map(float, values), strict=True))
        return [fixed[n] if n in fixed else of_free[n] for n in named.parameters]

    def differences(values: Sequence[float]) -> np.ndarray:
        return (density.moment(orders, *theta(values)) - moments) / np.maximum(abs(moments), 1e-8)

    def objective(values: Sequence[float], *data: Any) -> float:
        value = float(np.sum(differences(values) ** 2)) if method == "mm" else -loglik(theta(values))
        return value if np.isfinite(value) else np.inf

    begin = _begin(named, density, on_host, fixed, start, lambda v: -objective([v[n] for n in free]))
    found = search(objective, [begin[n] for n in free], args=(on_host,), disp=0)
    if method == "mm" and np.isfinite(objective(found)):
        with np.errstate(all="ignore"):
            nearer = scipy.optimize.root(lambda v: np.nan_to_num(differences(v), nan=1e9), found, tol=1e-14).x
        found = nearer if objective(nearer) < objective(found) else found
    if not np.isfinite(objective(found)):
        raise ValueError(f"{named.name}: no parameters are found at which the data have a likelihood: give starts")
    return tuple(fixed[n] if n in fixed else np.float64(v) for n, v in zip(named.parameters, theta(found), strict=True))


def _log_likelihood(density: Density, data: Any) -> tuple[Callable[[Sequence[Any]], float], np.ndarray]:
    """The log-likelihood of parameters, and the data on the host: of a censored one, a number in its interval."""
    rectangle = arranged(data, None, None, None, {}, None).rectangles[0]
    if UPPER not in rectangle.columns:
        on_device = to_device(data)
        return lambda theta: density.loglik(on_device, *theta), np.asarray(to_host(data), float)
    of_intervals = Model(density.log_density, density.definition).of_intervals()
    runtime = device_of([rectangle.x], ["x"])

    def loglik(theta: Sequence[Any]) -> float:
        return float(np.sum(of_intervals.sum([rectangle.x, *map(float, theta), rectangle.columns[UPPER]], runtime)))

    return loglik, np.ravel(rectangle.sample(rectangle.x.size, False).x)


#: Values of shapes at which a search may begin, where there is no likelihood at the first.
SUPPORTED = 100  # starts whose support is moved to where the data lie, at most
_SHAPES = (1.0, 0.5, 2.0, 4.0, -0.5, -1.0, -4.0)


def _begin(
    named: Named, density: Density, data: np.ndarray, fixed: Mapping[str, Any], start: Mapping[str, Any],
    merit: Callable[..., float],
) -> dict[str, float]:  # fmt: skip
    """Where a search begins: parameters at which what it makes large, `merit`, is finite, if some are found.

    Shapes are all 1, or else those values of `_SHAPES`, together with some of loc and scale, with the largest merit.
    """
    known = {**start, **fixed}
    at = {**dict.fromkeys(named.shapes, 1.0), **_moved(named.support, data, known), **known}
    if not np.isfinite(merit(at)):
        low, high, width = data.min(), data.max(), np.ptp(data) or 1.0
        others = {"loc": (low - 0.1 * width, low - 2 * width, high + 0.1 * width), "scale": (2 * width,)}
        choice = {n: (at[n], *others[n]) if n in others else _SHAPES for n in named.parameters if n not in known}
        tried = [{**at, **dict(zip(choice, each, strict=True))} for each in itertools.product(*choice.values())]
        tried += [_around(named, density, data, values, list(choice)) for values in tried[:SUPPORTED]]
        at = max(tried, key=lambda values: np.nan_to_num(merit(values), nan=-np.inf))
    return at


def _around(
    named: Named, density: Density, data: np.ndarray, values: Mapping[str, float], free: Sequence[str]
) -> dict[str, float]:
    """The same values, but for some of those that are free, with which the ends of the support lie just outside of the data.

    An end is moved by a parameter of which it is a linear function, as most ends are of each of theirs.
    """
    found, width = dict(values), np.ptp(data) or 1.0

    def end(side: int, **changed: float) -> float:
        return float(density.support(*({**found, **changed}[n] for n in named.parameters))[side])

    for side, beyond in ((0, data.min() - 1e-3 * width), (1, data.max() + 1e-3 * width)):
        for name in sorted(free, key=lambda n: n in ("loc", "scale")):  # shapes first
            here, there = end(side), end(side, **{name: 1.5 * found[name] + 0.1})
            inside = here >= beyond if side == 0 else here <= beyond
            if inside and np.isfinite(there) and there != here:
                moved = found[name] + (beyond - here) * (0.5 * found[name] + 0.1) / (there - here)
                if abs(end(side, **{name: moved}) - beyond) < 1e-6 * width:
                    found[name] = moved
    return found


def _moved(support: tuple[float, float], data: np.ndarray, known: Mapping[str, float]) -> dict[str, float]:
    """A loc and a scale with which the data lie within the support of the standard form."""
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
