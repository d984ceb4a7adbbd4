"""Models of rows against PyTensor: values, gradients in every leaf, second derivatives, for few and many rows."""

import functools

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from modes import AS_WRITTEN
from thorough import THOROUGH, some

import gpustats as gs

LENGTHS = (0, 1, 31, 3000)


def normal(y, mu, sigma):
    return -0.5 * ((y - mu) / sigma) ** 2 - pt.log(sigma) - 0.5 * np.log(2 * np.pi)


def bernoulli_logit(y, eta):
    return y * eta - pt.softplus(eta)


class Model:
    """A model in both libraries.

    Parameters
    ----------
    source : str or Density
    data : callable
        ``data(rng, n)`` gives the leaves that are data, tables' indices and so on, and the parameters of a call.
    terms : callable
        ``terms(data, parameters)`` gives PyTensor's terms of the rows.
    """

    def __init__(self, source, data, terms):
        self.source, self.data, self.terms = source, data, terms


def michaelis(rng, n):
    leaves = dict(y=rng.normal(size=n), x=rng.gamma(2.0, size=n))
    return leaves, leaves, dict(v=1.2, k=0.7, s=0.9)


def varying(rng, n):
    y, x, g = rng.normal(size=n), rng.normal(size=n), rng.integers(0, 7, n)
    leaves = dict(y=y, x=x, a=gs.gather(g), b=gs.gather(g))
    return leaves, dict(y=y, x=x, g=g), dict(a=rng.normal(size=7), b=rng.normal(size=7), s=1.3)


def item_response(rng, n):
    y, p, i = rng.integers(0, 2, n).astype(bool), rng.integers(0, 50, n), rng.integers(0, 6, n)
    leaves = dict(y=y, theta=gs.gather(p), d=gs.gather(i), b=gs.gather(i))
    return leaves, dict(y=y, p=p, i=i), dict(theta=rng.normal(size=50), d=rng.gamma(2.0, size=6), b=rng.normal(size=6))


def poisson(rng, n):
    y, X, g, off = rng.poisson(2.0, n), rng.normal(size=(n, 3)), rng.integers(0, 5, n), rng.normal(size=n)
    leaves = dict(y=y, a=gs.gather(g), eta=gs.dot(X, of="beta"), o=off)
    return leaves, dict(y=y, X=X, g=g, o=off), dict(a=rng.normal(size=5), beta=rng.normal(size=3))


def zero_inflated(rng, n):
    y, x = rng.poisson(1.0, n).astype(np.uint8), rng.normal(size=n)
    return dict(y=y, x=x), dict(y=y, x=x), dict(a=0.3, b=-0.2, psi=0.7)


def censored(rng, n):
    t, x, seen = rng.weibull(1.5, n), rng.normal(size=n), rng.integers(0, 2, n)
    return dict(t=t, x=x, seen=seen), dict(t=t, x=x, seen=seen), dict(a=0.2, b=0.4, k=1.4)


def volatility(rng, n):
    y = rng.normal(size=n)
    leaves = dict(y=y, before=gs.per_row(of="h"), now=gs.per_row(of="h", offset=1))
    return leaves, dict(y=y), dict(h=rng.normal(size=n + 1), phi=0.9, tau=0.5)


def interaction(rng, n):
    y, i, j = rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 3, n)
    leaves = dict(y=y, m=gs.gather(i, j), attack=gs.gather(i, of="w"), defence=gs.gather(j, of="w"))
    return leaves, dict(y=y, i=i, j=j), dict(m=rng.normal(size=(4, 3)), w=rng.normal(size=4), s=0.8)


