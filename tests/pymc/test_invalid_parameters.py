"""Invalid parameters in PyMC: -inf in what a model compiles, an error elsewhere, for all observations at once, as PyMC has."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import QUICK  # noqa: E402
from pymc.logprob.utils import CheckParameterValue, ParameterValueError  # noqa: E402
from pymc_models import CONTINUOUS, NAMES, Y, counterpart, ours, sample  # noqa: E402
from pymc_parameters import COV, PARAMETERS  # noqa: E402
from pytensor.scalar.basic import Switch  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


def invalid(value):
    """The parameter outside of most domains, as a whole and in one element."""
    yield -1.3 * value - 0.01
    if value.ndim:
        one = value.copy()
        one.flat[value.size // 2] = -1.37
        yield one


#: whose whole numbers PyMC does not ask to be whole
WIDER = {"discrete_uniform", "multinomial"}


@pytest.mark.parametrize("name", some(NAMES, 20))
def test_equals_pymc(name):
    """Each parameter outside of its domain by itself: values at each observation, their sum, the error."""
    values = [np.asarray(v, float) for v in PARAMETERS[name]]
    x = pt.constant(sample(name, (5,)).astype(float if name in CONTINUOUS else int))
    inputs = [pt.tensor(f"p{i}", dtype="float64", shape=v.shape) for i, v in enumerate(values)]
    terms = pm.logp(ours(name).dist(*inputs), x)
    continuous = [v for i, v in enumerate(inputs) if i + 1 in ours(name).formula.differentiable]
    outputs = [terms, terms.sum(), *pt.grad(terms.sum(), continuous)]
    in_model = pm.compile(inputs, outputs, mode=QUICK, on_unused_input="ignore")
    elsewhere = pytensor.function(inputs, terms, mode=QUICK)
    counterparts = pm.logp(counterpart(name, inputs), x)
    theirs = pm.compile(inputs, counterparts, mode=QUICK, on_unused_input="ignore")
    theirs_elsewhere = pytensor.function(inputs, counterparts, mode=QUICK, on_unused_input="ignore")
    assert np.isfinite(in_model(*values)[1]) and np.isfinite(elsewhere(*values)).all()
    for i, value in enumerate(values):
        for other in invalid(value):
            at = [*values[:i], other, *values[i + 1 :]]
            try:
                with np.errstate(all="ignore"):
                    want = theirs(*at)
            except (TypeError, ValueError):  # PyMC's zero-inflated distributions draw
                continue
            got, total, *gradients = in_model(*at)
            if name in WIDER or refuses(theirs_elsewhere, at):
                assert (got == -np.inf).all() and total == -np.inf and all(np.isfinite(g).all() for g in gradients)
                assert refuses(elsewhere, at, f"invalid parameters of {name}")
            else:
                np.testing.assert_allclose(got, want, rtol=1e-9)
                np.testing.assert_array_equal(elsewhere(*at), got)


def refuses(function, arguments, message=""):
    """Whether the function raises PyMC's error for parameters."""
    try:
        with np.errstate(all="ignore"):
            function(*arguments)
    except ParameterValueError as error:
        assert message in str(error)
        return True
    return False


BAD_LENGTHS = """
// bad_lengths: a rule about two parameters, which no domain tells
// x: real    a: real    b: real
__device__ real bad_lengths_logpdf(real x, real a, real b)
{
    if (b <= a) return NAN;
    return -log(b - a) - (x - a) * (x - a);
}
"""


def one_of(name):
    """A formula's log-density, and parameters: valid, invalid, and nan where PyMC has nan."""
    s, m = pt.dscalar("s"), pt.dscalar("m")
    X = np.random.default_rng(1).normal(size=(100, 2))
    make = {
        "normal": lambda: (gpm.Normal.dist(m, s), Y),
        "rows": lambda: (gpm.Normal.dist(m + np.zeros(100), s * np.linspace(0.5, 1, 100)), Y),
        "mixture": lambda: (gpm.Mixture.dist([0.3, 0.7], gs.normal, [0.0, 1.0] + m, s), Y),
        "mixtures": lambda: (gpm.Mixture.dist(np.tile([0.3, 0.7], (100, 1)), gs.normal, [0.0, 1.0] + m, s), Y),
        "glm": lambda: (gpm.GLM.dist(gs.normal_identity, X, pt.stack([m, m]), sigma=s), Y),
        "gp": lambda: (gpm.GPMarginal.dist(gs.rbf, X, 0.3, m, amplitude=1.0, lengthscale=s), Y),
        "mvnormal": lambda: (gpm.MvNormal.dist(m + np.zeros(3), COV * s), Y[:99].reshape(33, 3)),
        "own": lambda: (gpm.distribution(gs.register(BAD_LENGTHS, replace=True)).dist(m, m + s), Y),
        "cdf": lambda: (gpm.Normal.dist(m, s), Y),
    }
    rv, y = make[name]()
    return m, s, (pm.logcdf if name == "cdf" else pm.logp)(rv, y)


