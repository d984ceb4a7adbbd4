// beta_geometric: geometric whose probability of success has a beta distribution
// used for: attempts until a success among people whose chances differ, such as cycles until conception, or contracts kept
// x: positive integer, trials up to the first success    beta: positive, shape of the beta distribution at 1
// alpha: positive, its shape at 0, exponent of the tail
// mass: B(alpha + 1, beta + x - 1) / B(alpha, beta)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 6
__device__ real beta_geometric_logpmf(real x, real alpha, real beta)
{
    return beta_negative_binomial_logpmf(x - 1, alpha, beta, 1);
}

// log(Gamma(alpha + beta) Gamma(beta + x) / (Gamma(beta) Gamma(alpha + beta + x))), as an integral of digamma(beta + t) -
// digamma(beta + t + x) for t from 0 to alpha where that is near 0.
__device__ real beta_geometric_logsf(real x, real alpha, real beta)
{
    if (alpha > 0.5 * (1 + beta)) return beta_geometric_logpmf(x + 1, alpha, beta) + log1p((beta + x) / alpha);
    real sum = 0, gap = alpha / (alpha + beta) * (x / (beta + x));
    for (int k = 0; k < 8; k++)
        sum += legendre_weight(k) * lbeta_derivative(1 + beta + 0.5 * alpha * (1 + legendre_node(k)), x);
    return 0.5 * alpha * sum + (gap < 0.5 ? log1p(-gap) : log(beta / (alpha + beta)) + log1p(alpha / (beta + x)));
}

__device__ real beta_geometric_logcdf(real x, real alpha, real beta)
{
    if (isinf(x)) return 0;
    return log1mexp(beta_geometric_logsf(x, alpha, beta));
}

__device__ real beta_geometric_sample(rng_t *rng, real alpha, real beta)
{
    return 1 + beta_negative_binomial_sample(rng, alpha, beta, 1);
}

__device__ real beta_geometric_mean(real alpha, real beta) { return 1 + beta_negative_binomial_mean(alpha, beta, 1); }
__device__ real beta_geometric_var(real alpha, real beta) { return beta_negative_binomial_var(alpha, beta, 1); }
__device__ real beta_geometric_skewness(real alpha, real beta) { return beta_negative_binomial_skewness(alpha, beta, 1); }
__device__ real beta_geometric_kurtosis(real alpha, real beta) { return beta_negative_binomial_kurtosis(alpha, beta, 1); }
__device__ real beta_geometric_mode(real alpha, real beta) { return 1; }
