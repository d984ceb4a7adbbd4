// moyal: Moyal's approximation of the Landau distribution of energy losses
// used for: the energy that fast particles lose, by a formula simpler than Landau's
// x: real    mu: real, location    sigma: positive, scale
// density: exp(-(z + exp(-z)) / 2) / (sigma * sqrt(2 * pi))    z = (x - mu) / sigma
// source: Moyal (1955), Theory of ionization fluctuations
__device__ real moyal_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    if (isinf(z)) return -INFINITY;
    return -(log(sigma) + HALF_LOG_2PI) + 0.5 * log_gumbel_density(z);
}

// exp(-z) is the square of a standard normal variable.
__device__ real moyal_logcdf(real x, real mu, real sigma)
{
    return half_normal_logsf(exp((mu - x) * (0.5 / sigma)), 1);
}

__device__ real moyal_logsf(real x, real mu, real sigma)
{
    real half = (mu - x) * (0.5 / sigma), root = exp(half);
    return root < EPSILON ? log(SQRT_2_OVER_PI) + half : half_normal_logcdf(root, 1);  // root underflows far in the tail
}

__device__ real moyal_sample(rng_t *rng, real mu, real sigma)
{
    real z = fabs(normal(rng));
    return mu - 2 * sigma * log(fmax(z, 0.1 * EPSILON));  // a float32 z can be 0
}

__device__ real moyal_mean(real mu, real sigma) { return mu + (EULER_GAMMA + LOG_2) * sigma; }
__device__ real moyal_var(real mu, real sigma) { return 0.5 * PI * PI * sigma * sigma; }
__device__ real moyal_skewness(real mu, real sigma) { return 1.535141590722937; }
__device__ real moyal_kurtosis(real mu, real sigma) { return 4; }

__device__ real moyal_entropy(real mu, real sigma)
{
    return log(sigma) + (0.5 * (EULER_GAMMA + LOG_2 + 1) + HALF_LOG_2PI);
}

__device__ real moyal_mode(real mu, real sigma) { return mu; }
