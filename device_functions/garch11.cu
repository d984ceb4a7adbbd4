// garch11: a series with volatility that follows the last value and the last volatility, GARCH(1, 1)
// used for: returns whose volatility comes in clusters
// x: real vector    omega: nonnegative, least variance    alpha_1: nonnegative, weight of the last value's square
// beta_1: nonnegative, weight of the last variance    initial_vol: positive, standard deviation of the first value
// density: Product(exp(-x[i]**2 / (2 * h[i])) / sqrt(2 * pi * h[i]), i)
// h[i] = initial_vol**2 if i == 0 else omega + alpha_1 * x[i - 1]**2 + beta_1 * h[i - 1]
// source: Bollerslev (1986), Generalized autoregressive conditional heteroskedasticity
__device__ real garch11_logpdf(const real *x, real omega, real alpha_1, real beta_1, real initial_vol, int dim)
{
    real variance = initial_vol * initial_vol, sum = 0;
    for (int i = 0; i < dim; i++) {
        if (i > 0) variance = omega + alpha_1 * (x[i - 1] * x[i - 1]) + beta_1 * variance;
        sum += 0.5 * log(variance) + 0.5 * (x[i] * x[i]) / variance + HALF_LOG_2PI;
    }
    return -sum;
}

__device__ void garch11_sample(rng_t *rng, real *x, real omega, real alpha_1, real beta_1, real initial_vol, int dim)
{
    real variance = initial_vol * initial_vol;
    for (int i = 0; i < dim; i++) {
        if (i > 0) variance = omega + alpha_1 * (x[i - 1] * x[i - 1]) + beta_1 * variance;
        real z = normal(rng);
        x[i] = sqrt(variance) * z;
    }
}
