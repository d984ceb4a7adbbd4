"""Populations of cells by a Bayesian mixture, sampled on the device.

A flow cytometer measures some fifteen channels of a million cells. Which populations there are, down to rare ones, is what a
mixture of normals with a Dirichlet process prior tells, truncated at K components. Each sweep of the blocked Gibbs sampler
(Ishwaran & James, 2001) draws

- the label of each cell: N × K densities, which are never written (`gs.Mixture.assign`);
- the sum of the cells of each label and of their products (`gs.label_statistics`);
- from those alone, on the host, K means, covariances and weights, and the concentration of the process.

What grows with N stays on the device. Without options the cells are simulated; `--real` takes Forina's wines.

    pip install 'gpustats[cpu,demo]'
    python examples/mixture_gibbs.py
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.special import logsumexp
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.mixture import BayesianGaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpustats as gs

SMALL = 0.0005  # the share of all observations below which a picture leaves a component out


class Components(NamedTuple):
    """(K,) log-weights, (K, d) means, (K, d, d) lower factors of the covariances."""

    log_weights: np.ndarray
    mu: np.ndarray
    scale_tril: np.ndarray

    def given(self) -> dict[str, np.ndarray]:
        """As arguments for a mixture of float32 data."""
        return {name: value.astype(np.float32) for name, value in self._asdict().items()}


class Prior(NamedTuple):
    """Normal-inverse-Wishart for the components, gamma for the concentration of the Dirichlet process.

    Sigma ~ IW(nu, scale), mu | Sigma ~ N(center, Sigma / kappa), alpha ~ Gamma(shape, rate).
    """

    center: np.ndarray
    kappa: float
    nu: float
    scale: np.ndarray
    shape: float = 1.0
    rate: float = 1.0

    @classmethod
    def of(cls, x: np.ndarray, within: float, strength: float = 1.0) -> Prior:
        """Components with a share `within` of the variance of each channel, an expectation firmer the larger `strength`."""
        scale = np.diag(strength * within * x.var(0, dtype=float))
        return cls(x.mean(0, dtype=float), kappa=0.01, nu=x.shape[1] + 1 + strength, scale=scale)

    def draw_components(self, rng: np.random.Generator, count, mean, scatter) -> tuple[np.ndarray, np.ndarray]:
        """Means and factors of the covariances, given the statistics of each label; of an empty one, from the prior."""
        k, d = mean.shape
        kappa, nu, deviation = self.kappa + count, self.nu + count, mean - self.center
        center = self.center + (count / kappa)[:, None] * deviation
        scale = self.scale + scatter + np.einsum("k,ki,kj->kij", self.kappa * count / kappa, deviation, deviation)
        # Bartlett: B B' ~ W(nu, I) for an upper triangular B of normals with chi on the diagonal. So L B^-T, where L is the
        # lower factor of scale, is that of a draw from IW(nu, scale).
        b = np.triu(rng.normal(size=(k, d, d)), 1)
        b[:, range(d), range(d)] = np.sqrt(rng.chisquare(nu[:, None] - np.arange(d)[::-1]))
        factors = np.linalg.solve(b, np.linalg.cholesky(scale).swapaxes(1, 2)).swapaxes(1, 2)
        return center + np.einsum("kij,kj->ki", factors, rng.normal(size=(k, d))) / np.sqrt(kappa)[:, None], factors

    def draw_weights(self, rng: np.random.Generator, count, alpha: float) -> tuple[np.ndarray, float]:
        """Log-weights by breaking a stick in proportions V_k ~ Beta(1 + n_k, alpha + sum_{l > k} n_l), and then alpha."""
        behind = count[::-1].cumsum()[::-1][1:]  # observations with a later label
        piece, rest = log_gamma(rng, 1.0 + count[:-1]), log_gamma(rng, alpha + behind)
        total = np.logaddexp(piece, rest)
        left = np.append(0.0, np.cumsum(rest - total))  # log of what is left of the stick before each piece
        return left + np.append(piece - total, 0.0), rng.gamma(self.shape + len(piece), 1 / (self.rate - left[-1]))


def log_gamma(rng: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """Logarithms of gamma draws, which may be as small as they like."""
    return np.log(rng.gamma(shape + 1)) - rng.exponential(size=shape.shape) / shape


class Fit(NamedTuple):
    """What a run leaves."""

    labels: np.ndarray  # (N,) of the last sweep, 0 the largest
    draws: list[Components]  # of the second half of the sweeps
    loglik: np.ndarray  # by sweep
    counts: np.ndarray  # (sweeps, K) observations of each component
    seconds: float  # of a sweep, the median


def gibbs(x: np.ndarray, prior: Prior, n_components: int, sweeps: int, seed: int) -> Fit:
    """Sample the mixture's posterior given x (N, d), float32."""
    rng, device_rng = np.random.default_rng(seed), gs.Generator(seed)
    some = x[rng.choice(len(x), min(len(x), 20_000), replace=False)]
    starts, _ = kmeans_plusplus(some, min(n_components, len(some)), random_state=seed)
    now = Components(np.zeros(len(starts)), starts, np.tile(np.sqrt(prior.scale), (len(starts), 1, 1)))

    mixture, alpha = gs.Mixture(gs.mvnormal, gs.to_device(x)), 1.0
    draws, loglik, counts, seconds = [], [], [], []
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeRemainingColumn()
    with Progress(*columns) as progress:
        task = progress.add_task("", total=sweeps)
        for sweep in range(sweeps):
            start = time.perf_counter()
            labels = mixture.assign(**now.given(), rng=device_rng)
            statistics = gs.label_statistics(mixture.x, labels, n_components)
            log_weights, alpha = prior.draw_weights(rng, statistics.count, alpha)
            now = Components(log_weights, *prior.draw_components(rng, *statistics))
            seconds.append(time.perf_counter() - start)
            loglik.append(mixture.loglik(**now.given()))
            counts.append(statistics.count)
            if sweep >= sweeps // 2:
                draws.append(now)
            occupied = np.count_nonzero(statistics.count)
            progress.update(task, advance=1, description=f"{occupied} components, log-likelihood {loglik[-1]:,.0f}")
    rank = np.argsort(np.argsort(-statistics.count))  # labels mean nothing: by weight, for display
    return Fit(rank[gs.to_host(labels)], draws, np.array(loglik), np.array(counts), float(np.median(seconds)))


