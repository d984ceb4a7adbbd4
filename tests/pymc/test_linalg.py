"""Linear algebra in PyTensor graphs, against PyTensor's own, and models of PyMC that are made of it."""

import pickle

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from modes import AS_WRITTEN  # noqa: E402
from pytensor.gradient import verify_grad  # noqa: E402
from pytensor.graph.replace import vectorize_graph  # noqa: E402
from scipy import linalg, stats  # noqa: E402
from thorough import THOROUGH  # noqa: E402

import gpustats.pymc as gpm  # noqa: E402
from gpustats.compiler.evaluation import forked  # noqa: E402
from gpustats.compiler.evaluation.linalg import linear_algebra  # noqa: E402
from gpustats.compiler.graph.linear_algebra import (  # noqa: E402
    Cholesky,
    CholeskyGrad,
    SolveTriangular,
    SolveTriangularGrad,
)
from gpustats.runtime import choose  # noqa: E402

MERGED = pytensor.compile.Mode("py", "merge")
SYSTEMS = [(trans, lower) for trans in (0, "T") for lower in (True, False)]


@pytest.fixture(autouse=True)
def double_precision():
    with pytensor.config.change_flags(cast_policy="numpy+floatX"):
        yield


def definite(rng, *shape):
    """Symmetric, positive definite matrices."""
    a = rng.normal(size=(*shape, shape[-1]))
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1])


def triangular(rng, *shape):
    return np.linalg.cholesky(definite(rng, *shape))


def symmetric(a):
    """A positive definite matrix as a function of any; so derivatives do not depend on how those of a_ij and a_ji are told."""
    return a @ a.mT + pt.eye(a.shape[-1])


def evaluated(outputs, inputs, values, mode=AS_WRITTEN):
    return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)


def tensor(*values):
    """Variables for arrays; as PyTensor wants it, they tell where an axis of length 1 broadcasts."""
    return [pt.TensorType("float64", shape=tuple(1 if n == 1 else None for n in np.shape(v)))() for v in values]


def close(got, want, tolerance=1e-10):
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# Values and gradients


@pytest.mark.parametrize("shape", [(5,), (1,), (2, 3, 4)])
def test_values_and_gradients_as_pytensors(rng, shape):
    a, b = rng.normal(size=(*shape, shape[-1])), rng.normal(size=(*shape, 2))
    inputs = tensor(a, b)

    def outputs(cholesky, solve, logdet):
        matrix = symmetric(inputs[0])
        l = cholesky(matrix)  # noqa: E741
        x = solve(l, inputs[1])
        found = [l, x, logdet(matrix)]
        cost = sum((f * pt.cos(f)).sum() for f in found)
        return [*found, *pt.grad(cost, inputs)]

    own = outputs(gpm.linalg.cholesky, gpm.linalg.solve_triangular, gpm.linalg.logdet)
    pytensors = outputs(
        pt.linalg.cholesky,
        lambda a, b: pt.linalg.solve_triangular(a, b, lower=True, b_ndim=2),
        lambda a: pt.linalg.slogdet(a)[1],
    )
    for got, want in zip(*(evaluated(outputs, inputs, [a, b]) for outputs in (own, pytensors)), strict=True):
        close(got, want)


@pytest.mark.parametrize(("trans", "lower"), SYSTEMS)
def test_triangular_systems_as_pytensors(rng, trans, lower):
    a, b = triangular(rng, 4) + np.triu(rng.normal(size=(4, 4)), 1), rng.normal(size=4)
    a = a if lower else a.T
    inputs = tensor(a, b)
    results = []
    for solve in (gpm.linalg.solve_triangular, pt.linalg.solve_triangular):
        x = solve(*inputs, trans=trans, lower=lower)
        results.append(evaluated([x, *pt.grad(pt.sin(x).sum(), inputs)], inputs, [a, b]))
    for one, other in zip(*results, strict=True):
        close(one, other)
    close(results[0][0], linalg.solve_triangular(a, b, trans=trans, lower=lower))


def test_gradients_by_differences(rng):
    def each(function, points):
        verify_grad(function, points, rng=rng, mode=AS_WRITTEN)

    for shape in ((3, 3), (2, 2, 2)):
        a = rng.normal(size=shape)
        each(lambda a: gpm.linalg.cholesky(symmetric(a)), [a])
        each(lambda a: gpm.linalg.logdet(symmetric(a)), [a])
        each(gpm.linalg.cho_solve, [triangular(rng, *shape[:-1]), rng.normal(size=(*shape[:-1], 2))])
    for trans, lower in SYSTEMS:
        l = triangular(rng, 3)  # noqa: E741
        each(
            lambda a, b, trans=trans, lower=lower: gpm.linalg.solve_triangular(a, b, trans, lower),
            [l if lower else l.T, rng.normal(size=3)],
        )


