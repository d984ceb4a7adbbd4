"""What the README says is so."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gpustats as gs
from gpustats.gp.kind import COVARIANCE
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_table_names_every_built_in_density():
    table = README.partition("## Densities")[2].partition("\n\n`gpustats list`")[0]
    named = set(re.findall(r"`(\w+)`", table)) - {"cov", "scale_tril", "precision"}
    assert named == set(library.built_in(DENSITY))


def test_the_text_names_every_built_in_covariance_function():
    listed = README.partition("Those that come along:\n")[2].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(library.built_in(COVARIANCE))


def test_the_covariance_function_of_the_text_is_one():
    source = next(code for code in re.findall(r"```c\n(.*?)```", README, re.S) if "_cov(" in code)
    wiggle = gs.register(source, replace=True)
    got = wiggle([0.0, 0.5], amplitude=2.0, lengthscale=1.0, period=1.0)
    np.testing.assert_allclose(got[0], [4.0, -4 * np.exp(-0.5)], rtol=1e-12)


def test_all_examples_run():
    """In their order, as a reader would type them, with few data and few draws."""
    pytest.importorskip("pymc")
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(blocks) == 16
    names = {}
    exec(blocks[0].replace("1_000_000", "1_000"), names)
    expected = stats.nbinom.logpmf(names["x"], 2.0, 2.0 / 5.0).sum()
    np.testing.assert_allclose(names["lik"](3.0, 2.0), expected, rtol=1e-12)
    np.testing.assert_allclose(gs.densities["visits"].loglik(names["x"], 3.0, 2.0), expected, rtol=1e-12)
    names |= {"mu": 3.0, "sigma": 2.0, "mus": np.array([1.0, 2.0]), "sigmas": np.array([0.5, 1.0])}
    for block in blocks[1:]:
        exec(block.replace("300", "20"), names)
    assert names["grad"].keys() == {"x", "mu"}
    np.testing.assert_allclose(names["L"] @ names["L"].T, names["a"], atol=1e-12)
    residuals = names["successes"] - 1 / (1 + np.exp(-0.1))
    np.testing.assert_allclose(names["gradient"]["beta"], names["X"].T @ residuals, rtol=1e-9)
    np.testing.assert_allclose(names["best"].loglik, names["ml"](**names["best"].values), rtol=1e-9)
    assert names["best"].loglik > names["value"]
    assert names["fit"].posterior["mu"].shape == (2, 20)
    assert names["grown"].posterior["slope"].shape == (2, 20, 40)
