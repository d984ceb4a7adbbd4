"""Derivatives of the multivariate normal and Student t distributions."""

import functools

import mpmath as mp
import numpy as np
import pytest
from references_elliptical import BAD, assert_close, cases_of, covariances, each_name, parameters, reference
from scipy import special
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.elliptical.scatter import scatter
from gpustats.elliptical.whiten import LARGE_MATRIX
from gpustats.runtime import choose

RANKS = {"x": 1, "nu": 0, "mu": 1, "cov": 2, "scale_tril": 2, "precision": 2}
WAYS = {"cov": lambda cov: cov, "scale_tril": np.linalg.cholesky, "precision": np.linalg.inv}
each_way = pytest.mark.parametrize("way", WAYS)


def slopes(x, mu, cov, nu=None):
    """The derivatives of one log-density, in closed form; those in `cov` for symmetric changes."""
    y = x - mu
    z, d = np.linalg.solve(cov, y), len(y)
    q = y @ z
    weight = 1.0 if nu is None else (nu + d) / (nu + q)
    in_cov = (weight * np.outer(z, z) - np.linalg.inv(cov)) / 2
    found = {"x": -weight * z, "mu": weight * z, "cov": in_cov, "precision": -cov @ in_cov @ cov}
    found["scale_tril"] = np.tril(2 * in_cov @ np.linalg.cholesky(cov))
    if nu is not None:
        half = special.digamma((nu + d) / 2) - special.digamma(nu / 2)
        found["nu"] = np.float64((half - d / nu - np.log1p(q / nu) + weight * q / nu) / 2)
    return found


def gradients(given):
    """For each argument (`cov` in all ways) the sum of `slopes` in the shape of the argument, and that of their sizes."""
    batch = {n: np.shape(v)[: np.ndim(v) - RANKS[n]] for n, v in given.items()}
    full, d = np.broadcast_shapes(*batch.values()), given["x"].shape[-1]
    every = {n: np.broadcast_to(v, full + (d,) * RANKS[n]) for n, v in given.items()}
    batch |= dict.fromkeys(WAYS, batch["cov"])
    shapes = {n: s + (d,) * RANKS[n] for n, s in batch.items()}
    sums = {n: np.zeros((2, *(1,) * (len(full) - len(batch[n])), *shape)) for n, shape in shapes.items()}
    for place in np.ndindex(full):
        for n, slope in slopes(**{m: v[place] for m, v in every.items()}).items():
            own = tuple(i if length > 1 else 0 for i, length in zip(place, sums[n].shape[1:]))
            sums[n][(0, *own)] += slope
            sums[n][(1, *own)] += np.abs(slope)
    return {n: total.reshape(2, *shapes[n]) for n, total in sums.items()}


def converted(given, way, dtype=np.float64):
    """The same arguments with the covariance given in another way."""
    given = {n: v for n, v in given.items() if n != "cov"} | {way: WAYS[way](given["cov"])}
    return {n: np.asarray(v).astype(dtype) if np.ndim(v) else float(v) for n, v in given.items()}


def assert_gradients(got, want, rtol):
    for n, g in got.items():
        total, size = want[n]
        assert np.shape(g) == total.shape, n
        assert (np.abs(g - total) <= rtol * max(size.max(initial=0), 1e-300)).all(), n


@cases_of([1, 2, 3, 7, 8, 15, 16, 17, 33, 64, 100], [1, 8, 17, 33, 100])
def test_gradients(name, dtype, dim, rng):
    """Three sets of everything: derivatives in the observations are summed over the sets, the others over the observations."""
    x, given = rng.normal(size=(37, dim)), parameters(name, rng, 3, dim)
    given = {"x": x} | {n: v[:, None] for n, v in given.items()}
    given = {n: v.astype(dtype).astype(float) for n, v in given.items()}
    density, want = gs.densities[name], gradients(given)
    for way in WAYS:
        args = converted(given, way, dtype)
        value, got = density.loglik_and_grad(**args, wrt=tuple(args))
        assert list(got) == list(args)
        np.testing.assert_allclose(value, density.loglik(**args), rtol=1e-13 if dtype == np.float64 else 1e-6)
        assert got["x"].dtype == dtype and all(g.dtype == np.float64 for n, g in got.items() if n != "x")
        assert_gradients(got, want, 1e-11 if dtype == np.float64 else 3e-5)
        if way == "scale_tril":
            assert (np.triu(got[way], 1) == 0).all()
        else:
            assert np.array_equal(got[way], got[way].swapaxes(-1, -2))


