"""Results in ArviZ's own classes, of either of its generations: 0, one package, and 1, several."""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


@functools.cache
def is_old() -> bool:
    """True for ArviZ 0; ImportError where there is none."""
    try:
        import arviz_stats  # noqa: F401
    except ImportError:
        try:
            import arviz  # noqa: F401
        except ImportError:
            raise ImportError("comparisons give results of ArviZ, which is missing: pip install arviz") from None
        return True
    return False


def effective_draws(posterior: Any) -> float:
    """Mean of the effective numbers of draws of the means of all parameters."""
    if is_old():
        import arviz

        found = arviz.ess(arviz.convert_to_dataset(posterior), method="mean")
    else:
        import arviz_base
        import arviz_stats  # noqa: F401

        data = arviz_base.convert_to_dataset(posterior)
        found = data.azstats.ess(method="mean")
    return float(np.hstack([found[n].values.ravel() for n in found.data_vars]).mean())


def labelled(values: np.ndarray, name: str, dims: Sequence[str], coords: Mapping[str, Any]) -> Any:
    """Numbers of the rows with names of their axes, an xarray.DataArray."""
    import xarray

    return xarray.DataArray(values, coords={d: coords[d] for d in dims if d in coords}, dims=list(dims), name=name)


def elpd_data(
    kind: str, elpd_i: Any, p: float, n_draws: int, warning: bool, pointwise: bool = True, pareto_k: Any = None,
    n_folds: int | None = None,
) -> Any:  # fmt: skip
    """Result as ArviZ has it: ``ELPDData``.

    Parameters
    ----------
    kind : {"loo", "waic", "kfold"}
    elpd_i : DataArray
        Of each row, or group.
    p : float
        Effective number of parameters.
    n_draws : int
    warning : bool
    pointwise : bool
        Whether the numbers of the rows are kept.
    pareto_k : DataArray, optional
    n_folds : int, optional
    """
    values = elpd_i.values
    n = values.size
    elpd = float(values.sum())
    se = math.sqrt(n * np.var(values, ddof=0 if is_old() or n == 1 else 1)) if n else 0.0  # as ArviZ has it
    good_k = good_k_of(n_draws)
    if is_old():
        from arviz.stats.stats_utils import ELPDData

        # ArviZ 0 has no name for K folds, whose number is that of loo by another way.
        name = "waic" if kind == "waic" else "loo"
        found = {f"elpd_{name}": elpd, "se": se, f"p_{name}": p, "n_samples": n_draws, "n_data_points": n, "warning": warning}
        if pointwise:
            found[f"{name}_i"] = elpd_i.rename(f"{name}_i")
            if pareto_k is not None:
                found["pareto_k"] = pareto_k.rename("pareto_shape")
        found["scale"] = "log"
        if kind == "loo":
            found["good_k"] = good_k
        return ELPDData(data=list(found.values()), index=list(found))
    return _of_arviz_1(kind)(
        elpd=elpd, se=se, p=p, n_samples=n_draws, n_data_points=n, scale="log", warning=warning,
        good_k=good_k if kind == "loo" else None, elpd_i=elpd_i.rename("elpd_i") if pointwise else None,
        pareto_k=pareto_k if pointwise else None, **({} if n_folds is None else {"n_folds": n_folds}),
    )  # fmt: skip


@functools.cache
def _of_arviz_1(kind: str) -> Any:
    from arviz_stats import utils

    if kind != "waic":
        return utils.ELPDDataLOO if kind == "loo" else utils.ELPDDataLOOKFold
    return dataclasses.dataclass(kw_only=True, repr=False)(
        type("ELPDDataWAIC", (utils.ELPDData,), {"_kind": "waic", "__doc__": "WAIC, which ArviZ 1 has no class for."})
    )


def good_k_of(n_draws: int) -> float:
    """Pareto k up to which importance sampling of so many draws is good; see Vehtari et al. (2024)."""
    return min(1 - 1 / math.log10(n_draws), 0.7) if n_draws > 1 else 0.7


def warn_of_k(pareto_k: np.ndarray, n_draws: int, what: str) -> bool:
    """Warn of rows, or groups, where importance sampling is not good; whether there are any."""
    good_k = good_k_of(n_draws)
    if not (count := int((pareto_k > good_k).sum())):
        return False
    warnings.warn(
        f"the Pareto k of {count} of {pareto_k.size} {what} is greater than {good_k:.2f}: importance sampling does not hold "
        "there, because the posterior without them is another one. Look at them, use a more robust model, or fit anew without "
        "them (gs.kfold)", UserWarning, stacklevel=4,
    )  # fmt: skip
    return True
