"""Log-likelihoods as functions of JAX: values and derivatives are those of SciPy, of JAX's own functions, and of the models."""

import _thread
import itertools
import threading
import time

import numpy as np
import pytest
from runtimes import run
from scipy import stats
from thorough import some

import gpustats as gs
from gpustats.runtime import choose
from gpustats.runtime.replay import Command, Replay

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.scipy.special import logsumexp  # noqa: E402
from jax.scipy.stats import norm, t  # noqa: E402

from gpustats.xla import calls, on_host, sums  # noqa: E402

RNG = np.random.default_rng(47)
X = 1 + 2 * RNG.standard_t(5, 301)
DESIGN = RNG.normal(size=(203, 4))
Y = (RNG.random(203) < 0.4).astype(float)
WEIGHTS = np.log([0.3, 0.5, 0.2])
GROUPS = RNG.integers(0, 7, X.size)


@pytest.fixture(autouse=True)
def double():
    """Computation in float64, also in the threads in which JAX calls Python, where a context of this one says nothing."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def on_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@jax.jit
def student_t(nu, mu, sigma):
    return jnp.sum(t.logpdf(X, nu, mu, sigma))


@jax.jit
def logistic(beta, alpha):
    eta = DESIGN @ beta + alpha
    return jnp.sum(Y * eta - jnp.logaddexp(0, eta))


@jax.jit
def mixed(log_weights, mu, sigma):
    return jnp.sum(logsumexp(log_weights + norm.logpdf(X[:, None], mu, sigma), axis=1))


@jax.jit
def by_group(mu, sigma):
    return jnp.sum(norm.logpdf(X, mu[GROUPS], sigma))


@jax.jit
def process(amplitude, lengthscale, sigma):
    x, y = DESIGN[:60, :2], X[:60]
    squares = jnp.sum(((x[:, None] - x) / lengthscale) ** 2, axis=-1)
    cov = amplitude**2 * jnp.exp(-squares / 2) + sigma**2 * jnp.eye(60)
    return jax.scipy.stats.multivariate_normal.logpdf(y, jnp.zeros(60), cov)


def grouped():
    return gs.Rows("__device__ real f(real x, real mu, real sigma) { real z = (x - mu) / sigma;"
                   " return -z * z / 2 - log(sigma) - 0.9189385332046727; }", x=X, mu=gs.gather(GROUPS))  # fmt: skip


CASES = {  # the model, JAX's own function, and arguments
    "Likelihood": (lambda: gs.Likelihood(gs.student_t, X), student_t, (4.2, 0.7, 1.8)),
    "GLM": (lambda: gs.GLM(gs.bernoulli_logit, Y, DESIGN), logistic, (0.3 * RNG.normal(size=4), 0.25)),
    "Mixture": (lambda: gs.Mixture(gs.normal, X), mixed, (WEIGHTS, np.array([-2.0, 0.5, 3.0]), 1.5)),
    "Rows": (grouped, by_group, (RNG.normal(size=7), 1.9)),
    "MarginalLikelihood": (
        lambda: gs.gp.MarginalLikelihood(gs.covariances["rbf"], DESIGN[:60, :2], X[:60]), process, (1.3, 0.8, 0.6),
    ),
}  # fmt: skip


@pytest.fixture(params=some(CASES, 2))
def case(request):
    make, own, arguments = CASES[request.param]
    model = make()
    return gs.as_jax(model), own, arguments


def close(ours, theirs, rtol=1e-10):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-9), ours, theirs)


def test_values_and_derivatives(case):
    ours, own, arguments = case
    every = tuple(range(len(arguments)))
    both = [jax.value_and_grad(f, every) for f in (ours, own)]
    close(*(f(*arguments) for f in both))
    close(*(jax.jit(f)(*arguments) for f in both))
    close(ours(*arguments), own(*arguments))
    last = len(arguments) - 1  # of one argument alone, forwards
    tangents = [np.zeros(np.shape(a)) for a in arguments[:-1]] + [np.ones(np.shape(arguments[-1]))]
    close(jax.jvp(ours, arguments, tuple(tangents)), jax.jvp(own, arguments, tuple(tangents)))
    close(jax.grad(ours, last)(*arguments), jax.grad(own, last)(*arguments))


def test_against_scipy():
    model = gs.as_jax(gs.Likelihood(gs.student_t, X))
    assert float(model(nu=3.5, mu=0.2, sigma=1.1)) == pytest.approx(stats.t.logpdf(X, 3.5, 0.2, 1.1).sum(), rel=1e-13)


def test_sets_of_arguments(case):
    """Mapped once, and twice with different arguments mapped."""
    ours, own, arguments = case
    many = [np.asarray(a) * (1 + 0.1 * np.arange(5).reshape(5, *[1] * np.ndim(a))) for a in arguments]
    every = tuple(range(len(arguments)))
    one = [jax.jit(jax.vmap(jax.value_and_grad(f, every))) for f in (ours, own)]
    close(*(f(*many) for f in one))
    outer = (0, *[None] * (len(arguments) - 1))
    two = [jax.vmap(jax.vmap(f, (None, *[0] * (len(arguments) - 1))), outer) for f in (ours, own)]
    close(*(f(*many) for f in two))
    assert jax.vmap(ours)(*(a[:0] for a in many)).shape == (0,)


def test_loops(case):
    ours, own, arguments = case

    def climbed(f):
        def step(_, a):
            return a + 1e-5 * jax.grad(f)(a, *arguments[1:])

        def until(state):
            return state[0] + 1, step(0, state[1])

        start = jnp.asarray(arguments[0])
        scanned = jax.lax.scan(lambda a, _: (step(0, a), f(a, *arguments[1:])), start, length=4)
        counted = jax.lax.while_loop(lambda s: s[0] < 4, until, (0, start))
        return scanned, counted[1]

    close(*(jax.jit(climbed, static_argnums=0)(f) for f in (ours, own)), rtol=1e-9)


@pytest.mark.parametrize("value", [
    0.0, -0.0, 1.0, -1.5, 3e38, -3.5e38, 1e300, 1e-30, 1e-46, np.pi, 1 + 2.0**-24 * 1.5, 2 - 2.0**-30, np.inf, -np.inf, np.nan,
])  # fmt: skip
def test_halves_of_numbers(value):
    """JAX that computes in single precision reads the numbers of a GPU in double precision as two halves."""
    low, high = np.array([value]).view(np.uint32)
    with jax.enable_x64(False):
        found = np.asarray(jax.jit(sums._to_single)(np.array([low]), np.array([high])))[0]
    with np.errstate(over="ignore"):
        want = np.copysign(0, value).astype(np.float32) if abs(value) < 1e-38 else np.float32(value)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, want)


def test_several_sets_are_one_launch():
    """Nothing of a map is done set by set where kernels take several."""
    for make, _, arguments in CASES.values():
        many = [np.stack([np.asarray(a)] * 3) for a in arguments]
        made, model = [], make()
        original = type(model).compiled

        def compiled(self, given, wrt, n_sets=None, original=original, made=made):
            made.append(n_sets)
            return original(self, given, wrt, n_sets)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(model), "compiled", compiled)
            jax.vmap(jax.grad(gs.as_jax(model)))(*many)
        assert made[1:] == [3]  # JAX also asks what the function of one set gives


@pytest.mark.parametrize("name", some(["GLM", "Likelihood", "Rows", "Mixture"], 4))
def test_second_derivatives(name):
    """Forwards over backwards and twice forwards, of each argument and of several, compiled, for several sets."""
    make, own, arguments = CASES[name]
    ours, every = gs.as_jax(make()), tuple(range(len(arguments)))
    close(*(jax.hessian(f, every)(*arguments) for f in (ours, own)), rtol=1e-9)
    close(*(jax.jit(jax.jacfwd(jax.jacfwd(f, every), every[-1]))(*arguments) for f in (ours, own)), rtol=1e-9)
    many = [np.asarray(a) * (1 + 0.1 * np.arange(3).reshape(3, *[1] * np.ndim(a))) for a in arguments]
    compiled = [jax.jit(jax.vmap(jax.hessian(f, every))) for f in (ours, own)]
    close(*(f(*many) for f in compiled), rtol=1e-9)
    assert "callback" not in jax.jit(jax.hessian(ours, every)).lower(*arguments).as_text()
    primals = tuple(map(jnp.asarray, arguments))
    along = [jax.jvp(jax.grad(f, every), primals, tuple(map(jnp.ones_like, primals))) for f in (ours, own)]
    close(*along, rtol=1e-9)
    with pytest.raises(TypeError, match="differentiated once more than it can be"):
        jax.jacfwd(jax.hessian(ours))(*arguments)


def test_second_derivatives_of_groups():
    glm, y = gs.GLM(gs.normal, X[:203], DESIGN, groups=GROUPS[:203], eta="mu"), X[:203]
    for alpha in (0.3, RNG.normal(size=7)):
        arguments = RNG.normal(size=4), alpha, 1.4

        def own(beta, alpha, sigma):
            return jnp.sum(norm.logpdf(y, DESIGN @ beta + (alpha if jnp.ndim(alpha) == 0 else alpha[GROUPS[:203]]), sigma))

        close(*(jax.jit(jax.hessian(f, (0, 1, 2)))(*arguments) for f in (gs.as_jax(glm), own)), rtol=1e-9)


@pytest.mark.parametrize("sets", some(["of each row", "numbers", "arrays of one"]))
def test_second_derivatives_of_parameters_of_rows(sets):
    """A parameter with a number for each row is not several sets of parameters, also where rows are as many as columns."""
    own_shape = {"numbers": (), "arrays of one": (1,), "of each row": (2,)}[sets]
    x, design = X[:2], DESIGN[:2, :2]
    mu, sigma = RNG.normal(size=own_shape), 1 + RNG.random(own_shape)

    @jax.jit
    def normal(mu, sigma):
        return jnp.sum(norm.logpdf(x, mu, sigma))

    @jax.jit
    def linear(beta, alpha, sigma):
        return jnp.sum(norm.logpdf(x, design @ beta + alpha, sigma))

    ours = gs.as_jax(gs.Likelihood(gs.normal, x))
    for f in (lambda f: jax.hessian(f, (0, 1)), lambda f: jax.jit(jax.hessian(f, (0, 1)))):
        close(f(ours)(mu, sigma), f(normal)(mu, sigma), rtol=1e-9)
    glm = gs.as_jax(gs.GLM(gs.normal, x, design, eta="mu"))
    close(*(jax.hessian(f, (0, 1, 2))(RNG.normal(size=2) * 0 + 0.3, mu, sigma) for f in (glm, linear)), rtol=1e-9)


@pytest.mark.parametrize("alpha", some([(v,) for v in [None, (), (4,), (30, 4)]], 2), ids=str)
def test_sets_of_several_outcomes(alpha):
    design = DESIGN[:30, :3]
    model = gs.GLM(gs.categorical_logit, RNG.integers(0, 4, 30), design)
    ours, many = gs.as_jax(model), [RNG.normal(size=(3, 3, 4))]
    many += [] if alpha is None else [RNG.normal(size=(3, *alpha))]
    every = tuple(range(len(many)))
    found = jax.vmap(jax.value_and_grad(ours, every))(*many)
    one_by_one = [jax.value_and_grad(ours, every)(*(a[k] for a in many)) for k in range(3)]
    close(found, jax.tree.map(lambda *its: jnp.stack(its), *one_by_one))
    want = model.value_and_grad(*(a[0] for a in many), wrt=["beta"])[0]
    close(found[0][0], want)


def test_branches_of_sets(case):
    ours, own, arguments = case
    scale = 1 + 0.1 * np.arange(3.0)

    def branched(f):
        def scaled(s):
            return f(arguments[0] * s, *arguments[1:])

        return jax.vmap(lambda s: jax.lax.cond(s > 1.05, scaled, lambda s: s, s))

    close(*(branched(f)(scale) for f in (ours, own)))
    close(*(jax.jit(branched(f))(scale) for f in (ours, own)))


def test_invalid_sets_are_nan_alone():
    x, y = DESIGN[:20, :2], X[:20]
    small = gs.as_jax(gs.gp.MarginalLikelihood(gs.rbf, x, y))
    values, slopes = jax.vmap(jax.value_and_grad(small), (0, None, None))(jnp.array([1.0, np.nan, -1.0, np.inf]), 0.5, 0.5)
    np.testing.assert_array_equal(np.isnan(values), [False, True, True, True])
    np.testing.assert_array_equal(np.isnan(slopes), [False, True, True, True])
    by_python = gs.as_jax(gs.Likelihood(gs.mvnormal, DESIGN))
    covs = np.stack([np.eye(4), -np.eye(4)])
    np.testing.assert_array_equal(np.isnan(jax.vmap(by_python, (None, 0))(np.zeros(4), covs)), [False, True])


def test_a_function_of_nothing():
    ours = gs.as_jax(gs.Rows("__device__ real f(real x) { return -x * x; }", x=X))
    close(jax.jit(ours)(), -(X * X).sum())


def test_second_derivatives_of_other_mixtures():
    """Scales by component, counts, and what has none: vectors, more components than a row function writes out."""
    scales, mu = np.array([1.4, 0.8, 2.0]), np.array([-1.0, 0.5, 3.0])
    given = WEIGHTS, mu, scales
    close(*(jax.jit(jax.hessian(f, (0, 1, 2)))(*given) for f in (gs.as_jax(gs.Mixture(gs.normal, X)), mixed)), rtol=1e-9)
    counts, rates = RNG.poisson(3, 50), np.array([1.0, 4.0])

    @jax.jit
    def of_counts(log_weights, rates):
        logp = counts[:, None] * jnp.log(rates) - rates - jax.scipy.special.gammaln(counts[:, None] + 1.0)
        return jnp.sum(logsumexp(log_weights + logp, axis=1))

    ours = gs.as_jax(gs.Mixture(gs.poisson, counts))
    close(*(jax.jit(jax.hessian(f, (0, 1)))(np.log([0.4, 0.6]), rates) for f in (ours, of_counts)), rtol=1e-9)
    with pytest.raises(ValueError, match="of 32 components at most"):
        jax.hessian(gs.as_jax(gs.Mixture(gs.normal, X)), 1)(np.zeros(40), np.linspace(-3, 3, 40), 1.0)
    pairs = gs.Mixture(gs.mvnormal, DESIGN[:, :2])
    with pytest.raises(TypeError, match="differentiated once more than it can be"):
        jax.hessian(gs.as_jax(pairs), 1)(np.zeros(2), np.zeros((2, 2)), np.eye(2))


def curved_alike(model, own, arguments, rtol=1e-9):
    """The Hessians in all arguments, of one set and of several."""
    every = tuple(range(len(arguments)))
    ours, theirs = (jax.jit(jax.hessian(f, every)) for f in (gs.as_jax(model), own))
    sets = [[np.asarray(a) * (1 + 0.1 * i) for a in arguments] for i in range(2)]
    each = [theirs(*its) for its in sets]
    close(ours(*sets[0]), each[0], rtol)
    close(jax.vmap(ours)(*map(np.stack, zip(*sets, strict=True))), jax.tree.map(lambda *its: np.stack(its), *each), rtol)


@pytest.mark.parametrize("alpha", some([0.3, RNG.normal(size=7), RNG.normal(size=203)]))
def test_second_derivatives_of_designs_beyond_a_row_function(alpha):
    wide, index, y = RNG.normal(size=(203, 70)), GROUPS[:203], X[:203]
    groups = {"groups": index} if np.size(alpha) == 7 else {}
    model = gs.GLM(gs.normal, y, wide, eta="mu", weights=1 + Y, **groups)

    @jax.jit
    def own(beta, alpha, sigma):
        each = alpha[index] if jnp.size(alpha) == 7 else alpha
        return jnp.sum((1 + Y) * norm.logpdf(y, wide @ beta + each, sigma))

    curved_alike(model, own, (0.1 * RNG.normal(size=70), alpha, 1.4))


@pytest.mark.parametrize("slopes", some([True, False], 2))
def test_second_derivatives_of_named_groups(slopes):
    first, second, y = GROUPS[:203], RNG.integers(0, 3, 203), X[:203]
    Z = RNG.normal(size=(203, 2))
    model = gs.GLM(gs.normal, y, DESIGN, eta="mu", groups={"a": first, "b": (second, Z) if slopes else second})

    @jax.jit
    def own(beta, alpha, sigma, a, b):
        other = (Z * b[second]).sum(1) if slopes else b[second]
        return jnp.sum(norm.logpdf(y, DESIGN @ beta + alpha + a[first] + other, sigma))

    curved_alike(model, own, (RNG.normal(size=4), 0.2, 1.4, RNG.normal(size=7), RNG.normal(size=(3, 2) if slopes else 3)))


@pytest.mark.parametrize("student_t, by_column, by_row", some(itertools.product([True, False], repeat=3), 8))
def test_second_derivatives_of_processes(student_t, by_column, by_row):
    """Sums and products of covariances of some columns, vectors of lengthscales, noise and mean by row, jitter."""
    x, y, n = DESIGN[:40, :3], X[:40], 40
    some = gs.rbf.on(0, 2) + gs.covariances["linear"].rename(lengthscale="tilt").on(1)
    cov = some * gs.periodic.rename(amplitude="season", lengthscale="width").fix(period=1.7).on(0)
    names = list(cov.parameters)
    model = gs.gp.MarginalLikelihood(cov, x, y, student_t=student_t, jitter=0.01)
    given = {"amplitude": 1.3, "lengthscale": 0.8, "tilt": 1.1, "season": 0.9, "width": 1.4}
    if by_column:
        given["lengthscale"] = np.array([0.8, 5.0, 1.3])

    def own(*values):
        its, (sigma, mean) = dict(zip(names, values[:-2], strict=True)), values[-2:]
        scales = jnp.broadcast_to(its["lengthscale"], (3,))
        z, u = x[:, [0, 2]] / scales[jnp.array([0, 2])], x[:, 1] / its["tilt"]
        k = its["amplitude"] ** 2 * jnp.exp(-jnp.sum((z[:, None] - z) ** 2, -1) / 2) + jnp.outer(u, u)
        sines = jnp.sin(jnp.pi / 1.7 * jnp.abs(x[:, None, 0] - x[:, 0]))
        k = k * its["season"] ** 2 * jnp.exp(-2 * (sines / its["width"]) ** 2)
        r = y - mean
        R = k + 0.01 * jnp.diag(jnp.diag(k)) + jnp.diag(jnp.broadcast_to(sigma**2, n))
        L = jnp.linalg.cholesky(R)
        square, half = r @ jnp.linalg.solve(R, r), jnp.log(jnp.diag(L)).sum() + n / 2 * jnp.log(2 * jnp.pi)
        return jax.scipy.special.gammaln(n / 2) - half - n / 2 * jnp.log(square / 2) if student_t else -half - square / 2

    noise = (RNG.uniform(0.4, 0.9, n), RNG.normal(size=n)) if by_row else (0.6, 0.4)
    curved_alike(model, own, (*(given[n] for n in names), *noise), rtol=1e-8)
    with pytest.raises(TypeError, match="differentiated once more than it can be"):
        jax.jacfwd(jax.hessian(gs.as_jax(model)))(*(given[n] for n in names), *noise)


def test_python_takes_no_part(monkeypatch):
    """A compiled program calls the device without it, also the first time."""
    model = gs.Likelihood(gs.student_t, X)
    ours = jax.jit(jax.value_and_grad(gs.as_jax(model), (0, 1, 2))).lower(4.0, 0.5, 1.5).compile()
    for owner, name in ((gs.Likelihood, "value_and_grad"), (gs.Likelihood, "__call__"), (sums.Sums, "__call__")):
        monkeypatch.setattr(owner, name, None)
    close(ours(4.0, 0.5, 1.5), jax.value_and_grad(student_t, (0, 1, 2))(4.0, 0.5, 1.5))


@pytest.mark.parametrize("model, arguments", [
    (lambda: gs.Likelihood(gs.mvnormal, DESIGN), (np.zeros(4), np.eye(4))),
    (lambda: gs.Likelihood(gs.normal, X[:0]), (0.0, 1.0)),
    (lambda: gs.GLM(gs.bernoulli_logit, Y, DESIGN, devices=[choose.get().device.id] * 2), (np.full(4, 0.1), 0.2)),
], ids=["vectors", "no data", "pieces"])  # fmt: skip
def test_calls_that_only_python_makes(model, arguments):
    model = model()
    ours = jax.jit(jax.value_and_grad(gs.as_jax(model), 0))
    value, slopes = model.value_and_grad(*arguments)
    close(ours(*arguments), (value, next(iter(slopes.values()))))
    twice = jax.vmap(ours, (0, *[None] * (len(arguments) - 1)))(np.stack([arguments[0]] * 2), *arguments[1:])
    close(twice, jax.tree.map(lambda a: np.stack([a] * 2), ours(*arguments)))


def test_threads_share_a_function():
    ours, found = jax.jit(jax.vmap(jax.grad(gs.as_jax(gs.Likelihood(gs.student_t, X)), 1), (None, 0, None))), {}
    places = np.linspace(-1, 1, 40)
    want = ours(4.0, places, 1.5)

    def work(k):
        with jax.enable_x64(True):
            found[k] = [np.asarray(ours(4.0, np.roll(places, k), 1.5)) for _ in range(30)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(6):
        for slopes in found[k]:
            np.testing.assert_array_equal(slopes, np.roll(want, k))


def test_parameters_of_a_fit():
    """They are a tree of JAX's, as a dictionary is, and so are the derivatives in them: 0 at the maximum."""
    model = gs.GLM(gs.poisson_log, np.array([1.0, 2.0, 6.0, 9.0]), np.array([[0.0], [1.0], [2.0], [3.0]]))
    logp, fit = gs.as_jax(model), model.fit()
    value, slopes = jax.value_and_grad(lambda parameters: logp(**parameters))(fit.parameters)
    close(value, fit.log_likelihood)
    moved = jax.tree_util.tree_map(lambda a, b: a - b, fit.parameters, slopes)
    assert {*slopes} == {*moved} == {"beta", "alpha"} and abs(slopes["alpha"]) < 1e-8 and moved["beta"].shape == (1,)


