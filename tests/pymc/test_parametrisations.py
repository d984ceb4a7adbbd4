"""What PyMC's users write, with `pm` replaced by `gpm`: parametrisations, defaults, and all functions of a variable."""

import inspect

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH, some

pm = pytest.importorskip("pymc")
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import AS_WRITTEN, QUICK, REWRITTEN  # noqa: E402
from pymc.distributions.distribution import support_point  # noqa: E402
from pymc.distributions.moments import mean  # noqa: E402
from pymc.exceptions import UndefinedMomentException  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402
from pymc_models import Y  # noqa: E402
from pymc_parameters import COV  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.graph.ops import LogDensity, LogLikelihood  # noqa: E402
from gpustats.pymc.classes import CLASSES  # noqa: E402

MU, CUTS = np.array([0.1, -0.5, 1.0]), np.array([-1.0, 0.3, 1.5])
SHARES, COUNTS, K = np.array([0.2, 0.3, 0.5]), np.array([1, 2, 4]), np.array([2.0, 3.0, 1.5])
PAIR = np.array([0.3, 0.7])
PLANE, TABLE = COV[:2, :2], np.arange(6.0).reshape(2, 3) / 5

#: class -> an observation, and calls as PyMC's users write them
CALLS = {
    "AsymmetricLaplace": (0.7, [((1.3, 0.2, 0.9), {}), ((), {"q": 0.3, "mu": 0.2, "b": 0.9})]),
    "Bernoulli": (1, [((0.3,), {}), ((), {"logit_p": -0.4})]),
    "Beta": (0.7, [((1.7, 2.5), {}), ((), {"mu": 0.4, "sigma": 0.2}), ((), {"mu": 0.4, "nu": 3.7})]),
    "BetaBinomial": (2, [((1.7, 2.5, 12), {})]),
    "Binomial": (2, [((7, 0.3), {}), ((7,), {"logit_p": -0.4})]),
    "Categorical": (1, [((SHARES,), {}), ((), {"logit_p": CUTS})]),
    "Cauchy": (0.7, [((0.3, 1.2), {})]),
    "ChiSquared": (0.7, [((3.5,), {})]),
    "Dirichlet": (SHARES, [((K,), {})]),
    "DirichletMultinomial": (COUNTS, [((7, K), {})]),
    "DiscreteUniform": (2, [((-1, 9), {})]),
    "ExGaussian": (0.7, [((), {"nu": 1.2}), ((0.2, 0.8), {"nu": 1.2})]),
    "Exponential": (0.7, [((1.3,), {}), ((), {"scale": 1.3}), ((), {})]),
    "Gamma": (0.7, [((2.3, 1.7), {}), ((), {"mu": 1.5, "sigma": 0.8})]),
    "Geometric": (2, [((0.3,), {})]),
    "Gumbel": (0.7, [((0.3, 1.2), {})]),
    "HalfCauchy": (0.7, [((1.2,), {})]),
    "HalfNormal": (0.7, [((), {}), ((1.2,), {}), ((), {"tau": 0.4})]),
    "HalfStudentT": (0.7, [((3.0,), {}), ((3.0, 1.2), {}), ((3.0,), {"lam": 0.4})]),
    "HurdleGamma": (0.7, [((0.6, 2.3, 1.7), {}), ((0.6,), {"mu": 1.5, "sigma": 0.8})]),
    "HurdleLogNormal": (0.0, [((0.6,), {}), ((0.6, 0.3), {"tau": 2.0})]),
    "HurdleNegativeBinomial": (2, [((0.6, 4.5, 2.2), {}), ((0.6,), {"p": 0.3, "n": 3.0})]),
    "HurdlePoisson": (2, [((0.6, 4.5), {})]),
    "Interpolated": (0.7, [((MU[[1, 0, 2]], K), {})]),
    "InverseGamma": (0.7, [((2.3, 1.7), {}), ((), {"mu": 1.5, "sigma": 0.8})]),
    "Kumaraswamy": (0.7, [((1.2, 2.2), {})]),
    "Laplace": (0.7, [((0.3, 1.2), {})]),
    "LogNormal": (0.7, [((), {}), ((0.3, 1.2), {}), ((0.3,), {"tau": 0.4})]),
    "Logistic": (0.7, [((), {}), ((0.3, 1.2), {})]),
    "LogitNormal": (0.7, [((), {}), ((0.3, 1.2), {}), ((0.3,), {"tau": 0.4})]),
    "Moyal": (0.7, [((), {}), ((0.3, 1.2), {})]),
    "Multinomial": (COUNTS, [((7, SHARES), {})]),
    "MatrixNormal": (TABLE, [
        ((np.ones((2, 3)),), {"rowcov": PLANE, "colcov": COV}),
        ((0.5,), {"rowchol": np.linalg.cholesky(PLANE), "colchol": np.linalg.cholesky(COV)}),
    ]),
    "MvNormal": (SHARES, [((MU, COV), {}), ((), {"tau": COV}), ((MU,), {"chol": np.linalg.cholesky(COV)}),
                          ((0.5,), {"chol": np.linalg.cholesky(COV).T, "lower": False})]),
    "MvStudentT": (SHARES, [((4.5,), {"mu": MU, "Sigma": COV}), ((4.5,), {"scale": COV}), ((4.5,), {"mu": MU, "tau": COV}),
                            ((4.5,), {"mu": MU, "chol": np.linalg.cholesky(COV)})]),
    "NegativeBinomial": (2, [((4.5, 2.2), {}), ((), {"n": 3.0, "p": 0.31}), ((4.5,), {"n": 3.0})]),
    "Normal": (0.7, [((), {}), ((0.3, 1.2), {}), ((0.3,), {"tau": 0.4})]),
    "NormalMixture": (0.7, [((PAIR, [0.1, 1.0], [0.5, 2.0]), {}), ((PAIR, [0.1, 1.0]), {"tau": 0.4})]),
    "OrderedLogistic": (1, [((0.4, CUTS), {})]),
    "OrderedMultinomial": (np.array([1, 2, 3, 1]), [((0.4, CUTS, 7), {})]),
    "OrderedProbit": (1, [((0.4, CUTS), {}), ((0.4, CUTS, 1.3), {})]),
    "Pareto": (1.7, [((2.4, 1.2), {})]),
    "Poisson": (2, [((4.5,), {})]),
    "PolyaGamma": (0.7, [((), {}), ((2.5, 0.8), {}), ((), {"z": -3.0})]),
    "Rice": (0.7, [((1.4, 0.9), {}), ((), {"b": 1.4, "sigma": 0.9})]),
    "SkewNormal": (0.7, [((), {}), ((1.9, 0.3, 1.2), {}), ((1.9, 0.3), {"tau": 0.4})]),
    "StickBreakingWeights": (SHARES, [((1.3, 2), {}), ((), {"alpha": [0.6, 2.0], "K": 2})]),
    "StudentT": (0.7, [((4.2,), {}), ((4.2, 0.3), {"sigma": 1.2}), ((4.2, 0.3), {"lam": 0.4})]),
    "Triangular": (0.7, [((), {}), ((-1.0, 2.5, 0.4), {})]),
    "TruncatedNormal": (0.7, [((0.3, 1.2), {"lower": -1.0, "upper": 2.0}), ((), {"lower": 0.1}),
                               ((), {"tau": 0.4, "upper": 2})]),
    "Uniform": (0.7, [((), {}), ((-1.0, 2.5), {})]),
    "VonMises": (0.7, [((), {}), ((0.3, 1.2), {})]),
    "Wald": (0.7, [((1.3, 2.0), {}), ((), {"mu": 1.3, "phi": 0.9}), ((1.3, 2.0), {"alpha": 0.2})]),
    "Wishart": (PLANE, [((4, 2 * PLANE), {})]),
    "Weibull": (0.7, [((1.7, 1.2), {})]),
    "ZeroInflatedBinomial": (2, [((0.7, 7, 0.3), {})]),
    "ZeroInflatedNegativeBinomial": (2, [((0.7, 4.5, 2.2), {}), ((0.7,), {"n": 3.0, "p": 0.31})]),
    "ZeroInflatedPoisson": (2, [((0.7, 4.5), {})]),
    "DiscreteWeibull": (2, [((0.7, 1.3), {})]),
    "HyperGeometric": (2, [((50, 10, 7), {})]),
    "SkewStudentT": (0.7, [((2.5, 1.5), {}), ((2.5, 1.5), {"mu": 0.3, "sigma": 1.2}), ((2.5, 1.5), {"lam": 0.4})]),
}  # fmt: skip
NEEDED = {"PolyaGamma": "polyagamma"}  #: packages without which PyMC evaluates nothing
CASES = [(name, i) for name, (_, calls) in CALLS.items() for i in range(len(calls))]
FUNCTIONS = {
    "logp": pm.logp,
    "logcdf": pm.logcdf,
    "icdf": lambda rv, x: pm.icdf(rv, np.array(0.3)),
    "support_point": lambda rv, x: support_point(rv),
    "mean": lambda rv, x: mean(rv),
}
#: Where PyMC's own is wrong: the distribution function in some versions, and what it knows of a Wald variable that is moved.
PYMC_IS_WRONG = {("Wald", "logcdf"), ("Wald", "support_point")}
PYMC_ESTIMATES = {("Interpolated", "support_point")}
#: Series, areas and grids, of which `test_time_series.py` has models, and distributions of others, as in the models below.
SERIES = set(
    "AR CAR EulerMaruyama GARCH11 GaussianRandomWalk ICAR KroneckerNormal MvGaussianRandomWalk MvStudentTRandomWalk "
    "RandomWalk".split()
)
OF_OTHERS = {"Truncated", "Censored"}
#: Of which `test_matrices.py` has tests: PyMC's log-densities have another constant.
CORRELATIONS = {"LKJCorr", "LKJCholeskyCov"}
OURS_ALONE = {"InverseWishart"}
#: What gpm hands on as PyMC has it, and why.
HANDED_ON = {
    **dict.fromkeys(["Flat", "HalfFlat", "DiracDelta"], "there is nothing to evaluate"),
    **dict.fromkeys(["Continuous", "Discrete", "Distribution", "SymbolicRandomVariable"], "base classes"),
    **dict.fromkeys(["CustomDist", "DensityDist", "Simulator"], "users' functions, of gpustats' variables as of others"),
    "Truncated": "it asks the variable that is truncated, and gpustats' give one density",
    "WishartBartlett": "a function that makes two variables; gpm.Wishart is one",
    "ZeroSumNormal": "sums of squares, which take PyTensor less time than a call of the device at a prior's lengths",
}


