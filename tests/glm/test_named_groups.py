"""Groups of a GLM that have names: several terms of a linear predictor, with intercepts and slopes that vary between groups."""

import copy
import pickle

import numpy as np
import pytest
from scipy import special, stats
from thorough import double_first, some

import gpustats as gs
from gpustats.runtime import choose

N, K, G, H, M = 203, 3, 5, 7, 2  # rows, columns, groups of two terms, columns of the second one


def data(rng, n=N, dtype=np.float64, k=K):
    X, Z = rng.normal(size=(n, k)).astype(dtype), rng.normal(size=(n, M)).astype(dtype)
    county, item = rng.integers(0, G, n), 2 * rng.integers(0, H // 2 + 1, n)  # every other item has no rows
    return X, rng.integers(0, 2, n), {"county": county, "item": (item, Z)}


def tables(rng, lead=()):
    return {"county": rng.normal(size=(*lead, G)), "item": rng.normal(size=(*lead, H, M))}


def predictor(X, groups, beta, alpha, county, item, offset=0.0):
    """The linear predictor of one set."""
    index, Z = groups["item"]
    return X @ beta + alpha + offset + county[groups["county"]] + (Z * item[index]).sum(-1)


def slopes(X, groups, slope):
    """The derivatives in what the linear predictor is made of, from those in it."""
    index, Z = groups["item"]
    found = {"beta": slope @ X, "alpha": slope.sum(), "county": np.bincount(groups["county"], slope, G)}
    return found | {"item": np.stack([np.bincount(index, slope * z, H) for z in Z.T], -1)}


@double_first
@pytest.mark.parametrize("n", some([0, 1, N, 5000], 2))
def test_values_and_derivatives(n, dtype, layout, rng):
    X, y, groups = data(rng, n, dtype)
    offset, weights = rng.normal(size=n).astype(dtype), rng.uniform(size=n).astype(dtype)
    given = {"beta": rng.normal(size=K), "alpha": 0.25, **tables(rng)}
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups=groups, offset=offset, weights=weights)
    assert glm.parameters == ("beta", "alpha", "county", "item")
    eta = predictor(X.astype(float), groups, **given, offset=offset)
    terms, exact = special.log_expit(np.where(y, eta, -eta)), 1e-11 if dtype == np.float64 else 1e-4
    value, gradient = glm.value_and_grad(**given)
    close = dict(rtol=exact, atol=exact * max(n, 1) ** 0.5)
    np.testing.assert_allclose(value, (weights * terms).sum(), **close)
    assert glm(**given) == value and type(value) is float
    for name, wanted in slopes(X.astype(float), groups, weights * (y - special.expit(eta))).items():
        np.testing.assert_allclose(gradient[name], wanted, **close, err_msg=name)
        assert np.shape(gradient[name]) == np.shape(given[name])
    np.testing.assert_allclose(glm.logpdf(**given), weights * terms, **close)
    np.testing.assert_allclose(glm.linear_predictor(**given), eta, **close)
    assert glm.logpdf(**given).dtype == dtype and glm.rvs(**given, rng=1).shape == (n,)


def test_parameters_of_the_density_and_wrt(layout, rng):
    X, y, groups = data(rng)
    given = {"beta": rng.normal(size=K), "alpha": 0.25, "sigma": 1.5, **tables(rng)}
    glm = gs.GLM(gs.normal_identity, y, X, groups=groups)
    assert glm.parameters == ("beta", "alpha", "sigma", "county", "item")
    eta = predictor(X, groups, given["beta"], 0.25, given["county"], given["item"])
    value, gradient = glm.value_and_grad(*given.values())
    assert value == glm(**given) == pytest.approx(stats.norm.logpdf(y, eta, 1.5).sum())
    z = (y - eta) / 1.5
    assert gradient["sigma"] == pytest.approx(((z * z - 1) / 1.5).sum())
    some = glm.value_and_grad(**given, wrt=("item", "sigma"))[1]
    assert list(some) == ["item", "sigma"]
    np.testing.assert_allclose(some["item"], gradient["item"], rtol=1e-12)
    del given["alpha"]
    assert "alpha" not in glm.value_and_grad(**given)[1] and glm.value_and_grad(**given, wrt="county")[1].keys() == {"county"}


