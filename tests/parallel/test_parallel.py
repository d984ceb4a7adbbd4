"""Rows cut into pieces and put together again, several devices, and functions of ranges of items."""

import pickle
import threading

import numpy as np
import pytest
from pieces import same
from scipy import stats
from thorough import THOROUGH, double_first, some

import gpustats as gs
from gpustats.parallel import devices as devices_module
from gpustats.parallel import rows
from gpustats.parallel.files import FileRows
from gpustats.runtime import choose

N, K, S, G = 203, 4, 3, 5  # rows, columns, sets of coefficients, groups


@pytest.fixture
def several(like_a_gpu, monkeypatch):
    """Several devices, one of them twice."""
    monkeypatch.setattr(devices_module, "seconds", lambda *_: 1.0)
    return [choose.get(), like_a_gpu, choose.get()]


@pytest.fixture
def data(rng):
    X, offset, weights = rng.normal(size=(N, K)), rng.normal(size=N), rng.uniform(size=N)
    return dict(
        y=rng.poisson(2.0, N), X=X, offset=offset, weights=weights, groups=rng.permutation(np.arange(N) % G)
    )  # fmt: skip


# ---- cutting and adding


@pytest.mark.parametrize("shares", [[1], [1, 1], [3, 1, 2], [1e-9, 1], [1, 1, 1, 1, 1, 1, 1, 1]])
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_split(n, shares):
    found = rows.split(n, shares)
    assert [i for r in found for i in range(*r)] == list(range(n))
    if n == 1000:
        wanted = [round(1000 * s / sum(shares)) for s in shares]
        assert [b - a for a, b in found] == [w for w in wanted if w]
    assert found == [(0, 0)] or all(b > a for a, b in found)


def test_arguments_are_cut_along_their_axis_of_rows():
    a, b = np.arange(12.0).reshape(2, 6), np.arange(18.0).reshape(6, 3)
    (first, _), (second, rest) = rows.cut((a, "x"), {"b": b, "c": b}, ["a", "s"], {"a": -1, "b": -2}, [(0, 4), (4, 6)])
    np.testing.assert_array_equal(first[0], a[:, :4])
    np.testing.assert_array_equal(second[0], a[:, 4:])
    np.testing.assert_array_equal(rest["b"], b[4:])
    assert second[1] == "x" and rest["c"] is b


def test_results_are_added_in_their_order():
    parts = [1e16, 1.0, -1e16, 1.0]
    assert rows.added(parts, {}) == ((1e16 + 1.0) - 1e16) + 1.0
    pieces = [(1.0, {"a": np.ones(2), "b": 2.0}), (3.0, {"a": np.zeros(1), "b": 5.0})]
    value, gradients = rows.added_with_gradients(pieces, {"a": -1})
    assert value == 4.0 and gradients["b"] == 7.0 and gradients["a"].tolist() == [1.0, 1.0, 0.0]


def test_sections_of_files(tmp_path, rng):
    a = rng.normal(size=(50, 3))
    mapped = np.memmap(tmp_path / "a", np.float64, "w+", offset=8208, shape=a.shape)
    mapped[:] = a
    mapped.flush()
    stored = rows.as_rows(mapped, "a")
    sources = [(stored, a), (rows.as_rows(mapped[7:40], "a"), a[7:40]), (rows.Section(stored, 5, 45), a[5:45])]
    for source, whole in (*sources, (rows.as_rows(mapped[:, 1], "a"), a[:, 1])):
        part = rows.section(source, 3, 20)
        np.testing.assert_array_equal(part[2:11], whole[5:14])
        text = pickle.dumps(part)
        assert len(text) < 500  # the place, not the data
        again = pickle.loads(text)
        assert isinstance(again, (rows.Section, FileRows))
        np.testing.assert_array_equal(again[:], whole[3:20])
    assert rows.is_stored(stored) and rows.is_stored(part) and not rows.is_stored(a) and not rows.is_stored([1.0])
    assert (
        rows.largest(rows.as_rows(mapped[:, 0], "a"), 0.0, "a") == a[:, 0].max()
        and rows.largest(a[:0, 0], -1, "a") == -1
    )


