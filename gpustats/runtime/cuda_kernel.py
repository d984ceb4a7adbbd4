"""Kernels of a CUDA device."""

from __future__ import annotations

from struct import Struct
from typing import Any

import pycuda.driver as drv

from .base import Kernel
from .cuda_commands import Recorded, function_of
from .signature import signature_of
from .thread_state import ThreadState
from .types import Grid

PLAIN_SHARED = 48 << 10  # bytes of shared memory that a block may have without asking


class CUDAKernel(Kernel):
    """Kernel of a module."""

    def __init__(self, runtime: Any, function: drv.Function, source: str, name: str, threads: int, shared: int) -> None:
        super().__init__(source)
        self._runtime, self._function, self._block, self._shared = runtime, function, (threads,), shared
        if shared + function.shared_size_bytes > PLAIN_SHARED:  # the static part counts as well
            function.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        self.registers, self.local = function.num_regs, function.local_size_bytes
        # What Function.prepared_async_call does, less a driver call that it makes for the sake of old toolkits.
        self._signature = signature_of(source, name)
        self._launch, self._pack = function._launch_kernel, Struct(self._signature).pack
        self._handle: int | None = None  # the driver's, known once it is asked for

    def __call__(self, grid: Grid, *args: object) -> None:
        state = self._runtime.state()
        stream = state.stream
        if state.alive is not None:
            self._record(state, grid, args)
            return
        try:
            self._launch(grid, self._block, self._pack(*args), self._shared, stream)
        except drv.Error as error:
            if not (isinstance(error, drv.LogicError) and self._runtime.reenter()):
                raise self._runtime.lost_by(error) or error from None
            self._launch(grid, self._block, self._pack(*args), self._shared, stream)
        if state.on_main:
            state.note(self, grid)

    def _record(self, state: ThreadState, grid: Grid, args: tuple[object, ...]) -> None:
        """Note the launch of a kernel in the place of starting it."""
        if self._handle is None:
            nothing = self._pack(*[0] * len(args))
            self._handle = function_of(drv.Stream(), lambda on: self._launch((1, 1), self._block, nothing, self._shared, on))
        state.recorded.append(Recorded(self._handle, grid, self._block, self._shared, self._signature, args, self))
