"""Points of Vecchia's approximation divided among several devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...parallel.devices import inside_worker, workers
from ...runtime.base import Runtime
from ..expression import Expression
from .conditionals import Conditionals, Points


class Spread:
    """Conditional densities on several devices: each has an equal share of the points to evaluate, and a copy of all points.

    Parameters
    ----------
    runtimes : sequence of Runtime
    x, y, neighbours : ndarray
        In the points' order.
    """

    def __init__(
        self, covariance: Expression, runtimes: Sequence[Runtime], x: np.ndarray, y: np.ndarray, neighbours: np.ndarray,
        lift: float,
    ) -> None:  # fmt: skip
        runtimes = runtimes[: len(x)]
        ends = [len(x) * k // len(runtimes) for k in range(len(runtimes) + 1)]
        self._threads = workers(runtimes)

        def made(runtime: Runtime, first: int, end: int) -> Conditionals:
            return Conditionals(covariance, Points.on(runtime, x, y, neighbours, first, end), lift)

        self._parts = [
            thread.submit(made, runtime, ends[k], ends[k + 1]).result()
            for k, (thread, runtime) in enumerate(zip(self._threads, runtimes, strict=True))
        ]

    def __call__(
        self, values: Mapping[str, np.ndarray], n_sets: int, wrt: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Log-likelihoods and their derivatives, as `Conditionals` returns them."""
        if inside_worker():
            found = [part(values, n_sets, wrt) for part in self._parts]
        else:
            futures = [w.submit(part, values, n_sets, wrt) for w, part in zip(self._threads, self._parts, strict=True)]
            found = [future.result() for future in futures]
        return np.sum([value for value, _ in found], 0), {n: np.sum([slopes[n] for _, slopes in found], 0) for n in wrt}
