// wrapped_normal: the wrapped normal distribution of an angle, in radians; periodic in x
// used for: directions that come of many small turns
// x: real    mu: real, mean direction    sigma: positive, standard deviation before wrapping
// density: Sum(phi((x - mu + 2 * pi * k) / sigma), k, -inf, inf) / sigma
// source: Mardia & Jupp (2000), Directional Statistics, ch. 3
//
// The sum over all turns, or, where sigma is large, Jacobi's theta function as a Fourier series: each converges at once on its side
// of sigma^2 = 2 pi.
__device__ int is_wide(real sigma) { return sigma * sigma > 2 * PI; }

// x - mu without whole turns; nan where these are so many that what remains is not known
__device__ real around(real x, real mu)
{
    real d = x - mu, turns = rint(d * (0.5 / PI));
    return fabs(turns) * EPSILON < 0.25 ? fma(-2 * PI, turns, d) - 2 * rest_of_pi() * turns : NAN;
}

// The logarithm of the sum of exp(-(d + 2 pi k)^2 / (2 sigma^2)) over all k
__device__ real log_turns(real d, real sigma)
{
    real z = d / sigma, v = 2 * PI / sigma, sum = 1;
    for (int k = 1; k < 5; k++)
        sum += exp(-k * v * (0.5 * k * v - fabs(z))) + exp(-k * v * (0.5 * k * v + fabs(z)));
    return log(sum) - 0.5 * z * z;
}

// Of each pair of turns the smaller one is the larger one times an exponential.
__device__ real log_turns_grad_d(real d, real sigma)
{
    real z = d / sigma, v = 2 * PI / sigma, sum = 1, rise = 0;
    for (int k = 1; k < 5; k++) {
        real larger = exp(-k * v * (0.5 * k * v - fabs(z))), change = larger * expm1(-2 * k * v * fabs(z));
        sum += 2 * larger + change;
        rise -= k * change;
    }
    return (copysign(v * (rise / sum), d) - z) / sigma;
}

__device__ real wrapped_normal_logpdf(real x, real mu, real sigma)
{
    if (isinf(x)) return -INFINITY;
    real d = around(x, mu), sum = 0;
    if (!is_wide(sigma)) return log_turns(d, sigma) - (log(sigma) + HALF_LOG_2PI);
    for (int n = 1; n < 4; n++)
        sum += exp(-0.5 * (n * sigma) * (n * sigma)) * cos(n * d);
    return log1p(2 * sum) - LOG_2PI;
}

// log P(X <= mu - distance) on the circle that is cut opposite to mu, distance = pi - rest, 0 < rest <= pi, in which nothing
// cancels. By symmetry that is the mass of intervals of the length 2 rest around pi, 3 pi, … before they are wrapped.
__device__ real log_tail(real rest, real distance, real sigma)
{
    real sum = 0;
    if (is_wide(sigma)) {
        for (int n = 3; n > 0; n--)
            sum += (n == 2 ? 1 : -1) * exp(-0.5 * (n * sigma) * (n * sigma)) * sin(n * rest) / n;
        return log(0.5 * rest + sum) - LOG_PI;
    }
    real near = distance / sigma, width = 2 * rest / sigma;
    for (int k = 0; k < 5; k++) {
        real turn = 2 * PI * k / sigma, low = near + turn;
        sum += exp(-0.5 * turn * (near + low)) * normal_integral(low, low + width, width);
    }
    return log(sum) - 0.5 * near * near - HALF_LOG_2PI;
}

__device__ real wrapped_normal_logcdf(real x, real mu, real sigma)
{
    int below = x < mu;
    real rest = below ? above_cut(x, mu) : above_cut(mu, x);
    if (!(rest > 0)) return below ? -INFINITY : 0;
    real tail = log_tail(rest, fabs(x - mu), sigma);
    return below ? tail : log1mexp(tail);
}

__device__ real wrapped_normal_logsf(real x, real mu, real sigma)
{
    return wrapped_normal_logcdf(-x, -mu, sigma);
}

__device__ real wrapped_normal_sample(rng_t *rng, real mu, real sigma)
{
    return mu + remainder(sigma * normal(rng), 2 * PI);
}

__device__ real wrapped_normal_mean(real mu, real sigma) { return mu; }
__device__ real wrapped_normal_skewness(real mu, real sigma) { return 0; }
__device__ real wrapped_normal_median(real mu, real sigma) { return mu; }
__device__ real wrapped_normal_mode(real mu, real sigma) { return mu; }
__device__ real wrapped_normal_lower(real mu, real sigma) { return mu - PI; }
__device__ real wrapped_normal_upper(real mu, real sigma) { return mu + PI; }
