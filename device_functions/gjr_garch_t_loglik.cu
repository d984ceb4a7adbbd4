// gjr_garch_t: GARCH(1, 1) in which losses count more than gains do, with errors of a Student t distribution
// used for: returns of stocks with heavy tails, whose volatility rises more after losses
// y: vector, returns; nan is missing, and counts with its expectation    mu: real, mean    omega: nonnegative, constant
// alpha: nonnegative, weight of the last squared error    gamma: real, further weight of a negative one, at least -alpha
// beta: nonnegative, weight of the last variance
// variance: positive, of the first number; omega / (1 - alpha - gamma / 2 - beta) where the series is stationary
// nu: positive, degrees of freedom, more than 2
// conditional_variance: vector, h[t]
// simulated: vector, draw of y[t] from the model
// model: y[t] ~ StudentT(nu, mu, sqrt(h[t] * (nu - 2) / nu))
// h[t] = omega + w[t - 1] * (y[t - 1] - mu)**2 + beta * h[t - 1]    h[0] = variance    w[t] = alpha + gamma if y[t] < mu else alpha
// source: Glosten, Jagannathan & Runkle (1993), On the relation between the expected value and the volatility; Bollerslev (1987)
__device__ real gjr_garch_t_loglik(
    const real *y, int n, real mu, real omega, real alpha, real gamma, real beta, real variance, real nu,
    real *conditional_variance, rng_t *rng, real *simulated)
{
    if (!(nu > 2 && alpha + gamma >= 0)) return NAN;
    real now = variance;
    for (int t = 0; t < n; t++) {
        conditional_variance[t] = now;
        real d = y[t] - mu, news = isnan(d) ? (alpha + 0.5 * gamma) * now : (d < 0 ? alpha + gamma : alpha) * d * d;
        now = omega + news + beta * now;
    }
    now = variance;
    for (int t = 0; t < n; t++) {
        real e = student_t_sample(rng, nu, 0, sqrt(isinf(nu) ? now : now * (nu - 2) / nu));
        simulated[t] = mu + e;
        now = omega + (e < 0 ? alpha + gamma : alpha) * e * e + beta * now;
    }
    if (isinf(nu)) return gjr_garch_loglik(y, n, mu, omega, alpha, gamma, beta, variance);
    real h = variance, logs = 0, tails = 0, seen = 0;
    for (int t = 0; t < n; t++) {
        real square = h, weight = alpha + 0.5 * gamma;
        if (!isnan(y[t])) {
            square = (y[t] - mu) * (y[t] - mu);
            weight = y[t] < mu ? alpha + gamma : alpha;
            logs += log(h);
            tails += log1p(square / (h * (nu - 2)));
            seen += 1;
        }
        h = omega + weight * square + beta * h;
    }
    return -0.5 * (logs + (nu + 1) * tails) - seen * (lbeta(0.5, 0.5 * nu) + 0.5 * log(nu - 2));
}
