"""Comparison of PyMC's models: the terms of an observed variable, computed on the device for all draws of a posterior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray
from numpy.typing import DTypeLike
from pymc.model.transform.conditioning import remove_value_transforms
from pymc.pytensorf import extract_obs_data, rewrite_pregrad
from pytensor.graph.basic import Variable

from ..comparison.draws import Draws
from ..comparison.loo import Labels, loo_of, waic_of
from ..comparison.sources import Source, TableSource, source_of
from ..comparison.table import written
from ..compiler.fusion.along import of_each, part_of
from ..compiler.fusion.alternatives import ChoiceModel
from ..compiler.fusion.evaluator import WITHOUT_COMPILER
from ..compiler.fusion.frozen import shared_data
from ..compiler.fusion.program import Program, program_of
from ..compiler.fusion.regrouped import as_fused
from ..compiler.fusion.scalar_ops import Unsupported
from ..compiler.fusion.settings import fused
from ..parallel.divide import sizes_of

#: Bytes that what PyTensor computes for all draws may take on the host.
MOST_ON_HOST = 2 << 30


def loo(
    idata: Any, model: pm.Model | None = None, *, var_name: str | None = None, groups: Any = None, r_eff: float | None = None,
    pointwise: bool = True, memory: int | None = None, chunk: int | None = None,
) -> Any:  # fmt: skip
    """Leave-one-out cross-validation of a PyMC model, without the log-likelihoods of all draws in memory.

    Parameters
    ----------
    idata : ArviZ tree
        With a posterior; no group ``log_likelihood`` is needed or read.
    model : pymc.Model, optional
        By default that of the context. It need not have been fused for sampling.
    var_name : str, optional
        The observed variable, where there are several.
    groups : (N,) array_like, optional
        Group of each observation, in the order of its elements: all of a group are left out together.
    r_eff, pointwise, memory, chunk
        As for `gpustats.loo`.

    Returns
    -------
    arviz.ELPDData
        As ``arviz.loo`` of a tree with log-likelihoods: `gpustats.loo` says how it is computed.

    Raises
    ------
    ValueError
        Where the posterior has not the model's variables, where there are several observed ones and no name, and where a
        log-likelihood is nan or infinite.
    MemoryError
        Where PyTensor computes the terms, because there is no function of a row (`explain` says why), and their table takes
        more than 2 GiB.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> x = np.random.default_rng(1).normal(size=200)
    >>> with pm.Model() as model:
    ...     mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma")
    ...     _ = pm.Normal("y", mu, sigma, observed=x)
    ...     idata = pm.sample(200, tune=200, chains=2, cores=1, progressbar=False, random_seed=1)
    >>> gpm.loo(idata, model).n_data_points
    200
    """
    source, draws, labels = _of_observed(idata, model, var_name)
    return loo_of(source, draws, sizes_of(memory, chunk), groups, r_eff, pointwise, labels)


def waic(
    idata: Any, model: pm.Model | None = None, *, var_name: str | None = None, pointwise: bool = True,
    memory: int | None = None, chunk: int | None = None,
) -> Any:  # fmt: skip
    """WAIC of a PyMC model, without the log-likelihoods of all draws in memory.

    Parameters
    ----------
    idata, model, var_name, pointwise, memory, chunk
        As for `loo`.

    Returns
    -------
    arviz.ELPDData
        As `gpustats.waic` gives it.
    """
    source, draws, labels = _of_observed(idata, model, var_name)
    return waic_of(source, draws, sizes_of(memory, chunk), pointwise, labels)


def compute_log_likelihood(
    idata: Any, model: pm.Model | None = None, *, var_names: Sequence[str] | None = None, dtype: DTypeLike = np.float64,
    store: str | None = None, memory: int | None = None, chunk: int | None = None,
) -> xarray.Dataset:  # fmt: skip
    """Log-likelihoods of all observations for all draws, computed on the device, as ``pm.compute_log_likelihood`` has them.

    Parameters
    ----------
    idata : ArviZ tree
        With a posterior. It is not changed.
    model : pymc.Model, optional
        By default that of the context.
    var_names : sequence of str, optional
        Observed variables; by default all.
    dtype : dtype, optional
        Of the table; float32 takes half the memory.
    store : str, optional
        Folder of a new Zarr group to which the table is written in pieces; one that is there is replaced.
    memory, chunk
        As for `gpustats.loo`.

    Returns
    -------
    xarray.Dataset
        With the axes ``chain`` and ``draw`` and those of each variable; read from `store` as it is needed, if there is one.

    Examples
    --------
    >>> import numpy as np, pymc as pm, xarray, gpustats.pymc as gpm
    >>> with pm.Model() as model:
    ...     _ = pm.Normal("y", pm.Normal("mu"), 1, observed=np.array([0.3, -0.2, 1.0]))
    >>> posterior = xarray.Dataset({"mu": (("chain", "draw"), np.zeros((1, 5)))}, {"chain": [0], "draw": np.arange(5)})
    >>> gpm.compute_log_likelihood(posterior, model, dtype="float32")["y"].shape
    (1, 5, 3)
    """
    model, sizes = pm.modelcontext(model), sizes_of(memory, chunk)
    names = [str(v.name) for v in model.observed_RVs] if var_names is None else list(var_names)
    found: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    group = None
    if store is not None:
        import zarr

        group = zarr.open_group(store, mode="w")
    for name in names:
        source, draws, labels = _of_observed(idata, model, name)
        dims = ["chain", "draw", *labels.dims]
        coords |= {"chain": draws.posterior["chain"].values, "draw": draws.posterior["draw"].values, **labels.coords}
        if group is None:
            table = written(source, draws, sizes, None, dtype).reshape(*draws.lead, *labels.shape)
            found[name] = xarray.DataArray(table, coords={d: coords[d] for d in dims if d in coords}, dims=dims)
            continue
        flat = (*draws.lead, source.n_rows)
        if len(labels.shape) != 1:
            raise ValueError(f"{name} has shape {labels.shape}: only observations along one axis are written to a store")
        rows = max(1, (64 << 20) // (8 * draws.n))
        array = group.create_array(
            name, shape=flat, chunks=(*draws.lead, min(rows, source.n_rows)), dtype=np.dtype(dtype), dimension_names=dims
        )  # fmt: skip
        written(source, draws, sizes._replace(chunk=chunk or rows), array)
    if group is None:
        return xarray.Dataset(found)
    return xarray.open_zarr(store, consolidated=False, chunks=None).assign_coords(coords)


def _of_observed(idata: Any, model: pm.Model | None, var_name: str | None) -> tuple[Source | TableSource, Draws, Labels]:
    """Source of the terms of an observed variable, draws of its parameters, and the labels of its elements."""
    model = pm.modelcontext(model)
    name = _observed(model, var_name)
    posterior = _posterior(idata)
    with fused(False):
        plain = remove_value_transforms(model)
        (term,) = plain.logp(vars=[plain.named_vars[name]], sum=False)
    free = {v.name: v for v in plain.value_vars if v.name in {rv.name for rv in plain.free_RVs}}
    if not free:
        raise ValueError("the model has no free variables, and so its posterior no draws")
    if missing := [n for n in free if n not in posterior.data_vars]:
        raise ValueError(f"the posterior has no {missing[0]!r}; the model has {', '.join(free)}")
    values = {n: posterior[n].transpose("chain", "draw", ...).values for n in free}
    lead = posterior.sizes["chain"], posterior.sizes["draw"]
    for n, v in free.items():
        shape = values[n].shape[2:]
        if len(shape) != v.type.ndim or any(k not in (None, s) for k, s in zip(v.type.shape, shape, strict=True)):
            raise ValueError(f"the posterior has {n} of shape {shape}, and the model {v.type.shape}")
    by_draw = {v: values[n].reshape(math.prod(lead), *values[n].shape[2:]) for n, v in free.items()}
    labels = _labels(model, name, term.type.ndim)
    n_rows = math.prod(labels.shape)
    if (found := _by_rows(term, by_draw, n_rows)) is None:
        return TableSource(_table(term, by_draw, n_rows, name)), Draws({}, set(), lead, posterior), labels
    source, arguments, shared = found
    return source, Draws(arguments, shared, lead, posterior), labels


def _observed(model: pm.Model, name: str | None) -> str:
    names = [str(v.name) for v in model.observed_RVs]
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        what = "the model has several observed variables" if name is None else f"var_name is {name!r}"
        raise ValueError(f"{what}: give one of {', '.join(names) or 'none, there is none'} as var_name")
    return name


def _posterior(idata: Any) -> Any:
    group = getattr(idata, "posterior", None)
    found = idata if group is None else getattr(group, "dataset", group)
    if not hasattr(found, "data_vars") or not {"chain", "draw"} <= set(found.dims):
        raise TypeError(f"idata must be an ArviZ tree with a posterior, not {type(idata).__name__}")
    return found


def _labels(model: pm.Model, name: str, n_axes: int) -> Labels:
    """Axes and coordinates of the terms of an observed variable, as PyMC names them in a tree of ArviZ."""
    shape = np.shape(extract_obs_data(model.rvs_to_values[model[name]]))[:n_axes]  # without the axes of a vector
    declared = model.named_vars_to_dims.get(name) or (None,) * len(shape)
    dims = [d or f"{name}_dim_{i}" for i, d in enumerate(declared[: len(shape)])]
    known = model.coords
    coords = {d: np.arange(n) if known.get(d) is None else np.asarray(known[d]) for d, n in zip(dims, shape, strict=True)}
    return Labels(shape, dims, coords)


def _by_rows(
    term: Variable, by_draw: Mapping[Variable, np.ndarray], n_rows: int
) -> tuple[Source, dict[str, Any], set[str]] | None:  # fmt: skip
    """Source of terms by a function of a row, and its arguments for all draws; None where there is no such function."""
    try:
        graph = as_fused(rewrite_pregrad(term))
        program = program_of(graph, shared_data(graph), {v: a.shape[1:] for v, a in by_draw.items()})
    except Unsupported:
        return None
    if program.n_rows != n_rows:
        return None
    inputs = _inputs(program, by_draw)
    if inputs is None:
        return None
    n = next(iter(by_draw.values())).shape[0]
    arguments = {p.name: part_of(inputs[p.input], of_each(p.pick), n) for p in program.parameters}
    rows = program.model(None)
    if isinstance(rows, ChoiceModel):
        return source_of(rows.glm), {**rows.fixed, **arguments}, set(rows.fixed)
    return source_of(rows), arguments, set()


def _inputs(program: Program, by_draw: Mapping[Variable, np.ndarray]) -> list[np.ndarray] | None:
    """Inputs of a program for all draws; None where they are too many numbers, or checks fail."""
    conditions = [c for _, checks in program.checks for c in checks]
    wanted = [v for v in program.inputs if v not in by_draw] + conditions
    found: dict[Variable, np.ndarray] = dict(by_draw)
    if wanted:
        compute = pytensor.function(list(by_draw), wanted, mode=WITHOUT_COMPILER, on_unused_input="ignore")
        n = next(iter(by_draw.values())).shape[0]
        for s in range(n):
            for v, number in zip(wanted, compute(*(a[s] for a in by_draw.values())), strict=True):
                if s == 0:
                    if n * np.size(number) * 8 > MOST_ON_HOST:
                        return None
                    found[v] = np.empty((n, *np.shape(number)), np.asarray(number).dtype)
                found[v][s] = number
    if not all(found[c].all() for c in conditions):
        return None  # PyMC tells what is wrong
    return [found[v] for v in program.inputs]


def _table(term: Variable, by_draw: Mapping[Variable, np.ndarray], n_rows: int, name: str) -> np.ndarray:
    """Terms for all draws, computed by PyTensor, (draws, N)."""
    n = next(iter(by_draw.values())).shape[0]
    if (nbytes := 8 * n * n_rows) > MOST_ON_HOST:
        raise MemoryError(f"{name}: PyTensor computes its terms (gpm.explain says why), and their table takes {nbytes} bytes")
    compute = pm.compile(list(by_draw), term, on_unused_input="ignore")
    table = np.empty((n, n_rows))
    for s in range(n):
        table[s] = np.broadcast_to(np.ravel(compute(*(a[s] for a in by_draw.values()))), n_rows)
    return table
