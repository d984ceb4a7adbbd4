"""Models after the descriptions of posteriordb's posteriors and of PyMC's gallery of examples, of small simulated data."""

import zlib

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from scipy.interpolate import BSpline
from scipy.special import expit, softmax

MODELS = {}


def model(write):
    """Note a function that writes a model, and needs a generator for its data."""
    MODELS[write.__name__] = write
    return write


def made(name):
    with pm.Model() as its:
        MODELS[name](np.random.default_rng(zlib.crc32(name.encode())))
    return its


# ---------------------------------------------------------------- after posteriordb


@model
def eight_schools_centred(rng):
    y, sigma = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    theta = pm.Normal("theta", pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5), shape=8)
    pm.Normal("y", theta, sigma, observed=y)


@model
def eight_schools_noncentred(rng):
    y, sigma = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    raw = pm.Normal("raw", shape=8)
    theta = pm.Deterministic("theta", pm.Normal("mu", 0, 5) + pm.HalfCauchy("tau", 5) * raw)
    pm.Normal("y", theta, sigma, observed=y)


@model
def kidscore_interaction(rng):
    school, iq = rng.integers(0, 2, 300), rng.normal(100, 15, 300)
    score = 26 + 6 * school + 0.6 * iq - 0.1 * school * iq + rng.normal(0, 18, 300)
    b = pm.Flat("b", shape=4)
    pm.Normal("y", b[0] + b[1] * school + b[2] * iq + b[3] * school * iq, pm.HalfCauchy("sigma", 2.5), observed=score)


@model
def earnings_standardised(rng):
    height, male = rng.normal(67, 4, 300), rng.integers(0, 2, 300)
    z = (height - height.mean()) / height.std()
    earn = np.exp(9.5 + 0.05 * z + 0.4 * male + rng.normal(0, 0.9, 300))
    b = pm.Normal("b", 0, 10, shape=4)
    pm.LogNormal("y", b[0] + b[1] * z + b[2] * male + b[3] * z * male, pm.HalfFlat("sigma"), observed=earn)


@model
def mesquite_volume(rng):
    d1, d2, height = rng.lognormal(0.5, 0.4, (3, 46))
    group = rng.integers(0, 2, 46)
    weight = np.exp(5 + 0.7 * np.log(d1 * d2 * height) + 0.5 * group + rng.normal(0, 0.4, 46))
    volume = pm.Data("volume", d1 * d2 * height)
    mean = pm.Normal("a", 5, 3) + pm.Normal("b") * pt.log(volume) + pm.Normal("c") * pm.Data("group", group)
    pm.Normal("y", mean, pm.Exponential("sigma", 1), observed=np.log(weight))


@model
def radon_pooled(rng):
    floor = rng.integers(0, 2, 400)
    pm.Normal("y", pm.Normal("a", 0, 10) + pm.Normal("b", 0, 10) * floor, pm.HalfNormal("sigma", 1),
              observed=1.4 - 0.6 * floor + rng.normal(0, 0.8, 400))  # fmt: skip


@model
def radon_varying_intercepts(rng):
    county, floor = rng.integers(0, 30, 400), rng.integers(0, 2, 400)
    level = pm.Normal("level", pm.Normal("mu", 0, 10), pm.HalfNormal("tau"), shape=30)
    pm.Normal("y", level[county] + pm.Normal("b") * floor, pm.HalfNormal("sigma"),
              observed=rng.normal(1.4, 0.4, 30)[county] - 0.6 * floor + rng.normal(0, 0.8, 400))  # fmt: skip


@model
def radon_varying_slopes(rng):
    county, floor = rng.integers(0, 30, 400), rng.integers(0, 2, 400)
    level = pm.Normal("level", pm.Normal("mu_a", 0, 10), pm.HalfCauchy("tau_a", 1), shape=30)
    slope = pm.Normal("slope", pm.Normal("mu_b", 0, 10), pm.HalfCauchy("tau_b", 1), shape=30)
    pm.Normal("y", level[county] + slope[county] * floor, pm.HalfCauchy("sigma", 1),
              observed=1.4 - 0.6 * floor + rng.normal(0, 0.8, 400))  # fmt: skip


@model
def radon_of_uranium(rng):
    county, floor, uranium = rng.integers(0, 30, 400), rng.integers(0, 2, 400), rng.normal(size=30)
    raw, gamma = pm.ZeroSumNormal("raw", shape=30), pm.Normal("gamma", 0, 5, shape=2)
    level = gamma[0] + gamma[1] * uranium + pm.HalfNormal("tau") * raw
    pm.StudentT("y", nu=4, mu=level[county] + pm.Normal("b") * floor, sigma=pm.HalfStudentT("sigma", nu=3, sigma=1),
                observed=1.4 + 0.7 * uranium[county] - 0.6 * floor + rng.normal(0, 0.8, 400))  # fmt: skip


@model
def votes_and_income(rng):
    income = rng.integers(1, 6, 400)
    pm.Bernoulli("y", logit_p=pm.Flat("a") + pm.Flat("b") * income, observed=rng.random(400) < expit(-1.3 + 0.3 * income))


@model
def counts_of_peregrines(rng):
    year = np.linspace(-1, 1, 40)
    n = rng.integers(20, 60, 40)
    a, b, c = pm.Normal("a", 0, 100), pm.Normal("b", 0, 100), pm.Normal("c", 0, 100)
    success = rng.binomial(n, expit(0.3 + year - year**2))
    pm.Binomial("successes", n, pm.math.invlogit(a + b * year + c * year**2), observed=success)
    d = pm.Uniform("d", -20, 20, shape=4)
    pm.Poisson("pairs", pt.exp(d[0] + d[1] * year + d[2] * year**2 + d[3] * year**3), observed=rng.poisson(np.exp(3 + year)))


@model
def dogs(rng):
    y = (rng.random((30, 25)) < 0.8 * np.exp(-0.15 * np.arange(25))).astype(int)
    before = np.hstack([np.zeros((30, 1), int), np.cumsum(y, axis=1)[:, :-1]])
    avoided = np.arange(25) - before
    b = pm.Normal("b", 0, 10, shape=3)
    pm.Bernoulli("y", logit_p=b[0] + b[1] * avoided + b[2] * before, observed=y)


