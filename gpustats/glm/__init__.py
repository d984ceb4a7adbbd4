"""Generalised linear models: any density with a linear predictor, its likelihood and gradients in one pass over X."""

from .model import GLM

__all__ = ["GLM"]
