"""Comparison of models whose sums are fused with PyMC's own values and gradients."""

import numpy as np
import pymc as pm
import pytensor
from modes import AS_WRITTEN
from pymc.blocking import DictToArrayBijection

import gpustats.pymc as gpm

REFERENCE = pytensor.compile.Mode("py", "fast_run").excluding("fusion")


def functions(model, mode=REFERENCE, theirs=AS_WRITTEN):
    """Value and gradient of a model's log-posterior: PyMC's own function, in the mode `theirs`, and that with its sums fused.

    As it is written, PyMC's function compiles in a third of the time, and refuses invalid parameters.
    """
    found = []
    for on, mode_of_function in ((False, theirs), (True, mode)):
        with gpm.fused(on, min_rows=1):
            function = model.logp_dlogp_function(ravel_inputs=True, mode=mode_of_function)
        function.set_extra_values({})
        found.append(function)
    return found


def model_of(make):
    """Model whose variables a function makes."""
    with pm.Model() as model:
        make()
    return model


def points(model, n=3, scale=0.4):
    """Points around the initial one, as dictionaries."""
    rng, start = np.random.default_rng(11), model.initial_point()
    return [{name: value + scale * rng.normal(size=np.shape(value)) for name, value in start.items()} for _ in range(n)]


def assert_fused(model):
    with gpm.fused(min_rows=1):
        found = gpm.explain(model)
    assert all(term.is_fused for term in found.terms), str(found)


def assert_same(model, scale=0.4, theirs=AS_WRITTEN):
    """All terms of a model are fused, and its values and gradients are PyMC's."""
    assert_fused(model)
    theirs, ours = functions(model, theirs=theirs)
    for point in points(model, scale=scale):
        same_at(theirs, ours, point)


def same_at(theirs, ours, point):
    raveled = DictToArrayBijection.map(point)
    (value, slopes), (found, found_slopes) = theirs(raveled), ours(raveled)
    np.testing.assert_allclose(found, value, rtol=1e-9)
    if np.isfinite(value):
        np.testing.assert_allclose(found_slopes, slopes, rtol=1e-7, atol=1e-7)


def assert_same_by_jax(model, scale=0.4):
    """The same of the functions that JAX makes."""
    import jax
    from pymc.sampling.jax import get_jaxified_logp

    theirs = get_jaxified_logp(model, negative_logp=False)
    with gpm.fused(min_rows=1):
        ours = get_jaxified_logp(model, negative_logp=False)
    with jax.enable_x64(True):
        functions = [jax.jit(jax.value_and_grad(f)) for f in (theirs, ours)]
        for point in points(model, 2, scale):
            values = [point[v.name] for v in model.value_vars]
            (value, slopes), (found, found_slopes) = (f(values) for f in functions)
            np.testing.assert_allclose(found, value, rtol=1e-9)
            for one, other in zip(slopes, found_slopes, strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-7)
