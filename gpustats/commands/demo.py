"""Demonstration `gpustats demo`: a posterior on a grid from a few lines and real data, beside SciPy; then a PyMC model."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gpustats as gs

from .demo_data import SNIPPET, STYLE, counts_axes, visits

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console


@dataclass(frozen=True)
class Posterior:
    """Posterior distribution of two parameters on a rectangular grid."""

    mu: np.ndarray  #: (M,), evenly spaced
    alpha: np.ndarray  #: (A,), evenly spaced
    logp: np.ndarray  #: (M, A), logarithm of the posterior density, up to a constant
    loglik: np.ndarray  #: (M, A), the log-likelihood alone

    @property
    def weights(self) -> np.ndarray:
        """Probability of each point, shape (M, A)."""
        p: np.ndarray = np.exp(self.logp - self.logp.max())
        return np.asarray(p / p.sum())

    def margins(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Grid of each parameter, and the probability of each of its points."""
        return [(self.mu, self.weights.sum(1)), (self.alpha, self.weights.sum(0))]

    def mean(self) -> list[float]:
        """Posterior mean of each parameter."""
        return [float(grid @ p) for grid, p in self.margins()]

    def interval(self, probability: float = 0.95) -> list[np.ndarray]:
        """Ends of the interval with equal tails, for each parameter."""
        tail = (1 - probability) / 2
        return [np.interp([tail, 1 - tail], np.cumsum(p) - p / 2, grid) for grid, p in self.margins()]

    def window(self, width: float = 4) -> list[tuple[float, float]]:
        """Window of each parameter: the mean ± `width` standard deviations (or steps of a coarse grid), positive."""
        ranges = []
        for (grid, p), mean in zip(self.margins(), self.mean(), strict=True):
            half = width * max(np.sqrt((grid - mean) ** 2 @ p), grid[1] - grid[0])
            ranges.append((max(mean - half, mean / 10), mean + half))
        return ranges


def evaluate(
    lik: Callable[..., np.ndarray], ranges: list[tuple[float, float]], points: int,
    done: Callable[[int], object] = lambda n: None,
) -> Posterior:
    """Posterior under weak priors on a grid of `points` × `points`; `done(n)` is called after every n of them."""
    mu, alpha = (np.linspace(*r, points) for r in ranges)
    pairs = [g.reshape(-1, 1) for g in np.meshgrid(mu, alpha, indexing="ij")]
    values = np.empty(points**2)
    for start in range(0, len(values), 1000):
        part = slice(start, start + 1000)
        values[part] = lik(*(p[part] for p in pairs))
        done(len(values[part]))
    loglik = values.reshape(points, points)
    prior = gs.half_normal.logpdf(mu[:, None], 10.0) + gs.half_normal.logpdf(alpha, 10.0)
    return Posterior(mu, alpha, loglik + prior, loglik)


def locate(lik: Callable[..., np.ndarray], x: np.ndarray) -> list[tuple[float, float]]:
    """Ranges in which the posterior lies: from the moments of the data, in three coarse passes."""
    mean, variance = x.mean(), x.var()
    alpha = mean**2 / (variance - mean)
    ranges: list[tuple[float, float]] = [(mean / 1.5, mean * 1.5), (alpha / 3, alpha * 3)]
    for _ in range(3):
        ranges = evaluate(lik, ranges, 30).window()
    return ranges


