"""Fits as SciPy has them: shapes, loc and scale of one data set, some of which may be known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..density import Density
from ..runtime.arrays import as_array, is_device_array
from ..runtime.transfers import to_device
from .reparametrised import Named


def fit(
    name: str, named: Named, density: Density, data: Any, starts: Sequence[Any], kwds: Mapping[str, Any]
) -> tuple[float, ...]:
    """See `Continuous.fit`."""
    shapes, kwds = list(named.shapes), dict(kwds)
    method, optimizer = kwds.pop("method", "mle"), kwds.pop("optimizer", None)
    if str(method).lower() != "mle":
        raise NotImplementedError(f"{name}: fits are by maximum likelihood, method='MLE', not {method!r}")
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
    if name == "uniform" and not censored and optimizer is None:
        return _uniform(data, fixed)
    free = Density(density.definition, density._functions)  # without defaults, which would be taken as known
    if optimizer is None:
        found = _by_newton(free, data, fixed, start)
        if found is not None:
            return tuple(fixed.get(n, float(found[n])) for n in named.parameters)
    if censored:
        raise ValueError(f"{name}: no parameters are found at which the likelihood is largest")
    return _by_search(free, named, data, fixed, start, optimizer)


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
    from ..runtime.transfers import to_host

    data = to_host(data)
    low, high = float(data.min()), float(data.max())
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
    """The estimates; None where the search did not converge."""
    try:
        found = density.fit(data, fixed=fixed, start=start)
    except ValueError:  # no likelihood anywhere that it began
        return None
    return found.parameters if found.converged and np.isfinite(found.log_likelihood) else None


def _by_search(
    density: Density, named: Named, data: Any, fixed: Mapping[str, Any], start: Mapping[str, Any],
    optimizer: Callable[..., Any] | str | None,
) -> tuple[float, ...]:  # fmt: skip
    """Estimates by a search that takes no derivatives."""
    import scipy.optimize

    if isinstance(optimizer, str):
        optimizer = getattr(scipy.optimize, optimizer if optimizer.startswith("fmin") else f"fmin_{optimizer}")
    free = [n for n in named.parameters if n not in fixed]
    on_device = to_device(data)
    begin = _begin(named, data, fixed, start)

    def theta(values: Sequence[float]) -> list[Any]:
        of_free = dict(zip(free, map(float, values), strict=True))
        return [fixed.get(n, of_free.get(n)) for n in named.parameters]

    def objective(values: Sequence[float], data: Any) -> float:
        value = -density.loglik(data, *theta(values))
        return value if np.isfinite(value) else np.inf

    search = optimizer or scipy.optimize.fmin
    found = search(objective, [begin[n] for n in free], args=(on_device,), disp=0)
    if not np.isfinite(objective(found, on_device)):
        raise ValueError(f"{named.name}: no parameters are found at which the data have a likelihood: give starts")
    return tuple(theta(found))


def _begin(named: Named, data: Any, fixed: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, float]:
    """Where a search begins: all data lie within the support of the standard form, moved and stretched."""
    from ..runtime.transfers import to_host

    data = np.asarray(to_host(data), float)
    low, high = float(data.min()), float(data.max())
    width, (a, b) = (high - low) or 1.0, named.support
    values = dict.fromkeys(named.shapes, 1.0)
    bounded = np.isfinite(a) and np.isfinite(b)
    values["scale"] = 1.2 * width / (b - a) if bounded else float(data.std()) or 1.0
    scale = fixed.get("scale", start.get("scale", values["scale"]))
    if np.isfinite(a):
        values["loc"] = low - 0.1 * width - a * scale
    elif np.isfinite(b):
        values["loc"] = high + 0.1 * width - b * scale
    else:
        values["loc"] = float(np.median(data))
    return {**values, **start}
