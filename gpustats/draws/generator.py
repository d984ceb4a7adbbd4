"""Random streams: the meaning of a seed, and how far its stream has been used.

The numbers themselves are made in the kernels' registers: see ``generator.mako``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..kernels.template import Template

#: The C functions that draw random numbers.
RANDOM = Template.beside(__file__, "generator")


class Stream(NamedTuple):
    """Place of a call's first draw, as kernels take it: three int64."""

    key: int
    stream: int
    first_draw: int


class Generator:
    """Stream of random draws that depends on its seed alone.

    Each draw has a number, and what is drawn depends on the seed and that number only: not on the device, and not on how many
    are drawn at a time. Generators are safe to use from several threads; for results that can be repeated, give each
    thread or process its own, made by `spawn`.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence, or None
        As for `numpy.random.default_rng`; None takes a fresh one from the operating system.

    Notes
    -----
    Philox4x32-10 [1]_: ten rounds of multiplications mix a counter, made of the number of the draw, and a key, made of the
    seed. There are 2^96 streams of 2^63 draws.

    .. [1] Salmon, Moraes, Dror & Shaw (2011), Parallel random numbers: as easy as 1, 2, 3.

    Examples
    --------
    >>> import gpustats as gs
    >>> rng = gs.Generator(1)
    >>> three = gs.uniform.rvs(0.0, 1.0, size=3, rng=rng)
    >>> more = gs.uniform.rvs(0.0, 1.0, size=2, rng=rng)
    >>> bool((gs.uniform.rvs(0.0, 1.0, size=5, rng=1) == [*three, *more]).all())
    True
    """

    def __init__(self, seed: int | Sequence[int] | np.random.SeedSequence | None = None):
        self.seed_sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        low, high, self._stream = map(int, self.seed_sequence.generate_state(3, np.uint32))
        self._key = low | high << 32
        self._key -= (self._key >> 63) << 64  # as int64
        self._drawn = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<gpustats.Generator of {self.seed_sequence.entropy}, {self._drawn} drawn>"

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def take(self, n: int) -> Stream:
        """Place of the next n draws, which are spent by this."""
        with self._lock:
            first, self._drawn = self._drawn, self._drawn + n
        return Stream(self._key, self._stream, first)

    def spawn(self, n: int) -> list[Generator]:
        """List of n generators whose streams are independent of one another's and of this one's.

        Examples
        --------
        >>> import gpustats as gs
        >>> first, second = gs.Generator(1).spawn(2)
        >>> bool(gs.normal.rvs(0.0, 1.0, rng=first) == gs.normal.rvs(0.0, 1.0, rng=second))
        False
        """
        return [Generator(seed) for seed in self.seed_sequence.spawn(n)]

    def jumped(self, jumps: int = 1) -> Generator:
        """Generator of another stream, whose number is larger by `jumps`.

        Examples
        --------
        >>> import gpustats as gs
        >>> rng = gs.Generator(1)
        >>> bool(gs.normal.rvs(0.0, 1.0, rng=rng.jumped(2)) == gs.normal.rvs(0.0, 1.0, rng=rng.jumped().jumped()))
        True
        """
        other = Generator.__new__(Generator)
        other.__setstate__({**self.__getstate__(), "_stream": (self._stream + jumps) % 2**32})
        return other


#: What users may pass for a stream of draws; None stands for one with a fresh seed.
Rng: TypeAlias = int | Sequence[int] | np.random.SeedSequence | Generator | np.random.Generator | np.random.RandomState | None


def as_generator(rng: Rng, random_state: Rng = None) -> Generator:
    """Generator that an argument `rng`, or `random_state`, stands for: see `gpustats.Density.rvs`."""
    if rng is not None and random_state is not None:
        raise ValueError("rng and random_state mean the same: give one of them")
    rng = random_state if rng is None else rng
    if rng is None:
        return _default()
    if isinstance(rng, Generator):
        return rng
    if isinstance(rng, np.random.RandomState):
        return Generator(rng.randint(0, 2**32, 4, dtype=np.uint32).tolist())
    if isinstance(rng, np.random.Generator):
        return Generator(rng.integers(0, 2**32, 4, np.uint32).tolist())
    try:
        return Generator(rng)
    except TypeError:
        raise TypeError(
            f"rng must be a seed, a gpustats.Generator, a numpy.random.Generator or None, not {type(rng).__name__}"
        ) from None


_of_process: dict[int, Generator] = {}  # process -> what draws use that are given no generator


def _default() -> Generator:
    """Generator of the process: a forked child has one of its own, not to repeat its parent's draws."""
    process = os.getpid()
    return _of_process.get(process) or _of_process.setdefault(process, Generator())