def test_defaults_and_names():
    model = gs.GLM(gs.bernoulli_logit, Y, DESIGN)
    ours, beta = gs.as_jax(model), np.full(4, 0.2)
    close(ours(beta), model(beta))
    close(ours(alpha=0.5, beta=beta), model(beta, 0.5))
    with pytest.raises(ValueError, match="GLM has no parameter 'gamma'; its parameters are beta, alpha"):
        ours(beta, gamma=1)
    with pytest.raises(ValueError, match="beta has"):
        ours(np.ones(5))
    with pytest.raises(ValueError, match=r"several sets \(beta \(3, 4\), alpha \(\)\): pass one, and take jax.vmap"):
        jax.jit(ours)(np.ones((3, 4)))
    with pytest.raises(ValueError, match="shapes do not broadcast"):
        jax.grad(gs.as_jax(gs.Likelihood(gs.normal, X)), 1)(np.zeros(3), 1.0)


def test_single_precision():
    single = gs.as_jax(gs.Likelihood(gs.student_t, X.astype(np.float32)))
    double = gs.as_jax(gs.Likelihood(gs.student_t, X))
    want = jax.value_and_grad(student_t, (0, 1, 2))(4.0, 0.5, 1.5)
    close(jax.value_and_grad(single, (0, 1, 2))(4.0, 0.5, 1.5), want, rtol=1e-4)
    with jax.enable_x64(False):
        value, slopes = jax.jit(jax.value_and_grad(single, (0, 1, 2)))(4.0, 0.5, 1.5)
        assert value.dtype == slopes[0].dtype == np.float32
        close((value, slopes), want, rtol=1e-4)
        with pytest.raises(ValueError, match="float64 and JAX computes in float32: call jax.config.update"):
            double(4.0, 0.5, 1.5)


