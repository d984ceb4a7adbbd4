"""Emulators: observations that come one by one, and where to observe next; against definitions, and the R package laGP."""

import math
import pickle

import numpy as np
import pytest
from gp_data import data
from lagp_data import CANDIDATES, REFERENCES, X, Z
from references_local import mspe
from scipy import linalg
from thorough import THOROUGH, some

import gpustats as gs
from gpustats.emulation import acquisition
from gpustats.evaluation.pointwise import Pointwise
from gpustats.gp import Emulator, MarginalLikelihood, Prediction
from gpustats.language.derived import resolve_in
from gpustats.language.device_function import Argument, parse
from gpustats.language.library import library
from gpustats.processes import posterior
from gpustats.processes.prediction import slopes_of_improvement

#: Of laGP 1.5-9 in R 4.2, with options(digits = 15) and the data of `lagp_data`: w <- c(1,2,.5,0,1.5)
#: gp <- newGP(X, Z, d=.5, g=.01, dK=TRUE); s <- newGPsep(X, Z, d=c(.3,.8), g=.01, dK=TRUE)
WEIGHTS = np.array([1, 2, 0.5, 0, 1.5])
#: alcGP(gp, cand, ref); alcGPsep(s, cand, ref)
ALC = [0.017151265509718308, 0.001872721956544344, 0.003167504620360183, 0.000607848731890951]
ALC_SEPARABLE = [0.006550776251274489, 0.004093475771001239, 0.003167635417561607, 0.000416739252341654]
#: dalcGP(gp, cand, ref)$dalcs
ALC_SLOPES = [
    [-0.068938465589322734, -0.011267080353806901], [-0.007362832770225623, 0.002342158618568435],
    [0.002325364325621019, -0.005953380173566170], [0.016220777873683614, -0.000277977794110731],
]  # fmt: skip
#: ieciGP(gp, cand, min(Z), ref, w); ieciGPsep(s, cand, min(Z), ref, w)
IECI = [0.0861560791764672, 0.0864328714528240, 0.0856179674925986, 0.0864356285708667]
IECI_SEPARABLE = [0.0571404427392006, 0.0570836989282165, 0.0551642728073416, 0.0574850313311289]
#: fishGP(gp, cand); mspeGP(gp, cand, ref, fi=FALSE); the latter + mean(laGP:::dmus2GP(gp, ref)$dmu^2) / fishGP(gp, cand):
#: mspeGP itself has sq(dmu / s2) where the paper, and fishGP, have sq(dmu) / s2.
FISH = [9.71982142294579, 10.11223847962473, 8.72117119666488, 9.72347553717661]
MSPE_OF_VARIANCE = [0.0470171532899662, 0.0617500345733839, 0.0605014941475615, 0.0629697337542997]
MSPE = [0.0533659154459582, 0.0678524257044215, 0.0675772449866916, 0.0693161100244988]
#: updateGP(gp, cand[1:3,], c(.3,-.2,.5)); p <- predGP(gp, ref, lite=TRUE); p$mean; p$s2; llikGP(gp); alcGP(gp, cand, ref)
NEW = [0.3, -0.2, 0.5]
MEAN = [0.382337675773378, 0.448426592482037, 0.982850768793669, 0.316048534067753, -0.680345731577242]
S2 = [0.337142425022730, 0.146546665493060, 0.180680097830052, 0.172397584185443, 0.257583926980276]
LOGLIK = -10.7504127214924
ALC_AFTER = [0.00657954546377089, 0.00438858535761796, 0.00241042453438096, 0.00208279017054396]
#: The same of s
MEAN_SEPARABLE = [0.595569205994581, 0.454476737507949, 1.009076152763253, 0.112731682772568, -0.529162689030466]
S2_SEPARABLE = [0.490073292432504, 0.177193810412498, 0.210696247867376, 0.213899282398363, 0.318919058158123]
LOGLIK_SEPARABLE = -10.8604829472169
#: p <- predGP(gp, ref, lite=TRUE, nonug=TRUE); u <- (.1-p$mean)/sqrt(p$s2); df <- p$df
#: (.1-p$mean)*pt(u,df) + sqrt(p$s2)*(df+u^2)/(df-1)*dt(u,df)
EI = [0.10466088903805375, 0.01426582906838208, 0.00142238430895583, 0.04867655685111515, 0.79082596572160846]


