"""gpustats.pymc.GLM against the same models in PyMC's own distributions."""

import cloudpickle
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from modes import AS_WRITTEN, QUICK
from scipy import stats
from thorough import some

import gpustats as gs
import gpustats.pymc as gpm

rng = np.random.default_rng(5)
N, K, G = 300, 4, 5
X = rng.normal(size=(N, K))
GROUPS, OFFSET, WEIGHTS = rng.integers(0, G, N), rng.normal(size=N) / 5, rng.uniform(0, 2, N)
BINARY, COUNTS, REALS = rng.integers(0, 2, N), rng.poisson(2, N), rng.normal(size=N)
LEVELS = np.minimum(COUNTS, 3)


def model(likelihood, *, outcomes=None, groups=None):
    """Priors, and `likelihood(beta, alpha, sigma)`."""
    with pm.Model() as made:
        core = () if outcomes is None else (outcomes,)
        beta = pm.Normal("beta", shape=(K, *core))
        alpha = pm.Normal("alpha", shape=(*((groups,) if groups else ()), *core))
        likelihood(beta, alpha, pm.HalfNormal("sigma"))
    return made


CASES = {
    "bernoulli": (
        lambda b, a, s: gpm.GLM("y", gs.bernoulli_logit, X=X, beta=b, alpha=a, observed=BINARY),
        lambda b, a, s: pm.Bernoulli("y", logit_p=X @ b + a, observed=BINARY), {},
    ),
    "binomial": (
        lambda b, a, s: gpm.GLM("y", gs.binomial_logit, X, b, a, n=9.0, observed=COUNTS),
        lambda b, a, s: pm.Binomial("y", 9, logit_p=X @ b + a, observed=COUNTS), {},
    ),
    "offset": (
        lambda b, a, s: gpm.GLM("y", gs.poisson_log, X, b, a, offset=OFFSET, observed=COUNTS),
        lambda b, a, s: pm.Poisson("y", pt.exp(X @ b + a + OFFSET), observed=COUNTS), {},
    ),
    "groups": (
        lambda b, a, s: gpm.GLM("y", gs.negative_binomial_log, X, b, a, groups=GROUPS, phi=s, observed=COUNTS),
        lambda b, a, s: pm.NegativeBinomial("y", mu=pt.exp(X @ b + a[GROUPS]), alpha=s, observed=COUNTS), dict(groups=G),
    ),
    "intercept of each row": (
        lambda b, a, s: gpm.GLM("y", gs.bernoulli_logit, X, b, a[GROUPS], observed=BINARY),
        lambda b, a, s: pm.Bernoulli("y", logit_p=X @ b + a[GROUPS], observed=BINARY), dict(groups=G),
    ),
    "scale of each row": (
        lambda b, a, s: gpm.GLM("y", gs.normal_identity, X, b, a, sigma=s * (1 + WEIGHTS), observed=REALS),
        lambda b, a, s: pm.Normal("y", X @ b + a, s * (1 + WEIGHTS), observed=REALS), {},
    ),
    "another name": (
        lambda b, a, s: gpm.GLM("y", gs.student_t, X, b, a, eta="mu", nu=4.0, sigma=s, observed=REALS),
        lambda b, a, s: pm.StudentT("y", nu=pt.constant(4.0, dtype="float64"), mu=X @ b + a, sigma=s, observed=REALS), {},
    ),
    "categories": (
        lambda b, a, s: gpm.GLM("y", gs.categorical_logit, X, b, a, observed=BINARY),
        lambda b, a, s: pm.Categorical("y", logit_p=X @ b + a, observed=BINARY), dict(outcomes=3),
    ),
    "categories in groups": (
        lambda b, a, s: gpm.GLM("y", gs.categorical_logit, X, b, a, groups=GROUPS, observed=BINARY),
        lambda b, a, s: pm.Categorical("y", logit_p=X @ b + a[GROUPS], observed=BINARY), dict(outcomes=3, groups=G),
    ),
    "cutpoints": (
        lambda b, a, s: gpm.GLM("y", gs.ordered_logit, X, b, cutpoints=s * np.arange(3.0) + a, observed=LEVELS),
        lambda b, a, s: pm.OrderedLogistic("y", eta=X @ b, cutpoints=s * np.arange(3.0) + a, observed=LEVELS), {},
    ),
    "uncertain design": (
        lambda b, a, s: gpm.GLM("y", gs.bernoulli_logit, pm.Normal("Z", X, 1.0, shape=X.shape), b, a, observed=BINARY),
        lambda b, a, s: pm.Bernoulli("y", logit_p=pm.Normal("Z", X, 1.0, shape=X.shape) @ b + a, observed=BINARY), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", some(CASES, 4))
def test_equals_pymc(name):
    ours, theirs, kind = CASES[name]
    a, b = model(ours, **kind), model(theirs, **kind)
    point = {n: v + rng.normal(size=np.shape(v)) / 3 for n, v in a.initial_point().items()}
    results = []
    for m, mode in ((a, QUICK), (b, AS_WRITTEN)):
        outputs = [m.logp(), m.dlogp(), *m.logp(vars=[m["y"]], sum=False)]
        results.append(m.compile_fn(outputs, mode=mode)(point))
    (value, gradient, terms), (its_value, its_gradient, its_terms) = results
    assert terms.shape == (N,)
    np.testing.assert_allclose(value, its_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, its_gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(terms, its_terms, rtol=1e-9, atol=1e-12)


def test_one_evaluation():
    """The log-likelihood and all gradients come from one node, which holds the data."""
    made = model(CASES["bernoulli"][0])
    function = made.logp_dlogp_function()
    ops = [type(n.op).__name__ for n in function._pytensor_function.maker.fgraph.toposort()]
    assert ops.count("LogLikelihood") == 1 and "LogDensity" not in ops


def test_weights_and_terms_with_weights():
    beta = pt.dvector("beta")
    weighted = gpm.GLM.dist(gs.poisson_log, X, beta, weights=WEIGHTS)
    plain = gpm.GLM.dist(gs.poisson_log, X, beta)
    theirs = pm.logp(pm.Poisson.dist(pt.exp(X @ beta)), COUNTS)
    at = {beta: rng.normal(size=K) / 3}
    factors = rng.normal(size=N)
    for ours, want in (
        (pm.logp(weighted, COUNTS).sum(), (WEIGHTS * theirs).sum()),
        ((pm.logp(plain, COUNTS) * factors).sum(), (theirs * factors).sum()),
        ((pm.logp(weighted, COUNTS) * factors).sum(), (WEIGHTS * theirs * factors).sum()),
    ):
        for a, b in ((ours, want), (pt.grad(ours, beta), pt.grad(want, beta))):
            np.testing.assert_allclose(a.eval(at, mode=QUICK), b.eval(at, mode=AS_WRITTEN), rtol=1e-9, atol=1e-9)


def test_several_sets():
    """A leading axis of coefficients: (2, 1, k) against the rows."""
    beta = rng.normal(size=(2, 1, K))
    got = pm.logp(gpm.GLM.dist(gs.bernoulli_logit, X, beta, 0.2), BINARY).eval(mode=QUICK)
    want = pm.logp(pm.Bernoulli.dist(logit_p=(X * beta).sum(-1) + 0.2), BINARY).eval(mode=QUICK)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_gradient_in_observations():
    beta, y = np.ones(K), pt.dvector("y")
    at = {y: REALS}
    ours = pm.logp(gpm.GLM.dist(gs.normal_identity, X, beta, sigma=2.0), y).sum()
    np.testing.assert_allclose(pt.grad(ours, y).eval(at, mode=QUICK), -(REALS - X @ beta) / 4, rtol=1e-12)


def test_single_precision():
    """X in float32 stays so, and what comes out is float64."""
    ours = gpm.GLM.dist(gs.bernoulli_logit, X.astype(np.float32), np.ones(K))
    got = pm.logp(ours, BINARY).eval(mode=QUICK)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, pm.logp(pm.Bernoulli.dist(logit_p=X @ np.ones(K)), BINARY).eval(mode=QUICK), rtol=1e-5)


def test_predictive_draws():
    with model(CASES["groups"][0], groups=G):
        drawn = pm.sample_prior_predictive(draws=5, random_seed=1, compile_kwargs={"mode": QUICK}).prior_predictive["y"]
    assert drawn.shape == (1, 5, N)
    beta, alpha = np.array([0.5, 0.0, -0.5, 1.0]), np.linspace(-1, 2, G)
    y = gpm.GLM.dist(gs.normal_identity, X, beta, alpha, groups=GROUPS, offset=OFFSET, sigma=0.5)
    mean = pm.draw(y, 2000, random_seed=1, mode=QUICK).mean(0)
    np.testing.assert_allclose(mean, X @ beta + alpha[GROUPS] + OFFSET, atol=0.08)
    y = gpm.GLM.dist(gs.categorical_logit, X, np.zeros((K, 3)), np.log([0.2, 0.3, 0.5]))
    labels = pm.draw(y, 50, random_seed=1, mode=QUICK)
    np.testing.assert_allclose(np.bincount(labels.ravel()) / labels.size, [0.2, 0.3, 0.5], atol=0.02)


def test_groups_by_labels():
    """Strings are numbered in ascending order, categories in theirs; data frames are matrices."""
    pd = pytest.importorskip("pandas")
    beta, alpha = np.array([0.5, 0.0, -0.5, 1.0]), np.linspace(-1, 2, G)
    names = np.array([f"g{i:02}" for i in range(G)])
    wanted = pm.logp(gpm.GLM.dist(gs.bernoulli_logit, X, beta, alpha, groups=GROUPS), BINARY).eval(mode=QUICK)
    of_labels = pd.Categorical(names[GROUPS], categories=names[::-1])
    for groups, order in ((names[GROUPS].tolist(), 1), (pd.Series(GROUPS), 1), (of_labels, -1)):
        frame = pd.DataFrame(X, columns=list("abcd"))
        made = gpm.GLM.dist(gs.bernoulli_logit, frame, beta, alpha[::order], groups=groups)
        np.testing.assert_array_equal(pm.logp(made, BINARY).eval(mode=QUICK), wanted)


def test_distribution_function():
    beta = np.full(K, 0.3)
    y = gpm.GLM.dist(gs.normal_identity, X, beta, 1.0, sigma=2.0)
    np.testing.assert_allclose(pm.logcdf(y, REALS).eval(mode=QUICK), stats.norm.logcdf(REALS, X @ beta + 1, 2.0), rtol=1e-10)


def test_pickles():
    made = model(CASES["groups"][0], groups=G)
    again = cloudpickle.loads(cloudpickle.dumps(made))
    point = made.initial_point()
    assert made.compile_logp(mode=QUICK)(point) == again.compile_logp(mode=QUICK)(point)


@pytest.mark.parametrize(
    "arguments, kwargs, message",
    [
        ((gs.normal, X, np.ones(K)), {"sigma": 1.0}, "normal has no parameter 'eta'"),
        ((gs.normal_identity, X, np.ones(K)), {}, "normal_identity needs sigma"),
        ((gs.bernoulli_logit, X, np.ones(K)), {"scale": 1.0}, "no parameter 'scale' beside eta"),
        ((gs.bernoulli_logit, X[0], np.ones(K)), {}, r"X must be a matrix, \(N, k\); it has shape \(4,\)"),
        ((gs.bernoulli_logit, X, 1.0), {}, "beta must be a vector"),
        ((gs.bernoulli_logit, X, np.ones(K), 0.0), {"groups": GROUPS}, "alpha is a number"),
    ],
)
def test_errors(arguments, kwargs, message):
    with pytest.raises(ValueError, match=message):
        gpm.GLM.dist(*arguments, **kwargs)


@pytest.mark.slow
def test_posterior():
    """The posterior of a logistic regression, by both ways of writing it."""
    y = (rng.random(N) < 1 / (1 + np.exp(-(X @ [1.0, -1.0, 0.5, 0.0] + 0.5)))).astype(int)
    means = []
    for likelihood in (
        lambda b, a, s: gpm.GLM("y", gs.bernoulli_logit, X, b, a, observed=y),
        lambda b, a, s: pm.Bernoulli("y", logit_p=X @ b + a, observed=y),
    ):
        with model(likelihood):
            trace = pm.sample(500, tune=500, chains=2, cores=1, random_seed=1, progressbar=False)
        means.append(np.append(trace.posterior["beta"].mean(("chain", "draw")), trace.posterior["alpha"].mean()))
    np.testing.assert_allclose(*means, atol=0.05)  # posterior deviations are about 0.15


def test_groups_with_names_are_refused():
    with pytest.raises(TypeError, match=r"groups with names are those of gs\.GLM"):
        gpm.GLM.dist(gs.bernoulli_logit, X=np.ones((3, 1)), beta=np.ones(1), groups={"county": np.zeros(3, int)})
