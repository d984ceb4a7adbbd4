"""Local approximate Gaussian processes, after Gramacy, Niemi & Weiss (2014)."""

from .defaults import darg, garg
from .model import LocalGP, LocalPrediction

__all__ = ["LocalGP", "LocalPrediction", "darg", "garg"]
