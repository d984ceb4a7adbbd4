"""The formula of every density and covariance function, evaluated by mpmath, against the references of the tests."""

import mpmath as mp
import numpy as np
import pytest
from formulas import value
from references_all import REFERENCES
from references_elliptical import covariances
from references_elliptical import reference as elliptical
from sklearn.gaussian_process import kernels

import gpustats as gs
from gpustats.language.domains import domains_of
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library
from gpustats.processes.kind import COVARIANCE

#: Integrals, which take long; and sums whose terms cancel.
DIGITS = {"landau": 20, "noncentral_t": 20, "stable": 20, "studentized_range": 16, "kolmogorov_smirnov": 200}


def at(density, row):
    """The value of the formula, of x and the parameters."""
    names = dict(zip(["x", *density.parameters], (np.asarray(v, float).tolist() for v in row)))
    return value(density.formula, names, DIGITS.get(density.name, 60))


def test_every_file_gives_a_formula():
    assert [n for kind in (DENSITY, COVARIANCE) for n in library.built_in(kind) if not library.get(n).formula] == []


#: An integral of integrals takes a minute.
EACH = [pytest.param(n, marks=pytest.mark.slow) if n == "studentized_range" else n for n in REFERENCES]


@pytest.mark.parametrize("name", EACH)
def test_the_formula_is_the_density(name, rng):
    density, reference = gs.densities[name], REFERENCES[name]
    args = reference.random(rng, 4)
    want = reference.logpdf(*args)
    likely = np.argsort(want)[2:]  # far out, what a formula says may be lost in rounding, or outside of the support
    got = [float(mp.log(at(density, [a[i] for a in args]))) for i in likely]
    np.testing.assert_allclose(got, want[likely], rtol=1e-12, atol=1e-12)


SUPPORTED = [name for name in REFERENCES if "else 0" in gs.densities[name].formula or " 0 if" in gs.densities[name].formula]


@pytest.mark.parametrize("name", SUPPORTED)
def test_the_formula_is_0_outside_of_the_support(name):
    density, reference = gs.densities[name], REFERENCES[name]
    domains = domains_of(density.domains["x"].split())
    rows = [row for row in reference.extreme if all(np.isfinite(v).all() for v in row)]
    rows = [row for row in rows if all(np.all(d.inside(np.float64(row[0]))) for d in domains if d.inside)]
    outside = [row for row in rows if reference.logpdf(*(np.array([v], float) for v in row)) == -np.inf]
    assert [row for row in outside[:5] if abs(at(density, row)) > 1e-40] == []


@pytest.mark.parametrize("name", ["mvnormal", "mv_student_t"])
def test_the_formula_of_an_elliptical_density(name, rng):
    x, mu, cov = rng.normal(size=3), rng.normal(size=3), covariances(rng, 1, 3)[0]
    nu = [2.5] * (name == "mv_student_t")
    got = mp.log(at(gs.densities[name], (x, *nu, mu, cov)))
    assert float(got) == pytest.approx(elliptical(name, x, mu, cov, *nu)[0], rel=1e-12)


SKLEARN = {
    "constant": kernels.ConstantKernel(1.0), "rbf": kernels.RBF(0.7), "matern12": kernels.Matern(0.7, nu=0.5),
    "matern32": kernels.Matern(0.7, nu=1.5), "matern52": kernels.Matern(0.7, nu=2.5),
    "rational_quadratic": kernels.RationalQuadratic(0.7, 0.3), "periodic": kernels.ExpSineSquared(0.7, 1.3),
    "linear": kernels.DotProduct(0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(library.built_in(COVARIANCE)))
def test_the_formula_of_a_covariance_function(name, rng):
    x, y = rng.normal(size=(2, 1, 3))
    seen = {"sqdist": float(((x - y) ** 2).sum()), "dot": float((x * y).sum())}
    given = {**seen, "amplitude": 1.5, "lengthscale": 1.0 if name == "linear" else 0.7, "alpha": 0.3, "period": 1.3}
    names = {a.name: given[a.name] for a in library.get(name).arguments}
    got = float(value(gs.covariances[name].formula, names))
    assert got == pytest.approx(given["amplitude"] ** (2 * ("amplitude" in names)) * SKLEARN[name](x, y)[0, 0], rel=1e-12)
