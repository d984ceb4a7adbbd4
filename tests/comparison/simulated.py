"""Importance sampling of rows, their terms by row and by group."""

import dataclasses
import warnings
from unittest import mock

import numpy as np
from scipy import stats
from simulator import close, kernel_shape

import gpustats as gs
from gpustats.comparison.elpd import is_old
from gpustats.comparison.smoothing import Tail, psis, turned
from gpustats.runtime import choose


def terms_of(table):
    """Terms on the device by row, of a table (draws, rows)."""
    runtime, table = choose.get(), np.ascontiguousarray(table)
    array = table if runtime.host_visible else runtime.to_device(table)
    terms = turned(runtime, *runtime.memory(array), *table.shape, table.dtype)
    runtime.synchronize()
    return terms


def plainly(v, tail):
    """Log density without the row by the definition, smoothed as in Vehtari et al. (2024), and Pareto k."""
    x = v.min() - v
    order = np.argsort(x)
    cut = x[order[-tail.length - 1]]
    inside = order[x[order] > cut] if tail.strict else order[-tail.length :]
    weights, k = np.exp(x), np.inf
    if inside.size > 4:
        excess, n = np.exp(x[inside]) - np.exp(cut), inside.size
        m = 30 + int(n**0.5)
        if not tail.strict and excess[int(n / 4 + 0.5) - 1] <= excess[0]:
            return np.log(v.size) - np.log(np.exp(-v).sum()), np.nan
        b = (1 - np.sqrt(m / (np.arange(m) + 0.5))) / (3 * excess[int(n / 4 + 0.5) - 1]) + 1 / excess[-1]
        each = np.log1p(-b[:, None] * excess).mean(1)
        score = n * (np.log(-b / each) - each - 1)
        share = np.exp(score - score.max())
        b = b @ share / share.sum()
        mean = np.log1p(-b * excess).mean()
        k = (n * mean + 5) / (n + 10)
        quantiles = -mean / b * np.expm1(-k * np.log1p(-(np.arange(n) + 0.5) / n)) / k
        weights[inside] = np.minimum(quantiles + np.exp(cut), 1)
    return np.log(weights @ np.exp(v - v.max())) + v.max() - np.log(weights.sum()), k


@kernel_shape
def smoothed_weights(dtype, rng):
    """Few draws, which are all sorted, and more; ties; tails in shared memory, and in global memory where they are large."""
    for n_draws, length in ((30, 5), (90, 18), (200, 30)):
        table = (2 * rng.normal(size=(n_draws, 5))).astype(dtype)
        table[:, 1] = np.round(table[:, 1])
        table[:, 2] = -1.5
        for strict in (True, False):
            tail = Tail(length, strict)
            found = psis(terms_of(table), tail)
            rows = [0, 1, 3, 4] if strict else [0, 3, 4]
            want = np.array([plainly(table[:, i].astype(float), tail) for i in rows])
            close(found[rows, 0], want[:, 0], np.float64)
            np.testing.assert_allclose(found[rows, 1], want[:, 1], rtol=1e-10)
            close(found[:, 2], np.log(np.exp(table.astype(float)).mean(0)), np.float64)
            assert (found[:, 3] == n_draws).all()
    runtime = choose.get()
    with mock.patch.object(runtime, "device", dataclasses.replace(runtime.device, shared_memory=2048)):
        close(psis(terms_of(table), tail), found, np.float64)
    table[3, 2] = np.nan
    assert (psis(terms_of(table), Tail(5, True))[:, 3] == [n_draws, n_draws, 3, n_draws, n_draws]).all()


@kernel_shape
def comparison_of_rows(dtype, rng):
    """Leave one row and one group out of rows in pieces, in an order of their own; WAIC."""
    n, sets = 16, 60
    g, y = rng.integers(0, 5, n), rng.normal(size=n).astype(dtype)
    rows = gs.Rows(gs.normal, x=y, mu=gs.gather(g))
    mu, sigma = (rng.normal(size=(sets, 5)) / 4).astype(dtype), (1 + rng.random(sets)).astype(dtype)
    table = stats.norm.logpdf(y.astype(float), mu.astype(float)[:, g], sigma.astype(float)[:, None])
    rtol = 1e-10 if dtype == np.float64 else 1e-3
    for chunk in (16, 6):
        with warnings.catch_warnings(action="ignore"):
            found = gs.waic(rows, {"mu": mu, "sigma": sigma}, chunk=chunk)
        want = np.log(np.exp(table).mean(0)) - table.var(0)
        np.testing.assert_allclose(by_row(found), want, rtol=rtol)
        with warnings.catch_warnings(action="ignore"):  # so few draws
            found = gs.loo(rows, {"mu": mu, "sigma": sigma}, groups=g, r_eff=1.0, chunk=chunk)
        sums = np.stack([table[:, g == i].sum(1) for i in range(5)], 1)
        tail = Tail.of(sets, 1.0, is_old())
        np.testing.assert_allclose(by_row(found), [plainly(sums[:, i], tail)[0] for i in range(5)], rtol=rtol)


def by_row(found):
    """Numbers of the rows of either ArviZ's result."""
    name = next(n for n in ("loo_i", "waic_i", "elpd_i") if hasattr(found, n))
    return getattr(found, name).values
