// garch_t: generalised autoregressive conditional heteroskedasticity, GARCH(1, 1), with errors of a Student t distribution
// used for: returns with heavy tails whose volatility comes in clusters
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: nonnegative, constant
// alpha: nonnegative, weight of the last squared error    beta: nonnegative, weight of the last variance
// variance: positive, of the first number; omega / (1 - alpha - beta) where the series is stationary
// nu: positive, degrees of freedom, more than 2
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ StudentT(nu, mu, sqrt(h[t] * (nu - 2) / nu))
// h[t] = omega + alpha * (y[t - 1] - mu)**2 + beta * h[t - 1]    h[0] = variance
// source: Bollerslev (1987), A conditionally heteroskedastic time series model for speculative prices and rates of return
__device__ real garch_t_loglik(
    const real *y, int n, real mu, real omega, real alpha, real beta, real variance, real nu, real *conditional_variance,
    rng_t *rng, real *simulated)
{
    if (!(nu > 2)) return NAN;
    real now = variance;
    for (int t = 0; t < n; t++) {
        conditional_variance[t] = now;
        now = omega + alpha * (isnan(y[t]) ? now : (y[t] - mu) * (y[t] - mu)) + beta * now;
    }
    now = variance;
    for (int t = 0; t < n; t++) {
        real e = student_t_sample(rng, nu, 0, sqrt(isinf(nu) ? now : now * (nu - 2) / nu));
        simulated[t] = mu + e;
        now = omega + alpha * e * e + beta * now;
    }
    if (isinf(nu)) return garch_loglik(y, n, mu, omega, alpha, beta, variance);
    real h = variance, logs = 0, tails = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        real square = h;
        if (!isnan(y[t])) {
            square = (y[t] - mu) * (y[t] - mu);
            logs += log(h);
            tails += log1p(square / (h * (nu - 2)));
            seen += 1;
        }
        h = omega + alpha * square + beta * h;
    }
    return -0.5 * (logs + (nu + 1) * tails) - seen * (lbeta(0.5, 0.5 * nu) + 0.5 * log(nu - 2));
}
