"""Curves of 58 countries with partial pooling, without PyMC: likelihood and prior are sums over rows, the sampler is one's own.

Births per woman, every five years (World Bank), where they fell from above 5 in 1960 to below 3.5 in 2000. Each country has a
logistic curve, whose four numbers are normal across countries, with means and spreads that are estimated, too. 2005 and 2010
are held back. Nobody writes derivatives. The curves' mode is compared with SciPy's fits, one country after the other.

    pip install 'gpustats[cpu,demo]'
    python examples/fertility_curves.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import least_squares, minimize
from scipy.special import expit
from statsmodels.datasets import fertility

import gpustats as gs

LIKELIHOOD = """
real row(real births, real year, const real *curve, real log_sigma, int dim)
{
    real before = exp(curve[0]), after = exp(curve[1]), middle = 1980 + 10 * curve[2], width = exp(curve[3]);
    return normal_logpdf(births, after + (before - after) * expit((middle - year) / width), exp(log_sigma));
}"""
PRIOR = "real prior(real curve, real mean, real log_spread) { return normal_logpdf(curve, mean, exp(log_spread)); }"
# First guesses, of a curve's numbers: logarithms of births before and after, decades since 1980, logarithm of years.
MEAN, SPREAD, SIGMA = np.array([np.log(7), np.log(2), 0, np.log(7)]), np.array([0.1, 0.3, 1, 0.3]), 0.15
YEARS, SEEN, GRID = np.arange(1960, 2011, 5), 9, np.arange(1960, 2021)


def decline(curve: np.ndarray, year: np.ndarray) -> np.ndarray:
    before, after, middle, width = np.moveaxis(curve[..., None], -2, 0)
    return np.exp(after) + (np.exp(before) - np.exp(after)) * expit((1980 + 10 * middle - year) / np.exp(width))


def log_posterior(births: np.ndarray):
    """A function of C curves, their means and log-spreads, and log-sigma, (..., 4 C + 9): value and gradient."""
    n, number = len(births), np.tile(np.arange(4), len(births))
    country = gs.gather(np.repeat(np.arange(n), SEEN))
    likelihood = gs.Rows(LIKELIHOOD, births=births.ravel(), year=np.tile(YEARS[:SEEN], n), curve=country)
    prior = gs.Rows(PRIOR, curve=gs.per_row(), mean=gs.gather(number), log_spread=gs.gather(number))

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        curve, mean, log_spread, log_sigma = np.split(q, [4 * n, 4 * n + 4, 4 * n + 8], axis=-1)
        fit, d = likelihood.value_and_grad(curve=curve.reshape(*q.shape[:-1], n, 4), log_sigma=log_sigma[..., 0])
        pooled, e = prior.value_and_grad(curve=curve, mean=mean, log_spread=log_spread)
        slope = d["curve"].reshape(curve.shape) + e["curve"], e["mean"], e["log_spread"] + 1, np.expand_dims(d["log_sigma"], -1)
        return fit + pooled + log_spread.sum(-1), np.concatenate(slope, -1)  # uniform in spreads, not in their logarithms

    return evaluate


def hmc(density, q: np.ndarray, step: np.ndarray | float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Hamiltonian Monte Carlo, all chains in one call: from q, (chains, P), to (draws, chains, P)."""
    (value, slope), kept = density(q), []
    for _ in range(draws):
        momentum = p = rng.normal(size=q.shape)
        to, d, h = q, slope, step * rng.uniform(0.8, 1.2)
        for _ in range(15):
            p = p + h / 2 * d
            to = to + h * p
            found, d = density(to)
            p = p + h / 2 * d
        moves = np.log(rng.uniform(size=len(q))) < found - value + (momentum**2 - p**2).sum(-1) / 2
        q, slope, value = np.where(moves[:, None], to, q), np.where(moves[:, None], d, slope), np.where(moves, found, value)
        kept.append(q)
    return np.array(kept)


