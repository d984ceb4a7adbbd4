"""Kernels that can be shown of a density or a covariance function, found in the folders that make them.

A folder of the package with a module ``shown`` lists there, by the names that users know, the functions that give the source
of a kernel: ``SHOWN = {"table": table}``, of densities unless it says ``KIND = "covariance"``. So a new folder needs no entry
anywhere else.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .template import PACKAGE

#: source = make(what, dtype, dialect)
Make = Callable[[Any, str, str], str]


@functools.cache
def shown(kind: str) -> Mapping[str, Make]:
    """Makers of kernel sources, by the name of the kernel; of the `kind` "density" or "covariance"."""
    here = Path(__file__)
    # What every function has comes first, then the outer folders.
    files = sorted(PACKAGE.rglob("shown.py"), key=lambda path: (path.parent.name != "evaluation", len(path.parts), path))
    modules = [_module(path.parent) for path in files if path != here]
    of_kind = [module.SHOWN for module in modules if getattr(module, "KIND", "density") == kind]
    return {name: make for found in of_kind for name, make in found.items()}


def _module(folder: Path) -> Any:
    """Module ``shown`` of a folder of the package."""
    return importlib.import_module(".".join([PACKAGE.name, *folder.relative_to(PACKAGE).parts, "shown"]))


def shown_source(kind: str, what: Any, shape: str, dtype: str, dialect: str) -> str:
    """Source of the kernel `shape` of a density or covariance function.

    ValueError where `shape`, `dtype` or `dialect` is none that there is.
    """
    for value, allowed in ((shape, shown(kind)), (dtype, ("float64", "float32")), (dialect, ("cuda", "opencl"))):
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")
    return shown(kind)[shape](what, dtype, dialect)