# ---- models on several devices


@pytest.mark.parametrize("alpha", some([None, 0.3, "groups", "sets", "rows"], 3))
@double_first
def test_glm(several, data, rng, alpha, dtype):
    data["X"] = data["X"].astype(dtype)
    if alpha == "rows":
        del data["groups"]
    beta = 0.1 * rng.normal(size=(S, K) if alpha == "sets" else K)
    alpha = {"groups": rng.normal(size=G), "sets": rng.normal(size=(S, G)), "rows": rng.normal(size=N)}.get(alpha, alpha)
    whole, divided = gs.GLM(gs.poisson_log, **data), gs.GLM(gs.poisson_log, **data, devices=several)
    assert isinstance(divided, gs.GLM) and len(divided._pieces.ranges) == len(several)
    rtol = 1e-11 if dtype == np.float64 else 1e-4
    given = (beta,) if alpha is None else (beta, alpha)
    for method in ("__call__", "value_and_grad", "logpdf", "linear_predictor"):
        same(getattr(divided, method)(*given), getattr(whole, method)(*given), rtol)
    wrt = ("X", "beta", "alpha")
    same(divided.value_and_grad(*given, wrt=wrt), whole.value_and_grad(*given, wrt=wrt), rtol)
    factors = rng.uniform(size=N)
    same(
        divided.weighted_gradients(factors, *given, wrt=["beta", "alpha"]),
        whole.weighted_gradients(factors, *given, wrt=["beta", "alpha"]), rtol,
    )  # fmt: skip
    value, gradient = divided.value_and_grad(*given)
    again, gradient_again = divided.value_and_grad(*given)
    np.testing.assert_array_equal(value, again)
    for name in gradient:
        np.testing.assert_array_equal(gradient[name], gradient_again[name])


@THOROUGH
def test_glm_of_other_parameters_and_outcomes(several, rng):
    X, y = rng.normal(size=(N, K)), rng.normal(size=N)
    beta, sigma = rng.normal(size=K), rng.uniform(0.5, 2, size=N)
    whole, divided = gs.GLM(gs.normal, y, X, eta="mu"), gs.GLM(gs.normal, y, X, eta="mu", devices=several)
    same(divided.value_and_grad(beta, sigma=sigma), whole.value_and_grad(beta, sigma=sigma))
    same(divided.value_and_grad(beta, 0.1, sigma[:1]), whole.value_and_grad(beta, 0.1, sigma[:1]))
    same(divided.value_and_grad(beta, sigma=2.0, wrt="y"), whole.value_and_grad(beta, sigma=2.0, wrt="y"))
    assert divided(beta, sigma=sigma) == pytest.approx(stats.norm.logpdf(y, X @ beta, sigma).sum(), rel=1e-12)
    y = rng.integers(0, 3, N)
    whole, divided = gs.GLM(gs.categorical_logit, y, X), gs.GLM(gs.categorical_logit, y, X, devices=several)
    beta = rng.normal(size=(S, K, 3))
    for alpha in (0.0, rng.normal(size=3), rng.normal(size=(N, 3)), rng.normal(size=(S, 1, 3))):
        same(divided.value_and_grad(beta, alpha), whole.value_and_grad(beta, alpha))
        same(divided.linear_predictor(beta, alpha), whole.linear_predictor(beta, alpha))


def test_draws_are_those_of_one_device(several, data, rng):
    beta, alpha = 0.1 * rng.normal(size=(2, K)), rng.normal(size=G)
    whole, divided = gs.GLM(gs.poisson_log, **data), gs.GLM(gs.poisson_log, **data, devices=several)
    np.testing.assert_array_equal(divided.rvs(beta, alpha, rng=7), whole.rvs(beta, alpha, rng=7))


