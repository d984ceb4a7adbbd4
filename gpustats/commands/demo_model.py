"""Second half of `gpustats demo`: a PyMC model of the same data, as users of PyMC write it."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .demo_data import STYLE, counts_axes, data_frame

if TYPE_CHECKING:
    import pymc as pm
    from arviz import InferenceData as Draws
    from matplotlib.figure import Figure
    from rich.console import Console

#: Columns of the data: the insurance plan (cost sharing, deductible, incentive payment, maximum expenditure) and health.
COVARIATES = ["lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"]


def model() -> pm.Model:
    """Model of the visits by health and insurance plan: a negative binomial regression on standardised covariates."""
    import pymc as pm

    data = data_frame()
    x = data[COVARIATES].to_numpy(float)
    x = (x - x.mean(0)) / x.std(0)
    with pm.Model(coords={"covariate": COVARIATES}) as made:
        intercept = pm.Normal("intercept", 1, 1)
        beta = pm.Normal("beta", 0, 0.5, dims="covariate")
        mean = pm.math.exp(intercept + x @ beta)
        pm.NegativeBinomial("visits", mu=mean, alpha=pm.HalfNormal("alpha", 2), observed=data["mdvis"].to_numpy(int))
    return made


def fit(made: pm.Model, draws: int = 300) -> tuple[Draws, float]:
    """Posterior draws of two chains with posterior-predictive ones, and the seconds that sampling took."""
    import pymc as pm

    import gpustats.pymc as gpm

    start = time.perf_counter()
    with made, gpm.fused():
        result = pm.sample(draws, tune=draws, chains=2, random_seed=1, progressbar=True)
    seconds = time.perf_counter() - start
    thinned = result.sel(draw=slice(None, None, max(1, draws // 50)))
    with made:
        predicted = pm.sample_posterior_predictive(thinned, random_seed=1, progressbar=False)
    result.extend(predicted) if hasattr(result, "extend") else result.update(predicted)
    return result, seconds


def trace_picture(result: Draws) -> Figure:
    """Figure of each parameter's posterior by chain, and of the chains themselves."""
    import matplotlib
    from matplotlib.figure import Figure
    from scipy.stats import gaussian_kde

    series: dict[str, np.ndarray] = {}
    for name in ("intercept", "alpha", "beta"):
        values = result.posterior[name]
        if name == "beta":
            series |= {str(c): values.sel(covariate=c).to_numpy() for c in values["covariate"].to_numpy()}
        else:
            series[name] = values.to_numpy()
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10, 1 + 0.85 * len(series)), layout="constrained")
        for row, (axes, (name, chains)) in enumerate(zip(figure.subplots(len(series), 2), series.items(), strict=True)):
            grid = np.linspace(chains.min(), chains.max(), 200)
            for chain, color in zip(chains, ("#3b7dd8", "#e4572e"), strict=True):
                axes[0].plot(grid, gaussian_kde(chain)(grid), color=color, linewidth=1.2)
                axes[1].plot(chain, color=color, linewidth=0.6)
            axes[0].set_ylabel(name, rotation=0, ha="right", va="center")
            axes[0].set_yticks([])
            axes[1].locator_params(axis="y", nbins=3)
            for a in axes:
                a.tick_params(labelsize=7)
            if row == 0:
                axes[0].set_title("Posterior, two chains")
                axes[1].set_title("Draws")
    return figure


def predictive_picture(result: Draws) -> Figure:
    """Figure of the data, and of the range of shares that data drawn from the posterior have."""
    import matplotlib
    from matplotlib.figure import Figure

    observed = data_frame()["mdvis"].to_numpy()
    draws = result.posterior_predictive["visits"].stack(draw_=("chain", "draw")).to_numpy()
    shares = np.stack([np.bincount(d.astype(int), minlength=31)[:31] / len(d) for d in draws.T])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.6), layout="constrained")
        axes = figure.subplots()
        counts = counts_axes(axes, observed)
        low, high = np.quantile(shares, [0.025, 0.975], axis=0)
        orange = "#e4572e"
        axes.vlines(counts, np.maximum(low, 1e-5), high, color=orange, linewidth=3, alpha=0.6, label="95% of the predictions")
        axes.plot(counts, shares.mean(0), "o", color=orange, markersize=4, label="mean prediction")
        axes.set_title("Posterior predictive: negative binomial regression")
        axes.legend(frameon=False, loc="upper right")
    return figure


def run(console: Console, out: Path, draws: int = 300) -> Draws:
    """Explain, fit, print the summary, save the pictures."""
    console.print("\nA plain PyMC model of the same data, a regression on health and insurance plan. What becomes of it:\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTensor about BLAS, of ArviZ about its next version
        import arviz as az

        import gpustats.pymc as gpm

        made = model()
        console.print(str(gpm.explain(made)), markup=False, highlight=False, soft_wrap=True)
        result, seconds = fit(made, draws)
        summary = az.summary(result).to_string()
    console.print(f"\n2 chains of {draws} + {draws} draws took {seconds:.0f} s. ArviZ's summary:\n")
    console.print(summary, markup=False, highlight=False, soft_wrap=True)
    console.print()
    for name, picture in (("trace", trace_picture(result)), ("predictive", predictive_picture(result))):
        picture.savefig(out / f"{name}.png", dpi=150)
        console.print(f"Picture: {out / f'{name}.png'}")
    return result