def test_gradient_in_a_matrix_is_symmetric(rng):
    """PyTensor's derivative of the lower triangle, shared out."""
    a, weight = definite(rng, 4), rng.normal(size=(4, 4))
    (matrix,) = tensor(a)
    own, pytensors = (pt.grad((f(matrix) * weight).sum(), matrix) for f in (gpm.linalg.cholesky, pt.linalg.cholesky))
    got, want = evaluated([own, pytensors], [matrix], [a])
    assert np.array_equal(got, got.T)
    close(got, (np.tril(want) + np.tril(want).T) / 2)


def test_large_matrices(rng):
    """Beyond a block of the algorithms."""
    d = 300
    a, b = definite(rng, d) / d, rng.normal(size=d)
    matrix, vector = tensor(a, b)
    l = gpm.linalg.cholesky(matrix)  # noqa: E741
    density = -0.5 * (gpm.linalg.solve_triangular(l, vector) ** 2).sum() - 0.5 * gpm.linalg.logdet(matrix)
    value, in_a, in_b = evaluated([density, *pt.grad(density, [matrix, vector])], [matrix, vector], [a, b])
    inverse = np.linalg.inv(a)
    close(value, stats.multivariate_normal(np.zeros(d), a).logpdf(b) + d / 2 * np.log(2 * np.pi))
    close(in_b, -inverse @ b, 1e-8)
    close(in_a, (np.outer(inverse @ b, inverse @ b) - inverse) / 2, 1e-7)


# Stacks


@pytest.mark.parametrize(("a_stack", "b_stack"), [((), (3,)), ((3,), ()), ((2, 1), (3,)), ((1,), (3,)), ((0,), ())])
def test_stacks_broadcast(rng, a_stack, b_stack):
    a, b = triangular(rng, *a_stack, 4), rng.normal(size=(*b_stack, 4, 2))
    inputs = tensor(a, b)
    x = gpm.linalg.solve_triangular(*inputs)
    got, in_a, in_b = evaluated([x, *pt.grad((x**3).sum(), inputs)], inputs, [a, b])
    close(got, np.linalg.solve(a, b))
    b_bar = np.linalg.solve(a.swapaxes(-1, -2), 3 * got**2)
    a_bar = -np.tril(b_bar @ got.swapaxes(-1, -2))
    for gradient, each, shape in ((in_a, a_bar, a.shape), (in_b, b_bar, b.shape)):
        axes = tuple(range(each.ndim - len(shape)))
        each = each.sum(axes)
        axes = tuple(i for i, n in enumerate(shape) if n == 1 != each.shape[i])
        close(gradient, each.sum(axes, keepdims=True))


