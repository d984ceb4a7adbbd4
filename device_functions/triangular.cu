// triangular: density that rises linearly from lower to c and falls linearly from c to upper
// used for: estimates by smallest, likeliest and largest value, as in planning
// x: real    lower: real, lower bound    upper: real, upper bound    c: real, mode
// density: h * (x - lower) / (c - lower) if lower <= x < c else h * (upper - x) / (upper - c) if c <= x <= upper else 0
// h = 2 / (upper - lower)
// source: Kotz & van Dorp (2004), Beyond Beta, ch. 1
__device__ real triangular_logpdf(real x, real lower, real upper, real c)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    if (x < lower || x > upper) return -INFINITY;
    int rises = x < c || c == upper;  // logarithms of the two lengths, whose quotient may underflow
    return log(2 / (upper - lower)) - (rises ? log(c - lower) : log(upper - c)) + log(rises ? x - lower : upper - x);
}

// It is the trapezoidal distribution whose upper side has no length.
__device__ real triangular_logcdf(real x, real lower, real upper, real c)
{
    return trapezoidal_logcdf(x, lower, upper, c, c);
}

__device__ real triangular_logsf(real x, real lower, real upper, real c)
{
    return trapezoidal_logsf(x, lower, upper, c, c);
}

__device__ real triangular_sample(rng_t *rng, real lower, real upper, real c)
{
    if (!(lower <= c && c <= upper && lower < upper)) return NAN;
    real u = uniform(rng), width = upper - lower, below = (c - lower) / width, above = (upper - c) / width;
    return u < below ? fmin(lower + width * sqrt(u * below), upper) : fmax(upper - width * sqrt((1 - u) * above), lower);
}

__device__ real triangular_ppf(real q, real lower, real upper, real c) { return trapezoidal_ppf(q, lower, upper, c, c); }
__device__ real triangular_isf(real q, real lower, real upper, real c) { return trapezoidal_isf(q, lower, upper, c, c); }
__device__ real triangular_mean(real lower, real upper, real c) { return (lower + c + upper) / 3; }

__device__ real triangular_var(real lower, real upper, real c)
{
    real a = c - lower, b = upper - c;
    return (a * a + a * b + b * b) / 18;
}

__device__ real triangular_skewness(real lower, real upper, real c)
{
    real s = 1 / (upper - lower), a = (c - lower) * s, b = (upper - c) * s;
    return SQRT_2 * (b - a) * (2 * a + b) * (a + 2 * b) / (5 * pow(a * a + a * b + b * b, (real)1.5));
}

__device__ real triangular_kurtosis(real lower, real upper, real c) { return -0.6; }
__device__ real triangular_entropy(real lower, real upper, real c) { return log(0.5 * (upper - lower)) + 0.5; }
__device__ real triangular_mode(real lower, real upper, real c) { return c; }
__device__ real triangular_lower(real lower, real upper, real c) { return lower; }
__device__ real triangular_upper(real lower, real upper, real c) { return upper; }
