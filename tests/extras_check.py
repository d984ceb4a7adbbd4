"""Run by extras.sh: what the extras of an installed package bring works together with it."""

import sys

import numpy as np
from scipy import stats

import gpustats as gs

X = np.random.default_rng(1).normal(size=1000)
EXPECTED = stats.norm.logpdf(X, 0.5, 2.0).sum()


def pymc():
    import pymc as pm

    import gpustats.pymc as gpm

    with pm.Model() as model:
        gpm.Normal("x", mu=pm.Flat("mu"), sigma=2.0, observed=X)
    np.testing.assert_allclose(model.compile_logp()({"mu": 0.5}), EXPECTED, rtol=1e-12)
    np.testing.assert_allclose(model.compile_dlogp()({"mu": 0.5}), [(X - 0.5).sum() / 4.0], rtol=1e-9)


def dask():
    import dask.array
    from distributed import Client, LocalCluster

    stored = dask.array.from_array(X, chunks=300)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        np.testing.assert_allclose(gs.Likelihood(gs.normal, stored, client=client)(0.5, 2.0), EXPECTED, rtol=1e-12)


def formula():
    data = {"y": X, "x": X**2, "g": np.where(X > 0, "a", "b")}
    fit = gs.GLM.from_formula("y ~ x + g", data, gs.normal).fit()
    assert fit.labels == ("x", "g[T.b]", "Intercept", "sigma")
    new = fit.predict({"x": [1.0], "g": ["b"]})
    np.testing.assert_allclose(new.mean, fit["x"] + fit["g[T.b]"] + fit["Intercept"], rtol=1e-12)


def cuda():
    """Without a GPU: that the libraries are there, that the compiler makes code, and that nothing else would be loaded."""
    from nvmath.bindings import cublas, cusolverDn  # noqa: F401

    from gpustats.runtime import cuda_wheels, nvrtc

    assert [cuda_wheels.library(name)[1] for name in cuda_wheels.LIBRARIES] == ["", "", ""]
    assert cuda_wheels.mixed() == ""
    source = gs.normal.kernel_source("table", dialect="cuda")
    assert nvrtc.version()[0] is not None, nvrtc.version()[1]
    assert nvrtc.compile(source, "sm_90").startswith(b"\x7fELF")


if __name__ == "__main__":
    checks = {"cuda12": cuda, "cuda13": cuda, "dask": dask, "formula": formula, "pymc": pymc}
    for extra in sys.argv[1].split(","):
        if extra in checks:
            checks[extra]()
