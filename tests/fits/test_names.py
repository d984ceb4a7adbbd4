"""Names of the numbers of a fit: in hypotheses, intervals, fixed elements, tables."""

import copy
import pickle

import numpy as np
import pytest

import gpustats as gs

pd = pytest.importorskip("pandas")
NAMES = ["x", "my col", "C(g)[T.b]", "x:z", "sigma", "2", "a, b", "Größe", "bs(`q r`, 4)[1]"]
RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(80, len(NAMES))), columns=NAMES)
GLM = gs.GLM(gs.normal, X.sum(axis=1) + RNG.normal(size=80), X, eta="mu")
FIT = GLM.fit()


def test_labels():
    """A column that is called as a parameter is told from it."""
    assert FIT.labels == (*NAMES[:4], "beta[sigma]", *NAMES[5:], "alpha", "sigma")
    assert FIT["beta"].shape == (9,) and FIT["my col"] == FIT["beta"][1] and FIT["sigma"] == FIT.parameters["sigma"]
    assert FIT["beta[sigma]"] == FIT["beta"][4] and "\nC(g)[T.b] " in FIT.summary()
    with pytest.raises(KeyError, match="'y' is neither a parameter, beta, alpha, sigma, nor one of labels"):
        FIT["y"]


def test_labels_of_parameters_and_errors():
    """A label stands for its element also there; a name that is unknown is answered with those that are known."""
    part = GLM.fit(fixed={"x": 0.5, "sigma": 1.0})
    for fit in (part, copy.copy(part), pickle.loads(pickle.dumps(part)), part.robust()):
        assert fit.parameters["my col"] == fit["beta"][1] and fit.parameters["x"] == fit["x"] == 0.5
        assert fit.standard_errors["my col"] == fit.standard_errors["beta"][1] == fit.errors[0]
        assert np.isnan(fit.standard_errors["x"]) and "my col" not in fit.parameters
        assert list(fit.standard_errors) == [*fit.free] == ["beta", "alpha"]
        with pytest.raises(KeyError, match="'sigma' was given and not estimated: it has no standard error"):
            fit.standard_errors["sigma"]
        for named in (fit, fit.parameters, fit.standard_errors):
            with pytest.raises(KeyError, match="'mycol' is neither .* nor one of labels, x, my col, .*: did you mean 'my col'"):
                named["mycol"]


@pytest.mark.parametrize(
    "text, row",
    [
        ("x = 0", {"x": 1}), ("my col", {"my col": 1}), ("`my col` - 2 * x", {"my col": 1, "x": -2}),
        ("C(g)[T.b] = x:z", {"C(g)[T.b]": 1, "x:z": -1}), ("beta[sigma] + sigma", {"beta[sigma]": 1, "sigma": 1}),
        ("`2` / 2 = x", {"2": 0.5, "x": -1}), ("(a, b) - Größe", {"a, b": 1, "Größe": -1}), ("a,b", {"a, b": 1}),
        ("bs(`q r`, 4)[1] = 3*alpha", {"bs(`q r`, 4)[1]": 1, "alpha": -3}),
    ],
)  # fmt: skip
def test_hypotheses(text, row):
    matrix = np.zeros((1, len(FIT.labels)))
    for label, factor in row.items():
        matrix[0, FIT.labels.index(label)] = factor
    np.testing.assert_allclose(FIT.wald(text), FIT.wald(matrix), rtol=1e-12)