KINDS = ["normal", "rows", "mixture", "mixtures", "glm", "gp", "mvnormal", "own", "cdf"]
BY_NUMBA = [pytest.param(k, "NUMBA", marks=THOROUGH) for k in KINDS]


@pytest.mark.parametrize("name, mode", [*some([(k, QUICK) for k in KINDS]), *BY_NUMBA])
def test_every_kind_of_formula(name, mode):
    """In sums, in weighted sums, and by each linker; what is nan by itself stays nan."""
    m, s, terms = one_of(name)
    weighted = (terms * np.linspace(1, 2, 100 if terms.type.shape[0] == 100 else 33) if terms.ndim else terms * 2).sum()
    outputs = [terms, terms.sum(), *pt.grad(terms.sum(), [m, s]), *pt.grad(weighted, [m, s])]
    function = pm.compile([m, s], outputs, mode=mode)
    assert all(np.isfinite(v).all() for v in function(0.3, 1.2))
    for bad in (-1.2, np.nan):
        got, total, *gradients = function(0.3, bad)
        if name == "own" and np.isnan(bad):
            continue
        assert (got == -np.inf).all() and total == -np.inf and not np.any(gradients)
    if name not in ("mixture", "mixtures"):
        assert np.isnan(function(np.nan, 1.2)[1]) and np.isnan(function(np.nan, 1.2)[0]).all()
    assert np.isfinite(function(0.3, 1.2)[1])
    elsewhere = pytensor.function([m, s], [terms, terms.sum()], mode=mode)
    assert np.isfinite(elsewhere(0.3, 1.2)[1])
    with pytest.raises(ParameterValueError if mode == QUICK else Exception, match="invalid parameters of"):
        elsewhere(0.3, -1.2)


def test_observations_that_are_nan():
    """They give nan, as PyMC's normal distribution, but where a parameter is invalid."""
    s = pt.dscalar("s")
    y = np.array([0.5, np.nan, 1.5])
    got, want = (pm.compile([s], pm.logp(d.Normal.dist(0.0, s), y)) for d in (gpm, pm))
    for value in (1.2, -1.2):
        np.testing.assert_allclose(got(value), want(value))


def test_it_stays_one_evaluation_without_a_switch():
    """The check is no step of its own in a model; elsewhere it is one, after the same evaluation."""
    s = pt.dscalar("s")
    total = pm.logp(gpm.Normal.dist(0.0, s), Y).sum()
    outputs = [total, pt.grad(total, s)]

    def nodes(function, test):
        return [n for n in function.maker.fgraph.apply_nodes if test(n.op)]

    in_model, elsewhere = pm.compile([s], outputs), pytensor.function([s], outputs)
    for function in (in_model, elsewhere):
        assert len(nodes(function, lambda op: isinstance(op, LogLikelihood))) == 1
        assert not nodes(function, lambda op: isinstance(op, LogDensity))
    assert len(nodes(in_model, lambda op: True)) == 1
    assert not nodes(in_model, lambda op: isinstance(op, Elemwise) and isinstance(op.scalar_op, Switch))
    assert len(nodes(elsewhere, lambda op: isinstance(op, CheckParameterValue))) == 1


def test_no_observations():
    s = pt.dscalar("s")
    for distributions in (gpm, pm):
        total = pm.logp(distributions.Normal.dist(0.0, s, shape=(0,)), np.empty(0)).sum()
        assert pm.compile([s], total)(-1.0) == 0


def test_weights_of_a_mixture():
    w = pt.dvector("w")
    function = pm.compile([w], pm.logp(gpm.Mixture.dist(w, gs.normal, [0.0, 1.0], 1.0), Y).sum())
    assert np.isfinite(function([0.3, 0.7]))
    for bad in ([-0.3, 1.3], [0.3, 0.3], [np.nan, 1.0]):
        assert function(bad) == -np.inf


def test_bounds_that_are_not_checked():
    """`check_bounds=False` promises that parameters are valid."""
    with pm.Model(check_bounds=False) as model:
        gpm.Normal("y", 0.0, pm.Flat("s"), observed=Y)
        assert np.isfinite(model.compile_logp()({"s": 1.0}))


# ---- samplers


