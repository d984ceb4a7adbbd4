"""Gibbs sampling of a logistic regression with Polya-Gamma variables, by Polson, Scott & Windle (2013), compared with a fit.

Given a Polya-Gamma variable of each observation, the coefficients are normal; given these, the variables are independent, and
a sweep draws all of them on the device at once. The data are those of Fair (A theory of extramarital affairs, 1978), which
statsmodels ships: whether 6366 married women have had an affair, by what they say of themselves and of their marriage. With
the prior as wide as it is here, the posterior is close to that of a fit by maximum likelihood, drawn beside it.

    pip install 'gpustats[cpu,demo]'
    python examples/polya_gamma_gibbs.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib
import numpy as np
import scipy.linalg
import statsmodels.api as sm
from matplotlib.figure import Figure

import gpustats as gs

VARIABLES = ("rate_marriage", "age", "yrs_married", "children", "religious", "educ")


def affairs() -> tuple[np.ndarray, np.ndarray]:
    """X (n, k), an intercept and the standardised variables, and y (n,), 1 where there has been an affair."""
    data = sm.datasets.fair.load_pandas().data
    x = data[list(VARIABLES)].to_numpy()
    x = (x - x.mean(0)) / x.std(0)
    return np.column_stack([np.ones(len(x)), x]), (data["affairs"] > 0).to_numpy().astype(float)


def gibbs(X: np.ndarray, y: np.ndarray, sweeps: int, scale: float = 10.0, seed: int = 1) -> np.ndarray:
    """Draws (sweeps, k) of the coefficients, whose priors are normal with mean 0 and a standard deviation of `scale`."""
    rng, on_device = np.random.default_rng(seed), gs.Generator(seed)
    beta, draws = np.zeros(X.shape[1]), np.empty((sweeps, X.shape[1]))
    weighted_sum = X.T @ (y - 0.5)
    for sweep in range(sweeps):
        omega = gs.polya_gamma.rvs(1.0, X @ beta, rng=on_device)
        precision = (X.T * omega) @ X + np.eye(len(beta)) / scale**2
        factor = np.linalg.cholesky(precision)
        mean = scipy.linalg.cho_solve((factor, True), weighted_sum)
        beta = mean + scipy.linalg.solve_triangular(factor.T, rng.normal(size=len(beta)))
        draws[sweep] = beta
    return draws


def picture(draws: np.ndarray, fit) -> Figure:
    """The middle 95% of the posterior, and the estimates of the fit with twice their standard errors."""
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    places = np.arange(len(low))
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color="#8d99ae", linewidth=1)
        axes.hlines(places - 0.12, low, high, color="#3b7dd8", label="Gibbs sampler")
        axes.plot(draws.mean(0), places - 0.12, "o", color="#12345b", markersize=4)
        axes.errorbar(fit.params, places + 0.12, xerr=2 * fit.bse, fmt="s", color="#d1495b", markersize=3, label="fit")
        axes.set_yticks(places, ["intercept", *VARIABLES])
        axes.invert_yaxis()
        axes.set_xlabel("change of the log-odds by one standard deviation")
        axes.legend(frameon=False)
        axes.set_title("Who has had an affair")
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sweeps", type=int, default=2000, help="of which the first tenth are left out (default: 2000)")
    parser.add_argument("--out", type=Path, default=Path("polya_gamma_gibbs.png"))
    args = parser.parse_args(argv)

    X, y = affairs()
    start = time.perf_counter()
    draws = gibbs(X, y, args.sweeps)[args.sweeps // 10 :]
    seconds = time.perf_counter() - start
    print(f"{args.sweeps} sweeps over {len(y):,} observations: {seconds:.1f} s, {1000 * seconds / args.sweeps:.2f} ms each")
    fit = sm.Logit(y, X).fit(disp=False)
    print(f"{'':14}{'posterior mean':>15}{'sd':>8}{'maximum likelihood':>20}{'se':>8}")
    for i, name in enumerate(["intercept", *VARIABLES]):
        print(f"{name:14}{draws[:, i].mean():15.3f}{draws[:, i].std():8.3f}{fit.params[i]:20.3f}{fit.bse[i]:8.3f}")
    picture(draws, fit).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
