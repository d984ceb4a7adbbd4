// mielke: Mielke's Beta-Kappa distribution, a Burr distribution of type III by other shapes
// used for: precipitation and flows of rivers
// x: nonnegative    k: positive, shape at 0    s: positive, shape    sigma: positive, scale
// density: k / sigma * z**(k - 1) / (1 + z**s)**(1 + k / s)    z = x / sigma
// source: Mielke (1973), Another family of distributions for describing and analyzing precipitation data
__device__ real mielke_logpdf(real x, real k, real s, real sigma)
{
    real z = x / sigma, log_z = log_quotient(x, sigma), y = log_z > 0 ? -s * log_z : s * log_z;
    real value = log(k / sigma) + (log_z > 0 ? -s - 1 : k - 1) * log_z - (1 + k / s) * log1p_unit(exp(y));
    real at_zero = log_power_at_zero(k - 1, -log(sigma) - (1 + k / s) * pow(z, s));
    return x == 0 ? at_zero : isinf(x) ? -INFINITY : value;
}

__device__ real mielke_logpdf_grad_x(real x, real k, real s, real sigma) { return burr_slope(x, s, k, s, sigma); }

__device__ real mielke_logcdf(real x, real k, real s, real sigma) { return burr_logcdf(x, s, k / s, sigma); }
__device__ real mielke_logsf(real x, real k, real s, real sigma) { return burr_logsf(x, s, k / s, sigma); }
__device__ real mielke_ppf(real q, real k, real s, real sigma) { return burr_ppf(q, s, k / s, sigma); }
__device__ real mielke_isf(real q, real k, real s, real sigma) { return burr_isf(q, s, k / s, sigma); }
__device__ real mielke_sample(rng_t *rng, real k, real s, real sigma) { return burr_sample(rng, s, k / s, sigma); }
__device__ real mielke_mean(real k, real s, real sigma) { return burr_mean(s, k / s, sigma); }
__device__ real mielke_var(real k, real s, real sigma) { return burr_var(s, k / s, sigma); }
__device__ real mielke_entropy(real k, real s, real sigma) { return burr_entropy(s, k / s, sigma); }
__device__ real mielke_mode(real k, real s, real sigma) { return k > 1 ? burr_mode(s, k / s, sigma) : 0; }
