// waring: failures before a success whose probability has a beta distribution, by their mean
// used for: heavy-tailed counts such as papers of authors or visits to doctors
// x: nonnegative integer    mu: positive, mean    sigma: positive, dispersion, 0 in the limit of a geometric distribution
// mass: B(2 + 1 / sigma, mu / sigma + x) / B(1 + 1 / sigma, mu / sigma)
// source: Rigby, Stasinopoulos, Heller & De Bastiani (2019), Distributions for Modeling Location, Scale, and Shape, ch. 22
__device__ real waring_logpmf(real x, real mu, real sigma)
{
    return beta_geometric_logpmf(x + 1, 1 + 1 / sigma, mu / sigma);
}

__device__ real waring_logcdf(real x, real mu, real sigma)
{
    return beta_geometric_logcdf(x + 1, 1 + 1 / sigma, mu / sigma);
}

__device__ real waring_logsf(real x, real mu, real sigma)
{
    return beta_geometric_logsf(x + 1, 1 + 1 / sigma, mu / sigma);
}

__device__ real waring_sample(rng_t *rng, real mu, real sigma)
{
    return beta_negative_binomial_sample(rng, 1 + 1 / sigma, mu / sigma, 1);
}

__device__ real waring_mean(real mu, real sigma) { return mu; }
__device__ real waring_var(real mu, real sigma) { return sigma < 1 ? mu * ((1 + mu) * (1 + sigma) / (1 - sigma)) : INFINITY; }
__device__ real waring_skewness(real mu, real sigma) { return beta_geometric_skewness(1 + 1 / sigma, mu / sigma); }
__device__ real waring_kurtosis(real mu, real sigma) { return beta_geometric_kurtosis(1 + 1 / sigma, mu / sigma); }
__device__ real waring_mode(real mu, real sigma) { return 0; }