@model
def dogs_of_powers(rng):
    y = (rng.random((30, 25)) < 0.9 * 0.9 ** np.arange(25)).astype(int)
    before = np.hstack([np.zeros((30, 1), int), np.cumsum(y, axis=1)[:, :-1]])
    a, b = pm.Beta("a", 5, 1), pm.Beta("b", 5, 1)
    pm.Bernoulli("y", 0.98 * a ** (np.arange(25) - before) * b**before, observed=y)


@model
def moving_average_of_errors(rng):
    n = 80
    e = rng.normal(0, 0.3, n + 1)
    y = np.empty(n)
    y[0] = e[0]
    for t in range(1, n):
        y[t] = 0.2 + 0.6 * y[t - 1] + e[t] + 0.3 * e[t - 1]
    mu, phi, theta = pm.Normal("mu", 0, 10), pm.Normal("phi", 0, 2), pm.Normal("theta", 0.3, 2)
    lag = np.subtract.outer(np.arange(n), np.arange(n))
    inverse = pt.switch(lag >= 0, (-theta) ** np.maximum(lag, 0), 0.0)
    errors = pt.dot(inverse, y - mu - phi * np.append(0, y[:-1]))
    pm.Potential("y", pm.logp(pm.Normal.dist(0, pm.HalfCauchy("sigma", 2.5)), errors).sum())


@model
def five_lags(rng):
    y = np.cumsum(rng.normal(size=205)) * 0.3
    mean = pm.Normal("a", 0, 10) + sum(pm.Normal(f"b{k}", 0, 10) * y[5 - k : -k] for k in range(1, 6))
    pm.Normal("y", mean, pm.HalfCauchy("sigma", 2.5), observed=y[5:])


@model
def garch(rng):
    y = rng.normal(0, 1, 100) * np.repeat([1.0, 2.0], 50)
    mu, a0, a1 = pm.Normal("mu"), pm.HalfNormal("a0"), pm.Uniform("a1", 0, 1)
    b1 = pm.Uniform("b1", 0, 1)
    squares = (y[:-1] - mu) ** 2
    variance = pytensor.scan(
        lambda square, last, a0, a1, b1: a0 + a1 * square + b1 * last,
        sequences=[squares], outputs_info=[pt.constant(np.array(1.0))], non_sequences=[a0, a1, b1], return_updates=False,
    )  # fmt: skip
    pm.Normal("y", mu, pt.sqrt(variance), observed=y[1:])


@model
def two_normals(rng):
    y = np.where(rng.random(300) < 0.6, rng.normal(-2.7, 1, 300), rng.normal(2.9, 1, 300))
    mu = pm.Normal("mu", 0, 2, shape=2, initval=[-1.0, 1.0], transform=pm.distributions.transforms.ordered)
    w = pm.Beta("w", 5, 5)
    pm.NormalMixture("y", pt.stack([w, 1 - w]), mu, sigma=pm.HalfNormal("sigma", 2, shape=2), observed=y)


@model
def two_normals_by_hand(rng):
    y = np.where(rng.random(300) < 0.6, rng.normal(-2.7, 1, 300), rng.normal(2.9, 1, 300))
    theta, mu, sigma = pm.Beta("theta", 5, 5), pm.Normal("mu", 0, 2, shape=2), pm.HalfNormal("sigma", 2, shape=2)
    first, second = (pm.logp(pm.Normal.dist(mu[k], sigma[k]), y) for k in range(2))
    pm.Potential("y", pm.math.logaddexp(pt.log(theta) + first, pt.log1p(-theta) + second).sum())


@model
def five_slopes(rng):
    x = rng.normal(size=(200, 5))
    sigma = pm.HalfNormal("sigma", 10)
    pm.Normal("y", x @ pm.Normal("b", 0, sigma, shape=5), sigma, observed=x @ rng.normal(size=5) + rng.normal(size=200))


@model
def responses_to_items(rng):
    ability, difficulty = rng.normal(size=60), rng.normal(size=12)
    y = (rng.random((60, 12)) < expit(ability[:, None] - difficulty)).astype(int)
    theta = pm.Normal("theta", shape=60)
    a = pm.LogNormal("a", 0, pm.HalfCauchy("sigma_a", 2), shape=12)
    b = pm.Normal("b", pm.Normal("mu_b", 0, 5), pm.HalfCauchy("sigma_b", 2), shape=12)
    pm.Bernoulli("y", logit_p=a * (theta[:, None] - b), observed=y)


@model
def rating_scale(rng):
    """Item response with the steps between categories in common: probabilities by softmax over categories."""
    person, item = np.repeat(np.arange(40), 6), np.tile(np.arange(6), 40)
    y = rng.integers(0, 4, 240)
    theta, beta, step = pm.Normal("theta", shape=40), pm.Normal("beta", 0, 3, shape=6), pm.Normal("step", 0, 3, shape=3)
    alpha = pm.LogNormal("alpha", 1, 1, shape=6)
    each = (alpha[item] * theta[person] - beta[item])[:, None] - step
    pm.Categorical("y", logit_p=pt.concatenate([pt.zeros((240, 1)), pt.cumsum(each, axis=1)], axis=1), observed=y)


@model
def rats(rng):
    days = np.array([8.0, 15, 22, 29, 36]) - 22
    y = rng.normal(242, 15, 30)[:, None] + rng.normal(6, 0.5, 30)[:, None] * days + rng.normal(0, 6, (30, 5))
    alpha = pm.Normal("alpha", pm.Normal("mu_alpha", 0, 100), pm.InverseGamma("v_alpha", 1, 1) ** 0.5, shape=30)
    beta = pm.Normal("beta", pm.Normal("mu_beta", 0, 100), pm.InverseGamma("v_beta", 1, 1) ** 0.5, shape=30)
    pm.Normal("y", alpha[:, None] + beta[:, None] * days, tau=pm.Gamma("tau", 0.01, 0.01), observed=y)


@model
def seeds(rng):
    n, seed, root = rng.integers(4, 80, 21), np.arange(21) // 11, np.arange(21) % 2
    a = pm.Normal("a", 0, 100, shape=4)
    b = pm.Normal("b", 0, tau=pm.Gamma("tau", 0.1, 0.1), shape=21)
    logits = a[0] + a[1] * seed + a[2] * root + a[3] * seed * root + b
    pm.Binomial("y", n, logit_p=logits, observed=rng.binomial(n, expit(-0.5 + 1.3 * root + rng.normal(0, 0.3, 21))))


