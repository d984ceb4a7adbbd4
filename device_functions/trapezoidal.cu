// trapezoidal: density that rises linearly from lower to c, is constant from there to d, and falls linearly to upper
// used for: uncertainty that is flat in the middle and bounded, in measurement and risk
// x: real    lower: real, lower bound    upper: real, upper bound    c: real, where the density ceases to rise
// d: real, where it begins to fall
// density: (h * (x - lower) / (c - lower) if lower <= x < c else h if c <= x <= d else h * (upper - x) / (upper - d)
// if d < x <= upper else 0)    h = 2 / (upper - lower + d - c)
// source: Kotz & van Dorp (2004), Beyond Beta, ch. 5

// Twice the inverse of the largest density
__device__ real double_width(real lower, real upper, real c, real d)
{
    return (upper - lower) + (d - c);
}

__device__ real trapezoidal_logpdf(real x, real lower, real upper, real c, real d)
{
    if (!(lower <= c && c <= d && d <= upper && lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    real log_height = LOG_2 - log(double_width(lower, upper, c, d));
    return x < c ? (log_height - log(c - lower)) + log(x - lower)
         : x > d ? (log_height - log(upper - d)) + log(upper - x) : log_height;
}

__device__ real trapezoidal_logcdf(real x, real lower, real upper, real c, real d)
{
    if (!(lower <= c && c <= d && d <= upper && lower < upper)) return NAN;
    if (x <= lower || x >= upper) return x <= lower ? -INFINITY : 0;
    real scale = 1 / double_width(lower, upper, c, d), beyond = x > d ? (x - d) * (2 - (x - d) / (upper - d)) : 0;
    real below = ((c - lower) + 2 * (fmin(x, d) - c) + beyond) * scale;
    return x < c ? log((x - lower) * scale) + log((x - lower) * (1 / (c - lower)))
         : x > d && below > 0.5 ? log1p(-(upper - x) * scale * ((upper - x) * (1 / (upper - d)))) : log(below);
}

__device__ real trapezoidal_logsf(real x, real lower, real upper, real c, real d)
{
    return trapezoidal_logcdf(-x, -upper, -lower, -d, -c);
}

__device__ real trapezoidal_ppf(real q, real lower, real upper, real c, real d)
{
    real width = double_width(lower, upper, c, d), rise = c - lower, fall = upper - d;
    if (q * width < rise) return lower + sqrt(q) * (sqrt(width) * sqrt(rise));
    real rest = q * width - rise - 2 * (d - c);
    if (q < 0.5 && rest > 0) return d + rest / (1 + sqrt(1 - rest / fall));
    if ((1 - q) * width < fall) return upper - sqrt(1 - q) * (sqrt(width) * sqrt(fall));
    return fmin(c + 0.5 * (q * width - rise), d);
}

__device__ real trapezoidal_isf(real q, real lower, real upper, real c, real d)
{
    return -trapezoidal_ppf(q, -upper, -lower, -d, -c);
}

__device__ real trapezoidal_sample(rng_t *rng, real lower, real upper, real c, real d)
{
    if (!(lower <= c && c <= d && d <= upper && lower < upper)) return NAN;
    return fmin(fmax(trapezoidal_ppf(uniform(rng), lower, upper, c, d), lower), upper);
}

__device__ real trapezoidal_mean(real lower, real upper, real c, real d)
{
    real width = upper - lower, e = (c - lower) / width, f = (d - lower) / width;
    return lower + width * ((1 + f + f * f - e * e) / (3 * (1 + f - e)));
}

__device__ real trapezoidal_var(real lower, real upper, real c, real d)
{
    real width = upper - lower, e = (c - lower) / width, f = (d - lower) / width, mean = (1 + f + f * f - e * e) / (3 * (1 + f - e));
    return width * width * (((1 + f) * (1 + f * f) - e * e * e) / (6 * (1 + f - e)) - mean * mean);
}

__device__ real trapezoidal_entropy(real lower, real upper, real c, real d)
{
    real width = double_width(lower, upper, c, d);
    return log(0.5 * width) + 0.5 * ((c - lower) + (upper - d)) / width;
}

__device__ real trapezoidal_mode(real lower, real upper, real c, real d) { return 0.5 * c + 0.5 * d; }
__device__ real trapezoidal_lower(real lower, real upper, real c, real d) { return lower; }
__device__ real trapezoidal_upper(real lower, real upper, real c, real d) { return upper; }
