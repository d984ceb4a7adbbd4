// stick_breaking_weights: shares of a stick, of whose rest a part with a beta distribution is broken off again and again
// used for: weights of the components in Dirichlet process mixtures
// x: simplex    alpha: positive, concentration: each part has a beta distribution of shapes 1 and alpha
// density: alpha**(dim - 1) * x[dim - 1]**(alpha - 1) / Product(Sum(x[j], j, i, dim - 1), i, 1, dim - 2)
// source: Sethuraman (1994), A constructive definition of Dirichlet priors, cut off after dim - 1 parts
__device__ real stick_breaking_weights_logpdf(const real *x, real alpha, int dim)
{
    real rest = x[dim - 1], log_rests = 0;
    for (int i = dim - 2; i > 0; i--) {
        rest += x[i];
        log_rests += log(rest);
    }
    return (dim - 1) * log(alpha) + xlogy(alpha - 1, x[dim - 1]) - log_rests;
}

__device__ void stick_breaking_weights_sample(rng_t *rng, real alpha, real *x, int dim)
{
    real log_rest = 0;
    for (int i = 0; i < dim - 1; i++) {
        real log_kept = log(uniform(rng)) / alpha;
        x[i] = exp(log_rest) * -expm1(log_kept);
        log_rest += log_kept;
    }
    x[dim - 1] = exp(log_rest);
}
