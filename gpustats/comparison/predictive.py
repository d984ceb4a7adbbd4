"""Posterior predictive checks: test quantities of replicated data, which are drawn in pieces and never stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..draws.generator import as_generator
from ..glm import GLM
from ..likelihood import Likelihood
from ..parallel.divide import sizes_of
from ..rows.model import Rows
from ..runtime import arrays
from ..runtime.transfers import to_host
from ..runtime.types import Array
from .draws import GivenDraws, read_draws
from .replicated import UsersSampler, replicas_of
from .sources import source_of

#: Test quantity: from data sets (draws, N) or (draws, N, d) to a number of each, (draws,).
Quantity: TypeAlias = Callable[[Any], Any]
BYTES_OF_PIECE = 256 << 20


@dataclass(frozen=True)
class PredictiveCheck:
    """Test quantities of the data and of replicated data.

    Attributes
    ----------
    observed : dict
        Name of each quantity -> that of the data.
    replicated : dict
        Name -> those of the data sets drawn, (draws,).
    """

    observed: dict[str, float]
    replicated: dict[str, np.ndarray]

    @property
    def p_values(self) -> dict[str, float]:
        """Posterior predictive p-values: part of the draws whose quantity is at least that of the data."""
        return {n: float(np.mean(found >= self.observed[n])) for n, found in self.replicated.items()}

    def __repr__(self) -> str:
        n_draws = len(next(iter(self.replicated.values())))
        listed = ", ".join(f"{n} {self.observed[n]:.6g} (p = {p:.3g})" for n, p in self.p_values.items())
        return f"<predictive check by {n_draws} draws: {listed}>"


def predictive_check(
    model: Likelihood | GLM | Rows, draws: GivenDraws, quantities: Mapping[str, Quantity], *, rng: Any = None,
    on_device: bool = False, memory: int | None = None, sampler: UsersSampler | None = None,
) -> PredictiveCheck:  # fmt: skip
    """Posterior predictive check: for each draw of the posterior a data set is drawn, and reduced to test quantities.

    Parameters
    ----------
    model : Likelihood, GLM or Rows
        N observations, whose density has a sampler. The function of a row is a density, too, as of ``gs.Rows(gs.normal, …)``,
        and its first argument the data; weights do not count.
    draws : dict or ArviZ tree
        As for `loo`.
    quantities : mapping
        Name -> function of data sets, (draws, N), an ndarray, that gives a number of each, (draws,). Observations that are
        vectors have a last axis.
    rng : int, gpustats.Generator, numpy.random.Generator or None
        As for `Density.rvs`. The draws do not depend on the pieces.
    on_device : bool, optional
        Whether the functions get device arrays, as `to_device` gives them and CuPy or PyTorch take them; they may give some.
        Then data sets do not come to the host.
    memory : int, optional
        Bytes of the data sets that are there at a time, at most; by default 256 MiB.
    sampler : callable, optional
        For a Rows of any function, whose first argument is the data: function of a dict of parameters by name, (draws, …) each
        but for those that all draws share, and of a generator, which `Density.rvs` takes as ``rng``. It gives data sets,
        (draws, N).

    Returns
    -------
    PredictiveCheck

    Raises
    ------
    TypeError
        For models without a sampler.
    ValueError
        Where a quantity has not one number for each data set, with its name, and as `loo`.

    References
    ----------
    Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies. Statistica Sinica
    6, 733-807.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> y = rng.standard_t(2, size=1000)
    >>> draws = {"mu": y.mean() + y.std() * rng.normal(size=500) / 30, "sigma": y.std()}
    >>> check = gs.predictive_check(gs.Likelihood(gs.normal, y), draws, {"max": lambda y: y.max(1)}, rng=1)
    >>> check.p_values["max"] < 0.01
    True
    """
    replicas = replicas_of(model, sampler)
    if not isinstance(quantities, Mapping):
        raise TypeError(f"quantities must be a dict of functions by their names, not {type(quantities).__name__}")
    if not quantities:
        raise ValueError("quantities is empty: give a function for each test quantity, by its name")
    sizes_of(memory, None)
    source = source_of(model)
    known = read_draws(draws, source.names, least=1)
    given = source.arguments(known)
    source.row_axes(given)
    observed, runtime = replicas.observed, source.runtime if on_device else None
    generator = as_generator(rng)
    size = max((memory or BYTES_OF_PIECE) // max(8 * observed.size * replicas.n_arrays, 1), 1)
    data_set = observed[None] if runtime is None else runtime.to_device(observed[None])
    parts: dict[str, list[np.ndarray]] = {name: [] for name in quantities}
    for first in range(0, known.n, size):
        end = min(first + size, known.n)
        own = {n: v if n in known.shared else v[first:end] for n, v in given.items()}
        replicated = replicas.drawn(own, end - first, generator, runtime)
        for name, quantity in quantities.items():
            parts[name].append(_numbers(name, quantity, replicated))
        del replicated
    return PredictiveCheck(
        {n: float(_numbers(n, quantity, data_set)[0]) for n, quantity in quantities.items()},
        {n: np.concatenate(found) for n, found in parts.items()},
    )


def _numbers(name: str, quantity: Quantity, data: Array) -> np.ndarray:
    made = quantity(data)
    found = np.asarray(to_host(made) if arrays.is_device_array(made) else made, float)
    if found.shape != (n := data.shape[0],):
        given = f"{name} gives shape {found.shape} for data of shape {tuple(data.shape)}"
        raise ValueError(f"quantities: {given}, and must give one number for each data set, ({n},)")
    return found
