"""gpustats: likelihoods on a GPU, or on all cores of a CPU, from densities written as a few lines of C.

>>> import numpy as np, gpustats as gs
>>> x = np.random.default_rng(0).normal(size=100_000)
>>> table = gs.normal.logpdf(x[:, None], np.array([-1.0, 0.0, 1.0]), 1.0)  # 100,000 × 3, on the fastest device
>>> table.shape
(100000, 3)
"""

from __future__ import annotations

import importlib
from typing import Any

from .density import Densities, Density, densities
from .errors import AccuracyWarning, CompileError, DeviceFunctionError, DeviceLostError, NoDeviceError, NoMaximumError
from .language.library import library
from .names.elsewhere import hint
from .names.models import model_here
from .processes.kind import COVARIANCE
from .registry import register

__version__ = "0.3.0"

# Imported when first used, so that `import gpustats` stays quick and touches no device. Type checkers read `__init__.pyi`.
_LAZY = {
    "DeviceArray": ".runtime.device_array",
    "GLM": ".glm", "Generator": ".draws.generator", "LaplaceMarginal": ".marginals.model",
    "Likelihood": ".likelihood", "LocalGP": ".processes.local",
    "Mixture": ".mixtures.mixture", "Rows": ".rows.model", "TruncatedMvNormal": ".transforms.box",
    "as_jax": ".xla", "box_probability": ".transforms.box_probability", "compartment_steps": ".rows.compartments",
    "compat": None, "covariances": ".processes.registry", "devices": ".runtime.transfers", "dot": ".rows.leaves",
    "folds": ".comparison.folds", "gather": ".rows.leaves", "gp": None, "hidden_markov": ".rows.hidden_markov",
    "kfold": ".comparison.folds", "label_statistics": ".mixtures.labels", "linalg": None,
    "log_likelihood": ".comparison.table", "loo": ".comparison.loo", "ode_steps": ".rows.ode", "parallel": None,
    "per_row": ".rows.leaves", "predictive_check": ".comparison.predictive", "progress": ".display.bars",
    "waic": ".comparison.loo",
    "sample_discrete": ".draws.discrete", "sequences": ".rows.sequences", "series": ".rows.series",
    "to_device": ".runtime.transfers", "to_host": ".runtime.transfers", "transforms": None, "use": ".runtime.choose",
} | dict.fromkeys(
    ("inverse_wishart", "lkj_cholesky_cov", "lkj_corr", "matrix_normal", "matrix_t", "ortho_group", "random_correlation",
     "random_table", "special_ortho_group", "uniform_direction", "unitary_group", "wishart"), ".matrices"
)  # fmt: skip

__all__ = [
    "AccuracyWarning", "CompileError", "Densities", "Density", "DeviceArray", "DeviceFunctionError", "DeviceLostError", "GLM",
    "Generator", "LaplaceMarginal", "Likelihood", "LocalGP", "Mixture", "NoDeviceError", "NoMaximumError", "Rows",
    "TruncatedMvNormal", "as_jax", "box_probability", "compartment_steps", "compat", "covariances", "densities", "devices",
    "dot", "folds", "gather", "gp", "hidden_markov", "inverse_wishart", "kfold", "label_statistics", "linalg",
    "lkj_cholesky_cov", "lkj_corr", "log_likelihood", "loo", "matrix_normal", "matrix_t", "ode_steps", "ortho_group",
    "parallel", "per_row", "predictive_check", "progress", "random_correlation", "random_table", "register", "sample_discrete",
    "sequences", "series", "special_ortho_group", "to_device", "to_host", "transforms", "uniform_direction", "unitary_group",
    "use", "waic", "wishart",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module = _LAZY[name]
        value = importlib.import_module(f".{name}", __name__) if module is None else getattr(
            importlib.import_module(module, __name__), name
        )  # fmt: skip
        globals()[name] = value
        return value
    if not name.startswith("_"):  # not cached: a density may be registered anew
        if name in densities:
            return densities[name]
        if library.has(name, COVARIANCE):
            from .processes.registry import covariances

            return covariances[name]
    advice = "" if name.startswith("_") else model_here(name) or hint(name, __dir__())
    # With a name and no object, Python does not add advice of its own.
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}", name=name)


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__, *densities, *library.names(COVARIANCE)})
