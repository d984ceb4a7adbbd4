"""Marginal likelihoods for samplers: many sets at once, and evaluation by compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..evaluation.repeated import SumReplay
from .marginal import MarginalLikelihood
from .parameters import MEAN, SIGMA, Y
from .sets import pays
from .vecchia import Vecchia


def of_sets(
    likelihood: MarginalLikelihood | Vecchia, rows: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str],
    several: bool = True,
) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:  # fmt: skip
    """Log-likelihoods at sets of parameters and of observations, and their derivatives, at once.

    The results are nan where parameters are invalid; None is returned where each set takes a call of its own.

    Parameters
    ----------
    likelihood : MarginalLikelihood or Vecchia
        A `MarginalLikelihood` gives its points, and not its observations; a `Vecchia` both.
    rows : mapping
        Argument, for the former y among them -> array with a row for each set, or one for all.
    n_sets : int
    wrt : sequence of str
        Names of arguments; not the points.
    several : bool
        Whether the call is for several sets, however many these are.
    """
    if isinstance(likelihood, Vecchia):
        return likelihood._of_sets(rows, n_sets, wrt)
    sets = likelihood._sets
    together = sets.together() if several else sets if pays(likelihood.device, likelihood.n, several=False) else None
    return together(rows, n_sets, wrt) if together is not None and n_sets and _fits(likelihood, rows) else None


def replay_of(likelihood: MarginalLikelihood, rows: Mapping[str, np.ndarray], wrt: Sequence[str]) -> SumReplay | None:
    """Replay of a marginal likelihood and its derivatives in compiled code; None where only Python can evaluate them.

    Parameters
    ----------
    likelihood, wrt
        As for `of_sets`.
    rows : mapping
        Arguments as for `of_sets`, of one set.
    """
    if not pays(likelihood.device, likelihood.n, several=False) or not _fits(likelihood, rows):
        return None
    return likelihood._sets.replay(rows, wrt)


def _fits(likelihood: MarginalLikelihood, rows: Mapping[str, np.ndarray]) -> bool:
    """True if all arguments are numbers or vectors of the right lengths."""
    n = likelihood.n
    lengths = {SIGMA: n, MEAN: n} | {i.lengthscale: likelihood.columns for i in likelihood.cov.inputs}
    return rows[Y].shape[1] == n and all(a.shape[1] in (1, lengths.get(name, 1)) for name, a in rows.items() if name != Y)
