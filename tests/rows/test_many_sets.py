"""Many sets of parameters at once, of functions with dot products: through products of matrices, where a device has them."""

import re

import numpy as np
import pytest
from scipy import special, stats
from thorough import some

import gpustats as gs
from gpustats.kernels import products
from gpustats.rows import passes

SETS = (1, 2, 3, 8, 9, 16, 17, 20)
CASES = [(70, 3, 3, float), (131, 20, 20, float), (40, 64, 9, np.float32), (1, 1, 1, float)]
ROW = """
real row(real y, real eta, real zeta, real a, real h, real s)
{
    return normal_logpdf(y, eta + a + h, s * exp(zeta));
}
"""


@pytest.fixture
def device(multiplying, monkeypatch):
    """A device whose kernels for stacks must be those that multiply matrices."""
    one_by_one = passes.Pass._one_by_one

    def only_one_set(made, *args):
        assert made.sets in (passes.Sets.ONE, passes.Sets.BY_VALUE), "another kernel"
        one_by_one(made, *args)

    monkeypatch.setattr(passes.Pass, "_one_by_one", only_one_set)
    return multiplying.device


def close(got, want, dtype=float):
    rtol = 1e-11 if dtype is float else 3e-5
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


class Everything:
    """Two matrices, a table, numbers of the rows and a number; the sums in NumPy."""

    def __init__(self, rng, n, k, groups, dtype=float, by_row=True):
        self.y, self.X, self.Z = rng.normal(size=n), rng.normal(size=(n, k)), rng.normal(size=(n, k // 2 + 1))
        self.g, self.n_groups, self.by_row = groups, groups.max() + 2, by_row
        self.y, self.X, self.Z = (a.astype(dtype) for a in (self.y, self.X, self.Z))
        h = {"h": gs.per_row()} if by_row else {"h": np.zeros(n, dtype)}
        leaves = dict(y=self.y, eta=gs.dot(self.X, of="beta"), zeta=gs.dot(self.Z, of="gamma"), a=gs.gather(groups))
        self.rows, self.dtype = gs.Rows(ROW, **leaves, **h), dtype

    def parameters(self, rng, *lead):
        n, k = self.X.shape
        found = dict(
            beta=rng.normal(size=(*lead, k)) / k, gamma=rng.normal(size=(*lead, self.Z.shape[1])) / k,
            a=rng.normal(size=(*lead, self.n_groups)), s=rng.uniform(1, 2, lead),
        )  # fmt: skip
        found |= {"h": rng.normal(size=(*lead, n))} if self.by_row else {}
        return {name: np.asarray(v, self.dtype) for name, v in found.items()}

    def wanted(self, beta, gamma, a, s, h=0.0):
        beta, gamma, a, s, h, y, X, Z = (np.asarray(v, float) for v in (beta, gamma, a, s, h, self.y, self.X, self.Z))
        sd = s[..., None] * np.exp(gamma @ Z.T)
        z = (y - beta @ X.T - a[..., self.g] - h) / sd
        terms = stats.norm.logpdf(z) - np.log(sd)
        by_group = np.stack([(z / sd)[..., self.g == g].sum(-1) for g in range(self.n_groups)], -1)
        slopes = dict(beta=(z / sd) @ X, gamma=(z * z - 1) @ Z, a=by_group, s=(z * z - 1).sum(-1) / s)
        return terms, slopes | ({"h": z / sd} if self.by_row else {})


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("n, k, sets, dtype", some(CASES, 2))
def test_values_and_derivatives(device, n, k, sets, dtype, by_row, rng):
    model = Everything(rng, n, k, rng.integers(0, 6, n), dtype, by_row)
    given = model.parameters(rng, sets)
    terms, slopes = model.wanted(**given)
    value, gradient = model.rows.value_and_grad(**given)
    close(value, terms.sum(-1), dtype)
    for name, slope in slopes.items():
        close(gradient[name], slope, dtype)
    close(model.rows(**given), terms.sum(-1), dtype)
    close(model.rows.terms(**given), terms, dtype)


@pytest.mark.parametrize("kind", ["one", "each its own", "empty ones", "large and small"])
def test_groups(device, kind, rng):
    n = 300
    groups = {
        "one": np.zeros(n, int),
        "each its own": rng.permutation(n),
        "empty ones": 3 * rng.integers(0, 5, n) + 2,
        "large and small": np.where(rng.random(n) < 0.7, 4, rng.integers(0, 90, n)),
    }[kind]
    model = Everything(rng, n, 5, groups, by_row=False)
    given = model.parameters(rng, 3)
    close(model.rows.value_and_grad(**given, wrt="a")[1]["a"], model.wanted(**given)[1]["a"])


def test_a_set_has_the_same_bits_among_any_others(device, rng):
    model = Everything(rng, 200, 6, rng.integers(0, 30, 200))
    given = model.parameters(rng, max(SETS))
    value, gradient = model.rows.value_and_grad(**given)
    for sets in SETS:
        here = slice(max(SETS) - sets, max(SETS))
        found, slopes = model.rows.value_and_grad(**{n: v[here] for n, v in given.items()})
        np.testing.assert_array_equal(found, value[here])
        for name in gradient:
            np.testing.assert_array_equal(slopes[name], gradient[name][here])


def test_sets_that_share_parameters(device, rng):
    model = Everything(rng, 90, 4, rng.integers(0, 5, 90))
    given = model.parameters(rng)
    several = given | {"beta": rng.normal(size=(2, 3, 4)), "s": rng.uniform(1, 2, (3,))}
    value, gradient = model.rows.value_and_grad(**several)
    each = [[given | {"beta": several["beta"][i, j], "s": several["s"][j]} for j in range(3)] for i in range(2)]
    slopes = [[model.wanted(**e)[1] for e in line] for line in each]
    close(value, np.array([[model.wanted(**e)[0].sum() for e in line] for line in each]))
    close(gradient["beta"], np.array([[s["beta"] for s in line] for line in slopes]))
    close(gradient["s"], np.array([sum(slopes[i][j]["s"] for i in range(2)) for j in range(3)]))
    close(gradient["a"], sum(s["a"] for line in slopes for s in line))


def test_a_matrix_that_several_products_share(device, rng):
    """Rows of X W, and the product with a vector in some direction: one matrix in shared memory."""
    n, k, d = 80, 5, 3
    X, y = rng.normal(size=(n, k)), rng.integers(0, d, n)
    rows = gs.Rows(
        "real row(int y, const real *eta, real s, int dim) { return s * categorical_logit_logpmf(y, eta, dim); }",
        y=y, eta=gs.dot(X, of="W"),
    )  # fmt: skip
    W, s = rng.normal(size=(4, k, d)), rng.uniform(1, 2, 4)
    eta = X @ W
    terms = np.take_along_axis(special.log_softmax(eta, -1), y[None, :, None], -1)[..., 0]
    value, gradient = rows.value_and_grad(W=W, s=s)
    close(value, s * terms.sum(-1))
    close(gradient["W"], s[:, None, None] * (X.T @ (np.eye(d)[y] - special.softmax(eta, -1))))
    source = rows.kernel_source(length=d, sets=4)
    assert len(re.findall("void add_gradient", source)) == 1 and len(re.findall("  add_gradient", source)) == d


def test_second_derivatives(device, rng):
    n, k = 60, 3
    X, y = rng.normal(size=(n, k)), rng.normal(size=n)
    rows = gs.Rows("real row(real y, real eta, real s) { return normal_logpdf(y, eta, s); }", y=y, eta=gs.dot(X, of="beta"))
    beta, s, direction = rng.normal(size=(2, k)), rng.uniform(1, 2, 2), rng.normal(size=(2, k))
    residual = y - beta @ X.T
    close(rows.hessian(beta=beta, s=s)[:, 0, 0], (1 / s[:, None] ** 2 - 3 * residual**2 / s[:, None] ** 4).sum(1))
    along = rows.hessp({"beta": direction}, beta=beta, s=s)
    close(along["beta"], -(direction @ X.T / s[:, None] ** 2) @ X)
    close(along["s"], (-2 * residual * (direction @ X.T)).sum(1) / s**3)


def test_what_is_not_finite_stays_in_its_set(device, rng):
    model = Everything(rng, 45, 6, rng.integers(0, 4, 45))
    given = model.parameters(rng, 12)
    value, gradient = model.rows.value_and_grad(**given)
    given["beta"][5, 2] = given["a"][9, 0] = np.nan
    found, slopes = model.rows.value_and_grad(**given)
    others = np.delete(np.arange(12), [5, 9])
    np.testing.assert_array_equal(found[others], value[others])
    for name in gradient:
        np.testing.assert_array_equal(slopes[name][others], gradient[name][others])
    assert np.isnan(found[[5, 9]]).all()


def test_more_sums_than_registers_take_the_other_kernel(multiplying, rng):
    d = 40
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    rows = gs.Rows(
        """real row(real y, real eta, const real *c, int dim)
        {
            real sum = 0;
            for (int i = 0; i < dim; i++)
                sum += c[i] * c[i] * (i + 1);
            return normal_logpdf(y, eta, 1) * sum;
        }""",
        y=y, eta=gs.dot(X, of="beta"),
    )  # fmt: skip
    for length, multiplies in ((2, True), (64, False)):
        assert ("add_predictors" in rows.kernel_source(length=length, sets=16)) == multiplies
    beta, c = rng.normal(size=(3, 2)), rng.normal(size=(3, d))
    terms, sums = stats.norm.logpdf(y, beta @ X.T, 1).sum(1), (c * c) @ np.arange(1, d + 1)
    value, gradient = rows.value_and_grad(beta=beta, c=c)
    close(value, terms * sums)
    close(gradient["c"], terms[:, None] * 2 * c * np.arange(1, d + 1))
    close(gradient["beta"], sums[:, None] * ((y - beta @ X.T) @ X))


def test_layouts_add_in_the_same_order(device):
    for matrices in ([1], [20], [50, 64], [64, 64, 64]):
        predictors = [products.Predictor(m) for m in range(len(matrices))]
        for itemsize in (4, 8):
            made = [products.products_layout(device, matrices, predictors, itemsize, 3, sets, n_kept=2) for sets in SETS]
            assert len({(m.tile, m.lanes, m.row_blocks(device, 10**6)) for m in made}) == 1


def test_a_stack_of_one_set_is_like_any_other(rng, layout):
    """On any device."""
    model = Everything(rng, 500, 4, rng.integers(0, 9, 500))
    given = model.parameters(rng, 3)
    value, gradient = model.rows.value_and_grad(**given)
    for i in range(3):
        found, slopes = model.rows.value_and_grad(**{n: v[i : i + 1] for n, v in given.items()})
        assert found.shape == (1,) and found[0] == value[i]
        for name in gradient:
            np.testing.assert_array_equal(slopes[name][0], gradient[name][i])
