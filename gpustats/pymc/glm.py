"""The PyMC distribution of a GLM's observations."""

from __future__ import annotations

from collections.abc import Mapping

from pymc.distributions.distribution import Distribution
from pytensor.graph.basic import Variable
from pytensor.sparse.type import SparseTensorType

from ..compiler.evaluation.formula import Formula, FormulaArgument
from ..compiler.evaluation.glm import GLMFormula
from ..compiler.graph.types import TensorLike, TensorVariable, Variables
from ..density import Density
from ..evaluation.arguments import match
from ..frames.columns import column_of, is_column
from ..frames.labelled import Labelled
from ..glm.family import COEFFICIENTS, DESIGN, GROUPS, INTERCEPT, OFFSET, WEIGHTS
from ..rows.sparse_matrix import is_sparse
from .parameters import as_float_constant, as_parameter, take_parameters
from .random_variable import DensityRV, random_variable


class GLM(Distribution):
    """Distribution of observations whose linear predictor is ``X @ beta + alpha + offset``.

    The log-likelihood and its gradients in coefficients, intercept, the density's other parameters, and X where it is random,
    come from one reading of X on the device. Sampling with NUTS costs one such reading a step.

    Parameters
    ----------
    density : Density
        Density of one number, with a parameter that is the linear predictor, such as `gs.bernoulli_logit` or `gs.poisson_log`.
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
    groups : (N,) array_like of int or of labels, optional
        The group of each observation, from 0 to G - 1, or its label. Labels are numbered in ascending order, those of a
        categorical column of pandas in the order of its categories.
    offset, weights : (N,) array_like, optional
        Number added to the linear predictor; how often each observation counts in the log-likelihood.
    **kwargs
        The density's other parameters, numbers or one for each observation; and ``observed=``, ``dims=``, … as for every PyMC
        distribution.

    Raises
    ------
    ValueError
        Where the density has no parameter `eta`, or names are unknown or missing.
    TypeError
        Where X is sparse: fused models take products with sparse matrices.

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
        cls, density: Density, X: TensorLike, beta: TensorLike, alpha: TensorLike = 0.0, *, eta: str = "eta",
        groups: TensorLike | None = None, offset: TensorLike | None = None, weights: TensorLike | None = None, **kwargs: object,
    ) -> TensorVariable:  # fmt: skip
        if isinstance(groups, Mapping):
            raise TypeError("groups with names are those of gs.GLM; here they are one array, the group of each observation")
        if is_column(groups):
            column = column_of(groups, GROUPS)
            groups = column.numbers(GROUPS) if isinstance(column, Labelled) else column
        options = {n: v for n, v in ((GROUPS, groups), (OFFSET, offset), (WEIGHTS, weights)) if v is not None}
        formula = GLMFormula(density, eta, tuple(options))
        names = formula.family.parameters
        own = match(density.name, names, (), take_parameters(kwargs), density.defaults, beside=eta)
        values = {DESIGN: X, COEFFICIENTS: beta, INTERCEPT: alpha, **options, **dict(zip(names, own, strict=True))}
        parameters = [_as_variable(a, values[a.name]) for a in formula.arguments[1:]]
        return random_variable(GLMRV(formula), parameters, **kwargs)


def _as_variable(argument: FormulaArgument, value: TensorLike) -> Variable:
    if argument.name == DESIGN and (is_sparse(value) or isinstance(getattr(value, "type", None), SparseTensorType)):
        product = "pytensor.sparse.structured_dot(X, beta[:, None])[:, 0]"
        raise TypeError(f"X is sparse: give {product} as a parameter of any distribution, and compile with gpm.fused()")
    if argument.name == DESIGN and not isinstance(value, Variable):
        matrix = as_float_constant(value)
        if matrix.type.ndim != 2:
            raise ValueError(f"X must be a matrix, (N, k); it has shape {matrix.type.shape}")
        return matrix
    variable = as_parameter(value)
    if variable.type.ndim < argument.rank:
        kind = "a vector" if argument.rank == 1 else "a matrix"
        if argument.name == INTERCEPT and not variable.type.ndim:
            raise ValueError(f"alpha is a number: it must be {kind} here, with a value for each group or outcome")
        raise ValueError(f"{argument.name} must be {kind}; it has {variable.type.ndim} dimensions")
    return variable


class GLMRV(DensityRV):
    """Random variable of a GLM's observations."""

    formula: GLMFormula

    def _outcome(self, parameters: Variables) -> tuple[Formula, Variables]:
        return self.formula.outcome, list(self.formula.outcome_parameters(parameters).values())
