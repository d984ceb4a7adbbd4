"""gpustats: likelihoods on a GPU, or on all cores of a CPU, from densities written as a few lines of C.

>>> import numpy as np, gpustats as gs
>>> x = np.random.default_rng(0).normal(size=100_000)
>>> table = gs.normal.logpdf(x[:, None], np.array([-1.0, 0.0, 1.0]), 1.0)  # 100,000 × 3, on the fastest device
>>> table.shape
(100000, 3)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .density import Densities, Density, densities, register
from .errors import CompileError, DeviceFunctionError, NoDeviceError

if TYPE_CHECKING:
    from . import transforms as transforms
    from .interface import devices as devices
    from .interface import to_device as to_device
    from .interface import to_host as to_host
    from .likelihood import Likelihood as Likelihood
    from .runtime.choose import use as use

__version__ = "0.1.0"

# Imported when first used, so that `import gpustats` stays quick and touches no device.
_LAZY = {
    "Likelihood": ".likelihood", "devices": ".interface", "to_device": ".interface", "to_host": ".interface",
    "use": ".runtime.choose", "transforms": None,
}  # fmt: skip

__all__ = [
    "CompileError", "Densities", "Density", "DeviceFunctionError", "Likelihood", "NoDeviceError", "densities", "devices",
    "register", "to_device", "to_host", "transforms", "use",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module = _LAZY[name]
        value = importlib.import_module(f".{name}", __name__) if module is None else getattr(
            importlib.import_module(module, __name__), name
        )  # fmt: skip
        globals()[name] = value
        return value
    if not name.startswith("_") and name in densities:  # not cached: a density may be registered anew
        return densities[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *densities})
