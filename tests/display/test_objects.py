"""What notebooks show of objects: HTML that is well formed, holds the numbers, escapes labels, and is small."""

import numpy as np
import pytest
from markup import shown

import gpustats as gs

LABEL = 'a < b & "c"'


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(1)


def has(thing, *words):
    """Markup of an object, in which these texts stand."""
    read = shown(thing)
    missing = [word for word in words if not any(word in text for text in read.texts)]
    assert not missing, f"{missing} are not in {read.text}"
    return read


def test_a_density():
    read = has(gs.gamma, "gamma: the gamma distribution", "beta**alpha * x**(alpha - 1)", "x (nonnegative)", "shape")
    assert "svg" in read.elements and "at alpha = 2, beta = 1" in read.texts


def test_densities_of_vectors_have_no_picture():
    assert "svg" not in has(gs.mvnormal, "mu", "covariance matrix").elements


def test_all_that_a_comment_says_is_escaped():
    density = gs.register(f"""
// shown_in_notebooks: {LABEL}
// x: real    a: real, <i>location</i>
real shown_in_notebooks_logpdf(real x, real a) {{ return -(x - a) * (x - a); }}
""", replace=True)  # fmt: skip
    read = has(density, f"shown_in_notebooks: {LABEL}", "<i>location</i>")
    assert "i" not in read.elements and "svg" not in read.elements  # there are no quantiles


def points(read_from):
    text = read_from.split('<polyline points="')[1].split('"')[0]
    return np.array([[float(v) for v in p.split(",")] for p in text.split()])


def test_a_distribution_is_drawn_between_its_quantiles():
    from scipy import stats

    read = has(gs.normal(3.0, 2.0), "mu", "3.0", "sigma", "2.0")
    low, high = (float(t) for t in read.texts[-2:])
    np.testing.assert_allclose([low, high], stats.norm(3, 2).ppf([0.005, 0.995]), rtol=1e-3)
    x, y = points(gs.normal(3.0, 2.0)._repr_html_()).T
    height = y.max() - y
    want = stats.norm(3, 2).pdf(np.linspace(low, high, len(x)))
    np.testing.assert_allclose(height / height.max(), (want - want.min()) / (want.max() - want.min()), atol=0.02)


def test_a_mass_function_has_bars():
    assert "path" in has(gs.poisson(4.0), "mu", "4.0").elements


def test_distributions_of_many_parameters():
    assert "svg" not in has(gs.normal(0.0, np.ones((3, 4))), "(3, 4) float64").elements


def test_a_prior():
    assert "svg" not in has(gs.normal(0.0, "tau"), "tau").elements


def test_without_a_device_there_is_no_picture(monkeypatch):
    from gpustats.errors import NoDeviceError
    from gpustats.runtime import choose

    def none(*_):
        raise NoDeviceError("none")

    distribution = gs.logistic(0.25, 1.5)
    monkeypatch.setattr(choose, "get", none)
    assert "svg" not in has(distribution, "0.25").elements


def test_lists_of_what_there_is():
    read = has(gs.densities, f"{len(gs.densities)} densities", "of whole numbers", "of vectors")
    listed = [name for text in read.texts for name in text.split(", ") if name in gs.densities]
    assert sorted(listed) == list(gs.densities)
    of = dict(zip(read.texts[1::2], read.texts[2::2]))
    assert "poisson" in of["of whole numbers"].split(", ") and "beta" in of["of the unit interval"].split(", ")
    for heading, names in of.items():
        for name in names.split(", ")[::9]:
            words = gs.densities[name].definition.arguments[0].words
            assert ("integer" in words and "vector" not in words) == (heading == "of whole numbers"), name
    assert max(map(len, repr(gs.densities).splitlines())) <= 100 and "of positive numbers: alpha, " in repr(gs.densities)
    has(gs.covariances, "covariance functions", "matern52, ")
    has(gs.series, "sequence models", "garch, ")


def test_devices():
    device = gs.devices()[0]
    has(gs.devices(), device.id, device.name)
    has(device, device.id, device.name, "compute_units")
    assert gs.devices() == list(gs.devices())


def test_likelihoods(numbers):
    x = numbers.gamma(2.0, size=50)
    device = gs.Likelihood(gs.gamma, x).device.id
    has(gs.Likelihood(gs.gamma, x), "gamma(x, alpha, beta)", "(50,) float64", device)
    has(gs.Mixture(gs.normal, x), "Mixture", "normal(x, mu, sigma)", "(50,) float64")
    has(gs.Likelihood(gs.gamma, x, chunk=20), "pieces of")


def test_rows(numbers):
    y, group = numbers.normal(size=30), np.repeat([0, 1, 2], 10)
    rows = gs.Rows("real f(real y, real a, real s) { return normal_logpdf(y, a, s); }", y=y, a=gs.gather(group))
    has(rows, "f(y, a, s)", "30", "a table", "a number")
    has(gs.LaplaceMarginal(rows, {"a": gs.normal(0.0, "tau")}), "a (3,)", "Laplace's method", "s, tau")
    has(gs.series.garch, "garch: ", "omega", "nonnegative", "conditional_variance")


