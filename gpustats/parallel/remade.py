"""Models that travel to other processes: by their data and settings, of which they are made anew there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import numpy as np

from ..runtime import arrays, choose
from ..runtime.base import Device, Runtime
from ..runtime.transfers import to_host
from ..runtime.types import Array
from .pieces import Options, Pieces


class Remade:
    """Model that can be pickled and copied.

    A pickle holds the data, read from their device, and the settings. Unpickled, the data go to the default device of
    their new process, and kernels are compiled anew, or found among those on the disk. Rows of a memory-mapped file are pickled
    as their place in it.
    """

    _options = Options()

    def _recipe(self) -> Callable[..., Remade]:
        """Function that makes the model anew of data, which it takes by their names; it can be pickled."""
        raise NotImplementedError

    def _held(self) -> dict[str, Array]:
        """Data by their names: device arrays only where they came as such."""
        raise NotImplementedError

    def _kept(self) -> dict[str, object]:
        """Attributes beside the data and the settings that a model made anew is to have."""
        return {}

    def _place(self) -> str:
        """Device of the data, or where their pieces lie, for users to read."""
        pieces: Pieces | None = getattr(self, "_pieces", None)
        return str(getattr(self, "device", "")) if pieces is None else pieces.where

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self._recipe(), self._fetched(), _portable(self._options)), self._kept()

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)  # nothing that a model consists of is ever changed
        return copied

    def __deepcopy__(self, memo: object) -> Remade:
        made = _made(self._recipe(), self._fetched(), self._options)
        made.__dict__.update(self._kept())
        return made

    def _fetched(self) -> dict[str, Array | Fetched]:
        return {n: fetched(v) for n, v in self._held().items()}


class Fetched(NamedTuple):
    """Numbers of a device array, which are to lie on a device again."""

    array: np.ndarray


def fetched(value: Array) -> Array | Fetched:
    """Value that can be pickled: a device array becomes `Fetched` for its way to another process."""
    return Fetched(to_host(value)) if arrays.is_device_array(value) else value


def placed(value: Array | Fetched) -> Array:
    """Value of a `fetched` one, on the default device if it came from a device."""
    return choose.get().to_device(value.array) if isinstance(value, Fetched) else value


class _Scheduler(NamedTuple):
    """Cluster, by the address of its scheduler."""

    address: str


def _portable(options: Options) -> Options:
    """Options that can be pickled: devices by their ids, a cluster by its address."""
    devices, client = options.devices, options.client
    if devices is not None and not isinstance(devices, str):
        devices = _name(devices) if isinstance(devices, Device) else [_name(device) for device in devices]
    if client is not None:
        client = _Scheduler(client.scheduler.address)
    return options._replace(devices=devices, client=client)


def _name(device: str | Device | Runtime) -> str:
    if isinstance(device, str):
        return device
    return (device.device if isinstance(device, Runtime) else device).id


def _made(recipe: Callable[..., Remade], data: Mapping[str, Array | Fetched], options: Options) -> Remade:
    """Model made anew."""
    given = {n: placed(v) for n, v in data.items()}
    chosen = {n: v for n, v in options._asdict().items() if v is not None}
    if isinstance(options.client, _Scheduler):
        from distributed import get_client

        chosen["client"] = get_client(options.client.address)
    return recipe(**given, **chosen)
