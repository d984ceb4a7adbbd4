"""Emulators: Gaussian processes at known hyperparameters that tell where to observe next."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation.placement import moved
from ..evaluation.results import delivered, written
from ..runtime import arrays
from . import acquisition
from .conditioned import Conditioned
from .parameters import MEAN, by_row
from .posterior import CHUNK, Posterior
from .prediction import Prediction


class Emulator(Conditioned):
    """A Gaussian process given observations, at hyperparameters that are known, such as those of a fit.

    Its covariance matrix is factorised once. `update` adds observations by further rows of the factor; `alc`, `alm`, `ieci` and
    `expected_improvement` say for many candidates at once what an observation there would be good for.

    Parameters
    ----------
    likelihood : MarginalLikelihood
        The covariance function, the observations, and on what device they are.
    sigma, mean, **hyperparameters
        As for a call of that.

    Attributes
    ----------
    n, columns : int
        Observations, and numbers of each point.
    values : dict
        The hyperparameters by name, with sigma and mean if they were given.

    Raises
    ------
    ValueError, numpy.linalg.LinAlgError
        As the likelihood's call.

    Notes
    -----
    With s² the factor that the likelihood integrates out, or 1, let s² c(r, z) be the covariance of the process at two points,
    given the data, and s² v(z) the variance of an observation at z. An observation at z reduces the variance at r by
    s² c(r, z)² / v(z), whatever it will be. For all candidates and references that takes a product of matrices and one kernel.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.array([0.0, 0.3, 1.0])
    >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.cos(5 * x))
    >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.3, sigma=0.01)
    >>> candidates = np.linspace(0.0, 1.0, 101)
    >>> new = candidates[emulator.alc(candidates).argmax()]
    >>> round(float(new), 2)
    0.66
    >>> emulator.update([new], np.cos([5 * new]))
    >>> emulator.n, emulator.predict([0.7]).scale.round(3)
    (4, array([0.06]))
    """

    def alm(self, candidates: Any, *, noise: Any = True, grad: bool = False) -> Any:
        """The variance of an observation at each candidate (active learning MacKay), which the next point may make largest.

        Parameters
        ----------
        candidates : (m, p) or (m,) array_like
        noise : bool, float or (m,) array_like
            As for `predict`: the noise of observations.
        grad : bool
            Whether to return derivatives in the candidates, too.

        Returns
        -------
        values : (m,) array
            NumPy, or a device array where `candidates` is one. Infinite for Student-t distributions of two degrees of freedom
            or less.
        slopes : array like candidates
            Only if `grad`.

        Notes
        -----
        MacKay (1992), Information-based objective functions for active data selection, Neural Computation 4:590-604.
        """
        at, native = self._posterior(candidates, noise, 0.0), arrays.is_device_array(candidates)
        values = at.prediction(False, native).variance
        if not grad:
            return values
        return values, self._slopes(at, candidates, np.zeros(at.m), np.full(at.m, self._times))

    def alc(
        self, candidates: Any, references: Any = None, *, weights: Any = None, noise: Any = True, grad: bool = False
    ) -> Any:
        """By how much an observation at each candidate would reduce the variance at references, on average.

        Active learning Cohn: the next point may make it largest.

        Parameters
        ----------
        candidates : (m, p) or (m,) array_like
        references : (r, p) or (r,) array_like, optional
            By default the candidates.
        weights : (r,) array_like, optional
            By which references count, in the average. By default 1.
        noise : bool, float or (m,) array_like
            Standard deviation of the observations' noise; True: sigma, False: none.
        grad : bool
            Whether to return derivatives in the candidates, too.

        Returns
        -------
        values : (m,) array
            NumPy, or a device array where `candidates` is one. Infinite for Student-t distributions of two degrees of freedom
            or less. 0 where the process is known already.
        slopes : array like candidates
            Only if `grad`.

        Notes
        -----
        The mean over references r of weight_r s² c(r, z)² / v(z), for Student-t distributions times df / (df - 2): Seo et al.
        (2000), Gaussian process regression: active data selection and test point rejection, IJCNN 3:241-246; the R package
        laGP's `alcGP`.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([0.0, 1.0])
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.sin(x))
        >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.5, sigma=0.1)
        >>> values, slopes = emulator.alc([0.1, 0.4, 0.9], np.linspace(0, 1, 50), grad=True)
        >>> values.round(3), slopes.round(2)
        (array([0.097, 0.161, 0.097]), array([ 0.65,  0.06, -0.65]))
        """
        references = candidates if references is None else references
        at, around = self._posterior(candidates, noise, 0.0), self._posterior(references, False, 0.0, "references")
        found = acquisition.over_references(
            acquisition.REDUCTION, at, around, _averaging(weights, around.m) * self._times, None, None, grad
        )
        return self._delivered(found, candidates)

    def ieci(
        self, candidates: Any, best: float, references: Any = None, *, weights: Any = None, noise: Any = True,
        noisy_references: bool = False, maximize: bool = False, mean_references: Any = None, grad: bool = False,
    ) -> Any:  # fmt: skip
        """The improvement that is still expected at references after an observation at each candidate, on average.

        Integrated expected conditional improvement: the next point may make it smallest.

        Parameters
        ----------
        candidates : (m, p) or (m,) array_like
        best : float
            The best response so far, as for `Prediction.expected_improvement`.
        references : (r, p) or (r,) array_like, optional
            By default the candidates.
        weights : (r,) array_like, optional
            By which references count, in the average: such as their probabilities to meet constraints. By default 1.
        noise : bool, float or (m,) array_like
            Standard deviation of the observations' noise; True: sigma, False: none.
        noisy_references : bool
            Whether improvements are those of observations at references, rather than of the process.
        maximize : bool
            Whether larger responses are better.
        mean_references : float or (r,) array_like, optional
            The prior mean at references, as `mean_xs` of `predict`.
        grad : bool
            Whether to return derivatives in the candidates, too.

        Returns
        -------
        values : (m,) array
            NumPy, or a device array where `candidates` is one.
        slopes : array like candidates
            Only if `grad`.

        Notes
        -----
        The observation leaves the mean at a reference r as it is, as far as one knows, and reduces its variance by s² c² / v;
        degrees of freedom are counted as before. Gramacy & Lee (2011), Optimization under unknown constraints, Bayesian
        Statistics 9:229-256; the R package laGP's `ieciGP`, of which ``nonug = TRUE`` is noisy_references=False, but for a
        nugget of 1.5e-8 there.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([0.0, 0.4, 1.0])
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.cos(5 * x))
        >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.3, sigma=1e-3)
        >>> z = np.linspace(0, 1, 101)
        >>> float(z[emulator.ieci(z, np.cos(5 * x).min()).argmin()])
        0.64
        """
        references = candidates if references is None else references
        at = self._posterior(candidates, noise, 0.0)
        around = self._posterior(references, noisy_references, mean_references, "references")
        location, spread = around.moments()
        runtime, dtype = self._data.runtime, self._data.dtype
        gain = (written(runtime, location) - best) * (1 if maximize else -1)
        found = acquisition.over_references(
            acquisition.IMPROVEMENT, at, around, _averaging(weights, around.m), moved(runtime, gain.astype(dtype)), spread, grad
        )
        return self._delivered(found, candidates)

    def expected_improvement(
        self, candidates: Any, best: float, *, noise: Any = False, maximize: bool = False, mean_xs: Any = None,
        grad: bool = False,
    ) -> Any:  # fmt: skip
        """By how much the response at each candidate is expected to be better than the best one so far.

        Parameters
        ----------
        candidates, noise, mean_xs
            As for `predict`.
        best, maximize
            As for `Prediction.expected_improvement`.
        grad : bool
            Whether to return derivatives in the candidates, too: of a prior mean that is the same everywhere.

        Returns
        -------
        values : (m,) array
            NumPy, or a device array where `candidates` is one.
        slopes : array like candidates
            Only if `grad`.
        """
        at, native = self._posterior(candidates, noise, mean_xs), arrays.is_device_array(candidates)
        prediction = at.prediction(False, native)
        values = prediction.expected_improvement(best, maximize=maximize)
        if not grad:
            return values
        if callable(self._likelihood._mean) and MEAN not in self._parameters.given:
            raise ValueError("grad = True: the derivatives of the prior mean, a function, are not known")
        of_mean, of_variance = prediction._slopes_of_improvement(best, maximize=maximize)
        return values, self._slopes(at, candidates, of_mean, of_variance)

    # -- the pieces of a call

    @property
    def _times(self) -> float:
        """What variances are, in squared scales."""
        return float(Prediction(0.0, 1.0, df=self._factor.df).variance)

    def _slopes(self, at: Posterior, candidates: Any, of_mean: np.ndarray, of_variance: np.ndarray) -> Any:
        """The derivatives in points of a function of location and squared scale there, from those in these."""
        factor, found = self._factor, np.zeros(tuple(at.xs.shape), self._data.dtype)
        step = max(CHUNK // (max(factor.n, 1) * self._data.dtype.itemsize), 64)
        bends = of_variance * factor.scale2
        for i in range(0, at.m, step):
            part = slice(i, i + step)
            rows = factor.rows(at.xs[part])
            factor.weigh(rows, 2 * bends[part], -of_mean[part])
            found[part] = acquisition.slopes_at(factor, at.xs[part], rows, bends[part])
        return self._like(found, candidates)

    def _delivered(self, found: acquisition.Sums, candidates: Any) -> Any:
        values = delivered(self._data.runtime, found.values, arrays.is_device_array(candidates))
        return values if found.slopes is None else (values, self._like(found.slopes, candidates))

    def _like(self, slopes: np.ndarray, candidates: Any) -> Any:
        """Derivatives shaped like the candidates that were given, and where they lie."""
        flat = len(getattr(arrays.as_array(candidates, "candidates"), "shape", ())) == 1
        slopes = slopes.reshape(-1) if flat else slopes
        return self._data.runtime.to_device(slopes) if arrays.is_device_array(candidates) else slopes


def _averaging(weights: Any, r: int) -> np.ndarray:
    """What each reference counts in an average."""
    if not r:
        raise ValueError("there are no references")
    given = np.ones(r) if weights is None else by_row("weights", weights, r)
    if np.any(np.asarray(given) < 0):
        raise ValueError(f"weights has {np.min(given)}: they must be nonnegative")
    return np.broadcast_to(np.asarray(given) / r, r)
