// weibull_max: the Weibull distribution of maxima, that of a Weibull variable with its sign changed
// used for: largest values that have an upper end
// x: real, at most 0    alpha: positive, shape    beta: positive, scale
// density: alpha / beta * (-x / beta)**(alpha - 1) * exp(-(-x / beta)**alpha) if x <= 0 else 0
// source: Johnson, Kotz & Balakrishnan (1995), ch. 22
__device__ real weibull_max_logpdf(real x, real alpha, real beta)
{
    return x > 0 ? -INFINITY : weibull_logpdf(-x, alpha, beta);
}

__device__ real weibull_max_logcdf(real x, real alpha, real beta)
{
    return x >= 0 ? 0 : weibull_logsf(-x, alpha, beta);
}

__device__ real weibull_max_logsf(real x, real alpha, real beta)
{
    return x >= 0 ? -INFINITY : weibull_logcdf(-x, alpha, beta);
}

__device__ real weibull_max_sample(rng_t *rng, real alpha, real beta)
{
    return -weibull_sample(rng, alpha, beta);
}

__device__ real weibull_max_ppf(real q, real alpha, real beta) { return -weibull_isf(q, alpha, beta); }
__device__ real weibull_max_isf(real q, real alpha, real beta) { return -weibull_ppf(q, alpha, beta); }
__device__ real weibull_max_mean(real alpha, real beta) { return -weibull_mean(alpha, beta); }
__device__ real weibull_max_var(real alpha, real beta) { return weibull_var(alpha, beta); }
__device__ real weibull_max_entropy(real alpha, real beta) { return weibull_entropy(alpha, beta); }
__device__ real weibull_max_mode(real alpha, real beta) { return -weibull_mode(alpha, beta); }
__device__ real weibull_max_upper(real alpha, real beta) { return 0; }