def test_no_class_is_left_out():
    """Each is gpustats' own and compared with PyMC's here, or handed on for a reason."""
    of_pymc_6 = {"Wishart", *CORRELATIONS} - set(CLASSES)  # which has them with leading axes and better transforms
    assert set(CALLS) - of_pymc_6 == set(CLASSES) - SERIES - OF_OTHERS - CORRELATIONS - OURS_ALONE - {"Lognormal"}
    assert gpm.Lognormal is gpm.LogNormal
    names = set(pm.distributions.__all__)
    assert names <= set(dir(gpm)) and names >= set(CALLS) | SERIES | OF_OTHERS | CORRELATIONS
    assert {n for n in names if getattr(gpm, n) is getattr(pm, n)} == set(HANDED_ON) | of_pymc_6
    assert names == {*CLASSES, "Mixture"} - OURS_ALONE | set(HANDED_ON) | of_pymc_6


@pytest.mark.parametrize("name", sorted(set(CLASSES) - OURS_ALONE))
def test_signature(name):
    """Names, their order, kinds and defaults, of `dist` and of the class itself."""
    ours, theirs = (inspect.signature(getattr(d, name).dist).parameters.values() for d in (gpm, pm))
    if name == "OrderedMultinomial":  # whose signature says less than it takes
        theirs = inspect.signature(lambda eta, cutpoints, n, *args, **kwargs: None).parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]
    if name not in ("RandomWalk", "Wishart"):  # of which PyMC says nothing, and that it could not be used
        assert getattr(gpm, name).__doc__ == getattr(pm, name).__doc__


