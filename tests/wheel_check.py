"""Run by wheel.sh and extras.sh: the installed package evaluates densities and opens no file of the repository."""

import importlib.metadata
import os
import sys

root = os.path.realpath(sys.argv[1]) + os.sep
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

import gpustats as gs  # noqa: E402

x = np.random.default_rng(1).normal(size=1000)
mu, sigma = np.array([-1.0, 0.5]), np.array([0.7, 2.0])
table, expected = gs.normal.logpdf(x[:, None], mu, sigma), stats.norm.logpdf(x[:, None], mu, sigma)
np.testing.assert_allclose(table, expected, rtol=1e-12)

density = gs.register("""
// shifted: a normal with unit variance
__device__ real shifted_logpdf(real x, real shift) { return -0.5 * (x - shift) * (x - shift) - HALF_LOG_2PI; }
""")
np.testing.assert_allclose(density.loglik(x, 0.25), stats.norm.logpdf(x, 0.25).sum(), rtol=1e-12)

exact = gs.gp.MarginalLikelihood(gs.rbf, x[:50], x[:50] ** 2).predict(x[50:60], amplitude=3.0, lengthscale=2.0, sigma=0.1)
local = gs.LocalGP(x[:50], x[:50] ** 2).predict(x[50:60], end=50)
np.testing.assert_allclose(exact.mean, local.mean, atol=0.1)

assert os.path.isfile(os.path.join(os.path.dirname(gs.__file__), "__init__.pyi")), "the stub is not in the wheel"
assert importlib.metadata.version("gpustats") == gs.__version__
used = [path for path in opened if os.path.realpath(path).startswith(root)]
assert not used, f"the installed package read files of the repository: {used}"
print(f"wheel: {len(gs.densities)} densities, from {os.path.dirname(gs.__file__)}")
