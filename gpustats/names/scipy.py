"""SciPy's distributions as densities of gpustats: a line for each, of which `gpustats.scipy_stats` is made, too.

A line has SciPy's name and shapes, then the density with a C expression for each of its parameters. These are made of the
shapes, ``loc`` and ``scale``; what of a shift or a scale they do not take up moves x, behind ``at``. A shape has the domain of
the parameter that it is, or the one behind its name. The bounds of a support that the density does not know follow ``within``.
"""

from __future__ import annotations

import math

CONTINUOUS = """
alpha(a)                              -> alpha(a=a, sigma=scale) at x - loc
anglit()                              -> anglit(mu=loc, sigma=scale)
arcsine()                             -> arcsine(lower=loc, upper=loc + scale)
argus(chi)                            -> argus(chi=chi) at (x - loc) / scale
beta(a, b)                            -> beta(alpha=a, beta=b) at (x - loc) / scale
betaprime(a, b)                       -> beta_prime(alpha=a, beta=b, sigma=scale) at x - loc
bradford(c)                           -> bradford(c=c) at (x - loc) / scale
burr(c, d)                            -> burr(c=c, k=d, sigma=scale) at x - loc
burr12(c, d)                          -> burr12(c=c, k=d, sigma=scale) at x - loc
cauchy()                              -> cauchy(alpha=loc, beta=scale)
chi(df)                               -> chi(nu=df) at (x - loc) / scale
chi2(df)                              -> chi_squared(nu=df) at (x - loc) / scale
cosine()                              -> cosine(mu=loc, sigma=scale)
crystalball(beta, m)                  -> crystal_ball(beta=beta, m=m, mu=loc, sigma=scale)
dgamma(a)                             -> double_gamma(alpha=a, mu=loc, sigma=scale)
dpareto_lognorm(u, s, a, b)           -> double_pareto_log_normal(alpha=a, beta=b, mu=u + log(scale), sigma=s) at x - loc
dweibull(c)                           -> double_weibull(alpha=c, mu=loc, sigma=scale)
erlang(a)                             -> gamma(alpha=a, beta=1 / scale) at x - loc
expon()                               -> exponential(lam=1 / scale) at x - loc
exponnorm(K: positive)                -> ex_gaussian(mu=loc, sigma=scale, nu=K * scale)
exponpow(b)                           -> exponential_power(b=b, sigma=scale) at x - loc
exponweib(a, c)                       -> exponentiated_weibull(alpha=c, theta=a, sigma=scale) at x - loc
f(dfn, dfd)                           -> fisher_snedecor(d1=dfn, d2=dfd) at (x - loc) / scale
fatiguelife(c)                        -> birnbaum_saunders(alpha=c, beta=scale) at x - loc
fisk(c)                               -> log_logistic(alpha=c, sigma=scale) at x - loc
foldcauchy(c: nonnegative)            -> folded_cauchy(mu=c * scale, sigma=scale) at x - loc
foldnorm(c: nonnegative)              -> folded_normal(mu=c * scale, sigma=scale) at x - loc
gamma(a)                              -> gamma(alpha=a, beta=1 / scale) at x - loc
gausshyper(a, b, c, z)                 -> gauss_hypergeometric(a=a, b=b, c=c, z=z) at (x - loc) / scale
genexpon(a, b, c)                     -> generalized_exponential(a=a, b=b, c=c, sigma=scale) at x - loc
genextreme(c)                         -> generalized_extreme_value(mu=loc, sigma=scale, xi=-c)
gengamma(a, c)                        -> generalized_gamma(a=a, c=c, sigma=scale) at x - loc
genhalflogistic(c)                    -> generalized_half_logistic(c=c, sigma=scale) at x - loc
geninvgauss(p, b)                     -> generalized_inverse_gaussian(p=p, b=b, sigma=scale) at x - loc
genhyperbolic(p, a: nonnegative, b)    -> generalized_hyperbolic(p=p, alpha=a / scale, beta=b / scale, mu=loc, delta=scale)
genlogistic(c)                        -> generalized_logistic(alpha=c, mu=loc, sigma=scale)
gennorm(beta)                         -> generalized_normal(beta=beta, mu=loc, sigma=scale)
genpareto(c)                          -> generalized_pareto(mu=loc, sigma=scale, xi=c)
gibrat()                              -> log_normal(mu=log(scale), sigma=1) at x - loc
gompertz(c)                           -> gompertz(eta=c, sigma=scale) at x - loc
gumbel_l()                            -> gumbel_min(mu=loc, beta=scale)
gumbel_r()                            -> gumbel(mu=loc, beta=scale)
halfcauchy()                          -> half_cauchy(beta=scale) at x - loc
halfgennorm(beta)                     -> half_generalized_normal(beta=beta, sigma=scale) at x - loc
halflogistic()                        -> half_logistic(sigma=scale) at x - loc
halfnorm()                            -> half_normal(sigma=scale) at x - loc
hypsecant()                           -> hyperbolic_secant(mu=loc, sigma=scale)
invgamma(a)                           -> inverse_gamma(alpha=a, beta=scale) at x - loc
invgauss(mu: positive)                -> wald(mu=mu * scale, lam=scale) at x - loc
invweibull(c)                         -> frechet(alpha=c, sigma=scale) at x - loc
irwinhall(n)                          -> irwin_hall(n=n) at (x - loc) / scale
jf_skew_t(a, b)                       -> skew_student_t(a=a, b=b, mu=loc, sigma=scale)
johnsonsb(a, b)                       -> johnson_sb(gamma=a, delta=b) at (x - loc) / scale
johnsonsu(a, b)                       -> johnson_su(gamma=a, delta=b, mu=loc, sigma=scale)
kappa3(a)                             -> kappa3(a=a, sigma=scale) at x - loc
kappa4(h, k)                          -> kappa4(h=h, k=k, mu=loc, sigma=scale)
ksone(n: positive integer)             -> kolmogorov_smirnov_one_sided(n=n) at (x - loc) / scale
kstwo(n: positive integer)             -> kolmogorov_smirnov(n=n) at (x - loc) / scale
kstwobign()                           -> kolmogorov(sigma=scale) at x - loc
landau()                              -> landau(mu=loc - 2 / PI * log(0.5 * PI) * scale, sigma=2 / PI * scale)
laplace()                             -> laplace(mu=loc, b=scale)
laplace_asymmetric(kappa)             -> asymmetric_laplace(kappa=kappa, mu=loc, b=1 / scale)
levy_stable(alpha, beta)              -> stable(alpha=alpha, beta=beta, mu=loc + stable_shift(alpha, beta, scale), sigma=scale)
levy()                                -> levy(mu=loc, sigma=scale)
levy_l()                              -> levy_left(mu=loc, sigma=scale)
loggamma(c)                           -> exp_gamma(alpha=c, mu=loc, sigma=scale)
logistic()                            -> logistic(mu=loc, s=scale)
loglaplace(c)                         -> log_laplace(c=c, sigma=scale) at x - loc
lognorm(s)                            -> log_normal(mu=log(scale), sigma=s) at x - loc
loguniform(a: positive, b: positive)  -> log_uniform(lower=a * scale, upper=b * scale) at x - loc
lomax(c)                              -> lomax(alpha=c, sigma=scale) at x - loc
maxwell()                             -> maxwell(sigma=scale) at x - loc
mielke(k, s)                          -> mielke(k=k, s=s, sigma=scale) at x - loc
moyal()                               -> moyal(mu=loc, sigma=scale)
nakagami(nu)                          -> nakagami(nu=nu, sigma=scale) at x - loc
ncf(dfn, dfd, nc)                     -> noncentral_f(d1=dfn, d2=dfd, lam=nc) at (x - loc) / scale
nct(df, nc)                           -> noncentral_t(nu=df, delta=nc, mu=loc, sigma=scale)
ncx2(df, nc)                          -> noncentral_chi_squared(nu=df, lam=nc) at (x - loc) / scale
norm()                                -> normal(mu=loc, sigma=scale)
norminvgauss(a: positive, b)          -> normal_inverse_gaussian(alpha=a / scale, beta=b / scale, mu=loc, delta=scale)
pareto(b)                             -> pareto(alpha=b, m=scale) at x - loc
pearson3(skew)                        -> pearson3(skew=skew, mu=loc, sigma=scale)
powerlaw(a)                           -> power_function(alpha=a) at (x - loc) / scale
powerlognorm(c, s)                    -> power_log_normal(p=c, mu=log(scale), sigma=s) at x - loc
powernorm(c)                          -> power_normal(p=c, mu=loc, sigma=scale)
rayleigh()                            -> rayleigh(sigma=scale) at x - loc
rdist(c)                              -> rdist(c=c) at (x - loc) / scale
recipinvgauss(mu: positive)           -> reciprocal_inverse_gaussian(mu=mu / scale, lam=1 / scale) at x - loc
reciprocal(a: positive, b: positive)  -> log_uniform(lower=a * scale, upper=b * scale) at x - loc
rel_breitwigner(rho: positive)        -> relativistic_breit_wigner(m=rho * scale, gamma=scale) at x - loc
rice(b: nonnegative)                  -> rice(nu=b * scale, sigma=scale) at x - loc
semicircular()                        -> semicircular(mu=loc, sigma=scale)
skewcauchy(a)                         -> skew_cauchy(a=a, mu=loc, sigma=scale)
skewnorm(a)                           -> skew_normal(alpha=a, mu=loc, sigma=scale)
studentized_range(k, df)              -> studentized_range(k=k, nu=df) at (x - loc) / scale
t(df)                                 -> student_t(nu=df, mu=loc, sigma=scale)
trapezoid(c: unit, d: unit)           -> trapezoidal(lower=loc, upper=loc + scale, c=loc + c * scale, d=loc + d * scale)
triang(c: unit)                       -> triangular(lower=0, upper=1, c=c) at (x - loc) / scale
truncexpon(b: positive)               -> truncated_exponential(lam=1 / scale, upper=b * scale) at x - loc
truncnorm(a, b)                       -> truncated_normal(mu=0, sigma=1, lower=a, upper=b) at (x - loc) / scale
truncpareto(b, c: positive)           -> truncated_pareto(alpha=b, m=scale, upper=c * scale) at x - loc
truncweibull_min(c, a, b)             -> truncated_weibull(alpha=c, beta=1, lower=a, upper=b) at (x - loc) / scale
tukeylambda(lam)                      -> tukey_lambda(lam=lam, mu=loc, sigma=scale)
uniform()                             -> uniform(lower=0, upper=1) at (x - loc) / scale
vonmises(kappa)                       -> von_mises(mu=0, kappa=kappa) at (x - loc) / scale
vonmises_line(kappa)                  -> von_mises(mu=0, kappa=kappa) at (x - loc) / scale within -PI, PI
wald()                                -> wald(mu=scale, lam=scale) at x - loc
weibull_max(c)                        -> weibull_max(alpha=c, beta=scale) at x - loc
weibull_min(c)                        -> weibull(alpha=c, beta=scale) at x - loc
wrapcauchy(c: positive unit)          -> wrapped_cauchy(mu=PI, rho=-c) at (x - loc) / scale within 0, 2 * PI
"""