#: PyTensor makes float16 of constants such as 0.5, and PyMC computes with them.
DOUBLE_PRECISION = pytensor.config.change_flags(cast_policy="numpy+floatX")


@pytest.mark.parametrize("name, i", some(CASES, 20))
def test_equals_pymc(name, i):
    x, calls = CALLS[name]
    args, kwargs = calls[i]
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    with DOUBLE_PRECISION:
        ours, theirs = (getattr(d, name).dist(*args, **kwargs) for d in (gpm, pm))
        found = {}
        for what, function in list(FUNCTIONS.items())[: 1 if i else None]:  # another parametrisation: the density will do
            try:
                wanted = function(theirs, pt.constant(np.asarray(x)))
            except (NotImplementedError, UndefinedMomentException):
                continue
            if (name, what) not in PYMC_IS_WRONG | PYMC_ESTIMATES:
                found[what] = function(ours, pt.constant(np.asarray(x))), wanted
        flat = [v for pair in found.values() for v in pair]
        values = iter(pytensor.function([], flat, mode=AS_WRITTEN)())
    assert "logp" in found
    for what, got, want in zip(found, values, values, strict=False):
        assert got.shape == want.shape, what
        np.testing.assert_allclose(got, want, rtol=1e-6 if what in ("icdf", "logcdf") else 1e-9, atol=1e-12, err_msg=what)