SHAPES = [  # of x, mu, cov, nu
    ((), (), (), ()),
    ((1,), (), (), ()),
    ((7,), (), (), ()),
    ((7,), (1,), (1, 1), ()),
    ((7,), (3, 1), (), ()),
    ((7,), (), (3, 1), ()),
    ((7,), (), (), (3, 1)),
    ((7,), (2, 3, 1), (3, 1), (2, 1, 1)),
    ((3, 7), (), (), ()),
    ((3, 7), (3, 1), (), (3, 1)),
    ((2, 1, 7), (3, 1), (), ()),
    ((), (3, 1), (), ()),
    ((1,), (3, 1), (3, 1), ()),
    ((3, 1), (), (), ()),  # one observation for each set
    ((3, 1), (3, 1), (3, 1), ()),
    ((7,), (7,), (), ()),  # a mean for each observation
    ((), (7,), (), ()),
    ((3, 1), (7,), (), ()),
    ((7,), (3, 7), (), ()),
    ((7,), (7,), (7,), (7,)),  # everything in pairs
    ((7,), (), (7,), ()),
    ((7,), (), (), (7,)),
    ((7,), (3, 1), (7,), ()),
    ((7,), (3, 7), (3, 1), (7,)),
    ((0,), (), (), ()),
    ((0,), (3, 1), (), (3, 1)),
    ((0,), (0,), (), ()),
    ((0,), (), (0,), ()),
    ((7,), (0, 1), (), ()),
]


@each_name
@pytest.mark.parametrize("shapes", some([(shapes,) for shapes in SHAPES], 5), ids=str)
def test_shapes_of_sums_and_gradients(name, shapes, rng):
    x, mu, cov, nu = shapes
    given = {"x": rng.normal(size=(*x, 3)), "mu": rng.normal(size=(*mu, 3))}
    given["cov"] = covariances(rng, int(np.prod(cov)), 3).reshape(*cov, 3, 3)
    if name == "mv_student_t":
        given["nu"] = rng.uniform(2, 9, nu)
    density, want = gs.densities[name], gradients(given)
    for way in WAYS:
        args = converted(given, way)
        terms = density.logpdf(**args)
        value, got = density.loglik_and_grad(**args, wrt=tuple(args))
        assert np.shape(value) == np.shape(terms)[:-1]
        np.testing.assert_allclose(value, np.sum(terms, axis=-1) if np.ndim(terms) else terms, rtol=1e-12)
        np.testing.assert_allclose(density.loglik(**args), value, rtol=1e-13)
        assert_gradients(got, want, 1e-11)
        if "nu" in got and not nu:
            assert type(got["nu"]) is float
        for n in args:  # alone: other sums are needed
            assert_gradients(density.loglik_and_grad(**args, wrt=n)[1], want, 1e-11)


@each_name
def test_gradients_against_scipy(name, rng):
    """Central differences of scipy.stats' log-densities."""
    x, given = rng.normal(size=(9, 3)), {n: v[0] for n, v in parameters(name, rng, 1, 3).items()}
    _, got = gs.densities[name].loglik_and_grad(x, **given)
    step = 1e-5
    for n, value in given.items():
        for index in np.ndindex(np.shape(value)):
            change = np.zeros(np.shape(value))
            change[index] = change[index[::-1]] = step
            plus, minus = (reference(name, x, **given | {n: value + sign * change}).sum() for sign in (1, -1))
            slope = (np.asarray(got[n]) * change).sum() / step
            assert slope == pytest.approx((plus - minus) / (2 * step), rel=1e-6, abs=1e-6), (n, index)


def exact_sum(x, matrix, way, mu, nu):
    """The sum of log-densities in mpmath."""
    cov = {"cov": lambda: matrix, "scale_tril": lambda: matrix * matrix.T, "precision": lambda: matrix**-1}[way]()
    d, logdet, total = len(mu), mp.log(mp.det(cov)), mp.mpf(0)
    for row in x:
        y = mp.matrix(row) - mu
        q = (y.T * mp.lu_solve(cov, y))[0]
        if nu is None:
            total -= (d * mp.log(2 * mp.pi) + logdet + q) / 2
        else:
            total += mp.loggamma((nu + d) / 2) - mp.loggamma(nu / 2) - d * mp.log(nu * mp.pi) / 2 - logdet / 2
            total -= (nu + d) / 2 * mp.log1p(q / nu)
    return total


