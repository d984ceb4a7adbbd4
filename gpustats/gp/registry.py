"""The covariance functions that are registered, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..language.device_function import DeviceFunction
from ..language.library import library
from .covariance import Covariance


class Covariances(Mapping[str, Covariance]):
    """Every registered covariance function by its name; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[DeviceFunction, Covariance]] = {}

    def __getitem__(self, name: str) -> Covariance:
        if not library.has(name, covariance=True):
            raise KeyError(name)
        definition = library.get(name)
        if name not in self._made or self._made[name][0] is not definition:
            self._made[name] = definition, Covariance.of(definition)
        return self._made[name][1]

    def __iter__(self) -> Iterator[str]:
        return library.names(covariances=True)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return library.has(name, covariance=True)

    def __repr__(self) -> str:
        return f"<gpustats covariance functions: {', '.join(self)}>"


covariances = Covariances()