DISCRETE = """
bernoulli(p)                          -> bernoulli(p=p) at x - loc
betabinom(n, a, b)                    -> beta_binomial(alpha=a, beta=b, n=n) at x - loc
betanbinom(n: positive integer, a, b)  -> beta_negative_binomial(alpha=a, beta=b, n=n) at x - loc
binom(n, p)                           -> binomial(n=n, p=p) at x - loc
boltzmann(lambda_, N)                 -> boltzmann(lam=lambda_, N=N) at x - loc
dlaplace(a)                           -> discrete_laplace(a=a) at x - loc
geom(p)                               -> geometric(p=p) at x - loc
hypergeom(M, n, N)                    -> hypergeometric(N=M, k=n, n=N) at x - loc
logser(p)                             -> log_series(p=p) at x - loc
nbinom(n, p: positive unit)           -> negative_binomial(mu=n * ((1 - p) / p), alpha=n) at x - loc
nchypergeom_fisher(M, n, N, odds)     -> fisher_noncentral_hypergeometric(N=M, k=n, n=N, omega=odds) at x - loc
nchypergeom_wallenius(M, n, N, odds)  -> wallenius_noncentral_hypergeometric(N=M, k=n, n=N, omega=odds) at x - loc
nhypergeom(M, n, r)                   -> negative_hypergeometric(M=M, n=n, r=r) at x - loc
planck(lambda_)                       -> planck(lam=lambda_) at x - loc
poisson(mu)                           -> poisson(mu=mu) at x - loc
poisson_binom(p)                      -> poisson_binomial(p=p) at x - loc
randint(low, high: integer)           -> discrete_uniform(lower=low, upper=high - 1) at x - loc
skellam(mu1, mu2)                     -> skellam(mu1=mu1, mu2=mu2) at x - loc
yulesimon(alpha)                      -> yule_simon(alpha=alpha) at x - loc
zipf(a)                               -> zipf(a=a) at x - loc
zipfian(a, n)                         -> zipfian(a=a, n=n) at x - loc
"""

