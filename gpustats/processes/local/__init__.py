"""Local approximate Gaussian processes, after Gramacy, Niemi & Weiss (2014)."""

from ..prediction import JointPrediction, LocalPrediction
from .defaults import darg, garg
from .model import LocalGP
from .scaling import blhs

__all__ = ["JointPrediction", "LocalGP", "LocalPrediction", "blhs", "darg", "garg"]