def model_of(kind, distributions):
    rng = np.random.default_rng(1)
    y, X = rng.normal(2, 1.4, 30), rng.normal(size=(30, 2))
    with pm.Model() as model:
        s = pm.Normal("s", 0.5, 1)
        if kind == "vector":
            distributions.Normal("y", 2, s * np.linspace(0.9, 1.1, 30), observed=y)
        elif distributions is pm:
            if kind == "mixture":
                pm.NormalMixture("y", np.array([0.4, 0.6]), np.array([1.0, 3.0]), sigma=s, observed=y)
            elif kind == "glm":
                pm.Normal("y", X @ np.array([0.5, 0.2]) + 2, s, observed=y)
        elif kind == "mixture":
            gpm.Mixture("y", np.array([0.4, 0.6]), gs.normal, np.array([1.0, 3.0]), s, observed=y)
        elif kind == "glm":
            gpm.GLM("y", gs.normal_identity, X=X, beta=np.array([0.5, 0.2]), alpha=2.0, sigma=s, observed=y)
    return model


@THOROUGH
@pytest.mark.parametrize("kind", ["glm", "vector", "mixture"])
def test_samplers(kind):
    """A standard deviation that a sampler proposes to be negative: draws as PyMC's own."""
    options = {"chains": 1, "random_seed": 1, "progressbar": False, "compute_convergence_checks": False}
    found = []
    for distributions in (gpm, pm):
        with model_of(kind, distributions), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traces = [pm.sample(50, tune=50, step=pm.Slice(), **options), pm.sample_smc(40, cores=1, **options)]
            traces.append(pm.sample(100, tune=100, step=pm.Metropolis(), **options))
            found.append([float(t.posterior["s"].mean()) for t in traces])
            assert all((t.posterior["s"] > 0).all() for t in traces)
            found[-1].append(float(pm.find_MAP(start={"s": 1.0}, progressbar=False)["s"]))
            if distributions is gpm:
                trace = pm.sample(50, tune=50, nuts_sampler="nutpie", initvals={"s": 1.0}, **options)
                assert (trace.posterior["s"] > 0).all()
    np.testing.assert_allclose(*found, rtol=1e-6)


# ---- PyTensor's float32


@THOROUGH
def test_single_precision():
    """With floatX = float32 the model's log-density and its gradient are in float32, as those of PyMC's distributions."""
    code = """
    import pytensor
    pytensor.config.floatX, pytensor.config.mode = "float32", "FAST_COMPILE"
    import numpy as np, pymc as pm, gpustats as gs, gpustats.pymc as gpm
    rng = np.random.default_rng(1)
    y, X = rng.normal(2, 1.4, 30), rng.normal(size=(30, 2))

    def normal():
        gpm.Normal("y", pm.Normal("m"), pm.HalfNormal("s"), observed=y)
    def free():
        gpm.Normal("y", gpm.Normal("m", 0, 1, shape=30), 1, observed=y)
    def mixture():
        gpm.Mixture("y", pm.Dirichlet("w", np.ones(2)), gs.normal, pm.Normal("m", shape=2), 1, observed=y)
    def glm():
        gpm.GLM("y", gs.bernoulli_logit, X=X, beta=pm.Normal("b", shape=2), alpha=pm.Normal("a"), observed=(y > 2).astype(int))
    def gp():
        l, m = pm.Normal("l", initval=1), pm.Normal("m")
        gpm.GPMarginal("y", gs.rbf, x=X, amplitude=1, lengthscale=l, sigma=pm.HalfNormal("s"), mean=m, observed=y)
    def algebra():
        l = gpm.linalg.cholesky(np.eye(2) * pm.Normal("a", initval=1))
        pm.Potential("y", gpm.linalg.cho_logdet(l))

    for make in (normal, free, mixture, glm, gp, algebra):
        with pm.Model() as model:
            make()
        point = model.initial_point()
        dlogp = model.compile_dlogp()(point)
        types = {dlogp.dtype.name, *(g.dtype for g in pytensor.grad(model.logp(), model.value_vars))}
        if make is not algebra:
            types.add(model.compile_logp(vars=[model["y"]])(point).dtype.name)
        assert types == {"float32"}, (make, types)
        logp, name, step = model.compile_logp(), next(iter(point)), np.float32(1e-2)
        low, high = ({n: v.copy() for n, v in point.items()} for _ in range(2))
        low[name].flat[0] -= step
        high[name].flat[0] += step
        np.testing.assert_allclose(dlogp[0], (float(logp(high)) - float(logp(low))) / 0.02, rtol=2e-2, atol=2e-2)
        if make is normal:
            options = dict(chains=1, progressbar=False, compute_convergence_checks=False)
            pm.sample(20, tune=20, model=model, nuts_sampler="pymc", **options)
    print("done")
    """
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert found.stdout.endswith("done\n"), found.stderr
