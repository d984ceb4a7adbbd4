// zero_one_inflated_beta: the beta distribution by its mean, with zeros and ones of their own
// used for: proportions that may be exactly 0 or 1, such as cover or spending
// x: unit    mu: unit, mean of the beta distribution, neither 0 nor 1    phi: positive, its precision
// zoi: unit, probability of a zero or a one    coi: unit, probability of a one among these
// density: zoi * (1 - coi) if x == 0 else zoi * coi if x == 1 else (1 - zoi) * x**(a - 1) * (1 - x)**(b - 1) / B(a, b)
// a = phi * mu    b = phi * (1 - mu)
// source: Ospina & Ferrari (2010), Inflated beta distributions
//
// At 0 and 1 the density is a probability, zoi (1 - coi) and zoi coi; between them it is that of a beta variable, times 1 - zoi. The
// entropy is the mean of its negative logarithm, too.
__device__ real zero_one_inflated_beta_logpdf(real x, real mu, real phi, real zoi, real coi)
{
    if (mu == 0 || mu == 1) return NAN;
    real at_end = log(zoi) + (x == 0 ? log1p(-coi) : log(coi));
    return x == 0 || x == 1 ? at_end : log1p(-zoi) + beta_proportion_logpdf(x, mu, phi);
}

__device__ real zero_one_inflated_beta_logcdf(real x, real mu, real phi, real zoi, real coi)
{
    if (mu == 0 || mu == 1) return NAN;
    return x == 1 ? 0 : logaddexp(log(zoi) + log1p(-coi), log1p(-zoi) + beta_proportion_logcdf(x, mu, phi));
}

__device__ real zero_one_inflated_beta_logsf(real x, real mu, real phi, real zoi, real coi)
{
    if (mu == 0 || mu == 1) return NAN;
    return x == 1 ? -INFINITY : logaddexp(log(zoi) + log(coi), log1p(-zoi) + beta_proportion_logsf(x, mu, phi));
}

__device__ real zero_one_inflated_beta_ppf(real q, real mu, real phi, real zoi, real coi)
{
    real share = (q - zoi * (1 - coi)) / (1 - zoi);
    return q <= zoi * (1 - coi) ? 0 : 1 - q < zoi * coi ? 1 : beta_proportion_ppf(fmin(share, (real)1), mu, phi);
}

__device__ real zero_one_inflated_beta_isf(real q, real mu, real phi, real zoi, real coi)
{
    real share = (q - zoi * coi) / (1 - zoi);
    return q < zoi * coi ? 1 : 1 - q <= zoi * (1 - coi) ? 0 : beta_proportion_isf(fmin(fmax(share, (real)0), (real)1), mu, phi);
}

__device__ real zero_one_inflated_beta_sample(rng_t *rng, real mu, real phi, real zoi, real coi)
{
    if (mu == 0 || mu == 1) return NAN;
    if (uniform(rng) < zoi) return uniform(rng) < coi ? 1 : 0;
    return beta_proportion_sample(rng, mu, phi);
}

__device__ real zero_one_inflated_beta_mean(real mu, real phi, real zoi, real coi) { return zoi * coi + (1 - zoi) * mu; }

__device__ real zero_one_inflated_beta_var(real mu, real phi, real zoi, real coi)
{
    real apart = mu - coi;
    return (1 - zoi) * beta_proportion_var(mu, phi) + zoi * (coi * (1 - coi)) + zoi * (1 - zoi) * apart * apart;
}

__device__ real zero_one_inflated_beta_entropy(real mu, real phi, real zoi, real coi)
{
    real which = -xlogy(zoi, zoi) - xlog1py(1 - zoi, -zoi), end = -xlogy(coi, coi) - xlog1py(1 - coi, -coi);
    return which + zoi * end + (1 - zoi) * beta_proportion_entropy(mu, phi);
}
