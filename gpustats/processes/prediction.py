"""Predictions of Gaussian processes: their distributions at new points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from scipy import special

from ..density import densities
from ..display.html import Shown, shape_of
from ..display.svg import band
from ..draws.generator import Rng, as_generator
from ..evaluation.results import as_shape
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_device, to_host
from ..runtime.types import Array, Shape

#: Points in the picture of predictions.
MOST_SHOWN = 200


class LocationScale(Shown):
    """Normal distributions at m points, each by itself, or Student-t distributions where there are degrees of freedom.

    A subclass is a dataclass with the fields `mean` and `scale`, their locations and scales, `df`, None for normal ones, and
    `noise`, whether they are of observations rather than of the process.
    """

    mean: Array
    scale: Array
    df: int | None
    noise: bool

    def __repr__(self) -> str:
        kind = "normal" if self.df is None else f"Student-t with {self.df} degrees of freedom"
        cov = ", with covariances" if getattr(self, "covariance", None) is not None else ""
        return f"<{self._title()}: {shape_of(self.mean)}, {kind}, {self._of()}{cov}>"

    def _title(self) -> str:
        return f"{type(self).__name__} of {'observations' if self.noise else 'the process'}"

    def _of(self) -> str:
        """Words for whether the noise is in."""
        return "with noise" if self.noise else "without noise"

    def _facts(self) -> Mapping[str, object]:
        held = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        found: dict[str, object] = {
            "distributions": "normal" if self.df is None else f"Student-t, {self.df} degrees of freedom",
            "noise": "in: of observations" if self.noise else "not in: of the process",
        }
        found |= {n: shape_of(v) for n, v in held.items() if n not in ("df", "noise") and v is not None}
        if np.ndim(self.mean) == 1 and len(self.mean) > 1:
            found["95 % intervals" + f", the first {MOST_SHOWN}" * (len(self.mean) > MOST_SHOWN)] = self._picture()
        return found

    def _picture(self) -> str:
        ends = self.interval(0.95)
        return band(*(to_host(a[:MOST_SHOWN]).astype(float).tolist() for a in (self.mean, *ends)))

    @property
    def variance(self) -> Array:
        """Variance of each distribution; infinite for two degrees of freedom or less."""
        scale = to_host(self.scale)
        square = scale * scale
        if self.df is not None:
            square = square * variance_of_t(self.df) if self.df > 2 else square + np.inf
        return self._given(square)

    def interval(self, confidence: float = 0.95) -> tuple[Array, Array]:
        """Ends of the central intervals that have the probability `confidence`."""
        from scipy import stats

        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence = {confidence}: it must lie between 0 and 1")
        standard = stats.norm() if self.df is None else stats.t(self.df)
        mean, half = to_host(self.mean), to_host(self.scale) * float(standard.ppf((1 + confidence) / 2))
        return self._given(mean - half), self._given(mean + half)

    def _given(self, numbers: np.ndarray) -> Array:
        """Numbers as the means are: on the host or on the device."""
        return to_device(numbers) if is_device_array(self.mean) else numbers

    def expected_improvement(self, best: float | Array, *, maximize: bool = False) -> Array:
        """Improvement on the best response so far that is expected at each point: E max(best - Y, 0).

        Parameters
        ----------
        best : float or array_like
            The best response so far; where responses are noisy, commonly the best of the means at the points observed.
        maximize : bool
            Whether larger responses are better: E max(Y - best, 0).

        Returns
        -------
        array
            As the means are: a NumPy or a device array. Accurate relatively also where next to nothing is expected, so that its
            logarithm can be maximised; infinite for one degree of freedom.

        Notes
        -----
        Jones, Schonlau & Welch (1998), Efficient global optimization of expensive black-box functions, Journal of Global
        Optimization 13:455-492, equation (15). Predictions of the process without noise, as they are by default, are what to
        compare deterministic responses by.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.array([0.0, 0.4, 1.0])
        >>> ml = gs.gp.MarginalLikelihood(gs.rbf, x, np.cos(5 * x))
        >>> p = ml.predict([0.2, 0.6, 0.8], amplitude=1.0, lengthscale=0.3, sigma=1e-3)
        >>> p.expected_improvement(np.cos(5 * x).min()).round(3)
        array([0.001, 0.226, 0.071])
        """
        gain, scale = _gain_and_scale(self, best, maximize)
        with np.errstate(all="ignore"):
            u = gain / scale
            standard = _gain_of_normal(u) if self.df is None else _gain_of_t(u, self.df)
            made = np.where(scale > 0, scale * standard, np.where(np.isnan(scale), np.nan, np.maximum(gain, 0)))
        return self._given(made.astype(self.mean.dtype))


def slopes_of_improvement(
    at: LocationScale, best: float | Array, maximize: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of the expected improvement in the mean and in the squared scale of each distribution, (m,) arrays."""
    gain, scale, df = *_gain_and_scale(at, best, maximize), at.df
    with np.errstate(all="ignore"):
        u = np.where(scale > 0, gain / scale, np.copysign(np.inf, gain))
        below = special.ndtr(u) if df is None else special.stdtr(df, u)
        if df is None:
            spread = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
        else:
            spread = (df + u * u) / (df - 1) * _density_of_t(u, df) if df > 1 else np.full_like(u, np.nan)
        return below if maximize else -below, np.where(scale > 0, spread / (2 * scale), 0.0)


