"""Conditional autoregressions of PyMC for neighbouring areas, with sums over pairs of neighbours by gpustats.

Draws, arguments and shapes are PyMC's own. An adjacency matrix that never changes becomes the list of its pairs of
neighbours; of any other, the log-density is PyMC's.
"""

from __future__ import annotations

import functools

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import scipy.sparse
from pymc.distributions import multivariate
from pymc.distributions.dist_math import check_parameters
from pytensor.graph.basic import Constant, Variable
from pytensor.sparse.basic import DenseFromSparse
from pytensor.tensor.elemwise import DimShuffle

from ..compiler.graph.types import TensorVariable
from ..density import Density
from ..language.device_function import parse
from .distributions import log_density

_PAIR_SOURCE = """
// neighbours: what a pair of neighbours adds to the log-density of a conditional autoregression
// x: real    y: real    weight: real    alpha: real    tau: real
real neighbours_logpdf(real x, real y, real weight, real alpha, real tau)
{
    return -0.5 * (weight * tau) * ((1 - alpha) * (x * x + y * y) + alpha * ((x - y) * (x - y)));
}
"""


@functools.cache
def _pair() -> Density:
    return Density(parse(_PAIR_SOURCE))


def _known(W: Variable) -> scipy.sparse.csr_array | None:
    """Adjacency matrix, where it never changes; else None."""
    while W.owner is not None and isinstance(W.owner.op, DimShuffle | DenseFromSparse):
        W = W.owner.inputs[0]
    if not isinstance(W, Constant):
        return None
    data = W.data
    data = data if scipy.sparse.issparse(data) else np.reshape(data, np.shape(data)[-2:])
    return scipy.sparse.csr_array(data, dtype=np.float64)


def _sum_over_pairs(
    x: TensorVariable, W: scipy.sparse.csr_array, alpha: TensorVariable, tau: TensorVariable
) -> TensorVariable:
    """Quadratic form -tau/2 x' (D - alpha W) x, D being diagonal with W's row sums, for vectors along the last axis."""
    pairs = scipy.sparse.triu(W).tocoo()
    i, j, weight = pairs.row, pairs.col, np.where(pairs.row == pairs.col, 0.5, 1.0) * pairs.data
    return log_density(_pair(), x[..., i], x[..., j], weight, alpha, tau).sum(axis=-1)


class CARRV(multivariate.CARRV):
    """Conditional autoregression of which gpustats sums over pairs of neighbours."""


class CAR(pm.CAR):
    rv_op = CARRV()

    def logp(
        value: TensorVariable, mu: TensorVariable, W: Variable, alpha: TensorVariable, tau: TensorVariable, W_is_valid: Variable
    ) -> TensorVariable:
        """Log-density without PyMC's constant, of which a model has no need."""
        adjacency = _known(W)
        if adjacency is None:
            return pm.CAR.logp(value, mu, W, alpha, tau, W_is_valid)
        alpha, tau, n = pt.squeeze(alpha), pt.squeeze(tau), adjacency.shape[0]
        scale = scipy.sparse.diags_array(1 / np.sqrt(adjacency.sum(axis=0)))
        eigenvalues = np.linalg.eigvalsh((scale @ adjacency @ scale).toarray())
        logdet = n * pt.log(tau) + pt.log1p(-alpha * eigenvalues).sum()
        return check_parameters(
            0.5 * logdet + _sum_over_pairs(value - mu, adjacency, alpha, tau),
            alpha > -1, alpha < 1, tau > 0, W_is_valid,
            msg="-1 < alpha < 1, tau > 0, W is a symmetric adjacency matrix.",
        )  # fmt: skip


class ICARRV(multivariate.ICARRV):
    """Intrinsic conditional autoregression of which gpustats sums over pairs of neighbours."""


class ICAR(pm.ICAR):
    rv_op = ICARRV()

    def logp(
        value: TensorVariable, W: Variable, sigma: TensorVariable, zero_sum_stdev: TensorVariable
    ) -> TensorVariable:
        adjacency = _known(W)
        if adjacency is None:
            return pm.ICAR.logp(value, W, sigma, zero_sum_stdev)
        spread = zero_sum_stdev * adjacency.shape[0]
        of_sum = -0.5 * (value.sum(axis=-1) / spread) ** 2 - 0.5 * np.log(2 * np.pi) - pt.log(spread)
        terms = _sum_over_pairs(value, adjacency, pt.constant(1.0), sigma**-2.0) + of_sum
        return check_parameters(terms, sigma > 0, msg="sigma > 0")
