// triangular: density that rises linearly from lower to c and falls linearly from c to upper
// x: real    lower: real, lower bound    c: real, mode    upper: real, upper bound
// source: Kotz & van Dorp (2004), Beyond Beta, ch. 1
__device__ real triangular_logpdf(real x, real lower, real c, real upper)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    real height = x < c || c == upper ? (x - lower) * (1 / (c - lower)) : (upper - x) * (1 / (upper - c));
    return log(2 / (upper - lower)) + log(height);
}

__device__ real triangular_logcdf(real x, real lower, real c, real upper)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    real width = 1 / (upper - lower);
    return x < c ? log((x - lower) * width) + log((x - lower) * (1 / (c - lower)))
                 : log1p(-(upper - x) * width * ((upper - x) * (1 / (upper - c))));
}

__device__ real triangular_logsf(real x, real lower, real c, real upper)
{
    return triangular_logcdf(-x, -upper, -c, -lower);
}

__device__ real triangular_sample(rng_t *rng, real lower, real c, real upper)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    real u = uniform(rng), width = upper - lower, below = (c - lower) / width, above = (upper - c) / width;
    return u < below ? fmin(lower + width * sqrt(u * below), upper) : fmax(upper - width * sqrt((1 - u) * above), lower);
}
