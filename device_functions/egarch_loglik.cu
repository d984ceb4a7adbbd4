// egarch: exponential GARCH(1, 1), in which the logarithm of the variance follows the last error, with normal errors
// used for: returns whose volatility reacts to losses and gains differently
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: real, constant
// alpha: real, weight of the last error's size    gamma: real, weight of the last error    beta: real, weight of the last logarithm
// variance: positive, of the first number; exp(omega / (1 - beta)) is in the middle of a stationary series
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] = mu + sqrt(h[t]) * z[t]    z[t] ~ Normal(0, 1)    log(h[0]) = log(variance)
// log(h[t]) = omega + alpha * (abs(z[t - 1]) - sqrt(2 / pi)) + gamma * z[t - 1] + beta * log(h[t - 1])
// source: Nelson (1991), Conditional heteroskedasticity in asset returns: a new approach
__device__ real egarch_loglik(
    const real *y, int n, real mu, real omega, real alpha, real gamma, real beta, real variance,
    real *conditional_variance, rng_t *rng, real *simulated)
{
    real log_h = log(variance), sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        conditional_variance[t] = exp(log_h);
        real news = 0;
        if (!isnan(y[t])) {
            real z = (y[t] - mu) * exp(-0.5 * log_h);
            news = alpha * (fabs(z) - SQRT_2_OVER_PI) + gamma * z;
            sum += log_h + z * z;
            seen += 1;
        }
        log_h = omega + news + beta * log_h;
    }
    log_h = log(variance);
    for (int t = 0; t < n; t++) {
        real z = normal(rng);
        simulated[t] = mu + exp(0.5 * log_h) * z;
        log_h = omega + alpha * (fabs(z) - SQRT_2_OVER_PI) + gamma * z + beta * log_h;
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
