"""The PyMC distributions of a Gaussian process' observations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous
from pytensor.graph.basic import Constant, Variable

from ..compiler.evaluation.gp import POINTS, GPFormula, VecchiaFormula
from ..processes.covariance import Covariance
from ..processes.hyperparameters import check_names, refuse_names
from ..processes.parameters import MEAN, SIGMA
from .parameters import RESERVED, as_float_constant, as_parameter, take_parameters
from .random_variable import DensityRV, FormulaDistribution


class GPMarginal(FormulaDistribution):
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
    def dist(cls, cov: Covariance, x: Any, sigma: Any = 0.0, mean: Any = 0.0, *, jitter: float = 0.0, **kwargs: Any) -> Any:
        made, x, parameters = _taken(cov, x, sigma, mean, kwargs, lambda vectors: GPFormula(cov, vectors, jitter))
        return _class_of(made)._of_variables([x, *parameters], **kwargs)


class GPVecchia(FormulaDistribution):
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
        cls, cov: Covariance, x: Any, sigma: Any = 0.0, mean: Any = 0.0, *, neighbours: int = 30, ordering: Any = "maxmin",
        scales: Any = None, jitter: float = 0.0, **kwargs: Any,
    ) -> Any:  # fmt: skip
        def formula(vectors: tuple[str, ...]) -> VecchiaFormula:
            return VecchiaFormula(cov, vectors, jitter, neighbours, ordering, scales)

        made, x, parameters = _taken(cov, x, sigma, mean, kwargs, formula)
        if not isinstance(x, Constant):
            raise ValueError("x is random, or shared: neighbours are those of points that never change; take gpm.GPMarginal")
        return _class_of(made)._of_variables([x, *parameters], **kwargs)


F = TypeVar("F", bound=GPFormula)


def _taken(
    cov: Covariance, x: Any, sigma: Any, mean: Any, kwargs: dict[str, Any], formula: Callable[[tuple[str, ...]], F]
) -> tuple[F, Variable, list[Variable]]:
    """Formula, of the names of parameters that are vectors, the points, and the parameters, which `kwargs` lose."""
    if not isinstance(cov, Covariance):
        raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
    refuse_names(cov, {*RESERVED, POINTS, SIGMA, MEAN, "jitter", "neighbours", "ordering", "scales"})
    hyperparameters = take_parameters(kwargs)
    check_names(cov, hyperparameters)
    values = {SIGMA: sigma, MEAN: mean, **{n: hyperparameters[n] for n in cov.parameters}}
    parameters = {n: as_parameter(v) for n, v in values.items()}
    may_be_vectors = {SIGMA, MEAN, *(i.lengthscale for i in cov.inputs)}
    for name, variable in parameters.items():
        if variable.type.ndim > (name in may_be_vectors):
            wanted = "a number or a vector" if name in may_be_vectors else "a number"
            raise ValueError(f"{name} has {variable.type.ndim} dimensions: it must be {wanted}")
    vectors = tuple(n for n, v in parameters.items() if v.type.ndim)
    return formula(vectors), _points(x), list(parameters.values())


def _points(x: Any) -> Variable:
    """Points in rows: a constant stays one, so that it stays on the device."""
    if not isinstance(x, Variable):
        x = as_float_constant(x)
    if x.type.ndim == 1:
        x = pt.constant(x.data[:, None]) if isinstance(x, Constant) else x[:, None]
    if x.type.ndim != 2:
        raise ValueError(f"x has {x.type.ndim} dimensions: it must be (n, p), points in rows, or (n,)")
    return x


class GPMarginalRV(DensityRV):
    """Random variable of a Gaussian process' observations."""

    formula: GPFormula

    def _hint(self) -> str:
        return ""

    def default_transform(self, rv: Variable) -> None:
        return None

    def support_point(self, size: Variable, parameters: Sequence[Any]) -> Variable:
        mean = parameters[self.formula.names.index(MEAN) - 1]
        return pt.broadcast_to(mean, self._infer_shape(size, parameters))


@functools.lru_cache(1024)
def _class_of(formula: GPFormula) -> type[FormulaDistribution]:
    base = GPVecchia if isinstance(formula, VecchiaFormula) else GPMarginal
    return type(base.__name__, (base, Continuous), {"__module__": "gpustats.pymc", "rv_op": GPMarginalRV(formula)})
