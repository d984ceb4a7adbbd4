// log_series: logarithmic distribution of Fisher, for numbers of individuals of a species
// used for: numbers of individuals by species, and of items a customer buys
// x: positive integer    p: positive unit, below 1
// mass: -p**x / (x * log(1 - p))
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 7
__device__ real log_series_logpmf(real x, real p)
{
    if (p == 1) return NAN;
    return (x - 1) * log(p) - log(-log1p(-p) / p) - log(x);
}

// log of the sum of p^k / k for k = a, a + 1, …: the integral of t^(a - 1) / (1 - t) for t from 0 to p, as one over
// s = log(p / t), which has a pole at s = log(p), by quadrature in panels that grow with the distance from it.
__device__ real log_rest(real p, real a)
{
    real distance = -log(p), s = 0, sum = 0, last = 1;
    for (int panel = 0; panel < 200 && last > 0.01 * EPSILON; panel++) {
        real half = 0.5 * fmin(3 / a, 0.5 * (distance + s)), part = 0;
        for (int k = 0; k < 8; k++) {
            real at = s + half * (1 + legendre_node(k));
            part += legendre_weight(k) * (exp(-a * at) / -expm1(-distance - at));
        }
        sum += half * part;
        last = half * part / sum;
        s += 2 * half;
    }
    return log(sum) - a * distance;
}

__device__ real log_rest_grad_p(real p, real a, real value)
{
    return exp((a - 1) * log(p) - value) / (1 - p);
}

__device__ real log_series_logsf(real x, real p)
{
    if (p == 1) return NAN;
    return log_rest(p, x + 1) - log(-log1p(-p));
}

__device__ real log_series_logcdf(real x, real p)
{
    return log1mexp(log_series_logsf(x, p));
}

// A geometric variable whose probability is random. Source: Kemp (1981), Efficient generation of logarithmically
// distributed pseudo-random variables.
__device__ real log_series_sample(rng_t *rng, real p)
{
    real u = uniform(rng), v = uniform(rng);
    return fmax(ceil(log(v) / log1mexp(u * log1p(-p))), (real)1);
}

__device__ real log_series_mean(real p) { return p / ((1 - p) * -log1p(-p)); }

__device__ real log_series_var(real p)
{
    real size = (1 - p) * log1p(-p);
    return p * (-log1pmx(-p) / size) / size;
}

__device__ real log_series_mode(real p) { return p == 1 ? NAN : 1; }
