"""How the arguments of a GLM's call lie against its rows, groups and sets; and what is computed for which derivatives."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.glm.arguments import Arguments, Route
from gpustats.glm.data import Sizes
from gpustats.glm.family import Family
from gpustats.glm.results import task_of
from gpustats.glm.task import Quantity, Task

N, K, G, S = 7, 3, 4, 5


def arguments(density=gs.normal_identity, n_rows=N, n_groups=G, **given):
    """Of a call with the shapes `given`; None: without an intercept."""
    shapes = {"beta": (K,), "alpha": ()} | given
    values = {n: None if s is None else np.zeros(s) for n, s in shapes.items()}
    return Arguments(Family(density, "eta"), Sizes(n_rows, K, n_groups), values)


@pytest.mark.parametrize(
    "alpha, kind, lead",
    [
        (None, Route.ABSENT, ()), ((), Route.VALUE, ()), ((1,), Route.VALUE, ()), ((1, 1), Route.SET, (1,)),
        ((S, 1), Route.SET, (S,)), ((N,), Route.ROW, ()), ((S, N), Route.ROW, (S,)), ((G,), Route.GROUP, ()),
        ((S, G), Route.GROUP, (S,)),
    ],
)  # fmt: skip
def test_kinds_of_intercepts(alpha, kind, lead):
    found = arguments(alpha=alpha, sigma=())
    assert found.kinds == {"beta": Route.SET, "alpha": kind, "sigma": Route.VALUE}
    assert found["alpha"].lead == lead and found.n_sets == (S if S in lead else 1)


def test_a_group_for_each_row_and_none():
    assert arguments(alpha=(N,), sigma=(N,), n_groups=N).kinds["alpha"] is Route.GROUP
    assert arguments(alpha=(N,), sigma=(N,), n_groups=N).kinds["sigma"] is Route.ROW
    assert arguments(alpha=(N,), sigma=(), n_groups=None).kinds["alpha"] is Route.ROW
    assert arguments(alpha=(1,), sigma=(), n_rows=1, n_groups=1).kinds["alpha"] is Route.VALUE


def test_vectors():
    found = arguments(gs.ordered_logit, beta=(S, K), cutpoints=(2,))
    assert found.kinds["cutpoints"] is Route.SET and found["cutpoints"].n_sets == 1 and found.dim == 2
    assert arguments(gs.ordered_logit, cutpoints=(S, N, 2))["cutpoints"].core == (2,)
    several = arguments(gs.categorical_logit, beta=(S, K, 6), alpha=(N, 6))
    assert several.outcomes == several.dim == 6 and several.kinds["alpha"] is Route.ROW


@pytest.mark.parametrize(
    "wrt, shapes, task",
    [
        ((), {}, Task((Quantity.VALUE,))),
        (("beta", "alpha"), {}, Task((Quantity.VALUE,), slope_sums=True, gradient=True)),
        (("sigma",), {"sigma": (N,)}, Task((Quantity.VALUE,), ("sigma",))),
        (("sigma", "y"), {}, Task((Quantity.VALUE, "sigma"), ("y",))),
        (("alpha",), {"alpha": (G,)}, Task((Quantity.VALUE,), (Quantity.SLOPE,))),
        (("X", "alpha"), {}, Task((Quantity.VALUE,), (Quantity.SLOPE,), slope_sums=True)),
    ],
)
def test_what_derivatives_take(wrt, shapes, task):
    assert task_of(arguments(**{"sigma": (), **shapes}), wrt) == task


def test_where_sums_lie():
    task = Task((Quantity.VALUE, "sigma"), slope_sums=True, gradient=True)
    assert task.column("sigma") == 1 and task.n_columns(2, K) == 2 + 2 + 2 * K
    assert task.slope_columns(2) == slice(2, 4) and task.gradient_columns(2) == slice(4, None)


def test_replay_without_an_intercept():
    """Its place among the numbers given is not the caller's to fill."""
    glm = gs.GLM(gs.normal, np.arange(5.0), np.eye(5)[:, :K], eta="mu")
    given = {"beta": np.arange(1.0, 1 + K), "sigma": 2.0}
    for _ in range(2):
        found = glm.compiled(given, ("beta",))
        if found is None or found.replay is None:
            pytest.skip("this runtime replays nothing")
        found.replay.given[:] = np.nan
        found = None  # the next one takes its memory
    found = glm.compiled(given, ("beta",))
    for name, value in given.items():
        elements, (places,) = found.arguments[name]
        found.replay.given[places] = np.ravel(value)[elements]
    found.replay.run()
    np.testing.assert_allclose(found.replay.found[0], glm(**given), rtol=1e-12)