@model
def surgical(rng):
    n = rng.integers(40, 800, 12)
    b = pm.Normal("b", pm.Normal("mu", 0, 1000), pt.sqrt(pm.InverseGamma("v", 0.001, 0.001, initval=1.0)), shape=12)
    pm.Binomial("y", n, pm.math.sigmoid(b), observed=rng.binomial(n, 0.07))


@model
def dugongs(rng):
    age = np.sort(rng.uniform(1, 32, 27))
    alpha, beta, lam = pm.Normal("alpha", 0, 100), pm.Normal("beta", 0, 100), pm.Uniform("lam", 0.5, 1)
    length = 2.7 - 0.97 * 0.87**age + rng.normal(0, 0.1, 27)
    pm.Normal("y", alpha - beta * lam**age, tau=pm.Gamma("tau", 0.1, 0.1), observed=length)


@model
def pumps(rng):
    hours = rng.uniform(1, 120, 10)
    theta = pm.Gamma("theta", pm.Exponential("alpha", 1), pm.Gamma("beta", 0.1, 1), shape=10)
    pm.Poisson("y", theta * hours, observed=rng.poisson(0.3 * hours))


@model
def bones(rng):
    """Grades of indicators of a child's age of bones, some of them missing: differences of cumulative probabilities."""
    children, indicators, grades = 13, 20, 4
    slope, threshold = rng.uniform(0.5, 5, indicators), np.sort(rng.normal(8, 4, (indicators, grades - 1)), axis=1)
    y = rng.integers(0, grades, (children, indicators))
    theta = pm.Normal("theta", 0, 36, shape=children, initval=rng.normal(8, 1, children))
    above = pm.math.sigmoid(slope[:, None] * (theta[:, None, None] - threshold) / 10)
    one, zero = pt.ones((children, indicators, 1)), pt.zeros((children, indicators, 1))
    p = pt.concatenate([one, above], axis=2) - pt.concatenate([above, zero], axis=2)
    chosen = p[np.arange(children)[:, None], np.arange(indicators), y]
    pm.Potential("y", pt.switch(rng.random(y.shape) < 0.9, pt.log(chosen), 0.0).sum())


@model
def pilots(rng):
    group, scenario = rng.integers(0, 5, 40), rng.integers(0, 8, 40)
    a = pm.Normal("a", 10 * pm.Normal("mu_a"), pm.Uniform("s_a", 0, 100), shape=5)
    b = pm.Normal("b", 10 * pm.Normal("mu_b"), pm.Uniform("s_b", 0, 100), shape=8)
    pm.Normal("y", a[group] + b[scenario], pm.Uniform("s_y", 0, 100), observed=rng.random(40))


@model
def election(rng):
    n, sizes = 500, {"age": 4, "edu": 4, "age_edu": 16, "state": 49}
    female, black, vote = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    age, edu, state = rng.integers(0, 4, n), rng.integers(0, 4, n), rng.integers(0, 49, n)
    which = {"age": age, "edu": edu, "age_edu": 4 * age + edu, "state": state}
    b = pm.Normal("b", 0, 100, shape=4)
    logits = b[0] + b[1] * black + b[2] * female + b[3] * female * black
    for name, size in sizes.items():
        logits += pm.Normal(name, 0, pm.HalfNormal("s_" + name), shape=size)[which[name]]
    pm.Bernoulli("y", p=pm.math.invlogit(logits), observed=vote)


@model
def wells(rng):
    distance, arsenic, education = rng.exponential(0.5, 400), rng.lognormal(0, 0.6, 400), rng.integers(0, 4, 400)
    x = np.c_[distance, np.log(arsenic), education, distance * np.log(arsenic)]
    x = pm.Data("x", x - x.mean(axis=0))
    pm.Bernoulli("y", logit_p=pm.Flat("a") + pt.dot(x, pm.Flat("b", shape=4)), observed=rng.integers(0, 2, 400))


@model
def process_of_normals(rng):
    x = np.linspace(-5, 5, 25)
    rho, alpha, sigma = pm.Gamma("rho", 25, 4), pm.HalfNormal("alpha", 2), pm.HalfNormal("sigma")
    gp = pm.gp.Marginal(cov_func=alpha**2 * pm.gp.cov.ExpQuad(1, rho))
    gp.marginal_likelihood("y", X=x[:, None], y=np.sin(x) + rng.normal(0, 0.2, 25), sigma=sigma)


@model
def process_of_counts(rng):
    x = np.linspace(-5, 5, 20)
    rho, alpha = pm.Gamma("rho", 25, 4), pm.HalfNormal("alpha", 2)
    f = pm.gp.Latent(cov_func=alpha**2 * pm.gp.cov.Matern52(1, rho)).prior("f", X=x[:, None])
    pm.Poisson("y", pt.exp(f), observed=rng.poisson(np.exp(np.sin(x))))


@model
def topics(rng):
    document, word = rng.integers(0, 10, 300), rng.integers(0, 15, 300)
    theta = pm.Dirichlet("theta", np.ones(2), shape=(10, 2))
    phi = pm.Dirichlet("phi", np.ones(15), shape=(2, 15))
    logp = pm.math.logsumexp(pt.log(theta[document]) + pt.log(phi[:, word].T), axis=-1)
    pm.Potential("y", logp.sum())


@model
def growth_of_losses(rng):
    cohort, t = np.repeat(np.arange(10), 10), np.tile(np.arange(1.0, 11), 10)
    premium = rng.uniform(90, 130, 10)
    loss = premium[cohort] * 0.7 * t**1.3 / (t**1.3 + 2**1.3) * np.exp(rng.normal(0, 0.03, 100))
    omega, theta = pm.LogNormal("omega", 0, 0.5), pm.LogNormal("theta", 0, 0.5)
    ratio = pm.LogNormal("ratio", pm.Normal("mu", 0, 0.5), pm.LogNormal("s", 0, 0.5), shape=10)
    share = t**omega / (t**omega + theta**omega)
    pm.Normal("y", ratio[cohort] * premium[cohort] * share, pm.LogNormal("sigma", 0, 0.7) * premium[cohort], observed=loss)


