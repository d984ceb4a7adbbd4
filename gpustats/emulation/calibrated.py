"""The posterior density of a computer model's parameters, given field data: with an emulator, a discrepancy and noise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..density import densities
from ..display.html import Shown, table
from ..distribution.frozen import Frozen
from ..processes.covariance import Covariance
from ..processes.observations import Observations, as_points
from ..processes.parameters import SIGMA, Given, on_host
from ..processes.prediction import Prediction
from ..processes.process import Predictor
from ..processes.registry import covariances
from .field import Field, field_of

#: What stands for a computer model: a process that predicts it, or a function that takes points (m, p + q) and returns (m,).
Emulating: TypeAlias = Predictor | Callable[[np.ndarray], ArrayLike]

U, LENGTHSCALE, AMPLITUDE = "u", "lengthscale", "amplitude"


class Calibrated(Shown):
    """Posterior of a computer model's parameters: a `Calibration` without its searches and draws."""

    def __init__(
        self, emulator: Emulating, x: ArrayLike, y: ArrayLike, bounds: ArrayLike, discrepancy: bool | Covariance = True, *,
        priors: Mapping[str, Frozen | None] | None = None, uncertainty: bool = True, student_t: bool = False,
        jitter: float = 0.0, predict: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        cov = {True: covariances["rbf"], False: None}[discrepancy] if isinstance(discrepancy, bool) else discrepancy
        data = Observations(x, y)
        self.x, self.y = data.host_x.astype(np.float64), data.y.astype(np.float64)
        if not data.n:
            raise ValueError("there are no field data")
        self.bounds = np.asarray(bounds, np.float64)
        if self.bounds.ndim != 2 or self.bounds.shape[1:] != (2,) or not (self.bounds[:, 0] < self.bounds[:, 1]).all():
            raise ValueError(f"bounds has shape {self.bounds.shape}: it must be (q, 2), the lower number of each pair first")
        self.emulator, self._options = emulator, dict(predict or {})
        columns = _columns_of(emulator)
        p, q = self.x.shape[1], len(self.bounds)
        if columns is not None and columns != p + q:
            raise ValueError(f"the emulator's points have {columns} columns, and x and u {p} + {q}: they must be as many")
        self.discrepancy, self.uncertainty = cov, uncertainty and not student_t
        self._field: Field = field_of(cov, self.x, self.y, student_t, jitter)
        self.parameters = (U, *(() if cov is None else cov.parameters), SIGMA)
        self._domains = ({} if cov is None else dict(cov.domains)) | {SIGMA: "nonnegative"}
        self._spread = 1.0 if student_t else float(np.std(self.y)) or 1.0
        widths = np.ptp(self.x, axis=0)
        self._widths = np.where(widths > 0, widths, 1.0)
        self._given = dict(priors or {})
        if unknown := [n for n in self._given if n not in self.parameters]:
            raise ValueError(f"there is a prior for {unknown[0]!r}; there are {', '.join(self.parameters)}")
        self._sites, self._site_of = np.unique(self.x, axis=0, return_inverse=True)

    def __repr__(self) -> str:
        kind = "no discrepancy" if self.discrepancy is None else f"discrepancy {self.discrepancy.name}"
        return f"<Calibration of {len(self.bounds)} parameters by {len(self.y)} observations, {kind}>"

    def _facts(self) -> Mapping[str, object]:
        return {
            "emulator": repr(self.emulator), "field data": f"{len(self.y)} observations at x {self.x.shape}",
            "unknown": table([(f"u[{i}]", f"{low:g} to {high:g}") for i, (low, high) in enumerate(self.bounds)]),
            "discrepancy": "none" if self.discrepancy is None else self.discrepancy.name,
            "parameters": ", ".join(self.parameters),
        }  # fmt: skip

    def __call__(self, u: ArrayLike, **values: ArrayLike) -> float | np.ndarray:
        """The log-density of the posterior, up to a constant.

        Parameters
        ----------
        u : (q,) or (S, q) array_like
            One set of the model's parameters, or several.
        **values : float or array_like
            ``sigma`` and the discrepancy's hyperparameters: numbers or vectors, or, for S sets of u, (S, 1) or (S, size).

        Returns
        -------
        float, or (S,) ndarray
            -inf outside the bounds or the domains of parameters, and where a matrix is not positive definite.
        """
        u = np.asarray(on_host(u), np.float64)
        if u.ndim not in (1, 2) or u.shape[-1] != len(self.bounds):
            raise ValueError(f"u has shape {u.shape}: it must be ({len(self.bounds)},) or (S, {len(self.bounds)})")
        self._check(values)
        sets = np.atleast_2d(u)
        rows = {n: np.atleast_2d(np.asarray(v, np.float64)) for n, v in values.items()}
        for name, a in rows.items():
            sizes = (1, self.x.shape[1]) if name == LENGTHSCALE else (1,)
            if a.ndim > 2 or len(a) not in (1, len(sets)) or a.shape[1] not in sizes:
                wanted = " or ".join(f"({len(sets)}, {size})" for size in dict.fromkeys(sizes))
                raise ValueError(f"{name} has shape {np.shape(values[name])}, and u has {len(sets)} sets: it may be {wanted}")
        found = self._log_posterior(sets, {n: np.broadcast_to(a, (len(sets), a.shape[1])) for n, a in rows.items()})
        return found if u.ndim > 1 else float(found[0])

    def emulate(self, u: ArrayLike, xs: Given = None) -> tuple[np.ndarray, np.ndarray]:
        """The emulator's means and scales at points for sets of u.

        Parameters
        ----------
        u : (S, q) array_like
        xs : (m, p) array_like, optional
            By default the field data's.

        Returns
        -------
        mean, scale : (S, m) ndarray
            The scale being the standard deviation; 0 for a callable.
        """
        u = np.asarray(u, np.float64)
        sites = self._sites if xs is None else np.asarray(on_host(as_points(xs, "xs")), np.float64)
        points = np.concatenate([np.tile(sites, (len(u), 1)), np.repeat(u, len(sites), axis=0)], axis=1)
        if hasattr(self.emulator, "predict"):
            found = self.emulator.predict(points, **{"noise": False} | self._options)
            mean, scale = found.mean, np.sqrt(found.variance)
        else:
            mean = np.asarray(self.emulator(points), np.float64)
            if mean.shape != (len(points),):
                raise ValueError(f"the emulator returned shape {mean.shape} for {len(points)} points: it must be (m,)")
            scale = np.zeros(len(points))
        made = (np.asarray(a, np.float64).reshape(len(u), len(sites)) for a in (mean, scale))
        mean, scale = (a[:, self._site_of] if xs is None else a for a in made)
        return mean, scale

    def predict(self, xs: ArrayLike, u: ArrayLike, *, noise: bool | float = False, **values: ArrayLike) -> Prediction:
        """The distribution of reality, model and discrepancy, at new points, given the field data, at certain parameters.

        Parameters
        ----------
        xs : (m, p) or (m,) array_like
        u : (q,) array_like
        noise : bool or float
            Predict observations: True for a standard deviation of the noise of sigma, or one of its own.
        **values
            As for a call, of one set.
        """
        self._check(values)
        u = np.asarray(on_host(u), np.float64)
        if u.shape != (len(self.bounds),):
            raise ValueError(f"u has shape {u.shape}: it must be ({len(self.bounds)},), one set of parameters")
        xs = np.asarray(on_host(as_points(xs, "xs")), np.float64)
        (mean, scale), (new, spread) = self.emulate(u[None]), self.emulate(u[None], xs)
        return self._reality(xs, mean[0], scale[0], new[0], spread[0], noise, values)

    # -- the pieces of a call

    def _reality(
        self, xs: np.ndarray, mean: np.ndarray, scale: np.ndarray, new: np.ndarray, spread: np.ndarray,
        noise: bool | float, values: Mapping[str, ArrayLike],
    ) -> Prediction:  # fmt: skip
        """Prediction of reality at xs, given the emulator's `mean` and `scale` of the field data, `new` and `spread` of xs."""
        sigma = np.asarray(values[SIGMA], float)
        given = {n: v for n, v in values.items() if n != SIGMA}
        found = self._field.predict(
            xs, noise=float(sigma if noise is True else noise), mean_xs=new, sigma=self._total(sigma, scale), mean=mean, **given
        )
        if not self.uncertainty:
            return found
        return Prediction(found.mean, np.hypot(found.scale, spread), None, found.df, noise=found.noise)

    def _check(self, values: Collection[str]) -> None:
        wanted = self.parameters[1:]
        if lacking := [n for n in wanted if n not in values]:
            raise ValueError(f"give {', '.join(lacking)}, too")
        if unknown := [n for n in values if n not in wanted]:
            raise ValueError(f"there is no {unknown[0]!r}; there are {', '.join(self.parameters)}")

    def _total(self, sigma: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The standard deviation of noise and emulation."""
        return np.hypot(sigma, scale if self.uncertainty else np.zeros_like(scale))

    def _priors(self, sizes: Mapping[str, int]) -> dict[str, Frozen]:
        """Prior densities of hyperparameters and sigma, for the number of elements of each."""
        widths = self._widths if sizes.get(LENGTHSCALE) == len(self._widths) else float(self._widths.mean())
        own = {
            AMPLITUDE: densities["half_normal"](self._spread), SIGMA: densities["half_normal"](self._spread),
            LENGTHSCALE: densities["gamma"](2.0, 2 / widths),
        }  # fmt: skip
        return {n: p for n, p in (own | self._given).items() if n in sizes and p is not None}

    def _log_prior_of_u(self, u: np.ndarray) -> np.ndarray:
        inside = ((u >= self.bounds[:, 0]) & (u <= self.bounds[:, 1])).all(1)
        given = self._given.get(U)
        prior = np.zeros(len(u)) if given is None else given.logpdf(u).sum(1)
        return np.where(inside, prior, -np.inf)

    def _log_posterior(
        self, u: np.ndarray, rows: dict[str, np.ndarray], mean: np.ndarray | None = None, scale: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-density of the posterior at S sets, (S,); `mean` and `scale`: the emulator's, where they are known."""
        level = self._log_prior_of_u(u)
        for name, prior in self._priors({n: a.shape[1] for n, a in rows.items()}).items():
            level = level + prior.logpdf(rows[name]).sum(1)
        at = np.flatnonzero(np.isfinite(level))
        found = np.full(len(u), -np.inf)
        if not at.size:
            return found
        if mean is None or scale is None:
            mean, scale = self.emulate(u[at])
        else:
            mean, scale = mean[at], scale[at]
        given = {n: a[at] for n, a in rows.items()}
        logliks = self._field(mean=mean, **given | {SIGMA: self._total(given[SIGMA], scale)})
        found[at] = np.where(np.isnan(logliks), -np.inf, level[at] + logliks)
        return found


def _columns_of(emulator: Emulating) -> int | None:
    """Number of columns of an emulator's points; None for a function."""
    if hasattr(emulator, "columns"):
        return int(emulator.columns)
    if not callable(emulator):
        raise TypeError(f"emulator must be an Emulator, a LocalGP or a function, not {type(emulator).__name__}")
    return None