def picture(names: list[str], births: np.ndarray, curves: np.ndarray, predicted: np.ndarray) -> Figure:
    """Eight countries: data, and 5%, 50% and 95% of curves and of predictions, (3, C, GRID) each."""
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(11, 5.6), layout="constrained")
        shown = ["Brazil", "China", "India", "Iran, Islamic Rep.", "Mexico", "South Africa", "Tunisia", "Vietnam"]
        for axes, name in zip(figure.subplots(2, 4, sharex=True, sharey=True).flat, shown, strict=True):
            c = names.index(name)
            axes.fill_between(GRID, *predicted[::2, c], color="#3b7dd8", alpha=0.15, lw=0, label="90% of predictions")
            axes.fill_between(GRID, *curves[::2, c], color="#3b7dd8", alpha=0.4, lw=0, label="90% of curves")
            axes.plot(GRID, curves[1, c], color="#3b7dd8", label="median")
            axes.plot(YEARS[:SEEN], births[c, :SEEN], "o", color="#12345b", markersize=4, label="observed")
            axes.plot(YEARS[SEEN:], births[c, SEEN:], "o", color="#e4572e", markersize=4, label="held back")
            axes.set_title(name.split(",")[0])
        figure.supxlabel("year", fontsize="medium")
        figure.supylabel("births per woman", fontsize="medium")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False)
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=250, help="of each of 4 chains (default: 250)")
    parser.add_argument("--out", type=Path, default=Path("fertility_curves.png"))
    args = parser.parse_args(argv)

    data = fertility.load_pandas().data.set_index("Country Name")[YEARS.astype(str)].dropna()
    data = data[(data["1960"] > 5) & (data["2000"] < 3.5)].drop("Latin America & Caribbean (all income levels)")
    births, n, rng = data.to_numpy(), len(data), np.random.default_rng(1)
    seen, late = births[:, :SEEN], births[:, SEEN:]
    density = log_posterior(seen)

    # The mode of the curves, with means, spreads and sigma fixed: the density of all together has no bound as spreads vanish.
    guess = np.concatenate([np.tile(MEAN, n), MEAN, np.log(SPREAD), [np.log(SIGMA)]])
    fixed = [(None, None)] * (4 * n) + [(g, g) for g in guess[4 * n :]]
    mode = minimize(lambda q: [-part for part in density(q)], guess, jac=True, bounds=fixed, options={"ftol": 1e-14}).x

    def residuals(c: np.ndarray, y: np.ndarray, prior: bool) -> np.ndarray:
        return np.append((y - decline(c, YEARS[:SEEN])) / SIGMA, prior * (c - MEAN) / SPREAD)

    fits = [[least_squares(residuals, MEAN, args=(y, on), ftol=1e-12, xtol=1e-12).x for y in seen] for on in (True, False)]
    same, alone = np.array(fits)
    print(f"{n} countries: given first guesses, the mode is SciPy's within {np.abs(mode[: 4 * n] - same.ravel()).max():.0e}")

    q, step = mode + 0.02 * rng.normal(size=(4, len(mode))), 0.01
    for _ in range(4):  # three times to find the scale of each parameter
        draws = hmc(density, q, step, args.draws, rng)
        q, step = draws[-1], 0.12 * draws[args.draws // 2 :].std((0, 1))
    print(f"r_hat at most {np.sqrt(1 + draws.mean(0).var(0, ddof=1) / draws.var(0).mean(0)).max():.3f}")
    draws = draws.reshape(-1, len(mode))
    before, after, middle = draws[:, 4 * n : 4 * n + 3].mean(0)
    print(f"Means: from {np.exp(before):.1f} births to {np.exp(after):.1f}, half-way in {1980 + 10 * middle:.0f}")
    curves = decline(draws[:, : 4 * n].reshape(-1, n, 4), GRID)
    predicted = curves + np.exp(draws[:, -1:, None]) * rng.normal(size=curves.shape)
    curves, predicted = (np.quantile(a, [0.05, 0.5, 0.95], axis=0) for a in (curves, predicted))
    low, median, high = predicted[..., np.isin(GRID, YEARS[SEEN:])]
    ours, theirs = (np.sqrt(np.mean((late - x) ** 2)) for x in (median, decline(alone, YEARS[SEEN:])))
    print(f"Held back: {np.mean((low < late) & (late < high)):.0%} within 90% intervals")
    print(f"  root mean square error {ours:.2f}, without pooling {theirs:.2f}")
    picture(list(data.index), births, curves, predicted).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