@pytest.mark.parametrize("name", some(sorted(set(CALLS) - set(NEEDED)), 5))
def test_random_points(name, rng):
    """Draws of several shapes have PyMC's shape and log-density; of matrices PyMC has that of one at a time."""
    _, calls = CALLS[name]
    args, kwargs = calls[-1]
    with DOUBLE_PRECISION:
        ours, theirs = (getattr(d, name).dist(*args, **kwargs, size=(3, 2)) for d in (gpm, pm))
        shapes = [tuple(rv.shape.eval(mode=QUICK)) for rv in (ours, theirs)]
        x = pm.draw(ours, random_seed=rng, mode=QUICK)
        one, points = getattr(pm, name).dist(*args, **kwargs), pt.constant(x)
        if name in ("MatrixNormal", "Wishart"):
            wanted = pt.stack([pm.logp(one, points[place]) for place in np.ndindex(3, 2)]).reshape((3, 2))
        else:
            wanted = pm.logp(one, points)
        got, want = pytensor.function([], [pm.logp(ours, points), wanted], mode=AS_WRITTEN)()
    assert shapes == [x.shape, x.shape] and x.dtype == theirs.dtype
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


def test_parameters_that_do_not_go_together():
    for call in (
        lambda d: d.Normal.dist(0, sigma=1.0, tau=1.0),
        lambda d: d.Gamma.dist(alpha=1.0, sigma=1.0),
        lambda d: d.Bernoulli.dist(p=0.5, logit_p=0.0),
        lambda d: d.NegativeBinomial.dist(mu=1.0, p=0.5, n=2.0),
        lambda d: d.ZeroInflatedNegativeBinomial.dist(0.5, mu=1.0),
        lambda d: d.MvNormal.dist(MU, cov=COV, chol=COV),
        lambda d: d.MvStudentT.dist(4.0, mu=MU, Sigma=COV, scale=COV),
        lambda d: d.Rice.dist(nu=1.0, b=1.0, sigma=1.0),
        lambda d: d.Wald.dist(mu=1.0, lam=1.0, phi=1.0),
        lambda d: d.Categorical.dist(np.array([-0.5, 1.5])),
        lambda d: d.Truncated.dist(d.Normal.dist()),
        lambda d: d.Censored.dist(0.0, upper=1.0),
    ):
        messages = []
        for distributions in (gpm, pm):
            with pytest.raises((ValueError, TypeError)) as error:
                call(distributions)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_nothing_is_lost_on_the_way():
    """Parameters reach the density as they are passed, where PyMC takes a detour."""

    def logp(rv, x):
        return float(pm.logp(rv, x).eval(mode=QUICK))

    assert logp(gpm.Bernoulli.dist(logit_p=40.0), 0) == pytest.approx(-40.0, rel=1e-15)
    assert logp(gpm.Bernoulli.dist(p=pm.math.sigmoid(np.float64(40.0))), 0) == pytest.approx(-40.0, rel=1e-15)
    assert logp(gpm.Binomial.dist(3, logit_p=-800.0), 1) == pytest.approx(np.log(3) - 800.0, rel=1e-15)
    assert logp(gpm.Categorical.dist(logit_p=np.array([0.0, 800.0])), 0) == pytest.approx(-800.0, rel=1e-15)
    assert logp(gpm.Gamma.dist(2.3, 1e-320), 1.0) == gs.gamma.logpdf(1.0, 2.3, 1e-320)
    assert logp(gpm.NegativeBinomial.dist(5.0, 1e17), 3) == pytest.approx(stats.poisson.logpmf(3, 5.0), rel=1e-14)
    assert logp(gpm.Exponential.dist(1 / 3), 2.0) == gs.exponential.logpdf(2.0, 1 / 3)
    assert logp(gpm.Rice.dist(0.1, 3.0), 2.0) == gs.rice.logpdf(2.0, 0.1, 3.0)


