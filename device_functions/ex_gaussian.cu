// ex_gaussian: sum of a normal and an exponential variable
// x: real    mu: real, mean of the normal    sigma: positive, standard deviation of the normal
// nu: positive, mean of the exponential
// source: Grushka (1972)
__device__ real ex_gaussian_logpdf(real x, real mu, real sigma, real nu)
{
    real z = (x - mu) * (1 / sigma), ratio = sigma / nu;
    real u = (ratio - z) * (1 / SQRT_2), tail = scaled_erfc(fabs(u));
    // erfc(u) is exp(-u^2) erfcx(u), whose exponent cancels against the density's where u > 0, or 2 - erfc(-u).
    real exponent = u > 0 ? 0.5 * z * z : ratio * (z - 0.5 * ratio);
    return -log(2 * nu) + log(u > 0 ? tail : 2 - tail * exp(-u * u)) - exponent;
}
