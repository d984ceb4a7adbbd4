// poisson: number of events that occur at a constant rate
// used for: counts of rare events in a fixed time or area: calls, accidents, photons
// x: nonnegative integer    mu: nonnegative, mean
// mass: mu**x * exp(-mu) / factorial(x)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 4; for large means, Loader (2000)

// With log(mu), however the caller comes by it.
__device__ real poisson_kernel(real x, real mu, real log_mu)
{
    if (large_shape(mu))
        return x == 0 ? -mu : x * log_excess(log_mu - log(x), (mu - x) * (1 / x)) - factorial_remainder(x);
    return (x == 0 ? 0 : x * log_mu) - mu - log_factorial(x);
}

__device__ real poisson_logpmf(real x, real mu)
{
    return poisson_kernel(x, mu, log(mu));
}

// The derivative in mu, x / mu - 1, finite where x and mu are 0.
__device__ real poisson_logpmf_grad_mu(real x, real mu)
{
    return x == 0 ? -1 : (x - mu) * (1 / mu);
}

__device__ real poisson_logcdf(real x, real mu)
{
    return log_gamma_q(x + 1, mu);
}

__device__ real poisson_logsf(real x, real mu)
{
    return log_gamma_p(x + 1, mu);
}

// By inversion where the mean is small. Else by transformed rejection, PTRS.
// Source: Hörmann (1993), The transformed rejection method for generating Poisson random variables.
__device__ real poisson_sample(rng_t *rng, real mu)
{
    if (isinf(mu)) return mu;
    if (mu < 10) {
        real u = uniform(rng), term = exp(-mu), k = 0;
        while (u > term && term > 1e-3 * EPSILON) {  // behind the smallest terms, u is what rounding has left
            u -= term;
            k++;
            term *= mu / k;
        }
        return k;
    }
    real b = 0.931 + 2.53 * sqrt(mu), a = -0.059 + 0.02483 * b, quick = 0.9277 - 3.6224 / (b - 2);
    real log_scale = log(1.1239 + 1.1328 / (b - 3.4)), value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real u = uniform(rng), v = uniform(rng), tail = 0.5 - fabs(u - 0.5);
        real k = floor((2 * a / tail + b) * (u - 0.5) + mu + 0.43);
        int accepted = tail >= 0.07 && v <= quick;
        if (unlikely(!accepted && k >= 0 && (tail >= 0.013 || v <= tail)))
            accepted = log(v) + log_scale - log(a / (tail * tail) + b) <= poisson_logpmf(k, mu);
        if (accepted) value = k;
    }
    return value;
}

__device__ real poisson_mean(real mu) { return mu; }
__device__ real poisson_var(real mu) { return mu; }
__device__ real poisson_skewness(real mu) { return 1 / sqrt(mu); }
__device__ real poisson_kurtosis(real mu) { return 1 / mu; }
__device__ real poisson_mode(real mu) { return floor(mu); }
