"""Local designs: for each location the points that reduce its predictive variance most, chosen one after another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from ...kernels.template import Template
from ...runtime.base import Runtime
from ...runtime.types import Array
from .correlation import Correlation
from .layout import blocks_within, cluster_layout, design_layout, is_narrow_faster

DESIGN, CLUSTERED = Template.beside(__file__, "design"), Template.beside(__file__, "clustered")


#: The least nugget and lengthscale with which float32 leaves designs as they are.
_LEAST_NUGGET, _LEAST_LENGTHSCALE = 1e-5, 1e-12


def is_narrow_enough(runtime: Runtime, n_candidates: int, end: int, d: np.ndarray, g: np.ndarray) -> bool:
    """True if candidates' rows are kept in float32: where that is faster, and leaves 999 of 1,000 designs unchanged.

    Parameters
    ----------
    d, g : ndarray of float64
        Lengthscales and nuggets of all locations, where columns of X have standard deviations of 1 or less.
    """
    enough = g.min(initial=np.inf) >= _LEAST_NUGGET and d.min(initial=np.inf) >= _LEAST_LENGTHSCALE
    return bool(enough) and is_narrow_faster(runtime.device, n_candidates, end)


class Search(ABC):
    """Search for local designs: for each location, rows of X among its candidates.

    Parameters
    ----------
    runtime : Runtime
        Device that computes in float64.
    X : (N, p) device array of float64
        Contiguous.
    source : str
        C functions of the correlation.
    separable : bool
        Whether each column has a lengthscale of its own.
    chosen : mapping
        Arguments of the kernel's layout, to choose another one.
    """

    def __init__(self, runtime: Runtime, X: Array, source: str, separable: bool, chosen: Mapping[str, int]) -> None:
        self.runtime, self.X, self.source, self.separable, self._chosen = runtime, X, source, separable, chosen

    def search(
        self, locations: Array, candidates: Array, d: Array, g: Array, start: int, end: int, out: Array | None = None
    ) -> Array:
        """Designs, as rows of X in the order in which the search chooses them.

        Parameters
        ----------
        locations : (m, p) device array of float64
            For a `Design` by the reduction of variance also (m, r, p), with r references each, over which it is summed.
        candidates : (m, k) device array of int32
            Rows of X, each at most once; -1: none. The first `start` begin the design. For a `RaySearch` the first ones, as
            many as `beginnings` says, are in the order of their distances.
        d : (m,) or (m, 1) device array of float64, (m, p) if separable
            Lengthscales.
        g : (m,) device array of float64
            Nuggets.
        start, end : int
            Points that the design begins with, and has in the end; 1 <= start <= end <= k, and start >= 3 for the mean-squared
            prediction error.
        out : (m, end) device array of int32, optional

        Returns
        -------
        (m, end) device array of int32
            `out`. A row of -1 where a location, its hyperparameters or all that is left to choose from are nan.

        Raises
        ------
        ValueError
            Numbers of points that are none, too few, or more than there are candidates.
        """
        k = candidates.shape[1]
        if not 1 <= start <= end <= k:
            raise ValueError(f"start = {start}, end = {end}: a design of {k} candidates needs 1 <= start <= end <= {k}")
        found = self.runtime.empty((locations.shape[0], end), np.int32) if out is None else out
        self._start((found, self.X, locations, candidates, d, g), start)
        return found

    @abstractmethod
    def _start(self, arrays: tuple[Array, ...], start: int) -> None:
        """Start the kernel that takes these arrays: the designs, X, locations, candidates, lengthscales and nuggets."""


class Design(Search):
    """Search for local designs among candidates, all of which are looked at.

    Parameters
    ----------
    runtime, X, separable
        As for `Search`.
    y : (N,) device array of float64, optional
        Responses. With them the criterion is the mean-squared prediction error, without them the reduction of variance.
    narrow : bool
        Whether coordinates, and most of the factor's rows, are kept in float32, which takes half the bytes; see
        `is_narrow_enough`. Only for the reduction of variance.
    chosen : int, optional
        Arguments of `cluster_layout`, or `design_layout`, to choose another layout.

    Raises
    ------
    ValueError
        Responses and a lengthscale for each column.

    Notes
    -----
    After Gramacy, Niemi & Weiss (2014). Active learning (ALC) adds to a design of j points the candidate z that reduces the
    variance at the location x most, eq. 6: by c(z)² / v(z), where c(z) is the covariance of x and z given the design, and v(z)
    the variance at z, with the nugget. Adding a point s makes v(z) smaller by w(z)², and c(z) by w(z) w(x), where w(z) is the
    covariance of s and z given the design, divided by the root of v(s): the next row of the Cholesky factor of the design's
    matrix, continued to all candidates. A candidate costs O(j) operations a step, where eq. 6 as it stands costs O(j²).

    The mean-squared prediction error, eq. 4, with V(z) = psi v(z) / (j - 2), takes the derivatives of all that in the
    lengthscale, by the same steps, and second derivatives of what concerns the design's own points. Where the log-likelihood of
    the design is not concave, its second derivative counts as no information, not as negative information. Responses that are
    all 0 at a design leave the variance as the criterion.

    Equally good candidates are taken in the order of the rows of X. The result for a location depends on that location alone.

    Examples
    --------
    >>> import numpy as np
    >>> from gpustats.processes.local.correlation import Correlation
    >>> from gpustats.runtime import choose
    >>> runtime = choose.get()
    >>> array = runtime.to_device
    >>> X = np.linspace(0.0, 1.0, 11)[:, None]
    >>> x, candidates = np.array([[0.42]]), np.array([[4, 5, 0, 1, 2, 3, 6, 7, 8, 9, 10]], dtype=np.int32)
    >>> design = Design(runtime, array(X), Correlation())
    >>> found = design.search(array(x), array(candidates), array(np.array([0.1])), array(np.array([1e-4])), start=2, end=5)
    >>> runtime.to_host(found)
    array([[4, 5, 3, 6, 7]], dtype=int32)
    """

    def __init__(
        self, runtime: Runtime, X: Array, correlation: Correlation, separable: bool = False, y: Array | None = None,
        narrow: bool = False, **chosen: int,
    ) -> None:  # fmt: skip
        if y is not None and separable:
            raise ValueError("separable = True: the mean-squared prediction error has one lengthscale")
        super().__init__(runtime, X, correlation.source(curvature=y is not None), separable, chosen)
        self.y, self.narrow = y, narrow and y is None

    def _start(self, arrays: tuple[Array, ...], start: int) -> None:
        runtime, mspe, (out, _, locations, candidates, *_) = self.runtime, self.y is not None, arrays
        (m, *several, dim), end, k = locations.shape, out.shape[1], candidates.shape[1]
        if several and mspe:
            raise ValueError("the mean-squared prediction error is that of one reference, not of several")
        if mspe and start < 3:
            raise ValueError(f"start = {start}: the mean-squared prediction error needs 3 points to begin with")
        if not m:
            return
        clusters = None
        if not mspe and not several and self._chosen.keys() <= {"parts"}:
            clusters = cluster_layout(runtime.device, dim, k, end, self.narrow, **self._chosen)
        if clusters:
            kernel = CLUSTERED.kernel(
                runtime, "local_design", clusters.threads, 8 * clusters.shared, dtype="float64", layout=clusters,
                correlation=self.source, dim=dim, separable=self.separable,
            )  # fmt: skip
            kernel((clusters.parts * m, 1), *(value for a in arrays for value in runtime.memory(a)), k, start, end)
            return
        layout = design_layout(runtime.device, dim, k, end, mspe, sum(several), self.narrow, **self._chosen)
        blocks = blocks_within(runtime, layout.blocks, m, 8 * layout.scratch)
        kernel = DESIGN.kernel(
            runtime, "local_design", layout.threads, 8 * layout.shared, dtype="float64", layout=layout,
            correlation=self.source, dim=dim, separable=self.separable, mspe=mspe, several=bool(several),
        )  # fmt: skip
        operands = [value for a in (*arrays, *([self.y] if mspe else [])) for value in runtime.memory(a)]
        scratch = runtime.scratch(8 * max(layout.scratch, 1) * blocks)
        kernel((blocks, 1), *operands, scratch, layout.scratch, m, k, layout.width, start, end, *several)
