"""Calls that differ in their numbers only: which share a plan, and that a plan changes nothing."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.evaluation.kinds import Plans, kind_of
from gpustats.evaluation.slots import Number, Rows, Slots
from gpustats.runtime import choose


def test_kinds():
    assert kind_of([1, 2.0, np.float32(3)]) == (None, None, None) == kind_of([0.5, 7, np.float64(1)])
    assert kind_of([np.zeros(3)]) != kind_of([np.zeros((3, 1))])
    assert kind_of([np.zeros(3)]) != kind_of([np.zeros(3, np.float32)])
    assert kind_of([[1.0, 2.0]]) is None and kind_of(["1"]) is None and kind_of([None]) is None


def test_plans_are_made_once_for_each_kind(monkeypatch):
    monkeypatch.setattr(Plans, "LIMIT", 2)
    plans, made = Plans(), []

    def make(kind):
        made.append(kind)
        return None if kind == "none" else kind.upper()

    for kind, want in [("a", "A"), ("none", None), ("a", "A"), ("none", None)]:
        assert plans.plan(kind, make, kind) == want
    assert made == ["a", "none"]
    for kind in ("c", "c", "a", "c"):  # beyond the limit: those before are forgotten
        assert plans.plan(kind, make, kind) == kind.upper()
    assert made == ["a", "none", "c", "a"]


def test_numbers_in_the_other_order_of_bytes(rng):
    """They have the same letter for a type, and are converted in a call of a shape that is known, too."""
    sigma = rng.uniform(1, 2, 50)
    likelihood = gs.Likelihood(gs.normal, rng.normal(size=50))
    glm = gs.GLM(gs.bernoulli_logit, rng.integers(0, 2, 50), np.ones((50, 2)))
    for call, array in ((lambda v: likelihood(0.0, v), sigma), (glm, sigma[:2])):
        want = call(array)
        for _ in range(4):
            assert call(array.astype(array.dtype.newbyteorder())) == want == call(array)


def test_a_huge_number_leaves_later_calls_as_they_are(rng):
    likelihood = gs.Likelihood(gs.normal, rng.normal(size=50))
    want = gs.Likelihood(gs.normal, likelihood.x)(float(2**64), 1.0)
    assert likelihood(2**64, 1.0) == want
    with pytest.raises(OverflowError):
        likelihood(10**400, 1.0)
    assert next(iter(likelihood._calls._known.values())) is not None
    assert likelihood(float(2**64), 1.0) == want


def test_errors_come_in_the_same_order_in_every_call(rng):
    glm = gs.GLM(gs.bernoulli_logit, rng.integers(0, 2, 50), np.ones((50, 2)))
    for beta in ([1.0, 2.0, 3.0], np.ones(3)):
        with pytest.raises(ValueError, match="wrt: 'mu' is none of beta, alpha, X"):
            glm.value_and_grad(beta, 0.0, wrt="mu")
    with pytest.raises(ValueError, match="wrt: normal has no argument 'foo'"):
        gs.normal.loglik_and_grad(np.ones(3), 0.0, 1.0, wrt=("foo", "foo"))
    with pytest.raises(ValueError, match="wrt names mu twice"):
        gs.normal.loglik_and_grad(np.ones(3), 0.0, 1.0, wrt=("mu", "mu", "foo"))


def test_what_raises_leaves_no_plan():
    plans = Plans()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            plans.plan("a", lambda: 1 / 0)
    assert plans.plan("a", lambda: 5) == 5


NUMBERS = [1, 1.0, np.float32(1), np.float64(1), np.int64(1), np.array(1), np.array(1.0), np.array(1.0, np.float32)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda v: f"{type(v).__name__}-{getattr(v, 'dtype', '')}")
def test_one_is_one(rng, number):
    """Whatever its type, in the first call and in those that follow."""
    likelihood = gs.Likelihood(gs.normal, x := rng.normal(size=100))
    glm = gs.GLM(gs.normal, x, np.ones((100, 1)), eta="mu")
    for _ in range(3):
        assert likelihood(0.5, number) == likelihood(0.5, 1.0)
        assert likelihood.value_and_grad(0.5, number) == likelihood.value_and_grad(0.5, 1.0)
        assert glm(np.array([0.5]), 0.0, sigma=number) == glm(np.array([0.5]), 0.0, sigma=1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_arrays_of_other_types_and_strides(rng, dtype):
    """One value for each observation, in arrays that a kernel cannot read as they lie, too."""
    x, mu = rng.normal(size=50), rng.integers(-2, 3, 50)
    likelihood = gs.Likelihood(gs.normal, x)
    value, gradient = gs.normal.loglik_and_grad(x, mu.astype(float), 2.0, wrt=("mu", "sigma"))
    for array in (mu.astype(dtype), np.repeat(mu, 3).astype(dtype)[::3], mu.astype(dtype)[::-1][::-1]):
        for _ in range(2):
            got, found = likelihood.value_and_grad(array, 2.0)
            assert got == pytest.approx(value, rel=1e-13) and found["sigma"] == pytest.approx(gradient["sigma"], rel=1e-13)
            np.testing.assert_allclose(found["mu"], gradient["mu"], rtol=1e-13)
    glm = gs.GLM(gs.bernoulli_logit, rng.integers(0, 2, 50), np.ones((50, 2)))
    for beta in (np.array([1, 0], dtype), np.array([[1, 7], [0, 7]], dtype)[:, 0]):
        for _ in range(2):
            assert glm(beta) == glm(np.array([1.0, 0.0]))


def test_arrays_on_the_device_have_no_places():
    """They are read where they lie, and may be others in the next call."""
    slots = Slots(choose.get(), np.dtype("float64"), [Rows(0), Number(1)])
    assert slots.places([np.ones(3), 1.0]) is not None
    on_device = [gs.to_device(np.ones(3)), 1.0]
    assert slots.places(on_device) is None
    assert [len(places) for places in slots.places(on_device, [0])] == [0, 1]
