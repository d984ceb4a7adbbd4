"""A multilevel GLM: visits to the doctor, counted year after year for the same persons.

The RAND Health Insurance Experiment gave families insurance plans at random and counted their visits (20,190 person-years;
Deb & Trivedi, 2002). Counts are negative binomial about a mean that depends on plan and health, and each person has an
intercept of her own, drawn from a normal distribution that is estimated, too. A fit without those intercepts stands beside it:
it takes all years for independent, so that its intervals are too narrow, and far too few of its persons never see a doctor. In
all of the data the intercepts mend half of that: 12% never do, where 4% are predicted without them and 8% with them.

The data name no persons, but their rows are in order, and what is known of a person is the same in all years. So a run of
equal rows, visits left aside, is taken for one: 5,294 runs, most of them of three or five years, which was how long families
took part. One run in twelve is longer, and holds several of a family who are alike. The first 1,000 are fitted; all of them,
by `--people 5294`, take several times as long.

    pip install 'gpustats[cpu,pymc,demo]'
    python examples/doctor_visits.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import arviz as az
import matplotlib
import numpy as np
import pymc as pm
from matplotlib.figure import Figure
from statsmodels.datasets import randhie

import gpustats as gs
import gpustats.pymc as gpm

COVARIATES = {
    "lncoins": "coinsurance, log", "idp": "individual deductible", "lpi": "participation payment, log",
    "fmde": "maximum expenditure, log", "physlm": "physical limitation", "disea": "chronic diseases", "hlthg": "health good",
    "hlthf": "health fair", "hlthp": "health poor",
}  # fmt: skip
SCALED = ["lncoins", "lpi", "fmde", "disea"]  # the others are 0 or 1, or a probability of 1
COLORS = {"persons": "#3b7dd8", "pooled": "#e4572e"}
PREDICTED = 100  # draws of each chain, at most, for which visits are predicted


def experiment(people: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Visits in a year (N,), covariates (N, 9), of which some are standardised, the number of the person (N,).

    Of the first `people`, or of all.
    """
    data = randhie.load_pandas().data
    known = data[list(COVARIATES)].to_numpy()
    person = np.cumsum(np.append(True, (known[1:] != known[:-1]).any(axis=1))) - 1
    scaled = [name in SCALED for name in COVARIATES]
    x = known - known.mean(0)
    x[:, scaled] /= x[:, scaled].std(0)
    own = person < (people or np.inf)
    return data["mdvis"].to_numpy(int)[own], x[own], person[own]


def model(visits: np.ndarray, x: np.ndarray, person: np.ndarray, by_person: bool = True) -> pm.Model:
    """With an intercept for each person, or one for all."""
    coords = {"covariate": list(COVARIATES.values()), "person": np.arange(person.max() + 1)}
    with pm.Model(coords=coords) as made:
        beta = pm.Normal("beta", 0, 1, dims="covariate")
        mean, phi = pm.Normal("mean", 1, 1), pm.Gamma("phi", 2, 1)
        if by_person:
            spread = pm.HalfNormal("spread", 1)
            alpha, groups = mean + spread * pm.Normal("z", 0, 1, dims="person"), person
        else:
            alpha, groups = mean, None
        gpm.GLM("visits", gs.negative_binomial_log, X=x, beta=beta, alpha=alpha, groups=groups, phi=phi, observed=visits)
    return made


def statistics(visits: np.ndarray, person: np.ndarray) -> dict[str, np.ndarray]:
    """What the predictions are checked by: of visits (..., N) the shares (...) of years and of persons without any, …"""
    order = np.flatnonzero(np.diff(person, prepend=-1))  # where each person's years begin
    totals = np.add.reduceat(visits, order, axis=-1)
    return {
        "years without a visit, %": 100 * (visits == 0).mean(-1),
        "persons without a visit, %": 100 * (totals == 0).mean(-1),
        "standard deviation of a year's visits": visits.std(-1),
        "standard deviation of a person's visits": totals.std(-1),
        "most visits in a year": visits.max(-1),
    }


