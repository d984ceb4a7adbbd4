"""Densities as users give them: what is none is refused with what to write."""

import numpy as np
import pytest

import gpustats as gs
from gpustats.names.functions import METHODS

X = np.zeros(3)
TAKERS = {
    "Likelihood": lambda density: gs.Likelihood(density, X),
    "Mixture": lambda density: gs.Mixture(density, X),
    "GLM": lambda density: gs.GLM(density, X, np.ones((3, 1)), eta="mu"),
    "GLM.from_formula": lambda density: gs.GLM.from_formula("y ~ 1", {"y": X}, density),
    "Truncate": lambda density: gs.transforms.Truncate(density, lower=0.0),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("normal", "not str: write gpustats.normal"),
        ("dnorm", "not str: R's dnorm is gpustats.normal.pdf"),
        ("norml", r"not str: did you mean normal or mvnormal\?"),
        (gs.normal(0.0, 1.0), "not Frozen: give gpustats.normal itself; its parameters come with each call"),
    ],
)
def test_names_and_distributions_with_parameters(taker, given, advice):
    with pytest.raises(TypeError, match=rf"^{taker} takes a density, {advice}$"):
        TAKERS[taker](given)


def test_the_order_of_arguments_is_told():
    with pytest.raises(TypeError, match=r"^GLM takes a density, not ndarray of shape \(3,\): GLM\(density, y, X\), with"):
        gs.GLM(X, np.ones((3, 1)), gs.normal)
    with pytest.raises(TypeError, match=r"not ndarray of shape \(3,\): Mixture\(density, x\), with a density such as gpustats"):
        gs.Mixture(X, gs.normal)
    with pytest.raises(TypeError, match=r"not dict: GLM.from_formula\(formula, data, density\)"):
        gs.GLM.from_formula("y ~ 1", gs.normal, {"y": X})


def test_names_are_no_functions_of_rows():
    with pytest.raises(TypeError, match=r"^Rows takes a density, not str: write gpustats.normal$"):
        gs.Rows("normal", x=X)


def test_methods_of_other_packages():
    for name, here in METHODS.items():
        assert hasattr(gs.normal, here)
        with pytest.raises(AttributeError, match=f"^a density has no attribute '{name}': here it is {here}$"):
            getattr(gs.normal, name)
    with pytest.raises(AttributeError, match="^a density has no attribute 'fit_transform'$"):
        gs.normal.fit_transform  # noqa: B018
    with pytest.raises(AttributeError, match="mvnormal has no cdf: of distributions of vectors"):  # so says the method
        gs.mvnormal.cdf  # noqa: B018
