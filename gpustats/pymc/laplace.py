"""Marginal likelihoods by Laplace's method in PyMC models."""

from __future__ import annotations

import pytensor.tensor as pt

from ..compiler.graph.marginal import MarginalLikelihood
from ..compiler.graph.types import TensorLike, TensorVariable
from ..evaluation.arguments import match
from ..marginals.model import LaplaceMarginal


def laplace_marginal(marginal: LaplaceMarginal, *args: TensorLike, **kwargs: TensorLike) -> TensorVariable:
    """Logarithm of a marginal likelihood as a variable, for `pymc.Potential`: a sampler moves in the parameters alone.

    Its gradient is exact. Effects come afterwards, by `gpustats.LaplaceMarginal.draws` at the draws of the parameters.

    Parameters
    ----------
    marginal : LaplaceMarginal
    *parameters : tensor_like
        In their order, or by name.

    Returns
    -------
    TensorVariable
        Number; -inf where there is no mode.

    Raises
    ------
    ValueError
        Where names are unknown or missing, or a parameter has another number of axes.

    Examples
    --------
    >>> import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    >>> rows = gs.Rows('''
    ... real counts(real y, real mean, real tau, real u)
    ... { return poisson_log_logpmf(y, mean + tau * u); }
    ... ''', y=np.array([3.0, 5.0, 0.0, 1.0]), u=gs.gather(np.array([0, 0, 1, 1])))
    >>> marginal = gs.LaplaceMarginal(rows, {"u": gs.normal(0.0, 1.0)})
    >>> with pm.Model() as model:
    ...     mean, tau = pm.Normal("mean"), pm.HalfNormal("tau")
    ...     _ = pm.Potential("counts", gpm.laplace_marginal(marginal, mean=mean, tau=tau))
    >>> round(float(model.compile_logp(vars=model.potentials)({"mean": 0.5, "tau_log__": 0.0})), 4)
    -7.4637
    """
    if not isinstance(marginal, LaplaceMarginal):
        raise TypeError(f"marginal must be a gs.LaplaceMarginal, not {type(marginal).__name__}")
    values = match("laplace_marginal", marginal.parameters, args, kwargs, {}, "parameters")
    return pt.as_tensor_variable(MarginalLikelihood(marginal).make_node(*values).outputs[0])