def test_invalid_and_infinite_values_are_those_of_the_model():
    model = gs.Likelihood(gs.exponential, np.abs(X))
    ours = gs.as_jax(model)
    for value in (-1.0, np.nan, 0.0, np.inf, 1e-300):
        np.testing.assert_equal(float(ours(value)), model(value))


def test_a_whole_number_has_no_derivative():
    n = RNG.integers(0, 6, 50)
    ours = gs.as_jax(gs.Likelihood(gs.binomial, n))
    want = stats.binom.logpmf(n, 7, 0.3).sum()
    assert float(ours(7, 0.3)) == pytest.approx(want, rel=1e-12)
    h = 1e-6
    slope = (stats.binom.logpmf(n, 7, 0.3 + h).sum() - stats.binom.logpmf(n, 7, 0.3 - h).sum()) / (2 * h)
    assert float(jax.grad(ours, 1)(7, 0.3)) == pytest.approx(slope, rel=1e-6)
    with pytest.raises(TypeError, match="there is no derivative in n: take jax.lax.stop_gradient"):
        jax.grad(ours, 0)(7.0, 0.3)


def of_person(x, mu, sigma):
    return norm.logpdf(x, mu[GROUPS], sigma)


@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_terms(dtype, rtol):
    rows = gs.Rows(gs.normal, x=X.astype(dtype), mu=gs.gather(GROUPS))
    ours, mu = gs.as_jax(rows, terms=True), RNG.normal(size=(3, 7))
    np.testing.assert_allclose(ours(mu[0], 1.5), of_person(X, mu[0], 1.5), rtol=max(rtol, 1e-12))
    for found in (jax.vmap(ours, (0, None))(mu, 1.5), jax.jit(jax.vmap(ours, (0, None)))(mu, 1.5)):
        np.testing.assert_allclose(found, [rows.terms(m, 1.5) for m in mu], rtol=rtol)
    with pytest.raises(TypeError, match="no derivatives of terms"):
        jax.grad(lambda sigma: ours(mu[0], sigma).sum())(1.5)
    with pytest.raises(TypeError, match="a Mixture has no terms"):
        gs.as_jax(gs.Mixture(gs.normal, X), terms=True)(WEIGHTS, 0.0, 1.0)


