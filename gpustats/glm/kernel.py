"""The kernels of the glm shape: their source, and how one is started."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernels.code import KernelCode
from ..kernels.layout import row_blocks
from ..kernels.template import Template
from ..runtime.types import DType, Handle
from .computation import Computation
from .family import Codes
from .layout import GLMLayout, layout_for, shared_reals
from .products import ProductsLayout, products_for

if TYPE_CHECKING:
    from ..runtime.base import Device, Kernel, Runtime

_TILES = Template.beside(__file__, "glm")
_LANES = Template.beside(__file__, "glm_lanes")
_PRODUCTS = Template.beside(__file__, "glm_products")
_TOTAL = Template.beside(__file__, "glm_total")
#: Sums of blocks that the host adds where it sees them: another launch would take longer.
_FEW_SUMS = 1 << 14


class Launch(NamedTuple):
    """A compiled kernel and its grid.

    Attributes
    ----------
    kernel : Kernel
        What sums over the rows of each block.
    total : callable
        Compiles what adds the blocks' sums up.
    on_host : bool
        Whether the host adds them up, or there are none.
    grid, total_grid : (int, int)
    n_rows, n_sets : int
    n_sums : int
        Of all sets.
    spread : int
        Numbers side by side that a block leaves for each sum.
    """

    runtime: Runtime
    kernel: Kernel
    total: Callable[[], Kernel]
    on_host: bool
    grid: tuple[int, int]
    total_grid: tuple[int, int]
    n_rows: int
    n_sets: int
    n_sums: int
    spread: int

    def begin(
        self, values: Sequence[Any], more: int = 0, then: Callable[[Handle, int], None] | None = None
    ) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        """Start the kernel.

        Parameters
        ----------
        values : sequence
            What the kernel takes behind the numbers of rows and sets.
        more : int
            Numbers that `then` writes.
        then : callable, optional
            Starts another kernel; takes a handle, and how many numbers behind it the result is to begin.

        Returns
        -------
        callable
            Waits for the sums, [set][slot], and what `then` wrote: views, to be read at once.
        """
        blocks, runtime = self.grid[1], self.runtime
        n = self._n_partial if self.on_host else self.n_sums
        result = runtime.result(8 * max(n + more, 1))
        if self.on_host:
            self.kernel(self.grid, result.handle, self.n_rows, self.n_sets, *values)
        else:
            self.start(result.handle, values)
        if then is not None:
            then(result.handle, n)

        def finish() -> tuple[np.ndarray, np.ndarray]:
            numbers = runtime.fetch(result).view(np.float64)
            sums = numbers[:n]
            if self.on_host:
                sums = sums.reshape(blocks, self.n_sums, self.spread).sum((0, 2))
            return sums, numbers[n : n + more]

        return finish

    def start(self, out: Handle, values: Sequence[Any]) -> None:
        """Start the kernel and what adds its sums up into `out`."""
        partial = self.runtime.scratch(8 * self._n_partial)
        self.kernel(self.grid, partial, self.n_rows, self.n_sets, *values)
        self.total()(self.total_grid, out, 0, partial, self.n_sums, self.grid[1])

    @property
    def _n_partial(self) -> int:
        """How many numbers the blocks leave."""
        return self.n_sums * self.grid[1] * self.spread


def launch(
    runtime: Runtime, dtype: DType, name: str, computation: Computation, codes: Codes, n_rows: int, n_sets: int, aligned: bool
) -> Launch:
    """The kernel `name`, compiled, for X of `n_rows` rows and `n_sets` sets; `aligned`: X allows 16-byte accesses."""
    device = runtime.device
    layout = layout_of(device, computation, dtype.itemsize, n_sets, aligned)
    text, shared = source(name, computation, codes, layout, dtype.name, runtime.dialect)
    kernel = runtime.kernel(text, name, layout.threads, shared)
    set_blocks, n_sums = -(-n_sets // layout.sets), n_sets * computation.slots
    if isinstance(layout, ProductsLayout):
        blocks = layout.row_blocks(device, n_rows)
    else:
        tiles = replace(layout, tile=layout.unroll * layout.threads) if layout.spread > 1 else layout
        blocks = row_blocks(device, tiles, n_rows, set_blocks, kernel.registers)
    on_host = not n_sums or (runtime.host_visible and n_sums * blocks * layout.spread <= _FEW_SUMS)
    constants = dict(adders=layout.adders, side=layout.side, spread=layout.spread)
    total = functools.partial(_TOTAL.kernel, runtime, "glm_total", layout.adders, dtype="float64", **constants)
    total_grid = (-(-n_sums // layout.side), 1)
    return Launch(runtime, kernel, total, on_host, (set_blocks, blocks), total_grid, n_rows, n_sets, n_sums, layout.spread)


def layout_of(device: Device, computation: Computation, itemsize: int, n_sets: int, aligned: bool) -> GLMLayout:
    """The layout of the kernel for `n_sets` sets of coefficients; `aligned`: X allows 16-byte accesses."""
    found = products_for(device, computation, itemsize, n_sets, aligned)
    return found or layout_for(device, computation, itemsize, n_sets, aligned)


def source(
    name: str, computation: Computation, codes: Codes, layout: GLMLayout, dtype: str, dialect: str
) -> tuple[str, int]:
    """The source of the kernel `name`, and the bytes of shared memory that it takes."""
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
    """The C for the arguments that differ from row to row, as the templates have them."""
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
