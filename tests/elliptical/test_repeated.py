"""Tables that a program makes again and again: each has the numbers of its own call, to the bit those of a call on its own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from references_elliptical import BAD, covariances, each_name, parameters
from scipy import stats

import gpustats as gs
from gpustats.elliptical.density import Elliptical
from gpustats.elliptical.whiten import LARGE_MATRIX

FORMS = {"cov": lambda m: m, "scale_tril": np.linalg.cholesky, "precision": np.linalg.inv}


def alone(density, x, **given):
    """Table of a call that is placed from scratch."""
    function = density.log_density.for_arguments(given)
    return function.table(function.bind((x,), given))


def assert_same(density, x, **given):
    got, want = density.logpdf(x, **given), alone(density, x, **given)
    assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(gs.to_host(got), gs.to_host(want))
    return gs.to_host(got)


def fresh(name):
    """Density with plans of its own."""
    return gs.Density(gs.densities[name].definition)


def given_as(name, rng, sets, dim, form="cov", dtype="float64", where=np.asarray):
    given = parameters(name, rng, sets, dim)
    given[form] = FORMS[form](given.pop("cov"))
    return {n: where(v.astype(dtype)) for n, v in given.items()}


@pytest.fixture
def placed(monkeypatch):
    """How often arguments have been placed from scratch."""
    calls, original = [], Elliptical.place
    monkeypatch.setattr(Elliptical, "place", lambda self, *args: calls.append(1) or original(self, *args))
    return calls


@each_name
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("where", [np.asarray, gs.to_device], ids=["host", "device"])
def test_other_numbers(name, form, dtype, where, layout, rng, placed):
    density = fresh(name)
    for sets, n in ((3, 20), (1, 20), (3, 2000)):  # short observations travel with the parameters, long ones do not
        for _ in range(3):
            given = given_as(name, rng, sets, 5, form, dtype, where)
            x = where(rng.normal(size=(n, 1, 5)).astype(dtype))
            before = len(placed)
            assert np.isfinite(assert_same(density, x, **given)).all()
            assert len(placed) == before + 1  # for the call on its own


@each_name
def test_shared_parameters(name, rng, placed):
    density, x = fresh(name), rng.normal(size=(20, 1, 4))
    for _ in range(2):
        given = given_as(name, rng, 3, 4)
        for shared in given:
            assert_same(density, x, **{n: v[0] if n == shared else v for n, v in given.items()})
            assert_same(density, x, **{n: v[0] if n != shared else v for n, v in given.items()})
        assert_same(density, x[:, 0], **{n: v[0] for n, v in given.items()})
        assert_same(density, x[0, 0], **{n: v[0] for n, v in given.items()})
    if name == "mv_student_t":
        for nu in (3, 4.5, np.float64(2), np.array(7.0)):
            assert_same(density, x, nu=nu, mu=given["mu"], cov=given["cov"])


def test_by_place_and_by_name(rng, placed):
    density, x, given = fresh("mv_student_t"), rng.normal(size=(20, 1, 4)), given_as("mv_student_t", rng, 3, 4)
    want = density.logpdf(x, **given)
    for nu, mu, cov in (given.values(),):
        for got in (density.logpdf(x, nu, mu, cov), density.logpdf(x, nu, cov=cov, mu=mu), density.logpdf(x=x, **given)):
            np.testing.assert_array_equal(got, want)
    assert not placed


def test_the_sizes_of_matrices(layout, rng):
    density = fresh("mvnormal")
    for dim in (1, 15, 64, 33, LARGE_MATRIX, 15, 64):
        for sets in (1, 8):
            for where in (np.asarray, gs.to_device):
                given = given_as("mvnormal", rng, sets, dim, "scale_tril", where=where)
                assert np.isfinite(assert_same(density, where(rng.normal(size=(30, 1, dim))), **given)).all()


@each_name
def test_what_differs_in_more_than_its_numbers(name, rng):
    density, x, given = fresh(name), rng.normal(size=(12, 1, 4)), given_as(name, rng, 3, 4)
    apart = np.concatenate([x, x], -1)[..., 2:6]
    single = {n: v.astype("float32") for n, v in given.items()}
    columns = {n: np.asfortranarray(v) for n, v in given.items()}
    there = {n: gs.to_device(v) for n, v in given.items()}
    views = {n: gs.to_device(np.concatenate([v[:1], v]))[1:] for n, v in given.items()}  # begin elsewhere in memory
    turned = gs.to_device(x[::-1].copy())[::-1]
    here, there_single = gs.to_device(x), gs.to_device(x.astype("float32"))
    kinds = [
        (x, given), (x[:6], given), (x[:0], given), (x[::2], given), (apart, given), (x.tolist(), given),
        (x.astype(int), given), (x, single), (x.astype("float32"), given), (x.astype("float32"), single),
        (x, columns), (x, there), (here, given), (here, there), (here[1:], views), (turned, there),
        (there_single, there), (x, {**given, "cov": single["cov"]}), (here, {**there, "cov": gs.to_device(single["cov"])}),
        (x[None], given), (x.reshape(3, 4, 1, 4), given), (x[:3, 0], given),
        (x[:, 0], {n: v[:, None] for n, v in given.items()}),
        (x, {n: v[:2] for n, v in given.items()}), (x[:, 0], {n: v[:1] for n, v in given.items()}),
        (x, {n: v if n == "mu" else v[0] for n, v in given.items()}), (x[0, 0], given),
        (x[:3, 0], {n: v if n == "mu" else v[0] for n, v in given.items()}),  # a mean for each observation
        (x[:, None], {n: v[:2, None] if n == "mu" else v for n, v in given.items()}),  # broadcast among themselves
    ]  # fmt: skip
    for _ in range(2):
        for observed, parameters_of_it in kinds:
            assert_same(density, observed, **parameters_of_it)


@pytest.mark.parametrize("where", [np.asarray, gs.to_device], ids=["host", "device"])
@pytest.mark.parametrize("form", BAD)
def test_validity_may_change(form, where, rng):
    density, x = fresh("mvnormal"), where(rng.normal(size=(9, 1, 2)))
    good = np.eye(2)
    for matrix in [v for bad in BAD[form] for v in (bad, good)]:
        matrices = np.array([np.eye(2), matrix], float)
        got = assert_same(density, x, mu=where(np.zeros((2, 2))), **{form: where(matrices)})
        assert np.isfinite(got[:, 0]).all()
        assert (np.isfinite if matrix is good else np.isnan)(got[:, 1]).all()


def test_errors_are_as_before(rng):
    density, x, given = fresh("mvnormal"), rng.normal(size=(9, 1, 4)), given_as("mvnormal", rng, 3, 4)
    for _ in range(2):
        assert_same(density, x, **given)
        for wrong, said in [
            (dict(mu=given["mu"][:, :3]), "mu has shape"), (dict(mu=0.0), "mu must be a vector"),
            (dict(cov=given["cov"][0, 0]), "cov must be a matrix"), (dict(mu=given["mu"][:2]), "do not broadcast"),
            (dict(mu=given["mu"].astype(complex)), "complex"),
        ]:  # fmt: skip
            with pytest.raises((ValueError, TypeError), match=said):
                density.logpdf(x, **given | wrong)
        with pytest.raises(ValueError, match="needs cov"):
            density.logpdf(x, mu=given["mu"])
        with pytest.raises(ValueError, match="no parameter"):
            density.logpdf(x, **given, scale_tril=given["cov"])


def test_a_plan_that_could_not_be_made_is_made_later(rng, monkeypatch):
    density, x, given = fresh("mvnormal"), rng.normal(size=(9, 1, 4)), given_as("mvnormal", rng, 3, 4)
    with monkeypatch.context() as patch:
        patch.setattr(Elliptical, "source_for", None)
        with pytest.raises(TypeError, match="not callable"):
            density.logpdf(x, **given)
    assert_same(density, x, **given)


def test_results_are_not_shared(rng):
    x, cov = rng.normal(size=(6, 1, 2)), np.eye(2)
    for where in (np.asarray, gs.to_device):
        first = gs.mvnormal.logpdf(where(x), where(np.zeros(2)), where(cov))
        kept = gs.to_host(first).copy()
        gs.mvnormal.logpdf(where(x), where(np.ones(2)), where(cov))
        np.testing.assert_array_equal(gs.to_host(first), kept)


def test_transforms_have_plans_of_their_own(rng):
    x, given = rng.normal(size=(9, 1, 4)), given_as("mv_student_t", rng, 3, 4)
    slope = gs.mv_student_t.log_density.derivative("nu")
    for _ in range(2):
        for density in (gs.mv_student_t, gs.mvnormal):
            own = {n: v for n, v in given.items() if n != "nu" or density is gs.mv_student_t}
            np.testing.assert_allclose(density.pdf(x, **own), np.exp(assert_same(density, x, **own)), rtol=1e-13)
        want = slope.table(slope.bind((x,), given))
        np.testing.assert_array_equal(slope(x, **given), want)
        given["nu"] = given["nu"] + 1


def test_runtimes_do_not_share_plans(like_a_gpu, rng, monkeypatch):
    scratch, started = like_a_gpu.scratch, []
    monkeypatch.setattr(like_a_gpu, "scratch", lambda nbytes: started.append(nbytes) or scratch(nbytes))
    density, x, given = fresh("mvnormal"), rng.normal(size=(9, 1, 4)), given_as("mvnormal", rng, 3, 4)
    for _ in range(2):
        assert_same(density, x, **given)
        with gs.use(like_a_gpu):
            assert_same(density, x, **given)
            there = {n: gs.to_device(v) for n, v in given.items()}
        assert_same(density, x, **there)  # runs where its arrays are
        assert started.count(max(started)) == 4  # memory for factors, of the repeated calls and of those on their own
        started.clear()


def test_a_device_with_memory_of_its_own(like_a_gpu, rng):
    assert not like_a_gpu.host_visible
    density = fresh("mvnormal")
    with gs.use(like_a_gpu):
        for where in (np.asarray, gs.to_device):
            for n in (9, 3000):
                for _ in range(2):
                    x, given = rng.normal(size=(n, 1, 4)), given_as("mvnormal", rng, 3, 4, where=where)
                    assert_same(density, where(x), **given)


def test_threads(rng):
    x, cov = rng.normal(size=(300, 1, 3)), covariances(rng, 4, 3)
    density = fresh("mvnormal")

    def work(number):
        where = gs.to_device if number % 2 else np.asarray
        mu = np.full(3, float(number))
        want = np.stack([stats.multivariate_normal.logpdf(x[:, 0], mu, c) for c in np.roll(cov, number, 0)], -1)
        given = dict(mu=where(mu), cov=where(np.roll(cov, number, 0)))
        return all(np.allclose(gs.to_host(density.logpdf(where(x), **given)), want, rtol=1e-12) for _ in range(40))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