def like_lagp(d):
    """laGP's model with the nugget 0.01."""
    ml = MarginalLikelihood(gs.rbf.fix(amplitude=1.0), X, Z, student_t=True)
    return Emulator(ml, lengthscale=np.sqrt(np.divide(d, 2)), sigma=0.1)


@pytest.mark.parametrize("separable", [False, True])
def test_lagp(separable):
    e = like_lagp([0.3, 0.8] if separable else 0.5)
    alc, slopes = e.alc(CANDIDATES, REFERENCES, grad=True)
    np.testing.assert_allclose(alc, ALC_SEPARABLE if separable else ALC, rtol=1e-10)
    ieci = e.ieci(CANDIDATES, Z.min(), REFERENCES, weights=WEIGHTS, noisy_references=True)
    np.testing.assert_allclose(ieci, IECI_SEPARABLE if separable else IECI, rtol=1e-10)
    if not separable:
        np.testing.assert_allclose(slopes, ALC_SLOPES, rtol=1e-9)
        np.testing.assert_allclose(e.fish(CANDIDATES) / (4 * 0.5**2), FISH, rtol=1e-10)
        np.testing.assert_allclose(e.mspe(CANDIDATES, REFERENCES, noisy_references=True), MSPE, rtol=1e-10)
        without = e.mspe(CANDIDATES, REFERENCES, noisy_references=True, wrt=())
        np.testing.assert_allclose(without, MSPE_OF_VARIANCE, rtol=1e-10)
    e.update(CANDIDATES[:2], NEW[:2])
    e.update(CANDIDATES[2:3], NEW[2:])
    p = e.predict(REFERENCES, noise=True)
    np.testing.assert_allclose(p.mean, MEAN_SEPARABLE if separable else MEAN, rtol=1e-10)
    np.testing.assert_allclose(p.scale**2, S2_SEPARABLE if separable else S2, rtol=1e-10)
    constants = math.lgamma(11 / 2) - 11 / 2 * math.log(2 * math.pi)  # which laGP leaves out
    np.testing.assert_allclose(e.loglik - constants, LOGLIK_SEPARABLE if separable else LOGLIK, rtol=1e-12)
    if not separable:
        np.testing.assert_allclose(e.alc(CANDIDATES, REFERENCES), ALC_AFTER, rtol=1e-9)
        nugget = np.sqrt(np.finfo(float).eps)  # that of nonug
        np.testing.assert_allclose(e.expected_improvement(REFERENCES, 0.1, noise=np.sqrt(nugget)), EI, rtol=1e-10)


def problem(rng, student_t=False, cov=gs.rbf, dtype=np.float64, n=40):
    x, y = data(rng, n=n, dtype=dtype)
    values = dict(amplitude=1.3, lengthscale=[0.7, 1.1], sigma=0.3)
    if cov is not gs.rbf:
        values["slope"] = 2.0
    return Emulator(MarginalLikelihood(cov, x, y, student_t=student_t, jitter=0.01), **values)


def with_linear():
    return gs.rbf + gs.linear.rename(lengthscale="slope")


