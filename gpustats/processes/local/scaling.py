"""Lengthscales of all data, to scale columns with: a separable fit on random blocks of points."""

from __future__ import annotations

import numpy as np

from ...evaluation.placement import device_of
from ...evaluation.results import as_host
from ...parallel.rows import as_rows, is_stored
from ...runtime import arrays
from ...runtime.base import Runtime
from ...runtime.types import Array
from ..expression import Expression
from ..fitting import Seed
from ..observations import require_finite
from .correlation import Correlation
from .defaults import Known, darg, garg
from .fit import LocalFit
from .points import Points, parts_of
from .units import Units

#: Number of points of a subsample, and number of subsamples.
SUBSAMPLE_SIZE, REPLICATES = 250, 10
#: Number of points whose quantiles are the ends of a column's intervals.
_INTERVAL_SAMPLE = 100_000
_MOST_HYPERCUBES = 100  # of Latin hypercubes, at most, until there are points enough


def blhs(
    X: Array, y: Array, cov: Expression | None = None, *, size: int = SUBSAMPLE_SIZE, replicates: int = REPLICATES,
    d: Known = None, g: float = 1e-3, center: bool = True, rng: Seed = 0,
) -> np.ndarray:  # fmt: skip
    """Lengthscales of the columns for all data, from bootstrapped block Latin hypercubes.

    Parameters
    ----------
    X : (N, p) array_like
        Or an array that is read by slices, of which some rows are in memory at a time.
    y : (N,) array_like
    cov : Covariance, optional
        As for `LocalGP`.
    size : int
        Points of a subsample; N if there are no more.
    replicates : int
        Subsamples, of whose estimates the median is taken.
    d : optional
        Start, bounds and prior of lengthscales, as for `LocalGP.predict`, if separable.
    g : float
        The nugget.
    center : bool
        As for `LocalGP`.
    rng : int or numpy.random.Generator
        Source of the subsamples; by default always the same ones.

    Returns
    -------
    (p,) ndarray of float64
        Lengthscales, squared lengths in the units of the columns. As lengths they are rounded to 32 steps for each power of 2,
        of the columns' standard deviations: so that rounding elsewhere changes nothing.

    Raises
    ------
    ValueError
        Where shapes do not go together, there are nan or infinite numbers, or fewer points than 3 or subsamples than 1.

    Notes
    -----
    After Sun, Gramacy, Haaland, Lawrence & Walker (2019), "Emulating satellite drag from large simulation experiments",
    SIAM/ASA J. Uncertainty Quantification 7, 720. Each column is divided into m intervals, here of as many points each, and
    a subsample has the points of m blocks, of which no two have an interval of any column in common: so there are short
    distances and long ones. m is as large as leaves `size` points in m blocks on average. All subsamples are of `size`
    points: of more these are drawn; where there are fewer, further Latin hypercubes join in. The estimates of all subsamples
    are found at once.

    Examples
    --------
    >>> import numpy as np, gpustats as gs
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> d = gs.gp.local.blhs(X, np.sin(9 * X[:, 0]) + X[:, 1], size=100)
    >>> bool(d[1] > 10 * d[0])
    True
    """
    X, y = as_rows(X, "X"), arrays.as_array(y, "y")
    placed = {name: a for name, a in (("X", X), ("y", y)) if not is_stored(a)}
    runtime = device_of(list(placed.values()), list(placed))
    if len(X.shape) != 2 or y.shape != (X.shape[0],):
        raise ValueError(f"X has shape {tuple(X.shape)} and y {y.shape}: they must be (N, p) and (N,)")
    points, y = Points(X if is_stored(X) else as_host(runtime, X)), np.asarray(as_host(runtime, y), np.float64)
    points.require_finite()
    require_finite("y", y)
    if size < 3 or replicates < 1 or len(points) < 3:
        raise ValueError(
            f"size = {size}, replicates = {replicates}, and X has {len(points)} rows: it takes 3 points, and a subsample, at "
            "least"
        )
    return lengthscales(runtime, points, y, Correlation(cov), size, replicates, d, g, center, rng)