@double_first
def test_likelihood(several, rng, dtype):
    x = rng.normal(size=N).astype(dtype)
    whole, divided = gs.Likelihood(gs.normal, x), gs.Likelihood(gs.normal, x, devices=several)
    by_row = rng.uniform(1, 2, N).astype(dtype)
    rtol = 1e-11 if dtype == np.float64 else 1e-5
    for mu, sigma in ((0.1, 1.2), (by_row, 1.2), (rng.normal(size=(S, 1)), 1.2), (rng.normal(size=(S, N)), by_row)):
        same(divided(mu, sigma), whole(mu, sigma), rtol)
        same(divided.value_and_grad(mu, sigma=sigma), whole.value_and_grad(mu, sigma=sigma), rtol)
    same(divided.hessian(by_row, 2.0, wrt="sigma"), whole.hessian(by_row, 2.0, wrt="sigma"), rtol)
    same(divided.hessian(rng.normal(size=(S, 1)) * 0, 2.0), whole.hessian(np.zeros((S, 1)), 2.0), rtol)


def test_likelihood_of_vectors(several, rng):
    x, mu, cov = rng.normal(size=(N, 3)), rng.normal(size=3), np.diag([1.0, 2.0, 3.0]) + 0.2
    whole, divided = gs.Likelihood(gs.mvnormal, x), gs.Likelihood(gs.mvnormal, x, devices=several)
    for means in (mu, rng.normal(size=(N, 3)), rng.normal(size=(S, 1, 3))):
        same(divided.value_and_grad(means, cov), whole.value_and_grad(means, cov))
        same(divided(means, precision=cov), whole(means, precision=cov))