def test_an_interruption_harms_nothing():
    """Ctrl-C while a program runs: the program ends, the wait for it raises, and later calls are right."""
    logp = gs.as_jax(gs.Likelihood(gs.student_t, X))
    walk = jax.jit(lambda n, mu: jax.lax.fori_loop(0, n, lambda i, m: m + 1e-9 * jax.grad(logp, 1)(4.0, m, 1.5), mu))
    want = float(walk(10, 0.5))
    steps = 10
    while timed(walk, steps, 0.5) < 0.3:
        steps *= 4
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, _thread.interrupt_main).start()
        walk(steps, 0.5).block_until_ready()
        time.sleep(1)
    assert float(walk(10, 0.5)) == want
    assert float(logp(4.0, 0.5, 1.5)) == pytest.approx(stats.t.logpdf(X, 4.0, 0.5, 1.5).sum(), rel=1e-13)


def timed(function, *arguments):
    start = time.perf_counter()
    function(*arguments).block_until_ready()
    return time.perf_counter() - start


def test_terms_of_rows_that_are_arguments():
    ours = gs.as_jax(gs.Rows(gs.normal, x=gs.per_row()), terms=True)
    for x in (X[:4], np.r_[np.nan, X[:2]]):
        np.testing.assert_allclose(ours(x, 0.5, 2.0), stats.norm.logpdf(x, 0.5, 2.0), rtol=1e-12)


