"""Mixtures of a density's parameter sets, and statistics of labelled observations."""
