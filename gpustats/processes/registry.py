"""Registered covariance functions, by their names."""

from __future__ import annotations

from ..language.library import Registry
from .covariance import Covariance
from .kind import COVARIANCE


class Covariances(Registry[Covariance]):
    """Registered covariance functions by name; built-in ones are parsed when first asked for."""

    def __init__(self) -> None:
        super().__init__(COVARIANCE, Covariance.of)


covariances = Covariances()
