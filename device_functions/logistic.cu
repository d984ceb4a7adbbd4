// logistic: the logistic distribution
// x: real    mu: real, mean    s: positive, scale
// source: Johnson, Kotz & Balakrishnan (1995), ch. 23
__device__ real logistic_logpdf(real x, real mu, real s)
{
    real z = fabs(x - mu) * (1 / s);
    return -log(s) - z - 2 * log1p(exp(-z));
}
