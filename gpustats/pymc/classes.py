"""Classes of distributions by name, each of which is PyMC's, or that of a density."""

from __future__ import annotations

import pymc as pm
from pymc.distributions import multivariate
from pymc.distributions.distribution import Distribution

from ..density import densities
from ..names.pymc import class_name
from .areal import CAR, ICAR
from .counterparts import is_built_in
from .distributions import distribution
from .interval import Censored
from .kronecker import KroneckerNormal
from .matrices import InverseWishart, MatrixNormal, Wishart
from .mixture import NormalMixture
from .parametrisations import Parametrised
from .time_series import AR, EulerMaruyama, GaussianRandomWalk, MvGaussianRandomWalk, MvStudentTRandomWalk, RandomWalk

_PYMC_CLASSES = (
    AR, CAR, ICAR, EulerMaruyama, GaussianRandomWalk, KroneckerNormal, MvGaussianRandomWalk, MvStudentTRandomWalk, RandomWalk,
    InverseWishart, MatrixNormal,
)  # fmt: skip
# PyMC 6 has Wishart's and LKJ's with leading axes, and with transforms to numbers each of which is a matrix's.
_PYMC_5_CLASSES: tuple[type, ...] = () if hasattr(multivariate, "CholeskyCovTransform") else (Wishart,)
if hasattr(multivariate, "_LKJCorr"):
    from .correlations import LKJCholeskyCov, LKJCorr

    _PYMC_5_CLASSES += LKJCholeskyCov, LKJCorr
#: class name -> class
CLASSES: dict[str, type] = {
    c.__name__: c
    for c in (*Parametrised.__subclasses__(), *_PYMC_CLASSES, Censored, NormalMixture, pm.Truncated, *_PYMC_5_CLASSES)
}
for _class in CLASSES.values():
    if _class.__module__.startswith(__package__):
        _class.__module__, _class.__doc__ = "gpustats.pymc", _class.__doc__ or getattr(pm, _class.__name__).__doc__
CLASSES["Lognormal"] = CLASSES["LogNormal"]


def class_of(name: str) -> type[Distribution]:
    """Class of a name: of a density, with PyMC's parameters where PyMC has it; else PyMC's own.

    Raises
    ------
    AttributeError
        Where there is none.
    """
    made = CLASSES.get(name)
    density = next((densities[n] for n in densities if class_name(n) == name), None)
    pymcs = made or (getattr(pm.distributions, name) if name in pm.distributions.__all__ else None)
    if density is not None and (pymcs is None or not is_built_in(density)):
        return distribution(density)
    if pymcs is not None:
        return pymcs
    raise AttributeError(name)


def class_names() -> set[str]:
    """Names of all classes: of our own, of the densities, and of PyMC."""
    return {*CLASSES, *map(class_name, densities), *pm.distributions.__all__}
