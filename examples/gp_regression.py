"""Gaussian-process regression: the curve of Češnovar et al. (2020), section 4.2, and the carbon dioxide of Mauna Loa.

The concentrations are decomposed after Rasmussen & Williams (2006, section 5.4.3): a smooth trend, a season whose shape
changes slowly, irregularities of some years, and short-term noise, with the hyperparameters of largest marginal likelihood.
The last ten years are held back, to compare them with what is predicted.

    pip install 'gpustats[cpu,demo]'
    python examples/gp_regression.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from statsmodels.datasets import co2

import gpustats as gs

HELD_BACK = 10.0  # years


def curve(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The data of section 4.2."""
    rng = np.random.default_rng(42)
    x = rng.uniform(-10, 10, n)
    f = x + x**2 - x**3 + 100 * np.sin(2 * x)
    return x, (f - f.mean()) / f.std() + 0.1 * rng.normal(size=n)


def mauna_loa() -> tuple[np.ndarray, np.ndarray]:
    """Years, and monthly means of the concentration in parts per million."""
    monthly = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
    return (monthly.index.year + (monthly.index.month - 0.5) / 12).to_numpy(float), monthly.to_numpy()


def parts() -> dict[str, gs.gp.Covariance]:
    """What the concentration consists of."""
    return {
        "trend": gs.rbf.rename(amplitude="trend", lengthscale="trend_years"),
        "season": gs.rbf.rename(amplitude="season", lengthscale="decay")
        * gs.periodic.rename(lengthscale="roughness").fix(amplitude=1.0, period=1.0),
        "irregularities": gs.rational_quadratic.rename(amplitude="medium", lengthscale="medium_years"),
        "noise": gs.rbf.rename(amplitude="correlated", lengthscale="correlated_years"),
    }


START = {
    "trend": 50.0, "trend_years": 50.0, "season": 2.0, "decay": 100.0, "roughness": 1.0, "medium": 0.5, "medium_years": 1.0,
    "alpha": 1.0, "correlated": 0.1, "correlated_years": 0.1, "sigma": 0.2,
}  # fmt: skip


def report(title: str, ml: gs.gp.MarginalLikelihood, fit: gs.gp.Fit) -> None:
    found = "   ".join(f"{name} {value:.3g}" for name, value in fit.values.items())
    print(f"\n{title}: {ml.n} observations, log marginal likelihood {fit.loglik:.1f}\n  {found}")


def picture(left: tuple, right: tuple) -> Figure:
    """Data, predictions and their central 95 %."""
    titles = "Češnovar et al. (2020), section 4.2", "CO₂ at Mauna Loa: the last ten years held back"
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(11, 4.4), layout="constrained")
        for axes, (x, y, seen, xs, prediction), title in zip(figure.subplots(1, 2), (left, right), titles, strict=True):
            low, high = prediction.interval(0.95)
            axes.fill_between(xs, low, high, color="#3b7dd8", alpha=0.25, linewidth=0)
            axes.plot(xs, prediction.mean, color="#3b7dd8", lw=1)
            axes.scatter(x[seen], y[seen], s=4, color="#444444", label=f"{seen.sum()} observations")
            if not seen.all():
                axes.scatter(x[~seen], y[~seen], s=4, color="#e4572e", label=f"{(~seen).sum()} held back")
            axes.set_title(title)
            axes.legend(frameon=False)
        axes.set_xlabel("year")
        axes.set_ylabel("ppm")
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=500, help="points of the curve (default: 500)")
    parser.add_argument("--every", type=int, default=1, help="take every so many months (default: 1)")
    parser.add_argument("--out", type=Path, default=Path("gp_regression.png"))
    args = parser.parse_args(argv)

    x, y = curve(args.n)
    ml = gs.gp.MarginalLikelihood(gs.rbf, x, y)
    fit = ml.fit({"amplitude": 1.0, "lengthscale": 2.0, "sigma": 0.5})
    report("curve", ml, fit)
    xs = np.linspace(-12, 12, 500)
    left = x, y, np.ones(len(x), bool), xs, ml.predict(xs, **fit.values)

    years, ppm = (a[:: args.every] for a in mauna_loa())
    seen = years < years[-1] - HELD_BACK
    level, components = ppm[seen].mean(), parts()
    trend, *others = components.values()
    cov = sum(others, start=trend)
    ml = gs.gp.MarginalLikelihood(cov, years[seen], ppm[seen], mean=level)
    fit = ml.fit(START)
    report("Mauna Loa", ml, fit)
    future = ml.predict(years[~seen], **fit.values, noise=True)
    low, high = future.interval(0.95)
    inside = np.mean((low < ppm[~seen]) & (ppm[~seen] < high))
    error = np.sqrt(np.mean((future.mean - ppm[~seen]) ** 2))
    print(f"  ten years ahead: root mean square error {error:.2f} ppm, {100 * inside:.0f} % within the central 95 %")
    grid = np.linspace(years[0], years[-1], 1500)
    picture(left, (years, ppm, seen, grid, ml.predict(grid, **fit.values, noise=True))).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
