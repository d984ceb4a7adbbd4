"""Distributions: what there is beside a density, and distributions of certain parameters."""