@pytest.mark.parametrize("name", some(["Normal", "Gumbel", "Geometric"], 2))
def test_quantiles(name):
    """Their derivatives, also far in a tail; nan outside of [0, 1]; an error where parameters are invalid."""
    q, a, b = pt.dvector(), pt.dscalar(), pt.dvector()
    results = []
    for distributions in (gpm, pm):
        made = getattr(distributions, name)
        x = pm.icdf(made.dist(a) if name == "Geometric" else made.dist(a, b), q)
        outputs = [x] if name == "Geometric" else [x, *pt.grad((x * np.array([1.0, 2.0, 3.0])).sum(), [q, a, b])]
        function = pytensor.function([q, a, b], outputs, mode=QUICK, on_unused_input="ignore")
        results.append(function([1e-9, 0.42, 1 - 1e-9], 0.3, [1.0, 2.0, 0.5]))
        if distributions is gpm:
            assert np.isnan(function([-0.1, 0.5, np.nan], 0.3, [1.0, 2.0, 0.5])[0]).tolist() == [True, False, True]
        with pytest.raises(ParameterValueError):
            function([0.1, 0.2, 0.3], -0.3, [1.0, -2.0, 0.5])
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


# ---- distributions of distributions

X = np.clip(Y, 0.1, 5.9)
N = np.arange(40) % 6


#: models of observations: functions of `gpm` or `pm`, and of free numbers a (real) and s (positive)
MODELS = {
    "truncated": lambda d, a, s: d.Truncated("y", d.Laplace.dist(a, s), lower=0.0, upper=6.0, observed=X),
    "truncated_above": lambda d, a, s: d.Truncated("y", d.Weibull.dist(s, 2.0), upper=6 + s, observed=X),
    "truncated_at_the_end": lambda d, a, s: d.Truncated("y", d.Exponential.dist(s), lower=0.0, upper=6.0, observed=X),
    "truncated_normal": lambda d, a, s: d.Truncated("y", d.Normal.dist(a, s), lower=-np.inf, upper=6.0, observed=X),
    "truncated_counts": lambda d, a, s: d.Truncated("y", d.Geometric.dist(s / (1 + s)), upper=6, observed=N[N > 0]),
    "truncated_by_observation": lambda d, a, s: d.Truncated("y", d.Cauchy.dist(a, s), lower=X - 1, observed=X),
    "censored": lambda d, a, s: d.Censored("y", d.Logistic.dist(a, s), lower=0.1, upper=5.9, observed=X),
    "censored_above": lambda d, a, s: d.Censored("y", d.Exponential.dist(s), lower=None, upper=5.9, observed=X),
    "normal_mixture": lambda d, a, s: d.NormalMixture("y", PAIR, [a, 2.0], s, observed=X),
    "mixture_of_an_axis": lambda d, a, s: d.Mixture("y", PAIR, d.StudentT.dist(4.0, pt.stack([a, 2.0]), sigma=s), observed=X),
    "mixture_of_a_shape": lambda d, a, s: d.Mixture("y", PAIR, d.Normal.dist(a, s, shape=2), observed=X),
    "mixture_of_a_list": lambda d, a, s: d.Mixture("y", PAIR, [d.Normal.dist(a, 1.5), d.Normal.dist(2.0, s)], observed=X),
    "hurdle": lambda d, a, s: d.HurdlePoisson("y", s / (1 + s), 2 + s, observed=N),
    "hurdle_gamma": lambda d, a, s: d.HurdleGamma("y", s / (1 + s), 2 + s, s, observed=1.0 * N),
    "ordered_probit": lambda d, a, s: d.OrderedProbit("y", a, CUTS, s, observed=N % 4),
    "shifted_wald": lambda d, a, s: d.Wald("y", 1 + s, s, alpha=0.05 * s, observed=X),
}


@THOROUGH
@pytest.mark.parametrize("name", some(MODELS))
def test_model_of_distributions(name):
    """Value and gradient are PyMC's, and the sum over the observations is one evaluation."""
    results = []
    for distributions in (gpm, pm):
        with pm.Model() as model:
            a, s = pm.Normal("a"), pm.HalfNormal("s")
            MODELS[name](distributions, a, s)
        mode = REWRITTEN if distributions is gpm else QUICK
        function = model.compile_fn([model.logp(), model.dlogp()], mode=mode)
        results.append(function({"a": 0.7, "s_log__": 0.2}))
        if distributions is gpm:
            ops = [type(n.op) for n in function.f.maker.fgraph.apply_nodes]
            assert ops.count(LogLikelihood) == 1 and LogDensity not in ops
            assert {v.name for v in model.deterministics} == ({"y_probs"} if "ordered" in name else set())
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


