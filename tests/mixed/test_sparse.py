"""Linear mixed models of many crossed and nested groups, whose matrix is sparse: the same as with a dense one, lme4's numbers,
and the estimates of a balanced nested design, which have a closed form.
"""

import numpy as np
import pytest
from lme4_fits import check, codes, numbers, table

import gpustats as gs
from gpustats.glm import linear
from gpustats.marginals import blocks
from gpustats.mixed.structure import Grouping, is_sparse


def model(kind, rng, weights=None, n=500, a=60, b=25):
    g = rng.integers(0, a, n)
    h = {"crossed": rng.integers(0, b, n), "nested": g * b // a}[kind]
    g, h, k = (np.unique(own, return_inverse=True)[1] for own in (g, h, rng.integers(0, 4, n)))
    X = rng.normal(size=(n, 2))
    Z = np.column_stack([np.ones(n), X[:, 0]])
    y = X @ [1.0, -2.0] + rng.normal(size=a)[g] + 0.5 * rng.normal(size=a)[g] * X[:, 0] + 0.7 * rng.normal(size=b)[h]
    y += 0.3 * rng.normal(size=4)[k] + rng.normal(size=n)
    groups = {"g": (g, Z), "h": h, "k": k}
    return gs.GLM(gs.normal, y, X, eta="mu", groups=groups, weights=weights), X, groups


def both(monkeypatch, fit):
    """What `fit` returns with a dense matrix and with a sparse one."""
    found = []
    for sparse in (False, True):
        monkeypatch.setattr(linear, "is_sparse", lambda *_, sparse=sparse: sparse)
        found.append(fit())
    return found


CASES = {
    "reml": {"random": ("g", "h", "k")}, "ml": {"random": ("g", "h", "k"), "reml": False},
    "a table of fixed effects": {"random": ("g", "h"), "fixed": {"alpha": 0.0}},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("kind", ["crossed", "nested"])
def test_as_with_a_dense_matrix(monkeypatch, kind, case):
    rng = np.random.default_rng(7)
    glm, X, groups = model(kind, rng, weights=1.0 + np.arange(500) % 3)
    dense, sparse = both(monkeypatch, lambda: glm.fit(**case))
    assert sparse.converged and sparse.log_likelihood == pytest.approx(dense.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(sparse.estimates, dense.estimates, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(sparse.errors, dense.errors, rtol=1e-7)
    for name in case["random"]:
        np.testing.assert_allclose(sparse.random_effects[name], dense.random_effects[name], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(sparse.random_effects_errors[name], dense.random_effects_errors[name], rtol=1e-8)
    seen = X[:4], {n: (own[0][:4], own[1][:4]) if n == "g" else own[:4] for n, own in groups.items()}
    unpaired = X[:4], seen[1] | {"h": (groups["h"][:4] + 11) % 25}
    for rows, new in ((X, groups), seen, unpaired):
        found = [fit.predict(rows, groups=new) for fit in (dense, sparse)]
        np.testing.assert_allclose(found[1].mean, found[0].mean, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(found[1].mean_errors, found[0].mean_errors, rtol=1e-8)


def test_new_groups_and_pieces(monkeypatch):
    """Predictions for groups that the fit has not seen; and sums that are added, of rows that come in pieces."""
    rng = np.random.default_rng(8)
    glm, X, groups = model("crossed", rng)
    new = {"g": (np.array([70, 3, 99]), groups["g"][1][:3]), "h": np.array([1, 99, 2]), "k": np.array([0, 1, 2])}
    dense, sparse = both(monkeypatch, lambda: glm.fit(random=("g", "h", "k")).predict(X[:3], groups=new, new_groups=True))
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-9)
    np.testing.assert_allclose(sparse.mean_errors, dense.mean_errors, rtol=1e-8)
    y = X @ [1.0, -2.0] + rng.normal(size=60)[groups["g"][0]] + rng.normal(size=25)[groups["h"]] + rng.normal(size=500)

    def fit(**more):
        return gs.GLM(gs.normal, y, X, eta="mu", groups=groups, **more).fit(random=("g", "h", "k"))

    whole, parts = fit(), fit(memory=45_000, chunk=100)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(parts.estimates, whole.estimates, rtol=1e-8, atol=1e-9)


LME4 = {"crossed": ("penicillin", "Penicillin", "diameter", ("plate", "sample")),
        "nested": ("pastes", "Pastes", "strength", ("sample", "batch"))}  # fmt: skip


@pytest.mark.parametrize("case", LME4.values(), ids=LME4)
def test_lme4(monkeypatch, case):
    name, data, y, groups = case
    monkeypatch.setattr(linear, "is_sparse", lambda *_: True)
    own, index = table(data), {g: codes(table(data)[g]) for g in groups}
    glm = gs.GLM(gs.normal, own[y].astype(float), np.ones((len(own[y]), 1)), eta="mu", groups=index)
    check(glm.fit(random=groups, fixed={"alpha": 0.0}), numbers(f"{name}.reml"), 5e-5)


def test_balanced_nested_design():
    """30,000 schools of three classes of two: by REML the estimates are those of an analysis of variance."""
    rng, (a, b, n) = np.random.default_rng(9), (30_000, 3, 2)
    y = 0.8 * rng.normal(size=(a, 1, 1)) + 0.6 * rng.normal(size=(a, b, 1)) + rng.normal(size=(a, b, n)) + 5.0
    of_class, of_school = y.mean(2), y.mean((1, 2))
    within = ((y - of_class[:, :, None]) ** 2).sum() / (a * b * (n - 1))
    classes = n * ((of_class - of_school[:, None]) ** 2).sum() / (a * (b - 1))
    schools = b * n * ((of_school - y.mean()) ** 2).sum() / (a - 1)
    index = np.arange(y.size)
    groups = {"school": index // (b * n), "class": index // n}
    fit = gs.GLM(gs.normal, y.ravel(), np.ones((y.size, 1)), eta="mu", groups=groups).fit(
        random=("school", "class"), fixed={"alpha": 0.0}
    )  # fmt: skip
    assert is_sparse([Grouping("class", a * b, (0,)), Grouping("school", a, (0,))], y.size)
    found = [fit["sigma"] ** 2, fit.variance_components["class"][0, 0], fit.variance_components["school"][0, 0]]
    np.testing.assert_allclose(found, [within, (classes - within) / n, (schools - classes) / (b * n)], rtol=1e-6)
    assert fit["beta"][0] == pytest.approx(y.mean(), rel=1e-12)
    assert fit.standard_errors["beta"][0] == pytest.approx(np.sqrt(schools / y.size), rel=1e-6)


def test_which_models_have_a_sparse_matrix():
    def two(a, b, n_rows):
        return is_sparse([Grouping("g", a, (0,)), Grouping("h", b, (0,))], n_rows)

    assert two(200_000, 30_000, 1_000_000) and two(200_000, 3000, 1_000_000) and two(40_000, 30_000, 10**9)
    assert not two(23_000, 2000, 5_000_000) and not two(2000, 300, 10_000)
    assert not is_sparse([Grouping("g", 10**6, (0,))], 10**7)


def test_generalised_model(monkeypatch):
    """Counts of crossed groups, by Laplace's method with a dense matrix and a sparse one."""
    rng = np.random.default_rng(10)
    g, h = rng.integers(0, 40, 300), rng.integers(0, 15, 300)
    x = rng.normal(size=(300, 1))
    y = rng.poisson(np.exp(0.3 * x[:, 0] + 0.6 * rng.normal(size=40)[g] + 0.4 * rng.normal(size=15)[h]))
    found = []
    for sparse in (False, True):
        monkeypatch.setattr(blocks, "few_meet", lambda *_, sparse=sparse: sparse)
        glm = gs.GLM(gs.poisson_log, y.astype(float), x, groups={"g": g, "h": h})
        found.append(glm.fit(random=("g", "h")))
    dense, sparse = found
    assert sparse.converged and sparse.log_likelihood == pytest.approx(dense.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(sparse.estimates, dense.estimates, rtol=1e-7)
    np.testing.assert_allclose(sparse.errors, dense.errors, rtol=1e-5)
    for name in ("g", "h"):
        np.testing.assert_allclose(sparse.random_effects[name], dense.random_effects[name], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(sparse.random_effects_errors[name], dense.random_effects_errors[name], rtol=1e-6)
    new = {"g": g[:5], "h": (h[:5] + 3) % 15}
    predicted = [fit.predict(x[:5], groups=new) for fit in found]
    np.testing.assert_allclose(predicted[1].mean_errors, predicted[0].mean_errors, rtol=1e-5)
