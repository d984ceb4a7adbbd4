"""`python -m bench.pymc_models`: PyMC models with their likelihood on a device, beside plain PyMC and NumPyro, if installed."""

from __future__ import annotations

import numpy as np
import pymc as pm

import gpustats as gs
import gpustats.pymc as gpm

from . import nuts
from .report import RATIO, Report, Table, options, size


def student_t(y, ours):
    with pm.Model() as model:
        nu, mu, sigma = pm.Gamma("nu", 2, 0.1), pm.Normal("mu", 0, 10), pm.HalfNormal("sigma", 5)
        (gpm if ours else pm).StudentT("y", nu=nu, mu=mu, sigma=sigma, observed=y)
    return model


def student_t_numpyro(y):
    import numpyro
    from numpyro import distributions as d

    nu, mu = numpyro.sample("nu", d.Gamma(2.0, 0.1)), numpyro.sample("mu", d.Normal(0, 10))
    sigma = numpyro.sample("sigma", d.HalfNormal(5))
    numpyro.sample("y", d.StudentT(nu, mu, sigma), obs=y)


def counts(y, ours):
    with pm.Model() as model:
        mu, alpha = pm.HalfNormal("mu", 10), pm.HalfNormal("alpha", 10)
        (gpm if ours else pm).NegativeBinomial("y", mu=mu, alpha=alpha, observed=y)
    return model


def counts_numpyro(y):
    import numpyro
    from numpyro import distributions as d

    mu, alpha = numpyro.sample("mu", d.HalfNormal(10)), numpyro.sample("alpha", d.HalfNormal(10))
    numpyro.sample("y", d.NegativeBinomial2(mu, alpha), obs=y)


def regression(x, y, ours):
    with pm.Model() as model:
        a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10)
        nu, sigma = pm.Gamma("nu", 2, 0.1), pm.HalfNormal("sigma", 5)
        if ours:
            gpm.GLM("y", gs.student_t, X=x[:, None], beta=b[None], alpha=a, eta="mu", nu=nu, sigma=sigma, observed=y)
        else:
            pm.StudentT("y", nu=nu, mu=a + b * x, sigma=sigma, observed=y)
    return model


def regression_numpyro(x, y):
    import numpyro
    from numpyro import distributions as d

    a, b = numpyro.sample("a", d.Normal(0, 10)), numpyro.sample("b", d.Normal(0, 10))
    nu, sigma = numpyro.sample("nu", d.Gamma(2.0, 0.1)), numpyro.sample("sigma", d.HalfNormal(5))
    numpyro.sample("y", d.StudentT(nu, a + b * x, sigma), obs=y)


class Case:
    """Model of n observations."""

    MODELS = {
        "Student t": (student_t, student_t_numpyro),
        "negative binomial": (counts, counts_numpyro),
        "Student t regression": (regression, regression_numpyro),
    }

    def __init__(self, name: str, n: int):
        self.name, self.n, self.title = name, n, f"{name}, N={n:,}"

    def data(self) -> tuple[np.ndarray, ...]:
        rng, n = np.random.default_rng(1), self.n
        if self.name == "Student t":
            return (1 + 2 * rng.standard_t(4, n),)
        if self.name == "negative binomial":
            return (rng.negative_binomial(2, 0.4, n),)
        x = rng.normal(size=n)
        return x, 1 + 2 * x + rng.standard_t(4, n)

    def model(self) -> nuts.Model:
        return nuts.Model(self.data(), *self.MODELS[self.name])


def main(argv: list[str] | None = None) -> int:
    parser = options("pymc_models", __doc__)
    parser.add_argument("--n", type=size, action="append", help="observations, repeatable; default: 1e4, 1e6")
    parser.add_argument("--draws", type=int, help="and as many to tune; 0: gradients only (default: 500)")
    parser.add_argument("--chains", type=int, default=2, help="default: 2")
    args = parser.parse_args(argv)
    report = Report(args)
    sizes = report.default(args.n, gpu=[10**4, 10**6], cpu=[10**4, 10**6], quick=[10**3])
    draws = report.default(args.draws, gpu=500, cpu=500, quick=50)
    peers = report.peers(nuts.PEERS)
    for case in report.wanted([Case(name, n) for name in Case.MODELS for n in sizes]):
        model = case.model()
        report.rows += [nuts.sampled(report, {"work": case.title}, model, peer, draws, args.chains) for peer in peers]
    return report.write(Table(report.rows, nuts.COLUMNS | RATIO | nuts.MEANS, nuts.NOTE))


if __name__ == "__main__":
    raise SystemExit(main())