@model
def hidden_states(rng):
    """A hidden Markov model of two states, by the forward algorithm."""
    y = rng.normal(np.repeat([3.0, 9.0, 3.0], 20), 1)
    rows = pm.Dirichlet("rows", np.ones(2), shape=(2, 2))
    mu = pm.Normal("mu", [3, 10], 1, shape=2)
    each = pm.logp(pm.Normal.dist(mu, 1.0, shape=2), y[:, None])
    alpha = pytensor.scan(
        lambda now, last, log_rows: now + pm.math.logsumexp(last[:, None] + log_rows, axis=0, keepdims=False),
        sequences=[each[1:]], outputs_info=[each[0]], non_sequences=[pt.log(rows)], return_updates=False,
    )  # fmt: skip
    pm.Potential("y", pm.math.logsumexp(alpha[-1], keepdims=False))


@model
def acceleration_of_splines(rng):
    t = np.sort(rng.uniform(0, 1, 130))
    knots = np.r_[[0] * 3, np.linspace(0, 1, 8), [1] * 3]
    basis = BSpline.design_matrix(np.clip(t, 0, 1 - 1e-9), knots, 3).toarray()
    y = -40 * np.sin(6 * t) * t + rng.normal(0, 1 + 10 * t)
    mean = pm.Normal("a", 0, 20) + basis @ pm.Normal("z", shape=basis.shape[1]) * pm.HalfNormal("s", 20)
    scale = pm.Normal("b") + pt.dot(basis, pm.Normal("w", shape=basis.shape[1])) * pm.HalfNormal("s_w", 1)
    pm.Normal("y", mean, pt.exp(scale), observed=y)


@model
def capture_and_recapture(rng):
    """Capture probabilities of occasions, of which animals that were never seen may not exist."""
    seen = rng.random((120, 5)) < 0.4
    seen[80:] = False
    p, omega = pm.Uniform("p", 0, 1, shape=5), pm.Uniform("omega", 0, 1)
    each = pm.logp(pm.Bernoulli.dist(p), seen.astype(int)).sum(axis=1)
    unknown = pm.math.logaddexp(pt.log(omega) + each, pt.log1p(-omega))
    pm.Potential("y", pt.switch(seen.any(axis=1), pt.log(omega) + each, unknown).sum())


@model
def horseshoe(rng):
    x = rng.normal(size=(150, 20))
    y = (rng.random(150) < expit(x[:, 0] * 2 - x[:, 1])).astype(int)
    tau, lam = pm.HalfStudentT("tau", nu=1, sigma=0.1), pm.HalfStudentT("lam", nu=1, sigma=1, shape=20)
    c2 = pm.InverseGamma("c2", 2, 8)
    wide = lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    beta = pm.Deterministic("beta", pm.Normal("z", shape=20) * tau * wide)
    pm.Bernoulli("y", logit_p=pm.Normal("a", 0, 2) + x @ beta, observed=y)


@model
def network(rng):
    x, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    hidden = pt.tanh(pt.dot(pm.Data("x", x), pm.Normal("w1", shape=(4, 5))) + pm.Normal("b1", shape=5))
    scores = pt.dot(hidden, pm.Normal("w2", shape=(5, 3))) + pm.Normal("b2", shape=3)
    pm.Categorical("y", p=pt.special.softmax(scores, axis=-1), observed=y)


# ---------------------------------------------------------------- after PyMC's gallery


@model
def robust_line(rng):
    x = rng.uniform(0, 1, 200)
    nu, mu = pm.Gamma("nu", 2, 0.1), pm.Normal("a") + pm.Normal("b") * x
    pm.StudentT("y", nu=nu, mu=mu, sigma=pm.HalfCauchy("s", 5), observed=1 + 2 * x + rng.standard_t(3, 200))


@model
def two_groups_compared(rng):
    y1, y2 = rng.normal(101, 4, 47), rng.normal(100, 3, 42)
    nu = pm.Exponential("nu_minus_1", 1 / 29) + 1
    for name, y in (("1", y1), ("2", y2)):
        mu, sigma = pm.Normal("mu" + name, 100, 10), pm.Uniform("sigma" + name, 1, 10)
        pm.StudentT("y" + name, nu=nu, mu=mu, lam=sigma**-2, observed=y)


@model
def ordered_categories(rng):
    x, y = rng.normal(size=(300, 2)), rng.integers(0, 5, 300)
    share = pm.Dirichlet("share", np.ones(4))
    cutpoints = pm.Deterministic("cutpoints", pt.concatenate([[-2.0], -2 + 4 * pt.cumsum(share)[:-1]]))
    pm.OrderedLogistic("y", eta=x @ pm.Normal("b", shape=2), cutpoints=cutpoints, observed=y)


@model
def ordered_probit(rng):
    x = rng.normal(size=300)
    y = np.digitize(x + rng.normal(size=300), [-1.0, 0.3, 1.2])
    ordered = pm.distributions.transforms.ordered
    cutpoints = pm.Normal("cut", [-1, 0, 1], 1, shape=3, transform=ordered, initval=[-1.0, 0.0, 1.0])
    pm.OrderedProbit("y", eta=pm.Normal("b") * x, sigma=pm.HalfNormal("s"), cutpoints=cutpoints, compute_p=False, observed=y)


@model
def fish_of_campers(rng):
    child, camper = rng.integers(0, 4, 250), rng.integers(0, 2, 250)
    y = rng.poisson(np.exp(0.7 - 0.5 * child + 0.8 * camper)) * (rng.random(250) < 0.6)
    psi, b = pm.Beta("psi", 2, 2), pm.Normal("b", 0, 2, shape=3)
    pm.ZeroInflatedPoisson("y", psi=psi, mu=pt.exp(b[0] + b[1] * child + b[2] * camper), observed=y)


@model
def inflated_and_overdispersed(rng):
    x = rng.normal(size=250)
    y = rng.negative_binomial(2, 0.4, 250) * (rng.random(250) < 0.7)
    psi = pm.math.invlogit(pm.Normal("c") + pm.Normal("d") * x)
    mu = pt.exp(pm.Normal("a") + pm.Normal("b") * x)
    pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=mu, alpha=pm.Exponential("alpha", 1), observed=y)


@model
def inflated_binomial(rng):
    x, n = rng.normal(size=200), rng.integers(5, 12, 200)
    y = rng.binomial(n, expit(0.4 * x)) * (rng.random(200) < 0.8)
    pm.ZeroInflatedBinomial("y", pm.Beta("psi", 2, 2), n, pm.math.sigmoid(pm.Normal("a") + pm.Normal("b") * x), observed=y)