MODELS = dict(
    michaelis=Model(
        "real michaelis(real y, real x, real v, real k, real s) { return normal_logpdf(y, v * x / (k + x), s); }",
        michaelis,
        lambda d, p: normal(d["y"], p["v"] * d["x"] / (p["k"] + d["x"]), p["s"]),
    ),
    varying=Model(
        "real varying(real y, real x, real a, real b, real s) { return normal_logpdf(y, a + b * x, s); }",
        varying,
        lambda d, p: normal(d["y"], p["a"][d["g"]] + p["b"][d["g"]] * d["x"], p["s"]),
    ),
    item_response=Model(
        "real item(real y, real theta, real d, real b) { return bernoulli_logit_logpmf(y, d * (theta - b)); }",
        item_response,
        lambda d, p: bernoulli_logit(d["y"], p["d"][d["i"]] * (p["theta"][d["p"]] - p["b"][d["i"]])),
    ),
    poisson=Model(
        "real counts(int y, real a, real eta, real o) { real e = a + eta + o; return y * e - exp(e) - lgamma(y + 1.0); }",
        poisson,
        lambda d, p: (
            d["y"] * (e := p["a"][d["g"]] + pt.dot(d["X"], p["beta"]) + d["o"]) - pt.exp(e) - pt.gammaln(d["y"] + 1.0)
        ),
    ),
    zero_inflated=Model(
        """
        // psi: probability
        real zero_inflated(int y, real x, real a, real b, real psi)
        {
            real rate = exp(a + b * x);
            if (y == 0) return log(1 - psi + psi * exp(-rate));
            return log(psi) + poisson_logpmf(y, rate);
        }""",
        zero_inflated,
        lambda d, p: pt.switch(
            pt.eq(d["y"], 0),
            pt.log(1 - p["psi"] + p["psi"] * pt.exp(-(rate := pt.exp(p["a"] + p["b"] * d["x"])))),
            pt.log(p["psi"]) + d["y"] * pt.log(rate) - rate - pt.gammaln(d["y"] + 1.0),
        ),
    ),
    censored=Model(
        """
        real hazard(real t, real k, real scale) { return pow(t / scale, k); }
        real censored(real t, real x, int seen, real a, real b, real k)
        {
            real scale = exp(a + b * x), h = hazard(t, k, scale);
            return (seen ? log(k / scale) + (k - 1) * log(t / scale) : 0) - h;
        }""",
        censored,
        lambda d, p: (
            d["seen"] * (pt.log(p["k"] / (scale := pt.exp(p["a"] + p["b"] * d["x"]))) + (p["k"] - 1) * pt.log(d["t"] / scale))
            - (d["t"] / scale) ** p["k"]
        ),
    ),
    volatility=Model(
        """
        real volatility(real y, real before, real now, real phi, real tau)
        { return normal_logpdf(y, 0.0, exp(now / 2)) + normal_logpdf(now, phi * before, tau); }""",
        volatility,
        lambda d, p: normal(d["y"], 0.0, pt.exp(p["h"][1:] / 2)) + normal(p["h"][1:], p["phi"] * p["h"][:-1], p["tau"]),
    ),
    interaction=Model(
        """
        real match(real y, real m, real attack, real defence, real s)
        { return normal_logpdf(y, m + attack * exp(-defence), s); }""",
        interaction,
        lambda d, p: normal(d["y"], p["m"][d["i"], d["j"]] + p["w"][d["i"]] * pt.exp(-p["w"][d["j"]]), p["s"]),
    ),
)


def mixture(rng, n):
    y = rng.normal(size=n)
    return dict(y=y), dict(y=y), dict(log_w=np.log([0.2, 0.5, 0.3]), mu=np.array([-1.0, 0.5, 3.0]), s=np.array([0.5, 1.0, 2.0]))


def ordinal(rng, n):
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 4, n)
    leaves = dict(x=y, eta=gs.dot(X, of="beta"))
    return leaves, dict(X=X, y=y), dict(beta=np.array([0.3, -0.5]), cutpoints=np.array([-1.0, 0.2, 1.5]))


def softmax(rng, n):
    X, y, g = rng.normal(size=(n, 4)), rng.integers(0, 3, n), rng.integers(0, 5, n)
    leaves = dict(y=y, xw=gs.dot(X, of="W"), own=gs.gather(g))
    return leaves, dict(X=X, y=y, g=g), dict(W=rng.normal(size=(4, 3)), own=rng.normal(size=(5, 3)))


