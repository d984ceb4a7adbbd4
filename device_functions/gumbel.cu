// gumbel: the Gumbel distribution, the extreme value distribution (type I) of maxima
// x: real    mu: real, location    beta: positive, scale
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real gumbel_logpdf(real x, real mu, real beta)
{
    if (isinf(x)) return -INFINITY;
    real z = (x - mu) * (1 / beta);
    return -log(beta) - z - exp(-z);
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
