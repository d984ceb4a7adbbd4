// inverse_chi_squared: 1 / x has a chi-squared distribution
// used for: priors of variances
// x: nonnegative    nu: positive, degrees of freedom
// density: x**(-nu / 2 - 1) * exp(-1 / (2 * x)) / (2**(nu / 2) * Gamma(nu / 2))
// source: Gelman et al. (2013), Bayesian Data Analysis, appendix A
__device__ real inverse_chi_squared_logpdf(real x, real nu) { return inverse_gamma_logpdf(x, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_logcdf(real x, real nu) { return inverse_gamma_logcdf(x, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_logsf(real x, real nu) { return inverse_gamma_logsf(x, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_ppf(real q, real nu) { return inverse_gamma_ppf(q, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_isf(real q, real nu) { return inverse_gamma_isf(q, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_sample(rng_t *rng, real nu) { return inverse_gamma_sample(rng, 0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_mean(real nu) { return inverse_gamma_mean(0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_var(real nu) { return inverse_gamma_var(0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_skewness(real nu) { return inverse_gamma_skewness(0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_kurtosis(real nu) { return inverse_gamma_kurtosis(0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_entropy(real nu) { return inverse_gamma_entropy(0.5 * nu, 0.5); }
__device__ real inverse_chi_squared_mode(real nu) { return 1 / (nu + 2); }
