"""Normal distribution of PyMC with a Kronecker product as covariance matrix, with derivatives that exist everywhere.

PyMC differentiates through eigenvectors, which equal eigenvalues do not determine: its derivatives in such matrices are nan.
The log-density depends on the matrices alone. The small decompositions are LAPACK's, the products BLAS'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions import multivariate
from pymc.math import kron_diag, kron_dot
from pytensor.gradient import disconnected_grad
from pytensor.graph.basic import Variable

from ..compiler.graph.kinds import DerivedRV
from ..compiler.graph.types import TensorVariable


class KroneckerNormalRV(DerivedRV, multivariate.KroneckerNormalRV):
    """Random variable whose log-density is differentiated without derivatives of eigenvectors."""

    properties = ("method",)


class KroneckerNormal(pm.KroneckerNormal):
    rv_type = KroneckerNormalRV
    rv_op = KroneckerNormalRV.rv_op

    def logp(
        value: TensorVariable, rng: Variable, size: Variable, mu: TensorVariable, sigma: TensorVariable, *covs: TensorVariable
    ) -> TensorVariable:
        """Log-density at one value, or at several in rows.

        With C the covariance matrix and v the solution of C v = x - mu, the quadratic form is 2 v' (x - mu) - v' C v, which
        to first order does not depend on v; nor do the eigenvalues, the diagonal of Q' C Q, on the eigenvectors Q.
        """
        if value.type.ndim not in (1, 2):
            raise ValueError(f"a value must be a vector, or several in rows; it has {value.type.ndim} dimensions")
        rows = pt.atleast_2d(value - mu)
        vectors: list[Any] = [pt.linalg.eigh(disconnected_grad(c))[1] for c in covs]
        eigenvalues = [pt.diagonal(q.T @ c @ q) for q, c in zip(vectors, covs, strict=True)]
        variances = kron_diag(*eigenvalues) + sigma**2
        fixed = disconnected_grad(variances)[:, None]
        v = kron_dot(vectors, kron_dot([q.T for q in vectors], disconnected_grad(rows).T) / fixed)
        of_product = (v * kron_dot(list(covs), v)).sum(axis=0)
        quadratic = 2 * (v * rows.T).sum(axis=0) - of_product - sigma**2 * (v * v).sum(axis=0)
        terms = -0.5 * (quadratic + pt.log(variances).sum() + variances.shape[0] * np.log(2 * np.pi))
        return terms if value.type.ndim == 2 else terms[0]
