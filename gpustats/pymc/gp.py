"""The PyMC distributions of a Gaussian process' observations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.distribution import Distribution
from pytensor.graph.basic import Constant, Variable

from ..compiler.evaluation.gp import POINTS, GPFormula, VecchiaFormula
from ..compiler.graph.types import TensorLike, TensorVariable, Variables
from ..processes.covariance import Covariance
from ..processes.hyperparameters import check_names, refuse_names
from ..processes.parameters import MEAN, SIGMA
from .parameters import RESERVED, as_float_constant, as_parameter, take_parameters
from .random_variable import DensityRV, random_variable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class GPMarginal(Distribution):
    """Distribution of noisy observations of a Gaussian process, the process itself integrated out.

    The log-density is that of a multivariate normal distribution with covariance matrix K + diag(sigma²). It comes with its
    gradient in everything that is random from one evaluation on the device: see `gpustats.gp.MarginalLikelihood`. A matrix that
    is not positive definite, as a hyperparameter outside its domain, is an invalid parameter: -inf in a model.

    Parameters
    ----------
    cov : Covariance
        Covariance function such as `gs.rbf`, or a sum or a product of several.
    x : tensor_like (n, p) or (n,)
        Points in rows. An array stays on the device; float32 is computed in float32.
    sigma : tensor_like, optional
        Standard deviation of the noise: a number, or one for each observation, (n,). Default: 0.
    mean : tensor_like, optional
        Prior mean: a number, or one for each observation, (n,). Default: 0.
    jitter : float, optional
        Number added to the diagonal of K, relative to its elements. Default: 0.
    **kwargs
        The covariance function's hyperparameters: numbers, or vectors (p,) for lengthscales; and ``observed=``, ``dims=``, … as
        for every PyMC distribution.

    Raises
    ------
    ValueError
        Where names are unknown or missing, or shapes do not go together.

    Notes
    -----
    Of few observations, one kernel evaluates all points of `gpustats.pymc.batched`, and compiled code starts it without Python.

    Predictions at new points for draws of the posterior are those of ``gs.gp.MarginalLikelihood(cov, x, y).predict(xs, …)``.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> x, y = np.array([0.0, 0.5, 2.0]), np.array([0.1, 0.4, -0.3])
    >>> with pm.Model() as model:
    ...     amplitude, lengthscale = pm.HalfNormal("amplitude"), pm.InverseGamma("lengthscale", 5, 5)
    ...     _ = gpm.GPMarginal("y", gs.rbf, x=x, amplitude=amplitude, lengthscale=lengthscale, sigma=0.1, observed=y)
    >>> logp = model.compile_logp(vars=[model["y"]])
    >>> round(float(logp({"amplitude_log__": 0.0, "lengthscale_log__": 0.0})), 6)
    -2.361514
    """

    @classmethod
    def dist(
        cls, cov: Covariance, x: TensorLike, sigma: TensorLike = 0.0, mean: TensorLike = 0.0, *, jitter: float = 0.0,
        **kwargs: object,
    ) -> TensorVariable:  # fmt: skip
        return _observations(cov, _points(x), sigma, mean, kwargs, lambda vectors: GPFormula(cov, vectors, jitter))


class GPVecchia(Distribution):
    """Distribution of noisy observations of a Gaussian process by Vecchia's approximation, for up to millions of them.

    Each observation is normal given the nearest of those before it: see `gpustats.gp.Vecchia`. The log-density and its gradient
    in all hyperparameters, sigma, mean and the observations come from one launch. What `GPMarginal` says holds otherwise.

    Parameters
    ----------
    cov : Covariance
        Covariance function such as `gs.matern32`, or a sum or a product of several.
    x : array_like (n, p) or (n,)
        Points in rows, which are not random. float32 is computed in float32.
    sigma : tensor_like, optional
        Standard deviation of the noise: a number, or one for each observation, (n,). Default: 0.
    mean : tensor_like, optional
        Prior mean: a number, or one for each observation, (n,), such as ``X @ beta``. Default: 0.
    neighbours, ordering, scales, jitter : optional
        As for `gpustats.gp.Vecchia`.
    **kwargs
        The covariance function's hyperparameters: numbers, or vectors (p,) for lengthscales; and ``observed=``, ``dims=``, … as
        for every PyMC distribution.

    Raises
    ------
    ValueError
        Where names are unknown or missing, shapes do not go together, or x is random.

    Notes
    -----
    Draws, such as those from the prior, are those of the exact process, for as many points as there is memory for n² numbers.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> x, y = np.array([0.0, 0.5, 2.0]), np.array([0.1, 0.4, -0.3])
    >>> with pm.Model() as model:
    ...     lengthscale = pm.InverseGamma("lengthscale", 5, 5)
    ...     _ = gpm.GPVecchia("y", gs.matern32, x=x, amplitude=1.0, lengthscale=lengthscale, sigma=0.1, observed=y)
    >>> round(float(model.compile_logp(vars=[model["y"]])({"lengthscale_log__": 0.0})), 4)
    -2.5061
    """

    @classmethod
    def dist(
        cls, cov: Covariance, x: ArrayLike, sigma: TensorLike = 0.0, mean: TensorLike = 0.0, *, neighbours: int = 30,
        ordering: str | np.ndarray = "maxmin", scales: ArrayLike | None = None, jitter: float = 0.0, **kwargs: object,
    ) -> TensorVariable:  # fmt: skip
        def formula(vectors: tuple[str, ...]) -> VecchiaFormula:
            return VecchiaFormula(cov, vectors, jitter, neighbours, ordering, scales)

        points = _points(x)
        if not isinstance(points, Constant):
            raise ValueError("x is random, or shared: neighbours are those of points that never change; take gpm.GPMarginal")
        return _observations(cov, points, sigma, mean, kwargs, formula)


def _observations(
    cov: Covariance, points: Variable, sigma: TensorLike, mean: TensorLike, kwargs: dict[str, object],
    formula: Callable[[tuple[str, ...]], GPFormula],
) -> TensorVariable:  # fmt: skip
    """Random variable of observations; `formula` takes the names of the parameters that are vectors."""
    if not isinstance(cov, Covariance):
        raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
    refuse_names(cov, {*RESERVED, POINTS, SIGMA, MEAN, "jitter", "neighbours", "ordering", "scales"})
    hyperparameters: dict[str, Any] = take_parameters(kwargs)
    check_names(cov, hyperparameters)
    values = {SIGMA: sigma, MEAN: mean, **{n: hyperparameters[n] for n in cov.parameters}}
    parameters = {n: as_parameter(v) for n, v in values.items()}
    may_be_vectors = {SIGMA, MEAN, *(i.lengthscale for i in cov.inputs)}
    for name, variable in parameters.items():
        if variable.type.ndim > (name in may_be_vectors):
            wanted = "a number or a vector" if name in may_be_vectors else "a number"
            raise ValueError(f"{name} has {variable.type.ndim} dimensions: it must be {wanted}")
    vectors = tuple(n for n, v in parameters.items() if v.type.ndim)
    return random_variable(GPMarginalRV(formula(vectors)), [points, *parameters.values()], **kwargs)


def _points(x: TensorLike) -> Variable:
    """Points in rows: a constant stays one, so that it stays on the device."""
    points = pt.as_tensor_variable(x) if isinstance(x, Variable) else as_float_constant(x)
    if points.type.ndim == 1:
        points = pt.constant(points.data[:, None]) if isinstance(points, Constant) else points[:, None]
    if points.type.ndim != 2:
        raise ValueError(f"x has {points.type.ndim} dimensions: it must be (n, p), points in rows, or (n,)")
    return points


class GPMarginalRV(DensityRV):
    """Random variable of a Gaussian process' observations."""

    formula: GPFormula

    def default_transform(self) -> None:
        return None

    def support_point(self, size: Variable, parameters: Variables) -> Variable:
        mean = parameters[self.formula.names.index(MEAN) - 1]
        return pt.broadcast_to(mean, self._infer_shape(size, parameters))
