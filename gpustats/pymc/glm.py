"""The PyMC distribution of a GLM's observations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pymc.distributions.distribution import Continuous, Discrete, Distribution, _support_point
from pymc.logprob.abstract import _logccdf, _logcdf
from pytensor.graph.basic import Variable

from ..density import Density
from ..glm.family import COEFFICIENTS, DESIGN, INTERCEPT
from .distributions import RESERVED, as_parameter
from .evaluation.glm import GLMFormula
from .graph.ops import LogDensity
from .random_variable import DensityRV, point_of, signature_of


class GLM(Distribution):
    """The distribution of observations whose linear predictor is ``X @ beta + alpha + offset``.

    The log-likelihood and its gradients in coefficients, intercept, the density's other parameters, and X where it is random,
    come from one reading of X on the device. Sampling with NUTS costs one such reading a step.

    Parameters
    ----------
    density : Density
        Of one number, with a parameter that is the linear predictor, such as `gs.bernoulli_logit` or `gs.poisson_log`.
    X : tensor_like (N, k)
        The design matrix. An array stays on the device; float32 is computed in float32. (PyMC's `Data` may change, so that it
        travels to the device at each evaluation: freeze it.)
    beta : tensor_like (k,)
        Coefficients; (k, C) where the linear predictor is a vector, as that of `gs.categorical_logit`.
    alpha : tensor_like, optional
        Intercept: a number, one for each observation (N,), or, with `groups`, one for each group (G,). (C,), (N, C), (G, C)
        where the linear predictor is a vector.
    eta : str
        Name of the density's parameter that is the linear predictor.
    groups : (N,) array_like of int, optional
        The group of each observation, from 0 to G - 1.
    offset, weights : (N,) array_like, optional
        Added to the linear predictor; how often each observation counts in the log-likelihood.
    **kwargs
        The density's other parameters, numbers or one for each observation; and ``observed=``, ``dims=``, … as for every PyMC
        distribution.

    Raises
    ------
    ValueError
        Where the density has no parameter `eta`, or names are unknown or missing.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> X, y = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]), np.array([1, 0, 1])
    >>> with pm.Model() as model:
    ...     beta, alpha = pm.Normal("beta", shape=2), pm.Normal("alpha")
    ...     _ = gpm.GLM("y", gs.bernoulli_logit, X=X, beta=beta, alpha=alpha, observed=y)
    >>> logp = model.compile_logp(vars=[model["y"]])
    >>> round(float(logp({"beta": np.array([0.3, -0.2]), "alpha": 0.1})), 6)
    -1.546198
    """

    @classmethod
    def dist(
        cls, density: Density, X: Any, beta: Any, alpha: Any = 0.0, *, eta: str = "eta", groups: Any = None, offset: Any = None,
        weights: Any = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        options = {n: v for n, v in (("groups", groups), ("offset", offset), ("weights", weights)) if v is not None}
        formula = GLMFormula(density, eta, tuple(options))
        own = {n: kwargs.pop(n) for n in list(kwargs) if n not in RESERVED}
        wanted = formula.family.parameters
        if unknown := set(own) - set(wanted):
            has = ", ".join(wanted) or "none"
            raise ValueError(f"{density.name} has no parameter {unknown.pop()!r} beside {eta}; it has {has}")
        own = {**{n: v for n, v in density.defaults.items() if n in wanted}, **own}
        if lacking := [n for n in wanted if n not in own]:
            raise ValueError(f"{density.name} needs {', '.join(lacking)}")
        given = {DESIGN: X, COEFFICIENTS: beta, INTERCEPT: alpha, **options, **own}
        parameters = [_parameter(n, given[n], r) for n, r in zip(formula.names[1:], formula.ranks[1:], strict=True)]
        return _of(formula)._dist(parameters, **kwargs)

    @classmethod
    def _dist(cls, parameters: list[Variable], **kwargs: Any) -> Any:
        return super().dist(parameters, **kwargs)


def _parameter(name: str, value: Any, rank: int) -> Variable:
    if name == DESIGN and not isinstance(value, Variable):
        value = np.asarray(value)
        if value.ndim != 2:
            raise ValueError(f"X must be a matrix, (N, k); it has shape {value.shape}")
        return pt.constant(value if value.dtype == np.float32 else value.astype(np.float64))
    variable = as_parameter(value)
    if variable.type.ndim < rank:
        kind = "a vector" if rank == 1 else "a matrix"
        if name == INTERCEPT and not variable.type.ndim:
            raise ValueError(f"alpha is a number: it must be {kind} here, with a value for each group or outcome")
        raise ValueError(f"{name} must be {kind}; it has {variable.type.ndim} dimensions")
    return variable


class GLMRV(DensityRV):
    """The random variable of a GLM's observations."""

    formula: GLMFormula


@functools.lru_cache(1024)
def _of(formula: GLMFormula) -> type[GLM]:
    kind = Discrete if formula.density.discrete else Continuous
    return type("GLM", (GLM, kind), {"__module__": "gpustats.pymc", "rv_op": GLMRV(formula, None, signature_of(formula))})


def _plain(formula: GLMFormula, parameters: Sequence[Variable]) -> list[Variable]:
    """The density's own parameters, in its order."""
    return list(formula.plain_parameters(parameters).values())


@_logcdf.register(GLMRV)
def _logcdf_of(op: GLMRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.plain.of_kind("logcdf"))(value, *_plain(op.formula, params))


@_logccdf.register(GLMRV)
def _logsf_of(op: GLMRV, value: Variable, rng: Variable, size: Variable, *params: Variable, **_: Any) -> Any:
    return LogDensity(op.formula.plain.of_kind("logsf"))(value, *_plain(op.formula, params))


@_support_point.register(GLMRV)
def _point(op: GLMRV, rv: Variable, rng: Variable, size: Variable, *params: Any) -> Any:
    shape = op._infer_shape(size, params)
    return pt.broadcast_to(point_of(op.formula.plain, _plain(op.formula, params), shape[-1:]), shape)
