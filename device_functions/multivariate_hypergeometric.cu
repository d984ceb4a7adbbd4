// multivariate_hypergeometric: counts of dim kinds among n objects drawn without replacement
// used for: hands of cards, and samples without replacement from several kinds
// x: nonnegative integer vector    n: nonnegative integer, objects drawn
// m: nonnegative integer vector, how many objects there are of each kind
// mass: Product(binomial(m[i], x[i]), i) / binomial(Sum(m[i], i), n) if Sum(x[i], i) == n else 0
// source: Johnson, Kotz & Balakrishnan (1997), Discrete Multivariate Distributions, ch. 39; in the form of Loader (2000)
__device__ real multivariate_hypergeometric_logpmf(const real *x, real n, const real *m, int dim)
{
    real counted = 0, total = 0, value = 0;
    int possible = 1;
    for (int i = 0; i < dim; i++) {
        counted += x[i];
        total += m[i];
        possible = possible && x[i] <= m[i];
    }
    if (n > total) return NAN;
    if (counted != n || !possible) return -INFINITY;
    if (n == 0 || n == total) return 0;
    real p = n / total;  // whatever it is: at this one, no part is far out where the whole is not
    for (int i = 0; i < dim; i++)
        value += binomial_logpmf(x[i], m[i], p);
    return value - binomial_logpmf(n, total, p);
}

// Each count is hypergeometric, given those before it.
__device__ void multivariate_hypergeometric_sample(rng_t *rng, real n, const real *m, real *x, int dim)
{
    real rest = 0, left = n;
    for (int i = 0; i < dim; i++)
        rest += m[i];
    for (int i = 0; i < dim; i++) {
        real k = hypergeometric_sample(rng, rest, m[i], left);
        x[i] = k;
        left -= k;
        rest -= m[i];
    }
}