@model
def hurdle_of_counts(rng):
    x, y = rng.normal(size=200), rng.poisson(2, 200) * (rng.random(200) < 0.6)
    pm.HurdlePoisson("y", psi=pm.Beta("psi", 1, 1), mu=pt.exp(pm.Normal("a") + pm.Normal("b") * x), observed=y)


@model
def hurdle_of_rain(rng):
    y = rng.gamma(2, 3, 200) * (rng.random(200) < 0.6)
    season = rng.integers(0, 4, 200)
    psi, alpha, beta = pm.Beta("psi", 1, 1, shape=4), pm.HalfNormal("alpha"), pm.HalfNormal("beta")
    pm.HurdleGamma("y", psi=psi[season], alpha=alpha, beta=beta, observed=y)


@model
def sneezes(rng):
    alcohol, drug = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    y = rng.negative_binomial(5, 0.3, 400)
    b = pm.Normal("b", 0, 2, shape=4)
    mu = pm.math.exp(b[0] + b[1] * alcohol + b[2] * drug + b[3] * alcohol * drug)
    pm.NegativeBinomial("y", mu=mu, alpha=pm.Exponential("alpha", 0.5), observed=y)


@model
def truncated_line(rng):
    x = rng.uniform(-5, 5, 600)
    y = x + rng.normal(0, 2, 600)
    x, y = x[np.abs(y) < 4], y[np.abs(y) < 4]
    inner = pm.Normal.dist(mu=pm.Normal("b") * x + pm.Normal("a"), sigma=pm.HalfNormal("s"))
    pm.Truncated("y", inner, lower=-4, upper=4, observed=y)


@model
def censored_line(rng):
    x = rng.uniform(-5, 5, 300)
    y = np.clip(x + rng.normal(0, 2, 300), -4, 4)
    inner = pm.Normal.dist(mu=pm.Normal("b") * x + pm.Normal("a"), sigma=pm.HalfNormal("s"))
    pm.Censored("y", inner, lower=-4, upper=4, observed=y)


@model
def mixture_of_counts(rng):
    y = np.where(rng.random(300) < 0.5, rng.poisson(2, 300), rng.poisson(9, 300))
    lam = pm.Exponential("lam", [0.5, 0.1], shape=2)
    pm.Mixture("y", w=pm.Dirichlet("w", np.ones(2)), comp_dists=pm.Poisson.dist(lam, shape=2), observed=y)


@model
def mixture_of_regressions(rng):
    x = rng.uniform(-1, 1, 300)
    y = np.where(rng.random(300) < 0.5, x, 1 - 2 * x) + rng.normal(0, 0.2, 300)
    a, b, s = pm.Normal("a", shape=2), pm.Normal("b", shape=2), pm.HalfNormal("s", shape=2)
    pieces = [pm.Normal.dist(a[k] + b[k] * x, s[k]) for k in range(2)]
    pm.Mixture("y", w=pm.Dirichlet("w", np.ones(2)), comp_dists=pieces, observed=y)


@model
def sticks(rng):
    y = np.concatenate([rng.normal(-2, 0.5, 100), rng.normal(1, 0.3, 100), rng.normal(3, 1, 72)])
    beta = pm.Beta("beta", 1, pm.Gamma("alpha", 1, 1), shape=8)
    w = beta * pt.concatenate([[1.0], pt.cumprod(1 - beta)[:-1]])
    w = pm.Deterministic("w", w / w.sum())
    tau = pm.Gamma("tau", 1, 1, shape=8) * pm.Uniform("lam", 0, 5, shape=8)
    pm.NormalMixture("y", w, pm.Normal("mu", 0, tau=tau, shape=8), tau=tau, observed=y)


@model
def weibull_times(rng):
    x, t = rng.normal(size=200), rng.weibull(1.5, 200) * 3
    died = t < 4
    t = np.minimum(t, 4)
    alpha, beta = pm.HalfNormal("alpha", 2), pt.exp(pm.Normal("a") + pm.Normal("b") * x)
    pm.Weibull("y", alpha, beta[died], observed=t[died])
    pm.Potential("censored", -((t[~died] / beta[~died]) ** alpha))


@model
def gumbel_times(rng):
    x, y = rng.normal(size=200), rng.gumbel(2, 0.5, 200)
    died = rng.random(200) < 0.7
    eta, s = pm.Normal("a", 0, 5) + pm.Normal("b", 0, 5) * x, pm.HalfNormal("s", 5)
    pm.Gumbel("events", eta[died], s, observed=y[died])
    pm.Potential("cens", pt.log1p(-pt.exp(-pt.exp(-(y[~died] - eta[~died]) / s))))


@model
def mastectomies(rng):
    """Cox's model by Poisson counts of persons and intervals."""
    metastasised, time = rng.integers(0, 2, 44), rng.integers(3, 80, 44)
    event, edges = rng.random(44) < 0.6, np.arange(0, 81, 8)
    last = np.minimum(time // 8, 9)
    death = np.zeros((44, 10))
    death[np.arange(44), last] = event
    exposure = np.clip(time[:, None] - edges[:-1], 0, 8)
    base = pm.Gamma("base", 0.01, 0.01, shape=10, initval=np.full(10, 0.02))
    rate = pt.outer(pt.exp(pm.Normal("b", 0, 1) * metastasised), base)
    pm.Poisson("y", exposure * rate + 1e-9, observed=death)


@model
def players_in_pairs(rng):
    first, second = np.array([rng.choice(20, 2, replace=False) for _ in range(250)]).T
    skill = pm.Normal("skill", 0, pm.HalfNormal("s"), shape=20)
    pm.Bernoulli("y", logit_p=skill[first] - skill[second] + pm.Normal("home"), observed=rng.integers(0, 2, 250))


@model
def rugby(rng):
    home, away = np.array([(i, j) for i in range(6) for j in range(6) if i != j] * 2).T
    pm.modelcontext(None).add_coord("team", list("abcdef"))
    attack = pm.Normal("attack_", 0, pm.HalfStudentT("s_att", nu=3, sigma=2.5), dims="team")
    defence = pm.Normal("defence_", 0, pm.HalfStudentT("s_def", nu=3, sigma=2.5), dims="team")
    attack, defence = attack - attack.mean(), defence - defence.mean()
    base, at_home = pm.Normal("base", 3, 1), pm.Normal("home", 0, 1)
    pm.Poisson("home_points", pt.exp(base + at_home + attack[home] + defence[away]), observed=rng.poisson(23, 60))
    pm.Poisson("away_points", pt.exp(base + attack[away] + defence[home]), observed=rng.poisson(18, 60))


@model
def coal_mining(rng):
    years = np.arange(1851, 1962)
    y = np.where(years < 1890, rng.poisson(3, 111), rng.poisson(1, 111)).astype(float)
    y[[20, 83]] = np.nan
    switch = pm.DiscreteUniform("switch", lower=1851, upper=1961, initval=1900)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pm.math.switch(switch >= years, early, late), observed=np.ma.masked_invalid(y))


