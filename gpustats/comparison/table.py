"""Tables of pointwise log-likelihoods, for those who want them: in memory or in files, written in pieces of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..parallel.divide import sizes_of
from ..parallel.pieces import Options
from .draws import Draws, GivenDraws, read_draws
from .sources import Model, Source, TableSource, source_of


def log_likelihood(
    model: Model, draws: GivenDraws, *, out: Any = None, dtype: DTypeLike = np.float64, memory: int | None = None,
    chunk: int | None = None,
) -> Any:  # fmt: skip
    """Table of the log-likelihoods of all rows for all draws, computed on the device in pieces of rows.

    Parameters
    ----------
    model, draws, memory, chunk
        As for `loo`, which needs no table.
    out : array, optional
        What the table is written to by slices of its last axis: an array of Zarr, of HDF5, or a memory map.
    dtype : dtype, optional
        Of the table, where there is no `out`; float32 takes half the memory.

    Returns
    -------
    (chain, draw, N) or (draw, N) array
        `out`, or a new ndarray. A log-likelihood that is not finite stands in it as it is.

    Raises
    ------
    ValueError
        Where names or shapes of draws do not fit the model, or the shape of `out` is another one.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> likelihood = gs.Likelihood(gs.normal, np.array([-1.0, 0.0, 2.0]))
    >>> gs.log_likelihood(likelihood, {"mu": np.array([0.0, 1.0]), "sigma": 1.0}, dtype="float32").shape
    (2, 3)
    """
    source = source_of(model)
    return written(source, read_draws(draws, source.names, least=1), sizes_of(memory, chunk), out, dtype)


def written(
    source: Source | TableSource, draws: Draws, sizes: Options, out: Any = None, dtype: DTypeLike = np.float64
) -> Any:
    """Table of a source's terms: see `log_likelihood`."""
    wanted = (*draws.lead, source.n_rows)
    table = np.empty(wanted, dtype) if out is None else out
    if tuple(table.shape) != wanted:
        raise ValueError(f"out has shape {tuple(table.shape)}, and the table {wanted}")
    for rows, terms, order in source.pieces(draws, sizes):
        host = terms.runtime.downloaded(terms.handle, (terms.n_rows, terms.n_draws), terms.dtype)
        if order is not None:
            moved, host = host, np.empty_like(host)
            host[order] = moved
        table[..., int(rows[0]) : int(rows[-1]) + 1] = host.T.reshape(*draws.lead, -1)
    return table
