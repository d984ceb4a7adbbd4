"""What compiled code evaluates without Python, beside fused sums: numbers, invalid parameters, interrupts, chains."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pymc as pm
import pytest
from thorough import THOROUGH

import gpustats as gs
import gpustats.pymc as gpm
from gpustats.compiler.graph import machine
from gpustats.evaluation.parcel import Parcel, starts_of
from gpustats.evaluation.slots import Number, Packed, Rows, Slots
from gpustats.runtime import choose
from gpustats.runtime.replay import Given

N = 211
rng = np.random.default_rng(17)
X, Z, GROUP, BINARY = rng.normal(size=(N, 5)), rng.normal(size=N), rng.integers(0, 6, N), rng.integers(0, 2, N)
pytestmark = pytest.mark.usefixtures("by_machine")


def student_t():
    gpm.StudentT("y", pm.Gamma("nu", 2, 0.1), pm.Normal("mu"), sigma=pm.HalfNormal("s"), observed=Z)


def with_what_is_known():
    gpm.StudentT("y", 4.0, pm.Normal("mu"), sigma=1.5, observed=Z)


def rows_of_their_own():
    gpm.Normal("y", pm.Normal("b") * X[:, 0], pm.HalfNormal("s"), observed=Z)


def glm():
    gpm.GLM("y", gs.bernoulli_logit, X=X, beta=pm.Normal("beta", shape=5), alpha=pm.Normal("alpha"), observed=BINARY)


def glm_in_single_precision():
    beta, single = pm.Normal("beta", shape=5), X.astype("float32")
    gpm.GLM("y", gs.bernoulli_logit, X=single, beta=beta, alpha=pm.Normal("alpha"), observed=BINARY)


def glm_without_intercept():
    gpm.GLM("y", gs.normal_identity, X=X, beta=pm.Normal("beta", shape=5), sigma=pm.HalfNormal("s"), observed=Z)


def glm_of_groups():
    beta, a, s = pm.Normal("beta", shape=5), pm.Normal("a", shape=6), pm.HalfNormal("s")
    gpm.GLM("y", gs.normal_identity, X=X, beta=beta, alpha=a, sigma=s, groups=GROUP, offset=Z**2, observed=Z)


def glm_of_outcomes():
    beta, alpha = pm.Normal("beta", shape=(5, 3)), pm.Normal("alpha", shape=3)
    gpm.GLM("y", gs.categorical_logit, X=X, beta=beta, alpha=alpha, observed=GROUP % 3)


def glm_on_rows():
    """On a CPU."""
    n = 20_000
    wide, y = np.resize(X, (n, 5)) + np.arange(n)[:, None] / n, np.resize(BINARY, n)
    beta, alpha = pm.Normal("beta", 0, 0.01, shape=5), pm.Normal("alpha", 0, 0.01)
    gpm.GLM("y", gs.bernoulli_logit, X=wide, beta=beta, alpha=alpha, observed=y)


def mixture():
    w, mu = pm.Dirichlet("w", np.ones(3)), pm.Normal("mu", [-1, 0, 1], 1, shape=3)
    gpm.Mixture("y", w, gs.normal, mu=mu, sigma=pm.HalfNormal("s"), observed=Z)


def mixture_of_known_weights():
    mu, s = pm.Normal("mu", [-1, 0], 1, shape=2), pm.HalfNormal("s", shape=2)
    gpm.Mixture("y", np.array([0.25, 0.75]), gs.normal, mu=mu, sigma=s, observed=Z)


def gaussian_process():
    amplitude, lengthscale = pm.Normal("amplitude", 1, 0.1), pm.LogNormal("lengthscale", shape=5)
    mean, s = pm.Normal("mean"), pm.HalfNormal("s")
    gpm.GPMarginal("y", gs.rbf, X[:40], s, mean, amplitude=amplitude, lengthscale=lengthscale, observed=Z[:40])


def log_posterior(write, mode):
    with pm.Model() as model:
        write()
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    start = pm.blocking.DictToArrayBijection.map(model.initial_point()).data
    return function, start


MODELS = [
    student_t, with_what_is_known, rows_of_their_own, glm, glm_in_single_precision, glm_without_intercept, glm_of_groups,
    glm_of_outcomes, glm_on_rows, mixture, mixture_of_known_weights, gaussian_process,
]  # fmt: skip


@THOROUGH
@pytest.mark.parametrize("write", MODELS, ids=lambda f: f.__name__)
def test_numbers(write, rng, through_python):
    compiled, start = log_posterior(write, "NUMBA")
    plain, _ = log_posterior(write, "FAST_COMPILE")
    for _ in range(6):
        x = start + 0.3 * rng.normal(size=start.size) / (100 if write is glm_on_rows else 1)
        (got, slope), (want, its) = compiled(x), plain(x)
        np.testing.assert_allclose(got, want, rtol=1e-13)
        np.testing.assert_allclose(slope, its, rtol=1e-11, atol=1e-11 * np.abs(its).max())
    assert len(through_python) == machine.CALLS_BEFORE_PROGRAM


@THOROUGH
def test_invalid_parameters_go_through_python(through_python):
    """Scales that are no numbers, as where a sampler has gone astray."""
    compiled, start = log_posterior(student_t, "NUMBA")
    for _ in range(4):
        want = compiled(start)
    for x in (start * np.nan, start + [0, 0, 1000]):
        assert not np.isfinite(compiled(x)[0])
    np.testing.assert_array_equal(compiled(start)[1], want[1])
    assert len(through_python) == machine.CALLS_BEFORE_PROGRAM + 2


def test_where_arguments_lie():
    values = [Packed(), 0, 6, Number(1), Rows(2), 0, Number(3)]
    parcel = Parcel(np.dtype("float64"))
    parcel.add(0, 6, transposed=True)
    taken = Slots(choose.get(), parcel.dtype, values, parcel)
    arguments = [np.arange(6.0).reshape(3, 2), 0.5, np.ones(5), 0.25]
    places = taken.places(arguments)
    assert [p.tolist() for p in places] == [[0, 3, 1, 4, 2, 5], [8], [12, 13, 14, 15, 16], [20]]
    assert taken.given("handle", places) == ["handle", 0, 6, Given(8), "handle", 12, 0, Given(20)]
    assert starts_of([0, 1, 4, 5], 4) == [0, 0, 4, 8, 13]


@THOROUGH
@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="no signals")
def test_ctrl_c():
    """It ends PyMC's and nutpie's sampling, in the main thread."""
    code = textwrap.dedent("""
        import os, signal, threading, time
        import numpy as np, pymc as pm, nutpie
        import gpustats.pymc as gpm
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pm.Model() as model:
            x, s = np.random.default_rng(1).normal(size=300), pm.HalfNormal("s")
            gpm.StudentT("y", 4.0, pm.Normal("mu"), sigma=s, observed=x)
        compiled = nutpie.compile_pymc_model(model)
        nutpie.sample(compiled, draws=20, tune=20, chains=2, cores=2, progress_bar=False)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            nutpie.sample(compiled, draws=10**8, tune=20, chains=2, cores=2, progress_bar=False, save_warmup=False)
        except KeyboardInterrupt:
            pass
        print("ended", time.monotonic() - began < 20)
    """)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=150)
    assert done.stdout.split() == ["ended", "True"], done.stderr
