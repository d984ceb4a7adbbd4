"""Models of many kinds, written without regard to what is fused: values, gradients and draws are those of PyMC alone."""

import functools

import arviz as az
import gallery
import numpy as np
import pymc as pm
import pytensor
import pytest
from pytensor.compile import Mode
from thorough import THOROUGH

import gpustats.pymc as gpm
from gpustats.compiler.fusion.op import OfRows

pytestmark = [
    pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning"),
    pytest.mark.filterwarnings("ignore:divide by zero|invalid value|overflow:RuntimeWarning"),
]
FEW = ["eight_schools_noncentred", "dogs_of_powers", "bones", "wells", "weibull_times", "choices_of_three"]
NAMES = [pytest.param(name, marks=[THOROUGH] * (name not in FEW)) for name in gallery.MODELS]
IN_JAX = [pytest.param(name, marks=[THOROUGH] * (name != FEW[2])) for name in gallery.MODELS]
N_POINTS = 3
REWRITTEN = Mode("py", "fast_run").excluding("fusion")  # as models are for users, but that nothing is compiled

#: Terms that PyTensor computes, also where any number of rows is enough, and a part of the reason.
NOT_FUSED = {
    "moving_average_of_errors": {"y": "a product over 80 elements"},
    "process_of_normals": {"y": "the operation ExtractDiag"},  # the log-determinant of a matrix: there are no rows
    "diffusion": {"steps": "a sum without data"},
}


def points(model):
    """Points about the initial one, at which nearly all models have a density."""
    rng, start = np.random.default_rng(3), model.initial_point(random_seed=1)
    for _ in range(N_POINTS):
        noise = {name: 0.3 * rng.normal(size=np.shape(v)) * (np.asarray(v).dtype.kind == "f") for name, v in start.items()}
        yield {name: np.asarray(v + noise[name], np.asarray(v).dtype) for name, v in start.items()}


def of_both(model, mode):
    """The log-posterior, and the same with its gradient: what steppers without and with derivatives compile."""
    return model.compile_logp(mode=mode), model.logp_dlogp_function(ravel_inputs=True, mode=mode)


def evaluated(model, functions, point):
    value, both = functions
    both.set_extra_values({v.name: point[v.name] for v in model.discrete_value_vars})
    with np.errstate(all="ignore"):
        its, slope = both(np.concatenate([np.ravel(point[v.name]) for v in model.continuous_value_vars]))
        return float(value(point)), float(its), slope.copy()


@functools.lru_cache(1)  # tests of one model follow one another
def reference(name):
    """A model, points at which its density is not zero, and what PyMC computes there by itself."""
    model = gallery.made(name)
    functions = of_both(model, REWRITTEN)
    found = [(point, evaluated(model, functions, point)) for point in points(model)]
    assert not n_fused(functions[0].f)
    finite = [(point, value, slope) for point, (value, _, slope) in found if np.isfinite(value)]
    assert 2 * len(finite) > N_POINTS
    return model, finite


def n_fused(function):
    names = [node.op for node in function.maker.fgraph.apply_nodes]
    return sum(isinstance(op, OfRows) or type(op).__name__ == "Fused" for op in names)


