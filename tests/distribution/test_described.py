"""What Python shows of densities: signatures, docstrings, names elsewhere, completion."""

import copy
import doctest
import inspect
import pickle
import pydoc

import numpy as np
import pytest
from scipy import stats
from thorough import THOROUGH

import gpustats as gs
from gpustats.names import pymc, r
from gpustats.names.elsewhere import in_r
from gpustats.names.lines import lines_of

NAMED = """
// named_here: a gamma distribution by its mean
// x: nonnegative    alpha: positive, shape    mean_x: positive, mean
__device__ real named_here_logpdf(real x, real alpha, real mean_x) { return gamma_logpdf(x, alpha, alpha / mean_x); }
"""


@pytest.fixture(scope="module")
def named():
    return gs.register(NAMED, replace=True)


def names(callable_):
    return list(inspect.signature(callable_).parameters)


def test_signatures_have_parameters_by_name(named):
    assert names(gs.gamma) == ["alpha", "beta"] and names(gs.gamma.logpmf) == ["x", "alpha", "beta"]
    assert names(gs.gamma.ppf) == ["q", "alpha", "beta"] and names(gs.gamma.mean) == ["alpha", "beta"]
    assert names(gs.gamma.interval) == ["confidence", "alpha", "beta"]
    assert names(gs.gamma.rvs)[:4] == ["alpha", "beta", "size", "rng"] and names(gs.gamma.fit)[0] == "x"
    assert names(named.logpdf) == ["x", "alpha", "mean_x"] and names(gs.normal(1.0, 2.0).stats) == ["moments"]
    assert names(gs.mvnormal.logpdf) == ["x", "mu", "cov", "scale_tril", "precision"]
    truncated = inspect.signature(gs.transforms.Truncate(gs.normal, lower=0.5).cdf).parameters
    assert truncated["lower"].default == 0.5 and truncated["sigma"].default is inspect.Parameter.empty
    assert names(gs.Density.logpdf) == ["self", "args", "kwargs"] and names(gs.Density)[0] == "definition"


def test_names_that_python_has_no_signature_for():
    density = gs.register("real odd_names_logpdf(real x, real lambda, real size) { return -x * lambda * size; }", replace=True)
    assert names(density.logpdf) == ["args", "kwargs"] and density.logpdf(1.0, 2.0, 3.0) == -6


def test_methods_travel():
    gs.normal.cdf(1.0, 0.0, 1.0)
    for again in (pickle.loads(pickle.dumps(gs.normal)), copy.deepcopy(gs.normal)):
        assert names(again.cdf) == ["x", "mu", "sigma"] and again.cdf(0.0, 0.0, 1.0) == 0.5
    assert pickle.loads(pickle.dumps(gs.normal.pdf))(0.0, 0.0, 1.0) == gs.normal.pdf(0.0, 0.0, 1.0)


def test_help_is_short_and_of_the_density(named):
    text = pydoc.plain(pydoc.render_doc(gs.gamma))
    assert text.count("\n") < 45 and "beta**alpha * x**(alpha - 1)" in text and "Rate." in text
    assert "scipy.stats.gamma(a, loc, scale): alpha=a, beta=1 / scale at x - loc" in text and "pymc.Gamma" in text
    assert "by its mean" in named.__doc__ and "scipy" not in named.__doc__
    assert gs.Density.__doc__.startswith("Probability density")


