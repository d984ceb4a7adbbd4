"""`python -m bench.field.posteriordb`: posterior means by PyMC's models with our likelihoods beside the references of
posteriordb.

Recipe: each posterior as posteriordb defines it, its sums on the device whatever their size, four chains of nutpie's NUTS
with 1,000 draws after as many to tune. z: the largest distance of a posterior mean from the reference, over the root of
the sum of both squared Monte Carlo errors; of a few dozen means it stays below 4. References are means of 10,000 draws.

Source: Magnusson, Torgander, Bürkner, Zhang, Carpenter & Vehtari (2025), posteriordb: testing, benchmarking and
developing Bayesian inference algorithms, https://github.com/stan-dev/posteriordb. Of eight schools (Rubin 1981) data and
reference stand here; for the others ``--data`` names a checkout of that repository.

Seconds of sampling are told, but not to be compared: such data are small.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
from pymc.distributions.transforms import ordered

import gpustats.pymc as gpm

from .. import nuts
from ..peers import GPUStats
from ..report import Columns, Report, Row, Table, attempt, cell, options, size

NOTE = """\
z: the largest distance of a posterior mean from posteriordb's, in Monte Carlo errors of both. means: how many of them.
sampling: of all chains, with adaptation.
"""
COLUMNS: Columns = {
    "means": cell("n_means", "{:d}"), "z": cell("z", "{:.2f}"), "mean of squared z": cell("mean_square", "{:.2f}"),
    "steps": cell("steps", "{:.1f}"), "ESS": cell("ess", "{:,.0f}"), "sampling / s": cell("sampling_s"),
}  # fmt: skip
SCHOOLS = {
    "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18],
    "mean_value": [6.1505, 4.9396, 3.9059, 4.7960, 3.6144, 4.0511, 6.3172, 4.8840, 4.4105, 3.6021],
    "mcse_mean": [0.0557, 0.0462, 0.0542, 0.0475, 0.0461, 0.0485, 0.0499, 0.0543, 0.0330, 0.0319],
}  # fmt: skip


def eight_schools(y: Any, sigma: Any, **_: Any) -> list[str]:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    theta = pm.Deterministic("theta", mu + tau * pm.Normal("theta_trans", shape=len(y)))
    pm.Normal("y", theta, sigma, observed=y)
    return ["theta", "mu", "tau"]


def linear(y: np.ndarray, *columns: np.ndarray, scale: float | None = None) -> list[str]:
    """Regression with flat coefficients, and a half-Cauchy or flat prior for the standard deviation."""
    beta = pm.Flat("beta", shape=1 + len(columns), initval=np.linalg.lstsq(design(*columns), y)[0])
    sigma = pm.HalfFlat("sigma", initval=float(y.std())) if scale is None else pm.HalfCauchy("sigma", scale)
    pm.Normal("y", design(*columns) @ beta, sigma, observed=y)
    return ["beta", "sigma"]


def design(*columns: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(columns[0])), *columns])


def regression(y: np.ndarray, X: np.ndarray, **_: Any) -> list[str]:
    beta, sigma = pm.Normal("beta", 0, 10, shape=X.shape[1]), pm.HalfNormal("sigma", 10)
    pm.Normal("y", X @ beta, sigma, observed=y)
    return ["beta", "sigma"]


def gauss_mix(y: np.ndarray, **_: Any) -> list[str]:
    mu = pm.Normal("mu", 0, 2, shape=2, transform=ordered, initval=[-1.0, 1.0])
    sigma, theta = pm.HalfNormal("sigma", 2, shape=2), pm.Beta("theta", 5, 5)
    pm.NormalMixture("y", pm.math.stack([theta, 1 - theta]), mu, sigma=sigma, observed=y)
    return ["mu", "sigma", "theta"]


def kilpisjarvi(x: Any, y: Any, pmualpha: float, psalpha: float, pmubeta: float, psbeta: float, **_: Any) -> list[str]:
    alpha, beta = pm.Normal("alpha", pmualpha, psalpha), pm.Normal("beta", pmubeta, psbeta)
    pm.Normal("y", alpha + beta * x, pm.HalfFlat("sigma", initval=1.0), observed=y)
    return ["alpha", "beta", "sigma"]


def autoregression(y: np.ndarray, K: int, **_: Any) -> list[str]:
    lags = np.column_stack([y[K - k : len(y) - k] for k in range(1, K + 1)])
    alpha, beta = pm.Normal("alpha", 0, 10), pm.Normal("beta", 0, 10, shape=K)
    pm.Normal("y", alpha + lags @ beta, pm.HalfCauchy("sigma", 2.5), observed=y[K:])
    return ["alpha", "beta", "sigma"]


def interaction(kid_score: Any, mom_hs: Any, mom_iq: Any, **_: Any) -> list[str]:
    return linear(kid_score, mom_hs, mom_iq, mom_hs * mom_iq, scale=2.5)


def mesquite(weight: Any, diam1: Any, diam2: Any, canopy_height: Any, **_: Any) -> list[str]:
    return linear(np.log(weight), np.log(diam1 * diam2 * canopy_height))


def elections(age_discrete: Any, educ1: Any, gender: Any, income: Any, **data: Any) -> list[str]:
    ages = [(age_discrete == k).astype(float) for k in (2, 3, 4)]
    return linear(data["partyid7"], data["real_ideo"], data["race_adj"], *ages, educ1, gender, income)


#: Name of the posterior -> the model of its data, which returns the variables in the order of the reference.
MODELS: dict[str, Callable[..., list[str]]] = {
    "eight_schools-eight_schools_noncentered": eight_schools,
    "kidiq-kidscore_momiq": lambda kid_score, mom_iq, **_: linear(kid_score, mom_iq, scale=2.5),
    "kidiq-kidscore_interaction": interaction,
    "earnings-logearn_height": lambda earn, height, **_: linear(np.log(earn), height),
    "mesquite-logmesquite_logvolume": mesquite,
    "nes1980-nes": elections,
    "sblri-blr": regression,
    "kilpisjarvi_mod-kilpisjarvi": kilpisjarvi,
    "arK-arK": autoregression,
    "low_dim_gauss_mix-low_dim_gauss_mix": gauss_mix,
}


@dataclass(frozen=True)
class Case:
    """Posterior of posteriordb, in a checkout of its repository or, of eight schools, here."""

    title: str
    checkout: Path | None

    def data(self) -> dict[str, Any]:
        if self.checkout is None:
            given: dict[str, Any] = {name: SCHOOLS[name] for name in ("y", "sigma")}
        else:
            path = self.checkout / f"posterior_database/data/data/{self.title.partition('-')[0]}.json.zip"
            with zipfile.ZipFile(path) as file:
                given = json.loads(file.read(file.namelist()[0]))
        return {name: np.asarray(value, float) if isinstance(value, list) else value for name, value in given.items()}

    def reference(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and their Monte Carlo errors."""
        found: Any = SCHOOLS
        if self.checkout is not None:
            folder = "posterior_database/reference_posteriors/summary_statistics/mean_value/mean_value"
            found = json.loads((self.checkout / folder / f"{self.title}.json").read_text(encoding="utf-8"))
        return np.array(found["mean_value"]), np.array(found["mcse_mean"])


