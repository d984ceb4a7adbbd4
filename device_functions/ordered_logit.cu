// ordered_logit: category, numbered from 0, into which a logistic variable falls between increasing cutpoints
// used for: regressions of ordered answers, such as grades, ratings or stages of a disease
// x: nonnegative integer    eta: real, location of this variable    cutpoints: ordered, one fewer than categories
// mass: F[x + 1] - F[x] if x <= dim else 0
// F[k] = 0 if k == 0 else 1 / (1 + exp(eta - cutpoints[k - 1])) if k <= dim else 1
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 5
__device__ real ordered_logit_logpmf(real x, real eta, const real *cutpoints, int dim)
{
    if (x > dim) return -INFINITY;
    real below = x == 0 ? -INFINITY : cutpoints[(int)x - 1];
    real above = x == dim ? INFINITY : cutpoints[(int)x];
    // expit(b) - expit(a) = expit(b) expit(-a) (1 - exp(a - b)), where nothing cancels
    return log_expit(above - eta) + log_expit(eta - below) + log1mexp(below - above);
}

// Only the categories on either side of a cutpoint depend on it. What they do not share with eta is found in a loop, which
// depends on the cutpoints alone.
__device__ real ordered_logit_logpmf_grad_cutpoints(real x, real eta, const real *cutpoints, int dim, int component)
{
    real here = 0, below = -INFINITY, above = INFINITY;
    for (int i = 0; i < dim; i++) {
        if (i == component - 1) below = cutpoints[i];
        if (i == component) here = cutpoints[i];
        if (i == component + 1) above = cutpoints[i];
    }
    real to_below = 1 / expm1(here - below), to_above = 1 / expm1(above - here);
    if (x == component) return expit(eta - here) + to_below;
    return x == component + 1 ? -expit(here - eta) - to_above : 0;
}

__device__ real ordered_logit_logcdf(real x, real eta, const real *cutpoints, int dim)
{
    if (x >= dim) return 0;
    return log_expit(cutpoints[(int)x] - eta);
}

__device__ real ordered_logit_logsf(real x, real eta, const real *cutpoints, int dim)
{
    if (x >= dim) return -INFINITY;
    return log_expit(eta - cutpoints[(int)x]);
}

__device__ real ordered_logit_sample(rng_t *rng, real eta, const real *cutpoints, int dim)
{
    real z = eta + logit(uniform(rng));
    int category = 0;
    for (int i = 0; i < dim; i++)
        if (cutpoints[i] < z) category = i + 1;
    return category;
}