@each_name
@each_way
def test_gradients_against_mpmath(name, way, rng):
    """Scales from 1e-6 to 1e6: each element is right beside its own size."""
    scale, d = np.array([1e-6, 1.0, 1e6]), 3
    cov = scale[:, None] * covariances(rng, 1, d)[0] * scale
    x, mu, nu = rng.normal(size=(4, d)) * scale, rng.normal(size=d) * scale, 4.5 if name == "mv_student_t" else None
    matrix = WAYS[way](cov)
    matrix = np.tril(matrix) + (0 if way == "scale_tril" else np.tril(matrix, -1).T)
    others = {} if nu is None else {"nu": nu}
    _, got = gs.densities[name].loglik_and_grad(x, mu=mu, **{way: matrix}, **others)

    def moved(t, n, index):
        """The sum with one element moved by t: of a symmetric matrix, this one and its mirror image."""
        args = {"mu": mp.matrix(mu.tolist()), way: mp.matrix(matrix.tolist()), "nu": nu and mp.mpf(nu)}
        if n == "nu":
            args[n] += t
        else:
            for place in {index} if n == "scale_tril" else {index, index[::-1]}:
                args[n][place if len(place) == 2 else place[0]] += t
        return exact_sum(x.tolist(), args[way], way, args["mu"], args["nu"])

    units = {"nu": 1, "mu": 1 / scale, "cov": 1 / np.outer(scale, scale), "precision": np.outer(scale, scale)}
    units["scale_tril"] = 1 / scale[:, None] + np.zeros(d)
    for n, g in got.items():
        for index in np.ndindex(np.shape(g)):
            if n != "scale_tril" or index[0] >= index[1]:
                with mp.workdps(60):
                    want = mp.diff(functools.partial(moved, n=n, index=index), 0, h=mp.mpf(10) ** -25)
                if n in ("cov", "precision") and index[0] != index[1]:
                    want /= 2
                unit = np.broadcast_to(units[n], np.shape(g))[index]
                assert abs(np.asarray(g)[index] - float(want)) <= 1e-12 * max(abs(want), unit), (n, index)


def test_gradients_of_a_users_own_elliptical_density(rng):
    """Not linear in the distance, with a parameter; and linear, but not as the normal distribution is."""
    for formula, slope in [
        ("-0.5 * logdet - pow(1 + sqdist, beta)", lambda q, beta: -beta * (1 + q) ** (beta - 1)),
        ("-0.5 * logdet - 3 * sqdist + beta", lambda q, beta: -3 + 0 * q),
    ]:
        density = gs.register(
            "// mv_own: a test\n// x: vector    mu: vector    cov: covariance    beta: positive\n"
            f"real mv_own_logpdf(real sqdist, real logdet, real beta)\n{{\n    return {formula};\n}}\n",
            replace=True,
        )
        x, mu, cov, beta = rng.normal(size=(9, 3)), rng.normal(size=3), covariances(rng, 1, 3)[0], 0.7
        y, inverse = x - mu, np.linalg.inv(cov)
        s = slope(np.einsum("ni,ij,nj->n", y, inverse, y), beta)
        _, got = density.loglik_and_grad(x, mu, cov, beta, wrt=("x", "mu", "cov", "beta"))
        np.testing.assert_allclose(got["x"], 2 * s[:, None] * y @ inverse, rtol=1e-11)
        np.testing.assert_allclose(got["mu"], -2 * s @ y @ inverse, rtol=1e-11)
        np.testing.assert_allclose(got["cov"], -inverse @ (y.T * s @ y) @ inverse - 4.5 * inverse, rtol=1e-10, atol=1e-12)
        step = 1e-6
        difference = density.loglik(x, mu, cov, beta + step) - density.loglik(x, mu, cov, beta - step)
        assert got["beta"] == pytest.approx(difference / (2 * step), rel=1e-6)


@each_name
@each_way
def test_gradients_at_invalid_parameters(name, way):
    """nan for the set that they are of, and for no other."""
    matrices = np.array([*BAD[way], np.eye(2)])[:, None]
    x = np.array([[0.0, 0.5], [1.0, 2.0]])
    nu = {} if name == "mvnormal" else {"nu": np.full(matrices.shape[:2], 3.0)}
    given = {"mu": np.zeros((len(matrices), 1, 2)), way: matrices, **nu}
    for wrt in ("mu", way, tuple(given)):
        value, got = gs.densities[name].loglik_and_grad(x, **given, wrt=wrt)
        assert np.isnan(value[:-1]).all() and np.isfinite(value[-1])
        for g in got.values():
            below = g[:-1] if way != "scale_tril" or g.ndim < 4 else g[:-1][..., [0, 1, 1], [0, 0, 1]]
            assert np.isnan(below).all() and np.isfinite(g[-1]).all()
    if nu:
        got = gs.mv_student_t.loglik_and_grad(x, -1.0, np.zeros(2), np.eye(2), wrt=("x", "nu", "mu", "cov"))[1]
        assert all(np.isnan(g).all() for g in got.values())