@model
def soft_changepoint(rng):
    t = np.arange(150.0)
    y = rng.poisson(np.where(t < 60, 12, 5))
    when, before, after = pm.Uniform("when", 0, 150), pm.Exponential("before", 0.1), pm.Exponential("after", 0.1)
    weight = pm.math.sigmoid(2 * (t - when))
    pm.Poisson("y", (1 - weight) * before + weight * after, observed=y)


@model
def trend_with_changepoints(rng):
    t, s = np.linspace(0, 1, 200), np.linspace(0, 0.8, 10)
    a = (t[:, None] > s) * 1.0
    k, m, delta = pm.Normal("k", 0, 5), pm.Normal("m", 0, 5), pm.Laplace("delta", 0, 0.1, shape=10)
    season = np.stack([f(2 * np.pi * 4 * t * i) for i in (1, 2) for f in (np.sin, np.cos)], axis=1)
    trend = (k + pt.dot(a, delta)) * t + (m + pt.dot(a, -s * delta))
    pm.Normal("y", trend + pt.dot(season, pm.Normal("season", 0, 10, shape=4)), pm.HalfCauchy("sigma", 0.5),
              observed=2 * t - 3 * np.maximum(t - 0.5, 0) + 0.3 * season[:, 0] + rng.normal(0, 0.1, 200))  # fmt: skip


@model
def stochastic_volatility(rng):
    returns = rng.standard_t(5, 300) * np.exp(np.cumsum(rng.normal(0, 0.05, 300)))
    v = pm.GaussianRandomWalk("v", sigma=pm.Exponential("step", 10), init_dist=pm.Normal.dist(0, 1), shape=300)
    pm.StudentT("y", nu=pm.Exponential("nu", 0.1), lam=pt.exp(-2 * v), observed=returns)


@model
def autoregression(rng):
    y = np.zeros(200)
    for t in range(2, 200):
        y[t] = 0.5 * y[t - 1] - 0.2 * y[t - 2] + rng.normal()
    rho = pm.Normal("rho", 0, 0.5, shape=3)
    pm.AR("y", rho, sigma=pm.HalfNormal("s"), constant=True, init_dist=pm.Normal.dist(0, 10), observed=y)


@model
def latent_autoregression(rng):
    rho, first = pm.Normal("rho", 0, 0.3, shape=2), pm.Normal.dist(0, 1, size=2)
    x = pm.AR("x", rho, sigma=pm.HalfNormal("s"), init_dist=first, shape=150)
    pm.Poisson("y", pt.exp(x), observed=rng.poisson(1.5, 150))


@model
def vector_autoregression(rng):
    y = np.cumsum(rng.normal(size=(120, 2)), axis=0) * 0.2
    lagged = np.hstack([y[1:-1], y[:-2]])
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=1, sd_dist=pm.HalfNormal.dist(1, shape=2))
    mean = pm.Normal("a", shape=2) + pt.dot(lagged, pm.Normal("b", 0, 0.5, shape=(4, 2)))
    pm.MvNormal("y", mean, chol=chol, observed=y[2:])


@model
def correlated_slopes(rng):
    cafe, afternoon = rng.integers(0, 20, 300), rng.integers(0, 2, 300)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1, shape=2))
    mean = pm.Normal("mean", [5, -1], [5, 1], shape=2)
    ab = pm.MvNormal("ab", mean, chol=chol, shape=(20, 2))
    pm.Normal("y", ab[cafe, 0] + ab[cafe, 1] * afternoon, pm.Exponential("s", 1), observed=rng.normal(3.5, 1, 300) - afternoon)


@model
def correlated_slopes_noncentred(rng):
    group, x = rng.integers(0, 15, 250), rng.normal(size=250)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=2))
    u = pm.Deterministic("u", pt.dot(pm.Normal("z", shape=(15, 2)), chol.T))
    logits = pm.Normal("a") + u[group, 0] + (pm.Normal("b") + u[group, 1]) * x
    pm.Bernoulli("y", logit_p=logits, observed=rng.integers(0, 2, 250))


@model
def trees_of_forests(rng):
    y = np.stack([rng.multinomial(50, rng.dirichlet(10 * np.array([0.5, 0.3, 0.2]))) for _ in range(40)])
    frac = pm.Dirichlet("frac", np.ones(3))
    pm.DirichletMultinomial("y", n=50, a=frac * pm.LogNormal("conc", 1, 1), observed=y)


@model
def choices_of_three(rng):
    x = rng.normal(size=(250, 2))
    p = softmax(x @ rng.normal(size=(2, 3)), axis=1)
    y = np.array([rng.choice(3, p=q) for q in p])
    b = pt.concatenate([pt.zeros((2, 1)), pm.Normal("b", shape=(2, 2))], axis=1)
    pm.Categorical("y", logit_p=x @ b + pt.concatenate([[0.0], pm.Normal("a", shape=2)]), observed=y)


@model
def counts_of_categories(rng):
    x = rng.normal(size=60)
    p = pt.special.softmax(pm.Normal("a", shape=4) + x[:, None] * pm.ZeroSumNormal("b", shape=4), axis=-1)
    pm.Multinomial("y", n=30, p=p, observed=rng.multinomial(30, [0.1, 0.2, 0.3, 0.4], 60))


@model
def proportions(rng):
    x = rng.normal(size=200)
    mu, phi = pm.math.invlogit(pm.Normal("a") + pm.Normal("b") * x), pm.Gamma("phi", 2, 0.1)
    pm.Beta("y", alpha=mu * phi, beta=(1 - mu) * phi, observed=rng.beta(10 * expit(x), 10 * expit(-x)))


