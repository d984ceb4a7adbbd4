"""Choices among many alternatives: categorical observations whose logits are products with data, tables, or anything else."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from fused_models import REFERENCE, assert_same, assert_same_by_jax, functions, points, same_at
from pymc.distributions.dist_math import check_parameters
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import toposort
from thorough import some

import gpustats.pymc as gpm
from gpustats.compiler.fusion.alternatives import MOST_ALTERNATIVES

N = 400
rng = np.random.default_rng(9)
X, GROUP, OTHER = rng.normal(size=(N, 3)), rng.integers(0, 5, N), rng.integers(0, 4, N)
Y = rng.normal(size=N)


def chosen(k):
    return np.r_[0, k - 1, rng.integers(0, k, N - 2)]


def by_product(k):
    pm.Categorical("y", logit_p=pt.dot(X, pm.Normal("b", shape=(3, k))), observed=chosen(k))


def with_intercepts(k):
    logits = pm.Normal("a", shape=k) + pt.dot(pm.Data("X", X), pm.Normal("b", shape=(3, k)))
    pm.Categorical("y", logit_p=logits, observed=pm.Data("seen", chosen(k)))


def by_group(k):
    pm.Categorical("y", logit_p=pm.Normal("a", shape=(5, k))[GROUP - 5], observed=chosen(k))


def product_and_group(k):
    logits = pt.dot(X, pm.Normal("b", shape=(3, k))) + pm.Normal("a", shape=(5, k))[GROUP]
    pm.Categorical("y", logit_p=logits, observed=chosen(k))


def against_a_reference(k):
    others = pt.dot(X, pm.Normal("b", shape=(3, k - 1)))
    pm.Categorical("y", logit_p=pt.concatenate([pt.zeros((N, 1)), others], axis=1), observed=chosen(k))


def two_groups(k):
    logits = pm.Normal("a", shape=(5, k))[GROUP] + pm.Normal("c", shape=(4, k))[OTHER]
    pm.Categorical("y", logit_p=logits, observed=chosen(k))


def of_each_row(k):
    pm.Categorical("y", logit_p=pm.Normal("z", shape=(N, k)), observed=chosen(k))


def probabilities_by_group(k):
    pm.Categorical("y", p=pm.Dirichlet("p", np.ones((5, k)))[GROUP], observed=chosen(k))


def alike_in_all_rows(k):
    pm.Categorical("y", logit_p=pm.Normal("a", shape=k), observed=chosen(k))


def probabilities_alike(k):
    pm.Categorical("y", p=pm.Dirichlet("p", np.ones(k)), observed=chosen(k))


def ordered(k):
    cuts = pm.Normal("cuts", shape=k - 1, transform=pm.distributions.transforms.ordered, initval=np.linspace(-2, 2, k - 1))
    pm.OrderedLogistic("y", eta=pt.dot(X, pm.Normal("b", shape=3)), cutpoints=cuts, observed=chosen(k))


def sum_over_many(k):
    pm.Normal("y", X[:, 0] + pt.exp(0.01 * X[:, 1:2] * pm.Normal("a", shape=k)).sum(-1), pm.HalfNormal("s"), observed=Y)


BY_LOGITS = [by_product, with_intercepts, by_group, product_and_group, against_a_reference, two_groups, of_each_row]
OTHERS = [alike_in_all_rows, probabilities_alike, probabilities_by_group, ordered, sum_over_many]


def model_of(make, k):
    with pm.Model() as model:
        make(k)
    return model


@pytest.mark.parametrize("k", [64, 65])
@pytest.mark.parametrize("make", some([by_product, with_intercepts, by_group, product_and_group, against_a_reference]))
def test_models(make, k):
    assert_same(model_of(make, k))


@pytest.mark.parametrize("make", some([*BY_LOGITS[5:], *OTHERS], 2))
def test_of_more_than_row_functions_write_out(make):
    assert_same(model_of(make, 70))


@pytest.mark.parametrize("make", some([by_group, with_intercepts, two_groups]))
def test_by_jax(make):
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(make, 70))


def test_many():
    assert_same(model_of(by_product, 300))


@pytest.mark.parametrize("make", some(BY_LOGITS))
def test_invalid_logits(make):
    """Logits that are nan or infinite make the sum -inf, one that is -inf makes its alternative impossible."""
    model = model_of(make, 70)
    theirs, ours = functions(model, theirs=REFERENCE)
    for bad in (np.nan, np.inf, -np.inf):
        point = points(model)[0]
        name = next(n for n in ("a", "b", "z") if n in point)
        point[name] = point[name].copy()
        point[name][..., 3] = bad
        with np.errstate(all="ignore"):
            same_at(theirs, ours, point)


def test_invalid_thresholds():
    model = model_of(ordered, 70)
    theirs, ours = functions(model, theirs=REFERENCE)
    point = points(model)[0]
    point["b"] = np.full(3, np.nan)
    same_at(theirs, ours, point)


@pytest.mark.parametrize("make", some([of_each_row, product_and_group, with_intercepts, by_group], 4))
def test_by_compiled_code(make, by_machine):
    """Numba's code, which asks the device without Python where data never change."""
    model = model_of(make, 70)
    theirs, ours = functions(model, "NUMBA")
    for point in points(model):
        same_at(theirs, ours, point)


