"""The stub of the package: that it is up to date, and what a type checker makes of a user's program."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from thorough import THOROUGH

from gpustats.commands.stub import PATH, stub

#: A user's program. Lines with a mark are errors of these codes; of the others, none is.
PROGRAM = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import gpustats as gs
from gpustats.density import Density
from gpustats.fits.estimates import Estimates
from gpustats.fits.predictions import Prediction
from gpustats.mixed.estimates import MixedEstimates

x = gs.gamma.rvs(2.0, 1.0, size=100, rng=1)
assert_type(x, NDArray[Any])
assert_type(gs.gamma.logpdf(x, alpha=2.0, beta=np.ones(3)), NDArray[Any])
assert_type(gs.gamma(2.0, beta=1.0).cdf(x), NDArray[Any])
assert_type(gs.gamma.fit(x), Estimates)
assert_type(gs.gamma.interval(0.9, 2.0, 1.0)[0], NDArray[Any])
assert_type(gs.mvnormal.logpdf(np.zeros(2), np.zeros(2), scale_tril=np.eye(2)), NDArray[Any])
assert_type(gs.densities["gamma"], Density)
likelihood = gs.Likelihood(gs.gamma, x)
assert_type(likelihood, gs.Likelihood)
assert_type(likelihood.fit(), Estimates)
glm = gs.GLM(gs.poisson_log, np.ones(3), np.ones((3, 1)))
assert_type(glm.fit().predict([[1.0]]), Prediction)
assert_type(glm.fit(random="county"), MixedEstimates)
formula = gs.GLM.from_formula("y ~ x + (1 | county)", {}, gs.normal)
assert_type(formula.fit().variance_components["county"], np.ndarray)
print(glm.fit().predict([[1.0]]).mean.round(2), glm.fit().covariance.round(2))
assert_type(gs.Mixture(gs.normal, x).fit(start={}), Estimates)
process = gs.gp.MarginalLikelihood(gs.rbf, x, x)
assert_type(process.device.id, str)
emulator = gs.gp.Emulator(process, amplitude=1.0, lengthscale=0.3, sigma=0.1)
print(emulator.alc(x).argmax())
values, slopes = emulator.alc(x, grad=True)
local = gs.gp.LocalGP(x, x)
assert_type(local.predict(x), gs.gp.LocalPrediction)
assert_type(local.predict(x, joint=True), gs.gp.JointPrediction)
print(gs.gamma.description, gs.transforms.Truncate(gs.normal, lower=0.0), gs.__version__)
gs.norml  # attr-defined
gs.gamma.logpdff  # attr-defined
gs.gamma(2.0, 1.0).logpdff  # attr-defined
gs.gamma.logpdf(x, 2.0, gamma=1.0)  # call-arg
gs.gamma(alpha=2.0)  # call-arg
glm.fit().variance_components  # attr-defined
gs.gamma.fit(x, strat={})  # call-arg
"""


def test_the_stub_is_up_to_date():
    assert PATH.read_text(encoding="utf-8") == stub()


@THOROUGH
def test_what_mypy_knows(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = ["-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", "--follow-imports=silent"]
    options = ["--ignore-missing-imports", "--no-error-summary", "program.py"]
    done = subprocess.run([sys.executable, *command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = [(int(line.split(":")[1]), line.rpartition("[")[2].rstrip("]")) for line in errors]
    assert found == wanted(), done.stdout + done.stderr


def wanted():
    """Numbers of the lines that are errors, and their codes."""
    return [(n, line.rpartition("# ")[2]) for n, line in enumerate(PROGRAM.splitlines(), 1) if "  # " in line]


@THOROUGH
def test_what_pyright_knows(tmp_path):
    """It takes names that a class assigns, without a ``def``, for what the base class declares."""
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if (pyright := shutil.which("pyright", path=folders)) is None:
        pytest.skip("needs pyright")
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"include": ["program.py"], "extraPaths": [str(PATH.parents[1])]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [pyright, "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = {d["range"]["start"]["line"] + 1 for d in found if d["severity"] == "error"}
    assert errors == {n for n, _ in wanted()}, found
