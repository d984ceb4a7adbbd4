"""Time series of PyMC, with log-densities by gpustats.

Draws, arguments and shapes are PyMC's own, and so are the random variables, in classes derived from PyMC's. A random walk
takes any distributions, gpustats' and PyMC's; its log-density is that of the first value and that of the differences. The
steps of an autoregression that is observed are those of a `gpustats.GLM` with `gs.normal_identity`, whose design matrix has the
values before each; of one that is not, and of a differential equation, they are terms of `gs.normal`. A GARCH series is an
observation of `gs.garch11`.
"""

from __future__ import annotations

from typing import Any

import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import timeseries
from pymc.distributions.distribution import Continuous
from pymc.distributions.shape_utils import get_support_shape_1d
from pymc.exceptions import NotConstantValueError
from pymc.logprob.abstract import _logprob
from pymc.logprob.basic import logp
from pymc.pytensorf import constant_fold
from pytensor.graph.basic import Constant, Variable

from ..compiler.evaluation.glm import GLMFormula
from ..compiler.graph.guard import guarded
from ..compiler.graph.kinds import DerivedRV
from ..compiler.graph.types import Parameter, TensorLike, TensorVariable, Variables
from ..density import densities
from .distributions import distribution, log_density, of_length
from .parameters import as_parameter
from .parametrisations import MvNormal, MvStudentT, Parametrised

#: Distributions of the first value and of the steps of a random walk, and the arguments beside their parameters.
Dists = tuple[Variable, Variable, dict[str, object]]

# -- random walks


class RandomWalkRV(DerivedRV, timeseries.RandomWalkRV):
    """Random walk whose log-density is that of the first value and that of the steps."""


@_logprob.register(RandomWalkRV)
def _walk(
    op: RandomWalkRV, values: Variables, init_dist: Variable, innovation_dist: Variable, *_: object, **__: object
) -> TensorVariable:
    x = pt.moveaxis(values[0], -op.ndim_supp, 0)  # in front, as both distributions have it
    first, steps = logp(init_dist, x[0]), logp(innovation_dist, pt.diff(x, axis=0))
    return (first if first.type.ndim < steps.type.ndim else first[0]) + steps.sum(axis=0)


class RandomWalk(pm.RandomWalk):
    """Random walk: the first value, and what is added to it in every step.

    Parameters
    ----------
    init_dist : unnamed distribution
        Distribution of the first value, made by ``dist``: gpustats' or PyMC's.
    innovation_dist : unnamed distribution
        Distribution of the steps, numbers or vectors as the first value is. One of gpustats' is evaluated on the device,
        for all steps at once.
    steps : int, optional
        Number of steps, one fewer than values. Only needed if neither ``shape`` nor ``dims`` nor ``observed`` tells it.

    Raises
    ------
    TypeError
        Where one of the two is no distribution, or one is of numbers and the other of vectors.
    ValueError
        Where nothing tells how many steps there are, or one distribution depends on the other.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats.pymc as gpm
    >>> walk = gpm.RandomWalk.dist(gpm.Normal.dist(0.0, 1.0), gpm.StudentT.dist(4.0, 0.0, sigma=2.0), steps=2)
    >>> float(pm.logp(walk, np.array([0.5, 1.0, -1.0])).eval().round(6))
    -4.988511
    """
    rv_type = RandomWalkRV
    rv_op = RandomWalkRV.rv_op


class _Predefined(timeseries.PredefinedRandomWalk):
    """Base of random walks whose distributions are made of parameters, as PyMC has it."""

    def __new__(cls, name: str, *args: object, **kwargs: object) -> Any:
        init_dist, innovation_dist, kwargs = cls.get_dists(*args, **kwargs)
        return RandomWalk(name, init_dist=init_dist, innovation_dist=innovation_dist, **kwargs)

    @classmethod
    def dist(cls, *args: object, **kwargs: object) -> TensorVariable:
        init_dist, innovation_dist, kwargs = cls.get_dists(*args, **kwargs)
        return RandomWalk.dist(init_dist, innovation_dist, **kwargs)


class GaussianRandomWalk(_Predefined):
    @classmethod
    def get_dists(
        cls, mu: TensorLike = 0.0, sigma: TensorLike = 1.0, *, init_dist: Variable | None = None, **kwargs: object
    ) -> Dists:
        init_dist, _, kwargs = pm.GaussianRandomWalk.get_dists(mu, sigma, init_dist=init_dist, **kwargs)
        return init_dist, distribution(densities["normal"]).dist(mu, sigma), kwargs


