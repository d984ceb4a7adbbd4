"""Gaussian processes: covariance functions, exact marginal likelihoods, and local approximations for many points.

>>> import numpy as np, gpustats as gs
>>> x = np.linspace(0.0, 1.0, 5)
>>> gs.rbf(x, amplitude=1.0, lengthscale=0.5).shape
(5, 5)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import local as local
    from .calibration import Calibration, CalibrationDraws, CalibrationFit
    from .constrained import ConstrainedMinimum, minimize
    from .covariance import Covariance
    from .emulator import Emulator
    from .fitting import Fit
    from .local import LocalGP
    from .marginal import MarginalLikelihood
    from .prediction import JointPrediction, LocalPrediction, Prediction
    from .registry import covariances
    from .vecchia import Vecchia

__all__ = [
    "Calibration", "CalibrationDraws", "CalibrationFit", "ConstrainedMinimum", "Covariance", "Emulator", "Fit",
    "JointPrediction", "LocalGP", "LocalPrediction", "MarginalLikelihood", "Prediction", "Vecchia", "covariances",
    "minimize",
]  # fmt: skip

# Imported when first used, so that `import gpustats` can know what a covariance function is and stay quick.
_LAZY = {
    "Calibration": ".calibration", "CalibrationDraws": ".calibration", "CalibrationFit": ".calibration",
    "ConstrainedMinimum": ".constrained", "Covariance": ".covariance", "Emulator": ".emulator", "Fit": ".fitting",
    "JointPrediction": ".prediction", "LocalGP": ".local", "LocalPrediction": ".prediction",
    "MarginalLikelihood": ".marginal", "Prediction": ".prediction", "Vecchia": ".vecchia", "covariances": ".registry",
    "local": None, "minimize": ".constrained",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _LAZY[name]
    value = importlib.import_module(f".{name}", __name__) if module is None else getattr(
        importlib.import_module(module, __name__), name
    )  # fmt: skip
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
