"""Random states as SciPy takes them, as generators of draws."""

from __future__ import annotations

import numpy as np

from ..draws.generator import Rng, as_generator


def generator_of(random_state: Rng) -> Rng:
    """Generator, as `Density.rvs` takes it, for a random state of SciPy's.

    A seed gives the generator that ``numpy.random.seed`` with it would give.
    """
    if random_state is None or random_state is np.random:  # type: ignore[comparison-overlap]
        return as_generator(np.random.randint(0, 2**32, 4, dtype=np.uint32).tolist())  # noqa: NPY002
    if isinstance(random_state, (int, np.integer)):
        return np.random.RandomState(random_state)
    return random_state


class WithRandomState:
    """Distribution with a random state, which draws take that are given none."""

    _random_state: Rng = None

    @property
    def random_state(self) -> Rng:
        """Random state of draws that are given none.

        None is the generator of ``numpy.random``. A seed becomes a generator.
        """
        return self._random_state

    @random_state.setter
    def random_state(self, seed: Rng) -> None:
        self._random_state = None if seed is None else generator_of(seed)

    def _generator(self, random_state: Rng) -> Rng:
        """Generator of draws that are given a random state, or none."""
        return generator_of(self.random_state if random_state is None else random_state)
