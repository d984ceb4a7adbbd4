"""GLMs of formulas and of data frames, beside statsmodels."""

import _thread
import copy
import functools
import pickle
import time

import numpy as np
import pytest

import gpustats as gs

pytest.importorskip("formulaic")
pd = pytest.importorskip("pandas")
smf = pytest.importorskip("statsmodels.formula.api")
import statsmodels.api as sm  # noqa: E402

RNG = np.random.default_rng(1)
N = 300
DATA = pd.DataFrame({
    "x": RNG.normal(size=N), "z": RNG.normal(size=N), "group": RNG.choice(list("bca"), N), "exposure": RNG.uniform(1, 3, N),
    "county": RNG.choice(["Cook", "Lake", "Will"], N), "my col": RNG.normal(size=N), "often": RNG.integers(1, 4, N),
})  # fmt: skip
DATA["y"] = (DATA.x + (DATA.group == "b") + RNG.logistic(size=N) > 0) * 1.0
DATA["died"] = np.where(DATA.y > 0, "yes", "no")
DATA["count"] = RNG.poisson(np.exp(0.3 * DATA.x) * DATA.exposure)
DATA["level"] = RNG.choice(["low", "middle", "top"], N)
FORMULA = "x*z + C(group) + `my col` + I(x**2)"
THEIRS = FORMULA.replace("`my col`", "Q('my col')").replace("x**2", "x ** 2")


def test_a_formula_goes_to_another_method():
    for given in (("y ~ x", DATA), (gs.poisson_log, "y ~ x", DATA), ("y ~ x", DATA, gs.poisson_log)):
        with pytest.raises(TypeError, match=r"'y ~ x' is a formula: gpustats.GLM.from_formula\('y ~ x', data, density\)"):
            gs.GLM(*given)
    with pytest.raises(TypeError, match="is a formula"):
        gs.GLM(formula="y ~ x", data=DATA)


def as_arrow(data):
    return pytest.importorskip("pyarrow").Table.from_pandas(data)


def as_polars(data):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({n: polars.Series(n, data[n].tolist()) for n in data})


def as_dict(data):
    return {n: data[n].to_numpy() for n in data}


def test_terms_in_hypotheses():
    """The name of a term stands for all of its columns, as statsmodels tests them; for those that are free."""
    right = "C(group) + x + z:C(group)"
    fit = gs.GLM.from_formula(f"count ~ {right}", DATA, gs.poisson_log).fit()
    theirs = smf.glm(f"count ~ {right}", DATA, family=sm.families.Poisson()).fit(tol=1e-13)
    for term, wanted in theirs.wald_test_terms(scalar=True).table.drop("Intercept").iterrows():
        found = fit.wald(term)
        np.testing.assert_allclose(found, [wanted.statistic, wanted.df_constraint, wanted.pvalue], rtol=1e-6)
    assert fit.wald("z:C(group)").df == 3
    columns = ["C(group)[T.b]", "C(group)[T.c]"]
    part = gs.GLM.from_formula(f"count ~ {right}", DATA, gs.poisson_log).fit(fixed={columns[0]: 0.0})
    assert part.wald("C(group)") == part.wald(columns[1])
    prior, known = {"county": gs.normal(0.0, 1.0)}, {"chol_county": 0.3}
    for left, density in (("x + z", gs.normal), ("count", gs.poisson_log)):
        glm = gs.GLM.from_formula(f"{left} ~ C(group) + (1 | county)", DATA, density)
        for made in (glm.fit(fixed=known), glm.fit(random=(), priors=prior)):
            np.testing.assert_allclose(made.wald("C(group)"), made.wald(columns), rtol=1e-12)
    several = gs.GLM.from_formula("level ~ x + group", DATA, gs.categorical_logit).fit()
    assert several.wald("group").df == 4
    with pytest.raises(ValueError, match=r"no 'group' was estimated; did you mean 'C\(group\)'"):
        fit.wald("group")


