"""Posteriors of six models with sums fused and without: PyMC's NUTS with chains as processes, nutpie with threads."""

import arviz as az
import models_of_rows
import numpy as np
import pymc as pm
import pytest

import gpustats.pymc as gpm

SIX = ["student_t", "varying_slopes", "item_response", "zero_inflated", "mixture", "ordinal"]
WAYS = {
    "pymc, forked": {"nuts_sampler": "pymc", "mp_ctx": "fork"},
    "pymc, spawned": {"nuts_sampler": "pymc", "mp_ctx": "spawn"},
    "nutpie": {"nuts_sampler": "nutpie"},
}


def summary(draws):
    """The mean, and its Monte Carlo error."""
    return draws.mean(), float(np.squeeze(az.mcse(draws)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SIX)
@pytest.mark.parametrize("way", WAYS)
def test_means(name, way):
    pytest.importorskip("nutpie")
    model, found = models_of_rows.made(getattr(models_of_rows, name)), []
    for on in (False, True):
        with model, gpm.fused(on, min_rows=10):
            fit = pm.sample(
                1000, tune=1000, chains=2, cores=2, random_seed=5, progressbar=False, compute_convergence_checks=False,
                **WAYS[way],
            )  # fmt: skip
        # of each variable its first element and its mean over all of them
        values = {v.name: fit.posterior[v.name].to_numpy().reshape(2, 1000, -1) for v in model.free_RVs}
        found.append({k: summary(d) for n, v in values.items() for k, d in ((n, v.mean(-1)), (f"{n}[0]", v[..., 0]))})
    for (variable, (mean, error)), (other, its_error) in zip(found[0].items(), found[1].values(), strict=True):
        assert abs(mean - other) < 3 * np.hypot(error, its_error), variable
