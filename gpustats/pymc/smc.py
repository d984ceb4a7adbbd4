"""Kernels for `pymc.sample_smc` that evaluate all particles at once.

>>> import numpy as np, pymc as pm, gpustats.pymc as gpm
>>> y = np.random.default_rng(1).normal(3.0, 2.0, 1000)
>>> with pm.Model() as model:
...     _ = pm.Normal("y", pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5), observed=y)
...     fit = pm.sample_smc(200, kernel=gpm.smc.IMH, chains=1, random_seed=1, progressbar=False)
>>> round(float(fit.posterior["mu"].mean()))
3
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.model import modelcontext
from pymc.smc import kernels
from pytensor.compile.mode import Mode

from .many_points.batched import MIN_ROWS, Batched

__all__ = ["IMH", "MH", "OfAllParticles"]

_UNUSED = Mode("py", "None")  # for functions that are replaced


class OfAllParticles:
    """What makes a kernel of PyMC's, which asks for the log-density of one particle after another, evaluate all at once.

    Parameters
    ----------
    *args, **kwargs
        Those of the kernel.
    min_rows : int
        Sums over fewer rows are left to PyTensor: see `gpustats.pymc.batched`.
    compile_kwargs : dict, optional
        For `pytensor.function`.
    """

    def __init__(
        self, *args: Any, model: Any = None, min_rows: int = MIN_ROWS, compile_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ):  # fmt: skip
        model = modelcontext(model)
        super().__init__(*args, model=model, compile_kwargs={"mode": _UNUSED}, **kwargs)  # type: ignore[call-arg]
        many, given = Batched(model, min_rows=min_rows), compile_kwargs or {}
        self.prior_logp_func = _ByParticle(many.compiled(model.varlogp, gradient=False, **given))
        self.likelihood_logp_func = _ByParticle(many.compiled(model.datalogp, gradient=False, **given))

    def set_rng(self, rng: np.random.Generator) -> None:
        """Take random numbers from a generator. (Random draws within a log-density, as of minibatches, keep theirs.)"""
        self.rng = rng


class IMH(OfAllParticles, kernels.IMH):
    """Independent Metropolis–Hastings, PyMC's default, with all particles evaluated at once."""


class MH(OfAllParticles, kernels.MH):
    """Random-walk Metropolis–Hastings with all particles evaluated at once."""


class _ByParticle:
    """A log-density of one particle, which is known for all rows of an array once it was asked for of one of them.

    Parameters
    ----------
    function : callable
        From particles (C, d) to log-densities (C,).
    """

    def __init__(self, function: Any):
        self._function = function
        self._particles, self._values, self._next = np.empty((0, 0)), np.empty(0), 0

    def __call__(self, particle: np.ndarray) -> np.ndarray:
        if not self._is_next(particle):
            self._evaluate(_rows_with(particle))
        if not self._is_next(particle):  # it is not the first of them
            self._evaluate(particle[None])
        self._next += 1
        return self._values[self._next - 1]

    def _evaluate(self, particles: np.ndarray) -> None:
        self._particles, self._next = np.array(particles, np.float64), 0
        (self._values,) = self._function(self._particles)

    def _is_next(self, particle: np.ndarray) -> bool:
        return self._next < len(self._particles) and np.array_equal(self._particles[self._next], particle)

    def copy(self, **kwargs: Any) -> _ByParticle:
        return _ByParticle(self._function.copy())


def _rows_with(particle: np.ndarray) -> np.ndarray:
    """The array of which a particle is a row, if it is one."""
    whole = particle.base
    if isinstance(whole, np.ndarray) and particle.size and not whole.size % particle.size:
        return whole.reshape(-1, particle.size)
    return particle[None]