def factors(rng, n):
    y, u, v = rng.normal(size=n), rng.integers(0, 30, n), rng.integers(0, 20, n)
    leaves = dict(y=y, a=gs.gather(u), b=gs.gather(v))
    return leaves, dict(y=y, u=u, v=v), dict(a=rng.normal(size=(30, 5)), b=rng.normal(size=(20, 5)), s=1.1)


def vectors(rng, n):
    x = rng.normal(size=(n, 3))
    return dict(x=x), dict(x=x), dict(m=rng.normal(size=3), s=rng.uniform(1, 2, 3))


MODELS |= dict(
    mixture=Model(
        """
        real mixture(real y, const real *log_w, const real *mu, const real *s, int dim)
        {
            real largest = -INFINITY, sum = 0;
            for (int k = 0; k < dim; k++)
                largest = fmax(largest, log_w[k] + normal_logpdf(y, mu[k], s[k]));
            for (int k = 0; k < dim; k++)
                sum += exp(log_w[k] + normal_logpdf(y, mu[k], s[k]) - largest);
            return largest + log(sum);
        }""",
        mixture,
        lambda d, p: pt.logsumexp(p["log_w"] + normal(d["y"][:, None], p["mu"], p["s"]), axis=1),
    ),
    ordinal=Model(
        gs.ordered_logit,
        ordinal,
        lambda d, p: pt.log(
            pt.diff(
                pt.concatenate(
                    [
                        pt.zeros((len(d["y"]), 1)),
                        pt.sigmoid(p["cutpoints"] - pt.dot(d["X"], p["beta"])[:, None]),
                        pt.ones((len(d["y"]), 1)),
                    ],
                    axis=1,
                )
            )[np.arange(len(d["y"])), d["y"]]
        ),
    ),
    softmax=Model(
        """
        real logit(int y, const real *xw, const real *own, int dim)
        {
            real sum = 0, chosen = 0;
            for (int k = 0; k < dim; k++) {
                real eta = xw[k] + own[k];
                sum += exp(eta);
                if (k == y) chosen = eta;
            }
            return chosen - log(sum);
        }""",
        softmax,
        lambda d, p: (
            (eta := pt.dot(d["X"], p["W"]) + p["own"][d["g"]])[np.arange(len(d["y"])), d["y"]] - pt.logsumexp(eta, axis=1)
        ),
    ),
    factors=Model(
        """
        real inner(const real *a, const real *b, int dim)
        { real sum = 0; for (int k = 0; k < dim; k++) sum += a[k] * b[k]; return sum; }
        real factors(real y, const real *a, const real *b, real s, int dim)
        { return normal_logpdf(y, inner(a, b, dim), s) - inner(a, a, dim - 2) / 100; }""",
        factors,
        lambda d, p: (
            normal(d["y"], (p["a"][d["u"]] * p["b"][d["v"]]).sum(1), p["s"]) - (p["a"][d["u"]][:, :3] ** 2).sum(1) / 100
        ),
    ),
    vectors=Model(
        """
        real each(const real *x, const real *m, const real *s, int dim)
        {
            real sum = 0;
            int k;
            for (k = dim - 1; k >= 0; k--) { real z = (x[k] - m[k]) / s[k]; sum -= z * z / 2 + log(s[k]); }
            return sum + k * x[(int)(x[0] * 0)];
        }""",
        vectors,
        lambda d, p: (-(((d["x"] - p["m"]) / p["s"]) ** 2) / 2 - pt.log(p["s"])).sum(1) - d["x"][:, 0],
    ),
)


