// gjr_garch: GARCH(1, 1) in which losses count more than gains do, of Glosten, Jagannathan and Runkle, with normal errors
// used for: returns of stocks, whose volatility rises more after losses
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: nonnegative, constant
// alpha: nonnegative, weight of the last squared error    gamma: real, further weight of a negative one, at least -alpha
// beta: nonnegative, weight of the last variance
// variance: positive, of the first number; omega / (1 - alpha - gamma / 2 - beta) where the series is stationary
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ Normal(mu, sqrt(h[t]))    h[t] = omega + w[t - 1] * (y[t - 1] - mu)**2 + beta * h[t - 1]    h[0] = variance
// w[t] = alpha + gamma if y[t] < mu else alpha
// source: Glosten, Jagannathan & Runkle (1993), On the relation between the expected value and the volatility
__device__ real gjr_garch_loglik(
    const real *y, int n, real mu, real omega, real alpha, real gamma, real beta, real variance,
    real *conditional_variance, rng_t *rng, real *simulated)
{
    if (!(alpha + gamma >= 0)) return NAN;
    real h = variance, sum = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        conditional_variance[t] = h;
        real square = h, weight = alpha + 0.5 * gamma;
        if (!isnan(y[t])) {
            square = (y[t] - mu) * (y[t] - mu);
            weight = y[t] < mu ? alpha + gamma : alpha;
            sum += log(h) + square / h;
            seen += 1;
        }
        h = omega + weight * square + beta * h;
    }
    h = variance;
    for (int t = 0; t < n; t++) {
        real e = sqrt(h) * normal(rng);
        simulated[t] = mu + e;
        h = omega + (e < 0 ? alpha + gamma : alpha) * e * e + beta * h;
    }
    return -0.5 * sum - seen * HALF_LOG_2PI;
}
