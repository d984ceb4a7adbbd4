"""Slices of data whose ends follow from the lengths of the data, as in models of advertising."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fused_models import assert_same, assert_same_by_jax, functions, points, same_at
from thorough import some

import gpustats.pymc as gpm

N, LAGS = 60, 4
rng = np.random.default_rng(5)
SPENT, SEEN = rng.uniform(0, 2, (N, 2)), rng.normal(size=N)


def carried_over():
    """Advertisement that has an effect some days later, too."""
    spent = pm.Data("spent", SPENT)
    kept = pm.Beta("kept", 2, 2, shape=2)
    days = [kept**k * pt.concatenate([pt.zeros((k, 2)), spent[: spent.shape[0] - k]]) for k in range(LAGS)]
    pm.Normal("y", pt.dot(sum(days), pm.Normal("effect", shape=2)), 1, observed=pm.Data("seen", SEEN))


def padded():
    spent = pm.Data("spent", SPENT)[:, 0]
    weights = pt.power(pm.Beta("kept", 2, 2), pt.arange(LAGS))
    longer = pt.concatenate([pt.zeros(LAGS - 1), spent])
    days = pt.stack([longer[LAGS - 1 - k : longer.shape[0] - k] for k in range(LAGS)], axis=1)
    pm.Normal("y", pt.dot(days, weights / weights.sum()), 1, observed=pm.Data("seen", SEEN))


def added_to():
    spent, kept = pm.Data("spent", SPENT)[:, 0], pm.Beta("kept", 2, 2)
    total = pt.zeros_like(spent)
    for k in range(LAGS):
        total = pt.inc_subtensor(total[k:], kept**k * spent[: spent.shape[0] - k])
    pm.Normal("y", total, 1, observed=pm.Data("seen", SEEN))


def ends_that_are_data():
    spent, first = pm.Data("spent", SPENT)[:, 0], pm.Data("first", np.array(3))
    pm.Normal("y", pm.Normal("a") * spent[first:] + spent[:-first], 1, observed=pm.Data("seen", SEEN)[first:])


def model_of(make):
    with pm.Model() as model:
        make()
    return model


@pytest.mark.parametrize("make", [carried_over, padded, added_to, ends_that_are_data])
def test_models(make):
    assert_same(model_of(make))


def test_by_jax():
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(padded))


@pytest.mark.parametrize("make", some([padded, carried_over], 2))
def test_other_lengths(make):
    """Data of another length come to a function that is compiled already."""
    model = model_of(make)
    theirs, ours = functions(model)
    for length in (N - 20, LAGS, 1) if make is padded else (N - 20, LAGS):
        with model:
            pm.set_data({"spent": SPENT[:length], "seen": SEEN[:length]})
        same_at(theirs, ours, points(model)[0])


def test_an_end_that_a_parameter_decides_is_named():
    with pm.Model() as model:
        last = pm.Poisson("last", 5, initval=N)
        pm.Normal("y", pm.Normal("a") * pt.as_tensor(SPENT)[:last, 0], 1, observed=SEEN)
    (term,) = gpm.explain(model).terms
    assert not term.is_fused and "only the call tells" in term.reason
