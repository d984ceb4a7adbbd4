// kappa3: the kappa distribution with a shape and a scale
// used for: rainfall and river flows with a heavy right tail
// x: nonnegative    a: positive, shape    sigma: positive, scale
// density: a / sigma * (a + z**a)**(-(a + 1) / a)    z = x / sigma
// source: Mielke & Johnson (1973), Three-parameter kappa distribution maximum likelihood estimates
__device__ real kappa3_logpdf(real x, real a, real sigma)
{
    real constant = -(log(a) / a + log(sigma));
    return constant - (1 + 1 / a) * (x == 0 ? pow(x, a) / (a * pow(sigma, a)) : log1pexp(a * log_quotient(x, sigma) - log(a)));
}

__device__ real kappa3_logpdf_grad_x(real x, real a, real sigma)
{
    if (x == 0) return a > 1 ? 0 : a == 1 ? -2 / sigma : -INFINITY;
    return -(1 + a) * exp(log_expit(a * log_quotient(x, sigma) - log(a)) - log(x));  // expit may underflow
}

__device__ real kappa3_logcdf(real x, real a, real sigma)
{
    return -log1pexp(log(a) - a * log_quotient(x, sigma)) / a;
}

// -log(-log of the distribution function) has a standard Gumbel distribution.
__device__ real kappa3_logsf(real x, real a, real sigma)
{
    return gumbel_logsf(log(a) - log_log1pexp(log(a) - a * log_quotient(x, sigma)), 0, 1);
}

// Where the distribution function is exp(-h)
__device__ real quantile(real h, real a, real sigma) { return scaled_exp(sigma, (log(a) - log_expm1(h * a)) / a); }

__device__ real kappa3_ppf(real q, real a, real sigma) { return quantile(-log(q), a, sigma); }
__device__ real kappa3_isf(real q, real a, real sigma) { return quantile(-log1p(-q), a, sigma); }
__device__ real kappa3_sample(rng_t *rng, real a, real sigma) { return quantile(exponential(rng), a, sigma); }

// It is a Burr distribution of type III with this scale and the shapes a and 1 / a.
__device__ real scale(real a, real sigma) { return scaled_exp(sigma, log(a) / a); }

__device__ real kappa3_mean(real a, real sigma) { return burr_mean(a, 1 / a, scale(a, sigma)); }
__device__ real kappa3_var(real a, real sigma) { return burr_var(a, 1 / a, scale(a, sigma)); }
__device__ real kappa3_entropy(real a, real sigma) { return burr_entropy(a, 1 / a, scale(a, sigma)); }
__device__ real kappa3_mode(real a, real sigma) { return 0; }
