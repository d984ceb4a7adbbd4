"""Vecchia's approximation of Gaussian processes: each observation given its nearest neighbours among those before it."""

from .model import Vecchia

__all__ = ["Vecchia"]
