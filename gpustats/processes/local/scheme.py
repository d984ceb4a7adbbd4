"""Scheme of a prediction by local Gaussian processes: the choice of designs, and the parameters to estimate."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from .defaults import Known, Parameter, darg, garg
from .points import Points
from .ray import beginnings
from .units import Units

METHODS = ("alc", "mspe", "nn", "ray", "opt")
#: Candidates by default, beside as many as the design has points.
DEFAULT_CLOSE = 1000


@dataclass(frozen=True)
class Options:
    """Options of a prediction by local Gaussian processes: arguments of `LocalGP.predict` as users give them."""

    start: int = 6
    end: int = 50
    close: int | None = None
    d: Known = None
    g: Known = None
    method: str | Sequence[str] = "alc"
    separable: bool = False
    stages: int = 1
    joint: bool = False
    noise: bool = False
    rays: int | None = None
    nearest: str = "auto"


@dataclass(frozen=True)
class Scheme:
    """Choice of the designs, and the parameters to estimate: figure 1 of Gramacy, Niemi & Weiss (2014).

    The fields are those of `Options`, checked; `d` and `g` say all that is known of lengthscales and nugget.
    """

    start: int
    end: int
    close: int
    methods: tuple[str, ...]  # of the stages
    separable: bool
    nearest: str
    noise: bool
    rays: int | None  # None: as many as the method has by itself
    d: Parameter
    g: Parameter

    @classmethod
    def of(cls, options: Options, X: Points, y: np.ndarray, lengths: np.ndarray | None = None) -> Scheme:
        """Scheme for these data, or ValueError where the options make no sense for them.

        `lengths`: divisors of the columns of X, where they are known.
        """
        n, method, joint, rays, separable = len(X), options.method, options.joint, options.rays, options.separable
        start, end, stages = (_whole(name, getattr(options, name)) for name in ("start", "end", "stages"))
        close = min(DEFAULT_CLOSE + end, n) if options.close is None else _whole("close", options.close)
        if not 1 <= start <= end <= min(close, n):
            raise ValueError(
                f"start = {start}, end = {end}, close = {close}, and X has {n} rows: it must be 1 <= start <= end <= close, "
                "and end <= the rows of X"
            )
        if stages < 1:
            raise ValueError(f"stages = {stages}: there must be one at least")
        methods = (method,) * stages if isinstance(method, str) else tuple(method)
        if not methods or any(m not in METHODS for m in methods):
            raise ValueError(f"method = {method!r}: there are {', '.join(map(repr, METHODS))}, or one of these a stage")
        if not isinstance(method, str) and stages != 1:
            raise ValueError(f"stages = {stages}, and method = {method!r} has one for each stage: leave out stages")
        if "mspe" in methods and (separable or joint):
            raise ValueError(
                "method = 'mspe' has one lengthscale and one location: use separable = False and joint = False, or "
                "method = 'alc'"
            )
        if joint and (alone := [m for m in methods if m in ("ray", "opt")]):
            raise ValueError(f"method = {alone[0]!r} searches around one location: use joint = False, or method = 'alc'")
        if rays is not None and _whole("rays", rays) < 1:
            raise ValueError(f"rays = {rays}: there must be one at least")
        if "mspe" in methods and start < 3:
            raise ValueError(f"start = {start}: method = 'mspe' needs a design of 3 points to begin with")
        if options.nearest not in ("auto", "device", "tree"):
            raise ValueError(f"nearest = {options.nearest!r}: there are 'auto', 'device' and 'tree'")
        if options.nearest == "tree" and not isinstance(X.rows, np.ndarray):
            raise ValueError(
                "nearest = 'tree': a tree has all of X in memory, and this X is read in parts, being more than a device is to "
                "hold: use nearest = 'device', or give X as an array in memory"
            )
        return cls(
            start, end, min(close, n), methods, separable, options.nearest, bool(options.noise), rays,
            darg(options.d, X, separable=separable, lengths=lengths), garg(options.g, y),
        )  # fmt: skip

    def rays_of(self, method: str, p: int) -> int:
        """Number of rays along which the method "ray" or "opt" searches, among points with p columns."""
        return self.rays or (p if method == "ray" else 1)

    def ordered(self, p: int) -> int:
        """Number of candidates, of points with p columns, that have to be in the order of their distances."""
        rays = (self.rays_of(m, p) for m in self.methods if m in ("ray", "opt"))
        return max([self.start, *(beginnings(self.close, self.end, n) for n in rays)])

    def within(self, units: Units, p: int) -> Scheme:
        """Scheme for data in these units, with p columns."""
        return replace(self, d=units.parameter(self.d, p if self.separable else 1))

    def starts(self, m: int, p: int) -> tuple[np.ndarray, np.ndarray]:
        """Starts of the searches for lengthscales, (m, p) or (m, 1), and nuggets, (m,), at m locations with p columns."""
        lengthscales = _by_location("d", self.d.start, m, p if self.separable else 1)
        return lengthscales, _by_location("g", self.g.start, m, 1)[:, 0]


def _whole(name: str, number: SupportsIndex) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise ValueError(f"{name} = {number!r}: it must be a whole number") from None


def _by_location(name: str, start: ArrayLike, m: int, columns: int) -> np.ndarray:
    """Number for each location and column, (m, columns)."""
    start = np.asarray(start, np.float64)
    shape = start.shape
    if start.ndim == 1 and columns == 1 and shape == (m,):
        start = start[:, None]
    if start.ndim > 2 or any(s not in (1, w) for s, w in zip(reversed(start.shape), (columns, m), strict=False)):
        wanted = f"({m},)" if columns == 1 else f"({columns},), ({m}, 1) or ({m}, {columns})"
        raise ValueError(f"{name} has shape {shape}: it must be a number, or {wanted}")
    return np.broadcast_to(start, (m, columns))
