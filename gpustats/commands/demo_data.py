"""Density, data and style of pictures, which both parts of the demo share."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

SNIPPET = """\
// doctor_visits: negative binomial counts
// x: nonnegative integer    mu: positive, mean
// alpha: positive, dispersion: the variance is mu + mu^2 / alpha
// source: Cameron & Trivedi (2013), Regression Analysis of Count Data, ch. 3
__device__ real doctor_visits_logpmf(real x, real mu, real alpha)
{
    real log_odds = log(mu / (mu + alpha));
    real constant = alpha * log(alpha / (mu + alpha)) - log_gamma(alpha);
    return log_gamma(x + alpha) - log_gamma(x + 1) + (constant + x * log_odds);
}
"""

#: Matplotlib's settings for all pictures.
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666",
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
}


@functools.cache
def data_frame() -> pandas.DataFrame:
    """RAND Health Insurance Experiment: one row a person and year, 20,190 of them; ``mdvis`` counts visits to a doctor."""
    try:
        from statsmodels.datasets import randhie
    except ImportError:
        raise ImportError("the demo's data comes with statsmodels: pip install 'gpustats[demo]'") from None
    return randhie.load_pandas().data


def visits() -> np.ndarray:
    """Counts of visits, shape (20190,)."""
    counts: np.ndarray = data_frame()["mdvis"].to_numpy(float)
    return counts


def counts_axes(axes: Axes, x: np.ndarray) -> np.ndarray:
    """Draw the shares of the counts in the data as bars.

    Returns the counts that the axis shows.
    """
    counts = np.arange(31)
    observed = np.bincount(x.astype(int), minlength=31)[:31] / len(x)
    axes.bar(counts, observed, color="#c9ced6", width=0.85, label=f"{len(x):,} observed counts")
    axes.set_yscale("log")
    axes.set_ylim(3e-4, 0.6)
    axes.set_xlim(-0.8, 30.8)
    axes.set_xlabel("visits to a doctor in a year")
    axes.set_ylabel("share of person-years")
    return counts
