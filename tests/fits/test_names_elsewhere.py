"""Names that results of a fit have in other packages, and where they are here."""

import copy
import pickle

import numpy as np
import pytest

import gpustats as gs
from gpustats.fits.estimates import Estimates
from gpustats.names.results import ELSEWHERE, OF_MIXTURES

GLM = gs.GLM(gs.poisson_log, np.array([1.0, 2.0, 6.0, 9.0]), np.array([[0.0], [1.0], [2.0], [3.0]]))
FIT = GLM.fit()


@pytest.mark.parametrize(
    ("name", "here"),
    [("params", "parameters"), ("bse", "standard_errors"), ("conf_int", r"interval\(\)"), ("vcov", "covariance"),
     ("logLik", "log_likelihood"), ("fittedvalues", r"predict\(X\).mean"), ("get_prediction", r"predict\(X\).to_frame\(\)")],
)  # fmt: skip
def test_names_of_other_packages(name, here):
    with pytest.raises(AttributeError, match=f"^estimates have no attribute '{name}': they have .{here}$"):
        getattr(FIT, name)
    with pytest.raises(AttributeError, match=rf"^GLM has no attribute '{name}': the estimates .* fit\(\).{here}$"):
        getattr(GLM, name)


def test_every_name_leads_somewhere():
    """But for what mixed models alone have; none hides what estimates have under it."""
    mixed = "random_effects_to_frame()"
    assert all(hasattr(FIT, here.partition("(")[0]) for here in ELSEWHERE.values() if here != mixed)
    assert not any(hasattr(FIT, name) for name in ELSEWHERE)
    with pytest.raises(AttributeError, match="^estimates have no attribute 'ranef'$"):
        FIT.ranef  # noqa: B018


def test_of_models_and_of_all_else():
    with pytest.raises(AttributeError, match=r"^GLM has no attribute 'summary': .* fit\(\).summary$"):
        GLM.summary()
    with pytest.raises(AttributeError, match="^GLM has no attribute 'paramsx'$"):
        GLM.paramsx  # noqa: B018
    with pytest.raises(AttributeError, match=r"^Mixture has no attribute 'summary': .* fit\(\).summary$"):
        gs.Mixture(gs.normal, np.arange(4.0)).summary  # noqa: B018
    with pytest.raises(AttributeError, match="the data lie in pieces"):
        gs.Likelihood(gs.normal, np.arange(4.0), memory=16).device  # noqa: B018
    assert not hasattr(FIT, "__array__") and not hasattr(GLM, "_missing")
    for made in (copy.copy(FIT), pickle.loads(pickle.dumps(FIT))):
        assert isinstance(made, Estimates) and made.parameters["alpha"] == FIT.parameters["alpha"]


def test_names_of_mixtures_are_what_mixtures_lack():
    mixture = gs.Mixture(gs.normal, np.arange(4.0))
    for name, here in OF_MIXTURES.items():
        assert hasattr(gs.Mixture, here) and not hasattr(mixture, name)
