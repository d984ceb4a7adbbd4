// kumaraswamy: a distribution like the beta distribution whose distribution function is 1 - (1 - x^a)^b
// used for: proportions and volumes of reservoirs, with quantiles in closed form
// x: unit    a: positive, shape at 0    b: positive, shape at 1
// density: a * b * x**(a - 1) * (1 - x**a)**(b - 1)
// source: Kumaraswamy (1980)
__device__ real kumaraswamy_logpdf(real x, real a, real b)
{
    real value = (log(a) + log(b)) + (a - 1) * log(x) + (b - 1) * log1mexp(a * log(x));
    real at_zero = log_power_at_zero(a - 1, log(b) - (b - 1) * x);
    real at_one = log_power_at_zero(b - 1, log(a) + (a - 1) * (x - 1));
    return x == 0 ? at_zero : x == 1 ? at_one : value;
}

__device__ real kumaraswamy_logsf(real x, real a, real b)
{
    return b * log1mexp(a * log(x));
}

// -log(-log of the survival function) has a standard Gumbel distribution.
__device__ real kumaraswamy_logcdf(real x, real a, real b)
{
    real log_power = a * log(x);
    real log_hazard = log(b) + (exp(log_power) < EPSILON ? log_power : log(-log1mexp(log_power)));
    return gumbel_logsf(-log_hazard, 0, 1);
}

// Where the survival function is exp(-h); h / b may underflow
__device__ real quantile(real h, real a, real b)
{
    real log_power = h / b < EPSILON ? log(h) - log(b) : log1mexp(-h / b);
    return exp(log_power / a);
}

__device__ real kumaraswamy_ppf(real q, real a, real b) { return quantile(-log1p(-q), a, b); }
__device__ real kumaraswamy_isf(real q, real a, real b) { return quantile(-log(q), a, b); }
__device__ real kumaraswamy_sample(rng_t *rng, real a, real b) { return quantile(exponential(rng), a, b); }

__device__ real kumaraswamy_mean(real a, real b) { return exp(log(b) + lbeta(1 + 1 / a, b)); }

__device__ real kumaraswamy_entropy(real a, real b)
{
    return (1 - 1 / b) + (1 - 1 / a) * (digamma(b + 1) + EULER_GAMMA) - log(a * b);
}

__device__ real kumaraswamy_mode(real a, real b)
{
    if (a > 1 && b > 1) return exp(log((a - 1) / (a * b - 1)) / a);
    if (a < 1 && b < 1) return NAN;  // infinite at both ends
    return a == 1 && b == 1 ? 0.5 : a >= 1 && b <= 1 ? 1 : 0;
}
