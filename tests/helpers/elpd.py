"""Comparisons by ArviZ, of either of its generations, from tables of log-likelihoods: (chain, draw, N)."""

import warnings
from typing import NamedTuple

import numpy as np

try:
    import arviz_base
    import arviz_stats

    OLD = False
except ImportError:
    import arviz

    OLD = True


class Elpd(NamedTuple):
    """Numbers of a result of ArviZ's."""

    elpd: float
    se: float
    p: float
    by_row: np.ndarray
    pareto_k: np.ndarray | None


def numbers(found):
    """Numbers of an ``ELPDData``."""
    k = getattr(found, "pareto_k", None)
    k = None if k is None else k.values
    if not OLD:
        return Elpd(found.elpd, found.se, found.p, found.elpd_i.values, k)
    kind = "waic" if "elpd_waic" in found else "loo"
    return Elpd(found[f"elpd_{kind}"], found.se, found[f"p_{kind}"], found[f"{kind}_i"].values, k)


def tree(posterior, table=None):
    """ArviZ's tree of draws, and of a table of log-likelihoods."""
    groups = {"posterior": posterior} | ({} if table is None else {"log_likelihood": {"y": table}})
    return arviz.from_dict(**groups) if OLD else arviz_base.from_dict(groups)


def loo(posterior, table, **given):
    """Leave-one-out cross-validation by ArviZ."""
    with warnings.catch_warnings(action="ignore"):
        return numbers((arviz if OLD else arviz_stats).loo(tree(posterior, table), pointwise=True, **given))


def close(found, want, tolerance=1e-9):
    """Assert that all numbers of two results are the same."""
    for name, a, b in zip(Elpd._fields, found, want, strict=True):
        if a is not None:
            scale = max(1.0, np.abs(np.where(np.isfinite(b), b, 0)).max())
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=name)
