// bernoulli_probit: success or failure of one trial, by the normal quantile of the probability of success
// used for: probit regression: whether a normal variable that nobody sees exceeds a threshold
// x: nonnegative integer    eta: real, normal quantile of the probability of success
// mass: p**x * (1 - p)**(1 - x) if x <= 1 else 0    p = Phi(eta)
// source: McCullagh & Nelder (1989), Generalized Linear Models, ch. 4
__device__ real bernoulli_probit_logpmf(real x, real eta)
{
    if (x > 1) return -INFINITY;
    return log_ndtr(x == 0 ? -eta : eta);
}

__device__ real bernoulli_probit_logcdf(real x, real eta)
{
    return x < 1 ? log_ndtr(-eta) : 0;
}

__device__ real bernoulli_probit_logsf(real x, real eta)
{
    return x < 1 ? log_ndtr(eta) : -INFINITY;
}

__device__ real bernoulli_probit_sample(rng_t *rng, real eta)
{
    return uniform(rng) < 0.5 * erfc(-eta / SQRT_2);
}

__device__ real bernoulli_probit_mean(real eta) { return exp(log_ndtr(eta)); }
__device__ real bernoulli_probit_var(real eta) { return exp(log_ndtr(eta) + log_ndtr(-eta)); }

__device__ real bernoulli_probit_skewness(real eta)
{
    return (exp(log_ndtr(-eta)) - exp(log_ndtr(eta))) * exp(-0.5 * (log_ndtr(eta) + log_ndtr(-eta)));
}

__device__ real bernoulli_probit_kurtosis(real eta) { return exp(-(log_ndtr(eta) + log_ndtr(-eta))) - 6; }

__device__ real bernoulli_probit_entropy(real eta)
{
    return -(exp(log_ndtr(eta)) * log_ndtr(eta) + exp(log_ndtr(-eta)) * log_ndtr(-eta));
}

__device__ real bernoulli_probit_mode(real eta) { return eta > 0 ? 1 : 0; }
__device__ real bernoulli_probit_upper(real eta) { return 1; }
