"""Random states as SciPy takes them, as generators of draws."""

from __future__ import annotations

import numpy as np

from ..draws.generator import Rng, as_generator


def generator_of(random_state: Rng) -> Rng:
    """Generator, as `Density.rvs` takes it, for a random state of SciPy's.

    A seed gives the generator that ``numpy.random.seed`` with it would give.
    """
    if random_state is None or random_state is np.random:
        return as_generator(np.random.randint(0, 2**32, 4, dtype=np.uint32).tolist())  # noqa: NPY002
    if isinstance(random_state, (int, np.integer)):
        return np.random.RandomState(random_state)
    return random_state