def measured(case: Case, draws: int, chains: int) -> Row:
    with pm.Model() as model:
        names = MODELS[case.title](**case.data())
    with gpm.fused(min_rows=0):
        built = nuts.Model((), lambda ours: model, lambda: None)
        sampled = nuts.with_nutpie(built, GPUStats(False), nuts.Sizes(draws, draws, chains))
    posterior = sampled.posterior[names]
    means, errors = (
        np.concatenate([np.ravel(found[name]) for name in names])
        for found in (posterior.mean(("chain", "draw")), az.mcse(posterior, method="mean"))
    )
    expected, own_errors = case.reference()
    z = np.abs(means - expected) / np.hypot(errors, own_errors)
    ess = min(float(values.min()) for values in az.ess(posterior).data_vars.values())
    return {
        "n_means": len(z), "z": float(z.max()), "mean_square": float(np.mean(z * z)), "steps": sampled.steps, "ess": ess,
        "sampling_s": sampled.sampling_s, "posterior_means": means.tolist(),
    }  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = options("field.posteriordb", __doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, help="checkout of stan-dev/posteriordb; default: eight schools alone")
    parser.add_argument("--draws", type=size, help="of each chain, and as many to tune (default: 1,000)")
    parser.add_argument("--chains", type=int, default=4, help="default: 4")
    args = parser.parse_args(argv)
    checkout, args.data = args.data, bool(args.data)
    report = Report(args)
    draws = report.default(args.draws, gpu=1000, cpu=1000, quick=100)
    cases = [Case(name, checkout) for name in MODELS] if checkout else [Case(next(iter(MODELS)), None)]
    for case in report.wanted(cases):
        row: Row = {"work": case.title, "peer": "gpustats", "time": "sampling_s", "chains": args.chains}
        report.rows.append(attempt(row, measured, case, draws, args.chains))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
