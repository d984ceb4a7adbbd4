// bernoulli_cloglog: success or failure of one trial, by the complementary log-log of the probability of success
// used for: regressions of events within an interval of time, whose coefficients are logarithms of hazard ratios
// x: nonnegative integer    eta: real, log(-log(1 - p)) of the probability p of success
// mass: p**x * (1 - p)**(1 - x) if x <= 1 else 0    p = 1 - exp(-exp(eta))
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 4

// The logarithm of the probability of success
__device__ real log_p(real eta)
{
    real rate = exp(eta);
    return rate < EPSILON ? eta - 0.5 * rate : log1mexp(-rate);
}

// Its derivative, exp(eta) / expm1(exp(eta)), which is 0 / 0 and infinity / infinity at the ends
__device__ real log_p_grad_eta(real eta)
{
    real rate = exp(eta);
    return rate < EPSILON ? 1 - 0.5 * rate : rate < 1 / EPSILON ? rate / expm1(rate) : 0;
}

__device__ real bernoulli_cloglog_logpmf(real x, real eta)
{
    if (x > 1) return -INFINITY;
    return x == 0 ? -exp(eta) : log_p(eta);
}

__device__ real bernoulli_cloglog_logcdf(real x, real eta)
{
    return x < 1 ? -exp(eta) : 0;
}

__device__ real bernoulli_cloglog_logsf(real x, real eta)
{
    return x < 1 ? log_p(eta) : -INFINITY;
}

__device__ real bernoulli_cloglog_sample(rng_t *rng, real eta)
{
    return uniform(rng) < -expm1(-exp(eta));
}

__device__ real bernoulli_cloglog_mean(real eta) { return -expm1(-exp(eta)); }
__device__ real bernoulli_cloglog_var(real eta) { return -expm1(-exp(eta)) * exp(-exp(eta)); }

__device__ real bernoulli_cloglog_skewness(real eta)
{
    real p = -expm1(-exp(eta));
    return (1 - 2 * p) / sqrt(p * exp(-exp(eta)));
}

__device__ real bernoulli_cloglog_kurtosis(real eta) { return 1 / (-expm1(-exp(eta)) * exp(-exp(eta))) - 6; }

__device__ real bernoulli_cloglog_entropy(real eta)
{
    real p = -expm1(-exp(eta));
    return exp(eta) * exp(-exp(eta)) - xlogy(p, p);
}

__device__ real bernoulli_cloglog_mode(real eta) { return exp(eta) > LOG_2 ? 1 : 0; }
__device__ real bernoulli_cloglog_upper(real eta) { return 1; }
