// bradford: Bradford's distribution, whose density is proportional to 1 / (1 + c x)
// used for: how the articles on a subject spread over ranked journals
// x: unit    c: positive, shape
// density: c / (log(1 + c) * (1 + c * x))
// source: Bradford (1948), Documentation; Johnson, Kotz & Balakrishnan (1994), ch. 20
__device__ real bradford_logpdf(real x, real c)
{
    return -log(log1p_quotient(c, 1)) - log1p(c * x);
}

__device__ real bradford_logcdf(real x, real c)
{
    return log(log1p_quotient(c, x) / log1p_quotient(c, 1));
}

__device__ real bradford_logsf(real x, real c)
{
    return log(log1p_quotient(c / (1 + c * x), 1 - x) / (1 + c * x) / log1p_quotient(c, 1));
}

__device__ real bradford_ppf(real q, real c) { return fmin(expm1_quotient(c, q * log1p_quotient(c, 1)), (real)1); }
__device__ real bradford_isf(real q, real c) { return bradford_ppf(1 - q, c); }

__device__ real bradford_sample(rng_t *rng, real c)
{
    return bradford_ppf(uniform(rng), c);
}

__device__ real bradford_mean(real c) { return -log1pmx(c) / (c * log1p(c)); }
__device__ real bradford_entropy(real c) { return 0.5 * log1p(c) + log(log1p_quotient(c, 1)); }
__device__ real bradford_mode(real c) { return 0; }
