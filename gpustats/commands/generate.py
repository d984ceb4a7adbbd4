"""Kernels as files: a few in `generated/`, whose changes show as diffs, and all of them for a compiler."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..density import Density, densities
from ..evaluation.arguments import differentiable
from ..kernels.shown import shown, shown_source
from ..language.kinds import DENSITY
from ..language.library import library
from ..processes.covariance import Covariance
from ..processes.kind import COVARIANCE
from ..processes.registry import covariances
from ..rows.kind import SEQUENCE_MODEL
from ..rows.series import SequenceModel, series

GLM_SHAPES = ("glm", "glm_products")
#: Densities of which all shapes are made, also in OpenCL C, which differs in the first lines only.
DENSITIES_IN_FULL = ("gamma", "mvnormal", "normal")
#: Shapes of all other densities. The sum stands in the kernel of its derivatives, too; it is made where there are none.
SHAPES_OF_OTHERS = ("table", "gradient")
#: Densities of which the kernels of a GLM are made: of a number, and of a vector.
GLM_DENSITIES = ("bernoulli_logit", "categorical_logit", "normal_identity")
#: The covariance function of which all shapes are made, also in OpenCL C; of the others only the matrix.
COVARIANCE_IN_FULL = "rbf"
#: The sequence model of which the kernel is made in OpenCL C, too.
SERIES_IN_FULL = "garch"
#: Of what the folder `generated/` shows a kernel of each shape in CUDA C++, and, of the density, the table in OpenCL C.
REVIEWED_DENSITY, REVIEWED_GLM = "gamma", "bernoulli_logit"
MADE = "made by `gpustats generate`"  # stands in the first line of its files
_SUFFIX = {"cuda": "cu", "opencl": "cl"}


def reviewed() -> Iterator[tuple[str, str]]:
    """Name and text of the files in `generated/`: a kernel of each shape."""
    for shape in shown("density"):
        yield _file(densities[REVIEWED_GLM if shape in GLM_SHAPES else REVIEWED_DENSITY], shape, "cuda")
    yield _file(densities[REVIEWED_DENSITY], "table", "opencl")
    for shape in shown("covariance"):
        yield _file(covariances[COVARIANCE_IN_FULL], shape, "cuda")


def everything() -> Iterator[tuple[str, str]]:
    """Name and text of the kernels of all built-in densities and models: float64, many observations and parameter sets."""
    for name in sorted(library.built_in(DENSITY)):
        full = name in DENSITIES_IN_FULL
        plain = SHAPES_OF_OTHERS if differentiable(densities[name].log_density.arguments[1:]) else ("table", "loglik")
        shapes = [s for s in (shown("density") if full else plain) if s not in GLM_SHAPES]
        for shape in [*shapes, *GLM_SHAPES * (name in GLM_DENSITIES)]:
            for dialect in ("cuda", "opencl") if full or shape in GLM_SHAPES else ("cuda",):
                with contextlib.suppress(NotImplementedError):  # a shape may not be for all densities
                    yield _file(densities[name], shape, dialect)
    for name in sorted(library.built_in(COVARIANCE)):
        full = name == COVARIANCE_IN_FULL
        for shape in shown("covariance") if full else ("covariance",):
            for dialect in ("cuda", "opencl") if full else ("cuda",):
                yield _file(covariances[name], shape, dialect)
    yield from of_series()


def of_series() -> Iterator[tuple[str, str]]:
    """Name and text of the kernels of all built-in sequence models: the sum over rows, and its derivatives."""
    for name in sorted(library.built_in(SEQUENCE_MODEL)):
        for dialect in ("cuda", "opencl") if name == SERIES_IN_FULL else ("cuda",):
            yield _file(series[name], "rows", dialect)


def _file(made: Density | Covariance | SequenceModel, shape: str, dialect: str) -> tuple[str, str]:
    head = f"// The {shape} kernel of {made.name}, {MADE}. Do not edit.\n"
    if isinstance(made, SequenceModel):
        text = shown_source(SEQUENCE_MODEL.name, made, shape, "float64", dialect)
    else:
        text = made.kernel_source(shape, "float64", dialect)
    return f"{made.name}_{shape}.{_SUFFIX[dialect]}", head + text


def write(folder: str | os.PathLike[str], files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Bring a folder up to date.

    Returns the names of the files that were written, and of those removed, which the generator wrote at another time.
    """
    changed, folder = stale(folder, files), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written, removed = [n for n in changed if n in files], [n for n in changed if n not in files]
    for name in written:
        (folder / name).write_text(files[name], encoding="utf-8")
    for name in removed:
        (folder / name).unlink()
    return written, removed


def stale(folder: str | os.PathLike[str], files: Mapping[str, str]) -> list[str]:
    """Names of the files that are missing, differ from what the generator emits now, or are no longer made by it."""
    found = {p.name: p.read_text(encoding="utf-8") for s in _SUFFIX.values() for p in Path(folder).glob(f"*.{s}")}
    ours = {name for name, text in found.items() if MADE in text.partition("\n")[0]}  # others are the user's
    return sorted(name for name in files.keys() | ours if files.get(name) != found.get(name))
