"""Functions of the first gpustats (2011), on top of those that took their place.

They stay, with their arguments and defaults. New code calls the methods of a density, which take parameters of every shape and
densities of every kind, and `gpustats.sample_discrete`:

>>> import numpy as np, gpustats as gs
>>> x, means, std = np.array([-1.0, 0.0, 2.0]), np.array([0.0, 1.0]), np.array([1.0, 2.0])
>>> bool((gs.compat.normpdf_multi(x, means, std) == gs.normal.logpdf(x[:, None], means, std)).all())
True

Numbers are computed and returned in the type of the data, float64 unless they are float32. (The first gpustats had float32
only.)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .density import densities
from .draws.discrete import sample_discrete as _sample_discrete
from .evaluation.placement import gather
from .evaluation.pointwise import Pointwise
from .mixtures.terms import weighted_term
from .runtime import arrays, choose
from .runtime.transfers import to_device, to_host
from .transforms import Exp

__all__ = ["mvnpdf", "mvnpdf_multi", "normpdf", "normpdf_multi", "sample_discrete"]


def normpdf(x: Any, mean: float, std: float, logged: bool = True, get: bool = True) -> Any:
    """Normal density; now ``gpustats.normal.logpdf(x, mean, std)``, or ``pdf``.

    Parameters
    ----------
    x : (N,) array_like
    mean, std : float
    logged, get : bool
        As for `normpdf_multi`.

    Returns
    -------
    (N,) ndarray or device array

    Examples
    --------
    >>> import gpustats as gs
    >>> gs.compat.normpdf([0.0, 1.0], 0.0, 1.0, logged=False).round(4)
    array([0.3989, 0.242 ])
    """
    return _flat(normpdf_multi(x, [mean], [std], logged, get))


def normpdf_multi(x: Any, means: Any, std: Any, logged: bool = True, get: bool = True) -> Any:
    """Normal density for several sets of parameters; now ``gpustats.normal.logpdf(x[:, None], means, std)``, or ``pdf``.

    Parameters
    ----------
    x : (N,) array_like
        NumPy or device array.
    means, std : (K,) array_like
    logged : bool
        Whether to return the logarithm of the density.
    get : bool
        Whether to return a NumPy array; else the result stays on the device.

    Returns
    -------
    (N, K) ndarray or device array
        In Fortran order, as it was.

    Raises
    ------
    ValueError
        Where the arguments have other shapes.

    Examples
    --------
    >>> import gpustats as gs
    >>> gs.compat.normpdf_multi([0.0, 1.0], [0.0, 1.0, 2.0], [1.0, 1.0, 1.0]).round(4)
    array([[-0.9189, -1.4189, -2.9189],
           [-1.4189, -0.9189, -1.4189]])
    """
    x = _data("x", x, (), get)
    parameters = [_sets(name, value, 1, x) for name, value in (("means", means), ("std", std))]
    _same_length(means=parameters[0], std=parameters[1])
    return _table("normal", x, parameters, None, logged, get, "F")


def mvnpdf(
    data: Any, mean: Any, cov: Any, weight: float | None = None, logged: bool = True, get: bool = True, order: str = "F",
    datadim: int | None = None,
) -> Any:  # fmt: skip
    """Multivariate normal density; now ``gpustats.mvnormal.logpdf(data, mean, cov)``, or ``pdf``.

    Parameters
    ----------
    data : (N, d) array_like
    mean : (d,) array_like
    cov : (d, d) array_like
    weight : float, optional
        A factor of the density. (The first gpustats took no notice of it.)
    logged, get, order, datadim
        As for `mvnpdf_multi`.

    Returns
    -------
    (N,) ndarray or device array

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> gs.compat.mvnpdf([[0.0, 0.0], [1.0, 0.0]], np.zeros(2), np.eye(2)).round(4)
    array([-1.8379, -2.3379])
    """
    weights = None if weight is None else [weight]
    return _flat(mvnpdf_multi(data, [mean], [cov], weights, logged, get, order, datadim))


def mvnpdf_multi(
    data: Any, means: Any, covs: Any, weights: Any = None, logged: bool = True, get: bool = True, order: str = "F",
    datadim: int | None = None,
) -> Any:  # fmt: skip
    """Multivariate normal density for several sets of parameters.

    Now ``gpustats.mvnormal.logpdf(data[:, None], means, covs)``, or ``pdf``; with the weights of a mixture, `gpustats.Mixture`,
    which need not write the table.

    Parameters
    ----------
    data : (N, d) array_like
        NumPy or device array.
    means : (K, d) array_like, or a sequence of vectors
    covs : (K, d, d) array_like, or a sequence of matrices
    weights : (K,) array_like, optional
        Factors of the densities.
    logged : bool
        Whether to return logarithms: of the weighted densities, where there are weights.
    get : bool
        Whether to return a NumPy array; else the result stays on the device.
    order : {"F", "C"}
        The order of the result in memory: densities for one set lie together, or those of one observation.
    datadim : int, optional
        Number of columns of `data` that count, where more were added. (Nothing is gained by that any more.)

    Returns
    -------
    (N, K) ndarray or device array
        Also for K = 1, when it was (N,).

    Raises
    ------
    ValueError
        Where the arguments have other shapes, or a matrix is not symmetric and positive definite.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> means, covs = [np.zeros(2), np.ones(2)], [np.eye(2), 2 * np.eye(2)]
    >>> gs.compat.mvnpdf_multi([[0.0, 0.0], [1.0, 0.0]], means, covs, weights=[0.25, 0.75]).round(4)
    array([[-3.2242, -3.3187],
           [-3.7242, -3.0687]])
    """
    if order not in ("F", "C"):
        raise ValueError(f"order must be 'F' or 'C', not {order!r}")
    data = _data("data", data, (datadim,), get)
    sets = {"means": _sets("means", means, 2, data), "covs": _sets("covs", covs, 3, data)}
    if weights is not None:
        sets["weights"] = _sets("weights", weights, 1, data)
    _same_length(**sets)
    if weights is not None and not (sets["weights"] >= 0).all():
        raise ValueError("weights must not be negative, nor nan")
    return _table("mvnormal", data, [sets["means"], sets["covs"]], sets.get("weights"), logged, get, order)


def sample_discrete(densities: Any, logged: bool = False, pad: bool = False, return_gpuarray: bool = False) -> Any:
    """Draw a category for each row of densities; now `gpustats.sample_discrete`.

    Parameters
    ----------
    densities : (N, K) array_like
        Not normalised; NumPy or device array.
    logged : bool
        Whether they are logarithms.
    pad : bool
        Without effect: there is no need for it any more.
    return_gpuarray : bool
        Whether the labels stay on the device.

    Returns
    -------
    (N,) ndarray or device array of int32
        They follow ``np.random.seed``, as they did.

    Raises
    ------
    ValueError
        As `gpustats.sample_discrete` does; where the labels stay on the device, such rows give -1.

    Examples
    --------
    >>> import gpustats as gs
    >>> gs.compat.sample_discrete([[0.0, 2.0, 0.0], [5.0, 0.0, 0.0]])
    array([1, 0], dtype=int32)
    """
    densities = arrays.as_array(densities, "densities")
    shape = () if isinstance(densities, float) else tuple(densities.shape)
    if len(shape) != 2:
        raise ValueError(f"densities has shape {shape}: it must be (N, K)")
    seed = np.random.randint(0, 2**32, 4, dtype=np.uint32).tolist()  # noqa: NPY002
    rows = to_device(densities) if return_gpuarray else to_host(densities)
    return _sample_discrete(log_weights=rows, rng=seed) if logged else _sample_discrete(rows, rng=seed)


# ---- arguments and results


def _data(name: str, data: Any, core: tuple[int | None, ...], get: bool) -> Any:
    """Observations as they lie, or on the device where the result stays there; `core` has the lengths of a vector."""
    data = arrays.as_array(data, name)
    shape = () if isinstance(data, float) else tuple(data.shape)
    if len(shape) != 1 + len(core):
        raise ValueError(f"{name} has shape {shape}: it must be {'(N, d)' if core else '(N,)'}")
    if core and core[0] is not None:
        if not 0 < core[0] <= shape[1]:
            raise ValueError(f"datadim is {core[0]}, but {name} has shape {shape}")
        data = data[:, : core[0]]
    if arrays.is_device_array(data):
        runtime = choose.for_array(data)
        assert runtime is not None
        return data if arrays.is_contiguous(data) else gather(runtime, data, data.dtype)
    return data if get else to_device(data)


def _sets(name: str, value: Any, ndim: int, data: Any) -> np.ndarray:
    """Parameter sets along the first axis, in the type of the data."""
    array = to_host(np.asarray(value) if isinstance(value, list | tuple) else value).astype(arrays.result_dtype([data]))
    shapes = {1: "(K,)", 2: "(K, d)", 3: "(K, d, d)"}
    core = tuple(data.shape[1:]) * (ndim - 1)
    if array.ndim != ndim or array.shape[1:] != core:
        of_data = f", where data has shape {tuple(data.shape)}" if core else ""
        raise ValueError(f"{name} has shape {array.shape}: it must be {shapes[ndim]}{of_data}")
    return array


def _same_length(**sets: np.ndarray) -> None:
    if len({len(values) for values in sets.values()}) > 1:
        listed = ", ".join(f"{name} {values.shape}" for name, values in sets.items())
        raise ValueError(f"there must be as many of each: {listed}")


@functools.lru_cache
def _function(name: str, weighted: bool, logged: bool) -> Pointwise:
    terms = densities[name].log_density
    terms = weighted_term(terms) if weighted else terms
    return terms if logged else Exp(terms)


def _table(
    name: str, data: Any, parameters: list[np.ndarray], weights: np.ndarray | None, logged: bool, get: bool, order: str
) -> Any:
    """Table of N × K densities in either order; that in Fortran order is the transpose of the K × N table."""
    function = _function(name, weights is not None, logged)
    if weights is not None:
        with np.errstate(divide="ignore"):
            parameters = [*parameters, np.log(weights)]
    if order == "F":
        table = function(data, *(p[:, None] for p in parameters))
    else:
        table = function(data.reshape(data.shape[0], 1, *data.shape[1:]), *parameters)
    table = to_host(table) if get else table
    return table.T if order == "F" else table


def _flat(table: Any) -> Any:
    """Only column of a table, as a vector."""
    return table.T.reshape(table.shape[0])