@model
def claims(rng):
    x = rng.integers(0, 5, 300)
    mu, shape = pt.exp(pm.Normal("level", 0, 2, shape=5)[x]), pm.Exponential("shape", 0.2)
    pm.Gamma("y", alpha=shape, beta=shape / mu, observed=rng.gamma(3, 1 + x / 3, 300))


@model
def times_of_crossing(rng):
    x = rng.normal(size=200)
    mu = pt.exp(pm.Normal("a") + pm.Normal("b") * x)
    pm.Wald("y", mu=mu, lam=pm.HalfNormal("lam", 5), observed=rng.wald(np.exp(0.3 * x), 4))
    pm.InverseGamma("z", alpha=pm.HalfNormal("alpha", 3), beta=pt.exp(pm.Normal("c")), observed=1 / rng.gamma(3, 1, 80))


@model
def reaction_times(rng):
    person = rng.integers(0, 12, 300)
    mu = pm.Normal("mu", pm.Normal("m", 0.5, 0.3), pm.HalfNormal("t", 0.2), shape=12)
    y = rng.normal(0.5, 0.05, 300) + rng.exponential(0.2, 300)
    pm.ExGaussian("y", mu[person], sigma=pm.HalfNormal("s", 0.3), nu=pm.HalfNormal("nu", 0.5, shape=12)[person], observed=y)


@model
def skewed(rng):
    x = rng.normal(size=250)
    pm.SkewNormal("y", mu=pm.Normal("a") + pm.Normal("b") * x, sigma=pm.HalfNormal("s", 2), alpha=pm.Normal("alpha", 0, 3),
                  observed=x + np.abs(rng.normal(size=250)))  # fmt: skip


@model
def directions(rng):
    x = rng.normal(size=200)
    mu = pm.VonMises("mu", 0, 0.5) + 2 * pt.arctan(pm.Normal("b") * x)
    pm.VonMises("y", mu=pt.arctan2(pt.sin(mu), pt.cos(mu)), kappa=pm.Gamma("kappa", 2, 0.5), observed=rng.vonmises(0.5, 3, 200))


@model
def moderation(rng):
    x, m = rng.normal(size=(2, 200))
    b = [pm.Normal(f"b{k}", 0, 1) for k in range(4)]
    mean = b[0] + b[1] * x + b[2] * x * m + b[3] * m
    pm.Normal("y", mean, pm.HalfCauchy("s", 1), observed=x + 0.5 * x * m + rng.normal(size=200))


@model
def mediation(rng):
    x = rng.normal(size=200)
    m = 0.5 * x + rng.normal(size=200)
    a, b, c = pm.Normal("a"), pm.Normal("b"), pm.Normal("c")
    pm.Normal("m", pm.Normal("im") + a * x, pm.HalfCauchy("sm", 1), observed=m)
    pm.Normal("y", pm.Normal("iy") + b * m + c * x, pm.HalfCauchy("sy", 1), observed=0.3 * m + rng.normal(size=200))
    pm.Deterministic("total", c + a * b)


@model
def two_pages_of_sales(rng):
    """An A/B test of conversions and of what is spent."""
    visitors = np.array([900, 1100, 1000])
    theta, lam = pm.Beta("theta", 10, 90, shape=3), pm.Gamma("lam", 20, 2, shape=3)
    bought = rng.binomial(visitors, 0.1)
    pm.Binomial("bought", n=visitors, p=theta, observed=bought)
    pm.Gamma("spent", alpha=bought, beta=lam, observed=rng.gamma(bought, 0.1))
    pm.Deterministic("uplift", theta / theta[0] - 1)


@model
def missing_outcomes_and_covariates(rng):
    x, z = rng.normal(size=(2, 150))
    y = x - z + rng.normal(size=150)
    x[rng.random(150) < 0.2] = np.nan
    y[:10] = np.nan
    x = pm.Normal("x", pm.Normal("mu_x"), pm.HalfNormal("s_x"), observed=np.ma.masked_invalid(x))
    mean = pm.Normal("a") + pm.Normal("b") * x + pm.Normal("c") * z
    pm.Normal("y", mean, pm.HalfNormal("s"), observed=np.ma.masked_invalid(y))


@model
def errors_of_both_axes(rng):
    true = rng.normal(size=120)
    x, y = true + rng.normal(0, 0.3, 120), 1 + 2 * true + rng.normal(0, 0.4, 120)
    latent = pm.Normal("latent", 0, 1, shape=120)
    pm.Normal("x", latent, 0.3, observed=x)
    pm.Normal("y", pm.Normal("a") + pm.Normal("b") * latent, pm.HalfNormal("s"), observed=y)


@model
def quantiles(rng):
    x = rng.uniform(0, 4, 250)
    y = x + (1 + x) * rng.normal(size=250)
    a, b, s = pm.Normal("a", 0, 3, shape=3), pm.Normal("b", 0, 3, shape=3), pm.HalfNormal("s", 2, shape=3)
    for k, q in enumerate((0.1, 0.5, 0.9)):
        pm.AsymmetricLaplace(f"y{k}", mu=a[k] + b[k] * x, b=s[k], q=q, observed=y)


@model
def prior_from_a_posterior(rng):
    grid = np.linspace(-4, 4, 60)
    a = pm.Interpolated("a", grid, np.exp(-0.5 * grid**2))
    b = pm.Interpolated("b", grid, np.exp(-np.abs(grid)))
    x = rng.normal(size=200)
    pm.Normal("y", a + b * x, pm.HalfNormal("s"), observed=0.3 + 0.8 * x + rng.normal(size=200))


@model
def overdispersed_shares(rng):
    n, x = rng.integers(10, 50, 150), rng.normal(size=150)
    mu, kappa = pm.math.invlogit(pm.Normal("a") + pm.Normal("b") * x), pm.Pareto("kappa", alpha=1.5, m=1)
    pm.BetaBinomial("y", n=n, alpha=mu * kappa, beta=(1 - mu) * kappa, observed=rng.binomial(n, rng.beta(3, 5, 150)))