@pytest.mark.parametrize(
    "name", ["gamma", "uniform", "zero_sum_normal", *(pytest.param(n, marks=THOROUGH) for n in sorted(gs.densities))]
)
def test_examples_run(name):
    example = doctest.DocTestParser().get_doctest(gs.densities[name].__doc__, {}, name, None, 0)
    assert len(example.examples) > 2 and doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_hints_at_other_names():
    for name, advice in {
        "norm": "scipy.stats.norm is gpustats.normal", "HalfNormal": "PyMC's HalfNormal is gpustats.half_normal",
        "pnorm": "R's pnorm is gpustats.normal.cdf", "norml": "did you mean normal", "Likelyhood": "did you mean Likelihood",
        "dgamma": "scipy.stats.dgamma is gpustats.double_gamma, R's dgamma is gpustats.gamma.pdf",
    }.items():  # fmt: skip
        with pytest.raises(AttributeError, match=f"'{name}': {advice}"):
            getattr(gs, name)
    with pytest.raises(KeyError, match="no density is called 'nomal': did you mean normal"):
        gs.densities["nomal"]
    with pytest.raises(KeyError, match="did you mean rbf"):
        gs.covariances["rbff"]
    with pytest.raises(AttributeError, match="'entirely_else'$"):
        gs.entirely_else  # noqa: B018


#: R's distributions as scipy.stats has them.
OF_R = {
    "beta": lambda a, b: stats.beta(a, b), "cauchy": lambda a, b: stats.cauchy(a, b), "chisq": lambda df: stats.chi2(df),
    "exp": lambda rate: stats.expon(scale=1 / rate), "f": lambda a, b: stats.f(a, b), "geom": lambda p: stats.geom(p, -1),
    "gamma": lambda shape, rate: stats.gamma(shape, scale=1 / rate), "hyper": lambda m, n, k: stats.hypergeom(m + n, m, k),
    "lnorm": lambda m, s: stats.lognorm(s, scale=np.exp(m)), "logis": lambda m, s: stats.logistic(m, s),
    "binom": lambda n, p: stats.binom(n, p), "nbinom": lambda n, mu: stats.nbinom(n, n / (n + mu)),
    "norm": lambda m, s: stats.norm(m, s), "pois": lambda mu: stats.poisson(mu), "t": lambda df: stats.t(df),
    "tukey": lambda k, df: stats.studentized_range(k, df), "unif": lambda a, b: stats.uniform(a, b - a),
    "weibull": lambda a, b: stats.weibull_min(a, scale=b), "multinom": None,
}  # fmt: skip
VALUES = {"size": 7.0, "prob": 0.3, "m": 8.0, "n": 9.0, "k": 6.0, "min": 0.5, "max": 6.0, "nmeans": 3.0}


@pytest.mark.parametrize("line", lines_of(r.DISTRIBUTIONS), ids=lambda line: line.name)
def test_names_in_r(line):
    given = {n: VALUES.get(n, 1.5 + i) for i, n in enumerate(line.parameters.split(", "))}
    assert any(line.parameters in call for call, _ in in_r(line.density))
    if (make := OF_R[line.name]) is None:
        return
    known = {n.replace("lambda", "lambda_"): v for n, v in given.items()}
    values = eval(f"dict({line.values.replace('=lambda', '=lambda_')})", known)
    x = 2.0 + (line.at == "x + 1")
    np.testing.assert_allclose(gs.densities[line.density].cdf(x, **values), make(*given.values()).cdf(2.0), rtol=1e-9)


def test_names_in_pymc():
    pm = pytest.importorskip("pymc")
    assert {pymc.class_name(n) for n in gs.densities} & {*pm.distributions.__all__} == pymc.DISTRIBUTIONS


@pytest.mark.parametrize("jedi", [False, True])
def test_completion_in_ipython(jedi):
    pytest.importorskip("IPython")
    from IPython.core.completer import IPCompleter, provisionalcompleter

    completer = IPCompleter(namespace={"gs": gs}, use_jedi=jedi)
    cases = {'gs.densities["gam': "gamma", "gs.gamma(alp": "alpha=", "gs.ga": "gamma", "gs.gamma.logp": "logpdf"}
    for text, wanted in cases.items():
        with provisionalcompleter():
            found = [c.text for c in completer.completions(text, len(text))]
        assert any(wanted in c for c in found), (text, found)


def test_only_public_names_are_listed():
    shown = {n for n in dir(gs) if not n.startswith("__")}
    assert shown == {*gs.__all__, *gs.densities, *gs.covariances}
    assert "cdf" in dir(gs.normal) and "cdf" not in dir(gs.mvnormal)
