"""Log-likelihood of a Gaussian process by Vecchia's approximation, its gradient, and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...evaluation.placement import empty, moved
from ...evaluation.results import delivered, written
from ...parallel.remade import fetched, placed
from ...runtime import arrays, choose
from ...runtime.base import Runtime
from ...runtime.cached import cached_property
from ...runtime.choose import Devices
from ...runtime.types import Array
from ..covariance import Covariance
from ..local.nearest import Nearest
from ..pairs import PairsCode
from ..parameters import MEAN, SIGMA, Given, Parameters, ParameterSets, Y
from ..prediction import Prediction
from ..process import GaussianProcess, PriorMean, new_points, one_set
from .conditionals import Conditionals, Points
from .neighbours import NEIGHBOURS_AT_ONCE, earlier_neighbours, nearest_rows, search_among
from .ordering import ordered
from .spread import Spread

MOST_NEIGHBOURS = 64  # of a point


class Vecchia(GaussianProcess):
    """Log-likelihood of a Gaussian process, approximated: a product of densities given the nearest points before each.

    Parameters
    ----------
    cov : Covariance
        Such as `gs.rbf`, a sum or a product of several, or one registered by `gs.register`.
    x : (n, p) or (n,) array_like
        Points in rows.
    y : (n,) array_like
        Observations. Everything is computed in float32 where x and y are float32, else in float64; sums always in float64.
    neighbours : int, optional
        On how many points each is conditioned, up to 64. With n - 1 the likelihood is exact. Default: 30.
    ordering : {"maxmin", "random", "coordinate"} or (n,) array_like of int, optional
        Order of the points: ``"maxmin"``, where each is far from all before, which is best where points fill an area;
        ``"random"``, nearly as good; ``"coordinate"``, by the sum of their coordinates; or a permutation of the rows.
    scales : (p,) array_like, optional
        Lengths by which the columns are divided before points are ordered and neighbours are searched for, such as
        lengthscales that were found before. Default: 1.
    mean : float or callable, optional
        The prior mean where a call gives none: a number, or a function of points (m, p) that returns (m,). Default: 0.
    jitter : float, optional
        Added to the diagonal of K, relative to each of its elements. Default: 0.
    seed : int, optional
        Seed of the orders that are random, in part or altogether. Default: 0.
    devices : "all" or sequence of str, optional
        Several devices, each of which evaluates the densities of as many points; predictions are made by the one on which the
        data lie. By default that does all.

    Attributes
    ----------
    n, m : int
        Observations, and the most that one is conditioned on.
    order : (n,) ndarray of int64
        The rows of x in their order.
    neighbours : (n, m) ndarray of int32
        For each row of x those on which it is conditioned, nearest first; -1 where there are fewer.

    Raises
    ------
    ValueError
        Where shapes do not go together, there are no observations, or x or y have nan or infinite numbers.

    Notes
    -----
    The log-likelihood is the sum over i of log p(y_i | y_c(i)), where c(i) are the points nearest to x_i among those before it
    (Vecchia 1988; Guinness 2018; Katzfuss & Guinness 2021). Each term takes the factorisation of a matrix of m + 1 rows, so
    that an evaluation takes n (m³ / 3 + 4 m²) operations, those of covariances, of which there are n m² / 2, and with
    derivatives as many more of these; memory is for n m whole numbers. In l l', the factor of the matrix of a point and its
    neighbours, u = l'⁻¹ e for the point's unit vector e is what the point's density depends on: with z = u'r, r being what is
    observed less the mean, its logarithm is log u_i - z² / 2, and its derivative in the matrix has rank two, so that no inverse
    is computed.

    All methods take the covariance function's hyperparameters, ``sigma`` and ``mean`` by name, as those of
    `MarginalLikelihood` do, also several sets of them. The noise is part of each matrix: what points are conditioned on is
    observations.

    The neighbours are exact, found on a CPU by k-d trees for points of up to 5 columns, else by comparing distances on the
    device. Of up to 4,096 points the order ``"maxmin"`` is exact; of more, points are added in rounds of ever more, those
    that are farthest from all before among a sample, and far from each other. It takes k-d trees on the host, which are slow
    for points of many columns.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> x = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> y = np.sin(6 * x[:, 0]) * x[:, 1]
    >>> v = gs.gp.Vecchia(gs.matern32, x, y, neighbours=10)
    >>> values = dict(amplitude=1.0, lengthscale=0.5, sigma=0.1)
    >>> value, gradient = v.value_and_grad(**values)
    >>> v.predict(np.array([[0.3, 0.7], [0.5, 0.5]]), **values).mean.round(2)
    array([0.68, 0.08])
    """

    def __init__(
        self, cov: Covariance, x: ArrayLike, y: ArrayLike, neighbours: int = 30, ordering: ArrayLike = "maxmin", *,
        scales: Given = None, mean: PriorMean = 0.0, jitter: float = 0.0, seed: int = 0, devices: Devices | None = None,
    ) -> None:  # fmt: skip
        super().__init__(cov, x, y, mean, jitter)
        data, n, columns = self.data, self.n, self.columns
        if not n:
            raise ValueError(f"there are no observations: x has shape {data.host_x.shape}")
        PairsCode(cov, columns, ())  # complains of columns that are not there
        self._asked = whole(neighbours)
        self.m = min(self._asked, n - 1)
        self.scales = np.ones(columns) if scales is None else np.array(scales, np.float64)
        if self.scales.shape != (columns,) or not (np.isfinite(self.scales) & (self.scales > 0)).all():
            raise ValueError(f"scales must be ({columns},) positive numbers, not {scales!r}")
        self._scaled = data.host_x / self.scales
        self.order = ordered(ordering, self._scaled, seed)
        runtimes = None if devices is None else choose.several(devices)
        self._bind(earlier_neighbours(data.runtime, self._scaled[self.order], self.m), runtimes)

    def _bind(self, neighbours: np.ndarray, runtimes: list[Runtime] | None) -> None:
        """Create the evaluators, for neighbours as places in the order, on the data's device or on others."""
        data, lift, self._runtimes = self.data, 1 + self.jitter, runtimes
        x, y = data.host_x[self.order], data.y[self.order]
        self._conditionals = Conditionals(self.cov, Points.on(data.runtime, x, y, neighbours, 0, self.n), lift)
        self._likelihood = self._conditionals if runtimes is None else Spread(self.cov, runtimes, x, y, neighbours, lift)

    def __reduce__(self) -> tuple[object, ...]:
        x, y = (fetched(a) for a in self.data.given)
        devices = None if self._runtimes is None else [runtime.device.id for runtime in self._runtimes]
        known = self.scales, self._asked, self.order, self._conditionals.points.neighbours, devices
        return _rebuilt, (self.cov, x, y, self.prior_mean, self.jitter, *known)

    def __repr__(self) -> str:
        shape = (self.n, self.columns)
        return f"<Vecchia of {self.cov.name} for x {shape} {self.data.dtype}, {self.m} neighbours, on {self.device.id}>"

    def _settings(self) -> Mapping[str, object]:
        return {"likelihood": "Vecchia's approximation", "neighbours": self.m}

    @property
    def neighbours(self) -> np.ndarray:
        places = self._conditionals.points.neighbours
        found = np.empty_like(places)
        found[self.order] = np.where(places < 0, -1, self.order[places]) if self.m else places
        return found

    # -- what users call

    def predict(
        self, xs: ArrayLike, *, noise: ArrayLike = False, mean_xs: Given = None, neighbours: int | None = None,
        sigma: Given = None, mean: Given = None, **hyperparameters: ArrayLike,
    ) -> Prediction:  # fmt: skip
        """Distribution of the process at new points, each by itself, given the nearest observations.

        Parameters
        ----------
        xs : (k, p) or (k,) array_like
            New points. They are taken in chunks.
        noise, mean_xs, sigma, mean, **hyperparameters
            As for `MarginalLikelihood.predict`.
        neighbours : int, optional
            On how many observations each is conditioned, up to 64. By default as for the likelihood.

        Returns
        -------
        Prediction
            With NumPy arrays, or device arrays where xs is one.

        Raises
        ------
        numpy.linalg.LinAlgError
            Where the matrix of a point's neighbours is not positive definite.
        """
        parameters, data, native = one_set(self, sigma, mean, hyperparameters), self.data, arrays.is_device_array(xs)
        new = new_points(data, self.prior_mean, parameters, xs, noise, mean_xs)
        count = min(whole(self._asked if neighbours is None else neighbours), self.n)
        runtime, size = data.runtime, new.m
        location, scale, known = moved(runtime, new.mean), empty(runtime, size, data.dtype), np.ones(size, bool)
        values, step = self._in_order(parameters.rows), max(NEIGHBOURS_AT_ONCE // count, 1)
        for i in range(0, size, step):
            part = slice(i, i + step)
            where = np.asarray(written(runtime, new.xs[part]), np.float64) / self.scales
            known[part] = np.isfinite(where).all(1)
            nearest = moved(runtime, nearest_rows(self._search, where, count))
            self._conditionals.predict(values, new.xs[part], nearest, location[part], scale[part], new.noise[part])
        if not np.isfinite(written(runtime, scale)[known]).all():
            raise self._not_positive_definite(parameters)
        return Prediction(*(delivered(runtime, a, native) for a in (location, scale)), noise=new.is_noisy)

    # -- the pieces of a call

    @cached_property
    def _search(self) -> Nearest:
        """Search for nearest points among all observations, in their order."""
        return search_among(self.data.runtime, self._scaled[self.order])

    def _in_order(self, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Arguments by name, with numbers for each observation in the points' order."""
        return {n: a[:, self.order] if n in (SIGMA, MEAN) and a.shape[1] == self.n else a for n, a in rows.items()}

    def _evaluate(self, parameters: Parameters | ParameterSets, wrt: tuple[str, ...]) -> tuple[Array, dict[str, Array]]:
        values, slopes = self.sums_of_sets(parameters.rows, parameters.n_sets, wrt)
        found = {n: slope.sum(0) if n == Y else parameters.as_given(n, slope) for n, slope in slopes.items()}
        gradient = self.data.gradient(found, wrt)
        if isinstance(parameters, ParameterSets):
            return values.reshape(parameters.lead), gradient
        if not np.isfinite(values[0]):
            raise self._not_positive_definite(parameters)
        return values.item(), gradient

    def sums_of_sets(
        self, arguments: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str], *, several: bool = True
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        if not n_sets:
            return np.zeros(0), {n: np.zeros((0, self.n if n == Y else arguments[n].shape[1])) for n in wrt}
        values, slopes = self._likelihood(self._in_order(arguments), n_sets, tuple(wrt))
        for name, slope in slopes.items():
            if name in (Y, SIGMA, MEAN) and slope.shape[1] == self.n:
                slopes[name] = np.empty_like(slope)
                slopes[name][:, self.order] = slope
        return values, slopes

    def _not_positive_definite(self, parameters: object) -> np.linalg.LinAlgError:
        return np.linalg.LinAlgError(
            f"the covariance matrix of a point and its {self.m} neighbours is not positive definite, or too large, at "
            f"{parameters}; take a larger sigma, or give a jitter such as {np.finfo(self.data.dtype).eps * 1e4:.0e}"
        )


def whole(neighbours: object) -> int:
    """Number of neighbours as an int, or ValueError."""
    if isinstance(neighbours, bool) or not isinstance(neighbours, (int, np.integer)) or not 1 <= neighbours <= MOST_NEIGHBOURS:
        raise ValueError(f"neighbours = {neighbours}: it must be a whole number from 1 to {MOST_NEIGHBOURS}")
    return int(neighbours)


def _rebuilt(
    cov: Covariance, x: ArrayLike, y: ArrayLike, mean: PriorMean, jitter: float, scales: np.ndarray, asked: int,
    order: np.ndarray, neighbours: np.ndarray, devices: list[str] | None,
) -> Vecchia:  # fmt: skip
    made = Vecchia.__new__(Vecchia)
    GaussianProcess.__init__(made, cov, placed(x), placed(y), mean, jitter)
    made.m, made.scales, made._asked, made.order = neighbours.shape[1], scales, asked, order
    made._scaled = made.data.host_x / scales
    made._bind(neighbours, None if devices is None else choose.several(devices))
    return made
