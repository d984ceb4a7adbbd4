"""How a source tells that it defines an elliptical density: by what its function sees of the observation."""

from __future__ import annotations

from ..language.kinds import DENSITY, Kind

#: Its function sees the squared Mahalanobis distance of x from mu, and the logarithm of the determinant of cov.
ELLIPTICAL = Kind(
    "elliptical density", "elliptical densities", ("logpdf", "logpmf"),
    base=DENSITY, inputs=("sqdist", "logdet"), public=("x", "mu", "cov"),
)  # fmt: skip
