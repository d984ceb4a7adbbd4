// categorical: one of dim categories, numbered from 0
// used for: one outcome out of several, such as a party, a brand or a word
// x: nonnegative integer    p: simplex, probabilities of the categories
// mass: p[x] if x < dim else 0
// source: Murphy (2012), Machine Learning: A Probabilistic Perspective, ch. 2
__device__ real categorical_logpmf(real x, const real *p, int dim)
{
    if (x >= dim) return -INFINITY;
    return log(p[(int)x]);
}

__device__ real categorical_cdf(real x, const real *p, int dim)
{
    real sum = 0;
    for (int i = 0; i < dim; i++)
        if (i <= x) sum += p[i];
    return sum;
}

__device__ real categorical_sf(real x, const real *p, int dim)
{
    real sum = 0;
    for (int i = 0; i < dim; i++)
        if (i > x) sum += p[i];
    return sum;
}

__device__ real categorical_sample(rng_t *rng, const real *p, int dim)
{
    real total = 0, below = 0;
    for (int i = 0; i < dim; i++)
        total += p[i];
    real u = total * uniform(rng);
    int category = 0;
    for (int i = 0; i < dim && below < u; i++) {
        if (p[i] > 0) category = i;
        below += p[i];
    }
    return category;
}
