// poisson_log: the Poisson distribution by the logarithm of its mean
// used for: Poisson regression of counts
// x: nonnegative integer    eta: real, logarithm of the mean
// mass: exp(eta * x - exp(eta)) / factorial(x)
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 6
__device__ real poisson_log_logpmf(real x, real eta)
{
    return poisson_kernel(x, exp(eta), eta);
}

__device__ real poisson_log_logpmf_grad_eta(real x, real eta)
{
    return x - exp(eta);
}

__device__ real poisson_log_logcdf(real x, real eta)
{
    return log_gamma_q(x + 1, exp(eta));
}

__device__ real poisson_log_logsf(real x, real eta)
{
    if (eta < -80) return (x + 1) * eta - log_gamma_1p(x + 1);  // the mean may underflow
    return log_gamma_p(x + 1, exp(eta));
}

__device__ real poisson_log_sample(rng_t *rng, real eta)
{
    return poisson_sample(rng, exp(eta));
}

__device__ real poisson_log_mean(real eta) { return exp(eta); }
__device__ real poisson_log_var(real eta) { return exp(eta); }
__device__ real poisson_log_skewness(real eta) { return exp(-0.5 * eta); }
__device__ real poisson_log_kurtosis(real eta) { return exp(-eta); }
__device__ real poisson_log_mode(real eta) { return floor(exp(eta)); }
