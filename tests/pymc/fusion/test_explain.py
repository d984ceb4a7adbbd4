"""What `explain` says of the terms of a model."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

import gpustats.pymc as gpm

N = 2000


def test_terms(rng):
    group, x = rng.integers(0, 9, N), rng.normal(size=N)
    X = rng.normal(size=(N, 4))
    with pm.Model() as model:
        a, z = pm.Normal("a", shape=9), pm.Normal("z", shape=N)
        pm.Poisson("counts", pt.exp(a[group] + X @ pm.Normal("beta", shape=4) + z), observed=rng.poisson(1.0, N))
        pm.Normal("few", a[0], 1, observed=x[:20])
        pm.Normal("joint", pt.cumsum(a[0] * x), 1, observed=x)
        pm.Potential("by_pytensor", pt.cumsum(a[0] * x))
        pm.Potential("number", -(a[0] ** 2))
    with gpm.fused(min_rows=1000):
        found = gpm.explain(model)
    counts, few, joint, by_pytensor, number = found.terms
    assert [t.name for t in found.terms] == ["counts", "few", "joint", "by_pytensor", "number"]
    assert counts.is_fused and counts.n_rows == N and counts.reason == ""
    (total,) = counts.sums
    assert total.bytes_per_row == 4 + 4 * 8 + 16 + 1 + 1 + 8  # index, X, z and its gradient, what follows from the counts
    assert any("4 columns of data @ beta" in leaf for leaf in total.leaves)
    assert any("by index, of a" in leaf for leaf in total.leaves)
    assert any("each row's own, of z" in leaf for leaf in total.leaves)
    assert not few.is_fused and few.reason == "fewer than 1000 rows"
    assert joint.is_fused and any("no function of a row for a cumulative sum over rows" in s for s in joint.sums[0].leaves)
    assert not by_pytensor.is_fused and by_pytensor.reason == "a cumulative sum over rows"
    assert not number.is_fused and number.reason == "it is one number"
    text = str(found)
    assert "counts: 2000 rows of 62 bytes, computed on" in text and "__device__ real" in text
    assert "joint: " in text and "no function of a row for a cumulative sum over rows" in text
    assert found._repr_html_().startswith("<table>") and found._repr_html_().count("<tr>") >= 5


def test_without_terms():
    with pm.Model() as model:
        pm.Normal("a")
    assert str(gpm.explain(model)) == "the model has no observed variables" and not gpm.explain(model).terms
    with model:
        assert not gpm.explain().terms


def test_sums_within_a_parameter_are_not_those_of_the_term():
    """Whether a term is fused does not depend on sums over its parameters, as in a softmax."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(4000, 6)), rng.normal(size=4000)
    with pm.Model() as model:
        weights = pm.Dirichlet("weights", np.ones(6))
        pm.Normal("y", pt.dot(pm.Data("x", x), weights), pm.HalfNormal("sigma"), observed=y)
    with gpm.fused(min_rows=500):
        (term,) = gpm.explain(model).terms
    assert term.is_fused and term.reason == "" and [s.n_rows for s in term.sums] == [4000]
    with gpm.fused(min_rows=5000):
        (term,) = gpm.explain(model).terms
    assert not term.is_fused and term.reason == "fewer than 5000 rows" and term.n_rows == 4000
