"""Comparison of models: cross-validation and predictive checks from terms of rows that are computed in pieces, never stored."""
