// zero_sum_normal: independent normal variables of mean 0 less their mean, so that they sum to zero
// used for: effects of categories beside an intercept: as they sum to 0, they can be told from it
// x: vector, that sums to zero within 0.00001 of the sum of its sizes (in float32 0.00035)
// sigma: positive, standard deviation of the variables before
// density: (sigma * sqrt(2 * pi))**(1 - dim) * exp(-Sum(x[i]**2, i) / (2 * sigma**2))
// source: the density of the dim - 1 numbers in an orthonormal basis of such vectors, independent and normal with sigma
__device__ real zero_sum_normal_logpdf(const real *x, real sigma, int dim)
{
    real sum = 0, size = 0, square = 0;
    for (int i = 0; i < dim; i++) {
        real z = x[i] / sigma;
        sum += x[i];
        size += fabs(x[i]);
        square += z * z;
    }
    if (!(fabs(sum) <= (EPSILON < 1e-10 ? 1e-5 : 3.5e-4) * size)) return -INFINITY;
    return -(dim - 1) * (log(sigma) + HALF_LOG_2PI) - 0.5 * square;
}

__device__ void zero_sum_normal_sample(rng_t *rng, real sigma, real *x, int dim)
{
    real sum = 0;
    for (int i = 0; i < dim; i++) {
        x[i] = sigma * normal(rng);
        sum += x[i];
    }
    for (int i = 0; i < dim; i++)
        x[i] -= sum / dim;
}
