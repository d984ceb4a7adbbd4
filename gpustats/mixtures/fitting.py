"""Fits of mixtures: expectation maximisation by the kernels of mixtures, then a search on the exact likelihood.

Sources: Dempster, Laird & Rubin (1977), J. R. Statist. Soc. B 39, 1; McLachlan & Krishnan (2008), The EM Algorithm, ch. 5
(a Newton step in place of a maximisation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..evaluation.expansion import expansion_of
from ..evaluation.gradient import gradient_of
from ..evaluation.pointwise import Pointwise
from ..evaluation.results import as_host
from ..fits.bordered import Bordered
from ..fits.bound_density import moment_start, sample_of, start_in, sums_of_scores
from ..fits.coordinates import labels_of
from ..fits.estimates import Estimates
from ..fits.fittable import HasFit
from ..fits.newton import solve
from ..fits.problem import Expanded, Named, Problem
from ..fits.scales import Scales
from ..names.keywords import advising
from ..names.results import OF_MIXTURES
from ..runtime import thresholds
from ..runtime.types import Doubles, Shape, Value
from .on_rows import mixture_rows, on_rows
from .one_pass import WEIGHTS

if TYPE_CHECKING:
    from ..density import Density
    from ..fits.objective import Prior
    from ..rows.model import Rows

#: Observations from which on exact second derivatives are worth a kernel of their own, of so many parameters at most.
LEAST_EXACT_ROWS, MOST_EXACT_PARAMETERS = thresholds.MIXTURES_EXACT.value
MOST_EM_STEPS, EM_GAIN = 200, 1e-5  # steps, and the gain of an observation at which the likelihood's derivatives take over
ROWS_OF_SCORES = 1 << 16


class Fitting(HasFit):
    """Mixture that can be fitted."""

    if TYPE_CHECKING:
        _function: Pointwise

    def _told_of(self, name: str) -> str:
        if name not in OF_MIXTURES:
            return super()._told_of(name)
        return f"Mixture has no attribute {name!r}: it has .{OF_MIXTURES[name]}(log_weights, …)"

    @advising
    def fit(
        self, components: int | None = None, *, start: Mapping[str, ArrayLike] | None = None,
        fixed: Mapping[str, ArrayLike] | None = None,
        bounds: Mapping[str, tuple[ArrayLike | None, ArrayLike | None]] | None = None,
        priors: Mapping[str, Prior] | None = None, max_iterations: int = 200, progress: bool = False, rng: Any = 0,
    ) -> Estimates:  # fmt: skip
        """Estimates of the weights and parameters by maximum likelihood, or by the largest posterior density.

        Parameters
        ----------
        components : int, optional
            The number of components; by default as many as `start` has.
        start, fixed, bounds, priors, max_iterations, progress : optional
            As for other models: see `gpustats.Likelihood.fit`. What `start` lacks begins at clusters of a sample. A number
            stands for all components, which share it.
        rng : int, numpy.random.Generator or None
            For the clusters.

        Returns
        -------
        Estimates
            Its parameters are ``log_weights``, (K,), of weights that add up to 1, and those of the density for each component.
            Its `predict` gives the most probable component of each observation, or of new ones.

        Raises
        ------
        ValueError
            As for other models, and where neither `components` nor `start` tells how many components there are.

        Notes
        -----
        Steps of expectation maximisation come first, then L-BFGS, and Newton's method for the end. Second derivatives are
        exact for densities of numbers of 50,000 observations or more, and few components; else they are differences of exact
        first ones. The likelihood has many
        maxima: another `rng` or `start` may find a better one. It has none where a component shrinks to one observation: a
        prior or a bound keeps it from that.

        Examples
        --------
        >>> import numpy as np, gpustats as gs
        >>> x = np.concatenate([gs.normal.rvs(1.0, 1.0, size=600, rng=1), gs.normal.rvs(6.0, 1.0, size=400, rng=2)])
        >>> fit = gs.Mixture(gs.normal, x).fit(2)
        >>> np.sort(fit["mu"]).round(1), np.sort(np.exp(fit["log_weights"])).round(1)
        (array([1., 6.]), array([0.4, 0.6]))
        >>> fit["mu"][fit.predict([0.5, 7.0])].round(1)  # of the most probable component
        array([1., 6.])
        """
        from ..fits.maximum import maximise

        problem = MixtureProblem(self, self._components(components, start, fixed), rng, fixed or {}, priors or {})
        return maximise(problem, start, fixed, bounds, priors, max_iterations, progress)

    def _components(self, components: int | None, *given: Mapping[str, ArrayLike] | None) -> int:
        found = {len(np.ravel(g[WEIGHTS])) for g in given if g is not None and WEIGHTS in g}
        ranks = {a.name: a.rank for a in self._function.arguments}
        for values in given:
            for name, value in (values or {}).items() if isinstance(values, Mapping) else ():
                if name in ranks and np.ndim(value) > ranks[name]:
                    found.add(len(np.asarray(value)))
        if components is not None:
            if not isinstance(components, (int, np.integer)) or components < 1:
                raise ValueError(f"components must be a positive whole number, not {components!r}")
            found.add(int(components))
        if len(found) != 1:
            told = f"they tell of {sorted(found)}" if found else "nothing tells how many there are"
            raise ValueError(f"a mixture has one number of components, and {told}: give components=, or start= values for each")
        return found.pop()


class MixtureProblem(Problem):
    """Mixture as a fit maximises its log-likelihood."""

    elsewhere: Mapping[str, str] = {
        name: f"the mixture has .{here}(**fit.parameters)" if here != "predict" else "they have .predict()"
        for name, here in (*OF_MIXTURES.items(), *((own, own) for own in ("responsibilities", "assign", "logpdf")))
    }

    def __init__(
        self, mixture: Any, components: int, rng: Any, fixed: Mapping[str, Any], priors: Mapping[str, Any]
    ):
        self._mixture, self.k, self._rng, self._fixed, self._priors = mixture, components, rng, fixed, priors
        density = mixture.density
        self.name = f"mixture of {components} {density.name}"
        self._arguments = density.log_density.arguments[1:]
        self.domains = {WEIGHTS: {"logarithms"}} | {a.name: set(a.words) for a in self._arguments}
        self.n_rows = mixture.x.shape[0]
        self.n_observations = float(self.n_rows)
        self.single = mixture.x.dtype == np.float32
        self._rows: Rows | None = None

    def labels(self, name: str, shape: Shape) -> Sequence[str]:
        rank = next((a.rank for a in self._arguments if a.name == name), 0)
        return labels_of(name, shape, [*[()] * (len(shape) - rank), *[self._mixture._columns] * rank])

    def exact_in(self, wrt: Sequence[str]) -> bool:
        numbers = self._mixture.x.ndim == 1 and not any(a.rank for a in self._arguments)
        worth = self.n_rows >= LEAST_EXACT_ROWS and self.k * len(wrt) <= MOST_EXACT_PARAMETERS
        return numbers and worth and on_rows(self._mixture.density)

    def _hessian(self, values: Named, wrt: Sequence[str]) -> Bordered:
        """Exact second derivatives, those of a sum over rows; the values have the same shapes each time."""
        if self._rows is None:
            mixture, shapes = self._mixture, {n: np.shape(v) for n, v in values.items()}
            self._rows = mixture_rows(mixture.density, mixture.x, mixture._runtime, shapes)
        return Bordered.dense(np.asarray(self._rows.hessian(**values, wrt=tuple(wrt))))

    def starts(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        k = self.k
        if self.n_rows < k:
            raise ValueError(f"x has {self.n_rows} observations, too few for {k} components")
        found = dict(given)
        if WEIGHTS in found:
            weights = np.asarray(found[WEIGHTS], float)
            if weights.shape != (k,):
                raise ValueError(f"{WEIGHTS} has shape {weights.shape}, and must have ({k},)")
            top = weights.max()
            found[WEIGHTS] = weights - top - np.log(np.exp(weights - top).sum())
        if missing := [a.name for a in self._arguments if a.name not in found]:
            found |= {n: v for n, v in self._from_clusters(found).items() if n in missing}
        found.setdefault(WEIGHTS, np.full(k, -np.log(k)))
        for a in self._arguments:
            if (shape := found[a.name].shape)[: len(shape) - a.rank] not in ((), (k,)):
                raise ValueError(f"{a.name} has shape {shape}: one for all {k} components, or {k} along the first axis")
        found = {n: found[n] for n in self.domains}
        return ExpectationMaximisation(self._mixture, found, self._fixed).run() if not self._priors else found

    def _from_clusters(self, known: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Parameters of the components from clusters of a sample."""
        from scipy.cluster.vq import kmeans2

        sample, density = sample_of(self._mixture.x), self._mixture.density
        rng = np.random.default_rng(self._rng)
        flat = sample.reshape(len(sample), -1)
        spread = flat.std(0)
        scaled = flat / np.where(spread > 0, spread, 1)
        labels = kmeans2(scaled, self.k, minit="++", rng=rng)[1] if self.k > 1 else np.zeros(len(flat), int)
        parts = [sample[labels == c] for c in range(self.k)]
        parts = [part if len(part) > 2 else sample for part in parts]
        if not any(a.rank for a in density.log_density.arguments):
            own = {a.name for a in self._arguments}
            given = {n: float(v) for n, v in {**density.defaults, **known}.items() if n in own and np.ndim(v) == 0}
            fits = [self._fitted(density, part, given) for part in parts]
            return {a.name: np.array([f[a.name] for f in fits], float) for a in self._arguments}
        return {a.name: np.stack([moment_start(a, part) for part in parts]) for a in self._arguments}

    def _fitted(self, density: Density, part: np.ndarray, given: Mapping[str, float]) -> dict[str, float]:
        found = density.fit(part, fixed=given)
        if not found.converged or not np.isfinite(list(found.parameters.values())).all():
            found = density.fit(sample_of(self._mixture.x), fixed=given)
        return {a.name: float(v) if np.isfinite(v := found[a.name]) else start_in(a.words) for a in self._arguments}

    def predict(self, estimates: Estimates, x: Value | None = None) -> Any:
        mixture = self._mixture if x is None else type(self._mixture)(self._mixture.density, x)
        return mixture.predict(**estimates.parameters)

    def expand(self, values: Named, wrt: Sequence[str], second: bool) -> Expanded:
        own = {n: v for n, v in values.items() if n != WEIGHTS}
        value, slopes = self._mixture.value_and_grad(np.asarray(values[WEIGHTS]), **own, wrt=tuple(wrt))
        found = Expanded(float(value), np.concatenate([np.ravel(slopes[n]).astype(float) for n in wrt]))
        return replace(found, hessian=self._hessian(values, wrt)) if second and found.finite else found

    def score_sums(self, values: Named, wrt: Sequence[str], clusters: np.ndarray | None, n_clusters: int) -> Doubles:
        mixture = self._mixture
        own = {n: v for n, v in values.items() if n != WEIGHTS}
        shares = as_host(mixture._runtime, mixture.responsibilities(np.asarray(values[WEIGHTS]), **own)).astype(float)
        x = np.asarray(as_host(mixture._runtime, mixture.x))
        names = tuple(n for n in wrt if n != WEIGHTS)
        parts = list[np.ndarray]()
        for first in range(0, self.n_rows, ROWS_OF_SCORES):
            some, share = x[first : first + ROWS_OF_SCORES], shares[first : first + ROWS_OF_SCORES]
            parts.append(self._scores(some, share, values, names, wrt))
        return sums_of_scores(np.concatenate(parts), clusters, n_clusters)

    def _scores(
        self, x: np.ndarray, shares: np.ndarray, values: Named, names: Sequence[str], wrt: Sequence[str]
    ) -> np.ndarray:
        """Scores of some observations, (n, P): the components' own, times their responsibilities."""
        n, k = shares.shape
        by_name: dict[str, np.ndarray] = {WEIGHTS: shares}
        ranks = {a.name: a.rank for a in self._arguments}
        for c in range(k) if names else ():
            wide, split = [x], dict[str, bool]()
            for name, rank in ranks.items():
                value = np.asarray(values[name], x.dtype)
                split[name] = value.ndim > rank
                own = value[c] if split[name] else value
                wide.append(np.ascontiguousarray(np.broadcast_to(own, (n, *own.shape))))
            _, slopes = gradient_of(self._mixture._function, tuple(names))(wide, self._mixture._runtime)
            for name in names:
                own = np.asarray(slopes[name], float).reshape(n, -1) * shares[:, [c]]
                if not split[name]:
                    by_name[name] = by_name.get(name, 0.0) + own
                else:
                    by_name.setdefault(name, np.zeros((n, k, own.shape[1])))[:, c] = own
        return np.concatenate([by_name[name].reshape(n, -1) for name in wrt], 1)