def test_vectors_beside_the_linear_predictor(rng):
    X, y, groups = data(rng)
    given = {"beta": rng.normal(size=K), "cutpoints": np.array([-0.5, 0.5]), **tables(rng)}
    named = gs.GLM(gs.ordered_logit, y, X, groups=groups)
    eta = predictor(X, groups, given["beta"], 0.0, given["county"], given["item"])
    plain = gs.GLM(gs.ordered_logit, y, X, offset=eta)
    value, gradient = named.value_and_grad(**given)
    want, derivatives = plain.value_and_grad(np.zeros(K), cutpoints=given["cutpoints"])
    assert value == pytest.approx(want)
    for name in ("beta", "cutpoints"):
        np.testing.assert_allclose(gradient[name], derivatives[name], rtol=1e-10)


def test_sets_have_the_bits_of_calls_of_their_own(layout, rng):
    X, y, groups = data(rng, 3000)
    given = {"beta": rng.normal(size=(4, K)), "alpha": rng.normal(size=(4, 1)), "sigma": 1.5, **tables(rng, (4,))}
    glm = gs.GLM(gs.normal_identity, y, X, groups=groups)
    value, gradient = glm.value_and_grad(**given)
    assert value.shape == (4,) and np.shape(gradient["sigma"]) == ()
    for s in range(4):
        own = {n: v if n == "sigma" else v[s : s + 1] for n, v in given.items()}
        one, its = glm.value_and_grad(**own)
        assert one[0] == value[s]
        for name in ("beta", "alpha", "county", "item"):
            np.testing.assert_array_equal(its[name][0], gradient[name][s])
    shared = given | {"county": given["county"][0]}
    assert glm.value_and_grad(**shared)[1]["county"].shape == (G,)
    assert glm.logpdf(**shared).shape == glm.linear_predictor(**{n: v for n, v in shared.items() if n != "sigma"}).shape
    nothing = glm.value_and_grad(**given | {"beta": np.zeros((0, K)), "alpha": 0.0, **tables(rng)})
    assert nothing[0].shape == (0,) and not nothing[1]["item"].any()


