"""Diagonals of matrices: of parameters, and of matrices that each row has."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fused_models import REFERENCE, assert_same, assert_same_by_jax, model_of
from thorough import some

import gpustats.pymc as gpm

N = 60
rng = np.random.default_rng(8)
X, Y, GROUP = rng.normal(size=(N, 3)), rng.normal(size=N), rng.integers(0, 4, N)


def of_a_matrix():
    pm.Normal("y", pt.diag(pm.Normal("z", shape=(20, 20)))[GROUP], 1, observed=Y)


def of_one_element():
    pm.Normal("y", pt.diag(pm.Normal("z", shape=(1, 1)))[0] * X[:, 0], 1, observed=Y)


def of_more_elements_than_rows():
    pm.Normal("y", pt.diag(pm.Normal("z", shape=(90, 90)))[GROUP], 1, observed=Y)


def above_and_below():
    z = pm.Normal("z", shape=(9, 6))
    pm.Normal("y", pt.diagonal(z, offset=2)[GROUP % 4] * pt.diagonal(z, offset=-3)[GROUP] + pt.trace(z), 1, observed=Y)


def each_row_is_an_element():
    pm.Normal("y", 0, pt.exp(pt.diagonal(pm.Normal("z", shape=(N + 2, N + 2)), offset=2)), observed=Y)


def of_each_row():
    pm.Normal("y", 0, pt.diagonal(pm.HalfNormal("z", shape=(N, 3, 4)), offset=1, axis1=1, axis2=2), observed=X)


def along_the_first_axes():
    pm.Normal("y", 0, pt.diagonal(pm.HalfNormal("z", shape=(3, N, 3)), axis1=0, axis2=2), observed=X)


def factor_of_each_group():
    z = pm.Normal("z", shape=(4, 3, 3))
    factor = pt.tril(z, -1) + pt.exp(z) * np.eye(3)
    pm.MvNormal("y", np.zeros(3), chol=factor[GROUP], observed=X)


def factor_of_each_row():
    z = pm.Normal("z", shape=(N, 3, 3))
    pm.MvNormal("y", np.zeros(3), chol=pt.tril(z, -1) + pt.exp(z) * np.eye(3), observed=X)


def scales_of_a_covariance():
    factor, _, _ = pm.LKJCholeskyCov("c", n=4, eta=2, sd_dist=pm.Exponential.dist(1.0), compute_corr=True)
    pm.Normal("y", 0, pt.sqrt(pt.diag(pt.dot(factor, factor.T)))[GROUP], observed=Y)


MODELS = [
    of_a_matrix, of_one_element, of_more_elements_than_rows, above_and_below, each_row_is_an_element, of_each_row,
    along_the_first_axes, factor_of_each_group, factor_of_each_row, scales_of_a_covariance,
]  # fmt: skip


@pytest.mark.parametrize("make", some(MODELS))
def test_models(make):
    assert_same(model_of(make))
    assert "ExtractDiag" not in str(gpm.explain(model_of(make)))


@pytest.mark.parametrize("make", some([above_and_below, factor_of_each_group], 2))
def test_by_jax(make):
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(make))


def test_an_invalid_factor():
    """A scale that is negative makes the sum -inf, as PyMC has it."""
    with pm.Model() as model:
        z = pm.Normal("z", shape=(N, 3, 3), initval=-np.ones((N, 3, 3)))
        pm.Normal("y", 0, pt.diagonal(z, axis1=1, axis2=2), observed=X)
    assert_same(model, theirs=REFERENCE)
