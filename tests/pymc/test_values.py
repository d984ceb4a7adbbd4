"""PyMC distributions of densities: values, gradients and graphs, against PyMC's own."""

import numpy as np
import pytest
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import AS_WRITTEN, QUICK  # noqa: E402
from pymc_models import (  # noqa: E402
    CONTINUOUS,
    NAMES,
    POINT,
    Y,
    counterpart,
    difference,
    normal_model,
    ours,
    sample,
    value_and_gradient,
)
from pymc_parameters import COV, FIVE, PARAMETERS  # noqa: E402
from pytensor.gradient import verify_grad  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood, Weighted  # noqa: E402

DISCRETE = [n for n in NAMES if gs.densities[n].discrete]


@pytest.fixture(autouse=True)
def double_precision():
    """PyTensor makes float16 of constants such as 0.5, and PyMC computes with them."""
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


@pytest.mark.parametrize("name", some(NAMES, 20))
def test_equals_pymc(name, rng):
    """Elementwise values; gradients of their sum and of a weighted sum, for parameters and observations."""
    values = PARAMETERS[name]
    formula = ours(name).formula
    x = sample(name, (5,)).astype(float if name in CONTINUOUS else int)
    inputs = [pt.tensor(f"p{i}", dtype="float64", shape=np.shape(v)) for i, v in enumerate(values)]
    observed = pt.tensor("x", dtype=x.dtype.name, shape=x.shape)
    wrt = [v for i, v in enumerate([observed, *inputs]) if i in formula.differentiable]
    if name in ("dirichlet", "multinomial", "categorical"):  # PyMC's gradient does not know that p sums to one
        wrt = [v for v in wrt if v is not observed]
    results = []
    parameters = [(v + v.T) / 2 if v.ndim == 2 else v for v in inputs]  # PyMC reads the lower half of a covariance
    theirs = QUICK if name == "zero_inflated_binomial" else AS_WRITTEN  # which would draw, and refuse n as a real number
    for rv, mode in ((ours(name).dist(*parameters), QUICK), (counterpart(name, parameters), theirs)):
        logp = pm.logp(rv, observed)
        outputs = [logp, *pt.grad(logp.sum(), wrt), *pt.grad((logp * (FIVE - 1)).sum(), wrt)]
        function = pytensor.function([observed, *inputs], outputs, mode=mode, on_unused_input="ignore")
        results.append(function(x, *(np.asarray(v, float) for v in values)))
    assert np.isfinite(results[0][0]).all()
    for got, want in zip(*results, strict=True):
        assert got.shape == want.shape
        assert difference(got, want) < 1e-10


@pytest.mark.parametrize("name", some(CONTINUOUS, 20))
def test_free_variable_equals_pymc(name, rng):
    """As a prior: its transform, its starting point, and the log-density of what is sampled."""
    values = PARAMETERS[name]
    values = [v if np.shape(v) != (5,) else v[1] for v in values]
    core = np.shape(sample(name, (5,)))[1:]
    results = []
    for make in (ours(name).dist, lambda *p, **k: counterpart(name, p, **k)):
        with pm.Model() as model:
            model.register_rv(make(*values, shape=(2, *core)), "v")
        (value,) = model.value_vars
        start = model.initial_point()[value.name]
        results.append((model, value.name, start))
    model, value_name, start = results[0]
    if name != "logit_normal":  # PyMC gives it no transform
        assert value_name == results[1][1]
        assert start.shape == results[1][2].shape
        point = rng.normal(size=start.shape)
        modes = QUICK, AS_WRITTEN
        got, want = (m.compile_fn([m.logp(), m.dlogp()], mode=mode)({n: point}) for (m, n, _), mode in zip(results, modes))
        assert difference(got[0], want[0]) < 1e-10
        assert difference(got[1], want[1]) < 1e-10
    assert np.isfinite(model.compile_logp(mode=QUICK)({value_name: start}))


@pytest.mark.parametrize("name", some(DISCRETE, 6))
def test_starting_point_of_discrete(name):
    values = PARAMETERS[name]
    rv = ours(name).dist(*values)
    assert rv.dtype == "int64"
    point = pm.distributions.distribution.support_point(rv)
    start, logp = pytensor.function([], [point, pm.logp(rv, point)], mode=QUICK)()
    assert np.isfinite(logp).all() and start.shape == tuple(rv.shape.eval(mode=QUICK))


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
def test_ways_to_give_the_covariance(name):
    values = PARAMETERS[name][:-1]
    x = sample(name, (4,))
    tril, precision = np.linalg.cholesky(COV), np.linalg.inv(COV)
    want = gs.densities[name].logpdf(x, *values, cov=COV)
    for kind, matrix in (("cov", COV), ("scale_tril", tril), ("precision", precision)):
        rv = ours(name).dist(*values, **{kind: matrix})
        assert difference(pm.logp(rv, x).eval(mode=QUICK), want) < 1e-12
        draws = rv.owner.op.rng_fn(np.random.default_rng(1), *values, matrix, (20000,))
        assert np.allclose(np.cov(draws.T), np.cov(sample(name, (20000,), 2).T), atol=0.25)


