"""Mixed models against R's lme4, whose numbers `lme4.R` beside this file has written."""

import numpy as np
import pytest
from lme4_fits import check, codes, numbers, table
from thorough import THOROUGH

import gpustats as gs


def sleepstudy(apart=False, **more):
    data = table("sleepstudy")
    days, subject = data["Days"].astype(float), codes(data["Subject"])
    if apart:
        groups = {"base": subject, "slope": (subject, days[:, None])}
    else:
        groups = {"Subject": (subject, np.column_stack([np.ones(len(days)), days]))}
    return gs.GLM(gs.normal, data["Reaction"].astype(float), days[:, None], eta="mu", groups=groups, **more)


def intercepts(name, y, *groups):
    data = table(name)
    index = {g: codes(data[g]) for g in groups}
    X = np.ones((len(data[y]), 1))
    return gs.GLM(gs.normal, data[y].astype(float), X, eta="mu", groups=index)


@pytest.mark.parametrize("reml", [True, False], ids=["reml", "ml"])
def test_correlated_effects(reml):
    fit = sleepstudy().fit(random="Subject", reml=reml)
    check(fit, numbers(f"sleepstudy.{'reml' if reml else 'ml'}"), 5e-5)
    assert not fit.singular and fit.reml == reml and fit.labels[:2] == ("beta[0]", "alpha")


@pytest.mark.parametrize("reml", [True, False], ids=["reml", "ml"])
def test_uncorrelated_effects(reml):
    """Two terms of the same groups; and one whose factor is fixed to a diagonal."""
    wanted = numbers(f"apart.{'reml' if reml else 'ml'}")
    check(sleepstudy(apart=True).fit(random=("base", "slope"), reml=reml), wanted)
    diagonal = sleepstudy().fit(random="Subject", reml=reml, fixed={"chol_Subject": [[np.nan, 0.0], [0.0, np.nan]]})
    np.testing.assert_allclose(np.diagonal(diagonal["chol_Subject"]) / diagonal["sigma"], wanted["theta"], rtol=2e-5)
    assert diagonal.n_parameters == 5


CASES = [("penicillin", "Penicillin", "diameter", ("plate", "sample")), ("pastes", "Pastes", "strength", ("sample", "batch")),
         ("dyestuff", "Dyestuff", "Yield", ("Batch",)), ("dyestuff2", "Dyestuff2", "Yield", ("Batch",))]  # fmt: skip


@pytest.mark.parametrize("reml", [True, False], ids=["reml", "ml"])
@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_crossed_nested_and_singular(case, reml):
    name, data, y, groups = case
    fit = intercepts(data, y, *groups).fit(random=groups, reml=reml, fixed={"alpha": 0.0})
    check(fit, numbers(f"{name}.{'reml' if reml else 'ml'}"), 5e-5)
    assert fit.singular == (name == "dyestuff2") == ("singular" in fit.message)
    if fit.singular:
        assert fit["chol_Batch"] == 0 and np.isnan(fit.standard_errors["chol_Batch"]) and "0" in fit.summary()
        assert (fit.random_effects["Batch"] == 0).all()


def test_binomial():
    """The groups of one GLM have a name; numbers of trials are those of rows."""
    data, wanted = table("cbpp"), numbers("cbpp")
    herd, X, ill = codes(data["herd"]), np.eye(4)[codes(data["period"])][:, 1:], data["incidence"].astype(float)
    fits = [
        gs.GLM(gs.binomial_logit, ill, X, groups=groups).fit(random=name, fixed={"n": data["size"].astype(float)})
        for name, groups in (("alpha", herd), ("herd", {"herd": herd}))
    ]
    for fit in fits:
        check(fit, wanted, 5e-5)
        assert not fit.residual and "Residual" not in fit.summary()
    np.testing.assert_allclose(fits[0].random_effects["alpha"], fits[1].random_effects["herd"], rtol=1e-6)


@pytest.mark.parametrize(
    "case", [(gs.bernoulli_logit, "y", "slopes"), pytest.param((gs.poisson_log, "count", "slopes.poisson"), marks=THOROUGH)],
    ids=["outcomes", "counts"],
)  # fmt: skip
def test_slopes(case):
    data, (density, y, fit) = table("slopes"), case
    x, g = data["x"].astype(float), codes(data["g"])
    groups = {"g": (g, np.column_stack([np.ones(len(x)), x]))}
    check(gs.GLM(density, data[y].astype(float), x[:, None], groups=groups).fit(random="g"), numbers(fit), 1e-4)


@THOROUGH
def test_three_groupings():
    data = table("grouseticks")
    height = data["HEIGHT"].astype(float)
    X = np.column_stack([np.eye(3)[codes(data["YEAR"])][:, 1:], (height - height.mean()) / 100])
    names = ("INDEX", "BROOD", "LOCATION")
    glm = gs.GLM(gs.poisson_log, data["TICKS"].astype(float), X, groups={n: codes(data[n]) for n in names})
    check(glm.fit(random=names), numbers("grouseticks"), 1e-4)


def test_weights_count_observations():
    weights = 1 + np.arange(1, 181) % 3
    check(sleepstudy(weights=weights).fit(random="Subject"), numbers("weighted.reml"))


def test_profiles():
    """Also those of a fit by REML are of the likelihood."""
    wanted, names = numbers("profile")["interval"].reshape(4, 2), ("chol_Subject[0, 0]", "sigma", "alpha", "beta[0]")
    fit = sleepstudy().fit(random="Subject")
    found = fit.interval(method="profile", parameters=names)
    np.testing.assert_allclose([found[n] for n in names], wanted, rtol=2e-4)
    wald = fit["alpha"] + 1.959964 * np.array([-1, 1]) * fit.standard_errors["alpha"]
    np.testing.assert_allclose(fit.interval(parameters="alpha")["alpha"], wald, rtol=1e-6)


def test_ratio_of_likelihoods():
    glm, data = sleepstudy(), table("sleepstudy")
    days = data["Days"].astype(float)
    groups = {"base": codes(data["Subject"])}
    smaller = gs.GLM(gs.normal, data["Reaction"].astype(float), days[:, None], eta="mu", groups=groups)
    test = glm.fit(random="Subject", reml=False).likelihood_ratio(smaller.fit(random="base", reml=False))
    np.testing.assert_allclose(test, numbers("ratio")["statistic"], rtol=1e-5)
    of_reml = glm.fit(random="Subject")
    with pytest.raises(ValueError, match="one of the fits is by REML"):
        of_reml.likelihood_ratio(smaller.fit(random="base", reml=False))
    with pytest.raises(ValueError, match="different fixed effects"):
        of_reml.likelihood_ratio(glm.fit(random="Subject", fixed={"beta": 0.0}))


def test_predictions():
    fit, days = sleepstudy().fit(random="Subject"), np.array([[0.0], [4.5], [12.0]])
    subject = np.searchsorted(np.unique(table("sleepstudy")["Subject"]), ["308", "335", "372"])
    Z = np.column_stack([np.ones(3), days])
    known = fit.predict(days, groups={"Subject": (subject, Z)})
    np.testing.assert_allclose(known.mean, numbers("predict")["known"], rtol=2e-6)
    np.testing.assert_allclose(fit.predict(days).mean, numbers("predict")["without"], rtol=2e-6)
    shifted = fit.predict(days, groups={"Subject": (subject, Z)}, offset=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(shifted.mean - known.mean, [1.0, 2.0, 3.0])
