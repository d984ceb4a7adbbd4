// double_pareto_log_normal: log-normal variable times a quotient of two Pareto variables: power laws in both tails
// used for: sizes of cities, files and incomes, which have power laws at both ends
// x: nonnegative    alpha: positive, power of the upper tail    beta: positive, power of the lower tail
// mu: real, mean of the normal    sigma: positive, its standard deviation
// density: alpha * beta / (alpha + beta) * phi(z) / x * (Phi(-u) / phi(u) + Phi(-v) / phi(v))
// z = (log(x) - mu) / sigma    u = alpha * sigma - z    v = beta * sigma + z
// source: Reed & Jorgensen (2004), The double Pareto-lognormal distribution

// The logarithm of phi(z) R(d - z), R being Mills' ratio of the normal distribution
__device__ real log_mills_term(real z, real d)
{
    real y = (d - z) / SQRT_2;
    return d > z ? log(0.5 * scaled_erfc(y)) - 0.5 * z * z : d * (0.5 * d - z) + log_ndtr(z - d);
}

__device__ real double_pareto_log_normal_logpdf(real x, real alpha, real beta, real mu, real sigma)
{
    real log_share = log(alpha) + log(beta) - log(alpha + beta);
    if (x == 0) return log_power_at_zero(beta - 1, log_share + 0.5 * sigma * sigma - mu);
    if (isinf(x)) return -INFINITY;
    real z = (log(x) - mu) * (1 / sigma);
    return log_share - log(x) + logaddexp(log_mills_term(z, alpha * sigma), log_mills_term(-z, beta * sigma));
}

// log P(Z + E / alpha - F / beta <= z) of a normal and two exponential variables: a sum of positive terms, of which one is
// Phi(z) - phi(z) R(d - z)
__device__ real log_normal_laplace(real z, real alpha, real beta)
{
    real log_below = -log1p(beta / alpha), log_above = -log1p(alpha / beta), width = alpha / SQRT_2;
    real difference = z < 1.4 ? log(0.5 * width * scaled_erfc_mean_slope(-z / SQRT_2, width)) - 0.5 * z * z
                    : logsubexp(log_ndtr(z), log_mills_term(z, alpha));
    return logaddexp(log_below + logaddexp(log_ndtr(z), log_mills_term(-z, beta)), log_above + difference);
}

__device__ real double_pareto_log_normal_logcdf(real x, real alpha, real beta, real mu, real sigma)
{
    return x == 0 ? -INFINITY : log_normal_laplace((log(x) - mu) * (1 / sigma), alpha * sigma, beta * sigma);
}

__device__ real double_pareto_log_normal_logsf(real x, real alpha, real beta, real mu, real sigma)
{
    return x == 0 ? 0 : log_normal_laplace((mu - log(x)) * (1 / sigma), beta * sigma, alpha * sigma);
}

__device__ real double_pareto_log_normal_sample(rng_t *rng, real alpha, real beta, real mu, real sigma)
{
    real z = normal(rng), up = exponential(rng), down = exponential(rng);
    return exp(mu + sigma * z + up / alpha - down / beta);
}

// The mean of x^k is exp(k mu + (k sigma)^2 / 2) / ((1 - k / alpha) (1 + k / beta)).
__device__ real double_pareto_log_normal_mean(real alpha, real beta, real mu, real sigma)
{
    return alpha > 1 ? exp(mu + 0.5 * sigma * sigma) * (alpha / (alpha - 1)) * (beta / (beta + 1)) : INFINITY;
}

__device__ real double_pareto_log_normal_var(real alpha, real beta, real mu, real sigma)
{
    if (alpha <= 2) return INFINITY;
    real mean = double_pareto_log_normal_mean(alpha, beta, mu, sigma);
    real log_ratio = sigma * sigma + log1p(1 / (alpha * (alpha - 2))) + log1p(1 / (beta * (beta + 2)));
    return mean * (mean * expm1(log_ratio));
}
