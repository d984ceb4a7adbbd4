"""The distributions of random draws, against scipy.stats."""

import numpy as np
import pytest
from references_all import REFERENCES
from references_draws import (
    CONTINUOUS,
    DISCRETE,
    DISTRIBUTIONS,
    FRESH_THRESHOLD,
    SERIES,
    THRESHOLD,
    VECTOR,
    N,
    assert_continuous,
    assert_dirichlet,
    assert_dirichlet_multinomial,
    assert_discrete,
    assert_garch11,
    assert_multinomial,
    assert_multivariate_hypergeometric,
    assert_normal_inverse_gamma,
    assert_stick_breaking_weights,
    assert_von_mises_fisher,
    assert_zero_sum_normal,
    cases,
    integrated,
    kolmogorov_smirnov,
    label,
)
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.density import ELLIPTICAL
from gpustats.language.kinds import DENSITY
from gpustats.language.library import library

inf = np.inf
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def cases_of(table, every=1):
    """Parameters of all densities; of every so many, `make test` takes one set: the first or, as often, the last."""
    listed = [
        pytest.param(name, parameters, id=label(name, parameters), marks=marks)
        for i, (name, sets) in enumerate(table.items()) for parameters in sets
        for marks in [[THOROUGH] * (i % every > 0 or parameters is not sets[-(i % 2)])]
    ]  # fmt: skip
    return pytest.mark.parametrize("name,parameters", listed)


def test_every_density_has_a_sampler():
    sampled = {name for name in library.built_in(DENSITY) if library.get(name).role("sample")}
    assert sampled == library.built_in(DENSITY)
    elliptical = {name for name in library.built_in(DENSITY) if library.get(name).kind is ELLIPTICAL}
    assert sampled - elliptical == CONTINUOUS.keys() | DISCRETE.keys() | VECTOR.keys() | SERIES.keys()


@cases_of(CONTINUOUS, every=5)  # half of all are compared with draws that are kept: test_rvs.py
def test_continuous(name, parameters):
    assert_continuous(name, parameters, np.float64, gs.Generator(2011))


@cases_of(CONTINUOUS, every=9)
def test_continuous_in_single_precision(name, parameters):
    assert_continuous(name, parameters, np.float32, gs.Generator(2011))


#: Whose moments SciPy integrates
INTEGRATED = [
    "exponential_power", "exponentiated_weibull", "generalized_exponential", "generalized_half_logistic", "gompertz",
    "half_generalized_normal", "johnson_sb", "kolmogorov", "kolmogorov_smirnov", "kolmogorov_smirnov_one_sided",
    "power_log_normal", "power_normal", "reciprocal_inverse_gaussian",
]  # fmt: skip


@THOROUGH
@cases({name: CONTINUOUS[name] for name in INTEGRATED})
@each_dtype
def test_continuous_with_moments_that_scipy_integrates(name, parameters, dtype):
    assert integrated(DISTRIBUTIONS[name](*parameters))
    assert_continuous(name, parameters, dtype, gs.Generator(2011), N + 1)


@cases_of(DISCRETE, every=5)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_discrete(name, parameters):
    assert_discrete(name, parameters, gs.Generator(2011))


@pytest.mark.parametrize("a", [p for (p,) in VECTOR["dirichlet"]], ids=str)
@each_dtype
def test_dirichlet(a, dtype):
    assert_dirichlet(a, dtype, gs.Generator(2011), 50_000)


@pytest.mark.parametrize("n,p", VECTOR["multinomial"], ids=str)
def test_multinomial(n, p):
    assert_multinomial(n, p, gs.Generator(2011), 50_000)


@pytest.mark.parametrize("n,a", VECTOR["dirichlet_multinomial"], ids=str)
def test_dirichlet_multinomial(n, a):
    assert_dirichlet_multinomial(n, a, gs.Generator(2011), 50_000)


@pytest.mark.parametrize("parameters", SERIES["garch11"], ids=str)
@each_dtype
def test_garch11(parameters, dtype):
    assert_garch11(*parameters, dtype, gs.Generator(2011))


@pytest.mark.parametrize("mu,kappa", some(VECTOR["von_mises_fisher"]), ids=str)
@each_dtype
def test_von_mises_fisher(mu, kappa, dtype):
    assert_von_mises_fisher(mu, kappa, dtype, gs.Generator(2011))