@pytest.mark.parametrize("student_t", some([True, False]))
def test_what_an_observation_changes(student_t, provider, rng, monkeypatch):
    """The criteria by their definitions: with each candidate among the points, by an emulator of its own."""
    e = problem(rng, student_t, with_linear())
    z, r, weights = rng.normal(size=(5, 2)), rng.normal(size=(70, 2)), rng.uniform(size=70)
    before, best = e.predict(r), e.y.min()
    scale = before.scale[0] / e.predict(r[:1], cov=True).scale[0] * np.sqrt(e._factor.scale2)
    alc, ieci = [], []
    for point in z:
        grown = pickle.loads(pickle.dumps(e))
        own = grown.predict(r).scale / np.sqrt(grown._factor.scale2)
        grown.update(point[None], [0.0])
        left = grown.predict(r).scale / np.sqrt(grown._factor.scale2)
        times = 40 / 38 if student_t else 1.0
        alc.append(np.mean(weights * times * scale**2 * (own**2 - left**2)))
        conditional = Prediction(before.mean, scale * left, df=before.df)
        ieci.append(np.mean(weights * conditional.expected_improvement(best)))
    monkeypatch.setattr(posterior, "CHUNK_BYTES", 1)
    np.testing.assert_allclose(e.alc(z, r, weights=weights), alc, rtol=1e-9)
    np.testing.assert_allclose(e.ieci(z, best, r, weights=weights), ieci, rtol=1e-9)
    mirrored = Emulator(MarginalLikelihood(e.cov, e.x, -e.y, student_t=student_t, jitter=0.01), **e.values)
    np.testing.assert_allclose(mirrored.ieci(z, -best, r, weights=weights, maximize=True), ieci, rtol=1e-9)
    np.testing.assert_array_equal(e.alm(z), e.predict(z, noise=True).variance)
    np.testing.assert_array_equal(e.expected_improvement(z, best), e.predict(z).expected_improvement(best))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mean_squared_prediction_errors(dtype, rng, monkeypatch):
    """By the paper's equations as they stand, also where the likelihood is not concave, and after further observations."""
    monkeypatch.setattr(posterior, "CHUNK_BYTES", 1)
    x, y = data(rng, n=40, dtype=dtype)
    z, r = rng.normal(size=(66, 2)).astype(dtype), rng.normal(size=(5, 2)).astype(dtype)
    ml = MarginalLikelihood(gs.rbf.fix(amplitude=1.0), x[:30], y[:30], student_t=True, mean=0.2)
    signs = set()
    for theta in (0.5, 30.0):
        e = Emulator(ml, lengthscale=np.sqrt(theta / 2), sigma=0.3)
        for n in (30, 40):
            if n > 30:
                e.update(x[30:], y[30:])
            got = e.mspe(z, r, noisy_references=True)
            want = mspe(*(a.astype(float) for a in (x[:n], y[:n] - dtype(0.2), r, z)), theta, 0.09, least=0.01)
            np.testing.assert_allclose(got, want, rtol=1e-9 if dtype == np.float64 else 1e-3)
            signs.add(np.sign(e._information(None)._found()[0].item()))
    assert signs == {-1, 1} and got.dtype == dtype


