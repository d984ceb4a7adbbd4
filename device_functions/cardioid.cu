// cardioid: the cardioid distribution of an angle, in radians; periodic in x
// used for: directions that are nearly uniform, such as wind or times of day
// x: real    mu: real, mean direction, or the opposite one where rho is negative
// rho: real, from -1/2 to 1/2, mean resultant length
// density: (1 + 2 * rho * cos(x - mu)) / (2 * pi)
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
__device__ real cardioid_logpdf(real x, real mu, real rho)
{
    if (!(fabs(rho) <= 0.5)) return NAN;
    if (isinf(x)) return -INFINITY;
    // 1 + 2 rho cos(x - mu), of which nothing cancels
    real half = 0.5 * (x - mu), c = rho < 0 ? sin(half) : cos(half);
    return log((1 - 2 * fabs(rho)) + 4 * fabs(rho) * c * c) - LOG_2PI;
}

// The distribution on the circle that is cut opposite to mu, from mu - pi to mu + pi
__device__ real cardioid_logcdf(real x, real mu, real rho)
{
    if (!(fabs(rho) <= 0.5)) return NAN;
    int below = x < mu;
    real rest = below ? above_cut(x, mu) : above_cut(mu, x);
    if (!(rest > 0)) return below ? -INFINITY : 0;
    real tail = ((1 - 2 * rho) * rest + 2 * rho * minus_sine(rest)) / (2 * PI);
    return below ? log(tail) : log1p(-tail);
}

__device__ real cardioid_logsf(real x, real mu, real rho)
{
    return cardioid_logcdf(-x, -mu, rho);
}

// The densities at an angle and at the opposite one have the same sum for all angles: so a uniform one stays, or goes to there.
__device__ real cardioid_sample(rng_t *rng, real mu, real rho)
{
    if (!(fabs(rho) <= 0.5)) return NAN;
    real d = PI * (2 * uniform(rng) - 1), v = uniform(rng);
    return mu + (2 * v < 1 + 2 * rho * cos(d) ? d : d < 0 ? d + PI : d - PI);
}

__device__ real cardioid_mean(real mu, real rho) { return mu; }
__device__ real cardioid_var(real mu, real rho) { return PI * PI / 3 - 4 * rho; }
__device__ real cardioid_skewness(real mu, real rho) { return 0; }

__device__ real cardioid_kurtosis(real mu, real rho)
{
    real s = PI * PI, var = s / 3 - 4 * rho;
    return (s * s / 5 - 8 * rho * (s - 6)) / (var * var) - 3;
}

// 1 + 2 rho cos(d) = |1 + b exp(i d)|^2 / (1 + b^2), where b (1 + root) = 2 rho
__device__ real cardioid_entropy(real mu, real rho)
{
    real root = sqrt((1 - 2 * rho) * (1 + 2 * rho)), b = 2 * rho / (1 + root);
    return LOG_2PI + log1p(b * b) - 2 * rho * b;
}

__device__ real cardioid_median(real mu, real rho) { return mu; }
__device__ real cardioid_mode(real mu, real rho) { return rho < 0 ? mu + PI : mu; }
__device__ real cardioid_lower(real mu, real rho) { return mu - PI; }
__device__ real cardioid_upper(real mu, real rho) { return mu + PI; }
