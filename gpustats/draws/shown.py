"""Kernel of random draws that is shown of any density."""

SHOWN = {"sample": lambda density, dtype, dialect: density.sampler.shown(dtype, dialect)}
