"""Local approximate Gaussian processes, after Gramacy, Niemi & Weiss (2014)."""

from ..processes.local.defaults import darg, garg
from ..processes.local.model import LocalGP
from ..processes.local.scaling import blhs
from ..processes.prediction import JointPrediction, LocalPrediction

__all__ = ["JointPrediction", "LocalGP", "LocalPrediction", "blhs", "darg", "garg"]
