// garch: generalised autoregressive conditional heteroskedasticity, GARCH(1, 1), with normal errors
// used for: returns whose volatility comes in clusters
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: nonnegative, constant
// alpha: nonnegative, weight of the last squared error    beta: nonnegative, weight of the last variance
// variance: positive, of the first number; omega / (1 - alpha - beta) where the series is stationary
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(mu, sqrt(h[t]))    h[t] = omega + alpha * (y[t - 1] - mu)**2 + beta * h[t - 1]    h[0] = variance
// source: Bollerslev (1986), Generalized autoregressive conditional heteroskedasticity
__device__ real garch_loglik(
    const real *y, int n, real mu, real omega, real alpha, real beta, real variance, real *conditional_variance,
    rng_t *rng, real *simulated)
{
    real h = variance, sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        real square = h;
        conditional_variance[t] = h;
        if (!isnan(y[t])) {
            square = (y[t] - mu) * (y[t] - mu);
            sum += log(h) + square / h;
            seen += 1;
        }
        h = omega + alpha * square + beta * h;
    }
    h = variance;
    for (int t = 0; t < n; t++) {
        real e = sqrt(h) * normal(rng);
        simulated[t] = mu + e;
        h = omega + alpha * e * e + beta * h;
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