@pytest.mark.parametrize("student_t", some([True, False]))
@pytest.mark.parametrize("cov", some([gs.rbf + gs.linear.rename(lengthscale="slope"), gs.matern12]))
def test_information_of_hyperparameters(student_t, cov, provider, rng):
    """By differences of the gradient in squares of hyperparameters, of covariances and predictions in their logarithms."""
    x, y = data(rng, n=25)
    values = dict(amplitude=1.3, lengthscale=np.array([0.7, 1.1]))
    if cov is not gs.matern12:
        values = dict(amplitude=1.3, lengthscale=0.7, slope=np.array([2.0, 3.0]))
    ml, z = MarginalLikelihood(cov, x, y, student_t=student_t, jitter=0.01), rng.normal(size=(3, 2))
    e, step = Emulator(ml, sigma=0.3, **values), 1e-5
    found, logs = e._information(None), np.log(np.concatenate([np.ravel(v) for v in values.values()]))

    def at(logs):
        ends = np.cumsum([np.size(v) for v in values.values()])[:-1]
        by_name = {n: p.reshape(np.shape(v)) for (n, v), p in zip(values.items(), np.split(np.exp(logs), ends))}
        slopes = ml.value_and_grad(sigma=0.3, **by_name)[1]
        own = Emulator(ml, sigma=0.3, **by_name)
        p, prior = own.predict(z, noise=True), np.array([cov(one[None], **by_name)[0, 0] for one in z])
        observed = np.log(p.scale**2 + own._factor.scale2 * 0.01 * prior)
        K = cov(x, **by_name) * (1 + 0.01 * np.eye(25))
        return np.concatenate([np.ravel(slopes[n] * v) for n, v in by_name.items()]), p.mean, observed, K

    gradient, *_, K = at(logs)
    differences = [
        [(a - b) / (2 * step) for a, b in zip(at(logs + s), at(logs - s))] for s in step * np.eye(len(logs))
    ]
    of_gradient, of_mean, of_variance, of_K = (np.array(d) for d in zip(*differences))
    want, (observed, expected, _) = 2 * np.diag(gradient) - of_gradient, found._found()
    np.testing.assert_allclose(observed, want, atol=1e-8 * np.abs(want).max(), rtol=1e-7)
    C = np.linalg.solve(K + 0.09 * np.eye(25), of_K)
    want, traces = np.einsum("iab,jba->ij", C, C) / 2, np.einsum("iaa->i", C)
    want -= np.outer(traces, traces) / 50 if student_t else 0
    np.testing.assert_allclose(expected, want, atol=1e-8 * np.abs(want).max(), rtol=1e-7)
    parts = linalg.eigh(observed, expected, eigvals_only=True)
    np.testing.assert_allclose(linalg.eigh(found.matrix, expected, eigvals_only=True), np.maximum(parts, 0.01), rtol=1e-6)
    slopes = found.slopes(e._posterior(z, True, None))
    np.testing.assert_allclose(slopes.mean, of_mean.T, atol=1e-8)
    np.testing.assert_allclose(slopes.variance, of_variance.T, atol=1e-8)
    # G, and the average of µ' G⁻¹ µ, as they are defined
    r, weights, names = rng.normal(size=(4, 2)), rng.uniform(size=4), list(values)[:2]
    before, q = e.predict(z, noise=True), sum(np.size(values[n]) for n in names)
    V = before.variance * slopes.observed / (before.scale**2 / e._factor.scale2)
    some = e._information(names).matrix
    mean, variance = slopes.mean[:, :q], slopes.variance[:, :q]
    G = [some + np.outer(m, m) / v + np.outer(s, s) / 2 for m, s, v in zip(mean, variance, V)]
    np.testing.assert_allclose(e.fish(z, wrt=names), np.linalg.det(G), rtol=1e-10)
    of_references = e._information(names).slopes(e._posterior(r, False, None)).mean
    errors = [np.mean([w * m @ np.linalg.solve(g, m) for w, m in zip(weights, of_references)]) for g in G]
    got = e.mspe(z, r, weights=weights, wrt=names) - e.mspe(z, r, weights=weights, wrt=())
    np.testing.assert_allclose(got, errors, rtol=1e-9)
    times = (26 / 24) * (23 / 25) if student_t else 1.0  # of the variance with one observation more
    left = np.mean(weights * e.predict(r).variance) - e.alc(z, r, weights=weights)
    np.testing.assert_allclose(e.mspe(z, r, weights=weights, wrt=()), times * left, rtol=1e-9)


def test_what_is_left_of_an_improvement(rng):
    """The functions of a reference against those on the host, also far from any improvement, and of what is known or not."""
    text = acquisition._FUNCTIONS[acquisition.IMPROVEMENT]
    both = parse(text, resolve_in({}), acquisition.IMPROVEMENT).functions.values()
    arguments = [Argument(n) for n in ("reduced", "gain", "spread", "nu")]
    value, slope = (Pointwise("left", f, arguments, library.closure(both)) for f in both)
    spread, gain = rng.uniform(0.5, 2.0, 60), np.r_[rng.normal(size=40), -np.geomspace(2, 60, 20)]
    reduced = rng.uniform(0, 0.99, 60) * spread**2
    for df, bound in ((None, 1e-12), (2, 1e-12), (5, 1e-12), (300, 1e-9)):  # where SciPy's tail has as many digits
        nu, p = np.inf if df is None else df, Prediction(-gain, np.sqrt(spread**2 - reduced), df=df)
        np.testing.assert_allclose(value(reduced, gain, spread, nu), p.expected_improvement(0.0), rtol=bound, atol=1e-300)
        np.testing.assert_allclose(slope(reduced, gain, spread, nu), -slopes_of_improvement(p, 0.0)[1], rtol=bound, atol=1e-300)
        known = value([1.0, 1.1, 1.0, np.nan], [0.3, 0.3, -0.3, 0.3], 1.0, nu)
        np.testing.assert_array_equal(known, [0.3, 0.3, 0, np.nan])
        np.testing.assert_array_equal(slope([1.0, 1.1], 0.3, 1.0, nu), [0, 0])
    assert value(0.5, 0.3, 1.0, 1.0) == np.inf


