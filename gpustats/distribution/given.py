"""Densities as users give them to models and transforms: errors about what is none."""

from __future__ import annotations

from ..language.kinds import DENSITY
from ..language.library import library
from ..names.elsewhere import hint
from .frozen import Frozen
from .methods import Distribution


def check_density(value: object, taker: str, call: str = "") -> None:
    """TypeError, which says what to write, unless a value is a density.

    Parameters
    ----------
    value : object
    taker : str
        Who takes it, such as ``Likelihood``.
    call : str
        How it is called, such as ``Likelihood(density, x)``.
    """
    if not isinstance(value, Distribution):
        shape = getattr(value, "shape", None)
        kind = type(value).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
        called = f": {call}, with a density such as gpustats.normal" if call else ""
        raise TypeError(f"{taker} takes a density, not {kind}{_advice(value) or called}")


def _advice(value: object) -> str:
    """What to write where a density is named, or comes with parameters; "" for all else."""
    if isinstance(value, Frozen):
        return f": give gpustats.{value.density.name} itself; its parameters come with each call"
    if isinstance(value, str):
        return f": write gpustats.{value}" if library.has(value, DENSITY) else hint(value, library.names(DENSITY))
    return ""
