// ordered_probit: category, numbered from 0, into which a normal variable falls between increasing cutpoints
// used for: regressions of ordered answers with normal errors
// x: nonnegative integer    eta: real, mean of this variable    cutpoints: ordered, one fewer than categories
// sigma: positive, its standard deviation
// mass: F[x + 1] - F[x] if x <= dim else 0
// F[k] = 0 if k == 0 else Phi((cutpoints[k - 1] - eta) / sigma) if k <= dim else 1
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 5
__device__ real ordered_probit_logpmf(real x, real eta, const real *cutpoints, real sigma, int dim)
{
    if (x > dim) return -INFINITY;
    if (x == 0) return log_ndtr((cutpoints[0] - eta) / sigma);
    if (x == dim) return log_ndtr((eta - cutpoints[dim - 1]) / sigma);
    real below = cutpoints[(int)x - 1], above = cutpoints[(int)x];
    real a = (below - eta) / sigma, b = (above - eta) / sigma, mode = fmin(fmax(a, (real)0), b);
    return log(normal_integral(a, b, (above - below) / sigma)) - (0.5 * mode * mode + HALF_LOG_2PI);
}

__device__ real ordered_probit_logcdf(real x, real eta, const real *cutpoints, real sigma, int dim)
{
    if (x >= dim) return 0;
    return log_ndtr((cutpoints[(int)x] - eta) / sigma);
}

__device__ real ordered_probit_logsf(real x, real eta, const real *cutpoints, real sigma, int dim)
{
    if (x >= dim) return -INFINITY;
    return log_ndtr((eta - cutpoints[(int)x]) / sigma);
}

__device__ real ordered_probit_sample(rng_t *rng, real eta, const real *cutpoints, real sigma, int dim)
{
    real z = eta + sigma * normal(rng);
    int category = 0;
    for (int i = 0; i < dim; i++)
        if (cutpoints[i] < z) category = i + 1;
    return category;
}