def test_sets_spread_over_devices():
    """Each device has some of the sets; GPUs have copies of the data."""
    output = run(
        """
        import os
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
        import jax, numpy as np, gpustats as gs
        from jax.sharding import Mesh, PartitionSpec
        jax.config.update("jax_enable_x64", True)
        rng = np.random.default_rng(1)
        X, y, beta = rng.normal(size=(400, 5)), rng.integers(0, 2, 400) * 1.0, rng.normal(size=(12, 5))
        ids = [d.id for d in gs.devices() if d.backend == "cuda"] if jax.default_backend() == "gpu" else []

        def on(device):
            with gs.use(device):
                return gs.GLM(gs.bernoulli_logit, y, X)

        models = [on(d) for d in ids[:2]] or [gs.GLM(gs.bernoulli_logit, y, X)]
        logp = gs.as_jax(*models)
        both = jax.vmap(jax.value_and_grad(logp))
        n = len(models) if ids else 2
        axis, mesh = PartitionSpec("chains"), Mesh(np.array(jax.devices()[:n]), ("chains",))
        walk = lambda q: jax.lax.scan(lambda q, _: (q + 1e-3 * both(q)[1], both(q)[0]), q, None, length=3)[0]
        curved = jax.vmap(jax.hessian(logp))
        by_python = jax.vmap(gs.as_jax(gs.Likelihood(gs.mvnormal, X)), (0, None))
        branched = lambda q: jax.lax.cond(q.sum() < 1e9, lambda q: by_python(q, np.eye(5)), lambda q: q[:, 0], q)
        for function in (lambda q: both(q)[1], walk, curved, branched):
            spread = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=axis, out_specs=axis))(beta)
            assert spread.sharding.num_devices == n
            np.testing.assert_allclose(spread, function(beta), rtol=1e-11, atol=1e-11)
        print("right on", n)
        """
    )
    assert "right on" in output