@each_name
def test_gradients_at_nan_observations(name, rng):
    x, given = rng.normal(size=(9, 3)), {n: v[0] for n, v in parameters(name, rng, 1, 3).items()}
    means = given | {"mu": np.tile(given["mu"], (9, 1))}
    density = gs.densities[name]
    before = density.loglik_and_grad(x, **means, wrt=("x", "mu"))[1]
    x[4, 1] = np.nan
    after = density.loglik_and_grad(x, **means, wrt=("x", "mu"))[1]
    for n, g in after.items():
        assert np.isnan(g[4]).all()
        np.testing.assert_array_equal(np.delete(g, 4, 0), np.delete(before[n], 4, 0))
    assert all(np.isnan(g).all() for g in density.loglik_and_grad(x, **given)[1].values())


@each_name
@pytest.mark.parametrize("there", some(["x", "mu", "cov"], 2))
def test_gradients_of_device_arrays(name, there, rng):
    given = {"x": rng.normal(size=(20, 4))} | {n: v[:, None] for n, v in parameters(name, rng, 3, 4).items()}
    for case in (given, given | {"mu": rng.normal(size=(20, 4)), **{n: v[0] for n, v in given.items() if n in ("cov", "nu")}}):
        density = gs.densities[name]
        value, want = density.loglik_and_grad(**case, wrt=tuple(case))
        got_value, got = density.loglik_and_grad(**case | {there: gs.to_device(case[there])}, wrt=tuple(case))
        np.testing.assert_allclose(gs.to_host(got_value) if np.ndim(value) and there != "x" else got_value, value, rtol=1e-13)
        assert type(got[there]) is type(gs.to_device(case[there]))
        for n, g in got.items():
            np.testing.assert_allclose(gs.to_host(g) if n == there else g, want[n], rtol=1e-12, atol=1e-13)


@each_name
def test_gradients_of_likelihoods(name, rng):
    x, given = rng.normal(size=(50, 4)), parameters(name, rng, 3, 4)
    density, likelihood = gs.densities[name], gs.Likelihood(gs.densities[name], x)
    for case in ({n: v[0] for n, v in given.items()}, {n: v[:, None] for n, v in given.items()}):
        for wrt in (None, "mu", tuple(case)[::-1]):
            value, got = likelihood.value_and_grad(**case, wrt=wrt)
            want_value, want = density.loglik_and_grad(x, **case, wrt=wrt)
            assert np.array_equal(value, want_value) and list(got) == list(want)
            assert all(np.array_equal(got[n], want[n]) for n in want)
    with pytest.raises(ValueError, match="wrt: x is the data"):
        likelihood.value_and_grad(**case, wrt="x")
    with pytest.raises(ValueError, match="Hessian"):
        likelihood.hessian(**case)


@pytest.mark.parametrize(
    "wrt, message", [("scale_tril", "scale_tril.*x, mu, cov"), (("mu", "mu"), "twice"), ("sigma", "sigma")]
)
def test_wrong_names_of_gradients(wrt, message):
    with pytest.raises(ValueError, match=message):
        gs.mvnormal.loglik_and_grad(np.zeros((3, 2)), np.zeros(2), np.eye(2), wrt=wrt)


def test_derivatives_at_every_point(rng):
    """Of scalar parameters only."""
    x, given = rng.normal(size=(20, 4)), parameters("mv_student_t", rng, 3, 4)
    got = gs.transforms.Grad(gs.mv_student_t, "nu")(x[:, None], **given)
    want = [[slopes(row, *(given[n][k] for n in ("mu", "cov", "nu")))["nu"] for k in range(3)] for row in x]
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-13)
    for n in ("x", "mu", "cov"):
        with pytest.raises(ValueError, match=f"respect to {n}"):
            gs.transforms.Grad(gs.mv_student_t, n)


