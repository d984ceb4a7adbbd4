"""Products with sparse matrices in fused models: values and gradients are those of PyMC's own graph."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytest
import scipy.sparse as sp
from fused_models import assert_fused, assert_same, assert_same_by_jax, functions, model_of, points, same_at
from pymc.pytensorf import rewrite_pregrad
from pytensor.graph.replace import vectorize_graph
from thorough import some

import gpustats as gs
import gpustats.pymc as gpm
from gpustats.compiler.graph.machine import CALLS_BEFORE_PROGRAM

N, K = 80, 110
rng = np.random.default_rng(12)
X = sp.random(N, K, density=0.03, format="csr", rng=rng)
ONES = sp.csr_matrix((np.ones(N, np.int8), rng.integers(0, K, N), np.arange(N + 1)), (N, K))
Z, GROUP, Y, COUNTS = rng.normal(size=(N, 4)), rng.integers(0, 5, N), rng.normal(size=N), rng.poisson(2, N)


def normal(eta):
    pm.Normal("y", eta, pm.HalfNormal("s"), observed=Y)


def b():
    return pm.Normal("b", shape=K)


def structured():
    normal(ps.structured_dot(ps.as_sparse_variable(X), b()[:, None])[:, 0])


def by_columns():
    normal(ps.dot(ps.as_sparse_variable(X.tocsc()), b()[:, None]).flatten())


def coefficients_first():
    normal(ps.structured_dot(b()[None], ps.as_sparse_variable(X.T.tocsr()))[0])


def row_of_coefficients():
    normal(ps.dot(b()[None], ps.as_sparse_variable(X.T.tocsc()))[0])


def turned():
    normal(ps.dot(ps.as_sparse_variable(X.T.tocsc()).T, b()[:, None])[:, 0])


def scaled():
    normal(ps.dot(ps.mul(ps.as_sparse_variable(X), 2.0), b()[:, None])[:, 0])


def sparse_result():
    product = ps.true_dot(ps.as_sparse_variable(X), b()[:, None])
    normal(ps.dense_from_sparse(product)[:, 0])


def of_ones():
    pm.Poisson("y", pt.exp(0.3 * ps.structured_dot(ps.as_sparse_variable(ONES), b()[:, None])[:, 0]), observed=COUNTS)


def computed_coefficients():
    """Hierarchical coefficients, by effects and their scale."""
    coefficients = pm.HalfNormal("tau") * pm.Normal("z", shape=K) + pm.Normal("m")
    normal(ps.structured_dot(ps.as_sparse_variable(X), coefficients[:, None])[:, 0])


def one_of_several_columns():
    normal(ps.structured_dot(ps.as_sparse_variable(X), pm.Normal("B", shape=(K, 3)))[:, 1])


def two_products_and_more():
    """Beside a dense product, a table by index and an offset; two matrices, of which one has two sets of coefficients."""
    beta, sparse = b(), ps.as_sparse_variable(X)
    eta = ps.structured_dot(sparse, beta[:, None])[:, 0] + Z @ pm.Normal("c", shape=4)
    others = ps.structured_dot(ps.as_sparse_variable(ONES), pm.Normal("u", shape=K)[:, None])[:, 0]
    spread = ps.structured_dot(sparse, pm.Normal("d", shape=K)[:, None])[:, 0]
    pm.Normal("y", eta + others + pm.Normal("a", shape=5)[GROUP] + Z[:, 0], pt.exp(0.1 * spread), observed=Y)


def in_another_order():
    order = np.random.default_rng(1).permutation(N)
    normal(ps.structured_dot(ps.as_sparse_variable(X), b()[:, None])[order, 0])


def potential():
    """Nothing but the matrix tells the number of rows."""
    pm.Potential("p", pt.log1pexp(ps.structured_dot(ps.as_sparse_variable(X), b()[:, None])).sum())


SAME = [
    two_products_and_more, structured, by_columns, coefficients_first, row_of_coefficients, turned, scaled, sparse_result,
    of_ones, computed_coefficients, one_of_several_columns, in_another_order, potential,
]  # fmt: skip


@pytest.mark.parametrize("make", some(SAME, 6))
def test_models(make):
    assert_same(model_of(make))


def vector():
    normal(ps.dot(ps.as_sparse_variable(X), b()))


def vector_first():
    normal(ps.dot(b(), ps.as_sparse_variable(X.T.tocsr())))


def operator():
    normal(ps.as_sparse_variable(X) @ b())


@pytest.mark.parametrize("make", some([operator, vector, vector_first], 3))
def test_graphs_that_pytensor_does_not_differentiate(make):
    """PyTensor 2 computes no gradient of these; they are `structured`."""
    assert_fused(model_of(make))
    (theirs, _), (_, ours) = functions(model_of(structured)), functions(model_of(structured))
    with gpm.fused(min_rows=1):
        ours = model_of(make).logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    ours.set_extra_values({})
    for point in points(model_of(structured)):
        same_at(theirs, ours, point)


@pytest.mark.parametrize("make", some([of_ones, two_products_and_more], 2))
def test_by_jax(make):
    assert_same_by_jax(model_of(make))


def test_by_compiled_code(by_machine, through_python):
    """Numba's code, which asks the device without Python."""
    model = model_of(structured)
    theirs, ours = functions(model, "NUMBA")
    for point in points(model, 4):
        same_at(theirs, ours, point)
    assert len(through_python) == CALLS_BEFORE_PROGRAM


