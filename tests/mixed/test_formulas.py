"""Mixed models of formulas: lme4's numbers with names, and predictions from data frames."""

import copy
import pickle

import numpy as np
import pytest
from lme4_fits import DATA, check, numbers

import gpustats as gs

pytest.importorskip("formulaic")
pd = pytest.importorskip("pandas")

NEW = {"Days": [0.0, 4.5, 12.0], "Subject": [308, 335, 372]}


def glm(formula, data, density=gs.normal):
    return gs.GLM.from_formula(formula, pd.read_csv(DATA / f"{data}.csv"), density)


@pytest.fixture(scope="module")
def sleep():
    return glm("Reaction ~ Days + (1 + Days | Subject)", "sleepstudy")


@pytest.fixture(scope="module")
def fit(sleep):
    return sleep.fit()


@pytest.fixture(scope="module")
def counts():
    return glm("count ~ x + (x | g)", "slopes", gs.poisson_log).fit()


@pytest.mark.parametrize(
    "formula, data, name",
    [
        ("Reaction ~ Days + (Days || Subject)", "sleepstudy", "apart"),
        ("Reaction ~ 0 + Days + (1 | Subject)", "sleepstudy", "origin"),
        ("strength ~ 1 + (1 | batch) + (1 | batch:cask)", "Pastes", "pastes"),
        ("diameter ~ 1 + (1 | plate) + (1 | sample)", "Penicillin", "penicillin"),
    ],
)
def test_linear_models(formula, data, name):
    """Columns that are terms by themselves, no intercept, an intercept alone, nested and crossed groups."""
    for reml in (True, False):
        wanted = numbers(f"{name}.{'reml' if reml else 'ml'}")
        found = glm(formula, data).fit(reml=reml)
        if name == "pastes":
            wanted["theta"] = wanted["theta"][::-1]  # lme4 has the larger grouping first
        if name == "apart":  # lme4 has both terms' effects in one table
            both = np.column_stack([*found.random_effects.values()])
            np.testing.assert_allclose(both.ravel()[:12], wanted.pop("modes.Subject"), rtol=1e-4)
        check(found, wanted, 5e-5)
    if name == "origin":
        assert found["alpha"] == 0 and found.labels == ("Days", "sigma", "chol_Subject")
    if name == "apart":
        assert len(found.terms) == 2 and found.n_parameters == 5


def test_generalised_models(counts):
    check(counts, numbers("slopes.poisson"), 1e-4)
    for formula, name in (("y ~ 1 + (1 | g)", "constant"), ("y ~ 0 + x + (1 | g)", "origin")):
        made = glm(formula, "slopes", gs.bernoulli_logit).fit()
        check(made, numbers(f"slopes.{name}"), 1e-3)
        assert made.labels == (("Intercept" if name == "constant" else "x"), "chol_g") and made.n_parameters == 2
        assert made.formula in made.summary()
        frame = {"x": [0.5, -1.0], "g": made.levels["g"][[0, 2]]}
        x = np.ones(2) if name == "constant" else np.array(frame["x"])
        eta = made["beta"][0] * x + made.random_effects["g"][[0, 2]]
        np.testing.assert_allclose(made.predict(frame).linear_predictor, eta)


def test_nested_groups_in_short():
    short = glm("strength ~ 1 + (1 | batch/cask)", "Pastes").fit()
    long = glm("strength ~ 1 + (1 | batch) + (1 | sample)", "Pastes").fit()
    assert short.log_likelihood == pytest.approx(long.log_likelihood, rel=1e-10)
    assert short.random_effects_to_frame("batch_cask").index[:2].tolist() == ["A:a", "A:b"]


def test_new_groups_within_others():
    """What is new about a combination, and what new_groups=True does; errors of new casks are those of their variance."""
    nested = glm("strength ~ 1 + (1 | batch/cask)", "Pastes").fit()
    frame = {"batch": ["A", "A"], "cask": ["a", "z"]}
    with pytest.raises(ValueError, match="batch:cask has 'A:z' in 1 row, .*; cask 'z' is new; with new_groups=True"):
        nested.predict(frame)
    with pytest.raises(ValueError, match="batch:cask has 'Q:a' .*; batch 'Q' is new;|batch has 'Q' in 1 row"):
        nested.predict({"batch": ["Q"], "cask": ["a"]})
    known, new = nested.predict(frame, new_groups=True).mean
    effects = nested.random_effects_to_frame("batch").loc["A", "Intercept"]
    np.testing.assert_allclose(new, nested["Intercept"] + effects, rtol=1e-12)
    assert known != new
    data = pd.read_csv(DATA / "Pastes.csv")
    others = data[(data.batch != "A") | (data.cask != "a")]
    part = gs.GLM.from_formula("strength ~ 1 + (1 | batch/cask)", others, gs.normal).fit()
    with pytest.raises(ValueError, match="batch:cask has 'A:a' .*; the parts are known, in other combinations; with new"):
        part.predict({"batch": ["A"], "cask": ["a"]})


