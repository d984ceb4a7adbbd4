// egarch_t: exponential GARCH(1, 1), with errors of a Student t distribution
// used for: returns with heavy tails whose volatility reacts to losses and gains differently
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: real, constant
// alpha: real, weight of the last error's size    gamma: real, weight of the last error    beta: real, weight of the last logarithm
// variance: positive, of the first number; exp(omega / (1 - beta)) is in the middle of a stationary series
// nu: positive, degrees of freedom, more than 2
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] = mu + sqrt(h[t]) * z[t]    z[t] ~ StudentT(nu, 0, sqrt((nu - 2) / nu))    log(h[0]) = log(variance)
// log(h[t]) = omega + alpha * (abs(z[t - 1]) - size) + gamma * z[t - 1] + beta * log(h[t - 1])
// size = 2 * sqrt(nu - 2) / ((nu - 1) * B(nu / 2, 1 / 2))
// source: Nelson (1991), Conditional heteroskedasticity in asset returns: a new approach
__device__ real egarch_t_loglik(
    const real *y, int n, real mu, real omega, real alpha, real gamma, real beta, real variance, real nu,
    real *conditional_variance, rng_t *rng, real *simulated)
{
    if (!(nu > 2)) return NAN;
    real log_now = log(variance), expected = SQRT_2_OVER_PI;
    if (!isinf(nu)) expected = 2 * sqrt(nu - 2) / (nu - 1) * exp(-lbeta(0.5, 0.5 * nu));
    for (int t = 0; t < n; t++) {
        real z = (y[t] - mu) * exp(-0.5 * log_now);
        conditional_variance[t] = exp(log_now);
        log_now = omega + (isnan(z) ? 0 : alpha * (fabs(z) - expected) + gamma * z) + beta * log_now;
    }
    log_now = log(variance);
    for (int t = 0; t < n; t++) {
        real z = student_t_sample(rng, nu, 0, isinf(nu) ? 1 : sqrt((nu - 2) / nu));
        simulated[t] = mu + exp(0.5 * log_now) * z;
        log_now = omega + alpha * (fabs(z) - expected) + gamma * z + beta * log_now;
    }
    if (isinf(nu)) return egarch_loglik(y, n, mu, omega, alpha, gamma, beta, variance);
    real log_b = lbeta(0.5, 0.5 * nu), size = 2 * sqrt(nu - 2) / (nu - 1) * exp(-log_b);
    real log_h = log(variance), logs = 0, tails = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        real news = 0;
        if (!isnan(y[t])) {
            real z = (y[t] - mu) * exp(-0.5 * log_h);
            news = alpha * (fabs(z) - size) + gamma * z;
            logs += log_h;
            tails += log1p(z * z / (nu - 2));
            seen += 1;
        }
        log_h = omega + news + beta * log_h;
    }
    return -0.5 * (logs + (nu + 1) * tails) - seen * (log_b + 0.5 * log(nu - 2));
}
