"""The stub of the package, from which editors and type checkers know its names: ``python -m gpustats.commands.stub``.

It tells what is made while a program runs: names that are imported when first used, and densities with their parameters.
All else they read in the modules.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from inspect import Parameter
from pathlib import Path

import gpustats as gs

from ..density import Density
from ..distribution.available import Method
from ..language.kinds import DENSITY
from ..language.library import library
from ..processes.kind import COVARIANCE

PATH = Path(gs.__file__).with_suffix(".pyi")

_HEAD = '''"""Names of gpustats for editors and type checkers, written by `python -m gpustats.commands.stub`. Do not edit."""
# ruff: noqa
# mypy: disable-error-code="override, assignment"
# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false, reportAssignmentType=false

from collections.abc import Collection
from typing import Any

from numpy.typing import DTypeLike

from .distribution.expectation import Function
from .distribution.frozen import Frozen
from .draws.generator import Rng
from .processes.covariance import Covariance
from .runtime.types import Array, Result, Size, Values
'''


def stub() -> str:
    """Text of the stub."""
    densities = {name: gs.densities[name] for name in sorted(library.built_in(DENSITY))}
    classes = {_class_name(d): d for d in densities.values()}
    parts = [_HEAD + "\n".join(_imports()), f"__version__: str\n__all__: list[str]{_listed(gs.__all__)}"]
    parts += ["\n".join(_class(name, classes[name])) for name in sorted(classes)]
    names = [f"{name}: {_class_name(d)}" for name, d in densities.items()]
    names += [f"{name}: Covariance" for name in sorted(library.built_in(COVARIANCE))]
    return "\n\n".join([*parts, "\n".join(names)]) + "\n"


def _imports() -> Iterator[str]:
    """Lines that import the public names from where they are defined."""
    for name in gs.__all__:
        value = getattr(gs, name)
        if inspect.ismodule(value):
            yield f"from . import {name} as {name}"
            continue
        module = vars(gs)["_LAZY"].get(name) or getattr(value, "__module__", type(value).__module__).removeprefix("gpustats")
        yield f"from {module} import {name} as {name}"


def _listed(names: list[str]) -> str:
    return f" = [{', '.join(map(repr, names))}]"


def _class_name(density: Density) -> str:
    """Name of the class of all densities whose calls are written alike."""
    return "_".join(["", "density", *density.parameters])


def _class(name: str, density: Density) -> Iterator[str]:
    """Lines of the class. Each method is written out: of ``cdf = logpdf`` pyright takes the signature from the base class."""
    yield f"class {name}(Density):"
    for method in ["__call__", *(n for n in dir(Density) if isinstance(inspect.getattr_static(Density, n), Method))]:
        function = density if method == "__call__" else density._bound(getattr(Density, method))
        yield f"    def {method}{_signature(inspect.signature(function))}: ..."


def _signature(signature: inspect.Signature) -> str:
    """Signature as a stub has it, without values of defaults."""
    parameters, starred = ["self"], False
    for p in signature.parameters.values():
        if p.kind is Parameter.KEYWORD_ONLY and not starred:
            parameters, starred = [*parameters, "*"], True
        parameters.append(f"{p.name}: {p.annotation}{'' if p.default is Parameter.empty else ' = ...'}")
    return f"({', '.join(parameters)}) -> {signature.return_annotation}"


if __name__ == "__main__":
    PATH.write_text(stub(), encoding="utf-8")