def predictions(fit) -> np.ndarray:
    """Of a part of the draws, (draws, N)."""
    few = fit.sel(draw=slice(None, None, -(-fit.posterior.sizes["draw"] // PREDICTED)))
    drawn = pm.sample_posterior_predictive(few, random_seed=1, progressbar=False).posterior_predictive["visits"]
    return drawn.stack(draw_=("chain", "draw")).transpose("draw_", ...).to_numpy()


def check(visits: np.ndarray, person: np.ndarray, predicted: dict[str, np.ndarray]) -> str:
    """The posterior predictive check as a table: observed, and 95% of the predictions of each fit."""
    lines = [f"{'':42}{'observed':>10}" + "".join(f"{name:>20}" for name in predicted)]
    replicated = [statistics(drawn, person) for drawn in predicted.values()]
    for name, value in statistics(visits, person).items():
        ranges = (np.quantile(drawn[name], [0.025, 0.975]) for drawn in replicated)
        lines.append(f"{name:42}{value:10.1f}" + "".join(f"{f'{low:.1f} to {high:.1f}':>20}" for low, high in ranges))
    return "\n".join(lines)


def picture(visits: np.ndarray, fits: dict, predicted: dict[str, np.ndarray]) -> Figure:
    """Counts with their predictions, and what multiplies the expected visits, each with 95% intervals."""
    with matplotlib.rc_context({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"}):
        figure = Figure(figsize=(11, 4.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        counts = np.arange(16)
        left.bar(counts, [np.mean(visits == c) for c in counts], color="#d5dae1", label="observed")
        places = np.arange(len(COVARIATES))[::-1]
        for i, (name, fit) in enumerate(fits.items()):
            aside = 0.3 * (i - 0.5)
            shares = np.stack([(predicted[name] == c).mean(1) for c in counts])
            left.vlines(counts + aside, *np.quantile(shares, [0.025, 0.975], axis=1), color=COLORS[name], lw=3, label=name)
            ratios = np.exp(fit.posterior["beta"].stack(draw_=("chain", "draw")).transpose("covariate", "draw_").to_numpy())
            right.hlines(places - aside, *np.quantile(ratios, [0.025, 0.975], axis=1), color=COLORS[name], lw=3)
            right.plot(np.median(ratios, axis=1), places - aside, "o", color=COLORS[name], markersize=5)
        left.set_xlabel("visits in a year")
        left.set_title("Share of years, and 95% of the predictions")
        left.legend(frameon=False)
        right.axvline(1, color="#8d99ae", linewidth=1)
        right.set_yticks(places, [label + " (sd)" * (name in SCALED) for name, label in COVARIATES.items()])
        right.set_xlabel("times as many visits")
        right.set_title("Effects, 95% intervals")
    return figure


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=1000, help="the first so many of 5294 (default: 1000)")
    parser.add_argument("--draws", type=int, default=500, help="of each of 2 chains (default: 500)")
    parser.add_argument("--out", type=Path, default=Path("doctor_visits.png"))
    args = parser.parse_args(argv)

    visits, x, person = experiment(args.people)
    fits, predicted = {}, {}
    for name, by_person in (("persons", True), ("pooled", False)):
        start = time.perf_counter()
        with model(visits, x, person, by_person):
            fits[name] = pm.sample(args.draws, tune=args.draws, chains=2, random_seed=1)
            seconds = time.perf_counter() - start
            predicted[name] = predictions(fits[name])
        names = ["beta", "mean", "phi"] + ["spread"] * by_person
        print(f"\n{name}: {len(visits):,} years of {person.max() + 1:,} persons, {seconds:.1f} s")
        print(az.summary(fits[name], var_names=names).to_string())
    print(f"\n{check(visits, person, predicted)}")
    picture(visits, fits, predicted).savefig(args.out, dpi=150)
    print(f"Picture: {args.out}")


if __name__ == "__main__":
    main()