def test_copies_of_other_models():
    with pytest.raises(TypeError, match="a copy has the parameters x, mu, sigma, and the model"):
        gs.as_jax(gs.GLM(gs.bernoulli_logit, Y, DESIGN), gs.Rows(gs.normal, x=gs.per_row()))
    with pytest.raises(TypeError, match="a copy is a int"):
        gs.as_jax(gs.GLM(gs.bernoulli_logit, Y, DESIGN), 3)


@pytest.mark.parametrize("y, design", [(Y[:-1], DESIGN[:-1]), (1 - Y, DESIGN), (Y, DESIGN[:, 1:])], ids=["N", "y", "k"])
def test_copies_of_other_data(y, design):
    model = gs.GLM(gs.bernoulli_logit, Y, DESIGN)
    with pytest.raises(ValueError, match="a copy gives other values than the model"):
        jax.vmap(gs.as_jax(model, gs.GLM(gs.bernoulli_logit, y, design)))(np.ones((3, 4)))
    same = gs.as_jax(model, gs.GLM(gs.bernoulli_logit, Y, DESIGN))
    close(same(np.ones(4)), model(np.ones(4)))
    with pytest.raises(ValueError, match="beta has"):
        same(np.ones(5))


def test_what_is_no_model():
    with pytest.raises(TypeError, match="model is a Density: as_jax takes a Likelihood, GLM"):
        gs.as_jax(gs.normal)


