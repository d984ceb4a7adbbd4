"""Kernels of this folder that `Density.kernel_source` shows."""

from __future__ import annotations

from dataclasses import replace

from ..density import Density
from ..kernels.code import PER_ROW, PER_SET
from ..kernels.layout import REFERENCE_DEVICES
from ..runtime.base import Device
from . import kernel
from .arguments import Route
from .family import OBSERVATIONS, Family
from .task import Computation, Quantity


def one_set(density: Density, dtype: str, dialect: str) -> str:
    """Source for one set of coefficients."""
    return _source(density, dtype, dialect, REFERENCE_DEVICES[dialect], stack=False)


def many_sets(density: Density, dtype: str, dialect: str) -> str:
    """Source for many sets, for a density of numbers, on a device that multiplies small matrices of float64 at once."""
    if Family(density, "eta").vector:
        raise NotImplementedError(f"{density.name} has a vector for a linear predictor: its GLM multiplies no matrices")
    return _source(density, dtype, dialect, replace(REFERENCE_DEVICES[dialect], products=True), stack=True)


def _source(density: Density, dtype: str, dialect: str, device: Device, stack: bool) -> str:
    """Source for X of 16 columns, an intercept and parameters for each set, with all derivatives in numbers."""
    family = Family(density, "eta")
    wrt = [n for n in family.parameters if n not in family.whole and not family.ranks[n]]
    codes = family.codes({OBSERVATIONS: PER_ROW, **dict.fromkeys(family.parameters, PER_SET)}, wrt, slopes=True)
    computation = Computation(
        columns=16, outcomes=3 if family.vector else 1, vector=family.vector, alpha=Route.SET,
        sums=(Quantity.VALUE.value, *(codes.derivatives[n] for n in wrt)), slope=codes.slope,
        slope_sums=True, gradient=True,
    )  # fmt: skip
    itemsize = 8 if dtype == "float64" else 4
    layout = kernel.layout_of(device, computation, itemsize, 16 if stack else 1, stack, aligned=True)
    return kernel.source(f"{density.name}_glm", computation, codes, layout, dtype, dialect)[0]


#: Kernel shape -> what makes its source of any density.
SHOWN = {"glm": one_set, "glm_products": many_sets}
