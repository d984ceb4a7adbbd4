"""Emulators: Gaussian processes at known hyperparameters that tell where to observe next."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.arguments import check_wrt_among
from ..evaluation.placement import moved
from ..evaluation.results import delivered, written
from ..processes.parameters import MEAN, Given
from ..processes.posterior import Posterior
from ..processes.prediction import Prediction, slopes_of_improvement
from ..runtime import arrays
from ..runtime.types import Array, Mostly
from . import acquisition
from .conditioned import Conditioned
from .information import Information, errors_of_mean


class Emulator(Conditioned):
    """Gaussian process given observations, at hyperparameters that are known, such as those of a fit.

    Its covariance matrix is factorised once. `update` adds observations by further rows of the factor; `alc`, `alm`, `mspe`,
    `fish`, `ieci` and `expected_improvement` say for many candidates at once what an observation there would be good for.

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

    def alm(self, candidates: ArrayLike, *, noise: ArrayLike = True, grad: bool = False) -> Mostly:
        """The variance of an observation at each candidate (active learning MacKay), which the next point may make largest.

        Parameters
        ----------
        candidates, noise, grad
            As for `alc`.

        Returns
        -------
        (m,) array, or values and slopes
            As for `alc`.

        Notes
        -----
        MacKay (1992), Information-based objective functions for active data selection, Neural Computation 4:590-604.
        """
        at, native = self._posterior(candidates, noise, 0.0, "candidates"), arrays.is_device_array(candidates)
        values = at.prediction(False, native).variance
        if not grad:
            return values
        return values, self._slopes(at, candidates, np.zeros(at.m), np.full(at.m, self._times))

    def alc(
        self, candidates: ArrayLike, references: Given = None, *, weights: Given = None,
        noise: ArrayLike = True, grad: bool = False,
    ) -> Mostly:  # fmt: skip
        """Average reduction of the variance at references by an observation at each candidate.

        Active learning Cohn: the next point may make it largest.

        Parameters
        ----------
        candidates : (m, p) or (m,) array_like
        references : (r, p) or (r,) array_like, optional
            By default the candidates.
        weights : (r,) array_like, optional
            Weights of the references in the average. By default 1.
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
        at, around, shares = self._sides(candidates, noise, references, False, 0.0, weights)
        found = acquisition.over_references(acquisition.REDUCTION, at, around, shares * self._times, None, None, grad)
        return self._delivered(found, candidates)

    def mspe(
        self, candidates: ArrayLike, references: Given = None, *, weights: Given = None,
        noise: ArrayLike = True, noisy_references: bool = False, wrt: str | Collection[str] | None = None,
    ) -> Array:  # fmt: skip
        """Average squared error of predictions that is expected at references after an observation at each candidate.

        The next point may make this mean-squared prediction error smallest. It is the variance that is left, and the error that
        comes of hyperparameters that are estimated: a candidate that tells of them counts for that, too.

        Parameters
        ----------
        candidates, references, weights, noise
            As for `alc`.
        noisy_references : bool
            Whether errors are those of observations at references, rather than of the process. No matter for the order of the
            candidates.
        wrt : str or collection of str, optional
            The hyperparameters of the covariance function that are estimated, by default all; (): none, so that the variance
            alone counts.

        Returns
        -------
        (m,) array
            NumPy, or a device array where `candidates` is one. Infinite for Student-t distributions of two degrees of freedom
            or less, and where neither the observations nor the candidate tell of a hyperparameter on which predictions depend.

        Raises
        ------
        ValueError
            Where `wrt` has names that are no hyperparameters of the covariance function, and as for `alc`.
        numpy.linalg.LinAlgError
            Where the likelihood has no second derivatives in hyperparameters.

        Notes
        -----
        Gramacy & Apley (2015), Local Gaussian process approximation for large computer experiments, Journal of Computational
        and Graphical Statistics 24:561-578: the mean over references r of V(r) + µ(r)' G⁻¹ µ(r), where V(r) is the variance
        with the candidate z, and µ has the derivatives of the mean in the hyperparameters θ. G is their Fisher information,
        F + v v' / (2 s⁴) + µ(z) µ(z)' / s², with the variance s² of an observation at z, and its derivatives v. F is minus the
        second derivative of the log-likelihood so far. As there, θ are squares of lengthscales, and of all that is positive,
        which makes a difference only where the likelihood is not at its largest. In directions in which it is flat or not
        concave, F is a hundredth of what is expected of such observations. It takes 4 n³ operations for each number in θ;
        after `update` it is due anew.

        The R package laGP's `mspeGP` is this with noisy_references=True, but that its program has (µ(z) / s²)² in the last
        term, which depends on the unit of y.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([0.0, 0.4, 0.5, 1.0])
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.cos(5 * x))
        >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.3, sigma=0.1)
        >>> z = np.linspace(0, 1, 101)
        >>> float(z[emulator.mspe(z).argmin()]), float(z[emulator.mspe(z, wrt=()).argmin()])
        (0.81, 0.76)
        """
        at, around, counts = self._sides(candidates, noise, references, noisy_references, 0.0, weights)
        information, df = self._information(wrt), self._factor.df
        if df is not None and df <= 2 or not at.m:
            found = np.full(at.m, np.inf)
        else:
            sums = acquisition.over_references(acquisition.REDUCTION, at, around, counts, None, None, False)
            reduced = written(self.data.runtime, sums.values).astype(float)
            left = counts @ np.square(written(self.data.runtime, around.moments()[1]), dtype=float) - reduced
            found = left * (1.0 if df is None else (df + 1) / (df - 1))  # of the scale with one point more
            if information.unknowns:
                found += errors_of_mean(information.with_one(at), information.slopes(around).mean, counts)
        return self._like(found.astype(self.data.dtype), candidates)

    def fish(self, candidates: ArrayLike, *, noise: ArrayLike = True, wrt: str | Collection[str] | None = None) -> Array:
        """Fisher information of hyperparameters that is expected with an observation at each candidate.

        The next point may make it largest.

        Parameters
        ----------
        candidates, noise, wrt
            As for `mspe`.

        Returns
        -------
        (m,) array
            Determinants, NumPy, or a device array where `candidates` is one: of positive hyperparameters by their logarithms.

        Notes
        -----
        The determinant of G in the notes of `mspe`. The R package laGP's `fishGP` has that of one lengthscale, in d, which is
        by 4 d² smaller.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([0.0, 0.4, 0.5, 1.0])
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.cos(5 * x))
        >>> emulator = gs.gp.Emulator(ml, amplitude=1.0, lengthscale=0.3, sigma=0.1)
        >>> emulator.fish([0.1, 0.3, 0.9], wrt="lengthscale").round(2)
        array([ 9.99,  7.71, 11.09])
        """
        at, information = self._posterior(candidates, noise, 0.0, "candidates"), self._information(wrt)
        with np.errstate(invalid="ignore"):
            found = np.linalg.det(information.with_one(at)) if at.m else np.zeros(0)
        return self._like(found.astype(self.data.dtype), candidates)

    def ieci(
        self, candidates: ArrayLike, best: float, references: Given = None, *, weights: Given = None,
        noise: ArrayLike = True, noisy_references: bool = False, maximize: bool = False,
        mean_references: Given = None, grad: bool = False,
    ) -> Mostly:  # fmt: skip
        """Average improvement that is still expected at references after an observation at each candidate.

        Integrated expected conditional improvement: the next point may make it smallest.

        Parameters
        ----------
        candidates, references, weights, noise, grad
            As for `alc`; weights such as the references' probabilities to meet constraints.
        best, maximize
            As for `Prediction.expected_improvement`.
        noisy_references : bool
            Whether improvements are those of observations at references, rather than of the process.
        mean_references : float or (r,) array_like, optional
            The prior mean at references, as `mean_xs` of `predict`.

        Returns
        -------
        (m,) array, or values and slopes
            As for `alc`.

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
        at, around, shares = self._sides(candidates, noise, references, noisy_references, mean_references, weights)
        location, spread = around.moments()
        runtime, dtype = self.data.runtime, self.data.dtype
        gain = (written(runtime, location) - best) * (1 if maximize else -1)
        gains = moved(runtime, gain.astype(dtype))
        found = acquisition.over_references(acquisition.IMPROVEMENT, at, around, shares, gains, spread, grad)
        return self._delivered(found, candidates)

    def expected_improvement(
        self, candidates: ArrayLike, best: float, *, noise: ArrayLike = False, maximize: bool = False,
        mean_candidates: Given = None, grad: bool = False,
    ) -> Mostly:  # fmt: skip
        """Expected improvement on the best response so far, at each candidate.

        Parameters
        ----------
        candidates, noise
            As for `predict`.
        best, maximize
            As for `Prediction.expected_improvement`.
        mean_candidates : float or (m,) array_like, optional
            The prior mean at candidates, as `mean_xs` of `predict`.
        grad : bool
            Whether to return derivatives in the candidates, too: of a prior mean that is the same everywhere.

        Returns
        -------
        (m,) array, or values and slopes
            As for `alc`.
        """
        at, native = self._posterior(candidates, noise, mean_candidates, "candidates"), arrays.is_device_array(candidates)
        prediction = at.prediction(False, native)
        values = prediction.expected_improvement(best, maximize=maximize)
        if not grad:
            return values
        if callable(self.prior_mean) and MEAN not in self._parameters.given:
            raise ValueError("grad = True: the derivatives of the prior mean, a function, are not known")
        of_mean, of_variance = slopes_of_improvement(prediction, best, maximize)
        return values, self._slopes(at, candidates, of_mean, of_variance)

    # -- the pieces of a call

    #: Observations, and their information by the names of the hyperparameters.
    _informed: tuple[int, dict[tuple[str, ...], Information]] = -1, {}

    def _sides(
        self, candidates: ArrayLike, noise: ArrayLike, references: Given, noisy_references: bool,
        mean_references: Given, weights: Given,
    ) -> tuple[Posterior, Posterior, np.ndarray]:  # fmt: skip
        """Posteriors at candidates, and at references, by default the candidates; and the weights of these in an average."""
        at = self._posterior(candidates, noise, 0.0, "candidates")
        references = candidates if references is None else references
        around = self._posterior(references, noisy_references, mean_references, "references")
        return at, around, acquisition.averaging(weights, around.m)

    @property
    def _times(self) -> float:
        """Ratio of variances to squared scales."""
        return float(Prediction(0.0, 1.0, df=self._factor.df).variance)

    def _information(self, wrt: str | Collection[str] | None) -> Information:
        """The Fisher information of some hyperparameters, kept until there are further observations."""
        names = self.cov.parameters if wrt is None else check_wrt_among(wrt, self.cov.parameters)
        n, made = self._informed
        if n != self.n:
            self._informed = self.n, (made := {})
        if names not in made:
            made[names] = Information(self._factor, names)
        return made[names]

    def _slopes(self, at: Posterior, candidates: ArrayLike, of_mean: np.ndarray, of_variance: np.ndarray) -> Array:
        """Derivatives in points of a function of location and squared scale, from the derivatives in these two."""
        factor, found = self._factor, np.zeros(tuple(at.xs.shape), self.data.dtype)
        bends = of_variance * factor.scale2
        for part in at.parts():
            rows = factor.rows(at.xs[part])
            factor.weigh(rows, 2 * bends[part], -of_mean[part])
            found[part] = acquisition.slopes_at(factor, at.xs[part], rows, bends[part])
        return self._like(found, candidates)

    def _delivered(self, found: acquisition.Sums, candidates: ArrayLike) -> Mostly:
        values = delivered(self.data.runtime, found.values, arrays.is_device_array(candidates))
        return values if found.slopes is None else (values, self._like(found.slopes, candidates))

    def _like(self, slopes: np.ndarray, candidates: ArrayLike) -> Array:
        """Derivatives shaped like the user's candidates, and on the same device."""
        flat = len(getattr(arrays.as_array(candidates, "candidates"), "shape", ())) == 1
        slopes = slopes.reshape(-1) if flat else slopes
        return self.data.runtime.to_device(slopes) if arrays.is_device_array(candidates) else slopes