#: Distributions of vectors, which `gpustats.scipy_stats` has without this table.
OF_VECTORS = """
dirichlet(alpha)                      -> dirichlet(a=alpha)
dirichlet_multinomial(alpha, n)       -> dirichlet_multinomial(n=n, a=alpha)
multinomial(n, p)                     -> multinomial(n=n, p=p)
multivariate_hypergeom(m, n)          -> multivariate_hypergeometric(n=n, m=m)
multivariate_normal(mean, cov)        -> mvnormal(mu=mean, cov=cov)
multivariate_t(loc, shape, df)        -> mv_student_t(nu=df, mu=loc, cov=shape)
normal_inverse_gamma(mu, lmbda, a, b) -> normal_inverse_gamma(mu=mu, lam=lmbda, alpha=a, beta=b)
vonmises_fisher(mu, kappa)            -> von_mises_fisher(mu=mu, kappa=kappa)
"""

#: The ends of the support of a distribution in its standard form, where its shapes do not move them and the domain of the
#: density's observation does not tell.
SUPPORTS = {
    "anglit": (-math.pi / 4, math.pi / 4), "arcsine": (0, 1), "cosine": (-math.pi, math.pi), "genpareto": (0, math.inf),
    "levy": (0, math.inf), "levy_l": (-math.inf, 0), "pareto": (1, math.inf), "rdist": (-1, 1), "semicircular": (-1, 1),
    "trapezoid": (0, 1), "triang": (0, 1), "truncpareto": (1, math.inf), "uniform": (0, 1),
    "vonmises_line": (-math.pi, math.pi), "weibull_max": (-math.inf, 0), "wrapcauchy": (0, 2 * math.pi),
}  # fmt: skip

#: Parameters that fits fix unless told otherwise, as SciPy's do: another scale would be that of a circle, or of the shapes.
FIXED_BY_DEFAULT = {"vonmises": {"fscale": 1}, "loguniform": {"fscale": 1}, "reciprocal": {"fscale": 1}}

#: Distributions whose loc is an angle: fits give loc between -pi and pi, as SciPy's do.
LOC_IS_ANGLE = ("vonmises",)