def with_scipy(x: np.ndarray, mu: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Log-likelihood of each pair of parameters, shape (K,), as a user of SciPy computes it."""
    from scipy import stats

    mu, alpha = mu[:, None], alpha[:, None]
    sums: np.ndarray = stats.nbinom.logpmf(x, alpha, alpha / (alpha + mu)).sum(axis=-1)
    return sums


def run(out: Path, points: int = 200, draws: int = 300) -> Posterior:
    """Run the demonstration; pictures go to `out`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.syntax import Syntax

    if points < 20:
        raise ValueError(f"--points must be 20 or more, not {points}")
    console = Console()
    x = visits()
    console.print(f"Data: visits to a doctor by {len(x):,} person-years, RAND Health Insurance Experiment.")
    console.print("The density, registered from this string:\n")
    console.print(Syntax(SNIPPET, "c", background_color="default"))
    density = gs.register(SNIPPET, replace=True)
    lik = gs.Likelihood(density, x)
    ranges = locate(lik, x)

    bar = Progress(
        TextColumn("log-likelihoods"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task("", total=points**2)
        start = time.perf_counter()
        posterior = evaluate(lik, ranges, points, lambda n: bar.advance(task, n))
        ours = time.perf_counter() - start

    with console.status("the same with SciPy, on every few hundredth point"):
        some = np.unique(np.linspace(0, points**2 - 1, 200).astype(int))
        i, j = np.unravel_index(some, (points, points))
        start = time.perf_counter()
        reference = with_scipy(x, posterior.mu[i], posterior.alpha[j])
        theirs = time.perf_counter() - start
    difference = np.max(np.abs(posterior.loglik[i, j] / reference - 1))

    tables(console, posterior, (points**2 * len(x), ours), (len(some) * len(x), theirs), difference)
    out.mkdir(parents=True, exist_ok=True)
    picture(posterior, density, x).savefig(out / "posterior.png", dpi=150, bbox_inches="tight")
    console.print(f"Picture: {out / 'posterior.png'}")

    if draws and importlib.util.find_spec("pymc") is None:
        console.print("With PyMC installed, pip install 'gpustats[pymc]', a model of the same data comes next.")
    elif draws:
        from . import demo_model

        demo_model.run(console, out, draws)
    return posterior


def tables(
    console: Console, posterior: Posterior, ours: tuple[int, float], theirs: tuple[int, float], difference: float
) -> None:
    """Print speed and agreement, then the posterior. `ours` and `theirs`: evaluations and seconds."""
    from rich.table import Table

    def table(title: str, *columns: str) -> Table:
        t = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for column in columns:
            t.add_column(column, justify="left" if column == columns[0] else "right")
        return t

    speed = table("\nSpeed", "", "log-pmf evaluations", "seconds", "evaluations/s")
    for name, (n, seconds) in {"gpustats": ours, "SciPy": theirs}.items():
        speed.add_row(name, f"{n:,}", f"{seconds:.2f}", f"{n / seconds:.3g}")
    console.print(speed)
    ratio = ours[0] / ours[1] * theirs[1] / theirs[0]
    console.print(f"gpustats is {ratio:,.3g} times as fast; the largest relative difference is {difference:.1e}.")

    summary = table("\nPosterior", "", "mean", "95% interval")
    for name, mean, (low, high) in zip(("mu", "alpha"), posterior.mean(), posterior.interval(), strict=True):
        summary.add_row(name, f"{mean:.4f}", f"{low:.4f} to {high:.4f}")
    console.print(summary)
    console.print()


def picture(posterior: Posterior, density: gs.Density, x: np.ndarray) -> Figure:
    """Figure of the joint posterior with its margins, and beside it the data with the fitted probabilities."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("the picture is drawn by Matplotlib: pip install 'gpustats[demo]'") from None

    blue, dark, orange = "#3b7dd8", "#12345b", "#e4572e"
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12, 5.4))
        grid = figure.add_gridspec(
            2, 3, width_ratios=[4, 0.9, 6.2], height_ratios=[1, 4], wspace=0.06, hspace=0.06, left=0.06, right=0.98
        )
        joint = figure.add_subplot(grid[1, 0])
        top = figure.add_subplot(grid[0, 0], sharex=joint)
        side = figure.add_subplot(grid[1, 1], sharey=joint)

        shares = [0.99, 0.95, 0.8, 0.5]
        weights = posterior.weights
        order = np.sort(weights, axis=None)[::-1]
        levels = order[np.searchsorted(np.cumsum(order), shares)]
        shades = matplotlib.colors.LinearSegmentedColormap.from_list("", ["#e6effb", blue, dark])
        joint.contourf(
            posterior.mu,
            posterior.alpha,
            weights.T,
            [*levels, order[0]],
            colors=[shades(s) for s in (0.15, 0.4, 0.65, 0.9)],
        )
        joint.contour(posterior.mu, posterior.alpha, weights.T, levels, colors="white", linewidths=0.8)
        mean, intervals = posterior.mean(), posterior.interval()
        joint.plot(*mean, "o", color="white", markersize=4)
        joint.set_xlabel("mean  $\\mu$  (visits a year)")
        joint.set_ylabel("dispersion  $\\alpha$")
        note = "50, 80, 95 and 99% of the\nposterior probability"
        joint.text(0.02, 0.02, note, transform=joint.transAxes, color="#555", fontsize=8.5)
        for axes, flip, (points, p), (low, high) in zip(
            (top, side), (False, True), posterior.margins(), intervals, strict=True
        ):
            fill = axes.fill_betweenx if flip else axes.fill_between
            inside = (points >= low) & (points <= high)
            fill(points, p, color=blue, alpha=0.25, linewidth=0)
            fill(points, np.where(inside, p, 0), where=inside, color=blue, linewidth=0)
            axes.axis("off")
        joint.locator_params(nbins=5)
        joint.set_xlim(posterior.mu[[0, -1]])
        joint.set_ylim(posterior.alpha[[0, -1]])
        top.set_title(f"Posterior on a grid of {weights.shape[0]} × {weights.shape[1]}")

        right = figure.add_subplot(grid[:, 2].subgridspec(1, 2, width_ratios=[0.12, 1], wspace=0)[1])
        counts = counts_axes(right, x)
        fit: dict[str, Any] = {"color": orange, "markersize": 4, "linewidth": 1.2}
        right.plot(counts, density.pmf(counts, *mean), "o-", **fit, label="negative binomial at the posterior mean")
        right.plot(counts, gs.poisson.pmf(counts, mean[0]), "--", color="#888", label="Poisson of the same mean")
        right.set_title("Data and fit")
        right.legend(frameon=False, loc="upper right")
    return figure
