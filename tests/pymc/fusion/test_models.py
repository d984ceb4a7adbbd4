"""Unmodified PyMC models: their log-posteriors, gradients and second derivatives with sums fused are those without."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from models_of_rows import MODELS, OF_ROWS, SMOOTH, fused_nodes, log_posterior, made, points
from modes import AS_WRITTEN, QUICK
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.traversal import ancestors, toposort
from thorough import THOROUGH, some

import gpustats.pymc as gpm


@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
@pytest.mark.parametrize("build", some(MODELS, 12), ids=lambda b: b.__name__)
def test_values_and_gradients(build):
    model = made(build)
    plain = log_posterior(model, AS_WRITTEN)
    with gpm.fused(min_rows=30):
        ours = log_posterior(model)
    assert not fused_nodes(plain._pytensor_function)
    assert len(fused_nodes(ours._pytensor_function)) == MODELS[build]
    for x in points(model):
        (want, slope), (got, our_slope) = plain(x), ours(x)
        np.testing.assert_allclose(got, want, rtol=1e-11)
        np.testing.assert_allclose(our_slope, slope, rtol=1e-9, atol=1e-9 * np.abs(slope).max())


@pytest.mark.filterwarnings("ignore::pymc.exceptions.ImputationWarning")
@pytest.mark.parametrize("build", some([b for b in MODELS if b not in OF_ROWS]), ids=lambda b: b.__name__)
def test_nothing_of_all_rows_is_left_to_pytensor(build):
    """What a sum is given, checks of parameters among it, is not computed from as many elements as there are rows."""
    with gpm.fused(min_rows=30):
        graph = rewrite_pregrad(made(build).logp())
    nodes = [n for n in toposort([graph]) if type(n.op).__name__ == "Fused"]
    given = [v for node in nodes for v in node.inputs[: node.op.evaluator.n_inputs]]
    sizes = [np.prod([s or 1 for s in v.type.shape]) for v in ancestors(given) if hasattr(v.type, "shape")]
    assert len(nodes) == MODELS[build] and max(sizes) < 100


@THOROUGH
@pytest.mark.parametrize("build", SMOOTH, ids=lambda b: b.__name__)
def test_second_derivatives(build):
    """The product of the Hessian and a vector, in all free variables."""
    model = made(build)
    variables, found = model.continuous_value_vars, []
    for on in (False, True):
        with gpm.fused(on, min_rows=30):
            graph = rewrite_pregrad(model.logp())
        first = pt.grad(graph, variables)
        along = sum((g * np.linspace(-1, 2, 1 + i)[-1]).sum() for i, g in enumerate(first))
        function = pytensor.function(variables, pt.grad(along, variables), mode=QUICK if on else AS_WRITTEN)
        assert bool([n for n in toposort([graph]) if type(n.op).__name__ == "Fused"]) == on
        start = model.initial_point(random_seed=1)
        found.append(function(*(start[v.name] for v in variables)))
    for want, got in zip(*found, strict=True):
        assert np.abs(want).max() > 0
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
