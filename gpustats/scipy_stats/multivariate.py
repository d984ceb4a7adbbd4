"""SciPy's distributions of vectors: their densities and draws from the device, their moments on the host.

Device arrays of observations give device arrays; parameters lie on the host.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
from scipy import special

from ..density import Density, densities
from ..runtime.arrays import is_device_array
from ..runtime.transfers import to_host
from .random_states import generator_of

_METHODS = ("logpdf", "pdf", "logpmf", "pmf", "rvs", "mean", "var", "cov", "entropy")


class Multivariate:
    """One of SciPy's distributions of vectors, computed by gpustats.

    A call with parameters gives the distribution of these, whose methods take none. There are no distribution functions, and no
    singular matrices.

    Attributes
    ----------
    name : str
    parameters : tuple of str
        What a call and the methods take.
    density : Density
        gpustats' density, by its own parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats import scipy_stats as st
    >>> frozen = st.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])
    >>> frozen.logpdf([[0.0, 1.0], [1.0, 1.0]]).round(4)
    array([-2.1177, -2.4034])
    >>> st.dirichlet.mean([1.0, 3.0])
    array([0.25, 0.75])
    """

    name: str
    of: str
    parameters: tuple[str, ...]

    def __init__(self) -> None:
        self.random_state: Any = None

    @property
    def density(self) -> Density:
        return densities[self.of]

    def __call__(self, *args: Any, seed: Any = None, **kwds: Any) -> FrozenMultivariate:
        """The distribution of these parameters."""
        return FrozenMultivariate(self, args, kwds, seed)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.name}({', '.join(self.parameters)})>"

    def __reduce__(self) -> Any:
        return _named, (self.name,)

    def _draws(self, given: tuple[Any, ...], size: Any, random_state: Any) -> Any:
        state = self.random_state if random_state is None else random_state
        return self.density.rvs(*given, size=size, rng=generator_of(state))


class FrozenMultivariate:
    """A distribution of vectors of certain parameters, with the methods of `Multivariate` without these.

    Attributes
    ----------
    dist : Multivariate
    """

    def __init__(self, dist: Multivariate, args: tuple[Any, ...], kwds: dict[str, Any], seed: Any = None):
        names = dist.parameters
        if len(args) > len(names):
            raise TypeError(f"{dist.name} takes {', '.join(names)}: {len(names)} parameters, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        if unknown := [n for n in kwds if n not in names or n in given]:
            raise TypeError(f"{dist.name} takes {', '.join(names)}, and {unknown[0]} once at most")
        self.dist, self.random_state, self._given = dist, seed, {**given, **kwds}
        self._checked()

    def _checked(self) -> None:
        """What the parameters raise, they raise at once."""
        own = self.dist._processed  # type: ignore[attr-defined]
        own(**{n: v for n, v in self._given.items() if n in inspect.signature(own).parameters})

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_given", ()):
            return self._given[name]
        if name not in _METHODS or not hasattr(self.__dict__.get("dist"), name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        method = getattr(self.dist, name)
        taken = inspect.signature(method).parameters
        given = {n: v for n, v in self._given.items() if n in taken}
        if name == "rvs":
            return lambda size=taken["size"].default, random_state=None: method(
                **given, size=size, random_state=self.random_state if random_state is None else random_state
            )
        return functools.partial(method, **given)

    def __repr__(self) -> str:
        return f"<gpustats.scipy_stats.{self.dist.name}({', '.join(f'{n}={v!r}' for n, v in self._given.items())})>"


# ---- elliptical ones


def _vector_and_matrix(names: tuple[str, str], vector: Any, matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """A location and a scale matrix, either of which may be left out; ValueError where they do not go together."""
    matrix = getattr(matrix, "covariance", matrix)  # a scipy.stats.Covariance
    matrix = np.asarray(1.0 if matrix is None else matrix, float)
    if vector is None:
        vector = np.zeros(matrix.shape[-1] if matrix.ndim else 1)
    vector = np.atleast_1d(np.asarray(vector, float))
    if vector.ndim != 1:
        raise ValueError(f"{names[0]} must be a vector, not of shape {vector.shape}")
    if matrix.ndim < 2:
        matrix = matrix * np.eye(len(vector))
    if matrix.shape != (len(vector),) * 2:
        raise ValueError(f"{names[1]} has shape {matrix.shape}, where {names[0]} has {vector.shape}")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite") from None
    if not np.allclose(matrix, matrix.T, rtol=1e-10, atol=0):
        raise np.linalg.LinAlgError(f"{names[1]} must be symmetric and positive definite")
    return vector, matrix


def _observations(x: Any, dim: int) -> Any:
    """Vectors of a length along the last axis; of length 1, numbers are vectors, too."""
    if is_device_array(x):
        return x
    x = np.asarray(x, float)
    return x[..., None] if x.ndim == 0 or (dim == 1 and x.ndim == 1) else x


def _log_det(matrix: np.ndarray) -> float:
    return float(np.linalg.slogdet(matrix)[1])


def _squeezed(draws: Any) -> Any:
    return draws if is_device_array(draws) else np.squeeze(draws)[()]


class MultivariateNormal(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multivariate_normal", "mvnormal", ("mean", "cov", "allow_singular")

    def _processed(
        self, mean: Any = None, cov: Any = 1, allow_singular: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        if allow_singular:
            raise NotImplementedError(f"{self.name}: gpustats has no singular covariance matrices")
        return _vector_and_matrix(("mean", "cov"), mean, cov)

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """The logarithm of the density at vectors along the last axis of x."""
        mean, cov = self._processed(mean, cov, allow_singular)
        return self.density.logpdf(_observations(x, len(mean)), mean, cov)

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
        """The density."""
        mean, cov = self._processed(mean, cov, allow_singular)
        return self.density.pdf(_observations(x, len(mean)), mean, cov)

    def rvs(self, mean: Any = None, cov: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, without axes of length 1."""
        return _squeezed(self._draws(self._processed(mean, cov), size, random_state))

    def entropy(self, mean: Any = None, cov: Any = 1) -> Any:
        """The entropy in nats."""
        mean, cov = self._processed(mean, cov)
        return np.float64(0.5 * (len(mean) * (1 + np.log(2 * np.pi)) + _log_det(cov)))

    def fit(self, x: Any, fix_mean: Any = None, fix_cov: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the covariance matrix by maximum likelihood, of observations (N, d)."""
        x = np.asarray(to_host(x), float)
        if x.ndim != 2:
            raise ValueError(f"x has shape {x.shape}: it must be (N, d)")
        mean = x.mean(0) if fix_mean is None else np.atleast_1d(np.asarray(fix_mean, float))
        if mean.shape != x.shape[1:]:
            raise ValueError(f"fix_mean has shape {mean.shape}, where x has {x.shape}")
        if fix_cov is not None:
            return mean, _vector_and_matrix(("fix_mean", "fix_cov"), mean, fix_cov)[1]
        centred = x - mean
        return mean, centred.T @ centred / len(x)


class MultivariateT(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multivariate_t", "mv_student_t", ("loc", "shape", "df", "allow_singular")

    def _processed(
        self, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False
    ) -> tuple[float, np.ndarray, np.ndarray]:
        if allow_singular:
            raise NotImplementedError(f"{self.name}: gpustats has no singular scale matrices")
        if not df > 0:
            raise ValueError(f"df must be positive, not {df}")
        return float(df), *_vector_and_matrix(("loc", "shape"), loc, shape)

    def _of_parameters(self, df: float, loc: np.ndarray, shape: np.ndarray) -> tuple[Density, tuple[Any, ...]]:
        """The density and its parameters; with infinitely many degrees of freedom the normal one."""
        return (self.density, (df, loc, shape)) if np.isfinite(df) else (densities["mvnormal"], (loc, shape))

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The logarithm of the density at vectors along the last axis of x."""
        density, given = self._of_parameters(*self._processed(loc, shape, df))
        return density.logpdf(_observations(x, len(given[-1])), *given)

    def pdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: bool = False) -> Any:
        """The density."""
        density, given = self._of_parameters(*self._processed(loc, shape, df, allow_singular))
        return density.pdf(_observations(x, len(given[-1])), *given)

    def rvs(self, loc: Any = None, shape: Any = 1, df: Any = 1, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, without axes of length 1."""
        density, given = self._of_parameters(*self._processed(loc, shape, df))
        state = self.random_state if random_state is None else random_state
        return _squeezed(density.rvs(*given, size=size, rng=generator_of(state)))

    def entropy(self, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The entropy in nats."""
        df, loc, shape = self._processed(loc, shape, df)
        d, a = len(loc), 0.5 * df
        if np.isinf(df):
            return np.float64(0.5 * (d * (1 + np.log(2 * np.pi)) + _log_det(shape)))
        # Kotz & Nadarajah (2004), ch. 1. In digamma(a + d / 2) - digamma(a) nothing may cancel where a is large.
        odd = d % 2
        half = (special.digamma(a + 0.5) - special.digamma(a) if a < 300 else 0.5 / a + 0.125 / a**2 - 1 / (64 * a**4)) * odd
        difference = half + float(np.sum(1 / (a + 0.5 * odd + np.arange(d // 2))))
        constant = special.betaln(a, 0.5 * d) - special.gammaln(0.5 * d) + 0.5 * d * np.log(df * np.pi)
        return np.float64(constant + 0.5 * _log_det(shape) + (a + 0.5 * d) * difference)


# ---- of proportions and of counts


class Dirichlet(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "dirichlet", "dirichlet", ("alpha",)

    def _processed(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, float)
        if alpha.ndim != 1 or not np.all(alpha > 0):
            raise ValueError(f"alpha must be a vector of positive numbers, not {alpha}")
        return alpha

    def _quantiles(self, x: Any, alpha: np.ndarray) -> np.ndarray:
        """Proportions along the last axis, of which SciPy has those of a category in a row; the last row may be left out."""
        x = np.asarray(to_host(x), float)
        if x.ndim not in (1, 2) or len(x) not in (len(alpha) - 1, len(alpha)):
            raise ValueError(f"x has shape {x.shape}: it must be (K,) or (K, N), K = {len(alpha)}, or one fewer than K")
        if len(x) < len(alpha):
            x = np.concatenate([x, [1 - x.sum(0)]])
        if not np.all((x >= 0) & (x <= 1)) or np.any(abs(x.sum(0) - 1) > 1e-9):
            raise ValueError("x must be proportions: not negative, with a sum of 1 along the first axis")
        if np.any((x.T == 0) & (alpha < 1)):
            raise ValueError("x must not be 0 where alpha is less than 1: the density is infinite")
        return np.ascontiguousarray(x.T)

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density at x, proportions along the first axis."""
        alpha = self._processed(alpha)
        return self.density.logpdf(self._quantiles(x, alpha), alpha)

    def pdf(self, x: Any, alpha: Any) -> Any:
        """The density."""
        alpha = self._processed(alpha)
        return self.density.pdf(self._quantiles(x, alpha), alpha)

    def mean(self, alpha: Any) -> Any:
        """The mean."""
        alpha = self._processed(alpha)
        return alpha / alpha.sum()

    def var(self, alpha: Any) -> Any:
        """The variances."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return mean * (1 - mean) / (total + 1)

    def cov(self, alpha: Any) -> Any:
        """The covariance matrix."""
        mean, total = self.mean(alpha), np.sum(alpha)
        return (np.diag(mean) - np.outer(mean, mean)) / (total + 1)

    def entropy(self, alpha: Any) -> Any:
        """The entropy in nats."""
        alpha = self._processed(alpha)
        total = alpha.sum()
        log_beta = special.gammaln(alpha).sum() - special.gammaln(total)
        return log_beta + (total - len(alpha)) * special.digamma(total) - np.sum((alpha - 1) * special.digamma(alpha))

    def rvs(self, alpha: Any, size: Any = 1, random_state: Any = None) -> Any:
        """Draws, proportions along the last axis."""
        return self._draws((self._processed(alpha),), () if size is None else size, random_state)


class Multinomial(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "multinomial", "multinomial", ("n", "p")

    def _processed(self, n: Any, p: Any) -> tuple[Any, np.ndarray]:
        """The last probability is what the others leave."""
        p = np.array(p, float)
        rest = 1 - p[..., :-1].sum(-1)
        p[..., -1] = np.where(abs(p.sum(-1) - 1) > 1e-14, rest, p[..., -1])
        return np.asarray(n, float), p

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """The logarithm of the probability of counts along the last axis of x."""
        return self.density.logpmf(_counts(x), *self._processed(n, p))

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """The probability."""
        return self.density.pmf(_counts(x), *self._processed(n, p))

    def mean(self, n: Any, p: Any) -> Any:
        """The mean; nan where parameters are no probabilities or no number of trials."""
        n, p = self._processed(n, p)
        return self._valid(n, p)[..., None] * p

    def cov(self, n: Any, p: Any) -> Any:
        """The covariance matrices."""
        n, p = self._processed(n, p)
        return self._valid(n, p)[..., None, None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])

    def entropy(self, n: Any, p: Any) -> Any:
        """The entropy in nats, by the sums over the counts of each outcome."""
        n, p = self._processed(n, p)
        n = self._valid(n, p)
        shape = np.broadcast_shapes(n.shape, p.shape[:-1])
        n, p = np.broadcast_to(n, shape), np.broadcast_to(p, (*shape, p.shape[-1]))
        x = np.arange(1.0, np.nan_to_num(n).max(initial=0) + 1)
        mass = np.asarray(densities["binomial"].pmf(x, n[..., None, None], p[..., None]))
        of_counts = np.sum(mass * special.gammaln(x + 1), axis=(-2, -1))
        return (n * special.entr(p).sum(-1) - special.gammaln(n + 1) + of_counts)[()]

    @staticmethod
    def _valid(n: np.ndarray, p: np.ndarray) -> np.ndarray:
        """n, and nan where n or p lies outside of its domain."""
        fine = (n >= 0) & (n == np.floor(n)) & np.all((p >= 0) & (p <= 1), -1)
        return np.where(fine, n, np.nan)

    def rvs(self, n: Any, p: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, counts along the last axis."""
        return _whole(self._draws(self._processed(n, p), size, random_state))


class DirichletMultinomial(Multivariate):
    __doc__ = Multivariate.__doc__
    name, of, parameters = "dirichlet_multinomial", "dirichlet_multinomial", ("alpha", "n")

    def _processed(self, alpha: Any, n: Any) -> tuple[np.ndarray, np.ndarray]:
        alpha, n = np.asarray(alpha, float), np.asarray(n, float)
        if not alpha.ndim or not np.all(alpha > 0):
            raise ValueError(f"alpha must be positive numbers along its last axis, not {alpha}")
        if not np.all((n >= 0) & (n == np.floor(n))):
            raise ValueError(f"n must be whole numbers that are not negative, not {n}")
        return n, alpha

    def logpmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The logarithm of the probability of counts along the last axis of x."""
        return self.density.logpmf(_counts(x), *self._processed(alpha, n))

    def pmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The probability."""
        return self.density.pmf(_counts(x), *self._processed(alpha, n))

    def mean(self, alpha: Any, n: Any) -> Any:
        """The mean."""
        n, alpha = self._processed(alpha, n)
        return n[..., None] * alpha / alpha.sum(-1, keepdims=True)

    def cov(self, alpha: Any, n: Any) -> Any:
        """The covariance matrices."""
        n, alpha = self._processed(alpha, n)
        total = alpha.sum(-1)
        p, factor = alpha / total[..., None], n * (n + total) / (1 + total)
        return factor[..., None, None] * (p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :])

    def var(self, alpha: Any, n: Any) -> Any:
        """The variances, the diagonals of the covariance matrices."""
        return np.diagonal(self.cov(alpha, n), axis1=-2, axis2=-1).copy()


def _counts(x: Any) -> Any:
    return x if is_device_array(x) else np.asarray(x, float)


def _whole(draws: Any) -> Any:
    return draws if is_device_array(draws) else draws.astype(np.int64)


_CLASSES = (MultivariateNormal, MultivariateT, Dirichlet, Multinomial, DirichletMultinomial)


@functools.cache
def multivariate() -> dict[str, Multivariate]:
    """The distributions by their names."""
    return {made.name: made() for made in _CLASSES}


def _named(name: str) -> Multivariate:
    return multivariate()[name]
