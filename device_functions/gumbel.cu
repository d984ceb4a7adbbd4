// gumbel: the Gumbel distribution, the extreme value distribution (type I) of maxima
// used for: the largest of many values with light tails, such as yearly floods
// x: real    mu: real, location    beta: positive, scale
// density: exp(-z - exp(-z)) / beta    z = (x - mu) / beta
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real gumbel_logpdf(real x, real mu, real beta)
{
    real z = (x - mu) * (1 / beta);
    if (isinf(z)) return -INFINITY;
    return log_gumbel_density(z) - log(beta);
}

__device__ real gumbel_logcdf(real x, real mu, real beta)
{
    return -exp((mu - x) * (1 / beta));
}

__device__ real gumbel_logsf(real x, real mu, real beta)
{
    real z = (x - mu) * (1 / beta), t = exp(-z);
    return t < EPSILON ? -z : log1mexp(-t);  // t underflows far in the tail
}

// A small u gives a large value: there are more digits of u near 0 than near 1.
__device__ real gumbel_sample(rng_t *rng, real mu, real beta)
{
    return mu - beta * log(-log1p(-uniform(rng)));
}

__device__ real gumbel_ppf(real q, real mu, real beta) { return mu - beta * log(-log(q)); }
__device__ real gumbel_isf(real q, real mu, real beta) { return mu - beta * log(-log1p(-q)); }
__device__ real gumbel_mean(real mu, real beta) { return mu + EULER_GAMMA * beta; }
__device__ real gumbel_var(real mu, real beta) { return PI * PI / 6 * beta * beta; }
__device__ real gumbel_skewness(real mu, real beta) { return 1.139547099404648658; }
__device__ real gumbel_kurtosis(real mu, real beta) { return 2.4; }
__device__ real gumbel_entropy(real mu, real beta) { return log(beta) + EULER_GAMMA + 1; }
__device__ real gumbel_mode(real mu, real beta) { return mu; }
