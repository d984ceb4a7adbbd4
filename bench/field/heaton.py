"""`python -m bench.field.heaton`: the case study competition among methods for large spatial data.

Recipe: temperatures on a grid of 500 × 300 over Missouri, 105,569 to learn from and those below clouds to predict: 42,740
in the satellite's data, 44,431 in the simulated ones. The simulated data are drawn from a process of mean 44.49 with an
exponential covariance, variance 16.40771, scale 1 / 0.75 degrees, and a nugget of 0.05. By default they are drawn anew by
that recipe, with clouds that are drawn, too; ``--data`` takes a CSV file of the study's own with the columns Lon, Lat,
MaskTemp and TrueTemp, as ``write.csv(all.sat.temps, "sat.csv", row.names = FALSE)`` makes it in R of
AllSatelliteTemps.RData.

Source: Heaton et al. (2019), Journal of Agricultural, Biological and Environmental Statistics 24, 398-425, with data and
code at https://github.com/finnlindgren/heatoncomparison. On the satellite's data, on a node of 40 cores: RMSE 1.53 by
SPDE, 1.64 by the conjugate NNGP in 2.1 min, 2.08 by laGP in 2.3 min.

Methods here: Vecchia's approximation with 30 neighbours, by maximum likelihood, of an exponential covariance, as the
simulated data have it, and of the sum of that and Matérn's with ν = 3/2, which is more likely on the satellite's data; and
local Gaussian processes. A linear trend in the coordinates is taken off before.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpustats as gs

from ..report import Columns, Report, Row, Table, attempt, cell, options, size, timed
from . import grids

#: Of the satellite's data: method -> RMSE, and minutes where they are known.
PUBLISHED = {"SPDE": (1.53, None), "NNGP": (1.64, 2.1), "laGP": (2.08, 2.3)}
NOTE = """\
seconds: of a call, from arrays on the host to predictions there, with the order, the neighbours and the fit, kernels
compiled. crps: continuous ranked probability score of normal distributions; interval: the interval score; covered: true
values in the 95 % intervals. To learn from, to predict: numbers of points. Heaton et al. on the satellite's data, with 40
cores: RMSE 1.53 by SPDE, 1.64 by NNGP in 2.1 min, 2.08 by laGP in 2.3 min.
"""
COLUMNS: Columns = {
    "to learn from": cell("n", "{:,d}"), "to predict": cell("locations", "{:,d}"), "seconds": cell("seconds", "{:.2f}"),
    "rmse": cell("rmse", "{:.3f}"), "mae": cell("mae", "{:.3f}"), "crps": cell("crps", "{:.3f}"),
    "interval": cell("interval_score", "{:.2f}"), "covered": cell("coverage", "{:.1f} %", 100),
    "log-likelihood": cell("log_likelihood", "{:,.0f}"),
}  # fmt: skip
MEAN, VARIANCE, SCALE, NUGGET = 44.49105, 16.40771, 1 / 0.75, 0.05
#: Covariance functions, and where the search for their parameters begins.
EXPONENTIAL: tuple[Any, Row] = (gs.matern12, {"amplitude": 3.0, "lengthscale": 1.0, "sigma": 0.3, "mean": 0.0})
TWO_RANGES: tuple[Any, Row] = (
    gs.matern12 + gs.matern32.rename(amplitude="smooth", lengthscale="smooth_range"),
    EXPONENTIAL[1] | {"smooth": 1.0, "smooth_range": 0.03},
)
ACROSS = 500  # columns of the grid, on which the study has 300 rows
CLOUDY = 1 - 105_569 / 150_000


@dataclass(frozen=True)
class Data:
    """Points and temperatures to learn from, and those to predict."""

    title: str
    x: np.ndarray
    y: np.ndarray
    new: np.ndarray
    truth: np.ndarray


def simulated(across: int, seed: int = 0) -> Data:
    """Data by the study's recipe, on a grid that is `across` columns wide and as large as the study's in degrees."""
    rng, shape = np.random.default_rng(seed), (round(0.6 * across), across)
    longitude, latitude = np.linspace(-95.91153, -91.28381, shape[1]), np.linspace(34.29520, 37.06811, shape[0])
    spacing = latitude[1] - latitude[0], longitude[1] - longitude[0]
    field = MEAN + grids.drawn(shape, spacing, grids.matern(0.5, VARIANCE**0.5, SCALE), rng)
    field += NUGGET**0.5 * rng.standard_normal(shape)
    clouds = grids.drawn(shape, spacing, grids.matern(1.5, 1.0, 0.25), rng)
    cloudy = clouds > np.quantile(clouds, 1 - CLOUDY)
    points = np.stack(np.meshgrid(longitude, latitude), axis=-1)
    return Data(f"simulated, {across} × {shape[0]}", points[~cloudy], field[~cloudy], points[cloudy], field[cloudy])


def read(path: Path) -> Data:
    """Data of the study, from a CSV file; what is missing is empty or NA."""
    columns = np.genfromtxt(path, delimiter=",", names=True, missing_values="NA", filling_values=np.nan)
    points, known, truth = np.column_stack([columns["Lon"], columns["Lat"]]), columns["MaskTemp"], columns["TrueTemp"]
    to_predict = np.isnan(known) & ~np.isnan(truth)
    return Data(path.stem, points[~np.isnan(known)], known[~np.isnan(known)], points[to_predict], truth[to_predict])


def trend(x: np.ndarray, y: np.ndarray) -> Any:
    """Function of points: a plane by least squares."""
    coefficients = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y)[0]
    return lambda points: coefficients[0] + points @ coefficients[1:]


def by_vecchia(
    model: tuple[Any, Row], x: np.ndarray, y: np.ndarray, new: np.ndarray, neighbours: int
) -> tuple[Any, Row]:
    v = gs.gp.Vecchia(model[0], x, y, neighbours)
    fit = v.fit(model[1], errors=False)
    estimates = {name: float(value) for name, value in fit.values.items()}
    return v.predict(new, noise=True, **fit.values), {"estimates": estimates, "log_likelihood": float(fit.loglik)}


def by_local_gp(x: np.ndarray, y: np.ndarray, new: np.ndarray, neighbours: int) -> tuple[Any, Row]:
    return gs.LocalGP(x, y).predict(new, g={"mle": True}, noise=True), {}


METHODS = {
    "Vecchia": functools.partial(by_vecchia, EXPONENTIAL),
    "Vecchia, two ranges": functools.partial(by_vecchia, TWO_RANGES),
    "LocalGP": by_local_gp,
}


def predicted(data: Data, name: str, neighbours: int) -> tuple[tuple[np.ndarray, ...], Row]:
    """Means, standard deviations and 95 % intervals of what is to be predicted, and what was found of the model."""
    plane = trend(data.x, data.y)
    found, estimates = METHODS[name](data.x, data.y - plane(data.x), data.new, neighbours)
    shift, df = plane(data.new), getattr(found, "df", None)
    sd = found.scale * (1 if df is None else np.sqrt(df / (df - 2)))
    low, high = found.interval(0.95)
    return (shift + found.mean, sd, shift + low, shift + high), estimates


def measured(data: Data, name: str, neighbours: int) -> Row:
    """Row of a method; a part of the data first, so that kernels are compiled."""
    predicted(Data(data.title, data.x[:500], data.y[:500], data.new[:20], data.truth[:20]), name, neighbours)
    (found, estimates), seconds = timed(lambda: predicted(data, name, neighbours))
    sizes = {"n": len(data.x), "locations": len(data.new), "seconds": seconds}
    return sizes | estimates | grids.scores(data.truth, *found)


def main(argv: list[str] | None = None) -> int:
    parser = options("field.heaton", __doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, action="append", help="CSV file of the study, repeatable; default: drawn anew")
    parser.add_argument("--across", type=size, help="columns of the grid that is drawn (default: 500)")
    parser.add_argument("--method", action="append", choices=[*METHODS], help="repeatable; default: all")
    parser.add_argument("--neighbours", type=int, default=30, help="of Vecchia's approximation (default: 30)")
    args = parser.parse_args(argv)
    paths, args.data = args.data or [], [path.name for path in args.data or []]
    report = Report(args)
    across = report.default(args.across, gpu=ACROSS, cpu=ACROSS, quick=30)
    for data in report.wanted([read(path) for path in paths] or [simulated(across)]):
        for name in args.method or METHODS:
            row: Row = {"work": data.title, "peer": f"gpustats, {name}", "time": "seconds"}
            report.rows.append(attempt(row, measured, data, name, args.neighbours))
    return report.write(Table(report.rows, COLUMNS, NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
