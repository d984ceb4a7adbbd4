// generalized_logistic: the generalized logistic distribution (type I), the logistic distribution function to a power
// used for: skewed data with logistic tails, such as extremes of rivers
// x: real    alpha: positive, shape    mu: real, location    sigma: positive, scale
// density: alpha / sigma * exp(-z) / (1 + exp(-z))**(alpha + 1)    z = (x - mu) / sigma
// source: Johnson, Kotz & Balakrishnan (1995), ch. 23
// The part that depends on z
__device__ real core(real z, real alpha)
{
    return (z < 0 ? alpha * z : -z) - (alpha + 1) * log1p_unit(exp(-fabs(z)));
}

// Its derivative, with the same exponential; where alpha = 1 nothing of it cancels near z = 0.
__device__ real core_grad_z(real z, real alpha)
{
    real e = exp(-fabs(z)), m = -log_gumbel_density_slope(fabs(z));  // 1 - e
    return ((alpha - 1) + (z < 0 ? m : -alpha * m)) * quotient(1, 1 + e);
}

__device__ real generalized_logistic_logpdf(real x, real alpha, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma), value = log(alpha / sigma) + core(z, alpha);
    return z == -INFINITY ? log(alpha / sigma) + (x - mu) * (alpha / sigma) : z == INFINITY ? -INFINITY : value;
}

__device__ real generalized_logistic_logcdf(real x, real alpha, real mu, real sigma)
{
    return alpha * log_expit((x - mu) * (1 / sigma));
}

// -log(-log of the distribution function) has a standard Gumbel distribution; far in the tail log1pexp underflows.
__device__ real generalized_logistic_logsf(real x, real alpha, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    return gumbel_logsf((exp(-z) < EPSILON ? z : -log(log1pexp(-z))) - log(alpha), 0, 1);
}

// The z at which log(1 + exp(-z)) is h / alpha > 0, which may underflow
__device__ real with_softplus(real h, real alpha)
{
    real y = h / alpha;
    return y < EPSILON * EPSILON ? -log_quotient(h, alpha) : -y - log1mexp(-y);
}

__device__ real generalized_logistic_ppf(real q, real alpha, real mu, real sigma)
{
    return mu + sigma * with_softplus(-log(q), alpha);
}

__device__ real generalized_logistic_isf(real q, real alpha, real mu, real sigma)
{
    return mu + sigma * with_softplus(-log1p(-q), alpha);
}

__device__ real generalized_logistic_sample(rng_t *rng, real alpha, real mu, real sigma)
{
    return mu + sigma * with_softplus(exponential(rng), alpha);
}

__device__ real generalized_logistic_mean(real alpha, real mu, real sigma)
{
    return mu + sigma * (digamma(alpha) + EULER_GAMMA);
}

__device__ real generalized_logistic_var(real alpha, real mu, real sigma)
{
    return sigma * sigma * (PI * PI / 6 + trigamma(alpha));
}

__device__ real generalized_logistic_entropy(real alpha, real mu, real sigma)
{
    return log(sigma / alpha) + digamma(alpha + 1) + EULER_GAMMA + 1;
}

__device__ real generalized_logistic_mode(real alpha, real mu, real sigma) { return mu + sigma * log(alpha); }
