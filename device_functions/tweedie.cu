// tweedie: Tweedie's compound Poisson distribution, a Poisson number of gamma variables; the variance is phi mu^p
// used for: totals of claims or rain, which are exactly 0 or positive
// x: nonnegative    mu: positive, mean    phi: positive, dispersion    p: real, between 1 and 2, power of the mean in the variance
// density: (exp(-r) * Sum(r**n / factorial(n) * b**(n * a) * x**(n * a - 1) * exp(-b * x) / Gamma(n * a), n, 1, inf)
// if x > 0 else exp(-r))    r = mu**(2 - p) / (phi * (2 - p))    a = (2 - p) / (p - 1)
// b = 1 / (phi * (p - 1) * mu**(p - 1))
// source: Jørgensen (1987), Exponential dispersion models; the series of Dunn & Smyth (2005), Series evaluation of Tweedie
// exponential dispersion model densities, each of its terms as a product of a Poisson probability and a gamma density
//
// At 0 the density is a probability, that of no variable at all, exp(-lambda). The entropy is the mean of its negative logarithm,
// too.

// Mean of the Poisson number
__device__ real rate(real mu, real phi, real p) { return exp((2 - p) * log(mu)) / (phi * (2 - p)); }

// Shape of each gamma variable
__device__ real shape(real p) { return (2 - p) / (p - 1); }

// x divided by the scale of the gamma variables
__device__ real scaled(real x, real mu, real lambda, real a) { return lambda * a * (x / mu); }

// The logarithm of the probability of n variables whose sum, divided by their scale, is y, as a density of log(y)
__device__ real log_term(real n, real y, real lambda, real a)
{
    return log_gamma_power(n, lambda) + log_gamma_power(n * a, y) + log(n * a);
}

// The n of the largest term
__device__ real peak(real x, real mu, real p, real lambda)
{
    return fmin(fmax(rint(lambda * exp((2 - p) * log(x / mu))), (real)1), 1 / EPSILON);
}

// How far apart terms may be taken: of many, which are like a normal density of variance n (p - 1), few determine the sum, by the
// exponential convergence of the trapezoidal rule.
__device__ real stride(real top, real p)
{
    return top > 100 ? fmax(floor(0.65 * sqrt(top * (p - 1))), (real)1) : 1;
}

__device__ real log_density(real x, real mu, real phi, real p)
{
    real lambda = rate(mu, phi, p), a = shape(p), y = scaled(x, mu, lambda, a);
    real top = peak(x, mu, p, lambda), step = stride(top, p);
    real at_top = log_term(top, y, lambda, a), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 400 && term > 0.01 * EPSILON * sum; i++) {
            real n = top + side * i * step;
            term = n > 0 ? exp(log_term(n, y, lambda, a) - at_top) : 0;
            sum += term;
        }
    }
    return at_top + log(step * sum) - log(x);
}

__device__ real log_density_grad_mu(real x, real mu, real phi, real p)
{
    return (x - mu) / phi * exp(-p * log(mu));
}

__device__ real tweedie_logpdf(real x, real mu, real phi, real p)
{
    if (!(p > 1 && p < 2)) return NAN;
    return x == 0 ? -rate(mu, phi, p) : isinf(x) ? -INFINITY : log_density(x, mu, phi, p);
}

// The logarithm of P(0 < X <= x) where x < mu, else of P(X > x): likewise
__device__ real log_tail(real x, real mu, real phi, real p)
{
    real lambda = rate(mu, phi, p), a = shape(p), y = scaled(x, mu, lambda, a);
    real top = peak(x, mu, p, lambda), step = stride(top, p);
    int below = x < mu;
    real at_top = log_gamma_power(top, lambda) + (below ? log_gamma_p(top * a, y) : log_gamma_q(top * a, y)), sum = 1;
    for (int side = -1; side < 2; side += 2) {
        real term = 1;
        for (int i = 1; i < 4000 && term > 0.01 * EPSILON * sum; i++) {
            real n = top + side * i * step;
            real log_inner = below ? log_gamma_p(n * a, y) : log_gamma_q(n * a, y);
            term = n > 0 ? exp(log_gamma_power(n, lambda) + log_inner - at_top) : 0;
            sum += term;
        }
    }
    return at_top + log(step * sum);
}

__device__ real log_tail_grad_x(real x, real mu, real phi, real p, real value)
{
    return (x < mu ? 1 : -1) * exp(log_density(x, mu, phi, p) - value);
}

__device__ real tweedie_logcdf(real x, real mu, real phi, real p)
{
    if (!(p > 1 && p < 2)) return NAN;
    if (x == 0 || isinf(x)) return x == 0 ? -rate(mu, phi, p) : 0;
    return x < mu ? logaddexp(-rate(mu, phi, p), log_tail(x, mu, phi, p)) : log1mexp(log_tail(x, mu, phi, p));
}

__device__ real tweedie_logsf(real x, real mu, real phi, real p)
{
    if (!(p > 1 && p < 2)) return NAN;
    if (x == 0) return log1mexp(-rate(mu, phi, p));
    return x < mu ? log1mexp(logaddexp(-rate(mu, phi, p), log_tail(x, mu, phi, p))) : log_tail(x, mu, phi, p);
}

__device__ real tweedie_sample(rng_t *rng, real mu, real phi, real p)
{
    if (!(p > 1 && p < 2)) return NAN;
    real n = poisson_sample(rng, rate(mu, phi, p));
    if (n == 0) return 0;
    return gamma_sample(rng, n * shape(p), 1) * (phi * (p - 1) * exp((p - 1) * log(mu)));
}

__device__ real tweedie_mean(real mu, real phi, real p) { return mu; }
__device__ real tweedie_var(real mu, real phi, real p) { return phi * exp(p * log(mu)); }
__device__ real tweedie_skewness(real mu, real phi, real p) { return p * sqrt(phi * exp((p - 2) * log(mu))); }
__device__ real tweedie_kurtosis(real mu, real phi, real p) { return p * (2 * p - 1) * phi * exp((p - 2) * log(mu)); }