def test_distributions_that_differ():
    """A mixture of several densities, and a truncated one that has bounds already, are PyMC's of our terms."""
    for make in (
        lambda d: d.Mixture.dist(PAIR, [d.Normal.dist(0.3, 1.2), d.StudentT.dist(4.0)]),
        lambda d: d.Truncated.dist(d.Uniform.dist(-1.0, 2.0), lower=0.0),
    ):
        with DOUBLE_PRECISION:
            got, want = (pm.logp(make(d), np.array([0.2, 1.7])).eval(mode=QUICK) for d in (gpm, pm))
        np.testing.assert_allclose(got, want, rtol=1e-9)


@THOROUGH
def test_shapes_of_distributions_of_distributions():
    base = gpm.Normal.dist(np.zeros(3), 1.0, shape=(2, 3))
    for rv in (
        gpm.Truncated.dist(base, lower=0.0),
        gpm.Censored.dist(base, upper=0.0),
        gpm.Mixture.dist(PAIR, gpm.Normal.dist(np.zeros(2), 1.0, shape=(2, 3, 2))),
        gpm.Mixture.dist(PAIR, [base, base]),
        gpm.Truncated.dist(gpm.Exponential.dist(1.0), upper=np.ones((2, 3))),
        gpm.HurdleGamma.dist(0.3, 1.0, 2.0, shape=(2, 3)),
    ):
        assert pm.draw(rv, mode=QUICK).shape == support_point(rv).eval(mode=QUICK).shape == (2, 3)
    with pm.Model() as model:
        gpm.Truncated("x", gpm.Exponential.dist(1.0), lower=0.0, upper=6.0)
    assert 0 < model.rvs_to_transforms[model["x"]].backward(-50.0, *model["x"].owner.inputs).eval(mode=QUICK) < 1e-9
    start = support_point(gpm.Truncated.dist(gpm.Exponential.dist(1.0), lower=5.0, upper=6.0)).eval(mode=QUICK)
    assert 5 < start < 6


@pytest.mark.parametrize(
    "make",
    [
        lambda: gpm.Truncated.dist(gpm.Exponential.dist(1.0), upper=2.0, lower=3.0),
        lambda: gpm.Censored.dist(gpm.Normal.dist(0.0, -1.0), upper=2.0),
        lambda: gpm.HurdlePoisson.dist(1.5, 2.0),
        lambda: gpm.NormalMixture.dist([0.3, 0.3], [0.0, 1.0]),
        lambda: gpm.OrderedProbit.dist(0.0, CUTS[::-1]),
        lambda: gpm.Normal.dist(0.0, tau=-1.0),
    ],
)
def test_invalid_parameters(make):
    rv = make()
    with pytest.raises(ParameterValueError):
        pm.logp(rv, np.array(1, rv.dtype)).eval(mode=QUICK)


def test_draws_of_a_hurdle():
    draws = gs.transforms.Hurdle(gs.gamma).rvs(0.4, 2.0, 3.0, size=4000, rng=1)
    assert abs((draws > 0).mean() - 0.4) < 0.03
    assert stats.kstest(draws[draws > 0], "gamma", (2.0, 0, 1 / 3)).pvalue > 1e-4


def test_parts_of_a_stick():
    """A wrong number of them, and a number that is not known when the model is made."""
    assert np.isneginf(pm.logp(gpm.StickBreakingWeights.dist(3.0, 7), np.array([0.4, 0.3, 0.3])).eval(mode=QUICK))
    K = pytensor.shared(2)
    assert type(gpm.StickBreakingWeights.dist(3.0, K).owner.op) is type(pm.StickBreakingWeights.dist(3.0, K).owner.op)
    with pm.Model() as model:
        gpm.StickBreakingWeights("w", pm.HalfNormal("alpha"), 3)
    assert np.isfinite(model.compile_dlogp(mode=QUICK)(model.initial_point())).all()


def test_what_pymc_has_and_gpustats_has_not():
    assert gpm.Flat is pm.Flat
    assert not hasattr(gpm, "Model")


def test_a_derived_class():
    """Users' classes keep their names and docstrings, of which PyMC knows none."""

    class Measured(gpm.Interpolated):
        """Mine."""

    assert (Measured.__module__, Measured.__doc__) == (__name__, "Mine.")
    assert gpm.Interpolated.__module__ == "gpustats.pymc" and gpm.Interpolated.__doc__ == pm.Interpolated.__doc__
    variable = Measured.dist(x_points=np.array([0.0, 1.0, 2.0]), pdf_points=np.array([1.0, 1.0, 1.0]))
    assert pm.logp(variable, 0.5).eval() == pytest.approx(-np.log(2))