@pytest.mark.parametrize(
    ("name", "shapes"),
    some([
        ("normal", [(6,), (), ()]),
        ("normal", [(2, 3), (3,), (2, 1)]),
        ("normal", [(), (4,), (1,)]),
        ("gamma", [(3, 1), (), (4,)]),
        ("normal", [(2, 1, 3), (2, 1), (3,)]),
    ]),
)
@pytest.mark.parametrize("weighted", [False, True])
def test_verify_grad(name, shapes, weighted, rng):
    """Against finite differences, for shapes that broadcast in all ways."""
    density = gs.densities[name]
    values = [rng.uniform(0.5, 2, shape) for shape in shapes]
    weight = rng.normal(size=np.broadcast_shapes(*shapes)) if weighted else 1.0
    verify_grad(lambda *v: (gpm.log_density(density, *v) * weight).sum(), values, rng=rng, mode=AS_WRITTEN)


def test_verify_grad_of_vectors(rng):
    x, mu = rng.normal(size=(2, 4, 3)), rng.normal(size=(4, 3))
    weight = rng.normal(size=(2, 4))

    def log_density(x, mu, tril):
        cov = tril @ tril.T
        return gpm.log_density(gs.mvnormal, x, mu, cov) * weight

    verify_grad(lambda *v: log_density(*v).sum(), [x, mu, np.linalg.cholesky(COV)], rng=rng, mode=AS_WRITTEN)


def test_whole_numbers_have_no_gradient():
    n, p = pt.dscalar("n"), pt.dscalar("p")
    logp = gpm.log_density(gs.binomial, np.arange(5), n, p).sum()
    with pytest.raises(TypeError, match="n of binomial is a whole number"):
        pytensor.grad(logp, n)
    assert pytensor.grad(logp, p).eval({n: 7.0, p: 0.5}, mode=QUICK) == pytest.approx(2 * (10 - 25))


def test_second_derivatives_are_refused():
    mu = pt.dscalar("mu")
    gradient = pt.grad(gpm.log_density(gs.normal, np.arange(5.0), mu, 1.0).sum(), mu)
    with pytest.raises(NotImplementedError, match="second derivatives of normal.*hessian"):
        pt.grad(gradient, mu)


def nodes(function, kind):
    return [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, kind)]


@pytest.mark.parametrize("mode", [QUICK, *(pytest.param(mode, marks=THOROUGH) for mode in (None, "NUMBA"))])
def test_one_evaluation_gives_value_and_gradient(mode):
    function = value_and_gradient(normal_model(gpm, Y), mode)
    compiled = function._pytensor_function
    assert not nodes(compiled, LogDensity)
    (node,) = nodes(compiled, LogLikelihood)
    assert node.op.wrt == (1, 2) and len(node.inputs) == 2  # the data are the Op's own
    got, want = function(POINT), value_and_gradient(normal_model(pm, Y), QUICK)(POINT)
    assert difference(got[0], want[0]) < 1e-12 and difference(got[1], want[1]) < 1e-12


def test_one_evaluation_of_transformed_vectors():
    """A transform adds its Jacobian to every term before they are summed."""
    with pm.Model() as model:
        gpm.Gamma("g", 2.0, 1.0, shape=3)
    compiled = value_and_gradient(model)._pytensor_function
    assert not nodes(compiled, LogDensity)
    assert len(nodes(compiled, LogLikelihood)) == 1


def test_value_alone_has_no_gradients():
    (node,) = nodes(normal_model(gpm, Y).compile_logp().f, LogLikelihood)
    assert node.op.wrt == ()


def test_unused_gradients_are_not_computed():
    scale = pytensor.shared(np.array(2.0), name="scale")
    mu = pt.dscalar("mu")
    total = gpm.log_density(gs.normal, Y, mu, scale).sum()
    (node,) = nodes(pytensor.function([mu], [total, pt.grad(total, mu)], mode=QUICK), LogLikelihood)
    assert node.op.wrt == (1,)


def test_scaled_sum_stays_one_evaluation():
    """A minibatch counts for more data than it has."""
    mu = pt.dscalar("mu")
    total = (gpm.log_density(gs.normal, Y, mu, 2.0) * 7.0).sum()
    function = pytensor.function([mu], [total, pt.grad(total, mu)])
    assert not nodes(function, LogDensity) and not nodes(function, Weighted)
    assert len(nodes(function, LogLikelihood)) == 1
    assert function(3.0)[1] == pytest.approx(7 * (Y - 3).sum() / 4)


@THOROUGH
def test_numba_evaluates_tables_and_weights(rng):
    mu, sigma = pt.dvector("mu"), pt.dscalar("sigma")
    weight = rng.normal(size=(3, 4))
    terms = gpm.log_density(gs.normal, rng.normal(size=(3, 1)), mu, sigma)
    outputs = [terms, *pt.grad((terms * weight).sum(), [mu, sigma])]
    point = (rng.normal(size=4), 1.5)
    for got, want in zip(*(pytensor.function([mu, sigma], outputs, mode=m)(*point) for m in ("NUMBA", QUICK))):
        assert np.array_equal(got, want)


@THOROUGH
def test_partial_sums_and_mixtures():
    """What is no plain sum of terms still has its gradient."""
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            mu = pm.Normal("mu", 0, 1, shape=2)
            weights = pm.Dirichlet("w", np.ones(2))
            pm.Mixture("y", weights, distributions.Normal.dist(mu, 1.0, shape=2), observed=Y[:20])
        point = {"mu": np.array([0.3, 2.0]), "w_simplex__": np.array([0.4])}
        results.append(model.compile_fn([model.logp(), model.dlogp()], mode=QUICK)(point))
    for got, want in zip(*results):
        assert difference(got, want) < 1e-12
