// borel: one founder and all descendants, a Poisson number of children each
// used for: sizes of outbreaks and busy periods that a single case or customer begins
// x: positive integer    mu: positive unit, mean number of children
// mass: (mu * x)**(x - 1) * exp(-mu * x) / factorial(x)
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 7
__device__ real borel_logpmf(real x, real mu) { return generalized_poisson_logpmf(x - 1, mu, mu); }
__device__ real borel_logcdf(real x, real mu) { return generalized_poisson_logcdf(x - 1, mu, mu); }
__device__ real borel_logsf(real x, real mu) { return generalized_poisson_logsf(x - 1, mu, mu); }
__device__ real borel_sample(rng_t *rng, real mu) { return 1 + generalized_poisson_sample(rng, mu, mu); }
__device__ real borel_mean(real mu) { return 1 / (1 - mu); }
__device__ real borel_var(real mu) { return generalized_poisson_var(mu, mu); }
__device__ real borel_skewness(real mu) { return generalized_poisson_skewness(mu, mu); }
__device__ real borel_kurtosis(real mu) { return generalized_poisson_kurtosis(mu, mu); }
__device__ real borel_mode(real mu) { return 1; }
