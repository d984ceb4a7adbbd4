"""Local designs that are searched for in continuous space: along rays, or along gradients."""

from __future__ import annotations

import math

from ...kernels.template import Template
from ...runtime.base import Runtime
from ...runtime.types import Array
from .correlation import Correlation
from .design import Search
from .layout import blocks_within, ray_layout

RAY = Template.beside(__file__, "ray")


def beginnings(n_candidates: int, end: int, rays: int) -> int:
    """Number of candidates that have to be in the order of their distances: no ray begins at a later one."""
    return min(n_candidates, end + rays + math.isqrt(end))


class RaySearch(Search):
    """Search for local designs along rays.

    Parameters
    ----------
    runtime, X, separable
        As for `Search`.
    box : (2, p) device array of float64
        The least and the largest number of each column, which rays do not leave.
    rays : int
        Number of rays on which a point of the design is searched for.
    opt : bool
        Whether the search goes on along gradients.
    chosen : int, optional
        Arguments of `ray_layout`, to choose another layout.

    Notes
    -----
    After Gramacy & Haaland (2016), "Speeding up neighborhood search in local Gaussian process prediction", Technometrics 58,
    294. The reduction of variance, eq. 6 of Gramacy, Niemi & Weiss (2014), has its maxima on rays from the location: a ray
    begins at one of the nearest points that are not in the design yet and leads away from the location, ten times as far, or
    to where the points end. It is looked at in 8 places, and then more closely around the best one of all rays; the candidate
    that is nearest to what was found is the design's next point. Searches begin with other neighbours in turn. So a point
    costs a few dozen values, and distances to the candidates, where `Design` computes the value of each candidate.

    With `opt` what was found on rays is where gradients are followed from, by three line searches.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.processes.local.correlation import Correlation
    >>> from gpustats.runtime import choose
    >>> runtime = choose.get()
    >>> array = runtime.to_device
    >>> X = np.linspace(0.0, 1.0, 11)[:, None]
    >>> x, candidates = np.array([[0.42]]), np.array([[4, 5, 3, 6, 2, 7, 1, 8, 0, 9, 10]], dtype=np.int32)
    >>> search = RaySearch(runtime, array(X), Correlation(), False, array(np.array([[0.0], [1.0]])), rays=2)
    >>> found = search.search(array(x), array(candidates), array(np.array([0.1])), array(np.array([1e-4])), start=2, end=5)
    >>> runtime.to_host(found)[0, :2], len(set(runtime.to_host(found)[0]))
    (array([4, 5], dtype=int32), 5)
    """

    def __init__(
        self, runtime: Runtime, X: Array, correlation: Correlation, separable: bool, box: Array, rays: int = 1,
        opt: bool = False, **chosen: int,
    ) -> None:  # fmt: skip
        super().__init__(runtime, X, correlation.source(), separable, chosen)
        self.box, self.rays, self.opt = box, rays, opt

    def _start(self, arrays: tuple[Array, ...], start: int) -> None:
        runtime, (out, _, locations, candidates, *_) = self.runtime, arrays
        (m, dim), end, k = locations.shape, out.shape[1], candidates.shape[1]
        if not m:
            return
        layout = ray_layout(runtime.device, dim, k, end, self.rays, **self._chosen)
        blocks = blocks_within(runtime, layout.blocks, m, 8 * layout.scratch)
        kernel = RAY.kernel(
            runtime, "local_ray", layout.threads, 8 * layout.shared, dtype="float64", layout=layout,
            correlation=self.source, dim=dim, separable=self.separable, rays=self.rays, opt=self.opt,
        )  # fmt: skip
        operands = [value for a in (*arrays, self.box) for value in runtime.memory(a)]
        scratch, ordered = runtime.scratch(8 * layout.scratch * blocks), beginnings(k, end, self.rays)
        kernel((blocks, 1), *operands, scratch, layout.scratch, m, k, ordered, layout.width, start, end)
