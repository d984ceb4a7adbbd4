"""Elliptical densities: functions of a squared Mahalanobis distance, evaluated, differentiated and drawn from."""

from .density import Elliptical
from .gradient import EllipticalGradient

__all__ = ["Elliptical", "EllipticalGradient"]