def test_a_logistic_regression_of_statsmodels():
    """Numbers, errors, tests and predictions, by the names of columns; from strings, from numbers and from an expression."""
    theirs = smf.glm(f"y ~ {THEIRS}", DATA, family=sm.families.Binomial()).fit(tol=1e-13)
    params, errors = (v.rename({"Q('my col')": "my col"}) for v in (theirs.params, theirs.bse))
    for left in ("died", "y", "y > 0.5"):
        glm = gs.GLM.from_formula(f"{left} ~ {FORMULA}", DATA, gs.bernoulli_logit)
        fit = glm.fit()
        assert {*fit.labels} == {*params.index} and fit.labels[-1] == "Intercept"
        np.testing.assert_allclose(fit.estimates, params[list(fit.labels)], rtol=1e-7)
        np.testing.assert_allclose(fit.errors, errors[list(fit.labels)], rtol=1e-6)
    assert fit.formula == glm.formula == f"y > 0.5 ~ {FORMULA}" and fit.formula in fit.summary() and fit.formula in repr(glm)
    assert "y 0 is 'no', y 1 is 'yes'" in repr(gs.GLM.from_formula("died ~ x", DATA, gs.bernoulli_logit))
    new = DATA.sample(7, random_state=0)
    for frame in (new, as_polars(new), as_arrow(new), as_dict(new)):
        found = fit.predict(frame)
        np.testing.assert_allclose(found.mean, theirs.predict(new), rtol=1e-7)
    wanted = theirs.get_prediction(new).summary_frame()
    np.testing.assert_allclose(found.mean_errors, wanted["mean_se"], rtol=1e-5)


@pytest.mark.parametrize("library", [as_polars, as_arrow, as_dict])
def test_the_same_from_all_libraries(library):
    wanted = gs.GLM.from_formula(f"died ~ {FORMULA} + (1 + x | county)", DATA, gs.bernoulli_logit, weights="often")
    glm = gs.GLM.from_formula(f"died ~ {FORMULA} + (1 + x | county)", library(DATA), gs.bernoulli_logit, weights="often")
    at = {"beta": np.linspace(-1, 1, 7), "county": np.arange(6.0).reshape(3, 2) / 6}
    assert glm(**at) == wanted(**at) and glm._names.columns == wanted._names.columns
    assert glm._names.levels["county"].tolist() == ["Cook", "Lake", "Will"]


def test_offsets_weights_and_other_families():
    formula = "count ~ x + group"
    theirs = smf.glm(formula, DATA, family=sm.families.Poisson(), offset=np.log(DATA.exposure), freq_weights=DATA.often)
    theirs = theirs.fit(tol=1e-13)
    fit = gs.GLM.from_formula(formula, DATA, gs.poisson_log, offset="log(exposure)", weights="often").fit()
    np.testing.assert_allclose(fit.estimates, theirs.params[list(fit.labels)], rtol=1e-8)
    np.testing.assert_allclose(fit.errors, theirs.bse[list(fit.labels)], rtol=1e-7)
    new = DATA.iloc[:3]
    np.testing.assert_allclose(fit.predict(new).mean, theirs.predict(new, offset=np.log(new.exposure)), rtol=1e-8)
    arrays = gs.GLM.from_formula(formula, DATA, gs.poisson_log, offset=np.log(DATA.exposure), weights=DATA.often).fit()
    np.testing.assert_array_equal(arrays.estimates, fit.estimates)
    linear = gs.GLM.from_formula("z ~ x - 1", DATA, gs.normal).fit()
    ols = smf.ols("z ~ x - 1", DATA).fit()
    np.testing.assert_allclose([linear["x"], linear.log_likelihood], [ols.params["x"], ols.llf], rtol=1e-8)
    assert linear.labels == ("x", "sigma") and linear["alpha"] == 0 and linear.n_parameters == 2
    alone = gs.GLM.from_formula("z ~ 1", DATA, gs.normal).fit()
    assert alone.labels == ("Intercept", "sigma")
    np.testing.assert_allclose(alone["Intercept"], DATA.z.mean(), rtol=1e-9)


def test_observations_of_several_labels():
    """Categories beside the first, as MNLogit has them; cutpoints in the place of an intercept, as OrderedModel does."""
    codes = DATA.level.astype("category").cat.codes
    fit = gs.GLM.from_formula("level ~ x + z", DATA, gs.categorical_logit).fit()
    theirs = smf.mnlogit("codes ~ x + z", DATA.assign(codes=codes)).fit(disp=0, method="newton", tol=1e-13)
    assert fit.labels == ("x[middle]", "x[top]", "z[middle]", "z[top]", "Intercept[middle]", "Intercept[top]")
    np.testing.assert_allclose(fit.estimates, theirs.params.loc[["x", "z", "Intercept"]].to_numpy().ravel(), rtol=1e-6)
    np.testing.assert_allclose(fit.log_likelihood, theirs.llf, rtol=1e-12)
    assert fit.wald("x[top] = x[middle]").df == 1 and fit["x[low]"] == 0
    fit = gs.GLM.from_formula("level ~ x + z", DATA, gs.ordered_logit).fit()
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    theirs = OrderedModel(codes, DATA[["x", "z"]], distr="logit").fit(disp=0, method="bfgs", gtol=1e-9)
    assert fit.labels == ("x", "z", "cutpoints[0]", "cutpoints[1]")
    np.testing.assert_allclose(fit.estimates[:2], theirs.params[:2], rtol=1e-4)
    np.testing.assert_allclose(fit.log_likelihood, theirs.llf, rtol=1e-9)
    null = gs.GLM.from_formula("level ~ 1", DATA, gs.ordered_logit).fit()
    shares = DATA.level.value_counts(normalize=True)
    np.testing.assert_allclose(null.log_likelihood, N * (shares * np.log(shares)).sum(), rtol=1e-9)
    assert fit.likelihood_ratio(null).df == 2