@pytest.mark.parametrize("student_t", some([True, False]))
def test_derivatives_in_candidates(student_t, layout, rng, monkeypatch):
    """Against differences; of functions of scalar products, too, in several chunks and blocks."""
    monkeypatch.setattr(posterior, "CHUNK_BYTES", 1)
    monkeypatch.setattr(acquisition, "DIAGONAL_POINTS", 16)
    e = problem(rng, student_t, with_linear())
    z, r, weights, step = rng.normal(size=(70, 2)), rng.normal(size=(35, 2)), rng.uniform(size=35), 1e-5
    criteria = {
        "alm": e.alm,
        "alc": lambda z, **more: e.alc(z, r, weights=weights, **more),
        "ieci": lambda z, **more: e.ieci(z, 0.0, r, weights=weights, maximize=True, **more),
        "ei": lambda z, **more: e.expected_improvement(z, 0.0, **more),
        "ei of maxima": lambda z, **more: e.expected_improvement(z, 0.0, maximize=True, noise=True, **more),
    }
    for name, criterion in criteria.items():
        values, slopes = criterion(z, grad=True)
        np.testing.assert_allclose(values, criterion(z), rtol=1e-14)
        for c in range(2):
            moved = np.eye(2)[c] * step
            difference = (criterion(z + moved) - criterion(z - moved)) / (2 * step)
            np.testing.assert_allclose(slopes[:, c], difference, atol=1e-8 * np.abs(difference).max(), rtol=1e-7, err_msg=name)