@pytest.mark.parametrize("alpha", [alpha for (alpha,) in VECTOR["stick_breaking_weights"]])
@each_dtype
def test_stick_breaking_weights(alpha, dtype):
    assert_stick_breaking_weights(alpha, dtype, gs.Generator(2011))


@pytest.mark.parametrize("sigma", [sigma for (sigma,) in VECTOR["zero_sum_normal"]])
@each_dtype
def test_zero_sum_normal(sigma, dtype):
    assert_zero_sum_normal(sigma, dtype, gs.Generator(2011))


@pytest.mark.parametrize("parameters", VECTOR["normal_inverse_gamma"], ids=str)
@each_dtype
def test_normal_inverse_gamma(parameters, dtype):
    assert_normal_inverse_gamma(*parameters, dtype, gs.Generator(2011))


@each_dtype
def test_polya_gamma_of_any_tilt(dtype):
    """Where z is large, the mean is h / (2 z) and the variance h / (2 z^3), both soon less than what the squares keep."""
    h, z = np.array([[1], [2.5], [30], [1000]]), np.array([50, 1e6, -1e15, 1e18, -1e19, 1e20, 1e37])
    draws = gs.polya_gamma.rvs(h, z, size=(1000, 4, 7), rng=gs.Generator(2011), dtype=dtype)
    errors, deviation, rounding = draws / (h / (2 * abs(z))) - 1, np.sqrt(2 / (h * abs(z))), 50 * np.finfo(dtype).eps
    assert np.all(abs(errors.mean(0)) < 5 * deviation / 30 + rounding)
    np.testing.assert_allclose(errors.std(0), deviation, rtol=0.15, atol=rounding)


@pytest.mark.parametrize("n,m", some(VECTOR["multivariate_hypergeometric"], 2), ids=str)
def test_multivariate_hypergeometric(n, m):
    assert_multivariate_hypergeometric(n, m, gs.Generator(2011))


@pytest.mark.slow
@cases(CONTINUOUS | DISCRETE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:scipy")
def test_a_million_draws(name, parameters):
    if name in DISCRETE:
        assert_discrete(name, parameters, gs.Generator(4022), 1_000_000)
    else:
        for dtype in (np.float64, np.float32):
            assert_continuous(name, parameters, dtype, gs.Generator(4022), 1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE, *VECTOR, *SERIES])
def test_random_parameters(name):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")  # pytest shows it where the test fails
    for row in zip(*REFERENCES[name].parameters(np.random.default_rng(seed), 10)):
        parameters = tuple(np.asarray(p).tolist() for p in row)
        print(f"parameters {parameters}")
        rng, n = gs.Generator(seed), 500_000
        if name == "dirichlet":
            assert_dirichlet(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "multinomial":
            assert_multinomial(*parameters, rng, n, FRESH_THRESHOLD)
        elif name == "dirichlet_multinomial":
            assert_dirichlet_multinomial(*parameters, rng, n, FRESH_THRESHOLD)
        elif name == "garch11":
            assert_garch11(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "multivariate_hypergeometric":
            assert_multivariate_hypergeometric(*parameters, rng, n, FRESH_THRESHOLD)
        elif name == "stick_breaking_weights":
            assert_stick_breaking_weights(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "zero_sum_normal":
            assert_zero_sum_normal(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "normal_inverse_gamma":
            assert_normal_inverse_gamma(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name == "von_mises_fisher":
            assert_von_mises_fisher(*parameters, np.float64, rng, n, FRESH_THRESHOLD)
        elif name in DISCRETE:
            assert_discrete(name, parameters, rng, n, FRESH_THRESHOLD)
        else:
            for dtype in (np.float64, np.float32):
                assert_continuous(name, parameters, dtype, rng, n, FRESH_THRESHOLD)


@pytest.mark.parametrize("name, spread", [("von_mises", 3.0), ("wrapped_cauchy", 0.4), ("cardioid", 0.3)])
def test_angles_are_drawn_within_the_support(name, spread):
    """The circle is cut opposite to mu, for draws as for the distribution function, however many turns away mu is."""
    angles = gs.densities[name](-10.0, spread)
    assert kolmogorov_smirnov(angles.cdf(angles.rvs(size=2000, rng=3)), lambda p: p) > THRESHOLD