def log_predictive(x: np.ndarray, draws: list[Components]) -> float:
    """Mean log-density of new observations, averaged over the posterior."""
    mixture = gs.Mixture(gs.mvnormal, x)
    return float((logsumexp([mixture.logpdf(**d.given()) for d in draws], axis=0) - np.log(len(draws))).mean())


def central_partition(x: np.ndarray, draws: list[Components], seed: int) -> np.ndarray:
    """Of the posterior's partitions of few data that closest to how often each two are together (Dahl, 2006)."""
    mixture, rng = gs.Mixture(gs.mvnormal, x), gs.Generator(seed)
    partitions = [mixture.assign(**d.given(), rng=rng) for d in draws]
    together = np.mean([p[:, None] == p for p in partitions], axis=0)
    return min(partitions, key=lambda p: np.square((p[:, None] == p) - together).sum())


def f_measures(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of each population, for the component that fits it best: the harmonic mean of precision and recall."""
    table = contingency_matrix(truth, labels)
    return (2 * table / (table.sum(0) + table.sum(1, keepdims=True))).max(1)


def cells(n: int, seed: int, populations: int = 30, channels: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Simulated cells, as arcsinh of intensities, and their populations, of which the rarest is about 0.1 % of all.

    A population lacks a marker or carries it dimly or brightly. Intensities are log-normal, with noise of the detector.
    """
    rng = np.random.default_rng(seed)
    shares = np.geomspace(0.2, 0.001, populations)
    level = rng.choice([0.0, 30.0, 600.0], (populations, channels), p=[0.5, 0.2, 0.3])
    mixing = 0.4 * (np.eye(channels) + rng.normal(0, 0.15, (populations, channels, channels)))
    label = rng.choice(populations, n, p=shares / shares.sum())
    x = np.empty((n, channels), np.float32)
    for k in range(populations):
        own = label == k
        size = (np.count_nonzero(own), channels)
        x[own] = np.arcsinh((level[k] * np.exp(rng.normal(size=size) @ mixing[k]) + rng.normal(0, 3, size)) / 5)
    return x, label


def picture(x: np.ndarray, fit: Fit) -> Figure:
    """The data with the occupied components in the channels that tell these apart best, and the course of the run."""
    now, rng = fit.draws[-1], np.random.default_rng(0)
    heavy = np.exp(now.log_weights) > max(SMALL, 1 / len(x))
    channels = np.argsort(-np.var(now.mu[heavy], axis=0) / x.var(0))[:3]
    some = rng.choice(len(x), min(len(x), 15_000), replace=False)
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(10.5, 6.5), layout="constrained")
        grid = figure.add_gridspec(2, 6, height_ratios=[3, 2])
        for place, pair in enumerate(map(list, combinations(channels, 2))):
            axes = figure.add_subplot(grid[0, 2 * place : 2 * place + 2])
            axes.scatter(*x[some][:, pair].T, c=fit.labels[some] % 20, cmap="tab20", s=len(some) ** -0.5 * 100, linewidths=0)
            for mean, factor in zip(now.mu[heavy][:, pair], now.scale_tril[heavy][:, pair], strict=True):
                variances, directions = np.linalg.eigh(factor @ factor.T)
                width, height = 2 * np.sqrt(5.991 * variances)  # the quantile of chi-squared: 95 % of the component
                angle = np.degrees(np.arctan2(directions[1, 0], directions[0, 0]))
                axes.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, color="#333", lw=0.7))
            axes.set_xlabel(f"channel {pair[0] + 1}")
            axes.set_ylabel(f"channel {pair[1] + 1}")
        after = len(fit.loglik) // 20  # the first sweeps, from where it starts, are off any scale
        sweeps = range(after, len(fit.loglik))
        axes = figure.add_subplot(grid[1, :3])
        axes.plot(sweeps, fit.loglik[after:], color="#3b7dd8")
        axes.set_title("Log-likelihood")
        axes.set_xlabel("sweep")
        axes = figure.add_subplot(grid[1, 3:])
        for least, label, color in ((0, "occupied", "#8d99ae"), (SMALL * len(x), f"more than {SMALL:.2%} of all", "#e4572e")):
            axes.plot(sweeps, (fit.counts > least).sum(1)[after:], color=color, label=label)
        axes.set_title("Components")
        axes.set_xlabel("sweep")
        axes.legend(frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=float, help="simulated cells (default: 1e6, on a CPU 5e4)")
    parser.add_argument("--components", type=int, help="K (default: 64; 20 for the wines)")
    parser.add_argument("--sweeps", type=int, default=400, help="of which the second half is kept (default: 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="the first principal components of 178 wines of three cultivars")
    parser.add_argument("--out", type=Path, default=Path("mixture_gibbs.png"))
    args = parser.parse_args(argv)

    if args.real:
        measured, truth = load_wine(return_X_y=True)
        kept_back = np.arange(len(measured)) % 4 == 3
        x = make_pipeline(StandardScaler(), PCA(3)).fit(measured[~kept_back]).transform(measured).astype(np.float32)
        train, prior, k = x[~kept_back], Prior.of(x[~kept_back], within=0.3, strength=4), args.components or 20
    else:
        gpu = gs.Likelihood(gs.normal, np.zeros(1)).device.type == "gpu"
        x, truth = cells(int(args.n or (1e6 if gpu else 5e4)), args.seed)
        train, prior, k = x, Prior.of(x, within=0.05), args.components or 64

    fit = gibbs(train, prior, k, args.sweeps, args.seed)
    print(f"{len(train):,} observations, {k} components: {1e3 * fit.seconds:.2f} ms a sweep")
    if args.real:
        theirs = BayesianGaussianMixture(
            n_components=k, weight_concentration_prior_type="dirichlet_process", weight_concentration_prior=1.0,
            mean_prior=prior.center, mean_precision_prior=prior.kappa, degrees_of_freedom_prior=prior.nu,
            covariance_prior=prior.scale, max_iter=2000, random_state=args.seed,
        ).fit(train)  # fmt: skip
        central = central_partition(x, fit.draws, args.seed)
        print("                                          Gibbs  variational (scikit-learn)")
        agreement = [adjusted_rand_score(truth, labels) for labels in (central, theirs.predict(x))]
        print("adjusted Rand index with the cultivars   {:6.2f}  {:6.2f}".format(*agreement))
        held_out = log_predictive(x[kept_back], fit.draws), theirs.score(x[kept_back])
        print("log-density of wines held out, each      {:6.2f}  {:6.2f}".format(*held_out))
    else:
        found, rare = f_measures(truth, fit.labels), np.bincount(truth) < 0.01 * len(x)
        print(f"adjusted Rand index with the populations: {adjusted_rand_score(truth, fit.labels):.2f}")
        print(f"median F-measure of those below 1 % of the cells: {np.median(found[rare]):.2f}, of the others: "
              f"{np.median(found[~rare]):.2f}")  # fmt: skip
    picture(train, fit).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
