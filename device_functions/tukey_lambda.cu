// tukey_lambda: Tukey's lambda distribution, of quantiles mu + sigma (p^lam - (1 - p)^lam) / lam; logistic where lam = 0
// used for: choosing a family by the shape of quantiles, from bounded to heavy-tailed
// x: real    lam: real, shape    mu: real, location    sigma: positive, scale
// density: 1 / (sigma * (p**(lam - 1) + (1 - p)**(lam - 1)))
// Q[p] = log(p / (1 - p)) if lam == 0 else (p**lam - (1 - p)**lam) / lam    p = Root(mu + sigma * Q[p] - x, p, 0, 1)
// source: Joiner & Rosenblatt (1971), Some properties of the range in samples from Tukey's symmetric lambda distributions

// The quantile at p = exp(log_p), with log_q = log(1 - p)
__device__ real quantile(real log_p, real log_q, real lam)
{
    return expm1_quotient(lam, log_p) - expm1_quotient(lam, log_q);
}

// sigma times that at q, of the quotient of the two powers; they may overflow.
__device__ real scaled_quantile(real q, real lam, real sigma)
{
    real tail = fmin(q, 1 - q), distance = expm1_over(logit(tail), sigma * exp(lam * log1p(-tail)), lam);
    return q < 0.5 ? distance : -distance;
}

// A step of Newton's method towards the log_p at which the quantile is z, -1 < lam z, z <= 0. Solved is log(1 + lam z) / lam,
// which hardly differs from log_p in the tail.
__device__ real step(real log_p, real z, real lam)
{
    real log_q = log1mexp(log_p), power = exp(lam * log_p), rest = -expm1(lam * log_q), now = quantile(log_p, log_q, lam);
    real level = power + rest, gap = z - now;  // level is 1 + lam now
    real change = fabs(lam * gap) < 0.1 * level ? log1p_quotient(lam / level, gap) : level * log((1 + lam * z) / level) / lam;
    return log_p + change / (power + exp(log_p + (lam - 1) * log_q));
}

// Each of the two powers alone gives a bound, and so does the tangent at the median.
__device__ real start(real z, real lam)
{
    real bound = lam > 1 ? log1mexp(log(-lam * z) / lam) : log1p_quotient(lam, z), log_p = fmin(bound, -LOG_2), before = INFINITY;
    if (lam < 0) log_p = fmax(log_p - 0.8, z * exp2(lam - 1) - LOG_2);
    for (int i = 0; i < 100 && fabs(log_p - before) > (EPSILON < 1e-10 ? 1e-5 : 1e-2) * (1 + fabs(log_p)); i++) {
        before = log_p;
        log_p = fmin(step(log_p, z, lam), -LOG_2);
    }
    return log_p;
}

__device__ real start_grad_z(real z, real lam) { return 0; }
__device__ real start_grad_lam(real z, real lam) { return 0; }

// The logarithm of P(X <= x), z = (x - mu) / sigma <= 0. The last two steps bring the first two derivatives.
__device__ real log_tail(real z, real lam)
{
    if (lam * z <= -1) return -INFINITY;
    if (lam * z * EPSILON > 1) return log1p_quotient(lam, z);  // the other power is 1 to all digits
    real log_p = start(z, lam);
    for (int i = 0; i < 2; i++)
        log_p = step(log_p, z, lam);
    return fmin(log_p, -LOG_2);
}

__device__ real tukey_lambda_logpdf(real x, real lam, real mu, real sigma)
{
    real distance = fabs(x - mu) * (1 / sigma), log_p = log_tail(-distance, lam);
    if (isinf(distance) || lam * distance > 1) return -INFINITY;
    return -log(sigma) - logaddexp(weighted(lam - 1, log_p), (lam - 1) * log1mexp(log_p));
}

__device__ real tukey_lambda_logcdf(real x, real lam, real mu, real sigma)
{
    real z = (x - mu) * (1 / sigma);
    if (isinf(z)) return z < 0 ? -INFINITY : 0;
    real log_p = log_tail(z < 0 ? z : -z, lam);
    return z < 0 ? log_p : log1mexp(log_p);
}

__device__ real tukey_lambda_logsf(real x, real lam, real mu, real sigma)
{
    return tukey_lambda_logcdf(-x, lam, -mu, sigma);
}

__device__ real tukey_lambda_ppf(real q, real lam, real mu, real sigma)
{
    return mu + scaled_quantile(q, lam, sigma);
}

__device__ real tukey_lambda_isf(real q, real lam, real mu, real sigma)
{
    return mu - scaled_quantile(q, lam, sigma);
}

__device__ real tukey_lambda_sample(rng_t *rng, real lam, real mu, real sigma)
{
    return tukey_lambda_ppf(uniform(rng), lam, mu, sigma);
}

__device__ real tukey_lambda_median(real lam, real mu, real sigma) { return mu; }
__device__ real tukey_lambda_lower(real lam, real mu, real sigma) { return lam > 0 ? mu - sigma / lam : -INFINITY; }
__device__ real tukey_lambda_upper(real lam, real mu, real sigma) { return lam > 0 ? mu + sigma / lam : INFINITY; }
