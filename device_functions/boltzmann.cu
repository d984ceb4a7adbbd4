// boltzmann: discrete exponential on 0, …, N - 1
// used for: energy levels of a system with finitely many of them
// x: nonnegative integer    lam: positive, rate    N: positive integer, how many values there are
// mass: (1 - exp(-lam)) * exp(-lam * x) / (1 - exp(-lam * N)) if x < N else 0
// source: Johnson, Kemp & Kotz (2005), Univariate Discrete Distributions, ch. 5

// log((1 - exp(-lam n)) / (1 - exp(-lam N)))
__device__ real log_share(real n, real lam, real N)
{
    return log(n / N * (relative_expm1(-lam * n) / relative_expm1(-lam * N)));
}

__device__ real boltzmann_logpmf(real x, real lam, real N)
{
    return x >= N ? -INFINITY : log_share(1, lam, N) - lam * x;
}

__device__ real boltzmann_logcdf(real x, real lam, real N)
{
    return x >= N - 1 ? 0 : log_share(x + 1, lam, N);
}

__device__ real boltzmann_logsf(real x, real lam, real N)
{
    return x >= N - 1 ? -INFINITY : log_share(N - x - 1, lam, N) - lam * (x + 1);
}

__device__ real boltzmann_ppf(real q, real lam, real N)
{
    return fmin(fmax(ceil(-log1p(q * expm1(-lam * N)) / lam) - 1, (real)0), N - 1);
}

__device__ real boltzmann_sample(rng_t *rng, real lam, real N)
{
    real u = uniform(rng);
    return boltzmann_ppf(u, lam, N);
}

__device__ real boltzmann_mode(real lam, real N) { return 0; }
__device__ real boltzmann_upper(real lam, real N) { return N - 1; }
