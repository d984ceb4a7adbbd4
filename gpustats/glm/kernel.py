"""Kernels of the glm shape: their source, and their launches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..evaluation.sums import add_block_sums
from ..kernels.code import KernelCode
from ..kernels.layout import row_blocks
from ..kernels.products import Predictor, ProductsLayout, products_layout
from ..kernels.template import Template
from ..runtime import thresholds
from ..runtime.base import Device, Kernel, Runtime
from ..runtime.types import DType, Handle, KernelValue
from .family import Codes
from .layout import GLMLayout, blocks_in_lanes, layout_for, shared_reals
from .task import Computation

_TILES = Template.beside(__file__, "glm")
_LANES = Template.beside(__file__, "glm_lanes")
_PRODUCTS = Template.beside(__file__, "glm_products")
#: Sums of blocks that the host adds where it sees them: another launch would take longer.
_MOST_SUMS_ON_HOST = thresholds.GLM_MOST_SUMS_ON_HOST.value


class Launch(NamedTuple):
    """A compiled kernel and its grid."""

    runtime: Runtime
    kernel: Kernel  # sums over the rows of each block
    add: Callable[[Runtime, Handle, int, Handle, int, int], None]  # starts to add the blocks' sums up
    on_host: bool  # whether the host adds them up, or there are none
    grid: tuple[int, int]
    n_rows: int
    n_sets: int
    n_sums: int  # number of sums of all sets
    spread: int  # numbers side by side that a block leaves for each sum

    @property
    def n_left(self) -> int:
        """Number of partial sums, or of sums, that the host gets and passes to `sums`."""
        return self._n_partial if self.on_host else self.n_sums

    def leave(self, out: Handle, values: Sequence[KernelValue]) -> None:
        """Start the kernels that write the numbers of `sums` to `out`; `values`: arguments after numbers of rows and sets."""
        if self.on_host:
            self.kernel(self.grid, out, self.n_rows, self.n_sets, *values)
        else:
            self.start(out, values)

    def sums(self, left: np.ndarray) -> np.ndarray:
        """Sums, [set][slot]: a view of the kernel's numbers, or their sums over blocks."""
        if not self.on_host:
            return left
        lanes: np.ndarray = np.add.reduce(left.reshape(self.grid[1], -1), 0).reshape(self.n_sums, self.spread)
        while (half := lanes.shape[1] // 2) > 0:  # in the order of the kernel that adds blocks' sums
            lanes = lanes[:, :half] + lanes[:, half:]
        return lanes[:, 0]

    def start(self, out: Handle, values: Sequence[KernelValue]) -> None:
        """Start the kernel, and the one that adds its sums up into `out`."""
        partial = self.runtime.scratch(8 * self._n_partial)
        self.kernel(self.grid, partial, self.n_rows, self.n_sets, *values)
        self.add(self.runtime, out, 0, partial, self.n_sums, self.grid[1])

    @property
    def _n_partial(self) -> int:
        """Number of partial sums of all blocks."""
        return self.n_sums * self.grid[1] * self.spread


def launch(
    runtime: Runtime, dtype: DType, name: str, computation: Computation, codes: Codes, n_rows: int, n_sets: int, stack: bool,
    aligned: bool, same_bits: bool = False,
) -> Launch:  # fmt: skip
    """Compiled kernel `name` and its grid, for X of `n_rows` rows; for the others see `layout_of`."""
    device = runtime.device
    layout = layout_of(device, computation, dtype.itemsize, n_sets, stack, aligned, same_bits)
    text, shared = source(name, computation, codes, layout, dtype.name, runtime.dialect)
    kernel = runtime.kernel(text, name, layout.threads, shared)
    set_blocks, n_sums = -(-n_sets // layout.sets), n_sets * computation.slots
    if isinstance(layout, ProductsLayout):
        blocks, spread = layout.row_blocks(device, n_rows), 1
    else:
        spread = layout.spread
        sharing = 1 if same_bits else set_blocks  # blocks beside one another
        in_lanes, registers = spread > 1, kernel.registers
        blocks = blocks_in_lanes(device, layout, n_rows) if in_lanes else row_blocks(device, layout, n_rows, sharing, registers)
    on_host = not n_sums or (runtime.host_visible and n_sums * blocks * spread <= _MOST_SUMS_ON_HOST)
    add = functools.partial(add_block_sums, threads=layout.adders, side=layout.side, spread=spread)
    return Launch(runtime, kernel, add, on_host, (set_blocks, blocks), n_rows, n_sets, n_sums, spread)


def layout_of(
    device: Device, computation: Computation, itemsize: int, n_sets: int, stack: bool, aligned: bool, same_bits: bool = False
) -> GLMLayout | ProductsLayout:
    """The layout of the kernel.

    `itemsize` is the bytes of a number of X, and `aligned` says whether X allows 16-byte accesses. If `stack`, the
    coefficients are a stack of sets, be it of one; else one set, which another kernel reads X faster for. If `same_bits`, a
    set's sums do not depend on the number of sets, nor on whether they are a stack.
    """
    columns = computation.columns
    if (stack or same_bits) and computation.outcomes == 1 and not computation.vector:
        load = next(n for n in (16 // itemsize, 2, 1) if columns % n == 0) if aligned else 1
        predictors = [Predictor(gradient=computation.gradient)]
        found = products_layout(device, [columns], predictors, itemsize, computation.n_sums, n_sets, load=load)
        if found is not None:
            return found
    one_by_one = same_bits and device.type != "cpu"  # a CPU adds the rows of each set in the same order anyway
    return layout_for(device, computation, itemsize, 1 if one_by_one else n_sets, aligned)


def source(
    name: str, computation: Computation, codes: Codes, layout: GLMLayout | ProductsLayout, dtype: str, dialect: str
) -> tuple[str, int]:
    """Source of the kernel `name`, and the bytes of shared memory that it takes."""
    first, *others = codes.codes
    for code in codes.codes:
        code.at_hand |= _row_values(code, computation)
    itemsize = 8 if dtype == "float64" else 4
    if isinstance(layout, ProductsLayout):
        template, shared, itemsize = _PRODUCTS, layout.shared_doubles, 8
    elif layout.spread > 1:
        template, shared = _LANES, 0
    else:
        template, shared = _TILES, shared_reals(computation, layout)
    text = template.source_of(
        first, name, layout, dtype, dialect, others=others, space=codes.space, glm=computation, shared=shared
    )
    return text, shared * itemsize


def _row_values(code: KernelCode, computation: Computation) -> dict[str, str]:
    """C code for the arguments that differ from row to row, as the templates have them."""
    found = {}
    for operand in code.row_operands:
        column, of_set = operand.name, f"s * {operand.name}_stride"
        if operand.rank:
            found[column] = f"{column}_per_row + own * dim + {of_set}"
        else:
            found[column] = f"{column}_per_row[own + {of_set}]" if column in computation.own_rows else f"{column}_here"
    if computation.vector:
        found["dim"] = str(computation.outcomes)
    return found