def reference(model, data, values):
    """PyTensor's value, terms, gradients, and second derivatives in parameters that are numbers."""
    variables = {n: pt.tensor(n, dtype="float64", shape=np.shape(v)) for n, v in values.items()}
    data = {n: v.astype(float) if v.dtype == bool else v for n, v in data.items()}
    terms = model.terms(data, variables)
    total = terms.sum()
    gradients = pt.grad(total, list(variables.values()))
    scalars = [v for v in variables.values() if not v.ndim]
    second = [pt.grad(pt.grad(total, a), b, disconnected_inputs="ignore") for a in scalars for b in scalars]
    along = sum((g * direction_of(v)).sum() for g, v in zip(gradients, values.values(), strict=True))
    products = pt.grad(along, list(variables.values()), disconnected_inputs="ignore")
    made = pytensor.function(list(variables.values()), [total, terms, *gradients, *products, *second], mode=AS_WRITTEN)
    value, terms, *rest = made(*values.values())
    k = len(values)
    slopes, products = (dict(zip(values, some, strict=True)) for some in (rest[:k], rest[k : 2 * k]))
    return value, terms, slopes, products, np.reshape(rest[2 * k :], (len(scalars),) * 2)


def direction_of(value):
    """A direction in a parameter."""
    return np.cos(1 + np.arange(np.size(value))).reshape(np.shape(value))


@functools.cache
def cases(name):
    """Leaves, parameters and what PyTensor makes of them, for each number of rows."""
    rng, found = np.random.default_rng(2011), {}
    for n in LENGTHS:
        leaves, data, values = MODELS[name].data(rng, n)
        found[n] = leaves, values, reference(MODELS[name], data, values) if n else None
    return found


@pytest.mark.parametrize("layout", ["device", pytest.param("gpu", marks=THOROUGH)], indirect=True)
@pytest.mark.parametrize("name", some(MODELS, 8))
def test_against_pytensor(name, layout):
    model = MODELS[name]
    for n, (leaves, values, wanted) in cases(name).items():
        rows = gs.Rows(model.source, **leaves)
        assert set(rows.parameters) == set(values)
        value, gradient = rows.value_and_grad(**values)
        if not n:
            assert value == 0 and all(np.all(g == 0) and np.shape(g) == np.shape(values[k]) for k, g in gradient.items())
            assert rows.terms(**values).shape == (0,)
            continue
        expected, terms, slopes, products, second = wanted
        np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(rows(**values), expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(rows.terms(**values), terms, rtol=1e-10, atol=1e-12)
        for parameter, slope in slopes.items():
            assert np.shape(gradient[parameter]) == np.shape(values[parameter])
            np.testing.assert_allclose(gradient[parameter], slope, rtol=1e-9, atol=1e-10 * max(n, 10), err_msg=parameter)
        product = rows.hessp({n: direction_of(v) for n, v in values.items()}, **values)
        for parameter, wanted in products.items():
            assert np.shape(product[parameter]) == np.shape(values[parameter])
            tolerance = 1e-9 * max(n, 10)
            np.testing.assert_allclose(product[parameter], wanted, rtol=1e-8, atol=tolerance, err_msg=parameter)
        numbers = [n for n, v in values.items() if not np.ndim(v)]
        if numbers:
            np.testing.assert_allclose(rows.hessian(wrt=numbers, **values), second, rtol=1e-9, atol=1e-9 * max(n, 10))


@pytest.mark.parametrize("name", ["michaelis", "item_response", "volatility"])
def test_float32(name, rng):
    model = MODELS[name]
    leaves, data, values = model.data(rng, 1000)
    as_float32 = {k: v.astype(np.float32) if getattr(v, "dtype", None) == np.float64 else v for k, v in leaves.items()}
    value, gradient = gs.Rows(model.source, **as_float32).value_and_grad(**values)
    expected, _, slopes, _, _ = reference(model, data, values)
    # Without data of floating point the numbers are float64.
    tolerance = 1e-5 if name != "item_response" else 1e-11
    np.testing.assert_allclose(value, expected, rtol=10 * tolerance)
    for parameter, slope in slopes.items():
        np.testing.assert_allclose(gradient[parameter], slope, rtol=100 * tolerance, atol=100 * tolerance * np.abs(slope).max())
