"""Arrays some elements of which are set, or added to: by indices, by slices, as parameters and in rows."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fused_models import assert_same, assert_same_by_jax, model_of
from thorough import some

import gpustats.pymc as gpm

N, GROUPS = 60, 7
rng = np.random.default_rng(6)
X, Y, GROUP, CHOICE = rng.normal(size=(N, 3)), rng.normal(size=N), rng.integers(0, GROUPS, N), rng.integers(0, 3, N)
SOME = np.array([0, 2, 3, 5, 6])


def normal(mean, sigma=1.0):
    pm.Normal("y", mean, sigma, observed=Y)


def levels_of_some_groups():
    normal(pt.set_subtensor(pt.zeros(GROUPS)[pm.Data("some", SOME)], pm.Normal("a", shape=5))[GROUP])


def rows_of_a_table():
    table = pt.set_subtensor(pt.zeros((GROUPS, 90))[SOME], pm.Normal("a", shape=(5, 90)))
    normal(table[GROUP, np.arange(N)])


def sums_of_parameters_by_group():
    normal(pt.zeros(GROUPS)[GROUP[:20]].inc(pm.Normal("a", shape=20))[GROUP])


def sums_of_data_by_group():
    normal(pm.Normal("b") * pt.zeros(GROUPS)[GROUP].inc(pm.Data("x", X[:, 0]))[GROUP])


def sums_of_rows_by_group():
    size = pt.exp(pm.Normal("b") * X[:, 0])
    normal(size / pt.zeros(GROUPS)[GROUP].inc(size)[GROUP])


def sums_of_neighbouring_rows():
    normal(0.0, pt.zeros(N)[np.arange(N) // 2].inc(pm.HalfNormal("s", shape=N)) + 0.1)


def part_of_the_rows():
    a, b = pm.Normal("a"), pm.Normal("b", shape=20)
    normal(pt.inc_subtensor((a * X[:, 0])[10:50:2], b))


def one_element():
    normal(pt.set_subtensor((pm.Normal("a") * X[:, 0])[N - 1], pm.Normal("b")))


def rows_from_the_end():
    normal(pt.set_subtensor((pm.Normal("a") * X[:, 0])[:-50:-1], pm.Normal("b")))


def one_row_of_several():
    normal(pt.inc_subtensor((pm.Normal("a") * X)[3], pm.Normal("b", shape=3)).sum(-1))


def rows_where_a_condition_of_data_holds():
    normal(pt.set_subtensor((pm.Normal("a") * X[:, 0])[X[:, 1] > 0], pm.Normal("b")))


def rows_one_by_one():
    s = pm.HalfNormal("s", shape=2)
    normal(0.0, pt.set_subtensor(pt.alloc(s[0], N)[np.arange(0, N, 3)], s[1]))


def first_choice_as_reference():
    others = pt.dot(X, pm.Normal("b", shape=(3, 2)))
    pm.Categorical("y", logit_p=pt.set_subtensor(pt.zeros((N, 3))[:, 1:], others), observed=CHOICE)


def choices_in_another_order():
    others = pt.dot(X, pm.Normal("b", shape=(3, 2)))
    pm.Categorical("y", logit_p=pt.set_subtensor(pt.zeros((N, 3))[:, np.array([2, 0])], others), observed=CHOICE)


MODELS = [
    levels_of_some_groups, rows_of_a_table, sums_of_parameters_by_group, sums_of_data_by_group, sums_of_rows_by_group,
    sums_of_neighbouring_rows, part_of_the_rows, one_element, rows_from_the_end, one_row_of_several,
    rows_where_a_condition_of_data_holds, rows_one_by_one, first_choice_as_reference, choices_in_another_order,
]  # fmt: skip


@pytest.mark.parametrize("make", some(MODELS, 2))
def test_models(make):
    assert_same(model_of(make))


@pytest.mark.parametrize("make", some([rows_of_a_table, sums_of_rows_by_group, first_choice_as_reference]))
def test_by_jax(make):
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(make))


@pytest.mark.parametrize("make", [part_of_the_rows, first_choice_as_reference])
def test_rows_set_parts_themselves(make):
    """PyTensor computes nothing but parameters."""
    assert "which PyTensor computes" not in str(gpm.explain(model_of(make)))


def test_an_element_set_twice_is_named():
    text = str(gpm.explain(model_of(sums_of_neighbouring_rows)))
    assert "which PyTensor computes" in text and "an array whose elements are set several times" in text
