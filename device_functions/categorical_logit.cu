// categorical_logit: one of dim categories, numbered from 0, by unnormalised log-probabilities (the softmax model)
// used for: multinomial logistic regression and the classes of a neural network
// x: nonnegative integer    eta: vector, log-probabilities of the categories, up to a constant
// mass: exp(eta[x]) / Sum(exp(eta[i]), i) if x < dim else 0
// source: Murphy (2012), Machine Learning: A Probabilistic Perspective, ch. 8
__device__ real categorical_logit_logpmf(real x, const real *eta, int dim)
{
    real largest = -INFINITY, sum = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        sum += exp(eta[i] - largest);
    real log_sum = log(sum);
    if (x >= dim) return -INFINITY;
    return eta[(int)x] - largest - log_sum;
}

// 1 at the category that was observed and 0 elsewhere, less the probability; all probabilities share their sum
__device__ real categorical_logit_logpmf_grad_eta(real x, const real *eta, int dim, int component)
{
    real largest = -INFINITY, sum = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        sum += exp(eta[i] - largest);
    real scale = 1 / sum;
    if (x >= dim) return 0;
    return (x == component) - exp(eta[component] - largest) * scale;
}

// log of the share of the categories from first to last in exp(eta), which may be less than all
__device__ real log_share(int first, int last, const real *eta, int dim)
{
    real largest = -INFINITY, largest_here = -INFINITY, sum = 0, share = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        if (i >= first && i <= last) largest_here = fmax(largest_here, eta[i]);
    if (largest_here == -INFINITY) return -INFINITY;
    for (int i = 0; i < dim; i++)
        sum += exp(eta[i] - largest);
    for (int i = 0; i < dim; i++)
        if (i >= first && i <= last) share += exp(eta[i] - largest_here);
    return (largest_here - largest) + (log(share) - log(sum));
}

__device__ real categorical_logit_logcdf(real x, const real *eta, int dim)
{
    if (x >= dim - 1) return 0;
    return log_share(0, (int)x, eta, dim);
}

__device__ real categorical_logit_logsf(real x, const real *eta, int dim)
{
    if (x >= dim - 1) return -INFINITY;
    return log_share((int)x + 1, dim - 1, eta, dim);
}

__device__ real categorical_logit_sample(rng_t *rng, const real *eta, int dim)
{
    real largest = -INFINITY, total = 0, below = 0;
    for (int i = 0; i < dim; i++)
        largest = fmax(largest, eta[i]);
    for (int i = 0; i < dim; i++)
        total += exp(eta[i] - largest);
    if (isnan(total)) return NAN;
    real u = total * uniform(rng);
    int category = 0;
    for (int i = 0; i < dim && below < u; i++) {
        real weight = exp(eta[i] - largest);
        if (weight > 0) category = i;
        below += weight;
    }
    return category;
}
