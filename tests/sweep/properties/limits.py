"""Densities that become normal ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr

from ..batch import Batch
from . import Suspicion, holds

#: Parameters of which the first one is large, at which a density is nearly normal: its skewness falls like the square root.
NEARLY_NORMAL = {
    "beta": lambda n, s: (n, n * s), "binomial": lambda n, s: (np.floor(n), 0.3), "chi_squared": lambda n, s: (n,),
    "exp_gamma": lambda n, s: (n, 0, s), "gamma": lambda n, s: (n, s), "inverse_gamma": lambda n, s: (n, s),
    "log_normal": lambda n, s: (s, 1 / np.sqrt(n)), "nakagami": lambda n, s: (n, s),
    "negative_binomial": lambda n, s: (n, n * s), "noncentral_chi_squared": lambda n, s: (n, n * s),
    "poisson": lambda n, s: (n,),
    "polya_gamma": lambda n, s: (n, s), "skellam": lambda n, s: (n, n * s), "student_t": lambda n, s: (n, s, 1),
    "von_mises": lambda n, s: (0, n), "wald": lambda n, s: (s, n * s),
}  # fmt: skip


@holds
def limits_are_normal(b: Batch) -> Iterator[Suspicion]:
    """At the mean and some standard deviations beside it, as the density tells them."""
    if b.subject.name not in NEARLY_NORMAL or not b.subject.has("mean", "var", "cdf", "sf"):
        return
    n = np.exp(b.rng.uniform(np.log(1e3), np.log(1e8 if b.dtype == np.float64 else 1e5), (len(b.q), 1)))
    s = np.exp(b.rng.uniform(-2, 2.5, n.shape))
    moved = b.at(*(np.broadcast_to(p, n.shape) for p in NEARLY_NORMAL[b.subject.name](n, s)))
    z = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    x = moved.wide("mean") + np.sqrt(moved.wide("var")) * z
    step = 0.5 / np.sqrt(moved.wide("var")) if b.discrete else 0
    x = (np.floor(x) if b.discrete else x).astype(b.dtype)
    for ending, right in (("cdf", ndtr(z)), ("sf", ndtr(-z))):
        got = moved.wide(ending, x)
        score = np.abs(got - right) / (8 / np.sqrt(n) + 2 * step + 1e-6 + (1e-3 if b.dtype == np.float32 else 0))
        yield Suspicion(ending, x, np.where(np.isnan(score), np.inf, score), moved.parameters)
