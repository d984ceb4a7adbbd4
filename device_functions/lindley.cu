// lindley: Lindley's distribution, a mixture of an exponential and a gamma distribution of shape 2, both of rate theta
// used for: waiting and service times whose hazard grows to a limit
// x: nonnegative    theta: positive, rate
// density: theta**2 / (1 + theta) * (1 + x) * exp(-theta * x)
// source: Ghitany, Atieh & Nadarajah (2008), Lindley distribution and its application
__device__ real lindley_logpdf(real x, real theta)
{
    return isinf(x) ? -INFINITY : (2 * log(theta) - log1p(theta)) + log1p(x) - theta * x;
}

// In the proportions of the mixture, so that nothing cancels
__device__ real lindley_logcdf(real x, real theta)
{
    real y = theta * x, mixed = (theta * -expm1(-y) + gamma_p(2, y)) / (1 + theta);
    return x == 0 ? -INFINITY : isinf(y) ? 0 : y < 1 ? log(mixed) : log1mexp(log1p(y / (1 + theta)) - y);
}

__device__ real lindley_logsf(real x, real theta)
{
    real y = theta * x;
    return isinf(y) ? -INFINITY : log1p(y / (1 + theta)) - y;
}

__device__ real lindley_sample(rng_t *rng, real theta)
{
    real u = uniform(rng), first = exponential(rng), second = exponential(rng);
    return (first + (u * (1 + theta) < 1 ? second : 0)) / theta;
}

__device__ real lindley_mean(real theta) { return (1 + 1 / (1 + theta)) / theta; }

__device__ real lindley_var(real theta)
{
    real share = 1 / (1 + theta);  // of the gamma distribution
    return (1 + 2 * share - share * share) / (theta * theta);
}

__device__ real lindley_skewness(real theta)
{
    real share = 1 / (1 + theta), square = 1 + 2 * share - share * share;
    return 2 * (1 + 3 * share - 3 * share * share + share * share * share) / (square * sqrt(square));
}

__device__ real lindley_kurtosis(real theta)
{
    real share = 1 / (1 + theta), square = 1 + 2 * share - share * share, s = share * share;
    return 6 * (1 + 4 * share - 6 * s + 4 * s * share - s * s) / (square * square);
}

__device__ real lindley_mode(real theta) { return theta < 1 ? (1 - theta) / theta : 0; }
