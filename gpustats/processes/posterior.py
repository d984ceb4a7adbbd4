"""Gaussian process at new points, given data: moments of each point, joint covariances and draws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..density import densities
from ..draws.generator import Rng, as_generator
from ..evaluation.placement import empty, moved
from ..evaluation.results import delivered, written
from ..linalg.matrix import Matrix
from ..runtime.types import Array
from .factor import Factorised
from .prediction import Prediction, variance_of_t
from .process import NewPoints

#: Bytes of the covariances between data and new points that predictions have at a time.
CHUNK_BYTES = 1 << 27


class Posterior:
    """Distribution of a Gaussian process at m new points, given the data of a factor.

    Parameters
    ----------
    factor : Factorised
        Factor of the data's covariance matrix.
    new : NewPoints
        The points, with their prior mean and noise: attributes of the posterior, too.
    """

    def __init__(self, factor: Factorised, new: NewPoints) -> None:
        self.factor, self.xs, self.mean, self.noise, self.m = factor, new.xs, new.mean, new.noise, new.m
        self.is_noisy = new.is_noisy

    def parts(self, beside: int = 0) -> Iterator[slice]:
        """Ranges of points that are worked on one after another, each with `beside` points beside those of the data."""
        factor = self.factor
        step = max(factor.at_once * CHUNK_BYTES // (max(factor.n + beside, 1) * factor.pairs.dtype.itemsize), 64)
        return (slice(i, i + step) for i in range(0, self.m, step))

    def prediction(self, cov: bool, native: bool) -> Prediction:
        """Result of `predict`; `cov`: with covariances; `native`: device arrays."""
        factor = self.factor
        location, scale = (delivered(factor.runtime, a, native) for a in self.moments())
        covariance = None
        if cov:
            times = 1.0 if factor.df is None else variance_of_t(factor.df)
            covariance = delivered(factor.runtime, self.covariance(times), native)
        return Prediction(location, scale, covariance, factor.df, noise=self.is_noisy)

    def drawn(self, size: int | None, rng: Rng, native: bool) -> Array:
        """Result of `draw`; `native`: a device array."""
        count, generator, n = 1 if size is None else int(size), as_generator(rng), self.factor.n
        squares = densities["chi_squared"].rvs(float(max(n, 1)), size=(count, 1), rng=generator.jumped())
        z = densities["normal"].rvs(0.0, 1.0, size=(count, self.m), rng=generator)
        if self.factor.student_t:
            z *= np.sqrt(n / squares)
        out = delivered(self.factor.runtime, self.draws(z), native)
        return out.reshape(self.m) if size is None else out

    def moments(self) -> tuple[Array, Array]:
        """Location and scale at each new point, (m,) arrays as kernels write them."""
        factor, runtime, dtype = self.factor, self.factor.runtime, self.mean.dtype
        location, scale = moved(runtime, self.mean), empty(runtime, self.m, dtype)
        for part in self.parts():
            factor.predict(self.xs[part], location[part], scale[part], self.noise[part], self.factor.scale2)
        return location, scale

    def covariance(self, times: float) -> Array:
        """The covariances of all new points times a number, an (m, m) array as kernels write it."""
        m = self.m
        if not m:
            return empty(self.factor.runtime, (0, 0), self.mean.dtype)
        return self.factor.covariance(self.xs, self.noise, self.factor.scale2 * times).memory.array.reshape(m, m)

    def draws(self, z: np.ndarray) -> Array:
        """Joint draws, an array (size, m) as kernels write it, of standard normal draws (size, m).

        Raises
        ------
        numpy.linalg.LinAlgError
            Where the new points' covariance matrix is not positive definite, nor with variances that are a little larger.
        """
        runtime, provider = self.factor.runtime, self.factor.provider
        out = moved(runtime, np.tile(written(runtime, self.moments()[0]), (len(z), 1)))
        if out.size:
            root = self._root()
            normal = Matrix.over(runtime, moved(runtime, z.astype(self.mean.dtype)))
            provider.gemm(1.0, normal, root.T, 1.0, Matrix.over(runtime, out))
            self.factor.pairs.finish()
        return out

    def _root(self) -> Matrix:
        """Lower triangle whose product with its transpose is the new points' squared scale."""
        factor, runtime, provider = self.factor, self.factor.runtime, self.factor.provider
        largest = float(written(runtime, factor.pairs.diagonal(self.xs, factor.values)).max())
        variances, dtype = written(runtime, self.noise), self.mean.dtype
        jitter = 4 * np.finfo(dtype).eps
        for _ in range(8):
            noise = moved(runtime, (variances + jitter * largest).astype(dtype))
            root = factor.covariance(self.xs, noise, self.factor.scale2)
            if not provider.read(provider.potrf(root)).any():
                provider.lower(root, root)
                return root
            jitter *= 10
        raise np.linalg.LinAlgError(f"the covariance matrix of {self.m} new points is not positive definite")
