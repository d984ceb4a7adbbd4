"""Models with loops in time: PyTensor's scans, of which each series or person becomes a row that is a loop."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from fused_models import REFERENCE, assert_same_by_jax, functions, model_of, points, same_at
from modes import QUICK
from pymc.blocking import DictToArrayBijection
from pymc_models import measured
from pytensor.scan.utils import until
from thorough import THOROUGH, some

import gpustats.pymc as gpm
from gpustats.compiler.fusion import step_times, where
from gpustats.runtime.speeds import Line

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


def same(model, scale=0.4):
    theirs, ours = functions(model)
    for point in points(model, scale=scale):
        raveled = DictToArrayBijection.map(point)
        (value, slopes), (found, found_slopes) = theirs(raveled), ours(raveled)
        np.testing.assert_allclose(found, value, rtol=1e-11)
        np.testing.assert_allclose(found_slopes, slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("make", some(MODELS))
def test_models(make):
    model = model_of(make)
    assert_loops(model)
    same(model)


def scans_and_loops(function):
    names = [type(node.op).__name__ for node in function.maker.fgraph.apply_nodes]
    return names.count("Scan"), names.count("Fused")


@pytest.mark.parametrize("make, mode", [
    (variance_of_the_same_day, QUICK), (last_value, QUICK),
    *(pytest.param(make, "NUMBA", marks=THOROUGH) for make in (variance_of_the_same_day, last_value)),
])  # fmt: skip
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


def test_short_series():
    def two_days():
        first, h = garch(Y[:1])
        pm.Normal("y", 0, pt.sqrt(pt.concatenate([[first], h])), observed=Y[:2])

    def one_day():
        pm.Normal("y", 0, pt.sqrt(garch(Y[:1])[1]), observed=Y[:1])

    for make in (two_days, one_day):
        same(model_of(make))


def test_other_lengths():
    """Data of another length come to a function that is compiled already."""

    def of_data():
        y = pm.Data("returns", Y)
        first, h = garch(y[:-1])
        pm.Normal("y", 0, pt.sqrt(pt.concatenate([[first], h])), observed=y)

    model = model_of(of_data)
    assert_loops(model)
    theirs, ours = functions(model)
    for length in (T, T - 7, 2, T):
        with model:
            pm.set_data({"returns": Y[:length] + length})
        for point in points(model, 2):
            same_at(theirs, ours, point)


def test_invalid_parameters():
    """Variances that fall below 0 or are nan at a step: -inf, as PyMC has it, though later ones are right again."""

    def make():
        a, b, m = pm.Flat("a", initval=3.5), pm.Flat("b", initval=0.1), pm.Flat("m", initval=0)
        h = scan(lambda y, h, a, b: a + b * h + y, [np.where(np.arange(T) == 9, -3.0, 1.0)], [pt.ones(())], [a, b])
        pm.Normal("y", m, h, observed=Y)

    model = model_of(make)
    assert_loops(model)
    theirs, ours = functions(model, theirs=REFERENCE)
    values = []
    for at in ((0.5, 0.1, 0), (3.5, 0.1, 0), (np.nan, 0.1, 0), (3.5, np.nan, 0), (3.5, 0.1, np.nan), (3.5, 1e308, 0)):
        (value, slopes), (found, found_slopes) = theirs(np.array(at)), ours(np.array(at))
        np.testing.assert_allclose(found, value, rtol=1e-11)
        np.testing.assert_allclose(found_slopes, slopes, rtol=1e-9)
        values.append(float(value))
    assert [v == -np.inf for v in values] == [True, False, True, True, False, True], values


def test_burn_in_and_missing_days():
    def make():
        seen = np.where(np.arange(T) % 7 == 2, np.nan, Y)
        pm.Normal("y", 0, pt.sqrt(garch()[1])[10:], observed=seen[10:])

    same(model_of(make))


def test_persons_of_several_lengths():
    """Observations one after another, of persons who stay so long."""
    trial, person = np.concatenate([np.arange(5), np.arange(20), [2, 9, 29]]), np.repeat([0, 1, 3], [5, 20, 3])

    def make():
        kept = pm.Normal("kept", shape=N)
        first = pm.Normal("first", shape=N)
        level = scan(lambda y, level, kept: level + pt.sigmoid(kept) * (y - level), [PANEL], [first], [kept])
        pm.Normal("y", level[trial, person], 1, observed=Y[:28])

    model = model_of(make)
    assert_loops(model)
    with gpm.fused(min_rows=1):
        ((program,),) = [[s.program for s in t.sums] for t in gpm.explain(model).terms]
    assert program.n_rows == 3 and program.n_steps == 5 + 20 + 30
    same(model)


def test_kinds_of_states():
    """Whole numbers, truth values, a choice by a state, seasons, a regression within a step."""
    season, design = np.arange(T) % 7, rng.normal(size=(T, 3))

    def make():
        effects = pm.Normal("effects", 0, pm.HalfNormal("spread"), shape=7)
        beta, a = pm.Normal("beta", shape=3), pm.Normal("a")

        def step(y, x, s, level, day, high, beta, a):
            new = pt.switch(high, a * level, 0.5 * level + s) + 0.1 * y + 0.01 * day + pt.dot(x, beta)
            return new, day + 1, new > 0

        level, _, high = scan(
            step, [Y, design, effects[season]],
            [pt.zeros(()), pt.constant(np.array(0)), pt.constant(np.array(False))], [beta, a],
        )  # fmt: skip
        pm.Normal("y", level + effects[season] + high, 1, observed=Y)

    model = model_of(make)
    assert_loops(model)
    same(model)


def test_hidden_states():
    """The forward algorithm of a hidden Markov chain, of which the last step counts: also far below what exp has."""

    def chain(shift):
        p, mu = pm.Dirichlet("p", np.ones(3), shape=(3, 3)), pm.Normal("mu", shape=3)
        emitted = pm.logp(pm.Normal.dist(mu[None, :], 1.0), pt.as_tensor(Y)[:, None]) + shift
        forward = scan(
            lambda e, a, logp: pt.logsumexp(a[:, None] + logp, axis=0) + e, [emitted], [pt.full((3,), -np.log(3))],
            [pt.log(p)],
        )  # fmt: skip
        pm.Potential("y", pt.logsumexp(forward[-1]))

    near, far = (model_of(lambda shift=shift: chain(shift)) for shift in (0.0, -100.0))
    assert_loops(near)
    same(near)
    found = [functions(model, QUICK)[1] for model in (near, far)]
    assert scans_and_loops(found[1]._pytensor_function) == (0, 1)
    (value, slopes), (value_far, slopes_far) = (f(DictToArrayBijection.map(near.initial_point())) for f in found)
    np.testing.assert_allclose(value_far, value - 100 * T, rtol=1e-12)
    np.testing.assert_allclose(slopes_far, slopes, atol=1e-9)


WIDE = rng.normal(size=(T, 40))


def products():
    y = scan(lambda y, x, k: k * pt.dot(WIDE.T @ WIDE, x) + y, [WIDE], [pt.zeros(40)], [pm.Normal("k")])
    pm.Normal("y", y, 1, observed=WIDE)


def solves():
    y = scan(lambda y, x, k: pt.linalg.solve(pt.eye(2) * k + 0.1, x) + y, [Y], [pt.zeros(2)], [pm.HalfNormal("k")])
    pm.Normal("y", y[:, 0], 1, observed=Y)


def ends_by_a_condition():
    y = scan(lambda y, x, k: (x + k * y, until(x > 100)), [Y], [pt.zeros(())], [pm.Normal("k")])
    pm.Normal("y", y, 1, observed=Y)


def walks():
    z = pm.Normal("z", shape=T)
    pm.Normal("y", scan(lambda z, x: 0.5 * x + z, [z], [pt.zeros(())]), 1, observed=Y)


def scans_within():
    y = scan(
        lambda y, x, k: y + scan(lambda a, k: a * k, (), [x], [k], n_steps=3)[-1], [Y], [pt.zeros(())], [pm.Normal("k")],
    )  # fmt: skip
    pm.Normal("y", y, 1, observed=Y)


def repeats():
    y = scan(lambda y, x, k: k * x + y, [Y], [pt.zeros(())], [pm.Normal("k")])
    pm.Normal("y", y[np.arange(T).repeat(3)], 1, observed=Y.repeat(3))


@pytest.mark.parametrize("make, reason", [
    (products, "a scan with more than 32 states that depend on one another"),
    (solves, "a scan whose body has the operation Solve"),
    (ends_by_a_condition, "a scan that ends by a condition"),
    (walks, "a scan whose steps have parameters of their own"),
    (scans_within, "a scan within a scan"),
    (repeats, "a scan of which many elements of the sum read the same step"),
])  # fmt: skip
def test_what_is_left_to_pytensor(make, reason):
    """PyTensor computes the scan, and the rows read its result."""
    model = model_of(make)
    with gpm.fused(min_rows=1):
        (term,) = gpm.explain(model).terms
    assert term.is_fused and any(f"which PyTensor computes, because there is no function of a row for {reason}" in leaf
                                 for leaf in term.sums[0].leaves), str(term)  # fmt: skip
    if make in (walks, ends_by_a_condition):
        same(model)


@pytest.mark.parametrize("make", some([variance_of_the_day_before, last_value, walks]))
def test_by_jax(make):
    pytest.importorskip("jax")
    assert_same_by_jax(model_of(make))


def test_steps_that_parameters_decide():
    with pm.Model() as model:
        n = pm.Poisson("n", 5, initval=T)
        x = scan(lambda x, k: k * x + 1, (), [pt.zeros(())], [pm.Normal("k")], n_steps=n + 1)
        pm.Normal("y", x[-1], 1, observed=Y)
    with gpm.fused(min_rows=1):
        (term,) = gpm.explain(model).terms
    assert not term.is_fused and term.reason == "a scan of as many steps as only the call tells"


def test_explained():
    with gpm.fused(min_rows=1):
        text = str(gpm.explain(model_of(variance_of_the_same_day)))
    assert "y: 1 row of 240 bytes, loops of 30 steps in all, computed on" in text
    assert "y: data of each step, float64" in text


def test_the_faster_place():
    """Steps wait for one another, on a device as in a scan, unless there are other rows to compute meanwhile."""
    speeds = measured(1e-13, 1e-12, 1)

    def steps(on_device, by_pytensor):
        return {"on device": Line(0.0, on_device), "by PyTensor": Line(0.0, by_pytensor), "elements": Line(0.0, 0.0)}

    with gpm.fused(min_rows=1):
        ((program,),) = [[s.program for s in t.sums] for t in gpm.explain(model_of(variance_of_the_same_day)).terms]
    none, scan, alone = (where.estimate(program, speeds, steps(*each)) for each in ((0, 0), (0, 1e-3), (1e-3, 0)))
    np.testing.assert_allclose(scan.by_pytensor - none.by_pytensor, T * 1e-3)
    assert scan.on_device == none.on_device and alone.on_device > T * 1e-3 and scan.pays and not alone.pays


@pytest.mark.parametrize("of_vectors", some([False, True], 2))
def test_steps_are_measured(of_vectors, monkeypatch):
    monkeypatch.setattr(step_times, "STEPS", (5, 10))
    monkeypatch.setattr(step_times, "ELEMENTS", 3)
    with pytensor.config.change_flags(linker="py"):
        found = step_times.measure(of_vectors)
    assert found.keys() == {"on device", "by PyTensor", "elements"} and all(line.each >= 0 for line in found.values())
