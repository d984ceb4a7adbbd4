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

from typing import Any

from . import compositions, conjugate, directions, elliptical, matrices  # noqa: F401  which say what MULTIVARIATE has
from .distribution import distribution_of
from .multivariate import MULTIVARIATE, multivariate_of
from .reparametrised import names

__all__ = sorted({*names(), *MULTIVARIATE})


def __getattr__(name: str) -> Any:
    if name in names():
        value: Any = distribution_of(name)
    elif name in MULTIVARIATE:
        value = multivariate_of(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