def test_extents_that_are_known(rng):
    a, b = pt.tensor("a", shape=(5, 1, 3, 3)), pt.tensor("b", shape=(4, 3, 2))
    assert gpm.linalg.solve_triangular(a, b).type.shape == (5, 4, 3, 2)
    assert gpm.linalg.logdet(a).type.shape == (5, 1)
    values = [triangular(rng, 5, 1, 3), rng.normal(size=(4, 3, 2))]
    x = tensor(*values)
    outputs = [gpm.linalg.solve_triangular(*x).shape, gpm.linalg.cholesky(x[0]).shape]
    function = pytensor.function(x, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    assert [tuple(s) for s in function(*values)] == [(5, 4, 3, 2), (5, 1, 3, 3)]
    assert not any(
        isinstance(n.op, Cholesky | SolveTriangular) for n in function.maker.fgraph.apply_nodes
    )  # nothing computed
    with pytest.raises(ValueError, match="do not broadcast along their leading axes"):
        gpm.linalg.solve_triangular(pt.tensor("a", shape=(5, 3, 3)), pt.tensor("b", shape=(4, 3, 2)))


def test_vectorized_graphs(rng):
    a, b = definite(rng, 3, 4), rng.normal(size=(3, 4))
    matrix, vector = tensor(a[0], b[0])
    x = gpm.linalg.solve_triangular(gpm.linalg.cholesky(matrix), vector)
    many = tensor(a, b)
    want = np.stack([linalg.solve_triangular(np.linalg.cholesky(m), v, lower=True) for m, v in zip(a, b, strict=True)])
    close(evaluated(vectorize_graph(x, dict(zip([matrix, vector], many, strict=True))), many, [a, b]), want)
    close(evaluated(vectorize_graph(x, {vector: many[1]}), [matrix, many[1]], [a[0], b])[0], want[0])
    close(evaluated(gpm.linalg.solve_triangular(pt.linalg.cholesky(many[0]), many[1], b_ndim=1), many, [a, b]), want)


# Errors, nan


def test_what_is_not_positive_definite(rng):
    a = definite(rng, 3, 4)
    a[1] = -a[1]
    a[2, 0, 0] = np.nan
    (matrices,) = tensor(a)
    l = gpm.linalg.cholesky(matrices)  # noqa: E741
    x = gpm.linalg.solve_triangular(l, np.ones((4, 1)))
    gradient = pt.grad(x.sum() + gpm.linalg.logdet(matrices).sum(), matrices)
    l, x, logdet, gradient = evaluated([l, x, gpm.linalg.logdet(matrices), gradient], [matrices], [a])  # noqa: E741
    for result in (l, x, logdet, gradient):
        assert np.isfinite(result[0]).all() and np.isnan(result[1:]).all()
    close(l[0], np.linalg.cholesky(a[0]))
    close(logdet[0], np.linalg.slogdet(a[0])[1])
    with pytest.raises(np.linalg.LinAlgError, match=r"a\[1\] is not positive definite"):
        evaluated(gpm.linalg.cholesky(matrices, on_error="raise"), [matrices], [a[:2]])
    with pytest.raises(ValueError, match="nan or infinite"):
        evaluated(gpm.linalg.logdet(matrices, on_error="raise"), [matrices], [a[2:]])
    with pytest.raises(ValueError, match="on_error must be"):
        gpm.linalg.cholesky(matrices, on_error="ignore")


def test_singular_and_nan_systems(rng):
    a = triangular(rng, 3, 3)
    a[1, 1, 1], a[2, 2, 0] = 0, np.inf
    b = rng.normal(size=(3, 1))
    x = evaluated(gpm.linalg.solve_triangular(*(inputs := tensor(a, b))), inputs, [a, b])
    close(x[0], np.linalg.solve(a[0], b))
    assert np.isnan(x[1:]).all()


def test_errors(rng):
    matrix, vector = tensor(np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="has 1 dimensions, but must be a matrix"):
        gpm.linalg.cholesky(vector)
    with pytest.raises(ValueError, match="trans must be"):
        gpm.linalg.solve_triangular(matrix, vector, trans=3)
    with pytest.raises(ValueError, match="b_ndim must be 1 or 2"):
        gpm.linalg.solve_triangular(matrix, vector, b_ndim=3)
    with pytest.raises(ValueError, match="b has 1 dimensions"):
        gpm.linalg.solve_triangular(matrix, vector, b_ndim=2)
    with pytest.raises(ValueError, match="must have 2 rows"):
        evaluated(gpm.linalg.solve_triangular(matrix, vector), [matrix, vector], [np.eye(2), np.ones(3)])
    with pytest.raises(ValueError, match="not symmetric"):
        evaluated(gpm.linalg.cholesky(matrix), [matrix], [np.array([[2.0, 1.0], [0.0, 2.0]])])
    with pytest.raises(ValueError, match="square matrix"):
        evaluated(gpm.linalg.cholesky(matrix), [matrix], [np.ones((2, 3))])
    with pytest.raises(NotImplementedError, match="second derivatives"):
        pt.grad(pt.grad(gpm.linalg.logdet(matrix), matrix).sum(), matrix)
    with pytest.raises(NotImplementedError, match="second derivatives"):
        pt.grad(pt.grad(gpm.linalg.solve_triangular(matrix, vector).sum(), vector).sum(), matrix)


def test_empty_matrices():
    (matrix,) = tensor(np.eye(2))
    outputs = [
        gpm.linalg.cholesky(matrix),
        gpm.linalg.logdet(matrix),
        gpm.linalg.solve_triangular(matrix, np.zeros((0, 2))),
    ]
    l, logdet, x = evaluated(outputs, [matrix], [np.zeros((0, 0))])  # noqa: E741
    assert l.shape == (0, 0) and logdet == 0 and x.shape == (0, 2)


# Numba, processes


@THOROUGH
def test_numba_evaluates(rng):
    """Every Op, on stacks that broadcast, and with errors."""
    a, b = definite(rng, 3, 2), rng.normal(size=(1, 2, 3))
    inputs = tensor(a, b)
    l = Cholesky("raise")(inputs[0])  # noqa: E741
    x = SolveTriangular(trans=True)(l, inputs[1])
    a_bar, b_bar = SolveTriangularGrad(trans=True).make_node(l, inputs[1], x, x).outputs
    outputs = [l, x, a_bar, b_bar, CholeskyGrad()(l, a_bar)]
    function = pytensor.function(inputs, outputs, mode="NUMBA")
    for got, want in zip(function(a, b), evaluated(outputs, inputs, [a, b]), strict=True):
        assert np.array_equal(got, want)
    with (
        pytest.warns(RuntimeWarning, match="not positive definite"),
        pytest.raises(RuntimeError, match="evaluation of a gpustats matrix function failed"),
    ):
        function(-a, b)


def test_pickling(rng):
    a = definite(rng, 3)
    (matrix,) = tensor(a)
    graph = gpm.linalg.cho_solve(gpm.linalg.cholesky(matrix), np.ones(3))
    matrix, graph = pickle.loads(pickle.dumps((matrix, graph)))
    close(evaluated(graph, [matrix], [a]), np.linalg.solve(a, np.ones(3)))
    assert Cholesky() == pickle.loads(pickle.dumps(Cholesky())) != Cholesky("raise")


def test_evaluation_for_a_forked_process(rng, monkeypatch):
    """Its worker gives the same bits, and its errors."""
    a = definite(rng, 3)
    want = linear_algebra.cholesky(a, "nan")
    monkeypatch.setattr(forked, "_device", choose.get().device.id)
    try:
        for _ in range(2):
            assert np.array_equal(linear_algebra.cholesky(a, "nan"), want)
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            linear_algebra.cholesky(-a, "raise")
        assert forked._worker is not None
    finally:
        forked._worker._process.stdin.close()
        assert forked._worker._process.wait(10) == 0
        forked._worker = None


# Models


def test_gaussian_process(rng):
    """A density made of a factor, a triangular system and a determinant is PyMC's, in value and gradients."""
    t, y = np.linspace(0, 1, 12), rng.normal(size=12)
    squared = (t[:, None] - t) ** 2
    functions = []
    for own in (True, False):
        with pm.Model() as model:
            scale, length = pm.HalfNormal("scale"), pm.HalfNormal("length")
            cov = scale**2 * pt.exp(-squared / (2 * length**2)) + 0.1 * np.eye(12)
            if own:
                l = gpm.linalg.cholesky(cov)  # noqa: E741
                z = gpm.linalg.solve_triangular(l, y)
                pm.Potential("y", -0.5 * (z**2).sum() - 0.5 * gpm.linalg.cho_logdet(l) - 6 * np.log(2 * np.pi))
            else:
                pm.MvNormal("y", np.zeros(12), cov=cov, observed=y)
        logp = model.logp()
        functions.append(pytensor.function(model.value_vars, [logp, *pt.grad(logp, model.value_vars)], mode=MERGED))
    for op in (Cholesky, CholeskyGrad):  # one for the system, the determinant and the gradients
        assert len([n for n in functions[0].maker.fgraph.apply_nodes if isinstance(n.op, op)]) == 1
    for point in ([0.0, -1.0], [1.0, 0.5]):
        for got, want in zip(*(f(*point) for f in functions), strict=True):
            close(got, want, 1e-8)


def test_multivariate_normal_of_many_dimensions(rng):
    """gpm.MvNormal with a covariance matrix that the device's linear algebra factors."""
    d = 200
    y, a = rng.normal(size=d), definite(rng, d) / d
    results = []
    for normal, mode in ((gpm.MvNormal, MERGED), (pm.MvNormal, AS_WRITTEN)):
        with pm.Model() as model:
            mu, scale = pm.Normal("mu"), pm.HalfNormal("scale")
            normal("y", mu * np.ones(d), cov=scale**2 * a, observed=y)
        logp = model.logp()
        function = pytensor.function(model.value_vars, [logp, *pt.grad(logp, model.value_vars)], mode=mode)
        results.append(function(0.3, -0.2))
    for got, want in zip(*results, strict=True):
        close(got, want, 1e-9)
