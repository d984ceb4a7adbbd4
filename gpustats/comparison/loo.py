"""Leave-one-out cross-validation and WAIC of models whose terms are computed in pieces, never stored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..frames.columns import labels_of_rows
from ..parallel.divide import sizes_of
from ..parallel.pieces import Options
from . import smoothing
from .draws import Draws, GivenDraws, read_draws
from .elpd import elpd_data, is_old, labelled, warn_of_k
from .smoothing import GroupSums, Tail, Terms, psis
from .sources import Model, Source, TableSource, source_of

MOST_VARIANCE = 0.4  # of a row's log density, for WAIC


class Labels(NamedTuple):
    """Names of the axes of the rows in a result, and their coordinates."""

    shape: tuple[int, ...]
    dims: Sequence[str]
    coords: Mapping[str, Any]


def loo(
    model: Model, draws: GivenDraws, *, groups: ArrayLike | None = None, r_eff: float | None = None, pointwise: bool = True,
    memory: int | None = None, chunk: int | None = None,
) -> Any:  # fmt: skip
    """Leave-one-out cross-validation by Pareto-smoothed importance sampling, without a table of log-likelihoods.

    Parameters
    ----------
    model : Rows, GLM, Likelihood or Mixture
        N rows. Where several devices share them, each takes its own, unless `groups` are left out.
    draws : dict or ArviZ tree
        Draws of the posterior: name of each parameter -> array, (chain, draw, …) or (draw, …), with the parameter's own axes
        behind; a value without these axes is that of all draws. Or what ArviZ has with a group ``posterior``, such as what
        PyMC's samplers give; then variables that are none of the parameters are not read.
    groups : (N,) array_like, optional
        Group of each row: instead of a row, all rows of a group are left out together. Their terms are summed for each draw, in
        float64.
    r_eff : float, optional
        Relative efficiency, effective draws per draw; by default as in ArviZ: the mean over all parameters, 1 for one chain.
    pointwise : bool, optional
        Whether the result has the numbers of each row.
    memory : int, optional
        Bytes that the terms of a piece of rows take on the device, at most.
    chunk : int, optional
        Rows of a piece, instead.

    Returns
    -------
    arviz.ELPDData
        As ``arviz.loo`` gives it: the expected log pointwise predictive density, its standard error, the effective number of
        parameters, and for each row (or group, with its name as coordinate) its part and its Pareto k. ``arviz.compare`` and
        ``arviz.plot_khat`` take it. An array of (N,) and one of Pareto k are all that is kept.

    Raises
    ------
    ValueError
        Where names or shapes of draws do not fit the model, where there are fewer than two draws, and where a log-likelihood is
        nan or infinite, with its row and draw.

    Warns
    -----
    UserWarning
        Where Pareto k is greater than ``good_k``.

    Notes
    -----
    With the draws' terms of a row, v, the weight of a draw is exp(-v). To the largest a generalised Pareto distribution is
    fitted (Zhang & Stephens 2009, with a weak prior), whose quantiles take their places (Vehtari et al. 2024). The number of
    these follows the ArviZ that is installed: min(S / 5, 3 sqrt(S / r_eff)), rounded up by ArviZ 0 and down by ArviZ 1. Where
    at most four weights are larger than the others, nothing is smoothed, and k is infinite. Arithmetic is in float64, of terms
    in the type of the model.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC.
    Statistics and Computing 27, 1413-1432. Vehtari, Simpson, Gelman, Yao & Gabry (2024), Pareto smoothed importance sampling.
    Journal of Machine Learning Research 25(72).

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=100)
    >>> posterior = {"mu": y.mean() + rng.normal(size=(4, 500)) / 10, "sigma": np.exp(rng.normal(size=(4, 500)) / 14)}
    >>> found = gs.loo(gs.Likelihood(gs.normal, y), posterior, r_eff=1.0)
    >>> found.n_data_points, bool(found.warning)
    (100, False)
    """
    source = source_of(model)
    known = read_draws(draws, source.names)
    return loo_of(source, known, sizes_of(memory, chunk), groups, r_eff, pointwise)


def loo_of(
    source: Source | TableSource, draws: Draws, sizes: Options, groups: ArrayLike | None, r_eff: float | None, pointwise: bool,
    labels: Labels | None = None,
) -> Any:  # fmt: skip
    """Leave-one-out cross-validation of a source of terms: see `loo`; `labels` are those of its rows."""
    efficiency = draws.r_eff() if r_eff is None else float(r_eff)
    if not 0 < efficiency < np.inf:
        cure = ", for some of them are alike: give one, as r_eff=1.0"
        what = f"r_eff must be a positive number, not {r_eff}"
        raise ValueError(what if r_eff is not None else f"the relative efficiency of the draws is {efficiency}{cure}")
    tail = Tail.of(draws.n, efficiency, strict=is_old())
    if groups is None:
        found = by_row(source, draws, lambda terms: psis(terms, tail), 4, sizes)
        labels, what = labels or Labels((source.n_rows,), ["obs"], {}), "rows"
    else:
        found, names = _by_group(source, draws, groups, tail, sizes)
        labels, what = Labels((len(names),), ["group"], {"group": names}), "groups"
    elpd, k, lppd = (found[:, i].reshape(labels.shape) for i in range(3))
    return elpd_data(
        "loo", labelled(elpd, "elpd_i", *labels[1:]), float(lppd.sum() - elpd.sum()), draws.n, warn_of_k(k, draws.n, what),
        pointwise, labelled(k, "pareto_k", *labels[1:]),
    )  # fmt: skip


def waic(
    model: Model, draws: GivenDraws, *, pointwise: bool = True, memory: int | None = None, chunk: int | None = None
) -> Any:  # fmt: skip
    """Widely applicable information criterion, without a table of log-likelihoods.

    Parameters
    ----------
    model, draws, pointwise, memory, chunk
        As for `loo`.

    Returns
    -------
    arviz.ELPDData
        As ArviZ 0 gives it; ArviZ 1 has the class without a name for it.

    Raises
    ------
    ValueError
        As `loo`.

    Warns
    -----
    UserWarning
        Where the variance of a row's log density is greater than 0.4.

    References
    ----------
    Watanabe (2010), Asymptotic equivalence of Bayes cross validation and widely applicable information criterion in singular
    learning theory. Journal of Machine Learning Research 11, 3571-3594.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=100)
    >>> posterior = {"mu": y.mean() + rng.normal(size=(4, 500)) / 10, "sigma": np.exp(rng.normal(size=(4, 500)) / 14)}
    >>> gs.waic(gs.Likelihood(gs.normal, y), posterior).n_samples
    2000
    """
    source = source_of(model)
    known = read_draws(draws, source.names)
    return waic_of(source, known, sizes_of(memory, chunk), pointwise)


def waic_of(
    source: Source | TableSource, draws: Draws, sizes: Options, pointwise: bool, labels: Labels | None = None
) -> Any:
    """WAIC of a source of terms: see `waic`; `labels` are those of its rows."""
    labels = labels or Labels((source.n_rows,), ["obs"], {})
    found = by_row(source, draws, smoothing.waic, 3, sizes).reshape(*labels.shape, 3)
    variance = found[..., 1]
    if warning := bool((variance > MOST_VARIANCE).any()):
        warnings.warn(
            f"the variance of the log density of {int((variance > MOST_VARIANCE).sum())} rows is greater than {MOST_VARIANCE}: "
            "WAIC may be wrong, and gs.loo says for which rows", UserWarning, stacklevel=3,
        )  # fmt: skip
    elpd_i = labelled(found[..., 0] - variance, "elpd_i", *labels[1:])
    return elpd_data("waic", elpd_i, float(variance.sum()), draws.n, warning, pointwise)


def by_row(
    source: Source | TableSource, draws: Draws, numbers_of: Callable[[Terms], np.ndarray], count: int, sizes: Options
) -> np.ndarray:
    """Numbers of each row, (N, count), the last of which is the first draw whose term is not finite."""
    found = np.empty((source.n_rows, count))

    def write(own: Source | TableSource, its_draws: Draws, first: int) -> None:
        for rows, terms, order in own.pieces(its_draws, sizes):
            numbers, rows = numbers_of(terms), first + rows
            del terms
            found[rows if order is None else rows[order]] = numbers
            refuse_strange(found[rows, -1], draws, lambda i: f"row {rows[i]}")  # noqa: B023

    source.each(draws, write)
    return found


def _by_group(
    source: Source | TableSource, draws: Draws, groups: ArrayLike, tail: Tail, sizes: Options
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of each group, and the names of the groups."""
    given = labels_of_rows(groups, "groups", source.n_rows)
    names, numbers = given.labels, given.codes
    order = np.argsort(numbers, kind="stable")
    in_order = None if np.array_equal(order, np.arange(order.size)) else order
    sums, first, parts = GroupSums(source.runtime, numbers[order]), 0, [np.empty((0, 4))]
    for rows, terms, order_of in source.pieces(draws, sizes, in_order):
        ended = sums.ended(terms, first, order_of)
        first += len(rows)
        del terms
        if ended is not None:
            done = sum(map(len, parts))
            parts.append(psis(ended, tail))
            refuse_strange(parts[-1][:, -1], draws, lambda i: f"the rows of group {names.tolist()[done + i]!r}")  # noqa: B023
    return np.concatenate(parts), names


def refuse_strange(first: np.ndarray, draws: Draws, named: Callable[[int], str]) -> None:
    """ValueError if a term is not finite: `first` has the first such draw of each row, else the number of draws."""
    if (strange := np.flatnonzero(first < draws.n)).size:
        where, draw = named(int(strange[0])), draws.named(int(first[strange[0]]))
        others = f"; so {'are' if strange.size > 2 else 'is'} {strange.size - 1} more in this piece" if strange.size > 1 else ""
        raise ValueError(f"the log-likelihood of {where} is nan or infinite at {draw}{others}: leave such rows or draws out")