def lengthscales(
    runtime: Runtime, X: Points, y: np.ndarray, correlation: Correlation, size: int = SUBSAMPLE_SIZE,
    replicates: int = REPLICATES, d: Known = None, g: float = 1e-3, center: bool = True, rng: Seed = 0,
) -> np.ndarray:  # fmt: skip
    """Lengthscales by `blhs`, for arguments that were checked."""
    p, size, rng = X.shape[1], min(size, len(X)), np.random.default_rng(rng)
    units = Units.of(X, y, True, center)
    of_d = units.parameter(darg(d, X, separable=True, lengths=units.columns), p)
    samples = subsamples(X, size, replicates, rng)
    used, designs = np.unique(samples, return_inverse=True)  # no more of X than is needed goes to the device
    points, responses = units.points(X[used]), units.responses(y[used])
    designs = designs.reshape(samples.shape).astype(np.int32)
    starts = np.ascontiguousarray(np.broadcast_to(np.asarray(of_d.start, np.float64), (replicates, p)))
    given = points[designs[:, 0]], designs, starts, np.full(replicates, float(g))
    fit = LocalFit(runtime, runtime.to_device(points), runtime.to_device(responses), correlation, size, separable=True)
    at, designs_, d_start, g_start = map(runtime.to_device, given)
    fitted = fit.run(at, designs_, d_start, g_start, of_d, garg(float(g), y))
    found, status = runtime.to_host(fitted.d), runtime.to_host(fitted.status)
    if not (status != 0).any():
        raise np.linalg.LinAlgError("the matrices of correlations are not positive definite: give a larger nugget g")
    lengths = np.exp2(np.round(16 * np.log2(np.median(found[status != 0], axis=0))) / 16)  # of squares: 1/32 of a root
    return lengths * units.columns**2


def subsamples(X: np.ndarray | Points, size: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of X, (replicates, size): points of blocks that are a Latin hypercube.

    All subsamples go through X together, once for each hypercube that one of them needs.
    """
    n, p = X.shape
    intervals = int((n / size) ** (1 / (p - 1)) + 1e-9) if p > 1 else 1
    if intervals < 2:
        return np.stack([np.sort(rng.choice(n, size, replace=False)) for _ in range(replicates)])
    some = X[rng.choice(n, min(n, _INTERVAL_SAMPLE), replace=False)]
    ends = np.quantile(some, np.arange(1, intervals) / intervals, axis=0)
    rngs = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=replicates)]
    chosen = [np.zeros(0, np.int64)] * replicates
    for _ in range(_MOST_HYPERCUBES):
        # Of each interval of each column, the block that it belongs to.
        blocks = {i: [rngs[i].permutation(intervals) for _ in range(p)] for i in range(replicates) if len(chosen[i]) < size}
        if not blocks:
            break
        first = 0
        for part in parts_of(X):
            cells = [np.searchsorted(ends[:, k], part[:, k], side="right") for k in range(p)]
            for i, block in blocks.items():
                within = np.logical_and.reduce([block[k][cells[k]] == block[0][cells[0]] for k in range(1, p)])
                chosen[i] = np.union1d(chosen[i], first + np.flatnonzero(within))
            first += len(part)
    return np.stack([_some_of(rows, n, size, rng) for rows, rng in zip(chosen, rngs, strict=True)])


def _some_of(rows: np.ndarray, n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted choice of `size` of some rows, or all of them and others of the n rows."""
    if len(rows) < size:
        others = np.setdiff1d(rng.choice(n, min(n, 2 * size), replace=False), rows)
        rows = np.r_[rows, rng.choice(others, size - len(rows), replace=False)]
    return np.sort(rng.choice(rows, size, replace=False))