@THOROUGH
def test_float32_and_device_arrays(rng):
    e, z = problem(rng, dtype=np.float32), rng.normal(size=(6, 2))
    double = Emulator(MarginalLikelihood(gs.rbf, e.x.astype(float), e.y.astype(float), jitter=0.01), **e.values)
    on_device = gs.to_device(z.astype(np.float32))
    for name in ("mspe", "fish"):
        values, want = (getattr(e, name)(on_device, wrt="lengthscale"), getattr(double, name)(z, wrt="lengthscale"))
        assert type(values) is type(on_device) and values.dtype == np.float32 and values.shape == (6,)
        np.testing.assert_allclose(gs.to_host(values), want, rtol=1e-3)
    for name, rest in (("alc", ()), ("alm", ()), ("ieci", (0.1,)), ("expected_improvement", (0.1,))):
        values, slopes = getattr(e, name)(on_device, *rest, grad=True)
        assert type(values) is type(slopes) is type(on_device) and values.dtype == slopes.dtype == np.float32
        for got, want in zip((values, slopes), getattr(double, name)(z, *rest, grad=True)):
            np.testing.assert_allclose(gs.to_host(got), want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("student_t", [False, True])
def test_updates(student_t, provider, rng, monkeypatch):
    """As a new factor of all observations, also where rows need more room, and one after another."""
    monkeypatch.setattr("gpustats.processes.factor.SPARE_ROWS", 3)
    x, y = data(rng, n=60)
    values = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    e = Emulator(MarginalLikelihood(gs.rbf, x[:20], y[:20], student_t=student_t), **values)
    new, first = rng.normal(size=(4, 2)), 20
    for k in (1, 2, 17, 20):
        e.update(x[first : first + k], y[first : first + k])
        first += k
        ml = MarginalLikelihood(gs.rbf, x[:first], y[:first], student_t=student_t)
        np.testing.assert_allclose(e.loglik, ml(**values), rtol=1e-12)
        got, want = e.predict(new, cov=True), ml.predict(new, cov=True, **values)
        np.testing.assert_allclose(got.mean, want.mean, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(got.covariance, want.covariance, rtol=1e-10, atol=1e-12)
        assert got.df == want.df and e.n == e.likelihood.n == first
    np.testing.assert_allclose(e.draw(new, 3, 1), ml.draw(new, 3, 1, **values), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(e)).x, e.x)


def test_updates_on_the_device(layout, rng):
    x, y = (a.astype(np.float32) for a in data(rng, n=30))
    values = dict(amplitude=1.2, lengthscale=0.8, sigma=0.3)
    e = Emulator(MarginalLikelihood(gs.rbf, gs.to_device(x[:20]), gs.to_device(y[:20])), **values)
    e.update(gs.to_device(x[20:25]), gs.to_device(y[20:25]))
    e.update(x[25:], y[25:])
    want = MarginalLikelihood(gs.rbf, x, y)
    np.testing.assert_allclose(e.loglik, want(**values), rtol=1e-5)
    assert e.predict(gs.to_device(x[:2])).mean.dtype == np.float32 and e.n == 30


def test_updates_cost_no_factorisation(rng, monkeypatch):
    x, y = data(rng)
    e = Emulator(MarginalLikelihood(gs.rbf, x[:50], y[:50]), amplitude=1.2, lengthscale=0.8, sigma=0.3)
    owner, made = type(e._factor.provider), []
    plain = owner.potrf
    monkeypatch.setattr(owner, "potrf", lambda self, a: made.append(a.rows) or plain(self, a))
    for i in range(50, 60):
        e.update(x[i : i + 1], y[i : i + 1])
    e.alc(x), e.predict(x)
    assert made == [1] * 10


def test_updates_of_noise_and_mean_by_observation(rng):
    x, y = data(rng, n=12)
    sigma, mean = rng.uniform(0.2, 0.4, 12), rng.normal(size=12)
    values = dict(amplitude=1.2, lengthscale=0.8)
    e = Emulator(MarginalLikelihood(gs.rbf, x[:9], y[:9]), sigma=sigma[:9], mean=mean[:9], **values)
    with pytest.raises(ValueError, match=r"sigma has a value for each observation: give that of the new ones, \(3,\)"):
        e.update(x[9:], y[9:])
    e.update(x[9:], y[9:], sigma=sigma[9:], mean=mean[9:])
    want = MarginalLikelihood(gs.rbf, x, y)(sigma=sigma, mean=mean, **values)
    np.testing.assert_allclose(e.loglik, want, rtol=1e-12)
    np.testing.assert_array_equal(e.values["sigma"], sigma)
    with pytest.raises(ValueError, match="as noise"):
        e.alc(x)
    with pytest.raises(ValueError, match=r"at references, too, as mean_references, \(12,\)"):
        e.ieci(x, 0.0, noise=0.3)
    p = e.predict(x, mean_xs=mean)
    np.testing.assert_array_equal(e.expected_improvement(x, 0.0, mean_candidates=mean), p.expected_improvement(0.0))
    np.testing.assert_allclose(e.alc(x, noise=0.3)[:2], e.alc(x[:2], x, noise=[0.3, 0.3]), rtol=1e-14)
    trend = MarginalLikelihood(gs.rbf, x[:9], y[:9], mean=lambda at: 1 + at[:, 0])
    e = Emulator(trend, sigma=0.3, **values)
    e.update(x[9:], y[9:])
    want = MarginalLikelihood(gs.rbf, x, y, mean=lambda at: 1 + at[:, 0])
    np.testing.assert_allclose(e.loglik, want(sigma=0.3, **values), rtol=1e-12)
    np.testing.assert_allclose(e.predict(x).mean, want.predict(x, sigma=0.3, **values).mean, rtol=1e-10)
    with pytest.raises(ValueError, match="derivatives of the prior mean"):
        e.expected_improvement(x, 0.0, grad=True)


def test_updates_that_fail_change_nothing(rng):
    e, x = problem(rng), rng.normal(size=(2, 2))
    before = e.loglik, e.predict(x).mean
    exact = Emulator(MarginalLikelihood(gs.rbf, e.x, e.y), amplitude=1.0, lengthscale=0.1)
    level = exact.loglik
    with pytest.raises(np.linalg.LinAlgError, match="with point 1 of the 2 new ones"):
        exact.update(np.r_[x[:1] + 9, x[:1] + 9], [0.0, 0.0])
    assert exact.loglik == level and exact.n == 40
    for wrong, message in (
        ((x, [1.0]), r"y has shape \(1,\), and x 2 points"), ((x[:, :1], [1.0, 2.0]), "x has 1 columns"),
        (([[np.nan, 1.0]], [1.0]), r"x\[40, 0\] is nan"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            e.update(*wrong)
    with pytest.raises(ValueError, match="sigma is 0.3 for all observations"):
        e.update(x, [1.0, 2.0], sigma=0.5)
    e.update(x[:0], [])
    assert (e.loglik, *e.predict(x).mean) == (before[0], *before[1])


def test_no_observations_and_nothing_to_learn(rng):
    z, values = rng.normal(size=(3, 1)), dict(amplitude=2.0, lengthscale=1.0)
    e = Emulator(MarginalLikelihood(gs.rbf, np.zeros((0, 1)), []), **values)
    k = gs.rbf(z, **values)
    got, slopes = e.alc(z, noise=1.0, grad=True)
    np.testing.assert_allclose(got, (k**2).mean(1) / 5, rtol=1e-14)
    np.testing.assert_allclose(slopes, -2 / 3 / 5 * (k[:, :, None] ** 2 * (z[:, None] - z)).sum(1), rtol=1e-12, atol=1e-15)
    e.update(z, [1.0, 2.0, 3.0])
    got, slopes = e.alc(z, noise=False, grad=True)  # known without noise
    assert (np.abs(got) < 1e-12).all() and np.isfinite(slopes).all()
    assert e.alc(z[:0], z).shape == e.mspe(z[:0], z).shape == e.fish(z[:0]).shape == (0,)
    np.testing.assert_allclose(e.mspe(z, noise=False, wrt=()), 0, atol=1e-12)
    np.testing.assert_allclose(e.ieci(z, 1.5, z), [0.5 / 3] * 3, rtol=1e-6)
    with pytest.raises(ValueError, match="there are no references"):
        e.alc(z, z[:0])
    with pytest.raises(ValueError, match="weights has -1.0"):
        e.alc(z, weights=[1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="references has 2 columns"):
        e.alc(z, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="candidates has 2 columns"):
        e.ieci(np.zeros((4, 2)), 0.0)
    unknown = np.array([[0.5], [np.nan]])
    with pytest.raises(ValueError, match="wrt: 'sigma' is none of amplitude, lengthscale"):
        e.mspe(z, wrt="sigma")
    rough = gs.register("""
    // rough: a slope at 0 that is infinite, times 0
    // sqdist: nonnegative    lengthscale: positive
    real rough_cov(real sqdist, real lengthscale) { return exp(-sqrt(sqdist / (lengthscale * lengthscale))); }
    """, replace=True)
    with pytest.raises(np.linalg.LinAlgError, match="no finite second derivatives in lengthscale: leave those out of wrt"):
        Emulator(MarginalLikelihood(rough, z, [1.0, 2.0, 3.0]), lengthscale=1.0, sigma=0.1).mspe(z)
    for found in (
        e.alc(unknown, z, noise=1.0), e.mspe(unknown, z), e.fish(unknown), e.ieci(unknown, 0.0, z, noise=1.0),
        e.expected_improvement(unknown, 0.0),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.isnan(found), [False, True])


def test_refits(rng):
    x, y = data(rng)
    e = Emulator(MarginalLikelihood(gs.rbf, x[:30], y[:30], mean=0.1), amplitude=1.0, lengthscale=1.0, sigma=0.3)
    e.update(x[30:], y[30:])
    again = e.refit(priors={"lengthscale": gs.gamma(2.0, 1.0)})
    want = e.likelihood.fit(e.values, priors={"lengthscale": gs.gamma(2.0, 1.0)})
    assert again.loglik == pytest.approx(want.loglik, rel=1e-10) and again.values == pytest.approx(want.values, rel=1e-6)
    assert again.loglik > e.loglik and again.refit(fixed="sigma").values["sigma"] == again.values["sigma"]
    assert "sigma" not in Emulator(MarginalLikelihood(gs.rbf, x[:3], y[:3]), amplitude=1.0, lengthscale=1.0).refit().values