def test_terms_of_groups():
    """They are named groups of the GLM with their labels; predictions find them among the columns."""
    glm = gs.GLM.from_formula("died ~ x + (1 | county) + (0 + z | group:county)", DATA, gs.bernoulli_logit)
    assert glm._random == ("county", "group_county") and glm.parameters == ("beta", "alpha", "county", "group_county")
    priors = {n: gs.normal(0.0, 1.0) for n in glm._random}
    fit = glm.fit(random=(), priors=priors)
    counties, pairs = DATA.county.factorize(sort=True)[0], (DATA.group + ":" + DATA.county).factorize(sort=True)
    plain = gs.GLM(gs.bernoulli_logit, DATA.y, DATA[["x"]].to_numpy(), groups={
        "county": counties, "group_county": (pairs[0], DATA[["z"]].to_numpy()),
    }).fit(priors=priors)  # fmt: skip
    np.testing.assert_allclose(fit.estimates, plain.estimates, rtol=1e-10)
    assert fit.labels[:5] == ("x", "Intercept", "county[Cook]", "county[Lake]", "county[Will]")
    assert fit.labels[5:] == tuple(f"group_county[{label}, z]" for label in pairs[1])
    np.testing.assert_allclose(
        fit.predict(DATA[:5]).mean, plain.predict(DATA[["x"]][:5].to_numpy(), groups={
            "county": counties[:5], "group_county": (pairs[0][:5], DATA[["z"]][:5].to_numpy()),
        }).mean, rtol=1e-10,
    )  # fmt: skip
    with pytest.raises(ValueError, match="county has 'Ford' in 1 row, which the fit has not seen"):
        fit.predict({"x": [0.0], "z": [0.0], "group": ["a"], "county": ["Ford"]})
    with pytest.raises(ValueError, match="groups are columns of the data"):
        fit.predict(DATA[:5], groups={"county": counties[:5]})


def test_options():
    """Sparse and float32 designs, rows in pieces, a density's other parameter as the predictor."""
    wanted = gs.GLM.from_formula("died ~ x + group", DATA, gs.bernoulli_logit)
    at = np.array([0.3, -0.2, 0.1])
    sparse = gs.GLM.from_formula("died ~ x + group", DATA, gs.bernoulli_logit, sparse=True)
    np.testing.assert_allclose(sparse(at, 0.2), wanted(at, 0.2), rtol=1e-12)
    np.testing.assert_allclose(sparse.fit().predict(DATA[:3]).mean, wanted.fit().predict(DATA[:3]).mean, rtol=1e-8)
    single = gs.GLM.from_formula("died ~ x + group", DATA, gs.bernoulli_logit, dtype=np.float32)
    assert "float32" in repr(single)
    pieces = gs.GLM.from_formula("died ~ x + group", DATA, gs.bernoulli_logit, memory=4000)
    assert "pieces" in repr(pieces) or "rows" in repr(pieces)
    np.testing.assert_allclose(pieces.fit().estimates, wanted.fit().estimates, rtol=1e-8)
    assert gs.GLM.from_formula("count ~ x", DATA, gs.poisson, eta="mu")._family.eta == "mu"
    with pytest.raises(ValueError, match="name one of alpha, beta by eta=, or take gpustats.gamma_log$"):
        gs.GLM.from_formula("exposure ~ x", DATA, gs.gamma)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def test_functions_of_the_caller_and_copies():
    """A formula sees the names of who calls; a GLM and its fit go through pickle and copy with their names."""
    power = 2
    glm = gs.GLM.from_formula("died ~ logistic(x) + I(z**power) + (1 | county)", DATA, gs.bernoulli_logit)
    assert power == 2
    fit = glm.fit(random=(), priors={"county": gs.normal(0.0, 1.0)})
    for made in (pickle.loads(pickle.dumps(glm)), copy.copy(glm), copy.deepcopy(glm)):
        assert made._random == ("county",) and made.formula == glm.formula
        again = made.fit(random=(), priors={"county": gs.normal(0.0, 1.0)})
        assert again.labels == fit.labels
    for made in (pickle.loads(pickle.dumps(fit)), copy.deepcopy(fit)):
        np.testing.assert_allclose(made.predict(DATA[:4]).mean, fit.predict(DATA[:4]).mean, rtol=1e-12)