class MvGaussianRandomWalk(_Predefined):
    @classmethod
    def get_dists(
        cls, mu: TensorLike, *, cov: Parameter = None, tau: Parameter = None, chol: Parameter = None, lower: bool = True,
        init_dist: Variable | None = None, **kwargs: object,
    ) -> Dists:  # fmt: skip
        mean, matrix = pt.as_tensor_variable(mu), {"cov": cov, "tau": tau, "chol": chol}
        first, _, kwargs = pm.MvGaussianRandomWalk.get_dists(mean, init_dist=init_dist, lower=lower, **matrix, **kwargs)
        return first, MvNormal.dist(mean, lower=lower, **matrix), kwargs


class MvStudentTRandomWalk(_Predefined):
    @classmethod
    def get_dists(
        cls, *, nu: TensorLike, mu: TensorLike, scale: Parameter = None, tau: Parameter = None, chol: Parameter = None,
        lower: bool = True, init_dist: Variable | None = None, **kwargs: Parameter,
    ) -> Dists:  # fmt: skip
        mean, matrix = pt.as_tensor_variable(mu), {"scale": scale, "tau": tau, "chol": chol}
        if (cov := kwargs.pop("cov", None)) is not None:
            matrix["cov"] = cov
        given = {"nu": nu, "mu": mean, "init_dist": init_dist, "lower": lower}
        first, _, others = pm.MvStudentTRandomWalk.get_dists(**given, **matrix, **kwargs)
        return first, MvStudentT.dist(nu, mu=mean, lower=lower, **matrix), others


# -- processes of normal steps


class AutoRegressiveRV(DerivedRV, timeseries.AutoRegressiveRV):
    """Autoregressive process whose steps are observations of a linear model."""

    properties = ("ar_order", "constant_term")


@_logprob.register(AutoRegressiveRV)
def _autoregression(
    op: AutoRegressiveRV, values: Variables, rhos: TensorVariable, sigma: TensorVariable, init_dist: TensorVariable,
    *_: object, **__: object,
) -> TensorVariable:
    (x,), order = values, op.ar_order
    first = logp(init_dist, x[..., :order])
    if not init_dist.owner.op.ndim_supp:
        first = first.sum(axis=-1)
    later, lags = x[..., order:], [x[..., order - 1 - i : x.shape[-1] - 1 - i] for i in range(order)]
    weights = rhos[..., 1:] if op.constant_term else rhos
    if isinstance(x, Constant) and x.type.ndim == rhos.type.ndim == 1 and not sigma.type.ndim:
        model, constant = GLMFormula(densities["normal_identity"], "eta"), rhos[0] if op.constant_term else 0.0
        terms = guarded(model, later, pt.stack(lags, axis=-1), weights, constant, sigma)
    else:
        mean = sum(weights[..., i, None] * lag for i, lag in enumerate(lags))
        mean = mean + rhos[..., 0, None] if op.constant_term else mean
        terms = log_density(densities["normal"], later, mean, sigma[..., None])
    return first + terms.sum(axis=-1)


class AR(pm.AR):
    rv_type = AutoRegressiveRV
    rv_op = AutoRegressiveRV.rv_op


class EulerMaruyamaRV(DerivedRV, timeseries.EulerMaruyamaRV):
    """Stochastic differential equation in discrete steps: drift and diffusion by PyTensor, the steps' densities by gpustats."""

    properties = ("dt", "sde_fn")


@_logprob.register(EulerMaruyamaRV)
def _sde(
    op: EulerMaruyamaRV, values: Variables, init_dist: Variable, steps: Variable, *rest: TensorVariable, **_: object
) -> TensorVariable:
    (x,), parameters = values, rest[:-1]  # behind which comes the state that draws
    drift, diffusion = op.sde_fn(x[..., :-1], *(p[..., None] for p in parameters))
    mean, spread = x[..., :-1] + op.dt * drift, pt.sqrt(op.dt) * diffusion
    return logp(init_dist, x[..., 0]) + log_density(densities["normal"], x[..., 1:], mean, spread).sum(axis=-1)


class EulerMaruyama(pm.EulerMaruyama):
    rv_type = EulerMaruyamaRV
    rv_op = EulerMaruyamaRV.rv_op


# -- a density of a whole series


class GARCH11(pm.GARCH11, Parametrised, Continuous):
    @classmethod
    def dist(
        cls, omega: TensorLike, alpha_1: TensorLike, beta_1: TensorLike, initial_vol: TensorLike, *,
        steps: Parameter = None, **kwargs: object,
    ) -> TensorVariable:
        found = get_support_shape_1d(support_shape=steps, shape=kwargs.get("shape"), support_shape_offset=1)
        if found is None:
            raise ValueError("Must specify steps or shape parameter")
        try:
            (length,) = constant_fold([found + 1])
        except NotConstantValueError:
            return pm.GARCH11.dist(omega, alpha_1, beta_1, initial_vol, steps=steps, **kwargs)
        parameters = [as_parameter(v) for v in (omega, alpha_1, beta_1, initial_vol)]
        return of_length(densities["garch11"], parameters, int(length), **kwargs)