def test_choices_out_of_range():
    """Where an observation is none of the alternatives, the sum is -inf."""
    with pm.Model() as model:
        pm.Categorical("y", logit_p=pt.dot(X, pm.Normal("b", shape=(3, 70))), observed=np.r_[70, chosen(70)[1:]])
    theirs, ours = functions(model)
    point = points(model)[0]
    same_at(theirs, ours, point)


def test_many_rows():
    """More than PyTensor's functions in Python compute ahead."""
    n = 2000
    with pm.Model() as model:
        b = pm.Normal("b", shape=(3, 65))
        pm.Categorical("y", logit_p=pt.dot(rng.normal(size=(n, 3)), b), observed=rng.integers(0, 65, n))
    assert_same(model)
    with gpm.fused(min_rows=1):  # else it is measured where the sum is faster, for minutes where PyTensor runs in Python
        assert "choice_logpmf" in str(gpm.explain(model))


def test_few_rows():
    with pm.Model() as model:
        pm.Categorical("y", logit_p=pt.dot(X[:2], pm.Normal("b", shape=(3, 70))), observed=[0, 69])
    assert_same(model)


def test_other_data():
    """A compiled function is given other data, and fewer."""
    model = model_of(with_intercepts, 70)
    theirs, ours = functions(model)
    for n in (N, 40):
        with model:
            pm.set_data({"X": X[:n] + 1, "seen": chosen(70)[:n]})
        same_at(theirs, ours, points(model)[0])


@pytest.mark.parametrize("make", some([product_and_group, with_intercepts, of_each_row]))
def test_several_sets_at_once(make):
    model = model_of(make, 70)
    values = [np.stack(v) for v in zip(*([p[v.name] for v in model.value_vars] for p in points(model, 3)), strict=True)]
    found = []
    for on in (True, False):
        with gpm.fused(on, min_rows=1):
            graph = rewrite_pregrad(model.logp())
        assert any(type(n.op).__name__ == "Fused" for n in toposort([graph])) == on
        inputs = [pt.tensor(shape=(3, *v.type.shape)) for v in model.value_vars]
        many = vectorize_graph(graph, dict(zip(model.value_vars, inputs, strict=True)))
        found.append(many.eval(dict(zip(inputs, values, strict=True)), mode="FAST_COMPILE"))
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_explained():
    text = str(gpm.explain(model_of(product_and_group, 100)))
    assert "beta: 3 columns of data @ b" in text and "alpha: by index, of a" in text and "choice_logpmf" in text
    assert "alpha: for each alternative, a" in str(gpm.explain(model_of(with_intercepts, 100)))
    text = str(gpm.explain(model_of(against_a_reference, 100)))
    assert "beta: 3 columns of data @" in text and "which PyTensor computes" not in text
    text = str(gpm.explain(model_of(two_groups, 100)))
    assert "which PyTensor computes, because there is no function of a row for logits that are no products with data" in text


def test_a_device_of_little_memory(monkeypatch):
    monkeypatch.setattr("gpustats.compiler.fusion.alternatives.fits", lambda device, columns, outcomes, itemsize: False)
    (term,) = gpm.explain(model_of(by_product, 70)).terms
    assert not term.is_fused and "which do not fit into the shared memory" in term.reason


def test_limits_are_named():
    most = MOST_ALTERNATIVES
    (term,) = gpm.explain(model_of(by_product, most + 1)).terms
    assert not term.is_fused
    assert term.reason == f"a choice among {most + 1} alternatives; there are kernels for {most} at most"
    with pm.Model() as model:
        pm.Multinomial("y", n=20, p=pm.Dirichlet("p", np.ones(65)), observed=rng.multinomial(20, np.ones(65) / 65, N))
    (term,) = gpm.explain(model).terms
    reasons = [part.reason for part in term.sums] + [term.reason]  # PyTensor 3 has a sum over p of its own
    assert not term.is_fused and "an axis of 65 elements within each row; at most 64 are written out" in reasons


@pytest.mark.parametrize("most", [0.9, 0.02])
def test_another_condition_is_not_taken_for_that_of_probabilities(most):
    with pm.Model() as model:
        logits = pt.dot(X, pm.Normal("b", shape=(3, 70)))
        logp = pt.special.log_softmax(logits, axis=1)[np.arange(N), chosen(70)]
        pm.Potential("p", check_parameters(logp, pt.special.softmax(logits, axis=1) < most, msg="p is small").sum())
    theirs, ours = functions(model, theirs=REFERENCE)
    for point in points(model):
        same_at(theirs, ours, point)


def test_choices_counted_from_the_end():
    with pm.Model() as model:
        logits = pt.dot(X, pm.Normal("b", shape=(3, 70)))
        pm.Potential("p", pt.special.log_softmax(logits, axis=1)[np.arange(N), chosen(70) - 70].sum())
    theirs, ours = functions(model)
    same_at(theirs, ours, points(model)[0])


def test_without_checks():
    """Where PyMC checks nothing, logits that are nan make the sum nan."""
    with pm.Model(check_bounds=False) as model:
        by_product(70)
    theirs, ours = functions(model, theirs=REFERENCE)
    point = points(model)[0]
    same_at(theirs, ours, point)
    point["b"] = np.full((3, 70), np.nan)
    same_at(theirs, ours, point)
