"""The PyMC distribution of a Gaussian process' observations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous
from pytensor.graph.basic import Constant, Variable

from ..gp import Covariance
from ..gp.hyperparameters import check_names, refuse_names
from ..gp.parameters import MEAN, SIGMA
from .evaluation.gp import POINTS, GPFormula
from .parameters import RESERVED, as_float_constant, as_parameter, take_parameters
from .random_variable import DensityRV, FormulaDistribution


class GPMarginal(FormulaDistribution):
    """The distribution of noisy observations of a Gaussian process, the process itself integrated out.

    The log-density is that of a multivariate normal distribution with covariance matrix K + diag(sigma²). It comes with its
    gradient in everything that is random from one evaluation on the device: see `gpustats.gp.MarginalLikelihood`. A matrix that
    is not positive definite, as a hyperparameter outside its domain, is an invalid parameter: -inf in a model.

    Parameters
    ----------
    cov : Covariance
        Such as `gs.rbf`, or a sum or a product of several.
    x : tensor_like (n, p) or (n,)
        Points in rows. An array stays on the device; float32 is computed in float32.
    sigma : tensor_like, optional
        Standard deviation of the noise: a number, or one for each observation, (n,). Default: 0.
    mean : tensor_like, optional
        Prior mean: a number, or one for each observation, (n,). Default: 0.
    jitter : float, optional
        Added to the diagonal of K, relative to its elements. Default: 0.
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
        if not isinstance(cov, Covariance):
            raise TypeError(f"cov must be a covariance function such as gs.rbf, not {type(cov).__name__}")
        refuse_names(cov, {*RESERVED, POINTS, SIGMA, MEAN, "jitter"})
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
        return _class_of(GPFormula(cov, vectors, jitter))._of_variables([_points(x), *parameters.values()], **kwargs)


def _points(x: Any) -> Variable:
    """The points in rows: a constant stays one, so that it stays on the device."""
    if not isinstance(x, Variable):
        x = as_float_constant(x)
    if x.type.ndim == 1:
        x = pt.constant(x.data[:, None]) if isinstance(x, Constant) else x[:, None]
    if x.type.ndim != 2:
        raise ValueError(f"x has {x.type.ndim} dimensions: it must be (n, p), points in rows, or (n,)")
    return x


class GPMarginalRV(DensityRV):
    """The random variable of a Gaussian process' observations."""

    formula: GPFormula

    def _hint(self) -> str:
        return ""

    def default_transform(self, rv: Variable) -> None:
        return None

    def support_point(self, size: Variable, parameters: Sequence[Any]) -> Variable:
        mean = parameters[self.formula.names.index(MEAN) - 1]
        return pt.broadcast_to(mean, self._infer_shape(size, parameters))


@functools.lru_cache(1024)
def _class_of(formula: GPFormula) -> type[GPMarginal]:
    return type("GPMarginal", (GPMarginal, Continuous), {"__module__": "gpustats.pymc", "rv_op": GPMarginalRV(formula)})
