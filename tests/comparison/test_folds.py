"""K-fold cross-validation: rows and groups dealt to folds, and densities of what is left out."""

import elpd
import numpy as np
import pytest
from scipy import special, stats

import gpustats as gs


def test_folds_are_as_large_as_one_another():
    rng = np.random.default_rng()
    found = gs.folds(103, 10, rng=rng)
    assert sorted(np.bincount(found)) == [10] * 7 + [11] * 3
    assert (gs.folds(103, 10, rng=3) == gs.folds(103, 10, rng=3)).all()
    assert (gs.folds(103, 10, rng=3) != gs.folds(103, 10, rng=4)).any()


def test_groups_stay_together():
    rng = np.random.default_rng()
    groups = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 20, 40)))
    found = gs.folds(groups.size, 5, groups=groups, rng=rng)
    assert all(np.unique(found[groups == g]).size == 1 for g in range(40))
    rows = np.bincount(found)
    assert rows.size == 5 and rows.max() - rows.min() < 20  # no fold exceeds another by more than a group


def test_densities_of_what_is_left_out():
    rng = np.random.default_rng()
    y = rng.normal(size=50)

    def draws(rows):
        return {"mu": y[rows].mean() + np.random.default_rng(rows.size).normal(size=300) / 7, "sigma": 1.1}

    def refit(kept, left_out):
        assert np.intersect1d(kept, left_out).size == 0 and kept.size + left_out.size == y.size
        return gs.Likelihood(gs.normal, y[left_out]), draws(kept)

    def density(rows, mu):
        return special.logsumexp(stats.norm.logpdf(y[rows], mu[:, None], 1.1), axis=0) - np.log(300)

    fold, want = gs.folds(50, 4, rng=rng), np.empty(50)
    for k in range(4):
        left_out = np.flatnonzero(fold == k)
        want[left_out] = density(left_out, draws(np.flatnonzero(fold != k))["mu"])
    everything = np.arange(50)
    found = elpd.numbers(gs.kfold(refit, fold, whole=(gs.Likelihood(gs.normal, y), draws(everything)), chunk=5))
    np.testing.assert_allclose(found.by_row, want, rtol=1e-12)
    np.testing.assert_allclose(found.elpd, want.sum(), rtol=1e-12)
    np.testing.assert_allclose(found.p, density(everything, draws(everything)["mu"]).sum() - want.sum(), rtol=1e-9)
    assert np.isnan(elpd.numbers(gs.kfold(refit, fold)).p)


def test_bad_input():
    with pytest.raises(ValueError, match="k is 11: it must be from 2 to 10, the number of rows"):
        gs.folds(10, 11)
    with pytest.raises(ValueError, match="k is 3: it must be from 2 to 2, the number of groups"):
        gs.folds(4, 3, groups=[0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\), and must have one for each of the 4 rows"):
        gs.folds(4, 2, groups=[0, 1])
    with pytest.raises(ValueError, match="groups has no label in 1 row, first in row 1"):
        gs.folds(4, 2, groups=["a", None, "b", "b"])
    with pytest.raises(TypeError, match="refit, fold 0: it must give a model and draws, not NoneType"):
        gs.kfold(lambda kept, out: None, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="refit, fold 0: the model has 4 rows, and 2 are wanted"):
        gs.kfold(lambda kept, out: (gs.Likelihood(gs.normal, np.zeros(4)), {"mu": np.zeros(9), "sigma": 1.0}), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="fold has 1 folds"):
        gs.kfold(None, [0, 0])
    with pytest.raises(ValueError, match=r"fold has shape \(2,\) and dtype float64"):
        gs.kfold(None, [0.0, 1.0])
