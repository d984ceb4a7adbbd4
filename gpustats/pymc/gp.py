"""The PyMC distribution of a Gaussian process' observations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, Distribution, _support_point
from pymc.distributions.transforms import _default_transform
from pytensor.graph.basic import Variable

from ..gp import Covariance
from ..gp.hyperparameters import check_names, refuse_names
from ..gp.parameters import MEAN, SIGMA
from .distributions import RESERVED, as_parameter
from .evaluation.gp import POINTS, GPFormula
from .random_variable import DensityRV, signature_of


class GPMarginal(Distribution):
    """The distribution of noisy observations of a Gaussian process, the process itself integrated out.

    The log-density is that of a multivariate normal distribution with covariance matrix K + diag(sigma²). It comes with its
    gradient in everything that is random from one evaluation on the device: see `gpustats.gp.MarginalLikelihood`. It is -inf
    where the matrix is not positive definite, and nan where a hyperparameter lies outside its domain.

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
        own = {n: kwargs.pop(n) for n in list(kwargs) if n not in RESERVED}
        check_names(cov, own)
        given = {n: as_parameter(v) for n, v in {SIGMA: sigma, MEAN: mean, **{n: own[n] for n in cov.parameters}}.items()}
        scaling = {SIGMA, MEAN, *(i.lengthscale for i in cov.inputs)}
        if wrong := [n for n, v in given.items() if v.type.ndim > (n in scaling)]:
            wanted = "a number or a vector" if wrong[0] in scaling else "a number"
            raise ValueError(f"{wrong[0]} has {given[wrong[0]].type.ndim} dimensions: it must be {wanted}")
        vectors = tuple(n for n, v in given.items() if v.type.ndim)
        return _of(GPFormula(cov, vectors, jitter))._dist([_points(x), *given.values()], **kwargs)

    @classmethod
    def _dist(cls, parameters: list[Variable], **kwargs: Any) -> Any:
        return super().dist(parameters, **kwargs)


def _points(x: Any) -> Variable:
    if not isinstance(x, Variable):
        x = np.asarray(x)
        x = pt.constant(x if x.dtype == np.float32 else x.astype(np.float64))
    if x.type.ndim == 1:
        x = x[:, None] if x.owner is not None or not hasattr(x, "data") else pt.constant(x.data[:, None])
    if x.type.ndim != 2:
        raise ValueError(f"x has {x.type.ndim} dimensions: it must be (n, p), points in rows, or (n,)")
    return x


class GPMarginalRV(DensityRV):
    """The random variable of a Gaussian process' observations."""

    formula: GPFormula

    def __init__(
        self, formula: GPFormula, random: None = None, signature: str | None = None, dtype: str | None = None,
        inplace: bool = False,
    ):  # fmt: skip
        super().__init__(formula, random, signature, dtype or "floatX", inplace)

    def _hint(self) -> str:
        return ""


@functools.lru_cache(1024)
def _of(formula: GPFormula) -> type[GPMarginal]:
    rv_op = GPMarginalRV(formula, None, signature_of(formula))
    return type("GPMarginal", (GPMarginal, Continuous), {"__module__": "gpustats.pymc", "rv_op": rv_op})


@_default_transform.register(GPMarginalRV)
def _transform(op: GPMarginalRV, rv: Variable) -> None:
    return None


@_support_point.register(GPMarginalRV)
def _point(op: GPMarginalRV, rv: Variable, rng: Variable, size: Variable, *params: Any) -> Any:
    mean = params[op.formula.names.index(MEAN) - 1]
    return pt.broadcast_to(mean, op._infer_shape(size, params))