def test_glms_and_their_estimates(numbers):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({LABEL: numbers.normal(size=200), "<b>": numbers.normal(size=200)})
    y = numbers.poisson(np.exp(0.3 * X["<b>"])).astype(float)
    glm = gs.GLM(gs.poisson_log, y, X)
    has(glm, "poisson_log", "(200, 2) float64", "beta, alpha")
    fit = glm.fit()
    read = has(fit, LABEL, "<b>", f"{fit['<b>']:.4f}", f"{fit.errors[1]:.4f}", f"{fit.log_likelihood:.6g}", "converged")
    assert "b" not in read.elements
    for number in fit.to_frame().loc["<b>", ["lower", "upper"]]:
        assert f"{number:.4f}" in read.texts
    predicted = fit.predict(X[:30])
    has(predicted, "Predictions for 30 rows", f"{predicted.mean[29]:.4f}", f"{predicted.mean_errors[0]:.4f}", "… 10 more")
    assert len(repr(predicted)) < 120 and "30 rows" in repr(predicted)


def test_estimates_of_many_parameters_are_short(numbers):
    group = np.repeat(np.arange(300), 3)
    rows = gs.Rows("real f(real y, real a) { return normal_logpdf(y, a, 1); }", y=numbers.normal(size=900), a=gs.gather(group))
    has(rows.fit(), "… 240 more", "a[0]", "a[299]")


def test_estimates_of_many_data_sets(numbers):
    fit = gs.gamma.fit(numbers.gamma(2.0, size=(100, 30)))
    alpha, error = fit["alpha"], fit.standard_errors["alpha"]
    has(fit, "data sets", "100", f"{alpha[0]:.4f} ± {error[0]:.2g}", f"{alpha[99]:.4f} ± {error[99]:.2g}", "… 80 more")
    x = numbers.normal(size=40)
    named = gs.normal.fit(x, groups=np.repeat(["<i>", "two"], 20))
    assert "i" not in has(named, "<i>", "two").elements


def test_mixed_estimates(numbers):
    group, x = np.repeat(np.arange(20), 10), np.tile(np.arange(10.0), 20)
    y = 1.0 + 0.5 * x + numbers.normal(size=20)[group] + numbers.normal(size=200)
    fit = gs.GLM(gs.normal, y, x[:, None], eta="mu", groups={"subject": group}).fit(random="subject")
    variance = fit.variance_components["subject"][0, 0]
    beta, sigma = fit["beta"][0], fit["sigma"]
    has(fit, "subject", "Residual", f"{variance:.5g}", f"{sigma**2:.5g}", "restricted log-likelihood", f"{beta:.4f}")


def test_processes(numbers):
    x = numbers.uniform(size=(40, 2))
    y = np.sin(5 * x[:, 0]) + x[:, 1]
    exact = gs.gp.MarginalLikelihood(gs.rbf, x, y)
    has(exact, "rbf(amplitude, lengthscale)", "(40, 2) float64", "exact")
    has(gs.gp.Vecchia(gs.rbf, x, y, neighbours=7), "Vecchia's approximation", "7")
    has(gs.LocalGP(x, y, prescale=[1.0, 4.0]), "that of y", "[1. 2.]")
    emulator = gs.gp.Emulator(exact, amplitude=1.5, lengthscale=[0.3, 0.4], sigma=0.1)
    has(emulator, "1.5", "[0.3 0.4]")
    has(gs.gp.Calibration(emulator, x[:5, 0], y[:5], [(0, 2)]), "5 observations", "u[0]", "0 to 2", "rbf")
    has(gs.rbf, "rbf: ", "amplitude**2 * exp(-sqdist", "lengthscale", "positive")
    has(gs.rbf.rename(amplitude="rise") * gs.matern52.rename(amplitude="slope", lengthscale="near"), "rise", "near")


def test_results_of_searches(numbers):
    x = numbers.uniform(size=20)
    calibration = gs.gp.Calibration(lambda points: points[:, 1] * points[:, 0], x, 2 * x, [(0, 3)], False)
    fit = calibration.fit(candidates=10, searches=1, tolerance=0.1, rng=1)
    draws = calibration.sample(3, tune=2, walkers=6, start=fit, rng=1)
    has(fit, f"[{fit.u[0]:.8f}]"[:6], f"sigma={fit.values['sigma']:.6g}", str(fit.evaluations))
    has(draws, "(6, 3, 1) float64", "sigma=(6, 3) float64")
    assert repr(draws).startswith("<CalibrationDraws: u (6, 3, 1) float64, values sigma=(6, 3) float64, ")
    found = gs.gp.minimize(lambda x: (x.sum(), []), [(0, 1)], start=8, end=9, candidates=10, draws=8, rng=1)
    has(found, f"{found.fun:.6g}", "(9, 1) float64", "(9,) bool", "of 1")
    assert len(repr(found)) < 400
