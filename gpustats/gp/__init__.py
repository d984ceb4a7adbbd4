"""Gaussian processes: covariance functions, exact marginal likelihoods, and local approximations for many points.

>>> import numpy as np, gpustats as gs
>>> x = np.linspace(0.0, 1.0, 5)
>>> gs.rbf(x, amplitude=1.0, lengthscale=0.5).shape
(5, 5)
"""

from .covariance import Covariance
from .fitting import Fit
from .local import LocalGP
from .marginal import MarginalLikelihood
from .prediction import LocalPrediction, Prediction
from .registry import covariances

__all__ = ["Covariance", "Fit", "LocalGP", "LocalPrediction", "MarginalLikelihood", "Prediction", "covariances"]
