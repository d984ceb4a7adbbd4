"""LKJ distributions of PyMC 5, of correlations (Lewandowski, Kurowicka & Joe), with log-densities of many matrices at once.

Draws, arguments and shapes are PyMC's own. The log-densities take values with leading axes and an eta that is no constant,
and have the right constant, to which PyMC gives the wrong sign. In PyMC 6 these classes are PyMC's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions import multivariate
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.transforms import _default_transform
from pymc.logprob.abstract import _logprob
from pymc.logprob.basic import logp
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.exceptions import NotScalarConstantError

from ..compiler.graph.kinds import DerivedRV
from ..compiler.graph.types import TensorLike, TensorVariable, Variables
from . import linalg
from .matrices import cholesky, exists
from .matrix_transforms import Correlations, correlations, unpacked


def _number(n: TensorLike) -> int:
    """Number of variables that are correlated."""
    try:
        return int(get_underlying_scalar_constant_value(n))
    except NotScalarConstantError:
        raise NotImplementedError("logp only implemented for constant `n`") from None


def _log_constant(eta: TensorLike, n: int) -> TensorVariable:
    """Logarithm of the density of correlation matrices where their determinant is 1."""
    eta = pt.cast(eta, pytensor.config.floatX)  # a constant is a float16, or a whole number
    k = np.arange(1, n)
    parts = pt.gammaln(eta + 0.5 * (n - 1 - k)).sum() - (n - 1) * pt.gammaln(eta + 0.5 * (n - 1))
    return -(parts + 0.25 * n * (n - 1) * np.log(np.pi))


# -- correlation matrices


class LKJCorrRV(multivariate.LKJCorrRV):
    """Numbers above the diagonals of correlation matrices."""


@_default_transform.register(LKJCorrRV)
def _of_correlations(op: LKJCorrRV, rv: TensorVariable) -> Correlations:
    return Correlations(_number(rv.owner.inputs[-2]))


class _LKJCorr(multivariate._LKJCorr):
    rv_type = LKJCorrRV
    rv_op = LKJCorrRV.rv_op

    def support_point(rv: TensorVariable, *_: object) -> TensorVariable:
        return pt.zeros_like(rv)

    def logp(value: TensorVariable, n: Variable, eta: TensorVariable) -> TensorVariable:
        rows, eta = _number(n), pt.squeeze(eta)
        factor = cholesky(correlations(value, rows))
        terms = (eta - 1) * linalg.cho_logdet(factor) + _log_constant(eta, rows)
        return check_parameters(pt.switch(exists(factor), terms, -np.inf), eta > 0, msg="eta > 0")


class LKJCorr(pm.LKJCorr):
    def __new__(
        cls, name: str, n: TensorLike, eta: TensorLike, *, return_matrix: bool = False, **kwargs: object
    ) -> Any:
        vector = _LKJCorr(name, eta=eta, n=n, **kwargs)
        return correlations(vector, _number(n)) if return_matrix else vector

    @classmethod
    def dist(cls, n: TensorLike, eta: TensorLike, *, return_matrix: bool = False, **kwargs: object) -> TensorVariable:
        vector = _LKJCorr.dist(eta=eta, n=n, **kwargs)
        return correlations(vector, _number(n)) if return_matrix else vector


# -- factors of covariance matrices


class LKJCholeskyCovRV(DerivedRV, multivariate._LKJCholeskyCovRV):
    """Numbers on and below the diagonals of the Cholesky factors of covariance matrices."""


@_logprob.register(LKJCholeskyCovRV)
def _log_density(
    op: LKJCholeskyCovRV, values: Variables, rng: Variable, n: Variable, eta: TensorVariable, sd_dist: Variable, **_: object
) -> TensorVariable:
    """Log-density of the factors of covariance matrices.

    With the row i of the factor in spherical coordinates, its direction is a row of the factor of the correlations.
    """
    (value,), size = values, _number(n)
    places = np.arange(size)
    rows = unpacked(value, *np.tril_indices(size), size)
    lengths = pt.sqrt(pt.square(rows).sum(axis=-1))
    of_lengths = logp(sd_dist, lengths)
    of_lengths = of_lengths if sd_dist.owner.op.ndim_supp else of_lengths.sum(axis=-1)
    log_ratios = pt.log(pt.diagonal(rows, axis1=-2, axis2=-1) / lengths)
    terms = (size - places - 2 + 2 * eta) * log_ratios - places * pt.log(lengths)
    return check_parameters(terms.sum(axis=-1) + _log_constant(eta, size) + of_lengths, eta > 0, msg="eta > 0")


class _LKJCholeskyCov(multivariate._LKJCholeskyCov):
    rv_type = LKJCholeskyCovRV
    rv_op = LKJCholeskyCovRV.rv_op


class LKJCholeskyCov(pm.LKJCholeskyCov):
    def __new__(
        cls, name: str, eta: TensorLike, n: TensorLike, sd_dist: Variable, *, compute_corr: bool = True,
        store_in_trace: bool = True,
        **kwargs: object,
    ) -> Any:  # fmt: skip
        packed = _LKJCholeskyCov(name, eta=eta, n=n, sd_dist=sd_dist, **kwargs)
        if not compute_corr:
            return packed
        factor, corr, stds = cls.helper_deterministics(n, packed)
        if store_in_trace:
            corr, stds = pm.Deterministic(f"{name}_corr", corr), pm.Deterministic(f"{name}_stds", stds)
        return factor, corr, stds

    @classmethod
    def dist(
        cls, eta: TensorLike, n: TensorLike, sd_dist: Variable, *, compute_corr: bool = True, **kwargs: object
    ) -> TensorVariable | tuple[TensorVariable, TensorVariable, TensorVariable]:
        packed = _LKJCholeskyCov.dist(eta=eta, n=n, sd_dist=sd_dist, **kwargs)
        return cls.helper_deterministics(n, packed) if compute_corr else packed

    @classmethod
    def helper_deterministics(
        cls, n: TensorLike, packed_chol: TensorVariable
    ) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
        """Factors, correlations and standard deviations, of values with leading axes, too."""
        rows = _number(n)
        factor = unpacked(packed_chol, *np.tril_indices(rows), rows)
        stds = pt.sqrt(pt.square(factor).sum(axis=-1))
        unit = factor / stds[..., None]
        return factor, unit @ unit.mT, stds
