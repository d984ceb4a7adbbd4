"""SciPy's names: each against scipy.stats, with a location and a scale."""

import numpy as np
import pytest
from references import errors
from references_draws import integrated
from scipy import stats
from thorough import THOROUGH, some
from together import Together

from gpustats import scipy_stats as st
from gpustats.scipy_stats.reparametrised import names

#: Shapes at which SciPy is right, by its names.
SHAPES = {
    "beta": (2.0, 3.5), "chi2": (3.0,), "erlang": (2.0,), "exponnorm": (1.5,), "gamma": (2.5,), "invgamma": (4.5,),
    "invgauss": (0.7,), "laplace_asymmetric": (1.7,), "lognorm": (0.7,), "lomax": (5.0,), "pareto": (5.0,),
    "powerlaw": (1.7,), "rdist": (2.5,), "rice": (0.8,), "skewnorm": (2.0,), "t": (6.0,), "triang": (0.3,),
    "truncnorm": (-1.0, 2.0), "vonmises": (1.3,), "vonmises_line": (1.3,), "weibull_max": (1.7,), "weibull_min": (1.8,),
    "fisk": (5.0,), "burr": (6.0, 1.5), "burr12": (5.0, 2.0), "mielke": (2.0, 5.0), "kappa3": (4.0,), "loglaplace": (3.5,),
    "loguniform": (0.5, 3.0), "reciprocal": (0.5, 3.0), "invweibull": (4.0,), "exponweib": (2.0, 1.7), "exponpow": (1.8,),
    "gompertz": (0.9,), "genpareto": (0.1,), "genhalflogistic": (0.8,), "foldcauchy": (1.5,), "genexpon": (2.0, 1.5, 0.8),
    "genextreme": (-0.1,), "genlogistic": (0.6,), "johnsonsu": (1.2, 2.5), "johnsonsb": (1.2, 0.9), "dweibull": (1.8,),
    "chi": (3.0,), "nakagami": (1.7,), "gengamma": (2.0, 1.7), "halfgennorm": (1.5,), "foldnorm": (1.2,), "fatiguelife": (0.8,),
    "recipinvgauss": (0.7,), "betaprime": (3.0, 5.5), "f": (4.0, 11.0), "alpha": (3.5,), "powerlognorm": (2.0, 0.5),
    "rel_breitwigner": (3.0,), "trapezoid": (0.2, 0.7), "bradford": (1.5,), "wrapcauchy": (0.3,), "skewcauchy": (0.4,),
    "powernorm": (2.5,), "ncx2": (3.0, 1.5), "ncf": (5.0, 11.0, 0.8), "geninvgauss": (1.3, 1.5), "kappa4": (0.2, 0.1),
    "tukeylambda": (0.3,), "gennorm": (1.3,), "dgamma": (1.4,), "loggamma": (0.8,), "crystalball": (2.0, 4.5),
    "pearson3": (0.6,), "argus": (1.2,), "jf_skew_t": (8.0, 5.0), "dpareto_lognorm": (0.5, 0.7, 6.0, 4.0), "truncexpon": (2.5,),
    "truncpareto": (2.0, 5.0), "truncweibull_min": (2.0, 0.3, 2.0),
    "norminvgauss": (2.0, 0.5), "genhyperbolic": (0.5, 1.5, -0.5), "irwinhall": (10,), "gausshyper": (2.0, 3.5, 2.5, 1.5),
    "levy_stable": (1.8, -0.5),
    "studentized_range": (3.0, 10.0), "kstwo": (4,),
    "ksone": (7,), "nct": (7.0, 0.8), "boltzmann": (0.4, 12), "dlaplace": (0.8,), "hypergeom": (30, 12, 9), "logser": (0.6,),
    "nhypergeom": (30, 12, 5), "planck": (0.5,), "skellam": (4.0, 2.5), "yulesimon": (6.0,), "zipf": (4.5,),
    "zipfian": (1.2, 15), "betanbinom": (5, 9.3, 1.0), "poisson_binom": ([0.1, 0.6, 0.7, 0.8],),
    "nchypergeom_fisher": (30, 12, 9, 0.5), "nchypergeom_wallenius": (30, 12, 9, 0.5),
    "bernoulli": (0.3,), "betabinom": (8, 2.0, 3.0), "binom": (9, 0.4), "geom": (0.3,), "nbinom": (4.0, 0.3), "poisson": (3.2,),
    "randint": (2, 9),
}  # fmt: skip
#: What of SciPy is not compared, and why.
NOT_COMPARED = {
    "landau": {"mean", "var"},  # SciPy says nan, of the mean of a tail that is infinite
    "levy_l": {"mean"},  # the mean of negative numbers cannot be inf
    "pearson3": {"support"},  # an end of which its skewness tells; SciPy says that there is none
    "vonmises": {"support"},  # the circle is cut opposite to its mean: P(X <= x) is a probability, no number of turns
}