def test_programs_of_another_process_are_not_run(on_cpu):
    """A cache on disk may bring them."""
    on_host.register()
    call = jax.ffi.ffi_call(calls.TARGET, jax.ShapeDtypeStruct((3,), np.float64))
    for place in (-1, 0, calls.MOST_PROGRAMS - 1, calls.MOST_PROGRAMS):
        with pytest.raises(jax.errors.JaxRuntimeError, match="compiled in another process"):
            call(np.ones(2), place=np.int64(place), token=np.int64(5)).block_until_ready()


def test_a_forked_process_has_no_programs():
    output = run(
        """
        import jax, numpy as np, gpustats as gs
        from gpustats.xla import calls
        jax.config.update("jax_enable_x64", True)
        ours = jax.jit(gs.as_jax(gs.Likelihood(gs.normal, np.zeros(3))))
        ours(0.0, 1.0).block_until_ready()
        calls._in_child()  # as in the child: JAX itself does not work there
        try:
            ours(0.0, 1.0).block_until_ready()
        except (ValueError, jax.errors.JaxRuntimeError) as error:
            print("before a fork" in str(error))
        """
    )
    assert output.startswith("True")


def test_buffers_of_other_lengths_are_not_written(on_cpu):
    program = on_host.program(Replay(np.zeros(2), np.array([5.0, 6.0, 7.0]), [], []))
    for n_given, n_found in ((2, 2), (3, 3), (4, 3), (2, 6)):
        with pytest.raises(jax.errors.JaxRuntimeError, match="compiled for other work"):
            program(jnp.ones(n_given), jax.ShapeDtypeStruct((n_found,), np.float64)).block_until_ready()


def test_a_device_that_fails(on_cpu):
    """The error is that of the call, and the next call is free to work."""
    import ctypes

    function = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value
    given, found = np.zeros(2), np.array([5.0, 6.0, 7.0])
    broken = on_host.program(Replay(given, found, [Command(function, (-3,))], []))
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="the device did not do its work"):
            broken(jnp.ones(2), jax.ShapeDtypeStruct((3,), np.float64)).block_until_ready()
    right = on_host.program(Replay(given, found, [Command(function, (0,))], []))
    lines = right(jnp.array([1.0, 2.0, 3.0, 4.0]), jax.ShapeDtypeStruct((6,), np.float64))
    np.testing.assert_array_equal(lines, [5, 6, 7, 5, 6, 7])
    np.testing.assert_array_equal(given, [3, 4])
