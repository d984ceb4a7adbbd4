"""Kernels of a CUDA device."""

from __future__ import annotations

from struct import Struct
from typing import Any

from cuda.bindings import driver as cu

from .base import Kernel
from .cuda_commands import Recorded
from .cuda_driver import checked, failed
from .signature import signature_of
from .types import Grid

PLAIN_SHARED = 48 << 10  # bytes of shared memory that a block may have without asking
#: Errors where another context than the kernel's is current.
_WRONG_CONTEXT = (
    cu.CUresult.CUDA_ERROR_INVALID_CONTEXT, cu.CUresult.CUDA_ERROR_INVALID_HANDLE, cu.CUresult.CUDA_ERROR_INVALID_VALUE,
)  # fmt: skip


class CUDAKernel(Kernel):
    """Kernel of a module."""

    def __init__(self, runtime: Any, function: Any, source: str, name: str, threads: int, shared: int) -> None:
        super().__init__(source)
        attribute = cu.CUfunction_attribute
        self._runtime, self._function, self._threads, self._shared = runtime, function, threads, shared
        # The static part counts as well.
        if shared + _attribute(attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) > PLAIN_SHARED:
            most = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            checked(cu.cuFuncSetAttribute(function, most, shared))
        self.registers = _attribute(attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
        self.local = _attribute(attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function)
        self._signature = signature_of(source, name)
        packed = Struct(self._signature)
        self._pack, self._nbytes = packed.pack_into, packed.size

    def __call__(self, grid: Grid, *args: object) -> None:
        state = self._runtime.state()
        if state.alive is not None:
            handle = int(self._function)
            state.recorded.append(Recorded(handle, grid, self._threads, self._shared, self._signature, args, self))
            return
        arguments = state.arguments
        self._pack(arguments.memory, 0, *args)
        arguments.nbytes.value = self._nbytes
        launch = (self._function, *grid, 1, self._threads, 1, 1, self._shared, state.stream, 0, arguments.extra)
        if (code := cu.cuLaunchKernel(*launch)[0]) and code in _WRONG_CONTEXT and self._runtime.reenter():
            code = cu.cuLaunchKernel(*launch)[0]
        if code == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:  # for what the threads have of their own beside registers
            self._runtime.release_all()
            if (code := cu.cuLaunchKernel(*launch)[0]) == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                raise MemoryError(f"the device has no memory left for the threads of a kernel, {self.local} bytes for each")
        if code:
            error = failed(code, "cuLaunchKernel")
            raise self._runtime.lost_by(error) or error
        if state.on_main:
            state.note(self, grid)


def _attribute(attribute: Any, function: Any) -> int:
    return int(checked(cu.cuFuncGetAttribute(attribute, function)))