def test_names(fit, counts):
    """Of estimates, of effects in the table of their variances, in intervals and tests."""
    check(fit, numbers("sleepstudy.reml"), 5e-5)
    factor = tuple(f"chol_Subject[{pair}]" for pair in ("Intercept, Intercept", "Days, Intercept", "Days, Days"))
    assert fit.labels == ("Days", "Intercept", "sigma", *factor)
    assert counts.labels[:3] == ("x", "Intercept", "chol_g[Intercept, Intercept]")
    assert fit["Days"] == fit["beta"][0] and fit[factor[1]] == fit["chol_Subject"][1, 0]
    lines = fit.summary().splitlines()
    assert fit.formula in lines[0] and [line.split()[:2] for line in lines[8:11]] == [
        ["Subject", "Intercept"], ["Days", "35.072"], ["Residual", "654.94"],
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[-3:-1]] == ["Days", "Intercept"]
    assert list(fit.to_frame().index) == list(fit.labels)
    effects = fit.random_effects_to_frame()
    assert list(effects.columns) == ["Intercept", "Days"] and list(effects.index) == fit.levels["Subject"].tolist()
    assert list(effects.index[:2]) == [308, 309]
    np.testing.assert_array_equal(effects, fit.random_effects["Subject"])
    z = (fit["Days"] - 10) / fit.standard_errors["beta"][0]
    assert fit.wald("Days = 10").statistic == pytest.approx(z**2)
    np.testing.assert_array_equal(fit.interval(parameters="Days")["Days"], fit.interval()["beta"][0])
    wanted, names = numbers("profile")["interval"].reshape(4, 2), (factor[0], "sigma", "Intercept", "Days")
    found = fit.interval(method="profile", parameters=names)
    np.testing.assert_allclose([found[n] for n in names], wanted, rtol=2e-4)


def test_known_elements(sleep):
    """By the labels of elements, also of those that REML integrates out."""
    for reml in (True, False):
        of_label, of_name = (sleep.fit(fixed=fixed, reml=reml) for fixed in ({"Days": 0.0}, {"beta": 0.0}))
        assert of_label.log_likelihood == of_name.log_likelihood and of_label["beta"] == [0.0]
        assert "Days" not in of_label.labels and of_label.labels == of_name.labels
    apart = sleep.fit(fixed={"chol_Subject[Days, Intercept]": 0.0})
    assert apart.log_likelihood == pytest.approx(numbers("apart.reml")["loglik"][0], rel=1e-8)
    at = sleep.fit(fixed={"Intercept": 250.0})
    assert at["alpha"] == 250.0 and at.n_parameters == 5
    logistic = glm("y ~ x + (1 | g)", "slopes", gs.bernoulli_logit)
    for fixed in ({"x": 0.0}, {"beta": 0.0}):
        check(logistic.fit(fixed=fixed), numbers("slopes.constant"), 1e-3)


def test_predictions(fit, counts):
    """Of groups that are known and new, and of the fixed effects alone, where the frame has no groups."""
    np.testing.assert_allclose(fit.predict(NEW).mean, numbers("predict")["known"], rtol=2e-6)
    assert fit.standard_errors["Days"] == fit.errors[fit.labels.index("Days")] and fit.parameters["Days"] == fit["Days"]
    alone = fit.predict({"Days": NEW["Days"]})
    np.testing.assert_allclose(alone.mean, numbers("predict")["without"], rtol=2e-6)
    new = fit.predict(pd.DataFrame(NEW).assign(Subject=[308, 1, 2]), new_groups=True)
    np.testing.assert_allclose(new.mean[1:], alone.mean[1:], rtol=1e-9)
    columns = np.array([[1.0, 4.5], [1.0, 12.0]])
    spread = np.einsum("ni,ij,nj->n", columns, fit.variance_components["Subject"], columns)
    np.testing.assert_allclose(new.mean_errors[1:] ** 2, alone.mean_errors[1:] ** 2 + spread, rtol=1e-8)
    found = counts.predict({"x": [0.5, -1.0], "g": [3, 99]}, new_groups=True).linear_predictor
    np.testing.assert_allclose(found, numbers("slopes.poisson")["new"], rtol=1e-3)
    for made, frame in ((fit, {**NEW, "Subject": [308, 1, 1]}), (counts, {"x": [0.5, -1.0, 0.0], "g": [3, 99, 99]})):
        with pytest.raises(ValueError, match="has (1|99) in 2 rows, which the fit has not seen: .* with new_groups=True"):
            made.predict(frame)


