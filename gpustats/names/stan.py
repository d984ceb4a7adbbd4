"""Stan's distributions as densities of gpustats: a line for each, in the form of `gpustats.names.scipy`."""

from __future__ import annotations

DISTRIBUTIONS = """
bernoulli(theta)                   -> bernoulli(p=theta)
bernoulli_logit(alpha)             -> bernoulli_logit(eta=alpha)
beta(alpha, beta)                  -> beta(alpha=alpha, beta=beta)
beta_binomial(N, alpha, beta)      -> beta_binomial(alpha=alpha, beta=beta, n=N)
beta_proportion(mu, kappa)         -> beta(alpha=mu * kappa, beta=(1 - mu) * kappa)
binomial(N, theta)                 -> binomial(n=N, p=theta)
binomial_logit(N, alpha)           -> binomial_logit(n=N, eta=alpha)
categorical(theta)                 -> categorical(p=theta) at x - 1
categorical_logit(beta)            -> categorical_logit(eta=beta) at x - 1
cauchy(mu, sigma)                  -> cauchy(alpha=mu, beta=sigma)
chi_square(nu)                     -> chi_squared(nu=nu)
dirichlet(alpha)                   -> dirichlet(a=alpha)
discrete_range(l, u)               -> discrete_uniform(lower=l, upper=u)
double_exponential(mu, sigma)      -> laplace(mu=mu, b=sigma)
exp_mod_normal(mu, sigma, lambda)  -> ex_gaussian(mu=mu, sigma=sigma, nu=1 / lambda)
exponential(beta)                  -> exponential(lam=beta)
frechet(alpha, sigma)              -> frechet(alpha=alpha, sigma=sigma)
gamma(alpha, beta)                 -> gamma(alpha=alpha, beta=beta)
gumbel(mu, beta)                   -> gumbel(mu=mu, beta=beta)
hypergeometric(N, a, b)            -> hypergeometric(N=a + b, k=a, n=N)
inv_chi_square(nu)                 -> inverse_chi_squared(nu=nu)
inv_gamma(alpha, beta)             -> inverse_gamma(alpha=alpha, beta=beta)
logistic(mu, sigma)                -> logistic(mu=mu, s=sigma)
loglogistic(alpha, beta)           -> log_logistic(alpha=beta, sigma=alpha)
lognormal(mu, sigma)               -> log_normal(mu=mu, sigma=sigma)
multi_normal(mu, Sigma)            -> mvnormal(mu=mu, cov=Sigma)
multi_normal_cholesky(mu, L)       -> mvnormal(mu=mu, scale_tril=L)
multi_normal_prec(mu, Omega)       -> mvnormal(mu=mu, precision=Omega)
multi_student_t(nu, mu, Sigma)     -> mv_student_t(nu=nu, mu=mu, cov=Sigma)
neg_binomial(alpha, beta)          -> negative_binomial(mu=alpha / beta, alpha=alpha)
neg_binomial_2(mu, phi)            -> negative_binomial(mu=mu, alpha=phi)
neg_binomial_2_log(eta, phi)       -> negative_binomial_log(eta=eta, phi=phi)
normal(mu, sigma)                  -> normal(mu=mu, sigma=sigma)
ordered_logistic(eta, c)           -> ordered_logit(eta=eta, cutpoints=c) at x - 1
ordered_probit(eta, c)             -> ordered_probit(eta=eta, cutpoints=c, sigma=1) at x - 1
pareto(y_min, alpha)               -> pareto(alpha=alpha, m=y_min)
pareto_type_2(mu, lambda, alpha)   -> lomax(alpha=alpha, sigma=lambda) at x - mu
poisson(lambda)                    -> poisson(mu=lambda)
poisson_log(alpha)                 -> poisson_log(eta=alpha)
rayleigh(sigma)                    -> rayleigh(sigma=sigma)
scaled_inv_chi_square(nu, sigma)   -> scaled_inverse_chi_squared(nu=nu, sigma=sigma)
skew_normal(xi, omega, alpha)      -> skew_normal(alpha=alpha, mu=xi, sigma=omega)
student_t(nu, mu, sigma)           -> student_t(nu=nu, mu=mu, sigma=sigma)
uniform(alpha, beta)               -> uniform(lower=alpha, upper=beta)
von_mises(mu, kappa)               -> von_mises(mu=mu, kappa=kappa)
weibull(alpha, sigma)              -> weibull(alpha=alpha, beta=sigma)
"""
