// beta_logit: the beta distribution by the log odds of its mean; the variance is mean (1 - mean) / (1 + phi)
// used for: beta regression of proportions
// x: unit    eta: real, log odds of the mean    phi: positive, precision
// density: x**(phi * mu - 1) * (1 - x)**(phi * (1 - mu) - 1) / B(phi * mu, phi * (1 - mu))    mu = 1 / (1 + exp(-eta))
// source: Ferrari & Cribari-Neto (2004), Beta regression for modelling rates and proportions; in the form of Loader (2000)

// The shapes are phi mu and phi nu, where mu is the mean and nu = 1 - mu; either may be so small that it underflows.

// mu log(x / mu) + nu log((1 - x) / nu): minus the divergence of x from the mean
__device__ real divergence(real x, real eta)
{
    real mu = expit(eta), nu = expit(-eta);
    real deviation = eta < 0 ? x - mu : nu - (1 - x);
    return (mu == 0 ? -x : mu * log_excess(log(x) - log_expit(eta), deviation / mu))
         + (nu == 0 ? x - 1 : nu * log_excess(log1p(-x) - log_expit(-eta), -deviation / nu));
}

// Its derivative in eta, mu nu (logit(x) - eta), by which nothing cancels
__device__ real divergence_grad_eta(real x, real eta)
{
    return expit(eta) * expit(-eta) * ((log(x) - log_expit(eta)) - (log1p(-x) - log_expit(-eta)));
}

// log(z^z exp(-z) / Gamma(z))
__device__ real log_power_over_gamma(real z, real log_z)
{
    return z < 1e-30 ? log_z : 0.5 * log_z - HALF_LOG_2PI - stirling_error(z);
}

__device__ real beta_logit_logpdf(real x, real eta, real phi)
{
    real log_phi = log(phi), alpha = phi * expit(eta), beta = phi * expit(-eta);
    real log_normalization = log_power_over_gamma(alpha, log_phi + log_expit(eta))
                           + log_power_over_gamma(beta, log_phi + log_expit(-eta)) - log_power_over_gamma(phi, log_phi);
    real value = log_normalization - (log(x) + log1p(-x)) + phi * divergence(x, eta);
    real at_zero = log_power_at_zero(alpha - 1, log(beta) - (beta - 1) * x);
    real at_one = log_power_at_zero(beta - 1, log(alpha) + (alpha - 1) * (x - 1));
    return x == 0 ? at_zero : x == 1 ? at_one : value;
}

// What stands for a shape that may underflow. P(X > x) is proportional to alpha where that is so small, P(X <= x) to beta.
__device__ real least()
{
    return exp((real)(EPSILON < 1e-10 ? -690 : -80));
}

__device__ real beta_logit_logcdf(real x, real eta, real phi)
{
    real alpha = phi * expit(eta), beta = phi * expit(-eta);
    if (x == 0 || x == 1) return x == 0 ? -INFINITY : 0;
    if (beta > least()) return beta_logcdf(x, alpha, beta);
    return beta_logcdf(x, alpha, least()) + (log(phi) + log_expit(-eta) - log(least()));
}

__device__ real beta_logit_logsf(real x, real eta, real phi)
{
    real alpha = phi * expit(eta), beta = phi * expit(-eta);
    if (x == 0 || x == 1) return x == 0 ? 0 : -INFINITY;
    if (alpha > least()) return beta_logsf(x, alpha, beta);
    return beta_logsf(x, least(), beta) + (log(phi) + log_expit(eta) - log(least()));
}

__device__ real beta_logit_ppf(real q, real eta, real phi) { return beta_ppf(q, phi * expit(eta), phi * expit(-eta)); }
__device__ real beta_logit_isf(real q, real eta, real phi) { return beta_isf(q, phi * expit(eta), phi * expit(-eta)); }

__device__ real beta_logit_sample(rng_t *rng, real eta, real phi)
{
    return beta_sample(rng, phi * expit(eta), phi * expit(-eta));
}

__device__ real beta_logit_mean(real eta, real phi) { return expit(eta); }
__device__ real beta_logit_var(real eta, real phi) { return expit(eta) * expit(-eta) / (1 + phi); }
__device__ real beta_logit_skewness(real eta, real phi) { return beta_skewness(phi * expit(eta), phi * expit(-eta)); }
__device__ real beta_logit_kurtosis(real eta, real phi) { return beta_kurtosis(phi * expit(eta), phi * expit(-eta)); }
__device__ real beta_logit_entropy(real eta, real phi) { return beta_entropy(phi * expit(eta), phi * expit(-eta)); }
__device__ real beta_logit_mode(real eta, real phi) { return beta_mode(phi * expit(eta), phi * expit(-eta)); }
