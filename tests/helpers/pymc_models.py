"""Our distributions beside PyMC's, and a small model of either."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
from pymc_parameters import PARAMETERS  # noqa: E402

import gpustats as gs  # noqa: E402
import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.evaluation.density import DensityFormula  # noqa: E402
from gpustats.language.kinds import DENSITY  # noqa: E402
from gpustats.language.library import library  # noqa: E402
from gpustats.pymc import counterparts  # noqa: E402
from gpustats.runtime.speeds import Line  # noqa: E402

#: The densities that PyMC has, too.
NAMES = sorted(n for n in library.built_in(DENSITY) if counterparts.known_counterpart(n))
CONTINUOUS = [n for n in NAMES if not gs.densities[n].discrete]


def ours(name):
    return gpm.distribution(gs.densities[name])


def counterpart(name, parameters, **kwargs):
    """PyMC's random variable of a density with these parameters, in its order."""
    return counterparts.counterpart(DensityFormula(gs.densities[name]), parameters, **kwargs)


def sample(name, size, seed=0):
    """Draws by gpustats, without compiling anything."""
    op = ours(name).rv_op
    return op.rng_fn(np.random.default_rng(seed), *map(np.asarray, PARAMETERS[name]), size)


def difference(got, want):
    return np.max(np.abs(got - want) / (1 + np.abs(want)), initial=0)


def normal_model(distributions, observed, **kwargs):
    with pm.Model(**kwargs) as model:
        mu, sigma = pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
        distributions.Normal("y", mu, sigma, observed=observed)
    return model


Y = np.random.default_rng(1).normal(3, 2, 100)
POINT = np.array([2.5, 0.5])


def value_and_gradient(model, mode=None):
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    return function


PARETO2 = """
// pareto2: Pareto distribution that starts at zero
// x: nonnegative    alpha: positive, shape    scale: positive
__device__ real pareto2_logpdf(real x, real alpha, real scale)
{
    return log(alpha / scale) - (alpha + 1) * log1p(x / scale);
}
"""


def measured(cheap, calls, of_pytensor, start=1e-4):
    """A device on which a cheap operation and a call take so many seconds, and PyTensor takes so many times as long."""
    found = {"transfer": Line(1e-5, 1e-10)}
    for side, factor, begin in (("device", 1, start), ("PyTensor", of_pytensor, 1e-5)):
        for kind, each in (("cheap", cheap), ("calls", calls), ("gathers", calls)):
            found |= {f"{side} {kind}{rows}": Line(begin, factor * each) for rows in ("", ", many rows")}
        found[f"{side} elements"] = Line(0.0, factor * calls)
    return found
