// truncated_normal: normal distribution confined to an interval, either side of which may be infinite
// x: real    mu: real, mean before truncation    sigma: positive, standard deviation before truncation
// lower: real, lower bound    upper: real, upper bound
// source: Johnson, Kotz & Balakrishnan (1994), ch. 13
__device__ real truncated_normal_logpdf(real x, real mu, real sigma, real lower, real upper)
{
    if (!(lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    // Relative to the density at the mode, so that nothing large cancels where the interval lies far from mu.
    real mode = fmin(fmax(mu, lower), upper);
    real mass = normal_integral((lower - mu) / sigma, (upper - mu) / sigma, (upper - lower) / sigma);
    real z = (x - mode) * (1 / sigma);
    return -(log(sigma) + log(mass)) - z * (0.5 * z + (mode - mu) / sigma);
}
