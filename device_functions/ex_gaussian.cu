// ex_gaussian: sum of a normal and an exponential variable
// used for: response times in psychology, and peaks in chromatography
// x: real    mu: real, mean of the normal    sigma: positive, standard deviation of the normal
// nu: positive, mean of the exponential
// density: exp(sigma**2 / (2 * nu**2) - (x - mu) / nu) * Phi((x - mu) / sigma - sigma / nu) / nu
// source: Grushka (1972)
__device__ real ex_gaussian_logpdf(real x, real mu, real sigma, real nu)
{
    real z = (x - mu) * (1 / sigma), ratio = sigma / nu;
    real u = (ratio - z) * (1 / SQRT_2), tail = scaled_erfc(u > 0 ? u : -u);
    // erfc(u) is exp(-u^2) erfcx(u), whose exponent cancels against the density's where u > 0, or 2 - erfc(-u).
    real exponent = u > 0 ? 0.5 * z * z : ratio * (z - 0.5 * ratio);
    return -log(2 * nu) + log(u > 0 ? tail : 2 - tail * exp(-u * u)) - exponent;
}

// With z and ratio as above, the distribution function is Phi(z) - exp(exponent) Phi(z - ratio), where exponent =
// ratio (ratio / 2 - z), so that exp(exponent - (z - ratio)^2 / 2) = exp(-z^2 / 2).
__device__ real ex_gaussian_logcdf(real x, real mu, real sigma, real nu)
{
    real z = (x - mu) * (1 / sigma), ratio = sigma / nu, u = z / SQRT_2, width = ratio / SQRT_2;
    if (z < ratio)
        return u < 1 ? log(0.5 * width) + log(scaled_erfc_mean_slope(-u, width)) - u * u
                     : log1p(-0.5 * exp(-u * u) * (scaled_erfc(u) + scaled_erfc(width - u)));
    return log(0.5 * width * exp(-u * u) * scaled_erfc_mean_slope(u - width, width) - expm1(ratio * (0.5 * ratio - z)));
}

__device__ real ex_gaussian_logsf(real x, real mu, real sigma, real nu)
{
    real z = (x - mu) * (1 / sigma), ratio = sigma / nu, u = z / SQRT_2, width = ratio / SQRT_2;
    if (u < 0) return log1p(-0.5 * width * exp(-u * u) * scaled_erfc_mean_slope(-u, width));
    if (z < ratio) return log(0.5 * (scaled_erfc(u) + scaled_erfc(width - u))) - u * u;
    return logaddexp(log_ndtr(-z), ratio * (0.5 * ratio - z) + log_ndtr(z - ratio));
}

__device__ real ex_gaussian_sample(rng_t *rng, real mu, real sigma, real nu)
{
    real z = normal(rng), waiting = exponential(rng);
    return mu + sigma * z + nu * waiting;
}

__device__ real ex_gaussian_mean(real mu, real sigma, real nu) { return mu + nu; }
__device__ real ex_gaussian_var(real mu, real sigma, real nu) { return sigma * sigma + nu * nu; }

__device__ real ex_gaussian_skewness(real mu, real sigma, real nu)
{
    real share = nu / hypot(sigma, nu);
    return 2 * share * share * share;
}

__device__ real ex_gaussian_kurtosis(real mu, real sigma, real nu)
{
    real share = nu / hypot(sigma, nu);
    return 6 * share * share * share * share;
}