class InOneKernel:
    """What methods of a frozen distribution give, from one kernel: a kernel for each takes most of the time of these tests."""

    def __init__(self, frozen):
        density = frozen.dist.density
        self.frozen, self.parameters = frozen, frozen.dist.parameters_of(frozen.args, frozen.kwds)
        numbers = [number for number in ("mean", "var") if density.definition.role(number)]
        self.functions = Together(density, ["logpdf", "cdf", "ppf", "lower", "upper", *numbers])

    def __call__(self, name, x):
        return self.functions(name, np.asarray(x, float), *self.parameters)

    def number(self, name):
        """Computed as often as a vector is long: a kernel for numbers would be another one."""
        return self(name, np.zeros(7))[0] if name in self.functions.endings else getattr(self.frozen, name)()


def both(name):
    """Ours and SciPy's, with shapes, a location, and a scale."""
    ours, theirs = getattr(st, name), getattr(stats, name)
    assert (ours.name, ours.shapes, ours.numargs) == (name, theirs.shapes, theirs.numargs)
    shapes = SHAPES.get(name, ())
    assert len(shapes) == theirs.numargs, "SHAPES has none of it"
    return [d(*shapes, loc=-3) if ours.discrete else d(*shapes, -3, scale=2.5) for d in (ours, theirs)]


#: Whose functions SciPy integrates for seconds
SLOW = {"studentized_range", "kstwo", "recipinvgauss"}


@pytest.mark.parametrize(
    "name", [*some(sorted(set(names()) - SLOW), 18), *(pytest.param(name, marks=THOROUGH) for name in sorted(SLOW))]
)
def test_a_name(name, rng):
    ours, theirs = both(name)
    q, discrete = rng.uniform(0.001, 0.999, 7), ours.dist.discrete
    x = np.append(theirs.ppf(q), [-40.0, 0.5] if discrete else [-10.0, 4.5])
    value = InOneKernel(ours)
    assert errors(value("logpdf", x), theirs.logpmf(x) if discrete else theirs.logpdf(x)).max() < 1e-10
    assert errors(value("cdf", x), theirs.cdf(np.floor(x) if discrete else x)).max() < 1e-10
    assert errors(value("ppf", q), theirs.ppf(q)).max() < 1e-8
    ends = [value.number("lower"), value.number("upper")]
    assert "support" in NOT_COMPARED.get(name, set()) or errors(ends, theirs.support()).max() < 1e-12
    if not integrated(theirs):
        assert_numbers(name, value, theirs)


def assert_numbers(name, value, theirs):
    for number in {"mean", "var"} - NOT_COMPARED.get(name, set()):
        assert errors(value.number(number), getattr(theirs, number)()) < 1e-6, number


@THOROUGH
@pytest.mark.parametrize("name", sorted(name for name in names() if integrated(getattr(stats, name))))
def test_numbers_that_scipy_integrates(name):
    ours, theirs = both(name)
    assert_numbers(name, InOneKernel(ours), theirs)


@pytest.mark.parametrize("name", some(sorted(names()), 24))
def test_draws_of_a_name(name):
    ours, theirs = both(name)
    draws = ours.rvs(2000, random_state=1)
    assert draws.dtype == (np.int64 if ours.dist.discrete else np.float64)
    below, high = [(draws <= theirs.ppf(p)).mean() for p in (0.3, 0.8)], theirs.cdf(theirs.ppf([0.3, 0.8]))
    assert abs(below - high).max() < 0.05


@THOROUGH
@pytest.mark.parametrize("name", ["norminvgauss", "weibull_max", "uniform", "binom"])
def test_methods_are_what_one_kernel_computes(name, rng):
    """The names' tests would not see a method that took another function."""
    frozen = getattr(st, name)(*SHAPES.get(name, ()), loc=2)
    value, q = InOneKernel(frozen), rng.uniform(0.01, 0.99, 7)
    x = frozen.ppf(q)
    np.testing.assert_allclose(x, value("ppf", q), rtol=1e-13)
    np.testing.assert_allclose(frozen.cdf(x), value("cdf", x), rtol=1e-13)
    np.testing.assert_allclose(frozen.logpmf(x) if frozen.dist.discrete else frozen.logpdf(x), value("logpdf", x), rtol=1e-13)
    assert frozen.support() == (value.number("lower"), value.number("upper"))
    np.testing.assert_allclose([frozen.mean(), frozen.var()], [value.number("mean"), value.number("var")], rtol=1e-13)
