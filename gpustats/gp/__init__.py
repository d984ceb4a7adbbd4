"""Gaussian processes as users import them: covariance functions, likelihoods, local approximations, emulators.

>>> import numpy as np, gpustats as gs
>>> x = np.linspace(0.0, 1.0, 5)
>>> gs.rbf(x, amplitude=1.0, lengthscale=0.5).shape
(5, 5)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..emulation.calibration import Calibration, CalibrationDraws, CalibrationFit
    from ..emulation.constrained import ConstrainedMinimum, minimize
    from ..emulation.emulator import Emulator
    from ..processes.covariance import Covariance
    from ..processes.estimated import Fit
    from ..processes.local import LocalGP
    from ..processes.marginal import MarginalLikelihood
    from ..processes.prediction import JointPrediction, LocalPrediction, Prediction
    from ..processes.registry import covariances
    from ..processes.vecchia import Vecchia
    from . import local as local

__all__ = [
    "Calibration", "CalibrationDraws", "CalibrationFit", "ConstrainedMinimum", "Covariance", "Emulator", "Fit",
    "JointPrediction", "LocalGP", "LocalPrediction", "MarginalLikelihood", "Prediction", "Vecchia", "covariances",
    "minimize",
]  # fmt: skip

# Imported when first used, so that `import gpustats` can know what a covariance function is and stay quick.
_LAZY = {
    "Calibration": "..emulation.calibration", "CalibrationDraws": "..emulation.calibration",
    "CalibrationFit": "..emulation.calibration", "ConstrainedMinimum": "..emulation.constrained",
    "Covariance": "..processes.covariance", "Emulator": "..emulation.emulator", "Fit": "..processes.estimated",
    "JointPrediction": "..processes.prediction", "LocalGP": "..processes.local", "LocalPrediction": "..processes.prediction",
    "MarginalLikelihood": "..processes.marginal", "Prediction": "..processes.prediction", "Vecchia": "..processes.vecchia",
    "covariances": "..processes.registry", "local": None, "minimize": "..emulation.constrained",
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
