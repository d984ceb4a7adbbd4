"""Calibration of computer models by field data, with a discrepancy between the model and reality (Kennedy & O'Hagan)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..display.bars import bar
from ..display.html import Record
from ..names.keywords import advising
from ..processes.fitting import Seed, Values, maximise
from ..processes.observations import as_points
from ..processes.parameters import SIGMA, on_host
from ..runtime.types import Array
from .calibrated import AMPLITUDE, LENGTHSCALE, Calibrated
from .ensemble import walk
from .field import Field

#: Bounds of the search for amplitude and sigma in spreads of the data, and for lengthscales in widths of columns.
SEARCH_FACTORS = (1e-5, 1e3)


@dataclass(frozen=True, repr=False)
class CalibrationFit(Record):
    """The parameters of largest posterior density.

    Attributes
    ----------
    u : (q,) ndarray
        Parameters of the computer model.
    values : dict
        Hyperparameters of the discrepancy, and sigma.
    log_posterior : float
        At these, up to a constant.
    evaluations : int
        For how many u the computer model was emulated.
    """

    u: np.ndarray
    values: dict[str, Any]
    log_posterior: float
    evaluations: int


@dataclass(frozen=True, repr=False)
class CalibrationDraws(Record):
    """Draws from the posterior, by an ensemble of walkers.

    Attributes
    ----------
    u : (walkers, draws, q) ndarray
    values : dict
        Name -> (walkers, draws), or with an axis more for a vector; what is fixed stands there, too.
    log_posterior : (walkers, draws) ndarray
        Up to a constant.
    acceptance : float
        The part of the steps that were taken.
    """

    u: np.ndarray
    values: dict[str, np.ndarray]
    log_posterior: np.ndarray
    acceptance: float


class Calibration(Calibrated):
    """Calibration of a computer model: parameters u that agree with field data, if the model and reality may differ.

    An observation at x is M(x, u) + b(x) + noise: the model M at one unknown u, known by an emulator; the discrepancy b, a
    Gaussian process with the mean 0; and independent normal noise of the standard deviation sigma. The emulator is fitted to
    the runs of the model alone, before, so that the field data do not change it.

    Parameters
    ----------
    emulator : Emulator, LocalGP or callable
        Emulator of the model: its points have the columns of x, then those of u. A callable takes points (m, p + q) and
        returns the model's values there, (m,), for models that need no emulator.
    x : (n, p) or (n,) array_like
        Points of the observations; a point may stand there several times.
    y : (n,) array_like
        Observations at x.
    bounds : (q, 2) array_like
        Lowest and highest value of each of u.
    discrepancy : bool or Covariance
        The covariance function of b; True for ``gs.rbf``, False where there is no discrepancy.
    priors : mapping, optional
        Name -> density of ``"u"``, ``"sigma"`` or a hyperparameter, such as ``gs.beta(2.0, 2.0)``, or None for a flat one; of
        vectors, that of each element, whose own parameters may be vectors. By default that of u is uniform between the bounds.
        Priors of sigma and an amplitude are half-normal with the standard deviation of y, that of a lengthscale is a gamma
        density of shape 2 whose mean is the width of its column of x; others are flat.
    uncertainty : bool
        Whether the emulator's variance adds to that of the noise. The variances count, not the covariances.
    student_t : bool
        Integrate out a factor of the covariances of discrepancy and noise, as `MarginalLikelihood` does: sigma and the
        amplitude, which is to be fixed, are relative then, and the emulator's uncertainty cannot be counted.
    jitter : float
        As of `MarginalLikelihood`.
    predict : mapping, optional
        Further arguments of the emulator's `predict`, such as ``dict(end=30, method="nn")``.

    Notes
    -----
    Kennedy & O'Hagan (2001), Bayesian calibration of computer models, JRSS B 63:425-464, in the modular form of Gramacy,
    Bingham, Holloway, Grosskopf, Kuranz, Rutter, Trantham & Drake (2015), Calibrating a large computer experiment simulating
    radiative shock hydrodynamics, Annals of Applied Statistics 9:1141-1168. `fcalib` and `discrep.est` of the R package laGP
    are this with ``student_t=True, discrepancy=gs.rbf.fix(amplitude=1.0)``, lengthscale² = d / 2 and sigma² = g.

    A discrepancy can imitate much of what u does: what is found depends on its priors. Emulators are asked for all sets of u
    of a call at once, and for each point of x once.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> rng = np.random.default_rng(1)
    >>> runs = rng.uniform(size=(200, 2))  # x and u
    >>> ml = gs.gp.MarginalLikelihood(gs.rbf, runs, np.sin(6 * runs[:, 0] * runs[:, 1]))
    >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.3, sigma=1e-3)
    >>> x = np.linspace(0.0, 1.0, 30)
    >>> y = np.sin(6 * x * 0.7) + 0.1 * x + 0.02 * rng.normal(size=30)
    >>> calibration = gs.gp.Calibration(emulator, x, y, [(0, 1)])
    >>> fit = calibration.fit(rng=1)
    >>> bool(abs(fit.u[0] - 0.7) < 0.05)
    True
    >>> draws = calibration.sample(10, tune=10, walkers=20, start=fit, rng=1)
    >>> draws.u.shape
    (20, 10, 1)
    """

    @advising
    def fit(
        self, *, start: Mapping[str, float | np.ndarray] | None = None, fixed: Collection[str] = (), candidates: int = 100,
        searches: int = 2, tolerance: float = 1e-3, rng: Seed = None, progress: bool = False,
    ) -> CalibrationFit:  # fmt: skip
        """Search for the parameters of largest posterior density.

        Parameters
        ----------
        start : mapping, optional
            Name -> value of hyperparameters and sigma, where their search begins. A lengthscale has a number for each column of
            x by default; one number is one for all of them.
        fixed : collection of str
            Names of parameters that are not varied.
        candidates : int
            Number of u of a Latin hypercube that are compared first, in one call.
        searches : int
            Number of the best u from which a search begins, by the method of Nelder and Mead. For each u that it comes to, the
            hyperparameters of largest density are found by their derivatives.
        tolerance : float
            Tolerance of u, relative to the bounds' distances, and of the logarithm of the density.
        rng : optional
            As for `numpy.random.default_rng`.
        progress : bool
            Whether a bar counts the u that the searches have come to, with the largest log-density so far.
        """
        from scipy.optimize import minimize
        from scipy.stats import qmc

        rng, first = np.random.default_rng(rng), self._start(start)
        fixed = {fixed} if isinstance(fixed, str) else set(fixed)
        low, width = self.bounds[:, 0], np.ptp(self.bounds, axis=1)
        tried = low + width * qmc.LatinHypercube(len(low), rng=rng).random(candidates)
        mean, scale = self.emulate(tried)
        starts, levels = [], []
        for smaller in ((), (SIGMA,), (LENGTHSCALE,), (SIGMA, LENGTHSCALE)):  # for no u should look bad by its hyperparameters
            starts.append({n: 0.2 * v if n in smaller and n not in fixed else v for n, v in first.items()})
            rows = {n: np.tile(np.ravel(v), (candidates, 1)) for n, v in starts[-1].items()}
            levels.append(self._log_posterior(tried, rows, mean, scale))
        level, begin = np.max(levels, axis=0), np.argmax(levels, axis=0)
        best: tuple[float, np.ndarray, Values] | None = None
        values, count = first, candidates

        def lost(unit: np.ndarray) -> float:
            nonlocal best, count, values
            u, count = low + width * unit, count + 1
            found, reached = self._profile(u, values, fixed)
            if reached > (best[0] if best else -np.inf):
                best, values = (reached, u, found), found
            advance(1, f"log-density {best[0]:.6g}" if best else "")
            return -reached

        size = len(low)
        with bar(None, progress, "u searched") as advance:
            for i in np.argsort(-level)[:searches]:
                values, unit = starts[begin[i]], (tried[i] - low) / width
                corners = np.vstack([unit, unit + np.eye(size) * np.where(unit > 0.5, -0.1, 0.1)])
                options = {"initial_simplex": corners, "xatol": tolerance, "fatol": tolerance, "maxfev": 100 * size}
                minimize(lost, unit, method="Nelder-Mead", bounds=[(0, 1)] * size, options=options)
        if best is None:
            raise ValueError("the posterior density is 0 at all u that were tried")
        return CalibrationFit(best[1], best[2], best[0], count)

    def sample(
        self, draws: int = 1000, *, tune: int = 500, walkers: int = 64, start: CalibrationFit | None = None,
        fixed: Collection[str] = (), rng: Seed = None, progress: bool = False,
    ) -> CalibrationDraws:  # fmt: skip
        """Draw from the posterior of u, the hyperparameters and sigma together.

        Parameters
        ----------
        draws, tune : int
            Steps of each walker that are kept, and those before.
        walkers : int
            An even number, more than twice as many as there are numbers to draw. Half of them move in one call.
        start : CalibrationFit, optional
            Near which the walkers begin: by default, what `fit` finds.
        fixed : collection of str
            Names of hyperparameters that stay as they are.
        rng : optional
            As for `numpy.random.default_rng`.
        progress : bool
            Whether a bar shows the steps.

        Notes
        -----
        By the affine-invariant ensemble sampler of Goodman & Weare (2010). Draws of a walker are correlated over some dozens
        of steps.
        """
        rng = np.random.default_rng(rng)
        start = self.fit(fixed=fixed, rng=rng, progress=progress) if start is None else start
        names = [n for n in start.values if n not in ({fixed} if isinstance(fixed, str) else fixed)]
        logs = [n for n in names if self._domains[n] in ("positive", "nonnegative")]
        shapes, q = {n: np.shape(start.values[n]) for n in names}, len(self.bounds)
        sizes = [q, *(int(np.prod(s)) for s in shapes.values())]
        places = np.cumsum([0, *sizes])

        def parts(points: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
            """Parameters u, the values by name, and the logarithm of the Jacobian of the values in the points."""
            slices = [points[..., a:b] for a, b in zip(places[:-1], places[1:], strict=True)]
            named = dict(zip(names, slices[1:], strict=True))
            change = np.sum([named[n].sum(-1) for n in logs], axis=0) if logs else np.zeros(points.shape[:-1])
            return slices[0], {n: np.exp(a) if n in logs else a for n, a in named.items()}, change

        kept = {n: np.atleast_2d(np.asarray(v, float)) for n, v in start.values.items() if n not in names}

        def log_density(points: np.ndarray) -> np.ndarray:
            u, values, change = parts(points)
            values |= {n: np.tile(a, (len(points), 1)) for n, a in kept.items()}
            return self._log_posterior(u, values) + change

        centre = [start.u, *(np.ravel(np.log(start.values[n]) if n in logs else start.values[n]) for n in names)]
        width = np.ptp(self.bounds, axis=1)
        spread = np.concatenate([0.02 * width, np.full(places[-1] - q, 0.1)])
        begin = np.concatenate(centre) + spread * rng.normal(size=(walkers, places[-1]))
        inner = self.bounds + 1e-6 * np.outer(width, [1, -1])
        begin[:, :q] = np.clip(begin[:, :q], *inner.T)
        walks = walk(log_density, begin, tune + draws, rng, progress)
        points = walks.points[tune:].swapaxes(0, 1)
        u, values, _ = parts(points)
        shaped = {n: a.reshape(*a.shape[:2], *shapes[n]) for n, a in values.items()}
        same = {n: np.broadcast_to(v, (*u.shape[:2], *np.shape(v))) for n, v in start.values.items() if n not in names}
        return CalibrationDraws(u, shaped | same, walks.log_density[tune:].T, walks.acceptance)

    def draw(
        self, xs: ArrayLike, draws: CalibrationDraws, size: int = 100, rng: Seed = None, *, noise: bool | float = False
    ) -> np.ndarray:
        """Draws of reality, model and discrepancy, at new points, given the field data: each at parameters of its own.

        Parameters
        ----------
        xs : (m, p) or (m,) array_like
        draws : CalibrationDraws
            From the posterior. Some of them are taken at random.
        size : int
            Number of draws.
        rng : optional
            As for `numpy.random.default_rng`.
        noise : bool or float
            As for `predict`.

        Returns
        -------
        (size, m) ndarray
            At its parameters, each point is drawn by itself.
        """
        rng, xs = np.random.default_rng(rng), np.asarray(on_host(as_points(xs, "xs")), np.float64)
        walkers, steps = draws.log_posterior.shape
        at = rng.integers(walkers, size=size), rng.integers(steps, size=size)
        (mean, scale), (new, spread) = self.emulate(draws.u[at]), self.emulate(draws.u[at], xs)
        values = {n: a[at] for n, a in draws.values.items()}
        out = np.empty((size, len(xs)))
        for i in range(size):
            p = self._reality(xs, mean[i], scale[i], new[i], spread[i], noise, {n: a[i] for n, a in values.items()})
            z = rng.normal(size=len(xs)) if p.df is None else rng.standard_t(p.df, size=len(xs))
            out[i] = p.mean + p.scale * z
        return out

    # -- the pieces of a search

    def _start(self, given: Mapping[str, float | np.ndarray] | None) -> Values:
        """Starting values of the hyperparameters."""
        own: Values = {AMPLITUDE: 0.3 * self._spread, LENGTHSCALE: self._widths, SIGMA: 0.1 * self._spread}
        found = {n: own[n] for n in self.parameters[1:] if n in own} | dict(given or {})
        self._check(found)
        return found

    def _profile(self, u: np.ndarray, start: Mapping[str, float | np.ndarray], fixed: Collection[str]) -> tuple[Values, float]:
        """Hyperparameters of largest posterior density at one u, and the logarithm of the density there."""
        level = self._log_prior_of_u(u[None])[0]
        if not np.isfinite(level):
            return dict(start), -np.inf
        mean, scale = (a[0] for a in self.emulate(u[None]))
        bounds = {AMPLITUDE: self._spread, SIGMA: self._spread, LENGTHSCALE: float(self._widths.mean())}
        free = [n for n in start if n not in fixed]
        sizes = {n: np.size(start[n]) for n in free}
        priors = self._priors(sizes)
        evaluate = functools.partial(_value_and_grad, self._field, self._total, mean, scale)
        if free:
            fit = maximise(
                evaluate, start, self._domains, fixed=fixed, priors=priors,
                bounds={n: (SEARCH_FACTORS[0] * b, SEARCH_FACTORS[1] * b) for n, b in bounds.items() if n in free},
            )  # fmt: skip
            start = fit.values
        rows = {n: np.reshape(np.asarray(v, float), (1, -1)) for n, v in start.items()}
        return dict(start), float(self._log_posterior(u[None], rows, mean[None], scale[None])[0])


def _value_and_grad(
    field: Field, total: Callable[..., np.ndarray], mean: np.ndarray, scale: np.ndarray, *, sigma: float,
    wrt: Sequence[str], **values: ArrayLike,
) -> tuple[Array, dict[str, Array]]:  # fmt: skip
    """Log-likelihood at the emulator's predictions of the field data, as a function of sigma and the hyperparameters."""
    whole = total(np.asarray(sigma, np.float64), scale)
    value, slopes = field.value_and_grad(sigma=whole, mean=mean, wrt=wrt, **values)
    if SIGMA in wrt:
        slopes[SIGMA] = float(np.sum(slopes[SIGMA] * sigma / whole))
    return value, slopes
