"""Models with loops in time: PyTensor's scans, of which each series or person becomes a row that is a loop."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from fused_models import assert_same_by_jax, functions, model_of, points, same_at
from modes import QUICK
from pymc.blocking import DictToArrayBijection

import gpustats.pymc as gpm

T, N = 30, 4
rng = np.random.default_rng(17)
Y, X = rng.normal(size=T), rng.normal(size=T)
PANEL = rng.normal(size=(T, N))
CHOICES, REWARDS = rng.integers(0, 2, (T, N)), rng.integers(0, 2, (T, N))


def scan(fn, sequences=(), *args, **kwargs):
    sequences = [{**s, "input": pt.as_tensor(s["input"])} if isinstance(s, dict) else pt.as_tensor(s) for s in sequences]
    return pytensor.scan(fn, sequences, *args, **kwargs, return_updates=False)


def garch(y=Y, first=None):
    omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 2, 2), pm.Beta("beta", 2, 2)
    first = pm.HalfNormal("first") if first is None else first
    return first, scan(
        lambda y, h, omega, alpha, beta: omega + alpha * y**2 + beta * h, sequences=[y], outputs_info=[first],
        non_sequences=[omega, alpha, beta],
    )  # fmt: skip


def variance_of_the_same_day():
    pm.Normal("y", pm.Normal("mu"), pt.sqrt(garch()[1]), observed=Y)


def variance_of_the_day_before():
    first, h = garch(Y[:-1])
    pm.StudentT("y", 5, pm.Normal("mu"), sigma=pt.sqrt(pt.concatenate([[first], h])), observed=Y)


def variance_without_its_first():
    _, h = garch()
    pm.Normal("y", 0, pt.sqrt(h[:-1]), observed=Y[1:])


def several_days_of_one_variance():
    _, h = garch()
    pm.Normal("y", h[:-3], pt.sqrt(h[3:]) + pt.sqrt(h[1:-2]), observed=Y[3:])


def autoregression():
    a, b, first = pm.Normal("a", 0, 0.3), pm.Normal("b", 0, 0.3), pm.Normal("first", shape=2)
    mean = scan(
        lambda x, m1, m2, a, b: a * m1 + b * m2 + x, sequences=[X], outputs_info=[{"initial": first, "taps": [-1, -2]}],
        non_sequences=[a, b],
    )  # fmt: skip
    pm.Normal("y", mean, pm.HalfNormal("sigma"), observed=Y)


def taps_of_data():
    mean = scan(
        lambda y1, y3, x, m, a: a * y1 - 0.2 * y3 + pt.tanh(m) + x,
        sequences=[{"input": Y, "taps": [-1, -3]}, {"input": X[3:], "taps": [0]}], outputs_info=[pt.zeros(())],
        non_sequences=[pm.Normal("a")],
    )  # fmt: skip
    pm.Normal("y", mean, 1, observed=Y[3:])


def local_level():
    """Kalman filter of a level that walks: mean, variance and what each step adds to the log-likelihood."""
    noise, drift = pm.HalfNormal("noise"), pm.HalfNormal("drift")

    def step(y, mean, variance, noise, drift):
        predicted = variance + drift**2
        total = predicted + noise**2
        gain = predicted / total
        term = -0.5 * (pt.log(2 * np.pi * total) + (y - mean) ** 2 / total)
        return mean + gain * (y - mean), (1 - gain) * predicted, term

    *_, terms = scan(step, sequences=[Y], outputs_info=[pm.Normal("m0"), pt.ones(()), None], non_sequences=[noise, drift])
    pm.Potential("y", terms.sum())


def epidemic():
    rate, recovery = pm.HalfNormal("rate"), pm.Beta("recovery", 2, 2)

    def step(day, s, i, rate, recovery):
        new = rate * s * i * (1 + 0.1 * pt.sin(day))
        return s - new, i + new - recovery * i, new

    _, _, new = scan(
        step, sequences=[pt.arange(T)], outputs_info=[pt.constant(0.9), pm.Beta("i0", 2, 20), None],
        non_sequences=[rate, recovery],
    )  # fmt: skip
    pm.Poisson("cases", 100 * new + 1e-3, observed=rng.poisson(5, T))


def compartments_in_a_vector():
    """A state of three numbers, observed on some days only."""
    rate, days = pm.HalfNormal("rate"), np.array([3, 4, 9, 20, 28])
    first = pt.stack([0.9, pm.Beta("i0", 2, 20), 0.0])
    states = scan(
        lambda x, rate: x + pt.stack([-rate * x[0] * x[1], rate * x[0] * x[1] - 0.2 * x[1], 0.2 * x[1]]),
        outputs_info=[first], non_sequences=[rate], n_steps=T,
    )  # fmt: skip
    pm.Normal("y", pt.log(states[days, 1]), 0.1, observed=Y[days])


def two_scans():
    """A second scan goes through what the first one makes."""
    _, h = garch()
    smooth = scan(lambda h, s, k: s + k * (pt.log(h) - s), [h], [pt.zeros(())], [pm.Beta("kept", 2, 2)])
    pm.Normal("y", smooth, pt.exp(0.1 * smooth) + h, observed=Y)


def last_value():
    _, h = garch()
    pm.Potential("last", -((h[-1] - 2) ** 2))


def smoothing_of_persons():
    """Vectors with an element for each person, and parameters of persons and of groups."""
    kept, group = pm.Normal("kept", shape=N), np.array([0, 1, 1, 0])
    slope, first = pm.Normal("slope", shape=2), pm.Normal("first", shape=N)
    level = scan(
        lambda y, level, kept, slope: level + pt.sigmoid(kept) * (y - level) + slope, [PANEL], [first], [kept, slope[group]],
    )  # fmt: skip
    before = pt.concatenate([first[None], level[:-1]])
    pm.Normal("y", before, pm.HalfNormal("sigma", shape=N), observed=PANEL)


def learning():
    """One person learns what two options bring."""
    rate, weight = pm.Beta("rate", 2, 2), pm.HalfNormal("weight")
    values = scan(
        lambda choice, reward, q, rate: pt.set_subtensor(q[choice], q[choice] + rate * (reward - q[choice])),
        [CHOICES[:, 0], REWARDS[:, 0]], [0.5 * pt.ones(2)], [rate],
    )  # fmt: skip
    scores = weight * values[:-1]
    logp = scores - pt.logsumexp(scores, axis=1, keepdims=True)
    pm.Potential("choices", logp[pt.arange(T - 1), CHOICES[1:, 0]].sum())


def learning_of_persons():
    rate, weight = pm.Beta("rate", 2, 2, shape=N), pm.HalfNormal("weight")

    def step(choice, reward, q, rate):
        now = q[pt.arange(N), choice]
        return pt.set_subtensor(q[pt.arange(N), choice], now + rate * (reward - now))

    values = scan(step, [CHOICES, REWARDS], [0.5 * pt.ones((N, 2))], [rate])
    before = pt.concatenate([0.5 * pt.ones((1, N, 2)), values[:-1]])
    pm.Bernoulli("choice", logit_p=weight * (before[..., 1] - before[..., 0]), observed=CHOICES)


def distribution_of_a_scan():
    """A distribution whose logarithm PyMC derives."""

    def step(before, rho, sigma):
        y = pm.Normal.dist(rho * before, sigma)
        return y, pm.pytensorf.collect_default_updates([y])

    def dist(first, rho, sigma, size):
        return pytensor.scan(step, outputs_info=[first], non_sequences=[rho, sigma], n_steps=T, strict=True)[0]

    pm.CustomDist("y", 0.3, pm.Normal("rho"), pm.HalfNormal("sigma"), dist=dist, observed=Y)


MODELS = [
    variance_of_the_same_day, variance_of_the_day_before, variance_without_its_first, several_days_of_one_variance,
    autoregression, taps_of_data, local_level, epidemic, compartments_in_a_vector, two_scans, last_value,
    smoothing_of_persons, learning, learning_of_persons, distribution_of_a_scan,
]  # fmt: skip


def assert_loops(model):
    """Every term is a loop, and PyTensor computes nothing of its scans."""
    with gpm.fused(min_rows=1):
        found = gpm.explain(model)
    programs = [row_sum.program for term in found.terms for row_sum in term.sums]
    assert programs and all("for (int t" in p.source and not p.computed for p in programs), str(found)


@pytest.mark.parametrize("make", MODELS)
def test_models(make):
    model = model_of(make)
    assert_loops(model)
    theirs, ours = functions(model)
    for point in points(model):
        same_at(theirs, ours, point)


def scans_and_loops(function):
    names = [type(node.op).__name__ for node in function.maker.fgraph.apply_nodes]
    return names.count("Scan"), names.count("Fused")


@pytest.mark.parametrize("mode", [QUICK, "NUMBA"])
@pytest.mark.parametrize("make", [variance_of_the_same_day, last_value])
def test_values_without_derivatives(make, mode):
    """No scan is left in what PyMC compiles."""
    model = model_of(make)
    theirs = model.compile_logp(mode=QUICK)
    with gpm.fused(min_rows=1):
        value, both = model.compile_logp(mode=mode), model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    both.set_extra_values({})
    assert scans_and_loops(value.f) == scans_and_loops(both._pytensor_function) == (0, 1)
    for point in points(model, 2):
        np.testing.assert_allclose(value(point), theirs(point), rtol=1e-9)
        np.testing.assert_allclose(value(point), both(DictToArrayBijection.map(point))[0], rtol=1e-13)


@pytest.mark.parametrize("make", [variance_of_the_day_before, last_value])
def test_by_jax(make):
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(make))