@pytest.mark.parametrize("options", [dict(chunk=50), dict(memory=60_000), dict(devices=2), dict(devices=2, chunk=33)])
def test_pieces(options, rng):
    if "devices" in options:
        options = options | {"devices": [choose.get().device.id] * options["devices"]}
    X, y, groups = data(rng)
    given = {"beta": rng.normal(size=K), "alpha": 0.5, **tables(rng)}
    whole = gs.GLM(gs.bernoulli_logit, y, X, groups=groups)
    value, gradient = whole.value_and_grad(**given)
    for glm in (divided := gs.GLM(gs.bernoulli_logit, y, X, groups=groups, **options), pickle.loads(pickle.dumps(divided))):
        found, its = glm.value_and_grad(**given)
        assert found == pytest.approx(value)
        for name, wanted in gradient.items():
            np.testing.assert_allclose(its[name], wanted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(glm.logpdf(**given), whole.logpdf(**given), rtol=1e-12)
        np.testing.assert_allclose(glm.linear_predictor(**given), whole.linear_predictor(**given), rtol=1e-12)
        with pytest.raises(ValueError, match=r"county has shape \(1,\)"):
            glm(**given | {"county": np.zeros(1)})


def test_copies_and_device_arrays(rng):
    X, y, groups = data(rng)
    given = {"beta": rng.normal(size=K), "alpha": 0.5, **tables(rng)}
    glm = gs.GLM(gs.bernoulli_logit, y, X, groups=groups)
    value, gradient = glm.value_and_grad(**given)
    for other in (pickle.loads(pickle.dumps(glm)), copy.copy(glm), copy.deepcopy(glm)):
        found, its = other.value_and_grad(**given)
        assert found == value and all((its[n] == gradient[n]).all() for n in ("beta", "county", "item"))
    on_device = gs.GLM(gs.bernoulli_logit, gs.to_device(y), gs.to_device(X), groups={
        "county": choose.get().to_device(groups["county"]), "item": tuple(map(choose.get().to_device, groups["item"])),
    })  # fmt: skip
    found, its = on_device.value_and_grad(**{n: v if n == "alpha" else gs.to_device(v) for n, v in given.items()})
    assert found == value
    np.testing.assert_array_equal(gs.to_host(its["item"]), gradient["item"])
    assert choose.get().is_native(its["item"]) and not isinstance(its["alpha"], np.ndarray)
    for array in (X, y, *groups["item"], groups["county"]):
        array[:] = 0
    assert glm(**given) == value


def test_no_names_are_no_groups(rng):
    X, y, _ = data(rng)
    beta = rng.normal(size=K)
    assert gs.GLM(gs.bernoulli_logit, y, X, groups={})(beta) == gs.GLM(gs.bernoulli_logit, y, X)(beta)


def test_the_most_columns(rng):
    X, Z = rng.normal(size=(300, 64)), rng.normal(size=(300, 64))
    y, item, table = rng.normal(size=300), rng.integers(0, 3, 300), rng.normal(size=(3, 64))
    glm = gs.GLM(gs.normal_identity, y, X, groups={"item": (item, Z)})
    value, gradient = glm.value_and_grad(np.zeros(64), item=table, sigma=1.0, wrt=("beta", "item"))
    left = y - (Z * table[item]).sum(-1)
    assert value == pytest.approx(stats.norm.logpdf(left).sum())
    np.testing.assert_allclose(gradient["beta"], left @ X, rtol=1e-9)
    np.testing.assert_allclose(gradient["item"], [((left[:, None] * Z)[item == g]).sum(0) for g in range(3)], rtol=1e-9)


def test_wrong_groups(rng):
    X, y, groups = data(rng)
    county, (item, Z) = groups["county"], groups["item"]
    for message, its in [
        (r"groups\['a'\] has shape \(3,\) and dtype int64: it must be \(203,\) whole numbers", {"a": county[:3]}),
        (r"groups\['a'\] has shape \(203,\) and dtype float64", {"a": county * 0.5}),
        (r"groups\['a'\] must be numbered from 0; numpy.unique", {"a": county - 1}),
        (r"columns of groups\['a'\] have shape \(203,\): they must be \(203, m\)", {"a": (county, X[:, 0])}),
        (r"columns of groups\['a'\] have shape \(3, 2\)", {"a": (county, Z[:3])}),
        (r"columns of groups\['a'\] have shape \(203, 0\)", {"a": (county, Z[:, :0])}),
        (r"groups has 65 columns in all its terms together, and takes 64", {"a": (county, np.ones((N, 64))), "b": item}),
        (r"groups has the name 'beta', which the GLM has already", {"beta": county}),
        (r"groups has the name 'alpha'", {"alpha": county}),
        (r"groups has the name 'sigma'", {"sigma": county}),
        (r"groups has the name 'wrt'", {"wrt": county}),
        (r"groups has the name 'a b': it becomes a parameter", {"a b": county}),
        (r"groups has the name 3", {3: county}),
    ]:
        with pytest.raises(ValueError, match=message):
            gs.GLM(gs.normal_identity, y, X, groups=its)
    with pytest.raises(ValueError, match="n_groups is of groups without names"):
        gs.GLM(gs.normal_identity, y, X, groups=groups, n_groups=7)
    with pytest.raises(ValueError, match="X has 65 columns, and beside groups with names it may have 64"):
        gs.GLM(gs.normal_identity, y, np.ones((N, 65)), groups=groups)
    with pytest.raises(ValueError, match="eta of categorical_logit is a vector, for which groups cannot have names"):
        gs.GLM(gs.categorical_logit, y, X, groups=groups)


def test_wrong_arguments(rng):
    X, y, groups = data(rng)
    glm = gs.GLM(gs.normal_identity, y, X, groups=groups)
    given = {"beta": np.zeros(K), "alpha": 0.0, "sigma": 1.0, **tables(rng)}
    for message, wrong in [
        (r"county has shape \(4,\), and its groups go up to 4: it must have 5", {"county": np.zeros(4)}),
        (r"county has shape \(\): it must be \(G,\), with an intercept for each group", {"county": 1.0}),
        (r"item has shape \(7, 3\): it must be \(G, 2\), with coefficients", {"item": np.zeros((7, 3))}),
        (r"item has shape \(7,\)", {"item": np.zeros(7)}),
        (r"alpha has a value for each row, which it cannot have beside groups with names", {"alpha": np.zeros(N)}),
        (r"sigma has a value for each row", {"sigma": np.ones(N)}),
        (r"beta has shape \(4,\), and X has k = 3 columns", {"beta": np.zeros(4)}),
        (r"do not go together: beta \(2, 3\).*county \(3, 5\)", {"beta": np.zeros((2, K)), "county": np.zeros((3, G))}),
        (r"the GLM has no parameter 'town'", {"town": 1.0}),
        (r"wrt: 'X' is none of beta, alpha, sigma, county, item", {"wrt": "X"}),
    ]:
        with pytest.raises(ValueError, match=message):
            glm.value_and_grad(**given | wrong)
    with pytest.raises(ValueError, match="the GLM needs item"):
        glm(np.zeros(K), 0.0, 1.0, np.zeros(G))
    with pytest.raises(ValueError, match="weighted_gradients is not to be had"):
        glm.weighted_gradients(np.ones(N), **given, wrt=("beta",))
    with pytest.raises(ValueError, match="the GLM has no parameter 'county'"):
        gs.GLM(gs.normal_identity, y, X).linear_predictor(np.zeros(K), county=np.zeros(G))
