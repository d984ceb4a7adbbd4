"""Sums in which what rows share is added first."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.logprob.utils import CheckParameterValue
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors

import gpustats.pymc as gpm
from gpustats.compiler.fusion.regrouped import regrouped

N = 50
rows, more = pt.dvector("rows"), pt.dvector("more")
a, b, c = (pt.tensor(name, shape=(1,)) for name in "abc")
table, other, wide, wider = (pt.matrix(name, shape=(1, n)) for name, n in zip("tuvw", (3, 3, 100, 100)))


def depends_on_rows(v):
    return any(i in (rows, more) for i in ancestors([v]))


def numbers_in(v):
    """How many of what rows share comes to rows, where it is not in a product: parameters, or sums of them."""
    found = set()
    for part in ancestors([v]):
        if part.owner is not None and depends_on_rows(part):
            found |= {i for i in part.owner.inputs if not depends_on_rows(i) and not isinstance(i, Constant)}
    return len(found)


SUMS = {
    "two numbers": (rows + a - b, 1),
    "behind one another": ((-rows - a) + (more - b) - c, 1),
    "subtracted": (c - (rows - (a - more)), 1),
    "one number": (rows * more - a, 1),
    "a number that is read elsewhere": ((rows + a - b) * a, 2),
    "a sum that is read elsewhere": ((rows + a) - b + pt.exp(rows + a), 2),
    "tables": (rows[:, None] + pt.exp(table) - other + a[:, None], 2),
    "many elements": (rows[:, None] + pt.exp(wide) - wider, 2),
    "no number": (rows + more, 0),
}


@pytest.mark.parametrize("name", SUMS)
def test_the_same_number(name, rng):
    total, n_shared = SUMS[name]
    new = regrouped(total)
    inputs = [v for v in (rows, more, a, b, c, table, other, wide, wider) if v in ancestors([total])]
    given = [rng.normal(size=[e or N for e in v.type.shape]) for v in inputs]
    want, got = (pytensor.function(inputs, v, mode="FAST_COMPILE")(*given) for v in (total, new))
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    assert (new is total) == (name in ("one number", "many elements", "no number", "a number that is read elsewhere",
                                       "a sum that is read elsewhere"))  # fmt: skip
    assert numbers_in(new) == n_shared


@pytest.mark.parametrize("subtracted", [False, True])
def test_checks(subtracted):
    """Where a check within a sum fails, the sum is -inf; one that is subtracted stays where it is."""
    check = CheckParameterValue("a > 0", can_be_replaced_by_ninf=True)
    checked = check(rows + a - b, pt.all(a > 0))
    total = c - checked if subtracted else c + checked
    new = regrouped(total)
    assert isinstance(new.owner.op, CheckParameterValue) != subtracted
    for point in ([[0.5], [1.0], [-2.0]], [[-0.5], [1.0], [-2.0]]):
        want, got = (pm.compile([rows, a, b, c], v)(np.arange(3.0), *point) for v in (total, new))
        np.testing.assert_allclose(got, want, rtol=1e-14)


def test_a_mixture_has_fewer_parameters(rng):
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        pm.NormalMixture("y", w, pm.Normal("mu", shape=3), sigma=pm.HalfNormal("s", shape=3), observed=rng.normal(size=200))
    with gpm.fused(min_rows=100):
        one = next(s for t in gpm.explain(model).terms for s in t.sums if s.n_rows == 200)
    numbers = [a for a in one.program.arguments if a.kind == "number" and a.source.type.dtype != "bool"]
    assert len(numbers) == 9