def test_hypotheses_of_whole_parameters_and_wrong_ones():
    assert FIT.wald("beta").df == 9
    for text, message in [
        ("xx = 0", "no 'xx' was estimated; did you mean 'x'"), ("C(g)[T.c]", r"no 'C\(g\)\[T.c\]' was .* mean 'C\(g\)\[T.b"),
        ("x = x:z = 0", "more than one ="), ("x * x", "not linear"), ("x[0]", r"no 'x\[0\]'"), ("2 = 0", "no parameter"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            FIT.wald(text)


def test_intervals_and_fixed_elements():
    wald = FIT.interval(parameters=["C(g)[T.b]", "beta"])
    np.testing.assert_array_equal(wald["C(g)[T.b]"], wald["beta"][2])
    profile = FIT.interval(method="profile", parameters="C(g)[T.b]")["C(g)[T.b]"]
    np.testing.assert_allclose(profile, wald["C(g)[T.b]"], rtol=0.1)
    glm = FIT.fitted.objective.problem._glm
    fit = glm.fit(fixed={"my col": 1.0, "beta[sigma]": 0.5})
    by_numbers = glm.fit(fixed={"beta": [np.nan, 1.0, np.nan, np.nan, 0.5, *[np.nan] * 4]})
    np.testing.assert_array_equal(fit.estimates, by_numbers.estimates)
    assert fit["my col"] == 1.0 and "my col" not in fit.labels and FIT.likelihood_ratio(fit).df == 2
    assert fit.wald("beta").df == 7
    plain = gs.GLM(gs.normal, X["x"], X[["my col"]].to_numpy(), eta="mu").fit(fixed={"beta[0]": 0.0})
    assert plain.labels == ("alpha", "sigma")
    with pytest.raises(ValueError, match="has no parameter 'y'"):
        glm.fit(fixed={"y": 0.0})
    with pytest.raises(TypeError, match="my col is one number"):
        glm.fit(fixed={"my col": [1.0, 2.0]})


def test_parameters_are_a_tree_of_jax():
    jax = pytest.importorskip("jax")
    fit = GLM.fit()  # after the import: as_jax tells JAX of fits before it
    doubled = jax.tree_util.tree_map(lambda number: 2 * number, fit.parameters)
    assert {n: np.shape(v) for n, v in doubled.items()} == {n: np.shape(v) for n, v in fit.parameters.items()}
    assert doubled["alpha"] == 2 * fit["alpha"]


def test_clusters_by_labels():
    numbers = np.arange(80) % 7
    labels = pd.Series(numbers).map("cluster {}".format)
    np.testing.assert_array_equal(FIT.clustered(labels).errors, FIT.clustered(numbers).errors)
    with pytest.raises(ValueError, match="clusters has no label in 2 rows, first in row 3"):
        FIT.clustered(labels.where(~labels.index.isin([3, 5])))


def test_tables_as_frames():
    """The columns of `to_frame` are those of the interval and of the Wald test."""
    frame = FIT.to_frame(0.9)
    assert list(frame.index) == list(FIT.labels) and list(frame) == ["estimate", "error", "z", "p", "lower", "upper"]
    np.testing.assert_array_equal(frame[["lower", "upper"]].iloc[:9], FIT.interval(0.9)["beta"])
    np.testing.assert_allclose(frame.loc["x:z", "p"], FIT.wald("x:z").p, rtol=1e-9)
    assert gs.normal.fit(X["x"].to_numpy()).to_frame().index.tolist() == ["mu", "sigma"]
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        FIT.to_frame(95)


def test_elements_of_vectors_have_the_names_of_columns():
    """Of likelihoods and mixtures, also where these have travelled; none of frames whose columns are numbers."""
    x = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 2)) * [1, 2], columns=["height", "weight"])
    likelihood, mixture = gs.Likelihood(gs.mvnormal, x), gs.Mixture(gs.mvnormal, x)
    wanted = ("mu[height]", "mu[weight]", *(f"cov[{a}, {b}]" for a in x for b in x))
    for made in (likelihood, copy.deepcopy(likelihood), pickle.loads(pickle.dumps(likelihood))):
        assert made.fit(max_iterations=3).labels == wanted
    fit = likelihood.fit()
    assert fit["mu[weight]"] == pytest.approx(x["weight"].mean(), rel=1e-6)
    assert fit["cov[height, weight]"] == pytest.approx(np.cov(x.T, bias=True)[0, 1], rel=1e-5)
    shared = {"cov": np.cov(x.T)}
    labels = mixture.fit(2, start=shared, max_iterations=3).labels
    assert labels[:5] == ("log_weights[0]", "log_weights[1]", "mu[0, height]", "mu[0, weight]", "mu[1, height]")
    assert labels[6] == "cov[height, height]"
    assert gs.Likelihood(gs.mvnormal, pd.DataFrame(x.to_numpy())).fit(max_iterations=3).labels[0] == "mu[0]"
