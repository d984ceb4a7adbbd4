"""The folder `generated/`: what the generator emits, for readers without a GPU, and so that changes show as diffs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..density import Density, densities
from ..evaluation.arguments import differentiable
from ..kernels.shown import shown
from ..language.kinds import DENSITY
from ..language.library import library
from ..processes.covariance import Covariance
from ..processes.kind import COVARIANCE
from ..processes.registry import covariances

GLMS = ("glm", "glm_products")
#: Densities of which all shapes are shown, also in OpenCL C, which differs in the first lines only.
SHOWN_IN_FULL = ("gamma", "mvnormal", "normal")
#: What is shown of the others. The sum stands in the kernel of its derivatives, too; it is shown where there are none.
SHAPES = ("table", "gradient")
#: Families of which the GLM is shown: of a number, and of a vector.
SHOWN_AS_GLM = ("bernoulli_logit", "categorical_logit", "normal_identity")
#: The covariance function of which all shapes are shown, also in OpenCL C; of the others only the matrix.
SHOWN_COVARIANCE = "rbf"
_SUFFIX = {"cuda": "cu", "opencl": "cl"}


def files() -> Iterator[tuple[str, str]]:
    """(name, text) of every file of the folder: float64, many observations and many parameter sets."""
    for name in sorted(library.built_in(DENSITY)):
        full = name in SHOWN_IN_FULL
        plain = SHAPES if differentiable(densities[name].log_density.arguments[1:]) else ("table", "loglik")
        shapes = [s for s in (shown("density") if full else plain) if s not in GLMS]
        for shape in [*shapes, *GLMS * (name in SHOWN_AS_GLM)]:
            for dialect in ("cuda", "opencl") if full or shape in GLMS else ("cuda",):
                with contextlib.suppress(NotImplementedError):  # a shape may not be for all densities
                    yield _file(densities[name], shape, dialect)
    for name in sorted(library.built_in(COVARIANCE)):
        full = name == SHOWN_COVARIANCE
        for shape in shown("covariance") if full else ("covariance",):
            for dialect in ("cuda", "opencl") if full else ("cuda",):
                yield _file(covariances[name], shape, dialect)


def _file(made: Density | Covariance, shape: str, dialect: str) -> tuple[str, str]:
    head = f"// The {shape} kernel of {made.name}, made by `gpustats generate`. Do not edit.\n"
    return f"{made.name}_{shape}.{_SUFFIX[dialect]}", head + made.kernel_source(shape, "float64", dialect)


def write(folder: str | os.PathLike[str]) -> list[str]:
    """Bring the folder up to date; the names of the files that changed, also of those removed."""
    folder, wanted = Path(folder), dict(files())
    folder.mkdir(parents=True, exist_ok=True)
    changed = _different(folder, wanted)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def stale(folder: str | os.PathLike[str]) -> list[str]:
    """Names of the files that are missing, differ from what the generator emits now, or should not be there."""
    return _different(Path(folder), dict(files()))


def _different(folder: Path, wanted: dict[str, str]) -> list[str]:
    found = {p.name: p.read_text(encoding="utf-8") for s in _SUFFIX.values() for p in folder.glob(f"*.{s}")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
