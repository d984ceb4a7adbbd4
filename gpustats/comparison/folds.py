"""K-fold cross-validation: rows or groups dealt to folds, and the density of each fold under fits of a user's own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..display.bars import bar
from ..frames.columns import labels_of_rows
from ..parallel.divide import sizes_of
from ..parallel.pieces import Options
from .draws import GivenDraws, read_draws
from .elpd import elpd_data, labelled
from .loo import by_row
from .smoothing import waic
from .sources import Model, source_of

#: Fit without some rows: takes the rows to fit to and those left out, and gives a model of the latter with draws of the fit.
Refit = Callable[[np.ndarray, np.ndarray], tuple[Model, GivenDraws]]


def folds(n: int, k: int, *, groups: ArrayLike | None = None, rng: np.random.Generator | int | None = None) -> np.ndarray:
    """Fold of each row, at random: as many rows in each as can be, or whole groups.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int
        Number of folds.
    groups : (n,) array_like, optional
        Group of each row; the rows of a group share a fold.
    rng : numpy.random.Generator or int, optional

    Returns
    -------
    (n,) int ndarray
        From 0 to k - 1.

    Raises
    ------
    ValueError
        Where there are fewer rows, or groups, than folds, or fewer than two folds.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> np.bincount(gs.folds(10, 3, rng=1))
    array([4, 3, 3])
    """
    n, k = operator.index(n), operator.index(k)
    generator = np.random.default_rng(rng)
    numbers = np.arange(n)
    if groups is not None:
        numbers = labels_of_rows(groups, "groups", n).codes
    sizes = np.bincount(numbers)
    if not 2 <= k <= sizes.size:
        raise ValueError(f"k is {k}: it must be from 2 to {sizes.size}, the number of {'rows' if groups is None else 'groups'}")
    dealt = generator.permutation(sizes.size)
    of_group = np.empty(sizes.size, int)
    if groups is None:
        of_group[dealt] = np.arange(n) % k
        return of_group
    rows = np.zeros(k, int)  # of each fold
    for group in dealt[np.argsort(-sizes[dealt], kind="stable")]:  # the largest first, each to the smallest fold
        of_group[group] = rows.argmin()
        rows[of_group[group]] += sizes[group]
    found: np.ndarray = of_group[numbers]
    return found


def kfold(
    refit: Refit, fold: ArrayLike, *, whole: tuple[Model, GivenDraws] | None = None, pointwise: bool = True,
    memory: int | None = None, chunk: int | None = None, progress: bool = False,
) -> Any:  # fmt: skip
    """K-fold cross-validation: log density of each row under the fit without its fold.

    Parameters
    ----------
    refit : callable
        Takes the rows to fit to, and those that are left out, (…,) int ndarrays; gives a model of the latter and draws of the
        posterior, as `loo` takes them.
    fold : (N,) array_like of int
        Fold of each row, as `folds` deals them.
    whole : tuple of model and draws, optional
        Model of all rows and draws of the fit to all, for the effective number of parameters, which is nan without.
    pointwise, memory, chunk
        As for `loo`.
    progress : bool
        Whether a bar shows the folds.

    Returns
    -------
    arviz.ELPDData
        ArviZ 0, which has no name for it, calls it ``elpd_loo``: it is an estimate of the same number.

    Raises
    ------
    ValueError
        Where a model that `refit` gives has another number of rows than were left out, and as `loo`.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=100)
    >>> def refit(kept, left_out):
    ...     mu = y[kept].mean() + rng.normal(size=1000) / np.sqrt(len(kept))
    ...     return gs.Likelihood(gs.normal, y[left_out]), {"mu": mu, "sigma": 1.0}
    >>> gs.kfold(refit, gs.folds(100, 5, rng=1)).n_data_points
    100
    """
    given = np.asarray(fold)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(f"fold has shape {given.shape} and dtype {given.dtype}: it must be whole numbers, one for each row")
    numbers = np.unique(given)
    if numbers.size < 2:
        raise ValueError(f"fold has {numbers.size} folds, and two are the least number")
    elpd, n_draws, sizes = np.empty(given.size), 0, sizes_of(memory, chunk)
    with bar(numbers.size, progress, "folds") as advance:
        for number in numbers:
            kept, left_out = np.flatnonzero(given != number), np.flatnonzero(given == number)
            made = refit(kept, left_out)
            if not (isinstance(made, tuple) and len(made) == 2):
                raise TypeError(f"refit, fold {number}: it must give a model and draws, not {type(made).__name__}")
            elpd[left_out], n_draws = _log_density(*made, f"refit, fold {number}", left_out.size, sizes)
            advance(1)
    p = np.nan
    if whole is not None:
        p = float(_log_density(*whole, "whole", given.size, sizes)[0].sum() - elpd.sum())
    return elpd_data(
        "kfold", labelled(elpd, "elpd_i", ["obs"], {}), p, n_draws, False, pointwise, n_folds=int(numbers.size)
    )


def _log_density(
    model: Model, draws: GivenDraws, what: str, n_rows: int, sizes: Options
) -> tuple[np.ndarray, int]:
    """Log of the mean density of each row, and the number of draws."""
    source = source_of(model)
    if source.n_rows != n_rows:
        raise ValueError(f"{what}: the model has {source.n_rows} rows, and {n_rows} are wanted")
    known = read_draws(draws, source.names, least=1)
    return by_row(source, known, waic, 3, sizes)[:, 0], known.n