@THOROUGH
@each_name
@pytest.mark.parametrize("sets", [20, 1])
def test_the_same_gradients_have_the_same_bits(name, sets, rng):
    x, given = rng.normal(size=(20_011, 5)), {n: v[:, None] for n, v in parameters(name, rng, sets, 5).items()}
    value, first = gs.densities[name].loglik_and_grad(x, **given, wrt=("x", *given))
    for _ in range(5):
        again, got = gs.densities[name].loglik_and_grad(x, **given, wrt=("x", *given))
        assert np.array_equal(again, value) and all(np.array_equal(got[n], first[n]) for n in first)


def test_gradients_of_many_float32_observations(rng):
    """The sums run in float64, and the observations are centred in it."""
    x, cov = (100 + rng.normal(size=(200_000, 3))).astype(np.float32), np.eye(3, dtype=np.float32)
    mu = np.float32([100, 100.5, 99.75])
    _, got = gs.mvnormal.loglik_and_grad(x, mu, cov)
    y = x.astype(float) - mu
    np.testing.assert_allclose(got["mu"], y.sum(0), rtol=1e-12, atol=1e-8)
    np.testing.assert_allclose(got["cov"], (y.T @ y - len(x) * np.eye(3)) / 2, rtol=1e-6)


@pytest.mark.parametrize("dtype, dim", some([
    *((np.float64, dim) for dim in (1, 3, 4, 7, 8, 11, 12, 15, 16, 31, 32, 47, 130)),
    *((np.float32, dim) for dim in (3, 8, 16, 47)),  # what is read alone: the sums are in float64
]))  # fmt: skip
@pytest.mark.parametrize("weighted", some([True, False]))
def test_scatter(dim, weighted, dtype, rng):
    runtime = choose.get()
    for n_rows, sets in ((1, 1), (77, 3), (3001, 1)):
        x, mu = rng.normal(size=(n_rows, dim)).astype(dtype), rng.normal(size=(sets, dim)).astype(dtype)
        weights = rng.normal(size=(sets, n_rows)).astype(dtype) if weighted else None
        parts = [(*runtime.memory(a), s) for a, s in ((x, 0), (mu, dim))]
        part = (*runtime.memory(weights), n_rows) if weighted else None
        result = runtime.result(8 * sets * (dim + 1) ** 2)
        scatter(runtime, np.dtype(dtype), dim, n_rows, sets, *parts, part, result.handle)
        got = runtime.fetch(result).view(float).reshape(sets, dim + 1, dim + 1)
        y = np.concatenate([np.ones((sets, n_rows, 1)), x.astype(float) - mu.astype(float)[:, None]], -1)
        w = np.ones((sets, n_rows, 1)) if weights is None else weights.astype(float)[..., None]
        size = (np.abs(w * y)).swapaxes(1, 2) @ np.abs(y)
        assert (np.abs(got - (w * y).swapaxes(1, 2) @ y) <= 1e-13 * size).all()
        assert np.array_equal(got, got.swapaxes(1, 2))


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
@pytest.mark.parametrize("scale", some(["cov", "scale_tril", "precision"]))
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_gradients_in_a_large_matrix(name, scale, rows, rng):
    """Few observations are multiplied one by one, many are summed first."""
    dim = LARGE_MATRIX + 5
    (cov,), x, mu = covariances(rng, 1, dim), rng.normal(size=(rows, dim)), rng.normal(size=dim)
    precision = np.linalg.inv(cov)
    precision = (precision + precision.T) / 2
    root = np.linalg.cholesky(cov)
    given = {} if name == "mvnormal" else {"nu": 5.0}
    matrix = {"cov": cov, "scale_tril": root, "precision": precision}[scale]
    value, got = gs.densities[name].loglik_and_grad(x, mu=mu, **{scale: matrix}, wrt=("x", "mu", scale), **given)
    y = x - mu
    outward = y @ precision
    slope = np.full((rows, 1), -0.5)
    if name == "mv_student_t":
        slope = -0.5 * (5 + dim) / (5 + (outward * y).sum(-1, keepdims=True))
    in_cov = -0.5 * rows * precision - (slope * outward).T @ outward
    want = {"cov": in_cov, "scale_tril": np.tril(2 * in_cov @ root), "precision": -cov @ in_cov @ cov}[scale]
    assert_close(np.array([value]), reference(name, x, mu, cov, **given).sum(keepdims=True), np.float64, 10)
    expected = {"x": 2 * slope * outward, "mu": -2 * (slope * outward).sum(0), scale: want}
    for argument, gradient in expected.items():
        assert got[argument].shape == gradient.shape
        np.testing.assert_allclose(got[argument], gradient, rtol=1e-9, atol=1e-9 * np.abs(gradient).max())