def test_several_sets():
    model = model_of(two_products_and_more)
    with gpm.fused(min_rows=1):
        graph = rewrite_pregrad(model.logp())
    outputs = [graph, *pt.grad(graph, model.value_vars)]
    several = {v: pt.tensor(v.name, shape=(3, *v.type.shape)) for v in model.value_vars}
    function = pytensor.function(list(several.values()), vectorize_graph(outputs, several), mode="FAST_COMPILE")
    one = pytensor.function(model.value_vars, outputs, mode="FAST_COMPILE")
    at = [np.stack(v) for v in zip(*([p[v.name] for v in model.value_vars] for p in points(model)), strict=True)]
    for place, found in enumerate(function(*at)):
        np.testing.assert_allclose(found, [one(*(a[i] for a in at))[place] for i in range(3)], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_steps_of_nuts():
    """The same steps, to the last digits of the numbers, with sums fused and without."""
    model, found = model_of(structured), []
    for on in (False, True):
        with model, gpm.fused(on, min_rows=1), pytensor.config.change_flags(mode="FAST_COMPILE"):
            trace = pm.sample(
                5, tune=5, chains=1, cores=1, random_seed=2, progressbar=False, nuts_sampler="pymc",
                compute_convergence_checks=False,
            )  # fmt: skip
        found.append((trace.posterior["b"].to_numpy(), trace.sample_stats["n_steps"].to_numpy()))
    (theirs, their_steps), (ours, our_steps) = found
    np.testing.assert_array_equal(our_steps, their_steps)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def may_change():
    normal(ps.structured_dot(pm.Data("X", X), b()[:, None])[:, 0])


def many_outcomes():
    pm.Normal("y", ps.structured_dot(ps.as_sparse_variable(X), pm.Normal("B", shape=(K, 3))), 1.0, observed=Z[:, :3])


def many_sparse_outcomes():
    product = ps.true_dot(ps.as_sparse_variable(X), pm.Normal("B", shape=(K, 3)))
    pm.Normal("y", ps.dense_from_sparse(product), 1.0, observed=Z[:, :3])


@pytest.mark.parametrize("make, reason", [
    (may_change, "take it as a constant"), (many_outcomes, "coefficients differ between rows"),
    (many_sparse_outcomes, "coefficients differ between rows"),
])  # fmt: skip
def test_what_is_left_to_pytensor(make, reason):
    model = model_of(make)
    with gpm.fused(min_rows=1):
        assert reason in str(gpm.explain(model))
    theirs, ours = functions(model)
    for point in points(model, 1):
        same_at(theirs, ours, point)


def test_explained():
    with gpm.fused(min_rows=1):
        (term,) = gpm.explain(model_of(structured)).terms
    assert f"b: {K} columns of data with {X.nnz} entries @ b" in term.sums[0].leaves
    assert term.sums[0].bytes_per_row == 8 + np.ceil(24 * X.nnz / N + 24)  # outcomes; entries twice, and numbers of the rows


@pytest.mark.parametrize("given", [X, sp.csr_array(X), ps.as_sparse_variable(X)])
def test_a_glm_names_the_product(given):
    with pytest.raises(TypeError, match="X is sparse: give pytensor.sparse.structured_dot"):
        gpm.GLM.dist(gs.bernoulli_logit, given, np.zeros(K))
