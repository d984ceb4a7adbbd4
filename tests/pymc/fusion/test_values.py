"""Log-posteriors that PyMC compiles without derivatives: fused as those with derivatives are."""

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from modes import QUICK
from thorough import THOROUGH, some

import gpustats.pymc as gpm
from gpustats.compiler.fusion.op import OfRows

RNG = np.random.default_rng(11)
GROUP = RNG.integers(0, 4, 300)
Y = RNG.normal(GROUP, 0.7)


def levels():
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 2, shape=4)
        pm.Normal("y", mu[GROUP], pm.HalfNormal("sigma"), observed=Y)
    return model


def ordered():
    """The probability of a category so far away that differences of cumulative ones are 0."""
    with pm.Model() as model:
        x = pm.Normal("x", 0, 50, shape=2)
        pm.OrderedLogistic("y", eta=x[GROUP % 2], cutpoints=np.array([-1.0, 1.0]), observed=GROUP % 3)
    return model


def unbounded():
    with pm.Model(check_bounds=False) as model:
        pm.Gamma("y", pm.HalfNormal("alpha"), pm.HalfNormal("beta"), observed=np.abs(Y))
    return model


def counts():
    with pm.Model() as model:
        pm.Poisson("y", pt.exp(pm.Normal("a") + pm.Normal("b") * Y), observed=GROUP)
        pm.Potential("p", -pt.sum((Y - model["a"]) ** 2))
    return model


MODELS = [levels, ordered, unbounded, counts]


def n_fused(function):
    return sum(isinstance(node.op, OfRows) for node in function.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("mode", ["NUMBA", pytest.param(QUICK, marks=THOROUGH)], ids=["numba", "python"])
@pytest.mark.parametrize("make", some(MODELS, 4))
def test_value_is_that_with_derivatives(make, mode):
    model = make()
    theirs = model.compile_logp(mode=mode)
    with gpm.fused(min_rows=1):
        value = model.compile_logp(mode=mode)
        both = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    both.set_extra_values({})
    assert n_fused(value.f) >= 1 and n_fused(theirs.f) == 0
    start = model.initial_point()
    for k in range(4):
        point = {n: v + 0.2 * k * RNG.normal(size=np.shape(v)) for n, v in start.items()}
        flat = np.concatenate([np.ravel(point[v.name]) for v in model.continuous_value_vars])
        np.testing.assert_allclose(value(point), both(flat)[0], rtol=1e-13)
        np.testing.assert_allclose(value(point), theirs(point), rtol=1e-9)


def test_far_tails():
    model, point = ordered(), {"x": np.array([-60.0, 60.0])}
    with gpm.fused(min_rows=1):
        value, both = model.compile_logp(), model.logp_dlogp_function(ravel_inputs=True)
    both.set_extra_values({})
    np.testing.assert_allclose(value(point), both(point["x"])[0], rtol=1e-13)


def test_invalid_parameters():
    with pm.Model() as model:
        pm.Normal("y", 0.0, pm.Normal("sigma"), observed=Y)
    with gpm.fused(min_rows=1):
        value = model.compile_logp()
    assert n_fused(value.f) and value({"sigma": -1.0}) == -np.inf
    np.testing.assert_allclose(value({"sigma": 0.7}), model.compile_logp()({"sigma": 0.7}), rtol=1e-12)


def test_invalid_parameters_where_sums_are_fused(monkeypatch):
    """What PyTensor is asked about a value of -inf is not fused in its turn, as when a stepper asks within the context."""
    compiled, original = [], pm.compile

    def noted(*args, **kwargs):
        compiled.append(original(*args, **kwargs))
        return compiled[-1]

    with pm.Model() as model:
        pm.Normal("y", 0.0, pm.Normal("sigma", shape=4)[GROUP], observed=Y)
    with gpm.fused(min_rows=1):
        value = model.compile_logp(mode=QUICK)
        monkeypatch.setattr(pm, "compile", noted)
        assert n_fused(value.f) and value({"sigma": np.full(4, -1.0)}) == -np.inf
    assert [n_fused(function) for function in compiled] == [0]


def test_other_variables_of_a_stepper_are_no_data():
    """PyMC's steppers of some variables hold the others in shared variables, which change in each step."""
    model = levels()
    theirs = model.compile_logp()
    with model, gpm.fused(min_rows=1):
        step = pm.Slice([model["sigma"]])
    assert n_fused(step.logp)
    for k in range(4):
        mu = np.arange(4) + 0.1 * k
        step.shared["mu"].set_value(mu)
        want = theirs({"mu": mu, "sigma_log__": np.array(-0.3)})
        np.testing.assert_allclose(step.logp(np.array([-0.3])), want, rtol=1e-12)


def test_outputs_of_other_kinds_stay_as_they_are():
    """Functions of random draws, of several outputs, and of arrays."""
    model = levels()
    with model, gpm.fused(min_rows=1):
        draws = pm.draw(pm.Normal.dist(Y, 1.0).sum(), draws=3, random_seed=1, mode=QUICK)
        rows = model.compile_logp(sum=False, mode=QUICK)
    assert draws.shape == (3,) and n_fused(rows.f) == 0
    assert sum(np.sum(t) for t in rows(model.initial_point())) == pytest.approx(model.compile_logp()(model.initial_point()))


@pytest.mark.slow
@pytest.mark.parametrize("sample", [
    lambda: pm.sample(1500, tune=1500, step=pm.Metropolis(), chains=2, cores=1, random_seed=1, progressbar=False),
    lambda: pm.sample(400, tune=300, step=pm.Slice(), chains=1, cores=1, random_seed=1, progressbar=False),
    lambda: pm.sample_smc(600, chains=2, cores=1, random_seed=1, progressbar=False),
], ids=["Metropolis", "Slice", "SMC"])  # fmt: skip
def test_samplers_without_derivatives(sample):
    with levels():
        with gpm.fused(min_rows=1):
            mean = sample().posterior["mu"].mean(("chain", "draw"))
    means = [Y[GROUP == g].mean() for g in range(4)]
    np.testing.assert_allclose(mean, means, atol=0.06)