def test_terms_that_are_fixed(sleep, fit):
    """Some terms of a formula may be tables; their labels cannot be new."""
    both = glm("Reaction ~ 1 + (Days || Subject)", "sleepstudy")
    some = both.fit(random="Subject")
    assert some.labels[:2] == ("Intercept", "Subject_Days[308, Days]") and [t.name for t in some.terms] == ["Subject"]
    for frame in ({"Days": NEW["Days"]}, {**NEW, "Subject": [308, 1, 1]}):
        with pytest.raises(ValueError, match="needs a column 'Subject'|which the fit has not seen: its labels are 308.*…$"):
            some.predict(frame, new_groups=True)
    priors = {"Subject": gs.normal(0.0, 25.0)}
    table = sleep.fit(random=(), priors=priors)
    alone = glm("Reaction ~ Days + (1 | Subject)", "sleepstudy").fit(random=(), fixed={"alpha": 0.0})
    assert "chol_Subject" not in alone.free and "Subject[308]" in alone.labels
    assert table.labels[2] == "sigma" and table.labels[3] == "Subject[308, Intercept]" and not hasattr(table, "terms")
    X, subject = np.reshape(NEW["Days"], (3, 1)), np.array([308, 337, 372])
    with_arrays = table.predict(X, groups={"Subject": (subject, np.column_stack([np.ones(3), X]))})
    with pytest.raises(ValueError, match="groups of Subject has 0, 9, 17 in 3 rows, which the fit has not seen"):
        table.predict(X, groups={"Subject": (np.array([0, 9, 17]), np.column_stack([np.ones(3), X]))})
    with pytest.raises(ValueError, match="groups of Subject has no label in 1 row, first in row 1"):
        table.predict(X, groups={"Subject": ([308, None, 372], np.column_stack([np.ones(3), X]))})
    with pytest.raises(ValueError, match="new_groups=True is of random effects"):
        table.predict(X, groups={"Subject": (subject, np.column_stack([np.ones(3), X]))}, new_groups=True)
    np.testing.assert_allclose(table.predict({**NEW, "Subject": [308, 337, 372]}).mean, with_arrays.mean)
    two = glm("diameter ~ 1 + (1 | plate) + (1 | sample)", "Penicillin").fit()
    with pytest.raises(ValueError, match="data needs a column 'sample', and there is none"):
        two.predict({"plate": ["a"]})


def test_frames_without_a_formula(fit):
    data = pd.read_csv(DATA / "sleepstudy.csv")
    subject, columns = data.Subject.astype(str), data.assign(one=1.0)[["one", "Days"]]
    plain = gs.GLM(gs.normal, data.Reaction, data[["Days"]], eta="mu", groups={"Subject": (subject, columns)})
    made = plain.fit(random="Subject")
    assert made.labels[:2] == ("Days", "alpha") and made.labels[-1] == "chol_Subject[Days, Days]"
    assert made.random_effects_to_frame().index[0] == "308"
    new = made.predict({"Days": [4.5]}, groups={"Subject": (["335"], {"one": [1.0], "Days": [4.5]})})
    np.testing.assert_allclose(new.mean, fit.predict(NEW).mean[1], rtol=1e-8)
    unnamed = gs.GLM(gs.normal, data.Reaction, data[["Days"]], eta="mu", groups=subject).fit(random="alpha")
    assert unnamed.labels == ("Days", "alpha", "sigma", "chol_alpha") and unnamed.levels["alpha"][0] == "308"
    known = unnamed.predict(data[["Days"]][10:12], groups=subject[10:12])
    eta = unnamed["alpha"] + unnamed["Days"] * data.Days[10:12] + unnamed.random_effects["alpha"][1]
    np.testing.assert_allclose(known.mean, eta)


def test_copies(sleep, fit, counts):
    for made in (pickle.loads(pickle.dumps(sleep)), copy.deepcopy(sleep), copy.copy(sleep)):
        assert made.formula == sleep.formula and made.fit().labels == fit.labels
    for own, frame in ((fit, NEW), (counts, {"x": [0.5], "g": [3]})):
        made = pickle.loads(pickle.dumps(own))
        assert made.summary() == own.summary()
        np.testing.assert_allclose(made.predict(frame).mean, own.predict(frame).mean, rtol=1e-12)


def test_errors(sleep, fit):
    with pytest.raises(ValueError, match="has no parameter 'Dayz'; its parameters are beta, alpha, sigma, chol_Subject"):
        sleep.fit(fixed={"Dayz": 0.0})
    with pytest.raises(ValueError, match="random has 'Subjects', and the GLM has groups for Subject"):
        sleep.fit(random="Subjects")
    with pytest.raises(ValueError, match="term is 'g', and must be one of the random terms: Subject"):
        fit.random_effects_to_frame("g")
    data = pd.read_csv(DATA / "sleepstudy.csv").assign(twice=lambda d: 2 * d.Days)
    with pytest.raises(ValueError, match="nothing tells (Days|twice).* apart"):
        gs.GLM.from_formula("Reaction ~ Days + twice + (1 | Subject)", data, gs.normal).fit()
