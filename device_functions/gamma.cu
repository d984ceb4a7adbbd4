// gamma: the gamma distribution
// used for: waiting times, rainfall, claims and other positive numbers, and as a prior of rates
// x: nonnegative    alpha: positive, shape    beta: positive, rate
// density: beta**alpha * x**(alpha - 1) * exp(-beta * x) / Gamma(alpha)
// source: Johnson, Kotz & Balakrishnan (1994), ch. 17; for large shapes, Loader (2000)
__device__ real gamma_logpdf(real x, real alpha, real beta)
{
    real value;
    if (large_shape(alpha)) {
        real u = fma(beta, x, -alpha) * (1 / alpha);
        value = (0.5 * log(alpha) - HALF_LOG_2PI - stirling_error(alpha)) - log(x)
              + alpha * log_product_excess(x, beta / alpha, u);
    } else {
        value = (alpha * log(beta) - log_gamma(alpha)) + (alpha - 1) * log(x) - beta * x;
    }
    real at_zero = log_power_at_zero(alpha - 1, log(beta) - beta * x);
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real gamma_logpdf_grad_alpha(real x, real alpha, real beta)
{
    return isinf(x) ? 0 : log(x) + (log(beta) - digamma(alpha));
}

__device__ real gamma_logpdf_grad_beta(real x, real alpha, real beta)
{
    return isinf(x) ? 0 : -fma(beta, x, -alpha) * (1 / beta);
}

__device__ real gamma_logcdf(real x, real alpha, real beta)
{
    return log_gamma_p_of_power(alpha, beta * x, log(beta) + log(x));
}

__device__ real gamma_logsf(real x, real alpha, real beta)
{
    return log_gamma_q_of_power(alpha, beta * x, log(beta) + log(x));
}

// Where beta * x underflows, P(alpha, y) is P(alpha, s y) / s^alpha, s being large.
__device__ real gamma_cdf(real x, real alpha, real beta)
{
    real s = lift(beta * x, 1), value = gamma_p(alpha, s * beta * x);
    return s == 1 ? value : value * exp(-alpha * log_lift(s));
}

__device__ real gamma_sf(real x, real alpha, real beta)
{
    real s = lift(beta * x, 1), value = gamma_q(alpha, s * beta * x), power = -alpha * log_lift(s);
    return s == 1 ? value : value * exp(power) - expm1(power);
}

__device__ real gamma_ppf(real q, real alpha, real beta) { return gamma_quantile_power(alpha, q, 1 - q, 1, 1 / beta); }
__device__ real gamma_isf(real q, real alpha, real beta) { return gamma_quantile_power(alpha, 1 - q, q, 1, 1 / beta); }

// A gamma variable of rate 1 and shape alpha >= 1.
// Source: Marsaglia & Tsang (2000), A simple method for generating gamma variables.
__device__ real standard(rng_t *rng, real alpha)
{
    real d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d), value = NAN;
    for (int i = 0; i < 1000 && isnan(value); i++) {
        real z = normal(rng), u = uniform(rng);
        real t = c * z, root = 1 + t;
        int accepted = root > 0 && u < 1 - 0.0331 * (z * z) * (z * z);
        if (unlikely(!accepted && root > 0)) accepted = log(u) < 0.5 * z * z + d * log1pmx(t * (3 + t * (3 + t)));
        if (accepted) value = d * (root * root * root);
    }
    return value;
}

// A gamma variable of shape alpha < 1 is one of shape alpha + 1, times u^(1 / alpha), which may underflow.
__device__ real logarithm(rng_t *rng, real alpha)
{
    real log_x = log(standard(rng, alpha < 1 ? alpha + 1 : alpha));
    return alpha < 1 ? log_x - exponential(rng) / alpha : log_x;
}

__device__ real gamma_sample(rng_t *rng, real alpha, real beta)
{
    real x = standard(rng, alpha < 1 ? alpha + 1 : alpha) * (1 / beta);
    return alpha < 1 ? exp(log(x) - exponential(rng) / alpha) : x;
}

__device__ real gamma_mean(real alpha, real beta) { return alpha / beta; }
__device__ real gamma_var(real alpha, real beta) { return alpha / beta / beta; }
__device__ real gamma_skewness(real alpha, real beta) { return 2 / sqrt(alpha); }
__device__ real gamma_kurtosis(real alpha, real beta) { return 6 / alpha; }

// Stirling's formula takes out what would cancel for large shapes.
__device__ real gamma_entropy(real alpha, real beta)
{
    return 0.5 * log(alpha) - log(beta) + HALF_LOG_2PI + stirling_error(alpha) + (alpha - 1) * log_minus_digamma(alpha);
}

__device__ real gamma_mode(real alpha, real beta) { return fmax(alpha - 1, (real)0) / beta; }