@model
def neighbours(rng):
    side = 7
    near = np.abs(np.subtract.outer(np.arange(side), np.arange(side))) == 1
    w = (np.kron(near, np.eye(side)) + np.kron(np.eye(side), near)).astype(int)
    phi, theta = pm.ICAR("phi", W=w), pm.Normal("theta", shape=49)
    rho, sigma = pm.Beta("rho", 0.5, 0.5), pm.HalfNormal("sigma")
    expected = rng.uniform(1, 20, 49)
    mean = pm.Normal("a") + sigma * (pt.sqrt(1 - rho) * theta + pt.sqrt(rho / 0.4) * phi) + np.log(expected)
    pm.Poisson("y", pt.exp(mean), observed=rng.poisson(expected))


@model
def conditional_autoregression(rng):
    side = 5
    near = np.abs(np.subtract.outer(np.arange(side), np.arange(side))) == 1
    w = (np.kron(near, np.eye(side)) + np.kron(np.eye(side), near)).astype(float)
    phi = pm.CAR("phi", mu=np.zeros(25), tau=pm.Gamma("tau", 1, 1), alpha=pm.Beta("alpha", 1, 1), W=w, shape=25)
    pm.Poisson("y", pt.exp(pm.Normal("a") + phi), observed=rng.poisson(2, 25))


@model
def process_by_eigenfunctions(rng):
    x = np.linspace(0, 10, 200)
    cov = pm.HalfNormal("eta") ** 2 * pm.gp.cov.Matern52(1, ls=pm.InverseGamma("ell", 5, 5))
    f = pm.gp.HSGP(m=[12], c=1.5, cov_func=cov).prior("f", X=x[:, None])
    pm.Normal("y", f, pm.HalfNormal("s"), observed=np.sin(x) + rng.normal(0, 0.3, 200))


@model
def factors(rng):
    n, d, k = 100, 6, 2
    y = rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) + 0.3 * rng.normal(size=(n, d))
    packed = pm.Normal("packed", shape=d * k - 1, initval=np.full(d * k - 1, 0.3))
    loading = pt.concatenate([packed[:1], [0.0], packed[1:]]).reshape((d, k))
    score = pm.Normal("score", shape=(k, n))
    pm.Normal("y", pt.dot(loading, score), pm.HalfNormal("psi", shape=(d, 1)), observed=y.T)


@model
def product_of_factors(rng):
    """Ratings by persons of films, of which most are missing."""
    person, film = rng.integers(0, 30, 300), rng.integers(0, 20, 300)
    u, v = pm.Normal("u", 0, 0.5, shape=(30, 3)), pm.Normal("v", 0, 0.5, shape=(20, 3))
    pm.Normal("y", (u[person] * v[film]).sum(axis=1), tau=2.0, observed=rng.normal(size=300))


@model
def difference_in_differences(rng):
    t, group = rng.uniform(-0.5, 1.5, 160), rng.integers(0, 2, 160)
    treated = (t > 0.5) & (group == 1)
    mean = pm.Normal("a", 0, 5) + pm.Normal("g") * group + pm.Normal("trend") * t + pm.Normal("delta") * treated
    pm.Normal("y", mean, pm.HalfNormal("s", 5), observed=1 + 0.5 * group + t + 0.7 * treated + rng.normal(0, 0.2, 160))


@model
def learning_of_rewards(rng):
    """Reinforcement learning of two arms: values of actions by a scan over trials."""
    action, reward = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    alpha, beta = pm.Beta("alpha", 1, 1), pm.HalfNormal("beta", 3)

    def learned(a, r, q, alpha):
        return pt.set_subtensor(q[a], q[a] + alpha * (r - q[a]))

    q = pytensor.scan(
        learned, sequences=[pt.as_tensor(action[:-1]), pt.as_tensor(reward[:-1])], outputs_info=[pt.constant(np.full(2, 0.5))],
        non_sequences=[alpha], return_updates=False,
    )  # fmt: skip
    pm.Bernoulli("y", logit_p=beta * (q[:, 1] - q[:, 0]), observed=action[1:])


@model
def extremes(rng):
    t = np.linspace(-1, 1, 100)
    mu, s = pm.Normal("a", 4, 1) + pm.Normal("b") * t, pm.HalfNormal("s")
    xi = pm.TruncatedNormal("xi", 0, 0.2, lower=-0.5, upper=0.5, initval=0.1)
    z = 1 + xi * (rng.gumbel(4, 0.3, 100) - mu) / s
    logp = pt.switch(z > 0, -pt.log(s) - (1 + 1 / xi) * pt.log(z) - z ** (-1 / xi), -np.inf)
    pm.Potential("y", pt.sum(logp))


@model
def other_distributions(rng):
    """One parameter each of densities that few models have."""
    group = rng.integers(0, 3, 90)
    level = pm.Normal("level", 0, 0.5, shape=3)[group]
    pm.Kumaraswamy("k", pt.exp(level), 2.0, observed=rng.beta(2, 2, 90))
    pm.Rice("r", nu=pt.exp(level), sigma=pm.HalfNormal("s1"), observed=rng.rayleigh(2, 90))
    pm.Moyal("m", level, pm.HalfNormal("s2"), observed=rng.gumbel(1, 1, 90))
    pm.LogitNormal("l", level, pm.HalfNormal("s3"), observed=rng.beta(2, 3, 90))
    pm.Logistic("g", level, pm.HalfNormal("s4"), observed=rng.logistic(0, 1, 90))
    pm.Cauchy("c", level, pm.HalfNormal("s5"), observed=rng.standard_cauchy(90))
    pm.Triangular("t", lower=-3, c=pt.tanh(level), upper=3, observed=rng.uniform(-2.5, 2.5, 90))
    pm.Laplace("p", level, pm.HalfNormal("s6"), observed=rng.laplace(size=90))
    pm.Geometric("n", pm.math.sigmoid(level), observed=rng.geometric(0.4, 90))
    pm.DiscreteWeibull("w", pm.math.sigmoid(level), 0.9, observed=rng.geometric(0.4, 90) - 1)


@model
def diffusion(rng):
    """A path of Ornstein and Uhlenbeck's process between noisy observations, by Euler's steps."""
    y = np.cumsum(rng.normal(0, 0.2, 100))
    rate, path = pm.HalfNormal("rate"), pm.Normal("path", 0, 1, shape=100)
    drift = path[:-1] * (1 - 0.1 * rate)
    pm.Potential("steps", pm.logp(pm.Normal.dist(drift, pm.HalfNormal("noise") * np.sqrt(0.1)), path[1:]).sum())
    pm.Normal("y", path, 0.2, observed=y)
