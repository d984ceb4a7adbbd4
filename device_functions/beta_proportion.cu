// beta_proportion: the beta distribution by its mean; the variance is mu (1 - mu) / (1 + kappa)
// used for: proportions of which the mean and the precision are known or modelled
// x: unit    mu: unit, mean, neither 0 nor 1    kappa: positive, precision, the sum of both shapes
// density: x**(kappa * mu - 1) * (1 - x)**(kappa * (1 - mu) - 1) / B(kappa * mu, kappa * (1 - mu))
// source: Ferrari & Cribari-Neto (2004), Beta regression for modelling rates and proportions; for large shapes, Loader (2000)
__device__ real beta_proportion_logpdf(real x, real mu, real kappa)
{
    if (mu == 0 || mu == 1) return NAN;
    real nu = 1 - mu, alpha = kappa * mu, beta = kappa * nu, value;
    if (large_shape(kappa))
        value = (0.5 * (log(alpha) + log(nu)) - HALF_LOG_2PI
                 - (stirling_error(alpha) + (stirling_error(beta) - stirling_error(kappa)))) - (log(x) + log1p(-x))
              + alpha * log_product_excess(x, 1 / mu, (x - mu) / mu) + beta * log_ratio_excess((1 - x) / nu, (mu - x) / nu);
    else
        value = (alpha - 1) * log(x) + (beta - 1) * log1p(-x) - lbeta(alpha, beta);
    real at_zero = log_power_at_zero(alpha - 1, log(beta) - (beta - 1) * x);
    real at_one = log_power_at_zero(beta - 1, log(alpha) + (alpha - 1) * (x - 1));
    return x == 0 ? at_zero : x == 1 ? at_one : value;
}

__device__ real beta_proportion_logcdf(real x, real mu, real kappa)
{
    return mu == 0 || mu == 1 ? NAN : log_beta_p(kappa * mu, kappa * (1 - mu), x, 1 - x);
}

__device__ real beta_proportion_logsf(real x, real mu, real kappa)
{
    return mu == 0 || mu == 1 ? NAN : log_beta_p(kappa * (1 - mu), kappa * mu, 1 - x, x);
}

__device__ real beta_proportion_ppf(real q, real mu, real kappa) { return beta_ppf(q, kappa * mu, kappa * (1 - mu)); }
__device__ real beta_proportion_isf(real q, real mu, real kappa) { return beta_isf(q, kappa * mu, kappa * (1 - mu)); }

__device__ real beta_proportion_sample(rng_t *rng, real mu, real kappa)
{
    return beta_sample(rng, kappa * mu, kappa * (1 - mu));
}

__device__ real beta_proportion_mean(real mu, real kappa) { return mu; }
__device__ real beta_proportion_var(real mu, real kappa) { return mu * (1 - mu) / (1 + kappa); }
__device__ real beta_proportion_skewness(real mu, real kappa) { return beta_skewness(kappa * mu, kappa * (1 - mu)); }
__device__ real beta_proportion_kurtosis(real mu, real kappa) { return beta_kurtosis(kappa * mu, kappa * (1 - mu)); }
__device__ real beta_proportion_entropy(real mu, real kappa) { return beta_entropy(kappa * mu, kappa * (1 - mu)); }
__device__ real beta_proportion_mode(real mu, real kappa) { return beta_mode(kappa * mu, kappa * (1 - mu)); }
