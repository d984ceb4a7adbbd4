"""SciPy's distributions by their names and with their parameters, computed by gpustats.

What is written with ``scipy.stats`` moves to gpustats by another import:

>>> import numpy as np
>>> from gpustats import scipy_stats as st
>>> x = np.array([0.5, 1.0, 4.0])
>>> st.gamma.logpdf(x, 2.0, loc=0.25, scale=2.0).round(4)
array([-2.8976, -2.049 , -1.9395])
>>> st.norm(loc=1, scale=2).rvs(10, random_state=3).shape
(10,)
>>> st.gamma.fit(np.array([0.8, 1.1, 2.5, 3.0]), floc=0)[1]
0

Distributions are made when they are first asked for; ``dir(st)`` lists them.
"""

from __future__ import annotations

from .compositions import Dirichlet, DirichletMultinomial, Multinomial, MultivariateHypergeometric
from .conjugate import NormalInverseGamma
from .directions import UniformDirection, VonMisesFisher
from .distribution import Distribution, distribution_of
from .elliptical import MultivariateNormal, MultivariateT
from .matrices import (
    InverseWishart,
    MatrixNormal,
    MatrixT,
    OrthoGroup,
    RandomCorrelation,
    RandomTable,
    SpecialOrthoGroup,
    UnitaryGroup,
    Wishart,
)
from .multivariate import Multivariate, one_of
from .reparametrised import names

_MULTIVARIATE = {
    made.name: made
    for made in (
        Dirichlet, DirichletMultinomial, InverseWishart, MatrixNormal, MatrixT, Multinomial, MultivariateHypergeometric,
        MultivariateNormal, MultivariateT, NormalInverseGamma, OrthoGroup, RandomCorrelation, RandomTable, SpecialOrthoGroup,
        UniformDirection, UnitaryGroup, VonMisesFisher, Wishart,
    )
}  # fmt: skip

__all__ = sorted({*names(), *_MULTIVARIATE})


def __getattr__(name: str) -> Distribution | Multivariate:
    if name in names():
        value: Distribution | Multivariate = distribution_of(name)
    elif name in _MULTIVARIATE:
        value = one_of(_MULTIVARIATE[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
