"""Choice of the provider of linear algebra for a device."""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING, cast

from ..runtime.base import Runtime
from .host import HostProvider
from .kernels import KernelProvider
from .provider import Provider

if TYPE_CHECKING:
    from ..runtime.cuda import CUDARuntime


@functools.lru_cache
def provider_of(runtime: Runtime) -> Provider:
    """Best provider for a device."""
    if runtime.host_visible:
        return HostProvider(runtime)
    if runtime.dialect == "cuda" and importlib.util.find_spec("nvmath") is not None:
        from .cuda import CUDAProvider  # nvmath is slow to import, and there for CUDA alone

        return CUDAProvider(cast("CUDARuntime", runtime))
    return KernelProvider(runtime)
