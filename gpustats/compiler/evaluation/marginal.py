"""Marginal likelihoods of models of rows at PyTensor's arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...marginals.model import LaplaceMarginal
from .forked import survives_fork


class MarginalEvaluator:
    """Evaluator of a marginal likelihood.

    Parameters
    ----------
    marginal : LaplaceMarginal
    """

    def __init__(self, marginal: LaplaceMarginal):
        self.marginal = marginal

    @survives_fork
    def sums(self, values: Sequence[np.ndarray], wrt: Sequence[str]) -> list[Any]:
        """Value and derivatives in parameters, of which these are all values; -inf and zeros where there is no value."""
        named = dict(zip(self.marginal.parameters, values, strict=True))
        if wrt:
            value, slopes = self.marginal.value_and_grad(**named, wrt=tuple(wrt))
        else:
            value, slopes = self.marginal(**named), {}
        if math.isnan(value):
            return [np.array(-np.inf), *(np.zeros_like(named[n]) for n in wrt)]
        return [np.array(value), *(np.asarray(slopes[n]) for n in wrt)]