def test_data_frames_without_a_formula():
    """Columns, groups and observations have the names and labels of frames and series."""
    polars = pytest.importorskip("polars")
    X = DATA[["x", "my col"]]
    plain = gs.GLM(gs.bernoulli_logit, DATA.y.to_numpy(), X.to_numpy()).fit()
    for frame in (X, as_polars(X), as_arrow(X), as_dict(X)):
        fit = gs.GLM(gs.bernoulli_logit, DATA.died, frame).fit()
        assert fit.labels == ("x", "my col", "alpha")
        np.testing.assert_array_equal(fit.estimates, plain.estimates)
    swapped = DATA[["my col", "z", "x"]][:3]
    np.testing.assert_allclose(fit.predict(swapped).mean, plain.predict(X[:3].to_numpy()).mean, rtol=1e-12)
    np.testing.assert_allclose(fit.predict({"x": [0.5], "my col": [1.0]}).mean, plain.predict([[0.5, 1.0]]).mean, rtol=1e-12)
    with pytest.raises(ValueError, match="X needs a column 'my col'"):
        fit.predict(DATA[["x"]])
    labels, numbers = DATA.county, DATA.county.factorize(sort=True)[0]
    wanted = gs.GLM(gs.bernoulli_logit, DATA.y, X, groups=numbers).fit()
    for groups in (labels, polars.Series(labels.tolist()), labels.to_numpy(), labels.tolist(), labels.astype("category")):
        fit = gs.GLM(gs.bernoulli_logit, DATA.y, X, groups=groups).fit(start={"alpha": np.zeros(3)})
        assert fit.labels == ("x", "my col", "alpha[Cook]", "alpha[Lake]", "alpha[Will]")
    np.testing.assert_allclose(fit.estimates, wanted.estimates, rtol=1e-8)
    np.testing.assert_allclose(
        fit.predict(X[:2], groups=["Will", "Cook"]).mean, wanted.predict(X[:2], groups=[2, 0]).mean, rtol=1e-8
    )
    with pytest.raises(ValueError, match="groups of alpha has 'Ford'"):
        fit.predict(X[:1], groups=["Ford"])
    named = gs.GLM(gs.bernoulli_logit, DATA.y, X, groups={"county": (labels, DATA[["z"]])})
    assert named.fit(priors={"county": gs.normal(0.0, 1.0)}).labels[-1] == "county[Will, z]"
    assert pickle.loads(pickle.dumps(named))._names.slopes == {"county": ("z",)}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: gs.GLM(gs.bernoulli_logit, DATA.y, DATA[["x", "county"]]), "labels in column 'county'"),
        (lambda: gs.GLM(gs.bernoulli_logit, DATA.level, DATA[["x"]]), "labels low, middle, top, and bernoulli_logit takes two"),
        (lambda: gs.GLM(gs.normal, DATA.level, DATA[["x"]], eta="mu"), "normal is of numbers"),
        (lambda: gs.GLM(gs.bernoulli_logit, ["a"] * N, DATA[["x"]]), "the label a, and"),
        (lambda: gs.GLM(gs.bernoulli_logit, DATA.y, DATA[["x"]], groups=DATA.county.where(DATA.x < 0)), "groups has no label"),
        (lambda: gs.GLM(gs.bernoulli_logit, DATA.died.where(DATA.x < 0), DATA[["x"]]), "y has no label in"),
        (lambda: gs.GLM.from_formula("died ~ x + w", DATA.assign(w=2 * DATA.x), gs.bernoulli_logit).fit(), "tells w, x apart"),
        (lambda: gs.GLM.from_formula("y ~ w", DATA.assign(w=DATA.y), gs.bernoulli_logit).fit(), "direction of (w|Intercept)"),
    ],
)  # fmt: skip
def test_errors_name_columns_and_labels(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_callers_that_are_not_python():
    """R calls as a new thread does: no frame of Python stands above, whose names a formula could use."""
    made = []
    make = functools.partial(gs.GLM.from_formula, "y ~ x", DATA)
    _thread.start_new_thread(made.extend, (map(make, [gs.bernoulli_logit]),))
    end = time.monotonic() + 60
    while not made and time.monotonic() < end:
        time.sleep(0.01)
    assert made[0](np.zeros(1)) == pytest.approx(-N * np.log(2), rel=1e-12)
