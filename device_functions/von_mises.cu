// von_mises: the von Mises distribution of an angle, in radians; periodic in x
// used for: directions, times of day and angles around a mean
// x: real    mu: real, mean direction    kappa: nonnegative, concentration
// density: exp(kappa * cos(x - mu)) / (2 * pi * I(0, kappa))
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
__device__ real von_mises_logpdf(real x, real mu, real kappa)
{
    // cos(x - mu) - 1 = -2 sin((x - mu) / 2)^2. The addition theorem needs no sine of each pair of x and mu, but is too
    // coarse for a sharp peak.
    real s = kappa > 200 ? sin(0.5 * (x - mu)) : sin(0.5 * x) * cos(0.5 * mu) - cos(0.5 * x) * sin(0.5 * mu);
    return isinf(x) ? -INFINITY : -(LOG_2PI + log_i0e(kappa)) - 2 * kappa * s * s;
}

// The distribution on the circle that is cut opposite to its mean, from mu - pi to mu + pi.
__device__ real von_mises_logcdf(real x, real mu, real kappa)
{
    return log_von_mises(x, mu, kappa);
}

__device__ real von_mises_logsf(real x, real mu, real kappa)
{
    return log_von_mises(mu, x, kappa);
}

// Rejection from the wrapped Cauchy distribution, in which t = tan(angle / 2) is a Cauchy variable.
// Source: Best & Fisher (1979), Efficient simulation of the von Mises distribution.
__device__ real von_mises_sample(rng_t *rng, real mu, real kappa)
{
    real excess = (1 + 1 / (hypot((real)1, 2 * kappa) + 2 * kappa)) / (2 * kappa);  // s - 1 in the paper's notation
    real scale = sqrt(excess / (excess + 2)), angle = NAN;
    if (kappa < EPSILON) angle = PI * (2 * uniform(rng) - 1);
    for (int i = 0; i < 1000 && isnan(angle); i++) {
        real u = uniform(rng), v = uniform(rng);
        real t = scale * tan(PI * (u - 0.5)), c = kappa * (excess + 2 * (t * t / (1 + t * t)));
        if (log(v) < log(c) + 1 - c) angle = 2 * atan(t);
    }
    return mu + angle;
}

__device__ real von_mises_mean(real mu, real kappa) { return mu; }
__device__ real von_mises_median(real mu, real kappa) { return mu; }
__device__ real von_mises_mode(real mu, real kappa) { return mu; }
__device__ real von_mises_skewness(real mu, real kappa) { return 0; }
__device__ real von_mises_lower(real mu, real kappa) { return mu - PI; }
__device__ real von_mises_upper(real mu, real kappa) { return mu + PI; }
