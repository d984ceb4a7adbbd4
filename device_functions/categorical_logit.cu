// categorical_logit: one of dim categories, numbered from 0, by unnormalised log-probabilities (the softmax model)
// x: nonnegative integer    eta: vector, log-probabilities of the categories, up to a constant
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
