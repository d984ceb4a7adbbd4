"""Machine code of kernels on a CUDA device: compiled once, kept on the disk, loaded once."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from cuda.bindings import driver as cu

from ..display.bars import COMPILING, told_if_slow
from . import cache, nvrtc
from .cuda_driver import DriverError, OutOfMemory, checked


class Modules:
    """Modules of a device, by their sources."""

    def __init__(self, runtime: Any) -> None:
        self._runtime, self._compiling = runtime, threading.Lock()
        self._by_source: dict[str, Any] = {}

    def of(self, source: str) -> Any:
        """Module of a source, which is compiled where the disk does not have it.

        Raises
        ------
        CompileError, MemoryError
        """
        runtime = self._runtime
        with self._compiling:
            if source not in self._by_source:
                runtime.reenter()
                key = cache.key("cuda", source, *nvrtc.OPTIONS, runtime.arch, runtime.device.driver)
                module, cubin = None, cache.load(key)
                if cubin is not None:
                    with contextlib.suppress(DriverError):
                        module = self._loaded(cubin)
                if module is None:
                    with told_if_slow(COMPILING):
                        cubin = nvrtc.compile(source, runtime.arch)
                    with runtime.watch:
                        module = self._loaded(cubin)
                    cache.store(key, cubin)
                self._by_source[source] = module
            return self._by_source[source]

    def _loaded(self, cubin: bytes) -> Any:
        """Module of machine code; where there is no memory left for it, of what the pools keep."""
        try:
            return checked(cu.cuModuleLoadData(cubin))
        except OutOfMemory:
            self._runtime.release_all()
        try:
            return checked(cu.cuModuleLoadData(cubin))
        except OutOfMemory:
            raise MemoryError("the device has no memory left for a kernel's code") from None