def test_pieces_are_summed_in_double(rng):
    """Float32 observations that cancel: each piece is added up in float64."""
    x = (1e4 * rng.normal(size=20_000)).astype(np.float32)
    divided = gs.Likelihood(gs.normal, x, devices=[choose.get()] * 3)
    assert divided.value_and_grad(0.0, 1.0)[1]["mu"] == pytest.approx(x.astype(float).sum(), rel=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_rows_than_devices(several, n, rng):
    x, X = rng.normal(size=n), rng.normal(size=(n, K))
    likelihood = gs.Likelihood(gs.normal, x, devices=several)
    assert likelihood(0.0, 1.0) == pytest.approx(stats.norm.logpdf(x).sum())
    assert likelihood.value_and_grad(np.zeros((S, 1)), 1.0)[0].shape == (S,)
    same(
        gs.GLM(gs.poisson_log, np.ones(n), X, devices=several).value_and_grad(np.ones(K), 0.1),
        gs.GLM(gs.poisson_log, np.ones(n), X).value_and_grad(np.ones(K), 0.1),
    )  # fmt: skip


def test_not_a_number_stays(several, rng):
    x = rng.normal(size=N)
    x[N // 2] = np.nan
    assert np.isnan(gs.Likelihood(gs.normal, x, devices=several)(0.0, 1.0))
    x[N // 2] = -1.0
    assert gs.Likelihood(gs.exponential, np.abs(x), devices=several)(2.0) < 0
    assert gs.Likelihood(gs.exponential, x, devices=several)(2.0) == -np.inf


def test_shares_go_by_speed(rng, monkeypatch, like_a_gpu):
    times = iter([1.0, 3.0])
    monkeypatch.setattr(devices_module, "seconds", lambda *_: next(times))
    likelihood = gs.Likelihood(gs.normal, rng.normal(size=1000), devices=[choose.get(), like_a_gpu])
    assert likelihood._pieces.ranges == [(0, 750), (750, 1000)]
    likelihood = gs.Likelihood(gs.normal, rng.normal(size=1000), devices=[choose.get()] * 2)  # alike: not measured
    assert likelihood._pieces.ranges == [(0, 500), (500, 1000)]


def test_speeds_are_measured_where_devices_differ(rng, data, like_a_gpu):
    unlike = [choose.get(), like_a_gpu]
    beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
    same(
        gs.GLM(gs.poisson_log, **data, devices=unlike).value_and_grad(beta, alpha),
        gs.GLM(gs.poisson_log, **data).value_and_grad(beta, alpha),
    )  # fmt: skip
    x, cov = rng.normal(size=(N, 2)), np.eye(2) + 0.5
    same(gs.Likelihood(gs.mvnormal, x, devices=unlike)(0 * x[0], cov), gs.Likelihood(gs.mvnormal, x)(0 * x[0], cov))


@pytest.mark.parametrize("name", sorted(gs.densities))
def test_examples_lie_in_their_domain(name):
    """What speeds are measured with is valid for every density, so that no kernel takes a short cut."""
    function = gs.densities[name].log_density
    for argument in function.arguments[1:]:
        value = devices_module.example(argument, 3)
        assert np.ndim(value) == argument.rank
        words = argument.words
        assert "nonnegative" not in words or np.all(np.asarray(value) >= 0)
        assert "positive" not in words or np.all(np.asarray(value) > 0)
        assert "unit" not in words or np.all((np.asarray(value) >= 0) & (np.asarray(value) <= 1))
        assert "simplex" not in words or np.sum(value) == pytest.approx(1.0)
        assert "ordered" not in words or np.all(np.diff(value) > 0)
        assert "integer" not in words or np.all(value == np.rint(value))


def test_several_threads(several, data, rng):
    beta, alpha = 0.1 * rng.normal(size=K), rng.normal(size=G)
    glm = gs.GLM(gs.poisson_log, **data, devices=several)
    wanted, found = glm.value_and_grad(beta, alpha)[0], []
    threads = [threading.Thread(target=lambda: found.append(glm.value_and_grad(beta, alpha)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 4


def test_all_devices_of_the_machine(rng):
    x = rng.normal(size=N)
    likelihood = gs.Likelihood(gs.normal, x, devices="all")
    assert likelihood(0.0, 1.0) == pytest.approx(stats.norm.logpdf(x).sum(), rel=1e-12)
    found = choose.several("all")
    assert len({r.device.type for r in found}) == 1
    assert "rows" in repr(likelihood) and repr(likelihood).startswith("<likelihood of normal")
    with pytest.raises(AttributeError, match="in pieces"):
        likelihood.device  # noqa: B018


def test_errors(several, data, rng):
    glm = gs.GLM(gs.poisson_log, **data, devices=several)
    with pytest.raises(ValueError, match=rf"alpha has shape \(7,\).*{N}, one for each row of X, {G}, one for each group"):
        glm(np.zeros(K), np.zeros(7))
    with pytest.raises(ValueError, match="beta has shape"):
        glm(np.zeros(K + 1))
    with pytest.raises(ValueError, match="leave out groups"):
        glm(np.zeros(K), np.zeros(N))
    with pytest.raises(ValueError, match="wrt: 'gamma' is none of"):
        glm.value_and_grad(np.zeros(K), wrt="gamma")
    with pytest.raises(TypeError, match="pass NumPy arrays"):
        glm(gs.to_device(np.zeros(K)))
    with pytest.raises(ValueError, match=rf"factors has shape \(3,\): it must be \({N},\)"):
        glm.weighted_gradients(np.zeros(3), np.zeros(K), wrt=["beta"])
    with pytest.raises(ValueError, match="on a device already"):
        gs.Likelihood(gs.normal, gs.to_device(np.zeros(5)), devices=several)
    with pytest.raises(ValueError, match="one axis"):
        gs.Likelihood(gs.normal, np.zeros((5, 2)), devices=several)
    with pytest.raises(ValueError, match="shapes do not broadcast"):
        gs.Likelihood(gs.normal, np.zeros(5), devices=several)(np.zeros(4), 1.0)
    with pytest.raises(ValueError, match="devices is empty"):
        gs.Likelihood(gs.normal, np.zeros(5), devices=[])
    with pytest.raises(ValueError, match="no device 'cuda:99'|cuda"):
        gs.Likelihood(gs.normal, np.zeros(5), devices=["cuda:99"])


def test_groups_without_rows(data):
    alpha = np.arange(G + 3.0) / 10
    glm = gs.GLM(gs.poisson_log, **data, n_groups=G + 3)
    gradient = glm.value_and_grad(np.zeros(K), alpha)[1]["alpha"]
    assert gradient.shape == (G + 3,) and not gradient[G:].any() and gradient[:G].all()
    with pytest.raises(ValueError, match="n_groups=2 must be larger"):
        gs.GLM(gs.poisson_log, **{**data, "n_groups": 2})


# ---- functions of ranges of items


def squares(data, first, end, runtime):
    assert isinstance(runtime.device.id, str)
    with gs.use(runtime):
        x = data[first:end]
        return {"square": x**2, "table": gs.normal.logpdf(x[:, None], np.array([0.0, 1.0]), 1.0)}


@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_map_over_devices(several, rng, chunk):
    x = rng.normal(size=50)
    found = gs.parallel.DeviceMap(several)(squares, x, 50, chunk=chunk)
    np.testing.assert_array_equal(found["square"], x**2)
    np.testing.assert_allclose(found["table"], stats.norm.logpdf(x[:, None], [0.0, 1.0]), rtol=1e-13)


def test_map_of_nothing():
    found = gs.parallel.DeviceMap()(squares, np.empty(0), 0)
    assert found["square"].shape == (0,) and found["table"].shape == (0, 2)


def test_fast_devices_take_more(several):
    slow, counts = threading.Event(), {}

    def function(data, first, end, runtime):
        me = threading.get_ident()
        counts[me] = counts.get(me, 0) + 1
        if first == 0:
            slow.wait(20)  # until all other ranges are done
        elif sum(counts.values()) == 20:
            slow.set()
        return {"at": np.arange(first, end)}

    found = gs.parallel.DeviceMap(several)(function, None, 40, chunk=2)
    assert found["at"].tolist() == list(range(40)) and 1 in counts.values() and max(counts.values()) > 19 // len(several)


def test_map_tells_errors_and_tries_again(several, capsys):
    failures = iter([True, True])

    def function(data, first, end, runtime):
        if first == 4 and next(failures, False):
            raise RuntimeError("not now")
        return {"n": np.ones(end - first)}

    mapped = gs.parallel.DeviceMap(several)
    with pytest.raises(RuntimeError, match="not now"):
        mapped(function, None, 10, chunk=2)
    assert mapped(function, None, 10, chunk=2, retries=1, progress=True)["n"].sum() == 10
    assert "10/10" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"n has shape \(3,\): its first axis must be that of the 2 items"):
        mapped(lambda *_: {"n": np.ones(3)}, None, 10, chunk=2)
    with pytest.raises(ValueError, match="neither may be negative"):
        mapped(function, None, 10, chunk=0)


def test_maps_and_models_within_maps(several, rng):
    """A device's thread does not wait for another, which may be waiting for it."""
    x = rng.normal(size=N)
    likelihood = gs.Likelihood(gs.normal, x, devices=several)

    def function(data, first, end, runtime):
        return {"value": [likelihood(float(i), 1.0) for i in range(first, end)]}

    found = gs.parallel.DeviceMap(several)(function, None, 6, chunk=1)["value"]
    np.testing.assert_array_equal(found, [likelihood(float(i), 1.0) for i in range(6)])


# ---- densities travel


def test_densities_are_pickled_without_kernels(rng):
    x = rng.normal(size=5)
    mine = gs.register("real flat_logpdf(real x, real mu) {\n return log1p(fabs(x - mu)); }")
    for density, parameters in (
        (mine, (0.5,)), (gs.gamma, (2.0, 1.0)), (gs.transforms.Truncate(gs.normal, -1.0, 2.0), (0.1, 1.0)),
    ):  # fmt: skip
        before = density.logpdf(x, *parameters)
        again = pickle.loads(pickle.dumps(density))
        assert again.source == density.source
        np.testing.assert_array_equal(again.logpdf(x, *parameters), before)