class ExpectationMaximisation:
    """Steps of expectation maximisation from some values.

    In place of a maximisation for each component stands a step of Newton's method for all of them at once, in densities of
    numbers; of normal vectors the moments are the maximum. Other densities of vectors, and parameters that components share,
    are left to the search that follows.
    """

    def __init__(self, mixture: Any, values: Mapping[str, np.ndarray], fixed: Mapping[str, Any]):
        self._mixture, self._values, self._fixed = mixture, dict(values), fixed
        function = mixture._function
        ranks = {a.name: a.rank for a in function.arguments}
        own = [a for a in function.arguments[1:] if a.name not in fixed and "integer" not in a.words]
        shared = any(values[a.name].ndim == a.rank for a in own)
        self._moving = [a.name for a in own]
        self._normal = mixture.density.name == "mvnormal" and not fixed and not shared
        self.possible = self._normal or (
            type(function) is Pointwise and not any(ranks.values()) and not shared and WEIGHTS not in fixed and bool(own)
        )
        if self.possible and not self._normal:
            self._scales = Scales([a.words for a in own])
            self._expansion = expansion_of(function, self._moving, True)

    def run(self) -> dict[str, np.ndarray]:
        """Values after some steps."""
        values, mixture = self._values, self._mixture
        if not self.possible:
            return values
        before, n = self._loglik(values), mixture.x.shape[0]
        for _ in range(MOST_EM_STEPS):
            shares = mixture.responsibilities(values[WEIGHTS], **self._own(values))
            counts = as_host(mixture._runtime, shares).sum(0, dtype=float)
            if not np.isfinite(before) or not (counts > 0).all():
                break
            better = self._step(values, shares, counts)
            after = self._loglik(better)
            if not after > before:
                break
            values, gained, before = better, after - before, after
            if gained < EM_GAIN * n:
                break
        return values

    def _own(self, values: Mapping[str, np.ndarray]) -> dict[str, Any]:
        return {n: v if v.ndim else float(v) for n, v in values.items() if n != WEIGHTS}

    def _loglik(self, values: Mapping[str, np.ndarray]) -> float:
        return float(self._mixture.loglik(values[WEIGHTS], **self._own(values)))

    def _step(self, values: Mapping[str, np.ndarray], shares: Any, counts: np.ndarray) -> dict[str, np.ndarray]:
        weights = {WEIGHTS: np.log(counts / counts.sum())}
        return {**values, **weights, **(self._moments(shares, counts) if self._normal else self._newton(values, shares))}

    def _moments(self, shares: Any, counts: np.ndarray) -> dict[str, np.ndarray]:
        """Means and covariances of normal vectors."""
        runtime = self._mixture._runtime
        shares, x = (np.asarray(as_host(runtime, v), float) for v in (shares, self._mixture.x))
        mu = shares.T @ x / counts[:, None]
        away = [x - m for m in mu]
        cov = np.stack([(a * s[:, None]).T @ a / c for a, s, c in zip(away, shares.T, counts, strict=True)])
        return {"mu": mu, "cov": (cov + cov.swapaxes(1, 2)) / 2}

    def _newton(self, values: Mapping[str, np.ndarray], shares: Any) -> dict[str, np.ndarray]:
        """Parameters of the components after a step of Newton's method, or of Fisher's where it does not climb."""
        mixture, names = self._mixture, self._moving
        k = len(values[WEIGHTS])
        columns = np.ascontiguousarray(np.asarray(as_host(mixture._runtime, shares)).T)
        x = np.asarray(as_host(mixture._runtime, mixture.x))[None]
        point = self._scales.to(np.stack([values[n] for n in names], -1))
        given = [x, *(np.broadcast_to(values[n], k)[:, None].copy() for n in mixture.density.parameters), columns]
        given = [np.asarray(v, x.dtype) for v in given]
        sums = self._expansion(given, mixture._runtime)
        _, slopes, bends = self._scales.back(point)
        both, each = slopes[:, :, None] * slopes[:, None, :], range(len(names))
        gradient, hessian, metric = sums.gradient * slopes, sums.hessian * both, sums.products * both
        hessian[:, each, each] += sums.gradient * bends
        step, definite = solve(-hessian, gradient)
        by_products, fine = solve(metric + 1e-9 * np.einsum("kij,ij->kij", metric, np.eye(len(names))), gradient)
        step = np.where(definite[:, None], step, np.where(fine[:, None], by_products, 0.0))
        step = np.clip(step, -self._scales.longest / 3, self._scales.longest / 3)
        moved = self._scales.back(point + step)[0]
        return {n: moved[:, i] for i, n in enumerate(names)}
