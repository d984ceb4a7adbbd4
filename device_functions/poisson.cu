// poisson: number of events that occur at a constant rate
// x: nonnegative integer    mu: nonnegative, mean
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
