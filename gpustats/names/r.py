"""R's names: its distributions as densities, a line for each in the form of `gpustats.names.scipy`, and words of formulas."""

from __future__ import annotations

DISTRIBUTIONS = """
beta(shape1, shape2)      -> beta(alpha=shape1, beta=shape2)
binom(size, prob)         -> binomial(n=size, p=prob)
cauchy(location, scale)   -> cauchy(alpha=location, beta=scale)
chisq(df)                 -> chi_squared(nu=df)
exp(rate)                 -> exponential(lam=rate)
f(df1, df2)               -> fisher_snedecor(d1=df1, d2=df2)
gamma(shape, rate)        -> gamma(alpha=shape, beta=rate)
geom(prob)                -> geometric(p=prob) at x + 1
hyper(m, n, k)            -> hypergeometric(N=m + n, k=m, n=k)
lnorm(meanlog, sdlog)     -> log_normal(mu=meanlog, sigma=sdlog)
logis(location, scale)    -> logistic(mu=location, s=scale)
multinom(size, prob)      -> multinomial(n=size, p=prob)
nbinom(size, mu)          -> negative_binomial(mu=mu, alpha=size)
norm(mean, sd)            -> normal(mu=mean, sigma=sd)
pois(lambda)              -> poisson(mu=lambda)
t(df)                     -> student_t(nu=df, mu=0, sigma=1)
tukey(nmeans, df)         -> studentized_range(k=nmeans, nu=df)
unif(min, max)            -> uniform(lower=min, upper=max)
weibull(shape, scale)     -> weibull(alpha=shape, beta=scale)
"""

#: What R's words in formulas are in those of a data frame here.
FORMULAS = {
    "factor": "C(g)", "ordered": "C(g, contr.poly)", "sqrt": "np.sqrt(x)", "log1p": "np.log1p(x)",
    "ns": "cr(x, df=4, constraints='center')", "offset": "an argument, offset='log(exposure)'",
}  # fmt: skip

#: What the functions of a distribution are called here, by the letter before its name: dnorm, pnorm, qnorm, rnorm.
METHODS = {"d": "pdf", "p": "cdf", "q": "ppf", "r": "rvs"}
#: Distributions that lack some of them.
LETTERS = {"multinom": "dr", "tukey": "pq"}