@pytest.mark.parametrize("compiler", ["C", pytest.param("numba", marks=THOROUGH)])
@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients(name, compiler):
    model, expected = reference(name)
    mode = "NUMBA" if compiler == "numba" else Mode("cvm" if pytensor.config.cxx else "vm", "fast_run")
    with gpm.fused(min_rows=1):
        ours = of_both(model, mode)
    some = name not in ("moving_average_of_errors", "process_of_normals")
    assert [n_fused(ours[0].f) > 0, n_fused(ours[1]._pytensor_function) > 0] == [some, some]
    for point, want, its_slope in expected:
        value, with_slope, slope = evaluated(model, ours, point)
        np.testing.assert_allclose(value, with_slope, rtol=1e-12)
        np.testing.assert_allclose(value, want, rtol=1e-9)
        np.testing.assert_allclose(slope, its_slope, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", IN_JAX)
def test_jax(name):
    """Of the sums that JAX cannot compute by itself those that are fused are right, too."""
    jax = pytest.importorskip("jax")
    from pymc.sampling.jax import get_jaxified_logp

    model, expected = reference(name)
    variables = [v.name for v in model.value_vars]
    kinds = [np.dtype(v.type.dtype).kind for v in model.value_vars]

    def compiled(on):
        with gpm.fused(on, min_rows=1):
            graph = get_jaxified_logp(model, negative_logp=False)  # PyMC returns the negative one if this is False

        def logp(real, whole):
            real, whole = iter(real), iter(whole)
            return -graph([next(real) if kind == "f" else next(whole) for kind in kinds])

        return logp, jax.jit(jax.value_and_grad(logp))

    def parts(point):
        return [[jax.numpy.asarray(point[v]) for v, k in zip(variables, kinds) if (k == "f") == real] for real in (True, False)]

    def flat(slopes):
        return np.concatenate([np.ravel(g) for g in slopes])

    with jax.enable_x64(True):
        found = []
        for on in (False, True):
            try:
                logp, both = compiled(on)
                found.append([(jax.jit(logp)(*p), *both(*p)) for p in [parts(point) for point, _, _ in expected]])
            except NotImplementedError as error:
                found.append(error)
        theirs, ours = found
        if isinstance(ours, Exception):
            assert type(theirs) is type(ours)
            return
        for k, ((_, want, its_slope), (alone, value, slopes)) in enumerate(zip(expected, ours, strict=True)):
            np.testing.assert_allclose([alone, value], want, rtol=1e-9)
            np.testing.assert_allclose(flat(slopes), its_slope, rtol=1e-7, atol=1e-7)
            if not isinstance(theirs, Exception):
                np.testing.assert_allclose([alone, value], theirs[k][1], rtol=1e-9)
                np.testing.assert_allclose(flat(slopes), flat(theirs[k][2]), rtol=1e-9, atol=1e-9)
        several = jax.tree.map(lambda *each: np.stack(each), *[parts(point) for point, _, _ in expected])
        values, slopes = jax.vmap(both)(*several)
        np.testing.assert_allclose(values, [value for _, value, _ in ours], rtol=1e-12)
        for k, (_, _, alone) in enumerate(ours):
            np.testing.assert_allclose(flat([g[k] for g in slopes]), flat(alone), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_to_pytensor(name):
    with gpm.fused(min_rows=1):
        terms = gpm.explain(gallery.made(name)).terms
    reasons = {term.name: term.reason for term in terms if not term.is_fused}
    known = NOT_FUSED.get(name, {})
    assert reasons.keys() == known.keys() and all(part in reasons[term] for term, part in known.items())


SAMPLED = [
    "eight_schools_noncentred", "dugongs", "two_normals_by_hand", "fish_of_campers", "weibull_times", "coal_mining",
    "overdispersed_shares", "difference_in_differences",
]  # fmt: skip
SHORT = dict(chains=1, cores=1, random_seed=3, progressbar=False, compute_convergence_checks=False)
SAMPLERS = {
    "Metropolis": lambda: pm.sample(200, tune=200, step=pm.Metropolis(), **SHORT),
    "Slice": lambda: pm.sample(200, tune=100, step=pm.Slice(), **SHORT),
    "SMC": lambda: pm.sample_smc(200, **SHORT),
}


@THOROUGH
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SAMPLED)
def test_samplers_without_derivatives(name, sampler):
    """The same draws; where rounding has changed a decision, means that differ by their Monte Carlo error.

    PyMC needs its rewrites here: as written, the probability of a count given a large rate is the logarithm of 0.
    """
    found = []
    for on in (False, True):
        with gallery.made(name) as model, gpm.fused(on, min_rows=1), pytensor.config.change_flags(mode=REWRITTEN):
            found.append(SAMPLERS[sampler]().posterior)
    for variable in model.free_RVs:
        theirs, ours = (np.asarray(posterior[variable.name], float)[0] for posterior in found)
        if np.allclose(ours, theirs, rtol=1e-6, atol=1e-9):
            continue
        for k in np.ndindex(theirs.shape[1:]):
            both = [draws[:, *k] for draws in (theirs, ours)]
            error = np.hypot(*[float(np.squeeze(az.mcse(draws))) for draws in both])
            assert abs(both[0].mean() - both[1].mean()) < 4 * error, (variable.name, k)
