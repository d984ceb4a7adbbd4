// levy_left: the Lévy distribution with its sign changed, a stable distribution on a half-line to the left
// used for: falls with an extremely heavy tail: Lévy's distribution in a mirror
// x: real, at most mu    mu: real, location    sigma: positive, scale
// density: sqrt(sigma / (2 * pi)) * exp(-sigma / (2 * (mu - x))) / (mu - x)**(3 / 2) if x < mu else 0
// source: Feller (1971), An Introduction to Probability Theory and Its Applications, vol. 2, ch. 6
__device__ real levy_left_logpdf(real x, real mu, real sigma)
{
    real d = mu - x;
    return x >= mu || isinf(x) ? -INFINITY : 0.5 * log(sigma) - HALF_LOG_2PI - 1.5 * log(d) - 0.5 * (sigma / d);
}

// sqrt(sigma / (mu - x)) is the absolute value of a standard normal variable.
__device__ real levy_left_logcdf(real x, real mu, real sigma)
{
    return x >= mu ? 0 : half_normal_logcdf(sqrt(sigma) / sqrt(mu - x), 1);
}

__device__ real levy_left_logsf(real x, real mu, real sigma)
{
    return x >= mu ? -INFINITY : half_normal_logsf(sqrt(sigma) / sqrt(mu - x), 1);
}

__device__ real levy_left_ppf(real q, real mu, real sigma)
{
    return mu - gamma_quantile_power(0.5, q, 1 - q, -1, 0.5 * sigma);
}

__device__ real levy_left_isf(real q, real mu, real sigma)
{
    return mu - gamma_quantile_power(0.5, 1 - q, q, -1, 0.5 * sigma);
}

__device__ real levy_left_sample(rng_t *rng, real mu, real sigma)
{
    real z = normal(rng);
    return mu - sigma / (z * z);
}

__device__ real levy_left_mean(real mu, real sigma) { return -INFINITY; }
__device__ real levy_left_var(real mu, real sigma) { return INFINITY; }
__device__ real levy_left_skewness(real mu, real sigma) { return NAN; }
__device__ real levy_left_kurtosis(real mu, real sigma) { return NAN; }
__device__ real levy_left_entropy(real mu, real sigma) { return 0.5 + 1.5 * EULER_GAMMA + 0.5 * log(16 * PI) + log(sigma); }
__device__ real levy_left_mode(real mu, real sigma) { return mu - sigma / 3; }
__device__ real levy_left_upper(real mu, real sigma) { return mu; }
