"""The glm shape: from the device functions of a family to a kernel and its launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels import code as codegen
from ..kernels.code import PER_ROW, PER_SET, Operand
from ..kernels.layout import REFERENCE_DEVICES, row_blocks
from . import layout
from .family import Family
from .layout import GLMLayout

if TYPE_CHECKING:
    from ..density import Density
    from ..runtime.base import Kernel, Runtime
    from .family import Codes


@dataclass(frozen=True)
class Shape:
    """What a kernel computes; the templates know it as ``glm``.

    Attributes
    ----------
    columns, outcomes : int
        Of X, and elements of the linear predictor.
    vector : bool
        Whether the family takes the linear predictor as a vector.
    alpha : str
        How the intercept comes: not at all (""), as a number for all ("value"), for each set ("set"), each row ("row") or each
        group of rows ("group").
    offset : bool
    sums : tuple of str
        The results that are summed over the rows.
    rows : tuple of str
        What is written for each row: results, ``slope`` (the derivative in the linear predictor), ``eta``.
    slope : str
        The derivative in the linear predictor, where it is among the results.
    slope_sums : bool
        Whether these derivatives are summed over the rows.
    gradient : bool
        Whether the derivative in the coefficients is wanted.
    own_rows : tuple of str
        Arguments with values for each row that differ between sets.
    """

    columns: int
    outcomes: int
    vector: bool
    alpha: str = ""
    offset: bool = False
    sums: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    slope: str = ""
    slope_sums: bool = False
    gradient: bool = False
    own_rows: tuple[str, ...] = ()

    @property
    def slopes(self) -> bool:
        """Whether the derivatives in the linear predictor are computed."""
        return self.gradient or self.slope_sums or "slope" in self.rows

    @property
    def n_sums(self) -> int:
        return len(self.sums) + self.outcomes * self.slope_sums

    @property
    def slots(self) -> int:
        """Numbers that are summed over the rows for each set: first `sums`, then the slopes, then the gradient."""
        return self.n_sums + self.outcomes * self.columns * self.gradient


#: Sums of blocks that the host adds where it sees them: another launch would take longer.
NEAR = 1 << 14


class Launch(NamedTuple):
    """A compiled kernel and its grid."""

    runtime: Runtime
    kernel: Kernel
    total: Kernel
    grid: tuple[int, int]
    n_rows: int
    n_sets: int
    n_sums: int  # in all
    spread: int
    total_grid: tuple[int, int]

    def fetch(
        self, values: Sequence[Any], more: int = 0, then: Callable[[Any, int], None] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The sums, [set][slot], and `more` numbers that `then` starts a kernel for: views, to be read at once.

        `then` takes a handle and an offset in numbers.
        """
        blocks, runtime = self.grid[1], self.runtime
        n_partial = self.n_sums * blocks * self.spread
        near = runtime.host_visible and n_partial <= NEAR
        n = n_partial if near else self.n_sums
        result = runtime.result(8 * max(n + more, 1))
        partial = result.handle if near else runtime.scratch(8 * max(n_partial, 1))
        self.kernel(self.grid, partial, self.n_rows, self.n_sets, *values)
        if self.n_sums and not near:
            self.total(self.total_grid, result.handle, 0, partial, self.n_sums, blocks)
        if then is not None:
            then(result.handle, n)
        numbers = runtime.fetch(result).view(np.float64)
        sums = numbers[:n]
        if near:
            sums = sums.reshape(blocks, self.n_sums, self.spread).sum((0, 2))
        return sums, numbers[n : n + more]


def launch(
    runtime: Runtime, dtype: np.dtype, name: str, shape: Shape, codes: Codes, n_rows: int, n_sets: int, aligned: bool
) -> Launch:
    """The kernel for X of `n_rows` rows and `n_sets` sets of coefficients; `aligned`: X allows 16-byte accesses."""
    chosen = layout.choose(runtime.device, shape, dtype.itemsize, n_sets, aligned)
    return compiled(runtime, dtype, name, shape, codes, n_rows, n_sets, chosen)


def compiled(
    runtime: Runtime, dtype: np.dtype, name: str, shape: Shape, codes: Codes, n_rows: int, n_sets: int, chosen: GLMLayout
) -> Launch:
    """The same in a given layout."""
    source, shared = generated(name, shape, codes, chosen, dtype.name, runtime.dialect)
    kernel = runtime.kernel(source, name, chosen.threads, shared * dtype.itemsize)
    total = runtime.kernel(source, "glm_total", chosen.adders)
    set_blocks, n_sums = -(-n_sets // chosen.sets), n_sets * shape.slots
    tiles = replace(chosen, tile=chosen.unroll * chosen.threads) if chosen.spread > 1 else chosen
    blocks = row_blocks(runtime.device, tiles, n_rows, set_blocks, kernel.registers)
    return Launch(
        runtime, kernel, total, (set_blocks, blocks), n_rows, n_sets, n_sums, chosen.spread, (-(-n_sums // chosen.side), 1)
    )  # fmt: skip


def kernel_source(density: Density, dtype: str, dialect: str) -> str:
    """The source for X of 16 columns, with all derivatives in numbers; see `Density.kernel_source`."""
    family = Family(density, "eta")
    wrt = [n for n in family.parameters if n not in family.whole and not family.ranks[n]]
    term = family.term(False)
    operands = [
        Operand(name, PER_ROW if i == 0 else PER_SET, a.rank)
        for i, (a, name) in enumerate(zip(term.arguments, term.c_names, strict=True)) if a.name != family.eta
    ]  # fmt: skip
    codes = family.codes(False, operands, wrt, True)
    sums = (codes.value, *(codes.derivatives[n] for n in wrt))
    slope = codes.derivatives[family.eta]
    shape = Shape(16, 3 if family.vector else 1, family.vector, "set", False, sums, (), slope, True, True)
    chosen = layout.choose(REFERENCE_DEVICES[dialect], shape, 8 if dtype == "float64" else 4, 1, True)
    return generated(f"{density.name}_glm", shape, codes, chosen, dtype, dialect)[0]


def generated(name: str, shape: Shape, codes: Codes, chosen: GLMLayout, dtype: str, dialect: str) -> tuple[str, int]:
    """The source of a kernel, and the numbers of shared memory that it takes."""
    first, *others = codes.codes
    template = "glm/glm_lanes" if chosen.spread > 1 else "glm/glm"
    shared = layout.shared_reals(shape, chosen) if template == "glm/glm" else 0
    for code in codes.codes:
        for operand in code.row_operands:
            column, of_set = operand.name, f"s * {operand.name}_stride"
            if operand.rank:
                code.at_hand[column] = f"{column}_per_row + own * dim + {of_set}"
            else:
                code.at_hand[column] = f"{column}_per_row[own + {of_set}]" if column in shape.own_rows else f"{column}_here"
        if shape.vector:
            code.at_hand["dim"] = str(shape.outcomes)
    source = codegen.render(
        template, first, name, chosen, dtype, dialect, others=others, space=codes.space, glm=shape, shared=shared
    )
    return source, shared
