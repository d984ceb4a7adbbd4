"""The classes by their names, each of which is PyMC's, or that of a density."""

from __future__ import annotations

from typing import Any

import pymc as pm

from ..density import densities
from .areal import CAR, ICAR
from .counterparts import class_name, is_built_in
from .distributions import distribution
from .interval import Censored
from .kronecker import KroneckerNormal
from .mixture import NormalMixture
from .parametrisations import Parametrised
from .time_series import (
    AR,
    EulerMaruyama,
    GaussianRandomWalk,
    MvGaussianRandomWalk,
    MvStudentTRandomWalk,
    RandomWalk,
)

_PYMCS = (
    AR, CAR, ICAR, EulerMaruyama, GaussianRandomWalk, KroneckerNormal, MvGaussianRandomWalk, MvStudentTRandomWalk, RandomWalk,
)  # fmt: skip
#: class name -> class
CLASSES: dict[str, type] = {
    c.__name__: c for c in (*Parametrised.__subclasses__(), *_PYMCS, Censored, NormalMixture, pm.Truncated)
}
CLASSES["Lognormal"] = CLASSES["LogNormal"]


def class_of(name: str) -> Any:
    """The class of a name: of a density, with PyMC's parameters where PyMC has it; else PyMC's own.

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
    """Names of all of these."""
    return {*CLASSES, *map(class_name, densities), *pm.distributions.__all__}