def _gain_and_scale(at: LocationScale, best: float | Array, maximize: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gains of the means on the best response so far, and the scales, on the host."""
    mean, scale = (np.asarray(to_host(a), np.float64) for a in (at.mean, at.scale))
    return mean - best if maximize else best - mean, scale


def _gain_of_normal(u: np.ndarray) -> np.ndarray:
    """Expectation E max(u - Z, 0) of a standard normal Z."""
    density = np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    v = 1 / np.maximum(u * u, 1.0)
    far = v * (1 - 3 * v * (1 - 5 * v * (1 - 7 * v * (1 - 9 * v * (1 - 11 * v * (1 - 13 * v * (1 - 15 * v)))))))
    below = density * np.where(u < -30, far, 1 + u * np.sqrt(np.pi / 2) * special.erfcx(-u / np.sqrt(2)))
    return np.where(u < 0, below, u * special.ndtr(u) + density)


def _gain_of_t(u: np.ndarray, df: int) -> np.ndarray:
    """Expectation E max(u - T, 0) of a standard Student-t T."""
    if df <= 1:
        return np.where(np.isnan(u), np.nan, np.inf)
    return u * special.stdtr(df, u) + (df + u * u) / (df - 1) * _density_of_t(u, df)


def _density_of_t(u: np.ndarray, df: int) -> np.ndarray:
    """Density of a standard Student-t distribution."""
    v = 1 / df  # of the gamma function at (df + 1) / 2 and df / 2: where it is large, SciPy's logarithms lose too many digits
    ratio = math.gamma(0.5 * df + 0.5) / math.gamma(0.5 * df) if df < 200 else math.sqrt(0.5 * df) * (
        1 - v / 4 * (1 - v / 8 * (1 + 1.25 * v * (1 - 0.2625 * v)))
    )  # fmt: skip
    return ratio / np.sqrt(df * np.pi) * np.exp(-0.5 * (df + 1) * np.log1p(u * u / df))


def variance_of_t(df: int) -> float:
    """Variance of a Student-t distribution with scale 1."""
    return df / (df - 2) if df > 2 else np.inf


@dataclass(frozen=True, repr=False)
class Prediction(LocationScale):
    """Normal distributions at m points, or Student-t distributions where the scale is integrated out.

    Attributes
    ----------
    mean, scale : (m,) array
        Location and scale of each distribution: for the normal ones, the standard deviation.
    covariance : (m, m) array or None
        Covariance of all points, where it was asked for.
    df : int or None
        Degrees of freedom of the Student-t distributions, None for normal ones.
    noise : bool
        Whether they are of observations, with the noise, rather than of the process without it.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> ml = gs.gp.MarginalLikelihood(gs.rbf, np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    >>> p = ml.predict(np.array([0.5, 9.0]), amplitude=1.0, lengthscale=1.0, sigma=0.1)
    >>> p.mean.round(3), p.scale.round(3)
    (array([1.638, 0.   ]), array([0.191, 1.   ]))
    >>> low, high = p.interval(0.95)
    >>> high.round(3)
    array([2.012, 1.96 ])
    """

    mean: Array
    scale: Array
    covariance: Array = None
    df: int | None = None
    noise: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, repr=False)
class LocalPrediction(LocationScale):
    """Student-t distributions of the responses at m locations.

    Attributes
    ----------
    mean, scale : (m,) array
        Location and scale of each distribution.
    df : int
        Degrees of freedom: the points of a design.
    indices : (m, df) array of int32
        The rows of X that are each location's design, in the order in which they were chosen.
    d : (m,) array, or (m, p) if separable
        Lengthscales.
    g : (m,) array
        Nuggets.
    loglik : (m,) array
        The log-likelihood of each design's responses at d and g, the amplitude integrated out.
    evaluations : (m,) array of int32
        Number of evaluations of the likelihood to find its maximum; negative where the limit was reached before.
    noise : bool
        Whether they are of observations, with the nugget, rather than of the process without it.
    """

    mean: Array
    scale: Array
    df: int
    indices: Array
    d: Array
    g: Array
    loglik: Array
    evaluations: Array
    noise: bool = field(default=False, kw_only=True)

    def rvs(self, size: int | Shape | None = None, rng: Rng = None) -> Array:
        """Independent draws of the responses, of shape `size`, by default (m,); as for `Density.rvs`."""
        return densities["student_t"].rvs(float(self.df), self.mean, self.scale, size=size, rng=rng)


@dataclass(frozen=True, repr=False)
class JointPrediction(LocationScale):
    """Multivariate Student-t distributions of the responses at S sets of m references, each set with a design in common.

    Without the first axis where only one set was asked for.

    Attributes
    ----------
    mean, scale : (S, m) array
        Location and scale of the response at each reference.
    covariance : (S, m, m) array
        Covariances of the responses at a set's references; infinite or nan for two degrees of freedom or less.
    df : int
        Degrees of freedom: the points of a design.
    indices : (S, df) array of int32
        The rows of X that are each set's design, in the order in which they were chosen.
    d : (S,) array, or (S, p) if separable
        Lengthscales.
    g : (S,) array
        Nuggets.
    loglik : (S,) array
        The log-likelihood of each design's responses at d and g, the amplitude integrated out.
    evaluations : (S,) array of int32
        Number of evaluations of the likelihood to find its maximum; negative where the limit was reached before.
    noise : bool
        Whether they are of observations, with the nugget, rather than of the process without it.
    """

    mean: Array
    scale: Array
    covariance: Array
    df: int
    indices: Array
    d: Array
    g: Array
    loglik: Array
    evaluations: Array
    noise: bool = field(default=False, kw_only=True)

    def rvs(self, size: int | Shape = (), rng: Rng = None) -> Array:
        """Joint draws of the responses: paths over a set's references, the draws of different sets being independent.

        Parameters
        ----------
        size : int or tuple of int
            Number of draws of all sets.
        rng : optional
            As for `Density.rvs`.

        Returns
        -------
        size + (S, m) array
            As the means are: a NumPy or a device array.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.linspace(0.0, 1.0, 200)
        >>> p = gs.LocalGP(x, np.sin(9 * x)).predict(np.array([0.3, 0.4, 0.5]), end=20, joint=True)
        >>> p.rvs(size=1000, rng=1).shape
        (1000, 3)
        """
        mean, scale = to_host(self.mean), to_host(self.covariance)
        shape = as_shape(size)
        if self.df <= 2:
            raise ValueError(f"the design has {self.df} points, and a covariance exists for 3 or more")
        values, vectors = np.linalg.eigh(scale.astype(np.float64) / variance_of_t(self.df))
        roots = vectors * np.sqrt(np.maximum(values, 0))[..., None, :]  # exact also where paths are nearly determined
        generator = as_generator(rng)
        z = densities["normal"].rvs(0.0, 1.0, size=(*shape, *mean.shape), rng=generator)
        chi = densities["chi_squared"].rvs(float(self.df), size=(*shape, *mean.shape[:-1], 1), rng=generator)
        made = mean + (roots @ z[..., None])[..., 0] / np.sqrt(chi / self.df)
        return self._given(made.astype(mean.dtype))
