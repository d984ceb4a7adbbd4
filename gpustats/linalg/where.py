"""Choice of where a call with NumPy arrays is computed: where they are, or on the device.

On the device it takes the transfers both ways and what the device needs, on the host what the host needs. All of these are
straight lines, in the bytes and in the operations, which are measured once on a machine and kept on disk. A device that
works in the host's memory needs no transfers, so nothing is measured there: it is BLAS and LAPACK.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..errors import NoDeviceError
from ..runtime import choose as runtimes
from ..runtime import thresholds
from ..runtime.base import Runtime
from ..runtime.speeds import Speeds, kept, seconds, through, transfer
from ..runtime.types import DType
from .host import HostProvider
from .provider import Provider
from .providers import provider_of

WHERE = ("auto", "host", "device")
FEWEST_OPERATIONS = thresholds.LINALG_FEWEST_OPERATIONS.value  # operations below which no device pays, and none is asked
MEASURED_SIZES = {"host": (128, 1024), "device": (256, 2048)}  # of the matrices that are measured


def choose(on_device: Runtime | None, dtype: DType, flops: float, moved: int, kind: str, where: str) -> Provider:
    """Provider for a call.

    Parameters
    ----------
    on_device : Runtime or None
        Runtime on which device arrays lie, if there are any.
    flops : float
        Operations.
    moved : int
        Bytes of NumPy arrays that would go to the device and come back.
    kind : {"gemm", "potrf"}
        Kind of most operations.
    where : {"auto", "host", "device"}

    Raises
    ------
    ValueError
        Another `where`, or the host for what lies on a device.
    NoDeviceError
        No device, where one is asked for.
    """
    if where not in WHERE:
        raise ValueError(f"where must be one of {', '.join(map(repr, WHERE))}, not {where!r}")
    if on_device is not None:
        if where == "host":
            raise ValueError("where='host', but an argument lies on a device: bring it to the host with gs.to_host")
        return provider_of(on_device)
    if where == "host":
        return _host()
    try:
        runtime = runtimes.get()
    except NoDeviceError:
        if where == "device":
            raise
        return _host()
    if where == "device" or runtime.host_visible:
        return provider_of(runtime)
    if flops < FEWEST_OPERATIONS or (dtype.itemsize == 8 and not runtime.device.double):
        return _host()
    return provider_of(runtime) if pays(speeds(runtime, dtype), flops, moved, kind) else _host()


def pays(measured: Speeds, flops: float, moved: int, kind: str) -> bool:
    """True if a call takes less time on the device."""
    there = measured["transfer"].seconds(moved) + measured[f"device {kind}"].seconds(flops)
    return there < measured[f"host {kind}"].seconds(flops)


@functools.cache
def _host() -> HostProvider:
    return HostProvider()


@functools.cache
def speeds(runtime: Runtime, dtype: DType) -> Speeds:
    """Speeds on this machine, stored or measured now, in about a second."""
    return kept("linalg speeds", runtime.device, (dtype.name,), lambda: measure(provider_of(runtime), dtype))


def measure(provider: Provider, dtype: DType) -> Speeds:
    """Speeds of a device, of the host and of the way between them.

    "transfer" by bytes; "host gemm", "device gemm", "host potrf", "device potrf" by operations.
    """
    found = {"transfer": transfer(provider.runtime)}
    for side, on in (("host", _host()), ("device", provider)):
        for kind in ("gemm", "potrf"):
            few, many = ((_flops(kind, n), seconds(_operation(on, kind, n, dtype))) for n in MEASURED_SIZES[side])
            found[f"{side} {kind}"] = through(few, many)
    return found


def _flops(kind: str, n: int) -> float:
    """Number of the operations that are measured, for matrices of n rows."""
    return 2.0 * n**3 if kind == "gemm" else n**3 / 3


def _operation(provider: Provider, kind: str, n: int, dtype: DType) -> Callable[[], None]:
    """Function that computes a product, or a factorisation, of matrices of n rows, and has finished when it returns."""
    a, c = provider.empty(n, n, dtype), provider.empty(n, n, dtype)
    provider.identity(a)
    provider.identity(c)

    def run() -> None:
        if kind == "gemm":
            provider.gemm(1.0, a, a, 0.0, c)
        else:
            provider.potrf(a)  # of the identity, which it leaves as it is
        if not provider.on_host:
            provider.runtime.synchronize()

    return run
