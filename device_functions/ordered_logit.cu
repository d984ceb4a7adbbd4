// ordered_logit: category, numbered from 0, into which a logistic variable falls between increasing cutpoints
// x: nonnegative integer    eta: real, location of this variable    cutpoints: ordered, one fewer than categories
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 5
__device__ real ordered_logit_logpmf(real x, real eta, const real *cutpoints, int dim)
{
    if (x > dim) return -INFINITY;
    real below = x == 0 ? -INFINITY : cutpoints[(int)x - 1];
    real above = x == dim ? INFINITY : cutpoints[(int)x];
    // expit(b) - expit(a) = expit(b) expit(-a) (1 - exp(a - b)), where nothing cancels
    return log_expit(above - eta) + log_expit(eta - below) + log1mexp(below - above);
}

__device__ real ordered_logit_sample(rng_t *rng, real eta, const real *cutpoints, int dim)
{
    real z = eta + logit(uniform(rng));
    int category = 0;
    for (int i = 0; i < dim; i++)
        if (cutpoints[i] < z) category = i + 1;
    return category;
}
