"""Local approximate Gaussian processes, after Gramacy, Niemi & Weiss (2014)."""

from ..prediction import LocalPrediction
from .defaults import darg, garg
from .model import LocalGP

__all__ = ["LocalGP", "LocalPrediction", "darg", "garg"]
