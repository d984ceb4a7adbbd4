// landau: the Landau distribution of the energy that a particle loses in a thin layer
// used for: the energy that charged particles lose in thin detectors
// x: real    mu: real, location    sigma: positive, scale
// density: Integral(exp(-t * log(t) - z * t) * sin(pi * t), t, 0, inf) / (pi * sigma)    z = (x - mu) / sigma
// source: Landau (1944), On the energy loss of fast particles by ionization; Zolotarev (1986), One-dimensional stable distributions
//
// Location and scale are those of Landau's integral, the density of a standard variable being that of exp(-t log(t) - z t) sin(pi t)
// over pi. With s = exp(-1 - z), the density of z is the mean of s V exp(-s V) over theta from 0 to pi, and P(Z <= z) that of exp(-s V), along
// the path of steepest descent of the inverse Laplace transform of exp(t log t). Far out on the right the integral is that along
// its cut. Both are computed by the trapezoidal rule, all of whose digits are right for such functions: Trefethen & Weideman (2014),
// The exponentially convergent trapezoidal rule.

// log V(theta), theta = 2 atan(t)
__device__ real log_v(real t)
{
    real ratio = t == 0 ? 1 : atan(t) / t;
    return log(ratio * (1 + t * t)) + 1 - ratio * (1 - t * t);
}

// The logarithm of the density, or of P(Z <= z) if `tail`
__device__ real along_path(real z, int tail)
{
    real s = exp(-1 - z), step = 0.22 / sqrt(s + 3.5), sum = 0, term = INFINITY;
    if (isinf(s)) return -INFINITY;
    for (int i = 0; i < 1000 && term > 0.01 * EPSILON * sum; i++) {
        real t = i * step, v = log_v(t);
        term = (i == 0 ? 1 : 2) * exp((tail ? 0 : v) - s * expm1(v)) / (1 + t * t);
        sum += term;
    }
    return log(sum * (step / PI)) - s - (tail ? 0 : 1 + z);
}

// What is integrated along the cut
__device__ real at_cut(real w, real z, real log_z, int tail)
{
    real u = exp(w), t = u / z, sinc = t == 0 ? 1 : sin(PI * t) / (PI * t);
    return exp((tail ? 1 : 2) * w - u - t * (w - log_z)) * sinc;
}

// The logarithm of the density, or of P(Z > z) if `tail`, z >= 15
__device__ real along_cut(real z, int tail)
{
    real step = 0.25, log_z = log(z), sum = at_cut(0, z, log_z, tail);
    for (int side = -1; side < 2; side += 2) {
        real term = INFINITY;
        for (int i = 1; i < 1000 && fabs(term) > 0.01 * EPSILON * sum; i++) {
            term = at_cut(side * i * step, z, log_z, tail);
            sum += term;
        }
    }
    return log(step * sum) - (tail ? 1 : 2) * log_z;
}

__device__ real landau_logpdf(real x, real mu, real sigma)
{
    real z = (x - mu) / sigma;
    if (isinf(z)) return -INFINITY;
    return (z < 15 ? along_path(z, 0) : along_cut(z, 0)) - log(sigma);
}

__device__ real landau_logcdf(real x, real mu, real sigma)
{
    real z = (x - mu) / sigma;
    if (isinf(z)) return z < 0 ? -INFINITY : 0;
    return z < 15 ? along_path(z, 1) : log1mexp(along_cut(z, 1));
}

__device__ real landau_logsf(real x, real mu, real sigma)
{
    real z = (x - mu) / sigma;
    if (isinf(z)) return z < 0 ? 0 : -INFINITY;
    return z < 15 ? log1mexp(along_path(z, 1)) : along_cut(z, 1);
}

// Source: Chambers, Mallows & Stuck (1976), A method for simulating stable random variables.
__device__ real landau_sample(rng_t *rng, real mu, real sigma)
{
    real theta = PI * uniform(rng), w = exponential(rng);
    return mu + sigma * (log(theta / (sin(theta) * w)) - theta / tan(theta));
}

__device__ real landau_mean(real mu, real sigma) { return INFINITY; }
__device__ real landau_var(real mu, real sigma) { return INFINITY; }
__device__ real landau_skewness(real mu, real sigma) { return NAN; }
__device__ real landau_kurtosis(real mu, real sigma) { return NAN; }
__device__ real landau_median(real mu, real sigma) { return mu + sigma * 1.3557804209908013250; }
__device__ real landau_mode(real mu, real sigma) { return mu - sigma * 0.22278298125640850406; }
