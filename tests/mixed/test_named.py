"""Mixed models of formulas and data frames: names in tables, tests and predictions."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import gpustats as gs

pandas = pytest.importorskip("pandas")
DATA = pandas.read_csv(Path(__file__).parent / "data" / "sleepstudy.csv", dtype={"Subject": str})


def from_formula(formula, density=gs.normal, data=DATA, **more):
    pytest.importorskip("formulaic")
    return gs.GLM.from_formula(formula, data, density, **more)


@pytest.mark.parametrize("reml", [True, False], ids=["reml", "ml"])
def test_formula(reml):
    glm = from_formula("Reaction ~ Days + (Days | Subject)")
    fit = glm.fit(reml=reml)
    days, (subject, labels) = DATA["Days"].to_numpy(float), pandas.factorize(DATA["Subject"])
    groups = {"Subject": (subject, np.column_stack([np.ones(180), days]))}
    y = DATA["Reaction"].to_numpy()
    plain = gs.GLM(gs.normal, y, days[:, None], eta="mu", groups=groups).fit(random="Subject", reml=reml)
    np.testing.assert_allclose(fit.estimates, plain.estimates, rtol=1e-6)
    assert fit.labels[:4] == ("Days", "Intercept", "sigma", "chol_Subject[Intercept, Intercept]")
    assert fit["Days"] == fit["beta"][0] and fit.formula in fit.summary() and fit.levels["Subject"].tolist() == labels.tolist()
    shown = fit.summary().splitlines()
    assert shown[8].split()[:2] == ["Subject", "Intercept"] and shown[9].split()[0] == "Days"
    assert fit.wald("Days = 0").statistic == pytest.approx(plain.wald("beta[0] = 0").statistic)
    wanted = plain.interval(method="profile", parameters="beta[0]")["beta[0]"]
    np.testing.assert_allclose(fit.interval(method="profile", parameters="Days")["Days"], wanted, rtol=1e-6)
    assert fit.to_frame().loc["Days", "error"] == plain.standard_errors["beta"][0]
    of_rows = plain.predict(days[:5, None], groups={"Subject": (subject[:5], groups["Subject"][1][:5])})
    new = fit.predict(DATA.iloc[:5])
    np.testing.assert_allclose(new.mean, of_rows.mean)
    np.testing.assert_allclose(new.mean_errors, of_rows.mean_errors)
    unknown = DATA.iloc[:2].assign(Subject="another")
    with pytest.raises(ValueError, match="another"):
        fit.predict(unknown)
    np.testing.assert_allclose(fit.predict(unknown, new_groups=True).mean, plain.predict(days[:2, None]).mean)
    assert pickle.loads(pickle.dumps(fit)).summary() == fit.summary()


def test_terms_and_known_numbers():
    fit = from_formula("Reaction ~ Days + (Days || Subject)").fit()
    assert len(fit.terms) == 2 and fit.n_parameters == 5
    without = from_formula("Reaction ~ 0 + Days + (1 | Subject)").fit()
    assert without["alpha"] == 0 and without.labels == ("Days", "sigma", "chol_Subject")
    level = from_formula("Reaction ~ Days + (1 | Subject)").fit(fixed={"Days": 0.0})
    assert level["beta"] == 0 and level.labels == ("Intercept", "sigma", "chol_Subject")
    alone = from_formula("Reaction ~ Days + (1 | Subject)").fit(random=(), fixed={"alpha": 0.0})
    assert "chol_Subject" not in alone.free and "Subject[308]" in alone.labels
    twice = DATA.assign(copy=2 * DATA["Days"])
    with pytest.raises(ValueError, match="nothing tells Days, copy apart"):
        from_formula("Reaction ~ Days + copy + (1 | Subject)", data=twice).fit()


def test_other_densities():
    data = DATA.assign(slow=(DATA["Reaction"] > 300).astype(int))
    fit = from_formula("slow ~ Days + (1 | Subject)", gs.bernoulli_logit, data).fit()
    assert fit.labels == ("Days", "Intercept", "chol_Subject") and fit.formula in fit.summary()
    eta = fit["Intercept"] + fit["Days"] * DATA["Days"].to_numpy()[:3] + fit.random_effects["Subject"][0]
    np.testing.assert_allclose(fit.predict(data.iloc[:3]).linear_predictor, eta)


def test_labels_without_formulas():
    glm = gs.GLM(gs.normal, DATA["Reaction"], DATA[["Days"]], eta="mu", groups=DATA["Subject"])
    fit = glm.fit(random="alpha")
    assert fit.labels == ("Days", "alpha", "sigma", "chol_alpha") and fit.levels["alpha"][0] == "308"
    known = fit.predict(DATA[["Days"]].iloc[:2], groups=DATA["Subject"].iloc[:2])
    eta = fit["alpha"] + fit["Days"] * DATA["Days"].to_numpy()[:2] + fit.random_effects["alpha"][0]
    np.testing.assert_allclose(known.mean, eta)
